"""Single responses looked at: where judge and humans differ, and labels set while looking."""

from voirdire.looking.material import Material, material_of
from voirdire.looking.site import LookServer, write_static
from voirdire.looking.view import View

__all__ = ["LookServer", "Material", "View", "material_of", "write_static"]

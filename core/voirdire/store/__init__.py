"""Replies kept as they came, and the tables derived from them, again and again.

What a plugin or a script needs of a session stands here; the rooms of voirdire import the rest
from the modules. Public names stand in `__init__.pyi` and are resolved on first use.
"""

from voirdire.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

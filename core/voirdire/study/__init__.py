"""A study file: TOML to a frozen Study that resolves nothing.

Public names stand in `__init__.pyi` and are resolved on first use.
"""

from voirdire.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

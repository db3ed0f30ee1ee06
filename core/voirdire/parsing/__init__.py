"""Reply text to parsed values: never a number where the reply states none, never an exception.

Public names stand in `__init__.pyi` and are resolved on first use.
"""

from voirdire.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

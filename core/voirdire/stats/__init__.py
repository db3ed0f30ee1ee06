"""Pure reliability statistics: arrays in, frozen results out.

Public names stand in `__init__.pyi` and are resolved on first use, so that importing this package
loads neither numba nor scipy.
"""

from voirdire.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

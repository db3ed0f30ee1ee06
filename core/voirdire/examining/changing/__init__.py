"""Two measurements of the same things beside each other: comparisons, and judges held to a lock."""

from voirdire.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

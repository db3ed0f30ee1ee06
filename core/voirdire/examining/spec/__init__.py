"""Components, uses and coefficients: one frozen object each, in one registry each.

What is computed, decided, advised, said, drawn, documented and gated of one of them is in its
object; everything else loops over the registries.
"""

from voirdire.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

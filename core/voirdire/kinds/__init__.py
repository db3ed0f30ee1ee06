"""A column by its distinct cells, and whether they are labels."""

from voirdire.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

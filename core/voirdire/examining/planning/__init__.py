"""What to label next: how many of which responses, drawn at random, with which probability."""

from voirdire.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

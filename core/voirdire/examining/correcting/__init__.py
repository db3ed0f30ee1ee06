"""What humans would have said: corrected numbers, plans for labels, verdicts that need no human."""

from voirdire.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

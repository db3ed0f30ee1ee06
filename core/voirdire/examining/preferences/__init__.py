"""Preferences between two systems: read, both orders combined, examined, shown as sections."""

from voirdire.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

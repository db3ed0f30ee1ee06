"""Preferences between two systems: read, settled, examined, and shown as sections."""

from voirdire.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

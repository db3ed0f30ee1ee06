"""Judges probed: responses changed in one way each, and what the scores make of it."""

from voirdire.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

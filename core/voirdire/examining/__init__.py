"""Frames and a Study to a frozen Examination: audit, statistics, verdicts.

Public names stand in `__init__.pyi` and are resolved on first use, so that a process which only
reads an Examination does not load what made it.
"""

from voirdire.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

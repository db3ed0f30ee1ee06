"""An Examination to terminal, JSON, tables, LaTeX, HTML and figures.

Public names stand in `__init__.pyi` and are resolved on first use.
"""

from voirdire.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

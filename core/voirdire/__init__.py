"""voirdire: panels of LLM judges, annotators and classifiers, run and examined for trust.

Public names stand in `__init__.pyi` and are resolved on first use, so that `import voirdire` stays
light.
"""

from voirdire.lazy import attach

__version__ = "0.3.0"

__getattr__, __dir__, __all__ = attach(__name__, __file__, "__version__")

"""voirdire: panels of LLM judges, annotators and classifiers, run and examined for trust.

Names are resolved on first use, so that `import voirdire` stays light.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "Estimate": "voirdire.stats._results",
    "InputError": "voirdire._errors",
    "Interval": "voirdire.stats._results",
    "MissingExtraError": "voirdire._errors",
    "ModelError": "voirdire._errors",
    "PluginError": "voirdire._errors",
    "RequirementUnmetError": "voirdire._errors",
    "SessionError": "voirdire._errors",
    "StatisticsError": "voirdire._errors",
    "StudyError": "voirdire._errors",
    "TableError": "voirdire._errors",
    "VoirdireError": "voirdire._errors",
    "hookimpl": "voirdire.hookspecs",
}

__all__ = sorted([*_HOME, "__version__"])  # noqa: PLE0605 - one table says it all


def __getattr__(name: str) -> Any:
    """Import a public name from its home on first use (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module 'voirdire' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_HOME[name]), name)
    return value


def __dir__() -> list[str]:
    return __all__

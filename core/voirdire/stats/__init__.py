"""Pure reliability statistics: arrays in, frozen results out.

Names are resolved on first use, so that importing this package loads neither numba nor scipy.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOME = {
    "Estimate": "_results",
    "Interval": "_results",
    "cohen_kappa": "cohen",
    "icc": "intraclass",
    "icc_batch": "intraclass",
    "krippendorff_alpha": "krippendorff",
}

__all__ = sorted(_HOME)  # noqa: PLE0605 - one table says it all


def __getattr__(name: str) -> Any:
    """Import a public name from its home on first use (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module 'voirdire.stats' has no attribute {name!r}")
    module = importlib.import_module(f"voirdire.stats.{_HOME[name]}")
    value = globals()[name] = getattr(module, name)
    return value


def __dir__() -> list[str]:
    return __all__

"""Numba's decorator, cached on disk where a folder can be written. Imported late, with numba."""

from __future__ import annotations

from typing import Any

import numba


def njit(*signature: str, **options: Any) -> Any:
    """`numba.njit(cache=True)`; where neither package nor home can be written, without a cache."""

    def compiled(function: Any) -> Any:
        try:
            return numba.njit(*signature, cache=True, **options)(function)
        except RuntimeError:  # numba's word for "no folder to cache in"
            return numba.njit(*signature, **options)(function)

    return compiled

"""Arrays as the statistics take them: float64, NaN for missing, nothing infinite."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from voirdire._errors import StatisticsError

Floats = NDArray[np.float64]

#: The largest magnitude of which fourth powers (variances of squares) can be summed.
_LARGEST = 1e70


def floats(values: Any, name: str, ndim: int) -> Floats:
    """`values` as float64 of `ndim` dimensions; None, NaN and masked cells are missing.

    Raises
    ------
    StatisticsError
        For text, infinite values, those whose fourth power would be, and any other number of
        dimensions.
    """
    try:
        if isinstance(values, np.ma.MaskedArray):
            values = np.ma.filled(values.astype(np.float64), np.nan)
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise StatisticsError(f"{name} must hold numbers or NaN only: {error}") from error
    if found.ndim != ndim:
        raise StatisticsError(f"{name} must have {ndim} dimension(s), not shape {found.shape}")
    unfit = np.abs(found) > _LARGEST
    if unfit.any():
        where = tuple(int(axis[0]) for axis in np.nonzero(unfit))
        what = "infinite" if np.isinf(found[where]) else f"{found[where]:g}"
        raise StatisticsError(
            f"{name} is {what} at {where}; missing values are NaN, others at most {_LARGEST:g}"
        )
    return found


def ratings_matrix(Y: Any, name: str = "Y") -> Floats:
    """(n subjects, k raters) as float64."""
    return floats(Y, name, 2)


def complete_rows(Y: Floats) -> Floats:
    """The rows without a missing value."""
    return Y[~np.isnan(Y).any(axis=1)]


def check_level(level: float) -> float:
    """A nominal coverage in (0, 1)."""
    if not 0 < level < 1:
        raise StatisticsError(f"level must lie strictly between 0 and 1, not {level!r}")
    return float(level)


def check_draws(n_resamples: int, seed: int) -> None:
    """A positive number of resamples and a seed that NumPy takes."""
    if n_resamples < 1:
        raise StatisticsError(f"n_resamples must be at least 1, not {n_resamples!r}")
    if seed < 0:
        raise StatisticsError(f"seed must be at least 0, not {seed!r}")

"""Disagreement weights between levels: 0 on the diagonal, larger for worse confusions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._arrays import numbers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Weights = Literal["linear", "quadratic"] | ArrayLike | None

#: Levels whose matrix of weights still fits into memory (512 MiB).
_MOST = 8192


def disagreement(weights: Weights, positions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights in [0, 1] between levels that stand at `positions`.

    None counts every disagreement alike; a matrix (q, q) holds disagreement weights (Cohen 1968's
    v), scaled here by its largest, which no kappa notices.
    """
    q = len(positions)
    if q > _MOST:
        raise StatisticsError(
            f"ratings on {q:,} different levels are no categories (at most {_MOST:,}); for "
            "measurements use icc, ccc or krippendorff_alpha with the interval metric"
        )
    if weights is None:
        return 1.0 - np.eye(q)
    if isinstance(weights, str):
        if weights not in {"linear", "quadratic"}:
            raise StatisticsError(
                f"weights must be None, 'linear', 'quadratic' or a matrix, got {weights!r}"
            )
        # A power of two: no digit is lost, and no difference of huge levels overflows.
        near = np.ldexp(positions, -int(np.frexp(np.abs(positions).max(initial=0.0))[1]))
        distance = np.abs(near[:, None] - near[None, :])
        distance /= distance.max(initial=0.0) or 1.0
        return distance if weights == "linear" else distance**2
    return _checked(matrix_of(weights, "the matrix of weights"), q)


def matrix_of(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """A finite matrix of numbers, copied."""
    # A copy, which the caller cannot change later.
    matrix = np.array(numbers(values, name))
    if not np.isfinite(matrix).all():
        raise StatisticsError(f"{name} must be finite")
    return matrix


def weights_name(weights: Weights) -> str:
    """How a result names its weights."""
    return "unweighted" if weights is None else weights if isinstance(weights, str) else "matrix"


def _checked(matrix: NDArray[np.float64], q: int) -> NDArray[np.float64]:
    if matrix.shape != (q, q):
        raise StatisticsError(f"the matrix of weights must be ({q}, {q}), got {matrix.shape}")
    if (matrix < 0).any() or np.diag(matrix).any():
        raise StatisticsError(
            "a matrix of weights holds disagreement: not negative, zero on the diagonal"
        )
    # A matrix of zeros forgives everything, and stays.
    return matrix / (matrix.max(initial=0.0) or 1.0)

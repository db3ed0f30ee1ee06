"""Maxima and profiles of the restricted likelihood, on shares of variance in [0, 1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from voirdire.stats._reml import deviance

if TYPE_CHECKING:
    from voirdire.stats._arrays import Floats
    from voirdire.stats._reml import Sums

_TOP = 1 - 1e-10
_STEP = 1e-20
_STARTS = ((0.5, 0.1), (0.1, 0.5), (0.9, 0.5))


@dataclass(frozen=True, slots=True)
class Shares:
    """How a pair (share, other) in [0, 1)² says what the two variance ratios are.

    "C": share = σ²s / (σ²s + σ²e), other = σ²r / (σ²r + σ²e). "A": share = σ²s / (σ²s + σ²r + σ²e).
    "1": share as in C, no rater variance.
    """

    sums: Sums
    kind: str

    def ratios(self, share: Floats) -> tuple[Floats, Floats]:
        """σ²s / σ²e and σ²r / σ²e."""
        main, other = share
        if self.kind == "1":
            return main / (1 - main), 0 * main
        spread = 1 - other if self.kind == "A" else 1
        return main / ((1 - main) * spread), other / (1 - other)

    def deviance(self, share: Floats) -> float:
        """-2 log restricted likelihood."""
        return float(deviance(self.sums, *self.ratios(share)))

    def gradient(self, share: Floats) -> Floats:
        """Exact first derivatives, by a complex step (Squire and Trapp 1998)."""
        steps = np.eye(2) * 1j * _STEP
        return np.array([deviance(self.sums, *self.ratios(share + s)).imag for s in steps]) / _STEP


def best(shares: Shares) -> Floats:
    """The pair of the highest restricted likelihood; 0 where a variance is at its edge."""
    from scipy.optimize import minimize  # noqa: PLC0415 - slow to import

    other_top = 0.0 if shares.kind == "1" else _TOP
    bounds = ((0.0, _TOP), (0.0, other_top))
    found = [
        minimize(
            shares.deviance,
            np.minimum(start, [1, other_top]),
            jac=shares.gradient,
            method="L-BFGS-B",
            bounds=bounds,
            options={"ftol": 1e-9, "gtol": 1e-6},
        )
        for start in _STARTS
    ]
    return _polished(shares, min(found, key=lambda one: float(one.fun)).x)


def _polished(shares: Shares, share: Floats) -> Floats:
    """Newton's steps on the derivatives, since the value alone is flat to half its digits."""
    free = (share > 1e-9) & (share < 0.999999)
    for _ in range(8):
        gradient = shares.gradient(share)
        hessian = np.array([_slope(shares, share, axis) for axis in range(2)])[np.ix_(free, free)]
        if not free.any() or not np.isfinite(hessian).all() or np.linalg.det(hessian) == 0:
            break
        step = np.zeros(2)
        step[free] = np.linalg.solve(hessian, gradient[free])
        if not ((share - step)[free] > 0).all() or not ((share - step)[free] < 1).all():
            break
        share = share - step
        if np.abs(step).max() < 1e-14:
            break
    return np.where(share > 1e-9, share, 0.0)


def _slope(shares: Shares, share: Floats, axis: int) -> Floats:
    width = 1e-6 * min(share[axis], 1 - share[axis])
    if width == 0:
        return np.zeros(2)
    step = np.eye(2)[axis] * width
    return (shares.gradient(share + step) - shares.gradient(share - step)) / (2 * width)


def profile_interval(shares: Shares, at: Floats, level: float) -> tuple[float, float]:
    """Shares whose profiled deviance lies within the χ² quantile of the best one."""
    from scipy.optimize import brentq  # noqa: PLC0415 - slow to import
    from scipy.special import chdtri  # noqa: PLC0415

    limit = shares.deviance(at) + float(chdtri(1, 1 - level))

    def beyond(share: float) -> float:
        return _profiled(shares, share) - limit

    low = 0.0 if beyond(0.0) <= 0 else float(brentq(beyond, 0.0, at[0], xtol=1e-10))
    high = 1.0 if beyond(_TOP) <= 0 else float(brentq(beyond, at[0], _TOP, xtol=1e-10))
    return low, high


def _profiled(shares: Shares, share: float) -> float:
    """The deviance at a share, best over the other."""
    from scipy.optimize import minimize_scalar  # noqa: PLC0415 - slow to import

    def at(other: float) -> float:
        return shares.deviance(np.array([share, other]))

    if shares.kind == "1":
        return at(0.0)
    inside = minimize_scalar(at, bounds=(0.0, _TOP), method="bounded", options={"xatol": 1e-9})
    return min(float(inside.fun), at(0.0), math.inf)

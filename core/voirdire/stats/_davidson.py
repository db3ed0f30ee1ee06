"""Newton's method on Davidson's likelihood, which is concave in log-strengths and log nu."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_STEPS = 100
_TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True)
class Davidson:
    """The maximum, and standard errors from the inverse information."""

    strengths: Floats
    nu: float
    errors: Floats
    nu_error: float

    def part(self, place: int) -> tuple[float, float]:
        """Value and standard error of a system, or of nu after the last."""
        if place == len(self.strengths):
            return self.nu, self.nu_error
        return float(self.strengths[place]), float(self.errors[place])

    def values(self) -> Floats:
        """Strengths and nu."""
        return np.append(self.strengths, self.nu)


def fit(wins: Floats, ties: Floats) -> Davidson:
    """Maximum likelihood for data whose maximum is finite; without a tie nu is 0.

    Parameters
    ----------
    wins : (k, k)
        Wins of the row over the column system.
    ties : (k, k)
        Ties of each pair, symmetric.
    """
    k = len(wins)
    free = k + int(ties.any())
    theta = np.zeros(free)
    centre = np.zeros((free, free))
    centre[:k, :k] = 1.0 / k  # fixes the sum of strengths, which the likelihood leaves open
    value, slope, information = _likelihood(theta, wins, ties)
    for _ in range(_STEPS):
        step = np.linalg.solve(information + centre, slope)
        if np.abs(step).max(initial=0.0) < _TOLERANCE:
            break
        size = 1.0
        while size > 1e-10:
            trial = _likelihood(theta + size * step, wins, ties)
            if trial[0] >= value - 1e-12 * abs(value):
                break
            size /= 2
        theta, (value, slope, information) = theta + size * step, trial
    covariance = np.linalg.inv(information + centre) - centre
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    strengths = theta[:k] - theta[:k].mean()
    nu = float(np.exp(theta[k])) if free > k else 0.0
    nu_error = float(nu * errors[k]) if free > k else float("nan")
    return Davidson(strengths, nu, errors[:k], nu_error)


def _likelihood(theta: Floats, wins: Floats, ties: Floats) -> tuple[float, Floats, Floats]:
    """Log-likelihood, gradient and information of log-strengths (and log nu where it is free)."""
    k = len(wins)
    with_ties = len(theta) > k
    i, j = np.triu_indices(k, 1)
    played = wins[i, j] + wins[j, i] + ties[i, j]
    i, j, played = i[played > 0], j[played > 0], played[played > 0]
    first, second = np.zeros((len(i), len(theta))), np.zeros((len(i), len(theta)))
    first[np.arange(len(i)), i] = second[np.arange(len(j)), j] = 1.0
    designs, observed = [first, second], [wins[i, j], wins[j, i]]
    if with_ties:
        middle = (first + second) / 2
        middle[:, k] = 1.0
        designs.append(middle)
        observed.append(ties[i, j])
    design, seen = np.stack(designs, axis=1), np.stack(observed, axis=1)
    utility = design @ theta
    top = utility.max(axis=1, keepdims=True)
    mass = np.exp(utility - top)
    chance = mass / mass.sum(axis=1, keepdims=True)
    value = float((seen * np.log(chance)).sum())
    expected = played[:, None] * chance
    slope = np.einsum("po,pof->f", seen - expected, design)
    mean = np.einsum("po,pof->pf", chance, design)
    spread = np.einsum("po,pof,pog->fg", expected, design, design)
    return value, slope, spread - np.einsum("p,pf,pg->fg", played, mean, mean)

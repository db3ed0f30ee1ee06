"""Davidson's likelihood written out and maximised by a general optimiser."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize


def log_likelihood(strengths, nu, a, b, outcomes):
    """Sum over comparisons (Davidson 1970, eq. 2.1)."""
    total = 0.0
    for i, j, outcome in zip(a, b, outcomes, strict=True):
        first, second = math.exp(strengths[i]), math.exp(strengths[j])
        tie = nu * math.sqrt(first * second)
        chance = {1: first, -1: second, 0: tie}[outcome] / (first + second + tie)
        total += math.log(chance)
    return total


def davidson(a, b, outcomes, k):
    """Log-strengths of mean 0, and nu."""

    def loss(theta):
        strengths = np.append(theta[:-1], -theta[:-1].sum())
        return -log_likelihood(strengths, math.exp(theta[-1]), a, b, outcomes)

    found = minimize(
        loss,
        np.zeros(k),
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 20000},
    )
    return np.append(found.x[:-1], -found.x[:-1].sum()), math.exp(found.x[-1])


def position(rows):
    """Effect and counts from (pair, a_first, score) rows, one pair after the other."""
    effects, inconsistent = [], 0
    for pair in dict.fromkeys(row[0] for row in rows):
        ab = [score for name, first, score in rows if name == pair and first]
        ba = [-score for name, first, score in rows if name == pair and not first]
        if ab and ba:
            effects.append((ab[0] + ba[0]) / 2)
            inconsistent += ab[0] * -ba[0] < 0
    return np.mean(effects), inconsistent

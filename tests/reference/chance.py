"""Random predictors that draw one label after the other, scored by scikit-learn."""

from __future__ import annotations

import math

import numpy as np
from sklearn.metrics import f1_score


def score(truth, predicted):
    return f1_score(truth, predicted, average="weighted", zero_division=0)


def independent(support, runs, rng):
    """np.random.choice over the class shares, as the paper does (appendix J.1)."""
    truth = np.repeat(np.arange(len(support)), support)
    shares = np.array(support) / len(truth)
    return np.array(
        [score(truth, rng.choice(len(support), len(truth), p=shares)) for _ in range(runs)]
    )


def permuted(support, runs, rng):
    """The true labels in another order."""
    truth = np.repeat(np.arange(len(support)), support)
    return np.array([score(truth, rng.permutation(truth)) for _ in range(runs)])


def separate(Y, runs, rng):
    """Each label of each item on its own."""
    shares = Y.mean(axis=0)
    return np.array([score(Y, (rng.random(Y.shape) < shares).astype(int)) for _ in range(runs)])


def sets(Y, runs, rng):
    """The whole label set of an item drawn at random."""
    return np.array([score(Y, Y[rng.integers(0, len(Y), len(Y))]) for _ in range(runs)])


def expected_independent(support):
    """The formula term by term with exact binomial coefficients."""
    n, value = sum(support), 0.0
    for c in support:
        p = c / n
        mass = [math.comb(n, m) * p**m * (1 - p) ** (n - m) for m in range(n + 1)]
        ratio = sum(pr * m / (c + m) for m, pr in enumerate(mass) if c + m)
        value += c / n * 2 * p * ratio
    return value

"""Agreement coefficients from their definitions, in plain loops over pairs of ratings."""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.stats import kurtosis
from scipy.stats import t as student


def present(row):
    """The ratings of an item that are there."""
    return [float(value) for value in row if not math.isnan(value)]


def difference(a, b, metric, everything):
    """Krippendorff's squared difference of two ratings (2011, section D)."""
    if metric == "nominal":
        return float(a != b)
    if metric == "interval":
        return (a - b) ** 2
    if metric == "ratio":
        return 0.0 if a + b == 0 else ((a - b) / (a + b)) ** 2
    low, high = min(a, b), max(a, b)
    between = sum(low <= value <= high for value in everything)
    ends = sum(value == low for value in everything) + sum(value == high for value in everything)
    return 0.0 if a == b else (between - ends / 2) ** 2


def krippendorff(R, metric):
    """Alpha as one minus the mean difference within items over that of any two ratings."""
    items = [row for row in map(present, np.asarray(R, float)) if len(row) > 1]
    everything = [value for row in items for value in row]
    n = len(everything)
    within = sum(
        sum(difference(a, b, metric, everything) for a, b in itertools.permutations(row, 2))
        / (len(row) - 1)
        for row in items
    )
    overall = sum(
        difference(a, b, metric, everything) for a, b in itertools.permutations(everything, 2)
    )
    return 1 - (within / n) / (overall / (n * (n - 1))) if n and overall else math.nan


def cohen(a, b, levels, weight):
    """Weighted kappa: mean weight of a pair over that of the product of the margins."""
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if not (math.isnan(x) or math.isnan(y))]
    place = {level: i for i, level in enumerate(levels)}
    observed = sum(weight(place[x], place[y]) for x, y in pairs) / len(pairs)
    expected = sum(weight(place[x], place[y]) for x, _ in pairs for _, y in pairs) / len(pairs) ** 2
    return 1 - observed / expected if expected else math.nan


def weight(i, j, kind, q):
    """Agreement weight of two places on a scale of q equally spaced levels."""
    if kind is None:
        return float(i == j)
    return 1 - (abs(i - j) / (q - 1)) ** {"linear": 1, "quadratic": 2}[kind]


def gwet_family(R, levels, coefficient, kind=None):
    """Gwet (2014): item by item, pair by pair; one level gives NaN."""
    q = len(levels)
    items = [[levels.index(value) for value in present(row)] for row in R]
    pairs = [
        np.mean([weight(a, b, kind, q) for a, b in itertools.permutations(item, 2)])
        for item in items
        if len(item) > 1
    ]
    if not pairs:
        return math.nan
    pi = np.mean([[item.count(c) / len(item) for c in range(q)] for item in items if item], axis=0)
    total = sum(weight(i, j, kind, q) for i in range(q) for j in range(q))
    if coefficient == "fleiss":
        chance = sum(weight(i, j, kind, q) * pi[i] * pi[j] for i in range(q) for j in range(q))
    elif coefficient == "ac":
        chance = total / (q * (q - 1)) * sum(p * (1 - p) for p in pi) if q > 1 else 1
    else:
        chance = total / q**2
    return (np.mean(pairs) - chance) / (1 - chance) if abs(1 - chance) > 1e-12 else math.nan


def fleiss_pooled(R, levels):
    """Every rating counts once, over items of two ratings or more."""
    items = [row for row in map(present, R) if len(row) > 1]
    n = sum(map(len, items))
    agreement = sum(
        sum(a == b for a, b in itertools.permutations(row, 2)) / (len(row) - 1) for row in items
    )
    shares = [sum(row.count(level) for row in items) / n for level in levels]
    chance = sum(share**2 for share in shares)
    return (agreement / n - chance) / (1 - chance) if max(shares) < 1 else math.nan


def jackknife_error(R, statistic):
    """Standard error by leaving out one item after the other."""
    left = np.array([statistic(np.delete(R, i, axis=0)) for i in range(len(R))])
    return math.sqrt((len(R) - 1) * ((left - left.mean()) ** 2).mean())


def jackknife_interval(R, statistic, level=0.95):
    """Student's interval with that error and the degrees of freedom of Satterthwaite (1946).

    The variance of a variance is (kurtosis - 1) / n of its square, and 2 / df of its square where
    the variance is a chi-square: so df = 2 n / (kurtosis - 1).
    """
    left = [statistic(np.delete(R, i, axis=0)) for i in range(len(R))]
    df = min(2 * len(R) / (kurtosis(left, fisher=False) - 1), len(R) - 1)
    return student.interval(level, df, statistic(R), jackknife_error(R, statistic))

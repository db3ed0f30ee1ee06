"""Agreement coefficients from their definitions, in plain loops over pairs of ratings."""

from __future__ import annotations

import itertools
import math

import numpy as np


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

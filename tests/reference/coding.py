"""Slow and obvious twins of the kernels that code, count and collapse ratings."""

from __future__ import annotations

import math
from collections import Counter


def span(values):
    """Least and greatest value present, and whether all of them are whole."""
    known = [value for value in values if not math.isnan(value)]
    whole = all(value == math.floor(value) for value in known)
    return min(known, default=math.inf), max(known, default=-math.inf), whole


def distinct(values):
    """Values present, in order of appearance."""
    return list(dict.fromkeys(value for value in values if not math.isnan(value)))


def codes(values, levels):
    """The place of each value in `levels`, -1 where it is missing; the first undeclared one."""
    found = []
    for at, value in enumerate(values):
        if math.isnan(value):
            found.append(-1)
        elif value in levels:
            found.append(levels.index(value))
        else:
            return found, at
    return found, -1


def cross_table(pairs):
    """(a, b) -> items that show both, where both are there."""
    return Counter((a, b) for a, b in pairs if a >= 0 and b >= 0)


def patterns(rows):
    """Sorted ratings present -> items that show them."""
    return Counter(tuple(sorted(code for code in row if code >= 0)) for row in rows)


def tallies(X):
    """(label, ratings present, ratings 1) -> items, from items of runs of labels."""
    found = Counter()
    for item in X:
        for label in range(len(item[0])):
            present = [run[label] for run in item if run[label] >= 0]
            found[label, len(present), sum(present)] += 1
    return found


def quantile(values, weights, target):
    """The smallest value whose cumulative weight reaches the target; NaN values have none."""
    known = [pair for pair in zip(values, weights, strict=True) if not math.isnan(pair[0])]
    reached = 0
    for value, weight in sorted(known):
        reached += weight
        if reached >= target:
            return value
    return math.nan

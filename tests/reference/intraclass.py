"""Slow and obvious twins of the ICC kernels: plain loops over copies of the data."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np

FORMS = ("1", "1,k", "C,1", "C,k", "A,1", "A,k")


def mean_squares(Y):
    """MSR, MSC, MSE, MSW in exact rational arithmetic."""
    Y = [[Fraction(y) for y in row] for row in Y]
    n, k = len(Y), len(Y[0])
    grand = sum(map(sum, Y)) / (n * k)
    rows = [sum(row) / k for row in Y]
    columns = [sum(row[j] for row in Y) / n for j in range(k)]
    ssr = k * sum((r - grand) ** 2 for r in rows)
    ssc = n * sum((c - grand) ** 2 for c in columns)
    sse = sum((Y[i][j] - rows[i] - columns[j] + grand) ** 2 for i in range(n) for j in range(k))
    return ssr / (n - 1), ssc / (k - 1), sse / ((n - 1) * (k - 1)), (ssc + sse) / (n * (k - 1))


def icc(Y, form):
    """The quotient by definition; NaN for a zero denominator."""
    n, k = len(Y), len(Y[0])
    r, c, e, w = mean_squares(Y)
    above = r - w if form.startswith("1") else r - e
    below = {
        "1": r + (k - 1) * w,
        "1,k": r,
        "C,1": r + (k - 1) * e,
        "C,k": r,
        "A,1": r + (k - 1) * e + Fraction(k, n) * (c - e),
        "A,k": r + (c - e) / n,
    }[form]
    return math.nan if below == 0 else float(above / below)


def pair_sums(judge, reference, system, one):
    """The seven sums over the pairs of one system: a loop over responses."""
    pairs = [
        (Fraction(x), Fraction(y))
        for y, x, s in zip(judge, reference, system, strict=True)
        if s == one and not math.isnan(x) and not math.isnan(y)
    ]
    terms = [(1, x, y, x * x, y * y, x * y, (y - x) ** 2) for x, y in pairs]
    return [float(sum(term[f] for term in terms)) for f in range(7)]


def under(means, kept):
    """Systems, bias and ICCs of the means (reference, judge) that are kept; None is no mean."""
    left = [row for row, keep in zip(means, kept, strict=True) if keep and row is not None]
    n = len(left)
    bias = float(sum(Fraction(y) - Fraction(x) for x, y in left) / n) if n else math.nan
    if n < 2:
        return n, bias, *[math.nan] * 5
    squares = [float(square) for square in mean_squares(left)[:3]]
    return n, bias, *squares, icc(left, "C,1"), icc(left, "A,1")


def draws(seed, units, resamples):
    """(units, resamples) how often each unit occurs, drawn as NumPy draws whole numbers."""
    chosen = np.random.default_rng(seed).integers(0, units, size=(resamples, units))
    return np.array([[list(row).count(unit) for row in chosen] for unit in range(units)])


def resampled(Y, counts, form):
    """The ICC of the rows of Y, row i taken counts[i] times."""
    return icc([row for row, count in zip(Y, counts, strict=True) for _ in range(int(count))], form)


def exact_distribution(Y, form):
    """[(value, weight)] over all n^n resamples, each counted as often as it comes."""
    n = len(Y)
    found = []
    for chosen in itertools.combinations_with_replacement(range(n), n):
        counts = Counter(chosen)
        weight = math.factorial(n)
        for count in counts.values():
            weight //= math.factorial(count)
        found.append((resampled(Y, [counts[i] for i in range(n)], form), weight))
    return found


def inverse_distribution(found, level):
    """The smallest value whose cumulative share reaches `level`."""
    known = sorted((value, weight) for value, weight in found if not math.isnan(value))
    total, reached = sum(weight for _, weight in known), 0
    for value, weight in known:
        reached += weight
        if reached >= level * total:
            return value
    return math.nan

"""Whole numbers beside labels: grades, codes of classes, or codes of the labels themselves."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: Disagreements from which their distance tells grades from classes.
FEWEST = 30
#: Standard errors by which raters agree beyond chance, or disagree nearer than by chance.
SURE = 3.0
#: Agreement beyond chance from which codes may be those of the labels beside them.
MAPPED = 0.3


def look_like_classes(columns: Sequence[pl.Series]) -> bool:
    """Whether raters agree, and where they differ are no nearer to each other than by chance.

    Who grades and differs is mostly one step off; of classes one code is as near as another. Raters
    who do not agree beyond chance show neither, and count as graders.

    Parameters
    ----------
    columns : sequence of Series
        Whole numbers, one column a rater, missing as null.

    Examples
    --------
    >>> grades = [pl.Series([1, 2, 3, 4, 5] * 20), pl.Series([1, 3, 3, 5, 5] * 20)]
    >>> codes = [pl.Series([1, 2, 3, 4, 5] * 20), pl.Series([1, 5, 3, 1, 5] * 20)]
    >>> look_like_classes(grades), look_like_classes(codes)
    (False, True)
    """
    agreeing = chance = spread = 0.0
    nearer, cells, differing = 0.0, 0, 0
    for one, other in combinations(columns, 2):
        both = pl.DataFrame({"a": one, "b": other}).cast(pl.Float64, strict=False).drop_nulls()
        a, b = (both[name].to_numpy() for name in ("a", "b"))
        if not len(a):
            continue
        # Every cell of the one beside every cell of the other, by how often each code stands there.
        (codes_a, times_a), (codes_b, times_b) = (np.unique(x, return_counts=True) for x in (a, b))
        apart = np.abs(codes_a[:, None] - codes_b[None, :])
        times = np.outer(times_a, times_b) / len(a) ** 2
        share = float(times[apart == 0].sum())
        mean, square = (_mean_of(apart**power, times * (apart > 0)) for power in (1, 2))
        agreeing += float((a == b).sum())
        chance += share * len(a)
        spread += share * (1 - share) * len(a)
        steps = np.abs(a - b)[a != b]
        cells, differing = cells + len(a), differing + len(steps)
        nearer += float((mean - steps).sum()) / math.sqrt(max(square - mean**2, 1e-9))
    if differing < FEWEST or agreeing - chance < SURE * math.sqrt(max(spread, 1e-9)):
        return False
    return nearer < SURE * math.sqrt(differing)


def _mean_of(values: Floats, weights: Floats) -> float:
    return float((values * weights).sum() / max(float(weights.sum()), 1e-12))


def code_the_labels(codes: pl.Series, labels: pl.Series) -> bool:
    """Whether each code mostly stands next to a label of its own.

    Parameters
    ----------
    codes, labels : Series
        Numbers and words of the same rows, missing as null.

    Returns
    -------
    bool
        Whether no two codes go with the same label, and they agree so beyond chance (Cohen's kappa
        of `MAPPED`, surely above nothing).

    Examples
    --------
    >>> labels = pl.Series(["calm", "tense", "sad"] * 20)
    >>> code_the_labels(pl.Series([0, 1, 2] * 20), labels)
    True
    >>> code_the_labels(pl.Series([0, 1, 2, 2] * 15), labels)
    False
    """
    both = pl.DataFrame({"code": codes, "label": labels}).drop_nulls()
    pairs = both.group_by("code", "label", maintain_order=True).len().sort("len", descending=True)
    mostly = pairs.unique("code", keep="first", maintain_order=True)
    if not both.height or mostly["label"].n_unique() < max(mostly.height, 2):
        return False
    meant = both.join(mostly.select("code", pl.col("label").alias("meant")), on="code")
    return go_together(meant["meant"], meant["label"])


def go_together(one: pl.Series, other: pl.Series) -> bool:
    """Whether two columns say the same beyond chance (Cohen's kappa of `MAPPED`, surely so).

    Examples
    --------
    >>> go_together(pl.Series([0, 1, 2] * 20), pl.Series([0, 1, 1] * 20))
    True
    >>> go_together(pl.Series([0, 1, 2] * 20), pl.Series([0, 0, 1, 1, 2, 2] * 10))
    False
    """
    both = pl.DataFrame({"one": one, "other": other}).drop_nulls()
    n = both.height
    if not n:
        return False
    shares = [both[name].value_counts().rename({name: "said"}) for name in both.columns]
    beside = shares[0].join(shares[1], on="said", suffix="_other")
    chance = float((beside["count"] * beside["count_other"]).sum()) / n**2
    agreeing = int((both["one"] == both["other"]).sum()) / n
    error = math.sqrt(chance * (1 - chance) / n)
    return agreeing - chance > max(MAPPED * (1 - chance), SURE * error)

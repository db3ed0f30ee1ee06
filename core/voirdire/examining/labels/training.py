"""What a trained classifier needs: splits, thresholds, and decisions from scores."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Literal

import numpy as np

from voirdire.errors import InputError, duplicate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

SPLITS = ("train", "dev", "test")
_SLACK = 1e-9
Threshold = Literal["shared", "each", "fixed"]
MIDDLE = 0.5


def stratified_split(
    ids: Sequence[str],
    strata: Sequence[str],
    fractions: Sequence[float] = (0.70, 0.15, 0.15),
    seed: int = 0,
) -> NDArray[np.str_]:
    """One of train, dev and test an item, each stratum shared out in proportion.

    Items are put in order by stratum and, within it, by a hash of seed and id; every split takes
    its share of ever longer beginnings. So the sizes of the whole are the fractions rounded (2,530
    items: 1771, 379, 380), those of each stratum within one of its own. The assignment depends on
    all ids, their strata and the seed, and not on the order of rows.

    Parameters
    ----------
    ids : sequence of str
        All different.
    strata : sequence of str
        What is shared out in proportion, such as the dominant label; empty is a stratum too.
    fractions : three numbers that add up to 1
    seed : int
        Another seed gives another assignment.

    Returns
    -------
    (n,) array of str
        In the order given.

    Raises
    ------
    InputError
        Fractions that do not add up to 1, an id that occurs twice, or other lengths.

    Examples
    --------
    >>> ids, strata = [str(i) for i in range(20)], ["a"] * 10 + ["b"] * 10
    >>> split = stratified_split(ids, strata, (0.6, 0.2, 0.2))
    >>> [int((split[:10] == part).sum()) for part in SPLITS]
    [6, 2, 2]
    """
    if len(fractions) != 3 or min(fractions) < 0 or abs(sum(fractions) - 1) > _SLACK:
        raise InputError(f"fractions must be three numbers that add up to 1, got {list(fractions)}")
    names, groups = list(map(str, ids)), list(map(str, strata))
    if len(names) != len(groups):
        raise InputError(f"{len(names)} ids need as many strata, got {len(groups)}")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise duplicate("item", twice, advice="its split would not be fixed")
    # A hash, and no draw: an item keeps its place when others are added behind it.
    keys = [(group, _hash(seed, name)) for group, name in zip(groups, names, strict=True)]
    order = sorted(range(len(names)), key=keys.__getitem__)
    held = _taken(len(names), fractions[1] + fractions[2])
    rest = fractions[2] / (fractions[1] + fractions[2]) if fractions[1] + fractions[2] else 0.0
    parts = held.astype(np.int64)
    parts[held] += _taken(int(held.sum()), rest)
    out = np.empty(len(names), dtype=np.int64)
    out[order] = parts
    return np.array(SPLITS)[out]


def _hash(seed: int, item: str) -> bytes:
    return hashlib.blake2b(f"{seed}\0{item}".encode("utf-8", "surrogatepass")).digest()


def _taken(n: int, share: float) -> NDArray[np.bool_]:
    """Which places are taken so that the first n of them hold round(share n)."""
    # Rounded shares of ever longer beginnings: whichever stratum ends where, each has its part
    # within one item.
    ends = np.floor(np.arange(n + 1) * share + 0.5 + _SLACK)
    taken: NDArray[np.bool_] = np.diff(ends) > 0
    return taken


def weighted_f1(truth: NDArray[np.int8], predicted: Floats) -> float:
    """F1 of each column, weighted by its support; NaN where no column has any.

    >>> weighted_f1(np.eye(2, dtype=np.int8), np.array([[1.0, 0.0], [1.0, 0.0]]))
    0.3333333333333333
    """
    support = truth.sum(axis=0, dtype=np.float64)
    named = np.nan_to_num(predicted)
    hits, whole = (truth * named).sum(axis=0), support + named.sum(axis=0)
    f1 = np.divide(2 * hits, whole, out=np.zeros_like(whole), where=whole > 0)
    return float(f1 @ support / support.sum()) if support.sum() else float("nan")


def decide(scores: Floats, task: str, thresholds: ArrayLike = MIDDLE) -> Floats:
    """0 or 1 a class: the highest score where classes exclude one another, else by threshold.

    Of equal scores the first class wins. A row with a missing score is missing.

    Parameters
    ----------
    scores : (items, classes) float64
    task : {"binary", "multi-class", "multi-label"}
        The first two: one class an item.
    thresholds : float or (classes,) array
        Of a multi-label task: a label is given from its threshold on.

    Examples
    --------
    >>> decide(np.array([[0.2, 0.3, 0.5], [np.nan, 0.1, 0.9]]), "multi-class").tolist()
    [[0.0, 0.0, 1.0], [nan, nan, nan]]
    """
    missing = np.asarray(np.isnan(scores).any(axis=1))
    filled = np.where(missing[:, None], 0.0, scores)
    if task == "multi-label":
        chosen = (filled >= thresholds).astype(np.float64)
    else:
        chosen = np.eye(scores.shape[1])[filled.argmax(axis=1)]
    chosen[missing] = np.nan
    return chosen


def choose_thresholds(scores: Floats, truth: NDArray[np.int8], how: Threshold) -> Floats:
    """One threshold a label, chosen to maximise F1 on validation data.

    ``shared`` takes the same one for all labels, by weighted F1; ``each`` one a label, and the
    shared one for a label that no validation item has; ``fixed`` is 0.5. Candidates lie half way
    between neighbouring scores. Where several are equally good, the one nearest 0.5 is taken.
    Items with a missing score are left out.

    Parameters
    ----------
    scores, truth : (n, q) arrays

    Examples
    --------
    >>> scores = np.array([[0.1, 0.2], [0.3, 0.25], [0.35, 0.1]])
    >>> truth = np.array([[0, 0], [1, 1], [1, 0]], dtype=np.int8)
    >>> choose_thresholds(scores, truth, "each").round(3).tolist()
    [0.2, 0.225]
    """
    q = truth.shape[1]
    scored = ~np.isnan(scores).any(axis=1)
    scores, truth = scores[scored], truth[scored]
    if how == "fixed" or not truth.any():
        return np.full(q, MIDDLE)
    shared = np.full(q, _best(scores, truth))
    if how == "shared":
        return shared
    columns = [slice(c, c + 1) for c in range(q)]
    own = [_best(scores[:, c], truth[:, c]) if truth[:, c].any() else shared[0] for c in columns]
    return np.array(own)


def _best(scores: Floats, truth: NDArray[np.int8]) -> float:
    """The threshold for all columns given, by the sums of ever longer tops of sorted scores."""
    q = truth.shape[1]
    # Each prefix of the sorted scores is what one threshold lets through: all thresholds in one
    # pass.
    order = np.argsort(-scores, axis=None, kind="stable")
    column, value = order % q, scores.ravel()[order]
    support = truth.sum(axis=0, dtype=np.float64)
    total = np.zeros(len(order))
    for c in np.flatnonzero(support):
        mine = column == c
        hits = np.cumsum(mine * truth.ravel()[order])
        total += support[c] * 2 * hits / (support[c] + np.cumsum(mine))
    ends = np.append(value[1:] < value[:-1], True)  # equal scores fall together
    below = np.append(value[1:], 0.0)
    middle = (value + below) / 2
    best = total[ends].max()
    # Sums of floats that are equal on paper differ in the last bits.
    close = np.flatnonzero(ends & (total >= best * (1 - 1e-12)))
    return float(middle[close[np.abs(middle[close] - MIDDLE).argmin()]])

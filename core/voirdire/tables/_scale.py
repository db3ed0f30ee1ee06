"""A scale guessed from the values, for files that come without a study."""

from __future__ import annotations

import math

import polars as pl

from voirdire.schema import Scale

#: Values this rare at either end may be slips; a scale is not stretched for them.
_RARE = 0.005
_STEPS = (1.0, 0.5, 0.25, 0.1)
#: What people write for a missing score, by the highest score beside which it can be none.
_CODES = {77: 10, 88: 10, 97: 10, 98: 10, 99: 10, 777: 100, 888: 100, 999: 100, 9999: 1000}
_NEGATIVE_CODES = (-1, -7, -8, -9, -77, -88, -97, -98, -99, -777, -888, -999, -9999)
_MOSTLY = 0.99
_ENOUGH = 30


def is_code(value: float, low: float, high: float) -> bool:
    """Whether a number is a usual code for a missing score beside scores from `low` to `high`.

    Examples
    --------
    >>> is_code(99, 1, 5), is_code(99, 0, 100), is_code(-1, 1, 5), is_code(-1, 0, 1)
    (True, False, True, False)
    """
    if value < 0:
        return value in _NEGATIVE_CODES and low >= 0 and (high >= 3 or value < -1)
    return high <= _CODES.get(int(value), -1) and value == int(value)


def _without_codes(scores: pl.Series) -> pl.Series:
    """Scores without codes for missing ones, where most are none."""
    usual = list(map(float, (*_CODES, *_NEGATIVE_CODES)))
    rest = scores.filter(~scores.is_in(usual))
    if len(rest) == len(scores) or 2 * len(rest) < len(scores):
        return scores
    low, high = float(rest[0]), float(rest[-1])
    codes = [value for value in usual if is_code(value, low, high)]
    return scores.filter(~scores.is_in(codes))


#: Ends of the usual scales of few levels; a level beyond one that is used in full is looked at.
_ENDS = (5, 7, 10)
#: A code stands in at most this share of the scores of those who use it.
_CODED = 0.25
#: Two steps of single precision: a number this near to a whole one is it but for round-off.
_ROUND_OFF = 2.0**-22


def coded_levels(scores: pl.Series, sides: pl.Series) -> tuple[float, ...]:
    """Levels that are codes for a missing score: 7, 8, 9 or 0 beside 1 to 5 in one side's scores.

    A level counts as one where both sides use a usual scale (1 to 5, 7 or 10) in full between
    them, only one side uses the level, more than once and seldom, and it stands beyond a gap or is
    the only one just past an end.

    Parameters
    ----------
    scores : Series of float
        Scores; null is missing.
    sides : Series of str
        Who gave each: people or judges, or a rater's name.

    Examples
    --------
    >>> people, judges = [1, 2, 3, 4, 5, 5, 4, 3, 9, 9], [1, 2, 3, 4, 5, 5, 4, 3, 1, 2]
    >>> sides = pl.Series(["people"] * 10 + ["judges"] * 10)
    >>> coded_levels(pl.Series(people + judges), sides)
    (9.0,)
    """
    frame = pl.DataFrame({"score": scores.cast(pl.Float64), "side": sides}).drop_nulls()
    counts = frame.group_by("score", "side").len()
    users = counts.group_by("score").agg(n=pl.len(), times=pl.col("len").sum())
    shared = set(users.filter(pl.col("n") > 1)["score"])
    high = next((end for end in _ENDS if shared >= set(map(float, range(1, end + 1)))), None)
    if high is None or max(shared) > high or min(shared) < 1:
        return ()
    alone = users.filter(pl.col("n") == 1, pl.col("times") > 1)["score"].sort().to_list()
    above = [level for level in alone if level > high and level == int(level)]
    below = [level for level in alone if level < 1 and level == int(level)]
    # 6 and 7 beside 1 to 5 are the rest of a scale of 7 that one side uses less of.
    goes_on = len(above) > 1 and above[0] == high + 1
    found = [*([] if goes_on else above), *(below if len(below) == 1 else [])]
    totals = dict(frame.group_by("side").len().iter_rows())
    seldom = {row[0] for row in counts.iter_rows() if row[2] <= _CODED * totals[row[1]]}
    return tuple(level for level in found if level in seldom)


def infer_scale(scores: pl.Series) -> Scale:
    """The usual scale that holds nearly all scores: 1..5 where they are 1..5, 0..1 for labels.

    Codes for a missing score, such as 99 or -1 beside 1..5, do not stretch it either.
    Values that make up under half a percent beyond an end do not stretch it, so that a few zeros
    on a 1..5 scale are found to be off it.

    Examples
    --------
    >>> import polars as pl
    >>> infer_scale(pl.Series([1, 2, 5, 4] * 100 + [0]))
    Scale(low=1.0, high=5.0, step=1.0)
    >>> infer_scale(pl.Series([0.0, 1.0, 1.0]))
    Scale(low=0.0, high=1.0, step=1.0)
    >>> infer_scale(pl.Series([0.137, 0.52, 0.981])).continuous
    True
    """
    numbers = scores.cast(pl.Float64).drop_nulls()
    whole = numbers.round()
    slack = _ROUND_OFF * whole.abs().clip(lower_bound=1)
    present = _without_codes(whole.zip_with((numbers - whole).abs() <= slack, numbers).sort())
    n = len(present)
    if n == 0:
        return Scale()
    skip = math.floor(n * _RARE)
    low, high = float(present[skip]), float(present[n - 1 - skip])
    ends = _ends(low, high, n)
    return Scale(*ends, _step(present, *ends))


def _ends(low: float, high: float, n: int) -> tuple[float, float]:
    if low < 0:
        most = float(math.ceil(max(-low, high)))
        return -most, most
    if low < 1:
        tops = (1, 2, 3, 4, 5, 10, 100)
        return 0.0, _first(tops, high)
    if high <= 3 and n >= _ENOUGH and low < high:
        return 1.0, float(math.ceil(high))
    if high <= 10:
        return 1.0, _first((5, 7, 10), high)
    return 0.0, _first((100, 1000), high)


def _first(tops: tuple[int, ...], high: float) -> float:
    return float(next((top for top in tops if high <= top), math.ceil(high)))


def _step(present: pl.Series, low: float, high: float) -> float:
    """The widest usual step that nearly all scores keep to.

    Where none is, half of the scores on whole levels of a scale of several are those of raters
    beside means of raters, and the step is 1; any other scale is continuous, and the step 0.
    """
    inside = present.filter((present >= low) & (present <= high))
    kept = {step: _kept(inside - low, step) for step in _STEPS}
    for step in _STEPS:
        if step < high - low + 1e-9 and kept[step] >= _MOSTLY * len(inside):
            return step
    return 1.0 if high - low > 1 and 2 * kept[1.0] >= len(inside) else 0.0


def _kept(above: pl.Series, step: float) -> int:
    """How many scores lie whole steps above the scale's end."""
    steps = above / step
    return int(((steps - steps.round()).abs() < 1e-9).sum())

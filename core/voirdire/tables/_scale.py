"""A scale guessed from the values, for files that come without a study."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from voirdire.schema import Scale

if TYPE_CHECKING:
    import polars as pl

#: Values this rare at either end may be slips; a scale is not stretched for them.
_RARE = 0.005
_STEPS = (1.0, 0.5, 0.25, 0.1)
_MOSTLY = 0.99
_ENOUGH = 30


def infer_scale(scores: pl.Series) -> Scale:
    """The usual scale that holds nearly all scores: 1..5 where they are 1..5, 0..1 for labels.

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
    present = scores.drop_nulls().sort()
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

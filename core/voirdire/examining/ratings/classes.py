"""Reading an ICC: the published reliability classes by interval width, and Koo and Li's bands."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.stats._results import Interval

#: Widths of the percentile interval of ICC(C,1) (Badawi et al. 2025, section 5.4).
GOOD_WIDTH, MODERATE_WIDTH = 0.355, 0.560

#: Below, every resample with a defined ICC has the same one: a width of 0 that says nothing.
FEWEST_SYSTEMS = 3

#: Lower ends of the bands (Koo and Li 2016).
BANDS = ((0.90, "excellent"), (0.75, "good"), (0.50, "moderate"), (-math.inf, "poor"))

#: The class is borderline where less than this share of seeds agrees on it.
AGREEING_SEEDS = 0.975


def reliability_class(width: float) -> str:
    """GR, MR or PR by the width of the percentile interval of ICC(C,1); empty where undefined.

    >>> [reliability_class(width) for width in (0.355, 0.4, 0.56, 0.561)]
    ['GR', 'MR', 'MR', 'PR']
    """
    if math.isnan(width):
        return ""
    return "GR" if width <= GOOD_WIDTH else "MR" if width <= MODERATE_WIDTH else "PR"


def is_borderline(widths: Sequence[float]) -> bool:
    """Whether the seed decides the class: no class holds for 97.5 % of the widths by seed."""
    classes = [reliability_class(width) for width in widths]
    return bool(classes) and max(map(classes.count, set(classes))) < AGREEING_SEEDS * len(classes)


def band(value: float) -> str:
    """Koo and Li's band of one value; empty where undefined."""
    if math.isnan(value):
        return ""
    return next(name for low, name in BANDS if value >= low)


def bands_spanned(interval: Interval) -> int:
    """How many adjacent bands an interval touches; 0 where undefined."""
    names = [name for _, name in BANDS]
    if math.isnan(interval.low) or math.isnan(interval.high):
        return 0
    return names.index(band(interval.low)) - names.index(band(interval.high)) + 1


def band_of(interval: Interval | None) -> str:
    """The bands read on the interval, as Koo and Li ask: for example ``"moderate to excellent"``.

    >>> from voirdire.stats._results import Interval
    >>> band_of(Interval("f", 0.95, 0.56, 0.97))
    'moderate to excellent'
    """
    if interval is None or bands_spanned(interval) == 0:
        return ""
    low, high = band(interval.low), band(interval.high)
    return low if low == high else f"{low} to {high}"

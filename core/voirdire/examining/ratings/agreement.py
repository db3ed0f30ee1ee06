"""Judge beside reference: the numbers of a result, and how its ICC is read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.stats import (
    bias,
    bland_altman,
    ccc,
    cohen_kappa,
    krippendorff_alpha,
    mae,
    mse,
    pearson,
)
from voirdire.stats._arrays import occurring

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from voirdire.examining.ratings.pairing import Pairing
    from voirdire.schema import Scale
    from voirdire.stats import Estimate, Interval

MANY_LEVELS = 1001

#: Widths of the percentile interval of ICC(C,1) (Badawi et al. 2025, section 5.4).
GOOD_WIDTH, MODERATE_WIDTH = 0.355, 0.560

#: Below, every resample with a defined ICC has the same one: a width of 0 that says nothing.
FEWEST_SYSTEMS = 3

#: Lower ends of the bands (Koo and Li 2016).
BANDS = ((0.90, "excellent"), (0.75, "good"), (0.50, "moderate"), (-math.inf, "poor"))

#: The class is borderline where less than this share of seeds agrees on it.
AGREEING_SEEDS = 0.975


def system_level(pairing: Pairing, scale: Scale, bias_level: float) -> dict[str, Any]:
    """Bias, means, CCC, Pearson's r and limits of agreement over the rows of the matrix."""
    reference, judge = pairing.matrix[:, 0], pairing.matrix[:, 1]
    # The bias has a level of its own: equivalence within a margin is decided by a 90 % interval.
    shift = bias(judge, reference, scale=(scale.low, scale.high), level=bias_level)
    limits = bland_altman(judge, reference)
    return {
        "bias": shift.value,
        "bias_interval": shift.interval(),
        "bias_normalised": shift.details["normalised"],
        "human_mean": _mean(reference),
        "judge_mean": _mean(judge),
        "mse_system": mse(judge, reference).value,
        "ccc": ccc(judge, reference).value,
        "pearson_r": pearson(judge, reference).value,
        "loa_low": limits.low.value,
        "loa_high": limits.high.value,
        "loa_low_ci": limits.low.interval(),
        "loa_high_ci": limits.high.interval(),
    }


def response_level(pairing: Pairing, scale: Scale) -> dict[str, Any]:
    """Errors, SDs, quadratic-weighted kappa and ordinal alpha over single pairs."""
    reference, judge = pairing.reference, pairing.judge_scores
    squared = mse(judge, reference).value
    levels = levels_of(scale, reference, judge)
    return {
        "human_sd": _sd(reference),
        "judge_sd": _sd(judge),
        "mse": squared,
        "mae": mae(judge, reference).value,
        "rmse": math.sqrt(squared),
        **_on_levels(reference, judge, levels),
    }


def label_alpha(pairing: Pairing, scale: Scale, level: float) -> Estimate | None:
    """Alpha of a label: single pairs on a scale of two levels.

    None where systems are compared by their means, or a reference lies between the levels.
    """
    levels = levels_of(scale, pairing.reference, pairing.judge_scores)
    if pairing.level != "response" or scale.count != 2 or levels is None:
        return None
    both = np.stack([pairing.reference, pairing.judge_scores], axis=1)
    return krippendorff_alpha(both, "nominal", levels=levels, ci="jackknife", level=level)


def levels_of(scale: Scale, *scores: NDArray[np.float64]) -> list[float] | None:
    """The declared levels, with those that occur off the scale; None where scores lie between.

    Off-scale values are here only where the policy keeps them. Means of several humans or runs
    lie between levels, and a scale of more than a thousand levels is continuous in all but name:
    coefficients on declared levels do not apply to either.
    """
    if scale.count > MANY_LEVELS:
        return None
    declared = set(scale.levels)
    found = set(occurring(np.concatenate(scores)).tolist())
    # Off the scale a whole number is a level that is kept; on it, whatever is no level lies between
    # two.
    between = {v for v in found - declared if scale.holds(v) or v != round(v)}
    return None if between else sorted(declared | found)


def _on_levels(
    reference: NDArray[np.float64], judge: NDArray[np.float64], levels: list[float] | None
) -> dict[str, float]:
    if levels is None:
        return {"qwk": math.nan, "alpha_ordinal": math.nan}
    both = np.stack([reference, judge], axis=1)
    return {
        "qwk": cohen_kappa(reference, judge, weights="quadratic", levels=levels).value,
        "alpha_ordinal": krippendorff_alpha(both, "ordinal", levels=levels).value,
    }


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if values.size else math.nan


def _sd(values: NDArray[np.float64]) -> float:
    return float(values.std(ddof=1)) if values.size > 1 else math.nan


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

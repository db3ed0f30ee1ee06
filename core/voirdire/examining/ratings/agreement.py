"""Judge beside reference: the numbers of a result at system level and at response level."""

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

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.examining.ratings.pairing import Pairing
    from voirdire.schema import Scale
    from voirdire.stats import Estimate

MANY_LEVELS = 1001


def system_level(pairing: Pairing, scale: Scale, bias_level: float) -> dict[str, Any]:
    """Bias, means, CCC, Pearson's r and limits of agreement over the rows of the matrix."""
    reference, judge = pairing.matrix[:, 0], pairing.matrix[:, 1]
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
    occurring = set(np.unique(np.concatenate(scores)).tolist())
    between = {v for v in occurring - declared if scale.holds(v) or v != round(v)}
    return None if between else sorted(declared | occurring)


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

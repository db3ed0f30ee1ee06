"""The components of a verdict: each passes or fails only when its whole interval says so."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

from voirdire.examining.examination import Component
from voirdire.examining.ladder._settle import units_for_bias, units_for_icc, units_for_interval
from voirdire.examining.ratings.classes import band_of, bands_spanned
from voirdire.stats._results import REASONS, Estimate, Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.examining.examination import PairResult, State
    from voirdire.schema import Finding
    from voirdire.study import Thresholds

_NAMES = {
    "Data": "data",
    "C": "consistency",
    "A": "agreement",
    "P": "precision",
    "B": "bias",
    "R": "replaceability",
    "S": "stability",
}


def side(interval: Interval | None, threshold: float) -> State:
    """Where an interval lies: at or above the threshold, below it, or across it.

    >>> side(Interval("f", 0.95, 0.80, 0.97), 0.75), side(Interval("f", 0.95, 0.6, 0.97), 0.75)
    ('pass', 'undecided')
    """
    if interval is None or math.isnan(interval.low) or math.isnan(interval.high):
        return "undecided"
    if interval.low >= threshold:
        return "pass"
    return "fail" if interval.high < threshold else "undecided"


def data_component(
    result: PairResult, blocking: Sequence[Finding], thresholds: Thresholds
) -> Component:
    """Enough valid pairs, and nothing in the data that forbids a conclusion."""
    share = result.n_pairs / result.n_expected if result.n_expected else 0.0
    enough = result.n_expected > 0 and share >= thresholds.valid_pairs
    state: State = "pass" if enough and not blocking else "fail"
    note = f"{result.n_pairs:,} of {result.n_expected:,} pairs are valid"
    if blocking:
        note += "; blocking: " + "; ".join(found.message.rstrip(".") for found in blocking)
    wanted = f"at least {_percent(thresholds.valid_pairs)} valid pairs, no blocking finding"
    return _component("Data", state, share, None, wanted, note)


def consistency_component(result: PairResult, thresholds: Thresholds, level: float) -> Component:
    """ICC(C,1) by its F interval; for labels, alpha."""
    return _reliability(result, "C", result.icc_c1, thresholds.icc_c, thresholds, level)


def agreement_component(result: PairResult, thresholds: Thresholds, level: float) -> Component:
    """ICC(A,1) by its F interval; for labels, alpha, which is about agreement already."""
    return _reliability(result, "A", result.icc_a1, thresholds.icc_a, thresholds, level)


def precision_component(result: PairResult, thresholds: Thresholds, level: float) -> Component:
    """How many adjacent bands the interval of consistency touches."""
    interval = leading_interval(result, "C")
    wanted = f"C's interval spans at most {thresholds.bands_spanned} adjacent bands"
    spanned = bands_spanned(interval) if interval is not None else 0
    if spanned == 0:
        return _component("P", "undecided", math.nan, interval, wanted, "there is no interval")
    note = f"the interval reads {band_of(interval)}"
    if spanned <= thresholds.bands_spanned:
        return _component("P", "pass", float(spanned), interval, wanted, note)
    units = _units_needed(result, "C", thresholds, level, thresholds.bands_spanned)
    note = f"{note}; {needed(result, units)}"
    return _component("P", "fail", float(spanned), interval, wanted, note)


def bias_component(result: PairResult, thresholds: Thresholds, width: float) -> Component:
    """Equivalence: the whole interval of the bias lies within the margin (two one-sided tests)."""
    margin = thresholds.bias * width
    interval = result.bias_interval
    wanted = f"{_percent(thresholds.bias_level)} interval within ±{margin:.3g} points"
    if interval is None or math.isnan(interval.low) or math.isnan(interval.high):
        return _component("B", "not tested", result.bias, interval, wanted, "there is no interval")
    if -margin <= interval.low and interval.high <= margin:
        return _component("B", "pass", result.bias, interval, wanted, "small enough to ignore")
    if interval.low > margin or interval.high < -margin:
        lean = "lenient" if result.bias > 0 else "severe"
        return _component("B", "fail", result.bias, interval, wanted, f"more {lean} than humans")
    units = units_for_bias(result, margin, thresholds.bias_level)
    return _component("B", "undecided", result.bias, interval, wanted, needed(result, units))


def leading_interval(result: PairResult, letter: str) -> Interval | None:
    """The F interval of ICC(C,1) or ICC(A,1); for labels, alpha's own."""
    alpha = label_alpha_of(result)
    return result.interval(f"{letter},1", "f") if alpha is None else alpha.interval()


def label_alpha_of(result: PairResult) -> Estimate | None:
    """What the verdict on a label rests on; None where it rests on the ICCs."""
    return result.label_alpha


def needed(result: PairResult, units: int | None, letter: str = "C") -> str:
    """How many units would settle it, were the estimates to stay as they are."""
    noun = result.units
    if units is not None:
        return f"about {units:,} {noun} instead of {result.n_units:,} would settle it"
    if letter == "A":
        return (
            f"more {noun} alone would not settle it: beside one reference the interval of "
            f"ICC(A,1) stays wide while there is bias; remove the bias by calibration first"
        )
    return f"no realistic number of {noun} would settle it: the estimate lies at the threshold"


def _reliability(
    result: PairResult,
    letter: str,
    value: float,
    threshold: float,
    thresholds: Thresholds,
    level: float,
) -> Component:
    alpha, reason = label_alpha_of(result), result.reason
    wanted = f"F interval of ICC({letter},1) at or above {threshold:.2f}"
    if alpha is not None:
        value, reason, threshold = alpha.value, alpha.reason, thresholds.alpha
        wanted = f"interval of alpha at or above {threshold:.2f}"
    interval = leading_interval(result, letter)
    state = side(interval, threshold)
    note = ""
    if math.isnan(value):
        note = f"undefined: {REASONS.get(reason or '', 'there is nothing to compute it from')}"
    elif state == "undecided" and interval is not None and math.isfinite(interval.width):
        units = _units_needed(result, letter, thresholds, level)
        note = needed(result, units, letter if alpha is None else "C")
    part = _component(letter, state, value, interval, wanted, note)
    return dataclasses.replace(part, limit=threshold)


def _units_needed(
    result: PairResult, letter: str, thresholds: Thresholds, level: float, bands: int | None = None
) -> int | None:
    """Units that would settle consistency or agreement, and with `bands` its precision."""
    alpha = label_alpha_of(result)
    if alpha is not None:
        return units_for_interval(
            alpha.value, alpha.interval(), result.n_units, thresholds.alpha, bands
        )
    threshold = thresholds.icc_c if letter == "C" else thresholds.icc_a
    return units_for_icc(result, f"{letter},1", threshold, level, bands)


def _component(
    letter: str, state: State, value: float, interval: Interval | None, wanted: str, note: str
) -> Component:
    return Component(letter, _NAMES[letter], state, value, interval, wanted, note)


def _percent(share: float) -> str:
    return f"{100 * share:g} %"

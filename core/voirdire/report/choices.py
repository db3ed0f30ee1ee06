"""What each option did to the data, and what else a reader must know, in a sentence each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voirdire.examining.parts.data import DataFacts

if TYPE_CHECKING:
    from voirdire.examining.examination import Examination

ONE_COLUMN = (
    "The reference is one column of human ratings: agreement among humans, the ceiling for any "
    "judge, cannot be estimated from it."
)
EXACT = (
    "Exact intervals enumerate every resample of at most 10 systems: they have no seed and no "
    "Monte Carlo error, and the same under-coverage as the percentile bootstrap."
)


def choices_of(examination: Examination) -> tuple[str, ...]:
    """What each option did to the data; only what made a difference is said."""
    data = examination.facts(DataFacts)
    options = [
        "" if data is None else _off_scale(examination, data),
        _pairs_used(examination),
        "" if data is None else _runs_averaged(data),
        _dropped(examination),
    ]
    return tuple(note for note in options if note)


def notes_of(examination: Examination) -> tuple[str, ...]:
    """What a reader of the results must know, then what parts and plugins noted."""
    judged = bool(examination.results or examination.verdicts)
    exact = any(result.interval("C,1", "exact") for result in examination.results)
    lines = [
        # A key of answers is no rater: what is held against it has accuracies, and no coefficients.
        ONE_COLUMN if len(examination.inputs.panel.reference) == 1 and judged else "",
        EXACT if exact else "",
        _borderline(examination),
    ]
    return (*(note for note in lines if note), *examination.notes)


def _off_scale(examination: Examination, data: DataFacts) -> str:
    if not data.off_scale:
        return ""
    low, high = examination.study.rubric.scale
    kinds = ", ".join(f"{count:,} x {value:g}" for value, count in data.off_scale)
    what = "were kept as they are" if data.kept else "were treated as missing"
    return (
        f"Off-scale policy {examination.study.data.off_scale}: "
        f"{sum(count for _, count in data.off_scale):,} values off {low:g}..{high:g} "
        f"({kinds}) {what}."
    )


def _pairs_used(examination: Examination) -> str:
    used = sum(result.n_pairs for result in examination.results)
    expected = sum(result.n_expected for result in examination.results)
    if not expected:
        return ""
    pairs = examination.study.data.pairs
    rule = (
        "a pair counts where reference and judge both rated"
        if pairs == "pairwise"
        else "a pair counts where every rater rated"
    )
    return (
        f"Pairs {pairs} ({rule}): {used:,} of {expected:,} possible pairs were used "
        f"({used / expected:.2%})."
    )


def _runs_averaged(data: DataFacts) -> str:
    if not data.runs:
        return ""
    names = ", ".join(f"{rater} ({count})" for rater, count in data.runs)
    return f"Several runs were averaged before pairing: {names}."


def _dropped(examination: Examination) -> str:
    """What the published rule of dropping bootstrap values outside [0, 1] shifts."""
    shifts = [shift for result in examination.results for shift in result.compat_shift]
    if examination.study.analysis.compat != "badawi2025" or not shifts:
        return ""
    return (
        "compat badawi2025 drops bootstrap values of ICC outside [0, 1]: this moves a bound of a "
        f"percentile interval by up to {max(map(abs, shifts)):.3f} "
        f"({sum(abs(shift) > 0.0005 for shift in shifts)} of {len(shifts)} bounds move)."
    )


def _borderline(examination: Examination) -> str:
    results = examination.results
    names = [f"{one.judge} {one.attribute}" for one in results if one.class_borderline]
    if not names:
        return ""
    return (
        f"The published class depends on the bootstrap's seed for {len(names)} of {len(results)}: "
        f"{', '.join(names)}."
    )

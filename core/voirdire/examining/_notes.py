"""What each choice did, said aloud beside the numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.examining.examination import PairResult
    from voirdire.study import Study

ONE_COLUMN = (
    "The reference is one column of human ratings: agreement among humans, the ceiling for any "
    "judge, cannot be estimated from it."
)
EXACT = (
    "Exact intervals enumerate every resample of at most 10 systems: they have no seed and no "
    "Monte Carlo error, and the same under-coverage as the percentile bootstrap."
)


def choices(
    study: Study, read: pl.DataFrame, used: pl.DataFrame, results: Sequence[PairResult]
) -> tuple[str, ...]:
    """What each option did to the data; only what made a difference is said."""
    options = [
        _off_scale(study, read, used),
        _pairs(study, results),
        _runs(used),
        _dropped(study, results),
    ]
    return tuple(note for note in options if note)


def notes(results: Sequence[PairResult], reference: Sequence[str]) -> tuple[str, ...]:
    """What else a reader of these results must know."""
    lines = [
        ONE_COLUMN if len(reference) == 1 else "",
        EXACT if any(r.interval("C,1", "exact") for r in results) else "",
        _borderline(results),
    ]
    return tuple(note for note in lines if note)


def _off_scale(study: Study, read: pl.DataFrame, used: pl.DataFrame) -> str:
    low, high = study.rubric.scale
    off = read.filter(pl.col("score").is_not_null(), pl.col("status") == "out_of_scale")
    if off.is_empty():
        return ""
    kinds = ", ".join(
        f"{count:,} x {value:g}"
        for value, count in off.group_by("score").len().sort("score").iter_rows()
    )
    kept = used["score"].null_count() == read["score"].null_count()
    what = "were kept as they are" if kept else "were treated as missing"
    return (
        f"Off-scale policy {study.data.off_scale}: {len(off):,} values off {low:g}..{high:g} "
        f"({kinds}) {what}."
    )


def _pairs(study: Study, results: Sequence[PairResult]) -> str:
    used = sum(result.n_pairs for result in results)
    expected = sum(result.n_expected for result in results)
    if not expected:
        return ""
    rule = (
        "a pair counts where reference and judge both rated"
        if study.data.pairs == "pairwise"
        else "a pair counts where every rater rated"
    )
    return (
        f"Pairs {study.data.pairs} ({rule}): {used:,} of {expected:,} possible pairs were used "
        f"({used / expected:.2%})."
    )


def _runs(used: pl.DataFrame) -> str:
    runs = used.group_by("rater").agg(pl.col("run").n_unique()).filter(pl.col("run") > 1)
    if runs.is_empty():
        return ""
    names = ", ".join(f"{rater} ({count})" for rater, count in runs.sort("rater").iter_rows())
    return f"Several runs were averaged before pairing: {names}."


def _dropped(study: Study, results: Sequence[PairResult]) -> str:
    """What the published rule of dropping bootstrap values outside [0, 1] shifts."""
    if study.analysis.compat != "badawi2025":
        return ""
    shifts = [shift for result in results for shift in result.compat_shift]
    if not shifts:
        return ""
    return (
        "compat badawi2025 drops bootstrap values of ICC outside [0, 1]: this moves a bound of a "
        f"percentile interval by up to {max(map(abs, shifts)):.3f} "
        f"({sum(abs(shift) > 0.0005 for shift in shifts)} of {len(shifts)} bounds move)."
    )


def _borderline(results: Sequence[PairResult]) -> str:
    names = [f"{r.judge} {r.attribute}" for r in results if r.class_borderline]
    if not names:
        return ""
    return (
        f"The published class depends on the bootstrap's seed for {len(names)} of {len(results)}: "
        f"{', '.join(names)}."
    )

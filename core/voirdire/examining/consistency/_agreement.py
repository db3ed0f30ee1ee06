"""Agreement of a rater with itself over runs, label by label, and of two raters."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire.examining.consistency._final import LABELLED
from voirdire.stats import fleiss_per_label, joint_agreement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.examining.consistency._runs import LabelRuns
    from voirdire.stats import Estimate, LabelAgreement

AVERAGE = "Average"


def label_agreements(
    runs: LabelRuns,
    *,
    ci: str | Sequence[str] | None = "jackknife",
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> dict[str, LabelAgreement]:
    """Fleiss' kappa of each label over the runs of each rater (Sharma et al., appendix F).

    The label `other` is left out: it gathers what lies outside the set. Missing runs are missing,
    as in `fleiss_per_label`, whose parameters these are.
    """
    used = [at for at, label in enumerate(runs.labels) if label != runs.other]
    names = [runs.labels[at] for at in used]
    options = {"ci": ci, "level": level, "n_resamples": n_resamples, "seed": seed}
    return {
        rater: fleiss_per_label(_with_gaps(runs.cells(rater)[:, :, used]), labels=names, **options)  # type: ignore[arg-type]
        for rater in runs.raters
    }


def _with_gaps(cells: np.ndarray[Any, np.dtype[np.int8]]) -> np.ndarray[Any, Any]:
    """The cells as they are, or with NaN for what is missing."""
    if cells.size and cells.min() < 0:
        return np.where(cells < 0, np.nan, cells.astype(np.float64))
    return np.ascontiguousarray(cells)


def agreement_frame(agreements: Mapping[str, LabelAgreement]) -> pl.DataFrame:
    """The kappas of all raters as rows, each rater's average last.

    Returns
    -------
    polars.DataFrame
        ``rater, label, kappa, low, high, interval, prevalence`` (share of answers that name the
        label), ``ac1, named`` (items that a run or more names), ``n, k, left_out, reason``.
        Undefined is null with a reason.
    """
    rows = []
    for rater, found in agreements.items():
        parts = zip((*found.labels, AVERAGE), (*found.estimates, found.mean), strict=True)
        rows += [{"rater": rater, "label": label, **_row(part)} for label, part in parts]
    schema = {"rater": pl.String, "label": pl.String, **_COLUMNS}
    return pl.DataFrame(rows, schema=schema).with_columns(pl.col(pl.Float64).fill_nan(None))


_COLUMNS: dict[str, Any] = {
    "kappa": pl.Float64, "low": pl.Float64, "high": pl.Float64, "interval": pl.String,
    "prevalence": pl.Float64, "ac1": pl.Float64, "named": pl.Int64, "n": pl.Int64, "k": pl.Int64,
    "left_out": pl.Int64, "reason": pl.String,
}  # fmt: skip


def _row(found: Estimate) -> dict[str, Any]:
    interval = found.interval()
    return {
        "kappa": found.value,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "interval": interval.method if interval else None,
        "prevalence": found.details.get("prevalence"),
        "ac1": found.details.get("ac1"),
        "named": found.details.get("items_named"),
        "n": found.n,
        "k": found.k,
        "left_out": found.left_out,
        "reason": found.reason,
    }


def joint_agreement_frame(final: pl.DataFrame, *, level: float = 0.95) -> pl.DataFrame:
    """Joint probability of agreement of every two raters on their final labels.

    Parameters
    ----------
    final : polars.DataFrame
        From `final_labels`. Items that either rater is unsure of are left out, and counted.

    Returns
    -------
    polars.DataFrame
        ``rater_a, rater_b, on`` ("dominant label" or "all labels"), ``agreement``, ``low, high``
        (Wilson 1927), ``n, left_out``. Not corrected for chance.
    """
    text = pl.col("labels").list.join("\n")
    said = final.with_columns(
        pl.when(pl.col("category") == LABELLED)
        .then(pl.col("dominant").fill_null(""))  # of labels without a `none`: none of them
        .alias("dominant label"),
        pl.when(pl.col("category") == LABELLED).then(text).alias("all labels"),
    )
    by_rater = {part["rater"][0]: part for part in said.partition_by("rater", maintain_order=True)}
    rows = [
        {"rater_a": a, "rater_b": b, "on": on, **_joint(by_rater[a], by_rater[b], on, level)}
        for a, b in combinations(by_rater, 2)
        for on in ("dominant label", "all labels")
    ]
    schema = {
        "rater_a": pl.String, "rater_b": pl.String, "on": pl.String, "agreement": pl.Float64,
        "low": pl.Float64, "high": pl.Float64, "n": pl.Int64, "left_out": pl.Int64,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema).with_columns(pl.col(pl.Float64).fill_nan(None))


def _joint(a: pl.DataFrame, b: pl.DataFrame, on: str, level: float) -> dict[str, Any]:
    pair = a.select("item", a=on).join(b.select("item", b=on), on="item", how="inner")
    same = pair.drop_nulls().select(pl.col("a") == pl.col("b")).to_series()
    # Two ratings agree or differ: how they are spelled is nothing to the share.
    coded = np.column_stack([np.ones(len(same)), same.cast(pl.Float64).to_numpy()])
    found = joint_agreement(coded, levels=[0, 1], ci="wilson", level=level)
    interval = found.intervals[0]
    return {
        "agreement": found.value,
        "low": interval.low,
        "high": interval.high,
        "n": found.n,
        "left_out": pair.height - found.n,
    }

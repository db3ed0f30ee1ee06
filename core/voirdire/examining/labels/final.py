"""What recurs over runs: label counts, final labels at m of k runs, kappas, two annotators."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire.errors import InputError
from voirdire.stats import fleiss_per_label, joint_agreement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from voirdire.examining.labels.matrix import LabelMatrix
    from voirdire.examining.labels.runs import LabelRuns
    from voirdire.stats import Estimate, LabelAgreement

AVERAGE = "Average"
LABELLED, INCOMPLETE = "labels", "incomplete"
#: Categories of an item without a final label: `none` was named in some run, or in no run.
UNSURE = ("not sure if any", "not sure which")


@dataclass(frozen=True, slots=True)
class RunCounts:
    """Counts of one rater over its runs, items in their order.

    `named`, `open` and `first` have shape (items, labels): runs that name the label, runs in which
    it is missing, runs that rank it first. `answered` and `silent` have shape (items,): runs with
    every label known, and those of them that name none at all.
    """

    runs: int
    named: NDArray[np.int64]
    open: NDArray[np.int64]
    first: NDArray[np.int64]
    answered: NDArray[np.int64]
    silent: NDArray[np.int64]


def counts_of(matrix: LabelMatrix) -> RunCounts:
    """Count one rater's labels over its runs."""
    answered, named = matrix.known, matrix.values == 1
    firsts = [(matrix.first == at).sum(axis=0) for at in range(len(matrix.labels))]
    return RunCounts(
        runs=len(matrix.runs),
        named=named.sum(axis=0),
        open=np.isnan(matrix.values).sum(axis=0),
        first=np.stack(firsts, axis=1),
        answered=answered.sum(axis=0),
        silent=(answered & ~named.any(axis=2)).sum(axis=0),
    )


def label_counts(runs: LabelRuns) -> pl.DataFrame:
    """Runs that name each label of each item.

    Returns
    -------
    polars.DataFrame
        ``rater, item, label, count, missing``: `missing` runs say nothing of the label.
    """
    parts = []
    for matrix in runs.matrices:
        counts = counts_of(matrix)
        n, q = counts.named.shape
        parts.append(
            pl.DataFrame(
                {
                    "rater": [matrix.rater] * (n * q),
                    "item": pl.Series(matrix.items).gather(np.repeat(np.arange(n), q)),
                    "label": pl.Series(runs.labels).gather(np.tile(np.arange(q), n)),
                    "count": counts.named.ravel(),
                    "missing": counts.open.ravel(),
                }
            )
        )
    return pl.concat(parts)


def largest_counts(runs: LabelRuns) -> pl.DataFrame:
    """How often the most often named label of an item was named (figure 2 of Sharma et al.).

    Returns
    -------
    polars.DataFrame
        ``rater, largest, items, share, at_least`` (share of items whose largest count is this or
        more), ``incomplete`` (items among them with a run that says nothing, whose count may be too
        low). Shares are of all items of the rater.
    """
    parts = []
    for matrix in runs.matrices:
        counts = counts_of(matrix)
        largest = counts.named.max(axis=1, initial=0)
        tally = np.bincount(largest, minlength=counts.runs + 1)
        gaps = np.bincount(largest[counts.answered < counts.runs], minlength=counts.runs + 1)
        n = max(len(largest), 1)
        parts.append(
            pl.DataFrame(
                {
                    "rater": [matrix.rater] * len(tally),
                    "largest": np.arange(len(tally)),
                    "items": tally,
                    "share": tally / n,
                    # Summed from the highest count down.
                    "at_least": tally[::-1].cumsum()[::-1] / n,
                    "incomplete": gaps,
                }
            )
        )
    return pl.concat(parts)


def threshold_of(runs: int, at_least: int | None = None) -> int:
    """Runs that must name a label: as given, else four fifths of them (4 of 5).

    >>> [threshold_of(runs) for runs in (1, 2, 3, 5, 10)]
    [1, 2, 3, 4, 8]
    """
    if at_least is None:
        # 0.8 times the runs may come out a hair above a whole number in binary, and would be
        # rounded up.
        return max(math.ceil(0.8 * runs - 1e-9), 1)
    if not 1 <= at_least <= runs:
        raise InputError(f"at_least must lie in 1..{runs}, the number of runs, got {at_least}")
    return at_least


def final_labels(
    runs: LabelRuns, *, at_least: int | None = None, unsure: tuple[str, str] = UNSURE
) -> pl.DataFrame:
    """The labels that recur in at least m of k runs (Sharma et al., section 4.1, appendix G).

    An item without such a label is *not sure if any* where `none` was named in one run or more,
    and *not sure which* where it was not. Where runs are missing that could still lift a label to
    m, or name `none`, it is *incomplete*: missing runs are never counted as ambiguity. Where `none`
    and another label both recur (possible for m <= k/2), the item is *not sure if any*.

    Parameters
    ----------
    at_least : int, optional
        m; by default four fifths of the runs.
    unsure : (str, str)
        Names of the two categories.

    Returns
    -------
    polars.DataFrame
        ``rater, item, category`` ("labels", one of `unsure`, or "incomplete"), ``labels``,
        ``dominant`` (the final label ranked first most often, then named most often, then declared
        first), ``largest``, ``answered``, ``runs`` and ``settled`` (False where missing runs
        could add a label).

    Raises
    ------
    InputError
        m is not within 1..k.
    """
    none = runs.place(runs.none)
    return pl.concat([_final(one, none, at_least, unsure) for one in runs.matrices])


def _final(
    matrix: LabelMatrix, none: int | None, at_least: int | None, unsure: tuple[str, str]
) -> pl.DataFrame:
    counts = counts_of(matrix)
    least = threshold_of(counts.runs, at_least)
    kept = counts.named >= least
    category = _categories(counts, kept, least, none)
    # An item that is unsure has no labels, although one of them recurs.
    kept[category != 0] = False
    names = pl.Enum([LABELLED, *unsure, INCOMPLETE])
    # Had the runs that are missing all named it, the label would have been final.
    could = ((counts.named < least) & (counts.named + counts.open >= least)).any(axis=1)
    return pl.DataFrame(
        {
            "rater": [matrix.rater] * len(kept),
            "item": matrix.items,
            "category": pl.Series(names.categories.gather(category)).cast(names),
            "labels": _listed(kept, matrix.labels),
            "dominant": _dominant(counts, kept, matrix.labels),
            "largest": counts.named.max(axis=1, initial=0),
            "answered": counts.answered,
            "runs": np.full(len(kept), counts.runs),
            "settled": ~could,
        }
    )


def _categories(
    counts: RunCounts, kept: NDArray[np.bool_], least: int, none: int | None
) -> NDArray[np.int64]:
    """0 labels, 1 not sure if any, 2 not sure which, 3 incomplete."""
    no_label = counts.silent if none is None else counts.named[:, none]
    silent = counts.runs - counts.answered if none is None else counts.open[:, none]
    reached = kept.any(axis=1) | ((no_label >= least) if none is None else False)
    # None and a label both recur: possible where m is at most half of the runs.
    both = kept[:, none] & (kept.sum(axis=1) > 1) if none is not None else np.zeros(len(kept), bool)
    could = (counts.named + counts.open >= least).any(axis=1)
    if none is None:
        could |= no_label + silent >= least
    # In this order: what contradicts itself, what is final, what missing runs could make final, and
    # only then why it is not.
    return np.select(
        [both, reached, could, no_label > 0, silent > 0], [1, 0, 3, 1, 3], default=2
    ).astype(np.int64)


def _listed(kept: NDArray[np.bool_], labels: tuple[str, ...]) -> pl.Series:
    """The labels kept of each item, in the declared order."""
    rows, places = np.nonzero(kept)
    named = pl.DataFrame({"row": rows, "labels": pl.Series(labels, dtype=pl.String).gather(places)})
    lists = named.group_by("row", maintain_order=True).agg("labels")
    whole = pl.DataFrame({"row": np.arange(len(kept))}).join(
        lists, on="row", how="left", maintain_order="left"
    )
    return whole["labels"].fill_null(pl.lit([], pl.List(pl.String)))


def _dominant(counts: RunCounts, kept: NDArray[np.bool_], labels: tuple[str, ...]) -> pl.Series:
    # First by how often it was ranked first, then by how often it was named: one number, since
    # named is at most runs.
    weight = np.where(kept, counts.first * (counts.runs + 1) + counts.named, -1)
    if not weight.size:
        return pl.Series([], dtype=pl.String)
    best = pl.Series(labels, dtype=pl.String).gather(weight.argmax(axis=1))
    there = pl.Series("there", kept.any(axis=1))
    return pl.DataFrame([best.alias("label"), there]).select(pl.when("there").then("label"))[
        "label"
    ]


def label_distribution(final: pl.DataFrame, labels: tuple[str, ...]) -> pl.DataFrame:
    """How often each final label and category was given (Table 8 of Sharma et al.).

    Parameters
    ----------
    final : polars.DataFrame
        From `final_labels`.
    labels : tuple of str
        The declared labels; one that never occurs has 0.

    Returns
    -------
    polars.DataFrame
        ``rater, label, items, share`` of all items of the rater, labels first, categories after
        them; shares of an item with several labels add up to more than 1.
    """
    raters = final["rater"].unique(maintain_order=True)
    categories = [c for c in _names(final) if c != LABELLED]
    # All raters by all labels, so that one that never occurs has a row with 0.
    rows = pl.DataFrame({"rater": raters}).join(
        pl.DataFrame({"label": [*labels, *categories]}), how="cross", maintain_order="left_right"
    )
    named = final.select("rater", label="labels").explode("label").drop_nulls()
    unnamed = final.select("rater", label=pl.col("category").cast(pl.String))
    tally = pl.concat([named, unnamed.filter(pl.col("label") != LABELLED)])
    sizes = final.group_by("rater").agg(n=pl.len())
    return (
        rows.join(
            tally.group_by("rater", "label").agg(items=pl.len()),
            on=["rater", "label"],
            how="left",
            maintain_order="left",
        )
        .join(sizes, on="rater", how="left", maintain_order="left")
        .with_columns(pl.col("items").fill_null(0).cast(pl.Int64))
        .select("rater", "label", "items", share=pl.col("items") / pl.col("n"))
    )


def _names(final: pl.DataFrame) -> list[str]:
    kind = final.schema["category"]
    return kind.categories.to_list() if isinstance(kind, pl.Enum) else []


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
    options: dict[str, Any] = {"ci": ci, "level": level, "n_resamples": n_resamples, "seed": seed}
    return {
        matrix.rater: fleiss_per_label(_items_first(matrix, used), labels=names, **options)
        for matrix in runs.matrices
    }


def _items_first(matrix: LabelMatrix, used: Sequence[int]) -> NDArray[Any]:
    """The cells as (items, runs, labels); small integers, which count faster, where none is NaN."""
    cells = np.ascontiguousarray(matrix.values[:, :, used].transpose(1, 0, 2))
    return cells if np.isnan(cells).any() else cells.astype(np.int8)


_COLUMNS: dict[str, Any] = {
    "kappa": pl.Float64, "low": pl.Float64, "high": pl.Float64, "interval": pl.String,
    "prevalence": pl.Float64, "ac1": pl.Float64, "named": pl.Int64, "n": pl.Int64, "k": pl.Int64,
    "left_out": pl.Int64, "reason": pl.String,
}  # fmt: skip


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
    for rater, agreement in agreements.items():
        parts = zip(
            (*agreement.labels, AVERAGE), (*agreement.estimates, agreement.mean), strict=True
        )
        rows += [{"rater": rater, "label": label, **_row(part)} for label, part in parts]
    schema = {"rater": pl.String, "label": pl.String, **_COLUMNS}
    return pl.DataFrame(rows, schema=schema).with_columns(pl.col(pl.Float64).fill_nan(None))


def _row(estimate: Estimate) -> dict[str, Any]:
    interval, (low, high) = estimate.interval(), estimate.bounds
    return {
        "kappa": estimate.value,
        "low": low,
        "high": high,
        "interval": interval.method if interval else None,
        "prevalence": estimate.details.get("prevalence"),
        "ac1": estimate.details.get("ac1"),
        "named": estimate.details.get("items_named"),
        "n": estimate.n,
        "k": estimate.k,
        "left_out": estimate.left_out,
        "reason": estimate.reason,
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
    answers = final.with_columns(
        pl.when(pl.col("category") == LABELLED)
        .then(pl.col("dominant").fill_null(""))  # of labels without a `none`: none of them
        .alias("dominant label"),
        pl.when(pl.col("category") == LABELLED).then(text).alias("all labels"),
    )
    by_rater = {
        part["rater"][0]: part for part in answers.partition_by("rater", maintain_order=True)
    }
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
    estimate = joint_agreement(coded, levels=[0, 1], ci="wilson", level=level)
    interval = estimate.intervals[0]
    return {
        "agreement": estimate.value,
        "low": interval.low,
        "high": interval.high,
        "n": estimate.n,
        "left_out": pair.height - estimate.n,
    }

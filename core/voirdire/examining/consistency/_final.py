"""Final labels at m of k runs, and what is said of an item that has none."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire._errors import InputError
from voirdire.examining.consistency._counts import Counts, counts_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.examining.consistency._runs import LabelRuns

LABELLED, INCOMPLETE = "labels", "incomplete"
#: Categories of an item without a final label: `none` was named in some run, or in no run.
UNSURE = ("not sure if any", "not sure which")


def threshold_of(runs: int, at_least: int | None = None) -> int:
    """Runs that must name a label: as given, else four fifths of them (4 of 5).

    >>> [threshold_of(runs) for runs in (1, 2, 3, 5, 10)]
    [1, 2, 3, 4, 8]
    """
    if at_least is None:
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
    parts = [_of_rater(runs, rater, at_least, unsure) for rater in runs.raters]
    return pl.concat(parts)


def _of_rater(
    runs: LabelRuns, rater: str, at_least: int | None, unsure: tuple[str, str]
) -> pl.DataFrame:
    found = counts_of(runs, rater)
    least = threshold_of(found.runs, at_least)
    kept = found.named >= least
    category = _categories(found, kept, least, runs.place(runs.none))
    kept[category != 0] = False
    names = pl.Enum([LABELLED, *unsure, INCOMPLETE])
    could = ((found.named < least) & (found.named + found.open >= least)).any(axis=1)
    return pl.DataFrame(
        {
            "rater": [rater] * len(kept),
            "item": found.items,
            "category": pl.Series(names.categories.gather(category)).cast(names),
            "labels": _listed(kept, runs.labels),
            "dominant": _dominant(found, kept, runs.labels),
            "largest": found.named.max(axis=1, initial=0),
            "answered": found.answered,
            "runs": np.full(len(kept), found.runs),
            "settled": ~could,
        }
    )


def _categories(
    found: Counts, kept: NDArray[np.bool_], least: int, none: int | None
) -> NDArray[np.int64]:
    """0 labels, 1 not sure if any, 2 not sure which, 3 incomplete."""
    said = found.silent if none is None else found.named[:, none]
    silent = found.runs - found.answered if none is None else found.open[:, none]
    reached = kept.any(axis=1) | ((said >= least) if none is None else False)
    both = kept[:, none] & (kept.sum(axis=1) > 1) if none is not None else np.zeros(len(kept), bool)
    could = (found.named + found.open >= least).any(axis=1)
    if none is None:
        could |= said + silent >= least
    return np.select(
        [both, reached, could, said > 0, silent > 0], [1, 0, 3, 1, 3], default=2
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


def _dominant(found: Counts, kept: NDArray[np.bool_], labels: tuple[str, ...]) -> pl.Series:
    weight = np.where(kept, found.first * (found.runs + 1) + found.named, -1)
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
    rows = pl.DataFrame({"rater": raters}).join(
        pl.DataFrame({"label": [*labels, *categories]}), how="cross", maintain_order="left_right"
    )
    named = final.select("rater", label="labels").explode("label").drop_nulls()
    unnamed = final.select("rater", label=pl.col("category").cast(pl.String))
    tally = pl.concat([named, unnamed.filter(pl.col("label") != LABELLED)])
    sizes = final.group_by("rater").agg(n=pl.len())
    return (
        rows.join(tally.group_by("rater", "label").agg(items=pl.len()), on=["rater", "label"],
                  how="left", maintain_order="left")
        .join(sizes, on="rater", how="left", maintain_order="left")
        .with_columns(pl.col("items").fill_null(0).cast(pl.Int64))
        .select("rater", "label", "items", share=pl.col("items") / pl.col("n"))
    )  # fmt: skip


def _names(final: pl.DataFrame) -> list[str]:
    kind = final.schema["category"]
    return kind.categories.to_list() if isinstance(kind, pl.Enum) else []

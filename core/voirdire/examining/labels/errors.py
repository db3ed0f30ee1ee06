"""Items whose labels differ from the key: expected and given, with the reply beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire.examining.differing import shortened
from voirdire.tabular import Section, Table, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.examining.labels.matrix import LabelMatrix

ERRORS: dict[str, Any] = {
    "item": pl.String,
    "rater": pl.String,
    "run": pl.Int32,
    "expected": pl.List(pl.String),
    "given": pl.List(pl.String),
    "missed": pl.List(pl.String),
    "wrong": pl.List(pl.String),
    "status": pl.String,
}
_MOST = 200
_COLUMNS = tuple(
    map(text, ("Rater", "Item", "Expected", "Given", "Missed", "Wrongly named", "Status"))
)


def label_errors(truth: LabelMatrix, given: LabelMatrix) -> pl.DataFrame:
    """One row a run and item that is not exactly right, in the order of the key.

    Parameters
    ----------
    truth, given : LabelMatrix
        Over the same items and labels; every run of `given` counts. Items without a key are left
        out.

    Returns
    -------
    polars.DataFrame
        ``item, rater, run``; ``expected`` and ``given`` labels; of these ``missed`` (expected and
        not given) and ``wrong`` (given and not expected); ``status``. Where nothing was given,
        ``given``, ``missed`` and ``wrong`` are null and the status says why.
    """
    rows = []
    for at, run in enumerate(given.runs):
        differ = truth.known[0] & (truth.values[0] != given.values[at]).any(axis=1)
        for place in np.flatnonzero(differ).tolist():
            expected, named = truth.named(place) or (), given.named(place, at)
            missed = None if named is None else [x for x in expected if x not in named]
            wrong = None if named is None else [x for x in named if x not in expected]
            shown = None if named is None else list(named)
            status = str(given.statuses[at, place])
            item = truth.items[place]
            rows.append((item, given.rater, run, list(expected), shown, missed, wrong, status))
    return pl.DataFrame(rows, schema=ERRORS, orient="row")


def worst_first(errors: pl.DataFrame) -> pl.DataFrame:
    """The errors, those with most labels missed or wrong first; what was not given at all last."""
    size = pl.col("missed").list.len() + pl.col("wrong").list.len()
    return errors.sort(size, descending=True, nulls_last=True, maintain_order=True)


def with_texts(
    errors: pl.DataFrame, items: pl.DataFrame | None, replies: pl.DataFrame | None
) -> pl.DataFrame:
    """The errors with the item's ``text`` and the ``reply``, null where they are not at hand.

    Parameters
    ----------
    errors : DataFrame
        From `label_errors`.
    items, replies : DataFrame or None
        ``item, text`` and ``item, rater, run, reply``, as an Examination holds them.
    """
    blank = pl.lit(None, pl.String)
    if items is None or items.is_empty():
        frame = errors.with_columns(blank.alias("text"))
    else:
        texts = items.select(pl.col("item").cast(pl.String), "text").unique("item")
        frame = errors.join(texts, on="item", how="left", maintain_order="left")
    if replies is None or replies.is_empty():
        return frame.with_columns(blank.alias("reply"))
    keys = ["item", "rater", "run"]
    answers = replies.select(
        pl.col("item").cast(pl.String),
        pl.col("rater").cast(pl.String),
        pl.col("run").cast(pl.Int32),
        "reply",
    ).unique(keys)
    return frame.join(answers, on=keys, how="left", maintain_order="left")


def error_section(errors: Sequence[pl.DataFrame], title: str = "Error cases") -> Section:
    """Errors without any text of items or replies; those with most wrong labels come first."""
    frame = pl.concat([pl.DataFrame(schema=ERRORS), *errors])
    worst = worst_first(frame)
    more = max(0, frame.height - _MOST)
    shown = f"The first {_MOST} of {frame.height} rows. " if more else ""
    rows = tuple(
        (
            row["rater"] if row["run"] == 1 else f"{row['rater']} (run {row['run']})",
            row["item"],
            *(_listed(row[name]) for name in ("expected", "given", "missed", "wrong")),
            row["status"],
        )
        for row in worst.head(_MOST).iter_rows(named=True)
    )
    return Section(
        title,
        f"{shown}Items whose labels differ from the key; texts and replies stand in the report "
        "only where it is asked to show texts.",
        (Table(_COLUMNS, rows),),
    )


def reasons_section(
    errors: pl.DataFrame, reasons: pl.DataFrame | None, people: Sequence[str], excerpt: int
) -> Section:
    """What people wrote down about items that a judge got wrong (as Tables 27 and 28 of 002).

    Parameters
    ----------
    errors : DataFrame
        From `label_errors`.
    reasons : DataFrame or None
        ``item, rater, attribute, text``, as an Examination holds them: notes of labels that were
        set in `voirdire look`, and reasons of `voirdire humans`. One on a single label is about
        errors on that label; one without is about the item.
    people : sequence of str
        Whose reasons count: not the judges' own.
    excerpt : int
        How many characters of a reason are shown; at 0 the table says who wrote one.
    """
    title = "Reasons written down against errors"
    if reasons is None or reasons.is_empty() or errors.is_empty():
        return Section(title)
    said = reasons.filter(pl.col("rater").is_in(list(people))).select(
        pl.col("item").cast(pl.String), pl.col("rater").alias("by"), "attribute", "text"
    )
    label = pl.col("attribute").cast(pl.String)
    about = pl.concat_list("missed", "wrong").list.contains(label)
    rows = (
        errors.join(said, on="item", how="inner", maintain_order="left")
        # A reason that stands next to every label of an item is about the item.
        .with_columns(single=pl.len().over("item", "rater", "run", "by", "text") == 1)
        .filter(~pl.col("single") | label.is_null() | about.fill_null(value=True))
        .unique(["item", "rater", "run", "by", "text"], keep="first", maintain_order=True)
    )
    columns = (
        *map(text, ("Judge", "Item", "Expected", "Given", "By")),
        *((text("Reason"),) if excerpt else ()),
    )
    return Section(
        title,
        f"Reasons are cut at {excerpt} characters, as the study allows."
        if excerpt
        else "The words stand in the report where it is asked to show texts, and here where the "
        "study allows excerpts (data.excerpt).",
        (
            Table(
                columns,
                tuple(
                    (
                        row["rater"],
                        row["item"],
                        _listed(row["expected"]),
                        _listed(row["given"]),
                        row["by"],
                        *((shortened(row["text"], excerpt),) if excerpt else ()),
                    )
                    for row in rows.iter_rows(named=True)
                ),
            ),
        ),
    )


def _listed(labels: list[str] | None) -> str | None:
    return None if labels is None else "; ".join(labels) or "none"

"""Labels by what enough raters and runs say, and how far raters agree with a gold sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import InputError
from voirdire.examining.annotating import annotator_agreement
from voirdire.tabular import Section, Table, count, interval, number, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_GOLD = "gold"


def consensus(
    ratings: pl.DataFrame, labels: Sequence[str], at_least: int | None = None
) -> pl.DataFrame:
    """One answer an item and label: what enough of all raters and runs say.

    Parameters
    ----------
    ratings : pl.DataFrame
        Tidy ratings of the labels, scored 0 or 1, by one or several raters in one or several runs.
    labels : sequence of str
    at_least : int, optional
        Answers that must agree; by default more than half of those asked for. One rater with one
        run decides alone.

    Returns
    -------
    pl.DataFrame
        ``item`` and a column a label: 1, 0, or null where too few agree or could be read.

    Raises
    ------
    InputError
        More answers must agree than are asked for, or fewer than one.

    Examples
    --------
    >>> rows = [("1", who, 1, "calm", float(who != "c")) for who in "abc"]
    >>> names = ["item", "rater", "run", "attribute", "score"]
    >>> consensus(pl.DataFrame(rows, schema=names, orient="row"), ["calm"]).rows()
    [('1', 1.0)]
    """
    asked = ratings.select("rater", "run").unique().height
    needed = asked // 2 + 1 if at_least is None else at_least
    if not 1 <= needed <= max(asked, 1):
        raise InputError(f"--at-least {needed}: only {asked} answers are asked for about each item")
    name, score = pl.col("attribute").cast(pl.String), pl.col("score")
    return ratings.group_by("item", maintain_order=True).agg(
        pl.when((score.filter(name == label) == 1).sum() >= needed).then(1.0)
        .when((score.filter(name == label) == 0).sum() >= needed).then(0.0)
        .alias(label)
        for label in labels
    )  # fmt: skip


def gold_section(
    gold: pl.DataFrame, said: Mapping[str, pl.DataFrame], labels: Sequence[str]
) -> Section:
    """How far raters agree with the gold labels of a sample, with intervals over its items.

    Parameters
    ----------
    gold : pl.DataFrame
        ``item`` and a column a label with 1, 0 or null.
    said : mapping
        Name -> the same of a rater, or of several together; items that are not gold are left out.
    labels : sequence of str
    """
    frames = {_GOLD: gold, **{n: one.join(gold, on="item", how="semi") for n, one in said.items()}}
    answers = pl.concat(
        frame.select("item", pl.lit(name).alias("annotator"), pl.col(labels).cast(pl.Int8))
        for name, frame in frames.items()
    )
    rows = [
        (name, label, share.value, share.interval(), kappa.value, kappa.interval(), kappa.n)
        for name in said
        for label, agreement in annotator_agreement(
            answers, [_GOLD, name], labels, ci="percentile"
        ).items()
        for share, kappa in [(agreement["agreement"], agreement["cohen"])]
    ]
    columns = (
        text("Rater"), text("Label"), number("Agreement"), interval("Agreement, interval"),
        number("Cohen's kappa"), interval("Cohen's kappa, interval"), count("Items"),
    )  # fmt: skip
    return Section(
        "Agreement with the gold sample",
        "Labels of models are models': these figures say how far they are from people's, on items "
        "that are not among those kept.",
        (Table(columns, tuple(rows)),),
    )

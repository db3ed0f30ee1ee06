"""An overall score that raters give beside the attributes of a rubric, and how they justify it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.examining.differing import shortened
from voirdire.examining.texts import Texts
from voirdire.parsing import parse_scores, parse_scores_column
from voirdire.schema import Scale
from voirdire.tabular import Section, Table, count, number, share, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.examining.examination import Examination

#: Responses of each rater that are shown.
_SHOWN = 5
_KEYS = ("item", "system", "rater", "run")


def overall_scores(examination: Examination, name: str) -> pl.DataFrame:
    """What raters give overall, beside the mean of their scores on the attributes.

    Parameters
    ----------
    name : str
        The key of replies that holds it; no attribute of the rubric.

    Returns
    -------
    DataFrame
        ``item, system, rater, run, reply, overall, status, mean``: a row a rater's last reply about
        a response in each run. `overall` is null where it is absent or no number on the scale,
        with its status; `mean` where a score on an attribute is missing.
    """
    attributes = [attribute.name for attribute in examination.study.rubric.attributes]
    low, high = examination.study.rubric.scale
    replies = (
        Texts.of(examination)
        .replies.sort("step", maintain_order=True)
        .group_by(_KEYS, maintain_order=True)
        .agg(pl.col("text").last().alias("reply"))
    )
    # Any number on the scale: a rater may give the mean of its scores.
    read = parse_scores_column(replies["reply"].to_list(), [*attributes, name], Scale(low, high, 0))
    given = replies.with_columns(
        pl.Series("overall", read.scores[name], pl.Float64),
        pl.Series("status", read.statuses[name], pl.String),
    )
    score = pl.col("score")
    means = (
        examination.ratings.with_columns(pl.col("item", "system", "rater").cast(pl.String))
        .with_columns(pl.col("system").fill_null(""), pl.col("run").cast(pl.Int64))
        .group_by(_KEYS)
        .agg(
            pl.when(score.count() == len(attributes))
            .then(score.cast(pl.Float64).mean())
            .alias("mean")
        )
    )
    return given.with_columns(pl.col("run").cast(pl.Int64)).join(
        means, on=list(_KEYS), how="left", maintain_order="left"
    )


def overall_sections(examination: Examination, name: str, reason: str) -> tuple[Section, ...]:
    """The overall score of each rater beside its attributes, and where the two differ most.

    `reason` is the key of replies that holds the justification, which is shown as far as the study
    allows excerpts (`data.excerpt`). Nothing where no rater gives an overall score.
    """
    found = overall_scores(examination, name)
    if found["overall"].null_count() == found.height:
        return ()
    gap = pl.col("overall") - pl.col("mean")
    quoted = pl.col("reply").str.contains(rf'(?i)"{reason}"\s*:\s*"\s*[^"\s]')
    # Who never gives one was not asked for it.
    both = found.with_columns(gap.alias("gap")).filter(
        pl.col("overall").is_not_null().any().over("rater")
    )
    rows = both.group_by("rater", maintain_order=True).agg(
        pl.len(),
        pl.col("overall").count().alias("read"),
        (pl.col("status") == "out_of_scale").sum().alias("off"),
        pl.col("overall").filter(pl.col("gap").is_not_null()).mean().alias("own"),
        pl.col("mean").filter(pl.col("gap").is_not_null()).mean(),
        pl.col("gap").mean(),
        pl.col("gap").abs().mean().alias("size"),
        pl.corr("overall", "mean").alias("r"),
        quoted.mean().alias("quoted"),
    )
    columns = (
        text("Rater"), *map(count, ("Replies", "Overall read", "Off the scale")),
        number("Mean overall"), number("Mean of attributes"), number("Difference", signed=True),
        number("Mean distance"), number("Correlation"), share("With a justification"),
    )  # fmt: skip
    return (
        Section(
            f"{name}, beside the attributes",
            f"{name} is no attribute of the rubric: it costs no score where it is absent, null or "
            "text. Means are over replies that have it and every attribute.",
            (Table(columns, tuple(rows.iter_rows())),),
        ),
        _farthest(examination, both, name, reason),
    )


def _farthest(examination: Examination, found: pl.DataFrame, name: str, reason: str) -> Section:
    """Where the overall score of a rater is farthest from its attributes, and what it says."""
    excerpt = examination.study.data.excerpt
    attributes = [attribute.name for attribute in examination.study.rubric.attributes]
    rows: list[tuple[Any, ...]] = []
    apart = found.filter(pl.col("gap").abs() > 0)
    for own in apart.partition_by("rater", maintain_order=True):
        first = own.sort(pl.col("gap").abs(), descending=True, maintain_order=True).head(_SHOWN)
        for row in first.iter_rows(named=True):
            cells = (row["rater"], row["item"], row["system"], row["overall"], row["mean"])
            said = (_said(row["reply"], attributes, reason, excerpt),) if excerpt else ()
            rows.append((*cells, *said))
    columns = (
        *map(text, ("Rater", "Item", "System")),
        number(name),
        number("Mean of attributes"),
        *((text(reason),) if excerpt else ()),
    )
    return Section(
        f"{name} farthest from the attributes (the first {_SHOWN} of each rater)",
        f"Justifications are cut at {excerpt} characters, as the study allows."
        if excerpt
        else "Justifications are left out; a study allows excerpts by data.excerpt. `voirdire "
        "item` shows one response with all that was said of it.",
        (Table(columns, tuple(rows)),),
    )


def _said(reply: str | None, attributes: Sequence[str], reason: str, most: int) -> str:
    """The justification in a reply, cut; empty where there is none."""
    fields = parse_scores(reply, attributes, Scale()).extra.get("fields") or {}
    return shortened(str(fields.get(reason) or ""), most)

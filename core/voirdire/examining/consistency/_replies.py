"""Label runs from replies: each different reply is parsed once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire._errors import InputError
from voirdire.examining.consistency._runs import KEYS, Contradiction, LabelRuns, label_runs, places
from voirdire.parsing import parse_labels_column
from voirdire.tables import STATUS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.parsing import LabelSet
    from voirdire.schema import Parsed


def runs_of_replies(
    replies: pl.DataFrame,
    labels: LabelSet,
    *,
    at_most: int | None = None,
    contradiction: Contradiction = "missing",
) -> LabelRuns:
    """Label runs from raw replies.

    Parameters
    ----------
    replies : polars.DataFrame
        ``rater, item, run, reply`` (null: none came, status ``failed``) and, where it is known,
        ``finish_reason``.
    labels : LabelSet
        The declared labels.
    at_most, contradiction
        As in `parse_labels`.

    Returns
    -------
    LabelRuns
        With ``unknown`` and ``flags`` of each reply.

    Raises
    ------
    InputError
        A column is missing.

    Examples
    --------
    >>> from voirdire.parsing import LabelSet
    >>> frame = pl.DataFrame(
    ...     {"rater": "m", "item": ["1", "1"], "run": [1, 2], "reply": ["Anger", None]},
    ... )
    >>> runs_of_replies(frame, LabelSet(("Anger", "None"))).cells("m").tolist()
    [[[1, 0], [-1, -1]]]
    """
    lacking = [name for name in (*KEYS, "reply") if name not in replies.columns]
    if lacking:
        raise InputError(f"replies have no column {lacking[0]!r} (columns: {replies.columns})")
    frame = replies.with_columns(finish_reason=_finish(replies))
    distinct = frame.select("reply", "finish_reason").unique(maintain_order=True)
    read = parse_labels_column(
        distinct["reply"].to_list(),
        labels,
        at_most=at_most,
        contradiction=contradiction,
        finish_reasons=distinct["finish_reason"].to_list(),
    )
    table = parsed_table(read, labels.labels)
    joined = frame.select(*KEYS, "reply", "finish_reason").join(
        pl.concat([distinct, table], how="horizontal"),
        on=["reply", "finish_reason"],
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    wide = joined.drop("reply", "finish_reason").with_columns(pl.col("rater").cast(pl.String))
    return label_runs(wide, labels.labels, labels.none, labels.other, contradiction)


def parsed_table(read: Sequence[Parsed], labels: Sequence[str]) -> pl.DataFrame:
    """Parsed replies as columns: status, first, a column a label, unknown, flags."""
    place = {label: number for number, label in enumerate(labels)}
    first = [next((place[name] for name, at in p.ranks.items() if at == 1), None) for p in read]
    columns: dict[str, Any] = {
        "status": pl.Series([parsed.status for parsed in read], dtype=STATUS),
        "first": pl.Series(first, dtype=pl.Int16),
    }
    for name, label in zip(places(labels), labels, strict=True):
        scores = [parsed.scores.get(label) for parsed in read]
        columns[name] = pl.Series(scores, dtype=pl.Float64).cast(pl.Int8)
    unknown = [list(parsed.extra.get("unknown", ())) for parsed in read]
    columns["unknown"] = pl.Series(unknown, dtype=pl.List(pl.String))
    columns["flags"] = pl.Series([list(p.flags) for p in read], dtype=pl.List(pl.String))
    return pl.DataFrame(columns)


def _finish(replies: pl.DataFrame) -> pl.Expr:
    known = "finish_reason" in replies.columns
    given = pl.col("finish_reason").fill_null("stop") if known else pl.lit("stop")
    return pl.when(pl.col("reply").is_null()).then(pl.lit("error")).otherwise(given)


def reply_states(runs: LabelRuns) -> pl.DataFrame:
    """What became of the replies of each rater.

    Returns
    -------
    polars.DataFrame
        ``rater, items, runs, replies, read, missing`` and ``reasons`` (status and count). Where
        replies are known also ``contradictions``, ``too_many`` (more labels than the prompt allows)
        and ``unknown`` (replies with an entry outside the set). `read` and `missing` add up to
        `replies`: none is turned into a label.
    """
    missing = pl.any_horizontal(pl.col(name).is_null() for name in runs.columns)
    found = runs.frame.group_by("rater", maintain_order=True).agg(
        items=pl.col("item").n_unique(),
        runs=pl.col("run").n_unique(),
        replies=pl.len(),
        read=(~missing).sum(),
        missing=missing.sum(),
        **_flag_counts(runs),
    )
    reasons = (
        runs.frame.filter(missing)
        .group_by("rater", "status", maintain_order=True)
        .len()
        .sort("rater", "status")
        .with_columns(said=pl.format("{} {}", "status", "len"))
        .group_by("rater", maintain_order=True)
        .agg(reasons=pl.col("said").str.join(", "))
    )
    return found.join(reasons, on="rater", how="left", maintain_order="left").with_columns(
        pl.col("reasons").fill_null("")
    )


def _flag_counts(runs: LabelRuns) -> dict[str, pl.Expr]:
    if "flags" not in runs.frame.columns:
        return {}
    starts = {"contradictions": "contradiction:", "too_many": "too_many:"}
    flagged = {
        name: pl.col("flags").list.eval(pl.element().str.starts_with(start)).list.any().sum()
        for name, start in starts.items()
    }
    return {**flagged, "unknown": (pl.col("unknown").list.len() > 0).sum()}


def unknown_labels(runs: LabelRuns) -> pl.DataFrame:
    """Entries outside the declared set by rater, the most frequent first (Sharma et al., Table 6).

    Returns
    -------
    polars.DataFrame
        ``rater, label, count``; spellings that differ in case alone are one. Empty where replies
        are not known.
    """
    if "unknown" not in runs.frame.columns:
        return pl.DataFrame(schema={"rater": pl.String, "label": pl.String, "count": pl.UInt32})
    entries = runs.frame.select("rater", label=pl.col("unknown")).explode("label").drop_nulls()
    return (
        entries.with_columns(_form=pl.col("label").str.to_lowercase())
        .group_by("rater", "_form", maintain_order=True)
        .agg(pl.col("label").first(), count=pl.len())
        .drop("_form")
        .sort("count", "label", descending=[True, False])
        .sort("rater", maintain_order=True)
    )

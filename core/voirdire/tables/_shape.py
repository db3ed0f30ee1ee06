"""Records of each layout as tidy ratings: scores as they stand, replies by the parser."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import polars as pl

from voirdire import parsing
from voirdire.errors import TableError
from voirdire.schema import STATUSES
from voirdire.tables._numbers import to_scores
from voirdire.tables._tables import FACTS, RATINGS, REPLIES, STATUS, finding, plural, status_of
from voirdire.tables._words import told, unread_finding

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.schema import Finding, Flag, Scale
    from voirdire.study import Source
    from voirdire.tables._files import RawTable
    from voirdire.tables._layout import FilePlan

_BASE = ("item", "system", "rater", "run")
#: Replies by which attributes are found where no rubric names them.
_SAMPLE = 300
#: Kinds of remarks that a finding lists.
_FLAGS = 12
#: Remarks that the audit reports as findings of their own, by rater and value.
_OWN_FINDING = ("off_scale", "between_levels")


def shape_scores(
    raw: RawTable, plan: FilePlan, frame: pl.DataFrame, scale: Scale, source: Source
) -> tuple[pl.DataFrame, tuple[Finding, ...]]:
    """Ratings of the layouts that hold numbers, and a finding on texts that count as missing.

    Raises
    ------
    QuestionError
        A text where a score should stand, and nobody said what it stands for.
    """
    read = {
        column: to_scores(frame[f"={column}"], decimal_comma=raw.decimal_comma, scale=scale)
        for column in plan.values
    }
    note = unread_finding(raw, source, frame, read)
    # A struct of a number and, where a word says it, what became of it.
    frame = frame.with_columns(
        pl.DataFrame([scores.alias("score"), told(bad, fates).alias("#fate")]).to_struct(f"={c}")
        for c, (scores, bad, fates) in read.items()
    )
    if plan.kind == "long":
        column = next(iter(plan.values))
        long = frame.rename({f"={column}": "score"})
    elif plan.kind == "grid":
        long = _unpivot(plan, frame.drop("attribute", "rater"), "attribute", plan.raters)
    else:
        into = "rater" if plan.kind == "raters" else "attribute"
        long = _unpivot(plan, frame.drop(into), into)
    return _finish(long, scale), () if note is None else (note,)


def _unpivot(
    plan: FilePlan, frame: pl.DataFrame, into: str, raters: Mapping[str, str] | None = None
) -> pl.DataFrame:
    values = [f"={column}" for column in plan.values]
    index = [column for column in frame.columns if column not in values]
    names = {f"={column}": meaning for column, meaning in plan.values.items()}
    long = frame.unpivot(values, index=index, variable_name=into, value_name="score")
    if raters:
        of = {f"={column}": rater for column, rater in raters.items()}
        long = long.with_columns(pl.col(into).replace(of).alias("rater"))
    return long.with_columns(pl.col(into).replace(names))


def _finish(long: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """Status, rank and the standard order of columns."""
    long = long.unnest("score")
    fate = pl.col("#fate")
    status = pl.when(fate.is_null()).then(status_of(scale)).otherwise(fate)
    if "#status" in long.columns:
        given = pl.col("#status").fill_null("")  # a blank says nothing of its row
        # A number in a row that failed is what stood there before, and no score.
        fate = given.is_in(list(STATUSES)) & ~given.is_in(["ok", "repaired"])
        on = status.is_in(["ok", "blank"])
        long = long.with_columns(pl.when(~(fate & on)).then("score").alias("score"))
        bare = pl.col("score").is_null() & given.is_in(list(STATUSES)) & (given != "ok")
        status = pl.when(bare).then(given.cast(STATUS, strict=False)).otherwise(status)
    rank = (
        pl.col("#rank").cast(pl.Int32, strict=False)
        if "#rank" in long.columns
        else pl.lit(None, dtype=pl.Int32)
    )
    facts = [name for name in FACTS if name in long.columns]
    return long.select(
        *_BASE, "attribute", "score", rank.alias("rank"), status.alias("status"), *facts
    ).cast({"run": pl.Int32})


def shape_replies(
    plan: FilePlan, frame: pl.DataFrame, attributes: Sequence[str], scale: Scale
) -> tuple[pl.DataFrame, pl.DataFrame, tuple[Finding, ...]]:
    """Ratings and replies of the layout that holds what judges wrote, and the parser's remarks.

    Parameters
    ----------
    attributes : sequence of str
        Those of the rubric; without any they are found in the replies.

    Raises
    ------
    TableError
        The replies hold no scores, and no attributes are declared.
    """
    cells = _stacked(plan, frame)
    texts = cells["reply"].to_list()
    attributes = attributes or _attributes_in(texts)
    if not attributes:
        raise TableError(
            f"{plan.rater_name}: no score was found in the replies, and the study declares no "
            f"attributes (rubric.attributes)"
        )
    parsed = parsing.parse_scores_column(texts, attributes, scale)
    facts = [name for name in FACTS if name in cells.columns]
    base = cells.select(*_BASE, *facts)
    ratings = pl.concat(
        base.with_columns(
            pl.lit(attribute).alias("attribute"),
            _with_off_scale(parsed.scores[attribute], parsed.off_scale[attribute]).alias("score"),
            pl.lit(None, dtype=pl.Int32).alias("rank"),
            pl.Series("status", parsed.statuses[attribute], dtype=STATUS),
        ).select(*RATINGS, *facts)
        for attribute in attributes
    )
    replies = cells.with_columns(pl.Series("status", parsed.status, dtype=STATUS))
    return ratings, replies.select(list(REPLIES)), _remarks(plan.rater_name, parsed.flags)


def _stacked(plan: FilePlan, frame: pl.DataFrame) -> pl.DataFrame:
    """Reply cells one below another: ``item, system, rater, run, reply``, column by column."""
    blocks = []
    for column, system in plan.values.items():
        of = pl.lit(system) if system else pl.col("system")
        by = pl.lit(plan.raters[column]) if column in plan.raters else pl.col("rater")
        blocks.append(
            frame.select(
                "item",
                of.alias("system"),
                by.alias("rater"),
                "run",
                pl.col(f"={column}").cast(pl.String).alias("reply"),
                *(name for name in FACTS if name in frame.columns),
            )
        )
    return pl.concat(blocks)


def _with_off_scale(scores: list[float | None], off: dict[int, float]) -> pl.Series:
    """Scores with the numbers off the scale among them: the audit counts these (see `_tables`)."""
    column = pl.Series(scores, dtype=pl.Float64)
    return column.scatter(list(off), list(off.values())) if off else column


def _attributes_in(texts: Sequence[str | None]) -> tuple[str, ...]:
    """Keys with numbers in most of the first few hundred plain JSON replies, in their order.

    For files that come without a rubric. A key of a few replies is one that a judge made up.
    """
    seen: Counter[str] = Counter()
    read = 0
    for text in [text for text in texts if text and text.strip()][:_SAMPLE]:
        keys = _keys_of_numbers(text)
        read += bool(keys)
        seen.update(keys)
    return tuple(key for key, count in seen.items() if count * 2 > read)


def _keys_of_numbers(text: str) -> list[str]:
    """Keys of the object in a reply that hold numbers; none where it is not plain JSON."""
    start, end = text.find("{"), text.rfind("}")
    try:
        value = json.loads(text[start : end + 1]) if 0 <= start < end else {}
    except (ValueError, RecursionError):
        return []
    if not isinstance(value, dict):
        return []
    return [
        key.strip()
        for key, score in value.items()
        if isinstance(score, int | float) and not isinstance(score, bool)
    ]


def _remarks(rater: str, flags: Sequence[tuple[Flag, ...]]) -> tuple[Finding, ...]:
    """What the parser remarked on, counted; it cost no score that is not missing anyway."""
    counts = Counter(flag for each in flags if each for flag in each)
    remarks = {str(flag): n for flag, n in counts.items() if flag.kind not in _OWN_FINDING}
    if not remarks:
        return ()
    common = sorted(remarks.items(), key=lambda pair: (-pair[1], pair[0]))
    note = finding(
        "reply_flags",
        "note",
        rater,
        [f"{flag} ({count:,})" for flag, count in common[:_FLAGS]],
        f"{plural(sum(remarks.values()), 'remark')} of the parser on replies.",
        "Remarks cost no score by themselves; an ambiguous value is missing.",
        count=sum(remarks.values()),
    )
    return (note,)

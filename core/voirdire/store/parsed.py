"""Ratings and preferences read out of the replies of one rater, page by page."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from voirdire.protocols import ParsesColumns
from voirdire.schema import Reply
from voirdire.store.once import rows_of, seen_by_parsers
from voirdire.store.raters import read_replies
from voirdire.store.replies import answered
from voirdire.store.said import read_said
from voirdire.tables import FACTS, RATINGS, STATUS
from voirdire.tables import PREFERENCES as COMPARED

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from voirdire.parsing import ScoreColumns
    from voirdire.schema import Flag, Status
    from voirdire.store.raters import Participant
    from voirdire.store.records import RaterId
    from voirdire.store.replies import Answered

#: Tasks of one page, which bounds the memory that deriving a table takes.
PAGE = 5_000
#: Flags of a reply in a table.
_FLAG: dict[str, Any] = {"kind": pl.String, "about": pl.String, "count": pl.Int64}
FLAGS = pl.List(pl.Struct(_FLAG))
PREFERENCES: dict[str, Any] = {**COMPARED, "status": STATUS}
_TASKS: dict[str, Any] = {
    "item": pl.String,
    "cluster": pl.String,
    "first": pl.String,
    "second": pl.String,
    "run": pl.Int32,
    "uid": pl.Int64,
}
_READ: dict[str, Any] = {
    "uid": pl.Int64,
    "attribute": pl.String,
    "score": pl.Float64,
    "rank": pl.Int32,
    "status": STATUS,
    "flags": FLAGS,
}
#: What stands for the replies of a task that was never asked.
NOT_ASKED = [Reply("", "error", error="not asked")]


class Page(NamedTuple):
    """Some tasks of one rater, parsed.

    `rows` has one row a task, run and attribute, in the expected order; what has no reply stands
    there with status ``failed``. `flags` stand on the first row of each task alone. `changed` names
    the tasks whose replies are read otherwise now than when they were finished.
    """

    rows: pl.DataFrame
    changed: list[Changed]


class Changed(NamedTuple):
    """A task by rater, item, systems, unit and run, and what its replies say now."""

    rater: RaterId
    item: str
    first: str
    second: str
    unit: str
    run: int
    status: str


def parsed_pages(connection: sqlite3.Connection, participant: Participant) -> Iterator[Page]:
    """Everything a rater was to say."""
    tasks = answered(connection, participant.id, participant.runs)
    while page := list(islice(tasks, PAGE)):
        yield _page(page, participant)


def _page(page: Sequence[Answered], participant: Participant) -> Page:
    numbers: dict[Any, int] = {}
    distinct: list[Sequence[Reply] | str] = []
    tasks: list[tuple[Any, ...]] = []
    for one in page:
        kept, said = one.replies, one.said
        replies = said or (NOT_ASKED if kept is None else kept)
        key = said or seen_by_parsers(kept or NOT_ASKED)
        number = numbers.get(key)
        if number is None:  # equal replies say the same: each is parsed once
            number = numbers[key] = len(numbers)
            distinct.append(replies)
        name = one.name if one.unit else one.item
        tasks.append((name, one.item, one.first, one.second, one.run, number))
    readings, statuses = parse_distinct(distinct, participant)
    left = framed(tasks, _TASKS)
    # polars promises the order of rows only where it is asked for.
    rows = left.join(readings, on="uid", how="inner", maintain_order="left_right")
    # One that failed has no reply that could be read otherwise.
    changed = [
        Changed(
            participant.id,
            before.item,
            before.first,
            before.second,
            before.unit,
            before.run,
            statuses[task[-1]],
        )
        for task, before in zip(tasks, page, strict=True)
        if before.status not in (None, "failed", statuses[task[-1]])
    ]
    return Page(rows.with_columns(rater=pl.lit(participant.id.name)), changed)


def framed(rows: Sequence[tuple[Any, ...]], schema: Mapping[str, Any]) -> pl.DataFrame:
    """Rows as a frame, by column: put together by row, it takes polars several times as long."""
    columns = zip(*rows, strict=True) if rows else ((),) * len(schema)
    return pl.DataFrame(
        [
            pl.Series(name, list(column), kind)
            for (name, kind), column in zip(schema.items(), columns, strict=True)
        ]
    )


def parse_distinct(
    distinct: Sequence[Sequence[Reply] | str], participant: Participant
) -> tuple[pl.DataFrame, Sequence[Status]]:
    """What each set of replies says, or has said: rows by number and attribute, and its status."""
    unread, rows = list[int](), list[tuple[Any, ...]]()
    statuses: list[Status] = ["failed"] * len(distinct)
    for number, one in enumerate(distinct):
        if (known := None if isinstance(one, str) else participant.once.recall(one)) is None:
            unread.append(number)
        else:
            statuses[number], read = known
            rows += [(number, *row) for row in read]
    columns = _columns([distinct[number] for number in unread], participant.rater)
    for place, number in enumerate(unread):
        if columns is not None:
            statuses[number] = columns.status[place]
            continue
        one = distinct[number]
        parsed = read_said(one)[0] if isinstance(one, str) else read_replies(participant, one)
        statuses[number] = parsed.status
        rows += [(number, *row) for row in rows_of(parsed)]
    readings = pl.DataFrame(rows, schema=_READ, orient="row")
    if columns is None:
        return readings, statuses
    return pl.concat([_from_columns(columns, unread), readings]), statuses


def _columns(unread: Sequence[Sequence[Reply] | str], rater: Any) -> ScoreColumns | None:
    """What a rater that reads by column makes of single replies; None where that would not do."""
    single = [one[0] for one in unread if not isinstance(one, str) and len(one) == 1]
    if not (isinstance(rater, ParsesColumns) and single and len(single) == len(unread)):
        return None
    # None of its own: such as where scores come from log-probabilities.
    columns: ScoreColumns | None = rater.parse_column(single)
    return columns


def _from_columns(columns: ScoreColumns, numbers: Sequence[int]) -> pl.DataFrame:
    flags = flags_series(columns.flags)
    parts = [
        pl.DataFrame(
            {"score": scores, "status": columns.statuses[attribute]},
            schema={"score": pl.Float64, "status": STATUS},
        )
        .with_columns(pl.lit(None, flags.dtype).alias("flags") if place else flags)
        .with_row_index("uid")
        .with_columns(attribute=pl.lit(attribute), rank=None, place=place)
        for place, (attribute, scores) in enumerate(columns.scores.items())
    ]
    return (
        pl.concat(parts)
        # By the place of each attribute: a reply's rows stand together, in
        # the order of its rubric.
        .sort("uid", "place")
        .with_columns(uid=pl.lit(pl.Series(numbers, dtype=pl.Int64)).gather(pl.col("uid")))
        .select(pl.col(name).cast(kind) for name, kind in _READ.items())
    )


def flags_series(flags: Iterable[Iterable[Flag]]) -> pl.Series:
    """The flags of each reply as a column of structs: kind, about, count."""
    sizes: list[int] = []
    flat: list[tuple[Any, ...]] = []
    for of_reply in flags:
        before = len(flat)
        flat += [(len(sizes), each.kind, each.about, each.count) for each in of_reply]
        sizes.append(len(flat) - before)
    # A row at a time polars would make a frame of each reply's flags.
    rows = pl.DataFrame(flat, schema={"row": pl.UInt32, **_FLAG}, orient="row")
    lists = rows.group_by("row", maintain_order=True).agg(flags=pl.struct(*_FLAG))
    every = pl.DataFrame({"row": pl.Series(range(len(sizes)), dtype=pl.UInt32)})
    columns = every.join(lists, on="row", how="left", maintain_order="left")["flags"].cast(FLAGS)
    return columns.fill_null(pl.Series([[]], dtype=FLAGS))


def as_ratings(
    parsed: pl.DataFrame, facts: Mapping[str, Mapping[str, str]] | None = None
) -> pl.DataFrame:
    """Ratings in the columns that every table of ratings has; an item alone has no system.

    `facts` say what is known of items, by the name of the column (`cluster`, `subgroup`): of a unit
    it is what is known of its conversation, which is its cluster where nothing else is said.
    """
    schema = with_facts(RATINGS, facts or {})
    return (
        _known(parsed, facts or {})
        .with_columns(system=pl.when(pl.col("first") == "").then(None).otherwise("first"))
        .select(pl.col(name).cast(kind) for name, kind in schema.items())
    )


def with_facts(schema: Mapping[str, Any], facts: Iterable[str]) -> dict[str, Any]:
    """A schema with the columns of what is known of items."""
    return {**schema, **{name: FACTS[name] for name in facts}}


def _known(parsed: pl.DataFrame, facts: Mapping[str, Mapping[str, str]]) -> pl.DataFrame:
    """The rows with what is known of the item that each is a part of."""
    item = pl.col("cluster")
    fallback = {"cluster": item}
    return parsed.with_columns(
        item.replace_strict(said, default=fallback.get(name), return_dtype=pl.String).alias(name)
        for name, said in facts.items()
    )


def as_preferences(
    parsed: pl.DataFrame,
    pairs: Sequence[tuple[str, str]],
    facts: Mapping[str, Mapping[str, str]] | None = None,
) -> pl.DataFrame:
    """Preferences in the declared direction of each pair: `score` > 0 prefers system_a.

    `facts` are those of `as_ratings`.
    """
    schema = with_facts(PREFERENCES, facts or {})
    declared = pl.struct("first", "second").is_in([{"first": a, "second": b} for a, b in pairs])
    return (
        _known(parsed, facts or {})
        .with_columns(ahead=declared)
        .with_columns(
            system_a=pl.when("ahead").then("first").otherwise("second"),
            system_b=pl.when("ahead").then("second").otherwise("first"),
            shown_first=pl.col("first"),
            # A score prefers what was shown first; the table's prefers system_a.
            score=pl.when("ahead").then("score").otherwise(-pl.col("score")),
        )
        .select(pl.col(name).cast(kind) for name, kind in schema.items())
    )

"""A file's records under the standard names, each with an id and none twice."""

from __future__ import annotations

import json
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import TableError, listed, not_one_of
from voirdire.late import dataclass
from voirdire.tables._ids import canonical_ids, rounded_ids
from voirdire.tables._layout import unread_columns
from voirdire.tables._names import find
from voirdire.tables._rated import KEYS, has_duplicates
from voirdire.tables._status import without_withdrawn
from voirdire.tables._tables import (
    CONTEXTS,
    FACTS,
    ORIGIN,
    PLACES,
    REASONS,
    RESPONSES,
    and_more,
    finding,
    plural,
)
from voirdire.tables._turns import turn_column

if TYPE_CHECKING:
    from voirdire.schema import Finding
    from voirdire.tables._files import RawTable
    from voirdire.tables._layout import FilePlan


#: Words of the rows that a spreadsheet adds below the items.
_SUMMARIES = frozenset(
    (
        "total", "totals", "grand total", "subtotal", "sum", "mean", "means", "average",
        "averages", "avg", "median", "sd", "std", "stdev", "std dev", "st dev",
        "standard deviation", "variance", "summe", "gesamt", "mittelwert", "durchschnitt",
        "moyenne", "somme", "media", "promedio", "suma",
    )
)  # fmt: skip
#: Summaries beside one of those, and maybe names of items elsewhere.
_BESIDE = frozenset(("min", "max", "minimum", "maximum", "count", "n"))
# Dates as spreadsheets and pandas write them: 2024-02-01 00:00:00, 1-Feb, 1-Feb-24, Feb-24.
_DATE = (
    r"(?i)^\d{4}-\d\d-\d\d(?: 00:00:00(?:\.0+)?)?$"
    r"|^\d{1,2}-(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)(?:-\d{2,4})?$"
    r"|^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)-\d{1,4}$"
)
#: From this share of rows on blank ids are a way of writing, and no slip.
_ONCE_WRITTEN, _A_FEW = 0.2, 3


@dataclass(frozen=True, slots=True)
class Records:
    """Standard key columns, ``row`` and the value columns under their own names with ``=`` before.

    `problems` are conflicts to be raised together once all files are read.
    """

    frame: pl.DataFrame
    contexts: pl.DataFrame
    responses: pl.DataFrame
    reasons: pl.DataFrame
    findings: tuple[Finding, ...]
    problems: tuple[str, ...]


def records(raw: RawTable, plan: FilePlan, attribute: str) -> Records:
    """Keys in canonical form; rows without an id and repeated identical rows are left out.

    A finding counts them.

    Parameters
    ----------
    attribute : str
        The attribute where no column says it.

    Raises
    ------
    TableError
        No row has an id, a row without rater or attribute, runs that cannot be told apart.
    """
    frame = pl.DataFrame(
        [
            canonical_ids(raw.frame[plan.item]).alias("item"),
            _names(raw, plan.system, "system"),
            _names(raw, plan.rater, "rater", plan.rater_name),
            _runs(raw, plan.run),
            _names(raw, plan.attribute, "attribute", attribute),
            raw.numbers(),
            *(raw.frame[column].alias(f"={column}") for column in plan.values),
            *_optional(raw, plan),
        ]
    )
    # Rows that are none go before texts and duplicates are looked at: a total has no text of its
    # own.
    frame, notes = _with_ids(raw, plan, frame)
    frame, withdrawn = without_withdrawn(raw, plan.status, frame)
    notes = (*notes, *withdrawn)
    contexts = _contexts(raw, plan, frame)
    responses = _responses(plan, frame)
    reasons = _reasons(plan, frame)
    frame = frame.drop("#text", "#response", *(f"#{c}" for c in plan.reasons), strict=False)
    frame, repeated, problems = _once(raw, plan, frame)
    return Records(frame, contexts, responses, reasons, (*notes, *repeated), problems)


def _names(raw: RawTable, column: str | None, part: str, otherwise: str | None = None) -> pl.Series:
    """A key column as trimmed text, or one value throughout."""
    height = raw.frame.height
    if column is None:
        return pl.select(pl.repeat(otherwise, height, dtype=pl.String)).to_series().alias(part)
    if part == "system":
        return canonical_ids(raw.frame[column]).alias(part)
    names = canonical_ids(raw.frame[column])
    if names.null_count():
        row = raw.place(int(names.is_null().arg_max() or 0))
        raise TableError(f"{raw.name}: {row} has no {part} (column {column!r} is blank there)")
    return names.alias(part)


def _runs(raw: RawTable, column: str | None) -> pl.Series:
    """Runs as whole numbers; names of runs are numbered in the order they come."""
    if column is None:
        height = raw.frame.height
        return pl.select(pl.repeat(1, height, dtype=pl.Int32)).to_series().alias("run")
    cells = raw.frame[column]
    # By way of floats, as a column with a blank among its runs holds 1.0 and 2.0.
    numbers = cells.cast(pl.Float64, strict=False)
    whole = numbers.is_not_null() & (numbers == numbers.floor()) & (numbers.abs() < 2**31)
    if bool(whole.all()):
        return numbers.cast(pl.Int32).alias("run")
    if cells.null_count():
        row = raw.place(int(cells.is_null().arg_max() or 0))
        raise TableError(f"{raw.name}: {row} has no run (column {column!r} is blank there)")
    names = cells.cast(pl.String).unique(maintain_order=True)
    order = dict(zip(names.to_list(), range(1, len(names) + 1), strict=True))
    return cells.cast(pl.String).replace_strict(order, return_dtype=pl.Int32).alias("run")


def _optional(raw: RawTable, plan: FilePlan) -> list[pl.Series]:
    pairs = (
        ("#text", plan.context),
        ("#response", plan.response),
        ("#rank", plan.rank),
        ("#status", plan.status),
        *((f"#{c}", c) for c in plan.reasons),
    )
    columns = [raw.frame[column].alias(name) for name, column in pairs if column is not None]
    return [*columns, *(_fact(raw, name, column) for name, column in plan.facts.items())]


def _fact(raw: RawTable, name: str, column: str) -> pl.Series:
    """A column of facts in its kind.

    Raises
    ------
    TableError
        An origin or a probability that is none.
    """
    cells = raw.frame[column]
    if name == "label_probability":
        probabilities = cells.cast(pl.Float64, strict=False)
        wrong = cells.is_not_null() & ~probabilities.is_between(0, 1).fill_null(value=False)
        if wrong.any():
            place, value = raw.place(int(wrong.arg_max() or 0)), cells.filter(wrong)[0]
            raise TableError(
                f"{raw.name}: {place}, column {column!r}: {value!r} is no probability (0 to 1)"
            )
        return probabilities.alias(name)
    # Names and dates of facts as ids are, so that cluster 3 and cluster 3.0 are one.
    texts = canonical_ids(cells)
    if name == "origin":
        origins = texts.str.to_lowercase().cast(FACTS[name], strict=False)
        if (wrong := texts.is_not_null() & origins.is_null()).any():
            where = f"{raw.name}, {raw.place(int(wrong.arg_max() or 0))}, column {column!r}"
            raise not_one_of("origin", texts.filter(wrong)[0], ORIGIN.categories, where, TableError)
        return origins.alias(name)
    return texts.alias(name)


def _with_ids(
    raw: RawTable, plan: FilePlan, frame: pl.DataFrame
) -> tuple[pl.DataFrame, tuple[Finding, ...]]:
    notes: list[Finding] = []
    lost = rounded_ids(raw.frame[plan.item])
    if lost:
        notes.append(_digits(raw, plan.item, lost))
    missing = frame["item"].null_count()
    if missing == frame.height:
        raise TableError(f"{raw.name}: column {plan.item!r} has no ids")
    if missing:
        rows = frame.filter(pl.col("item").is_null())["row"]
        _refuse_once_written(raw, plan, frame)
        notes.append(null_ids(raw, plan.item, rows))
        frame = frame.filter(pl.col("item").is_not_null())
    frame, sums = _without_summaries(raw, frame)
    return frame, (*notes, *sums, *_date_ids(raw, plan.item, frame["item"]))


def _without_summaries(
    raw: RawTable, frame: pl.DataFrame
) -> tuple[pl.DataFrame, tuple[Finding, ...]]:
    """The records without those at the end whose id is a word such as ``Total`` or ``Mean``."""
    ids = frame["item"]
    # From the end up: a summary in the middle may be an item that is called so.
    last = list(takewhile(_may_sum, (ids[at] for at in range(len(ids) - 1, -1, -1))))[::-1]
    kept = frame.head(frame.height - len(last))
    # An id `count` that also stands further up is that of an item.
    apart = not kept["item"].is_in(last).any()
    if not any(_fold(name) in _SUMMARIES for name in last) or not kept.height or not apart:
        return frame, ()
    rows = frame["row"].tail(len(last))
    note = finding(
        "summary_rows",
        "serious",
        raw.name,
        [f"{raw.unit} {row}" for row in rows],
        f"{plural(len(last), 'row')} at the end called {listed(last)}.",
        "Taken for a summary of the rows above and left out; if these are items, rename them.",
    )
    return kept, (note,)


def _may_sum(name: str) -> bool:
    return _fold(name) in _SUMMARIES | _BESIDE


def _fold(name: str) -> str:
    return " ".join(name.casefold().replace(".", " ").replace(":", " ").split())


def _date_ids(raw: RawTable, column: str, ids: pl.Series) -> tuple[Finding, ...]:
    """A finding on ids that are dates; among other ids they were hardly meant to be."""
    distinct = ids.drop_nulls().unique(maintain_order=True)
    dates = distinct.filter(distinct.str.contains(_DATE))
    if not len(dates):
        return ()
    note = finding(
        "date_ids",
        "note" if len(dates) == len(distinct) else "serious",
        raw.name,
        dates.to_list(),
        f"{plural(len(dates), 'id is a date', 'ids are dates')} in column {column!r}.",
        "Spreadsheets make dates of ids such as 1-2; such ids match no other file's.",
        count=len(dates),
    )
    return (note,)


def _refuse_once_written(raw: RawTable, plan: FilePlan, frame: pl.DataFrame) -> None:
    """An id that is written once above the rows of its raters is lost for all but the first."""
    values = [pl.col(f"={column}").is_not_null() for column in plan.values]
    lost = frame.filter(pl.col("item").is_null() & pl.any_horizontal(values))["row"]
    # Where a row holds all raters, a blank id costs one row, which is said and not refused.
    if plan.raters_are_columns or len(lost) < max(_A_FEW, _ONCE_WRITTEN * frame.height):
        return
    first = ", ".join(f"{raw.unit} {row}" for row in lost.head(PLACES))
    raise TableError(
        f"{raw.name}: {plural(len(lost), 'row')} of {frame.height:,} with a score and without an "
        f"id in column {plan.item!r}: {first}{and_more(len(lost), 'such row')}; write the id in "
        f"every row"
    )


def _digits(raw: RawTable, column: str, count: int) -> Finding:
    return finding(
        "ids_rounded",
        "serious",
        raw.name,
        [],
        f"{plural(count, 'id')} in column {column!r} stored as rounded numbers (over 2**53, or "
        f"with an exponent).",
        "Their last digits are already lost in the file; store ids as text.",
        count=count,
    )


def null_ids(raw: RawTable, column: str, rows: pl.Series) -> Finding:
    return finding(
        "null_ids",
        "serious",
        raw.name,
        [f"{raw.unit} {row}" for row in rows],
        f"{plural(len(rows), 'row')} without an id in column {column!r}.",
        "They belong to no item and are in no number; where cells were merged, write the id in "
        "every row.",
        count=len(rows),
    )


def _contexts(raw: RawTable, plan: FilePlan, frame: pl.DataFrame) -> pl.DataFrame:
    """The distinct texts shown beside each item, in file order."""
    if plan.context is None:
        return CONTEXTS.to_frame()
    shown = frame.select(
        pl.lit(raw.name).alias("table"),
        "row",
        "item",
        pl.col("#text").cast(pl.String).alias("text"),
    )
    return shown.unique(["item", "text"], keep="first", maintain_order=True)


def _responses(plan: FilePlan, frame: pl.DataFrame) -> pl.DataFrame:
    """The distinct texts of each response; a blank is none."""
    if plan.response is None:
        return RESPONSES.to_frame()
    text = pl.col("#response").cast(pl.String)
    given = frame.select("item", "system", "run", text=text).cast(RESPONSES)
    # By run, so that a text which all runs share is kept with the first of them.
    given = given.filter(pl.col("text").str.strip_chars() != "").sort("run", maintain_order=True)
    return given.unique(["item", "system", "text"], keep="first", maintain_order=True)


def _reasons(plan: FilePlan, frame: pl.DataFrame) -> pl.DataFrame:
    """What raters said beside their scores; a blank is nothing."""
    # Only a row a rating says of which attribute its reason is.
    several = plan.attribute is not None and plan.kind == "long"
    blocks = [
        frame.select(
            "item",
            "system",
            pl.lit(rater).alias("rater") if rater else pl.col("rater"),
            "run",
            (pl.col("attribute") if several else pl.lit(None)).alias("attribute"),
            pl.col(f"#{column}").cast(pl.String).alias("text"),
        ).cast(REASONS)
        for column, rater in plan.reasons.items()
    ]
    given = pl.concat([REASONS.to_frame(), *blocks])
    return given.filter(pl.col("text").str.strip_chars() != "").unique(maintain_order=True)


def _once(
    raw: RawTable, plan: FilePlan, frame: pl.DataFrame
) -> tuple[pl.DataFrame, tuple[Finding, ...], tuple[str, ...]]:
    """Identical rows once, with a note; rows that share a key but differ are a problem."""
    if not has_duplicates(frame):
        return frame, (), ()
    # Two equal rows are one that was exported twice; two that differ are a question of what is
    # what.
    values = [column for column in frame.columns if column != "row"]
    once = frame.unique(values, keep="first", maintain_order=True)
    gone = frame.join(once.select("row"), on="row", how="anti")["row"]
    notes = (repeated(raw, gone),) if len(gone) else ()
    twice = once.filter(pl.struct(KEYS).is_duplicated())
    problems = (_conflict(raw, plan, twice),) if twice.height else ()
    return once, notes, problems


def repeated(raw: RawTable, rows: pl.Series) -> Finding:
    return finding(
        "duplicate_rows",
        "note",
        raw.name,
        [f"{raw.unit} {row}" for row in rows],
        f"{plural(len(rows), 'row repeats', 'rows repeat')} another one exactly.",
        "Each is counted once.",
        count=len(rows),
    )


def _conflict(raw: RawTable, plan: FilePlan, twice: pl.DataFrame) -> str:
    """One sentence on keys that occur twice with different values, the first five of them named."""
    keys = twice.group_by(KEYS, maintain_order=True).agg("row")
    first, *others = [_stands(raw, plan, key) for key in keys.head(PLACES).iter_rows(named=True)]
    also = f" (also {', '.join(others)}{and_more(keys.height, 'such rating')})" if others else ""
    need = "repeated ratings need a `run` column"
    if (column := _who_may_have_rated(raw, plan, twice)) is not None:
        need += f", or {_declare(plan, json.dumps(column))}"
    if (column := turn_column(raw.frame.columns)) is not None:
        need += f", or declare `turn = {json.dumps(column)}` if a row is a turn of a conversation"
    return f"{raw.name}: {first} with different values{also}; {need}"


def _declare(plan: FilePlan, column: str) -> str:
    """How to say what an unread column is: raters, or systems where none are known."""
    rater = f"declare `rater = {column}` if that column names the raters"
    if plan.system is not None:
        return rater
    system = f"`system = {column}` if that column names what was rated"
    return f"declare {system}" if plan.raters_are_columns else f"{rater}, {system}"


def _who_may_have_rated(raw: RawTable, plan: FilePlan, twice: pl.DataFrame) -> str | None:
    """A column that tells conflicting rows apart: one called as raters are, else an unread text."""
    if plan.rater is not None:
        return None
    called = find("rater", [*plan.values, *unread_columns(raw, plan)], None, raw.name)
    texts = [c for c in unread_columns(raw, plan) if raw.frame[c].dtype == pl.String]
    for column in dict.fromkeys([called, *texts] if called else texts):
        names = pl.DataFrame({"row": raw.numbers(), "=who": raw.frame[column]})
        rows = twice.select("row", *KEYS).join(names, on="row")
        # Half as many words as rows at most: an id of the row tells everything apart and names
        # nothing.
        apart = not rows.select(*KEYS, "=who").is_duplicated().any()
        if apart and 2 * raw.frame[column].n_unique() <= raw.frame.height:
            return column
    return None


def _stands(raw: RawTable, plan: FilePlan, key: dict[str, Any]) -> str:
    parts = ("system", "attribute") if plan.raters_are_columns else ("system", "rater", "attribute")
    what = "".join(f", {part} {key[part]!r}" for part in parts if key[part])
    rows = " and ".join(str(row) for row in key["row"][:3])
    return f"item {key['item']!r}{what} stands in {raw.unit}s {rows}"

"""Files opened: by the reader of their tool, or as the plain tables that they are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import TableError, check_allowed, listed
from voirdire.tables._files import PLAIN, RawTable, read_raw
from voirdire.tables._tables import (
    RATERS,
    RATINGS,
    finding,
    plural,
)
from voirdire.tables.readers import Reading, read_foreign, together

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import ThreadPoolExecutor
    from pathlib import Path

    from voirdire.study import Source, TableKeys

#: Of a column so many cells are looked into for objects.
_FIRST = 50
#: So many rows at its end may be no rows of the table.
_FOOT = 4


def open_files(
    paths: Sequence[Path],
    sources: Sequence[Source],
    *,
    skip_bad_lines: bool = False,
    named: Sequence[str] = (),
    people: Sequence[str] = (),
    pool: ThreadPoolExecutor | None = None,
) -> list[RawTable | Reading]:
    """Each file as `open_file` opens it; those that belong together are all in the first of them.

    Raises
    ------
    TableError
        One cannot be read, or holds comparisons and no ratings.
    """
    groups = together(paths, [source.reader for source in sources])

    def opened(places: tuple[int, ...]) -> RawTable | Reading:
        first, *more = places
        return open_file(
            paths[first],
            sources[first],
            skip_bad_lines=skip_bad_lines,
            named=named,
            people=people or named,
            beside=[paths[at] for at in more],
        )

    found = (map if pool is None else pool.map)(opened, groups)
    raws: dict[int, RawTable | Reading] = {}
    for places, raw in zip(groups, found, strict=True):
        raws[places[0]] = raw
        for at in places[1:]:
            raws[at] = _nothing_of(raw) if isinstance(raw, Reading) else raw
    opened_files = [raws[at] for at in range(len(paths))]
    if len(paths) < 2:
        return opened_files
    from voirdire.tables._several import with_file_name  # noqa: PLC0415 - of several files alone

    return [
        with_file_name(raw, path, source) if isinstance(raw, RawTable) else raw
        for path, source, raw in zip(paths, sources, opened_files, strict=True)
    ]


def _nothing_of(reading: Reading) -> Reading:
    """A reading of the same format that holds nothing: what a file held stands in another's."""
    return Reading(
        reading.format,
        RATINGS.to_frame(),
        reading.items.clear(),
        RATERS.to_frame(),
        some=reading.some,
    )


def open_file(
    path: Path,
    source: Source,
    *,
    skip_bad_lines: bool = False,
    named: Sequence[str] = (),
    people: Sequence[str] = (),
    beside: Sequence[Path] = (),
) -> RawTable | Reading:
    """A file as its reader reads it, or as the plain table that it is; sheets that are called as
    `named` says are read together. The ratings of `people` may be a column of a tool's table, or a
    field of its items.

    Raises
    ------
    TableError
        It cannot be read, or holds comparisons and no ratings.
    """
    reading = read_foreign(path, source.reader, beside=beside, words=source.words)
    if reading is None or (source.reader is None and means_the_table(reading, path, people)):
        return read_raw(path, sheet=source.sheet, skip_bad_lines=skip_bad_lines, named=named)
    if reading.preferences is not None:
        raise TableError(
            f"{path}: holds comparisons of two responses ({reading.format}) and no ratings: "
            f"examine it alone"
        )
    reading = only_asked(reading, source.only, path.name)
    if set(people) & set(reading.items.columns):
        from voirdire.tables._item_facts import with_people_of_items  # noqa: PLC0415 - rare

        reading = with_people_of_items(reading, people, path.name)
    return reading


def means_the_table(reading: Reading, path: Path, named: Sequence[str]) -> bool:
    """Whether the reference are columns of a tool's table, where a person put a judge's beside."""
    raters = set(reading.raters["rater"])
    if not named or path.suffix.lower() not in PLAIN or raters & set(named):
        return False
    raw = with_short_names(read_raw(path), named)
    return set(named) <= set(raw.frame.columns)


def only_asked(reading: Reading, wanted: tuple[str, ...], name: str) -> Reading:
    """The reading with the attributes alone that are asked for.

    Raises
    ------
    TableError
        One of them is not there.
    """
    if not wanted:
        return reading
    there = reading.ratings["attribute"].unique(maintain_order=True).to_list()
    check_allowed("attribute", wanted, there, name, TableError)
    kept = reading.ratings.filter(pl.col("attribute").is_in(wanted))
    note = finding(
        "attribute_left_out",
        "note",
        name,
        [one for one in there if one not in wanted],
        f"Only {listed(wanted)} is read, as was asked for.",
        f"{plural(reading.ratings.height - kept.height, 'rating')} of other attributes left out.",
    )
    return replace(reading, ratings=kept, findings=(*reading.findings, note), some=True)


def opened(raw: RawTable, read: TableKeys, named: Sequence[str]) -> RawTable:
    """The table with its objects opened, where what is needed is within them: those of a JSON file,
    and of any other those texts in which a rater who is `named` has a key.
    """
    if not raw.nested:
        lost = [name for name in named if name not in raw.frame.columns]
        keys = tuple(f'"{name}"' for name in lost)
        nested = frozenset(c for c in raw.frame.columns if _names_keys(raw.frame[c], keys))
        if not lost or not nested:
            return raw
        raw = replace(raw, nested=nested)
    from voirdire.tables._objects import opened_up  # noqa: PLC0415 - for objects alone

    return opened_up(raw, read, named)


def _names_keys(cells: pl.Series, keys: Sequence[str]) -> bool:
    """Whether the first texts of a column are objects, and hold such keys."""
    if cells.dtype != pl.String:
        return False
    first = cells.drop_nulls().head(_FIRST).str.strip_chars()
    objects = bool(len(first)) and bool(
        (first.str.starts_with("{") & first.str.ends_with("}")).all()
    )
    return objects and any(bool(first.str.contains(key, literal=True).any()) for key in keys)


def without_foot(raw: RawTable) -> RawTable:
    """The table without sums and notes below it, which leave cells of its last rows blank."""
    if not any(cells.null_count() for cells in raw.frame.tail(_FOOT)):
        return raw
    from voirdire.tables._below import (  # noqa: PLC0415 - as said
        without_means_below,
        without_notes_below,
    )

    return without_means_below(without_notes_below(raw))


def with_short_names(raw: RawTable, named: Sequence[str]) -> RawTable:
    """The table whose columns are called as the raters are whose names their headers end in."""
    columns = raw.frame.columns
    if not any(c.endswith(f".{name}") for name in named if name not in columns for c in columns):
        return raw
    from voirdire.tables._objects import shortly_called  # noqa: PLC0415 - for such headers alone

    return shortly_called(raw, named)

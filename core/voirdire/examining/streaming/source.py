"""Which sources are streamed, and the parts that they are made of."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import InputError
from voirdire.tables.partitioned import (
    Part,
    in_memory,
    parquet_rows,
    said_of,
    tidy_batches,
    write_layout,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from voirdire.schema import Finding

#: Ratings above which Parquet files are streamed without being asked to.
MOST_IN_MEMORY = 5_000_000
#: Ratings of files of any order that are sorted in memory; more are dealt out on disk first.
SORTED_IN_MEMORY = 4_000_000
#: Columns that options may name for a stream.
NAMED = {"item", "system", "rater", "score", "attribute", "run", "cluster", "status", "subgroup"}
#: Options that say what texts among the scores stand for.
READING = ("words", "assume")
SUFFIXES = (".parquet", ".pq")


@dataclass(frozen=True, slots=True)
class Stream:
    """Parquet files that are examined as sums.

    Attributes
    ----------
    name : str
        As the user wrote the source.
    files : tuple of Path
        Sorted.
    rows : int
        Of all.
    asked : bool
        Whether the user asked for a stream, by the option or by naming a folder or a pattern.
    """

    name: str
    files: tuple[Path, ...]
    rows: int
    asked: bool


def stream_of(source: Any, *, asked: bool) -> Stream | None:
    """The stream that a source is; None where it is read whole.

    Parameters
    ----------
    source : anything that `voirdire.examine` takes
        A pattern (``ratings/**/*.parquet``), a folder of parts, or Parquet files.
    asked : bool
        Whether streaming was asked for; otherwise files of at most `MOST_IN_MEMORY` rows are read
        whole, while patterns and folders are always streams.

    Raises
    ------
    InputError
        Streaming was asked of something else, or a pattern meets no file.
    """
    given = [source] if isinstance(source, str | Path) else source
    if not isinstance(given, list | tuple) or not all(isinstance(one, str | Path) for one in given):
        return _none(asked=asked)
    found: list[Path] = []
    gathered = False
    for one in map(str, given):
        met = _gathered(one)
        gathered |= met is not None
        files = [Path(one)] if met is None else met
        if not all(file.suffix.lower() in SUFFIXES and file.is_file() for file in files):
            return _none(asked=asked)
        found += files
    if not found:
        return _none(asked=asked)
    try:
        rows = sum(map(parquet_rows, found))
    except pl.exceptions.PolarsError:
        return None  # the usual reader says what is wrong with it
    if not (asked or gathered or rows > MOST_IN_MEMORY):
        return None
    return Stream(" ".join(map(str, given)), tuple(sorted(found)), rows, asked or gathered)


def _gathered(text: str) -> list[Path] | None:
    """Files that a pattern or a folder of parts stands for; None for anything else."""
    if "*" in text:
        pattern = Path(text)
        at = next(k for k, part in enumerate(pattern.parts) if "*" in part)
        base = Path(*pattern.parts[:at]) if at else Path()
        found = sorted(base.glob(str(Path(*pattern.parts[at:]))))
        if not found:
            raise InputError(f"{text}: no file is named so")
        return found
    folder = Path(text)
    if folder.is_dir() and any(folder.glob("attribute=*/*.parquet")):
        return sorted(folder.glob("attribute=*/*.parquet"))
    return None


def _none(*, asked: bool) -> Stream | None:
    if asked:
        raise InputError(
            "--streaming takes Parquet files, a pattern of them (in quotes), or a folder that "
            "voirdire import --partition wrote; import other files first"
        )
    return None


@contextmanager
def parts_of(
    stream: Stream, columns: Mapping[str, Any], notes: list[Finding]
) -> Iterator[tuple[Part, ...]]:
    """The parts, each of whole clusters; files of any other order are sorted or dealt out first.

    What is dealt out lies in a temporary folder, as large as the ratings, until the end. Texts
    that count as missing are added to `notes`.

    Raises
    ------
    InputError
        A key of `columns` that says nothing to a stream.
    TableError
        A column is not there, or holds what it must not.
    """
    wrong = set(columns) - NAMED - set(READING)
    if wrong:
        raise InputError(
            f"--{min(wrong)} does nothing for a stream: import the files with it first"
        )
    known = None if set(columns) - {"assume"} else _of_layout(stream)
    if known is not None:
        yield known
        return
    batches = tidy_batches(stream.files, columns, notes)
    if stream.rows <= SORTED_IN_MEMORY:
        frame = pl.concat(list(batches), how="diagonal_relaxed")
        has = "cluster" in frame.columns and frame["cluster"].null_count() < frame.height
        yield tuple(in_memory(frame, "cluster" if has else "item", name=stream.name))
        return
    with tempfile.TemporaryDirectory(prefix="voirdire-") as folder:
        yield write_layout(batches, folder, rows=stream.rows)


def _of_layout(stream: Stream) -> tuple[Part, ...] | None:
    """The files as they are, where one import wrote them all; several may have cut a cluster."""
    said = [said_of(file) for file in stream.files]
    if not all(said) or len({one["set"] for one in said if one}) != 1:
        return None
    return tuple(
        Part(str(file), one["rows"], one["attribute"])
        for file, one in zip(stream.files, said, strict=True)
        if one
    )

"""Which sources are streamed, and the parts that they are made of."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from dataclasses import field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import InputError, NotSummableError
from voirdire.late import dataclass
from voirdire.study import Study, load_study

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from voirdire.schema import Finding
    from voirdire.study import ReadOptions, TableKeys
    from voirdire.tables.partitioned import StreamPart

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
    study : Study or None
        The study whose data the files are; else one is drafted.
    keys : mapping
        File -> how the study reads it.
    """

    name: str
    files: tuple[Path, ...]
    rows: int
    asked: bool
    study: Study | None = None
    keys: Mapping[Path, TableKeys] = field(default_factory=dict)


def stream_of(source: Any, *, asked: bool) -> Stream | None:
    """The stream that a source is; None where it is read whole.

    Parameters
    ----------
    source : anything that `voirdire.examine` takes
        A pattern (``ratings/**/*.parquet``), a folder of parts, Parquet files, or a study (its
        file) whose sources are such.
    asked : bool
        Whether streaming was asked for; otherwise files of at most `MOST_IN_MEMORY` rows are read
        whole, while patterns and folders are always streams.

    Raises
    ------
    InputError
        Streaming was asked of something else, a pattern meets no file, or a study is to be streamed
        that asks for more than sums tell.
    """
    # The command hands over a list, also of one.
    if isinstance(source, list | tuple) and len(source) == 1:  # as the command line names it
        (source,) = source
    if isinstance(source, Study) or str(source).endswith(".toml"):
        return _of_study(source, asked=asked)
    given = [source] if isinstance(source, str | Path) else source
    if not isinstance(given, list | tuple) or not all(isinstance(one, str | Path) for one in given):
        return _none(asked=asked)
    paths: list[Path] = []
    gathered = False
    for one in map(str, given):
        met = _gathered(one)
        gathered |= met is not None
        files = [Path(one)] if met is None else met
        if not all(file.suffix.lower() in SUFFIXES and file.is_file() for file in files):
            return _none(asked=asked)
        paths += files
    if not paths:
        return _none(asked=asked)
    rows = _rows(paths)
    if rows is None or not (asked or gathered or rows > MOST_IN_MEMORY):
        return None
    return Stream(" ".join(map(str, given)), tuple(sorted(paths)), rows, asked or gathered)


def _rows(files: list[Path]) -> int | None:
    from voirdire.tables.partitioned import parquet_rows  # noqa: PLC0415 - for Parquet alone

    try:
        return sum(map(parquet_rows, files))
    except pl.exceptions.PolarsError:
        return None  # the usual reader says what is wrong with it


def _of_study(source: Any, *, asked: bool) -> Stream | None:
    """The stream that the sources of a study are."""
    path = None if isinstance(source, Study) else Path(source)
    if path is not None and not path.is_file():
        return None  # the usual reader says that it is not there
    study = source if path is None else load_study(path)
    keys: dict[Path, TableKeys] = {}
    gathered = False
    for one in study.data.sources:
        at = Path(study.folder) / one.path
        met = _gathered(str(at))
        gathered |= met is not None
        files = [at] if met is None else met
        if not all(file.suffix.lower() in SUFFIXES and file.is_file() for file in files):
            return _none(asked=asked)
        keys |= dict.fromkeys(files, one)
    rows = _rows(list(keys))
    if not keys or rows is None or not (asked or gathered or rows > MOST_IN_MEMORY):
        return _none(asked=asked) if not keys else None
    more = _more_than_sums(study)
    if more and (asked or gathered):
        raise InputError(
            f"study {study.name!r} cannot be streamed, since sums over parts do not tell {more}: "
            "name its files one by one under [[data.sources]] and leave out --streaming, and they "
            "are read whole; or take that member out of the panel"
        )
    if more:
        return None
    return Stream(study.name, tuple(sorted(keys)), rows, asked or gathered, study, keys)


def _keys(read: TableKeys) -> list[str]:
    """The keys that are set, but for a layout that a stream takes for granted."""
    return list(read.keys_set(*(("layout",) if read.layout in ("auto", "long") else ())))


def _more_than_sums(study: Study) -> str:
    """What a study asks for that the sums of a stream do not tell; empty where it is nothing."""
    if study.juries:
        return f"what a jury says ({study.juries[0].name})"
    labelling = [rater.name for rater in study.panel if rater.kind == "annotator" and rater.use]
    return f"what annotators name ({labelling[0]})" if labelling else ""


def _gathered(text: str) -> list[Path] | None:
    """Files that a pattern or a folder of parts stands for; None for anything else."""
    if "*" in text:
        pattern = Path(text)
        # glob starts from a folder: the part of the path before the first star.
        at = next(k for k, part in enumerate(pattern.parts) if "*" in part)
        base = Path(*pattern.parts[:at]) if at else Path()
        paths = sorted(base.glob(str(Path(*pattern.parts[at:]))))
        if not paths:
            raise InputError(f"{text}: no file is named so")
        return paths
    folder = Path(text)
    if folder.is_dir() and any(folder.glob("attribute=*/*.parquet")):
        return sorted(folder.glob("attribute=*/*.parquet"))
    # A session has a study beside its tables; a folder of parts holds nothing else.
    if folder.is_dir() and not (folder / "study.toml").exists():
        return sorted(folder.glob("*.parquet")) or None
    return None


def _none(*, asked: bool) -> Stream | None:
    if asked:
        raise InputError(
            "--streaming takes Parquet files, a pattern of them (in quotes), a folder that "
            "voirdire import --partition wrote, or a study whose sources are such; import other "
            "files first"
        )
    return None


@contextmanager
def parts_of(
    stream: Stream, read: ReadOptions, notes: list[Finding]
) -> Iterator[tuple[StreamPart, ...]]:
    """The parts, each of whole clusters; files of any other order are sorted or dealt out first.

    What is dealt out lies in a temporary folder, as large as the ratings, until the end. Texts
    that count as missing are added to `notes`.

    Raises
    ------
    InputError
        A key of `read` that says nothing to a stream.
    TableError
        A column is not there, or holds what it must not.
    """
    if stream.study is not None and read.of_files:
        raise InputError(
            f"--{min(read.keys_set())} names a column of a file of ratings; for a study write it "
            "under [[data.sources]]"
        )
    keys = {file: stream.keys.get(file, read) for file in stream.files}
    for file, own in keys.items():
        wrong = set(_keys(own)) - NAMED - set(READING)
        if wrong and not stream.asked:
            raise NotSummableError(f"{file}: a stream has no key {min(wrong)!r}")
        if wrong:
            key = min(wrong) if stream.study is not None else f"--{min(wrong)}"
            raise InputError(f"{key} does nothing for a stream: import the files with it first")
    # Composites are made where all attributes of an item are together: that is not in parts.
    composites = {} if stream.study is None else stream.study.rubric.composites
    # What renames or reads words has to be applied to the rows: the files cannot be taken as they
    # are.
    changed = composites or any(set(_keys(own)) - {"assume"} for own in keys.values())
    as_written = None if changed else _of_layout(stream)
    if as_written is not None:
        yield as_written
        return
    from voirdire.tables.batches import tidy_batches  # noqa: PLC0415 - for streams alone
    from voirdire.tables.partitioned import (  # noqa: PLC0415
        in_memory,
        with_composites,
        write_layout,
    )

    batches = chain.from_iterable(tidy_batches([file], own, notes) for file, own in keys.items())
    if stream.rows <= SORTED_IN_MEMORY:
        frame = pl.concat(list(batches), how="diagonal_relaxed")
        # Parts hold whole clusters, or else whole items.
        has = "cluster" in frame.columns and frame["cluster"].null_count() < frame.height
        frame = with_composites(frame, composites)
        yield tuple(in_memory(frame, "cluster" if has else "item", name=stream.name))
        return
    with tempfile.TemporaryDirectory(prefix="voirdire-") as folder:
        yield write_layout(batches, folder, rows=stream.rows, composites=composites)


def _of_layout(stream: Stream) -> tuple[StreamPart, ...] | None:
    """The files as they are, where one import wrote them all; several may have cut a cluster."""
    from voirdire.tables.partitioned import StreamPart, said_of  # noqa: PLC0415 - for streams alone

    headers = [said_of(file) for file in stream.files]
    if not all(headers) or len({one["set"] for one in headers if one}) != 1:
        return None
    return tuple(
        StreamPart(str(file), one["rows"], one["attribute"])
        for file, one in zip(stream.files, headers, strict=True)
        if one
    )

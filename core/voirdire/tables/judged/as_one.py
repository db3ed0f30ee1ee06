"""Files of labels, comparisons or probabilities as one table: several of them, or nested ones."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import TableError
from voirdire.tables._files import SUFFIXES, RawTable, is_dataset, keyed_by_item, read_raw
from voirdire.tables._files._raw import build
from voirdire.tables._names import is_human
from voirdire.tables._values import is_score
from voirdire.tables.packed import plain_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.study import ReadOptions


def paths_in(source: object) -> list[Path]:
    """The files that a source names; none where it is a study, a folder or anything else."""
    given = source if isinstance(source, list | tuple) else [source]
    paths = [Path(one) for one in given if isinstance(one, str | Path)]
    if len(paths) < len(given):
        return []
    fits = all(
        (path.is_file() and plain_path(path).suffix.lower() in SUFFIXES) or is_dataset(path)
        for path in paths
    )
    return paths if fits else []


def people_of_files(files: Sequence[Path], read: ReadOptions) -> tuple[str, ...]:
    """Raters of nested files whose names speak of people: ``human_annotations.json``."""
    names: list[str] = []
    for path in files:
        if is_human(path.stem) and len(files) > 1:
            table = read_nested(path, read)
            if table is not None:
                names += table["rater"].unique(maintain_order=True).to_list()
    return tuple(names)


def nested_table(
    source: object, read: ReadOptions, *, words: bool = False
) -> tuple[pl.DataFrame, tuple[str, ...]] | None:
    """Nested annotations that are numbers, as one long table, and who of their raters is a person.

    With `words` also those of words that are no labels (*yes* and *no*), which are read as those of
    any table. None for any other source.
    """
    files = paths_in(source)
    tables = [table for path in files if (table := read_nested(path, read)) is not None]
    numbers = all("score" in table.columns for table in tables)
    if not files or len(tables) < len(files) or not (numbers or words):
        return None
    if not numbers:
        named = [t if "score" in t.columns else t.rename({"label": "score"}) for t in tables]
        tables = [table.with_columns(pl.col("score").cast(pl.String)) for table in named]
    return pl.concat(tables, how="diagonal"), people_of_files(files, read)


def one_table(
    files: Sequence[Path], read: ReadOptions, reference: Sequence[str] = ()
) -> RawTable | None:
    """One table of all files: their rows one below the other, or nested annotations of raters."""
    nested = [read_nested(path, read) for path in files]
    if all(table is not None for table in nested):
        frames = [table for table in nested if table is not None]
        table = pl.concat(frames, how="diagonal")
        return build(files[0].name, table.columns, table.get_columns(), first=1)
    if len(files) > 1:
        return _of_several(files, read, reference)
    try:
        return read_raw(files[0], sheet=read.sheet, named=reference)
    except TableError:
        return None  # whoever reads it as ratings says what is wrong with it


def _of_several(
    files: Sequence[Path], read: ReadOptions, reference: Sequence[str]
) -> RawTable | None:
    """Files with the same columns as one table, where their names are raters', or some part's."""
    from voirdire.tables._several import FILE, names_files  # noqa: PLC0415 - for these alone

    stems = {path: path.stem for path in files}
    raters = bool(reference) and set(reference) <= set(stems.values())
    if len(set(stems.values())) < len(files) or not (raters or names_files(read)):
        return None
    try:
        tables = [read_raw(path, sheet=read.sheet, named=reference) for path in files]
    except TableError:
        return None  # as above
    # Scores of raters in files of their own are joined where scores are read.
    columns = ((table, c) for table in tables for c in table.frame.columns)
    if any(is_score(t, c) and t.frame[c].n_unique() < t.frame.height for t, c in columns):
        return None
    column = "rater" if raters else FILE
    if len({tuple(t.frame.columns) for t in tables}) > 1 or column in tables[0].frame.columns:
        return None
    named = [
        table.frame.with_columns(pl.lit(path.stem).alias(column))
        for path, table in zip(files, tables, strict=True)
    ]
    frame = pl.concat(named, how="vertical_relaxed")
    made = build(files[0].name, frame.columns, frame.get_columns(), first=1)
    size = sum(table.size for table in tables)
    notes = tuple(note for table in tables for note in table.findings)
    return replace(made, size=size, findings=(*made.findings, *notes), nested=tables[0].nested)


def read_nested(path: Path, read: ReadOptions) -> pl.DataFrame | None:
    """``{rater: {item: judgement}}`` as a long table; None for any other file.

    Keys that hold several parts between ``__`` are split where `read.parts` says what they are.
    """
    if path.suffix.lower() != ".json":
        return None
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError):
        return None
    if not _is_nested(given):
        return None
    rows = [
        (rater, key, _cell_of(value))
        for rater, said in given.items()
        for key, value in said.items()
    ]
    table = pl.DataFrame(rows, schema=["rater", "item", "label"], orient="row")
    numbers = table["label"].drop_nulls().cast(pl.Float64, strict=False)
    if not numbers.null_count():
        table = table.rename({"label": "score"}).with_columns(pl.col("score").cast(pl.Float64))
    return _with_parts(table, read, path.name)


def _cell_of(value: Any) -> str | None:
    if isinstance(value, dict):
        return json.dumps(value)
    return None if value is None else str(value)


def _is_nested(given: Any) -> bool:
    if not isinstance(given, dict) or not given or keyed_by_item(given):
        return False
    from voirdire.tables.judged.objects import is_answer  # noqa: PLC0415 - of such files alone

    return all(
        isinstance(said, dict)
        and said
        and all(not isinstance(v, dict | list) or is_answer(v) for v in said.values())
        for said in given.values()
    )


def _with_parts(table: pl.DataFrame, read: ReadOptions, where: str) -> pl.DataFrame:
    """The columns that the parts of keys are, as somebody declared them."""
    if not read.parts:
        return table
    split = table["item"].str.split("__")
    lengths = split.list.len().to_list()
    fewest = min(lengths)
    named = list(read.parts)
    rest = named.index("*") if "*" in named else None
    least = len([name for name in named if name != "*"])
    if fewest < least or (rest is None and fewest != max(lengths)):
        raise TableError(
            f"{where}: --parts names {len(named)} parts of a key, and a key has {fewest}: "
            f"{table['item'][0]!r}"
        )
    columns: dict[str, list[str]] = {}
    for parts in split.to_list():
        texts = list(parts)
        if rest is not None:
            behind = len(named) - rest - 1
            texts = [
                *texts[:rest],
                "__".join(texts[rest : len(texts) - behind]),
                *(texts[len(texts) - behind :] if behind else []),
            ]
        for place, name in enumerate(named):
            columns.setdefault(name, []).append(texts[place] if place < len(texts) else "")
    made = {
        name: pl.Series(name, texts) for name, texts in columns.items() if name not in ("-", "*")
    }
    return table.with_columns(**made)

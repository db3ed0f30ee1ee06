"""Where preferences lie: a file or frame of them, a study's sources, a session."""

from __future__ import annotations

from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from voirdire.examining.preferences.table import holds_preferences, preference_table
from voirdire.files import file_hash
from voirdire.late import dataclass
from voirdire.study import Data, Source, Study
from voirdire.tables import read_raw
from voirdire.tables.judged import shown_first

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from voirdire.schema import Finding
    from voirdire.study import TableKeys

_TEXT = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".json")
_PARQUET = (".parquet", ".pq")
_BOOKS = (".xlsx", ".xlsm")
#: How much of a file is looked at for the names of its columns.
_HEAD = 20_000
#: A column of the items with more values than this tells items apart, not groups of them.
_MOST_GROUPS = 20
_UNSAID = "(not said)"


@dataclass(frozen=True, slots=True)
class ReadPreferences:
    """Preferences as one table, and the hash of each file that they were read from.

    `findings` are those of a reader of another tool's file.
    `groups` holds ``item`` and the columns that results are broken down by, where there are any.
    `order` is what somebody said of who was shown first (`TableKeys.first`); empty where nobody
    did.
    """

    table: pl.DataFrame
    hashes: Mapping[str, str] = field(default_factory=dict)
    groups: pl.DataFrame | None = None
    findings: tuple[Finding, ...] = ()
    order: str = "unknown"

    def shown(self, read: TableKeys) -> ReadPreferences:
        """With who was shown first where the table does not say it, as somebody declared it."""
        first = pl.coalesce("shown_first", shown_first(read)).alias("shown_first")
        return replace(self, table=self.table.with_columns(first), order=read.first or "")


def preferences_alone(source: object) -> tuple[Study, ReadPreferences | None] | None:
    """A file or frame that holds preferences, with a study of its name; None for anything else.

    Raises
    ------
    TableError
        It holds preferences that cannot be used.
    """
    if isinstance(source, pl.DataFrame):
        if not holds_preferences(source.columns):
            return None
        return Study(name="preferences"), ReadPreferences(preference_table(source))
    path = Path(source) if isinstance(source, str | Path) else None
    if path is None or not path.is_file():
        return None
    if not _holds(path):
        return None
    study = Study(name=path.stem, data=Data(sources=(Source(path=path.name),)))
    study = study.model_copy(update={"folder": str(path.parent)})
    return split_preferences(study)


def split_preferences(study: Study) -> tuple[Study, ReadPreferences | None]:
    """A study without its sources of preferences, and these as one table; None without any.

    In a session the preferences derived there count too, and its ratings are left aside where
    there are none.
    """
    frames: dict[Path, pl.DataFrame] = {}
    kept: list[Source] = []
    for source in study.data.sources:
        path = Path(study.folder) / source.path
        # A session derives both tables; the study names the ratings alone.
        derived = path.name == "ratings.parquet" and (path.parent / "study.toml").is_file()
        beside = path.with_name("preferences.parquet")
        if derived and _rows(beside):
            frames[beside] = _read(beside)
        if _holds(path):
            frames[path] = _read(path, source)
        elif not (derived and frames and not _rows(path)):
            kept.append(source)
    if not frames:
        return study, None
    data = study.data.model_copy(update={"sources": tuple(kept)})
    table = pl.concat(frames.values(), how="diagonal")
    if len(frames) > 1:
        table = preference_table(table, "the preferences of all sources")
    hashes = {_shown(path, frames, study.folder): file_hash(path) for path in frames}
    groups = _groups(frames, table["item"].unique(maintain_order=True))
    return study.model_copy(update={"data": data}), ReadPreferences(table, hashes, groups)


def _shown(path: Path, all_paths: Iterable[Path], folder: str) -> str:
    """A file's name; with its folder where another file has the same name."""
    if [other.name for other in all_paths].count(path.name) == 1:
        return path.name
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)


def _groups(paths: Iterable[Path], compared: pl.Series) -> pl.DataFrame | None:
    """Columns of the items beside the tables that tell groups apart: few values, each repeated.

    An item of which a column says nothing is in a group of its own name, so that none is lost.
    """
    beside = [path.with_name("items.parquet") for path in paths]
    tables = [pl.read_parquet(path) for path in beside if path.is_file()]
    with_items = [_as_text(table) for table in tables if "item" in table.columns]
    if not with_items:
        return None
    items = pl.concat(with_items, how="diagonal").unique("item", keep="first", maintain_order=True)
    joined = items.join(compared.to_frame(), on="item", how="right", maintain_order="left")
    groups = joined.with_columns(pl.exclude("item").fill_null(_UNSAID))
    names = [n for n in groups.columns if n != "item" and _parts(groups[n])]
    return groups.select("item", *names) if names else None


def _as_text(table: pl.DataFrame) -> pl.DataFrame:
    """The columns that can be written as text; lists and the like tell no groups apart."""
    return table.select((~pl.selectors.nested()).cast(pl.String))


def _parts(column: pl.Series) -> bool:
    return 2 <= column.n_unique() <= min(_MOST_GROUPS, len(column) // 2)


def _read(path: Path, source: Source | None = None) -> pl.DataFrame:
    if path.suffix.lower() in _PARQUET:
        return preference_table(_named(pl.read_parquet(path), source), str(path))
    raw = read_raw(path, sheet=source.sheet if source else None)
    return preference_table(_named(raw.frame, source), str(path), raw.place)


def _named(frame: pl.DataFrame, source: Source | None) -> pl.DataFrame:
    """With the rater that the source names, where the table has no column of raters."""
    if "rater" in frame.columns or source is None or source.rater is None:
        return frame
    return frame.with_columns(pl.lit(source.rater).alias("rater"))


def _rows(path: Path) -> int:
    if not path.is_file():
        return 0
    return int(pl.scan_parquet(path).select(pl.len()).collect().item())


def _holds(path: Path) -> bool:
    """Whether a file's columns are those of preferences, by its beginning alone."""
    suffix = path.suffix.lower()
    if not path.is_file():
        return False
    try:
        if suffix in _PARQUET:
            return holds_preferences(list(pl.read_parquet_schema(path)))
        if suffix in _BOOKS:
            return _book_holds(path)
        if suffix not in _TEXT:
            return False
        with path.open("rb") as file:
            # Without its zeros UTF-16 reads as the letters of these names.
            head = file.read(_HEAD).replace(b"\0", b"").decode("utf-8", "replace")
    except (OSError, pl.exceptions.PolarsError):
        return False  # whoever reads the file says what is wrong with it
    # A title may stand above the header of a table.
    # Of JSON the names may stand lines apart; of a table they are one header.
    lines = [head] if suffix in (".json", ".jsonl", ".ndjson") else head.splitlines()
    names = ("system_a", "system_b", "score")
    return any(all(name in line for name in names) for line in lines)


def _book_holds(path: Path) -> bool:
    """A workbook is searched as the archive that it is: its texts stand in one part or inline."""
    from zipfile import BadZipFile, ZipFile  # noqa: PLC0415 - for workbooks alone

    try:
        with ZipFile(path) as book:
            parts = [n for n in book.namelist() if n.endswith(("sharedStrings.xml", "sheet1.xml"))]
            heads = [book.open(name).read(_HEAD) for name in parts]
    except (BadZipFile, KeyError):
        return False
    return any(b"system_a" in head and b"system_b" in head for head in heads)

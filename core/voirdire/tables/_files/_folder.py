"""Folders that `datasets` wrote, or of a repository's Parquet files: one split, or several."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import TableError, not_one_of
from voirdire.tables._files._raw import RawTable, build

if TYPE_CHECKING:
    from pathlib import Path

_OF_ONE, _OF_SPLITS = "dataset_info.json", "dataset_dict.json"
#: How the Parquet files of a split are called: train-00000-of-00002.parquet.
_SHARD = re.compile(r"(?P<split>.+)-\d{5}-of-\d{5}\.parquet")


def is_dataset(folder: Path) -> bool:
    """Whether a folder is a data set as `save_to_disk` or a repository of Parquet files has it."""
    if not folder.is_dir():
        return False
    saved = (folder / "state.json").is_file() and (folder / _OF_ONE).is_file()
    return saved or (folder / _OF_SPLITS).is_file() or bool(_shards(folder))


def files_of(folder: Path) -> list[Path]:
    """The files in which the rows of a data set stand, in their order."""
    arrow = sorted(folder.glob("*.arrow")) + sorted(folder.glob("*/*.arrow"))
    return arrow or [path for paths in _shards(folder).values() for path in paths]


def _shards(folder: Path) -> dict[str, list[Path]]:
    """Split -> its Parquet files, in the folder or in its folder `data`."""
    found: dict[str, list[Path]] = {}
    for path in sorted([*folder.glob("*.parquet"), *folder.glob("data/*.parquet")]):
        if name := _SHARD.fullmatch(path.name):
            found.setdefault(name["split"], []).append(path)
    return found


def read_folder(folder: Path, split: str | None) -> RawTable:
    """One split of a data set; which of several is asked, as the sheets of a workbook are.

    Numbers that stand for labels (`ClassLabel`) are the names of these.

    Raises
    ------
    TableError
        No such split, or a file that cannot be read.
    """
    shards = _shards(folder)
    splits = [*shards]
    if (folder / _OF_SPLITS).is_file():
        splits = [str(name) for name in _json(folder / _OF_SPLITS).get("splits", [])]
    if split is not None and split not in splits:
        raise not_one_of("split", split, splits, folder, TableError)
    chosen = split or (splits[0] if splits else "")
    at = folder / chosen if (folder / _OF_SPLITS).is_file() else folder
    try:
        if shards:
            frame = pl.concat([pl.read_parquet(path) for path in shards[chosen]])
        else:
            info = _json(at / "state.json").get("_data_files", [])
            frame = pl.concat([pl.read_ipc_stream(at / one["filename"]) for one in info])
    except (pl.exceptions.PolarsError, OSError, KeyError, ValueError) as error:
        cause = (str(error).splitlines() or [type(error).__name__])[0]
        raise TableError(f"{folder}: cannot be read as a data set ({cause})") from None
    if frame.height == 0:
        raise TableError(f"{folder}: there are no rows")
    if not shards:
        frame = _named(frame, _json(at / _OF_ONE).get("features") or {})
    columns = [flat(column) for column in frame.get_columns()]
    raw = build(folder.name, frame.columns, columns, first=1)
    return replace(raw, sheets=tuple(splits) if len(splits) > 1 else ())


def _named(frame: pl.DataFrame, features: dict[str, Any]) -> pl.DataFrame:
    """The frame with the names of labels in the place of their numbers; -1 is none."""
    named = []
    for column, feature in features.items():
        names = feature.get("names") if isinstance(feature, dict) else None
        if isinstance(names, list) and column in frame and frame[column].dtype.is_integer():
            words = dict(enumerate(map(str, names)))
            named.append(pl.col(column).replace_strict(words, default=None, return_dtype=pl.String))
    return frame.with_columns(named)


def _json(path: Path) -> dict[str, Any]:
    try:
        whole = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise TableError(f"{path}: cannot be read ({error})") from None
    return whole if isinstance(whole, dict) else {}


def flat(column: pl.Series) -> pl.Series:
    """Nested values as JSON text and categories as texts, so that every column is a plain one."""
    if isinstance(column.dtype, pl.Struct):
        return column.struct.json_encode()
    if isinstance(column.dtype, pl.List | pl.Array):
        # Polars encodes structs alone: the list is put into one, and its text taken out again.
        wrapped = column.to_frame("x").select(pl.struct("x").struct.json_encode()).to_series()
        return wrapped.str.strip_prefix('{"x":').str.strip_suffix("}")
    if column.dtype in (pl.Categorical, pl.Enum):
        return column.cast(pl.String)
    return column

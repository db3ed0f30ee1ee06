"""Ratings at rest: a folder of Parquet parts, each of whole items or clusters, sorted by item.

``FOLDER/attribute=A/part-<hash>.parquet`` holds tidy ratings of one attribute. No item, and where
clusters are declared no cluster, stands in two parts, so that sums over parts are sums over all.
What each part says of itself lies in its Parquet metadata under `KEY`.
"""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from dataclasses import field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import uuid4

import polars as pl

from voirdire.errors import TableError, duplicate
from voirdire.files import file_hash
from voirdire.late import dataclass
from voirdire.tables._tables import FACTS, RATINGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


KEY = "voirdire"
#: Rows of a part, about; memory while a part is read follows from it.
PART_ROWS = 500_000
#: Rows that are held while they are dealt out to their buckets.
HELD_ROWS = 3_000_000
#: Buckets at most: each is sorted in memory, and cut into parts.
MOST_BUCKETS = 256
#: What a rating is a rating of; `run` after it tells repetitions apart.
_ORDER = ("cluster", "item", "system", "rater", "run")


@dataclass(frozen=True, slots=True)
class StreamPart:
    """Rows of one file that hold whole items, or whole clusters where these are declared.

    Attributes
    ----------
    path : str
        The file.
    rows : int
        How many it has.
    attribute : str
        Of all its rows.
    frame : DataFrame or None
        Its rows, sorted, where they are at hand; else they are read from the file.
    """

    path: str
    rows: int
    attribute: str
    frame: pl.DataFrame | None = None

    def __str__(self) -> str:
        """The file's name, for messages."""
        return self.path


@dataclass
class _Buckets:
    """Rows dealt out by a hash of their key to files of fragments, few of them held at a time."""

    folder: Path
    key: str
    count: int
    held: dict[int, list[pl.DataFrame]] = field(default_factory=lambda: defaultdict(list))
    rows: int = 0
    written: int = 0

    def add(self, frame: pl.DataFrame) -> None:
        key = pl.col(self.key)
        # An item without a cluster is one of its own, as everywhere.
        if self.key == "cluster":
            key = pl.coalesce(key, pl.col("item"))
        # A hash with a fixed seed: the same rows go to the same bucket in every run and process.
        dealt = frame.with_columns((key.hash(0) % self.count).cast(pl.Int32).alias("_bucket"))
        for (bucket,), rows in dealt.partition_by("_bucket", as_dict=True).items():
            self.held[int(bucket)].append(rows.drop("_bucket"))
        self.rows += frame.height
        if self.rows >= HELD_ROWS:
            self.flush()

    def flush(self) -> None:
        for bucket, frames in self.held.items():
            path = self.folder / f"{bucket:04d}" / f"{self.written:06d}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            # Written once and read once: quick packing counts for more than small files.
            pl.concat(frames, how="diagonal_relaxed").write_parquet(path, compression="lz4")
        self.written += 1
        self.held.clear()
        self.rows = 0

    def read(self) -> Iterator[pl.DataFrame]:
        """The buckets one after another; each is gone once it was read."""
        self.flush()
        for path in sorted(self.folder.iterdir()):
            fragments = [pl.read_parquet(file) for file in sorted(path.iterdir())]
            shutil.rmtree(path)
            yield pl.concat(fragments, how="diagonal_relaxed")


def write_layout(
    batches: Iterable[pl.DataFrame],
    folder: str | Path,
    *,
    rows: int,
    part_rows: int = PART_ROWS,
    composites: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> tuple[StreamPart, ...]:
    """Write tidy ratings as parts of whole items; with clusters, of whole clusters.

    Parameters
    ----------
    batches : iterable of DataFrame
        Tidy ratings (``item, rater, attribute, score`` and what else `voirdire.tables.RATINGS`
        and `FACTS` name), in any order; an item may stand in several.
    folder : path
        Where ``attribute=A/part-<hash>.parquet`` are to lie.
    rows : int
        About how many ratings there are, so that parts come out at `part_rows`.
    composites : mapping, optional
        Name -> attributes: parts of their means are written besides.

    Returns
    -------
    tuple of StreamPart
        What was written.

    Raises
    ------
    TableError
        A rating occurs twice: one rater, response, attribute and run.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    name = uuid4().hex
    draft = folder / ".dealing"
    shutil.rmtree(draft, ignore_errors=True)
    count = min(max(round(rows / part_rows), 1), MOST_BUCKETS)
    try:
        items = _Buckets(draft / "items", "item", count)
        clustered = False
        for batch in batches:
            clustered |= "cluster" in batch.columns and batch["cluster"].null_count() < batch.height
            items.add(batch)
        buckets = items
        if clustered:
            # Twice, for a row may not say its cluster: only all rows of an item together do.
            buckets = _Buckets(draft / "clusters", "cluster", count)
            for frame in items.read():
                buckets.add(_with_clusters(frame))
        key = "cluster" if clustered else "item"
        return tuple(
            part
            for frame in buckets.read()
            for part in _write_bucket(
                with_composites(frame, composites), folder, {"whole": key, "set": name}, part_rows
            )
        )
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def with_composites(frame: pl.DataFrame, composites: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    """Tidy ratings of whole items and, behind them, those on composites of attributes.

    The mean over the attributes of a rater's means over its runs; missing if one of them is.
    """
    if not composites:
        return frame
    mean = pl.col("score").mean()
    cell = [name for name in ("item", "system", "rater") if name in frame.columns]
    facts = [name for name in ("cluster", "subgroup") if name in frame.columns]
    # Means over runs first: a rater's run that is missing must not weigh one attribute less.
    whole = frame.group_by(*cell, "attribute").agg(
        mean, *(pl.col(name).drop_nulls().first() for name in facts)
    )
    frames = [frame]
    for name, parts in composites.items():
        own = whole.filter(pl.col("attribute").is_in(list(parts)))
        there = pl.col("score").count() == len(parts)
        made = own.group_by(cell).agg(
            pl.when(there).then(mean).alias("score"),
            *(pl.col(fact).drop_nulls().first() for fact in facts),
        )
        blank = pl.when(pl.col("score").is_null()).then(pl.lit("blank")).otherwise(pl.lit("ok"))
        frames.append(made.with_columns(attribute=pl.lit(name), status=blank, run=pl.lit(1)))
    return pl.concat(frames, how="diagonal_relaxed")


def _with_clusters(frame: pl.DataFrame) -> pl.DataFrame:
    """Each item's rows with the cluster that one of them names: a file of labels may name none."""
    same = [name for name in ("item", "system") if name in frame.columns]
    declared = pl.col("cluster").drop_nulls().first().over(same)
    return frame.with_columns(pl.coalesce("cluster", declared))


def _write_bucket(
    frame: pl.DataFrame, folder: Path, header: dict[str, Any], part_rows: int
) -> Iterator[StreamPart]:
    for part in in_memory(frame, header["whole"], part_rows):
        yield _write_part(part, folder, header)


def in_memory(
    frame: pl.DataFrame, key: str, part_rows: int = PART_ROWS, name: str = ""
) -> Iterator[StreamPart]:
    """Tidy ratings, whole in memory, as parts of whole items (or clusters) in their order.

    Raises
    ------
    TableError
        A rating occurs twice.
    """
    kinds = {**RATINGS, **FACTS, "attribute": pl.String(), "status": pl.String()}
    order = [name for name in _ORDER if name in frame.columns]
    for (attribute,), rows in frame.partition_by("attribute", as_dict=True).items():
        names = [name for name in kinds if name in rows.columns]
        tidy = rows.select(pl.col(name).cast(kinds[name]) for name in names)
        if not _is_sorted(tidy, order):
            tidy = tidy.sort(order)
        _check_once(tidy)
        for piece in _pieces(tidy, key, part_rows):
            yield StreamPart(name, piece.height, str(attribute), piece)


def _is_sorted(tidy: pl.DataFrame, order: Sequence[str]) -> bool:
    """Whether rows stand in order: each pair of neighbours by its first column that differs."""
    # Of few rows a sort is no slower than the look.
    falls, same = pl.lit(value=False), pl.lit(value=True)
    for name in order:
        before = pl.col(name).shift(1)
        falls |= same & (pl.col(name) < before).fill_null(value=False)
        same &= pl.col(name).eq_missing(before)
    return not tidy.select(falls.slice(1).any()).item()


def _check_once(tidy: pl.DataFrame) -> None:
    """Rows are sorted: the same rating twice stands side by side."""
    same = [name for name in ("item", "system", "rater", "run") if name in tidy.columns]
    twice = pl.all_horizontal(pl.col(name).eq_missing(pl.col(name).shift(1)) for name in same)
    again = tidy.with_row_index("_row").filter(twice & (pl.col("_row") > 0)).head(1)
    if again.height:
        row = again.row(0, named=True)
        of = f" of system {row['system']!r}" if row.get("system") is not None else ""
        place = f"rater {row['rater']!r}, attribute {row['attribute']!r}"
        advice = "if a column tells these rows apart, name it by --attribute, --run or --system"
        raise duplicate("item", f"{row['item']}{of}", place, advice, error=TableError)


def _pieces(tidy: pl.DataFrame, key: str, part_rows: int) -> Iterator[pl.DataFrame]:
    """A sorted frame cut between items (or clusters) into pieces of about so many rows."""
    whole = max(round(tidy.height / part_rows), 1)
    if whole == 1:
        yield tidy
        return
    names = tidy.select(_unit(key)).to_series()
    starts = (names != names.shift(1)).fill_null(value=True).arg_true()
    start = 0
    for number in range(1, whole + 1):
        at = starts.search_sorted(number * tidy.height // whole)
        end = tidy.height if number == whole or at == len(starts) else int(starts[at])
        if end > start:
            yield tidy.slice(start, end - start)
        start = end


def _unit(key: str) -> pl.Expr:
    return pl.coalesce("cluster", "item") if key == "cluster" else pl.col("item")


def _write_part(part: StreamPart, folder: Path, header: dict[str, Any]) -> StreamPart:
    inside = folder / f"attribute={quote(part.attribute, safe=' ')}"
    inside.mkdir(parents=True, exist_ok=True)
    draft = inside / ".part.draft"
    text = json.dumps({"layout": 1, **header, "attribute": part.attribute, "rows": part.rows})
    frame = part.frame
    if frame is None:
        raise TableError(f"{part}: there is nothing to write")
    frame.write_parquet(draft, metadata={KEY: text}, row_group_size=part.rows)
    # Named by its content: a part that is there was written whole.
    path = inside / f"part-{file_hash(draft)[:16]}.parquet"
    draft.replace(path)
    return StreamPart(str(path), part.rows, part.attribute)


def said_of(path: str | Path) -> dict[str, Any] | None:
    """What a part of the layout says of itself; None for any other Parquet file."""
    text = pl.read_parquet_metadata(path).get(KEY)
    return None if text is None else json.loads(text)


def parquet_rows(path: str | Path) -> int:
    """Rows of a Parquet file, by its footer."""
    return int(pl.scan_parquet(path).select(pl.len()).collect().item())

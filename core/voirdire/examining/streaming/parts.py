"""A part of a stream as arrays: rows of ratings by response, and what hangs together."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire.errors import TableError, duplicate

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from voirdire.tables.partitioned import StreamPart

#: Columns that are read, where a part has them.
WANTED = ("item", "system", "rater", "run", "score", "status", "cluster", "subgroup")
#: Rows whose raters and systems are looked at first.
_FIRST = 2000
#: Between a system and the subgroup of the response, in the name that patterns are told apart by.
_OF = "\x1f"
#: A clustered item, and an item alone, must not meet by name.
_ALONE, _TOGETHER = "item ", "cluster "
#: Places that are kept of each thing that is counted.
MOST_PLACES = 20
#: A cell: its cluster or item, which it is sorted by first, its item, system (or "") and run.
Place = tuple[str, str, str, int]


@dataclass(frozen=True, slots=True, eq=False)
class RowTally:
    """How often each thing occurs, and the first places where it does: ``a + b``.

    Attributes
    ----------
    counts : Counter
        Thing -> how often.
    places : mapping
        Thing -> its first places, in order, at most 20 of them.
    """

    counts: Counter[Any] = field(default_factory=Counter)
    places: Mapping[Any, tuple[Place, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, things: Iterable[tuple[Hashable, int, Sequence[Place]]]) -> RowTally:
        """Of things, how often, and where first; a thing may come several times."""
        counts: Counter[Any] = Counter()
        places: dict[Any, tuple[Place, ...]] = {}
        for key, n, where in things:
            counts[key] += n
            places[key] = tuple(nsmallest(MOST_PLACES, (*places.get(key, ()), *where)))
        return cls(counts, places)

    def __add__(self, other: RowTally) -> RowTally:
        """The counts of both parts, and the first of their places."""
        return RowTally.of((*self.items(), *other.items()))

    def items(self) -> Iterator[tuple[Any, int, tuple[Place, ...]]]:
        """Things, how often, and where first."""
        for key, n in self.counts.items():
            yield key, n, self.places.get(key, ())

    def under(self, first: Hashable) -> RowTally:
        """The same, each thing being a tuple that begins with `first`."""
        return RowTally.of(((first, *key), n, where) for key, n, where in self.items())


@dataclass(frozen=True, slots=True, eq=False)
class RatedRows:
    """Ratings of one part and attribute, dense.

    Attributes
    ----------
    columns : tuple of (rater, run)
        What each column of `scores` is.
    systems : tuple of str
        One empty name where there are none; with subgroups each system and subgroup that occurs
        (`system_in`, `subgroup_in`).
    scores : (N, C) float64
        NaN is missing.
    asked : (N, C) bool
        Whether there is a row, be its score there or missing.
    system, item, cluster : (N,) int64
        Positions in `systems`, of the item in the part, and in `names`.
    items : (N,) Series of str
        The item of each response.
    clusters : (G,) Series of str
        The name of each cluster: declared, else its item.
    clustered : bool
        Whether clusters are declared.
    statuses : RowTally
        Of (rater, status), statuses other than ok: rows.
    """

    columns: tuple[tuple[str, int], ...]
    systems: tuple[str, ...]
    scores: NDArray[np.float64]
    asked: NDArray[np.bool_]
    system: NDArray[np.int64]
    item: NDArray[np.int64]
    cluster: NDArray[np.int64]
    items: pl.Series
    clusters: pl.Series
    clustered: bool
    statuses: RowTally

    @property
    def names(self) -> NDArray[np.uint64]:
        """(G,) a hash of each cluster's name, equal on every machine."""
        return _hashes(self.clusters)

    def system_of(self, row: int) -> str:
        """The system of a response; empty for none."""
        return system_in(self.systems[self.system[row]])

    def place(self, row: int, run: int = 1) -> Place:
        """A response as a place."""
        of = str(self.clusters[int(self.cluster[row] - self.cluster[0])])
        return of, str(self.items[row]), self.system_of(row), run


def starts_of(codes: NDArray[np.int64]) -> NDArray[np.intp]:
    """Where each run of equal codes begins: items and clusters stand side by side in a part."""
    if not len(codes):
        return np.zeros(0, np.intp)
    return np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))


def system_in(name: str) -> str:
    """The system of a name among `RatedRows.systems`."""
    return name.partition(_OF)[0]


def subgroup_in(name: str) -> str:
    """The subgroup of such a name; empty where there is none."""
    return name.partition(_OF)[2]


def read_part(part: StreamPart) -> RatedRows:
    """Read one part whole.

    Raises
    ------
    TableError
        It cannot be read, or holds a rating twice.
    """
    if part.frame is not None:
        return rated_of(part.frame, str(part))
    try:
        lazy = pl.scan_parquet(part.path, hive_partitioning=False)
        names = [name for name in WANTED if name in lazy.collect_schema()]
        frame = lazy.select(names).collect()
    except (pl.exceptions.PolarsError, OSError) as error:
        cause = str(error).splitlines()[0]
        raise TableError(f"{part.path}: cannot be read as Parquet ({cause})") from None
    return rated_of(frame, part.path)


def rated_of(frame: pl.DataFrame, name: str) -> RatedRows:
    """A part's rows as arrays; rows of one cluster, item and response stand together."""
    # Codes in place of names throughout: comparing bytes of names costs more than all the sums.
    systems, system = _codes(frame, "system")
    raters, rater = _codes(frame, "rater")
    clustered = "cluster" in frame.columns and frame["cluster"].null_count() < frame.height
    # Rows of an item stand side by side in a part, so that runs of equal names number them without
    # sorting.
    item = _text(frame["item"]).rle_id().to_numpy()
    changes = np.ones(len(item), np.bool_)
    np.not_equal(item[1:], item[:-1], out=changes[1:])
    if len(systems) > 1:
        # A response begins where the item or the system changes.
        changes[1:] |= system[1:] != system[:-1]
    first = np.flatnonzero(changes)
    runs, column = _runs(frame, rater)
    scores, asked = _dense(frame, changes, column, len(raters) * runs, name)
    # A rater of three runs makes room for three of every rater: columns that nobody fills go.
    used = np.flatnonzero(asked.any(axis=0))
    items = _text(frame["item"])[first]
    cluster, names = _clusters(frame, first, item[first], items, clustered=clustered)
    systems, of = _with_subgroups(frame, first, systems, system[first].astype(np.int64))
    return RatedRows(
        tuple((raters[at // runs], int(at % runs) + 1) for at in used),
        systems,
        scores if len(used) == scores.shape[1] else np.ascontiguousarray(scores[:, used]),
        asked if len(used) == scores.shape[1] else asked[:, used],
        of,
        item[first].astype(np.int64),
        cluster,
        items,
        names,
        clustered,
        _statuses(frame),
    )


def _text(values: pl.Series) -> pl.Series:
    return values if values.dtype == pl.String else values.cast(pl.String)


def _codes(frame: pl.DataFrame, column: str) -> tuple[tuple[str, ...], NDArray[np.integer]]:
    """The sorted names of a column, and the place of each row's; null is an empty name."""
    if column not in frame.columns or frame[column].null_count() == frame.height:
        return ("",), np.zeros(frame.height, np.uint8)
    values = _text(frame[column])
    if values.null_count():
        values = values.fill_null("")
    # A part's raters and systems mostly stand in its first rows; a name that does not is null.
    names = values.head(_FIRST).unique().sort().to_list()
    codes = values.cast(pl.Enum(names), strict=False)
    if codes.null_count():
        names = values.unique().sort().to_list()
        codes = values.cast(pl.Enum(names))
    return tuple(names), codes.to_physical().to_numpy()


def _with_subgroups(
    frame: pl.DataFrame, first: NDArray[np.intp], systems: tuple[str, ...], of: NDArray[np.int64]
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Systems and the system of each response, with its subgroup where one of its rows has one."""
    names, code = _codes(frame, "subgroup")
    if names == ("",):
        return systems, of
    # The empty name stands for null here, which is no subgroup.
    blank = names.index("") if "" in names else -1
    # Rows that say nothing are placed last, so that the least place of a response is its first row
    # that says something.
    place = np.where(code == blank, len(code), np.arange(len(code)))
    nearest = np.minimum.reduceat(place, first)
    own = np.where(
        nearest < len(code), code[np.minimum(nearest, len(code) - 1)].astype(np.int64), -1
    )
    pairs, back = np.unique(np.stack([of, own], axis=1), axis=0, return_inverse=True)
    named = [systems[at] + (_OF + names[group] if group >= 0 else "") for at, group in pairs]
    # Sorted by name, and not by code: patterns of parts with other systems must merge by name.
    order = np.argsort(np.array(named, dtype=object), kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return tuple(named[at] for at in order), rank[back.ravel()]


def _runs(frame: pl.DataFrame, rater: NDArray[np.integer]) -> tuple[int, NDArray[np.integer]]:
    """The most runs of a rater, and the column of each row."""
    if "run" not in frame.columns:
        return 1, rater
    # In 64 bits: runs times raters may not fit the type of the column.
    runs = int(frame.select(pl.col("run").max().cast(pl.Int64)).item() or 1)
    if runs == 1:
        return 1, rater
    run = frame["run"].fill_null(1).to_numpy().astype(np.int64)
    return runs, rater.astype(np.int64) * runs + run - 1


def _dense(
    frame: pl.DataFrame,
    changes: NDArray[np.bool_],
    column: NDArray[np.integer],
    columns: int,
    name: str,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    from voirdire.stats._pattern_kernels import scatter  # noqa: PLC0415 - slow to import

    values = frame["score"]
    if values.dtype != pl.Float64:
        values = values.cast(pl.Float64)
    score = (values.fill_null(float("nan")) if values.null_count() else values).to_numpy()
    n = int(changes.sum())
    # Every rater on every response, in one order: the column is the table, and nothing is copied.
    if len(score) == n * columns and (column.reshape(n, columns) == np.arange(columns)).all():
        return score.reshape(n, columns), np.ones((n, columns), np.bool_)
    scores, asked = np.full((n, columns), np.nan), np.zeros((n, columns), np.bool_)
    # A compiled loop: it fills the cells and stops at the first that is filled twice.
    row = scatter(changes, column, score, scores, asked)
    if row >= 0:
        twice = frame.row(int(row), named=True)
        raise duplicate(
            "item", twice["item"], f"{name}, rater {twice['rater']!r}", error=TableError
        )
    return scores, asked


def _clusters(
    frame: pl.DataFrame,
    first: NDArray[np.intp],
    item: NDArray[np.int64],
    names: pl.Series,
    *,
    clustered: bool,
) -> tuple[NDArray[np.int64], pl.Series]:
    """(N,) the place of each response's cluster, and (G,) the clusters' names.

    `names` are those of the items.
    """
    place = item - item[0] if len(item) else item
    if clustered:
        declared = frame["cluster"].cast(pl.String)[first]
        names = pl.select(
            pl.when(declared.is_null()).then(_ALONE + names).otherwise(_TOGETHER + declared)
        ).to_series()
        place = names.rle_id().to_numpy().astype(np.int64)
    return place, names[starts_of(place)]


def _hashes(names: pl.Series) -> NDArray[np.uint64]:
    from voirdire.stats._pattern_kernels import hashes  # noqa: PLC0415 - slow to import

    # One buffer and the ends of the names in it: a kernel reads no Python strings.
    text = np.frombuffer((names.str.join("").item() or "").encode(), np.uint8)
    ends = names.str.len_bytes().to_numpy().astype(np.int64).cumsum()
    out = np.empty(len(names), np.uint64)
    hashes(text, ends, out)
    return out


def _statuses(frame: pl.DataFrame) -> RowTally:
    """Rows by (rater, status), of statuses other than ok."""
    # Without a column of statuses a null score is blank, and all others are ok.
    if "status" not in frame.columns:
        frame = frame.filter(pl.col("score").is_null()).with_columns(status=pl.lit("blank"))
    odd = frame["status"] != "ok"
    if not odd.any():
        return RowTally()
    item = pl.col("item").cast(pl.String)
    system, run = pl.lit(""), pl.lit(1, pl.Int64)
    if "system" in frame.columns:
        system = pl.col("system").cast(pl.String).fill_null("")
    if "run" in frame.columns:
        run = pl.col("run").cast(pl.Int64).fill_null(1)
    unit = _ALONE + item
    if "cluster" in frame.columns:
        unit = pl.coalesce(_TOGETHER + pl.col("cluster").cast(pl.String), unit)
    where = pl.concat_list(unit, item, system).alias("where")
    counts = (
        frame.filter(odd)
        .select(pl.col("rater", "status").cast(pl.String), where, run.alias("run"))
        .group_by("rater", "status")
        .agg(pl.len(), pl.col("where", "run").head(MOST_PLACES))
    )
    return RowTally.of(
        ((rater, status or ""), n, [(*names, at) for names, at in zip(where, runs, strict=True)])
        for rater, status, n, where, runs in counts.iter_rows()
    )

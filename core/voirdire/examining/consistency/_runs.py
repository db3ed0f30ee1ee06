"""Labels of raters over runs as one frame, a row a rater, item and run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from voirdire.tables import STATUS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Contradiction = Literal["missing", "labels"]
KEYS = ("rater", "item", "run")


@dataclass(frozen=True, slots=True, eq=False)
class LabelRuns:
    """What raters named, run by run; every rater has all its items in all its runs.

    Attributes
    ----------
    labels : tuple of str
        The declared labels.
    none : str or None
        The label that says that no other applies.
    other : str or None
        The label for what lies outside the set; beside a declared label it is dropped.
    frame : polars.DataFrame
        ``rater, item, run, status``, ``first`` (place of the label ranked first, null where none
        is), one Int8 column a label under its place ("0", "1", ...): 1 named, 0 not, null missing;
        and, where the replies are known, ``unknown`` (entries outside the set) and ``flags``.
        Sorted by rater, item (in the order of first appearance) and run.
    """

    labels: tuple[str, ...]
    none: str | None
    other: str | None
    frame: pl.DataFrame

    @property
    def raters(self) -> tuple[str, ...]:
        """Raters in the order of the frame."""
        return tuple(self.frame["rater"].unique(maintain_order=True).to_list())

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the labels' columns in `frame`."""
        return places(self.labels)

    def place(self, label: str | None) -> int | None:
        """The place of a label; None for None."""
        return None if label is None else self.labels.index(label)

    def of(self, rater: str) -> pl.DataFrame:
        """The rows of one rater."""
        return self.frame.filter(pl.col("rater") == rater)

    def items(self, rater: str) -> pl.Series:
        """The items of one rater, in order."""
        return self.of(rater)["item"].unique(maintain_order=True)

    def cells(self, rater: str) -> NDArray[np.int8]:
        """One rater's labels, shape (items, runs, labels): 1 named, 0 not named, -1 missing."""
        rows = self.of(rater)
        runs = rows["run"].n_unique()
        flat = rows.select(pl.col(name).fill_null(-1) for name in self.columns).to_numpy()
        return np.ascontiguousarray(flat, np.int8).reshape(-1, max(runs, 1), len(self.labels))

    def keep(self, raters: Sequence[str]) -> LabelRuns:
        """The same with some raters only."""
        return LabelRuns(
            self.labels, self.none, self.other, self.frame.filter(pl.col("rater").is_in(raters))
        )


def places(labels: Sequence[str]) -> tuple[str, ...]:
    """Columns of labels: their places, which no other column is called by."""
    return tuple(str(place) for place in range(len(labels)))


def label_runs(
    frame: pl.DataFrame,
    labels: Sequence[str],
    none: str | None,
    other: str | None,
    contradiction: Contradiction,
) -> LabelRuns:
    """Settle what may not stand together, complete the runs, and sort."""
    found = LabelRuns(tuple(labels), none, other, frame)
    return LabelRuns(tuple(labels), none, other, _complete(_settled(found, contradiction)))


def _settled(runs: LabelRuns, contradiction: Contradiction) -> pl.DataFrame:
    """Other beside a label is dropped; none beside a label is missing, or gives way to it."""
    apart = (runs.none, runs.other)
    labels = [c for c, label in zip(runs.columns, runs.labels, strict=True) if label not in apart]
    beside = (
        pl.any_horizontal(pl.col(name) == 1 for name in labels) if labels else pl.lit(value=False)
    )
    frame = runs.frame
    none, other = runs.place(runs.none), runs.place(runs.other)
    if none is not None:
        company = beside if other is None else beside | (pl.col(str(other)) == 1)
        both = ((pl.col(str(none)) == 1) & company).fill_null(value=False)
        frame = _contradicted(frame, runs, both, contradiction)
    if other is not None:
        dropped = pl.when(beside.fill_null(value=False)).then(0).otherwise(pl.col(str(other)))
        frame = frame.with_columns(dropped.cast(pl.Int8).alias(str(other)))
    return frame


def _contradicted(
    frame: pl.DataFrame, runs: LabelRuns, both: pl.Expr, contradiction: Contradiction
) -> pl.DataFrame:
    if contradiction == "labels":
        gone = str(runs.place(runs.none))
        kept = pl.when(both).then(0).otherwise(pl.col(gone)).cast(pl.Int8).alias(gone)
        return frame.with_columns(kept)
    unread = pl.when(both).then(pl.lit("unparsable", STATUS)).otherwise("status")
    return frame.with_columns(
        *(pl.when(~both).then(pl.col(name)).alias(name) for name in (*runs.columns, "first")),
        unread.alias("status"),
    )


def _complete(frame: pl.DataFrame) -> pl.DataFrame:
    """Every rater's items in each of its runs: a run without a row is there, its status failed."""
    sizes = frame.group_by("rater").agg(
        pl.col("item").n_unique(), pl.col("run").n_unique(), rows=pl.len()
    )
    if (sizes["item"] * sizes["run"] == sizes["rows"]).all():
        whole = frame
    else:
        grid = [_grid(part) for part in frame.partition_by("rater", maintain_order=True)]
        whole = pl.concat(grid).join(frame, on=KEYS, how="left", maintain_order="left")
        whole = whole.with_columns(pl.col("status").fill_null(pl.lit("failed", STATUS)))
    return _sorted(whole)


def _grid(part: pl.DataFrame) -> pl.DataFrame:
    items = part.select("rater", "item").unique(maintain_order=True)
    return items.join(part.select(pl.col("run").unique()), how="cross")


def _sorted(frame: pl.DataFrame) -> pl.DataFrame:
    """By rater and item in the order of first appearance, then by run."""
    for key in ("rater", "item"):
        names = frame[key].unique(maintain_order=True)
        order = pl.DataFrame({key: names, f"_{key}": np.arange(len(names))})
        frame = frame.join(order, on=key, how="left", maintain_order="left")
    return frame.sort("_rater", "_item", "run").drop("_rater", "_item")

"""Ratings of labels as matrices: items down, declared labels across, NaN where missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire._errors import TableError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class LabelMatrix:
    """What one rater said in one run.

    Attributes
    ----------
    name : str
        The rater, with its run where there are several.
    items : tuple of str
    labels : tuple of str
    values : (items, labels) float64
        1 where the label is given, 0 where it is not; a row is all NaN where nothing is known.
    statuses : tuple of str
        Of each item: why it is missing, or ``ok``.
    """

    name: str
    rater: str
    run: int
    items: tuple[str, ...]
    labels: tuple[str, ...]
    values: NDArray[np.float64]
    statuses: tuple[str, ...]

    def named(self, row: int) -> tuple[str, ...] | None:
        """The labels given to an item; None where nothing is known."""
        if np.isnan(self.values[row]).any():
            return None
        return tuple(
            label for label, value in zip(self.labels, self.values[row], strict=True) if value
        )


def label_matrices(
    ratings: pl.DataFrame,
    rater: str,
    labels: Sequence[str],
    items: Sequence[str] | None = None,
) -> tuple[LabelMatrix, ...]:
    """The labels of one rater, one matrix a run, over the items given (by default its own).

    A row is known only where every label of the item is. An item that the rater has no row for is
    missing (``failed``).

    Raises
    ------
    TableError
        The rater has no labels, gives one that is not declared, or a score other than 0 and 1.
    """
    own = ratings.filter(pl.col("rater") == rater).with_columns(
        pl.col("attribute").cast(pl.String),
        pl.col("status").cast(pl.String),
        pl.col("score").cast(pl.Float64),
    )
    if own.is_empty():
        raise TableError(f"rater {rater!r} has no labels")
    _check(own, rater, labels)
    names = own["item"].unique(maintain_order=True).to_list() if items is None else list(items)
    runs = sorted(own["run"].unique().to_list())
    return tuple(
        _matrix(own.filter(pl.col("run") == run), rater, run, names, labels, many=len(runs) > 1)
        for run in runs
    )


def _check(own: pl.DataFrame, rater: str, labels: Sequence[str]) -> None:
    strange = own.filter(~pl.col("attribute").is_in(list(labels)))
    if strange.height:
        item, label = strange.select("item", "attribute").row(0)
        raise TableError(
            f"rater {rater!r}, item {item!r}: label {label!r} is not declared "
            f"(declared: {', '.join(labels)})"
        )
    off = own.filter(~pl.col("score").is_in([0.0, 1.0]))
    if off.height:
        item, label, score = off.select("item", "attribute", "score").row(0)
        raise TableError(
            f"rater {rater!r}, item {item!r}, {label!r}: a label is 0 or 1, not {score}"
        )


def _matrix(
    own: pl.DataFrame,
    rater: str,
    run: int,
    items: list[str],
    labels: Sequence[str],
    *,
    many: bool,
) -> LabelMatrix:
    where = {item: row for row, item in enumerate(items)}
    place = {label: column for column, label in enumerate(labels)}
    values = np.full((len(items), len(labels)), np.nan)
    statuses = ["failed"] * len(items)
    for item, label, score, status in own.select(
        "item", "attribute", "score", "status"
    ).iter_rows():
        if item in where:
            values[where[item], place[label]] = np.nan if score is None else score
            statuses[where[item]] = status or ("blank" if score is None else "ok")
    values[np.isnan(values).any(axis=1)] = np.nan
    name = f"{rater} (run {run})" if many else rater
    return LabelMatrix(name, rater, run, tuple(items), tuple(labels), values, tuple(statuses))

"""Label runs from the table of ratings: a label is an attribute scored 0 or 1."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire._errors import InputError
from voirdire.examining.consistency._runs import KEYS, Contradiction, LabelRuns, label_runs, places
from voirdire.parsing import LabelSet
from voirdire.schema import STATUSES
from voirdire.tables import STATUS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def runs_of_ratings(
    ratings: pl.DataFrame,
    labels: Sequence[str] = (),
    *,
    none: str | None = None,
    other: str | None = None,
    contradiction: Contradiction = "missing",
) -> LabelRuns:
    """Label runs from tidy ratings.

    Parameters
    ----------
    ratings : polars.DataFrame
        ``item, rater, run, attribute, score`` and, where there are any, ``rank``, ``status``.
    labels : sequence of str
        The declared labels; without them the attributes that occur. Other attributes are left out.
    none, other : str, optional
        See `LabelRuns`; a label spelled *None* is taken for `none`.
    contradiction : {"missing", "labels"}
        What becomes of a run that names `none` beside another label: the whole run is missing, or
        the other labels stand.

    Raises
    ------
    InputError
        A score other than 0, 1 or missing; `none` or `other` is no label; a cell stands twice.

    Examples
    --------
    >>> frame = pl.DataFrame({
    ...     "item": ["1"] * 4, "rater": ["m"] * 4, "run": [1, 1, 2, 2],
    ...     "attribute": ["Anger", "Fear"] * 2, "score": [1, 0, 1, 1],
    ... })
    >>> runs_of_ratings(frame).cells("m").tolist()
    [[[1, 0], [1, 1]]]
    """
    names = (
        list(labels) or ratings["attribute"].cast(pl.String).unique(maintain_order=True).to_list()
    )
    declared = LabelSet(tuple(names), none=none, other=other)
    wanted = _wanted(ratings, names)
    wide = _wide(wanted, names)
    return label_runs(wide, names, declared.none, declared.other, contradiction)


def _wanted(ratings: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    frame = ratings
    if "status" not in frame.columns:
        read = pl.when(pl.col("score").is_null()).then(pl.lit("blank")).otherwise(pl.lit("ok"))
        frame = frame.with_columns(status=read)
    if "rank" not in frame.columns:
        frame = frame.with_columns(rank=pl.lit(None, pl.Int32))
    frame = frame.filter(pl.col("attribute").cast(pl.String).is_in(list(names))).with_columns(
        pl.col("rater").cast(pl.String),
        pl.col("attribute").cast(pl.String).cast(pl.Enum(list(names))),
        pl.col("status").cast(pl.String).cast(STATUS),
        pl.col("score").cast(pl.Float64),
    )
    bad = frame.filter((pl.col("score") != 0) & (pl.col("score") != 1))
    if bad.height:
        row = bad.row(0, named=True)
        raise InputError(
            f"label {row['attribute']!r} of item {row['item']!r} by {row['rater']!r} must be 0, 1 "
            f"or missing, got {row['score']!r}"
        )
    return frame


def _wide(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """One row a rater, item and run, one column a label; cells without a rating are null."""
    keys = {key: frame[key].unique(maintain_order=True) for key in KEYS}
    codes = {key: _codes(frame[key], found) for key, found in keys.items()}
    slot = (codes["rater"] * len(keys["item"]) + codes["item"]) * len(keys["run"]) + codes["run"]
    seen = np.zeros(math.prod(map(len, keys.values())), bool)
    seen[slot] = True
    row, label = (np.cumsum(seen) - 1)[slot], frame["attribute"].to_physical().to_numpy()
    shape = (int(seen.sum()), len(names))
    _refuse_twice(frame, row.astype(np.int64) * len(names) + label, math.prod(shape))
    scores = _filled(shape, row, label, frame["score"].fill_null(-1).cast(pl.Int8), -1)
    worst = _filled(shape, row, label, frame["status"].to_physical().cast(pl.Int8), 0).max(axis=1)
    ranked = (frame["rank"] == 1).fill_null(value=False).to_numpy()
    first = np.full(shape[0], -1, np.int16)
    first[row[ranked]] = label[ranked]
    where = np.flatnonzero(seen)
    columns = {
        "rater": keys["rater"].gather(where // (len(keys["item"]) * len(keys["run"]))),
        "item": keys["item"].gather(where // len(keys["run"]) % len(keys["item"])),
        "run": keys["run"].gather(where % len(keys["run"])),
        "status": pl.Series(STATUSES, dtype=STATUS).gather(worst.astype(np.uint32)),
        "first": first,
        **{name: scores[:, at] for at, name in enumerate(places(names))},
    }
    missing = [pl.col(name).replace(-1, None) for name in ("first", *places(names))]
    return pl.DataFrame(columns).with_columns(missing)


def _codes(column: pl.Series, names: pl.Series) -> NDArray[np.int64]:
    """The place of each value in `names`."""
    text = column.cast(pl.String).cast(pl.Enum(names.cast(pl.String).to_list()))
    return text.to_physical().to_numpy().astype(np.int64)


def _filled(
    shape: tuple[int, int],
    row: NDArray[np.int64],
    label: NDArray[np.int64],
    values: pl.Series,
    rest: int,
) -> NDArray[np.int8]:
    found = np.full(shape, rest, np.int8)
    found[row, label] = values.to_numpy()
    return found


def _refuse_twice(frame: pl.DataFrame, cell: NDArray[np.int64], size: int) -> None:
    twice = np.flatnonzero(np.bincount(cell, minlength=size) > 1)
    if twice.size:
        row = frame.row(int(np.flatnonzero(cell == twice[0])[1]), named=True)
        raise InputError(
            f"item {row['item']!r}, run {row['run']}, by {row['rater']!r}: label "
            f"{row['attribute']!r} stands twice"
        )

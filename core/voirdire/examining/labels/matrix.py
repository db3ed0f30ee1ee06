"""Labels of one rater as an array: runs, items, declared labels; whatever they came from.

A label is an attribute scored 0 or 1. Ratings, predictions of a classifier, choices of a
questionnaire and replies over several runs all become a `LabelMatrix` here, and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import polars as pl

from voirdire.errors import TableError, duplicate, not_one_of
from voirdire.schema import STATUSES
from voirdire.tabular import places_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

Task = Literal["binary", "multi-class", "multi-label"]
TASKS: tuple[Task, ...] = get_args(Task)
_FORMS: dict[str, Task] = {
    "binary": "binary",
    "multiclass": "multi-class",
    "multilabel": "multi-label",
}
#: The worst of the statuses of an item's labels is the item's: as places in `STATUSES`.
_FAILED = STATUSES.index("failed")
_BLANK, _OK = STATUSES.index("blank"), STATUSES.index("ok")


def task_of(text: str, where: str) -> Task:
    """The task of that name, however it is spelled.

    >>> task_of("Multi-Label", "results.csv, row 2")
    'multi-label'
    """
    form = "".join(sign for sign in text.casefold() if sign.isalpha())
    if form not in _FORMS:
        raise not_one_of("task", text, TASKS, f"{where}, column 'task'", TableError)
    return _FORMS[form]


@dataclass(frozen=True, slots=True, eq=False)
class LabelMatrix:
    """What one rater said of items, in one run or several.

    Make one by `matrix_of_values`, `matrix_of_names` or `matrix_of_ratings`.

    Attributes
    ----------
    rater : str
    labels : tuple of str
        The declared labels, named or not.
    items : tuple of str
    runs : tuple of int
        Numbers of the runs (of a trained classifier: of its seeds).
    values : (runs, items, labels) float64
        1 where a label is given, 0 where it is not, NaN where that is not known.
    statuses : (runs, items) str
        Of each reply: ``ok``, or why something in it is missing.
    first : (runs, items) int16
        Place of the label that is ranked first; -1 where none is, or no order is known.
    """

    rater: str
    labels: tuple[str, ...]
    items: tuple[str, ...]
    runs: tuple[int, ...]
    values: Floats
    statuses: NDArray[np.str_]
    first: NDArray[np.int16]

    @property
    def known(self) -> NDArray[np.bool_]:
        """Runs and items of which every label is known: (runs, items)."""
        return np.asarray(~np.isnan(self.values).any(axis=2), np.bool_)

    def name(self, run: int) -> str:
        """The rater, with the run's number where there are several; `run` is its place."""
        return f"{self.rater} (run {self.runs[run]})" if len(self.runs) > 1 else self.rater

    def named(self, item: int, run: int = 0) -> tuple[str, ...] | None:
        """The labels given to an item, by their places; None where one is not known."""
        row = self.values[run, item]
        if np.isnan(row).any():
            return None
        return tuple(label for label, value in zip(self.labels, row, strict=True) if value)

    def each_run(self) -> tuple[LabelMatrix, ...]:
        """One matrix a run."""
        return tuple(
            replace(
                self,
                runs=(run,),
                values=self.values[[place]],
                statuses=self.statuses[[place]],
                first=self.first[[place]],
            )
            for place, run in enumerate(self.runs)
        )

    def only(self, labels: Sequence[str]) -> LabelMatrix:
        """The same with some of its labels, in the order given."""
        places = [self.labels.index(label) for label in labels]
        # One place more than labels, so that -1 (no label ranked first) maps to itself.
        to = np.full(len(self.labels) + 1, -1, np.int16)
        to[places] = np.arange(len(places))
        return replace(
            self, labels=tuple(labels), values=self.values[:, :, places], first=to[self.first]
        )

    def without(self, lost: NDArray[np.bool_]) -> LabelMatrix:
        """The same, where nothing is known of these: (items,) or (runs, items) bool.

        >>> matrix_of_values([[1], [0]], ["rain"]).without(np.array([True, False])).known.tolist()
        [[False, True]]
        """
        lost = np.broadcast_to(lost, self.first.shape)
        return replace(
            self,
            values=np.where(lost[..., None], np.nan, self.values),
            statuses=np.where(lost, "blank", self.statuses),
            first=np.where(lost, np.int16(-1), self.first),
        )

    def two_classes(self, other: str = "") -> LabelMatrix:
        """A single label as the two classes of a binary task: it does not hold, or it does.

        >>> matrix_of_values([[1], [0]], ["rain"]).two_classes().labels
        ('not rain', 'rain')
        """
        if len(self.labels) != 1:
            raise TableError(f"two classes are made of one label, got {self.labels}")
        names = (other or f"not {self.labels[0]}", self.labels[0])
        whole = np.concatenate([1 - self.values, self.values], axis=2)
        return replace(self, labels=names, values=whole, first=np.full_like(self.first, -1))


def matrix_of_values(
    values: ArrayLike,
    labels: Sequence[str],
    *,
    items: Sequence[str] | None = None,
    rater: str = "",
    runs: Sequence[int] | None = None,
    statuses: ArrayLike | None = None,
    first: ArrayLike | None = None,
) -> LabelMatrix:
    """A matrix from an array at hand.

    Parameters
    ----------
    values : array_like, shape (items, labels) or (runs, items, labels)
        0, 1 or NaN.
    labels, items, runs
        Names of the axes; items and runs are numbered from 1 where they are not given.
    statuses, first : array_like, shape (items,) or (runs, items)
        See `LabelMatrix`; by default ``ok`` or ``blank``, and no order.

    Raises
    ------
    TableError
        Shapes that do not fit, a name that occurs twice, or a value other than 0, 1 and NaN.

    Examples
    --------
    >>> matrix = matrix_of_values([[1, 0], [float("nan")] * 2], ["warm", "dry"], items=["a", "b"])
    >>> matrix.named(0), matrix.named(1), matrix.statuses.tolist()
    (('warm',), None, [['ok', 'blank']])
    """
    array = np.asarray(values, np.float64)
    array = array[None] if array.ndim == 2 else array
    if array.ndim != 3 or array.shape[2] != len(labels):
        raise TableError(
            f"labels of {rater!r} must have the shape (items, {len(labels)}) or (runs, items, "
            f"{len(labels)}), got {np.shape(values)}"
        )
    count, n, _ = array.shape
    names = tuple(map(str, range(1, n + 1))) if items is None else tuple(items)
    numbers = tuple(range(1, count + 1)) if runs is None else tuple(runs)
    for what, axis, size in (("item", names, n), ("run", numbers, count)):
        if len(axis) != size or len(set(axis)) != size:
            raise TableError(
                f"{size} {what}s of {rater!r} need as many different names, got {axis[:5]}"
            )
    # A mean over runs or humans would pass for a label otherwise.
    odd = ~(np.isnan(array) | (array == 0) | (array == 1))
    if odd.any():
        run, item, label = np.argwhere(odd)[0]
        raise TableError(
            f"rater {rater!r}, item {names[item]!r}, {labels[label]!r}: a label is 0 or 1, "
            f"not {array[run, item, label]:g}"
        )
    if statuses is None:
        statuses = np.where(np.isnan(array).any(axis=2), "blank", "ok")
    places = np.full((count, n), -1) if first is None else first
    return LabelMatrix(
        rater,
        tuple(labels),
        names,
        numbers,
        array,
        np.asarray(statuses, np.str_).reshape(count, n),
        np.asarray(places, np.int16).reshape(count, n),
    )


def matrix_of_names(
    named: Sequence[Sequence[str] | None],
    labels: Sequence[str],
    *,
    items: Sequence[str] | None = None,
    rater: str = "",
) -> LabelMatrix:
    """A matrix from the labels of each item, the one named first being ranked first.

    Parameters
    ----------
    named : sequence of (sequence of str or None)
        An empty sequence says that no label applies; None that nothing is known.
    labels : sequence of str
        The declared labels.

    Raises
    ------
    TableError
        A label is not declared.

    Examples
    --------
    >>> matrix_of_names([["dry", "warm"], []], ["warm", "dry"]).values.tolist()
    [[[1.0, 1.0], [0.0, 0.0]]]
    """
    place = {label: at for at, label in enumerate(labels)}
    values = np.zeros((len(named), len(labels)))
    first = np.full(len(named), -1)
    names = list(map(str, range(1, len(named) + 1))) if items is None else list(items)
    for row, given in enumerate(named):
        if given is None:
            values[row] = np.nan
            continue
        for label in given:
            if label not in place:
                raise _undeclared(rater, names[row], label, labels)
            values[row, place[label]] = 1
        first[row] = place[given[0]] if given else -1
    return matrix_of_values(values, labels, items=names, rater=rater, first=first)


def matrix_of_ratings(
    ratings: pl.DataFrame,
    rater: str,
    labels: Sequence[str],
    *,
    items: Sequence[str] | None = None,
) -> LabelMatrix:
    """The labels of one rater in a table of ratings, all its runs together.

    Parameters
    ----------
    ratings : polars.DataFrame
        ``item, rater, run, attribute, score`` and, where there are any, ``rank`` and ``status``.
    labels : sequence of str
        The declared labels.
    items : sequence of str, optional
        Those of a key, say; by default those that the rater has a row for, in that order. An item
        without a row in some run is missing there, its status is ``failed``.

    Raises
    ------
    TableError
        The rater has no labels, gives one that is not declared, a score other than 0, 1 and
        missing, or one label of an item twice in a run.

    Examples
    --------
    >>> rows = [("1", 1, "warm", 1), ("1", 1, "dry", 0), ("1", 2, "warm", None)]
    >>> frame = pl.DataFrame(rows, schema=["item", "run", "attribute", "score"], orient="row")
    >>> matrix = matrix_of_ratings(frame.with_columns(rater=pl.lit("m")), "m", ["warm", "dry"])
    >>> matrix.values.tolist(), matrix.statuses.tolist()
    ([[[1.0, 0.0]], [[nan, nan]]], [['ok'], ['blank']])
    """
    own = ratings.filter(pl.col("rater").cast(pl.String) == rater)
    if own.is_empty():
        raise TableError(f"rater {rater!r} has no labels")
    names = own["item"].cast(pl.String).unique(maintain_order=True).to_list()
    item_names = names if items is None else list(items)
    own = own if items is None else own.filter(pl.col("item").cast(pl.String).is_in(item_names))
    # Of all its rows, also on items left out: a run without one of the items is missing there, and
    # no other run takes its number.
    runs = sorted(ratings.filter(pl.col("rater").cast(pl.String) == rater)["run"].unique())
    label = places_of(own["attribute"], labels)
    if (label < 0).any():
        row = own.row(int(np.flatnonzero(label < 0)[0]), named=True)
        raise _undeclared(rater, row["item"], row["attribute"], labels)
    at = (_codes(own["run"], runs), places_of(own["item"], item_names), label)
    shape = (len(runs), len(item_names), len(labels))
    _refuse_twice(own, rater, at, shape)
    values = placed(own["score"].cast(pl.Float64), at, shape)
    return matrix_of_values(
        values,
        labels,
        items=item_names,
        rater=rater,
        runs=runs,
        statuses=_statuses(own, at[:2], shape[:2]),
        first=_ranked_first(own, at, shape[:2]),
    )


def matrices_against(
    ratings: pl.DataFrame, key: str, raters: Iterable[str], labels: Sequence[str]
) -> tuple[LabelMatrix, tuple[LabelMatrix, ...]]:
    """The key in a table of ratings, and what others say of its items.

    Parameters
    ----------
    ratings, labels
        As in `matrix_of_ratings`.
    key : str
        The rater that holds the right labels; of several runs the first counts.
    raters : iterable of str
        Those that are held against it.

    Raises
    ------
    TableError
        As `matrix_of_ratings`.
    """
    truth = matrix_of_ratings(ratings, key, labels).each_run()[0]
    given = (matrix_of_ratings(ratings, name, labels, items=truth.items) for name in raters)
    return truth, tuple(given)


def ratings_of(matrix: LabelMatrix) -> pl.DataFrame:
    """A matrix as tidy ratings, one row a run, item and label: what `matrix_of_ratings` reads.

    Returns
    -------
    polars.DataFrame
        ``item, rater, run, attribute, score`` (null where missing), ``rank`` (1 for the label
        ranked first, else null) and ``status``.

    Examples
    --------
    >>> key = matrix_of_names([["warm"], None], ["warm", "dry"], items=["a", "b"], rater="key")
    >>> ratings_of(key).select("item", "attribute", "score", "status").rows()[1:3]
    [('a', 'dry', 0.0, 'ok'), ('b', 'warm', None, 'blank')]
    """
    count, n, q = matrix.values.shape
    first = np.repeat(matrix.first.ravel(), q) == np.tile(np.arange(q), count * n)
    return pl.DataFrame(
        {
            "item": np.tile(np.repeat(np.asarray(matrix.items, np.str_), q), count),
            "rater": [matrix.rater] * (count * n * q),
            "run": np.repeat(np.asarray(matrix.runs, np.int32), n * q),
            "attribute": np.tile(np.asarray(matrix.labels, np.str_), count * n),
            "score": pl.Series(matrix.values.ravel()).fill_nan(None),
            "rank": pl.Series(np.where(first, 1, 0)).replace(0, None).cast(pl.Int32),
            "status": np.repeat(matrix.statuses.ravel(), q),
        }
    )


def placed(values: pl.Series, at: tuple[NDArray[np.int64], ...], shape: tuple[int, ...]) -> Floats:
    """An array with each value in its place, and NaN where there is none."""
    out = np.full(shape, np.nan)
    out[at] = values.fill_null(float("nan")).to_numpy()
    return out


def _codes(column: pl.Series, numbers: Sequence[int]) -> NDArray[np.int64]:
    return np.searchsorted(np.asarray(numbers), column.to_numpy()).astype(np.int64)


def _refuse_twice(
    own: pl.DataFrame, rater: str, at: tuple[NDArray[np.int64], ...], shape: tuple[int, ...]
) -> None:
    cell = np.ravel_multi_index(at, shape)
    twice = np.flatnonzero(np.bincount(cell, minlength=1) > 1)
    if twice.size:
        row = own.row(int(np.flatnonzero(cell == twice[0])[1]), named=True)
        where = f"rater {rater!r}, item {row['item']!r}, run {row['run']}"
        raise duplicate("label", row["attribute"], where, error=TableError)


def _statuses(
    own: pl.DataFrame, at: tuple[NDArray[np.int64], ...], shape: tuple[int, ...]
) -> NDArray[np.str_]:
    """The worst status of each reply; without the column it follows from the scores."""
    if "status" in own.columns:
        code = places_of(own["status"], STATUSES)
    else:
        code = np.where(own["score"].is_null().to_numpy(), _BLANK, _OK)
    # A row without a status: it follows from the score.
    code = np.where(code < 0, np.where(own["score"].is_null().to_numpy(), _BLANK, _OK), code)
    worst = np.full(shape, -1)
    # STATUSES go from ok to failed: a reply is as good as the worst of its labels.
    np.maximum.at(worst, at, code)
    return np.asarray(STATUSES)[np.where(worst < 0, _FAILED, worst)]


def _ranked_first(
    own: pl.DataFrame, at: tuple[NDArray[np.int64], ...], shape: tuple[int, ...]
) -> NDArray[np.int16]:
    out = np.full(shape, -1, np.int16)
    if "rank" in own.columns:
        ranked = (own["rank"] == 1).fill_null(value=False).to_numpy()
        run, item, label = (axis[ranked] for axis in at)
        out[run, item] = label
    return out


def _undeclared(rater: str, item: str, label: str, labels: Sequence[str]) -> TableError:
    return TableError(
        f"rater {rater!r}, item {item!r}: label {label!r} is not declared "
        f"(declared: {', '.join(labels)})"
    )

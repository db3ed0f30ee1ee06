"""Truth and predictions collapsed to distinct pairs, and the sums that all scores are made of."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError, not_one_of
from voirdire.stats._arrays import numbers
from voirdire.stats._ratings import encode_pair, spelled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Classified:
    """Distinct (truth, prediction) rows.

    Attributes
    ----------
    true, predicted : (p, q) int8
        Labels of each distinct row, 0/1; a prediction that is no declared label is a row of 0.
    counts : (p,) int64
        Items that show the row.
    labels : (q,) array
        The declared labels.
    multilabel : bool
        Whether an item may have several labels or none.
    left_out : int
        Items with a missing label or prediction.
    undeclared : mapping
        Predictions that are no declared label.
    """

    true: NDArray[np.int8]
    predicted: NDArray[np.int8]
    counts: NDArray[np.int64]
    labels: NDArray[Any]
    multilabel: bool
    left_out: int = 0
    undeclared: Mapping[str, int] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Items used."""
        return int(self.counts.sum())

    def features(self) -> Floats:
        """Hits, predictions and truths of each label, and whether all is right: (p, 3 q + 1)."""
        hits = self.true & self.predicted
        exact = (self.true == self.predicted).all(axis=1)
        return np.column_stack([hits, self.predicted, self.true, exact]).astype(np.float64)

    def parts(self, sums: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Summed features by name, over the last axis."""
        q = len(self.labels)
        return sums[..., :q], sums[..., q : 2 * q], sums[..., 2 * q : 3 * q], sums[..., -1]

    def arrays(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int64]]:
        """Items as scikit-learn takes them, and the labels that occur."""
        used = np.flatnonzero((self.true | self.predicted)[self.counts > 0].any(axis=0))
        true = np.repeat(self.true, self.counts, axis=0)
        predicted = np.repeat(self.predicted, self.counts, axis=0)
        if self.multilabel:
            return true, predicted, used
        nothing = len(self.labels)
        lost = ~predicted.any(axis=1)
        return true.argmax(axis=1), np.where(lost, nothing, predicted.argmax(axis=1)), used


def classified(truth: ArrayLike, predicted: ArrayLike, labels: Sequence[Any] | None) -> Classified:
    """Check and collapse; two dimensions mean multi-label."""
    shapes = np.shape(truth), np.shape(predicted)
    if shapes[0] != shapes[1] or len(shapes[0]) not in {1, 2}:
        raise StatisticsError(
            "truth and predictions must have one shape, (items,) or (items, labels), "
            f"got {shapes[0]} and {shapes[1]}"
        )
    if len(shapes[0]) == 2:
        return _several(truth, predicted, labels)
    return _single(truth, predicted, labels)


def _single(truth: ArrayLike, predicted: ArrayLike, labels: Sequence[Any] | None) -> Classified:
    ratings = encode_pair(truth, predicted)
    kept = (ratings.codes >= 0).all(axis=1)
    occurring = ratings.levels
    declared = occurring if labels is None else different(labels)
    place = {_key(label): i for i, label in enumerate(declared.tolist())}
    q = len(place)
    to = np.array([place.get(_key(level), q) for level in occurring.tolist()] + [q])
    codes = to[ratings.codes[kept]]
    strange = np.flatnonzero(codes[:, 0] == q)
    if strange.size:
        code = ratings.codes[kept][strange[0], 0]
        raise not_one_of(
            "true label", occurring[code].item(), declared.tolist(), error=StatisticsError
        )
    outside = ratings.codes[kept][codes[:, 1] == q, 1]
    undeclared = Counter(spelled(occurring[code]) for code in outside)
    cells = np.bincount(codes[:, 0] * (q + 1) + codes[:, 1], minlength=q * (q + 1))
    pairs = np.flatnonzero(cells)
    rows = np.vstack([np.eye(q, dtype=np.int8), np.zeros((1, q), np.int8)])
    true, guess = np.divmod(pairs, q + 1)
    return Classified(
        rows[true],
        rows[guess],
        cells[pairs],
        declared,
        multilabel=False,
        left_out=int((~kept).sum()),
        undeclared=dict(undeclared),
    )


def _key(label: Any) -> str:
    """Labels are the same where they mean the same: 1, 1.0, True and the word "1"."""
    return spelled(int(label) if isinstance(label, bool) else label)


def different(labels: Sequence[Any]) -> NDArray[Any]:
    """Declared labels as an array; an error where two are the same."""
    values = np.asarray(labels)
    if values.ndim != 1 or len({_key(label) for label in values.tolist()}) != len(values):
        raise StatisticsError(f"labels must be a flat list of different names, got {labels!r}")
    return values


def _several(truth: ArrayLike, predicted: ArrayLike, labels: Sequence[Any] | None) -> Classified:
    cells = np.concatenate([_cells(truth, "truth"), _cells(predicted, "predictions")], axis=1)
    q = cells.shape[1] // 2
    names = np.arange(q) if labels is None else different(labels)
    if len(names) != q:
        raise StatisticsError(f"{q} columns need {q} labels, got {names.tolist()!r}")
    kept = ~np.isnan(cells).any(axis=1)
    rows, counts = np.unique(cells[kept].astype(np.int8), axis=0, return_counts=True)
    return Classified(
        rows[:, :q],
        rows[:, q:],
        counts,
        names,
        multilabel=True,
        left_out=int((~kept).sum()),
    )


def _cells(values: ArrayLike, name: str) -> Floats:
    given = numbers(values, name)
    bad = ~(np.isnan(given) | (given == 0) | (given == 1))
    if bad.any():
        item, label = np.argwhere(bad)[0].tolist()
        raise StatisticsError(
            f"{name} must be 0, 1 or missing, got {given[item, label].item()!r} for item {item}, "
            f"label {label}"
        )
    return given

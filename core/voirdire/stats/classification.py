"""Scores of a classifier over declared labels, through scikit-learn.

Truth and predictions are collapsed to distinct pairs, whose counts are the sums that all scores are
made of.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError, not_one_of
from voirdire.stats._arrays import Floats, numbers
from voirdire.stats._patterns import of_counts, resampled_counts
from voirdire.stats._ratings import encode_pair, spelled
from voirdire.stats._results import Estimate, Interval, Result
from voirdire.stats.intervals import AskedIntervals, percentile_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

_NAMES = (
    "accuracy",
    "precision_weighted",
    "recall_weighted",
    "f1_weighted",
    "precision_macro",
    "recall_macro",
    "f1_macro",
    "hamming_loss",
    "mcc",
)


@dataclass(frozen=True, slots=True, eq=False)
class Classification(Result):
    """Scores by name, scores by label, and predictions that are no declared label.

    Attributes
    ----------
    scores : mapping of str to Estimate
        ``accuracy`` (multi-label: all labels of an item right), ``precision``, ``recall`` and
        ``f1``, each ``_weighted`` by support and ``_macro``, ``hamming_loss``, ``mcc``.
    labels : mapping of str to mapping
        ``precision``, ``recall``, ``f1`` and ``support`` of each declared label; NaN where they
        are 0/0 (a label never predicted has no precision, one never true no recall).
    undeclared : mapping of str to int
        Predictions outside the declared labels and how often they came; each counts as wrong.
    """

    scores: Mapping[str, Estimate]
    labels: Mapping[str, Mapping[str, float]]
    undeclared: Mapping[str, int]

    def __getitem__(self, name: str) -> Estimate:
        """A score by its name."""
        return self.scores[name]

    def to_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        scores = {name: score.to_dict() for name, score in self.scores.items()}
        labels = {
            label: {key: None if math.isnan(part) else part for key, part in parts.items()}
            for label, parts in self.labels.items()
        }
        return {"scores": scores, "labels": labels, "undeclared": dict(self.undeclared)}

    def __str__(self) -> str:
        """A line a score, and the undeclared predictions."""
        unknown = [f"{word!r} ({count})" for word, count in self.undeclared.items()]
        last = [f"not declared: {', '.join(unknown)}"] if unknown else []
        return "\n".join([*map(str, self.scores.values()), *last])


def classification_scores(
    truth: ArrayLike,
    predicted: ArrayLike,
    *,
    labels: Sequence[Any] | None = None,
    ci: str | Sequence[str] | None = None,
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Classification:
    """Accuracy, precision, recall, F1, Hamming loss and MCC of predictions.

    Macro means run over the declared labels that occur, in truth or prediction; labels that occur
    in neither are named in the details (``absent``), beside the mean that would count them as 0
    (``zero_filled``). Weighted means run over the labels that some item truly has. In all of them
    a 0/0 precision or recall of a label that occurs counts as 0, as in scikit-learn;
    `Classification.labels` shows it as NaN.

    Parameters
    ----------
    truth, predicted : array_like, shape (n items,) or (n items, q labels)
        One label an item (numbers or words), or 0/1 for each label. NaN, None and masked entries
        are missing: such an item is left out and counted in ``left_out``.
    labels : sequence, optional
        The declared labels (multi-label: names of the columns). Without them those that occur. A
        true label must be declared; a predicted one that is not counts as wrong and is listed.
    ci : {None, "percentile"}
        Bootstrap over items.
    level, n_resamples, seed
        Nominal coverage, resamples, and the seed of ``numpy.random.default_rng``.

    Returns
    -------
    Classification
        MCC is NaN with ``zero_expected_disagreement`` where truth or predictions are constant
        (scikit-learn says 0), and ``not_applicable`` to multi-label data. Weighted means without
        any true label, and macro means without any label at all, are NaN with ``not_estimable``.
        All are NaN with ``no_data`` where no item is complete.

    Raises
    ------
    StatisticsError
        For shapes that differ, a true label that is not declared, or multi-label cells that are
        not 0, 1 or missing.

    References
    ----------
    Gorodkin, J. (2004). Computational Biology and Chemistry 28, 367-374 (MCC of several classes).

    Examples
    --------
    >>> scores = classification_scores(["a", "b", "a"], ["a", "b", "b"], labels=["a", "b", "c"])
    >>> print(scores["f1_weighted"])
    f1_weighted = 0.667, n = 3, k = 3
    >>> scores["f1_macro"].details["absent"]
    ['c']
    """
    asked = AskedIntervals.of(ci, ("percentile",), level, n_resamples, seed)
    given = classified(truth, predicted, labels)
    sums = given.counts.astype(np.float64) @ given.features()
    drawn = _resampled(given, n_resamples, seed) if asked and given.n else None
    # The value comes from scikit-learn, which anybody can check; a thousand resamples come from
    # sums, which is far faster.
    values = _by_sklearn(given) if given.n else dict.fromkeys(_NAMES, math.nan)
    scores = {}
    for place, name in enumerate(_NAMES):
        reason = _reason(given, name, sums)
        value = math.nan if reason else values.get(name, math.nan)
        intervals: tuple[Interval, ...] = ()
        if asked:
            column = np.array([]) if drawn is None or reason else drawn[:, place]
            intervals = (percentile_interval(column, level, given.n),)
        scores[name] = Estimate(
            name,
            value,
            intervals,
            given.n,
            len(given.labels),
            given.left_out,
            reason,
            details=_details(given, name, sums),
        )
    return Classification(scores, _by_label(given, sums), given.undeclared)


def _reason(given: Classified, name: str, sums: Floats) -> str | None:
    if not given.n:
        return "no_data"
    _, predicted, true, _ = given.parts(sums)
    if (name.endswith("_weighted") and not true.any()) or (
        name.endswith("_macro") and not (true + predicted).any()
    ):
        return "not_estimable"
    if name != "mcc":
        return None
    if given.multilabel:
        return "not_applicable"
    # Predictions that are all undeclared are constant as well.
    constant = max(true.max(), predicted.max(), given.n - predicted.sum()) == given.n
    return "zero_expected_disagreement" if constant else None


def _details(given: Classified, name: str, sums: Floats) -> dict[str, Any]:
    """What a reader of a macro mean must know."""
    if not name.endswith("_macro") or not given.n:
        return {}
    _, predicted, true, _ = given.parts(sums)
    absent = (predicted + true) == 0
    means = scores_of_sums(given, sums[None], fill=True)[0]
    return {
        "absent": [str(label) for label in given.labels[absent]],
        "never_predicted": [str(label) for label in given.labels[(predicted == 0) & ~absent]],
        "zero_filled": float(means[_NAMES.index(name)]),
    }


def _by_sklearn(given: Classified) -> dict[str, float]:
    """Point values; labels that occur in neither truth nor prediction stay out of macro means."""
    from sklearn import metrics  # noqa: PLC0415 - slow to import

    truth, predicted, used = given.arrays()
    options: dict[str, Any] = {"labels": used, "zero_division": 0.0}
    scores = {
        "accuracy": metrics.accuracy_score(truth, predicted),
        "hamming_loss": metrics.hamming_loss(truth, predicted),
        "mcc": math.nan,
    }
    for average in ("weighted", "macro") if len(used) else ():
        parts = metrics.precision_recall_fscore_support(
            truth, predicted, average=average, **options
        )
        for name, part in zip(("precision", "recall", "f1"), parts, strict=False):
            scores[f"{name}_{average}"] = part
    # scikit-learn says 0 for one class alone, where the coefficient is 0 / 0.
    if not given.multilabel and len(np.unique(np.append(truth, predicted))) > 1:
        scores["mcc"] = metrics.matthews_corrcoef(truth, predicted)
    return {name: float(value) for name, value in scores.items()}


def _resampled(given: Classified, n_resamples: int, seed: int) -> Floats:
    blocks = resampled_counts(given.counts, n_resamples, seed)
    return of_counts(partial(scores_of_sums, given), given.features(), blocks)


def scores_of_sums(given: Classified, sums: Floats, *, fill: bool = False) -> Floats:
    """All scores, in the order of their names, from sums of features: (b, 9)."""
    hits, predicted, true, exact = given.parts(sums)
    n, q = given.n, len(given.labels)
    precision, recall = _ratio(hits, predicted), _ratio(hits, true)
    f1 = _ratio(2 * hits, predicted + true)
    # A label that occurs nowhere would be counted as a failure to predict it.
    occurs = np.ones_like(true) if fill else ((predicted + true) > 0).astype(np.float64)
    columns = [exact / n]
    for weight in (true, occurs):
        whole = weight.sum(axis=-1)
        for part in (precision, recall, f1):
            mean = np.full(whole.shape, np.nan)
            columns.append(
                np.divide((part * weight).sum(axis=-1), whole, out=mean, where=whole > 0)
            )
    wrong = (predicted + true - 2 * hits).sum(axis=-1) / (n * q)
    columns.append(wrong if given.multilabel else 1 - exact / n)
    columns.append(_mcc(given, hits, predicted, true))
    return np.stack(columns, axis=-1)


def _ratio(part: Floats, whole: Floats) -> Floats:
    """Quotients, with 0/0 counted as 0."""
    return np.divide(part, whole, out=np.zeros(np.broadcast(part, whole).shape), where=whole > 0)


def _mcc(given: Classified, hits: Floats, predicted: Floats, true: Floats) -> Floats:
    """Gorodkin's coefficient; NaN where truth or predictions are constant."""
    out = np.full(hits.shape[:-1], np.nan)
    if given.multilabel:
        return out
    n = float(given.n)
    # Undeclared predictions are one more class of the table, in which nothing is right.
    other = n - predicted.sum(axis=-1)
    spread = (n * n - (predicted**2).sum(axis=-1) - other**2) * (n * n - (true**2).sum(axis=-1))
    shared = hits.sum(axis=-1) * n - (predicted * true).sum(axis=-1)
    return np.divide(shared, np.sqrt(spread), out=out, where=spread > 0)


def _by_label(given: Classified, sums: Floats) -> dict[str, dict[str, float]]:
    hits, predicted, true, _ = given.parts(sums)
    whole = {"precision": predicted, "recall": true, "f1": (predicted + true) / 2}
    scores: dict[str, dict[str, float]] = {}
    for c, label in enumerate(given.labels.tolist()):
        parts = {
            name: float(hits[c] / size[c]) if size[c] else math.nan for name, size in whole.items()
        }
        scores[str(label)] = {**parts, "support": int(true[c])}
    return scores


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
        # What is not declared gets a class of its own: scikit-learn knows no item without one here.
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
    # Two columns of words are still two dimensions: labels of an item are 0 and 1 there.
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
    # From levels that occur to declared ones; q is none of them.
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
    # The last row, for what is not declared, names no label.
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

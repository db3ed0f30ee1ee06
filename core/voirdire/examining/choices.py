"""Choices and labels against a key: accuracy, precision, recall, F1, and what chance reaches."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire._errors import TableError
from voirdire.examining._label_matrix import LabelMatrix, label_matrices
from voirdire.stats import (
    Estimate,
    best_constant_f1,
    classification_scores,
    kappa_f1,
    random_f1,
)
from voirdire.stats.agreement import wilson_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from voirdire.stats import Classification

__all__ = [
    "Accuracy",
    "Floor",
    "LabelMatrix",
    "LabelScore",
    "LabelScores",
    "chance_floor",
    "choice_accuracy",
    "label_matrices",
    "label_scores",
    "scores_against",
]


#: How questions are called that have no type where others have one.
_UNTYPED = "(no type)"


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How many questions of one type were answered right.

    Attributes
    ----------
    part : str
        The type; empty for all questions.
    answered : Estimate
        Share of right answers among the questions answered, with the Wilson interval; `left_out`
        counts the others.
    strict : Estimate
        The same with an unanswered question counted as wrong.
    """

    name: str
    part: str
    answered: Estimate
    strict: Estimate


def choice_accuracy(
    truth: LabelMatrix,
    given: LabelMatrix,
    parts: Mapping[str, str] | None = None,
    *,
    level: float = 0.95,
) -> tuple[Accuracy, ...]:
    """Accuracy overall and by type; right is an answer that names all right options and no other.

    Parameters
    ----------
    truth, given : LabelMatrix
        Options of each question, over the same items. Several options named where one is right are
        no answer (the question has one right choice, so the reply is ambiguous).
    parts : mapping of str to str, optional
        Item -> its type; items of an empty one stand together.
    level : float
        Nominal coverage of the Wilson interval.

    Raises
    ------
    TableError
        Other items or options; a question without a key.

    Examples
    --------
    >>> import polars as pl
    >>> rows = [(i, r, 1, letter, float(letter in said), "ok") for r, answers in
    ...         {"key": "AB", "model": "AA"}.items() for i, said in zip("12", answers)
    ...         for letter in "AB"]
    >>> names = ["item", "rater", "run", "attribute", "score", "status"]
    >>> frame = pl.DataFrame(rows, schema=names, orient="row")
    >>> key, model = (label_matrices(frame, name, "AB")[0] for name in ("key", "model"))
    >>> print(choice_accuracy(key, model)[0].answered)
    accuracy = 0.500, 95% CI [0.095, 0.905] (wilson), n = 2, k = 2
    """
    _check(truth, given)
    unkeyed = np.flatnonzero(~(truth.values == 1).any(axis=1))
    if len(unkeyed):
        raise TableError(f"question {truth.items[unkeyed[0]]!r} has no right choice in the key")
    several = (truth.values.sum(axis=1) == 1) & (given.values.sum(axis=1) > 1)
    answered = _complete(given.values) & ~several
    right = answered & (truth.values == given.values).all(axis=1)
    of = np.array(["" if parts is None else parts[item] or _UNTYPED for item in truth.items])
    every = np.ones(len(of), np.bool_)
    kinds = {"": every, **{kind: of == kind for kind in dict.fromkeys(of.tolist()) if kind}}
    return tuple(
        _accuracy(given.name, kind, right, answered, here, level) for kind, here in kinds.items()
    )


def _accuracy(
    name: str,
    part: str,
    right: NDArray[np.bool_],
    answered: NDArray[np.bool_],
    here: NDArray[np.bool_],
    level: float,
) -> Accuracy:
    hits, n, every = (int(x.sum()) for x in (right & here, answered & here, here))
    return Accuracy(
        name,
        part,
        _share("accuracy", hits, n, level, every - n),
        _share("accuracy, unanswered as wrong", hits, every, level),
    )


def _share(name: str, hits: int, n: int, level: float, left_out: int = 0) -> Estimate:
    value = hits / n if n else math.nan
    interval = wilson_interval(value, n, level)
    reason = None if n else "no_data"
    return Estimate(name, value, (interval,), n, 2, left_out, reason, details={"hits": hits})


@dataclass(frozen=True, slots=True)
class LabelScore:
    """One label: how often it is true and named, and the scores of naming it.

    `precision` and `recall` have Wilson intervals, `f1` the percentile interval over items. They
    are NaN with ``no_data`` where they are 0/0.
    """

    label: str
    true: int
    named: int
    precision: Estimate
    recall: Estimate
    f1: Estimate


@dataclass(frozen=True, slots=True)
class Floor:
    """What a predictor reaches that has read nothing.

    `chance` draws labels as often as they occur (`random_f1`); `constant` says the same of every
    item, and names `named`.
    """

    chance: Estimate
    constant: Estimate
    named: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LabelScores:
    """Labels of one rater against the key.

    Attributes
    ----------
    name : str
        The rater, with its run where there are several.
    scores : Classification
        Weighted and macro scores over items with labels; intervals are percentile ones.
    labels : tuple of LabelScore
    floor : Floor
    kappa : Estimate
        kappa_F1 above chance.
    beyond_constant : Estimate
        The same above the best constant predictor: 0 or less means that naming the same labels
        for every item does as well.
    """

    name: str
    scores: Classification
    labels: tuple[LabelScore, ...]
    floor: Floor
    kappa: Estimate
    beyond_constant: Estimate


def label_scores(
    truth: LabelMatrix,
    given: LabelMatrix,
    *,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> LabelScores:
    """Precision, recall and F1, weighted and of each label, beside chance and constant baselines.

    Parameters
    ----------
    truth, given : LabelMatrix
        Over the same items and labels. An item that either leaves open is left out and counted;
        the baselines are those of the items used.
    level, resamples, seed
        Of the intervals; 0 resamples leave the bootstrap out.

    Raises
    ------
    TableError
        Other items or labels.
    """
    _check(truth, given)
    options: dict[str, Any] = {"level": level, "n_resamples": max(resamples, 1), "seed": seed}
    ci = "percentile" if resamples else None
    scores = classification_scores(
        truth.values, given.values, labels=list(truth.labels), ci=ci, **options
    )
    used = _complete(truth.values) & _complete(given.values)
    floor = chance_floor(truth, used)
    labels = tuple(
        _label_score(label, truth.values[used, c], given.values[used, c], ci, options)
        for c, label in enumerate(truth.labels)
    )
    f1 = scores["f1_weighted"]
    return LabelScores(
        given.name,
        scores,
        labels,
        floor,
        kappa_f1(f1, floor.chance),
        kappa_f1(f1, floor.constant),
    )


def chance_floor(truth: LabelMatrix, used: NDArray[np.bool_] | None = None) -> Floor:
    """What chance and the best constant predictor reach on these labels.

    >>> import numpy as np
    >>> values = np.array([[1.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> statuses = ("ok",) * 4
    >>> key = LabelMatrix("key", "key", 1, tuple("1234"), ("a", "b"), values, statuses)
    >>> round(chance_floor(key).chance.value, 3), round(chance_floor(key).constant.value, 3)
    (0.75, 0.857)
    """
    known = _complete(truth.values) if used is None else used
    support = truth.values[known].sum(axis=0)
    n = int(known.sum())
    constant = best_constant_f1(support, n)
    named = tuple(truth.labels[c] for c in constant.details.get("named", ()))
    return Floor(random_f1(support, n), constant, named)


def _label_score(
    label: str,
    true: NDArray[np.float64],
    said: NDArray[np.float64],
    ci: str | None,
    options: Mapping[str, Any],
) -> LabelScore:
    hits, support, named = (int(x.sum()) for x in (true * said, true, said))
    level = options["level"]
    f1 = Estimate("F1", math.nan, n=len(true), k=2, reason="no_data")
    if support + named:
        column = (true[:, None], said[:, None])
        found = classification_scores(*column, ci=ci, **options)
        f1 = Estimate("F1", 2 * hits / (support + named), n=len(true), k=2)
        if ci and support:
            f1 = Estimate("F1", f1.value, found["f1_weighted"].intervals, len(true), 2)
    return LabelScore(
        label,
        support,
        named,
        _share("precision", hits, named, level),
        _share("recall", hits, support, level),
        f1,
    )


def _complete(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray(~np.isnan(values).any(axis=1), np.bool_)


def _check(truth: LabelMatrix, given: LabelMatrix) -> None:
    if truth.items != given.items or truth.labels != given.labels:
        raise TableError(
            f"{truth.name!r} and {given.name!r} must hold the same items and labels in one order"
        )


def scores_against(
    ratings: pl.DataFrame,
    key: str,
    raters: Sequence[str],
    labels: Sequence[str],
    *,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> tuple[LabelScores, ...]:
    """`label_scores` of several raters (and each of their runs) on the items of the key."""
    (truth,) = label_matrices(ratings, key, labels)[:1]
    return tuple(
        label_scores(truth, given, level=level, resamples=resamples, seed=seed)
        for rater in raters
        for given in label_matrices(ratings, rater, labels, truth.items)
    )

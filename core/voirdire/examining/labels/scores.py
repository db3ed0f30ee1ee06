"""Labels against a key: precision, recall and F1, what chance and a constant reach, kappa_F1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import TableError
from voirdire.stats import (
    Estimate,
    best_constant_f1,
    classification_scores,
    f1_above_chance,
    random_f1,
    simulate_random_f1,
    simulate_random_f1_sets,
)
from voirdire.stats.intervals import wilson_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from voirdire.examining.labels.matrix import LabelMatrix, Task
    from voirdire.stats import Classification

#: How questions are called that have no type where others have one.
_UNTYPED = "(no type)"


@dataclass(frozen=True, slots=True)
class Baselines:
    """What a predictor reaches that has read nothing.

    Attributes
    ----------
    chance : Estimate
        Weighted F1 of one that names labels as often as they occur (`random_f1`).
    constant : Estimate
        Of the best one that says the same of every item, which is `named`.
    named : tuple of str
    drawn : Estimate
        The exact mean of independent draws, which `simulated` estimates.
    simulated : Estimate or None
        Where draws were asked for.
    """

    chance: Estimate
    constant: Estimate
    named: tuple[str, ...]
    drawn: Estimate
    simulated: Estimate | None = None


@dataclass(frozen=True, slots=True)
class LabelScore:
    """One label: how often it is true and named, and the scores of naming it.

    `named` is the mean over runs. Of a single run `precision` and `recall` have Wilson intervals;
    of several, they are means over runs without an interval, for runs are no further items. `f1`
    has the percentile interval over items. NaN with ``no_data`` where they are 0/0.
    """

    label: str
    true: int
    named: float
    precision: Estimate
    recall: Estimate
    f1: Estimate


@dataclass(frozen=True, slots=True)
class LabelScores:
    """Labels of one rater against the key, over its runs (or the seeds of a trained model).

    Attributes
    ----------
    rater : str
    task : str
    runs : int
    keyed : int
        Items with a key.
    n : int
        Those of them that are known in a run or more: what all numbers are about.
    missing : int
        Replies of all runs, of items with a key, in which some label is missing.
    f1 : Estimate
        Weighted F1, the mean over runs; details hold ``sd`` over runs (n - 1) and ``by_seed``.
        Its interval is the percentile bootstrap over items, drawn once for all runs.
    kappa, beyond_constant : Estimate
        kappa_F1 above chance and above the best constant predictor: of the latter, 0 or less means
        that saying the same of every item does as well.
    baselines : Baselines
    labels : tuple of LabelScore
    by_run : tuple of Classification
        All scores of each run, without intervals.
    """

    rater: str
    task: Task
    runs: int
    keyed: int
    n: int
    missing: int
    f1: Estimate
    kappa: Estimate
    beyond_constant: Estimate
    baselines: Baselines
    labels: tuple[LabelScore, ...]
    by_run: tuple[Classification, ...]

    def mean(self, score: str) -> float:
        """The mean over runs of a score of `Classification`; NaN where no run has it."""
        return _mean([run[score].value for run in self.by_run])

    def sd(self, score: str) -> float:
        """Its standard deviation over runs (n - 1); NaN with fewer than two that have it."""
        defined = [v for v in (run[score].value for run in self.by_run) if not math.isnan(v)]
        return float(np.std(defined, ddof=1)) if len(defined) > 1 else math.nan


def label_scores(
    truth: LabelMatrix,
    given: LabelMatrix,
    *,
    task: Task = "multi-label",
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
    draws: int = 0,
) -> LabelScores:
    """Scores of one rater over all its runs, beside chance and constant baselines.

    Parameters
    ----------
    truth : LabelMatrix
        The key, of a single run.
    given : LabelMatrix
        Over the same items and labels, of any number of runs. An item whose key is open, and one
        that no run knows, are left out of everything, the baselines too.
    task : {"binary", "multi-class", "multi-label"}
        The first two: every item has one of the labels. It says which random and which constant
        predictor is meant.
    level, resamples, seed
        Of the intervals; 0 resamples leave the bootstrap out.
    draws : int
        Simulated random predictors; 0 leaves them out.

    Raises
    ------
    TableError
        Other items or labels, a key of several runs.
    StatisticsError
        An item has several true labels where the task allows one.

    References
    ----------
    Sharma et al., sections 5.2 and 5.3 (kappa_F1).

    Examples
    --------
    >>> from voirdire.examining.labels import matrix_of_names
    >>> key = matrix_of_names([["a"], ["a"], ["b"], ["b"]], ["a", "b"])
    >>> model = matrix_of_names([["a"], ["a"], ["b"], ["a"]], ["a", "b"], rater="model")
    >>> scores = label_scores(key, model, task="multi-class", resamples=0)
    >>> round(scores.f1.value, 3), round(scores.kappa.value, 3), scores.missing
    (0.733, 0.467, 0)
    """
    check_same(truth, given)
    keyed = truth.known[0]
    # Of several runs one is enough: the others are missing there, and say so.
    used = keyed & given.known.any(axis=0)
    key, predicted = truth.values[0][used], given.values[:, used]
    # A bootstrap that is left out still wants a positive number.
    options: dict[str, Any] = {"level": level, "n_resamples": max(resamples, 1), "seed": seed}
    above_chance = f1_above_chance(
        key,
        predicted,
        multilabel=task == "multi-label",
        ci="percentile" if resamples else None,
        **options,
    )
    by_run = tuple(_classified(key, run, given.labels, task) for run in predicted)
    return LabelScores(
        given.rater,
        task,
        len(given.runs),
        int(keyed.sum()),
        int(used.sum()),
        int(keyed.sum()) * len(given.runs) - int(given.known[:, keyed].sum()),
        above_chance.f1,
        above_chance.kappa,
        above_chance.kappa_constant,
        baselines(truth, used, task=task, draws=draws, seed=seed),
        tuple(
            _label_score(label, key[:, c], predicted, c, above_chance.labels[c], level)
            for c, label in enumerate(truth.labels)
        ),
        by_run,
    )


def baselines(
    truth: LabelMatrix,
    used: NDArray[np.bool_] | None = None,
    *,
    task: Task = "multi-label",
    draws: int = 0,
    seed: int = 0,
) -> Baselines:
    """What chance and the best constant predictor reach on a key.

    Parameters
    ----------
    used : (items,) bool, optional
        The items that count; by default those whose labels are known.

    Examples
    --------
    >>> from voirdire.examining.labels import matrix_of_values
    >>> key = matrix_of_values([[1, 1], [1, 0], [1, 1], [0, 1]], ["a", "b"])
    >>> baseline = baselines(key)
    >>> round(baseline.chance.value, 3), round(baseline.constant.value, 3), baseline.named
    (0.75, 0.857, ('a', 'b'))
    """
    key = truth.values[0][truth.known[0] if used is None else used]
    support = key.sum(axis=0).astype(np.int64)
    # Of labels that exclude one another the supports add up to the items, and say how many there
    # are.
    n = len(key) if task == "multi-label" else None
    constant = best_constant_f1(support, n)
    simulated = None
    if draws:
        simulated = (
            simulate_random_f1_sets(key, runs=draws, seed=seed)
            if task == "multi-label"
            else simulate_random_f1(support, runs=draws, seed=seed)
        )
    return Baselines(
        random_f1(support, n),
        constant,
        tuple(truth.labels[c] for c in constant.details.get("named", ())),
        random_f1(support, n, draws="independent"),
        simulated,
    )


def _classified(
    key: NDArray[np.float64], predicted: NDArray[np.float64], labels: Sequence[str], task: Task
) -> Classification:
    """All scores of one run; where each item has one label, by classes, so that MCC is defined."""
    present = ~np.isnan(predicted).any(axis=1)
    # A prediction of no class, or of two, has no place in a confusion matrix of classes.
    if task == "multi-label" or (predicted[present].sum(axis=1) != 1).any():
        return classification_scores(key, predicted, labels=list(labels))
    names = np.asarray([*labels, None], dtype=object)
    # The place behind the labels holds None, which the scores count as missing.
    code = np.where(present, np.nan_to_num(predicted).argmax(axis=1), len(labels))
    return classification_scores(names[key.argmax(axis=1)], names[code], labels=list(labels))


def _label_score(
    label: str,
    true: NDArray[np.float64],
    predicted: NDArray[np.float64],
    place: int,
    f1: Estimate,
    level: float,
) -> LabelScore:
    counts = []
    for run in predicted:
        present = ~np.isnan(run).any(axis=1)
        named, real = run[present, place], true[present]
        counts.append((int((named * real).sum()), int(named.sum()), int(real.sum())))
    return LabelScore(
        label,
        int(true.sum()),
        float(np.mean([named for _, named, _ in counts])),
        _shares("precision", [(hits, named) for hits, named, _ in counts], level),
        _shares("recall", [(hits, real) for hits, _, real in counts], level),
        f1,
    )


def _shares(name: str, counts: Sequence[tuple[int, int]], level: float) -> Estimate:
    """A share of one run with its Wilson interval; of several the mean over runs."""
    if len(counts) == 1:
        return _share(name, *counts[0], level)
    values = [hits / n if n else math.nan for hits, n in counts]
    value = _mean(values)
    n = max(n for _, n in counts)
    reason = "no_data" if math.isnan(value) else None
    return Estimate(name, value, (), n, len(counts), 0, reason, details={"by_seed": values})


def _share(name: str, hits: int, n: int, level: float, left_out: int = 0) -> Estimate:
    value = hits / n if n else math.nan
    interval = wilson_interval(value, n, level)
    reason = None if n else "no_data"
    return Estimate(name, value, (interval,), n, 2, left_out, reason, details={"hits": hits})


def _mean(values: Sequence[float]) -> float:
    defined = [value for value in values if not math.isnan(value)]
    return float(np.mean(defined)) if defined else math.nan


def check_same(truth: LabelMatrix, given: LabelMatrix) -> None:
    """Raise `TableError` unless a key of one run and labels fit together."""
    if truth.items != given.items or truth.labels != given.labels:
        raise TableError(
            f"{truth.rater!r} and {given.rater!r} must hold the same items and labels in one order"
        )
    if len(truth.runs) != 1:
        raise TableError(
            f"a key holds one answer an item, and {truth.rater!r} has {len(truth.runs)} runs: "
            "choose one by each_run(), or settle them by final_labels"
        )


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How many questions of one type were answered right, in one run.

    Attributes
    ----------
    name : str
        The rater, with its run where there are several.
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
    """Accuracy overall and by type, run by run; right is all right options and no other.

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
    >>> from voirdire.examining.labels import matrix_of_names
    >>> key, model = (matrix_of_names(names, "AB") for names in ("AB", "AA"))
    >>> print(choice_accuracy(key, model)[0].answered)
    accuracy = 0.500, 95% CI [0.095, 0.905] (wilson), n = 2, k = 2
    """
    check_same(truth, given)
    key = truth.values[0]
    unkeyed = np.flatnonzero(~(key == 1).any(axis=1))
    if len(unkeyed):
        raise TableError(f"question {truth.items[unkeyed[0]]!r} has no right choice in the key")
    of = np.array(["" if parts is None else parts[item] or _UNTYPED for item in truth.items])
    every = np.ones(len(of), np.bool_)
    kinds = {"": every, **{kind: of == kind for kind in dict.fromkeys(of.tolist()) if kind}}
    accuracies = []
    for place, chosen in enumerate(given.values):
        # Two options where one is right is no answer: counting it as half right would invent one.
        several = (key.sum(axis=1) == 1) & (chosen.sum(axis=1) > 1)
        answered = given.known[place] & ~several
        right = answered & (key == chosen).all(axis=1)
        accuracies += [
            _accuracy(given.name(place), kind, right & here, answered & here, here, level)
            for kind, here in kinds.items()
        ]
    return tuple(accuracies)


def _accuracy(
    name: str,
    part: str,
    right: NDArray[np.bool_],
    answered: NDArray[np.bool_],
    here: NDArray[np.bool_],
    level: float,
) -> Accuracy:
    hits, n, every = (int(x.sum()) for x in (right, answered, here))
    return Accuracy(
        name,
        part,
        _share("accuracy", hits, n, level, every - n),
        _share("accuracy, unanswered as wrong", hits, every, level),
    )

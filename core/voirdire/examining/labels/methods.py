"""Methods that label the same items beside one another: scores by task, and who was right.

A method is a rater that answers yes or no to one label or several: a model asked in one way, a
questionnaire with a threshold, a fine-tuned encoder. What it was asked is its task.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire.errors import InputError, not_one_of
from voirdire.examining.differing import MethodPair, majority_answers
from voirdire.examining.labels.matrix import matrices_against
from voirdire.examining.labels.scores import label_scores
from voirdire.stats import fleiss_kappa, joint_agreement
from voirdire.tabular import Marked, Section, Spread, Table, count, interval, number, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.examining.labels.scores import LabelScores
    from voirdire.study import Rater
    from voirdire.tabular import Cell

#: The task of a method that was asked about several labels at once.
SEVERAL = "several"
#: What kind of method a trained classifier is, where others are asked.
TRAINED = "fine-tuned"
#: Heading -> score over all classes, as `voirdire.stats.Classification` names it.
_OVERALL = {
    "Acc": "accuracy", "Precision": "precision_weighted", "Recall": "recall_weighted",
    "F1": "f1_weighted", "macro-F1": "f1_macro",
}  # fmt: skip
_CAPTION = (
    "Mean ± standard deviation over runs, against the gold labels; precision, recall and F1 are "
    "weighted by support. Answers are of items times runs; those that cannot be read are left out "
    "and counted as missing. Behind a mean of fewer runs stands in how many it is defined."
)
_PARTS = (
    " The parts are each label's F1 times its share of all positive labels: they add up to F1 and "
    "are no F1 scores themselves, which are shown with them."
)


@dataclass(frozen=True, slots=True)
class Method:
    """Scores of one rater on what it was asked.

    Attributes
    ----------
    task : str
        The label that it was asked about, or `SEVERAL`.
    scores : LabelScores
        Of a single label, over two classes: it does not hold (`absent`), or it does.
    """

    task: str
    scores: LabelScores

    @property
    def rater(self) -> str:
        """Its name."""
        return self.scores.rater

    @property
    def answers(self) -> int:
        """Answers that are scored, over all runs."""
        return sum(run["accuracy"].n for run in self.scores.by_run)

    @property
    def missing(self) -> int:
        """Answers that are not there or cannot be read, over all runs."""
        return self.scores.keyed * self.scores.runs - self.answers

    def by_run(self, score: str, label: str = "") -> list[float]:
        """A score in every run, over all classes or of one label; NaN where it is undefined.

        ``f1_part`` is a label's F1 times its share of all positive labels.
        """
        runs = self.scores.by_run
        if not label:
            return [run[score].value for run in runs]
        if score != "f1_part":
            return [run.labels[label][score] for run in runs]
        rows = []
        for run in runs:
            support = sum(parts["support"] for parts in run.labels.values())
            f1 = run.labels[label]["f1"]
            share = run.labels[label]["support"] / support if support else math.nan
            rows.append((0.0 if math.isnan(f1) else f1) * share)
        return rows

    def mean(self, score: str, label: str = "") -> float:
        """The mean over the runs in which the score is defined; NaN where it is in none."""
        values = [value for value in self.by_run(score, label) if not math.isnan(value)]
        return float(np.mean(values)) if values else math.nan

    def cell(self, score: str, label: str = "") -> Cell:
        """Mean and deviation over runs, marked by their number where some are undefined."""
        values = [value for value in self.by_run(score, label) if not math.isnan(value)]
        if not values:
            return None
        sd = float(np.std(values, ddof=1)) if len(values) > 1 else None
        spread = Spread(float(np.mean(values)), sd)
        return spread if len(values) == self.scores.runs else Marked(spread, f" ({len(values)})")


def methods_of(
    ratings: pl.DataFrame, gold: str, labels: Sequence[str], absent: str = "absent"
) -> tuple[Method, ...]:
    """Scores of every rater of some labels, each on the labels that it gives.

    Items without a prediction are left out of the scores and counted: compare methods whose counts
    differ with care. A task needs the gold labels of its own labels alone.

    Parameters
    ----------
    ratings : pl.DataFrame
        Tidy ratings, a label being an attribute scored 0 or 1.
    gold : str
        The rater that holds the gold labels (of several runs the first counts).
    labels : sequence of str
    absent : str
        What the class of items without a single label is called.
    """
    own = ratings.filter(pl.col("attribute").cast(pl.String).is_in(list(labels)))
    asked: dict[str, set[str]] = {}
    pairs = own.select(pl.col("rater", "attribute").cast(pl.String)).unique(maintain_order=True)
    for rater, label in pairs.iter_rows():
        asked.setdefault(rater, set()).add(label)
    if gold not in asked:
        return ()
    return tuple(
        _method(own, gold, rater, [label for label in labels if label in rated], absent)
        for rater, rated in asked.items()
        if rater != gold
    )


def _method(
    ratings: pl.DataFrame, gold: str, rater: str, labels: Sequence[str], absent: str
) -> Method:
    own = ratings.filter(pl.col("attribute").cast(pl.String).is_in(list(labels)))
    truth, (given,) = matrices_against(own, gold, [rater], labels)
    if len(labels) > 1:
        return Method(SEVERAL, label_scores(truth, given, resamples=0))
    two = truth.two_classes(absent), given.two_classes(absent)
    return Method(labels[0], label_scores(*two, task="binary", resamples=0))


def best_method(methods: Sequence[Method], score: str = "f1_weighted") -> Method | None:
    """The method with the highest mean; of equal ones the first, None where none is defined."""
    scored = [one for one in methods if not math.isnan(one.mean(score))]
    return max(scored, key=lambda one: one.mean(score), default=None)


def pairs_to_compare(
    panel: Sequence[Rater],
    methods: Sequence[Method],
    kinds: Mapping[str, str],
    named: Sequence[tuple[str, str]] = (),
) -> list[MethodPair]:
    """The pairs of each task whose differences are shown.

    Those `named`, where both were asked that task; without any the best method against the next
    best, one model asked in two ways, and the best of the asked against the best of the trained.

    Raises
    ------
    InputError
        A name is no method's, or a pair has no task in common.
    """
    if named:
        return _named_pairs(methods, named)
    pairs = []
    for task in dict.fromkeys(one.task for one in methods):
        here = {one.rater: one for one in methods if one.task == task}
        raters = [rater for rater in panel if rater.name in here]
        same = [
            (a.name, b.name)
            for a, b in combinations(raters, 2)
            if a.model and (a.model, a.use) == (b.model, b.use) and kinds[a.name] != kinds[b.name]
        ]
        trained = [here[r.name] for r in raters if kinds[r.name] == TRAINED]
        asked = [here[r.name] for r in raters if kinds[r.name] != TRAINED]
        # The two ways of making a method, each at its best.
        ways = (best_method(asked), best_method(trained))
        first = best_method([*here.values()])
        others = [one for one in here.values() if one is not first]
        for one, other in ((first, best_method(others)), ways):
            if one and other:
                same.append((one.rater, other.rater))
        # Either order is the same pair.
        once = {frozenset(pair): pair for pair in reversed(same)}
        chosen = [pair for pair in same if once[frozenset(pair)] is pair]
        labels = _labels_of(next(iter(here.values())))
        pairs += [MethodPair(label, *pair) for label in labels for pair in chosen]
    return pairs


def _named_pairs(methods: Sequence[Method], named: Sequence[tuple[str, str]]) -> list[MethodPair]:
    of = {one.rater: one for one in methods}
    pairs = []
    for first, second in named:
        for name in (first, second):
            if name not in of:
                raise not_one_of("method", name, of, "analysis.compare", InputError)
        shared = [label for label in _labels_of(of[first]) if label in _labels_of(of[second])]
        if not shared:
            raise InputError(
                f"analysis.compare: {first!r} and {second!r} were asked about no label in common"
            )
        pairs += [MethodPair(label, first, second) for label in shared]
    return pairs


def _labels_of(method: Method) -> list[str]:
    """The labels that a method was asked about."""
    if method.task != SEVERAL:
        return [method.task]
    return [one.label for one in method.scores.labels]


def method_sections(
    methods: Sequence[Method],
    kinds: Mapping[str, str],
    titles: Mapping[str, Sequence[str]] | None = None,
) -> list[Section]:
    """The methods of each task side by side: over all classes, and by class or label.

    The last row is the lead of the best method over the best of the other kind (trained against
    asked), or over the second.

    Parameters
    ----------
    methods : sequence of Method
        In the order of the rows.
    kinds : mapping of str to str
        How each rater was made; `TRAINED` is what was trained.
    titles : mapping, optional
        Task -> what stands behind the titles of its sections, such as ``("as Table 3", ...)``.
    """
    sections = []
    for task in dict.fromkeys(one.task for one in methods if one.task != SEVERAL):
        here = [one for one in methods if one.task == task]
        absent, label = (one.label for one in here[0].scores.labels)
        first, second = _behind(titles, task, 2)
        sections += [
            replace(
                _section(f"{label.capitalize()} against {absent}{first}", here, kinds, _columns()),
                leading=True,
            ),
            _section(
                f"{label.capitalize()} and {absent}, each class{second}",
                here,
                kinds,
                _columns_by((label, absent)),
            ),
        ]
    several = [one for one in methods if one.task == SEVERAL]
    if several:
        names = [label.label for label in several[0].scores.labels]
        title = f"{'Both' if len(names) == 2 else 'All'} labels{_behind(titles, SEVERAL, 1)[0]}"
        whole = _section(title, several, kinds, _columns_of_several(names), _PARTS)
        sections.append(replace(whole, leading=True))
    return sections


def agreement_of_methods(
    ratings: pl.DataFrame, gold: str, labels: Sequence[str], kinds: Mapping[str, str]
) -> Section:
    """How far the methods agree with one another, all of them and by kind."""
    answers = majority_answers(ratings, labels).filter(pl.col("rater") != gold)
    rows = []
    for label in labels:
        own = answers.filter(pl.col("attribute") == label)
        asked = own["rater"].unique(maintain_order=True).to_list()
        groups = {"all methods": asked}
        for rater in asked:
            groups.setdefault(kinds.get(rater, ""), []).append(rater)
        for kind, raters in groups.items():
            # One method agrees with nobody; a kind that holds all methods is the row above.
            if len(raters) < 2 or (kind != "all methods" and len(raters) == len(asked)):
                continue
            wide = own.filter(pl.col("rater").is_in(raters)).pivot(
                on="rater", index="item", values="score"
            )
            matrix = wide.select(pl.col(raters).cast(pl.Float64)).to_numpy()
            estimate = joint_agreement(matrix, levels=[0, 1], ci="percentile")
            kappa = fleiss_kappa(matrix, levels=[0, 1]).value
            rows.append(
                (label, kind, len(raters), estimate.value, estimate.interval(), kappa, estimate.n)
            )
    columns = (
        text("Label"), text("Methods"), count("Number"), number("Agreement"),
        interval("Interval"), number("Fleiss' kappa"), count("Items"),
    )  # fmt: skip
    return Section(
        "Agreement of the methods with one another",
        "Over the majority of each method's runs. Methods that agree may be wrong together.",
        (Table(columns, tuple(rows)),),
    )


_Columns = dict[str, tuple[str, str]]


def _behind(titles: Mapping[str, Sequence[str]] | None, task: str, most: int) -> list[str]:
    given = [*(titles or {}).get(task, ())]
    return [f" ({one})" if one else "" for one in [*given, *[""] * most][:most]]


def _columns() -> _Columns:
    return {head: (score, "") for head, score in _OVERALL.items()}


def _columns_by(classes: Sequence[str]) -> _Columns:
    return {
        f"{score.capitalize()} of {name}": (score, name)
        for name in classes
        for score in ("precision", "recall", "f1")
    }


def _columns_of_several(labels: Sequence[str]) -> _Columns:
    overall = {head: column for head, column in _columns().items() if head != "Acc"}
    return {
        "Hamming loss": ("hamming_loss", ""),
        **overall,
        **{f"{label.capitalize()}'s part of F1": ("f1_part", label) for label in labels},
        **{f"F1 of {label}": ("f1", label) for label in labels},
    }


def _section(
    title: str,
    methods: Sequence[Method],
    kinds: Mapping[str, str],
    columns: _Columns,
    more: str = "",
) -> Section:
    rows: list[tuple[Cell, ...]] = [
        (
            one.rater,
            kinds.get(one.rater, ""),
            *(one.cell(*column) for column in columns.values()),
            one.scores.runs,
            one.answers,
            one.missing,
        )
        for one in methods
    ]
    heads = (text("Method"), text("Type"), *map(number, columns))
    counts = map(count, ("Runs", "Answers", "Missing"))
    table = Table((*heads, *counts), (*rows, *_lead(methods, kinds, columns)))
    return Section(title, _CAPTION + more, (table,))


def _lead(
    methods: Sequence[Method], kinds: Mapping[str, str], columns: _Columns
) -> list[tuple[Cell, ...]]:
    first = best_method(methods)
    if first is None:
        return []
    trained = [one for one in methods if kinds.get(one.rater) == TRAINED]
    asked = [one for one in methods if one not in trained]
    rivals = [one for one in methods if one is not first]
    if trained and asked:
        rivals = asked if first in trained else trained
    second = best_method(rivals)
    if second is None:
        return []
    gaps = [first.mean(*column) - second.mean(*column) for column in columns.values()]
    cells = [None if math.isnan(gap) else gap for gap in gaps]
    return [(f"{first.rater} − {second.rater}", "best − best other", *cells, None, None, None)]

"""Scores of every method on every task, run by run, then mean and deviation over runs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from voirdire.examining.labels import label_scores, matrix_of_ratings
from voirdire_plugins.angst.labels import LABELS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from voirdire.examining.labels import LabelMatrix
    from voirdire.stats import Classification

CONTROL = "control"
#: Scores over all classes, as the paper's tables have them.
OVERALL = ("accuracy", "precision_weighted", "recall_weighted", "f1_weighted", "f1_macro")
_BY_RUN = {
    "task": pl.String, "rater": pl.String, "run": pl.Int64, "label": pl.String, "score": pl.String,
    "value": pl.Float64, "n": pl.Int64, "missing": pl.Int64,
}  # fmt: skip


def scores_by_run(ratings: pl.DataFrame, gold: str) -> pl.DataFrame:
    """Every score of every rater and run against the rater `gold`.

    A rater that gives one label has that binary task; one that gives both has the task
    ``comorbidity``. Items without a prediction are left out of the scores and counted
    (``missing``): compare methods whose counts differ with care.

    Parameters
    ----------
    ratings : pl.DataFrame
        Tidy ratings of ``depression`` and ``anxiety``.
    gold : str
        The rater that holds the gold labels.

    Returns
    -------
    pl.DataFrame
        ``task, rater, run, label, score, value, n, missing``. `label` is empty for scores over all
        classes, else ``depression``, ``anxiety`` or (binary) ``control``. Of ``comorbidity`` the
        score ``f1_part`` is the label's support-weighted part: the parts add up to
        ``f1_weighted``. Undefined is null.
    """
    labelled = ratings.filter(pl.col("attribute").cast(pl.String).is_in(LABELS))
    asked = _asked(labelled)
    rows = [
        row
        for rater, labels in asked.items()
        if rater != gold and gold in asked
        for row in _rows(*_matrices(labelled, gold, rater, labels))
    ]
    return pl.DataFrame(rows, schema=_BY_RUN, orient="row").with_columns(
        pl.col("value").fill_nan(None)
    )


def _asked(ratings: pl.DataFrame) -> dict[str, tuple[str, ...]]:
    """The labels that each rater was asked about."""
    found: dict[str, set[str]] = {}
    pairs = ratings.select(pl.col("rater", "attribute").cast(pl.String)).unique(maintain_order=True)
    for rater, label in pairs.iter_rows():
        found.setdefault(rater, set()).add(label)
    return {rater: tuple(x for x in LABELS if x in known) for rater, known in found.items()}


def _matrices(
    ratings: pl.DataFrame, gold: str, rater: str, labels: tuple[str, ...]
) -> tuple[LabelMatrix, LabelMatrix]:
    """The gold labels of a task (of several runs the first), and what a rater said of the items."""
    own = ratings.filter(pl.col("attribute").cast(pl.String).is_in(labels))
    truth = matrix_of_ratings(own, gold, labels).each_run()[0]
    given = matrix_of_ratings(own, rater, labels, items=truth.items)
    if len(labels) == 1:
        return truth.two_classes(CONTROL), given.two_classes(CONTROL)
    return truth, given


def _rows(truth: LabelMatrix, given: LabelMatrix) -> Iterator[tuple[object, ...]]:
    both = CONTROL not in truth.labels
    task = "comorbidity" if both else truth.labels[1]
    found = label_scores(truth, given, task="multi-label" if both else "binary", resamples=0)
    names = (*OVERALL, "hamming_loss") if both else OVERALL
    for run, scores in zip(given.runs, found.by_run, strict=True):
        n = scores["accuracy"].n
        of_all = [("", name, scores[name].value) for name in names]
        by_label = _parts(scores) if both else _classes(scores, task)
        for label, score, value in [*of_all, *by_label]:
            yield task, given.rater, run, label, score, value, n, found.keyed - n


def _classes(found: Classification, task: str) -> Iterator[tuple[str, str, float]]:
    for label in (task, CONTROL):
        for score in ("precision", "recall", "f1"):
            yield label, score, found.labels[label][score]


def _parts(found: Classification) -> Iterator[tuple[str, str, float]]:
    """F1 of each label, and its support-weighted part of the whole."""
    support = sum(parts["support"] for parts in found.labels.values())
    for label, parts in found.labels.items():
        yield label, "f1", parts["f1"]
        f1 = 0.0 if math.isnan(parts["f1"]) else parts["f1"]
        yield label, "f1_part", f1 * parts["support"] / support if support else math.nan


def summarise(by_run: pl.DataFrame) -> pl.DataFrame:
    """Mean and standard deviation over runs (n - 1; null for a single run).

    Returns
    -------
    pl.DataFrame
        ``task, rater, label, score, mean, sd, runs, n, missing``; `n` and `missing` are sums over
        runs. Runs whose value is undefined are not in the mean: ``runs`` counts those that are.
    """
    keys = ["task", "rater", "label", "score"]
    return by_run.group_by(keys, maintain_order=True).agg(
        pl.col("value").mean().alias("mean"),
        pl.col("value").std().alias("sd"),
        pl.col("value").count().alias("runs"),
        pl.col("n").sum(),
        pl.col("missing").sum(),
    )


def best(summary: pl.DataFrame, task: str, raters: Sequence[str], by: str = "f1_weighted") -> str:
    """The rater with the highest mean score of a task; empty where there is none."""
    found = summary.filter(
        (pl.col("task") == task)
        & (pl.col("score") == by)
        & (pl.col("label") == "")
        & pl.col("rater").is_in(list(raters))
    ).drop_nulls("mean")
    return (
        ""
        if found.is_empty()
        else str(found.sort("mean", descending=True, maintain_order=True)["rater"][0])
    )

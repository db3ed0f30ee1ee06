"""Scores of every method on every task, run by run, then mean and deviation over runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire.stats import classification_scores
from voirdire_plugins.angst.labels import LABELS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from voirdire.stats import Classification

#: Scores over all classes, as the paper's tables have them.
OVERALL = ("accuracy", "precision_weighted", "recall_weighted", "f1_weighted", "f1_macro")
_BY_RUN = {
    "task": pl.String, "rater": pl.String, "run": pl.Int64, "label": pl.String, "score": pl.String,
    "value": pl.Float64, "n": pl.Int64, "missing": pl.Int64,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Predictions:
    """What one rater predicted in one run, beside the gold labels: 0, 1 or NaN, (items, labels)."""

    task: str
    rater: str
    run: int
    labels: tuple[str, ...]
    truth: np.ndarray
    predicted: np.ndarray


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
    rows = [row for one in predictions(ratings, gold) for row in _rows(one)]
    return pl.DataFrame(rows, schema=_BY_RUN, orient="row").with_columns(
        pl.col("value").fill_nan(None)
    )


def predictions(ratings: pl.DataFrame, gold: str) -> Iterator[Predictions]:
    """The predictions of each rater and run over the items with the gold labels of its task."""
    labelled = ratings.filter(pl.col("attribute").cast(pl.String).is_in(LABELS))
    truth = wide(labelled.filter(pl.col("rater") == gold))
    others = labelled.filter(pl.col("rater") != gold)
    groups = others.group_by(["rater", "run"], maintain_order=True)
    asked = {
        rater: set(part["attribute"].cast(pl.String)) for (rater,), part in others.group_by("rater")
    }
    for (rater, run), part in groups:
        labels = tuple(label for label in LABELS if label in asked[rater])
        known = truth.drop_nulls(labels)
        found = known.join(wide(part), on="item", how="left", suffix=" said", maintain_order="left")
        said = [f"{label} said" for label in labels]
        yield Predictions(
            labels[0] if len(labels) == 1 else "comorbidity",
            str(rater),
            int(run) if isinstance(run, int) else 1,
            labels,
            found.select(labels).to_numpy().astype(np.float64),
            found.select(said).cast(pl.Float64).to_numpy(),
        )


def wide(ratings: pl.DataFrame) -> pl.DataFrame:
    """One row an item with ``depression`` and ``anxiety``; of several runs the first."""
    name = pl.col("attribute").cast(pl.String)
    return ratings.group_by("item", maintain_order=True).agg(
        pl.col("score").filter(name == label).first().alias(label) for label in LABELS
    )


def _rows(one: Predictions) -> Iterator[tuple[object, ...]]:
    both = len(one.labels) > 1
    truth, said = (one.truth, one.predicted) if both else (one.truth[:, 0], one.predicted[:, 0])
    found = classification_scores(truth, said, labels=list(one.labels) if both else [0.0, 1.0])
    n, missing = found["accuracy"].n, found["accuracy"].left_out
    names = (*OVERALL, "hamming_loss") if both else OVERALL
    of_all = [("", name, found[name].value) for name in names]
    for label, score, value in [*of_all, *_by_label(one, found)]:
        yield one.task, one.rater, one.run, label, score, value, n, missing


def _by_label(one: Predictions, found: Classification) -> Iterator[tuple[str, str, float]]:
    if len(one.labels) == 1:
        for key, label in (("1.0", one.labels[0]), ("0.0", "control")):
            for score in ("precision", "recall", "f1"):
                yield label, score, found.labels[key][score]
        return
    support = sum(found.labels[label]["support"] for label in one.labels)
    for label in one.labels:
        parts = found.labels[label]
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

"""Any classifier on a data set: fitted on train, stopped on dev, predictions on test kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire import InputError
from voirdire.examining.labels import decide
from voirdire.protocols import Trainable
from voirdire_plugins.distortions.datasets import task_labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from voirdire.protocols import Classifier
    from voirdire_plugins.distortions.datasets import DataSet, LabelSetName, Task


def evaluate(
    classifiers: Sequence[Classifier],
    data: DataSet,
    labels: LabelSetName,
    task: Task,
    *,
    name: str = "",
) -> pl.DataFrame:
    """Fit each classifier (one a seed) on the training part and predict the test part.

    Parameters
    ----------
    classifiers : sequence of Classifier
        Fresh ones, one a seed; they are known by the protocol alone. One that is `Trainable` is
        given the development part to stop on.
    labels, task
        See `task_labels`.
    name : str
        Put before the configuration's name.

    Returns
    -------
    polars.DataFrame
        ``configuration, labels, task, seed, item, label, truth, predicted``: what
        `voirdire labels` takes. A prediction that is NaN stays missing.

    Raises
    ------
    InputError
        A classifier's scores have another shape than (items, labels).
    """
    matrix, classes = task_labels(data, labels, task)
    at = {part: (data.frame["part"] == part).to_numpy() for part in ("train", "dev", "test")}
    texts = {part: data.frame.filter(rows)["text"].to_list() for part, rows in at.items()}
    known, held = ((texts[part], matrix[at[part]]) for part in ("train", "dev"))
    items, truth = data.frame.filter(at["test"])["item"], matrix[at["test"]]
    parts = []
    for seed, classifier in enumerate(classifiers):
        if isinstance(classifier, Trainable) and held[0]:
            fitted: Classifier = classifier.fit(*known, validation=held)
        else:
            fitted = classifier.fit(*known)
        scores = np.asarray(fitted.predict(texts["test"]), np.float64)
        if scores.shape != truth.shape:
            raise InputError(
                f"classifier {seed} gave scores of shape {scores.shape}, not {truth.shape}"
            )
        parts.append(_rows(seed, items, classes, truth, decide(scores, task)))
    where = (
        pl.lit(f"{name} {data.configuration}".strip()).alias("configuration"),
        pl.lit(labels).alias("labels"),
        pl.lit(task).alias("task"),
    )
    return pl.concat(parts).select(*where, pl.all())


def _rows(
    seed: int,
    items: pl.Series,
    classes: tuple[str, ...],
    truth: NDArray[np.int8],
    predicted: NDArray[np.float64],
) -> pl.DataFrame:
    n, q = truth.shape
    return pl.DataFrame(
        {
            "seed": np.full(n * q, seed),
            "item": items.gather(np.repeat(np.arange(n), q)),
            "label": pl.Series(classes).gather(np.tile(np.arange(q), n)),
            "truth": truth.ravel(),
            "predicted": pl.Series(predicted.ravel()).fill_nan(None).cast(pl.Int8),
        }
    )

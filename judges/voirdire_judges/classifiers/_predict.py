"""Predictions of trained cells for texts of a user's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire._errors import InputError, SessionError, TableError
from voirdire._manager import plugins as loaded_plugins
from voirdire.protocols import Trainable
from voirdire.tables import read_raw
from voirdire_judges.classifiers._cells import MODEL, RESULT
from voirdire_judges.classifiers._decide import decide
from voirdire_judges.classifiers._evaluate import finished_cells
from voirdire_judges.classifiers._targets import Target
from voirdire_judges.classifiers._train import make_classifier

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire._registry import Plugins
    from voirdire_judges.classifiers._cells import Cell


def predict_texts(
    out: str | Path,
    items: Sequence[str],
    texts: Sequence[str],
    *,
    only: str = "",
    machine: Mapping[str, Any] | None = None,
    plugins: Plugins | None = None,
) -> pl.DataFrame:
    """What every trained model of a grid says of texts.

    Returns
    -------
    polars.DataFrame
        ``model, data, labels, task, seed, item, label, predicted, score``; a blank text has null
        in both.

    Raises
    ------
    SessionError
        There is no finished cell of that name.
    InputError
        A cell's model was not kept, or cannot be.
    """
    known = plugins or loaded_plugins()
    cells = [
        (cell, folder)
        for cell, folder in finished_cells(Path(out))
        if all(word in cell.name for word in only.split())
    ]
    if not cells:
        raise SessionError(f"{out}: holds no finished cell with {only!r} in its name")
    return pl.concat(
        [_of_cell(cell, folder, items, texts, machine or {}, known) for cell, folder in cells]
    )


def read_texts(path: str | Path, item: str, text: str) -> tuple[list[str], list[str]]:
    """Ids and texts of a file; a blank text is empty."""
    frame = read_raw(path).frame
    for column in (item, text):
        if column not in frame.columns:
            raise TableError(f"{path}: no column {column!r} (columns: {frame.columns})")
    ids, words = (frame[name].cast(pl.String).fill_null("").to_list() for name in (item, text))
    return ids, [one.strip() for one in words]


def _of_cell(
    cell: Cell,
    folder: Path,
    items: Sequence[str],
    texts: Sequence[str],
    machine: Mapping[str, Any],
    known: Plugins,
) -> pl.DataFrame:
    result = json.loads((folder / RESULT).read_text(encoding="utf-8"))
    if not (folder / MODEL).exists():
        raise InputError(
            f"{cell.name}: its model was not kept (classify.keep_models = false, or a classifier "
            "that cannot be saved)"
        )
    classes = tuple(result["classes"])
    none = np.empty((0, len(classes)))
    target = Target(cell.task, classes, none, np.array([], dtype=np.str_))
    made = make_classifier(known.resolve("classifier", cell.use), cell, target, machine)
    if not isinstance(made, Trainable):
        raise InputError(f"{cell.name}: classifier {cell.use!r} cannot be loaded")
    scores = made.load(folder / MODEL).predict(texts)
    predicted = decide(scores, cell.task, np.array(result["thresholds"]))
    where = {"model": cell.model, "data": cell.data, "labels": cell.label_set, "task": cell.task,
             "seed": cell.seed}  # fmt: skip
    return pl.DataFrame(
        {
            "item": np.repeat(np.asarray(items, dtype=np.str_), len(classes)),
            "label": list(classes) * len(items),
            "predicted": pl.Series(predicted.ravel()).fill_nan(None).cast(pl.Int8),
            "score": pl.Series(scores.ravel()).fill_nan(None),
        }
    ).select(*(pl.lit(value).alias(name) for name, value in where.items()), pl.all())

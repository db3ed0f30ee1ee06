"""Predictions of trained cells for texts of a user's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire import plugins as loaded_plugins
from voirdire.errors import InputError, SessionError
from voirdire.examining.labels import decide, matrix_of_values
from voirdire.protocols import Trainable
from voirdire_judges.classifiers._cells import MODEL, RESULT, read_json
from voirdire_judges.classifiers._checked import scores_of
from voirdire_judges.classifiers._evaluate import finished_cells
from voirdire_judges.classifiers._labels import Target
from voirdire_judges.classifiers._table import read_items
from voirdire_judges.classifiers._train import cuts, make_classifier

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire import Plugins
    from voirdire.protocols import Classifier
    from voirdire_judges.classifiers._cells import Cell


def predict_texts(
    out: str | Path,
    items: Sequence[str],
    texts: Sequence[str],
    *,
    only: str = "",
    machine: Mapping[str, Any] | None = None,
    plugins: Plugins | None = None,
) -> tuple[pl.DataFrame, list[str]]:
    """What every trained model of a grid says of texts.

    Returns
    -------
    polars.DataFrame
        ``model, data, labels, task, seed, item, label, predicted, score``; a blank text has null
        in both.
    list of str
        Which models did not read some texts whole.

    Raises
    ------
    SessionError
        There is no finished cell of that name.
    InputError
        A cell's model was not kept, or cannot be.
    """
    known = plugins or loaded_plugins()
    cells = [(cell, folder) for cell, folder in finished_cells(Path(out)) if cell.named(only)]
    if not cells:
        raise SessionError(f"{out}: holds no finished cell with the words {only!r} in its name")
    frames, notes = [], []
    for cell, folder in cells:
        trained, result = _loaded(cell, folder, machine or {}, known)
        frames.append(_predicted(cell, trained, result, items, texts))
        notes += [f"{cell.name}: {note}" for note in cuts(trained, {"given": texts})]
    return pl.concat(frames), notes


def read_texts(path: str | Path, item: str, text: str) -> tuple[list[str], list[str]]:
    """Ids and texts of a file; a blank text is empty."""
    frame = read_items(Path(path), item, text)
    return frame[item].to_list(), frame[text].to_list()


def write_predictions(frame: pl.DataFrame, path: Path) -> None:
    """Write CSV or Parquet, as the name says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix.lower() == ".parquet":
        frame.write_parquet(path)
    else:
        frame.write_csv(path)


def _loaded(
    cell: Cell, folder: Path, machine: Mapping[str, Any], known: Plugins
) -> tuple[Classifier, dict[str, Any]]:
    """The trained classifier of a cell, and its result."""
    result: dict[str, Any] = read_json(folder / RESULT)
    if not (folder / MODEL).exists():
        raise InputError(
            f"{cell.name}: its model was not kept (classify.keep_models = false, or a classifier "
            "that cannot be saved)"
        )
    classes = tuple(result["classes"])
    empty = matrix_of_values(np.empty((0, len(classes))), classes, items=())
    target = Target(cell.task, empty, np.array([], dtype=np.str_))
    made = make_classifier(known.resolve("classifier", cell.use), cell, target, machine)
    if not isinstance(made, Trainable):
        raise InputError(f"{cell.name}: classifier {cell.use!r} cannot be loaded")
    return made.load(folder / MODEL), result


def _predicted(
    cell: Cell,
    trained: Classifier,
    result: Mapping[str, Any],
    items: Sequence[str],
    texts: Sequence[str],
) -> pl.DataFrame:
    """One row an item and class."""
    classes = result["classes"]
    scores = scores_of(trained, texts, len(classes))
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

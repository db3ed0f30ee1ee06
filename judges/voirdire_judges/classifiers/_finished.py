"""Finished cells: what they score on their test sets, and what they predict for other texts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire import plugins as loaded_plugins
from voirdire.errors import InputError, SessionError
from voirdire.examining.labels import (
    decide,
    label_scores,
    matrices_of_predictions,
    matrix_of_values,
    ratings_of,
    task_of,
)
from voirdire.files import write_csv
from voirdire.protocols import Trainable
from voirdire.stats import kappa_f1
from voirdire_judges.classifiers._cells import (
    GRID,
    MODEL,
    RESULT,
    TESTED,
    Cell,
    cell_of,
    read_json,
)
from voirdire_judges.classifiers._checks import scores_of
from voirdire_judges.classifiers._data import read_items
from voirdire_judges.classifiers._labels import Target
from voirdire_judges.classifiers._train import cuts, make_classifier

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire import Plugins
    from voirdire.examining.labels import LabelScores, Predictions
    from voirdire.protocols import Classifier

_SCORES = (
    "f1_weighted",
    "f1_macro",
    "precision_weighted",
    "recall_weighted",
    "accuracy",
    "hamming_loss",
)
#: The rater under whose name the labels of the test sets stand.
TRUTH = "truth"
_WHERE = ("configuration", "labels", "task")
_CELL = ("model", "data", "labels", "task")


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """Tables of a grid.

    Attributes
    ----------
    scores : DataFrame
        One row a cell: ``configuration`` (model and data), ``labels``, ``task``, ``model``,
        ``data``, ``seed``, ``grid``, ``n``, ``missing`` (test items without one), the scores,
        ``f1_random``, ``f1_constant``, ``kappa``, ``validation_f1``, and ``notes`` of the training.
    summary : DataFrame
        One row a configuration, label set and task: mean and standard deviation (n - 1) over seeds.
    best : DataFrame
        Where a grid of options was tried: for each grid, data, label set and task the configuration
        with the highest mean F1 on dev, how many were tried, and its scores on test, which had no
        say in the choice. Empty where every model has one configuration, or dev is empty.
    by_label : DataFrame
        Precision, recall, F1 and support of each class in each cell.
    predictions : DataFrame
        One row an item and class: what `voirdire labels` reads.
    ratings : DataFrame
        The same as tidy ratings, which `voirdire examine` reads: a class is an attribute scored 0
        or 1 (of a binary task the positive one alone), a seed a run, the key the rater ``truth``.
    unfinished : tuple of str
        Cells of the study that have no result yet.
    notes : tuple of str
        What was found in the data.
    """

    scores: pl.DataFrame
    summary: pl.DataFrame
    best: pl.DataFrame
    by_label: pl.DataFrame
    predictions: pl.DataFrame
    ratings: pl.DataFrame
    unfinished: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def write(self, folder: str | Path) -> None:
        """Write the tables: ``predictions`` and ``ratings`` as Parquet, the others as CSV."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("scores", "summary", "by_label"):
            write_csv(folder / f"{name}.csv", getattr(self, name))
        if self.best.height:
            write_csv(folder / "best.csv", self.best)
        self.predictions.write_parquet(folder / "predictions.parquet")
        self.ratings.write_parquet(folder / "ratings.parquet")


def evaluate_grid(out: str | Path, *, best: bool = False) -> Evaluation:
    """Score the finished cells in the folder of a grid.

    Parameters
    ----------
    out : str or Path
        The folder.
    best : bool
        Of each grid of options, only the configuration that is best on dev is among the
        predictions and ratings; the tables hold all.

    Raises
    ------
    SessionError
        The folder holds no finished cell, or the best is asked for and none can be chosen.
    """
    planned, done = _planned(Path(out)), finished_cells(Path(out))
    if not done:
        raise SessionError(f"{out}: holds no finished cell; train with: voirdire classify fit")
    several = len({cell.data for cell in planned}) > 1
    scored = [_scored(seeds, several=several) for seeds in _by_seed(done)]
    table = pl.DataFrame([row for one in scored for row in one.rows], infer_schema_length=None)
    labels = [row for one in scored for row in one.labels]
    chosen, kept = _best(table), scored
    if best:
        if chosen.is_empty():
            raise SessionError(f"{out}: no grid of options was tried, or dev is empty")
        names = set(chosen.select(_CELL).iter_rows())
        kept = [one for one in scored if _configuration(one.cell) in names]
    return Evaluation(
        table,
        _summary(table),
        chosen,
        pl.DataFrame(labels, infer_schema_length=None),
        pl.concat([frame for one in kept for frame in one.tested]),
        _ratings([(one.cell, one.predictions) for one in kept], several=several),
        tuple(cell.name for cell in planned if cell.state(Path(out)) != "finished"),
        tuple(dict.fromkeys(note for one in scored for note in one.notes)),
    )


@dataclass(frozen=True, slots=True)
class _SeedScores:
    """Cells that differ in their seed alone: their predictions, and a row of scores each."""

    cell: Cell
    predictions: Predictions
    tested: list[pl.DataFrame]
    rows: list[dict[str, Any]]
    labels: list[dict[str, Any]]
    notes: list[str]


def _scored(seeds: list[tuple[Cell, Path]], *, several: bool) -> _SeedScores:
    cell = seeds[0][0]
    tested = [_tested(own, folder, several=several) for own, folder in seeds]
    predictions = matrices_of_predictions(pl.concat(tested), cell.name)
    task = task_of(cell.task, cell.name)
    # No intervals: a grid has hundreds of cells, and `voirdire labels` gives them for those that
    # matter.
    scores = label_scores(predictions.truth, predictions.given, task=task, resamples=0)
    rows, labels, notes = [], [], []
    for place, (own, folder) in enumerate(seeds):
        result, where = read_json(folder / RESULT), _where(own, several=several)
        rows.append({**where, "grid": own.grid or own.model, **_row(scores, place, result)})
        each = scores.by_run[place].labels
        labels += [{**where, "label": name, **parts} for name, parts in each.items()]
        notes += [f"{own.data}: {note}" for note in result["data_notes"]]
        # Cells of an older grid say it among the notes of their training.
        notes += [f"{own.name}: {note}" for note in result.get("untrained", ())]
    return _SeedScores(cell, predictions, tested, rows, labels, notes)


def _configuration(cell: Cell) -> tuple[str, ...]:
    """What a cell is but for its seed, in the order of `_CELL`."""
    return cell.model, cell.data, cell.label_set, cell.task


def _ratings(tests: list[tuple[Cell, Predictions]], *, several: bool) -> pl.DataFrame:
    """Keys and predictions as ratings; of several data, each item's name begins with its own.

    A rater is a model, with its label set and task where the grid has several: one attribute may
    stand in more than one of them.
    """
    kinds = {(cell.label_set, cell.task) for cell, _ in tests}
    parts, keys = [], []
    for cell, predictions in tests:
        # Of two classes the second says all: the first is its mirror, and as an attribute
        # of its own it would count every answer twice.
        labels = predictions.truth.labels[1:] if cell.task == "binary" else predictions.truth.labels
        kind = f"{cell.label_set}, {cell.task}"
        of = f", {kind}" if len(kinds) > 1 else ""
        items = tuple(
            f"{cell.data}: {item}" if several else item for item in predictions.truth.items
        )
        key, given = (
            replace(one.only(labels), rater=name, items=items)
            for one, name in ((predictions.truth, TRUTH), (predictions.given, f"{cell.model}{of}"))
        )
        keys.append(ratings_of(key).with_columns(labels=pl.lit(kind)))
        parts.append(ratings_of(given))
    return pl.concat([_one_key(pl.concat(keys)), *parts])


def _one_key(keys: pl.DataFrame) -> pl.DataFrame:
    """The key; one a label set and task, named by them, where they differ on an item and label.

    A multi-class key names the dominant label alone, where a multi-label one names all.
    """
    where = ["item", "attribute"]
    # More scores than places: two label sets disagree somewhere.
    if keys.unique([*where, "score"]).height > keys.unique(where).height:
        named = pl.format("{}, {}", "rater", "labels")
        return (
            keys.unique([*where, "labels"], maintain_order=True)
            .with_columns(rater=named)
            .drop("labels")
        )
    return keys.drop("labels").unique(where, maintain_order=True)


def _by_seed(done: list[tuple[Cell, Path]]) -> list[list[tuple[Cell, Path]]]:
    """Finished cells that differ in nothing but their seed, together."""
    cells: dict[tuple[str, ...], list[tuple[Cell, Path]]] = {}
    for cell, folder in done:
        cells.setdefault(_configuration(cell), []).append((cell, folder))
    return list(cells.values())


def _tested(cell: Cell, folder: Path, *, several: bool) -> pl.DataFrame:
    """The predictions of one cell, under the name that reports give it."""
    where = _where(cell, several=several)
    tested = pl.read_parquet(folder / TESTED)
    return tested.select(*(pl.lit(v).alias(k) for k, v in where.items()), pl.all())


def finished_cells(out: Path) -> list[tuple[Cell, Path]]:
    """The cells of the grid's study that have a result, each with its folder."""
    return [(cell, cell.folder(out)) for cell in _planned(out) if cell.state(out) == "finished"]


def _planned(out: Path) -> list[Cell]:
    """The cells of the study that was trained last, by model, data, label set, task and seed."""
    path = out / GRID
    if not path.is_file():
        raise SessionError(f"{out}: holds no grid; train with: voirdire classify fit")
    cells = [cell_of(card) for card in read_json(path)]
    return sorted(cells, key=lambda cell: (*_configuration(cell), cell.seed))


def _where(cell: Cell, *, several: bool) -> dict[str, Any]:
    """How reports name a cell; the data's name stands in it where the study has several."""
    return {
        "configuration": f"{cell.model}, {cell.data}" if several else cell.model,
        "labels": cell.label_set,
        "task": cell.task,
        "model": cell.model,
        "data": cell.data,
        "seed": cell.seed,
    }


def _row(scores: LabelScores, place: int, result: dict[str, Any]) -> dict[str, Any]:
    """Scores of one seed, beside baselines on the items that some seed predicted."""
    classification, floor = scores.by_run[place], scores.baselines
    return {
        "n": classification["f1_weighted"].n,
        "missing": scores.keyed - classification["f1_weighted"].n,
        **{name: classification[name].value for name in _SCORES},
        "f1_random": floor.chance.value,
        "f1_constant": floor.constant.value,
        "kappa": kappa_f1(classification["f1_weighted"], floor.chance).value,
        "validation_f1": result["validation_f1"],
        "notes": "; ".join([*result["notes"], *result.get("untrained", ())]),
    }


def _summary(scores: pl.DataFrame) -> pl.DataFrame:
    parts = (*_SCORES, "f1_random", "f1_constant", "kappa", "validation_f1")
    return scores.group_by(*_WHERE, "model", "data", "grid", maintain_order=True).agg(
        seeds=pl.len(),
        n=pl.col("n").max(),
        missing=pl.col("missing").max(),
        **{name: pl.col(name).mean() for name in parts},
        **{f"{name}_sd": pl.col(name).std() for name in ("f1_weighted", "f1_macro", "kappa")},
    )


def _best(scores: pl.DataFrame) -> pl.DataFrame:
    """The configuration of each grid with the highest mean F1 on dev; the first of equal ones."""
    # Only dev decides. A choice by test scores would flatter the best of many by chance.
    with_dev = _summary(scores).filter(pl.col("validation_f1").is_not_nan())
    where = ["grid", "data", "labels", "task"]
    tried = with_dev.with_columns(tried=pl.len().over(where)).filter(pl.col("tried") > 1)
    first = tried.sort("validation_f1", descending=True, maintain_order=True)
    chosen = first.unique(where, keep="first", maintain_order=True).sort(where)
    tested = ("f1_weighted", "f1_weighted_sd", "f1_macro", "f1_macro_sd", "kappa")
    return chosen.select(*where, "model", "tried", "seeds", "validation_f1", *tested)


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
    registry = plugins or loaded_plugins()
    cells = [(cell, folder) for cell, folder in finished_cells(Path(out)) if cell.named(only)]
    if not cells:
        raise SessionError(f"{out}: holds no finished cell with the words {only!r} in its name")
    frames, notes = [], []
    for cell, folder in cells:
        trained, result = _loaded(cell, folder, machine or {}, registry)
        frames.append(_predicted(cell, trained, result, items, texts))
        notes += [f"{cell.name}: {note}" for note in cuts(trained, {"given": texts})]
    return pl.concat(frames), notes


def read_texts(path: str | Path, item: str, text: str) -> tuple[list[str], list[str]]:
    """Ids and texts of a file; a blank text is empty."""
    frame = read_items(Path(path), item, text)
    return frame[item].to_list(), frame[text].to_list()


def _loaded(
    cell: Cell, folder: Path, machine: Mapping[str, Any], registry: Plugins
) -> tuple[Classifier, dict[str, Any]]:
    """The trained classifier of a cell, and its result."""
    result: dict[str, Any] = read_json(folder / RESULT)
    if not (folder / MODEL).exists():
        raise InputError(
            f"{cell.name}: its model was not kept (classify.keep_models = false, or a classifier "
            "that cannot be saved)"
        )
    classes = tuple(result["classes"])
    # Only the classes are asked of a target here: no row is learnt.
    empty = matrix_of_values(np.empty((0, len(classes))), classes, items=())
    target = Target(cell.task, empty, np.array([], dtype=np.str_))
    made = make_classifier(registry.resolve("classifier", cell.use), cell, target, machine)
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
    where = {
        "model": cell.model,
        "data": cell.data,
        "labels": cell.label_set,
        "task": cell.task,
        "seed": cell.seed,
    }
    return pl.DataFrame(
        {
            "item": np.repeat(np.asarray(items, dtype=np.str_), len(classes)),
            "label": list(classes) * len(items),
            "predicted": pl.Series(predicted.ravel()).fill_nan(None).cast(pl.Int8),
            "score": pl.Series(scores.ravel()).fill_nan(None),
        }
    ).select(*(pl.lit(value).alias(name) for name, value in where.items()), pl.all())

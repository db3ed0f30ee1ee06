"""One cell: train on train, choose thresholds on dev, predict test, and keep all that in files."""

from __future__ import annotations

import inspect
import shutil
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire.errors import InputError
from voirdire.examining.labels import choose_thresholds, decide, weighted_f1
from voirdire.files import write_json
from voirdire.protocols import CountsCuts, Decides, Noted, Trainable
from voirdire_judges.classifiers._cells import (
    CARD,
    MODEL,
    RESULT,
    TESTED,
    TRAINING,
    card_of,
)
from voirdire_judges.classifiers._checks import checked_classifier, scores_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from voirdire.protocols import Classifier, ClassifierFactory
    from voirdire.study import ClassifySpec
    from voirdire_judges.classifiers._cells import Cell
    from voirdire_judges.classifiers._data import Dataset
    from voirdire_judges.classifiers._labels import Target

    Floats = NDArray[np.float64]
    Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Sample:
    """The rows of one split that can be used."""

    items: tuple[str, ...]
    texts: tuple[str, ...]
    labels: NDArray[np.int8]


def make_classifier(
    factory: ClassifierFactory, cell: Cell, target: Target, machine: Mapping[str, Any]
) -> Classifier:
    """The untrained classifier; it gets those options of `machine` (device, threads) that it takes.

    Raises
    ------
    InputError
        An option is none of the classifier's.
    PluginError
        What is made is no classifier.
    """
    whose = f"classifier {cell.use!r} ({cell.model})"
    options = {**_taken(factory, machine), **cell.options}
    try:
        made = factory(target.classes, task=target.task, seed=cell.seed, **options)
    except TypeError as error:
        raise InputError(f"{whose}: {error}") from error
    return checked_classifier(made, whose)


def train_cell(
    cell: Cell,
    data: Dataset,
    spec: ClassifySpec,
    factory: ClassifierFactory,
    out: Path,
    machine: Mapping[str, Any],
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Train and test one cell; what it found is its `result.json`, written last.

    Raises
    ------
    InputError
        A split has no usable row, or the training failed.
    """
    made, parts = prepared(cell, data, factory, machine)
    target, folder = data.targets[cell.label_set, cell.task], cell.folder(out)
    write_json(folder / CARD, card_of(cell))
    trained = _fitted(made, parts, folder / TRAINING, progress)
    thresholds, on_dev = _tuned(trained, parts["dev"], target.task, spec)
    tested = _predicted(trained, parts["test"], target, thresholds)
    tested.write_parquet(folder / TESTED)
    if spec.keep_models and isinstance(trained, Trainable):
        trained.save(folder / MODEL)
    texts = {split: part.texts for split, part in parts.items()}
    result = {
        "classes": target.classes,
        "thresholds": thresholds.tolist(),
        "validation_f1": on_dev,
        "rows": counts_of(data, target),
        "data_notes": list(data.notes),
        "notes": [*_notes(trained), *cuts(trained, texts)],
        "untrained": untrained(trained, target, parts),
    }
    # Last of all: a cell with a result is finished, and is never looked at again.
    write_json(folder / RESULT, result)
    if not _decides(trained):  # what was asked and paid for stays
        shutil.rmtree(folder / TRAINING, ignore_errors=True)
    return result


def prepared(
    cell: Cell,
    data: Dataset,
    factory: ClassifierFactory,
    machine: Mapping[str, Any],
) -> tuple[Classifier, dict[str, Sample]]:
    """The untrained classifier and its samples: what can be wrong is found before any training.

    Raises
    ------
    InputError
        An option is none of the classifier's, or a split has no usable row.
    """
    target = data.targets[cell.label_set, cell.task]
    parts = {split: sample_of(data, target, split) for split in ("train", "dev", "test")}
    for split, part in parts.items():
        if not any(part.texts):
            raise InputError(f"{cell.name}: no row of {split} has both text and labels")
    made = make_classifier(factory, cell, target, machine)
    return made, parts


def refusal(
    cell: Cell,
    data: Dataset,
    spec: ClassifySpec,
    classifier: Classifier,
    parts: Mapping[str, Sample],
) -> str:
    """Why a cell is not trained though nothing is wrong with it: train lacks a class of test."""
    lacking = untrained(classifier, data.targets[cell.label_set, cell.task], parts)
    if spec.untrained == "note" or not lacking:
        return ""
    return (
        f"pool_lacks_class: {lacking[0]}; add such rows to train, or allow it by "
        'untrained = "note" in [classify]'
    )


def untrained(classifier: Classifier, target: Target, parts: Mapping[str, Sample]) -> list[str]:
    """Classes of the test set that no row of train has, in a sentence; none of one that decides."""
    if _decides(classifier):  # it was asked, and knows classes from their names
        return []
    learnt, tested = (parts[split].labels.sum(axis=0) for split in ("train", "test"))
    lacking = [
        f"{name!r} ({count} in test)"
        for name, learnt_rows, count in zip(target.classes, learnt, tested, strict=True)
        if count and not learnt_rows
    ]
    if not lacking:
        return []
    return [f"train has no row of {', '.join(lacking)}, so that nothing can be learnt of it"]


def _notes(trained: Classifier) -> tuple[str, ...]:
    return trained.notes if isinstance(trained, Noted) else ()


def _decides(trained: Classifier) -> bool:
    return isinstance(trained, Decides) and trained.decides


def cuts(trained: Classifier, parts: Mapping[str, Sequence[str]]) -> list[str]:
    """How many texts of each part the classifier does not read whole, where it can tell."""
    if not isinstance(trained, CountsCuts):
        return []
    counts = {name: (trained.too_long(texts), len(texts)) for name, texts in parts.items()}
    return [
        f"{count} of {n} {name} texts are longer than the model reads: their ends were left out"
        for name, (count, n) in counts.items()
        if count
    ]


def sample_of(data: Dataset, target: Target, split: str) -> Sample:
    """Rows of a split that have labels, and a text too where they are learnt from."""
    wanted = (data.split == split) & data.usable & target.known
    # A test item without a text stays in the test set: its prediction is missing, and counted so.
    if split != "test":
        wanted &= data.has_text
    places = np.flatnonzero(wanted)
    return Sample(
        tuple(data.items[place] for place in places),
        tuple(data.texts[place] for place in places),
        target.values[places].astype(np.int8),
    )


def counts_of(data: Dataset, target: Target) -> dict[str, dict[str, int]]:
    """Rows used and left out, by split and reason."""
    counts = {}
    for split in ("train", "dev", "test"):
        in_split = data.split == split
        labelled = in_split & data.usable & target.known
        reasons = Counter(target.reasons[in_split & data.usable & ~target.known].tolist())
        counts[split] = {
            "used": int((labelled & (data.has_text | (split == "test"))).sum()),
            "no text": int((labelled & ~data.has_text).sum()),
            "incomplete": int((in_split & ~data.usable).sum()),
            **{str(reason): count for reason, count in sorted(reasons.items())},
        }
    return counts


def _taken(factory: ClassifierFactory, machine: Mapping[str, Any]) -> dict[str, Any]:
    """The machine's options that a factory declares by name."""
    # A plugin's factory need not know of devices or threads.
    parameters = inspect.signature(factory).parameters
    return {
        name: value for name, value in machine.items() if name in parameters and value is not None
    }


def _fitted(
    made: Classifier, parts: Mapping[str, Sample], folder: Path, progress: Progress | None
) -> Classifier:
    learnt, dev = parts["train"], parts["dev"]
    if isinstance(made, Trainable):
        return made.fit(
            learnt.texts,
            learnt.labels,
            validation=(dev.texts, dev.labels),
            folder=folder,
            progress=progress,
        )
    return checked_classifier(made.fit(learnt.texts, learnt.labels), "what fit returns")


def _tuned(
    trained: Classifier, dev: Sample, task: str, spec: ClassifySpec
) -> tuple[Floats, float | None]:
    """Thresholds and their F1 on dev, if it has any label; one that decides by itself has 0.5."""
    if _decides(trained):
        return np.full(dev.labels.shape[1], 0.5), None
    scores = scores_of(trained, dev.texts, dev.labels.shape[1])
    # Of classes that exclude each other the most probable is taken: no threshold has a say.
    how = spec.threshold if task == "multi-label" else "fixed"
    thresholds = choose_thresholds(scores, dev.labels, how)
    reached = weighted_f1(dev.labels, decide(scores, task, thresholds))
    return thresholds, None if np.isnan(reached) else reached


def _predicted(
    trained: Classifier, test: Sample, target: Target, thresholds: Floats
) -> pl.DataFrame:
    """One row an item and class; an item without a text has no prediction."""
    there = [place for place, text in enumerate(test.texts) if text]
    scores, q = np.full(test.labels.shape, np.nan), len(target.classes)
    if there:
        scores[there] = scores_of(trained, [test.texts[place] for place in there], q)
    predicted = decide(scores, target.task, thresholds)
    return pl.DataFrame(
        {
            "item": np.repeat(test.items, q),
            "label": list(target.classes) * len(test.items),
            "truth": test.labels.ravel(),
            "predicted": pl.Series(predicted.ravel()).fill_nan(None).cast(pl.Int8),
            "score": pl.Series(scores.ravel()).fill_nan(None),
        }
    )

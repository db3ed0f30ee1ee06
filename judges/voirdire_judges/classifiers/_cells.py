"""The grid of a study as cells, each with a key that follows from all that decides its result."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from voirdire.errors import SessionError, StudyError
from voirdire.files import file_hash

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voirdire.examining.labels import Task
    from voirdire.study import ClassifySpec, LabelledData, LabelSetSpec, Study

State = Literal["finished", "begun", "open", "no data"]
#: Files of a cell, and of the whole grid.
RESULT, CARD, TESTED = "result.json", "cell.json", "tested.parquet"
TRAINING, MODEL = "training", "model"
GRID = "grid.json"
#: Changes with the rule that shares items out: a cell that was split by another is another cell.
_SPLITTER = "hash of seed and id"


@dataclass(frozen=True, slots=True)
class Cell:
    """One model to train: what, on which data and labels, for which task, from which seed.

    `grid` is the name of the entry whose options are tried out in `model`; cells of an older grid
    have none.
    """

    data: str
    label_set: str
    task: Task
    model: str
    use: str
    options: Mapping[str, Any]
    seed: int
    key: str = ""
    grid: str = ""

    @property
    def name(self) -> str:
        """The cell in words."""
        return f"{self.model} | {self.data} | {self.label_set} | {self.task} | seed {self.seed}"

    def named(self, only: str) -> bool:
        """Whether its name holds every word of `only`; words are whole: 1 is not in 10 or x=1."""
        return set(only.split()) <= set(self.name.split())

    def folder(self, out: Path) -> Path:
        """Where its files lie."""
        return out / "cells" / self.key

    def state(self, out: Path) -> State:
        """What has become of it; a cell without a key has no data."""
        if not self.key:
            return "no data"
        folder = self.folder(out)
        if (folder / RESULT).is_file():
            return "finished"
        return "begun" if (folder / TRAINING).exists() else "open"


def cells_of(study: Study, only: str = "") -> list[Cell]:
    """All cells of a study, data by data; `only` keeps those whose name holds all its words.

    A cell whose data file is not there has an empty key.

    Raises
    ------
    StudyError
        The study has no part `classify`, or no cell is left.
    """
    spec = classify_part(study)
    keys = {data.name: _data_key(spec, data, Path(study.folder)) for data in spec.data}
    cells = [
        _keyed(
            Cell(data.name, labels.name, task, model, chosen.use, options, seed, grid=chosen.name),
            spec,
            keys[data.name],
        )
        for data in spec.data
        for chosen in spec.models
        for model, options in chosen.variants()
        for labels in spec.label_sets
        for task in labels.tasks
        for seed in spec.seeds
    ]
    kept = [cell for cell in cells if cell.named(only)]
    if not kept:
        raise StudyError(
            f"no cell of study {study.name!r} has the words {only!r} in its name, such as "
            f"{cells[0].name!r}"
        )
    return kept


def classify_part(study: Study) -> ClassifySpec:
    """The part `classify` of a study, or a `StudyError` that it is missing."""
    if study.classify is None:
        raise StudyError(
            f"study {study.name!r} has no part [classify]: it says what is trained on what"
        )
    return study.classify


def cell_of(card: Mapping[str, Any]) -> Cell:
    """The cell that a card (`cell.json`) describes."""
    return Cell(**card)


def read_json(path: Path) -> Any:
    """What `write_json` wrote.

    Raises
    ------
    SessionError
        There is no such file, or something else in it.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SessionError(f"{path}: cannot be read ({error})") from None


def card_of(cell: Cell) -> dict[str, Any]:
    """A cell as JSON."""
    return asdict(cell)


def _data_key(spec: ClassifySpec, data: LabelledData, folder: Path) -> str:
    """A hash of the files of one data set; empty where one of them is not there."""
    files = [folder / name for name in (data.path, data.test) if name]
    # A study may be listed by --dry-run before its data are there.
    if not all(file.is_file() for file in files):
        return ""
    # Only what changes what is read: keys of cells that are trained must outlive a further
    # model or seed.
    reading = {"id", "text", "separator", "split", "complete", "threshold"}
    rule = []
    if not spec.split:
        reading |= {"fractions", "split_seed"}
        rule = [_SPLITTER]
    around = [
        _declared(spec, one)
        for one in spec.label_sets
        # Other label sets decide which rows a cell gets in two cases: where rows must be
        # labelled in all of them, and where the split is balanced by one of them.
        if spec.complete or (one.name == spec.stratum and not spec.split)
    ]
    hashes = [file_hash(file) for file in files]
    return _hash([spec.model_dump(include=reading), around, data.sheet, hashes, *rule])


def _declared(spec: ClassifySpec, labels: LabelSetSpec) -> list[Any]:
    """What decides how a label set is read; another task beside it changes nothing."""
    return [labels.model_dump(exclude={"tasks"}), spec.labels_of(labels)]


def _keyed(cell: Cell, spec: ClassifySpec, data: str) -> Cell:
    if not data:
        return cell
    labels = next(one for one in spec.label_sets if one.name == cell.label_set)
    # The grid's name changes nothing that is trained, so cells of older grids keep their keys.
    card = {name: value for name, value in asdict(cell).items() if name not in ("key", "grid")}
    # 64 bits of the hash: a folder's name that no other cell of a grid will have.
    return replace(cell, key=_hash([card, _declared(spec, labels), data])[:16])


def _hash(value: Any) -> str:
    # Sorted: the order of keys in a study's file is no part of what it says.
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

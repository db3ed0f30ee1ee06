"""A table of texts and labels, split, with a target for every label set and task."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire._errors import StudyError, TableError
from voirdire.tables import read_raw
from voirdire_judges.classifiers._labels import read_labels
from voirdire_judges.classifiers._split import SPLITS, stratified_split
from voirdire_judges.classifiers._targets import Labelled, Target, target_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.study import ClassifySpec, LabelledData

#: Column that tells the rows of a separate test file.
_TEST = "__voirdire_test__"
_NAMES = {"train": "train", "training": "train", "dev": "dev", "val": "dev", "valid": "dev",
          "validation": "dev", "development": "dev", "test": "test"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Dataset:
    """Texts with their split and targets.

    Attributes
    ----------
    name : str
    items : tuple of str
    texts : tuple of str
        Empty where missing.
    split : (n,) str
        train, dev, test, or empty (no split is given for the row).
    targets : dict
        (label set, task) -> Target.
    usable : (n,) bool
        False where a row is left out of every label set (`complete`).
    notes : tuple of str
        What was found wrong with the table.
    """

    name: str
    items: tuple[str, ...]
    texts: tuple[str, ...]
    split: NDArray[np.str_]
    targets: dict[tuple[str, str], Target]
    usable: NDArray[np.bool_]
    notes: tuple[str, ...]

    @property
    def has_text(self) -> NDArray[np.bool_]:
        """Rows with a text."""
        return np.array([bool(text) for text in self.texts])


def read_dataset(spec: ClassifySpec, data: LabelledData, folder: str | Path = ".") -> Dataset:
    """Read one table of a study (and its separate test file, if it names one).

    Raises
    ------
    TableError
        A file or column is missing, an id is empty or stands twice, a split has another name.
    """
    frame = _frame(spec, data, Path(folder))
    given = {one.name: read_labels(frame, spec, one) for one in spec.label_sets}
    split, notes = _split(frame, spec, data, given)
    targets: dict[tuple[str, str], Target] = {
        (one.name, task): target_of(given[one.name], task, one)
        for one in spec.label_sets
        for task in one.tasks
    }
    usable = np.ones(frame.height, dtype=np.bool_)
    if spec.complete:
        usable = np.logical_and.reduce([labels.reasons == "" for labels in given.values()])
    notes = (*notes, *_unknown(given), *_incomplete(usable), *_leaks(frame, spec, split))
    return Dataset(
        data.name,
        tuple(frame[spec.id].to_list()),
        tuple(text or "" for text in frame[spec.text].str.strip_chars().to_list()),
        split,
        targets,
        usable,
        notes,
    )


def _frame(spec: ClassifySpec, data: LabelledData, folder: Path) -> pl.DataFrame:
    frame = _read(spec, folder / data.path, data.sheet).with_columns(
        pl.lit(value=False).alias(_TEST)
    )
    if data.test:
        tested = _read(spec, folder / data.test).with_columns(pl.lit(value=True).alias(_TEST))
        shared = [name for name in frame.columns if name in tested.columns]
        parts = [part.select(pl.col(shared).cast(pl.String)) for part in (frame, tested)]
        frame = pl.concat(parts).with_columns(pl.col(_TEST) == "true")
    return frame


def _read(spec: ClassifySpec, path: Path, sheet: str | None = None) -> pl.DataFrame:
    raw = read_raw(path, sheet=sheet)
    for column in (spec.id, spec.text):
        if column not in raw.frame.columns:
            raise TableError(f"{path}: no column {column!r} (columns: {raw.frame.columns})")
    frame = raw.frame.with_columns(pl.col(spec.id, spec.text).cast(pl.String))
    ids = frame[spec.id]
    wrong = ids.is_null() | (ids == "") | ~ids.is_first_distinct()
    if wrong.any():
        row = wrong.arg_true()[0]
        what = f"stands twice: {ids[row]!r}" if ids[row] else "is empty"
        raise TableError(f"{path}, {raw.place(row)}, column {spec.id!r}: the item's id {what}")
    return frame


def _split(
    frame: pl.DataFrame, spec: ClassifySpec, data: LabelledData, given: dict[str, Labelled]
) -> tuple[NDArray[np.str_], tuple[str, ...]]:
    tested = frame[_TEST].to_numpy()
    split = np.full(frame.height, "", dtype="<U5")
    split[tested] = "test"
    if spec.split:
        own, notes = _declared(frame, spec, data.name)
        split[~tested] = own[~tested]
        if data.test and (split[~tested] == "test").any():
            raise TableError(
                f"data {data.name!r}: {data.test} is the test set, so column {spec.split!r} of "
                f"{data.path} may hold train and dev only"
            )
        return split, notes
    fractions = spec.fractions
    if data.test and fractions[2] > 0:
        raise StudyError(
            f"data {data.name!r} has a test file, so the third of classify.fractions must be 0, "
            f"got {list(fractions)}"
        )
    strata = _strata(given[spec.stratify or spec.label_sets[0].name])
    ids = frame[spec.id].to_numpy()[~tested]
    split[~tested] = stratified_split(ids, strata[~tested], fractions, spec.split_seed)
    return split, ()


def _strata(labels: Labelled) -> NDArray[np.str_]:
    """The dominant label of each row, or all its labels where none leads; empty where missing."""
    found = [
        " + ".join(np.asarray(labels.labels)[row == 1].tolist()) if place < 0 else ""
        for place, row in zip(labels.dominant, labels.matrix, strict=True)
    ]
    names = np.array(["", *labels.labels])[labels.dominant + 1]
    return np.where(labels.dominant < 0, np.array(found, dtype=np.str_), names)


def _declared(
    frame: pl.DataFrame, spec: ClassifySpec, name: str
) -> tuple[NDArray[np.str_], tuple[str, ...]]:
    if spec.split not in frame.columns:
        raise TableError(f"data {name!r}: no column {spec.split!r} (classify.split)")
    texts = frame[spec.split].cast(pl.String).str.strip_chars().str.to_lowercase().fill_null("")
    strange = sorted(set(texts.to_list()) - {*_NAMES, ""})
    if strange:
        raise TableError(
            f"data {name!r}, column {spec.split!r}: must be one of {SPLITS}, got {strange[0]!r}"
        )
    blank = (texts == "").sum()
    notes = (f"{blank} rows have no split and are not used",) if blank else ()
    return np.array([_NAMES.get(text, "") for text in texts.to_list()], dtype="<U5"), notes


def _unknown(given: dict[str, Labelled]) -> list[str]:
    """Undeclared labels, said once a label set."""
    found = []
    for name, labels in given.items():
        if labels.unknown:
            most = Counter(labels.unknown).most_common(5)
            listed = ", ".join(f"{label!r} {count}x" for label, count in most)
            more = f" and {len(labels.unknown) - 5} more" if len(labels.unknown) > 5 else ""
            rows = int((labels.reasons == "undeclared label").sum())
            found.append(
                f"label set {name!r}: {rows} rows name undeclared labels and have none: "
                f"{listed}{more}"
            )
    return found


def _incomplete(usable: NDArray[np.bool_]) -> list[str]:
    lost = int((~usable).sum())
    return [f"{lost} rows lack labels in some label set and are left out of all"] if lost else []


def _leaks(frame: pl.DataFrame, spec: ClassifySpec, split: NDArray[np.str_]) -> list[str]:
    """Texts of the test set that stand in train or dev as well."""
    texts = frame.select(text=pl.col(spec.text).str.strip_chars(), split=pl.Series(split))
    texts = texts.filter(pl.col("text").fill_null("") != "")
    tested = texts.filter(pl.col("split") == "test")
    learnt = texts.filter(pl.col("split").is_in(["train", "dev"]))
    count = tested.join(learnt.select("text").unique(), on="text", how="semi").height
    return [f"{count} test texts stand in train or dev too: scores flatter"] if count else []

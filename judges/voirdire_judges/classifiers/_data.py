"""A table of texts and labels, split, with a target for every label set and task."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire.errors import StudyError, TableError, check_columns, duplicate, not_one_of
from voirdire.examining.labels import SPLITS, stratified_split
from voirdire.tables import plural, read_raw
from voirdire_judges.classifiers._labels import RowLabels, Target, read_labels, target_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from voirdire.study import ClassifySpec, LabelledData

_NAMES = {
    "train": "train",
    "training": "train",
    "dev": "dev",
    "val": "dev",
    "valid": "dev",
    "validation": "dev",
    "development": "dev",
    "test": "test",
}

#: Undeclared labels that are named.
_SHOWN = 5


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
        A file or column is missing, an id is empty or occurs twice, a split has another name.
    """
    frame = read_table(spec, data, Path(folder))
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
    notes = (*notes, *_unlabelled(given), *_incomplete(usable), *_leaks(frame[spec.text], split))
    return Dataset(
        data.name,
        tuple(frame[spec.id].to_list()),
        tuple(frame[spec.text].to_list()),
        split,
        targets,
        usable,
        notes,
    )


def _split(
    frame: pl.DataFrame, spec: ClassifySpec, data: LabelledData, given: dict[str, RowLabels]
) -> tuple[NDArray[np.str_], tuple[str, ...]]:
    tested = frame[TESTED].to_numpy()
    split = np.full(frame.height, "", dtype="<U5")
    # Rows of a separate test file are the test set, whatever a column says.
    split[tested] = "test"
    if spec.split:
        own, notes = _declared(frame, spec, data)
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
    strata = _strata(given[spec.stratum])
    ids = frame[spec.id].to_numpy()[~tested]
    # The test file is not split: only what it leaves is shared out.
    split[~tested] = stratified_split(ids, strata[~tested], fractions, spec.split_seed)
    return split, ()


def _strata(labels: RowLabels) -> NDArray[np.str_]:
    """The first label of each row, or all its labels where none is first; empty where missing."""
    own = labels.labels
    return np.array(
        [
            own.labels[place] if place >= 0 else " + ".join(own.named(row) or ())
            for row, place in enumerate(own.first[0].tolist())
        ],
        dtype=np.str_,
    )


def _declared(
    frame: pl.DataFrame, spec: ClassifySpec, data: LabelledData
) -> tuple[NDArray[np.str_], tuple[str, ...]]:
    """The split that the table names; rows of a separate test file need none."""
    texts = frame[spec.split].cast(pl.String).str.strip_chars().str.to_lowercase().fill_null("")
    own = ~frame[TESTED]
    strange = own & ~texts.is_in([*_NAMES, ""])
    if strange.any():
        row = strange.arg_true()[0]
        where = f"{data.path}, item {frame[spec.id][row]!r}, column {spec.split!r}"
        raise not_one_of("split", texts[row], SPLITS, where, TableError)
    blank = (own & (texts == "")).sum()
    notes = (f"{blank} rows have no split and are not used",) if blank else ()
    return np.array([_NAMES.get(text, "") for text in texts.to_list()], dtype="<U5"), notes


def _unlabelled(given: dict[str, RowLabels]) -> list[str]:
    """Rows without labels and why, said once a label set."""
    rows = []
    for name, labels in given.items():
        lost = Counter(labels.reasons[labels.reasons != ""].tolist())
        if lost:
            reasons = ", ".join(f"{why} {count}" for why, count in lost.most_common())
            rows.append(
                f"label set {name!r}: {plural(lost.total(), 'row')} without labels "
                f"({reasons}){_strange(labels.unknown)}"
            )
    return rows


def _strange(unknown: Mapping[str, int]) -> str:
    """What was read and is not declared."""
    if not unknown:
        return ""
    most = [f"{label!r} {count}x" for label, count in Counter(unknown).most_common(_SHOWN)]
    more = f" and {len(unknown) - _SHOWN} more" if len(unknown) > _SHOWN else ""
    return f": {', '.join(most)}{more}"


def _incomplete(usable: NDArray[np.bool_]) -> list[str]:
    """Rows that one label set lacks and all leave out."""
    lost = int((~usable).sum())
    rows_lack = plural(lost, "row lacks", "rows lack")
    return [f"{rows_lack} labels in some label set and are left out of all"] if lost else []


def _leaks(texts: pl.Series, split: NDArray[np.str_]) -> list[str]:
    """Texts of the test set that stand in train or dev as well."""
    written = pl.DataFrame({"text": texts, "split": split}).filter(pl.col("text") != "")
    tested = written.filter(pl.col("split") == "test")
    learnt = written.filter(pl.col("split").is_in(["train", "dev"]))
    # Each text of the test set once, however often it stands in train.
    count = tested.join(learnt.select("text").unique(), on="text", how="semi").height
    texts_are = plural(count, "test text is", "test texts are")
    return [f"{texts_are} in train or dev too: scores flatter"] if count else []


#: Column that tells the rows of a separate test file.
TESTED = "__voirdire_test__"


def read_table(spec: ClassifySpec, data: LabelledData, folder: Path) -> pl.DataFrame:
    """The rows of one data set, those of its separate test file last."""
    named = {
        f"label set {one.name!r}": [*one.columns.values()] or [one.column]
        for one in spec.label_sets
    }
    split = {"classify.split": [spec.split]} if spec.split else {}
    frame = _read(spec, folder / data.path, {**named, **split}, data.sheet)
    frame = frame.with_columns(pl.lit(value=False).alias(TESTED))
    if data.test:
        tested = _read(spec, folder / data.test, named)
        tested = tested.with_columns(pl.lit(value=True).alias(TESTED))
        # The same column may be numbers in one file and text in the other; labels are read
        # from text.
        parts = [part.with_columns(pl.exclude(TESTED).cast(pl.String)) for part in (frame, tested)]
        frame = pl.concat(parts, how="diagonal")
    return frame


def _read(
    spec: ClassifySpec,
    path: Path,
    named: Mapping[str, Sequence[str]],
    sheet: str | None = None,
) -> pl.DataFrame:
    """One file; `named` says which columns it must have, and what in the study names them."""
    frame = read_items(path, spec.id, spec.text, sheet=sheet)
    for key, columns in named.items():
        check_columns(path, columns, frame.columns, f"it is named by {key!r}")
    return frame


def read_items(path: Path, item: str, text: str, *, sheet: str | None = None) -> pl.DataFrame:
    """A table with an id and a text a row; ids differ and are never empty.

    Raises
    ------
    TableError
        The file cannot be read, a column is missing, an id is empty or occurs twice.
    """
    raw = read_raw(path, sheet=sheet)
    check_columns(path, (item, text), raw.frame.columns)
    frame = raw.frame.with_columns(
        pl.col(item).cast(pl.String).str.strip_chars().fill_null(""),
        pl.col(text).cast(pl.String).str.strip_chars().fill_null(""),
    )
    ids = frame[item]
    # Predictions are joined by id: with one id twice, one text's labels would be held against
    # another's.
    wrong = (ids == "") | ~ids.is_first_distinct()
    if wrong.any():
        row = wrong.arg_true()[0]
        where = f"{path}, {raw.place(row)}, column {item!r}"
        if ids[row]:
            raise duplicate("item", ids[row], where, error=TableError)
        raise TableError(f"{where}: the item's id is empty")
    return frame

"""The published files of level II, read as they are."""

from __future__ import annotations

import json
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

from voirdire import TableError
from voirdire.errors import duplicate, not_one_of
from voirdire.schema import Item
from voirdire_plugins.cbt_bench.labels import TASKS, LabelTask, primary_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

Split = Literal["test", "seed"]


@dataclass(frozen=True, slots=True)
class Example:
    """One situation with the patient's thoughts and the experts' labels."""

    id: str
    situation: str
    thoughts: str
    labels: tuple[str, ...]

    @property
    def item(self) -> Item:
        """The example as an item that annotators are asked about."""
        return Item(self.id, self.thoughts, {"situation": self.situation})

    @property
    def text_key(self) -> str:
        """Situation and thoughts up to case and white space: what tells texts apart."""
        return text_key(self.situation, self.thoughts)


@dataclass(frozen=True, slots=True)
class Statistics:
    """A row of Table 3."""

    examples: int
    labels: int
    situation: float
    thoughts: float
    mean_labels: float
    most_labels: int


def text_key(situation: str, thoughts: str) -> str:
    """Situation and thoughts up to case and white space."""
    return " ".join(f"{situation}\n{thoughts}".casefold().split())


def path_of(folder: Path, task: LabelTask, split: Split = "test") -> Path:
    """Where a task's file lies."""
    return folder / f"{task.file}_{split}.json"


def read_examples(folder: Path, task: LabelTask, split: Split = "test") -> tuple[Example, ...]:
    """The examples of a task.

    Raises
    ------
    TableError
        The file is absent or no list of records; a record lacks a field, repeats an id or a label,
        or holds a label outside the task's set. The message names the record.
    """
    path = path_of(folder, task, split)
    found: dict[str, Example] = {}
    for number, record in enumerate(_records(path), start=1):
        example = _example(record, task, f"{path.name}, record {number}")
        if example.id in found:
            where = f"{path.name}, record {number}"
            raise duplicate("id", example.id, where, error=TableError)
        found[example.id] = example
    return tuple(found.values())


def label_counts(examples: Iterable[Example], task: LabelTask) -> dict[str, int]:
    """How many examples carry each label, the declared order kept (Tables 9-11)."""
    given = [label for example in examples for label in example.labels]
    return {label: given.count(label) for label in task.labels}


def statistics(examples: tuple[Example, ...], task: LabelTask) -> Statistics:
    """A row of Table 3; lengths in characters."""
    return Statistics(
        len(examples),
        len(task.labels),
        fmean(len(e.situation) for e in examples),
        fmean(len(e.thoughts) for e in examples),
        fmean(len(e.labels) for e in examples),
        max(len(e.labels) for e in examples),
    )


@dataclass(frozen=True, slots=True)
class HierarchyCheck:
    """Primary beliefs of one task held against those that the other's fine beliefs imply.

    `differing` holds the id, the primary beliefs given, and those implied.
    """

    shared: int
    differing: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]


def check_hierarchy(primary: Iterable[Example], fine: Iterable[Example]) -> HierarchyCheck:
    """Examples of both tasks whose primary beliefs are not those of their fine-grained ones."""
    given = {example.id: example for example in primary}
    both = [(given[e.id], e) for e in fine if e.id in given]
    order = TASKS["pc"].labels
    differing = []
    for major, minor in both:
        implied = {primary_of(label) for label in minor.labels}
        if set(major.labels) != implied:
            ordered = tuple(label for label in order if label in implied)
            differing.append((major.id, major.labels, ordered))
    return HierarchyCheck(len(both), tuple(differing))


def _records(path: Path) -> list[Any]:
    try:
        found = json.loads(path.read_text("utf-8-sig"))
    except FileNotFoundError:
        raise TableError(f"{path}: there is no such file") from None
    except (OSError, ValueError, RecursionError) as error:
        raise TableError(f"{path}: cannot be read as JSON ({error})") from None
    if not isinstance(found, list) or not found:
        raise TableError(f"{path}: a list of examples is needed")
    return found


def _example(record: Any, task: LabelTask, where: str) -> Example:
    if not isinstance(record, dict):
        raise TableError(f"{where}: an object is needed, got {record!r:.60}")
    texts = {name: _text(record, name, where) for name in ("id", "situation", "thoughts")}
    labels = record.get(task.field)
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise TableError(f"{where}: key {task.field!r} must be a list of labels, got {labels!r}")
    return Example(**texts, labels=_declared(labels, task, f"{where} (id {texts['id']!r})"))


def _text(record: Mapping[str, Any], name: str, where: str) -> str:
    value = record.get(name)
    if not isinstance(value, str) or not value.strip():
        raise TableError(f"{where}: key {name!r} must be a text, got {value!r}")
    return value


def _declared(labels: list[str], task: LabelTask, where: str) -> tuple[str, ...]:
    found: list[str] = []
    for given in labels:
        label = task.label(given)
        if label is None:
            raise not_one_of(f"label of {task.name}", given, task.labels, where, TableError)
        if label in found:
            raise duplicate("label", given, where, error=TableError)
        found.append(label)
    return tuple(found)

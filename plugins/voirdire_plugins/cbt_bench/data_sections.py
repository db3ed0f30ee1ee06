"""What the published files hold, as tables: statistics, labels, seeds, hierarchy, baselines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voirdire.examining.labels import (
    LabelMatrix,
    constant_sentence,
    counts_section,
    described,
    described_section,
    implied_differences,
    matrix_of_examples,
    overlap_findings,
    overlap_section,
    printed_section,
)
from voirdire.examining.labels import baselines as label_baselines
from voirdire.schema import Finding
from voirdire.tabular import Section, Table, text
from voirdire_plugins.cbt_bench import data
from voirdire_plugins.cbt_bench.labels import PRIMARY, TASKS, LabelTask

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from voirdire.tables import Example

    Tests = Mapping[LabelTask, tuple[Example, ...]]

_LENGTHS = {"situation": "Situation length", "thoughts": "Thought length"}
_SEEDS = "Seed examples that stand in a test set"
_SEEDS_SAID = (
    "By id or text. Seeds serve only their own task: pooled with those of another, most would show "
    "the answer to a test item, and voirdire refuses them."
)
_TABLES = {"cd": "Table 9", "pc": "Table 10", "fc": "Table 11"}


def data_sections(folder: Path) -> tuple[Section, ...]:
    """Every table that the files in a folder allow; tasks whose file is absent are left out."""
    tests = data.there(folder)
    printed = {task.name: data.PRINTED["table_3"][task.key] for task in tests}
    sizes = {task.name: described(test, task.labels) for task, test in tests.items()}
    sections = (
        described_section("Examples (Table 3)", sizes, printed, _LENGTHS),
        *(_labels(task, test) for task, test in tests.items()),
        *(
            printed_section(
                task.name, data.printed_scores(task.key), key_matrix(task, test), data.HUMAN
            )
            for task, test in tests.items()
        ),
        overlap_section(_SEEDS, _SEEDS_SAID, _named(data.there(folder, "seed")), _named(tests)),
        _hierarchy(tests),
        data.level_three(),
    )  # fmt: skip
    return tuple(section for section in sections if section.has_rows)


def data_findings(folder: Path) -> tuple[Finding, ...]:
    """What is odd in the files: beliefs that do not fit, seeds that are test items elsewhere."""
    tests = data.there(folder)
    shared, rows = _beliefs(tests)
    places = tuple(item for item, _, _ in rows)
    message = (
        f"{len(places)} of {shared} examples of both belief tasks have other primary beliefs than "
        "their fine-grained ones imply."
    )
    said = "Both are kept as published; the tables show them."
    odd = Finding("hierarchy_differs", "note", "", len(places), places, message, said)
    return (
        *([odd] if places else ()),
        *overlap_findings(_named(data.there(folder, "seed")), _named(tests)),
    )


def key_matrix(task: LabelTask, examples: tuple[Example, ...]) -> LabelMatrix:
    """The experts' labels as a matrix, items in the order of the file."""
    return matrix_of_examples(examples, task.labels, "Experts")


def baseline_notes(folder: Path) -> tuple[str, ...]:
    """For each task, in a sentence, whom the best constant predictor beats in print."""
    notes = []
    for task, examples in data.there(folder).items():
        floors = label_baselines(key_matrix(task, examples))
        said = constant_sentence(data.printed_scores(task.key), floors, data.HUMAN)
        notes.append(f"{task.name}: {said}")
    return tuple(notes)


def _named(tests: Tests) -> Mapping[str, tuple[Example, ...]]:
    return {task.name: test for task, test in tests.items()}


def _labels(task: LabelTask, examples: tuple[Example, ...]) -> Section:
    primary = PRIMARY if task.key == "fc" else None
    title = f"{task.name}: labels ({_TABLES[task.key]})"
    return counts_section(title, examples, task.labels, primary, "Primary belief")


def _beliefs(tests: Tests) -> tuple[int, tuple[tuple[str, str, str], ...]]:
    return implied_differences(tests.get(TASKS["pc"], ()), tests.get(TASKS["fc"], ()), PRIMARY)


def _hierarchy(tests: Tests) -> Section:
    shared, rows = _beliefs(tests)
    heads = ("Item", "Primary beliefs given", "Implied by the fine-grained ones")
    return Section(
        "Primary beliefs against fine-grained ones",
        f"{len(rows)} of {shared} examples that stand in both test sets have other primary beliefs "
        "than their fine-grained ones imply (grouping as in the annotation form).",
        (Table(tuple(map(text, heads)), rows),),
    )

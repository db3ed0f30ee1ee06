"""The published files of level II, what the paper prints of them and of level III, as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from voirdire import tables
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
from voirdire.examining.printed import (
    PrintedAverage,
    PrintedMean,
    PrintedSum,
    averages_of,
    means_of,
    printed_checks,
    sums_of,
)
from voirdire.schema import Finding
from voirdire.tables import Example, check_pool
from voirdire.tabular import Section, Table, text
from voirdire_plugins.cbt_bench.labels import PRIMARY, TASKS, LabelTask, plain
from voirdire_plugins.resources import resource

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    Tests = Mapping[LabelTask, tuple[Example, ...]]

Split = Literal["test", "seed"]
#: What Zhang et al. (2025) print, table by table; published.toml says what each row holds.
PRINTED = resource("cbt_bench", "published")
HUMAN = "Human"
_PLACE = {"qa": 0, "cd": 1, "pc": 2, "fc": 3}


def path_of(folder: Path, task: LabelTask, split: Split = "test") -> Path:
    """Where a task's file lies."""
    return folder / f"{task.file}_{split}.json"


def read_examples(folder: Path, task: LabelTask, split: Split = "test") -> tuple[Example, ...]:
    """The examples of a task; see `voirdire.tables.read_examples`."""
    path, texts = path_of(folder, task, split), ("situation", "thoughts")
    labels = task.labels
    return tables.read_examples(path, texts, task.field, labels, name=task.name, plain=plain)


def read_seeds(folder: Path, task: LabelTask, k: int | None = None) -> tuple[Example, ...]:
    """The seed examples of a task, refused where one stands in its test set or `k` are too many.

    Seeds serve only their own task: 7 to 19 of the 20 of another are items of this one's test set.
    """
    seeds = read_examples(folder, task, "seed")
    check_pool(seeds, read_examples(folder, task), task.name, k)
    return seeds


def printed_scores(task: str) -> dict[str, float]:
    """Table 5's column of a task (``qa`` accuracy, else weighted F1), as shares.

    >>> printed_scores("pc")["Human"]
    0.776
    """
    return {model: round(row[_PLACE[task]] / 100, 4) for model, row in PRINTED["table_5"].items()}


def printed_numbers() -> tuple[list[PrintedAverage], list[PrintedSum], list[PrintedMean]]:
    """Averages, sums and means of level III: the last are of as many scores as the sums add up to.

    The means are those of Tables 8 and 23, and of Table 6.
    """
    overall, totals = PRINTED["table_6"], PRINTED["table_12"]
    sums = sums_of("Table 12", totals["rows"], totals["all"])
    sizes = [one.sums[0] for one in sums[:-1]]
    means = means_of("Tables 8 and 23", PRINTED["table_23"], sizes, "exercise", "criterion")
    six = {model: row["means"] for model, row in overall.items()}
    return (
        averages_of("Table 6", overall),
        sums,
        means + means_of("Table 6", six, sizes, "exercise"),
    )


def level_three() -> Section:
    """Printed numbers of level III that can be checked without the data."""
    averages, (*rows, whole), means = printed_numbers()
    note = "The exercises are not public; what can be checked are the printed sums and means."
    sums = [*(one for one in rows if not one.fits), whole]
    return printed_checks("Printed numbers of level III, checked", note, averages, sums, means)


def there(folder: Path, split: Split = "test") -> dict[LabelTask, tuple[Example, ...]]:
    """The examples of each task whose file is in a folder."""
    tasks = [task for task in TASKS.values() if path_of(folder, task, split).is_file()]
    return {task: read_examples(folder, task, split) for task in tasks}


_LENGTHS = {"situation": "Situation length", "thoughts": "Thought length"}
_SEEDS = "Seed examples that stand in a test set"
_SEEDS_SAID = (
    "By id or text. Seeds serve only their own task: pooled with those of another, most would show "
    "the answer to a test item, and voirdire refuses them."
)
_TABLES = {"cd": "Table 9", "pc": "Table 10", "fc": "Table 11"}


def data_sections(folder: Path) -> tuple[Section, ...]:
    """Every table that the files in a folder allow; tasks whose file is absent are left out."""
    tests = there(folder)
    printed = {task.name: PRINTED["table_3"][task.key] for task in tests}
    sizes = {task.name: described(test, task.labels) for task, test in tests.items()}
    sections = (
        described_section("Examples (Table 3)", sizes, printed, _LENGTHS),
        *(_labels(task, test) for task, test in tests.items()),
        *(
            printed_section(
                task.name, printed_scores(task.key), key_matrix(task, test), HUMAN
            )
            for task, test in tests.items()
        ),
        overlap_section(_SEEDS, _SEEDS_SAID, _named(there(folder, "seed")), _named(tests)),
        _hierarchy(tests),
        level_three(),
    )  # fmt: skip
    return tuple(section for section in sections if section.has_rows)


def data_findings(folder: Path) -> tuple[Finding, ...]:
    """What is odd in the files: beliefs that do not fit, seeds that are test items elsewhere."""
    tests = there(folder)
    shared, rows = _beliefs(tests)
    places = tuple(item for item, _, _ in rows)
    message = (
        f"{len(places)} of {shared} examples of both belief tasks have other primary beliefs than "
        "their fine-grained ones imply."
    )
    consequence = "Both are kept as published; the tables show them."
    odd = Finding("hierarchy_differs", "note", "", len(places), places, message, consequence)
    return (
        *([odd] if places else ()),
        *overlap_findings(_named(there(folder, "seed")), _named(tests)),
    )


def key_matrix(task: LabelTask, examples: tuple[Example, ...]) -> LabelMatrix:
    """The experts' labels as a matrix, items in the order of the file."""
    return matrix_of_examples(examples, task.labels, "Experts")


def baseline_notes(folder: Path) -> tuple[str, ...]:
    """For each task, in a sentence, whom the best constant predictor beats in print."""
    notes = []
    for task, examples in there(folder).items():
        floors = label_baselines(key_matrix(task, examples))
        sentence = constant_sentence(printed_scores(task.key), floors, HUMAN)
        notes.append(f"{task.name}: {sentence}")
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

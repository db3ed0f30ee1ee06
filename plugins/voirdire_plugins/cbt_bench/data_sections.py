"""What the published files hold, as tables: statistics, labels, seeds, hierarchy, baselines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voirdire.examining.labels import (
    LabelMatrix,
    constant_sentence,
    matrix_of_names,
    printed_section,
)
from voirdire.examining.labels import baselines as label_baselines
from voirdire.schema import Finding
from voirdire.tabular import Marked, Section, Table, count, number, text
from voirdire_plugins.cbt_bench import published
from voirdire_plugins.cbt_bench.data import (
    check_hierarchy,
    label_counts,
    path_of,
    read_examples,
    statistics,
)
from voirdire_plugins.cbt_bench.labels import TASKS, LabelTask, primary_of
from voirdire_plugins.cbt_bench.seeds import overlap

if TYPE_CHECKING:
    from pathlib import Path

    from voirdire_plugins.cbt_bench.data import Example


def data_sections(folder: Path) -> tuple[Section, ...]:
    """Every table that the files in a folder allow; tasks whose file is absent are left out."""
    tests = _tests(folder)
    sections = (
        _statistics(tests),
        *(_labels(TASKS[key], tests[key]) for key in tests),
        *(baselines(TASKS[key], tests[key]) for key in tests),
        _seeds(folder, tests),
        _hierarchy(tests),
        printed_checks(),
    )
    return tuple(section for section in sections if section.has_rows)


def _tests(folder: Path) -> dict[str, tuple[Example, ...]]:
    """The test set of each task whose file is there."""
    there = {key: task for key, task in TASKS.items() if path_of(folder, task).is_file()}
    return {key: read_examples(folder, task) for key, task in there.items()}


def data_findings(folder: Path) -> tuple[Finding, ...]:
    """What is odd in the files: beliefs that do not fit, seeds that are test items elsewhere."""
    tests = _tests(folder)
    found: list[Finding] = []
    if {"pc", "fc"} <= set(tests):
        check = check_hierarchy(tests["pc"], tests["fc"])
        places = tuple(item for item, _, _ in check.differing)
        message = (
            f"{len(places)} of {check.shared} examples of both belief tasks have other primary "
            "beliefs than their fine-grained ones imply."
        )
        said = "Both are kept as published; the tables show them."
        if places:
            found.append(
                Finding("hierarchy_differs", "note", "", len(places), places, message, said)
            )
    for task in TASKS.values():
        if not path_of(folder, task, "seed").is_file():
            continue
        seeds = read_examples(folder, task, "seed")
        elsewhere = {i for key in tests if key != task.key for i in overlap(seeds, tests[key])}
        if elsewhere:
            message = f"{len(elsewhere)} of {len(seeds)} seeds stand in another task's test set."
            found.append(
                Finding(
                    "seeds_are_test_items",
                    "note",
                    f"{task.name} seeds",
                    len(elsewhere),
                    tuple(sorted(elsewhere)),
                    message,
                    "They serve only their own task; a pool of several tasks is refused.",
                )
            )
    return tuple(found)


def key_matrix(task: LabelTask, examples: tuple[Example, ...]) -> LabelMatrix:
    """The experts' labels as a matrix, items in the order of the file."""
    named = [[label for label in example.labels if label in task.labels] for example in examples]
    items = [example.id for example in examples]
    return matrix_of_names(named, task.labels, items=items, rater="Experts")


def baseline_notes(folder: Path) -> tuple[str, ...]:
    """For each task, in a sentence, whom the best constant predictor beats in print."""
    return tuple(
        f"{TASKS[key].name}: "
        + constant_sentence(
            published.printed_scores(key),
            label_baselines(key_matrix(TASKS[key], examples)),
            published.HUMAN,
        )
        for key, examples in _tests(folder).items()
    )


def baselines(task: LabelTask, examples: tuple[Example, ...]) -> Section:
    """Table 5's F1 of a task beside what needs no reading of any item."""
    printed = published.printed_scores(task.key)
    return printed_section(task.name, printed, key_matrix(task, examples), published.HUMAN)


def _statistics(tests: dict[str, tuple[Example, ...]]) -> Section:
    rows = []
    for key, examples in tests.items():
        found, printed = statistics(examples, TASKS[key]), published.TABLE_3[key]
        lengths = (found.situation, found.thoughts, found.mean_labels)
        values = (found.examples, found.labels, *lengths)
        cells = (Marked(v, f" ({p})") for v, p in zip(values, printed, strict=True))
        rows.append((TASKS[key].name, *cells, found.most_labels))
    columns = (
        text("Task"),
        count("Examples"),
        count("Labels"),
        number("Situation length", 1),
        number("Thought length", 1),
        number("Labels an example", 1),
        count("Most labels"),
    )
    return Section(
        "Examples (Table 3)",
        "From the files, the printed value in brackets; lengths in characters.",
        (Table(columns, tuple(rows)),),
    )


def _labels(task: LabelTask, examples: tuple[Example, ...]) -> Section:
    counts = label_counts(examples, task)
    primary = {label: primary_of(label) for label in task.labels} if task.key == "fc" else {}
    rows = [
        (*((primary[label],) if primary else ()), label, n, n / len(examples))
        for label, n in counts.items()
    ]
    heads = (*(("Primary belief",) if primary else ()), "Label")
    return Section(
        f"{task.name}: labels ({_TABLES[task.key]})",
        "How many examples carry each label, and their share.",
        (Table((*map(text, heads), count("Examples"), number("Share")), tuple(rows)),),
    )


_TABLES = {"cd": "Table 9", "pc": "Table 10", "fc": "Table 11"}


def _seeds(folder: Path, tests: dict[str, tuple[Example, ...]]) -> Section:
    rows = []
    for task in TASKS.values():
        if path_of(folder, task, "seed").is_file():
            seeds = read_examples(folder, task, "seed")
            shared = (len(overlap(seeds, tests[key])) for key in tests)
            rows.append((f"{task.name} seeds", len(seeds), *shared))
    heads = ("Examples", *(f"in {TASKS[key].name}" for key in tests))
    return Section(
        "Seed examples that stand in a test set",
        "By id or text. Seeds serve only their own task: pooled with those of another, most would "
        "show the answer to a test item, and voirdire refuses them.",
        (Table((text("Seeds"), *map(count, heads)), tuple(rows)),),
    )


def _hierarchy(tests: dict[str, tuple[Example, ...]]) -> Section:
    if not {"pc", "fc"} <= set(tests):
        return Section("Primary beliefs")
    found = check_hierarchy(tests["pc"], tests["fc"])
    heads = ("Item", "Primary beliefs given", "Implied by the fine-grained ones")
    columns = tuple(map(text, heads))
    rows = tuple((item, "; ".join(given), "; ".join(due)) for item, given, due in found.differing)
    return Section(
        "Primary beliefs against fine-grained ones",
        f"{len(found.differing)} of {found.shared} examples that stand in both test sets have "
        "other primary beliefs than their fine-grained ones imply (grouping as in the annotation "
        "form).",
        (Table(columns, rows),),
    )


def printed_checks() -> Section:
    """Printed numbers of level III that can be checked without the data."""
    rows = [
        (
            "Table 6",
            f"{model}, average",
            f"{average:.2f}",
            f"{np.mean(values):.4f} (mean of ten)",
            "fits" if abs(np.mean(values) - average) <= 0.005 + 1e-9 else "does not fit",
        )
        for model, (values, average) in published.TABLE_6.items()
    ]
    rows += [
        ("Table 12", f"row {place}", str(all_), f"{sum(parts)} (sum of its parts)", "does not fit")
        for place, (all_, *parts) in enumerate(published.TABLE_12, start=1)
        if all_ != sum(parts)
    ]
    sums = tuple(sum(row[1:][i] for row in published.TABLE_12) for i in range(3))
    whole = (sum(sums), *sums)
    fits = "fits" if whole == published.TABLE_12_ALL else "does not fit"
    rows.append(("Table 12", "all", str(published.TABLE_12_ALL), f"{whole} (of parts)", fits))
    rows += [
        (
            f"Table {table}",
            f"{model}, exercise {exercise}" + (f", criterion {criterion}" if criterion else ""),
            f"{mean:.2f}",
            f"no mean of {n} whole scores",
            "impossible",
        )
        for table, model, exercise, criterion, mean, n in published.impossible_means()
    ]
    heads = ("Where", "What", "Printed", "Computed", "Result")
    return Section(
        "Printed numbers of level III, checked",
        "The exercises themselves are not public; what can be checked are the printed sums and "
        "means.",
        (Table(tuple(map(text, heads)), tuple(rows)),),
    )

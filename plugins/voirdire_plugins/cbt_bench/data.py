"""The published files of level II, and what the paper prints of them and of level III."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from voirdire import tables
from voirdire.examining.printed import (
    PrintedAverage,
    PrintedMean,
    PrintedSum,
    averages_of,
    means_of,
    printed_checks,
    sums_of,
)
from voirdire.tables import Example, check_pool
from voirdire_plugins.cbt_bench.labels import TASKS, LabelTask, plain
from voirdire_plugins.resources import resource

if TYPE_CHECKING:
    from pathlib import Path

    from voirdire.tabular import Section

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
    said = "The exercises are not public; what can be checked are the printed sums and means."
    sums = [*(one for one in rows if not one.fits), whole]
    return printed_checks("Printed numbers of level III, checked", said, averages, sums, means)


def there(folder: Path, split: Split = "test") -> dict[LabelTask, tuple[Example, ...]]:
    """The examples of each task whose file is in a folder."""
    known = [task for task in TASKS.values() if path_of(folder, task, split).is_file()]
    return {task: read_examples(folder, task, split) for task in known}

"""One cell of a comparison: a configuration, a label set and a task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from voirdire._errors import TableError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Task = Literal["binary", "multi-class", "multi-label"]
TASKS: tuple[Task, ...] = get_args(Task)
_FORMS: dict[str, Task] = {
    "binary": "binary",
    "multiclass": "multi-class",
    "multilabel": "multi-label",
}


@dataclass(frozen=True, slots=True)
class Tested:
    """Predictions on a test set: truth (items, labels), predicted (seeds, items, labels)."""

    truth: NDArray[np.float64]
    predicted: NDArray[np.float64]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Printed:
    """What a paper prints: F1, and the baseline or the shares (or supports) of the classes."""

    f1: float
    sd: float | None = None
    f1_random: float | None = None
    shares: tuple[float, ...] = ()
    n: int | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """Where a result stands, and what is known of it."""

    source: str
    configuration: str
    labels: str
    task: Task
    found: Tested | Printed


def task_of(text: str, where: str) -> Task:
    """The task of that name, however it is spelled.

    >>> task_of("Multi-Label", "results.csv, row 2")
    'multi-label'
    """
    form = "".join(sign for sign in text.casefold() if sign.isalpha())
    if form not in _FORMS:
        raise TableError(f"{where}, column 'task': must be one of {TASKS}, got {text!r}")
    return _FORMS[form]

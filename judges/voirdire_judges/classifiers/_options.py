"""Checks that every classifier makes of its task and its training data."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from voirdire._errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

TASKS = ("binary", "multi-class", "multi-label")
T = TypeVar("T")


def check_task(task: str, classes: Sequence[str], name: str) -> None:
    """Raise `InputError` unless task and classes fit together.

    >>> check_task("binary", ["a"], "tfidf")
    Traceback (most recent call last):
    voirdire._errors.InputError: tfidf: a binary task needs 2 classes, got ['a']
    """
    if task not in TASKS:
        raise InputError(f"{name}: task must be one of {TASKS}, got {task!r}")
    if isinstance(classes, str) or len(set(classes)) != len(classes) or not classes:
        raise InputError(f"{name}: classes must be names that differ, got {classes!r}")
    if task == "binary" and len(classes) != 2:
        raise InputError(f"{name}: a binary task needs 2 classes, got {list(classes)}")


def check_training(
    texts: Sequence[str], labels: NDArray[np.int8], classes: Sequence[str], name: str
) -> None:
    """Raise `InputError` unless there is a 0/1 row of labels for every text."""
    given = np.asarray(labels)
    if given.shape != (len(texts), len(classes)):
        raise InputError(
            f"{name}: labels must have shape ({len(texts)}, {len(classes)}), got {given.shape}"
        )
    if not len(texts):
        raise InputError(f"{name}: there are no training texts")
    if not np.isin(given, (0, 1)).all():
        raise InputError(f"{name}: labels must be 0 or 1")


def fitted(trained: T | None, name: str) -> T:
    """What was learnt, or an `InputError` that nothing was yet."""
    if trained is None:
        raise InputError(f"{name}: not trained yet: call fit or load first")
    return trained

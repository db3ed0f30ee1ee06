"""Checks of what classifiers are made with, learn from and hand over."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from voirdire.errors import InputError, PluginError, check_allowed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from voirdire.protocols import Classifier

TASKS = ("binary", "multi-class", "multi-label")
T = TypeVar("T")


def check_task(task: str, classes: Sequence[str], name: str) -> None:
    """Raise `InputError` unless task and classes fit together.

    >>> check_task("binary", ["a"], "tfidf")
    Traceback (most recent call last):
    voirdire.errors.InputError: tfidf: a binary task needs 2 classes, got ['a']
    """
    check_allowed("task", [task], TASKS, name)
    # A text is a sequence too, of its letters.
    if isinstance(classes, str) or len(set(classes)) != len(classes) or not classes:
        raise InputError(f"{name}: classes must be names that differ, got {classes!r}")
    if task == "binary" and len(classes) != 2:
        raise InputError(f"{name}: a binary task needs 2 classes, got {list(classes)}")


def check_training(
    texts: Sequence[str], labels: NDArray[np.int8], classes: Sequence[str], task: str, name: str
) -> None:
    """Raise `InputError` unless there is a 0/1 row for every text, of one class where one is asked.

    >>> labels = np.array([[1, 0], [0, 0]], dtype=np.int8)
    >>> check_training(["one", "two"], labels, ["a", "b"], "multi-class", "tfidf")
    Traceback (most recent call last):
    voirdire.errors.InputError: tfidf: a multi-class text has one class, text 1 has 0
    """
    given = np.asarray(labels)
    if given.shape != (len(texts), len(classes)):
        raise InputError(
            f"{name}: labels must have shape ({len(texts)}, {len(classes)}), got {given.shape}"
        )
    if not len(texts):
        raise InputError(f"{name}: there are no training texts")
    # Missing labels cannot be learnt from: rows that lack them were left out before.
    if not np.isin(given, (0, 1)).all():
        raise InputError(f"{name}: labels must be 0 or 1")
    count = given.sum(axis=1)
    if task != "multi-label" and (count != 1).any():
        row = int(np.flatnonzero(count != 1)[0])
        raise InputError(f"{name}: a {task} text has one class, text {row} has {count[row]}")


def read_card(path: Path, classes: Sequence[str], task: str, name: str) -> dict[str, Any]:
    """The JSON card of a saved classifier; an `InputError` unless it is one for this task."""
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(
            f"{path.parent}: holds no trained {name} classifier (no {path.name})"
        ) from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({error})") from None
    # Columns of scores have no names: in another order they would be other classes.
    if card["classes"] != list(classes) or card["task"] != task:
        raise InputError(
            f"{path.parent}: holds a {card['task']} classifier for {card['classes']}, not a "
            f"{task} one for {list(classes)}"
        )
    checked: dict[str, Any] = card
    return checked


def fitted(trained: T | None, name: str) -> T:
    """What was learnt, or an `InputError` that nothing was yet."""
    if trained is None:
        raise InputError(f"{name}: not trained yet: call fit or load first")
    return trained


def checked_classifier(made: Any, whose: str) -> Classifier:
    """An object that can be fitted and asked.

    Raises
    ------
    PluginError
        It lacks `fit` or `predict`.
    """
    lacking = [name for name in ("fit", "predict") if not callable(getattr(made, name, None))]
    if lacking:
        raise PluginError(
            f"{whose} must be a classifier, got {type(made).__name__} without {lacking[0]!r}"
        )
    classifier: Classifier = made
    return classifier


def scores_of(trained: Classifier, texts: Sequence[str], classes: int) -> NDArray[np.float64]:
    """What a classifier predicts: one row a text, one column a class.

    Raises
    ------
    PluginError
        It is no array of numbers of that shape.
    """
    predicted = trained.predict(texts)
    try:
        scores = np.asarray(predicted, dtype=np.float64)
    except (TypeError, ValueError):
        raise PluginError(f"predict must return numbers, got {type(predicted).__name__}") from None
    if scores.shape != (len(texts), classes):
        raise PluginError(
            f"predict must return one row a text and one column a class, "
            f"({len(texts)}, {classes}), got {scores.shape}"
        )
    return scores

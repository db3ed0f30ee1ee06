"""The contract of classifiers: fit and predict, a row a text and a column a class."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import InputError
from voirdire.protocols import Trainable
from voirdire.testing.checks import Checks, name_of
from voirdire.testing.hostile import TEXTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

TASKS = ("binary", "multi-class", "multi-label")
_CLASSES = ("calm", "worried")
_TEXTS = [
    f"{opening} {word} about the {thing}"
    for opening, word in (("I am calm and", "glad"), ("I am worried and", "afraid"))
    for thing in ("train", "letter", "river", "garden", "work", "evening")
]
_LABELS = np.repeat(np.eye(2, dtype=np.int8), 6, axis=0)
_SHAPE = "predict returns one row a text and one column a class: np.ndarray of (texts, classes)."
_SEED = "Draw at random only from np.random.default_rng(seed), with the seed of the factory."


def check_classifier(make: Any, *, tasks: tuple[str, ...] = TASKS, **options: Any) -> None:
    """Check a classifier's factory, as `voirdire_register_classifiers` names it. It trains it.

    Parameters
    ----------
    make : callable
        ``make(classes, *, task, seed=0, **options) -> Classifier``.
    tasks : tuple of str
        Of "binary", "multi-class" and "multi-label" those that it serves; one that it refuses by
        a `voirdire.InputError` is left out, so long as one remains.
    options
        As a study's options would be.

    Raises
    ------
    InputError
        It serves none of the tasks, in its own words.
    ContractError
        All that does not hold, with a hint each.

    Examples
    --------
    >>> from voirdire_judges.classifiers.tfidf import make
    >>> check_classifier(make)
    """
    checks = Checks(f"the classifier {name_of(make)}")
    refused: list[InputError] = []
    for task in tasks:
        try:
            checks.made(make, _CLASSES, task=task, seed=1, **options)
        except InputError as error:
            # Most classifiers serve some of the tasks: a refusal in its own words is an answer.
            refused.append(error)
        else:
            _check_task(checks, make, task, options)
    if len(refused) == len(tasks):
        raise refused[0]
    checks.done()


def _check_task(checks: Checks, make: Any, task: str, options: dict[str, Any]) -> None:
    # A copy, to see whether `fit` writes into what it was given.
    labels = _LABELS.copy()
    with checks.safely(f"{task}: fit raises on twelve short texts", "See Classifier in protocols."):
        trained = make(_CLASSES, task=task, seed=1, **options).fit(_TEXTS, labels)
        checks.hold(
            np.array_equal(labels, _LABELS), f"{task}: fit changes the labels", "Copy them first."
        )
        if not checks.hold(
            callable(getattr(trained, "predict", None)),
            f"{task}: fit returns {type(trained).__name__}",
            "fit returns the fitted classifier (`return self`).",
        ):
            return
        _check_scores(checks, trained, task)
        # Made anew: a second `fit` of the same object may go on from the first.
        again = make(_CLASSES, task=task, seed=1, **options).fit(_TEXTS, labels)
        checks.hold(
            _same(trained.predict(_TEXTS), again.predict(_TEXTS)),
            f"{task}: two trainings with one seed predict differently",
            _SEED,
        )
        if isinstance(trained, Trainable):
            _check_saved(checks, make, trained, task, options)


def _check_scores(checks: Checks, trained: Any, task: str) -> None:
    scores = np.asarray(trained.predict(_TEXTS), dtype=np.float64)
    checks.hold(scores.shape == (12, 2), f"{task}: predict returns shape {scores.shape}", _SHAPE)
    defined = scores[~np.isnan(scores)]
    checks.hold(
        np.isfinite(defined).all() and (defined >= 0).all() and (defined <= 1).all(),
        f"{task}: scores lie outside [0, 1]",
        "A score is a probability or a decision from 0 to 1, NaN where there is none.",
    )
    checks.hold(
        # Turned round, texts stand in other batches and in other places of them.
        _same(np.asarray(trained.predict(_TEXTS[::-1]))[::-1], scores),
        f"{task}: a text's scores depend on the texts beside it, or change from call to call",
        "Predict each text by itself, and keep nothing between calls.",
    )
    with checks.safely(f"{task}: predict raises on no text", _SHAPE):
        empty = np.asarray(trained.predict([]), dtype=np.float64)
        checks.hold(empty.shape == (0, 2), f"{task}: no text gives shape {empty.shape}", _SHAPE)
    with checks.safely(f"{task}: predict raises on hostile or empty texts", "NaN is an answer."):
        odd = np.asarray(trained.predict(list(TEXTS)), dtype=np.float64)
        checks.hold(odd.shape == (len(TEXTS), 2), f"{task}: odd texts lose rows", _SHAPE)


def _check_saved(
    checks: Checks, make: Any, trained: Any, task: str, options: dict[str, Any]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        trained.save(Path(folder))
        # A new object: the one that was saved still knows all that it forgot to write.
        loaded = make(_CLASSES, task=task, seed=1, **options).load(Path(folder))
        checks.hold(
            _same(loaded.predict(_TEXTS), trained.predict(_TEXTS)),
            f"{task}: what is loaded predicts otherwise than what was saved",
            "save writes all that predict needs, and load reads it back.",
        )


def _same(one: Any, other: Any) -> bool:
    first: NDArray[np.float64] = np.asarray(one, dtype=np.float64)
    second: NDArray[np.float64] = np.asarray(other, dtype=np.float64)
    # Batches of another order may differ by round-off in float32.
    return first.shape == second.shape and np.allclose(first, second, atol=1e-5, equal_nan=True)

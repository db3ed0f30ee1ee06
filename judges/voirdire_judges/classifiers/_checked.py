"""What a plugin's classifier hands over, checked where it comes in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import PluginError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from voirdire.protocols import Classifier


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

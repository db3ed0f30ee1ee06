"""Adversarial validation: can a plain classifier tell two corpora apart?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats import classification_scores, roc_auc

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.stats import Estimate


@dataclass(frozen=True, slots=True)
class AdversarialValidation:
    """How well the target corpus is told from the source, on texts held out in turn.

    Attributes
    ----------
    accuracy, f1_macro, mcc : Estimate
        Of the labels predicted.
    roc_auc : Estimate
        From the scores, not from the labels: hard labels make it the mean of two recalls.
    auc_of_labels : float
        What the area would be from hard labels, for comparison with tables printed so.
    share_target : float
        Accuracy of always saying the larger corpus is at least ``max(share, 1 - share)``.
    left_out : int
        Empty texts.
    repeated : int
        Texts that stand more than once, in one corpus or in both, up to case and white space. They
        are held out together: else a text in both corpora is learnt with one label and tested with
        the other, and the area falls far below 0.5.
    """

    accuracy: Estimate
    f1_macro: Estimate
    roc_auc: Estimate
    mcc: Estimate
    auc_of_labels: float
    share_target: float
    left_out: int
    repeated: int


def adversarial_validation(
    source: Sequence[str | None],
    target: Sequence[str | None],
    *,
    ngrams: tuple[int, int] = (1, 2),
    folds: int = 5,
    seed: int = 0,
) -> AdversarialValidation:
    """Tell two corpora apart by TF-IDF of n-grams and logistic regression, cross-validated.

    The vocabulary is learnt inside each fold. An area near 0.5 or an MCC near 0 means that the
    corpora cannot be told apart by words; a high value says that they differ (in topic, length,
    spelling, source), and nothing on which has the better labels.

    Parameters
    ----------
    source, target : sequence of str
        Class 0 and class 1; empty texts are left out and counted.
    ngrams : tuple of int
        Shortest and longest n-gram, of words.
    folds : int
        Stratified and shuffled by `seed`; each side needs as many different texts.

    Raises
    ------
    StatisticsError
        A side has fewer different texts than folds, or no text has a word.

    References
    ----------
    Hengle, A. et al. (2024), 4.2 and Table 8.

    Examples
    --------
    >>> wine, tea = ([f"{word} {n}" for n in range(10, 16)] for word in ("wine", "tea"))
    >>> told_apart = adversarial_validation(wine, tea, folds=2)
    >>> told_apart.roc_auc.value, told_apart.repeated
    (1.0, 0)
    """
    kept = [[text for text in side if text and text.strip()] for side in (source, target)]
    different = [len(set(_groups(side))) for side in kept]
    if folds < 2 or min(different) < folds:
        raise StatisticsError(
            f"folds must be 2 or more and each corpus hold as many different texts, got {folds} "
            f"folds, {different[0]} and {different[1]} texts"
        )
    truth = np.repeat([0, 1], [len(kept[0]), len(kept[1])])
    scores = _held_out([*kept[0], *kept[1]], truth, ngrams, folds, seed)
    # Half, whatever the share of the target: MCC and macro-F1 are read beside the shares.
    labels = (scores > 0.5).astype(np.int64)
    classification = classification_scores(truth, labels, labels=[0, 1])
    return AdversarialValidation(
        classification["accuracy"],
        classification["f1_macro"],
        roc_auc(truth, scores),
        classification["mcc"],
        roc_auc(truth, labels).value,
        float(truth.mean()),
        len(source) + len(target) - len(truth),
        len(truth) - len(set(_groups([*kept[0], *kept[1]]))),
    )


def _held_out(
    texts: list[str], truth: np.ndarray, ngrams: tuple[int, int], folds: int, seed: int
) -> np.ndarray:
    """The score of each text by a model that has not seen it."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415 - slow to import
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - slow to import
    from sklearn.model_selection import (  # noqa: PLC0415 - slow to import
        StratifiedGroupKFold,
        StratifiedKFold,
        cross_val_predict,
    )
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415 - slow to import

    model = make_pipeline(TfidfVectorizer(ngram_range=ngrams), LogisticRegression(max_iter=1000))
    groups = _groups(texts)
    alone = len(set(groups)) == len(groups)
    # Groups only where a text repeats: their folds are less even, and slower to find.
    kind = StratifiedKFold if alone else StratifiedGroupKFold
    parts = kind(folds, shuffle=True, random_state=seed)
    try:
        predicted = cross_val_predict(
            model, texts, truth, cv=parts, groups=None if alone else groups, method="predict_proba"
        )
    except ValueError as error:
        raise StatisticsError(f"these corpora cannot be vectorised: {error}") from error
    scores: np.ndarray = predicted[:, 1]
    return scores


def _groups(texts: list[str]) -> list[str]:
    """What makes a text the same text."""
    return [" ".join(text.casefold().split()) for text in texts]

"""`tfidf`: words weighted by how rare they are, and a logistic regression; fast, no extra."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import InputError
from voirdire.examining.labels import choose_thresholds, decide, weighted_f1
from voirdire_judges.classifiers._checks import check_task, check_training, fitted, read_card

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_FILE = "tfidf.npz"
_CARD = "tfidf.json"


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """What was learnt: terms with their idf, and one row of weights a class."""

    terms: tuple[str, ...]
    idf: Floats
    weights: Floats
    bias: Floats
    c: float


@dataclass(frozen=True, slots=True, eq=False)
class TfidfClassifier:
    """TF-IDF and logistic regression: softmax over classes, or one regression a label."""

    classes: tuple[str, ...]
    task: str
    ngrams: tuple[int, int] = (1, 2)
    min_df: int = 1
    c: tuple[float, ...] = (1.0, 10.0, 100.0)
    trained: Weights | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """The penalty that was chosen; and that the seed changes nothing."""
        if self.trained is None:
            return ()
        return (f"C = {self.trained.c:g}; the training has no random part: all seeds agree",)

    def fit(
        self,
        texts: Sequence[str],
        labels: NDArray[np.int8],
        *,
        validation: tuple[Sequence[str], NDArray[np.int8]] | None = None,
        folder: Path | None = None,  # noqa: ARG002 - trains in seconds: nothing to go on from
        progress: Callable[[str, int, int], None] | None = None,
    ) -> TfidfClassifier:
        """Learn; the penalty is the one of `c` with the best F1 on validation data.

        Raises
        ------
        InputError
            No text holds a word, or shapes do not fit.
        """
        check_training(texts, labels, self.classes, self.task, "tfidf")
        vectorizer, rows = self._vectors(texts)
        best, most = self, -np.inf
        # Without dev there is nothing to choose by.
        tried = self.c if validation else self.c[:1]
        for done, c in enumerate(tried, start=1):
            weights = _learn(vectorizer, rows, np.asarray(labels), self.task, c)
            classifier = replace(self, trained=weights)
            f1 = _reached(classifier, validation) if validation else 0.0
            # Of equal ones the first, which is the strongest penalty where `c` rises.
            if best.trained is None or f1 > most:
                best, most = classifier, f1
            if progress:
                progress(f"C = {c:g}", done, len(tried))
        return best

    def predict(self, texts: Sequence[str]) -> Floats:
        """Probabilities of the classes; NaN for a blank text."""
        from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415 - slow

        trained = fitted(self.trained, "tfidf")
        if len(texts) == 0:  # of which scikit-learn makes an error
            return np.empty((0, len(self.classes)))
        # Terms and weights are kept as arrays and a list: a pickled vectorizer would be
        # code.
        vectorizer = TfidfVectorizer(vocabulary=list(trained.terms), **self._how())
        vectorizer.idf_ = trained.idf
        margins = vectorizer.transform(texts) @ trained.weights.T + trained.bias
        scores = _softmax(margins) if self.task != "multi-label" else _sigmoid(margins)
        scores[[not text.strip() for text in texts]] = np.nan
        return scores

    def save(self, folder: Path) -> None:
        """Arrays and a JSON card; no pickle."""
        trained = fitted(self.trained, "tfidf")
        folder.mkdir(parents=True, exist_ok=True)
        np.savez(folder / _FILE, idf=trained.idf, weights=trained.weights, bias=trained.bias)
        card = {
            "classes": self.classes,
            "task": self.task,
            "ngrams": self.ngrams,
            "terms": trained.terms,
            "c": trained.c,
        }
        (folder / _CARD).write_text(json.dumps(card), encoding="utf-8")

    def load(self, folder: Path) -> TfidfClassifier:
        """What `save` wrote.

        Raises
        ------
        InputError
            The folder holds no classifier, or one for other classes.
        """
        card = read_card(folder / _CARD, self.classes, self.task, "tfidf")
        with np.load(folder / _FILE) as kept:
            trained = Weights(
                tuple(card["terms"]), kept["idf"], kept["weights"], kept["bias"], card["c"]
            )
        return replace(self, ngrams=tuple(card["ngrams"]), trained=trained)

    def _vectors(self, texts: Sequence[str]) -> tuple[Any, Any]:
        from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415 - slow

        vectorizer = TfidfVectorizer(min_df=self.min_df, **self._how())
        try:
            return vectorizer, vectorizer.fit_transform(texts)
        except ValueError as error:
            raise InputError(f"tfidf: the training texts hold no words ({error})") from None

    def _how(self) -> dict[str, Any]:
        return {"ngram_range": self.ngrams, "sublinear_tf": True, "strip_accents": "unicode"}


def make(
    classes: Sequence[str],
    *,
    task: str,
    seed: int = 0,  # noqa: ARG001 - nothing here is drawn at random
    ngrams: Sequence[int] = (1, 2),
    min_df: int = 1,
    c: Sequence[float] | float = (1.0, 10.0, 100.0),
) -> TfidfClassifier:
    """The baseline (`use = "tfidf"`).

    Parameters
    ----------
    classes, task, seed
        See `voirdire.protocols.ClassifierFactory`; the seed changes nothing.
    ngrams : (int, int)
        Shortest and longest runs of words that count as a term.
    min_df : int
        Texts in which a term must occur.
    c : float or sequence of float
        Inverse penalties; of several, the one with the best validation F1 is kept.

    Raises
    ------
    InputError
        An option is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> texts = ["calm sea", "calm lake", "loud road", "loud train"]
    >>> labels = np.eye(2, dtype=np.int8)[[0, 0, 1, 1]]
    >>> trained = make(["calm", "loud"], task="binary").fit(texts, labels)
    >>> trained.predict(["calm road by the calm lake", " "]).round(1).tolist()
    [[0.6, 0.4], [nan, nan]]
    """
    check_task(task, classes, "tfidf")
    whole = all(map(_is_whole, (min_df, *ngrams)))
    if not whole or len(ngrams) != 2 or not 1 <= ngrams[0] <= ngrams[1] or min_df < 1:
        raise InputError(
            "tfidf: ngrams must be two whole numbers, the shortest and the longest run, and min_df "
            f"1 or more, got {ngrams!r} and {min_df!r}"
        )
    return TfidfClassifier(tuple(classes), task, (ngrams[0], ngrams[1]), min_df, _penalties(c))


def _penalties(c: Any) -> tuple[float, ...]:
    penalties = (c,) if isinstance(c, int | float) else tuple(c)
    if not penalties or not all(isinstance(one, int | float) and one > 0 for one in penalties):
        raise InputError(f"tfidf: c must be one number above 0 or several, got {c!r}")
    return tuple(map(float, penalties))


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _learn(vectorizer: Any, rows: Any, labels: NDArray[np.int8], task: str, c: float) -> Weights:
    terms = tuple(vectorizer.get_feature_names_out().tolist())
    if task == "multi-label":
        pairs = [_one(rows, labels[:, column], c) for column in range(labels.shape[1])]
        weights, bias = np.stack([w for w, _ in pairs]), np.array([b for _, b in pairs])
    else:
        weights, bias = _exclusive(rows, labels, c)
    return Weights(terms, np.asarray(vectorizer.idf_), weights, bias, c)


def _one(rows: Any, truth: NDArray[np.int8], c: float) -> tuple[Floats, float]:
    """One label against the rest; a label that all or no texts have is always said so."""
    # A regression on one class alone is an error of scikit-learn's.
    if truth.min() == truth.max():
        return np.zeros(rows.shape[1]), np.inf if truth[0] else -np.inf
    model = _regression(c).fit(rows, truth)
    return model.coef_[0], float(model.intercept_[0])


def _exclusive(rows: Any, labels: NDArray[np.int8], c: float) -> tuple[Floats, Floats]:
    """Softmax over the classes that occur; one that never occurs has probability 0."""
    truth = labels.argmax(axis=1)
    present = np.unique(truth)
    weights = np.zeros((labels.shape[1], rows.shape[1]))
    bias = np.full(labels.shape[1], -np.inf)
    bias[present] = 0.0
    if len(present) > 1:
        model = _regression(c).fit(rows, truth)
        # Of two classes scikit-learn fits one row, the second's; the first keeps zeros,
        # which is the same softmax.
        where = present[1:] if len(present) == 2 else present
        weights[where], bias[where] = model.coef_, model.intercept_
    return weights, bias


def _regression(c: float) -> Any:
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - slow

    return LogisticRegression(C=c, max_iter=2000)


def _reached(
    classifier: TfidfClassifier, validation: tuple[Sequence[str], NDArray[np.int8]]
) -> float:
    texts, truth = validation
    scores = classifier.predict(texts)
    chosen = choose_thresholds(
        scores, truth, "shared" if classifier.task == "multi-label" else "fixed"
    )
    return weighted_f1(truth, decide(scores, classifier.task, chosen))


def _softmax(margins: Floats) -> Floats:
    # Less the largest, so that nothing overflows; shares do not change.
    grown = np.exp(margins - margins.max(axis=1, keepdims=True))
    shares: Floats = grown / grown.sum(axis=1, keepdims=True)
    return shares


def _sigmoid(margins: Floats) -> Floats:
    from scipy.special import expit  # noqa: PLC0415 - slow

    shares: Floats = expit(margins)
    return shares

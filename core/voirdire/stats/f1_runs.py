"""Weighted F1 of several trained models on one test set, and how far it lies above chance."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._arrays import Floats, numbers
from voirdire.stats._patterns import resampled_counts
from voirdire.stats._results import Estimate, Interval, Result
from voirdire.stats.chance import best_constant_f1, kappa_f1, random_f1
from voirdire.stats.intervals import AskedIntervals, percentile_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True, eq=False)
class F1AboveChance(Result):
    """Weighted F1, its baselines, and kappa_F1.

    Attributes
    ----------
    f1 : Estimate
        The mean over seeds; details hold ``sd`` over seeds, ``by_seed`` and ``missing``.
    random, constant : Estimate
        From `random_f1` and `best_constant_f1` on all items.
    kappa : Estimate
        Against `random`. In each resample the baseline is that of the resampled items.
    kappa_constant : Estimate
        Against `constant`, in the same way.
    labels : tuple of Estimate
        F1 of each label, the mean over seeds, from the same resamples; NaN with ``no_data`` where
        the label is neither true nor predicted. Details hold ``by_seed``.
    """

    f1: Estimate
    random: Estimate
    constant: Estimate
    kappa: Estimate
    kappa_constant: Estimate
    labels: tuple[Estimate, ...] = ()

    def __str__(self) -> str:
        """A line a value."""
        parts = (self.f1, self.random, self.constant, self.kappa, self.kappa_constant)
        return "\n".join(map(str, parts))


def f1_above_chance(
    truth: ArrayLike,
    predicted: ArrayLike,
    *,
    multilabel: bool,
    ci: str | Sequence[str] | None = None,
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> F1AboveChance:
    r"""Mean weighted F1 over seeds, and :math:`\kappa_{F1}` against the random predictor.

    Parameters
    ----------
    truth : array_like, shape (n items, q labels)
        1 where an item has a label, 0 where not. Unless `multilabel`, one label an item.
    predicted : array_like, shape (s seeds, n items, q labels)
        The same for each trained model; an item with a NaN has no prediction, is left out of that
        model's F1 and counted in ``missing``.
    multilabel : bool
        Which random predictor is meant; see `random_f1`.
    ci : {None, "percentile"}
        Bootstrap over test items, drawn once for all seeds: models are compared on the same test
        items, and seeds are no further items.
    level, n_resamples, seed
        Nominal coverage, resamples, and the seed of ``numpy.random.default_rng``.

    Returns
    -------
    F1AboveChance
        Undefined parts are NaN with a reason, such as ``no_data`` without an item.

    Raises
    ------
    StatisticsError
        For shapes that do not fit, other values, or several labels where there may be one.

    References
    ----------
    Sharma et al., sections 4.2, 5.2 and 5.3.

    Examples
    --------
    >>> truth = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> above = f1_above_chance(truth, [[[1, 0], [1, 0], [0, 1], [1, 0]]], multilabel=False)
    >>> print(above.f1)
    mean weighted F1 = 0.733, n = 4, k = 1
    >>> round(above.kappa.value, 3), above.random.value
    (0.467, 0.5)
    """
    asked = AskedIntervals.of(ci, ("percentile",), level, n_resamples, seed)
    actual, guessed = _truth(truth, multilabel=multilabel), _predicted(predicted)
    if actual.shape != guessed.shape[1:]:
        raise StatisticsError(
            f"predicted must have shape (seeds, {actual.shape[0]}, {actual.shape[1]}), "
            f"got {guessed.shape}"
        )
    support, n = actual.sum(axis=0).astype(np.int64), len(actual)
    chance = random_f1(support, n if multilabel else None)
    constant = best_constant_f1(support, n if multilabel else None)
    features, width = _features(actual, guessed)
    values = _by_seed(features.sum(axis=0)[None], len(guessed), width)[0]
    mean = _mean(values, guessed, n)
    drawn = None
    if asked and n and mean.reason is None:
        drawn = _resampled(features, len(guessed), n_resamples, seed, multilabel=multilabel)
    each = _label_f1(features.sum(axis=0)[None], len(guessed), width)[0]
    return F1AboveChance(
        _dressed(mean, None if drawn is None else drawn[0], asked, n),
        chance,
        constant,
        _dressed(kappa_f1(mean, chance), None if drawn is None else drawn[1], asked, n),
        _dressed(kappa_f1(mean, constant), None if drawn is None else drawn[2], asked, n),
        tuple(
            _dressed(_of_label(each[:, c], n), None if drawn is None else drawn[3][:, c], asked, n)
            for c in range(width)
        ),
    )


@dataclass(frozen=True, slots=True, eq=False)
class F1Difference(Result):
    """How much further one set of models lies above chance than another, on the same items.

    Attributes
    ----------
    f1, kappa : Estimate
        The first's less the second's, with the percentile interval over items.
    p : float
        Two-sided: twice the share of resamples whose difference of kappa lies beyond 0, never
        below 2 / (resamples + 1). NaN where undefined.
    """

    f1: Estimate
    kappa: Estimate
    p: float

    def __str__(self) -> str:
        """Both differences, a line each, and p."""
        return f"{self.f1}\n{self.kappa}\np = {self.p:.4f}"


def f1_difference(
    first: tuple[ArrayLike, ArrayLike],
    second: tuple[ArrayLike, ArrayLike],
    *,
    multilabel: bool,
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> F1Difference:
    """Compare two sets of models, each against its own key, on the same items in one order.

    Parameters
    ----------
    first, second : (truth, predicted)
        As in `f1_above_chance`; the labels may differ, the items must not.
    multilabel, level, n_resamples, seed
        As there.

    Returns
    -------
    F1Difference
        NaN with the reason of the side that is undefined.

    Raises
    ------
    StatisticsError
        As `f1_above_chance`; unequal numbers of items.

    Examples
    --------
    >>> truth = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> good, poor = [truth], [[[1, 0], [0, 1], [0, 1], [1, 0]]]
    >>> difference = f1_difference((truth, good), (truth, poor), multilabel=False)
    >>> round(difference.f1.value, 3), round(difference.kappa.value, 3)
    (0.5, 1.0)

    References
    ----------
    Efron and Tibshirani (1993), chapter 16; kappa_F1: Sharma et al., section 5.3.
    """
    options: dict[str, Any] = {"multilabel": multilabel, "level": level}
    results = [f1_above_chance(*side, **options) for side in (first, second)]
    if results[0].f1.n != results[1].f1.n:
        raise StatisticsError(
            f"both sides must hold the same items, got {results[0].f1.n} and {results[1].f1.n}"
        )
    # Equal seeds draw equal items for both sides: differences are those of pairs.
    drawn = [_draws(side, n_resamples, seed, multilabel=multilabel) for side in (first, second)]
    f1, kappa = (
        _less(
            name,
            getattr(results[0], name),
            getattr(results[1], name),
            drawn[0][at] - drawn[1][at],
            level,
        )
        for at, name in enumerate(("f1", "kappa"))
    )
    gaps = drawn[0][1] - drawn[1][1]
    gaps = gaps[~np.isnan(gaps)]
    # Plus one above and below: a p value of 0 is no finding of a thousand resamples (Phipson and
    # Smyth 2010).
    beyond = min(int((gaps <= 0).sum()), int((gaps >= 0).sum()))
    p = min(1.0, 2 * (beyond + 1) / (len(gaps) + 1)) if len(gaps) and not kappa.reason else math.nan
    return F1Difference(f1, kappa, p)


def _draws(
    side: tuple[ArrayLike, ArrayLike], n_resamples: int, seed: int, *, multilabel: bool
) -> tuple[Floats, Floats]:
    """F1 and kappa of each resample; equal seeds draw equal items."""
    actual, guessed = _truth(side[0], multilabel=multilabel), _predicted(side[1])
    if not len(actual):
        return np.array([]), np.array([])
    features, _ = _features(actual, guessed)
    drawn = _resampled(features, len(guessed), n_resamples, seed, multilabel=multilabel)
    return drawn[0], drawn[1]


def _less(name: str, a: Estimate, b: Estimate, drawn: Floats, level: float) -> Estimate:
    reason = a.reason or b.reason
    interval = percentile_interval(np.array([]) if reason else drawn, level, a.n)
    return Estimate(f"difference of {name}", a.value - b.value, (interval,), a.n, 2, 0, reason)


def _truth(truth: ArrayLike, *, multilabel: bool) -> Floats:
    actual = numbers(truth, "truth")
    if actual.ndim != 2 or not np.isin(actual, (0, 1)).all():
        raise StatisticsError("truth must be an (items, labels) array of 0 and 1")
    if not multilabel and (actual.sum(axis=1) != 1).any():
        item = int(np.flatnonzero(actual.sum(axis=1) != 1)[0])
        raise StatisticsError(f"item {item} must have one label, got {int(actual[item].sum())}")
    return actual


def _predicted(predicted: ArrayLike) -> Floats:
    guessed = numbers(predicted, "predicted")
    whole = np.isnan(guessed) | (guessed == 0) | (guessed == 1)
    if guessed.ndim != 3 or not whole.all():
        raise StatisticsError("predicted must be a (seeds, items, labels) array of 0, 1 or missing")
    return guessed


def _features(actual: Floats, guessed: Floats) -> tuple[Floats, int]:
    """Hits, predictions and truths of each item, seed by seed; then its truths for the baseline."""
    parts = []
    for model in guessed:
        there = ~np.isnan(model).any(axis=1, keepdims=True)
        # An item without a prediction adds nothing to this model's sums, its truth included.
        predicted = np.where(there, np.nan_to_num(model), 0.0)
        parts += [predicted * actual, predicted, actual * there]
    return np.concatenate([*parts, actual], axis=1), actual.shape[1]


def _by_seed(sums: Floats, seeds: int, width: int) -> Floats:
    """Weighted F1 of each row of sums and seed: (b, seeds)."""
    parts = sums[:, : 3 * seeds * width].reshape(len(sums), seeds, 3, width)
    hits, predicted, true = parts[:, :, 0], parts[:, :, 1], parts[:, :, 2]
    whole = predicted + true
    f1 = np.divide(2 * hits, whole, out=np.zeros_like(hits), where=whole > 0)
    total = true.sum(axis=2)
    out = np.full(total.shape, np.nan)
    return np.divide((f1 * true).sum(axis=2), total, out=out, where=total > 0)


def _label_f1(sums: Floats, seeds: int, width: int) -> Floats:
    """F1 of each row of sums, seed and label, NaN where 0/0: (b, seeds, labels)."""
    parts = sums[:, : 3 * seeds * width].reshape(len(sums), seeds, 3, width)
    hits, whole = parts[:, :, 0], parts[:, :, 1] + parts[:, :, 2]
    return np.divide(2 * hits, whole, out=np.full(hits.shape, np.nan), where=whole > 0)


def _over_seeds(values: Floats) -> Floats:
    """The mean over seeds (axis 1) of what is defined; NaN where nothing is."""
    defined = ~np.isnan(values)
    count, total = defined.sum(axis=1), np.where(defined, values, 0.0).sum(axis=1)
    return np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)


def _of_label(by_seed: Floats, n: int) -> Estimate:
    value = float(_over_seeds(by_seed[None])[0])
    reason = "no_data" if math.isnan(value) else None
    return Estimate("F1", value, n=n, k=len(by_seed), reason=reason, details={"by_seed": by_seed})


def _mean(values: Floats, guessed: Floats, n: int) -> Estimate:
    missing = int(np.isnan(guessed).any(axis=2).sum())
    defined = values[~np.isnan(values)]
    details: dict[str, Any] = {
        "sd": float(defined.std(ddof=1)) if len(defined) > 1 else math.nan,
        "by_seed": values,
        "missing": missing,
    }
    reason = None if len(defined) else "no_data"
    value = float(defined.mean()) if len(defined) else math.nan
    return Estimate("mean weighted F1", value, n=n, k=len(values), reason=reason, details=details)


def _resampled(
    features: Floats, seeds: int, n_resamples: int, seed: int, *, multilabel: bool
) -> tuple[Floats, Floats, Floats, Floats]:
    """F1, kappa against the random and the constant predictor, F1 by label, of each resample."""
    n, width = len(features), features.shape[1] // (3 * seeds + 1)
    # A model that predicted nothing stays out of every resample: the mean is over the same models
    # throughout.
    defined = ~np.isnan(_by_seed(features.sum(axis=0)[None], seeds, width)[0])
    drawn: list[Floats] = []
    chance: list[Floats] = []
    constant: list[Floats] = []
    labels: list[Floats] = []
    for counts in resampled_counts(np.ones(n, np.int64), n_resamples, seed):
        sums = counts.astype(np.float64) @ features
        by_seed = _by_seed(sums, seeds, width)
        drawn.append(by_seed[:, defined].mean(axis=1))
        labels.append(_over_seeds(_label_f1(sums, seeds, width)))
        shares = sums[:, -width:] / n
        total = shares.sum(axis=1)
        weights = shares / np.where(total > 0, total, np.nan)[:, None]
        # The baselines of the drawn items, so that F1 and its floor move together.
        chance.append((weights * shares).sum(axis=1))
        named = weights * 2 * shares / (1 + shares)
        # With one label an item a constant names one class, else every class.
        constant.append(named.sum(axis=1) if multilabel else named.max(axis=1))
    f1, floor, best = map(np.concatenate, (drawn, chance, constant))
    return f1, _above(f1, floor), _above(f1, best), np.concatenate(labels)


def _above(f1: Floats, floor: Floats) -> Floats:
    return np.divide(f1 - floor, 1 - floor, out=np.full(len(f1), np.nan), where=floor < 1)


def _dressed(estimate: Estimate, drawn: Floats | None, asked: AskedIntervals, n: int) -> Estimate:
    intervals: tuple[Interval, ...] = ()
    if asked:
        values = np.array([]) if drawn is None or estimate.reason else drawn
        intervals = (percentile_interval(values, asked.level, n),)
    return replace(estimate, intervals=intervals)

"""Where the variance of scores comes from: items, raters, runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError, not_one_of
from voirdire.stats._arrays import floats
from voirdire.stats._results import REASONS, Result

if TYPE_CHECKING:
    from voirdire.stats._arrays import Floats

DESIGNS = ("nested", "crossed")
_NAMES = ("item", "rater", "run", "item_rater", "item_run", "rater_run", "error")


@dataclass(frozen=True, slots=True, eq=False)
class VarianceComponents(Result):
    """Variance of scores over items, raters and runs.

    Attributes
    ----------
    design : str
        "nested": each rater has runs of its own. "crossed": run 1 is one occasion for all raters.
    item, rater, run, item_rater, item_run, rater_run, error : float
        Estimated components; those that the design does not tell apart are NaN (nested: `run` is
        runs within raters, `error` holds item by run). Unbiased estimates can be negative and are
        reported as they are.
    n_items, n_raters, n_runs, left_out : int
        Complete items used; items with a missing score.
    reason : str or None
        A key of `REASONS`; then every component is NaN.
    """

    design: str
    item: float
    rater: float
    run: float
    item_rater: float
    item_run: float
    rater_run: float
    error: float
    n_items: int
    n_raters: int
    n_runs: int
    left_out: int
    reason: str | None = None

    @property
    def negative(self) -> tuple[str, ...]:
        """Components estimated below zero, usually because they are near it."""
        return tuple(name for name in _NAMES if getattr(self, name) < 0)

    def reliability(self, raters: int, runs: int = 1, *, agreement: bool = True) -> float:
        """Reliability of the mean over so many raters with so many runs each.

        Relative error holds what reorders items, absolute error (`agreement`) also what shifts
        all of them: Brennan (2001), eqs. 4.17 to 4.22 (Φ and Eρ²). NaN where the variance of
        such means is estimated at zero or below: a quotient of two negatives is no reliability.
        """
        if raters < 1 or runs < 1:
            raise StatisticsError(f"raters and runs must be at least 1, got {raters} and {runs}")
        # Brennan (2001), 4.17 and 4.20: what reorders items, over the ratings that a mean rests on.
        noise = self.item_rater / raters + self.error / (raters * runs)
        shift = self.rater / raters
        if self.design == "nested":
            shift += self.run / (raters * runs)
        else:
            noise += self.item_run / runs
            shift += self.run / runs + self.rater_run / (raters * runs)
        total = self.item + noise + (shift if agreement else 0.0)
        return self.item / total if total > 0 else math.nan

    def __str__(self) -> str:
        """The components that the design tells apart, on one line."""
        if self.reason is not None:
            return f"variance components undefined: {REASONS[self.reason]}"
        components = [(name, getattr(self, name)) for name in _NAMES]
        parts = ", ".join(
            f"{name} = {part:.3f}" for name, part in components if not math.isnan(part)
        )
        return (
            f"variance ({self.design}): {parts}; items = {self.n_items}, raters = {self.n_raters}, "
            f"runs = {self.n_runs}"
        )


def variance_components(scores: Any, design: str = "nested") -> VarianceComponents:
    """Split the variance of item x rater x run scores into its sources.

    Parameters
    ----------
    scores : array-like, shape (items, raters, runs)
        NaN or None is missing; an item with a missing score is left out and counted.
    design : {"nested", "crossed"}
        Repetitions of LLM judges are "nested": run 1 of one judge has nothing to do with run 1
        of another.

    Returns
    -------
    VarianceComponents
        From the expected mean squares of the random model (Brennan 2001, tables 3.1 and 3.3).
        Reasons: too_few_items, too_few_raters, not_estimable (a single run), zero_variance.

    Raises
    ------
    StatisticsError
        An array that has not three dimensions, an unknown design.

    Examples
    --------
    >>> import numpy as np
    >>> from voirdire.stats import variance_components
    >>> rng = np.random.default_rng(0)
    >>> item, rater = rng.normal(0, 2, (500, 1, 1)), np.array([0.0, 1.0, -1.0])[None, :, None]
    >>> components = variance_components(item + rater + rng.normal(0, 1, (500, 3, 2)))
    >>> round(components.item, 1), round(components.rater, 1), round(components.error, 1)
    (4.1, 1.0, 1.1)
    >>> round(components.reliability(raters=3, runs=2), 2)
    0.89

    References
    ----------
    Brennan (2001), Generalizability Theory. Shavelson and Webb (1991), Generalizability Theory.
    """
    if design not in DESIGNS:
        raise not_one_of("design", design, DESIGNS, error=StatisticsError)
    values = floats(scores, "scores", 3)
    complete = ~np.isnan(values).any(axis=(1, 2))
    Y = values[complete]
    reason = _unusable(Y)
    if reason is not None:
        components = (math.nan,) * len(_NAMES)
    else:
        components = _nested(Y) if design == "nested" else _crossed(Y)
    return VarianceComponents(
        design,
        **dict(zip(_NAMES, components, strict=True)),
        n_items=Y.shape[0],
        n_raters=Y.shape[1],
        n_runs=Y.shape[2],
        left_out=int((~complete).sum()),
        reason=reason,
    )


def _unusable(Y: Floats) -> str | None:
    items, raters, runs = Y.shape
    if items < 2:
        return "too_few_items"
    if raters < 2:
        return "too_few_raters"
    if runs < 2:
        return "not_estimable"
    spread = float(Y.max() - Y.min())
    # Relative to the scores: means of 0.1 over runs differ in their last digit.
    return "zero_variance" if spread <= 1e-14 * float(np.abs(Y).max()) else None


def _square(effect: Floats, df: int, repeats: int) -> float:
    return repeats * float((effect**2).sum()) / df


def _nested(Y: Floats) -> tuple[float, ...]:
    p, r, o = Y.shape
    # Expected mean squares of p x (o:r): each component is what is left of its own by those below
    # it.
    item, rater, pair = _two_way(Y.mean(axis=2))
    within = Y - Y.mean(axis=2, keepdims=True)
    run = within.mean(axis=0, keepdims=True)
    ms_item, ms_rater = _square(item, p - 1, r * o), _square(rater, r - 1, p * o)
    ms_pair = _square(pair, (p - 1) * (r - 1), o)
    ms_run = _square(run, r * (o - 1), p)
    ms_error = _square(within - run, (p - 1) * r * (o - 1), 1)
    return (
        (ms_item - ms_pair) / (r * o),
        (ms_rater - ms_run - ms_pair + ms_error) / (p * o),
        (ms_run - ms_error) / p,
        (ms_pair - ms_error) / o,
        math.nan,
        math.nan,
        ms_error,
    )


def _crossed(Y: Floats) -> tuple[float, ...]:
    p, r, o = Y.shape
    item, rater, item_rater = _two_way(Y.mean(axis=2))
    # Runs are one factor for all raters here, with an effect and two interactions of its own.
    _, run, item_run = _two_way(Y.mean(axis=1))
    _, _, rater_run = _two_way(Y.mean(axis=0))
    explained = (
        Y.mean()
        + (item[:, :, None] + rater[:, :, None] + item_rater[:, :, None])
        + (run[:, None] + item_run[:, None])
        + rater_run[None]
    )
    ms_error = _square(Y - explained, (p - 1) * (r - 1) * (o - 1), 1)
    ms_ir = _square(item_rater, (p - 1) * (r - 1), o)
    ms_io = _square(item_run, (p - 1) * (o - 1), r)
    ms_ro = _square(rater_run, (r - 1) * (o - 1), p)
    return (
        (_square(item, p - 1, r * o) - ms_ir - ms_io + ms_error) / (r * o),
        (_square(rater, r - 1, p * o) - ms_ir - ms_ro + ms_error) / (p * o),
        (_square(run, o - 1, p * r) - ms_io - ms_ro + ms_error) / (p * r),
        (ms_ir - ms_error) / o,
        (ms_io - ms_error) / r,
        (ms_ro - ms_error) / p,
        ms_error,
    )


def _two_way(means: Floats) -> tuple[Floats, Floats, Floats]:
    """(a, 1) row, (1, b) column and (a, b) joint effects of a table of means."""
    grand = means.mean()
    rows = means.mean(axis=1, keepdims=True) - grand
    columns = means.mean(axis=0, keepdims=True) - grand
    return rows, columns, means - grand - rows - columns

"""ICC of system means when the items, not the systems, are the sample."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.late import dataclass
from voirdire.stats._arrays import Floats, check_draws, check_level, floats
from voirdire.stats._bootstrap import Distribution, drawn_in_chunks, drawn_interval
from voirdire.stats._forms import canonical, value
from voirdire.stats._kernels_icc import weighted_sums
from voirdire.stats._kernels_systems import mean_squares_of
from voirdire.stats._results import Estimate, Interval
from voirdire.stats.intervals import outside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: Whole numbers up to here are exact in float32, whose products are faster.
_EXACT_IN_FLOAT32 = 1 << 24
#: Products in a chunk of resamples from which on several threads of BLAS are worth their waiting.
_MANY = 1 << 30
#: Parts of a point of which scores may be whole numbers, and what of a point is round-off.
_PARTS, _ROUND_OFF = (1, 2, 12, 60), 1e-15
#: Resamples a product: their counts stay in the cache.
_WIDTH = 256


def icc_systems(
    scores: Any,
    forms: Sequence[str] = ("C,1", "A,1"),
    *,
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> tuple[Estimate, ...]:
    """ICC of n systems' mean scores by k raters, with a cluster bootstrap over items.

    Items are drawn with replacement, each with all its responses, and every system's mean is
    computed again. The interval says how far other items would have given another ICC for *these*
    systems. How far other systems would is what the intervals of `icc` on the means say; they
    are usually much wider, and neither replaces the other.

    Parameters
    ----------
    scores : array-like, shape (items, systems, raters)
        NaN or None is missing. A response counts where every rater scored it (pairwise deletion),
        so that all raters' means rest on the same responses.
    forms : sequence of str
        As in `icc`.
    level : float
        Nominal coverage.
    n_resamples, seed : int
        The same seed gives the same result on any machine.

    Returns
    -------
    tuple of Estimate
        One a form; n is the number of systems, `left_out` that of systems without a complete
        response. The interval's method is "cluster". `details`: n_items, responses, mean squares,
        mass_below_0. A resample in which a system has no response has no value: `n_undefined`.

    Raises
    ------
    StatisticsError
        An array that has not three dimensions, an unknown form.

    Examples
    --------
    >>> import numpy as np
    >>> from voirdire.stats import icc_systems
    >>> quality = np.array([1.0, 2.0, 4.0])
    >>> noise = np.random.default_rng(0).normal(0, 0.5, size=(200, 3, 2))
    >>> iccs = icc_systems(quality[None, :, None] + noise)
    >>> print(iccs[0])
    ICC(C,1) = 0.996, 95% CI [0.991, 0.999] (cluster), n = 3, k = 2

    References
    ----------
    Davison and Hinkley (1997), Bootstrap Methods and their Application, 3.8.
    """
    return icc_systems_batch([scores], forms, level=level, n_resamples=n_resamples, seed=seed)[0]


def icc_systems_batch(
    batch: Sequence[Any],
    forms: Sequence[str] = ("C,1", "A,1"),
    *,
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> tuple[tuple[Estimate, ...], ...]:
    """`icc_systems` of many judges and attributes, with one matrix of item counts for all.

    Parameters, missing data and errors are those of `icc_systems`; all arrays have the same
    items (their systems and raters may differ in number).

    Parameters
    ----------
    batch : sequence of array-like, each of shape (items, systems, raters)
        NaN or None is missing. All have the same items; systems and raters may differ in number.
    forms, level, n_resamples, seed
        As in `icc_systems`.

    Returns
    -------
    tuple of tuples of Estimate
        One tuple an array, one Estimate a form, as from `icc_systems`.

    Raises
    ------
    StatisticsError
        Arrays of unequal numbers of items, or not of three dimensions; an unknown form.

    Examples
    --------
    >>> import numpy as np
    >>> from voirdire.stats import icc_systems_batch
    >>> one = np.random.default_rng(0).normal(size=(50, 4, 2))
    >>> [len(row) for row in icc_systems_batch([one, one + 1], ("C,1",))]
    [1, 1]

    References
    ----------
    Davison and Hinkley (1997), Bootstrap Methods and their Application, 3.8.
    """
    names = tuple(canonical(form) for form in forms)
    check_level(level)
    check_draws(n_resamples, seed)
    arrays = [_CompleteScores.of(floats(one, "scores", 3)) for one in batch]
    n_items = {one.n_items for one in arrays}
    if len(n_items) > 1:
        raise StatisticsError(f"all arrays need the same number of items, got {sorted(n_items)}")
    squares = _resampled(arrays, n_items.pop() if n_items else 0, seed, n_resamples)
    return tuple(
        tuple(_estimate(form, one, of_array, level) for form in names)
        for one, of_array in zip(arrays, squares, strict=True)
    )


@dataclass(frozen=True, slots=True)
class _CompleteScores:
    """Complete responses of the systems that have any.

    Attributes
    ----------
    cells : (n * k, items)
        Scores, 0 where the response is not complete.
    known : (n, items)
        1 where it is.
    """

    cells: Floats
    known: Floats
    n_items: int
    n: int
    k: int
    left_out: int

    @classmethod
    def of(cls, scores: Floats) -> _CompleteScores:
        """Leave out the systems without a complete response."""
        complete = np.asarray(~np.isnan(scores).any(axis=2))
        # A system without a complete response would make every table of means undefined.
        empty = ~complete.any(axis=0)
        scores, complete = scores[:, ~empty], complete[:, ~empty]
        n_items, n, k = scores.shape
        cells = np.where(complete[:, :, None], scores, 0.0).reshape(n_items, n * k).T
        return cls(cells, complete.T.astype(np.float64), n_items, n, k, int(empty.sum()))

    def mean_squares(self, sums: Floats, answered: Floats) -> Floats:
        """(3, B) of the system means: sums (n * k, B) over responses (n, B), NaN without any."""
        out = np.full((3, sums.shape[1]), np.nan)
        if self.n > 1 and self.k > 1:
            # Drawn without any of its responses, a system has no mean, and the resample no value.
            below = np.where(answered == 0, np.nan, answered)[:, None]
            means = sums.reshape(self.n, self.k, -1) / below
            mean_squares_of(np.ascontiguousarray(means), out)
        return out


def _resampled(
    arrays: list[_CompleteScores], n_items: int, seed: int, n_resamples: int
) -> list[Floats]:
    """(3, B) mean squares of each array in resamples of items; one product serves them all."""
    squares = [np.full((3, n_resamples), np.nan) for _ in arrays]
    if not n_items:
        return squares
    cells = _Summable.of(np.concatenate([one.cells for one in arrays]))
    complete = _Summable.of(np.concatenate([one.known for one in arrays]))
    start = 0
    for counts in drawn_in_chunks(seed, n_items, n_resamples, _WIDTH):
        stop = start + counts.shape[1]
        with _threads(cells.cells.size * counts.shape[1]):
            sums, answered = cells.product(counts), complete.product(counts)
        at = at_known = 0
        for one, out in zip(arrays, squares, strict=True):
            rows, cells_to = at_known + one.n, at + one.n * one.k
            out[:, start:stop] = one.mean_squares(sums[at:cells_to], answered[at_known:rows])
            at, at_known = cells_to, rows
        start = stop
    return squares


def _threads(products: int) -> AbstractContextManager[Any]:
    """One thread of BLAS for few products: threads that wait for more cost more than they do."""
    if products > _MANY:
        return nullcontext()
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - where it is used alone

    return threadpool_limits(1, "blas")


@dataclass(frozen=True, slots=True)
class _Summable:
    """Cells whose sums over resamples are exact in float32: whole numbers of `parts` of a point.

    Where they are none, `parts` is 0 and the cells are as they were.
    """

    cells: NDArray[Any]
    parts: int

    @classmethod
    def of(cls, cells: Floats) -> _Summable:
        """Means of up to six raters are whole sixtieths; every sum stays below 2^24."""
        largest = float(np.abs(cells).max(initial=0)) * max(cells.shape[1], 1)
        for parts in _PARTS:
            whole = np.rint(cells * parts)
            # A sum of all items at the largest score must still be exact.
            if largest * parts >= _EXACT_IN_FLOAT32:
                break
            if np.abs(cells * parts - whole).max(initial=0) <= _ROUND_OFF * parts * largest:
                return cls(np.ascontiguousarray(whole, dtype=np.float32), parts)
        return cls(np.ascontiguousarray(cells), 0)

    def product(self, counts: Floats) -> Floats:
        """Sums of the cells (F, items) over resamples (items, B)."""
        if self.parts:
            sums = np.asarray(self.cells @ counts.astype(np.float32), dtype=np.float64)
            return sums / self.parts if self.parts > 1 else sums
        # A product in BLAS may differ in its last bit with the number of threads; this does not.
        values = np.empty((1, len(self.cells), counts.shape[1]))
        weighted_sums(counts, self.cells[None], values)
        return np.asarray(values[0])


def _estimate(form: str, scores: _CompleteScores, squares: Floats, level: float) -> Estimate:
    name = f"ICC({form})"
    size = (scores.n, scores.k, scores.left_out)
    empty = Interval("cluster", level, math.nan, math.nan)
    if scores.k < 2 or scores.n < 2:
        reason = "too_few_raters" if scores.k < 2 else "too_few_items"
        return Estimate(name, math.nan, (empty,), *size, reason)
    totals = scores.known.sum(axis=1, keepdims=True)
    observed = scores.mean_squares(scores.cells.sum(axis=1, keepdims=True), totals)
    icc = float(value(form, observed, scores.n, scores.k)[0])
    values = value(form, squares, scores.n, scores.k)
    interval = drawn_interval(values, "cluster", level, None)
    details = {
        "n_items": scores.n_items,
        "responses": int(totals.sum()),
        **dict(zip(("ms_rows", "ms_raters", "ms_error"), observed[:, 0].tolist(), strict=True)),
        "mass_below_0": float(Distribution.of(values[None]).mass(values[None] < 0)[0]),
    }
    if math.isnan(icc):
        return Estimate(name, icc, (empty,), *size, "zero_variance", details=details)
    return Estimate(name, icc, (interval,), *size, flags=outside(icc), details=details)

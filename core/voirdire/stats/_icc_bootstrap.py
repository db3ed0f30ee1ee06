"""ICC over resamples of subjects, for many matrices and forms at once: values, and intervals."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.late import dataclass
from voirdire.stats._anova import Decomposition, features, tolerances
from voirdire.stats._bootstrap import (
    EXACT_LIMIT,
    Distribution,
    bca,
    drawn_in_chunks,
    drawn_multisets,
    multisets,
    percentile_levels,
)
from voirdire.stats._forms import quotients
from voirdire.stats._kernels_icc import icc_from_sums, weighted_sums
from voirdire.stats._results import Interval
from voirdire.stats.intervals import few_units

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from voirdire.stats._arrays import Floats

#: Sums that are made at once: 256 KiB, which stay in a core's own cache.
_SUMS_IN_CACHE = 1 << 15


def drawn(parts: Decomposition, forms: Sequence[str], seed: int, resamples: int) -> Distribution:
    """(P * forms, B) values over drawn resamples; one count matrix serves all P matrices."""
    chunks = drawn_in_chunks(seed, parts.n, resamples, _width(parts))
    return Distribution.of(_over_counts(parts, forms, chunks, resamples))


#: Values over every resample that are kept for the next question about the same matrices.
_MOST_KEPT = 1 << 21
_last: tuple[tuple[object, ...], tuple[str, ...], Floats] | None = None


def enumerated(parts: Decomposition, forms: Sequence[str]) -> Distribution:
    """(P * forms, M) values over every resample there is.

    An examination asks twice: for exact intervals, and for what a seed alone decides.
    """
    global _last  # noqa: PLW0603 - one entry, whole or not at all
    counts, weights = multisets(parts.n)
    whole = (parts.rows, parts.columns, parts.residuals)
    # By content: the second question comes with new arrays of the same numbers.
    told = (parts.residuals.shape, *(part.tobytes() for part in whole))
    if _last is not None and _last[0] == told and set(forms) <= set(_last[1]):
        values = _last[2][:, [_last[1].index(form) for form in forms]]
    else:
        values = _over_counts(parts, forms, _sliced(counts, _width(parts)), len(weights)).reshape(
            len(parts.rows), len(forms), -1
        )
        _last = (told, tuple(forms), values) if values.size <= _MOST_KEPT else None
    return Distribution.of(values.reshape(-1, len(weights)), weights)


def drawn_by_seed(
    parts: Decomposition, forms: Sequence[str], seeds: range, resamples: int
) -> Iterator[Distribution]:
    """`drawn` for one seed after the other.

    Few subjects have fewer different resamples than so many seeds draw: each is computed once.
    """
    n = parts.n
    if n > EXACT_LIMIT or math.comb(2 * n - 1, n) > len(seeds) * resamples:
        yield from (drawn(parts, forms, seed, resamples) for seed in seeds)
        return
    values = enumerated(parts, forms).values
    for seed in seeds:
        yield Distribution.of(values[:, drawn_multisets(seed, n, resamples)])


def jackknife(parts: Decomposition, forms: Sequence[str]) -> Floats:
    """(P * forms, n) values with one subject left out; NaN where fewer than two remain."""
    if parts.n < 3:
        return np.full((len(parts.rows) * len(forms), parts.n), np.nan)
    terms = features(parts)
    # Effects stay those about the whole sample's means: the kernel moves them to the rest's.
    sums = terms.sum(axis=2, keepdims=True) - terms
    values = FormValues.of(parts, forms).values(sums, np.full(parts.n, parts.n - 1.0))
    return values.reshape(-1, parts.n)


def _over_counts(
    parts: Decomposition, forms: Sequence[str], chunks: Iterable[Floats], resamples: int
) -> Floats:
    terms, evaluation = features(parts), FormValues.of(parts, forms)
    values = np.empty((len(terms), len(forms), resamples))
    start, sums = 0, np.empty((*terms.shape[:2], 0))
    for counts in chunks:
        width = counts.shape[1]
        # Only the last chunk is narrower, so that the room is made twice at most.
        if sums.shape[2] != width:
            sums = np.empty((*terms.shape[:2], width))
        weighted_sums(counts, terms, sums)
        sizes = np.full(width, float(parts.n))
        values[:, :, start : start + width] = evaluation.values(sums, sizes)
        start += width
    return values.reshape(-1, resamples)


@dataclass(frozen=True, slots=True)
class FormValues:
    """What turns summed features of resamples into values of the forms.

    Attributes
    ----------
    columns : (P, k)
        Rater effects in the whole sample.
    tolerances : (P, 3)
        See `_anova.tolerances`.
    quotients : (forms, 2, 3, 2)
        See `_forms.quotients`.
    """

    columns: Floats
    tolerances: Floats
    quotients: Floats

    @classmethod
    def of(cls, parts: Decomposition, forms: Sequence[str]) -> FormValues:
        """For resamples of these matrices."""
        columns = np.ascontiguousarray(parts.columns)
        return cls(columns, tolerances(parts), quotients(forms, parts.k))

    def values(self, sums: Floats, sizes: Floats) -> Floats:
        """(P, forms, B) from summed `features` (P, 3 + k, B) of resamples of given sizes."""
        out = np.empty((len(sums), len(self.quotients), sums.shape[2]))
        icc_from_sums(sums, sizes, self.columns, self.tolerances, self.quotients, out)
        return out


def _width(parts: Decomposition) -> int:
    # With fewer resamples a chunk the calls would cost more than the cache saves.
    return max(64, _SUMS_IN_CACHE // (len(parts.rows) * (3 + parts.k)))


def _sliced(counts: Floats, width: int) -> Iterator[Floats]:
    for start in range(0, counts.shape[1], width):
        # The kernels ask for rows that lie side by side.
        yield counts[:, start : start + width].copy()


@dataclass(frozen=True, slots=True)
class BootstrapPlan:
    """What is asked of a batch: forms, interval methods and their options."""

    forms: tuple[str, ...]
    methods: tuple[str, ...]
    level: float
    n_resamples: int
    seed: int
    compat: str | None


def bootstrap_intervals(
    parts: Decomposition,
    points: Floats,
    jackknife: Floats,
    plan: BootstrapPlan,
    intervals: dict[str, list[Interval]],
    details: list[dict[str, Any]],
) -> None:
    """Add each bootstrap method to `intervals`, and what else is seen to `details`."""
    ways = (
        (("percentile", "bca"), partial(drawn, parts, plan.forms, plan.seed, plan.n_resamples)),
        (("exact", "exact_bca"), partial(enumerated, parts, plan.forms)),
    )
    for names, resampled in ways:
        methods = [method for method in plan.methods if method in names]
        if not methods:
            continue
        draws = resampled()
        kept = _kept(draws, plan)
        _add_mass(draws, details)
        for method in methods:
            bounds = _bounds(kept, method, points, jackknife, plan.level)
            if plan.compat is not None:
                # How far the study's rule moves the bounds, for a reader who would drop no value.
                shift = bounds - _bounds(draws, method, points, jackknife, plan.level)
                for row, moved in zip(details, shift, strict=True):
                    row[f"shift_{method}"] = tuple(map(float, moved))
            intervals[method] = _intervals(method, bounds, draws, kept, parts.n, plan.level)


def percentile_bounds(draws: Distribution, plan: BootstrapPlan) -> Floats:
    """(R, 2) bounds of the percentile method alone."""
    return _kept(draws, plan).quantiles(percentile_levels(plan.level, len(draws.values)))


def _kept(draws: Distribution, plan: BootstrapPlan) -> Distribution:
    """The published study drops values outside [0, 1]."""
    return draws if plan.compat is None else draws.within(0.0, 1.0)


def _bounds(
    draws: Distribution, method: str, points: Floats, jackknife: Floats, level: float
) -> Floats:
    if method.endswith("bca"):
        return bca(draws, points, jackknife, level)
    return draws.quantiles(percentile_levels(level, len(points)))


def _add_mass(draws: Distribution, details: list[dict[str, Any]]) -> None:
    below = draws.mass(draws.values < 0)
    outside = below + draws.mass(draws.values > 1)
    for row, low, out in zip(details, below.tolist(), outside.tolist(), strict=True):
        row["mass_below_0"], row["mass_outside"] = low, out


def _intervals(
    method: str, bounds: Floats, draws: Distribution, kept: Distribution, n: int, level: float
) -> list[Interval]:
    flags = few_units(n)
    undefined = draws.undefined
    dropped = kept.undefined - undefined
    resamples = draws.values.shape[1]
    rows = zip(bounds.tolist(), undefined.tolist(), dropped.tolist(), strict=True)
    return [
        Interval(method, level, low, high, resamples, lost, left_out, flags)
        for (low, high), lost, left_out in rows
    ]

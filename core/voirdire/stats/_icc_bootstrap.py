"""ICC over resamples of subjects, for many matrices and forms at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voirdire.stats._anova import Decomposition, features, tolerances
from voirdire.stats._forms import quotients
from voirdire.stats._quantiles import Distribution
from voirdire.stats._resampling import drawn_in_chunks, multisets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from voirdire.stats._arrays import Floats

_SUMS_IN_CACHE = 1 << 17


def drawn(parts: Decomposition, forms: Sequence[str], seed: int, resamples: int) -> Distribution:
    """(P * forms, B) values over drawn resamples; one count matrix serves all P matrices."""
    chunks = drawn_in_chunks(seed, parts.n, resamples, _width(parts))
    return Distribution(_over_counts(parts, forms, chunks, resamples))


def enumerated(parts: Decomposition, forms: Sequence[str]) -> Distribution:
    """(P * forms, M) values over every resample there is."""
    counts, weights = multisets(parts.n)
    values = _over_counts(parts, forms, _sliced(counts, _width(parts)), len(weights))
    return Distribution(values, weights)


def jackknife(parts: Decomposition, forms: Sequence[str]) -> Floats:
    """(P * forms, n) values with one subject left out; NaN where fewer than two remain."""
    if parts.n < 3:
        return np.full((len(parts.rows) * len(forms), parts.n), np.nan)
    terms = features(parts)
    sums = terms.sum(axis=2, keepdims=True) - terms
    values = icc_values(parts, forms, sums, np.full(parts.n, parts.n - 1.0))
    return values.reshape(-1, parts.n)


def _over_counts(
    parts: Decomposition, forms: Sequence[str], chunks: Iterable[Floats], resamples: int
) -> Floats:
    from voirdire.stats._kernels_icc import weighted_sums  # noqa: PLC0415 - loads numba

    terms = features(parts)
    values = np.empty((len(terms), len(forms), resamples))
    start = 0
    for counts in chunks:
        sums = np.empty((*terms.shape[:2], counts.shape[1]))
        weighted_sums(counts, terms, sums)
        stop = start + counts.shape[1]
        sizes = np.full(counts.shape[1], float(parts.n))
        values[:, :, start:stop] = icc_values(parts, forms, sums, sizes)
        start = stop
    return values.reshape(-1, resamples)


def icc_values(parts: Decomposition, forms: Sequence[str], sums: Floats, sizes: Floats) -> Floats:
    """(P, forms, B) values from the summed `features` (P, 3 + k, B) of resamples of given sizes."""
    from voirdire.stats._kernels_icc import icc_from_sums  # noqa: PLC0415 - loads numba

    out = np.empty((len(sums), len(forms), sums.shape[2]))
    columns = np.ascontiguousarray(parts.columns)
    icc_from_sums(sums, sizes, columns, tolerances(parts), quotients(forms, parts.k), out)
    return out


def _width(parts: Decomposition) -> int:
    return max(64, _SUMS_IN_CACHE // (len(parts.rows) * (3 + parts.k)))


def _sliced(counts: Floats, width: int) -> Iterator[Floats]:
    for start in range(0, counts.shape[1], width):
        yield counts[:, start : start + width].copy()

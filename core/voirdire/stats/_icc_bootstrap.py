"""ICC over resamples of subjects, for many matrices and forms at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voirdire.stats._anova import Decomposition, features, tolerances
from voirdire.stats._forms import coefficients
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
    values = _from_sums(parts, forms, sums, parts.n - 1)
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
        values[:, :, start:stop] = _from_sums(parts, forms, sums, parts.n)
        start = stop
    return values.reshape(-1, resamples)


def _from_sums(parts: Decomposition, forms: Sequence[str], sums: Floats, n: int) -> Floats:
    from voirdire.stats._kernels_icc import icc_from_sums  # noqa: PLC0415 - loads numba

    quotients = np.stack([coefficients(form, n, parts.k) for form in forms])
    out = np.empty((len(sums), len(forms), sums.shape[2]))
    columns = np.ascontiguousarray(parts.columns)
    icc_from_sums(sums, float(n), columns, tolerances(parts), quotients, out)
    return out


def _width(parts: Decomposition) -> int:
    return max(64, _SUMS_IN_CACHE // (len(parts.rows) * (3 + parts.k)))


def _sliced(counts: Floats, width: int) -> Iterator[Floats]:
    for start in range(0, counts.shape[1], width):
        yield counts[:, start : start + width].copy()

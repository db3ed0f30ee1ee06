"""ICC of responses that come in clusters: several responses answer one item."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError, not_one_of
from voirdire.stats._anova import decompose, features
from voirdire.stats._arrays import Floats, check_draws, check_level, floats, generator, row_names
from voirdire.stats._bootstrap import drawn_in_chunks, drawn_interval
from voirdire.stats._icc_bootstrap import FormValues
from voirdire.stats._kernels_icc import weighted_sums
from voirdire.stats._results import Estimate, Interval
from voirdire.stats.intraclass import icc

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

SCHEMES = ("cluster", "nested")
#: Responses that are drawn at once: 16 MiB of codes.
_DRAWS = 1 << 21


def icc_clustered(
    Y: Any,
    clusters: Any,
    form: str = "A,1",
    *,
    ci: str | Iterable[str] = ("cluster", "nested"),
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Estimate:
    """`icc` at response level, with intervals that know which responses share an item.

    The value is that of `icc` on all responses. "cluster" draws items with replacement, each with
    all its responses; "nested" then draws as many responses within each drawn item, again with
    replacement, and so adds the spread between the responses of an item once more: it is the
    wider of the two and suits items that are themselves only sampled by their responses.

    Parameters
    ----------
    Y : array-like, shape (n responses, k raters)
        NaN or None is missing; incomplete responses are left out and counted.
    clusters : array-like, shape (n,)
        The item of each response.
    form : str
        As in `icc`.
    ci : str or tuple of str
        "cluster", "nested".
    level : float
        Nominal coverage of the percentile intervals.
    n_resamples, seed : int
        The same seed gives the same result on any machine.

    Returns
    -------
    Estimate
        As `icc`; `details` also holds n_clusters. Resamples without variance are left out and
        counted in `n_undefined`. Under 20 items the intervals are flagged unreliable.

    Raises
    ------
    StatisticsError
        Clusters that do not match the rows, an unknown scheme, form or array.

    Examples
    --------
    >>> import numpy as np
    >>> from voirdire.stats import icc_clustered
    >>> rng = np.random.default_rng(1)
    >>> item = np.repeat(np.arange(30), 3)
    >>> truth = rng.normal(size=30)[item] + rng.normal(0, 0.3, size=90)
    >>> Y = truth[:, None] + rng.normal(0, 0.5, size=(90, 2))
    >>> [interval.method for interval in icc_clustered(Y, item).intervals]
    ['cluster', 'nested']

    References
    ----------
    Davison and Hinkley (1997), 3.8: both schemes and when each is right.
    """
    schemes = (ci,) if isinstance(ci, str) else tuple(ci)
    for scheme in schemes:
        if scheme not in SCHEMES:
            raise not_one_of("scheme", scheme, SCHEMES, error=StatisticsError)
    ratings = floats(Y, "Y", 2)
    labels = row_names(clusters, len(ratings), "clusters")
    check_level(level)
    check_draws(n_resamples, seed)
    coefficient = icc(ratings, form, ci=None)
    complete = ~np.isnan(ratings).any(axis=1)
    codes = np.unique(labels[complete], return_inverse=True)[1]
    intervals = tuple(
        _interval(ratings[complete], codes, coefficient, scheme, level, n_resamples, seed)
        for scheme in schemes
    )
    details = {**coefficient.details, "n_clusters": len(np.unique(codes))}
    return dataclasses.replace(coefficient, intervals=intervals, details=details)


def _interval(
    Y: Floats,
    codes: NDArray[np.int64],
    estimate: Estimate,
    scheme: str,
    level: float,
    n_resamples: int,
    seed: int,
) -> Interval:
    if estimate.reason is not None:
        return Interval(scheme, level, np.nan, np.nan)
    # Responses of an item side by side, as both schemes take them.
    order = np.argsort(codes, kind="stable")
    members = np.bincount(codes)
    chunks = (_clusters if scheme == "cluster" else _nested)(seed, members, n_resamples)
    values = _values(Y[order], members, estimate.details["form"], chunks, scheme)
    return drawn_interval(values, scheme, level, len(members))


def _values(
    Y: Floats,
    members: NDArray[np.int64],
    form: str,
    chunks: Iterator[Floats],
    scheme: str,
) -> Floats:
    parts = decompose(Y[None])
    terms, weights = features(parts), np.ones(len(Y))
    if scheme == "cluster":
        # Whole items are drawn, so their sums are all that is needed.
        starts = np.cumsum(members) - members
        terms = np.ascontiguousarray(np.add.reduceat(terms, starts, axis=2))
        weights = members.astype(np.float64)
    # Resamples of whole items differ in size, which the coefficients of a form depend on.
    evaluation = FormValues.of(parts, (form,))
    values = []
    for counts in chunks:
        sums = np.empty((*terms.shape[:2], counts.shape[1]))
        weighted_sums(counts, terms, sums)
        sizes = weights @ counts
        values.append(evaluation.values(sums, sizes)[0, 0])
    return np.concatenate(values)


def _clusters(seed: int, members: NDArray[np.int64], n_resamples: int) -> Iterator[Floats]:
    return drawn_in_chunks(seed, len(members), n_resamples, 1024)


def _nested(seed: int, members: NDArray[np.int64], n_resamples: int) -> Iterator[Floats]:
    """(responses, B) counts: items drawn, then responses within each, both with replacement."""
    rng = generator(seed)
    units, rows = len(members), int(members.sum())
    starts = np.cumsum(members) - members
    width = max(1, _DRAWS // rows)
    for start in range(0, n_resamples, width):
        size = min(width, n_resamples - start)
        items = rng.integers(0, units, size=(size, units)).ravel()
        resample = np.repeat(np.repeat(np.arange(size), units), members[items])
        drawn = np.repeat(items, members[items])
        # Numbers below 1 times the item's size: one draw serves items of any size.
        within = (rng.random(len(drawn)) * members[drawn]).astype(np.int64)
        flat = resample * rows + starts[drawn] + within
        counts = np.bincount(flat, minlength=size * rows).reshape(size, rows)
        yield np.ascontiguousarray(counts.T, dtype=np.float64)

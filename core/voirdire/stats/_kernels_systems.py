"""Loops over systems: their sums in one pass, and ICC of their means."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voirdire.stats._jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.stats._arrays import Floats


@njit(
    "UniTuple(f8, 2)(f8[:,:,::1], i8, f8[::1], f8[::1])",
    nogil=True,
    error_model="numpy",
)
def _effects(means: Floats, b: int, rows: Floats, columns: Floats) -> tuple[float, float]:
    """Fill in row and column effects of means[:, :, b]; the grand mean, and what is round-off."""
    n, k, _ = means.shape
    grand, scale = 0.0, 0.0
    for i in range(n):
        for j in range(k):
            grand += means[i, j, b]
            scale = max(scale, abs(means[i, j, b]))
    grand /= n * k
    rows[:] = 0.0
    columns[:] = 0.0
    for i in range(n):
        for j in range(k):
            rows[i] += (means[i, j, b] - grand) / k
            columns[j] += (means[i, j, b] - grand) / n
    # What `_anova` takes for round-off.
    return grand, 64 * 2.220446049250313e-16 * scale


@njit("f8(f8[::1], f8)", nogil=True, error_model="numpy")
def _sum_of_squares(effects: Floats, zero: float) -> float:
    total = 0.0
    for effect in effects:
        if abs(effect) > zero:
            total += effect * effect
    return total


@njit("void(f8[:,:,::1], f8[::1], f8[::1], f8[::1], i8, f8[:])", nogil=True, error_model="numpy")
def _squares(
    means: Floats, rows: Floats, columns: Floats, rests: Floats, b: int, out: Floats
) -> None:
    """out: MSR, MSC, MSE of the n by k means[:, :, b]; NaN where a mean is missing.

    Two passes over deviations, with what lies below the round-off of the means set to zero.
    """
    n, k, _ = means.shape
    grand, zero = _effects(means, b, rows, columns)
    # One mean that is missing leaves no complete table.
    if np.isnan(grand):
        out[:] = np.nan
        return
    for i in range(n):
        for j in range(k):
            rests[i * k + j] = means[i, j, b] - grand - rows[i] - columns[j]
    out[0] = k * _sum_of_squares(rows, zero) / (n - 1)
    out[1] = n * _sum_of_squares(columns, zero) / (k - 1)
    out[2] = _sum_of_squares(rests, zero) / ((n - 1) * (k - 1))


def _squares_in_numpy(means: Floats, out: Floats) -> None:
    n, _, resamples = means.shape
    there = np.ones((n, resamples), np.bool_)
    out[:] = _mean_squares(means, there, np.full(resamples, float(n)))


def _mean_squares(means: Floats, there: NDArray[np.bool_], n: Floats) -> Floats:
    """(3, B) of means (S, k, B) of the n (B,) rows that are there (S, B); NaN below two."""
    rows, k, many = means.shape
    # Rows that are not there add zeros, which change no bit of a sum.
    seen = there[:, None]
    given = np.where(seen, means, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        grand = _in_order(given.reshape(rows * k, many)) / (n * k)
        zero = 64 * 2.220446049250313e-16 * np.abs(given).max(axis=(0, 1))
        off = np.where(seen, means - grand, 0.0)
        row, column = np.add.accumulate(off / k, axis=1)[:, -1], _in_order(off / n)
        rest = np.where(seen, off - row[:, None] - column, 0.0).reshape(rows * k, many)
        sums = [
            _in_order(np.where(np.abs(part) > zero, part * part, 0.0))
            for part in (row, column, rest)
        ]
        # McGraw and Wong (1996), table 4.
        squares = [k * sums[0] / (n - 1), n * sums[1] / (k - 1), sums[2] / ((n - 1) * (k - 1))]
    return np.where(np.isnan(grand) | (n < 2), np.nan, squares)


def _in_order(terms: Floats) -> Floats:
    """Sums over the first axis, one term after the other as in the loop; `sum` pairs them."""
    return np.asarray(np.add.accumulate(terms, axis=0)[-1])


@njit(
    "void(f8[:,:,::1], f8[:,::1])",
    stand_in=_squares_in_numpy,
    nogil=True,
    error_model="numpy",
)
def mean_squares_of(means: Floats, out: Floats) -> None:
    """out[:, b]: MSR, MSC, MSE of the n by k means[:, :, b]; NaN where a mean is missing."""
    n, k, resamples = means.shape
    rows, columns, rests = np.empty(n), np.empty(k), np.empty(n * k)
    for b in range(resamples):
        _squares(means, rows, columns, rests, b, out[:, b])


def _pairs_in_numpy(
    judges: Floats, reference: Floats, system: NDArray[np.int64], out: Floats
) -> None:
    for j, a in np.ndindex(*judges.shape[:2]):
        x, y = reference[a], judges[j, a]
        both = ~np.isnan(x) & ~np.isnan(y)
        x, y, codes = x[both], y[both], system[both]
        off = y - x
        # bincount adds row after row, as the loop does.
        for f, terms in enumerate((None, x, y, x * x, y * y, x * y, off * off)):
            out[j, a, :, f] += np.bincount(codes, terms, out.shape[2])


@njit(
    "void(f8[:,:,::1], f8[:,::1], i8[::1], f8[:,:,:,::1])",
    stand_in=_pairs_in_numpy,
    nogil=True,
    error_model="numpy",
)
def add_pairs(judges: Floats, reference: Floats, system: NDArray[np.int64], out: Floats) -> None:
    """Add every pair of judges[j, a, i] and reference[a, i] to out[j, a, system[i]].

    The seven sums: pairs, reference, judge, their squares, their product, the squared difference
    (which the other sums give only less what cancels). A pair with a NaN is passed over.
    """
    for j in range(judges.shape[0]):
        for a in range(judges.shape[1]):
            for i in range(judges.shape[2]):
                x, y = reference[a, i], judges[j, a, i]
                if np.isnan(x) or np.isnan(y):
                    continue
                sums = out[j, a, system[i]]
                sums[0] += 1.0
                sums[1] += x
                sums[2] += y
                sums[3] += x * x
                sums[4] += y * y
                sums[5] += x * y
                # Not y² - 2 x y + x², which would leave a rounding error of judges that agree.
                sums[6] += (y - x) * (y - x)


def _under_in_numpy(means: Floats, kept: NDArray[np.bool_], out: Floats) -> None:
    if not means.shape[2]:
        out[:] = np.nan
        out[..., 0] = 0.0
        return
    there = (kept[:, :, None] & ~np.isnan(means[..., 0])).reshape(-1, means.shape[2]).T
    each = np.broadcast_to(means, (len(kept), *means.shape)).reshape(-1, *means.shape[2:])
    n = there.sum(axis=0) * 1.0
    both = each.transpose(1, 2, 0)
    off = np.where(there, both[:, 1] - both[:, 0], 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        bias = np.where(n > 0, _in_order(off) / n, np.nan)
    out[:] = np.stack([n, bias, *_mean_squares(both, there, n)], axis=1).reshape(out.shape)


@njit(
    "void(f8[:,:,:,::1], b1[:,:,::1], f8[:,:,:,::1])",
    stand_in=_under_in_numpy,
    nogil=True,
    error_model="numpy",
)
def squares_under(means: Floats, kept: NDArray[np.bool_], out: Floats) -> None:
    """out[q, j, a]: systems, bias, MSR, MSC, MSE of means[j, a, s] where kept[q, j, s].

    The means are those of reference and judge, NaN where a system has no pair. Of fewer than two
    systems there are no mean squares, of none no bias.
    """
    # The systems that are kept are moved together, so that `_squares` sees a whole matrix.
    left = np.empty((means.shape[2], 2, 1))
    rows, columns = np.empty(means.shape[2]), np.empty(2)
    rests = np.empty(2 * means.shape[2])
    for q in range(kept.shape[0]):
        for j in range(means.shape[0]):
            for a in range(means.shape[1]):
                n = 0
                bias = 0.0
                for s in range(means.shape[2]):
                    if kept[q, j, s] and not np.isnan(means[j, a, s, 0]):
                        left[n, 0, 0] = means[j, a, s, 0]
                        left[n, 1, 0] = means[j, a, s, 1]
                        bias += means[j, a, s, 1] - means[j, a, s, 0]
                        n += 1
                result = out[q, j, a]
                result[:] = np.nan
                result[0] = n
                if n > 0:
                    result[1] = bias / n
                if n > 1:
                    _squares(left[:n], rows[:n], columns, rests[: 2 * n], 0, result[2:])

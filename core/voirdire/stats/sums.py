"""Sums by cluster, which add up over any parts of the data, and the jackknife that they allow."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.late import dataclass
from voirdire.stats._arrays import Floats, coded, floats, row_names
from voirdire.stats._results import Interval, Result, plain
from voirdire.stats.special import special

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Statistic = Callable[[Floats], Any]


@dataclass(frozen=True, slots=True)
class Root:
    """The scale -sqrt(1 - r + noise) of a coefficient r that falls short of 1 by a sum of squares.

    Means with noise of one size in each have squared differences whose error grows with their
    root: on this scale it is the same wherever r lies, where Fisher's z has no bound near 1.

    Attributes
    ----------
    noise : float
        Half of what the noise of the means takes from the coefficient; 0 or more.

    Source: Bartlett (1947), Biometrics 3, 39-52, for roots of sums of squares.
    """

    noise: float

    def __str__(self) -> str:
        return "root"


Scale = Literal["plain", "fisher", "log"] | Root

#: Whole numbers that stand for values stay below this, summed over a cluster.
_MOST = 2**30
#: Fisher's z of a correlation of 1 is infinite; beyond this it is held.
_LARGEST = 0.9999


@dataclass(frozen=True, slots=True, eq=False)
class ClusterSums(Result):
    """Columns summed within clusters. Tables of parts of the data add up: ``a + b``.

    Attributes
    ----------
    clusters : (G,) array
        The name of each cluster, sorted.
    table : (G, F) float64
        The sums. What is no sum of a cluster's responses does not belong here.
    weight : (G,) float64 or None
        How many clusters each row stands for; None: one each.
    seen : (F,) int64 or None
        Clusters with a sum above 0 in each column, where the rows do not tell (`ClusterMoments`).
    """

    clusters: NDArray[Any]
    table: Floats
    weight: Floats | None = None
    seen: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, columns: Any, clusters: Any) -> ClusterSums:
        """Sum columns (n, F) within clusters (n,).

        Raises
        ------
        StatisticsError
            Columns that are not (n, F) numbers, and rows without a cluster.

        Examples
        --------
        >>> ClusterSums.of([[1, 1], [4, 1], [2, 1]], ["b", "a", "b"]).table.tolist()
        [[4.0, 1.0], [3.0, 2.0]]
        """
        values = floats(columns, "columns", 2)
        names, codes = coded(row_names(clusters, len(values), "clusters"))
        return cls(names, summed(values, codes, len(names)))

    @property
    def total(self) -> Floats:
        """(F,) sums over all clusters."""
        if self.weight is None:
            return self.table.sum(axis=0)
        total: Floats = (self.weight[:, None] * self.table).sum(axis=0)
        return total

    @property
    def without(self) -> Floats:
        """(G, F) sums over all clusters but one."""
        # Smooth statistics of sums need no second pass over the data to leave a cluster out.
        return self.total - self.table

    def __len__(self) -> int:
        """Clusters."""
        return len(self.table) if self.weight is None else round(float(self.weight.sum()))

    def met(self, column: int) -> int:
        """Clusters whose sum in a column is above 0."""
        if self.seen is not None:
            return int(self.seen[column])
        there = self.table[:, column] > 0
        return int(there.sum()) if self.weight is None else round(float(self.weight[there].sum()))

    def where(self, column: int) -> ClusterSums:
        """The clusters whose sum in a column is above 0."""
        if self.seen is not None:  # seen to when these were summed: see `by_cluster`
            return self
        kept = self.table[:, column] > 0
        weight = None if self.weight is None else self.weight[kept]
        return ClusterSums(self.clusters[kept], self.table[kept], weight)

    def __str__(self) -> str:
        """How much is summed."""
        return f"sums in {len(self)} clusters, {self.total.tolist()} in all"

    def __add__(self, other: ClusterSums) -> ClusterSums:
        """The sums of two parts of the data; a cluster may occur in both."""
        if self.weight is not None or other.weight is not None:
            raise StatisticsError("rows that stand for several clusters do not add up by name")
        if self.table.shape[1] != other.table.shape[1]:
            raise StatisticsError(
                f"sums of {self.table.shape[1]} and {other.table.shape[1]} columns do not add up"
            )
        names = np.concatenate([self.clusters, other.clusters])
        return ClusterSums.of(np.concatenate([self.table, other.table]), names)

    def jackknife(self, statistic: Statistic, scale: Scale = "plain") -> Jackknifed:
        """A smooth statistic of the sums, with its error by leaving out one cluster at a time."""
        total = self.total  # once: it is half of the work where statistics are simple
        return jackknife(statistic(total), statistic(total - self.table), scale, self.weight)


@dataclass(frozen=True, slots=True, eq=False)
class Linear(Result):
    """Values as whole numbers, so that sums over clusters are exact in any order.

    Attributes
    ----------
    whole : (P, M) int32
        Values times 2^bits, rounded.
    bits : (M,) int64
        Powers of two.
    """

    whole: NDArray[np.int32]
    bits: NDArray[np.int64]

    @classmethod
    def of(cls, values: Floats, largest: int) -> Linear:
        """Values (P, M) of which at most `largest` are summed in a cluster."""
        # The largest power of two at which no cluster's sum can pass 2^30.
        most = np.maximum(np.abs(values).max(axis=0, initial=0.0), 1e-200) * max(largest, 1)
        bits = np.floor(np.log2(_MOST / most)).astype(np.int64)
        return cls(np.rint(np.ldexp(values, bits[None, :].astype(np.intc))).astype(np.int32), bits)

    def squares(self, high: NDArray[np.int64], low: NDArray[np.int64]) -> Floats:
        """(M,) sums of squared cluster sums from their two halves."""
        # Python's whole numbers have no end.
        exact = [(int(a) << 32) + int(b) for a, b in zip(high, low, strict=True)]
        return np.array(
            [float(total) * 2.0 ** (-2 * int(b)) for total, b in zip(exact, self.bits, strict=True)]
        )


@dataclass(frozen=True, slots=True, eq=False)
class ClusterMoments(Result):
    """Sums and products of cluster sums: as much of them as the delta method needs, in any number.

    Whole numbers, so that parts add up exactly in any order: ``a + b``.

    Attributes
    ----------
    units : int
        Clusters.
    total : (F,) object
        Sums, as Python's whole numbers, in units of 2^-bits.
    cross : (F, F) object
        Sums of products of two cluster sums.
    bits : (F,) int64
        Of each column.
    seen : (F,) int64
        Clusters with a sum above 0 in each column.
    fine : (F,) object
        The sums in units of 2^-(bits + 20), where they are known so finely; else 0.
    """

    units: int
    total: NDArray[Any]
    cross: NDArray[Any]
    bits: NDArray[np.int64]
    seen: NDArray[np.int64]
    fine: NDArray[Any]

    def __add__(self, other: ClusterMoments) -> ClusterMoments:
        """Those of two parts of the data that share no cluster."""
        return ClusterMoments(
            self.units + other.units,
            self.total + other.total,
            self.cross + other.cross,
            self.bits,
            self.seen + other.seen,
            self.fine + other.fine,
        )

    @property
    def fine_total(self) -> Floats:
        """(F,) the sums, of columns that are known so finely."""
        unit = np.ldexp(1.0, -(self.bits + 20).astype(np.intc))
        total: Floats = self.fine.astype(np.float64) * unit
        return total

    def __str__(self) -> str:
        """How much is summed."""
        return f"sums and products of {len(self.total)} columns in {self.units} clusters"

    def sums(self, total: Floats) -> ClusterSums:
        """Clusters in pairs about their mean that have these products: the delta method's error.

        Parameters
        ----------
        total : (F,) float64
            The sums themselves, not rounded to 2^-bits.
        """
        n = max(self.units, 1)
        # In whole numbers: as floats, the two would cancel to noise where clusters are many and
        # alike.
        exact = self.cross * n - np.outer(self.total, self.total)
        unit = np.ldexp(1.0, -self.bits.astype(np.intc))
        spread = exact.astype(np.float64) / n * np.outer(unit, unit)
        values, vectors = np.linalg.eigh(spread)
        # Columns that are sums of others leave eigenvalues of round-off, and these steps that
        # nobody took.
        kept = values > 1e-14 * max(float(values.max(initial=0.0)), 0.0)
        rank = max(int(kept.sum()), 1)
        steps = np.zeros((rank, len(total)))
        if kept.any():
            steps = (vectors[:, kept] * np.sqrt(values[kept] * rank / n)).T
            # What is the same in all clusters, such as none at all, stays so to the last bit.
            steps[:, np.diag(spread) == 0] = 0.0
        # Two clusters on either side of the mean along each axis: they have the very products of
        # all.
        table = np.concatenate([total / n + steps, total / n - steps])
        weight = np.full(2 * rank, self.units / (2 * rank))
        return ClusterSums(np.arange(2 * rank), table, weight, self.seen)


@dataclass(frozen=True, slots=True, eq=False)
class Jackknifed(Result):
    """One or several estimates, freed of the jackknife's bias, on the scale of their test.

    Attributes
    ----------
    at : float or (k,) float64
        The estimate on the scale of the test.
    se : float or (k,) float64
        Its standard error there.
    df : float
        Clusters less one (systems less two, where a system is left out).
    scale : {"plain", "fisher", "log"} or Root
        Fisher's z for correlations, the log for ratios, a root for means of systems.
    full : float or (k,) float64 or None
        The plain estimate on its natural scale, the bias not removed.
    out : (G,) or (G, k) float64 or None
        The same without each cluster; None where they were not computed one by one.
    """

    at: Any
    se: Any
    df: float
    scale: Scale = "plain"
    full: Any = field(default=None, repr=False)
    out: Any = field(default=None, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain types; without what was left out one at a time."""
        numbers = {name: plain(getattr(self, name)) for name in ("at", "se", "df")}
        return {**numbers, "scale": str(self.scale)}

    def grown(self, times: float) -> Jackknifed:
        """The same with an error so many times as large."""
        return dataclasses.replace(self, se=self.se * times)

    @property
    def value(self) -> Any:
        """The estimate on its natural scale."""
        return natural(self.at, self.scale)

    def bound(self, share: float) -> Any:
        """The one-sided bound, on the natural scale: 0.05 is the lower, 0.95 the upper of 90 %."""
        return natural(self.at + quantile(share, self.df) * self.se, self.scale)

    def interval(self, level: float = 0.95) -> Interval:
        """The t interval of a single estimate, on the natural scale."""
        low, high = self.bound((1 - level) / 2), self.bound((1 + level) / 2)
        return Interval("cluster_jackknife", level, float(low), float(high))

    def __str__(self) -> str:
        """The estimate and its error on the scale of the test."""
        values = ", ".join(f"{value:.3f}" for value in np.atleast_1d(self.value))
        errors = ", ".join(f"{value:.3f}" for value in np.atleast_1d(self.se))
        return f"{values} (jackknife se {errors} on the {self.scale} scale, df = {self.df:g})"

    def __getitem__(self, place: int) -> Jackknifed:
        """One of several estimates."""
        full = None if self.full is None else float(self.full[place])
        out = None if self.out is None else self.out[:, place]
        return dataclasses.replace(
            self, at=float(self.at[place]), se=float(self.se[place]), full=full, out=out
        )


def cluster_jackknife(
    columns: Any, clusters: Any, statistic: Statistic, *, scale: Scale = "plain"
) -> Jackknifed:
    """A smooth function of sums, with the error that leaving out one cluster at a time gives it.

    With G clusters, the value T and the values T_g without each,
    ``at = G T - (G - 1) mean(T_g)`` and ``se² = (G - 1) / G sum((T_g - mean(T_g))²)``; intervals
    are t with G - 1 degrees of freedom.

    Parameters
    ----------
    columns : array-like, shape (n, F)
        What is summed, one row a response; no missing values.
    clusters : array-like, shape (n,)
        What each response belongs to: its item, or a declared cluster.
    statistic : callable
        From sums (..., F) to one value, or to (..., k) values.
    scale : {"plain", "fisher", "log"}
        Where estimate and error are taken: Fisher's z for correlations, the log for ratios.

    Returns
    -------
    Jackknifed
        NaN where fewer than two clusters are there.

    Raises
    ------
    StatisticsError
        Columns that are not numbers, rows without a cluster.

    Examples
    --------
    >>> mean = lambda sums: sums[..., 0] / sums[..., 1]
    >>> error = cluster_jackknife([[1, 1], [2, 1], [3, 1], [6, 1]], [1, 2, 3, 4], mean)
    >>> print(round(error.value, 3), round(error.se, 3), error.df)
    3.0 1.08 3

    References
    ----------
    Miller (1974), Biometrika 61, 1-15; with clusters, Wolter (2007), chapter 4.
    """
    return ClusterSums.of(columns, clusters).jackknife(statistic, scale)


def jackknife(
    full: Any, out: Any, scale: Scale = "plain", weight: Floats | None = None
) -> Jackknifed:
    """From a value and the values (G, ...) without one unit each; see `cluster_jackknife`.

    `weight` (G,) says for how many units each of them stands.
    """
    whole, parts = on_scale(full, scale), on_scale(out, scale)
    units = len(parts) if weight is None else round(float(weight.sum()))
    if units < 2:
        empty = np.full(np.shape(whole), math.nan)
        return Jackknifed(_plain(empty), _plain(empty), units - 1, scale)
    # Means of differences: those of the values themselves would lose digits, times the units.
    off = parts - whole
    centre = weighted_mean(off, weight)
    spread = weighted_mean((off - centre) ** 2, weight)
    at, se = whole - (units - 1) * centre, np.sqrt((units - 1) * spread)
    each = out if weight is None else None  # a row of several clusters leaves out none of them
    return Jackknifed(_plain(at), _plain(se), units - 1, scale, _plain(full), each)


def on_scale(value: Any, scale: Scale) -> Floats:
    """A value on the scale of its test."""
    values = np.asarray(value, dtype=np.float64)
    if scale == "fisher":
        # One perfect judge would else have an error of NaN.
        return np.arctanh(np.clip(values, -_LARGEST, _LARGEST))
    if isinstance(scale, Root):
        return np.asarray(-np.sqrt(np.maximum(1 - values + scale.noise, 0.0)))
    return np.log(values) if scale == "log" else values


def natural(value: Any, scale: Scale) -> Any:
    """The other way round."""
    if scale == "plain":
        return value
    if isinstance(scale, Root):
        short = np.minimum(value, 0.0) ** 2
        return _plain(np.clip(1 + scale.noise - short, -1.0, 1.0))
    return _plain(np.tanh(value) if scale == "fisher" else np.exp(value))


@lru_cache(maxsize=4096)
def quantile(share: float, df: float) -> float:
    """Student's t below which that share lies; NaN without degrees of freedom."""
    return float(special().stdtrit(df, share)) if df > 0 else math.nan


def above_t(t: Any, df: float) -> Any:
    """P(T > t) of Student's t."""
    return special().stdtr(df, -np.asarray(t, dtype=np.float64))


def weighted_mean(values: Floats, weight: Floats | None) -> Floats:
    """The mean over the first axis, each row counting its weight; None: one each."""
    if weight is None:
        return np.asarray(values.mean(axis=0))
    return np.asarray(np.tensordot(weight, values, 1) / weight.sum())


def summed(columns: Floats | Sequence[Floats], codes: NDArray[np.intp], n: int) -> Floats:
    """Columns, (rows, F) or F times (rows,), summed by codes 0 .. n - 1: (n, F)."""
    each = np.ascontiguousarray(columns.T) if isinstance(columns, np.ndarray) else columns
    out = np.empty((len(each), n))
    for place, column in enumerate(each):
        # In the order of rows: `np.add.at` is slower, and a product of matrices adds in another
        # order.
        out[place] = np.bincount(codes, weights=column, minlength=n)
    return np.ascontiguousarray(out.T)


def means_of(sums: Floats) -> Floats:
    """(..., k) means from sums (..., k + 1), the last of which counts; NaN where it is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        means: Floats = sums[..., :-1] / sums[..., -1:]
    return means


def mean_of(sums: Floats) -> Floats:
    """(...,) the mean from sums (..., 2) of values and of ones."""
    mean: Floats = means_of(sums)[..., 0]
    return mean


def leave_one_out(table: Floats) -> Floats:
    """(G, ...) totals without each row."""
    return table.sum(axis=0) - table


def _plain(values: Any) -> Any:
    return float(values) if np.ndim(values) == 0 else values

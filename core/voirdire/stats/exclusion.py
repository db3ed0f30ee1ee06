"""Self-exclusion: the same statistic with and without the systems that a judge may favour."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.late import dataclass
from voirdire.stats._arrays import Floats, floats, magnified, masked, row_names
from voirdire.stats._forms import value
from voirdire.stats._kernels_systems import add_pairs, squares_under
from voirdire.stats._results import Estimate, Result, plain

if TYPE_CHECKING:
    from numpy.typing import NDArray

Statistic = Callable[..., Estimate]

#: The sums of a judge, an attribute and a system: the last axis of `SystemSums.table`.
SUMS = ("pairs", "reference", "judge", "reference²", "judge²", "product", "difference²")


@dataclass(frozen=True, slots=True, eq=False)
class SelfExclusion(Result):
    """A statistic before and after systems are left out.

    Attributes
    ----------
    before, after : Estimate
        With every system; without the excluded ones.
    excluded : tuple of str
        The systems left out that occur in the data.
    rows_excluded : int
        Rows that this left out.
    """

    before: Estimate
    after: Estimate
    excluded: tuple[str, ...]
    rows_excluded: int

    @property
    def change(self) -> float:
        """``after - before``; NaN where either is undefined."""
        return self.after.value - self.before.value

    def to_dict(self) -> dict[str, Any]:
        """Plain types; undefined values become None."""
        return {**Result.to_dict(self), "change": plain(self.change)}

    def __str__(self) -> str:
        """Before, after and the change, a line each."""
        names = ", ".join(self.excluded) or "no system"
        return (
            f"before: {self.before}\nafter: {self.after}\n"
            f"change: {self.change:.3f} without {names} ({self.rows_excluded} rows)"
        )


def self_exclusion(
    statistic: Statistic, *arrays: Any, systems: Any, excludes: str | Iterable[str], **options: Any
) -> SelfExclusion:
    """Compute `statistic` on all rows, then without those of the systems in `excludes`.

    Parameters
    ----------
    statistic : callable
        Any function of arrays that returns an Estimate: `icc`, `bias`, `ccc`, ...
    *arrays : array-like
        What it takes, each with one row (first axis) a system or a response.
    systems : array-like of str
        The system behind each row.
    excludes : str or iterable of str
        The system or systems to leave out. One that does not occur changes nothing.
    **options
        Handed on to `statistic`; `clusters`, which name each row, lose the same rows.

    Returns
    -------
    SelfExclusion
        Both estimates, the systems of `excludes` that occur, and how many rows they had.

    Raises
    ------
    StatisticsError
        When `systems` and an array differ in length; and what `statistic` raises.

    Examples
    --------
    >>> from voirdire.stats import bias, self_exclusion
    >>> exclusion = self_exclusion(
    ...     bias, [5, 3, 4], [3, 3, 4], systems=["own", "a", "b"], excludes=["own"])
    >>> round(exclusion.before.value, 3), exclusion.after.value, exclusion.excluded
    (0.667, 0.0, ('own',))

    References
    ----------
    Badawi et al. (2025), whose analysis leaves a judge's ratings of its own system out.
    Panickssery, Bowman and Feng (2024), LLM Evaluators Recognize and Favor Their Own Generations.
    """
    given = masked(systems, "systems")[0]
    names = row_names(given, len(np.atleast_1d(given)), "systems").astype(str)
    left_out = {str(name) for name in ([excludes] if isinstance(excludes, str) else excludes)}
    # NumPy compares with a list; a set would be one object to it.
    kept = ~np.isin(names, sorted(left_out))
    values = [_rows(array) for array in arrays]
    for rows in values:
        if rows.ndim == 0 or len(rows) != len(names):
            raise StatisticsError(
                f"systems must name each row: {len(names)} names for an array of shape {rows.shape}"
            )
    fewer = dict(options)
    if options.get("clusters") is not None:
        fewer["clusters"] = row_names(options["clusters"], len(names), "clusters")[kept]
    return SelfExclusion(
        statistic(*values, **options),
        statistic(*(rows[kept] for rows in values), **fewer),
        tuple(sorted(left_out & set(names.tolist()))),
        int((~kept).sum()),
    )


def _rows(array: Any) -> Any:
    """An array whose rows can be chosen; a mask stays."""
    data, mask = masked(array, "array")
    return data if mask is None else np.ma.MaskedArray(data, mask)


@dataclass(frozen=True, slots=True, eq=False)
class SystemFeatures(Result):
    """What a panel's system means say under each of Q rules of exclusion.

    All arrays are (Q rules, J judges, A attributes), NaN where undefined.

    Attributes
    ----------
    n_systems : float64
        Systems with at least one pair that the rule keeps.
    bias : float64
        Mean over those systems of the judge's mean less the reference's.
    ms_rows, ms_raters, ms_error : float64
        Mean squares of the two-way analysis of the means (systems by reference and judge); of
        fewer than two systems there are none.
    icc_c1, icc_a1 : float64
        ICC(C,1) and ICC(A,1) of the means, as `icc` gives them.
    """

    n_systems: Floats
    bias: Floats
    ms_rows: Floats
    ms_raters: Floats
    ms_error: Floats
    icc_c1: Floats
    icc_a1: Floats

    def __str__(self) -> str:
        """How many panels are described."""
        rules, judges, attributes = self.bias.shape
        return f"{rules} rules of exclusion, {judges} judges, {attributes} attributes"


@dataclass(frozen=True, slots=True, eq=False)
class SystemSums(Result):
    """Sums by judge, attribute and system over the pairs with a reference. They add up: ``a + b``.

    Attributes
    ----------
    systems : tuple of str
        In the order of their axis of `table`.
    table : (J judges, A attributes, S systems, 7) float64
        `SUMS`: pairs, reference, judge, the squares of both, their product, the squared
        difference. Everything that bias, MSE, correlation and ICC need.
    """

    systems: tuple[str, ...]
    table: Floats

    @property
    def means(self) -> Floats:
        """(J, A, S, 2) means of reference and judge; NaN where a system has no pair."""
        with np.errstate(invalid="ignore", divide="ignore"):
            means: Floats = self.table[..., 1:3] / self.table[..., :1]
        return means

    def __add__(self, other: SystemSums) -> SystemSums:
        """The sums of two parts of the data; a system may occur in both or in one."""
        if self.table.shape[:2] != other.table.shape[:2]:
            raise StatisticsError(
                f"sums of (judges, attributes) {self.table.shape[:2]} and "
                f"{other.table.shape[:2]} do not add up"
            )
        # In the order of the first part, so that a + b + c keeps its axis.
        systems = tuple(dict.fromkeys((*self.systems, *other.systems)))
        table = np.zeros((*self.table.shape[:2], len(systems), len(SUMS)))
        for part in (self, other):
            table[:, :, [systems.index(name) for name in part.systems]] += part.table
        return SystemSums(systems, table)

    def keeping(self, left_out: Sequence[Iterable[str]]) -> NDArray[np.bool_]:
        """(J, S) a rule for `under`: what is left when each judge's own systems are left out."""
        if len(left_out) != len(self.table):
            raise StatisticsError(
                f"left_out must name the systems of each of {len(self.table)} judges, not of "
                f"{len(left_out)}"
            )
        return np.array(
            [[name not in names for name in self.systems] for names in map(set, left_out)]
        )

    def under(self, kept: Any) -> SystemFeatures:
        """Bias, mean squares and ICC of the system means under each rule of exclusion.

        Parameters
        ----------
        kept : array-like of bool, shape (Q rules, J judges, S systems)
            Which systems each rule keeps for each judge; `keeping` makes one rule from names.

        Returns
        -------
        SystemFeatures
            Equal to `icc` and `bias` of the means that are kept, up to round-off.

        Raises
        ------
        StatisticsError
            An array of another shape.
        """
        rules = np.ascontiguousarray(kept, dtype=np.bool_)
        shape = (len(self.table), len(self.systems))
        if rules.ndim != 3 or rules.shape[1:] != shape:
            raise StatisticsError(f"kept must be (rules, *{shape}), got shape {rules.shape}")
        # Squares of means below 1e-160 would vanish in the kernel.
        means, exponent = magnified(self.means)
        out = np.empty((len(rules), *self.table.shape[:2], 5))
        squares_under(means, rules, out)
        n, squares = out[..., 0], np.moveaxis(out[..., 2:], -1, 0)
        rows, raters, error = np.ldexp(squares, -2 * exponent)
        return SystemFeatures(
            n_systems=n,
            bias=np.ldexp(out[..., 1], -exponent),
            ms_rows=rows,
            ms_raters=raters,
            ms_error=error,
            icc_c1=_by_size("C,1", squares, n),
            icc_a1=_by_size("A,1", squares, n),
        )

    def __str__(self) -> str:
        """How much is summed."""
        judges, attributes, systems = self.table.shape[:3]
        pairs = int(self.table[..., 0].sum())
        return f"{pairs} pairs of {judges} judges, {attributes} attributes and {systems} systems"


def system_sums(
    judges: Any, reference: Any, systems: Any, *, names: Sequence[str] | None = None
) -> SystemSums:
    """Sum up a panel by system, in one pass over its scores.

    Every judge and attribute is summed by system once; each rule of exclusion (all systems, the
    judge's own left out, its family left out) is then a choice among at most a few dozen sums:
    `SystemSums.under`. Sums of parts of the data add up, so that a stream needs the memory of one
    part.

    Parameters
    ----------
    judges : array-like, shape (J judges, A attributes, N responses)
        NaN is missing.
    reference : array-like, shape (A, N)
        What the judges are held against; NaN where there is none.
    systems : array-like, shape (N,)
        The system behind each response: its name or, with `names`, its position among them.
    names : sequence of str, optional
        The systems in the order wanted, one that has no response included. Without it the systems
        that occur are sorted.

    Returns
    -------
    SystemSums
        A pair counts where judge and reference are both present.

    Raises
    ------
    StatisticsError
        Arrays whose shapes do not match, or that are not numbers; a position without a name.

    Examples
    --------
    >>> from voirdire.stats import system_sums
    >>> reference = [[1, 2, 3, 3, 4, 4]]
    >>> judge = [[[5, 5, 3, 3, 4, 5]]]
    >>> sums = system_sums(judge, reference, ["own", "own", "a", "a", "b", "b"])
    >>> features = sums.under([sums.keeping([[]]), sums.keeping([["own"]])])
    >>> features.n_systems.ravel().tolist(), features.bias.ravel().round(3).tolist()
    ([3.0, 2.0], [1.333, 0.25])

    References
    ----------
    Badawi et al. (2025), equations 1 to 5: the ICC of system means with a judge's own system left
    out. McGraw and Wong (1996), table 4, for the mean squares.
    """
    scores, held = floats(judges, "judges", 3), floats(reference, "reference", 2)
    if scores.shape[1:] != held.shape:
        raise StatisticsError(
            f"reference must be (attributes, responses) {scores.shape[1:]}, got shape {held.shape}"
        )
    order, codes = _coded(systems, held.shape[1], names)
    table = np.zeros((*scores.shape[:2], len(order), len(SUMS)))
    add_pairs(np.ascontiguousarray(scores), np.ascontiguousarray(held), codes, table)
    return SystemSums(order, table)


def _coded(
    systems: Any, n: int, names: Sequence[str] | None
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The systems in order, and the position of each response's."""
    by_row = row_names(systems, n, "systems")
    if names is None:
        order, codes = np.unique(by_row, return_inverse=True)
        return tuple(order.astype(str).tolist()), codes.astype(np.int64)
    if by_row.dtype.kind not in "iu" or (n and not 0 <= by_row.min() <= by_row.max() < len(names)):
        raise StatisticsError(f"systems must be positions among the {len(names)} names")
    return tuple(names), by_row.astype(np.int64)


def _by_size(form: str, squares: Floats, n: Floats) -> Floats:
    """An ICC of mean squares (3, ...) of two raters, with `n` (...) systems each."""
    values = np.full(n.shape, np.nan)
    # Judges differ in how many systems they are left with: the forms' coefficients depend on it.
    for size in np.unique(n[n > 1]):
        same = n == size
        values[same] = value(form, squares[:, same], float(size), 2)
    return values

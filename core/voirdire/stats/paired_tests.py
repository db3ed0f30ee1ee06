"""Tests of paired samples: Student's t, Wilcoxon's signed ranks, McNemar; and between systems."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError, not_one_of
from voirdire.late import dataclass
from voirdire.stats._arrays import floats
from voirdire.stats._pairs import mean_interval, pairs, round_off, standard_error
from voirdire.stats._results import REASONS, Interval, Result
from voirdire.stats.multiplicity import adjust_p
from voirdire.stats.special import special

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.stats._arrays import Floats
    from voirdire.stats._pairs import Pairs


@dataclass(frozen=True, slots=True, eq=False)
class PairedTest(Result):
    """A two-sided test of paired samples.

    Attributes
    ----------
    test : str
        "paired_t", "wilcoxon" or "mcnemar".
    statistic : float
        t, the smaller sum of signed ranks, or the discordant pairs in favour of the first.
    p : float
        Two-sided, not corrected; NaN where undefined, and then `reason` says why.
    difference : float
        Mean of first - second.
    interval : Interval
        95 % t interval of the difference.
    df : float
        Degrees of freedom of t; NaN for the others.
    n, left_out : int
        Complete pairs; pairs with a missing side.
    reason : str or None
        A key of `REASONS`.
    first, second : str
        Names of the samples, where they have any.
    p_adjusted : float
        Corrected for the family; NaN outside a family.
    family : int
        Tests in the family; 0 outside one.
    """

    test: str
    statistic: float
    p: float
    difference: float
    interval: Interval
    df: float
    n: int
    left_out: int
    reason: str | None = None
    first: str = ""
    second: str = ""
    p_adjusted: float = math.nan
    family: int = 0

    def __str__(self) -> str:
        """One line."""
        if self.reason is not None:
            return f"{self.test} undefined: {REASONS[self.reason]}"
        return (
            f"{self.test}: difference = {self.difference:.3f}, statistic = {self.statistic:.3f}, "
            f"p = {self.p:.3g}, n = {self.n}"
        )


def paired_t(first: Any, second: Any) -> PairedTest:
    """Student's t of paired samples: is the mean of first - second zero?

    ``t = mean(d) / (sd(d) / sqrt(n))`` with d = first - second and n - 1 degrees of freedom.

    Parameters
    ----------
    first, second : array-like, shape (n,)
        Paired values; a pair with NaN or None on either side is left out and counted.

    Returns
    -------
    PairedTest
        Reasons: too_few_items; zero_variance where all differences are equal.

    Raises
    ------
    StatisticsError
        Arrays of unequal length, not numeric, infinite.

    Examples
    --------
    >>> from voirdire.stats import paired_t
    >>> print(paired_t([5, 6, 7, 8], [4, 6, 5, 7]))
    paired_t: difference = 1.000, statistic = 2.449, p = 0.0917, n = 4

    References
    ----------
    Student (1908), Biometrika 6, 1-25.
    """
    paired = pairs(first, second)
    error, df = standard_error(paired.differences)
    # Equal differences: t is infinite or 0 / 0, and neither is a test.
    if not error > 0:
        return _undefined("paired_t", paired, "too_few_items" if paired.n < 2 else "zero_variance")
    t = float(paired.differences.mean()) / error
    return _result("paired_t", paired, t, 2 * float(special().stdtr(df, -abs(t))), df)


def wilcoxon(first: Any, second: Any) -> PairedTest:
    """Wilcoxon's signed-rank test; differences of zero are left out of the ranks.

    Exact for up to 50 pairs without ties, normal approximation otherwise (scipy's rule).
    Parameters, missing data and reasons are those of `paired_t`.

    Parameters
    ----------
    first, second : array-like, shape (n,)
        Paired values; a pair with NaN or None on either side is left out and counted.

    Returns
    -------
    PairedTest
        `statistic` is the smaller of the two sums of signed ranks. Reasons: too_few_items;
        zero_variance where no pair differs.

    Raises
    ------
    StatisticsError
        Arrays of unequal length, not numeric, infinite.

    Examples
    --------
    >>> from voirdire.stats import wilcoxon
    >>> round(wilcoxon([5, 6, 9, 8, 7], [4, 4, 5, 3, 1]).p, 4)
    0.0625

    References
    ----------
    Wilcoxon (1945), Biometrics Bulletin 1, 80-83.
    """
    from scipy import stats  # noqa: PLC0415 - slow to import

    paired = pairs(first, second)
    if paired.n < 2:
        return _undefined("wilcoxon", paired, "too_few_items")
    if not paired.differences.any():
        return _undefined("wilcoxon", paired, "zero_variance")
    tested = stats.wilcoxon(_tied(paired))
    return _result("wilcoxon", paired, float(tested.statistic), float(tested.pvalue))


def _tied(pairs: Pairs) -> Floats:
    """Differences of which those that round-off alone tells apart are equal in size."""
    sizes = np.abs(pairs.differences)
    order = np.argsort(sizes, kind="stable")
    # 0.3 - 0.1 and 0.4 - 0.2 differ in their last digit, and would take two ranks.
    steps = np.diff(sizes[order], prepend=0.0) > round_off(pairs.judge, pairs.reference)
    first = np.maximum.accumulate(np.where(steps, np.arange(len(order)), 0))
    out = np.empty_like(sizes)
    out[order] = sizes[order][first]
    return np.sign(pairs.differences) * out


def mcnemar(first: Any, second: Any) -> PairedTest:
    """McNemar's exact test of paired yes/no outcomes (0 or 1): binomial on the discordant pairs.

    Parameters and missing data are those of `paired_t`; without a discordant pair p is 1.

    Parameters
    ----------
    first, second : array-like, shape (n,)
        Outcomes 0 or 1; a pair with NaN or None on either side is left out and counted.

    Returns
    -------
    PairedTest
        ``p = min(1, 2 P(Bin(b + c, 1/2) <= min(b, c)))`` for b and c discordant pairs; 1 without
        any. Reason no_data without a complete pair.

    Raises
    ------
    StatisticsError
        Values other than 0 and 1.

    Examples
    --------
    >>> from voirdire.stats import mcnemar
    >>> mcnemar([1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0]).p
    0.0625

    References
    ----------
    McNemar (1947), Psychometrika 12, 153-157. Exact form: Siegel and Castellan (1988), 5.1.
    """
    paired = pairs(first, second)
    values = np.concatenate([paired.judge, paired.reference])
    if not np.isin(values, (0, 1)).all():
        raise StatisticsError("mcnemar takes outcomes of 0 or 1 only")
    if not paired.n:
        return _undefined("mcnemar", paired, "no_data")
    gained, lost = int((paired.differences > 0).sum()), int((paired.differences < 0).sum())
    # Doubling counts the middle outcome twice when both sides are equal.
    tail = float(special().bdtr(min(gained, lost), gained + lost, 0.5))
    p = min(1.0, 2 * tail) if gained + lost else 1.0
    return _result("mcnemar", paired, float(gained), p)


_TESTS = {"paired_t": paired_t, "wilcoxon": wilcoxon, "mcnemar": mcnemar}


def compare_systems(
    values: Any, systems: Sequence[str], *, test: str = "paired_t", correction: str = "holm"
) -> tuple[PairedTest, ...]:
    """Every pair of systems, tested on the units that both have, corrected as one family.

    Parameters
    ----------
    values : array-like, shape (n units, m systems)
        One value a unit and system: the unit is what was drawn (the conversation), so attributes
        and runs are averaged before. NaN or None is missing.
    systems : sequence of m str
    test : {"paired_t", "wilcoxon", "mcnemar"}
    correction : {"holm", "bh", "by", "none"}
        As in `adjust_p`, over the m (m - 1) / 2 pairs.

    Returns
    -------
    tuple of PairedTest
        With `first`, `second`, `p_adjusted` and `family` (the tests that could be made).

    Raises
    ------
    StatisticsError
        An unknown test or correction, names that do not match the columns.

    Examples
    --------
    >>> from voirdire.stats import compare_systems
    >>> tests = compare_systems([[1, 2, 2], [2, 4, 3], [3, 5, 2], [2, 3, 1]], ["a", "b", "c"])
    >>> [(one.first, one.second, round(one.p_adjusted, 3)) for one in tests]
    [('a', 'b', 0.042), ('a', 'c', 1.0), ('b', 'c', 0.205)]

    References
    ----------
    Demšar (2006), Journal of Machine Learning Research 7, 1-30.
    """
    matrix = floats(values, "values", 2)
    if matrix.shape[1] != len(systems):
        raise StatisticsError(f"{len(systems)} system names for {matrix.shape[1]} columns")
    if test not in _TESTS:
        raise not_one_of("test", test, _TESTS, error=StatisticsError)
    chosen = list(itertools.combinations(range(len(systems)), 2))
    tests = [_TESTS[test](matrix[:, a], matrix[:, b]) for a, b in chosen]
    adjusted = adjust_p([one.p for one in tests], correction)
    # A test that could not be made asked no question.
    family = sum(one.reason is None for one in tests)
    return tuple(
        dataclasses.replace(
            one, first=systems[a], second=systems[b], p_adjusted=float(p), family=family
        )
        for one, (a, b), p in zip(tests, chosen, adjusted, strict=True)
    )


def _result(
    test: str, pairs: Pairs, statistic: float, p: float, df: float = math.nan
) -> PairedTest:
    interval = mean_interval(pairs.differences, 0.95)
    mean = float(pairs.differences.mean())
    return PairedTest(test, statistic, p, mean, interval, df, pairs.n, pairs.left_out)


def _undefined(test: str, pairs: Pairs, reason: str) -> PairedTest:
    mean = float(pairs.differences.mean()) if pairs.n else math.nan
    interval = mean_interval(pairs.differences, 0.95)
    return PairedTest(
        test, math.nan, math.nan, mean, interval, math.nan, pairs.n, pairs.left_out, reason
    )

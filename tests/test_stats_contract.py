"""One contract for every coefficient: what must not move it, and what it says of poor data.

To put a coefficient under the contract, add a `Case` to `CASES`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from reference.intraclass import FORMS

from voirdire import stats

if TYPE_CHECKING:
    from collections.abc import Callable

NAN = math.nan
LEVELS = [1, 2, 3, 4, 5]
NOTHING_TO_COMPARE = ("no_pairable_item", "too_few_items", "too_few_raters", "no_data")


@dataclass(frozen=True)
class Case:
    """A coefficient of (items, raters) ratings and what holds for it.

    Attributes
    ----------
    call : callable
        From an (items, raters) array to an `Estimate`.
    raters : int
        Columns it takes.
    levels : bool
        Whether it takes declared levels; it reads numbers as they are otherwise.
    nominal : bool
        Whether the names of categories are nothing to it.
    counts_levels : bool
        Whether declared and unused categories change it.
    gaps : bool
        Whether incomplete rows add to it (they are left out otherwise).
    swapped : int
        What swapping raters multiplies it by: 1, or -1 for a signed difference.
    size : bool
        Whether a small-sample term or degrees of freedom make doubled data change it a little.
    perfect : float
        Its value when all raters agree on items that differ.
    constant : float or None
        Its value when every rating is the same; None where it is undefined.
    fewest : int
        Items below which it is undefined.
    error : mapping
        Options under which its details hold a non-null standard error ``se``; empty where an
        interval of another kind says what the error would.
    bootstrap : bool
        Whether ``ci="percentile"`` draws items.
    """

    call: Callable[..., stats.Estimate]
    raters: int = 4
    levels: bool = True
    nominal: bool = False
    counts_levels: bool = False
    gaps: bool = True
    swapped: int = 1
    size: bool = False
    perfect: float = 1.0
    constant: float | None = None
    fewest: int = 1
    error: dict[str, Any] | None = field(default_factory=dict)
    bootstrap: bool = True

    def of(self, R: Any, levels: Any = LEVELS, **options: Any) -> stats.Estimate:
        """The coefficient, on declared levels where it takes them."""
        return self.call(R, **({"levels": levels} if self.levels else {}), **options)


def columns(statistic):
    """A statistic of two raters, as one of an (items, 2) array."""
    return lambda R, **options: statistic(np.asanyarray(R)[:, 0], np.asanyarray(R)[:, 1], **options)


def classified(name):
    """A score of two columns of labels."""
    return columns(lambda a, b, levels: stats.classification_scores(a, b, labels=levels)[name])


def span(first, second):
    """Width between the limits of agreement, which swapping the raters leaves alone."""
    found = stats.bland_altman(first, second)
    width = found.high.value - found.low.value
    return stats.Estimate("span", width, (), found.low.n, 2, found.low.left_out, found.low.reason)


Two = partial(Case, raters=2, gaps=False)
Scores = partial(Case, levels=False, gaps=False, fewest=2, error=None)
Difference = partial(Scores, raters=2, perfect=0, constant=0, fewest=1, bootstrap=False)
Correlation = partial(Scores, raters=2, bootstrap=False)
Alpha = partial(Case, size=True, error={"ci": "jackknife"})

CASES: dict[str, Case] = {
    "cohen": Two(columns(stats.cohen_kappa), nominal=True),
    "cohen linear": Two(columns(partial(stats.cohen_kappa, weights="linear"))),
    "cohen quadratic": Two(columns(partial(stats.cohen_kappa, weights="quadratic"))),
    "scott": Two(columns(stats.scott_pi), nominal=True),
    "fleiss": Case(stats.fleiss_kappa, nominal=True),
    "fleiss pooled": Case(partial(stats.fleiss_kappa, unequal="pooled"), nominal=True),
    "fleiss linear": Case(partial(stats.fleiss_kappa, weights="linear")),
    "fleiss quadratic": Case(partial(stats.fleiss_kappa, weights="quadratic")),
    "ac1": Case(stats.gwet_ac, nominal=True, counts_levels=True, constant=1.0),
    "ac2 linear": Case(partial(stats.gwet_ac, weights="linear"), counts_levels=True, constant=1.0),
    "ac2 quadratic": Case(
        partial(stats.gwet_ac, weights="quadratic"), counts_levels=True, constant=1.0
    ),
    "brennan-prediger": Case(
        stats.brennan_prediger, nominal=True, counts_levels=True, constant=1.0
    ),
    "brennan-prediger linear": Case(
        partial(stats.brennan_prediger, weights="linear"), counts_levels=True, constant=1.0
    ),
    "brennan-prediger quadratic": Case(
        partial(stats.brennan_prediger, weights="quadratic"), counts_levels=True, constant=1.0
    ),
    "joint": Case(stats.joint_agreement, nominal=True, constant=1.0),
    "alpha nominal": Alpha(partial(stats.krippendorff_alpha, metric="nominal"), nominal=True),
    "alpha ordinal": Alpha(partial(stats.krippendorff_alpha, metric="ordinal")),
    "alpha interval": Alpha(partial(stats.krippendorff_alpha, metric="interval")),
    "alpha ratio": Alpha(partial(stats.krippendorff_alpha, metric="ratio")),
    # Rows and error of the C forms have n - 1 in common, so doubled data leave their quotient alone.
    **{f"icc {f}": Scores(partial(stats.icc, form=f), size=f[0] != "C") for f in FORMS},
    "icc A,1 by reml": Scores(
        partial(stats.icc, missing="reml"), gaps=True, size=True, bootstrap=False
    ),
    "ccc": Correlation(columns(stats.ccc)),
    "pearson": Correlation(columns(stats.pearson)),
    "spearman": Correlation(columns(stats.spearman)),
    "kendall": Correlation(columns(stats.kendall)),
    "bias": Difference(columns(stats.bias), swapped=-1),
    "mae": Difference(columns(stats.mae)),
    "mse": Difference(columns(stats.mse)),
    "rmse": Difference(columns(stats.rmse)),
    "limits of agreement": Difference(columns(span), size=True, fewest=2),
    "mcc": Two(classified("mcc"), nominal=True, error=None, bootstrap=False),
    "accuracy": Two(
        classified("accuracy"), nominal=True, constant=1.0, error=None, bootstrap=False
    ),
}


def those(**wanted):
    """Names of the cases with such attributes."""
    return [n for n, c in CASES.items() if all(getattr(c, k) == v for k, v in wanted.items())]


#: Two columns each, repeated for coefficients of more raters.
HOSTILE = {
    "raters differ, items do not": [[0.1, 0.3]] * 3,
    "opposite order": [[1, 5], [2, 4], [3, 3], [4, 2], [5, 1]],
    "one pair left": [[1, NAN], [2, 2], [NAN, 3]],
    "far from zero": [[1e15, 1e15 + 1], [1e15 + 2, 1e15], [1e15 + 1, 1e15 + 1]],
    "nearly nothing": [[1e-200, 3e-200], [2e-200, 2e-200], [4e-200, 1e-200]],
    "subnormal": [[5e-324, 0], [0, 0], [5e-324, 5e-324]],
    "large": [[1e70, 1], [2, -1e70], [3, 3]],
    "wide integers": [[2**62, 2**62 + 10], [1, 5], [7, 2**61]],
}


@pytest.fixture(params=CASES)
def case(request) -> Case:
    return CASES[request.param]


def ratings(case: Case):
    """Ratings of which most agree; one in ten missing."""
    rng = np.random.default_rng(0)
    truth = rng.integers(1, 6, 40)
    noise = rng.integers(1, 6, (40, case.raters))
    R = np.where(rng.random(noise.shape) < 0.7, truth[:, None], noise).astype(float)
    R[:5] = np.arange(1, 6)[:, None]
    R[rng.random(R.shape) < 0.1] = NAN
    return R


def same(found, expected):
    return found == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_order_of_items(case):
    R = ratings(case)
    moved = np.random.default_rng(1).permutation(R, axis=0)
    assert same(case.of(R).value, case.of(moved).value)


def test_order_of_raters(case):
    R = ratings(case)
    assert same(case.of(R[:, ::-1]).value, case.swapped * case.of(R).value)


@pytest.mark.parametrize("name", those(nominal=True))
def test_names_of_nominal_categories(name):
    case = CASES[name]
    R = ratings(case)
    renamed = np.array([NAN, 30, 7, 0, -2, 11])[np.nan_to_num(R).astype(int)]
    words = np.array([None, "e", "b", "a", "d", "c"], object)[np.nan_to_num(R).astype(int)]
    expected = case.of(R).value
    assert same(case.of(renamed, [30, 7, 0, -2, 11]).value, expected)
    assert same(case.of(words, list("ebadc")).value, expected)


@pytest.mark.parametrize("name", those(levels=True))
def test_declared_and_unused_categories(name):
    case = CASES[name]
    few, many = case.of(ratings(case)), case.of(ratings(case), [*LEVELS, 6, 7])
    assert same(many.value, few.value) != case.counts_levels


def test_duplicated_data(case):
    R = ratings(case)
    once, twice = case.of(R).value, case.of(np.repeat(R, 2, axis=0)).value
    if case.size:
        assert twice == pytest.approx(once, rel=0.05)
        assert twice != once
    else:
        assert same(twice, once)


def test_perfect_agreement(case):
    R = np.repeat(np.arange(1, 6)[:, None], case.raters, axis=1)
    found = case.of(R)
    assert found.value == pytest.approx(case.perfect, abs=1e-15)
    assert found.reason is None


def test_constant_ratings(case):
    for value in (3, 0.1):
        found = case.of(np.full((6, case.raters), value), [0.1, 3])
        if case.constant is None:
            assert found.reason in ("zero_variance", "zero_expected_disagreement")
            assert math.isnan(found.value)
        else:
            assert (found.value, found.reason) == (case.constant, None)


def test_added_missing_rows(case):
    R = ratings(case)
    gaps = np.concatenate([R, np.full((7, case.raters), NAN)])
    before, after = case.of(R), case.of(gaps)
    assert same(after.value, before.value)
    assert (after.n, after.left_out) == (before.n, before.left_out + 7)


def test_added_incomplete_rows(case):
    """They are used or left out, and in both cases accounted for; never filled in."""
    R = ratings(case)
    gaps = np.full((6, case.raters), NAN)
    gaps[:, 0] = [5, 5, 5, 1, 1, 5]
    found = case.of(np.concatenate([R, gaps]))
    assert found.n + found.left_out == 46
    if not case.gaps:
        assert found.value == case.of(R).value


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.int64, np.float32])
def test_dtype_and_no_overflow(case, kind):
    rng = np.random.default_rng(9)
    top, n = (6, 3000) if case.levels else (121, 300)
    R = rng.integers(1, top, (n, case.raters))
    assert case.of(R.astype(kind)).value == case.of(R.astype(float)).value


def test_masked_and_none_are_missing(case):
    R = ratings(case)
    masked = np.ma.MaskedArray(np.nan_to_num(R, nan=3).astype(int), np.isnan(R))
    empty = np.where(np.isnan(R), None, R)
    assert same(case.of(masked).value, case.of(R).value)
    assert same(case.of(empty).value, case.of(R).value)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_numbers_give_a_value_or_a_reason(case, name):
    R = np.tile(np.array(HOSTILE[name]), case.raters // 2)
    found = case.of(R, None)
    assert math.isnan(found.value) == (found.reason is not None)
    assert not math.isinf(found.value)
    assert str(found)


def test_one_item(case):
    found = case.of(np.full((1, case.raters), 3))
    assert math.isnan(found.value) == (found.reason is not None)
    if case.fewest > 1:
        assert found.reason == "too_few_items"
    assert all(math.isnan(interval.low) for interval in found.intervals)


def test_no_pair_of_ratings(case):
    R = np.full((4, case.raters), NAN)
    R[:, 0] = [1, 2, 3, 4]
    found = case.of(R)
    assert found.reason in NOTHING_TO_COMPARE
    assert math.isnan(found.value)


@pytest.mark.parametrize("name", those(raters=4))
def test_one_rater(name):
    found = CASES[name].of(np.arange(1, 6)[:, None])
    assert found.reason in ("no_pairable_item", "too_few_raters")
    assert math.isnan(found.value)


def test_nothing(case):
    found = case.of(np.zeros((0, case.raters)))
    assert found.reason in ("no_data", "too_few_items")
    assert math.isnan(found.value)
    assert found.n == 0


@pytest.mark.parametrize("name", [n for n, c in CASES.items() if c.error is not None])
def test_a_standard_error_that_supposes_no_null_hypothesis(name):
    case = CASES[name]
    assert 0 < case.of(ratings(case), **case.error).details["se"] < 0.2


@pytest.mark.parametrize("name", [n for n, c in CASES.items() if c.levels and c.error is not None])
def test_prevalence_stands_beside(name):
    details = CASES[name].of(ratings(CASES[name])).details
    assert list(details["levels"]) == LEVELS
    assert sum(details["prevalence"]) == pytest.approx(1)


@pytest.mark.parametrize("name", those(bootstrap=True))
def test_bootstrap_over_items_is_named_bounded_and_seeded(name):
    case = CASES[name]
    R = ratings(case)
    found = case.of(R, ci="percentile", n_resamples=200, seed=1)
    interval = found.interval("percentile")
    assert interval.low < found.value < interval.high
    assert (interval.level, interval.n_resamples) == (0.95, 200)
    assert found == case.of(R, ci="percentile", n_resamples=200, seed=1)
    assert interval != case.of(R, ci="percentile", n_resamples=200, seed=2).interval("percentile")
    undefined = case.of(np.zeros((0, case.raters)), ci="percentile", n_resamples=10)
    assert math.isnan(undefined.intervals[0].low)


def test_intervals_hold_the_value(case):
    found = case.of(ratings(case))
    assert all(one.low <= found.value <= one.high for one in found.intervals)


def test_results_are_plain_and_printable(case):
    found = case.of(ratings(case))
    assert isinstance(found.to_dict()["value"], float)
    assert found == case.of(ratings(case))
    assert f"n = {found.n}" in str(found)

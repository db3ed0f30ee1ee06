"""One contract for every coefficient: what must not move it, and what it says of poor data.

To put a coefficient under the contract, add a `Case` to `CASES`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pytest

from voirdire import stats

if TYPE_CHECKING:
    from collections.abc import Callable

NAN = math.nan
LEVELS = [1, 2, 3, 4, 5]


@dataclass(frozen=True)
class Case:
    """A coefficient of (items, raters) ratings and what holds for it.

    Attributes
    ----------
    call : callable
        From an (items, raters) array to an `Estimate`.
    raters : int
        Columns it takes.
    symmetric : bool
        Whether the order of raters is nothing to it.
    nominal : bool
        Whether the names of categories are nothing to it.
    gaps : bool
        Whether incomplete rows add to it (they are left out otherwise).
    size : bool
        Whether it has a small-sample term, so that doubled data change it a little.
    levels : bool
        Whether declared and unused categories change it (those that count categories).
    perfect : float
        Its value under perfect agreement on varied items.
    """

    call: Callable[..., stats.Estimate]
    raters: int = 4
    symmetric: bool = True
    nominal: bool = True
    gaps: bool = True
    size: bool = False
    levels: bool = False
    perfect: float = 1.0


def columns(statistic):
    """A statistic of two raters, as one of an (items, 2) array."""
    return lambda R, **options: statistic(np.asanyarray(R)[:, 0], np.asanyarray(R)[:, 1], **options)


CASES: dict[str, Case] = {
    "cohen": Case(columns(stats.cohen_kappa), raters=2, gaps=False),
    "cohen linear": Case(
        columns(partial(stats.cohen_kappa, weights="linear")), 2, nominal=False, gaps=False
    ),
    "cohen quadratic": Case(
        columns(partial(stats.cohen_kappa, weights="quadratic")), 2, nominal=False, gaps=False
    ),
    "scott": Case(columns(stats.scott_pi), raters=2, gaps=False),
    "fleiss": Case(stats.fleiss_kappa),
    "fleiss pooled": Case(partial(stats.fleiss_kappa, unequal="pooled")),
    "fleiss quadratic": Case(partial(stats.fleiss_kappa, weights="quadratic"), nominal=False),
    "ac1": Case(stats.gwet_ac, levels=True),
    "ac2 linear": Case(partial(stats.gwet_ac, weights="linear"), nominal=False, levels=True),
    "brennan-prediger": Case(stats.brennan_prediger, levels=True),
    "brennan-prediger quadratic": Case(
        partial(stats.brennan_prediger, weights="quadratic"), nominal=False, levels=True
    ),
    "joint": Case(stats.joint_agreement),
    "alpha nominal": Case(partial(stats.krippendorff_alpha, metric="nominal"), size=True),
    "alpha ordinal": Case(
        partial(stats.krippendorff_alpha, metric="ordinal"), nominal=False, size=True
    ),
    "alpha interval": Case(
        partial(stats.krippendorff_alpha, metric="interval"), nominal=False, size=True
    ),
    "alpha ratio": Case(
        partial(stats.krippendorff_alpha, metric="ratio"), nominal=False, size=True
    ),
}


@pytest.fixture(params=CASES)
def case(request) -> Case:
    return CASES[request.param]


def ratings(case: Case, seed: int = 0):
    """Ratings of which most agree; one in ten missing where the coefficient bears it."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 6, 40)
    noise = rng.integers(1, 6, (40, case.raters))
    R = np.where(rng.random(noise.shape) < 0.7, truth[:, None], noise).astype(float)
    R[:5] = np.arange(1, 6)[:, None]
    R[rng.random(R.shape) < 0.1] = NAN
    return R


def same(found, expected):
    return found == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_order_of_items(case):
    R = ratings(case)
    moved = np.random.default_rng(1).permutation(R, axis=0)
    assert same(case.call(R, levels=LEVELS).value, case.call(moved, levels=LEVELS).value)


def test_order_of_raters(case):
    R = ratings(case)
    if case.symmetric:
        assert same(case.call(R[:, ::-1], levels=LEVELS).value, case.call(R, levels=LEVELS).value)


def test_names_of_nominal_categories(case):
    R = ratings(case)
    if not case.nominal:
        pytest.skip("not nominal")
    renamed = np.array([NAN, 30, 7, 0, -2, 11])[np.nan_to_num(R).astype(int)]
    words = np.array([None, "e", "b", "a", "d", "c"], object)[np.nan_to_num(R).astype(int)]
    expected = case.call(R, levels=LEVELS).value
    assert same(case.call(renamed, levels=[30, 7, 0, -2, 11]).value, expected)
    assert same(case.call(words, levels=list("ebadc")).value, expected)


def test_duplicated_data(case):
    R = ratings(case)
    once, twice = case.call(R).value, case.call(np.repeat(R, 2, axis=0)).value
    if case.size:
        assert twice == pytest.approx(once, abs=0.02)
        assert twice != once
    else:
        assert same(twice, once)


def test_perfect_agreement(case):
    R = np.repeat(np.arange(1, 6)[:, None], case.raters, axis=1)
    found = case.call(R, levels=LEVELS)
    assert found.value == case.perfect
    assert found.reason is None


def test_added_all_missing_rows(case):
    R = ratings(case)
    gaps = np.concatenate([R, np.full((7, case.raters), NAN)])
    before, after = case.call(R), case.call(gaps)
    assert after.value == before.value
    assert after.n == before.n
    assert after.left_out == before.left_out + 7


def test_added_incomplete_rows(case):
    """They are used or left out, and in both cases accounted for; never filled in."""
    R = ratings(case)
    gaps = np.full((6, case.raters), NAN)
    gaps[:, 0] = [5, 5, 5, 1, 1, 5]
    found = case.call(np.concatenate([R, gaps]), levels=LEVELS)
    assert found.n + found.left_out == 46
    if not case.gaps:
        assert found.value == case.call(R, levels=LEVELS).value


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.int64, np.float32, np.float64])
def test_dtype_and_no_overflow(case, kind):
    rng = np.random.default_rng(9)
    R = rng.integers(1, 6, (3000, case.raters))
    found = case.call(R.astype(kind), levels=LEVELS)
    assert found.value == case.call(R, levels=LEVELS).value
    assert -1 <= found.value <= 1


def test_declared_and_unused_categories(case):
    R = ratings(case)
    few, many = case.call(R, levels=LEVELS), case.call(R, levels=[*LEVELS, 6, 7])
    if case.levels:
        assert many.value != few.value
    else:
        assert same(many.value, few.value)


def test_masked_is_missing(case):
    R = ratings(case)
    masked = np.ma.MaskedArray(np.nan_to_num(R, nan=3).astype(int), np.isnan(R))
    assert same(case.call(masked).value, case.call(R).value)


def test_one_item(case):
    found = case.call(np.full((1, case.raters), 3), levels=LEVELS)
    assert found.n == 1
    assert math.isnan(found.value) == (found.reason is not None)


def test_no_pair_of_ratings(case):
    R = np.full((4, case.raters), NAN)
    R[:, 0] = [1, 2, 3, 4]
    found = case.call(R, levels=LEVELS)
    assert found.reason == "no_pairable_item"
    assert math.isnan(found.value)
    if case.raters > 2:
        assert case.call(R[:, :1], levels=LEVELS).reason == "no_pairable_item"


def test_nothing(case):
    found = case.call(np.zeros((0, case.raters)))
    assert found.reason == "no_data"
    assert math.isnan(found.value)
    assert found.n == 0


def test_intervals_are_named_bounded_and_seeded(case):
    R = ratings(case)
    found = case.call(R, ci="percentile", n_resamples=200, seed=1)
    interval = found.interval("percentile")
    assert interval.low < found.value < interval.high
    assert (interval.level, interval.n_resamples) == (0.95, 200)
    assert found == case.call(R, ci="percentile", n_resamples=200, seed=1)
    undefined = case.call(np.zeros((0, case.raters)), ci="percentile", n_resamples=10)
    assert math.isnan(undefined.intervals[0].low)


def test_results_are_plain(case):
    found = case.call(ratings(case), ci="percentile", n_resamples=20).to_dict()
    assert set(found) >= {"statistic", "value", "intervals", "n", "k", "left_out", "reason"}
    assert isinstance(found["value"], float)

"""One contract for every statistic of scores: what must not move it, and what it says of poor data.

To put a statistic under the contract, add a `Case` to `CASES`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pytest

from voirdire import stats
from voirdire.stats._forms import FORMS

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Case:
    """A statistic of (items, raters) scores and what holds for it.

    Attributes
    ----------
    call : callable
        From an (items, raters) array to an `Estimate`.
    raters : int
        Columns it takes.
    swapped : int
        What swapping raters multiplies it by: 1, or -1 for a signed difference.
    size : bool
        Whether degrees of freedom make doubled data change it a little.
    perfect : float
        Its value when all raters agree on items that differ.
    constant : float or None
        Its value when every score is the same; None where it is undefined.
    fewest : int
        Items below which it is undefined.
    """

    call: Callable[..., stats.Estimate]
    raters: int = 2
    swapped: int = 1
    size: bool = False
    perfect: float = 1.0
    constant: float | None = None
    fewest: int = 2


def columns(statistic):
    """A statistic of judge and reference, as one of an (items, 2) array."""
    return lambda Y: statistic(Y[:, 0], Y[:, 1])


def edges(end):
    """A limit of agreement."""
    return columns(lambda x, y: getattr(stats.bland_altman(x, y), end))


CASES = {
    # Rows and error of the C forms have n - 1 in common, so doubled data leave their quotient alone.
    **{f: Case(partial(stats.icc, form=f), raters=4, size=f[0] != "C") for f in FORMS},
    "A,1 by REML": Case(partial(stats.icc, missing="reml"), raters=4, size=True),
    "ccc": Case(columns(stats.ccc)),
    "pearson": Case(columns(stats.pearson)),
    "spearman": Case(columns(stats.spearman)),
    "kendall": Case(columns(stats.kendall)),
    "bias": Case(columns(stats.bias), swapped=-1, perfect=0, constant=0, fewest=1),
    "mae": Case(columns(stats.mae), perfect=0, constant=0, fewest=1),
    "mse": Case(columns(stats.mse), perfect=0, constant=0, fewest=1),
    "rmse": Case(columns(stats.rmse), perfect=0, constant=0, fewest=1),
    "range of agreement": Case(
        columns(lambda x, y: _span(stats.bland_altman(x, y))), size=True, perfect=0, constant=0
    ),
}


def _span(found):
    """Width between the limits, which swapping the raters leaves alone."""
    low, high = found.low, found.high
    return stats.Estimate(
        "span", high.value - low.value, low.intervals, low.n, 2, low.left_out, low.reason
    )


@pytest.fixture(params=CASES)
def case(request) -> Case:
    return CASES[request.param]


def scores(case: Case):
    rng = np.random.default_rng(3)
    truth = rng.normal(3, 1, (40, 1))
    return np.round(truth + rng.normal(0, 0.5, (40, case.raters)) + 0.2 * np.arange(case.raters), 1)


def same(found, expected):
    return found == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_order_of_items(case):
    Y = scores(case)
    moved = np.random.default_rng(1).permutation(Y, axis=0)
    assert same(case.call(moved).value, case.call(Y).value)


def test_order_of_raters(case):
    Y = scores(case)
    assert same(case.call(Y[:, ::-1]).value, case.swapped * case.call(Y).value)


def test_duplicated_data(case):
    Y = scores(case)
    once, twice = case.call(Y).value, case.call(np.repeat(Y, 2, axis=0)).value
    if case.size:
        assert twice == pytest.approx(once, abs=0.05)
        assert twice != once
    else:
        assert same(twice, once)


def test_perfect_agreement(case):
    Y = np.repeat(np.array([[0.1], [0.3], [0.2], [0.7], [0.4]]), case.raters, axis=1)
    found = case.call(Y)
    assert found.value == pytest.approx(case.perfect, abs=1e-15)
    assert found.reason is None


def test_constant_scores(case):
    found = case.call(np.full((6, case.raters), 0.1))
    if case.constant is None:
        assert found.reason == "zero_variance"
        assert math.isnan(found.value)
    else:
        assert (found.value, found.reason) == (case.constant, None)


def test_added_missing_rows(case):
    Y = scores(case)
    gaps = np.concatenate([Y, np.full((7, case.raters), np.nan)])
    before, after = case.call(Y), case.call(gaps)
    assert same(after.value, before.value)
    assert (after.n, after.left_out) == (before.n, 7)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.int64, np.float32])
def test_dtype_and_no_overflow(case, kind):
    Y = np.random.default_rng(9).integers(1, 121, (300, case.raters))
    assert case.call(Y.astype(kind)).value == case.call(Y.astype(float)).value


def test_masked_and_none_are_missing(case):
    Y = scores(case)
    Y[3, 1] = np.nan
    masked = np.ma.MaskedArray(np.nan_to_num(Y, nan=9.0), np.isnan(Y))
    empty = np.where(np.isnan(Y), None, Y)
    assert case.call(masked).value == case.call(empty).value == case.call(Y).value


def test_one_item(case):
    found = case.call(np.full((1, case.raters), 3.0))
    assert (found.reason is None) == (case.fewest == 1)
    assert math.isnan(found.value) == (found.reason is not None)
    assert all(math.isnan(interval.low) for interval in found.intervals)


def test_nothing(case):
    found = case.call(np.zeros((0, case.raters)))
    assert found.reason in ("no_data", "too_few_items")
    assert math.isnan(found.value)
    assert found.n == 0


def test_one_rater():
    for form in FORMS:
        for missing in ("listwise", "reml"):
            found = stats.icc(np.arange(5.0)[:, None], form, missing=missing)
            assert found.reason == "too_few_raters"


def test_every_result_is_plain_and_printable(case):
    found = case.call(scores(case))
    assert isinstance(found.to_dict()["value"], float)
    assert found == case.call(scores(case))
    assert "n = 40" in str(found)

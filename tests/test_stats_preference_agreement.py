"""Agreement on preferences: the alpha of krippendorff_alpha, and intervals that draw whole items."""

from __future__ import annotations

import math

import numpy as np
import pytest

from voirdire import StatisticsError
from voirdire.stats import krippendorff_alpha, preference_agreement
from voirdire.stats.preference import _alpha, _quotients


def drawn(seed, items=40, systems=3, shared=0.7):
    """Two raters on several systems an item; whether they agree hangs together within an item."""
    rng = np.random.default_rng(seed)
    item = np.repeat(np.arange(items), systems)
    alike = rng.random(items) < shared
    first = rng.integers(-2, 3, len(item)).astype(float)
    own = rng.integers(-2, 3, len(item)).astype(float)
    return first, np.where(alike[item], first, own), item


def test_values_and_the_form_over_sums_are_those_of_krippendorff_alpha():
    x, y, item = drawn(1)
    x[4], y[9] = np.nan, np.nan
    found = preference_agreement(x, y, item, n_resamples=50)
    kept = ~np.isnan(x + y)
    expected = krippendorff_alpha(np.column_stack([x, y]), "interval")
    assert found.alpha.value == expected.value
    assert (found.alpha.n, found.alpha.left_out) == (118, 2)
    assert found.winner.value == np.mean(np.sign(x[kept]) == np.sign(y[kept]))
    x, y = x[kept], y[kept]
    same = np.sign(x) == np.sign(y)
    sums = np.array(
        [[same.sum(), ((x - y) ** 2).sum(), (x + y).sum(), (x**2 + y**2).sum(), len(x)]]
    )
    assert _alpha(sums)[0] == pytest.approx(expected.value)
    assert _quotients(sums)[0] == pytest.approx(found.winner.value)


def test_systems_of_one_item_are_no_new_evidence():
    """Over 100 seeds whole items cover the declared share; comparisons taken alone do not."""
    declared = 0.7 + 0.3 * (0.4 * 0.4 + 0.2 * 0.2 + 0.4 * 0.4)
    hits = np.zeros(2)
    for seed in range(100):
        x, y, item = drawn(seed)
        whole = preference_agreement(x, y, item, n_resamples=200).winner.interval()
        alone = preference_agreement(x, y, ci="wilson").winner.interval()
        hits += [found.low <= declared <= found.high for found in (whole, alone)]
    assert 88 <= hits[0] <= 99
    assert hits[1] < 88


def test_nothing_and_one_value_and_unfit_input():
    assert preference_agreement([math.nan], [1.0]).winner.reason == "no_data"
    same = preference_agreement([1, 1], [1, 1])
    assert same.winner.value == 1
    assert same.alpha.reason == "zero_expected_disagreement"
    assert math.isnan(same.alpha.interval().low)
    with pytest.raises(StatisticsError, match="got 2 on 1 items; use ci='percentile'"):
        preference_agreement([1, 0], [1, 1], ["x", "x"], ci="wilson")
    with pytest.raises(StatisticsError, match="scores of the same comparisons"):
        preference_agreement([1, 0], [1])

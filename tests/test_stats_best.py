"""An interval for the best of many covers the truth of whatever was picked, at the level it says."""

import math

import numpy as np
import pytest

from voirdire.errors import StatisticsError
from voirdire.stats import interval_of_best


def correlations(chance, truths, n):
    """What judges of known correlation with one human show on n responses, as Fisher's z."""
    human = chance.normal(size=n)
    noise = chance.normal(size=(len(truths), n))
    scores = truths[:, None] * human + np.sqrt(1 - truths[:, None] ** 2) * noise
    scores -= scores.mean(1, keepdims=True)
    human -= human.mean()
    r = scores @ human / np.sqrt((scores**2).sum(1) * (human**2).sum())
    return np.arctanh(r)


@pytest.mark.parametrize("judges", [12, 28])
@pytest.mark.parametrize("spread", [0.0, 0.05, 0.3])
def test_it_covers_the_truth_of_the_one_that_was_picked(judges, spread):
    chance = np.random.default_rng(judges)
    truths, n = np.linspace(0.5 - spread, 0.5, judges), 80
    se, df, times = np.full(judges, 1 / math.sqrt(n - 3)), np.full(judges, n - 1), 1500
    covered, plain = 0, 0
    for _ in range(times):
        at = correlations(chance, truths, n)
        best, low, high = interval_of_best(at, se, df)
        truth = math.atanh(truths[best])
        covered += low <= truth <= high
        plain += abs(at[best] - truth) <= 1.99 * se[best]
    # 0.95 less three standard errors of 1,500 tries.
    assert covered / times > 0.933
    # What an interval that knows of no picking does where all are alike.
    assert spread or plain / times < 0.85


def test_ends_and_what_is_left_out():
    at, se, df = [0.5, math.nan, 0.9, 0.4], [0.1, 0.1, math.nan, 0.2], [50, 50, 50, 50]
    best, low, high = interval_of_best(at, se, df)
    assert best == 0
    assert low == pytest.approx(0.5 - 2.311 * 0.1, abs=1e-3)  # two of them: t of 0.9875
    assert high == pytest.approx(0.5 + 2.009 * 0.2, abs=1e-3)  # the larger error
    assert interval_of_best([math.nan], [1], [5])[0] == -1
    with pytest.raises(StatisticsError, match="lists of one length"):
        interval_of_best([1, 2], [1], [1])
    with pytest.raises(StatisticsError, match="level must lie between 0 and 1"):
        interval_of_best([1], [1], [1], level=1)

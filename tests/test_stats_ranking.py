"""One ranking of systems from everybody's comparisons."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from voirdire.errors import StatisticsError
from voirdire.stats.ranking import rank_systems


def drawn(seed, n=400, strengths=(0.9, 0.3, -0.2, -1.0), ties=0.2):
    rng = np.random.default_rng(seed)
    names = np.array(list("abcd"))[: len(strengths)]
    theta = np.array(strengths)
    i = rng.integers(0, len(names), n)
    j = (i + rng.integers(1, len(names), n)) % len(names)
    won = np.where(rng.random(n) < 1 / (1 + np.exp(-(theta[i] - theta[j]))), 1.0, -1.0)
    won[rng.random(n) < ties] = 0.0
    return names, i, j, won


def slow_fit(i, j, won, count):
    """Bradley-Terry by a general optimiser, a tie being half a win each; strengths sum to 0."""

    def cost(theta):
        gap = theta[i] - theta[j]
        share = (won + 1) / 2
        value = (share * np.logaddexp(0, -gap) + (1 - share) * np.logaddexp(0, gap)).sum()
        chance = 1 / (1 + np.exp(-gap))
        slope = np.zeros(count)
        np.add.at(slope, i, chance - share)
        np.add.at(slope, j, share - chance)
        return value, slope

    theta = minimize(cost, np.zeros(count), jac=True, method="BFGS", options={"gtol": 1e-11}).x
    return theta - theta.mean()


def test_strengths_equal_a_slow_fit():
    names, i, j, won = drawn(1)
    ranking = rank_systems(names[i], names[j], won)
    slow = slow_fit(i, j, won, len(names))
    for place, name in enumerate(names):
        assert ranking[name].strength == pytest.approx(slow[place], abs=1e-8)
    assert not ranking.shrunk
    assert [one.rank for one in ranking.systems] == [1, 2, 3, 4]


def test_a_system_that_lost_everything_is_last_with_an_interval():
    names, i, j, won = drawn(2, ties=0.0)
    last = len(names) - 1
    won[i == last], won[j == last] = -1.0, 1.0
    ranking = rank_systems(names[i], names[j], won)
    worst = ranking.systems[-1]
    assert worst.system == names[last]
    assert worst.wins == 0
    assert worst.rank == worst.low == worst.high == 4
    assert ranking.shrunk
    assert np.isfinite([worst.interval.low, worst.interval.high]).all()
    # Jeffreys' prior: strengths are finite and the others keep their order.
    assert [one.system for one in ranking.systems][:3] == ["a", "b", "c"]


def test_intervals_cover_strengths():
    inside = []
    truth = np.array((0.9, 0.3, -0.2, -1.0))
    for seed in range(150):
        names, i, j, won = drawn(100 + seed, n=200, ties=0.0)
        ranking = rank_systems(names[i], names[j], won)
        inside += [
            ranking[name].interval.low <= value <= ranking[name].interval.high
            for name, value in zip(names, truth, strict=True)
        ]
    # 600 intervals of 95 %: four standard errors about it.
    assert 0.91 < np.mean(inside) < 0.985


def test_ranks_and_tiers_say_who_is_told_apart():
    names, i, j, won = drawn(3, n=60, strengths=(2.0, 0.1, 0.0, -2.0), ties=0.1)
    ranking = rank_systems(names[i], names[j], won)
    b, c = ranking["b"], ranking["c"]
    assert b.low < b.high
    assert c.low < c.high
    tiers = [one.tier for one in ranking.systems]
    assert tiers == sorted(tiers)
    pair = next(more for more in ranking.more if {more.first, more.second} == {"b", "c"})
    assert pair.needed is None or pair.needed > 10
    many = rank_systems(*(np.tile(part, 60) for part in (names[i], names[j], won)))
    assert all(one.low == one.high == one.rank for one in many.systems[:1])


def test_half_the_clusters_make_wider_intervals():
    names, i, j, won = drawn(4)
    alone = rank_systems(names[i], names[j], won)
    # Every comparison twice is no more than every comparison once.
    twice = rank_systems(
        *(np.repeat(part, 2) for part in (names[i], names[j], won)),
        clusters=np.repeat(np.arange(len(i)), 2),
    )
    widths = [
        (ranking["a"].interval.high - ranking["a"].interval.low) for ranking in (alone, twice)
    ]
    assert widths[0] == pytest.approx(widths[1], rel=1e-9)


def test_systems_that_never_met_have_no_order():
    with pytest.raises(StatisticsError, match="never compared"):
        rank_systems(list("ac"), list("bd"), [1, 1])
    with pytest.raises(StatisticsError, match="compares system 'a' with itself"):
        rank_systems(["a"], ["a"], [1])

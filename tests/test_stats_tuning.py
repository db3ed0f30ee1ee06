"""Gains of tuned judges: slow twins, and climbs whose truth is known."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, hypergeom, ttest_rel
from scipy.stats import t as student

from voirdire.errors import StatisticsError
from voirdire.stats import chosen_gain, differing_gain, measured_gain, paired_t, pseudo_values
from voirdire.stats.differing import allotted, labels_to_show
from voirdire.stats.racing import heats, in_the_race
from voirdire.stats.refitting import folds_of, raced_gain, refitted_gain
from voirdire.stats.tuning import FOLDS, half_of, outlook

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))


def _slow(goodness, clusters, deals):
    """Nested cross-validation by loops over deals, folds and units."""
    gains = np.asarray(goodness) - np.asarray(goodness)[0]
    names = np.unique(clusters)
    values, nested, plain, choices = [], [], [], []
    for deal in deals:
        fold = np.array([deal[list(names).index(one)] for one in clusters])

        def best(without, fold=fold):
            kept = ~np.isin(fold, without)
            return int(gains[:, kept].sum(axis=1).argmax())

        chosen = np.empty(gains.shape[1])
        terms = []
        for k in range(FOLDS):
            own = fold == k
            chosen[own] = gains[best([k]), own]
            choices.append(best([k]))
            inner = np.concatenate(
                [gains[best([k, other]), fold == other] for other in range(FOLDS) if other != k]
            )
            terms.append(
                (inner.mean() - chosen[own].mean()) ** 2
                - _cluster_variance(chosen[own], np.asarray(clusters)[own])
            )
        values.append(chosen.mean())
        nested.append(np.mean(terms) * (FOLDS - 1) / FOLDS)
        plain.append(_cluster_variance(chosen, np.asarray(clusters)))
    error = min(max(np.mean(nested), np.mean(plain)), FOLDS * np.mean(plain))
    return np.mean(values), error, np.bincount(choices, minlength=len(gains)) / len(choices)


def _cluster_variance(values, clusters):
    sums = [(values[clusters == one] - values.mean()).sum() for one in np.unique(clusters)]
    return np.square(sums).sum() / len(values) ** 2 * len(sums) / (len(sums) - 1)


@pytest.mark.parametrize("clustered", [False, True])
def test_folds_by_loops(clustered, monkeypatch):
    from voirdire.stats import tuning

    monkeypatch.setattr(tuning, "SPLITS", 3)
    chance = np.random.default_rng(3)
    goodness = chance.random((5, 61)) + np.arange(5)[:, None] * 0.02
    clusters = np.sort(chance.integers(0, 30, 61)) if clustered else np.arange(61)
    units = len(np.unique(clusters))
    deals = tuning._deals(units, 9)
    gain, squared, shares = _slow(goodness, clusters, deals)
    found = chosen_gain(goodness, clusters=clusters if clustered else None, seed=9)
    assert found.gain.value == pytest.approx(gain, abs=1e-12)
    assert found.gain.details["standard_error"] == pytest.approx(math.sqrt(squared), abs=1e-12)
    np.testing.assert_allclose(found.shares, shares, atol=1e-12)
    assert found.gain.details["units"] == units


def test_nothing_to_choose_from_is_no_gain():
    found = chosen_gain(np.tile(np.arange(30) % 2, (3, 1)))
    assert found.chosen == 0
    assert found.gain.bounds == (0, 0)
    assert found.p_better == 0


def test_fifteen_labels_are_too_few():
    found = chosen_gain(np.random.default_rng(0).random((4, 15)))
    assert found.gain.reason == "too_few_items"
    assert math.isnan(found.p_better)


def test_missing_goodness_is_refused():
    with pytest.raises(StatisticsError, match="missing judgement scores"):
        chosen_gain([[1.0] * 30, [math.nan] * 30])
    with pytest.raises(StatisticsError, match="shape"):
        chosen_gain([1.0] * 30)


def test_the_order_of_units_and_names_of_clusters_change_little():
    """Other deals of the same units give the same claim, and nearly the same gain."""
    chance = np.random.default_rng(5)
    goodness = chance.random((6, 120))
    first, again = chosen_gain(goodness), chosen_gain(goodness[:, ::-1])
    assert first.chosen == again.chosen
    assert first.claimed.value == pytest.approx(again.claimed.value)
    assert first.gain.value == pytest.approx(again.gain.value, abs=0.02)


def test_pseudo_values_by_leaving_out_each_unit():
    chance = np.random.default_rng(2)
    hits = chance.random((2, 12, 4)) < 0.6
    columns = np.stack(
        [hits[..., 0] & hits[..., 1], hits[..., 1], hits[..., 2] & ~hits[..., 1], ~hits[..., 1]],
        axis=-1,
    ).astype(float)

    def balanced(sums):
        return (sums[..., 0] / sums[..., 1] + sums[..., 2] / sums[..., 3]) / 2

    pseudo = pseudo_values(columns, balanced)
    for judge in range(2):
        for unit in range(12):
            rest = np.delete(columns[judge], unit, axis=0).sum(axis=0)
            expected = 12 * balanced(columns[judge].sum(axis=0)) - 11 * balanced(rest)
            assert pseudo[judge, unit] == pytest.approx(expected, abs=1e-9)
    with pytest.raises(StatisticsError, match="more labels"):
        pseudo_values(columns[:, columns[0, :, 1] > 0], balanced)


def test_a_measured_gain_is_a_paired_t_and_wider_where_few_differ():
    chance = np.random.default_rng(4)
    new, old = (chance.random((2, 80)) < 0.7).astype(float)
    found, plain = measured_gain(new, old), paired_t(new, old)
    assert found.value == pytest.approx(plain.difference)
    error = plain.interval.width / found.intervals[0].width
    assert error == pytest.approx(1)
    # No difference among 25 units is no proof that there is none; three of a kind are no spread.
    still = measured_gain(np.ones(25), np.ones(25))
    assert still.bounds[0] < -0.1 < 0.1 < still.bounds[1]
    three = measured_gain(np.ones(25), np.arange(25) > 2)
    low, high = three.bounds
    assert low < 0
    assert high > 0.24


def _not_refuted(labelled, differ):
    """(labelled + 1, differ + 1) by Blaker's definition, summed over all outcomes."""
    won = np.arange(labelled + 1)
    kept = np.zeros((labelled + 1, differ + 1), bool)
    for wins in range(differ + 1):
        chance = hypergeom.pmf(won, differ, wins, labelled)
        below = np.cumsum(chance)
        tail = np.minimum(below, below[-1] - below + chance)
        for at in won[chance > 0]:
            kept[at, wins] = chance[tail <= tail[at] * (1 + 1e-8)].sum() > 0.05
    return kept


@pytest.mark.parametrize("differ", [24, 25])
def test_the_hypergeometric_interval_is_exact_and_no_wider_than_it_must_be(differ):
    """By all outcomes of all truths, not by a sample of them."""
    labelled, units = 9, 100
    kept, ends = _not_refuted(labelled, differ), []
    for won in range(labelled + 1):
        gains = [1.0] * won + [-1.0] * (labelled - won)
        low, high = differing_gain(gains, [differ], units).bounds
        ends.append((low, high))
        expected = np.flatnonzero(kept[won])[[0, -1]]
        assert (np.array([low, high]) * units + differ) / 2 == pytest.approx(expected)
    for wins in range(differ + 1):
        truth = (2 * wins - differ) / units
        held = [low - 1e-12 <= truth <= high + 1e-12 for low, high in ends]
        chance = hypergeom.pmf(np.arange(labelled + 1), differ, wins, labelled)
        assert chance @ held >= 0.95


def test_all_units_that_differ_labelled_leave_no_doubt():
    found = differing_gain([1, 1, -1, 1], [4], 50)
    assert found.bounds == pytest.approx((0.04, 0.04))
    graded = differing_gain([0.5, 0.25, 0.75], [2, 1], 10, strata=[0, 0, 1])
    assert graded.bounds == pytest.approx((0.15, 0.15))


def test_strata_by_hand():
    """Cochran's formula written out."""
    gains = [0.25, -0.25, 0.25, 0.25, 0.5, -0.5, 0.5]
    found = differing_gain(gains, [30, 12], 200, strata=[0, 0, 0, 0, 1, 1, 1], ends=[0.25, 0.5])
    value = 30 / 200 * 0.125 + 12 / 200 * (0.5 / 3)
    first = (30 / 200) ** 2 * (1 - 4 / 30) * np.var(gains[:4], ddof=1) / 4
    second = (12 / 200) ** 2 * (1 - 3 / 12) * np.var(gains[4:], ddof=1) / 3
    assert found.value == pytest.approx(value)
    assert found.details["standard_error"] == pytest.approx(math.sqrt(first + second))


@pytest.mark.parametrize(
    ("gains", "sizes", "more", "says"),
    [
        ([1, 1, 1], [2], {}, "more labels"),
        ([1, 1], [5], {"strata": [0, 1]}, "strata must be 0 to 0"),
        ([1, 1], [5], {"ends": [0.5]}, "larger than the end"),
        ([1, math.nan], [5], {}, "finite"),
    ],
)
def test_impossible_labels_are_refused(gains, sizes, more, says):
    with pytest.raises(StatisticsError, match=says):
        differing_gain(gains, sizes, 100, **more)


def test_allotted_labels_go_where_differences_are_large():
    assert allotted([100, 50, 10], [1, 2, 3], 60).tolist() == [26, 26, 8]
    assert allotted([3, 0, 1], [1, 2, 3], 60).tolist() == [3, 0, 1]


@pytest.mark.parametrize(
    ("differ", "share"), [(300, 0.15), (100, 0.05), (150, 0.3), (40, 0.08), (80, 0.04), (1000, 0.5)]
)
def test_so_many_labels_show_a_gain_of_three_points_four_times_in_five(differ, share):
    """By drawing stocks whose gain is just that, and the interval of `differing_gain`."""
    units, chance = round(differ / share), np.random.default_rng(differ)
    labels = labels_to_show(0.03, share, differ)
    wins = math.ceil((differ + 0.03 * units) / 2)
    shows = {}
    for won in chance.hypergeometric(wins, differ - wins, labels, 1500).tolist():
        if won not in shows:
            gains = [1.0] * won + [-1.0] * (labels - won)
            shows[won] = [differing_gain(gains, [differ], units).bounds[0] > 0, 0]
        shows[won][1] += 1
    power = sum(shown * times for shown, times in shows.values()) / 1500
    # 1,500 draws are off by 0.03 at most; the smaller the stock, the larger is the step of a label.
    assert 0.77 < power < (0.96 if labels < 30 else 0.9)


def test_so_many_labels_of_graded_differences_show_it_as_often():
    import tune

    chance = np.random.default_rng(5)
    size, gains = tune._differences(chance, 0.03, 400, 1000, graded=True)
    apart = size.sum() / 4000
    spread = (gains**2 / (size / 4)).sum() / (size / 4).sum()
    labels = labels_to_show(0.03, apart, 400, spread=spread)
    # What differences allow and not what was gained by them would take twice as many.
    assert labels < 0.6 * labels_to_show(0.03, apart, 400)
    shown = tune.differed(0.03, labels, climbs=250, units=1000, differ=0.4, graded=True)[1]
    assert 0.72 < shown < 0.9


def test_where_they_differ_on_too_few_no_labels_show_it():
    assert labels_to_show(0.03, 0.02, 300) == 0
    assert labels_to_show(0.03, 0.15, 0) == 0
    # All of them leave no doubt.
    assert labels_to_show(0.03, 0.6, 20) == 20
    with pytest.raises(StatisticsError, match="above 0"):
        labels_to_show(0.0, 0.15, 300)


@pytest.mark.parametrize("case", ["list", "half", "clusters", "refitted", "raced", "no error"])
def test_the_outlook_by_a_slow_posterior(case):
    """P(better) and the worst tenth of many draws, and by bootstrap where units are independent."""
    chance = np.random.default_rng(12)
    right = (chance.random((4, 120)) < np.array([[0.7], [0.73], [0.76], [0.74]])) * 1.0
    fold, four = np.arange(120) % 5, np.arange(120) // 4
    gain = {
        "list": lambda: chosen_gain(right).gain,
        "half": lambda: measured_gain(right[2], right[0]),
        "clusters": lambda: measured_gain(right[2], right[0], clusters=four),
        "refitted": lambda: refitted_gain(right[2], right[0], fold),
        "raced": lambda: raced_gain(right, [1, 2, 3, 2, 2], fold),
        "no error": lambda: measured_gain(right[0] * 0 + 1, right[0] * 0),
    }[case]()
    better, tenth = outlook(gain)
    low, high = gain.bounds
    if case == "no error":
        assert (better, tenth) == (1.0, 1.0) == (low, high)
        return
    error, df = gain.details["standard_error"], gain.details["df"]
    draws = gain.value + error * chance.standard_t(df, 400_000)
    assert better == pytest.approx((draws > 0).mean(), abs=0.003)
    assert (better > 0.975) == (low > 0)
    if case != "refitted":  # whose quantile rises with the gain: tried gain by gain below
        assert tenth == pytest.approx(np.quantile(draws, 0.1), abs=0.001)
    assert low < tenth < gain.value
    if case in ("half", "clusters"):
        gains = (right[2] - right[0]).reshape(-1, 4 if case == "clusters" else 1).mean(axis=1)
        means = gains[chance.integers(0, len(gains), (20_000, len(gains)))].mean(axis=1)
        # Half of those that are exactly 0, as a bootstrap has no values between.
        shown = (means > 1e-12).mean() + (np.abs(means) <= 1e-12).mean() / 2
        assert better == pytest.approx(shown, abs=0.02)
        assert tenth == pytest.approx(np.quantile(means, 0.1), abs=0.005)


def test_a_half_keeps_clusters_whole():
    clusters = np.repeat(np.arange(10), 3)
    half = half_of(30, clusters, seed=1)
    assert half.sum() == 15
    assert all(len(set(half[clusters == one])) == 1 for one in range(10))


#: A share of 200 that comes up once in a thousand where one in twenty is false.
RARE = binom.ppf(0.999, 200, 0.05) / 200


@pytest.mark.parametrize("effect", ["no effect", "small effects", "one of 6 points"])
def test_climbs_hold_what_they_say(effect):
    """A part of benchmarks/tune.py: 200 or 300 climbs a cell, whose sampling error is 0.014."""
    import tune

    for row in (
        tune.listed(effect, 100, climbs=300),
        tune.climbed(effect, 100, climbs=300),
        tune.gated(effect, 100, climbs=300),
        tune.refitted(effect, 100, climbs=200),
    ):
        holds, _, falsely, measured, true, naive, _, claimed, _, _, tenth, *_ = row
        assert 0.91 < holds < 0.995
        assert falsely <= RARE
        assert abs(measured - true) < 0.008
        # What the same labels would claim.
        assert claimed - true > 0.004
        assert naive < holds
        # Once in ten the gain lies below the worst tenth, and seldom much more often.
        assert tenth < 0.17


def test_labels_where_judges_differ_show_more_than_as_many_others():
    import tune

    for graded, gain in ((False, 0.03), (True, 0.015)):
        holds, better, _, random = tune.differed(gain, 60, climbs=180, graded=graded)
        assert holds > 0.92
        assert better > 2 * random
        holds, _, falsely, _ = tune.differed(0.0, 60, climbs=180, graded=graded)
        assert holds > 0.92
        assert falsely <= 0.05


def test_what_costs_no_call_first_is_no_second_chance():
    """Two looks at the same labels, the second where the first showed nothing."""
    import tune

    holds, _, falsely, *_ = tune.first("no effect", 60, climbs=150)
    assert holds > 0.91
    assert falsely <= 0.05


def test_a_race_finds_what_all_labels_would_and_asks_less():
    import tune

    _, _, _, _, true, *_, reached, asked = tune.raced(
        "one of 6 points, most 15 worse", 200, climbs=60
    )
    assert true > 0.9 * reached > 0.03
    assert asked < 0.7


def test_a_race_by_hand():
    """Paired t tests against the best, by SciPy; ties and the judge as it was stay."""
    chance = np.random.default_rng(1)
    values = (chance.random((6, 40)) < np.array([0.2, 0.8, 0.8, 0.6, 0.3, 0.8])[:, None]) * 1.0
    values[5] = values[1]
    best = int(values.sum(axis=1).argmax())
    expected = [
        at in (0, best)
        or np.array_equal(row, values[best])
        or ttest_rel(values[best], row, alternative="greater").pvalue >= 0.01
        for at, row in enumerate(values)
    ]
    assert in_the_race(values).tolist() == expected
    assert not all(expected[1:])


def test_heats_keep_clusters_and_their_order_where_some_are_left_out():
    clusters = np.repeat([f"c{at}" for at in range(60)], 2)
    whole = heats(120, clusters, seed=3)
    assert [int(heat.sum()) for heat in whole] == [40, 80, 120]
    rest = np.flatnonzero(clusters != "c7")
    first = set(clusters[rest][heats(len(rest), clusters[rest], seed=3)[0]])
    assert len(first - set(clusters[whole[0]])) <= 1


def test_a_refitted_gain_takes_the_larger_error():
    """Folds that differ more than their units would: the jackknife over folds."""
    fold = np.repeat(np.arange(5), 8)
    chance = np.random.default_rng(2)
    alike = refitted_gain(chance.random(40), chance.random(40), fold)
    new = (fold % 2) * 0.5 + chance.random(40) * 0.01
    found = refitted_gain(new, np.zeros(40), fold)
    means = np.array([new[fold == at].mean() for at in range(5)])
    assert found.details["standard_error"] == pytest.approx(means.std(ddof=1) / math.sqrt(5))
    assert found.details["df"] == alike.details["df"] == 39
    plain = measured_gain(new, np.zeros(40)).details["standard_error"]
    assert found.details["standard_error"] > 1.5 * plain
    with pytest.raises(StatisticsError, match="one fold"):
        refitted_gain(new, np.zeros(40), np.zeros(40))


@pytest.mark.parametrize("shift", [-0.3, 0.0, 0.08, 0.2, 0.5])
def test_a_refitted_interval_by_trying_each_gain(shift):
    """The gains within q errors of the value, q by hand: a broken line from t(39) to t(5)."""
    chance, fold = np.random.default_rng(6), np.arange(40) % 5
    new = chance.normal(shift, 0.5, 40)
    found = refitted_gain(new, np.zeros(40), fold)
    error = found.details["standard_error"]
    for level, low, high in ((0.95, *found.bounds), (0.8, found.details["tenth"], None)):
        tried = np.linspace(found.value - 5 * error, found.value + 5 * error, 200_001)
        ends = student.ppf((1 + level) / 2, [39, 5])
        allowed = np.interp(tried / error, [1.0, 2.5], ends)
        held = tried[np.abs(tried - found.value) <= allowed * error]
        assert low == pytest.approx(held[0], abs=1e-4 * error)
        assert high is None or high == pytest.approx(held[-1], abs=1e-4 * error)


def test_a_raced_gain_takes_the_largest_error():
    chance, fold = np.random.default_rng(8), np.arange(60) % 5
    right = (chance.random((3, 60)) < np.array([0.6, 0.7, 0.72])[:, None]).astype(float)
    won = [1, 2, 2, 1, 2]
    found = raced_gain(right, won, fold)
    new = right[np.array(won)[fold], np.arange(60)]
    means = [np.delete(new - right[0], fold == at).mean() for at in range(5)]
    jackknife = math.sqrt(4 / 5 * ((means - np.mean(means)) ** 2).sum())
    errors = (
        jackknife,
        (new - right[0]).std(ddof=1) / math.sqrt(60),
        chosen_gain(right).gain.details["standard_error"],
    )
    assert found.value == pytest.approx((new - right[0]).mean())
    assert found.details["standard_error"] == pytest.approx(max(errors))
    half = student.ppf(0.975, 18) * max(errors)
    assert found.bounds == pytest.approx((found.value - half, found.value + half))
    assert raced_gain(right[:, :15], won, fold[:15]).reason == "too_few_items"


def test_folds_are_dealt_evenly_and_keep_clusters():
    clusters = np.repeat(np.arange(11), 3)
    fold = folds_of(33, 5, clusters, seed=2)
    assert {len(set(fold[clusters == one])) for one in range(11)} == {1}
    assert sorted(np.bincount(fold)) == [6, 6, 6, 6, 9]
    with pytest.raises(StatisticsError, match="2 to 11"):
        folds_of(33, 12, clusters)

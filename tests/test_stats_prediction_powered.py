"""Corrected means: against a slow twin, ppi_py, and simulated truth."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from voirdire import StatisticsError
from voirdire.stats import (
    combined_judge,
    prediction_powered_difference,
    prediction_powered_mean,
    prediction_powered_means,
    rogan_gladen,
)

#: Labels, the judge on the same items, the judge on items without a label.
Y = [4, 5, 1, 5, 3, 3, 4, 2, 5, 1, 2, 2, 3, 3, 1, 1, 1, 1, 1, 5, 1, 4, 4, 2, 2, 3, 2, 5, 1, 5]
F = [2, 5, 1, 4, 3, 2, 5, 2, 4, 1, 3, 1, 3, 2, 1, 1, 1, 1, 1, 4, 1, 3, 3, 2, 1, 4, 3, 3, 1, 4]
U = [
    3, 3, 2, 3, 5, 2, 4, 1, 2, 5, 5, 1, 5, 5, 3, 2, 5, 5, 4, 2, 2, 5, 2, 3, 4, 2, 2, 4, 1, 4,
    5, 4, 4, 3, 5, 2, 2, 4, 4, 1, 1, 4, 5, 4, 5, 2, 2, 4, 1, 1, 1, 2, 1, 4, 5, 2, 1, 4, 1, 4,
]  # fmt: skip


def columns(y, f, u):
    return np.r_[np.asarray(y, float), np.full(len(u), np.nan)], np.r_[f, u].astype(float)


def slow(y, f, u, *, shrink=True):
    """Weight, value and variance of independent items, by the formulas one at a time."""
    n, rest = len(y), len(u)
    every = [*f, *u]
    spread = np.var(every, ddof=1)

    def fit(rows):
        ys, fs = [y[i] for i in rows], [f[i] for i in rows]
        together = sum((a - np.mean(ys)) * (b - np.mean(fs)) for a, b in zip(ys, fs, strict=True))
        size = len(rows)
        weight = together / (size - 1) / ((1 + size / rest) * spread)
        weight = min(max(weight, 0.0), 1.0)
        if shrink and weight > 0:
            r = stats.pearsonr(ys, fs).statistic
            weight *= r * r / (r * r + (1 - r * r) / (size - 2))
        return weight, np.mean(ys) + weight * (np.mean(u) - np.mean(fs))

    weight, value = fit(range(n))
    without = [fit([i for i in range(n) if i != left])[1] for left in range(n)]
    variance = (n - 1) / n * sum((v - np.mean(without)) ** 2 for v in without)
    return weight, value, variance + weight**2 * np.var(u, ddof=1) / rest


@pytest.mark.parametrize("shrink", [True, False])
def test_equals_its_slow_twin(shrink):
    found = prediction_powered_mean(*columns(Y, F, U), shrink=shrink)
    weight, value, variance = slow(Y, F, U, shrink=shrink)
    assert found.weight == pytest.approx(weight, abs=1e-12)
    assert found.value == pytest.approx(value, abs=1e-12)
    assert found.standard_error**2 == pytest.approx(variance, rel=1e-10)
    assert found.df == 28


@settings(max_examples=40, deadline=None)
@given(
    arrays(float, st.integers(4, 12), elements=st.integers(1, 5)),
    st.integers(0, 2**31),
)
def test_equals_its_slow_twin_on_any_labels(y, seed):
    chance = np.random.default_rng(seed)
    f = np.clip(y + chance.integers(-1, 2, len(y)), 1, 5)
    u = chance.integers(1, 6, 9).astype(float)
    if np.ptp(np.r_[f, u]) == 0:
        u[0] = 6 - u[0] if u[0] != 3 else 1
    found = prediction_powered_mean(*columns(y, f, u))
    weight, value, variance = slow(y, f, u)
    assert found.value == pytest.approx(value, abs=1e-9)
    if weight > 0:  # where the weight is clipped to 0 the labels stand alone
        assert found.standard_error**2 == pytest.approx(variance, rel=1e-8, abs=1e-12)


def test_equals_ppi_py_with_normal_quantiles():
    # ppi_py 0.2.3: ppi_mean_ci(Y, F, U, alpha=0.05, lam=0.55272208430585)
    found = prediction_powered_mean(*columns(Y, F, U), method="normal", shrink=False)
    assert found.weight == pytest.approx(0.55272208430585, abs=1e-12)
    assert found.interval.low == pytest.approx(2.701109826428375, abs=1e-10)
    assert found.interval.high == pytest.approx(3.5025196193127583, abs=1e-10)
    assert found.interval.method == "prediction_powered_normal"


def test_a_weight_is_held_back_by_its_own_noise():
    """At t = 1 to its half; a judge that follows the labels keeps nearly all, and its gain."""
    truth, noise = np.tile([1.0, 2, 3, 4, 5], 8), np.tile([1.0, -1], 20)
    for judge, least, most in ((truth + noise, 0.98, 1.0), (noise * 4 + truth * 0.2, 0.0, 0.2)):
        labels, scores = columns(truth, judge, np.tile(judge, 20))
        plain, held = (prediction_powered_mean(labels, scores, shrink=s) for s in (False, True))
        r = held.correlation
        assert held.weight / plain.weight == pytest.approx(r**2 / (r**2 + (1 - r**2) / 38))
        assert least <= held.weight / plain.weight <= most
    labels, scores = columns([1, 2, 3, 4, 5] * 4, [5, 4, 3, 2, 1] * 4, [1, 5] * 40)
    assert prediction_powered_mean(labels, scores).weight == 0


def test_a_judge_that_tells_nothing_hardly_widens_the_interval():
    chance, widths = np.random.default_rng(21), np.zeros(3)
    for _ in range(600):
        labels = np.where(np.arange(200) < 20, chance.normal(0, 1, 200), np.nan)
        judge = chance.normal(0, 1, 200)
        both = [prediction_powered_mean(labels, judge, shrink=s) for s in (True, False)]
        widths += [one.interval.width for one in both] + [both[0].human.interval().width]
    assert widths[0] < 1.02 * widths[2]
    assert widths[0] < widths[1]


def test_single_items_as_clusters_change_nothing():
    labels, judge = columns(Y, F, U)
    alone = prediction_powered_mean(labels, judge)
    names = [f"c{i}" for i in range(len(labels))]
    assert prediction_powered_mean(labels, judge, clusters=names) == alone


def test_equal_probabilities_change_the_value_little_and_unequal_ones_correct_it():
    chance = np.random.default_rng(1)
    truth = chance.normal(3, 1, 40_000)
    judge = truth + chance.normal(0, 1, 40_000)
    probability = np.where(truth > 3, 0.08, 0.02)  # good items were labelled more often
    labels = np.where(chance.random(40_000) < probability, truth, np.nan)
    plain = prediction_powered_mean(labels, judge)
    weighed = prediction_powered_mean(labels, judge, probabilities=probability)
    assert not plain.interval.low <= truth.mean() <= plain.interval.high
    assert weighed.interval.low <= truth.mean() <= weighed.interval.high


@pytest.mark.parametrize("clusters", [12, 40])
def test_intervals_cover_where_items_come_in_clusters(clusters):
    chance = np.random.default_rng(7)
    hit = alone = 0
    for _ in range(600):
        group = np.repeat(np.arange(clusters * 6), 5)
        shared = chance.normal(0, 1, clusters * 6)[group]
        truth = shared + chance.normal(0, 0.5, len(group))
        judge = truth + chance.normal(0, 0.7, len(group))
        labels = np.where(group < clusters, truth, np.nan)
        found = prediction_powered_mean(labels, judge, clusters=group)
        hit += found.interval.low <= 0 <= found.interval.high
        plain = prediction_powered_mean(labels, judge)
        alone += plain.interval.low <= 0 <= plain.interval.high
    assert 0.93 <= hit / 600 <= 0.98
    assert alone / 600 < 0.85  # what leaving the clusters out costs


def test_no_group_has_less_spread_than_all_have():
    labels = np.r_[
        np.full(8, 5.0), np.full(30, np.nan), [5, 4, 5, 3, 4, 5, 2, 5], np.full(30, np.nan)
    ]
    judge = np.r_[np.full(38, 5.0), np.tile([5.0, 4.0], 19)]
    found = prediction_powered_means(labels, judge, ["a"] * 38 + ["b"] * 38)
    assert found["a"].standard_error > 0.1
    assert found["a"].human.interval().width > 0
    assert list(found) == ["a", "b"]


def test_without_a_weight_a_group_has_the_interval_of_its_labels():
    """The spread is pooled, and neither the judge nor its weights elsewhere widen the interval."""
    chance = np.random.default_rng(3)
    labels = np.where(np.arange(900) % 300 < 30, np.rint(chance.normal(3, 1, 900)), np.nan)
    judge = np.r_[np.full(300, 3.0), chance.normal(3, 1, 600)]
    found = prediction_powered_means(labels, judge, np.repeat(["a", "b", "c"], 300))
    one = found["a"]
    assert one.weight == 0
    assert one.interval.width == pytest.approx(one.human.interval().width, rel=1e-12)
    assert one.df == 29
    spreads = [np.nanvar(labels[k * 300 : (k + 1) * 300], ddof=1) for k in range(3)]
    assert one.standard_error**2 == pytest.approx(max(spreads[0], np.mean(spreads)) / 30)


def test_labels_that_all_agree_claim_no_certainty_where_the_scale_is_known():
    labels, judge = columns([5] * 20, [5] * 20, [5] * 50 + [4] * 50)
    assert prediction_powered_mean(labels, judge).interval.width == pytest.approx(0, abs=1e-9)
    known = prediction_powered_mean(labels, judge, scale=(1, 5))
    assert known.interval.width > 0.2


def test_labels_that_are_the_judge_s_scores_claim_no_certainty_where_the_scale_is_known():
    """Pass and fail, the judge right on all of 20: it may well be wrong on one in ten."""
    labels, judge = columns([0, 1] * 10, [0, 1] * 10, [0, 1] * 200)
    open_scale = prediction_powered_mean(labels, judge)
    known = prediction_powered_mean(labels, judge, scale=(0, 1))
    assert known.value == open_scale.value
    # Half a pseudo-label at each end beside what is left of the labels, by hand.
    left = np.array([0.0, 1] * 10) - known.weight * (np.array([0.0, 1] * 10) - 0.5)
    values, counts = np.r_[left, 0, 1], np.r_[np.ones(20), 0.5, 0.5]
    spread = counts @ (values - counts @ values / 21) ** 2 / 20 / 21
    rest = known.standard_error**2 - known.weight**2 * np.var([0, 1] * 200, ddof=1) / 400
    assert rest == pytest.approx(spread, rel=1e-10)
    assert known.human == open_scale.human
    mixed = prediction_powered_mean(labels, 1 - judge, scale=(0, 1))
    assert mixed.interval == prediction_powered_mean(labels, 1 - judge).interval


@pytest.mark.parametrize(
    "judge",
    [np.full(60, 3.0), np.full(60, np.nan), np.r_[np.full(30, np.nan), np.tile([1.0, 5.0], 15)]],
    ids=["constant", "silent", "silent where labelled"],
)
def test_a_judge_that_tells_nothing_leaves_the_labels(judge):
    labels = np.r_[np.tile([1.0, 2, 3, 4, 5], 6), np.full(30, np.nan)]
    found = prediction_powered_mean(labels, judge)
    assert found.weight == 0
    assert found.value == 3
    assert found.interval.low == pytest.approx(found.human.interval().low)
    assert found.df == 29


def test_a_perfect_judge_is_worth_all_its_judgements():
    labels = np.r_[np.tile([1.0, 2, 3, 4, 5], 10), np.full(950, np.nan)]
    judge = np.tile([1.0, 2, 3, 4, 5], 200)
    found = prediction_powered_mean(labels, judge)
    assert found.worth.value == pytest.approx(1000)
    assert found.value == pytest.approx(3)


def test_a_judge_missing_on_half_of_the_items_is_counted_and_still_right():
    chance = np.random.default_rng(3)
    hit = 0
    for _ in range(400):
        truth = chance.normal(0, 1, 400)
        judge = np.where(chance.random(400) < 0.5, truth + chance.normal(0, 0.5, 400), np.nan)
        judge = np.where(truth > 1.5, np.nan, judge)  # and not at random
        labels = np.where(np.arange(400) < 60, truth, np.nan)
        found = prediction_powered_mean(labels, judge)
        assert found.n_unjudged == np.isnan(judge).sum()
        hit += found.interval.low <= 0 <= found.interval.high
    assert 0.92 <= hit / 400 <= 0.98


def test_the_difference_of_two_systems_uses_their_items():
    chance = np.random.default_rng(2)
    item = chance.normal(0, 2, 300)
    a, b = item + 0.5 + chance.normal(0, 0.3, 300), item + chance.normal(0, 0.3, 300)
    known = np.arange(300) < 40
    shown = [
        np.where(known, a, np.nan),
        a + chance.normal(0, 0.3, 300),
        np.where(known, b, np.nan),
        b + chance.normal(0, 0.3, 300),
    ]
    found = prediction_powered_difference(*shown)
    apart = [prediction_powered_mean(shown[k], shown[k + 1]) for k in (0, 2)]
    assert found.interval.low <= 0.5 <= found.interval.high
    assert found.interval.width < 0.3 * (apart[0].interval.width + apart[1].interval.width)


def two_systems(seed, items=60):
    """Scores of A and B on the same items, whose difficulty both share, and a judge of each."""
    chance = np.random.default_rng(seed)
    item = chance.normal(3, 0.8, items)
    truth = [item + apart + chance.normal(0, 0.6, items) for apart in (0.4, 0.0)]
    return truth, [one + chance.normal(0.3, 0.7, items) for one in truth]


def shown(rows, known, values):
    """(labels, judge) of one system that answered some items, some of them with a label."""
    truth, judge = values
    return np.where(known & rows, truth, np.nan), np.where(rows, judge, np.nan)


AT = np.arange(60)
#: Items of A, of B; labels of A, of B.
DESIGNS = {
    "paired": (AT >= 0, AT >= 0, AT < 20, AT < 20),
    "paired, other labels": (AT >= 0, AT >= 0, AT < 15, (AT >= 15) & (AT < 33)),
    "unpaired": (AT < 35, AT >= 35, AT < 16, (AT >= 35) & (AT < 45)),
    "partly shared": (AT < 45, AT >= 15, AT < 25, (AT >= 15) & (AT < 33)),
}


# A row of the slow twin: 1 for A or -1 for B, the cluster, the label or NaN, the judge's score.
BOTH = [(s, t) for s in (1, -1) for t in (1, -1)]


def sizes(rows, group, *, labelled):
    """How many rows of A and of B a cluster has, with a label or without one."""
    own = [r for r in rows if r[1] == group and math.isnan(r[2]) != labelled]
    return {s: sum(r[0] == s for r in own) for s in (1, -1)}


def sides(rows, group):
    return frozenset(r[0] for r in rows if r[1] == group and not math.isnan(r[2]))


def slow_spreads(rows, groups):
    """Covariance of a score of one side and one of another in the same cluster."""
    means = {s: np.mean([f for sign, _, _, f in rows if sign == s]) for s in (1, -1)}
    found = {}
    for s, t in BOTH:
        total = shared = roots = 0.0
        for group in groups:
            own = [[f - means[k] for i, g, _, f in rows if (i, g) == (k, group)] for k in (s, t)]
            if all(own):
                shared += 1
                total += sum(own[0]) * sum(own[1])
                roots += math.sqrt(len(own[0]) * len(own[1]))
        found[s, t] = shared / (shared - 1) * total / roots if shared > 1 else 0.0
    return found


def slow_partly(rows, groups, spreads):
    """How much less rows of clusters that are labelled in part vary, labelled ones and others."""
    found = {(s, kind): 1.0 for s in (1, -1) for kind in (True, False)}
    of = {(s, g): [r for r in rows if (r[0], r[1]) == (s, g)] for s in (1, -1) for g in groups}
    if all(len({math.isnan(r[2]) for r in own}) <= 1 for own in of.values()):
        return found
    for s, kind in found:
        scores = [r[3] for r in rows if r[0] == s]

        def alike_size(counts):
            return sum(n * n for n in counts) / sum(counts)

        size = alike_size([len(of[s, g]) for g in groups])
        alike = (spreads[s, s] / np.var(scores) - 1) / (size - 1)
        alike = min(max(alike, 0), 1)
        own = alike_size([sum(math.isnan(r[2]) != kind for r in of[s, g]) for g in groups])
        found[s, kind] = (1 + (own - 1) * alike) / (1 + (size - 1) * alike)
    return found


def slow_parts(rows, groups, column, *, labelled):
    """Each cluster's part in a difference of means."""
    found = dict.fromkeys(groups, 0.0)
    for s in (1, -1):
        own = [r for r in rows if r[0] == s and math.isnan(r[2]) != labelled]
        for row in own:
            mean = sum(r[column] for r in own) / len(own)
            found[row[1]] += s * (row[column] - mean) / len(own)
    return found


def slow_signal(rows, groups):
    """How far a weight is kept: t^2 / (t^2 + 1), by the correlation of clusters' parts."""
    y, f = (
        np.array(list(slow_parts(rows, groups, column, labelled=True).values()))
        for column in (2, 3)
    )
    r2 = (y @ f) ** 2 / ((y @ y) * (f @ f))
    t2 = r2 * (sum(bool(sides(rows, g)) for g in groups) - 2) / (1 - r2)
    return t2 / (t2 + 1)


def slow_fit(rows, groups, spreads, partly):
    """The difference, and the weight of the judge in it."""
    gain = cost = value = 0.0
    for s, t in BOTH:
        y, f = (
            slow_parts([r for r in rows if r[0] == k], groups, column, labelled=True)
            for k, column in ((s, 2), (t, 3))
        )
        both = sum({s, t} <= sides(rows, g) for g in groups)
        gain += sum(y[g] * f[g] for g in groups) * (both / (both - 1) if both > 1 else 1)
        for labelled in (True, False):
            counts = [sizes(rows, g, labelled=labelled) for g in groups]
            shared = sum(math.sqrt(n[s] * n[t]) for n in counts)
            whole = sum(n[s] for n in counts) * sum(n[t] for n in counts)
            part = math.sqrt(partly[s, labelled] * partly[t, labelled])
            cost += s * t * spreads[s, t] * part * shared / whole
    y, f = (slow_parts(rows, groups, column, labelled=True) for column in (2, 3))
    others = slow_parts(rows, groups, 3, labelled=False)
    gain -= sum(others[g] * y[g] for g in groups)
    cost -= 2 * sum(others[g] * f[g] for g in groups)
    weight = min(max(gain / cost, 0.0), 1.0) * slow_signal(rows, groups)
    for s in (1, -1):
        known = [r for r in rows if r[0] == s and not math.isnan(r[2])]
        rest = np.mean([r[3] for r in rows if r[0] == s and math.isnan(r[2])])
        value += s * np.mean([y + weight * (rest - f) for _, _, y, f in known])
    return value, weight


def slow_difference(a, b, clusters):
    """Value, weight, variance and degrees of freedom of A - B, a row and a cluster at a time."""
    rows = [
        (sign, group, y, f)
        for sign, (labels, judge) in ((1, a), (-1, b))
        for group, y, f in zip(clusters, labels, judge, strict=True)
        if not (math.isnan(y) and math.isnan(f))
    ]
    groups = sorted({group for _, group, _, _ in rows})
    spreads = slow_spreads(rows, groups)
    partly = slow_partly(rows, groups, spreads)
    value, weight = slow_fit(rows, groups, spreads, partly)
    labelled = [g for g in groups if sides(rows, g)]
    without = {
        g: slow_fit([r for r in rows if r[1] != g], groups, spreads, partly)[0] for g in labelled
    }
    middle = sum(without.values()) / len(without)
    counts = {s: sum(s in sides(rows, g) for g in groups) for s in (1, -1)}
    kinds = {}
    for g in labelled:
        k = min(counts[s] for s in sides(rows, g))
        kinds.setdefault(sides(rows, g), []).append((k - 1) / k * (without[g] - middle) ** 2)
    totals = [(sum(kind), max(len(kind) - 1, 1)) for kind in kinds.values()]
    variance = sum(v for v, _ in totals)
    df = variance**2 / sum(v * v / n for v, n in totals) - 1
    others = slow_parts(rows, groups, 3, labelled=False)
    rest = {g: sizes(rows, g, labelled=False) for g in groups if g not in labelled}
    for g, own in rest.items():
        k = min(sum(n[s] > 0 for n in rest.values()) for s in (1, -1) if own[s])
        variance += weight**2 * k / (k - 1) * others[g] ** 2
    return value, weight, variance, df


@pytest.mark.parametrize("clusters", [AT, AT // 3], ids=["items", "clusters"])
@pytest.mark.parametrize("design", DESIGNS)
def test_a_difference_equals_its_slow_twin(design, clusters):
    of_a, of_b, known_a, known_b = DESIGNS[design]
    truth, judge = two_systems(8)
    a = shown(of_a, known_a, (truth[0], judge[0]))
    b = shown(of_b, known_b, (truth[1], judge[1]))
    found = prediction_powered_difference(*a, *b, clusters=clusters)
    value, weight, variance, df = slow_difference(a, b, clusters)
    assert found.weight == pytest.approx(weight, abs=1e-10)
    assert 0 < weight < 1
    assert found.value == pytest.approx(value, abs=1e-10)
    assert found.standard_error**2 == pytest.approx(variance, rel=1e-9)
    assert found.df == pytest.approx(df, rel=1e-9)


def test_single_turns_of_dialogues_are_corrected_as_well_as_single_responses_nearly():
    """Labelled as whole dialogues are, the judge had a quarter of its weight."""
    chance = np.random.default_rng(3)
    group = np.repeat(np.arange(300), chance.geometric(0.2, 300))
    n = len(group)
    truth, slips = ((chance.normal(size=300)[group] + chance.normal(size=n)) for _ in range(2))
    judge = truth + 0.5 * slips
    labels = np.where(np.isin(np.arange(n), chance.choice(n, 120, replace=False)), truth, np.nan)
    found = prediction_powered_mean(labels, judge, clusters=group)
    alone = prediction_powered_mean(labels, judge)
    assert found.weight == pytest.approx(alone.weight, abs=0.15)
    assert found.interval.width < 0.75 * found.human.interval().width


def test_a_difference_on_the_same_items_is_the_mean_of_their_differences():
    truth, judge = two_systems(9)
    every = AT >= 0
    a, b = (shown(every, AT < 20, (truth[k], judge[k])) for k in (0, 1))
    groups = AT // 2
    for clusters in (None, groups):
        found = prediction_powered_difference(*a, *b, clusters=clusters)
        same = prediction_powered_mean(a[0] - b[0], a[1] - b[1], clusters=clusters)
        assert found.weight == pytest.approx(same.weight, abs=1e-10)
        assert found.df == same.df
        for one, other in (
            (found.interval, same.interval),
            (found.human, same.human),
            (found.judge, same.judge),
        ):
            ends = [x if hasattr(x, "low") else x.interval() for x in (one, other)]
            assert ends[0].low == pytest.approx(ends[1].low, abs=1e-10)
            assert ends[0].high == pytest.approx(ends[1].high, abs=1e-10)
        assert (found.n_labelled, found.n_unlabelled) == (same.n_labelled, same.n_unlabelled)


def test_labels_of_other_items_have_the_interval_of_welch():
    """Labels alone: scipy's, of two samples with unequal variances."""
    of_a, of_b, known_a, known_b = DESIGNS["unpaired"]
    truth, judge = two_systems(10)
    a = shown(of_a, known_a, (truth[0], judge[0]))
    b = shown(of_b, known_b, (truth[1], judge[1]))
    found = prediction_powered_difference(*a, *b).human
    welch = stats.ttest_ind(truth[0][known_a], truth[1][known_b], equal_var=False)
    own = welch.confidence_interval(0.95)
    assert found.interval().low == pytest.approx(own.low, abs=1e-10)
    assert found.interval().high == pytest.approx(own.high, abs=1e-10)


@pytest.mark.parametrize("design", DESIGNS)
def test_a_difference_covers_whatever_items_are_shared(design):
    of_a, of_b, known_a, known_b = (np.repeat(flags, 2) for flags in DESIGNS[design])
    hit = 0
    for seed in range(5000, 5300):
        truth, judge = two_systems(seed, items=120)
        a = shown(of_a, known_a, (truth[0], judge[0]))
        b = shown(of_b, known_b, (truth[1], judge[1]))
        one = prediction_powered_difference(*a, *b).interval
        hit += one.low <= 0.4 <= one.high
    assert 0.93 <= hit / 300 <= 0.99


def test_a_difference_at_the_ceiling_claims_no_certainty():
    labels, judge = columns([5] * 20, [5] * 20, [5] * 50 + [4] * 50)
    other = np.where(np.isnan(labels), np.nan, np.tile([5.0, 4.0], 60))
    for b in (labels, other):
        found = prediction_powered_difference(labels, judge, b, judge, scale=(1, 5))
        alone = prediction_powered_mean(b, judge, scale=(1, 5))
        assert found.interval.width > alone.interval.width > 0.2
    assert prediction_powered_difference(labels, judge, labels, judge).interval.width == 0


def test_probabilities_correct_a_difference():
    chance = np.random.default_rng(12)
    truth = chance.normal(0, 1, 20_000)
    probability = np.where(truth > 0, 0.08, 0.02)
    labels = np.where(chance.random(20_000) < probability, truth, np.nan)
    judge = truth + chance.normal(0, 1, 20_000)
    b = np.where(chance.random(20_000) < 0.05, -0.2 + 0 * truth, np.nan), 0 * truth
    plain = prediction_powered_difference(labels, judge, *b)
    weighed = prediction_powered_difference(labels, judge, *b, probabilities_a=probability)
    assert not plain.interval.low <= 0.2 <= plain.interval.high
    assert weighed.interval.low <= 0.2 <= weighed.interval.high


@pytest.mark.parametrize("labelled", [0, 1])
def test_a_difference_without_labels_of_one_system_has_a_reason(labelled):
    truth, judge = two_systems(13)
    every = AT >= 0
    a = shown(every, AT < 20, (truth[0], judge[0]))
    b = shown(every, labelled > AT, (truth[1], judge[1]))
    found = prediction_powered_difference(*a, *b)
    assert (found.interval, found.reason) == (None, ("no_data", "too_few_items")[labelled])
    with pytest.raises(StatisticsError, match="a row for each item of both, got 60 and 59"):
        prediction_powered_difference(*a, b[0][1:], b[1][1:])


def test_several_judges_together_beat_each_and_no_label_shapes_its_own_score():
    chance = np.random.default_rng(4)
    truth = chance.normal(0, 1, 500)
    judges = [truth + chance.normal(0, 1, 500) for _ in range(4)]
    labels = np.where(np.arange(500) < 100, truth, np.nan)
    together = combined_judge(labels, judges)
    rest = np.arange(500) >= 100
    alone = max(np.corrcoef(judge[rest], truth[rest])[0, 1] for judge in judges)
    assert np.corrcoef(together[rest], truth[rest])[0, 1] > alone + 0.05
    changed = labels.copy()
    changed[0] += 100
    assert combined_judge(changed, judges)[0] == together[0]
    assert combined_judge(changed, judges)[1] != together[1]


def test_worth_is_that_of_the_formula():
    labels, judge = columns(Y, F, U)
    r = np.corrcoef(Y, F)[0, 1]
    found = prediction_powered_mean(labels, judge)
    assert found.correlation == pytest.approx(r)
    assert found.worth.value == pytest.approx(30 / (1 - r**2 * 60 / 90))
    assert found.worth.interval().low < found.worth.value < found.worth.interval().high


@pytest.mark.parametrize("n", [30, 4])
def test_the_interval_of_worth_is_that_of_fishers_z(n):
    """Error 1 / sqrt(n - 3): of four labels it is 1."""
    labels, judge = columns(Y[:n], F[:n], U)
    z, half = np.arctanh(np.corrcoef(Y[:n], F[:n])[0, 1]), stats.norm.ppf(0.975) / np.sqrt(n - 3)
    ends = [max(math.tanh(end), 0) for end in (z - half, z + half)]
    interval = prediction_powered_mean(labels, judge).worth.interval("fisher")
    assert [interval.low, interval.high] == pytest.approx(
        [n / (1 - r**2 * 60 / (60 + n)) for r in ends]
    )


def test_labels_that_happen_to_agree_take_the_spread_of_all_groups():
    """Three labels a group give the judge no weight: s² / n, of one's own or of all."""
    labels, judge = [4, 2, 3, 5, 5, 5, 1, 3, 5], [4, 3, 3, 5, 5, 5, 2, 2, 4]
    means = prediction_powered_means([*labels, None], [*judge, 4], [*"aaabbbccc", "a"])
    pooled = (1 + 0 + 4) / 3
    errors = {name: one.standard_error for name, one in means.items()}
    assert errors == pytest.approx(
        {name: math.sqrt(max(own, pooled) / 3) for name, own in zip("abc", (1, 0, 4), strict=True)}
    )


def test_the_judge_alone_on_two_items_has_the_interval_of_two():
    judge = prediction_powered_mean([4, 2, 5], [5, 3, None]).judge
    half = stats.t.ppf(0.975, 1) * math.sqrt(2 / 2)
    assert (judge.value, judge.n) == (4, 2)
    assert judge.interval("t").high == pytest.approx(4 + half)


def test_a_judge_of_one_system_alone_has_no_difference():
    labels, judge = columns(Y, F, U)
    none = np.full(len(judge), np.nan)
    difference = prediction_powered_difference(labels, judge, labels, none)
    assert difference.judge.reason == "no_data"
    assert difference.human.value == 0
    assert difference.human.reason is None


def test_rogan_gladen_by_hand():
    # (0.3 + 0.8 - 1) / (0.9 + 0.8 - 1)
    found = rogan_gladen(300, 1000, 90, 100, 80, 100)
    assert found.value == pytest.approx(1 / 7)
    assert found.interval().low < 1 / 7 < found.interval().high
    assert rogan_gladen(1, 2, 1, 2, 1, 2).reason == "not_estimable"
    assert rogan_gladen(0, 50, 45, 50, 40, 50).flags == ("outside_range",)


def test_rogan_gladen_covers():
    chance = np.random.default_rng(6)
    hit = 0
    for _ in range(1000):
        passed = chance.binomial(1000, 0.2 * 0.85 + 0.8 * 0.1)
        found = rogan_gladen(
            passed, 1000, chance.binomial(80, 0.85), 80, chance.binomial(80, 0.9), 80
        )
        hit += found.interval().low <= 0.2 <= found.interval().high
    assert 0.93 <= hit / 1000 <= 0.98


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], [1, 2, 3]), "equally long"),
        (([1, math.inf], [1, 2]), "finite"),
        (([1, 7], [1, 2], {"scale": (1, 5)}), "off the scale 1 to 5"),
        (([1, 7], [1, 2], {"scale": (5, 1)}), "low < high"),
        (([1, None], [1, 2], {"probabilities": [0.0, 0.5]}), "in .0, 1."),
        (([1, None], [1, 2], {"probabilities": [0.5]}), "one a label"),
    ],
)
def test_what_cannot_be_taken_is_said(arguments, message):
    labels, judge, *options = arguments
    with pytest.raises(StatisticsError, match=message):
        prediction_powered_mean(labels, judge, **(options[0] if options else {}))


@pytest.mark.parametrize("n", [0, 1, 2])
def test_too_few_labels_have_a_reason_and_no_interval(n):
    labels = np.r_[np.arange(1.0, n + 1), np.full(20, np.nan)]
    found = prediction_powered_mean(labels, np.tile([1.0, 2.0], 11)[: len(labels)])
    if n == 2:  # without a weight there is one degree of freedom left
        assert found.weight == 0
        assert found.interval.width > 1
    else:
        assert found.interval is None
        assert found.reason == ("no_data" if n == 0 else "too_few_items")


def test_skewed_labels_move_the_interval_and_keep_its_width():
    """Johnson (1978), eq. 2.7 with the squared deviation at its bounds, by hand for a weight of 0:
    skewness times the standard error times (1 + 2 z^2) / (6 sqrt n), on jackknife moments.
    """
    labels = np.array([1.0, 1, 1, 2, 2, 5, 1, 1, 1, 4, 2, 1])
    found = prediction_powered_mean(labels, np.full(12, 3.0))
    away, z = labels - labels.mean(), stats.norm.ppf(0.975)
    error = labels.std(ddof=1) / np.sqrt(12)
    # Without one label the mean lies 1/11 of its deviation to the other side.
    third = (away**3).sum() / 12**3
    middle = labels.mean() + third * (1 + 2 * z * z) / (6 * error**2)
    half = stats.t.ppf(0.975, 11) * error
    assert found.interval.low == pytest.approx(middle - half, abs=1e-12)
    assert found.interval.high == pytest.approx(middle + half, abs=1e-12)
    assert found.interval.width == pytest.approx(found.human.interval().width, abs=1e-12)
    turned = prediction_powered_mean(-labels, np.full(12, 3.0)).interval
    assert (-turned.high, -turned.low) == pytest.approx((found.interval.low, found.interval.high))


@pytest.mark.parametrize("labels", [[1.0] * 30 + [5.0], [5.0] * 9 + [1.0], [1, 1, 1, 5]])
def test_a_moved_interval_still_holds_the_corrected_mean(labels):
    for level in (0.5, 0.95, 0.9999):
        one = prediction_powered_mean(labels, labels, level=level, scale=(1, 5))
        assert one.interval.low <= one.value <= one.interval.high


def test_unequal_probabilities_cover_where_much_is_labelled():
    """All of what the judge passes has a label and a tenth of the rest: the unlabelled are no
    random part of all, and the judge's mean over them is no mean of all.
    """
    chance, held = np.random.default_rng(8), []
    for _ in range(200):
        truth = chance.normal(0, 1, 500)
        judge = truth + 0.3 + chance.normal(0, 0.6, 500)
        probability = np.where(judge > 0.5, 1.0, 0.1)
        labels = np.where(chance.random(500) < probability, truth, np.nan)
        one = prediction_powered_mean(labels, judge, probabilities=probability)
        held.append(one.interval.low <= 0 <= one.interval.high)
    assert 0.91 <= np.mean(held) <= 0.99


@given(
    st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=3, max_size=25),
    st.integers(0, 10_000),
)
def test_a_win_rate_and_its_interval_lie_between_0_and_1(wins, seed):
    rng = np.random.default_rng(seed)
    labels = np.concatenate([wins, np.full(30, np.nan)])
    judge = np.where(rng.random(len(labels)) < 0.3, rng.choice([0.0, 0.5, 1.0], len(labels)), 0.9)
    found = prediction_powered_mean(labels, judge, scale=(0, 1))
    for value, interval in (
        (found.value, found.interval), (found.human.value, found.human.intervals[0]),
        (found.judge.value, found.judge.intervals[0]),
    ):  # fmt: skip
        assert 0 <= interval.low <= value <= interval.high <= 1
        assert interval.low < interval.high


def test_a_win_rate_near_an_end_is_covered():
    rng = np.random.default_rng(5)
    truth, covered, reps = 0.94 * 0.95 + 0.06 / 2, 0, 300
    for _ in range(reps):
        won = np.where(rng.random(120) < 0.06, 0.5, rng.random(120) < 0.95)
        judge = np.where(rng.random(120) < 0.85, won, rng.random(120) < 0.5)
        labels = np.where(np.arange(120) < 20, won, np.nan)
        interval = prediction_powered_mean(labels, judge, scale=(0, 1)).interval
        covered += interval.low <= truth <= interval.high
    # By t it is 0.87.
    assert covered >= 0.93 * reps


def test_the_interval_of_a_mean_score_ends_with_the_scale():
    labels = [5, 5, 5, 4, 5, 5, 2, 5, None, None]
    found = prediction_powered_mean(labels, [5, 5, 4, 4, 5, 5, 4, 5, 5, 4], scale=(1, 5))
    assert found.interval.high == 5
    free = prediction_powered_mean(labels, [5, 5, 4, 4, 5, 5, 4, 5, 5, 4])
    assert free.interval.high > 5
    assert found.interval.low == pytest.approx(free.interval.low)

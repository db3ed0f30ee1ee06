"""What the verdict rests on, beside loops over responses: means of systems, single responses, rates.

The loops go by the definitions in the docstrings: each cluster is left out by hand, pairs of humans
are enumerated, and centred scores are sums over sums.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import t as student

from voirdire import stats
from voirdire.stats.bias_by_system import HumanSpread
from voirdire.stats.held_out import rate_against
from voirdire.stats.response_panel import ResponsePanel
from voirdire.stats.within import follows_others

NAN = math.nan


def panel(seed=0, items=24, systems=4, humans=3, runs=2, *, gaps=0.1, noise=0.8, apart=1.0):
    """Every system answers every item: (n, runs), (n, humans), systems and items of the rows."""
    rng = np.random.default_rng(seed)
    item, system = np.repeat(np.arange(items), systems), np.tile(np.arange(systems), items)
    quality = rng.normal(0, 1, items)[item] / 2 + 0.6 * system + rng.normal(0, 0.7, len(item))
    seen = quality[:, None] + rng.normal(0, noise, (len(item), humans + runs))
    # The judge has systems of its own taste, so that means do not simply agree.
    seen[:, :runs] += 0.3 + apart * np.array([0.5, -0.4, 0.3, -0.4])[system][:, None]
    seen[rng.random(seen.shape) < gaps] = NAN
    return seen[:, :runs], seen[:, runs:], np.array(list("abcd"))[system], item


def present(row):
    return [value for value in row if not math.isnan(value)]


def mean(values):
    return sum(values) / len(values)


def rows_with_both(judge, humans):
    return [i for i in range(len(judge)) if present(judge[i]) and present(humans[i])]


def leave_each_out(rows, cluster):
    """The rows without each cluster in turn."""
    return [[i for i in rows if cluster[i] != one] for one in sorted({cluster[i] for i in rows})]


def fisher(value):
    return math.atanh(max(min(value, 0.9999), -0.9999))


def jackknifed(whole, parts):
    """Estimate freed of its bias and error, of a value and those without each cluster."""
    n, centre = len(parts), mean(parts)
    error = math.sqrt((n - 1) / n * sum((part - centre) ** 2 for part in parts))
    return n * whole - (n - 1) * centre, error, n - 1


def ends(at, error, df, back=lambda value: value):
    half = student.ppf(0.975, df) * error
    return [back(at - half), back(at + half)]


def system_means(judge, humans, system, rows):
    """Mean human and mean run of each system over the rows."""
    names = sorted(set(system))
    by_system = {name: [i for i in rows if system[i] == name] for name in names}
    human = [mean([mean(present(humans[i])) for i in by_system[name]]) for name in names]
    run = [mean([mean(present(judge[i])) for i in by_system[name]]) for name in names]
    return np.array(human), np.array(run)


def moments(human, run):
    k = len(human) - 1
    a, b = human - mean(human), run - mean(run)
    return np.array([a @ a / k, b @ b / k, a @ b / k, mean(run - human) ** 2])


def correlation(m):
    return m[2] / math.sqrt(m[0] * m[1])


def agreement(m):
    return 2 * m[2] / (m[0] + m[1] + m[3])


@pytest.mark.parametrize("seed", range(3))
def test_moments_and_coefficients_of_system_means(seed):
    judge, humans, system, item = panel(seed)
    rows = rows_with_both(judge, humans)
    whole = moments(*system_means(judge, humans, system, rows))
    parts = [
        moments(*system_means(judge, humans, system, some)) for some in leave_each_out(rows, item)
    ]
    n = len(parts)
    free = n * whole - (n - 1) * sum(parts) / n
    assert stats.unbiased_moments(judge, humans, system, items=item) == pytest.approx(free)
    cases = ((stats.system_order, correlation), (stats.system_agreement, agreement))
    for function, coefficient in cases:
        estimate = function(judge, humans, system, items=item)
        # The noise is taken out in twentieths, as far as the coefficient stays below 0.99.
        steps = [step / 20 for step in range(20, -1, -1)]
        below = (s for s in steps if coefficient(whole + s * (free - whole)) <= 0.99)
        share = next(below, 0.0)
        shift = share * (free - whole)
        value = coefficient(whole + shift)
        # On the scale -sqrt(1 - r + noise), half of what was taken out being noise.
        noise = max(value - coefficient(whole), 0.0) / 2
        at = -math.sqrt(1 - value + noise)
        moved = [-math.sqrt(1 - coefficient(part + shift * n / (n - 1)) + noise) for part in parts]
        error = jackknifed(at, moved)[1]
        assert estimate.value == pytest.approx(value)
        assert estimate.details["se"] == pytest.approx(error)
        interval = estimate.interval("cluster_jackknife")
        low, high = (1 + noise - min(one, 0.0) ** 2 for one in ends(at, error, n - 1))
        assert [interval.low, interval.high] == pytest.approx([low, min(high, 1.0)])
        assert (estimate.n, estimate.details["clusters"]) == (4, 24)


def test_a_correction_that_would_pass_one_is_cut_back():
    judge, humans, system, item = panel(10, apart=0.0)
    free = stats.unbiased_moments(judge, humans, system, items=item)
    raw = correlation(moments(*system_means(judge, humans, system, rows_with_both(judge, humans))))
    assert raw < 0.99 < correlation(free)
    order = stats.system_order(judge, humans, system, items=item)
    assert raw < order.value <= 0.99


def test_two_systems_have_no_order():
    judge, humans, system, item = panel(0, systems=2)
    for function in (stats.system_order, stats.system_agreement):
        assert function(judge, humans, system, items=item).reason == "too_few_items"


@pytest.mark.parametrize("seed", range(2))
def test_bias_by_system_and_what_humans_reach(seed):
    judge, humans, system, item = panel(seed, humans=4)
    rows, names = rows_with_both(judge, humans), sorted(set(system))
    count = len(names)

    def biases(some):
        human, run = system_means(judge, humans, system, some)
        return run - human

    def specific(bias):
        return [bias[s] - mean([bias[o] for o in range(count) if o != s]) for s in range(count)]

    def interaction(some):
        """Variance of human x system of what each human is off the mean human by."""
        table = [
            [
                mean(
                    [
                        humans[i, h] - mean(present(humans[i]))
                        for i in some
                        if system[i] == name and not math.isnan(humans[i, h])
                    ]
                )
                for name in names
            ]
            for h in range(4)
        ]
        table = np.array(table)
        rest = table - table.mean(axis=0) - table.mean(axis=1, keepdims=True) + table.mean()
        return (rest**2).sum() / (3 * (count - 1))

    left = leave_each_out(rows, item)
    found = stats.system_bias(judge, humans, system, items=item)
    for place, name in enumerate(names):
        for mine, function in (
            (found.level, biases),
            (found.specific, lambda r: specific(biases(r))),
        ):
            at, error, df = jackknifed(function(rows)[place], [function(r)[place] for r in left])
            assert mine[name].value == pytest.approx(at)
            interval = mine[name].interval()
            assert [interval.low, interval.high] == pytest.approx(ends(at, error, df))
    n = len(left)
    variance = n * interaction(rows) - (n - 1) * mean([interaction(r) for r in left])
    df = 3 * (count - 1)
    reach = student.ppf(1 - 0.05 / (2 * count), df) * math.sqrt(
        max(variance, 0) * (1 + 1 / 4) * count / (count - 1)
    )
    assert found.allowance == pytest.approx(reach)


def test_what_few_humans_reach_is_not_known():
    """Three humans and four systems have six degrees of freedom, and eight are asked for."""
    judge, humans, system, item = panel(0)
    assert math.isnan(stats.system_bias(judge, humans, system, items=item).allowance)


def test_the_margin_is_widened_to_what_humans_reach():
    spread = HumanSpread(variance=0.09, leniency=0.0, df=9, raters=3)
    reach = student.ppf(1 - 0.05 / (2 * 4), 9) * math.sqrt(0.09 * 4 / 3 * 2)
    assert spread.allow(0.1, 2.0, 4) == pytest.approx(reach)
    assert spread.allow(5.0, 2.0, 4) == 5.0
    for unknown in (HumanSpread(math.nan, 0.0, 9, 3), HumanSpread(0.09, 0.0, 7, 3)):
        assert unknown.allow(0.1, 2.0, 4) == 0.1


def less_means(values, groups, least):
    """Values (n,) less the mean of their group; NaN in a group of fewer than `least`."""
    out = np.full(len(values), NAN)
    for group in set(groups):
        inside = [i for i in range(len(values)) if groups[i] == group and not math.isnan(values[i])]
        if len(inside) >= least:
            for i in inside:
                out[i] = values[i] - mean([values[j] for j in inside])
    return out


@pytest.mark.parametrize("crossed", [True, False])
def test_correlation_within_systems(crossed):
    judge, humans, system, item = panel(5, gaps=0.3)  # some items keep two responses, some one
    if not crossed:  # each response an item of its own: no effect of items can be told
        item = np.arange(len(item))
    rows = rows_with_both(judge, humans)
    sides = [
        np.array([mean(present(humans[i])) for i in rows]),
        *(np.array([judge[i, r] for i in rows]) for r in range(2)),
    ]
    of_system, of_item = [system[i] for i in rows], [item[i] for i in rows]
    cleaned = []
    for side in sides:
        rest = less_means(side, of_system, 2)
        for _ in range(3 if crossed else 0):
            rest = less_means(less_means(rest, of_item, 2), of_system, 2)
        cleaned.append(rest)
    human, runs = cleaned[0], cleaned[1:]
    usable = [
        i for i in range(len(rows)) if present([r[i] for r in runs]) and not math.isnan(human[i])
    ]

    def ratio(some):
        product = sum(human[i] * mean(present([r[i] for r in runs])) for i in some)
        square = sum(mean([v * v for v in present([r[i] for r in runs])]) for i in some)
        return product / math.sqrt(sum(human[i] ** 2 for i in some) * square)

    parts = [fisher(ratio(some)) for some in leave_each_out(usable, of_item)]
    at, error, df = jackknifed(fisher(ratio(usable)), parts)
    estimate = stats.within_correlation(judge, humans, systems=system, items=item)
    assert estimate.value == pytest.approx(math.tanh(at))
    interval = estimate.interval()
    assert [interval.low, interval.high] == pytest.approx(ends(at, error, df, math.tanh))


def test_a_judge_that_answers_its_systems_mean_has_nothing_within():
    _, humans, system, item = panel(1, gaps=0)
    flat = np.array([{"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}[name] for name in system])
    estimate = stats.within_correlation(flat, humans, systems=system, items=item)
    assert estimate.reason == "zero_variance"


@pytest.mark.parametrize("seed", range(2))
def test_what_judge_and_humans_share_on_single_responses(seed):
    judge, humans, system, item = panel(seed, gaps=0.2)
    rows = rows_with_both(judge, humans)

    def cells(scores):
        """Centred in rater x system cells, products having the expectation of a covariance."""
        out = less_means(scores[rows], [system[i] for i in rows], 5)
        sizes = {
            name: sum(
                not math.isnan(v) and system[i] == name for v, i in zip(out, rows, strict=True)
            )
            for name in set(system)
        }
        factor = {name: math.sqrt(n / (n - 1)) for name, n in sizes.items()}
        return [value * factor[system[i]] for value, i in zip(out, rows, strict=True)]

    centred_humans = np.array([cells(humans[:, h]) for h in range(3)]).T
    centred_runs = np.array([cells(judge[:, r]) for r in range(2)]).T

    def shared(some):
        """Covariance of two humans, variance of one, covariance with the judge, its variance."""
        pairs, ones, beside, own = [], [], [], []
        for i in some:
            people, runs = present(centred_humans[i]), present(centred_runs[i])
            pairs += [a * b for a, b in combinations(people, 2)]
            ones += [a * a for a in people]
            if runs and people:
                beside += [mean(runs) * a for a in people]
                own.append(mean([run * run for run in runs]))
        return mean(pairs), mean(ones), mean(beside), mean(own)

    def beyond(some, times=2.0):
        c, v, j, u = shared(some)
        return j / math.sqrt(u * c) - math.sqrt(c / (c + times * (v - c)))

    every = list(range(len(rows)))
    left = leave_each_out(every, [item[i] for i in rows])
    c, v, j, u = shared(every)
    at, error, df = jackknifed(beyond(every), [beyond(some) for some in left])
    reliability = stats.item_reliability(judge, humans, systems=system, items=item)
    assert reliability.value == pytest.approx(at)
    assert [reliability.interval().low, reliability.interval().high] == pytest.approx(
        ends(at, error, df)
    )
    assert reliability.details["reliability"] == pytest.approx(c / v)
    assert reliability.details["slope"] == pytest.approx(j / c)
    thrice = stats.item_reliability(judge, humans, systems=system, items=item, times=3)
    assert thrice.value > reliability.value
    # Worth: the odds of what the judge explains over those of one human.
    rho2, q = j * j / (u * c), c / v
    worth = stats.worth(judge, humans, systems=system, items=item)
    assert worth.value == pytest.approx(rho2 / (1 - rho2) / (q / (1 - q)))
    assert worth.details["following"] == pytest.approx(math.sqrt(rho2))

    def follows(some):
        c, _, j, u = shared(some)
        return fisher(j / math.sqrt(u * c))

    # Its interval is that of what the judge follows, one human's reliability being taken as known.
    at, error, df = jackknifed(follows(every), [follows(some) for some in left])
    bounds = [r * abs(r) / (1 - r * r) * (1 - q) / q for r in ends(at, error, df, math.tanh)]
    interval = worth.interval("cluster_jackknife")
    assert [interval.low, interval.high] == pytest.approx(bounds)


def test_reliability_of_one_human():
    _, humans, system, item = panel(4, gaps=0)

    def reliability(some):
        people = [less_means(humans[:, h], system, 5) * math.sqrt(24 / 23) for h in range(3)]
        pairs = [a[i] * b[i] for a, b in combinations(people, 2) for i in some]
        return mean(pairs) / mean([a[i] ** 2 for a in people for i in some])

    every = list(range(len(humans)))
    parts = [fisher(reliability(some)) for some in leave_each_out(every, item)]
    at, error, df = jackknifed(fisher(reliability(every)), parts)
    estimate = stats.human_reliability(humans, systems=system, items=item)
    assert estimate.value == pytest.approx(math.tanh(at))
    assert [estimate.interval().low, estimate.interval().high] == pytest.approx(
        ends(at, error, df, math.tanh)
    )
    alone = np.full((10, 2), NAN)
    alone[:, 0] = np.arange(10)
    assert stats.human_reliability(alone).reason == "too_few_raters"


def test_rates_beside_a_held_out_human():
    judge, humans, _, item = panel(6, gaps=0.2)
    gate = 1.0
    judge_passes = [
        mean([value >= gate for value in present(row)]) if present(row) else NAN for row in judge
    ]

    def rates(some, passes, of=0.0):
        """Judge's and human's hits, over the share of the other humans with that verdict."""
        hits, own = 0.0, 0.0
        for i in some:
            for h in range(3):
                others = present([humans[i, o] for o in range(3) if o != h])
                if not others or math.isnan(humans[i, h]) or math.isnan(judge_passes[i]):
                    continue
                share = mean([(value >= gate) == passes for value in others])
                hits += share * (judge_passes[i] if passes else 1 - judge_passes[i])
                own += share * ((humans[i, h] >= gate) == passes)
                of += share
        return hits / of, own / of, of

    every = rows_with_both(judge, humans)
    beside = stats.rates_beside_human(judge, humans, gate, items=item)
    for name, passes in (("sensitivity", True), ("specificity", False)):
        hits, own, of = rates(every, passes)
        assert (beside[name].judge, beside[name].human) == pytest.approx((hits, own))
        assert beside[name].n == pytest.approx(of)
        # An item on which no other human gives this verdict says nothing, and is no cluster.
        says = {
            k
            for k in set(item)
            if rates([i for i in every if item[i] == k], passes, 1e-9)[2] > 1e-6
        }
        there = [i for i in every if item[i] in says]
        parts = [
            rates(some, passes)[0] - rates(some, passes)[1] for some in leave_each_out(there, item)
        ]
        at, error, df = jackknifed(hits - own, parts)
        difference = beside[name].difference
        assert difference.value == pytest.approx(at)
        assert difference.interval().width / 2 == pytest.approx(student.ppf(0.975, df) * error)


def test_how_far_humans_rates_differ_beyond_their_own_noise():
    """Two of three humans, as strict as they like: the third has too few verdicts to count."""
    rng = np.random.default_rng(9)
    quality = rng.normal(0, 1, 300)
    humans = (quality[:, None] + rng.normal(0, 0.5, (300, 3)) > [-1.0, 1.0, 0.0]) * 1.0
    humans[9:, 2] = NAN
    judge = (quality > 0) * 1.0
    rates = []
    for h in (0, 1):
        hits, of = 0.0, 0.0
        for row in humans:
            others = present([row[o] for o in range(3) if o != h])
            hits, of = hits + mean(others) * row[h], of + mean(others)
        rates.append((hits / of, of))
    noise = mean([rate * (1 - rate) / of for rate, of in rates])
    between = math.sqrt(np.var([rate for rate, _ in rates], ddof=1) - noise)
    assert stats.rates_beside_human(judge, humans, 1)["sensitivity"].between == pytest.approx(
        between
    )


def test_whether_one_human_follows_the_others():
    _, humans, system, item = panel(7, gaps=0.2)
    whole = ResponsePanel.of(humans, humans, systems=system, items=item)
    factor = {}
    centred = []
    for h in range(3):
        out = less_means(humans[:, h], system, 5)
        for name in set(system):
            n = sum(not math.isnan(v) for v, s in zip(out, system, strict=True) if s == name)
            factor[name] = math.sqrt(n / (n - 1))
        centred.append([value * factor[s] for value, s in zip(out, system, strict=True)])
    rows = [(centred[0][i], present([centred[1][i], centred[2][i]]), item[i]) for i in range(96)]
    rows = [(own, mean(others), k) for own, others, k in rows if others and not math.isnan(own)]

    def ratio(some):
        product, a, b = (
            sum(f(own, rest) for own, rest, _ in some)
            for f in (
                lambda own, rest: own * rest,
                lambda own, _: own * own,
                lambda _, rest: rest * rest,
            )
        )
        return fisher(product / math.sqrt(a * b))

    parts = [ratio([row for row in rows if row[2] != k]) for k in sorted({k for _, _, k in rows})]
    at, error, _ = jackknifed(ratio(rows), parts)
    follows = follows_others(whole, 0)
    assert (follows.at, follows.se) == pytest.approx((at, error))
    assert follows_others(ResponsePanel.of(humans[:29], humans[:29]), 0) is None


def test_a_rate_against_one_human_by_hand():
    """Of four responses that the human passes, the judge passes three; of three failed, one."""
    judge = [1, 1, 1, 0, 0, 0, 1, NAN]
    humans = [[1], [1], [1], [1], [0], [0], [0], [1]]
    panel_ = ResponsePanel.of(judge, humans)
    for passes, hits, size in ((True, 3, 4), (False, 2, 3)):
        rate, n = rate_against(panel_, 0, passes=passes)
        assert (rate.value, n) == (pytest.approx(hits / size), size)
        assert rate.se == pytest.approx(math.sqrt(hits / size * (1 - hits / size) / (size - 1)))


def test_one_human_is_held_against_nobody():
    for rate in stats.rates_beside_human([4, 2, 5], [[4], [2], [5]], gate=4).values():
        assert rate.difference.reason == "too_few_raters"
        assert rate.n == 0

"""Verdicts on labels, preferences and probabilities: the reference's values, and slow twins.

Source of the shared numbers: reference/verdict_kinds.json of the shared folder, made by its plain
program `verdict_kinds_generators.py`.
"""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from kinds_work import STATES, comparison_panel, few_labels, generator, label_case, reference

from voirdire.examining.spec import THESE, USES
from voirdire.examining.spec.labels import found as labels
from voirdire.examining.spec.labels.ground import LabelGround
from voirdire.examining.spec.preferences import found as preferences
from voirdire.examining.spec.preferences.ground import ComparedCase, ComparedGround
from voirdire.examining.spec.probabilities import found as probabilities
from voirdire.examining.spec.scores import responses
from voirdire.examining.spec.scores.case import Case
from voirdire.examining.spec.scores.seen import looks_seen
from voirdire.examining.verdict.decide import AskedUse, decide
from voirdire.stats import comparisons, label_responses, leaks, probability, strengths
from voirdire.stats.comparisons import Compared, ComparisonPanel
from voirdire.stats.probability import ProbabilityPanel
from voirdire.study import Margins

MARGINS = Margins()


def near(found, wanted, what):
    wanted = np.array(
        [np.nan if value is None else value for value in np.ravel(wanted)], dtype=float
    ).reshape(np.shape(wanted))
    np.testing.assert_allclose(np.asarray(found, float), wanted, rtol=0, atol=1e-6, err_msg=what)


def same(parts, wanted, what):
    assert [STATES[part.state] for part in parts] == list(wanted), what


# --- labels


@pytest.mark.shared
def test_labels_equal_the_reference(shared):
    make = generator(shared)
    for name, wanted in reference(shared)["labels"].items():
        draw = make.sets if name.startswith("sets") else make.one_of_K
        humans, judges, _, clusters, sub = draw(**wanted["make"])
        near(make._check(humans, np.stack(list(judges.values()))), wanted["check"], name)
        for place, judge in enumerate(wanted["names"]):
            case = label_case(
                humans,
                judges[judge],
                clusters=clusters,
                subgroups=np.where(sub, "s", ""),
                sets=name.startswith("sets"),
            )
            check_labels(case, wanted, place, f"{name}: {judge}")


#: What the reference's program has a name of its own for.
OF_LABELS = {
    "READ_k": "READk", "RECALL": "SENS", "PRECISION": "PREC", "LABEL": "LABEL", "ITEM_k": "GITEM",
    "SHARE": "SHARE",
}  # fmt: skip
#: Of section 5, which it does not have.
LATER = ("DIV", "LEAK", "EMPTY", "TIE", "FLIP", "READ_s", "PAIR", "SYSSHARE", "HOM", "CTAIL")


@contextmanager
def without_later():
    """The uses as they are before section 5, which the reference's program does not have."""
    plain = {
        key: replace(
            spec,
            required={
                target: tuple(one for one in parts if one.key not in LATER)
                for target, parts in spec.required.items()
            },
        )
        for key, spec in USES.items()
    }
    with patch.object(USES, "_specs", plain):
        yield


def check_labels(case, wanted, place, what):
    told, ground = wanted["components"], LabelGround(case, MARGINS)
    found, two = ground.of_labels, len(case.humans) > 1
    near(found.shares.humans, told["p"], what)
    near(found.shares.between, told["btw"], what)
    near(found.margins, told["SHARE_m"], what)
    for name, other in OF_LABELS.items():
        parts = found.parts[name]
        if f"{other}_e" in told and (two or other in ("SHARE", "READk")):
            near([part.estimate for part in parts], told[f"{other}_e"][place], f"{what} {name}")
        if other in told:
            same(parts, told[other][place], f"{what} {name}")
    if two:
        near(found.vouched * 1.0, wanted["vouched"][place], what)
        near(ground.one("ITEM").estimate, told["ITEM_e"][place], what)
        near(ground.one("HUMANS").estimate, told["HUMANS_e"], what)
        same([ground.one("ITEM")], [told["ITEM"][place]], what)
        same(found.parts["HUMANS_k"], told["HUMANk"], f"{what} HUMANS_k")
        for name, other in (("RECALL1", "SENS20"), ("PRECISION1", "PREC20")):
            # They may only refuse: what they do not refuse is nothing to the reference.
            refused = [part.state == "no" for part in found.refusing[name]]
            assert refused == [state == STATES["no"] for state in told[other][place]], what
    near(ground.one("READ").estimate, told["READ_e"][place], what)
    same([ground.one("READ")], [told["READ"][place]], what)
    contrast = label_responses.share_contrast(ground.panel, ground.humans, case.subgroups == "s")
    near(contrast.at, told["SUBSHARE_e"][place], what)
    same_subgroup(ground, told, place, what)
    with without_later():
        single = decide(ground, AskedUse("single", THESE)).state
        # Every label, those that nobody uses included, as the reference's program has them.
        filters = [decide(ground, AskedUse("filter", THESE, label)).state for label in case.labels]
    assert STATES[single] == wanted["single"][place], what
    assert [STATES[state] for state in filters] == list(wanted["filter"][place]), what


def same_subgroup(ground, told, place, what):
    """SUBITEM, and SUBSHARE, which may only refuse, of the declared subgroup."""
    refused = [part.state == "no" for part in ground.of_labels.parts.get("SUBSHARE", ())]
    if refused:
        assert refused == [state == STATES["no"] for state in told["SUBSHARE"][place]], what
    if "SUBITEM" in told:
        same([ground.one("SUBITEM")], [told["SUBITEM"][place]], f"{what} SUBITEM")


def test_labels_beside_a_slow_twin():
    humans, judge, clusters = few_labels(1)
    case = label_case(humans, judge, clusters=clusters)
    panel, everyone = case.panel(), range(3)
    shares = label_responses.shares(panel, everyone)
    kept = ~np.isnan(judge[:, 0]) & ~np.isnan(humans[:, :, 0]).all(axis=0)

    def slow_share(rows):
        return np.mean([judge[i] - np.nanmean(humans[:, i], axis=0) for i in rows], axis=0)

    check_jackknife(shares.difference, slow_share, kept, clusters)
    for place in range(3):
        rates = label_responses.LabelRates.of(panel.label(place), everyone)

        def slow_recall(rows, place=place):
            return slow_rates(humans, judge, rows, place)[0]

        def slow_precision(rows, place=place):
            return slow_rates(humans, judge, rows, place)[1]

        check_jackknife(rates.recall()[0], slow_recall, kept, clusters)
        check_jackknife(rates.precision()[0], slow_precision, kept, clusters)


def check_jackknife(found, slow, kept, clusters):
    """Bias-free estimate and error, leaving each cluster out by doing all of it again."""
    rows = np.flatnonzero(kept)
    full = slow(rows)
    groups = np.unique(clusters[rows])
    out = np.array([slow(rows[clusters[rows] != group]) for group in groups])
    count = len(groups)
    at = full - (count - 1) * (out.mean(axis=0) - full)
    se = np.sqrt((count - 1) * ((out - out.mean(axis=0)) ** 2).mean(axis=0))
    np.testing.assert_allclose(found.at, at, atol=1e-10)
    np.testing.assert_allclose(found.se, se, atol=1e-10)
    assert found.df == count - 1


def slow_rates(humans, judge, rows, place):
    """Recall and precision of one label, judge less held-out human, one pair at a time."""
    hits = own_hits = given = said = own_said = 0.0
    for i in rows:
        for r in range(len(humans)):
            others = [k for k in range(len(humans)) if k != r and not np.isnan(humans[k, i, 0])]
            if np.isnan(humans[r, i, 0]) or not others:
                continue
            share = np.mean([humans[k, i, place] for k in others])
            hits += judge[i, place] * share
            own_hits += humans[r, i, place] * share
            given += share
            said += judge[i, place]
            own_said += humans[r, i, place]
    return (hits - own_hits) / given, hits / said - own_hits / own_said


def test_where_humans_differ_beside_a_slow_twin():
    humans, judge, clusters = few_labels(2)
    case = label_case(humans, judge, clusters=clusters)
    found = label_responses.where_humans_differ(case.panel(), range(3), 0.5)
    kept = ~np.isnan(judge[:, 0]) & ~np.isnan(humans[:, :, 0]).all(axis=0)
    prior = np.mean([np.nanmean(humans[:, i], axis=0) for i in np.flatnonzero(kept)], axis=0)
    excess = dict.fromkeys(np.unique(clusters[kept]), 0.0)
    count = 0
    for i in np.flatnonzero(kept):
        said = humans[:, i]
        for r in range(3):
            s, t = (k for k in range(3) if k != r)
            if np.isnan(said[:, 0]).any() or (said[s] == said[t]).all():
                continue
            two = said[s] + said[t]
            lead, own = judge[i] @ two - prior @ two, said[r] @ two - prior @ two
            excess[clusters[i]] += lead - 0.5 * own
            count += 1
    values = np.array(list(excess.values()))
    assert found.count == count
    np.testing.assert_allclose(found.excess, values.sum(), atol=1e-10)
    np.testing.assert_allclose(found.error, np.sqrt(len(values)) * values.std(ddof=1), atol=1e-10)


def test_a_leak_is_what_one_human_alone_says():
    rng = np.random.default_rng(3)
    truth = rng.normal(size=400)
    humans = truth + rng.normal(size=(3, 400)) * np.array([[0.5], [1.0], [1.5]])
    honest = truth + rng.normal(size=400)
    # .6 of a variance of 1 in what is left of it and of the others' mean: .6 / 1.625 = .37.
    copied = 0.6 * humans[1] + 0.4 * honest
    for judge, low, high in ((honest, -0.15, 0.15), (copied, 0.25, 0.5)):
        panel = Case(
            "judge", "a", ("x", "y", "z"), judge[None], humans, np.arange(400), 4.0
        ).panel()
        found = leaks.leak(panel, range(3), 1)
        assert low < found.at[0] < high
        # The slow twin: the loading and the slope from whole covariances.
        j, h = judge - judge.mean(), humans - humans.mean(axis=1, keepdims=True)
        m = (h[0] + h[2]) / 2
        loading = np.clip((h[1] @ m) / (h[0] @ h[2]), 0.2, 5)
        rest = h[1] - loading * m
        slope = (j @ h[1] - loading * (j @ m)) / (rest @ rest)
        assert abs(found.at[0] - slope) < 0.02


def test_of_two_humans_a_copied_one_leads_by_half_of_what_is_copied():
    rng = np.random.default_rng(4)
    truth = rng.normal(size=2000)
    humans = truth + rng.normal(size=(2, 2000))
    honest = truth + rng.normal(size=2000)
    copied = np.where(rng.random(2000) < 0.6, humans[0], honest)
    for judge, wanted, seen in ((honest, 0.0, False), (copied, 0.3, True)):
        panel = Case("judge", "a", ("x", "y"), judge[None], humans, np.arange(2000), 4.0).panel()
        found = leaks.lead(panel, 0, [1])
        assert found.at == pytest.approx(wanted, abs=0.06)
        apart = humans[0] - humans[1] - (humans[0] - humans[1]).mean()
        j = judge - judge.mean()
        assert found.at == pytest.approx((j @ apart) / (apart @ apart), abs=1e-3)
        part = looks_seen(panel, (0, 1), (), ("x", "y"))
        assert (part is not None) is seen
        if part is not None:
            assert (part.state, part.at) == ("open", ("x",))


def test_labels_renamed_or_in_another_order_change_nothing():
    humans, judge, clusters = few_labels(4, n=120, missing=0.0)
    everyone = range(3)

    def states(order):
        case = label_case(humans[..., order], judge[..., order], clusters=clusters)
        panel = case.panel()
        found = labels.of_labels(case, panel, everyone, MARGINS)
        back = np.argsort(order)
        one = (labels.vouched_for(found), labels.differing(case, panel, everyone))
        return (
            {name: [parts[k].state for k in back] for name, parts in found.parts.items()},
            {part.name: (part.state, round(part.estimate, 12)) for part in one},
        )

    assert states([0, 1, 2]) == states([2, 0, 1])


# --- preferences


@pytest.mark.shared
def test_preferences_equal_the_reference(shared):
    make = generator(shared)
    for name, wanted in reference(shared)["preferences"].items():
        design = make.preferences(**wanted["make"])
        drawn = [design[key] for key in ("H", "Y", "a", "first", "ln")]
        near(make._check(*drawn), wanted["check"], name)
        for place, judge in enumerate(wanted["names"]):
            check_preferences(comparison_panel(design, place), wanted, place, f"{name}: {judge}")


def check_preferences(panel, wanted, place, what):
    told, width = wanted["components"], panel.width
    near(comparisons.reading(panel).correlation.value, told["READ_e"][place], what)
    near(comparisons.position(panel).se / width, told["POSITION_se"][place], what)
    near(comparisons.favour_by_system(panel).se / width, told["LEVEL_se"][place], what)
    near(comparisons.favour_by_system(panel).at / width, told["LEVEL_e"][place], what)
    found = preferences.compared_components(panel, MARGINS)
    shares = ("POSITION", "LENGTH", "FAM")
    for name in ("ITEM", "PICK", "ORDER", *shares):
        part = found.get(name)
        if f"{name}_e" in told and part is not None and part.state != "not tested":
            value = part.estimate
            if name == "ORDER":
                humans = strengths.least_squares(panel, panel.mean_human)
                judge = strengths.least_squares(panel, panel.mean_order)
                value = strengths.strength_order(humans, judge).correlation.value
            near(value / (width if name in shares else 1.0), told[f"{name}_e"][place], what)
    if "FLIP_e" in told:
        near(comparisons.flips(panel)[0], told["FLIP_e"][place], what)
    if "HUMANS_e" in told and "HUMANS" in found:
        near(found["HUMANS"].estimate, told["HUMANS_e"], f"{what} HUMANS")
        same([found["HUMANS"]], [told["HUMANS"]], f"{what} HUMANS")
    if "AGREE_e" in told:
        near(comparisons.vote_agreement(panel).at, told["AGREE_e"][place], what)
    for name in ("READ", "ITEM", "POSITION", "LENGTH", "ORDER", "REVERSE", "LEVEL", "FAM"):
        if name in told and name in found:
            same([found[name]], [told[name][place]], f"{what} {name}")
    if "PICK10" in told:
        same([found["PICK"]], [told["PICK10"][place]], what)
        near(comparisons.picks(panel).human, told["PICK_h"], f"{what} PICK_h")
        # At 5 points it may only refuse.
        assert (found["PICK1"].state == "no") == (told["PICK"][place] == STATES["no"]), what
    # It decides nothing.
    half = preferences.inside("", comparisons.position(panel), 0.05 * width)
    same([half], [told["POS05"][place]], f"{what} POS05")
    ground = ComparedGround(
        ComparedCase(
            "judge",
            "preference",
            tuple(map(str, range(len(panel.humans)))),
            panel.judge,
            panel.humans,
            np.arange(panel.n).astype(str),
            Compared(panel.systems[panel.a], panel.systems[panel.b], width),
        ),
        MARGINS,
    )
    # Family and lengths as the design draws them, by comparison.
    ground.__dict__["panel"] = panel
    with without_later():
        for use, states in wanted["uses"].items():
            state = decide(ground, AskedUse(use.lower(), THESE)).state
            # Win rates of a judge that surely goes by length are refused, which the reference's
            # are not: of two systems x 300 it said yes to one that always takes the longer in 12 %.
            if use == "SCORE" and found["LENGTH"].state == "no":
                assert state in ("no", "not tested"), what
                continue
            assert STATES[state] == states[place], f"{what} {use}"


def few_comparisons(seed, n=80, clusters=None, systems=4, missing=0.0):
    rng = np.random.default_rng(seed)
    names = np.array(list("dbac")[:systems])
    pairs = np.array(list(itertools.permutations(range(systems), 2)))
    a, b = pairs[rng.integers(0, len(pairs), n)].T
    gap = np.array([0.8, 0.2, -0.3, -0.9])[:systems]
    shared = gap[a] - gap[b] + rng.normal(size=n)
    said = np.sign(np.round(shared + 0.8 * rng.normal(size=(4, n))))
    said[rng.random(said.shape) < missing] = np.nan
    first = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    compared = Compared(names[a], names[b], first=first, length=rng.normal(size=n))
    return ComparisonPanel.of(said[0], said[1:], compared, clusters)


@pytest.mark.parametrize("size", [1, 3])
def test_strengths_beside_a_slow_fit(size):
    panel = few_comparisons(5, clusters=np.arange(80) // size)
    scores = panel.mean_human
    found = strengths.least_squares(panel, scores)

    def slow(kept):
        # One equation a comparison and one that the strengths sum to 0, by least squares.
        rows = np.zeros((len(kept), len(panel.systems)))
        rows[np.arange(len(kept)), panel.a[kept]] = 1
        rows[np.arange(len(kept)), panel.b[kept]] = -1
        rows = np.concatenate([rows, np.full((1, rows.shape[1]), 1e3)])
        return np.linalg.lstsq(rows, np.append(scores[kept], 0.0), rcond=None)[0]

    everything = np.arange(panel.n)
    np.testing.assert_allclose(found.values, slow(everything), atol=1e-8)
    for group in range(panel.n_clusters):
        without = slow(everything[panel.cluster != group])
        np.testing.assert_allclose(found.out[group], without, atol=1e-8)


def test_single_comparisons_beside_a_slow_twin():
    panel = few_comparisons(6, missing=0.1)
    found = comparisons.shared_within(panel, 3.0)

    def cells(values):
        out = np.full(panel.n, np.nan)
        for pair in range(panel.n_pairs):
            here = (panel.pair == pair) & ~np.isnan(values)
            n = here.sum()
            if n > 1:
                out[here] = (values[here] - values[here].mean()) * np.sqrt(n / (n - 1))
        return out

    humans, judge = [cells(row) for row in panel.humans], cells(panel.judge[0])
    product = lambda x, y: (x * y)[~np.isnan(x * y)]  # noqa: E731
    c = np.concatenate([product(x, y) for x, y in itertools.combinations(humans, 2)]).mean()
    v = np.concatenate([product(x, x) for x in humans]).mean()
    j = np.concatenate([product(judge, x) for x in humans]).mean()
    u = product(judge, judge)[~np.isnan(np.stack(humans)).all(axis=0)[~np.isnan(judge)]].mean()
    rho, q = j / np.sqrt(u * c), c / v
    worth = (rho * abs(rho) / (1 - rho**2)) / (q / (1 - q))
    assert found.worth == pytest.approx(worth, abs=1e-10)
    picks = comparisons.picks(panel)
    agree, count = 0.0, 0
    for q_, r in itertools.permutations(range(3), 2):
        for i in range(panel.n):
            choice, other, own = panel.humans[q_, i], panel.humans[r, i], panel.judge[0, i]
            if np.isnan(choice * other) or choice == 0:
                continue
            count += 1
            agree += 0.5 if own == 0 else float(np.sign(own) == np.sign(choice))
    assert picks.count == count
    assert picks.judge == pytest.approx(agree / count)


def test_systems_swapped_with_the_score_turned_change_nothing():
    panel = few_comparisons(7)
    names = {"a": "z", "b": "y", "c": "x", "d": "w"}
    a, b = (np.array([names[str(panel.systems[k])] for k in side]) for side in (panel.a, panel.b))
    compared = Compared(b, a, first=-panel.first, length=-panel.length)
    turned = ComparisonPanel.of(-panel.judge, -panel.humans, compared)
    one, other = (preferences.compared_components(each, MARGINS) for each in (panel, turned))
    assert {name: part.state for name, part in one.items()} == {
        name: part.state for name, part in other.items()
    }
    for name in ("READ", "ITEM", "ORDER", "PICK", "POSITION", "LENGTH"):
        np.testing.assert_allclose(one[name].estimate, other[name].estimate, atol=1e-9)


def test_what_is_not_recorded_is_not_tested():
    panel = few_comparisons(8)
    compared = Compared(panel.systems[panel.a], panel.systems[panel.b])
    unknown = ComparisonPanel.of(panel.judge, panel.humans, compared)
    parts = preferences.compared_components(unknown, MARGINS)
    assert parts["POSITION"].reason == "order not recorded"
    assert parts["LENGTH"].reason == "no texts"
    case = ComparedCase(
        "judge",
        "preference",
        ("x", "y", "z"),
        panel.judge,
        panel.humans,
        np.arange(panel.n).astype(str),
        compared,
    )
    ground = ComparedGround(case, MARGINS)
    for use in ("single", "pick"):
        assert decide(ground, AskedUse(use, THESE)).state in {"not tested", "no"}


def test_sparse_pairs_are_read_beside_strengths():
    rng = np.random.default_rng(9)
    systems, n = 30, 600
    names = np.array([f"s{k:02d}" for k in range(systems)])
    pairs = np.array(list(itertools.combinations(range(systems), 2)))
    a, b = pairs[rng.integers(0, len(pairs), n)].T
    strength = rng.normal(size=systems)
    unit = rng.normal(size=n)
    human, reads, blind = (
        np.sign(strength[a] - strength[b] + own + 0.7 * rng.normal(size=n))
        for own in (unit, unit, rng.normal(size=n))
    )
    for judge, low, high in ((reads, 0.25, 0.8), (blind, -0.15, 0.15)):
        panel = ComparisonPanel.of(judge, human, Compared(names[a], names[b]))
        found = comparisons.sparse_reading(panel)
        assert low < found.correlation.value < high
        assert preferences.compared_components(panel, MARGINS)["READ"].estimate == pytest.approx(
            found.correlation.value
        )


# --- probabilities


@pytest.mark.shared
def test_probabilities_equal_the_reference(shared):
    make = generator(shared)
    for name, wanted in reference(shared)["probabilities"].items():
        humans, given, names, sub = make.probabilities(**wanted["make"])
        near(make._check(humans, given), wanted["check"], name)
        for place, judge in enumerate(names):
            case = Case(
                "judge",
                "a",
                tuple(map(str, range(len(humans)))),
                given[[place]],
                humans,
                np.arange(humans.shape[1]),
                1.0,
            )
            panel = ProbabilityPanel.of(given[place], humans)
            read = responses.reading("READ", case, case.panel(), MARGINS)
            check_probabilities(panel, read, sub, wanted, place, f"{name}: {judge}")


def check_probabilities(panel, read, sub, wanted, place, what):
    told = wanted["components"]
    found = probabilities.probability_components(
        panel, read, MARGINS, subgroups=np.where(sub, "s", "")
    )
    names = {"READ": "READ", "CSLOPE": "SLOPE", "CLARGE": "LARGE", "SKILL": "SKILL"}
    flat = found["CSLOPE"].reason == "one answer"
    for name, other in names.items():
        same([found[name]], [told[other][place]], f"{what} {name}")
        if not (flat and name in {"READ", "CSLOPE"}):
            near(found[name].estimate, told[f"{other}_e"][place], f"{what} {name}")
    if not flat:
        near(found["CSLOPE"].se, told["SLOPE_se"][place], what)
    near(probability.calibration_error(panel).value, told["ECE_e"][place], what)
    for threshold in (0.8, 0.9):
        released = probability.released(panel, threshold)
        near(released.share, told[f"TOP{threshold}_n"][place], what)
        if released.count:
            near(released.right, told[f"TOP{threshold}_e"][place], what)
            gap = released.claimed - released.right
            near(gap, told[f"TOP{threshold}_gap"][place], what)
        for less, suffix in ((0.0, ""), (0.05, "-5")):
            part = probabilities.top(panel, threshold, threshold - less, "both")
            # An exact tail at the effective number of labels, where the reference has Student's t:
            # of 163 answers 7 are more cautious, and none is bolder.
            was = told[f"TOP{threshold}{suffix}"][place]
            assert STATES[part.state] in (was, was - 1) or part.state == "not tested", what
    within = probability.slope_within(panel, sub)
    if within is not None:
        near(within.at, told["SUBSLOPE_e"][place], f"{what} SUBSLOPE")
    # One component of both, which may only refuse, as the reference does by either. It leaves
    # leverage out of the slope's error, and so refuses one more of 84 (20 labels, a slope of -.13
    # with an error of .34).
    refused = STATES["no"] in (told["SUBLARGE"][place], told["SUBSLOPE"][place])
    if not flat and what != "n100 R1: random":
        assert (found["CSUB"].state == "no") == refused, f"{what} CSUB"
    large = probabilities.inside(
        "", probability.large_contrast(panel, sub), probabilities.LARGE_APART
    )
    same([large], [told["SUBLARGE"][place]], f"{what} SUBLARGE")
    states = [found[name].state for name in (*names, "CSUB")]
    use = next(state for state in ("no", "open", "yes") if state in states)
    assert STATES[use] == wanted["use"][place], what


def test_the_slope_beside_a_slow_twin():
    from scipy.optimize import minimize

    rng = np.random.default_rng(11)
    odds = rng.normal(size=90) * 1.5
    humans = (rng.random((2, 90)) < 1 / (1 + np.exp(-0.7 * odds - 0.2))).astype(float)
    given = np.clip(1 / (1 + np.exp(-odds)), 0.01, 0.99)
    found = probability.calibration_slope(ProbabilityPanel.of(given, humans))

    def slow(kept):
        x, y = odds[kept].clip(-np.log(99), np.log(99)), humans.mean(axis=0)[kept]

        def cost(weights):
            linear = weights[0] + weights[1] * x
            return (np.logaddexp(0, linear) - y * linear).sum()

        return minimize(cost, [0.0, 1.0], method="BFGS", options={"gtol": 1e-9}).x[1]

    rows = np.arange(90)
    assert found.at == pytest.approx(slow(rows), abs=1e-6)
    out = np.array([slow(np.delete(rows, k)) for k in rows])
    # One Newton step without each row, not the whole fit: within two per cent of it.
    refitted = np.sqrt(((out - found.at) ** 2).sum() * 89 / 90)
    assert found.se == pytest.approx(refitted, rel=0.02)


def test_an_exact_tail_decides_where_each_response_has_one_label():
    # 20 of 20 right: P(20 of 20 | .85) = .039; 19 of 20: P(19 or more | .85) = .176 (binomial).
    given = np.full(20, 0.95)
    for right, state in ((20, "yes"), (19, "open"), (12, "no")):
        panel = ProbabilityPanel.of(given, (np.arange(20) < right).astype(float))
        part = probabilities.top(panel, 0.9, 0.85, "yes")
        assert part.state == state, right
    panel = ProbabilityPanel.of(given[:19], np.ones(19))
    assert probabilities.top(panel, 0.9, 0.85, "yes").reason == "few released"


def test_an_expected_calibration_error_stands_beside_a_calibrated_one():
    rng = np.random.default_rng(12)
    given = rng.uniform(0.02, 0.98, 300)
    calibrated = ProbabilityPanel.of(given, (rng.random(300) < given).astype(float))
    found = probability.calibration_error(calibrated)
    assert found.value < found.upper
    assert found.calibrated > 0.03
    sure = np.where(given > 0.5, 0.98, 0.02)
    other = probability.calibration_error(
        ProbabilityPanel.of(sure, (rng.random(300) < given).astype(float))
    )
    assert other.value > other.upper


def test_a_probability_outside_its_range_is_an_error():
    from voirdire.errors import StatisticsError

    with pytest.raises(StatisticsError, match=r"must lie in 0\.\.1, got 1\.2"):
        ProbabilityPanel.of([0.5, 1.2], [1, 0])
    with pytest.raises(StatisticsError, match=r"or 0 \(no\), got 3"):
        ProbabilityPanel.of([0.5, 0.2], [1, 3])


@pytest.mark.parametrize(("size", "people"), [(1, 2), (5, 1), (10, 1), (10, 2)])
def test_what_is_released_is_worse_than_asked_no_more_often_than_stated(size, people):
    """Turns of a dialogue err together, and two people who agree are one: at a risk of .05 the
    standard error with Student's t said yes in .07 to .23.
    """
    chance, yes, runs, n = np.random.default_rng(size), 0, 200, 100
    group = np.repeat(np.arange(n // size), size)
    for _ in range(runs):
        latent = (chance.normal(size=n // size)[group] + chance.normal(size=n)) / np.sqrt(2)
        right = latent < 1.0364  # the normal quantile of .85
        given = np.where(chance.random(n) < 0.7, 0.95, 0.4)
        panel = ProbabilityPanel.of(given, np.tile(right * 1.0, (people, 1)), clusters=group)
        yes += probabilities.top(panel, 0.9, 0.85, "yes").state == "yes"
    # Four standard errors of a share of .05 above it.
    assert yes / runs <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / runs)
    # Ten or twenty dialogues that may err as wholes show nothing about .85.
    assert yes > 0 or size > 1


@pytest.mark.parametrize("part", [0.5, 1.0])
def test_dialogues_that_err_as_wholes_are_not_released_because_ten_were_right(part):
    """Right in exactly the .85 asked for; where it is sure of the rest it errs turn by turn, which
    shows nothing of dialogues. Said yes in .19 of these, and is still to say it of .95 in forty.
    """
    chance, found = np.random.default_rng(3), []
    for rate, dialogues in ((1.0364, 10), (1.6449, 40)):  # normal quantiles of .85 and .95
        yes, group = 0, np.repeat(np.arange(dialogues), 10)
        for _ in range(60):
            latent = np.sqrt(part) * chance.normal(size=dialogues)[group]
            latent = latent + np.sqrt(1 - part) * chance.normal(size=len(group))
            sure = chance.random(len(group)) < 0.7
            right = np.where(sure, latent < rate, chance.random(len(group)) < 0.7)
            panel = ProbabilityPanel.of(np.where(sure, 0.95, 0.6), [right * 1.0], clusters=group)
            yes += probabilities.top(panel, 0.9, 0.85, "yes").state == "yes"
        found.append(yes / 60)
    assert found[0] <= 0.05
    assert found[1] >= 0.4

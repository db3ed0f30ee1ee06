"""READ in each system: what is not read there is held back, or named and not claimed."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import voirdire
from voirdire.errors import RequirementUnmetError
from voirdire.examining import check_requirements
from voirdire.examining.simulate import KINDS, Kind, SimulatedPanel, simulate_panel, tidy_ratings
from voirdire.examining.spec.scores.case import Case, GateRule
from voirdire.examining.spec.scores.ground import ScoreGround
from voirdire.examining.verdict.decide import AskedUse, decide
from voirdire.report import answers
from voirdire.report.records import verdict_record
from voirdire.stats.reading_by_system import answered_by_item, beside_items, swapped
from voirdire.study import Margins

USES = ("order", "score", "single")


def blind_in(systems):
    """As good as a human, but blind in the first so many systems: their means and noise."""

    def score(world):
        scores = world.peer.copy()
        blind = 3 + world.system + world.view + world.noise
        scores[:systems] = blind[:systems]
        return scores

    return Kind("blind here", score, "blind in some systems")


@pytest.fixture
def blind(monkeypatch):
    monkeypatch.setattr("voirdire.examining.simulate.KINDS", {**KINDS, "blind here": blind_in(3)})


def ground(panel, name, humans=3):
    raters, systems, items = panel.humans.shape
    system, item = (part.ravel() for part in np.indices((systems, items)))
    people = panel.humans.reshape(raters, -1)[:humans]
    case = Case(
        "judge",
        "tone",
        tuple("abc")[:humans],
        panel.judges[name].reshape(1, -1),
        people,
        item,
        4.0,
        systems=np.char.mod("s%02d", system),
    )
    return ScoreGround(case, Margins())


def states(found):
    return {use: decide(found, AskedUse(use, "these systems")).state for use in USES}


@pytest.mark.parametrize("humans", [1, 3])
def test_blind_in_three_of_ten_is_never_a_yes_and_good_in_all_is_kept(blind, humans):
    kept = 0
    for seed in range(6):
        panel = simulate_panel(10, 200, 4100 + seed, kinds=("good", "blind here"))
        found = ground(panel, "blind here", humans)
        assert "yes" not in states(found).values()
        part = found.one("READ_s")
        # At a level of 2.5 % in each, one of them may look as if it were read.
        assert len({"s00", "s01", "s02"} & set(part.not_shown)) >= 2
        assert part.state == "open" if humans == 1 else part.state in ("no", "open")
        kept += ground(panel, "good", humans).one("READ_s").state == "yes"
    # One in forty looks as if it answered some system by the question.
    assert kept >= 4


def test_where_nobody_would_be_shown_to_read_the_systems_are_named(blind):
    """Twenty responses a system: one more human would not be seen to read there either."""
    panel = simulate_panel(40, 20, 7, kinds=("good",))
    part = ground(panel, "good").one("READ_s")
    assert part.state == "yes"
    assert part.not_shown
    assert part.count + len(part.not_shown) == 40
    assert 0 < part.count < 40


def test_a_system_in_which_people_do_not_vary_has_nothing_to_read():
    states = []
    for seed in range(6):
        panel = simulate_panel(4, 100, seed, kinds=("good",))
        panel.humans[:, 2] = 5.0
        part = ground(panel, "good").one("READ_s")
        assert "s02" not in (*part.not_shown, *part.at)
        assert part.count + len(part.not_shown) == 3
        states.append(part.state)
    # Of few systems one in ten humans looks as if it answered one by the question.
    assert states.count("yes") >= 4


def test_the_correlation_in_a_system_and_what_a_human_would_have_are_those_of_a_slow_twin():
    from voirdire.stats.reading_by_system import reading_in_systems

    panel = simulate_panel(3, 80, 11, kinds=("noisy",))
    found = ground(panel, "noisy")
    _, each = reading_in_systems(found.panel, found.humans)
    for place, one in enumerate(each):
        judge, people = panel.judges["noisy"][place], panel.humans[:, place]
        r = np.corrcoef(judge, people.mean(axis=0))[0, 1]
        # The jackknife frees z of its bias, of the order of 1 / n.
        assert math.tanh(one.judge.at) == pytest.approx(r, abs=0.02)
        cov = np.cov(people)
        c, v = cov[np.triu_indices(3, 1)].mean(), np.diag(cov).mean()
        human = c / math.sqrt(v * (c + (v - c) / 3))
        assert math.tanh(one.human) == pytest.approx(human, abs=1e-9)


def test_a_gate_takes_a_yes_that_leaves_systems_out_for_open_and_the_sentence_says_how_many():
    panel = simulate_panel(40, 20, 7, kinds=("sharp",))
    ratings = tidy_ratings(panel, "tone")
    people = ["human-1", "human-2", "human-3"]
    found = voirdire.examine(ratings, reference=people, resamples=0)
    verdict = found.verdict("sharp", "tone", "score")
    part = verdict.component("READ_s")
    assert verdict.state == "yes"
    assert verdict.not_shown == part.not_shown
    record = verdict_record(verdict)
    assert record["not_shown"] == list(part.not_shown)
    sentence = answers.answers(found)[0].sentence
    assert f"shown for {part.count} of 40 systems" in sentence
    with pytest.raises(RequirementUnmetError, match="open"):
        check_requirements(found, ["verdict.score@tone=yes"])


def question_alone(world):
    """As good as a human, but in two systems what the item deserves, whatever was answered."""
    scores = world.peer.copy()
    scores[:2] = (3 + world.system + 1.2 * world.item + 0.5 * world.noise)[:2]
    return scores


def test_who_answers_by_the_question_in_two_systems_is_held_back(monkeypatch):
    kind = Kind("asked", question_alone, "reads no response there", reads=False)
    monkeypatch.setattr("voirdire.examining.simulate.KINDS", {**KINDS, "asked": kind})
    held, good, named = 0, 0, 0
    for seed in range(8):
        panel = simulate_panel(10, 250, 4300 + seed, kinds=("good", "asked"))
        # With one human nobody knows whether people read more there: the system is named.
        alone = ground(panel, "asked", humans=1).one("READ_s")
        named += alone.state == "yes" and bool({"s00", "s01"} & set(alone.not_shown))
        part = ground(panel, "asked").one("READ_s")
        held += (part.state, part.reason) == ("open", "by question") and part.at[0] in (
            "s00",
            "s01",
        )
        good += ground(panel, "good").one("READ_s").state == "yes"
        if part.reason:
            made = decide(ground(panel, "asked"), AskedUse("single", "these systems"))
            assert (made.state, made.reason) == ("open", "by question")
    assert held >= 7
    assert good >= 7
    assert named >= 4


def test_reading_beside_items_is_that_of_a_slow_twin():
    """Least squares on the way from the other systems, people's mean of the item beside it."""
    panel = ground(simulate_panel(4, 40, 8, kinds=("good",)), "good").panel
    found = beside_items(panel, (0, 1, 2))
    people, judge = panel.humans.reshape(3, 4, 40), panel.judge[0].reshape(4, 40)
    people = people - people.mean(axis=2, keepdims=True)
    judge = judge - judge.mean(axis=1, keepdims=True)
    human = people.mean(axis=0)
    away = np.stack([human[s] - np.delete(human, s, 0).mean(axis=0) for s in range(4)])
    own = np.stack([people[:, s] - np.delete(people, s, 1).mean(axis=1) for s in range(4)], axis=1)
    pairs = [(a, b) for a in range(3) for b in range(3) if a != b]
    shared = [np.mean([people[a, s] * own[b, s] for a, b in pairs]) for s in range(4)]
    slopes = []
    for s in range(4):
        table = np.stack([away[s], human.mean(axis=0)], axis=1)
        slopes.append(np.linalg.lstsq(table, judge[s], rcond=None)[0][0])
    for s, name in enumerate(("s00", "s01", "s02", "s03")):
        assert found[name].slope.value == pytest.approx(slopes[s], abs=0.03)
        assert found[name].people == pytest.approx(shared[s] / np.mean(shared), rel=1e-9)
        cells = [(k, t) for k in range(3) for t in range(4) if t != s]
        j = np.mean([(judge[t] * people[k, t]).mean() for k, t in cells])
        c = np.mean([(people[a, t] * people[b, t]).mean() for a, b in pairs for _, t in cells[:3]])
        mine = j / c * np.mean(shared) / (away[s] ** 2).mean()
        theirs = np.median([float(found[f"s{t:02d}"].slope.at) for t in range(4) if t != s])
        assert found[name].expected == pytest.approx((mine + theirs) / 2, rel=1e-9)


def test_what_is_made_of_the_item_alone_has_no_reading_beside_items():
    """Mean over panels: 0 for the question whatever its weight and noise, a reader's for a peer."""
    got = {name: [] for name in ("twice", "noisy", "peer")}
    for seed in range(12):
        rng = np.random.default_rng(seed)
        system, item = rng.normal(0, 0.45, (3, 1)), rng.normal(0, 0.45, (1, 300))
        quality = 3 + system + item + rng.normal(0, 0.35, (3, 300))
        seen = quality + rng.normal(0, 0.7, (4, 3, 300))
        judges = {
            "twice": 3 + system + 2 * item + 0 * quality,
            "noisy": 3 + system + item + rng.normal(0, 0.7, (3, 300)),
            "peer": seen[3],
        }
        for name, judge in judges.items():
            panel = SimulatedPanel(seen[:3], {name: judge}, np.zeros(300, bool), np.zeros(3, bool))
            each = beside_items(ground(panel, name).panel, (0, 1, 2)).values()
            got[name] += [float(one.slope.at) for one in each]
    assert abs(np.mean(got["twice"])) < 0.03
    assert abs(np.mean(got["noisy"])) < 0.03
    assert np.mean(got["peer"]) == pytest.approx(0.1225 / (0.1225 + 0.49 / 3) / 1.5, abs=0.04)


def test_a_gate_is_no_yes_where_neither_response_nor_score_is_read(monkeypatch):
    """Pass and fail of a question and a system go together though no response is read."""
    kind = Kind("neither", lambda world: 3 + world.system + world.item + 0.3 * world.noise)
    monkeypatch.setattr("voirdire.examining.simulate.KINDS", {**KINDS, "neither": kind})
    for seed in range(6):
        found = ground(simulate_panel(10, 200, 4400 + seed, kinds=("neither",)), "neither")
        found = ScoreGround(replace(found.case, gate=GateRule(4.0)), Margins())
        made = decide(found, AskedUse("gate", "these systems"))
        assert made.state != "yes"
        assert "READ" in made.deciding or made.state == "no"


def test_two_systems_under_each_other_s_name_are_named(monkeypatch):
    def score(world):
        scores = world.peer.copy()
        scores[[3, 7]] = scores[[7, 3]]
        return scores

    kind = Kind("swaps", score, "two systems swapped")
    monkeypatch.setattr("voirdire.examining.simulate.KINDS", {**KINDS, "swaps": kind})
    named = 0
    for seed in range(8):
        panel = simulate_panel(10, 250, 4500 + seed, kinds=("good", "swaps"))
        part = ground(panel, "swaps").one("READ_s")
        named += (part.state, part.reason, part.at) == ("open", "swapped", ("s03", "s07"))
        assert swapped(ground(panel, "good").panel) is None
    assert named >= 4
    made = decide(ground(panel, "swaps"), AskedUse("order", "these systems"))
    assert made.state != "yes"


def test_the_sign_of_swapped_systems_is_that_of_a_slow_twin():
    """Of two systems: z of either with the other's people, less z of either with its own."""
    panel = simulate_panel(3, 400, 9, kinds=("good",))
    judge, human = panel.judges["good"], panel.humans.mean(axis=0)

    def left(scores):
        rows, columns = scores.mean(axis=1, keepdims=True), scores.mean(axis=0, keepdims=True)
        return scores - rows - columns + scores.mean()

    x, y = left(judge[[1, 0, 2]]), left(human)
    z = np.arctanh([[np.corrcoef(a, b)[0, 1] for b in y] for a in x])
    signs = {
        (a, b): (z[a, b] + z[b, a] - z[a, a] - z[b, b]) * math.sqrt(397) / 2
        for a, b in ((0, 1), (0, 2), (1, 2))
    }
    found = swapped(replace(ground(panel, "good").panel, judge=judge[[1, 0, 2]].reshape(1, -1)))
    worst = max(signs, key=signs.get)
    # One in five of three pairs: 1.50.
    assert (found is not None) == (signs[worst] > 1.501)
    assert found == ("s00", "s01") == tuple(f"s0{place}" for place in worst)


def test_a_system_is_answered_by_the_item_where_that_is_the_likelier():
    """Ratios of densities of t, each of three systems with a chance of a third."""
    panel = ground(simulate_panel(3, 60, 8, kinds=("good",)), "good").panel
    each = beside_items(panel, (0, 1, 2))

    def moved(by):
        return {
            name: replace(one, slope=replace(one.slope, at=by * one.expected))
            for name, one in each.items()
        }

    for by in (0.0, 0.2, 0.4, 0.45, 0.5, 1.0):
        found = moved(by)
        ratios = []
        for one in found.values():
            at, se = np.array([0.0, one.expected]), float(one.slope.se)
            densities = stats.t.pdf((float(one.slope.at) - at) / se, one.slope.df)
            ratios.append(densities[0] / densities[1])
            assert one.unread == pytest.approx(ratios[-1], rel=1e-9)
        told = np.prod(2 / 3 + np.array(ratios) / 3) > 1.1
        assert (answered_by_item(found) != ()) == told, by
    assert set(answered_by_item(moved(0.0))) == {"s00", "s01", "s02"}
    # Where people are shown to share little nothing is wrong with a judge that follows little.
    apart = {name: replace(one, people_high=0.4) for name, one in moved(0.0).items()}
    assert answered_by_item(apart) == ()
    assert answered_by_item({}) == ()
    # Of many items errors are small and the ratio is huge.
    sure = {k: replace(one, slope=replace(one.slope, se=1e-4)) for k, one in moved(0.0).items()}
    assert len(answered_by_item(sure)) == 3

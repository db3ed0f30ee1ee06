"""LEAK of scores: who has seen the answers is not tested, and who has not is never accused."""

from __future__ import annotations

import importlib
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import voirdire
from voirdire.examining.spec.scores.case import Case
from voirdire.examining.spec.scores.ground import ScoreGround
from voirdire.examining.verdict.decide import AskedUse, decide
from voirdire.examining.verdict.judging import copied_findings, judge_cases, leak_findings
from voirdire.report import answers
from voirdire.stats.leaks import leak, too_close
from voirdire.study import Margins

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
SYSTEMS, ITEMS = 5, 150
HONEST = (
    "perfect",
    "sharp",
    "lenient",
    "peer",
    "same person",
    "third of a view",
    "half of a view",
)
USES = ("order", "score", "single", "estimate")


def drawn(seed, *, weak=False, wide=1.0, grid=1.0):
    """Three humans with lasting views, and judges: honest ones, and copies."""
    rng = np.random.default_rng([seed, 41])
    shape = (SYSTEMS, ITEMS)

    def noise(size):
        return rng.normal(0, size, shape)

    quality = 3 + rng.normal(0, 0.45, (SYSTEMS, 1)) + rng.normal(0, 0.45, (1, ITEMS)) + noise(0.35)
    views = [noise(0.35) for _ in range(3)]
    humans = np.stack([quality + view + noise(0.6) for view in views])
    if weak:
        humans[0] = 3 + 0.3 * (quality - 3) + noise(0.9)
    humans[1] = 3 + wide * (humans[1] - 3)
    people = rounded(humans, grid)
    judges = {
        "perfect": quality,
        "sharp": quality + noise(0.3),
        "lenient": quality + noise(0.3) + 0.6,
        "peer": quality + noise(0.7),
        "same person": quality + views[2] + noise(0.6),
        "third of a view": quality + views[2] / 3 + noise(0.2),
        "half of a view": quality + views[2] / 2,
        "rounded mean": people.mean(axis=0),
        "copy of one": people[2],
        "one and noise": people[2] + noise(0.5),
    }
    return people, {name: rounded(scores, grid) for name, scores in judges.items()}


def rounded(scores, grid):
    return np.clip(np.rint(scores / grid) * grid, 1, 5)


def case(people, judge, name="judge"):
    system, item = (part.ravel() for part in np.indices((SYSTEMS, ITEMS)))
    humans = people.reshape(len(people), -1)
    return Case(
        name,
        "tone",
        ("a", "b", "c")[: len(people)],
        judge.reshape(1, -1),
        humans,
        item,
        4.0,
        systems=system,
    )


@pytest.mark.parametrize(
    "setting", [{}, {"weak": True}, {"wide": 1.5}, {"wide": 1.5, "grid": 0.05}]
)
def test_nobody_honest_is_told_to_have_seen_the_answers_and_a_rounded_mean_is(setting):
    caught = 0
    for seed in range(8):
        people, judges = drawn(seed, **setting)
        for name in HONEST:
            part = ScoreGround(case(people, judges[name]), Margins()).one("LEAK")
            assert part.state == "yes", (seed, name, part)
        found = ScoreGround(case(people, judges["rounded mean"]), Margins())
        caught += found.one("LEAK").reason == "seen answers"
        if found.one("LEAK").reason == "seen answers":
            states = {decide(found, AskedUse(use, "these systems")).state for use in USES}
            assert states == {"not tested"}
    assert caught >= 7


@pytest.mark.parametrize("judge", ["copy of one", "one and noise"])
def test_a_human_whom_the_judge_follows_leaves_its_reference_with_a_finding(judge):
    for seed in range(4):
        people, judges = drawn(seed)
        found = judge_cases([case(people, judges[judge])], Margins())
        assert found.evidence[0].reference == ("a", "b")
        (finding,) = leak_findings(found.evidence)
        assert finding.kind == "judge_follows_one_human"
        assert finding.severity == "serious"
        assert "c was left out" in finding.consequence
        assert all(verdict.reason != "seen answers" for verdict in found.verdicts)
        assert {one.state for one in found.verdicts if one.use == "single"} != {"not tested"}


def test_with_two_humans_nobody_leaves_and_a_mean_of_them_is_still_told():
    people, judges = drawn(3)
    followed = ScoreGround(case(people[1:], judges["copy of one"]), Margins())
    assert len(followed.humans) == 2
    mean = rounded(people[1:].mean(axis=0), 0.5)
    assert ScoreGround(case(people[1:], mean), Margins()).one("LEAK").reason == "seen answers"


def test_closeness_is_that_of_a_slow_twin():
    people, judges = drawn(5)
    panel = case(people, judges["sharp"]).panel()
    found = too_close(panel, range(3))

    def centred(scores):
        return (scores - scores.mean(axis=1, keepdims=True)).ravel()

    judge, humans = centred(judges["sharp"]), [centred(one) for one in people]
    for place, kept in enumerate([(0, 1, 2), (1, 2), (0, 2), (0, 1)]):
        pairs = [(r, s) for r in kept for s in kept if r < s]
        both = sum((judge @ humans[r]) * (judge @ humans[s]) for r, s in pairs)
        shared = sum(humans[r] @ humans[s] for r, s in pairs)
        assert found.at[place] == pytest.approx(both / shared / (judge @ judge), rel=0.02)


def test_a_file_says_so_in_the_sentence_and_as_a_finding():
    people, judges = drawn(1)
    system, item = (part.ravel() for part in np.indices((SYSTEMS, ITEMS)))
    columns = {f"human_{k}": scores.ravel() for k, scores in enumerate(people)}
    columns["gpt"] = judges["rounded mean"].ravel()
    table = pl.DataFrame({"item": item, "system": np.char.mod("s%d", system), **columns})
    found = voirdire.examine(table, reference=list(columns)[:3], resamples=0)
    assert {one.state for one in found.verdicts if one.use != "repeat"} == {"not tested"}
    assert "judge_has_seen_answers" in {finding.kind for finding in found.findings}
    assert "it has seen the answers" in answers.answers(found)[0].sentence


@pytest.fixture(scope="module")
def simulated():
    """`benchmarks/verdict_leak.py`, of which a part is run here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        yield importlib.import_module("verdict_leak")


def test_among_people_of_many_kinds_nobody_honest_is_told_to_have_seen_the_answers(simulated):
    for people in simulated.PEOPLE:
        for group, judge, told in simulated.run(people, 2):
            if group == "honest":
                assert told not in ("seen", "held"), (people, judge)
                shares = "view" in judge or judge == "same person" or people == "two share errors"
                assert not told or shares, (people, judge)


def test_a_copied_column_is_no_second_human_and_accuses_nobody(simulated):
    humans, honest, leaked = simulated.drawn(simulated.FIRST, "one copies another")
    cases = [simulated.case_of("one copies another", humans, honest["peer"])]
    found = judge_cases(cases, Margins())
    assert found.evidence[0].reference == ("a", "c")
    (finding,) = copied_findings(found.evidence)
    assert (finding.kind, finding.severity, finding.table) == ("human_equals_human", "serious", "b")
    assert "b was left out" in finding.consequence
    assert leak_findings(found.evidence) == []
    assert {one.use: one.state for one in found.verdicts}["single"] == "yes"
    mean = simulated.case_of("one copies another", humans, leaked["rounded mean"])
    assert simulated.told(ScoreGround(mean, Margins())) == "seen"


def test_two_who_agree_everywhere_stay_and_are_named_only_where_that_is_odd(simulated):
    humans, honest, _ = simulated.drawn(simulated.FIRST, "alike")
    alone = simulated.case_of("alike", humans[[0, 0]], honest["peer"])
    (one,) = ScoreGround(alone, Margins()).repeating
    assert (one.human, one.by, one.left_out, math.isnan(one.most)) == ("a", "b", False, True)
    (finding,) = copied_findings(judge_cases([alone], Margins()).evidence)
    assert "Check that no column was used twice" in finding.consequence
    plain = simulated.case_of("pass or fail", (humans[[0, 0]] > 3) * 1.0, honest["peer"])
    assert ScoreGround(plain, Margins()).repeating == ()
    # Two who agree as much as with the third, on labels that are plain: nobody repeats anybody.
    easy = np.repeat((humans[:1] > 3) * 1.0, 3, axis=0)
    easy[2, 0, :5] = 1 - easy[2, 0, :5]
    assert ScoreGround(simulated.case_of("pass or fail", easy, easy[0]), Margins()).copies == ()


def test_the_difference_of_correlations_is_that_of_a_slow_twin():
    people, judges = drawn(5)
    found = leak(case(people, judges["sharp"]).panel(), range(3), 2)
    parts = [one - one.mean(axis=1, keepdims=True) for one in (*people, judges["sharp"])]
    a, b, c, judge = (part.ravel() for part in parts)
    own, others = np.corrcoef(judge, c)[0, 1], (np.corrcoef(judge, a), np.corrcoef(judge, b))
    assert found.at[1] == pytest.approx(own - np.mean([one[0, 1] for one in others]), abs=0.005)


def test_a_copied_column_of_labels_is_named_as_well():
    rng = np.random.default_rng(4)
    names = np.array(["refund", "order", "other"])
    truth = rng.integers(0, 3, 300)

    def one():
        return names[np.where(rng.random(300) < 0.2, rng.integers(0, 3, 300), truth)]

    first = one()
    table = pl.DataFrame({"item": range(300), "a": first, "b": first, "c": one(), "gpt": one()})
    found = voirdire.examine(table, reference=["a", "b", "c"], resamples=0)
    (said,) = [one for one in found.findings if one.kind == "human_equals_human"]
    assert said.table == "b"

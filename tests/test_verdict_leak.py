"""LEAK of scores: who has seen the answers is not tested, and who has not is never accused."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import voirdire
from voirdire.examining.spec.scores.case import Case
from voirdire.examining.spec.scores.ground import ScoreGround
from voirdire.examining.verdict.decide import AskedUse, decide
from voirdire.examining.verdict.judging import judge_cases, leak_findings
from voirdire.report import answers
from voirdire.stats.leaks import too_close
from voirdire.study import Margins

SYSTEMS, ITEMS = 5, 150
HONEST = (
    "perfect", "sharp", "lenient", "peer", "same person", "third of a view", "half of a view",
)  # fmt: skip
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
        name, "tone", ("a", "b", "c")[: len(people)], judge.reshape(1, -1), humans, item, 4.0,
        systems=system,
    )  # fmt: skip


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

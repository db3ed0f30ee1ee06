"""Odd panels end in an answer: no crash, no yes, and a reason that fits."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from command_line import typed

from voirdire import examine
from voirdire.errors import InputError
from voirdire.examining.spec.scores.case import Case, GateRule
from voirdire.examining.spec.scores.ground import ScoreGround
from voirdire.examining.verdict.decide import AskedUse, asked_uses, decide, verdict_of, with_holm
from voirdire.examining.verdict.facts import Component, Next, Verdict
from voirdire.examining.verdict.judging import judge_cases
from voirdire.report import print_examination
from voirdire.stats import within
from voirdire.study import Margins, ReadOptions


def scores(n=60, seed=0):
    """Truth, a human and a judge that follow it, 1 to 5."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 6, n)
    human, judge = (np.clip(truth + rng.integers(-1, 2, n), 1, 5) for _ in range(2))
    return human.astype(float), judge.astype(float)


def table(human, judge, system=None):
    frame = {"item": [f"q{k}" for k in range(len(human))], "human": human, "judge": judge}
    frame |= {} if system is None else {"system": system}
    return pl.DataFrame(frame, schema_overrides={"human": pl.Float64, "judge": pl.Float64})


def found_of(frame, **options):
    found = examine(frame, reference=["human"], resamples=0, **options)
    print_examination(found)
    return found


def states(found):
    return {
        v.use: (v.state, v.reason, v.next) for v in found.verdicts if v.target == "these systems"
    }


def test_no_label_at_all_tests_nothing():
    human, judge = scores()
    # A column without a score is a judge where it is said to be one.
    for frame in (table([None] * 60, judge), table(human, [None] * 60)):
        found = found_of(frame, read=ReadOptions(judge=("judge",)))
        assert "yes" not in {verdict.state for verdict in found.verdicts}
    unlabelled = states(found_of(table([None] * 60, judge)))
    assert {state for state, _, _ in unlabelled.values()} == {"not tested"}
    assert unlabelled["single"][1] == "few clusters"


def test_labels_and_scores_that_never_meet_are_a_judge_that_answered_nothing():
    human, judge = scores()
    found = found_of(table([*human[:30], *[None] * 30], [*[None] * 30, *judge[30:]]))
    cover = next(part for part in found.evidence[0].components if part.name == "COVER")
    assert (cover.state, cover.estimate, cover.count) == ("no", 0.0, 30)


@pytest.mark.parametrize("streaming", [False, True])
def test_a_judge_that_was_not_asked_about_an_attribute_has_failed_nothing_there(
    tmp_path, streaming
):
    """Two judges of one attribute each, humans on both: an export of a tool with two graders.

    A judge that was asked and answered nothing is another thing: its rows are there.
    """
    human, judge = scores()
    rows = [
        {"item": f"q{k}", "rater": rater, "attribute": attribute, "score": score}
        for k in range(60)
        for rater, attribute, score in [
            ("human", "tone", human[k]), ("human", "facts", human[k]),
            ("of tone", "tone", judge[k]), ("of facts", "facts", judge[k]),
            ("silent", "tone", None), ("silent", "facts", judge[k]),
        ]
    ]  # fmt: skip
    path = tmp_path / "ratings.parquet"
    pl.DataFrame(rows).write_parquet(path)
    found = examine(path, reference=["human"], resamples=0, streaming=streaming)
    print_examination(found)
    told = {
        (v.judge, v.attribute): (v.state, v.reason)
        for v in found.verdicts
        if (v.use, v.target) == ("single", "these systems")
    }
    assert told["of tone", "facts"] == told["of facts", "tone"] == ("not tested", "not asked")
    assert told["silent", "tone"][0] == "no"
    assert told["of tone", "tone"][1] != "not asked"


@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_items(n):
    human, judge = scores()
    found = states(found_of(table(human[:n], judge[:n])))
    assert {state for state, _, _ in found.values()} == {"not tested"}
    assert (found["single"][2].needed, found["single"][2].now) == (20, n)


def test_a_system_of_one_item_has_no_error_and_so_no_verdict():
    """Left out alone its mean is gone, and the error of its bias came out as 0: a sure no."""
    human, judge = scores()
    judge[-1], human[-1] = 5, 3
    found = states(found_of(table(human, judge, ["a"] * 30 + ["b"] * 29 + ["c"])))
    for use in ("order", "score", "single"):
        assert found[use][0] == "not tested"
    assert found["score"][1] == "few in system"
    step = found["score"][2]
    assert (step.action, step.needed, step.now, step.unit) == (
        "rate more",
        5,
        1,
        "items of each system",
    )


def test_a_system_of_its_own_for_every_item_tells_nothing_within_systems():
    human, judge = scores()
    found = states(found_of(table(human, judge, [f"s{k}" for k in range(60)])))
    assert {state for state, _, _ in found.values()} == {"not tested"}
    assert found["estimate"][1] == "few in system"


@pytest.mark.parametrize("shift", [-10.0, 0.25, 90.0])
def test_a_scale_may_lie_anywhere(shift):
    human, judge = scores()
    plain, moved = (states(found_of(table(human + d, judge + d))) for d in (0, shift))
    assert {use: v[0] for use, v in plain.items()} == {use: v[0] for use, v in moved.items()}


def test_few_on_one_side_of_a_gate_say_how_many_labels_it_takes():
    human = np.ones(100)
    human[::7] = 0
    found = states(found_of(table(human, human)))
    assert found["gate"][:2] == ("not tested", "few such")
    assert found["gate"][2].needed == -(-100 * 20 // 15)


@pytest.mark.parametrize("fails", [1, 3, 9])
def test_fewer_than_ten_failures_are_not_tested_and_not_said_to_be_unread(fails):
    """At 97 % of 100 labels a judge that reads was to be trusted with nothing in 30 of 100."""
    human, judge = np.ones(100), np.ones(100)
    human[:fails] = judge[2 : 2 + 12] = 0
    found = found_of(table(human, judge))
    told = states(found)
    for use in ("gate", "single"):
        assert told[use][:2] == ("not tested", "few failures")
        assert (told[use][2].action, told[use][2].needed) == ("label both sides", 15)
    # The judge's own rare outcome counts as well; of one that is constant people's decide.
    human[:12], judge[:] = 0, 1
    judge[0] = 0
    assert states(found_of(table(human, judge)))["gate"][1] == "few failures"
    judge[0] = 1
    assert states(found_of(table(human, judge)))["gate"][:2] == ("no", "constant")


def test_a_judge_that_turns_the_scale_round_is_refused():
    human, _ = scores()
    kept = ReadOptions(rescale={"judge": (1, 5)})  # else it is asked
    found = found_of(table(human, 6 - human), read=kept)
    assert states(found)["single"][0] == "no"
    assert "yes" not in {verdict.state for verdict in found.verdicts}


def test_constants_on_either_side():
    human, judge = scores()
    fixed = np.full(60, 3.0)
    for frame in (table(fixed, judge), table(human, fixed), table(fixed, fixed)):
        found = found_of(frame)
        assert "yes" not in {verdict.state for verdict in found.verdicts}
    assert states(found_of(table(human, fixed)))["single"][1] == "constant"


def case(**more):
    human, judge = scores()
    names = np.arange(len(human))
    return Case("judge", "calm", ("human",), judge[None], human[None], names, 4.0, **more)


def asked_of(uses=(), **more):
    return [(one.use, one.target) for one in asked_uses(uses, ScoreGround(case(**more), Margins()))]


def test_a_gate_is_asked_about_where_there_is_one_and_labels_are_no_scale():
    assert "gate" not in {use for use, _ in asked_of()}
    gate = GateRule(4.0)
    assert "gate" in {use for use, _ in asked_of(gate=gate)}
    assert "gate" not in {use for use, _ in asked_of(gate=gate, kind="nominal")}
    assert asked_of(["gate"]) == []
    assert asked_of(["gate"], gate=gate) == [("gate", "these systems")]
    assert {use for use, _ in asked_of(["order"], gate=gate)} == {"order"}
    with pytest.raises(
        InputError, match=r"study, key 'uses': use 'oder' is unknown \(did you mean 'order'"
    ):
        asked_of(["oder"])


def holding(*parts):
    ground = ScoreGround(case(), Margins())
    ground.hold(parts)
    return ground


def test_humans_who_disagree_stop_every_use_but_repeating_and_safety_forbids_a_yes_alone():
    disagreeing = holding(Component("HUMANS", "no"), Component("RUN", "yes", p=0.01))
    assert decide(disagreeing, AskedUse("repeat", "these systems")).state == "yes"
    stopped = decide(disagreeing, AskedUse("estimate", "these systems"))
    assert (stopped.state, stopped.reason) == ("not tested", "humans disagree")
    names = ("COVER", "READ", "ITEM", "SLOPE", "BIAS1", "SYS")
    single = AskedUse("single", "these systems")
    for state, expected in (("yes", ("no", "safety-critical")), ("open", ("open", ""))):
        ground = holding(*(Component(name, state) for name in names))
        made = verdict_of(ground, single, critical=True, blocked=False)
        assert (made.state, made.reason) == expected


def test_holm_is_over_the_tested_verdicts_of_one_use_and_target():
    def verdict(use, target, p, state="yes"):
        return Verdict("j", "a", use, target, state, (), "", Next("use it"), p, ())

    made = with_holm([
        verdict("order", "these systems", 0.01),
        verdict("order", "these systems", 0.04),
        verdict("order", "these systems", 0.02, "not tested"),
        verdict("order", "systems to come", 0.04),
        verdict("score", "these systems", 0.03, "no"),
    ])  # fmt: skip
    # By hand: two of the first family, 2 * 0.01 and 0.04; the others are alone in theirs.
    assert [one.p_holm for one in made] == [0.02, 0.04, 1.0, 0.04, 0.03]


def test_twenty_items_are_enough_and_nineteen_are_not():
    human, judge = scores(20)
    states_of = {
        n: found_of(table(human[:n], judge[:n])).evidence[0].component("READ") for n in (19, 20)
    }
    assert (states_of[19].state, states_of[19].reason) == ("not tested", "few clusters")
    assert states_of[20].state != "not tested"


def test_nobody_is_careless_for_want_of_another_human_to_be_compared_with():
    """One human labelled all items, ten others twenty each: too few to be compared with it.

    Whether the one follows them can be told (it does, a little), and not whether it should do so
    more: nothing says what the others reach.
    """
    rng = np.random.default_rng(3)
    truth = rng.normal(size=200)
    humans = np.full((11, 200), np.nan)
    humans[0] = truth
    for k in range(10):
        own = slice(20 * k, 20 * k + 20)
        humans[1 + k, own] = 0.1 * truth[own] + rng.normal(size=20)
    case = Case(
        "judge",
        "tone",
        tuple(f"h{k}" for k in range(11)),
        truth[None],
        humans,
        np.arange(200),
        4.0,
    )
    alone = within.follows_others(case.panel(), 0)
    assert 0.1 < alone.bound(0.975) < 1 / 3
    assert ScoreGround(case, Margins()).careless == ()


def random_humans(seed, raters, follow=()):
    """Scores of 1 to 5 drawn at random; those of `follow` are one truth with a little noise."""
    rng = np.random.default_rng(seed)
    humans = rng.integers(1, 6, (raters, 1000)).astype(float)
    truth = rng.normal(3, 1, 1000)
    for k in follow:
        humans[k] = np.clip(np.rint(truth + rng.normal(0, 0.7, 1000)), 1, 5)
    names = tuple(f"h{k}" for k in range(raters))
    return Case("judge", "tone", names, humans[:1].copy(), humans, np.arange(1000), 4.0)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("raters", [2, 3, 5])
def test_of_humans_who_do_not_agree_nobody_is_careless_and_only_repeat_is_tested(seed, raters):
    case = random_humans(seed, raters)
    judged = judge_cases([case], Margins())
    assert judged.evidence[0].careless == ()
    assert judged.evidence[0].reference == case.reference
    found = {one.use: (one.state, one.reason) for one in judged.verdicts if one.use != "repeat"}
    assert set(found.values()) == {("not tested", "humans disagree")}


@pytest.mark.parametrize("seed", range(3))
def test_two_humans_are_left_where_all_others_are_careless(seed):
    judged = judge_cases([random_humans(seed, 4, follow=(1, 2))], Margins())
    (evidence,) = judged.evidence
    assert evidence.reference == ("h1", "h2")
    assert {one.human for one in evidence.careless} == {"h0", "h3"}


def test_three_columns_of_random_scores_are_examined_from_the_command_line(tmp_path):
    case = random_humans(0, 3)
    names = ["human_1", "human_2", "human_3"]
    frame = pl.DataFrame(dict(zip(names, case.humans, strict=True)))
    judge = np.random.default_rng(9).integers(1, 6, 1000)
    frame.with_row_index("item").with_columns(gpt=judge).write_csv(tmp_path / "r.csv")
    result = typed("examine", "r.csv", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "the humans do not agree on single responses" in " ".join(result.stdout.split())

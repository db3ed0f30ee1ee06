"""A gate told from labels of both sides of a judge: what is labelled more counts for no more."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import polars as pl
import pytest
from command_line import typed

import voirdire
from voirdire.errors import InputError
from voirdire.examining.correcting import plan_sides
from voirdire.examining.spec.scores.case import Case, GateRule
from voirdire.examining.spec.scores.ground import ScoreGround
from voirdire.examining.verdict.decide import AskedUse, decide
from voirdire.study import Margins

GATE = AskedUse("gate", "these systems")


def labelled(seed, sensitivity, specificity, each, *, told=True, passing=0.9, n=3000):
    """A hundred labels at random, then so many of either side of the judge."""
    rng = np.random.default_rng([seed, 9])
    truth = rng.random(n) < passing
    judge = np.where(truth, rng.random(n) < sensitivity, rng.random(n) >= specificity) * 1.0
    labels, chances = np.full(n, np.nan), np.full(n, np.nan)
    labels[rng.permutation(n)[:100]] = 0
    for side in (0, 1):
        free = np.flatnonzero((judge == side) & np.isnan(labels))
        labels[rng.permutation(free)[:each]] = 0
        chances[judge == side] = (~np.isnan(labels))[judge == side].mean()
    labels = np.where(np.isnan(labels), np.nan, truth)
    case = Case(
        "judge",
        "pass",
        ("human",),
        judge[None],
        labels[None],
        np.arange(n),
        1.0,
        gate=GateRule(1.0, 0.8, 0.8, by_default=True),
        chances=chances if told else None,
    )
    return ScoreGround(case, Margins())


def test_shares_of_both_sides_hold_and_plain_ones_would_license_who_must_not():
    covered, plain, states = [], [], Counter()
    for seed in range(40):
        part = labelled(seed, 0.97, 0.65, 100).one("SPEC")
        covered.append(part.low <= 0.65 <= part.high)
        states[decide(labelled(seed, 0.97, 0.65, 100), GATE).state] += 1
        plain.append(decide(labelled(seed, 0.97, 0.65, 100, told=False), GATE).state)
    assert np.mean(covered) >= 0.9
    assert states["yes"] == 0
    # As if all labels were one random draw: most such files said yes.
    assert plain.count("yes") > 15


def test_who_deserves_the_gate_gets_it():
    made = [decide(labelled(seed, 0.97, 0.97, 150), GATE) for seed in range(20)]
    assert sum(one.state == "yes" for one in made) >= 12
    assert not any(one.state == "no" for one in made)


def test_the_estimate_is_the_shares_put_together():
    ground = labelled(3, 0.9, 0.9, 60)
    judge, label = ground.case.scores[0], ground.case.humans[0]
    there = ~np.isnan(label)
    parts = {
        side: (judge == side).sum() * (label[there & (judge == side)] == 0).mean()
        for side in (0, 1)
    }
    assert ground.one("SPEC").estimate == pytest.approx(parts[0] / (parts[0] + parts[1]))


def test_other_uses_are_not_tested_with_such_labels():
    rng = np.random.default_rng(1)
    quality = rng.normal(3, 1, 400)
    humans, judge = quality + rng.normal(0, 0.6, (2, 400)), quality + rng.normal(0, 0.6, 400)
    chances = np.where(judge > 3, 0.2, 0.5)
    case = Case(
        "judge",
        "tone",
        ("a", "b"),
        judge[None],
        humans,
        np.arange(400),
        4.0,
        gate=GateRule(4.0),
        chances=chances,
    )
    for use in ("single", "gate", "estimate"):
        made = decide(ScoreGround(case, Margins()), AskedUse(use, "these systems"))
        assert (made.state, made.reason) == ("not tested", "unequal chances"), use


def pilot(path, seed=0, n=2000):
    """One person's labels of a hundred responses that the judge scored, with few failures."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.97
    judge = np.where(truth, rng.random(n) < 0.97, rng.random(n) >= 0.95) * 1
    human = [int(truth[k]) if k < 100 else None for k in range(n)]
    frame = pl.DataFrame({"item": [f"q{k}" for k in range(n)], "human": human, "gpt": judge})
    frame.write_csv(path)
    return frame, truth


def test_the_advice_is_a_command_whose_list_the_verdict_takes(tmp_path):
    frame, truth = pilot(tmp_path / "pilot.csv")
    found = voirdire.examine(tmp_path / "pilot.csv", reference=["human"], resamples=0)
    gate = next(one for one in found.verdicts if one.use == "gate")
    assert (gate.state, gate.next.action, gate.next.needed) == (
        "not tested",
        "label both sides",
        15,
    )
    done = typed(
        "plan",
        "pilot.csv",
        "--reference",
        "human",
        "--each",
        "60",
        "--draw",
        "next.csv",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "responses that it fails" in done.stdout
    drawn = pl.read_csv(tmp_path / "next.csv")
    assert drawn.filter(pl.col("decision") == "human").height == 120
    assert drawn["origin"].unique().to_list() == ["random"]
    drawn = drawn.select("item", "label_probability")
    both = frame.join(drawn, on="item", how="left", maintain_order="left")
    label = pl.when(pl.col("label_probability").is_not_null()).then(pl.Series(truth * 1))
    both.with_columns(human=label).write_csv(tmp_path / "then.csv")
    then = voirdire.examine(tmp_path / "then.csv", reference=["human"], resamples=0)
    gate = next(one for one in then.verdicts if one.use == "gate")
    assert gate.state in ("open", "yes")
    assert gate.component("SPEC").count == 220
    assert {one.reason for one in then.verdicts if one.use == "estimate"} == {"unequal chances"}


def test_the_advice_can_be_typed_and_answers_are_read_beside_the_labels_before(tmp_path):
    _, truth = pilot(tmp_path / "pilot.csv")
    said = typed("examine", "pilot.csv", "--reference", "human", "--json", cwd=tmp_path)
    steps = [one["command"] for one in json.loads(said.stdout)["answer"]["next"]]
    step = next(one for one in steps if one.startswith("voirdire plan"))
    assert step == "voirdire plan pilot.csv --reference human --each 15 --draw next.csv"
    shown = " ".join(
        typed("examine", "pilot.csv", "--reference", "human", cwd=tmp_path).stdout.split()
    )
    assert "Replace a human, Pass/fail gate (too few responses have the rarer outcome" in shown
    assert "drawn at random: voirdire plan --each 15 --draw next.csv." in shown
    typed(*step.split()[1:], cwd=tmp_path)
    drawn = pl.read_csv(tmp_path / "next.csv").filter(decision="human")
    chances = drawn["label_probability"]
    answers = drawn.select(
        "item",
        rater=pl.lit("human"),
        attribute=pl.lit("score").cast(pl.Categorical),
        score=pl.Series([float(truth[int(item[1:])]) for item in drawn["item"]]),
        origin=pl.lit("random").cast(pl.Enum(["random", "chosen"])),
        label_probability=chances,
    )
    answers.write_parquet(tmp_path / "answers.parquet")
    done = typed(
        "examine", "pilot.csv", "answers.parquet", "--reference", "human", "--json", cwd=tmp_path
    )
    gate = next(one for one in json.loads(done.stdout)["verdicts"] if one["use"] == "gate")
    assert gate["state"] in ("open", "no", "yes"), done.stderr


def test_a_draw_of_both_sides_needs_a_gate_and_one_attribute(tmp_path):
    rng = np.random.default_rng(2)
    frame = pl.DataFrame({
        "item": range(60), "human": rng.integers(1, 6, 60), "gpt": rng.integers(1, 6, 60),
    })  # fmt: skip
    with pytest.raises(InputError, match="which score on a response passes"):
        plan_sides(frame, 15, reference=["human"])
    with pytest.raises(InputError, match="must be 1 or more, got 0"):
        plan_sides(frame, 0, reference=["human"], gate=4)
    done = typed("plan", "x.csv", "--each", "15", cwd=tmp_path)
    assert done.returncode != 0
    assert "say by --draw where the list goes" in done.stderr

"""Labels, preferences and probabilities in a lock, in a comparison, on a page; what takes none."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from command_line import typed
from test_examine_kinds import battles_file, labels_file, probabilities_file

from voirdire.examining import simulate_kinds
from voirdire.examining.as_ratings import as_ratings, questions_of
from voirdire.examining.changing import check_lock, compare, freeze
from voirdire.examining.changing.components import component_changes
from voirdire.examining.judgements import cases_of_preferences
from voirdire.examining.source import inputs_of, open_source
from voirdire.examining.spec import COMPONENTS, ground_of
from voirdire.examining.spec.rated_question import RatedQuestion
from voirdire.examining.verdict.influence import influences
from voirdire.examining.verdict.judging import judge_cases
from voirdire.study import Margins, ReadOptions


def inputs_cases(path):
    """The cases that `examine` judges of comparisons in which a was shown first."""
    return list(cases_of_preferences(inputs_of(open_source(path, read=ReadOptions(first="a")))))


def choices_file(folder, sharp=1.0, n=400):
    """Three people's labels, and a judge whose cells hold a choice and its probabilities."""
    rng = np.random.default_rng(7)
    labels = ("billing", "delivery", "returns")
    odds = rng.normal(0, 1.3, (n, 3))
    people = [[labels[int(np.argmax(o + rng.gumbel(size=3)))] for o in odds] for _ in range(3)]
    shares = np.exp(sharp * odds)
    shares /= shares.sum(axis=1, keepdims=True)
    rows = [
        {
            "id": k,
            **{f"human_{r + 1}": said[k] for r, said in enumerate(people)},
            "gpt": {
                "choice": labels[int(np.argmax(each))],
                "probabilities": dict(zip(labels, each.tolist(), strict=True)),
            },
        }
        for k, each in enumerate(shares)
    ]
    path = folder / f"choices-{sharp:g}.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_a_lock_holds_labels_to_the_verdicts_of_examine(tmp_path):
    path = labels_file(tmp_path, n=900)
    lock = freeze(path)
    (judge,) = lock.judges
    assert judge.verdicts["label"]["single"] == "yes"
    assert judge.verdicts["label:other"]["filter"] == "yes"
    # No use of scores is told of a label.
    assert not any("repeat" in uses or "gate" in uses for uses in judge.verdicts.values())
    same, _ = check_lock(path, lock)
    assert not same.failed
    blind = pl.read_csv(path).with_columns(pl.col("gpt").replace("other", "refund"))
    check, _ = check_lock(blind, lock)
    assert check.exit_code() == 4
    (row,) = [one for one in check.rows if one.attribute == "other"]
    assert ("filter", "no") in {(use.use, use.now) for use in row.lost}
    assert {"RECALL", "SHARE"} <= {one.component for one in row.components}


def test_a_lock_of_probabilities_and_comparisons_keeps_their_kind(tmp_path):
    claims = freeze(probabilities_file(tmp_path))
    assert claims.judges[0].verdicts["yes"] == {"confidence": "yes"}
    surer, _ = check_lock(probabilities_file(tmp_path, sharp=3.0), claims)
    assert "CSLOPE" in {one.component for row in surer.rows for one in row.components}
    assert any(use.use == "confidence" for row in surer.rows for use in row.lost)
    battles = freeze(battles_file(tmp_path), read=ReadOptions(first="a"))
    states = battles.judges[0].verdicts["preference"]
    assert states["order"] == "yes"
    # As `examine` has it: the lock keeps who was shown first, and how long responses are.
    examined = judge_cases(inputs_cases(battles_file(tmp_path)), Margins()).verdicts
    assert states == {one.use: one.state for one in examined if one.target == "these systems"}


def test_compare_names_the_label_whose_verdict_changed(tmp_path):
    before = pl.read_csv(labels_file(tmp_path, n=900))
    after = before.with_columns(pl.col("gpt").replace("other", "refund"))
    found = compare(before, after)
    changed = {(one.attribute, one.use): (one.before, one.after) for one in found.verdicts}
    assert changed["label:other", "filter"] == ("yes", "no")
    worse = {(one.component, one.at) for one in found.components if one.state == "worse"}
    assert ("RECALL", "other") in worse


@pytest.mark.parametrize(
    ("panel", "judge"),
    [
        (simulate_kinds.label_panel(150, 3, 3, 4), "half at random"),
        (simulate_kinds.label_panel(150, 4, 3, 4, sets=True), "half at random"),
        (simulate_kinds.preference_panel(3, 150, 3, seed=4), "leans to the first"),
        (simulate_kinds.probability_panel(150, 3, seed=4), "twice too sure"),
    ],
)
def test_influence_is_the_estimate_less_that_without_the_response(panel, judge):
    case, margins = panel.cases[judge], Margins()
    alone = replace(case, clusters=np.arange(150))
    seen = 0
    for part in ground_of(case, margins).all():
        rule = COMPONENTS[part.name].change
        if rule is None or part.state == "not tested":
            continue
        moved = influences(case, part, margins)
        (one,) = [
            value
            for value in rule.values(ground_of(alone, margins))
            if not value.at or value.at in part.at
        ][:1] or [None]
        if one is None:
            continue
        seen += 1
        assert one.value - moved == pytest.approx(one.out)
    assert seen >= 3


def test_a_judge_that_did_not_change_has_changed_in_no_component():
    for panel in (
        simulate_kinds.label_panel(200, 3, 3, 5), simulate_kinds.probability_panel(200, 3, seed=5),
        simulate_kinds.preference_panel(4, 200, 3, seed=5),
    ):  # fmt: skip
        for case in list(panel.cases.values())[:3]:
            changes = component_changes(case, case, Margins(), 0.05)
            assert changes
            assert all(one.change == 0 and one.small for one in changes)


def test_a_case_from_numbers_is_the_case_of_the_file(tmp_path):
    path = labels_file(tmp_path)
    opened = open_source(path)
    (question,) = questions_of(opened)
    cube = inputs_of(as_ratings(opened, ())).cube
    humans = ("ann_1", "ann_2", "ann_3")
    case = question.case(
        "gpt",
        humans,
        [cube.of("gpt", name) for name in question.attributes],
        [np.stack([cube.of(human, name) for human in humans]) for name in question.attributes],
        np.array(cube.items)[cube.item],
    )
    ours = {(v.use, v.label): v.state for v in judge_cases([case], Margins()).verdicts}
    from voirdire.examining import examine

    assert ours == {(v.use, v.label): v.state for v in examine(path, resamples=0).verdicts}


def test_a_word_off_the_list_stays_wrong_in_a_lock():
    said = [np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])]
    humans = [np.array([[1.0, 0.0, 1.0]]), np.array([[0.0, 1.0, 0.0]])]
    question = RatedQuestion(name="q", kind="label", attributes=("a", "b"), labels=("a", "b"))
    case = question.case("judge", ("human",), said, humans, np.array(["1", "2", "3"]))
    assert case.labels == ("a", "b", "another word")
    assert case.table[int(case.scores[0, 2])].tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("made", "options"),
    [
        (labels_file, ()),
        (battles_file, ("--first", "a")),
        (probabilities_file, ()),
        (choices_file, ()),
    ],
)
def test_a_page_shows_single_judgements_of_every_kind(tmp_path, made, options):
    out = tmp_path / "out.html"
    done = typed("look", made(tmp_path), "--static", out, *options)
    assert done.returncode == 0, done.stderr
    assert out.stat().st_size > 50_000


@pytest.mark.parametrize(
    ("made", "instead"),
    [
        (labels_file, "this source holds labels: voirdire correct"),
        (battles_file, "this source holds comparisons: voirdire correct"),
        (probabilities_file, "this source holds probabilities: voirdire examine"),
    ],
)
def test_what_is_about_scores_says_why_it_takes_no_other_kind(tmp_path, made, instead):
    path = made(tmp_path)
    done = typed("calibrate", path)
    assert done.returncode == 1
    assert instead in " ".join(done.stderr.split())


def test_labels_and_their_probabilities_are_both_held_to_a_lock_and_compared(tmp_path):
    now, surer = choices_file(tmp_path), choices_file(tmp_path, sharp=3.0)
    claims = [f"label: {label} (probability)" for label in ("billing", "delivery", "returns")]
    lock = freeze(now)
    assert [one.kind for one in lock.questions] == ["label", *["probability"] * 3]
    assert lock.attributes[3:] == tuple(claims)
    same, _ = check_lock(now, lock)
    assert not same.failed
    # The labels are the same; that it is three times as sure of them is a change of its own.
    check, _ = check_lock(surer, lock)
    lost = {row.attribute: {use.use for use in row.lost} for row in check.rows if row.lost}
    assert set(lost) == set(claims)
    assert all("confidence" in uses for uses in lost.values())
    found = compare(now, surer)
    worse = {(one.attribute, one.component) for one in found.components if one.state == "worse"}
    assert {component for _, component in worse} >= {"CSLOPE"}
    assert {one.use for one in found.verdicts} <= {"confidence", "release"}
    names = [row.attribute for row in compare(now, now).changes]
    assert set(claims) < set(names)

"""One state everywhere, for every kind: sentences, grid, card, frame, JSON, gates, page, counts."""

from __future__ import annotations

import json
import math
import re
from html import unescape

import polars as pl
import pytest

from voirdire.examining import examine
from voirdire.examining.gains import Simpler
from voirdire.examining.requirements import with_requirements
from voirdire.examining.simulate import simulate_panel, tidy_ratings
from voirdire.examining.simulate_kinds import (
    DEMO,
    SimulatedCases,
    label_panel,
    preference_panel,
    probability_panel,
    tidy_judgements,
)
from voirdire.examining.spec import THESE, USES
from voirdire.report._cards import card_of
from voirdire.report._grid import grid_of
from voirdire.report._html import render_html
from voirdire.report.answers import answers, clears, expected_text
from voirdire.report.records import examination_record
from voirdire.report.saying import Saying
from voirdire.report.summary import examination_answer
from voirdire.study import ReadOptions

HUMANS = ["human 1", "human 2", "human 3"]
PANELS = {
    "label": lambda: label_panel(400, 5, 3, 3),
    "label set": lambda: label_panel(400, 5, 3, 3, sets=True),
    "preference": lambda: preference_panel(4, 400, 3, seed=3),
    "probability": lambda: probability_panel(400, 3, 3),
}
CLEARS = ("Use ", "Also use", "Even so", "Trust ", "One run of", "Extend ", "Act ")
NUMBER = re.compile(r"[-−]?\d+(?:,\d{3})*(?:\.\d+)?")


@pytest.fixture(scope="module", params=["score", *PANELS])
def found(request, tmp_path_factory):
    kind = request.param
    if kind == "score":
        frame = tidy_ratings(
            simulate_panel(10, 120, 5, kinds=("good", "lenient", "noisy", "blind")), "Tone"
        )
        return examine(frame, reference=["human-1", "human-2", "human-3"], gate=4, resamples=0)
    drawn = PANELS[kind]()
    panel = SimulatedCases({name: drawn.cases[name] for name in DEMO[kind][:4]})
    path = tmp_path_factory.mktemp("state") / "judgements.csv"
    tidy_judgements(panel).write_csv(path)
    read = ReadOptions(kind=kind, claims="yes" if kind == "probability" else None)
    return examine(path, reference=HUMANS, read=read, resamples=0)


def these(found):
    return [one for one in found.verdicts if one.target == THESE]


def state_of(found):
    return {(one.judge, one.about, one.use): one.state for one in these(found)}


def test_several_states_are_there_to_be_told_apart(found):
    assert len(set(state_of(found).values())) >= 2


def test_grid_card_frame_and_json_have_the_state_of_the_verdict(found):
    states, shown = state_of(found), answers(found)
    grid = grid_of(found, shown)
    marks = [(use, state) for _, cells in grid.rows for cell in cells for use, state in cell]
    assert sorted(marks) == sorted(
        (use, state) for (_, _, use), state in states.items() if use in grid.uses
    )
    for answer in shown:
        counts = [(row.title, mark[2], mark[3]) for row in card_of(answer) for mark in row.marks]
        own = [v for v in answer.verdicts if v.target == THESE]
        for title, state, count in counts:
            same = [v for v in own if (USES[v.use].title, v.state) == (title, state)]
            assert count == len(same), (answer.judge, title, state)
    record = examination_record(found)
    assert [one["state"] for one in record["verdicts"]] == [v.state for v in found.verdicts]
    assert found.to_frame()["state"].to_list() == [v.state for v in found.verdicts]
    told = examination_answer(found)
    assert told["sentence"] == shown[0].lead[0]
    for answer in shown:
        for use, state in told["states"][answer.name].items():
            own = [v.state for v in answer.verdicts if (v.use, v.target) == (use, THESE)]
            expected = own[0] if len(own) == 1 else {one: own.count(one) for one in set(own)}
            assert state == expected, (answer.judge, use)


def test_a_gate_holds_to_the_state_that_the_sentence_says(found):
    for use in {one.use for one in these(found)}:
        all_yes = all(v.state == "yes" for v in these(found) if v.use == use)
        (held,) = with_requirements(found, [f"verdict.{use}=yes"]).requirements
        assert (held.state == "met") is all_yes, (use, held.said)


def parts_said(sentence):
    """Uses of a sentence, each with the number in the brackets behind it."""
    plain = re.sub(r" \((?:[^()]|\[[^]]*\])*\)", "", sentence)
    return plain, re.findall(r"\(([^()]*\d[^()]*)\)", sentence)


def test_what_a_sentence_clears_is_yes_and_its_number_is_a_components(found):
    for answer in answers(found):
        own = [v for v in answer.verdicts if v.target == THESE]
        cleared = {v.use for v in own if v.state == "yes"}
        known = {
            text
            for v in own
            for part in v.components
            for value in (
                part.estimate,
                part.low,
                part.high,
                part.judge,
                part.human,
                2 * part.margin if isinstance(part.margin, float) else math.nan,
            )
            for text in written(value)
        }
        told = " ".join(one for one in answer.sentences if one.startswith(CLEARS))
        for use in cleared:
            verb = (USES[use].verb or USES[use].alone).split(" {")[0].removeprefix("one ")
            assert verb.lower() in told.lower(), (answer.judge, use, told)
        for sentence in answer.sentences:
            if sentence.startswith(CLEARS) and "instead of" not in sentence:
                _, numbers = parts_said(sentence)
                assert numbers, sentence
                for number in NUMBER.findall(" ".join(numbers).replace("100 count", "")):
                    assert number in known, (sentence, number)
        systems = re.search(r"these (\d+) systems", told)
        if systems:
            seen = next(one for one in found.evidence if one.judge == answer.judge)
            assert int(systems[1]) == len(seen.systems)


def written(value):
    """A value in the forms in which a sentence may hold it."""
    if not math.isfinite(value):
        return set()
    forms = {
        f"{value:.2f}",
        f"{value:.3f}",
        f"{abs(value):.2f}",
        f"{100 * value:.0f}",
        f"{100 * value:.1f}",
        f"{100 * value:,.0f}",
    }
    return forms | {form.replace("-", "−") for form in forms}


def test_no_sentence_forbids_what_another_clears(found):
    for answer in answers(found):
        own = [v for v in answer.verdicts if v.target == THESE]
        for use in {v.use for v in own}:
            states = {v.state for v in own if v.use == use}
            words = USES[use].refused.split("{")[-1].partition("} ")[2]
            forbidding = [s for s in answer.sentences if re.search(r"[Dd]o not|Not enough", s)]
            if states == {"yes"} and words:
                assert not any(words in one for one in forbidding), (use, answer.sentences)


def test_counts_beside_the_sentence_are_those_of_the_verdicts(found):
    told = expected_text(found)
    if told:
        large = [
            v
            for v in these(found)
            if sum(o.use == v.use and o.state != "not tested" for o in these(found)) > 10
        ]
        yes = sum(v.state == "yes" for v in large)
        assert int(NUMBER.search(told)[0].replace(",", "")) == yes


def test_the_page_has_the_same_sentences(found):
    page = unescape(re.sub(r"<[^>]+>", "", render_html(found)))
    page = re.sub(r"\s+", " ", page)
    for answer in answers(found):
        for sentence in answer.lead:
            assert re.sub(r"\s+", " ", sentence) in page, sentence
    json.dumps(examination_answer(found))


def test_a_dearer_rater_of_any_kind_is_told_of_the_cheaper_first(found):
    """What a lower price and a simpler baseline take back stands before the yes, never below it."""
    judges = [
        one
        for one in answers(found)
        if any(v.state == "yes" and v.target == THESE for v in one.verdicts)
    ]
    if not judges:
        pytest.fail("no judge has a yes")
    one = judges[0]
    dear = [Simpler(one.judge, name, "alone", 3.0) for name in {v.attribute for v in one.verdicts}]
    lead, rest = Saying(one.name, one.verdicts, 4, simpler=dear, cleared=clears(found)).said()
    assert lead[0].startswith(f"Use the judge alone instead of {one.name}")
    assert "3.0 times the price" in lead[0]
    assert not any("instead of" in text for text in (*lead[1:], *rest))
    assert lead[1].startswith(("Even so", "Trust", "Use", "Also"))


def test_frames_of_all_kinds_can_be_joined(found):
    frame = found.to_frame()
    assert frame.schema["estimate"] == pl.Float64
    assert frame.height == len(found.verdicts)

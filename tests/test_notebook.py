"""An Examination where people work: in a notebook, at a prompt, in a frame."""

from __future__ import annotations

import math
from dataclasses import replace
from html.parser import HTMLParser

import polars as pl
import pytest
from examinations import with_changes
from markupsafe import escape

from voirdire.examining import changing, correcting, examine, juries
from voirdire.examining.spec import COMPONENTS, THESE, USES, Component, Next
from voirdire.examining.spec.words import because
from voirdire.examining.verdict.facts import Verdict
from voirdire.report._cards import card_of, glyph
from voirdire.report.answers import JudgeAnswer, answers


class Tags(HTMLParser):
    """Which elements a page has, and whether each is closed."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def tags(html):
    found = Tags()
    found.feed(html)
    assert found.open == []
    return found.seen


def test_a_notebook_shows_the_sentences_and_a_card_a_judge(example):
    html = example._repr_html_()
    seen = tags(html)
    assert sum(tag == "section" for tag, _ in seen) == len(answers(example))
    assert {tag for tag, _ in seen}.isdisjoint({"script", "link", "iframe", "img"})
    for answer in answers(example):
        assert str(escape(answer.lead[0])) in html


def test_hostile_names_are_text_in_a_notebook(example):
    evil = '<script>alert(1)</script>"x'
    made = tuple(replace(one, judge=evil) for one in example.verdicts)
    html = with_changes(example, verdicts=made)._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    tags(html)


def test_the_summary_is_what_the_report_says(example):
    lines = example.summary().splitlines()
    assert lines[: len(answers(example))] == [one.sentence for one in answers(example)]
    assert any(line.startswith("serious: ") for line in lines)


def test_a_frame_has_a_row_a_verdict_and_the_number_that_decided(example):
    frame = example.to_frame()
    assert frame.height == len(example.verdicts)
    assert frame["state"].to_list() == [one.state for one in example.verdicts]
    for row, verdict in zip(frame.iter_rows(named=True), example.verdicts, strict=True):
        assert (row["judge"], row["use"], row["p"]) == (verdict.judge, verdict.use, verdict.p)
        if row["component"] is not None:
            part = verdict.component(row["component"])
            assert row["estimate"] == pytest.approx(part.estimate)
            assert verdict.state == "yes" or part.name in verdict.deciding
    empty = with_changes(example, verdicts=()).to_frame()
    assert (empty.height, empty.schema) == (0, frame.schema)
    assert frame.schema["estimate"] == pl.Float64


def test_a_card_says_each_use_once_and_every_state(example):
    for answer in answers(example):
        rows = card_of(answer)
        own = [one for one in answer.verdicts if one.target == THESE]
        assert sorted(row.title for row in rows) == sorted({USES[v.use].title for v in own})
        assert sum(count for row in rows for *_, count in row.marks) == len(own)


def drawn(part):
    """Where the zone, the interval and the estimate lie in the picture."""
    seen = tags(str(glyph(part, "label")))
    (zone,) = [attrs for tag, attrs in seen if tag == "rect"]
    (dot,) = [attrs for tag, attrs in seen if tag == "circle"]
    left = float(zone["x"])
    return left, left + float(zone["width"]), float(dot["cx"])


@pytest.mark.parametrize("key", ["BIAS", "ORDER", "READ", "SLOPE"])
def test_a_picture_has_the_estimate_in_the_zone_where_the_margin_has_it(key):
    side = COMPONENTS[key].side
    margin = {"range": (0.5, 2.0)}.get(side, 0.5)
    inside = {"within": 0.3, "least": 0.7, "above 0": 0.2, "range": 1.2}[side]
    outside = {"within": -0.9, "least": 0.2, "above 0": -0.2, "range": 2.5}[side]
    for value, within in ((inside, True), (outside, False)):
        left, right, dot = drawn(Component(key, "no", value, value - 0.1, value + 0.1, margin))
        assert (left <= dot <= right) is within, (key, value)


def test_a_picture_needs_a_margin_and_an_estimate():
    assert glyph(Component("BIAS", "no", math.nan, margin=0.5), "x") == ""
    assert glyph(Component("BIAS", "no", 0.3), "x") == ""
    assert "&#34;&lt;" in glyph(Component("BIAS", "no", 0.3, margin=0.5), '"<')


EVIL = '<script>alert("x")</script>'


@pytest.fixture(scope="module")
def results():
    """Every public result of a command, of one small file; its attribute has a hostile name."""
    rows = []
    for k in range(120):
        truth = 1 + k * 7 % 5
        near = min(5, truth + (k % 4 == 0))
        scores = {"ann": truth, "ben": near if k % 3 else truth, "gpt": near, "two": truth}
        rows += [(f"i{k}", f"s{k % 2}", who, EVIL, score) for who, score in scores.items()]
    names = ["item", "system", "rater", "attribute", "score"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    humans = {"reference": ["ann", "ben"]}
    some = frame.filter(
        (pl.col("rater") != "ben")
        & ((pl.col("rater") != "ann") | pl.col("item").str.slice(1).cast(int).is_between(0, 59))
    )
    found = examine(frame, **humans, resamples=0)
    lock = changing.freeze(found)
    return {
        "correction": correcting.correct(some, reference=["ann"]),
        "plan": correcting.plan_labels(some, [0.2], reference=["ann"]),
        "calibration": correcting.calibrate_ratings(frame, **humans).calibrations,
        "escalation": correcting.escalate(frame, agree=0.8, judge="gpt", **humans),
        "cascade": correcting.cascade(
            frame, agree=0.8, prices={"gpt": 0.01, "two": 0.02}, person=1.0, **humans
        ),
        "comparison": changing.compare(found, found),
        "gate check": changing.check_lock(found, lock)[0],
        "jury": juries.examine_jury(frame, ["gpt", "two"], **humans),
    }


@pytest.mark.parametrize(
    "name",
    [
        "correction",
        "plan",
        "calibration",
        "escalation",
        "cascade",
        "comparison",
        "gate check",
        "jury",
    ],
)
def test_every_public_result_shows_itself(results, name):
    result = results[name]
    told = result.summary()
    assert told
    for line in told.splitlines():
        assert line[0].isupper() or line.startswith(("gpt", "two", "jury")), line
        assert line.endswith((".", "?")), line
    frame = result.to_frame()
    assert frame.height > 0
    assert {"judge", "jury", "judges", "item"} & set(frame.columns)
    assert not any(isinstance(kind, pl.Struct) for kind in frame.dtypes)
    html = result._repr_html_()
    assert "<script" not in html
    assert {tag for tag, _ in tags(html)}.isdisjoint({"script", "link", "iframe", "img"})
    for line in told.splitlines()[:2]:
        assert str(escape(line))[:60] in html


def test_a_frame_has_the_numbers_of_the_record(results):
    frame = results["correction"].to_frame()
    scores = results["correction"].scores
    assert frame["corrected_value"].to_list() == pytest.approx([s.corrected.value for s in scores])
    low = [s.corrected.interval.low for s in scores]
    assert frame["corrected_interval_low"].to_list() == pytest.approx(low)


def test_a_picture_leaves_out_the_interval_only_where_all_systems_decided_together():
    """A yes shows its interval inside the zone; a bias of many systems is held to it together."""

    def card(key, use, **part):
        made = Component(key, "yes", p=0.01, **part)
        verdict = Verdict("good", "Tone", use, THESE, "yes", (), "", Next("use it"), 0.01, (made,))
        (row,) = card_of(JudgeAnswer("good", "good", (), (), (verdict,)))
        return row

    order = card("ORDER", "order", estimate=0.94, low=0.86, high=0.97, margin=0.8)
    assert 'class="span"' in str(order.glyph)
    inside = card("LEVEL", "score", estimate=0.2, low=0.1, high=0.3, margin=0.4, at=("v1",))
    assert 'class="span"' in str(inside.glyph)
    assert "taken with" not in inside.said
    beyond = card("LEVEL", "score", estimate=0.36, low=0.2, high=0.52, margin=0.4, at=("v1",))
    assert 'class="span"' not in str(beyond.glyph)
    told = because(Component("LEVEL", "yes", 0.36, 0.2, 0.52, 0.4, at=("v1",)))
    assert told.endswith("; taken with the other systems it lies inside")

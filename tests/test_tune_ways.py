"""`voirdire tune`: forms of a question, curves, families, and labels where judges of pairs differ."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import polars as pl
import pytest

pytest.importorskip("openai")

from test_tune import _answered, answer, tuned_in, world
from test_tune_kinds import ITEMS, kind_said, notes, pair_said, pairs_written, panel, written
from wire_server import WireServer

from voirdire.errors import InputError
from voirdire.humans import export, import_answers
from voirdire.humans.questions import LEVELS
from voirdire.stats import Estimate, Interval
from voirdire.study import load_study
from voirdire_plugins.tune.candidates import Scored, forms
from voirdire_plugins.tune.goals import Marks, goal_of
from voirdire_plugins.tune.measuring import Foretold, OldAndNew
from voirdire_plugins.tune.tuning import decided_by, tune


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789abcdef")


def by_form(seen):
    """Unsure of levels, and sure of whether a response is good."""
    quality = int(re.findall(r"quality (\d)", seen.prompt)[-1])
    if "reaches at least level 4" not in seen.system:
        return answer(seen)
    if "in percent" in seen.system:
        return json.dumps({"Empathy": [5, 20, 40, 70, 90][quality - 1]})
    return json.dumps({"Empathy": "yes" if quality >= 4 else "no"})


def test_each_form_is_asked_by_the_runner_and_is_a_lock(tmp_path):
    with WireServer(by_form) as server:
        study = world(tmp_path, server.openai, gate={"at": 4})
        found = tuned_in(tmp_path, study, use="gate", ask_forms=True, ask_all=True)
        assert server.count == 5 * 40
    good = {one.name: one.goodness for one in found.ways if not one.change}
    assert set(good) == {
        "gpt",
        "gpt asked one by one",
        "gpt by log-probabilities",
        "gpt by yes or no",
        "gpt by probability",
    }
    assert good["gpt by yes or no"] == good["gpt by probability"] > good["gpt"] + 0.1
    assert found.decision == "adopt"
    assert len(list((tmp_path / "out" / "locks").glob("*.lock"))) == 5


def test_forms_that_cannot_be_asked_are_said(tmp_path):
    with WireServer(answer) as server:
        study = world(tmp_path, server.openai)
        found = tuned_in(tmp_path, study, ask_forms=True, ask_all=True)
        assert server.count == 3 * 40
    pairwise = load_study(study).rater("gpt").model_copy(update={"use": "pairwise"})
    with pytest.raises(InputError, match=r"gpt \(pairwise\) takes no other form"):
        forms(pairwise, load_study(study))
    left = [one for one in found.findings if one.kind == "form_not_asked"]
    assert len(left) == 2
    assert all("gate = {at = 4}" in one.message for one in left)


def named_or_asked(seen):
    """By a list one kind is named, in each third note wrongly; asked of each it is right."""
    if "yes or no" not in str(seen.texts):
        return kind_said(seen)
    kind = re.findall(r"of kind (\w+)", seen.prompt)[-1]
    return json.dumps(
        {one: "yes" if one == kind else "no" for one in ("Praise", "Question", "Report")}
    )


def test_an_annotator_is_asked_yes_or_no_of_each_label(tmp_path):
    with WireServer(named_or_asked) as server:
        study = notes(tmp_path, server.openai)
        found = tune(study, "gpt", use="single", out=tmp_path / "out", ask_forms=True)
        assert server.count == 2 * ITEMS
    assert (found.chosen, found.decision) == ("gpt by yes or no", "adopt")
    assert found.spec.use == "yes-no"


def squeezed(seen):
    """The quality on two of five levels: in order, and on another scale than people's."""
    return json.dumps(
        {"Empathy": [4, 4, 4, 5, 5][int(re.findall(r"quality (\d)", seen.prompt)[-1]) - 1]}
    )


def test_a_curve_costs_no_call_and_serves_what_nobody_labelled(tmp_path):
    quality = [1 + (number * 3) % 5 for number in range(80)]
    with WireServer(squeezed) as server:
        study = world(tmp_path, server.openai, items=80, labelled=50)
        found = tuned_in(tmp_path, study, differ=12)
        assert server.count == 80
        answers = _answered(tmp_path, found.drawn, quality)
        measured = tuned_in(tmp_path, study, measure=[answers]).drawn
        assert server.count == 80
    assert (found.chosen, found.decision) == ("gpt, on a curve", "adopt")
    people = pl.read_csv(tmp_path / "labels.csv").group_by("item").agg(pl.col("score").mean())
    by_level = {}
    for item, score in people.rows():
        level = [4, 4, 4, 5, 5][quality[int(item[1:])] - 1]
        by_level.setdefault(level, []).append(score)
    curve = pl.read_csv(found.files["curve"])
    # People's means rise with the judge's levels, so that the closest rising curve is these.
    expected = {float(level): np.mean(scores) for level, scores in by_level.items()}
    assert dict(curve.select("score", "becomes").rows()) == pytest.approx(expected)
    low, high = measured.gain.bounds
    assert 0 < low < measured.gain.value < high
    # Each response was drawn by what the curve of all labels makes of it.
    assert measured.gain.value == pytest.approx(found.gain.value, abs=0.1)


def test_a_jury_is_measured_where_a_member_is_left_out(tmp_path):
    """North is of the family of half the responses, and always wrong on these."""

    def members(seen):
        quality, number = map(int, re.findall(r"quality (\d) of number (\d+)", seen.prompt)[-1])
        if seen.model == "north" and number < 20:
            return json.dumps({"Empathy": 1})
        return json.dumps({"Empathy": min(max(quality + (number * 7) % 3 - 1, 1), 5)})

    with WireServer(members) as server:
        panel = [
            {
                "name": name,
                "model": f"openai:{name}",
                "family": name,
                "model_options": {"base_url": server.openai},
            }
            for name in ("north", "south")
        ]
        panel.append({"name": "both", "use": "jury", "members": ["north", "south"]})
        study = world(
            tmp_path, server.openai, panel=panel, systems=[{"name": "y", "family": "north"}]
        )
        for name in ("responses.csv", "labels.csv"):
            text = (tmp_path / name).read_text()
            (tmp_path / name).write_text(re.sub(r"(i00\d|i01\d),x", r"\1,y", text))
        given = {"use": "single", "labels": [tmp_path / "labels.csv"], "reference": ("ann", "ben")}
        alone = tune(study, "north", out=tmp_path / "one", **given)
        jury = tune(study, "both", out=tmp_path / "two", **given)
    (left,) = (one for one in alone.findings if one.kind == "own_systems_left_out")
    assert (alone.labels, left.count) == (20, 20)
    assert "family" in left.message
    good = {one.name: one.goodness for one in jury.ways}
    assert jury.labels == 40
    # Of y only south is heard: what north says of it changes nothing.
    assert good["both"] == pytest.approx(good["south"])
    assert good["north"] < good["south"] - 0.2


def _compared(folder, drawn):
    """Sheets of the pairs that were drawn, answered by the quality that each response states."""
    work = folder / "work"
    export(drawn.people, work, queue=drawn.queue, formats=["csv"])
    for sheet in (work / "sheets").glob("*.csv"):
        rows = pl.read_csv(sheet, infer_schema=False)
        first, second = (
            rows[f"Response {name}"].str.extract(r"quality (\d)", 1).cast(pl.Int64) for name in "AB"
        )
        said = [LEVELS[1] if a > b else LEVELS[3] for a, b in zip(first, second, strict=True)]
        rows.with_columns(Warmth=pl.Series(said)).write_csv(sheet)
    import_answers(work, sorted((work / "sheets").glob("*.csv")), folder / "answers")
    return folder / "answers" / "preferences.parquet"


def test_pairs_on_which_judges_differ_are_drawn_and_measured(tmp_path):
    number = 60
    pairs_written(tmp_path, number, ITEMS)
    (tmp_path / "exact.txt").write_text("Be exact.", encoding="utf-8")
    with WireServer(pair_said) as server:
        study = written(tmp_path, {
            "name": "pairs", "items": {"path": "items.csv"}, "responses": {"path": "responses.csv"},
            "rubric": {"attributes": ["Warmth"]},
            "data": {"reference": ["ann", "ben"], "sources": [{"path": "labels.csv"}]},
            "panel": panel(server.openai, use="pairwise"),
        })  # fmt: skip
        given = {"candidates": [tmp_path / "exact.txt"], "out": tmp_path / "out", "use": "pick"}
        drawn = tune(study, "gpt", differ=6, **given).drawn
        # One in three of the thirty pairs that nobody labelled.
        assert (drawn.units, drawn.differ, drawn.number, drawn.what) == (30, 10, 6, "pairs")
        listed = pl.read_csv(drawn.queue)
        assert listed.columns[:3] == ["item", "system_a", "system_b"]
        assert set(listed["item"]) <= {f"p{at:02}" for at in range(ITEMS, number, 3)}
        measured = tune(study, "gpt", measure=[_compared(tmp_path, drawn)], **given).drawn
    # The new judge is right on all of them, and the old one on none.
    assert measured.gain.n == 6
    assert measured.gain.value == pytest.approx(10 / 30)
    assert measured.gain.intervals[0].method == "hypergeometric"


def test_pairs_of_a_judge_of_responses_are_measured_by_their_responses(tmp_path):
    """Two systems of each item; people rate both responses of a pair that was drawn."""
    number = 60
    quality = {
        (f"i{at:03}", s): 1 + (at * (3 + k)) % 5 for at in range(number) for k, s in enumerate("xz")
    }
    with WireServer(answer) as server:
        study = world(tmp_path, server.openai, items=number)
        rows = [
            (
                item,
                system,
                f"An answer of quality {q} of number {3 * int(item[1:]) + (system > 'x')}.",
            )
            for (item, system), q in quality.items()
        ]
        pl.DataFrame(rows, schema=["item", "system", "text"], orient="row").write_csv(
            tmp_path / "responses.csv"
        )
        said = [
            (item, system, who, "Empathy", q)
            for (item, system), q in quality.items()
            for who in ("ann", "ben")
        ]
        labels = pl.DataFrame(
            said, schema=["item", "system", "rater", "attribute", "score"], orient="row"
        )
        first = pl.col("item") < "i040"
        labels.filter(first).write_csv(tmp_path / "labels.csv")
        given = {"candidates": [tmp_path / "exact.txt"], "use": "pick"}
        drawn = tuned_in(tmp_path, study, differ=99, **given).drawn
        assert (drawn.units, drawn.what) == (20, "pairs")
        listed = pl.read_csv(drawn.queue)
        assert listed.columns[:2] == ["item", "system"]
        assert listed.height == 2 * drawn.differ
        labels.join(listed, on=["item", "system"], how="semi").write_csv(tmp_path / "more.csv")
        found = tuned_in(tmp_path, study, measure=[tmp_path / "more.csv"], **given)
    # All that differ were labelled: the gain is what it is, ties of people counted for nobody.
    old = {
        (item, s): min(max(q + ((3 * int(item[1:]) + (s > "x")) * 7) % 3 - 1, 1), 5)
        for (item, s), q in quality.items()
    }
    gains = []
    for item in sorted({item for item, _ in quality if item >= "i040"}):
        sides = [np.sign(one[item, "x"] - one[item, "z"]) for one in (quality, old)]
        if sides[0]:
            gains.append(1 - {1: 1.0, 0: 0.5, -1: 0.0}[int(sides[0] * sides[1])])
    assert found.drawn.gain.value == pytest.approx(sum(gains) / 20)
    assert found.drawn.gain.bounds == pytest.approx((sum(gains) / 20,) * 2)


def test_gains_where_judges_differ_by_loops():
    chance = np.random.default_rng(4)
    humans = chance.integers(1, 6, (60, 2)).astype(float)
    people = humans.mean(axis=1)
    old, new = (np.clip(people + chance.normal(0, s, 60), 1, 5)[None] for s in (1.5, 0.4))
    marks = Marks(1, 5, 4)
    lines = tuple(Foretold.through(one[0], humans, marks) for one in (old, new))
    pair = OldAndNew(Scored("a", old, "a"), Scored("b", new, "b"), "worth", marks, lines)
    # Of lines through the same units the gain is that of the squared correlation.
    gain = [np.corrcoef(one[0], people)[0, 1] ** 2 for one in (old, new)]
    assert pair.gains(humans).mean() == pytest.approx(gain[1] - gain[0], abs=1e-6)
    assert (np.abs(pair.gains(humans)) <= pair.most * pair.away + 1e-9).all()
    sides = humans - 3.0
    first, second = (one - 3.0 for one in (old, new))
    second[0, :5] = np.nan
    pair = OldAndNew(Scored("a", first, "a"), Scored("b", second, "b"), "pick", Marks(-2, 2, 0))
    decided = sides.mean(axis=1) != 0
    good = [
        goal_of("pick").goodness([one[:, decided]], sides[decided], marks)[0]
        for one in (first, second)
    ]
    assert pair.gains(sides)[decided] == pytest.approx(good[1] - good[0])
    assert not pair.gains(sides)[~decided].any()
    assert (np.abs(pair.gains(sides)) <= pair.away + 1e-9).all()


def test_the_recommendation_at_its_edges():
    """Adopt from an interval above 0; keep below an even chance; else it is left to the reader."""

    def gain(low, high=0.2):
        return Estimate("gain", 0.05, (Interval("t", 0.95, low, high),), n=60, k=2)

    assert decided_by(gain(1e-6), 0.976) == "adopt"
    assert decided_by(gain(0.0), 0.975) == "label"
    assert decided_by(gain(-0.1), 0.5) == "label"
    assert decided_by(gain(-0.1), 0.4999) == "keep"
    assert decided_by(gain(math.nan, math.nan), math.nan) == "label"

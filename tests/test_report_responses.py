"""Response level in the report: rates, confusion, humans beside humans, the answer in words."""

from __future__ import annotations

import io
import re

import polars as pl
import pytest
from examinations import html_of
from rich.console import Console
from sklearn.metrics import cohen_kappa_score, confusion_matrix, matthews_corrcoef

from voirdire.examining import examine
from voirdire.report import evidence, print_examination
from voirdire.report.answers import answers, leads, points
from voirdire.report.records import examination_record

COLUMNS = ["item", "system", "rater", "score"]


def gated():
    """600 responses of two releases by one judge; one person labelled every third."""
    rows = []
    for at in range(600):
        good, wrong = at % 5 < 3, at % 23 == 0
        rows.append((f"t{at}", f"v{at % 2}", "gpt", float(good != wrong)))
        if at % 3 == 0:
            rows.append((f"t{at}", f"v{at % 2}", "human", float(good != (at % 37 == 0))))
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")


@pytest.fixture(scope="module")
def engineer():
    return examine(gated(), reference=["human"], gate=1, resamples=0)


@pytest.fixture(scope="module")
def two_humans():
    """Two humans of the same mind but for every seventh score, and a judge a point too high."""
    rows = []
    for at in range(240):
        score = 1 + (at + at // 60) % 3 + at // 120
        said = {"anna": score, "ben": score + (at % 7 == 0), "judge": min(score + 1, 5)}
        rows += [(f"i{at % 60}", f"s{at // 60}", who, float(one)) for who, one in said.items()]
    frame = pl.DataFrame(rows, schema=COLUMNS, orient="row")
    return examine(frame, reference=["anna", "ben"], resamples=0)


def wide(frame):
    return frame.pivot("rater", index=["item", "system"], values="score").drop_nulls()


def test_rates_and_confusion_are_those_of_another_program(engineer):
    """scikit-learn's confusion matrix, kappa and MCC on the same labels."""
    both = wide(gated())
    truth, given = both["human"].to_list(), both["gpt"].to_list()
    (tn, fp), (fn, tp) = confusion_matrix(truth, given)
    sections = evidence(engineer)
    shown = {row["Score"]: row for row in sections["responses"].table.records()}
    expected = {
        "sensitivity": tp / (tp + fn),
        "specificity": tn / (tn + fp),
        "positive predictive value": tp / (tp + fp),
        "negative predictive value": tn / (tn + fn),
        "prevalence": (tp + fn) / len(truth),
        "accuracy": (tp + tn) / len(truth),
        "kappa": cohen_kappa_score(truth, given),
        "MCC": matthews_corrcoef(truth, given),
    }
    for name, value in expected.items():
        assert shown[name]["Judge's"] == pytest.approx(value, abs=1e-12)
        interval = shown[name]["Judge's, interval"]
        assert interval.low < value < interval.high
        assert shown[name]["Humans'"] is None
    rows = [row[2:] for row in sections["confusion"].table.rows]
    assert rows == [("fail", tn, fp), ("pass", fn, tp)]


def test_the_gate_is_answered_first_with_its_rates(engineer):
    stream = io.StringIO()
    print_examination(engineer, console=Console(file=stream, width=80))
    text = " ".join(stream.getvalue().split())
    (lead,) = leads(answers(engineer))
    assert lead.startswith("Use gpt to")
    assert "gate responses (passes " in answers(engineer)[0].lead[0]
    where = text.index("✓ Pass/fail gate: It passes")
    assert text.index("Use gpt to") < where < text.index("Sensitivity")
    assert "have 50 responses labelled by a second human" in text
    # Two releases are too few for a coefficient: none is printed over them.
    assert "ICC(C,1)" not in text
    assert "Not enough data yet to clear gpt for ranking" in text


def test_uses_that_nobody_was_tested_for_have_no_column(engineer):
    page = html_of(engineer)
    grid = page.partition('id="grid"')[2].partition("</thead>")[0]
    heads = re.findall('<th scope="col">(.*?)</th>', grid)
    assert heads[0] == "Judge"
    assert set(heads[1:]) == {"Rank systems", "Quote averages", "Pass/fail gate", "Extend labels"}
    assert "One run is enough" not in heads
    assert "One run is enough (there is one run)" in page


def test_humans_stand_beside_humans_and_beside_the_judge(two_humans):
    sections = evidence(two_humans)
    (row,) = sections["humans"].table.records()
    assert (row["Human"], row["Other human"], row["Shared"]) == ("anna", "ben", 240)
    changed = sum(at % 7 == 0 for at in range(240))
    assert row["Accuracy"] == pytest.approx(1 - changed / 240)
    assert row["Mean difference"] == pytest.approx(-changed / 240)
    graded = {one["Score"]: one for one in sections["graded"].table.records()}
    assert graded["accuracy"]["Humans'"] == pytest.approx(1 - changed / 240)
    assert graded["accuracy"]["Humans', interval"].low < 1 - changed / 240
    assert graded["accuracy"]["Judge's"] < graded["accuracy"]["Humans'"]
    # Four systems are too few for a coefficient of their means.
    assert "A, judge fixed" not in sections["icc"].table.names


def test_a_bias_is_said_beside_what_is_allowed(two_humans):
    (answer,) = answers(two_humans)
    said = {use: point for point in points(answer) for use in point.uses if point.state == "no"}
    assert "higher than people [" in said["score"].why
    assert "(allowed: ±" in said["score"].why
    assert "nan" not in " ".join(point.why + point.next for point in points(answer))


def test_a_record_has_the_keys_of_every_verdict_first(two_humans):
    for record in examination_record(two_humans)["verdicts"]:
        assert list(record)[:10] == [
            "judge", "attribute", "use", "target", "state", "deciding", "why", "next", "p",
            "components",
        ]  # fmt: skip
        assert record["use"] in ("order", "score", "single", "gate", "estimate", "repeat")
        assert record["target"] in ("these systems", "systems to come")
        for part in record["components"]:
            assert list(part)[:7] == [
                "name",
                "estimate",
                "low",
                "high",
                "margin",
                "state",
                "note",
            ]
            if part["low"] is not None:
                assert part["low"] <= part["high"]


def test_a_constant_judge_is_named_as_that_and_nothing_else_is_said():
    frame = gated().with_columns(
        pl.when(pl.col("rater") == "gpt").then(1.0).otherwise("score").alias("score"),
        pl.lit("v0").alias("system"),
    )
    found = examine(frame, reference=["human"], gate=1, resamples=0)
    (answer,) = answers(found)
    said = "Do not use gpt for anything: it gives one score (1) whatever it is shown."
    assert answer.sentence == answer.headline == said
    gates = [point.why for point in points(answer) if "gate" in point.uses]
    assert gates == ["It gives one score whatever it is shown."]

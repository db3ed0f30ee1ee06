"""Wholes beside their parts: runs and steps of known truth, against a plain count."""

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from voirdire import examine
from voirdire.examining.wholes import WholeFacts, has_parts
from voirdire.study import Gate, ReadOptions

TRACES = Path(__file__).parent / "foreign" / "traces"


def ratings(runs, steps, seed, judge):
    """People and a judge of runs with steps; `judge` makes its steps of the truth's."""
    rng = np.random.default_rng(seed)
    rows = []
    for run in range(runs):
        truth = rng.random(steps) > 0.2
        outcome = bool(truth.all()) ^ (rng.random() < 0.2)
        said = {"ann": (truth, outcome), "gpt": (judge(truth, rng), truth.all())}
        for rater, (parts, whole) in said.items():
            rows.append((f"r{run}", rater, "done", float(whole), f"c{run // 2}"))
            rows += [
                (f"r{run} step {2 * at + 1}", rater, "fine", float(part), f"c{run // 2}")
                for at, part in enumerate(parts)
            ]
    schema = ["item", "rater", "attribute", "score", "cluster"]
    return pl.DataFrame(rows, schema=schema, orient="row")


def facts(table, **options):
    return examine(table, reference=["ann"], **options).facts(WholeFacts)


def by_hand(table, rater):
    """Rater -> run -> (its steps in order, the whole): the slow and obvious way."""
    out = {}
    for item, who, _, score, _ in table.iter_rows():
        if who == rater:
            run, _, position = item.partition(" step ")
            steps, whole = out.setdefault(run, ({}, []))
            (steps.__setitem__(int(position), score) if position else whole.append(score))
    return {
        run: ([steps[at] for at in sorted(steps)], whole[0]) for run, (steps, whole) in out.items()
    }


def test_wholes_and_first_wrong_steps_are_those_of_a_plain_count():
    table = ratings(60, 4, 1, lambda truth, rng: truth ^ (rng.random(truth.size) < 0.15))
    found = facts(table)
    people, judge = by_hand(table, "ann"), by_hand(table, "gpt")
    for one in found.beside:
        own = {"ann": people, "gpt": judge}[one.rater].values()
        assert (one.whole, one.part, one.kind) == ("done", "fine", "step")
        assert (one.both, one.parts_alone, one.whole_alone, one.neither) == tuple(
            sum(all(steps) is sure and bool(whole) is good for steps, whole in own)
            for sure, good in ((True, True), (True, False), (False, True), (False, False))
        )
    first = {
        run: tuple(
            next((at for at, s in enumerate(side[run][0]) if not s), None)
            for side in (judge, people)
        )
        for run in people
    }
    (one,) = found.first
    assert one.n == 60
    assert one.exact == pytest.approx(np.mean([a == b for a, b in first.values()]))
    near = [
        a == b or (a is not None and b is not None and abs(a - b) == 1) for a, b in first.values()
    ]
    assert one.near == pytest.approx(np.mean(near))
    assert one.never == sum(a is None and b is None for a, b in first.values())
    assert one.missed == sum(a is None and b is not None for a, b in first.values())
    assert one.invented == sum(a is not None and b is None for a, b in first.values())


def test_a_judge_that_sees_the_last_step_alone_gets_no_yes_for_the_earlier_ones():
    """It says of every step what is true of the last one."""
    for seed in range(3):
        table = ratings(80, 5, seed, lambda truth, rng: np.full(truth.size, truth[-1]))
        examination = examine(table, reference=["ann"], gate=Gate(at=1))
        states = {one.use: one.state for one in examination.verdicts if one.attribute == "fine"}
        assert states
        assert "yes" not in states.values()
        (one,) = examination.facts(WholeFacts).first
        assert one.exact < 0.6


def test_a_judge_that_sees_each_step_has_the_uses_that_need_single_judgements():
    table = ratings(300, 5, 3, lambda truth, rng: truth ^ (rng.random(truth.size) < 0.005))
    examination = examine(table, reference=["ann"], gate=Gate(at=1))
    found = {one.use: one.state for one in examination.verdicts if one.attribute == "fine"}
    assert found["gate"] == "yes"
    (one,) = examination.facts(WholeFacts).first
    assert one.exact > 0.9


def test_the_interval_of_first_wrong_steps_covers_the_truth_with_clusters():
    """Runs of one conversation are alike: whether the judge finds the step is drawn for both."""
    inside = total = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        hit = np.repeat(rng.random(40) < 0.7, 2)
        rows = [
            (
                f"r{run} step {at}",
                rater,
                "fine",
                float(at != 1 + (rater == "gpt" and not ok)),
                f"c{run // 2}",
            )
            for run, ok in enumerate(hit)
            for at in (1, 2)
            for rater in ("ann", "gpt")
        ]
        table = pl.DataFrame(
            rows, schema=["item", "rater", "attribute", "score", "cluster"], orient="row"
        )
        from voirdire.examining.wholes import first_wrong

        wide = table.with_columns(
            conversation=pl.col("item").str.extract(r"^(r\d+)"),
            system=pl.lit(""),
            position=pl.col("item").str.extract(r"(\d+)$").cast(pl.Int64),
            right=pl.col("score") > 0,
        )
        both = wide.filter(rater="gpt").join(
            wide.filter(rater="ann").select("conversation", "position", "right"),
            on=["conversation", "position"],
            suffix="_beside",
        )
        found = first_wrong(both, "gpt", "ann", "fine", "step", 0.95)
        inside += found.interval.low <= 0.7 <= found.interval.high
        total += 1
    assert 0.91 <= inside / total <= 0.985


def test_what_is_right_is_asked_where_scores_have_more_than_two_values():
    table = ratings(30, 3, 2, lambda truth, rng: truth).with_columns(
        score=pl.when(pl.col("item") == "r0 step 1").then(3.0).otherwise(pl.col("score") * 4 + 1)
    )
    examination = examine(table, reference=["ann"])
    found = examination.facts(WholeFacts)
    assert found.untold == ("fine",)
    assert any("--gate SCORE" in note for note in examination.notes)
    assert found.beside == ()
    alone = facts(table.filter(pl.col("attribute") == "fine"))
    assert (alone.untold, alone.first) == (("fine",), ())
    told = facts(table, gate=3.0)
    assert told.untold == ()
    assert told.first[0].n == 30


def test_the_report_shows_both_tables():
    sections = {one.title: one for one in examine(TRACES / "opentelemetry.jsonl").sections}
    text = sections["The whole beside its parts"].text
    assert "Of 1 run ann finds all steps right (step_right) and the whole wrong (resolved)." in text
    rows = sections["The first wrong part"].tables[0].rows
    # ann finds a first wrong step in the runs 5, 8 and 9; gpt-4o in 2, 5 and 8.
    judge, beside, part, wholes, exact, bounds, near, never, missed, invented = rows[0]
    assert (judge, beside, part, wholes) == ("gpt-4o", "ann", "step_right, each step", 10)
    assert (exact, near, never, missed, invented) == (0.8, 0.8, 6, 1, 1)
    assert not math.isnan(bounds[0])


def test_items_that_are_no_parts_are_let_be():
    plain = pl.DataFrame({"item": ["step 3", "a turn", "x step 0", "y step 1a"]})
    assert not has_parts(plain)
    assert has_parts(pl.DataFrame({"item": ["a", "a step 12"]}))


# Parts judged by labels: which of them are right is declared


def labelled(path, words):
    """The steps and runs of `ratings` in words, in a table without a number."""
    table = ratings(40, 4, 5, lambda truth, rng: truth ^ (rng.random(truth.size) < 0.15))
    wrong, right = words
    rows = table.with_columns(
        label=pl.when(pl.col("score") > 0).then(pl.lit(right)).otherwise(pl.lit(wrong))
    )
    rows.select("item", "rater", "attribute", "label", "cluster").write_csv(path)
    return table


@pytest.mark.parametrize("kind", ["label", None])
def test_labels_of_steps_count_as_their_words_say(tmp_path, kind):
    path, words = tmp_path / "labels.csv", ("needs another look", "good enough")
    want = facts(labelled(path, words))
    declared = dict(zip(words, (0, 1), strict=True))
    found = examine(path, reference=["ann"], read=ReadOptions(words=declared, kind=kind))
    told = found.facts(WholeFacts)
    assert told.first == want.first
    assert told.beside == want.beside
    # They stay labels only where they are said to be.
    assert (found.inputs.judgements is not None) == (kind == "label")


def test_labels_of_which_nothing_is_said_are_right_or_wrong_by_no_guess(tmp_path):
    path = tmp_path / "labels.csv"
    labelled(path, ("needs another look", "good enough"))
    found = examine(path, reference=["ann"])
    told = found.facts(WholeFacts)
    assert (told.beside, told.first) == ((), ())
    assert told.words == ("good enough", "needs another look")
    assert any('--kind label --words "good enough=1,...=0"' in note for note in found.notes)

"""`voirdire correct`, `plan` and `escalate`, run as a user runs them, and what they refuse."""

from __future__ import annotations

import csv
import json
import math
import re
from functools import partial

import numpy as np
import polars as pl
import pytest
from command_line import typed

from voirdire import InputError
from voirdire.examining.correcting import (
    Escalation,
    correct,
    correction_sections,
    escalate,
    escalation_sections,
    plan_labels,
    plan_sections,
    worth_sentence,
)
from voirdire.examining.correcting.calibrating import simulate_errors
from voirdire.examining.correcting.escalating import certainty_by_response
from voirdire.examining.correcting.labelled import read_labelled
from voirdire.running import run
from voirdire.stats import AutomatedShare, prediction_powered_mean
from voirdire.store import replies_frame
from voirdire.store.counts import spent_by_rater
from voirdire.store.frames import certainty_frame
from voirdire.study import ReadOptions, build_study

voirdire = partial(typed, COLUMNS="80")


def ratings(items=300, labelled=60, *, shift=0.4, noise=0.7, chosen=False, seed=0, origin=None):
    """Two releases, two judges on all of it, one human on a part; B is 0.4 points better."""
    chance = np.random.default_rng(seed)
    rows = []
    for system, level in (("A", 3.0), ("B", 3.4)):
        truth = np.clip(np.rint(chance.normal(level, 1, items)), 1, 5)
        order = np.argsort(-truth) if chosen else np.arange(items)
        known = set(order[:labelled].tolist())
        for i, score in enumerate(truth):
            judged = np.clip(np.rint(score + shift + chance.normal(0, noise)), 1, 5)
            rows.append((f"q{i}", system, "judge", float(judged), None))
            rows.append((f"q{i}", system, "coin", float(chance.integers(1, 6)), None))
            if i in known:
                rows.append((f"q{i}", system, "human", float(score), origin))
    names = ["item", "system", "rater", "score", "origin"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    return frame if origin else frame.drop("origin")


def test_corrected_means_hold_the_truth_that_the_judge_misses():
    frame = ratings()
    truth = (
        ratings(labelled=300)
        .filter(pl.col("rater") == "human")
        .group_by("system")
        .agg(pl.col("score").mean())
    )
    found = correct(frame, reference=["human"], judges=["judge"])
    for system, mean in truth.iter_rows():
        one = next(s.corrected for s in found.scores if s.group == system)
        assert one.interval.low <= mean <= one.interval.high
        claimed = one.judge.interval()
        assert not claimed.low <= mean <= claimed.high
        assert one.interval.width < one.human.interval().width


def test_a_coin_is_worth_nothing_and_both_together_as_much_as_the_judge():
    found = correct(ratings(), reference=["human"])
    worth = {s.judge: s.corrected.worth.value for s in found.scores if not s.group}
    assert worth["coin"] < 1.05 * 120
    assert worth["judge"] > 1.5 * 120
    assert worth["all judges together"] == pytest.approx(worth["judge"], rel=0.15)


def test_the_difference_of_two_releases():
    found = correct(ratings(), reference=["human"], judges=["judge"], compare=[("B", "A")])
    (one,) = found.differences
    assert one.corrected.interval.low <= 0.4 <= one.corrected.interval.high
    with pytest.raises(InputError, match="no system 'C'"):
        correct(ratings(), reference=["human"], compare=[("A", "C")])


def renamed(frame, first):
    """B's items from `first` on under other names: A and B then answered different items."""
    at = pl.col("item").str.slice(1).cast(pl.Int32)
    other = (pl.col("system") == "B") & (at >= first)
    name = pl.when(other).then(pl.lit("r") + pl.col("item")).otherwise(pl.col("item"))
    return frame.with_columns(item=name)


@pytest.mark.parametrize(
    ("first", "paired", "shared"), [(300, True, 300), (0, False, 0), (20, False, 20)]
)
def test_two_systems_are_compared_whatever_items_they_answered(tmp_path, first, paired, shared):
    frame = renamed(ratings(), first)
    found = correct(frame, reference=["human"], judges=["judge"], compare=[("B", "A")])
    (one,) = found.differences
    assert (one.basis.paired, one.basis.shared) == (paired, shared)
    assert one.basis.labels == (60, 60)
    assert one.corrected.interval.low <= 0.4 <= one.corrected.interval.high
    means = {score.group: score.corrected for score in found.scores}
    assert one.corrected.human.value == pytest.approx(
        means["B"].human.value - means["A"].human.value
    )
    # The worth of the judge is that of two samples: no wider than the labels alone.
    assert one.corrected.interval.width < one.corrected.human.interval().width
    frame.write_csv(tmp_path / "r.csv")
    done = voirdire(
        "correct",
        "r.csv",
        "--reference",
        "human",
        "--judge",
        "judge",
        "--compare",
        "B,A",
        cwd=tmp_path,
    )
    said = " ".join(done.stdout.split())
    assert done.returncode == 0, done.stderr
    assert f"judge B A {'paired' if paired else 'unpaired'} 60 60" in said
    assert ("Unpaired: fewer than half of the labels" in said) is not paired
    assert paired or f"B and A {shared or 'no'} items." in said


def test_a_system_without_labels_has_no_difference_and_none_is_compared_with_itself(tmp_path):
    frame = ratings()
    some = frame.filter((pl.col("rater") != "human") | (pl.col("system") == "A"))
    (one,) = correct(some, reference=["human"], judges=["judge"], compare=[("B", "A")]).differences
    assert (one.corrected.interval, one.corrected.reason, one.basis.labels) == (
        None,
        "no_data",
        (0, 60),
    )
    some.write_csv(tmp_path / "r.csv")
    done = voirdire("correct", "r.csv", "--reference", "human", "--compare", "B,A", cwd=tmp_path)
    said = " ".join(done.stdout.split())
    assert "Without two labels of each system there is no difference with an interval." in said
    with pytest.raises(InputError, match="'A' is compared with itself"):
        correct(frame, reference=["human"], compare=[("A", "A")])


def test_labels_of_different_items_that_both_answered_are_compared_on_these():
    frame = ratings(labelled=120)
    at = pl.col("item").str.slice(1).cast(pl.Int32)
    own = pl.when(pl.col("system") == "A").then(at < 60).otherwise(at >= 60)
    some = frame.filter((pl.col("rater") != "human") | own)
    (one,) = correct(some, reference=["human"], judges=["judge"], compare=[("B", "A")]).differences
    assert (one.basis.paired, one.basis.labels) == (True, (60, 60))
    assert one.corrected.interval.low <= 0.4 <= one.corrected.interval.high
    assert one.corrected.n_labelled == 120


def test_chosen_labels_are_refused_and_their_probabilities_taken():
    with pytest.raises(InputError, match="origin 'chosen'"):
        correct(ratings(origin="chosen"), reference=["human"])
    drawn = correct(ratings(origin="random"), reference=["human"])
    assert "label_origin_unknown" not in {finding.kind for finding in drawn.findings}
    unknown = correct(ratings(), reference=["human"])
    assert "label_origin_unknown" in {finding.kind for finding in unknown.findings}


def test_labels_that_the_judge_sees_otherwise_than_the_rest_are_refused():
    with pytest.raises(InputError, match=r"higher than the others on score.*not drawn at random"):
        correct(ratings(chosen=True), reference=["human"])


def test_labels_that_differ_a_little_are_a_finding():
    """Moved apart until Holm's p, here of one test by shuffling, lies between 0.001 and 0.05."""
    chance = np.random.default_rng(11)
    judged = np.rint(chance.normal(3, 0.8, 400)).clip(1, 5)
    judged[:80] = np.rint(judged[:80] + 0.3).clip(1, 5)
    judged[:20] = np.minimum(judged[:20] + 1, 5)
    shuffled = chance.permuted(np.tile(judged, (20_000, 1)), axis=1)[:, :80].mean(1)
    p = 2 * np.mean(shuffled >= judged[:80].mean() - 1e-12)
    assert 0.001 < p < 0.05
    rows = [(f"q{i}", "judge", score) for i, score in enumerate(judged.tolist())]
    rows += [(f"q{i}", "human", score) for i, score in enumerate(judged[:80].tolist())]
    frame = pl.DataFrame(rows, schema=["item", "rater", "score"], orient="row")
    found = correct(frame, reference=["human"])
    (one,) = (finding for finding in found.findings if finding.kind == "labels_differ")
    assert one.severity == "serious"
    (told,) = re.findall(r"p = ([.\d]+) after Holm", one.message)
    assert float(told) == pytest.approx(p, rel=0.25)


def test_a_system_without_a_label_is_a_finding():
    frame = ratings()
    bare = (pl.col("rater") == "human") & (pl.col("system") == "B")
    found = correct(frame.filter(~bare), reference=["human"], judges=["judge"])
    (one,) = (finding for finding in found.findings if finding.kind == "system_without_labels")
    assert one.message == "No response of 'B' has a label."
    whole = correct(frame, reference=["human"], judges=["judge"])
    assert "system_without_labels" not in {finding.kind for finding in whole.findings}


def test_a_judge_that_is_silent_on_half_is_counted_and_still_corrected(tmp_path):
    frame = ratings()
    odd = (pl.col("rater") == "judge") & (pl.col("item").str.slice(1).cast(pl.Int32) % 2 == 1)
    frame = frame.with_columns(score=pl.when(odd).then(None).otherwise(pl.col("score")))
    one = correct(frame, reference=["human"], judges=["judge"]).scores[0].corrected
    assert (one.n_labelled, one.n_unlabelled, one.n_unjudged) == (120, 480, 300)
    whole = correct(ratings(), reference=["human"], judges=["judge"]).scores[0].corrected
    assert whole.interval.width < one.interval.width <= 1.02 * one.human.interval().width
    frame.write_csv(tmp_path / "r.csv")
    done = voirdire("correct", "r.csv", "--reference", "human", "--compare", "A,B", cwd=tmp_path)
    assert (done.returncode, "300 scores missing" in done.stdout) == (0, True), done.stderr


def test_known_probabilities_take_the_place_of_a_random_draw():
    chance = np.random.default_rng(3)
    truth = np.clip(np.rint(chance.normal(3, 1, 3000)), 1, 5)
    probability = np.where(truth >= 4, 0.2, 0.05)
    known = chance.random(3000) < probability
    judged = np.clip(np.rint(truth + chance.normal(0, 0.7, 3000)), 1, 5)
    items = [f"i{i}" for i in range(3000)]
    frame = pl.concat(
        [
            pl.DataFrame({"item": items, "rater": "judge", "score": judged}).with_columns(
                label_probability=pl.lit(None, pl.Float64)
            ),
            pl.DataFrame(
                {"item": items, "rater": "human", "score": truth, "label_probability": probability}
            ).filter(known),
        ]
    )
    one = correct(frame, reference=["human"]).scores[0].corrected
    assert one.interval.low <= truth.mean() <= one.interval.high
    assert abs(truth[known].mean() - truth.mean()) > 0.3


def test_errors_measured_elsewhere_correct_a_pass_rate():
    chance = np.random.default_rng(5)

    def judged(n, labelled, seed):
        truth = chance.random(n) < 0.3
        passes = np.where(truth, chance.random(n) < 0.9, chance.random(n) < 0.2)
        rows = [(f"{seed}{i}", "judge", float(p)) for i, p in enumerate(passes)]
        rows += [(f"{seed}{i}", "human", float(t)) for i, t in enumerate(truth[:labelled])]
        return pl.DataFrame(rows, schema=["item", "rater", "score"], orient="row")

    found = correct(
        judged(1000, 20, "a"), reference=["human"], errors_from=judged(400, 400, "b"), gate=1
    )
    (one,) = [share for share in found.shares if not share.group][:1]
    assert one.corrected.interval().low <= 0.3 <= one.corrected.interval().high
    assert one.corrected.details["judged"] > 0.38


@pytest.mark.parametrize("scores", [[3.0] * 40, [None] * 40, [float(1 + i % 5) for i in range(40)]])
def test_a_judge_that_is_constant_silent_or_right_gives_an_answer(scores):
    truth = [float(1 + i % 5) for i in range(40)]
    frame = pl.DataFrame(
        {
            "item": [str(i) for i in range(40)] * 2,
            "rater": ["judge"] * 40 + ["human"] * 40,
            "score": [*scores, *(t if i < 20 else None for i, t in enumerate(truth))],
        }
    )
    one = correct(frame, reference=["human"]).scores[0].corrected
    assert one.value == pytest.approx(3)
    assert one.interval.low < 3 < one.interval.high


def said_of_worth(frame):
    (first, *_) = correct(frame, reference=["human"], judges=["judge"]).scores
    return first.corrected, worth_sentence(first.corrected, "judge")


def test_what_a_worth_cannot_be_said_of_is_said():
    """A judge of one score, labels of few items, and labels of all: none of them too few labels."""
    judge = pl.col("rater") == "judge"
    still = ratings().with_columns(
        pl.when(judge).then(3.0).otherwise(pl.col("score")).alias("score")
    )
    found, said = said_of_worth(still)
    assert (found.weight, found.worth.reason) == (0, "zero_variance")
    assert "never vary" in said
    pairs = ratings().with_columns(cluster=pl.col("item").str.slice(1).cast(pl.Int32) % 2)
    found, said = said_of_worth(pairs)
    assert (found.weight, found.worth.reason) == (0, "too_few_items")
    assert said.startswith("judge: 120 labels, on 2 items or clusters, are too few")
    found, said = said_of_worth(ratings(labelled=300))
    assert (found.worth.value, found.n_unlabelled) == (600, 0)
    assert said == "judge: every response has a label, so that its scores add nothing."


def test_clusters_that_were_drawn_are_counted_in_the_report():
    frame = ratings().with_columns(cluster=pl.col("item").str.slice(1).cast(pl.Int32) // 5)
    found = correct(frame, reference=["human"], judges=["judge"])
    assert "12 of them have labels" in correction_sections(found)[0].text


def test_few_labels_that_agree_are_compared_without_a_warning(recwarn):
    frame = ratings(items=4, labelled=2, seed=1)
    correct(frame, reference=["human"])
    assert [one for one in recwarn if issubclass(one.category, RuntimeWarning)] == []


@pytest.mark.parametrize(
    ("share", "agreement", "target", "said"),
    [
        (1.0, 1.0, 0.7, "All of judge's verdicts on score may go out without a human: 100 % of "),
        (0.304, 0.9996, 0.975, "The 30.4 % most confident of judge's verdicts on score may go out"),
        (0.0, 0.0, 0.905, "among the most confident ones, agreement of 90.5 % is not shown."),
    ],
)  # fmt: skip
def test_what_may_go_out_is_said_in_per_cent_that_are_not_rounded_away(
    share, agreement, target, said
):
    found = AutomatedShare(share, 0.5, agreement, 0.6, target, 0.025, 40, 40)
    queue = pl.DataFrame({"decision": ["automatic", "labelled"]})
    made = Escalation("judge", "score", found, queue, 40, ("judge",), ())
    one = escalation_sections(made)[0].text
    assert said in one
    assert ("The rest goes to people." in one) == (0 < share < 1)
    assert share == 0 or "at a risk of 2.5 %" in one
    assert "99.9 % of those" in one or agreement != 0.9996


def test_a_plan_counts_labels_items_or_clusters():
    frame = ratings()
    together = plan_labels(frame, [0.2], reference=["human"], judges=["judge"])
    assert together.unit == "items"
    one = plan_labels(frame, [0.3, 0.2], reference=["human"], judges=["judge"], by="system")
    assert one.unit == "labels"
    assert [row.group for row in one.rows] == ["A", "B"]
    cost = one.rows[0].plans
    assert cost[0].with_judge < cost[1].with_judge < cost[1].without_judge
    with pytest.raises(InputError, match="between 0 and 1"):
        plan_labels(frame, [0.2], power=2, reference=["human"])


def some_labelled(seed, systems, labelled=200, items=300):
    """Responses of which so many are labelled, wherever the lot falls."""
    rng = np.random.default_rng(seed)
    item, system = (part.ravel() for part in np.indices((items, systems)))
    quality = 3 + rng.normal(0, 0.5, items)[item] + rng.normal(0, 0.5, item.size)
    human, judge = (np.rint(quality + rng.normal(0, 0.5, item.size)).clip(1, 5) for _ in range(2))
    human[rng.permutation(item.size)[labelled:]] = np.nan
    frame = {"item": item, "system": np.char.mod("s%d", system), "human": human, "judge": judge}
    return pl.DataFrame(frame).with_columns(pl.col("item").cast(pl.String).str.replace("^", "i"))


@pytest.mark.parametrize(("systems", "least"), [(1, 0.9), (2, 0.85), (4, 0.8)])
def test_a_plan_of_the_width_that_was_reached_asks_for_about_the_labels_that_reached_it(
    systems, least
):
    """200 labels of 300 items: of whatever number of systems, a plan counts labels."""
    shares = []
    for seed in range(4):
        frame = some_labelled(seed, systems)
        (reached,) = {
            (one.corrected.interval.high - one.corrected.interval.low) / 2
            for one in correct(frame, reference=["human"]).scores
            if not one.group
        }
        plan = plan_labels(frame, [reached], reference=["human"])
        (needed,) = plan.rows[0].plans
        table = plan_sections(plan)[0].tables[0]
        row = dict(zip([column.name for column in table.columns], table.rows[0], strict=True))
        labels = row["With the judge"]
        assert labels == math.ceil(needed.with_judge * needed.each - 1e-9)
        if systems > 1:
            assert row["Items with the judge"] == needed.with_judge < labels
        shares.append(labels / 200)
    assert least < np.mean(shares) < 1.1


def test_a_gate_makes_pass_rates_of_scores_for_people_and_judges_alike(tmp_path):
    frame = ratings()
    correction = correct(frame, reference=["human"], gate=4)
    passes = frame.with_columns((pl.col("score") >= 4).cast(pl.Float64).alias("score"))
    by_hand = correct(passes, reference=["human"])
    assert correction.gate == 4
    assert correction.scale == (0, 1)
    for ours, theirs in zip(correction.scores, by_hand.scores, strict=True):
        assert (ours.corrected.value, ours.corrected.interval) == (
            theirs.corrected.value,
            theirs.corrected.interval,
        )
        # Judges together give values by fold, of which no stratum holds enough labels.
        wanted = "t" if "together" in ours.judge else "strata"
        assert ours.corrected.interval.method == f"prediction_powered_{wanted}"
    with pytest.raises(InputError, match=r"`gate` 9: scores lie on .* and a gate lies above"):
        correct(frame, reference=["human"], gate=9)
    frame.write_csv(tmp_path / "r.csv")
    done = voirdire(
        "correct",
        "r.csv",
        "--reference",
        "human",
        "--gate",
        "4",
        "--require",
        "corrected_pass_rate>=0",
        cwd=tmp_path,
    )
    assert done.returncode == 0
    assert "Scores of 4 and above pass" in " ".join(done.stdout.split())


def test_a_plan_says_how_many_judges_with_several_runs_it_takes():
    """Components times 100: responses 1, judges 0.16, judge by response 0.25, runs 0.49."""
    rng = np.random.default_rng(3)
    truth = rng.normal(0, 1, (4000, 1, 1))
    scores = truth + np.array([0.4, 0.0, -0.4])[:, None] + rng.normal(0, 0.5, (4000, 3, 1))
    scores = np.round(50 + 10 * (scores + rng.normal(0, 0.7, (4000, 3, 2)))).clip(0, 100)
    cells = np.argwhere(np.ones(scores.shape, dtype=bool))[1:]  # one score is missing
    rows = [(str(i), f"judge {j}", k + 1, float(scores[i, j, k])) for i, j, k in cells.tolist()]
    rows += [(str(i), "human", 1, float(round(50 + 10 * truth[i, 0, 0]))) for i in range(400)]
    frame = pl.DataFrame(rows, schema=["item", "rater", "run", "score"], orient="row")
    plan = plan_labels(frame, [0.1], reference=["human"], judges=[f"judge {j}" for j in range(3)])
    (panel,) = plan.panels
    parts = panel.components
    assert parts.left_out == 1
    assert (parts.item, parts.rater) == pytest.approx((100, 16), abs=5)
    assert (parts.item_rater, parts.run + parts.error) == pytest.approx((25, 49), abs=3)
    # Brennan (2001): 1 / (1 + (0.16 + 0.25 + 0.49 / runs) / judges) >= 0.8.
    assert [(one.runs, one.raters) for one in panel.needed] == [(1, 4), (2, 3)]
    row = next(iter(plan_sections(plan)[-1].table.records()))
    assert (row["Judges needed, one run"], row["Judges needed, all runs"]) == (4, 3)
    assert plan_labels(ratings(), [0.2], reference=["human"]).panels == ()


def test_escalation_gives_out_what_agrees_and_queues_the_rest():
    frame = ratings(items=600, labelled=200, shift=0, noise=0.35)
    found = escalate(frame, agree=0.7, reference=["human"], judge="judge")
    assert found.share.share > 0.3
    assert found.share.low >= 0.7
    counts = dict(found.queue["decision"].value_counts().iter_rows())
    assert counts["labelled"] == 400
    assert found.queue["confidence"].is_sorted()
    rest = found.queue.filter(pl.col("decision") != "labelled")
    sure = rest.filter(pl.col("decision") == "automatic")["confidence"]
    assert sure.min() >= found.share.threshold
    none = escalate(frame, agree=0.95, reference=["human"], judge="coin")
    assert none.share.share == 0
    with pytest.raises(InputError, match="too few"):
        escalate(ratings(labelled=8), agree=0.8, reference=["human"], judge="judge")


def test_the_commands_print_write_and_gate(tmp_path):
    ratings().write_csv(tmp_path / "r.csv")
    done = voirdire(
        "correct",
        "r.csv",
        "--reference",
        "human",
        "--compare",
        "B,A",
        "--out",
        "out",
        "--require",
        "corrected_mean_low>=2",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "judgements are worth" in " ".join(done.stdout.split())
    picture = done.stdout.splitlines()
    at = picture.index("score, judge")
    assert [line.split()[0] for line in picture[at + 1 : at + 4]] == [
        "Labels",
        "Judge",
        "Corrected",
    ]
    assert all("●" in line and "├" in line for line in picture[at + 1 : at + 4])
    assert "requirement met: corrected_mean_low>=2" in done.stdout
    found = json.loads((tmp_path / "out" / "corrected.json").read_text())
    assert found["schema_version"] == 1
    assert found["scores"][0]["corrected"]["n_labelled"] == 120
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"corrected.html", "corrected.md", "corrected.tex", "corrected.csv"} <= names
    assert {"corrected_section_1.svg", "corrected_section_2.svg"} <= names
    with (tmp_path / "out" / "corrected.csv").open() as file:
        row = next(csv.DictReader(file))
    one = found["scores"][0]["corrected"]
    assert float(row["Corrected"]) == pytest.approx(one["value"])
    unmet = voirdire(
        "correct",
        "r.csv",
        "--reference",
        "human",
        "--require",
        "corrected_mean_low@A>=4",
        cwd=tmp_path,
    )
    assert unmet.returncode == 4
    assert "corrected_mean_low of score, judge, A" in unmet.stderr


def test_plan_and_escalate_as_commands(tmp_path):
    ratings().write_csv(tmp_path / "r.csv")
    plan = voirdire(
        "plan",
        "r.csv",
        "--reference",
        "human",
        "--half-width",
        "0.1,0.2",
        "--cost",
        "2",
        "--json",
        cwd=tmp_path,
    )
    found = json.loads(plan.stdout)
    assert [one["half_width"] for one in found["rows"][0]["plans"]] == [0.1, 0.2]
    neither = voirdire("plan", "r.csv", "--reference", "human", cwd=tmp_path)
    assert (neither.returncode, "--half-width" in neither.stderr) == (1, True)
    queue = voirdire(
        "escalate",
        "r.csv",
        "--reference",
        "human",
        "--whose",
        "judge",
        "--agree",
        "0.5",
        "--out",
        "queue.csv",
        cwd=tmp_path,
    )
    assert queue.returncode == 0, queue.stderr
    written = pl.read_csv(tmp_path / "queue.csv")
    assert written.columns == ["item", "system", "score", "confidence", "decision"]
    assert written.height == 600


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--reference", "nobody"), "nobody"),
        (("--reference", "human", "--judge", "none"), "no judge 'none'"),
        (("--reference", "human", "--by", "colour"), "no column 'colour'"),
        (("--reference", "human", "--compare", "A"), "two systems"),
        (("--reference", "human", "--errors-from", "r.csv"), "--gate"),
    ],
)
def test_bad_input_is_one_sentence(tmp_path, options, message):
    ratings(items=40, labelled=20).write_csv(tmp_path / "r.csv")
    done = voirdire("correct", "r.csv", *options, cwd=tmp_path)
    assert done.returncode == 1
    # What takes long on a busy machine says so before.
    said = [line for line in done.stderr.splitlines() if not line.startswith("voirdire: reading")]
    assert message in said[0]
    assert len(said) == 1


def test_numbers_by_a_column_and_clusters_by_another(tmp_path):
    frame = ratings().with_columns(
        topic=pl.col("item").str.slice(1).cast(pl.Int32) % 3,
        dialogue=pl.col("item").str.slice(1).cast(pl.Int32) // 5,
    )
    path = tmp_path / "r.csv"
    frame.write_csv(path)
    found = correct(
        path,
        reference=["human"],
        judges=["judge"],
        by="topic",
        read=ReadOptions(cluster="dialogue"),
    )
    assert [score.group for score in found.scores] == ["", "0", "1", "2"]
    assert found.clustered
    assert found.scores[0].corrected.n_clusters == 12


def test_responses_without_a_declared_cluster_are_clusters_by_their_item():
    """Twelve items in two dialogues, the other 48 alone: dialogues and items must not mix."""
    number = pl.col("item").str.slice(1).cast(pl.Int32)
    dialogue = pl.when(number < 12).then(pl.format("d{}", number // 6))
    found = correct(ratings().with_columns(cluster=dialogue), reference=["human"], judges=["judge"])
    assert found.clustered
    labelled = ratings().filter(pl.col("rater") == "human", pl.col("score").is_not_null())
    units = labelled.select(pl.coalesce(dialogue, "item")).to_series()
    assert found.scores[0].corrected.n_clusters == units.n_unique()


def test_calibration_takes_a_lenient_judge_from_no_to_yes(tmp_path):
    ratings(labelled=300, items=300).write_csv(tmp_path / "r.csv")
    done = voirdire(
        "calibrate",
        "r.csv",
        "--reference",
        "human",
        "--judge",
        "judge",
        "--out",
        "out",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "out" / "calibration.json").read_text())
    (one,) = record["judges"]
    assert (one["before"]["state"], one["after"]["state"]) == ("no", "yes")
    assert one["bias_before"] == pytest.approx(0.4, abs=0.1)
    assert one["bias_after"] == pytest.approx(0, abs=0.02)
    again = voirdire("examine", "out/study.toml", "--json", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    states = {
        (verdict["judge"], verdict["use"]): verdict["state"]
        for verdict in json.loads(again.stdout)["verdicts"]
        if verdict["target"] == "these systems"
    }
    assert states["judge", "score"] == "no"
    assert states["judge, calibrated", "score"] == "yes"


PAIRS = (("new", "old", 0.5), ("new", "mid", 0.2), ("mid", "old", 0.3))


def comparisons(items=300, labelled=60, pairs=PAIRS, *, origin=None):
    """Preferences from -1 to 1 by a judge on all, who favours the first, and a human on some."""
    chance, rows = np.random.default_rng(1), []
    for i in range(items):
        for a, b, apart in pairs:
            truth = chance.normal(apart, 1)
            judged = truth + chance.normal(0.5, 0.6)
            rows.append((f"q{i}", a, b, "judge", "Overall", np.sign(np.round(judged)), None))
            if i < labelled:
                rows.append((f"q{i}", a, b, "human", "Overall", np.sign(np.round(truth)), origin))
    names = ["item", "system_a", "system_b", "rater", "attribute", "score", "origin"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    return frame if origin else frame.drop("origin")


def test_a_win_rate_is_the_corrected_mean_of_wins_and_ties():
    frame = comparisons(pairs=PAIRS[:1])
    (one,) = correct(frame, reference=["human"]).scores
    won = frame.with_columns(pl.col("score").replace_strict({-1: 0.0, 0: 0.5, 1: 1.0}))
    judge, human = (won.filter(pl.col("rater") == name)["score"] for name in ("judge", "human"))
    labels = np.r_[human.to_numpy(), np.full(240, np.nan)]
    same = prediction_powered_mean(labels, judge.to_numpy(), scale=(0, 1))
    assert (one.group, one.wins, one.corrected.n_labelled) == ("new over old", True, 60)
    assert one.corrected.value == pytest.approx(same.value, abs=1e-12)
    assert one.corrected.interval.low == pytest.approx(same.interval.low, abs=1e-12)
    truth = comparisons(items=300, labelled=300, pairs=PAIRS[:1]).filter(pl.col("rater") == "human")
    mean = float(((truth["score"] + 1) / 2).mean())
    assert one.corrected.interval.low <= mean <= one.corrected.interval.high
    assert not one.corrected.judge.interval().low <= mean <= one.corrected.judge.interval().high


def test_win_rates_of_several_pairs_are_given_by_pair_and_by_system():
    found = correct(comparisons(), reference=["human"])
    rates = {one.group: one.corrected for one in found.scores}
    pairs = ["new over old", "new over mid", "mid over old"]
    assert (list(rates)[:3], set(rates)) == (pairs, {*pairs, "new", "mid", "old"})
    # Each comparison gives its two systems 1 together, so the three of them 3 of 6 halves.
    alone = [rates[name].human.value for name in ("new", "mid", "old")]
    assert sum(alone) == pytest.approx(1.5)
    assert rates["new"].human.value == pytest.approx(
        (rates["new over old"].human.value + rates["new over mid"].human.value) / 2
    )
    assert (rates["new"].n_labelled, rates["new"].n_clusters) == (120, 60)


def test_comparisons_whose_orders_disagree_are_missing_and_not_ties():
    frame = comparisons(pairs=PAIRS[:1]).with_columns(shown_first=pl.lit("new"))
    other = frame.filter(pl.col("rater") == "judge").with_columns(
        shown_first=pl.lit("old"),
        score=pl.when(pl.col("item") == "q0").then(-pl.col("score")).otherwise("score"),
    )
    (one,) = correct(pl.concat([frame, other]), reference=["human"]).scores
    assert frame.filter(pl.col("item") == "q0")["score"][0] != 0
    assert (one.corrected.judge.n, one.corrected.n_unjudged) == (299, 1)


def test_comparisons_as_a_command(tmp_path):
    comparisons(pairs=PAIRS[:1]).write_csv(tmp_path / "p.csv")
    done = voirdire(
        "correct",
        "p.csv",
        "--reference",
        "human",
        "--out",
        "out",
        "--require",
        "corrected_win_rate_low@new over old>=0.5",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "Win rates by humans" in done.stdout
    assert "requirement met: corrected_win_rate_low@new over old>=0.5" in done.stdout
    page = (tmp_path / "out" / "corrected.html").read_text()
    assert "Win rate by the labels alone, by the judge alone, and corrected" in page
    assert "├" in done.stdout
    with pytest.raises(InputError, match="`compare` has no meaning"):
        correct(tmp_path / "p.csv", reference=["human"], compare=[("new", "old")])
    with pytest.raises(InputError, match="`by` and `cluster` of ReadOptions are for ratings"):
        correct(tmp_path / "p.csv", reference=["human"], by="topic")
    with pytest.raises(InputError, match="'people' has no comparison"):
        correct(tmp_path / "p.csv", reference=["people"])
    with pytest.raises(InputError, match="origin 'chosen'"):
        correct(comparisons(origin="chosen"), reference=["human"])


def test_chosen_labels_are_left_out_where_that_is_asked(tmp_path):
    frame = ratings(origin="random")
    some = (pl.col("rater") == "human") & pl.col("item").is_in(["q1", "q2", "q3"])
    picked = frame.with_columns(
        origin=pl.when(some).then(pl.lit("chosen")).otherwise(pl.col("origin"))
    )
    found = correct(picked, reference=["human"], judges=["judge"], leave_out=True)
    assert found.scores[0].corrected.n_labelled == 114
    kept = correct(frame.filter(~some), reference=["human"], judges=["judge"])
    assert found.scores[0].corrected.value == pytest.approx(
        kept.scores[0].corrected.value, abs=1e-12
    )
    (finding,) = (one for one in found.findings if one.kind == "chosen_left_out")
    assert finding.count == 6
    picked.write_csv(tmp_path / "r.csv")
    done = voirdire("correct", "r.csv", "--reference", "human", cwd=tmp_path)
    assert (done.returncode, "--leave-out-chosen" in done.stderr) == (1, True)
    done = voirdire("correct", "r.csv", "--reference", "human", "--leave-out-chosen", cwd=tmp_path)
    assert (done.returncode, "6 human labels" in " ".join(done.stdout.split())) == (0, True)


@pytest.fixture(scope="module")
def priced(tmp_path_factory):
    """A session of a simulated judge that is asked for levels, with prices; 80 of 160 labelled."""
    folder = tmp_path_factory.mktemp("priced")
    names = [f"i{n}" for n in range(80)]
    pl.DataFrame({"id": names, "text": names}).write_csv(folder / "items.csv")
    every = [(n, s) for n in names for s in ("warm", "plain")]
    pl.DataFrame(
        [(n, s, f"{s} {n}") for n, s in every], schema=["item", "system", "text"], orient="row"
    ).write_csv(folder / "responses.csv")
    labels = [(n, s, "ann", "Empathy", 3 + k % 2) for k, (n, s) in enumerate(every[:80])]
    columns = ["item", "system", "rater", "attribute", "score"]
    pl.DataFrame(labels, schema=columns, orient="row").write_csv(folder / "human.csv")
    study = build_study(
        {
            "name": "calm", "items": {"path": "items.csv"}, "responses": {"path": "responses.csv"},
            "rubric": {"attributes": ["Empathy"]},
            "panel": [
                {"name": "judge", "model": "simulated:a", "options": {"score": "levels"}},
                {"name": "ann", "kind": "human"},
            ],
            "data": {"reference": ["ann"], "sources": [{"path": "human.csv", "layout": "long"}]},
            "run": {"prices": {"simulated:a": {"input": 1000.0, "output": 2000.0}}},
        },
        folder=str(folder),
    )  # fmt: skip
    run(study, folder / "session", quiet=True)
    return folder / "session"


def test_a_plan_of_a_session_with_prices_counts_what_judging_costs(priced):
    found = plan_labels(priced, [0.2], cost=2.0)
    (row,) = found.rows
    ((spent,),) = (models.values() for models in spent_by_rater(priced).values())
    assert row.judging == pytest.approx((spent.input * 1000 + spent.output * 2000) / 1e6)
    (cells,) = plan_sections(found)[0].table.records()
    plan = row.plans[0]
    assert cells["Cost with the judge"] == pytest.approx(
        2 * plan.labels(plan.with_judge) + row.judging
    )
    assert cells["Cost without it"] == 2 * plan.labels(plan.without_judge)
    assert plan_labels(priced, [0.2], judged=320).rows[0].judging == pytest.approx(2 * row.judging)


def test_confidence_rests_on_the_probability_of_the_likeliest_level(priced):
    known = certainty_frame(priced)
    replies = list(replies_frame(priced).iter_rows(named=True))
    assert known.height == len(replies) == 160
    assert known["certainty"].is_between(0.2, 1).all()
    data = read_labelled(priced)
    column = certainty_by_response(data, 0, 0)
    assert column.shape == (160,)
    by = {(row["item"], row["system"]): row["certainty"] for row in known.iter_rows(named=True)}
    for at in (0, 77, 159):
        where = data.items[data.item[at]], data.systems[data.system[at]]
        assert column[at] == by[where]
    assert escalate(priced, agree=0.9).share.share == 0
    assert certainty_by_response(read_labelled(ratings(), reference=["human"]), 0, 0) is None


def test_what_calibration_does_to_errors_is_simulated(tmp_path):
    frame = ratings(items=24, labelled=24)
    third = frame.filter(pl.col("system") == "A").with_columns(system=pl.lit("C"))
    pl.concat([frame, third]).write_csv(tmp_path / "r.csv")
    done = voirdire(
        "calibrate",
        "r.csv",
        "--reference",
        "human",
        "--judge",
        "judge",
        "--simulate",
        "--json",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    errors = json.loads(done.stdout)["errors"]
    assert (errors["systems"], errors["items"], errors["humans"]) == (3, 24, 2)
    raw, after = errors["raw"], errors["calibrated"]
    # A judge that is only lenient or harsh deserves to be quoted once its level is right.
    assert after["deserving"] > raw["deserving"]
    assert after["wrong"] <= 0.1 * after["undeserving"]
    assert simulate_errors(2, 24, 2) is None


def test_a_second_human_beside_the_labels_is_no_judge_of_the_rest(tmp_path):
    """Its mean stood in for scores that it never gave: 100 labels were said to be worth 219."""
    rng = np.random.default_rng(0)
    truth = rng.integers(1, 6, 1000)
    near = [np.clip(truth + rng.integers(-1, 2, 1000), 1, 5).astype(float) for _ in range(3)]
    labelled = rng.permutation(1000) < 100
    human, second = (np.where(labelled, one, np.nan) for one in near[:2])
    columns = {"item": [f"q{k}" for k in range(1000)], "human": human, "human_2": second}
    frame = pl.DataFrame({**columns, "judge": near[2]}).with_columns(
        pl.col("human", "human_2").fill_nan(None)
    )
    found = correct(frame, reference=["human"])
    assert {row.judge for row in found.scores} == {"judge"}
    assert "judge_beside_labels" in {one.kind for one in found.findings}
    with pytest.raises(InputError, match="scored the labelled responses, and hardly"):
        correct(frame, reference=["human"], judges=["human_2"])


def test_passes_beside_a_probability_are_taken_apart_by_its_ranks(tmp_path):
    """A t interval of twenty passes would have no width; of one failure, far too little."""
    chance = np.random.default_rng(5)
    passes = (chance.random(600) < 0.95).astype(float)
    judge = np.round(0.3 + 0.6 * passes * chance.random(600), 3)
    labels = [int(one) if k < 20 else None for k, one in enumerate(passes)]
    frame = pl.DataFrame({"item": [f"i{k}" for k in range(600)], "judge": judge, "human": labels})
    read = ReadOptions(kind="score", judge=("judge",))
    found = correct(frame, reference=["human"], read=read)
    interval = found.scores[0].corrected.interval
    assert interval.method == "prediction_powered_strata"
    assert 0.7 < interval.low < 0.95 < interval.high <= 1
    # Scores on the same scale that lie between its ends are no passes.
    between = frame.with_columns(pl.col("human") * 0.9)
    graded = correct(between, reference=["human"], read=read).scores[0].corrected.interval
    assert graded.method == "prediction_powered_t"

"""What to label next: drawn at random within strata, given to people, and known to `correct`."""

from __future__ import annotations

import csv
from functools import partial

import numpy as np
import polars as pl
import pytest
from command_line import typed

from voirdire import InputError
from voirdire.examining.correcting import correct, escalate, plan_labels
from voirdire.examining.planning import draw_labels, draw_section

voirdire = partial(typed, COLUMNS="100")


def judged(items=400, labelled=60, seed=0):
    """Tickets with texts, a lenient judge on all of them and a person on the first; the truth."""
    chance = np.random.default_rng(seed)
    truth = np.clip(np.rint(chance.normal(3.2, 1.1, items)), 1, 5)
    judge = np.clip(np.rint(truth + 0.4 + chance.normal(0, 0.7, items)), 1, 5)
    frame = pl.DataFrame(
        {
            "ticket": [f"t{i}" for i in range(items)],
            "asked": [f"Question {i}?" for i in range(items)],
            "answer": [f"Answer {i}." for i in range(items)],
            "judge": judge,
            "human": np.where(np.arange(items) < labelled, truth, np.nan),
        }
    ).with_columns(pl.col("human").fill_nan(None))
    return frame, truth


COLUMNS = ("--item", "ticket", "--context", "asked", "--response", "answer")


def by_people(work, truth):
    """Fill the sheet by what its texts say."""
    path = work / "sheets" / "human.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    head = rows[0]
    at = next(i for i, name in enumerate(head) if name.startswith("score"))
    shown = head.index("Response")
    for row in rows[1:]:
        row[at] = str(int(truth[int(row[shown].split()[1].rstrip("."))]))
    done = work / "human.csv"
    with done.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return done


def test_what_a_plan_draws_is_labelled_by_people_and_corrects_the_mean(tmp_path):
    frame, truth = judged()
    frame.write_csv(tmp_path / "pilot.csv")
    said = voirdire(
        "plan",
        "pilot.csv",
        *COLUMNS,
        "--reference",
        "human",
        "--half-width",
        "0.15",
        "--draw",
        "next.csv",
        "--seed",
        "7",
        cwd=tmp_path,
    )
    assert said.returncode == 0, said.stderr
    assert "Label these" in said.stdout
    assert "--queue next.csv" in " ".join(said.stdout.split())
    listed = pl.read_csv(tmp_path / "next.csv")
    asked = listed.filter(pl.col("decision") == "human")
    plan = plan_labels(
        tmp_path / "pilot.csv", [0.15], reference=["human"], draw=True, seed=7, read=None
    )
    assert asked.height == plan.draw.number == plan.rows[0].plans[0].upper - 60
    assert set(asked["item"]).isdisjoint(f"t{i}" for i in range(60))
    assert set(asked["origin"]) == {"random"}
    # Every response is as likely as every other: nothing is to be weighed.
    assert listed["label_probability"].null_count() == listed.height
    done = voirdire(
        "humans",
        "export",
        "pilot.csv",
        *COLUMNS,
        "--reference",
        "human",
        "--queue",
        "next.csv",
        "--out",
        "work",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    sheet = by_people(tmp_path / "work", truth)
    done = voirdire("humans", "import", "work", str(sheet), "--out", "answers", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    answers = pl.read_parquet(tmp_path / "answers/ratings.parquet")
    assert set(answers["origin"]) == {"random"}
    labels = answers.select(pl.col("item").alias("ticket"), pl.col("score").alias("human"))
    both = frame.join(labels, on="ticket", how="left", suffix="_new").with_columns(
        human=pl.coalesce("human", "human_new")
    )
    corrected = correct(both.select("ticket", "judge", "human"), reference=["human"]).scores[0]
    assert corrected.corrected.n_labelled == 60 + asked.height
    interval = corrected.corrected.interval
    assert interval.low <= truth.mean() <= interval.high
    assert interval.width / 2 == pytest.approx(0.15, rel=0.25)


def test_what_a_plan_draws_of_clusters_is_as_the_pilot_was_drawn():
    """Of single turns it drew whole dialogues, three times as many responses as it had planned."""
    chance = np.random.default_rng(3)
    group = np.repeat(np.arange(150), 4)
    truth = np.clip(np.rint(3 + chance.normal(size=150)[group] + chance.normal(size=600)), 1, 5)
    judge = np.clip(truth + chance.integers(-1, 2, 600), 1, 5)
    singly = chance.permutation(600) < 60
    for known, whole in ((singly, False), (group < 15, True)):
        frame = pl.DataFrame(
            {
                "item": [f"t{n}" for n in range(600)],
                "cluster": [f"d{k}" for k in group],
                "judge": judge,
                "human": np.where(known, truth, np.nan),
            }
        ).with_columns(pl.col("human").fill_nan(None))
        plan = plan_labels(frame, [0.2], reference=["human"], draw=True)
        needed = plan.rows[0].plans[0]
        assert plan.draw.clustered == whole
        assert plan.draw.number == needed.labels(needed.upper) - 60


def test_an_audit_makes_the_labels_of_a_queue_stand_for_all(tmp_path):
    """Without it they are the hard ones; with it `correct` weighs them, at the command line."""
    frame, truth = judged(items=600, labelled=150)
    frame.write_csv(tmp_path / "judged.csv")
    said = voirdire(
        "escalate",
        "judged.csv",
        *COLUMNS,
        "--reference",
        "human",
        "--agree",
        "0.85",
        "--gate",
        "4",
        "--audit",
        "60",
        "--out",
        "queue.csv",
        cwd=tmp_path,
    )
    assert said.returncode == 0, said.stderr
    queue = pl.read_csv(tmp_path / "queue.csv")
    assert set(queue["decision"]) == {"human", "automatic", "labelled"}
    drawn = queue.filter(pl.col("stratum") == "automatic")
    assert drawn.filter(pl.col("decision") == "human").height == 60
    exported = ["humans", "export", "judged.csv", *COLUMNS, "--reference", "human"]
    done = voirdire(*exported, "--queue", "queue.csv", "--out", "work", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    sheet = by_people(tmp_path / "work", truth)
    done = voirdire("humans", "import", "work", str(sheet), "--out", "answers", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    # One person without a judge cannot be examined alone.
    assert "voirdire examine JUDGE.csv --human answers/ratings.parquet" in done.stdout
    answers = pl.read_parquet(tmp_path / "answers/ratings.parquet")
    stated = dict(queue.drop_nulls("label_probability").select("item", "label_probability").rows())
    for item, chance in answers.select("item", "label_probability").rows():
        assert chance == stated.get(item)


def test_corrected_means_of_an_audited_queue_are_right_on_average():
    """The labels that chose who goes to people are used again, and weighed by the list."""
    errors, held = [], []
    for seed in range(14):
        frame, truth = judged(items=500, labelled=150, seed=seed)
        found = escalate(
            frame.select("ticket", "judge", "human"),
            agree=0.8,
            gate=4,
            reference=["human"],
            audit=40,
            seed=seed,
        )
        if len(found.audit.strata) < 2:
            continue
        known = found.audit.units.select(
            pl.col("item").alias("ticket"), pl.col("label_probability")
        )
        whole = frame.with_columns(every=pl.Series(truth)).join(known, on="ticket", how="left")
        whole = whole.with_columns(
            human=pl.when(pl.col("label_probability").is_not_null()).then("every")
        )
        one = (
            correct(
                whole.select("ticket", "judge", "human", "label_probability"), reference=["human"]
            )
            .scores[0]
            .corrected
        )
        errors.append(one.value - truth.mean())
        held.append(one.interval.low <= truth.mean() <= one.interval.high)
    assert len(errors) > 5
    # The judge's mean over what has no label is no mean of all: by it this error was -0.07.
    assert abs(np.mean(errors)) < 4 * np.std(errors) / np.sqrt(len(errors))
    assert np.mean(held) >= 0.9


def test_a_draw_is_even_within_its_stratum_and_counts_what_is_labelled():
    rows = [(f"q{i}", "a", "fails" if i < 40 else "passes", i % 10 == 0) for i in range(400)]
    frame = pl.DataFrame(rows, ["item", "system", "stratum", "labelled"], orient="row")
    counts: dict[str, int] = {}
    for seed in range(300):
        drawn = draw_labels(frame, {"fails": 6, "passes": 18}, seed=seed)
        for item in drawn.units.filter(pl.col("decision") == "human")["item"]:
            counts[item] = counts.get(item, 0) + 1
    assert not any(name in counts for name in ("q0", "q10", "q390"))
    of_fails = np.array([counts[f"q{i}"] for i in range(40) if i % 10])
    # 6 of 36, 300 times over: binomial, and none beyond five of its standard deviations.
    assert np.abs(of_fails - 50).max() < 5 * np.sqrt(300 * (1 / 6) * (5 / 6))
    fails, passes = drawn.strata
    assert (fails.probability, passes.probability) == (0.25, 0.15)
    assert "within each stratum" in draw_section(drawn).text
    # A stratum that has no label and gets none: the labels cannot stand for all.
    bare = draw_labels(frame.with_columns(labelled=pl.lit(value=False)), {"fails": 6})
    assert bare.origin == "chosen"
    assert bare.units["label_probability"].null_count() == bare.units.height


def test_clusters_are_drawn_whole_and_part_of_one_is_one():
    rows = [(f"q{i}", "", "", i < 3, i // 5) for i in range(100)]
    frame = pl.DataFrame(rows, ["item", "system", "stratum", "labelled", "unit"], orient="row")
    drawn = draw_labels(frame, {"": 4}, seed=3)
    asked = drawn.units.filter(pl.col("decision") == "human")["item"]
    assert drawn.number == len(asked) == 20
    assert {int(name[1:]) // 5 for name in asked}.isdisjoint({0})
    assert len({int(name[1:]) // 5 for name in asked}) == 4


def test_a_plan_by_system_draws_from_each(tmp_path):
    chance = np.random.default_rng(1)
    rows = [
        (f"q{i}", system, rater, float(np.clip(round(level + chance.normal()), 1, 5)))
        for system, level, labels in (("A", 3.0, 40), ("B", 2.5, 60))
        for i in range(300)
        for rater in ("judge", "human")
        if rater == "judge" or i < labels
    ]
    frame = pl.DataFrame(rows, ["item", "system", "rater", "score"], orient="row")
    plan = plan_labels(frame, [0.2], reference=["human"], by="system", draw=True)
    asked = {row.group: int(row.plans[0].upper) for row in plan.rows}
    assert {one.name: one.labelled + one.drawn for one in plan.draw.strata} == asked
    # Each system has its own share: what is said of all weighs them.
    assert plan.draw.units["label_probability"].n_unique() == 2
    with pytest.raises(InputError, match="one half width to plan for, got 2"):
        plan_labels(frame, [0.2, 0.3], reference=["human"], draw=True)


def test_labels_with_probabilities_of_their_own_join_those_of_the_list(tmp_path):
    frame, truth = judged(items=300, labelled=30)
    strata = np.where(frame["judge"].to_numpy() <= 3, "low", "high")
    drawn = draw_labels(
        frame.select(
            pl.col("ticket").alias("item"),
            pl.lit("").alias("system"),
            pl.Series("stratum", strata),
            labelled=pl.col("human").is_not_null(),
        ),
        {"low": 60, "high": 10},
    )
    drawn.units.write_csv(tmp_path / "list.csv")
    new = drawn.units.filter(pl.col("decision") == "human").select(
        pl.col("item").alias("ticket"), pl.col("label_probability"), new=pl.lit(value=True)
    )
    whole = frame.with_columns(every=pl.Series(truth)).join(new, on="ticket", how="left")
    whole = whole.with_columns(human=pl.when(pl.col("new")).then("every").otherwise("human"))
    whole.select("ticket", "judge", "human", "label_probability").write_csv(tmp_path / "all.csv")
    asked = ("correct", "all.csv", "--reference", "human")
    refused = voirdire(*asked, cwd=tmp_path)
    assert refused.returncode != 0
    assert "label_probability is missing for 30 of 100" in " ".join(refused.stderr.split())
    assert "--drawn" in refused.stderr
    done = voirdire(*asked, "--drawn", "list.csv", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    weights = dict(drawn.units.select("item", "label_probability").rows())
    labels = whole.with_columns(p=pl.col("ticket").replace_strict(weights, default=None))
    by_hand = labels.filter(pl.col("human").is_not_null())
    mean = (by_hand["human"] / by_hand["p"]).sum() / (1 / by_hand["p"]).sum()
    one = correct(tmp_path / "all.csv", reference=["human"], drawn=tmp_path / "list.csv").scores[0]
    assert one.corrected.human.value == pytest.approx(mean)
    chosen = drawn.units.with_columns(origin=pl.lit("chosen"))
    chosen.write_csv(tmp_path / "chosen.csv")
    with pytest.raises(InputError, match="could not be drawn"):
        correct(tmp_path / "all.csv", reference=["human"], drawn=tmp_path / "chosen.csv")

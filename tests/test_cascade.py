"""Cascades: a cheap judge, a dear one, a person; learned on half of the labels, certified on half."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import polars as pl
import pytest
from command_line import typed

from voirdire import InputError
from voirdire.errors import QuestionError
from voirdire.examining.certificate import read_certificate
from voirdire.examining.changing import check_lock, freeze, read_lock
from voirdire.examining.correcting import cascade, cascade_sections, escalate
from voirdire.stats.automation import certified
from voirdire.study import load_study

voirdire = partial(typed, COLUMNS="100")
PRICES = {"judge_0": 0.001, "judge_1": 0.02}


def panel(seed=0, *, items=400, labelled=240, noises=(0.7, 0.5)):
    """Scores of 1 to 5 by judges with normal errors; the first labelled by a person; the truth."""
    chance = np.random.default_rng(seed)
    clear = chance.normal(3.2, 1.2, items)
    truth = np.clip(np.rint(clear), 1, 5)
    columns = {
        f"judge_{k}": np.clip(np.rint(clear + chance.normal(0, noise, items)), 1, 5)
        for k, noise in enumerate(noises)
    }
    human = np.where(np.arange(items) < labelled, truth, np.nan)
    frame = pl.DataFrame({"item": [f"i{n}" for n in range(items)], **columns, "human": human})
    return frame.with_columns(pl.col("human").fill_nan(None)), truth


def found_in(frame, agree=0.85, **options):
    given = {"gate": 4, "prices": PRICES, "person": 1.0, "reference": ["human"], **options}
    return cascade(frame, agree=agree, **given)


def test_a_cheap_judge_goes_first_and_people_are_asked_the_rest():
    found = found_in(panel()[0])
    assert found.judges[0] == "judge_0"
    assert found.released > 0.3
    assert found.low >= 0.85
    assert found.price < 0.8 * found.people
    text = cascade_sections(found)[0].text
    assert text.startswith("Ask judge_0")
    assert "need no person" in text


def test_who_has_a_price_is_a_judge(tmp_path):
    """Columns of any name may be a judge's, and which of them are is asked elsewhere."""
    path, names = tmp_path / "judged.csv", {"judge_0": "small", "judge_1": "large"}
    panel()[0].rename(names).write_csv(path)
    with pytest.raises(QuestionError, match="who judged"):
        escalate(path, agree=0.85, gate=4, reference=["human"])
    found = found_in(path, prices={"small": 0.001, "large": 0.02})
    named = found_in(panel()[0])
    assert found.judges == tuple(names[name] for name in named.judges)
    assert (found.threshold, found.low) == (named.threshold, named.low)


def test_the_target_is_missed_no_more_often_than_stated():
    """Truth on all responses that go out; every miss of a certified cascade counts."""
    missed, certified_runs, runs = 0, 0, 10
    for seed in range(runs):
        frame, truth = panel(seed, items=500, labelled=300, noises=(1.6, 1.2))
        found = found_in(frame, seed=seed)
        if not found.judges:
            continue
        certified_runs += 1
        goes = (found.queue["judge"] != "").to_numpy()
        same = (found.queue["score"].fill_null(0).to_numpy() >= 4) == (truth >= 4)
        assert goes.mean() == pytest.approx(found.released)
        missed += same[goes].mean() < found.target
    assert certified_runs >= 2
    # At a risk of .1 four of ten come by chance in about one of a hundred.
    assert missed <= 3


def test_a_judge_that_tells_nothing_is_not_worth_running():
    frame, _ = panel()
    noise = np.random.default_rng(5).integers(1, 6, frame.height).astype(float)
    found = found_in(
        frame.with_columns(judge_2=pl.Series(noise)), prices={**PRICES, "judge_2": 0.5}
    )
    assert "judge_2" in found.idle
    assert "judge_2" not in found.judges
    assert len(found.candidates) == 3 + 6 + 6


def test_no_cascade_is_an_answer():
    frame, _ = panel(noises=(4.0, 4.0))
    found = found_in(frame, 0.95)
    assert (found.judges, found.released, found.price) == ((), 0.0, 1.0)
    assert "No cascade" in cascade_sections(found)[0].text


def test_policies_are_tested_in_their_order_by_cluster():
    right = np.ones(300)
    right[200:] = 0
    at = np.arange(300)
    policies = np.stack([np.where(at < k, right, np.nan) for k in (10, 120, 200, 300)])
    assert certified(policies, right, target=0.9, risk=0.1)[0] == 2
    # As thirty clusters of ten the same labels are few.
    last, _, reason = certified(policies, right, target=0.9, risk=0.1, clusters=at // 10)
    assert last < 2
    assert reason in (None, "too_few_items")


def test_the_command_prices_and_remembers(tmp_path):
    panel()[0].write_csv(tmp_path / "judged.csv")
    asked = (
        "cascade",
        "judged.csv",
        "--reference",
        "human",
        "--agree",
        "0.85",
        "--gate",
        "4",
        "--person",
        "1",
    )
    missing = voirdire(*asked, "--price", "judge_0=0.001", cwd=tmp_path)
    assert missing.returncode != 0
    assert "--price judge_1=" in " ".join(missing.stderr.split())
    wrong = voirdire(*asked, "--price", "judge_0", cwd=tmp_path)
    assert "write JUDGE=PRICE" in " ".join(wrong.stderr.split())
    both = ("--price", "judge_0=0.001", "--price", "judge_1=0.02")
    done = voirdire(*asked, *both, "--out", "out", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout.partition("\nWritten")[0])
    assert record["judges"][0] == "judge_0"
    queue = pl.read_csv(tmp_path / "out" / "queue.csv")
    assert set(queue["decision"]) <= {"human", "automatic", "labelled"}
    assert queue.height == 400
    look = json.loads((tmp_path / "judged.csv.looks.jsonl").read_text("utf-8"))
    assert (look["command"], look["candidates"]) == ("cascade", 4)


def test_what_cannot_be_weighed_is_said():
    with pytest.raises(InputError, match=r"30 labels .* too few"):
        found_in(panel(labelled=30)[0])
    with pytest.raises(InputError, match="costs nan"):
        found_in(panel()[0], prices={"judge_0": float("nan"), "judge_1": 1.0})
    with pytest.raises(InputError, match="there is no judge 'judge_9'"):
        found_in(panel()[0], prices={**PRICES, "judge_9": 1.0})


def test_what_was_certified_is_held_by_the_lock_until_a_judge_of_it_changes(tmp_path):
    frame = panel()[0]
    frame.write_csv(tmp_path / "judged.csv")
    both = ("--price", "judge_0=0.001", "--price", "judge_1=0.02")
    done = voirdire(
        "cascade",
        "judged.csv",
        "--reference",
        "human",
        "--agree",
        "0.85",
        "--gate",
        "4",
        "--person",
        "1",
        *both,
        "--out",
        "out",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    certificate = read_certificate(tmp_path / "out" / "cascade.toml")
    assert certificate.judges[0] == "judge_0"
    assert certificate.low >= 0.85
    # Ratings of a file are asked by no study.
    assert not (tmp_path / "out" / "study.toml").exists()
    frozen = voirdire(
        "gate",
        "freeze",
        "judged.csv",
        "--reference",
        "human",
        "--as",
        "judge.lock",
        "--cascade",
        "out/cascade.toml",
        cwd=tmp_path,
    )
    assert frozen.returncode == 0, frozen.stderr
    assert "Certified: ask judge_0" in frozen.stdout
    lock = read_lock(tmp_path / "judge.lock")
    assert lock.cascade == certificate
    same, _ = check_lock(frame, lock, reference=["human"])
    assert "cascade_void" not in {one.kind for one in same.findings}
    moved = frame.with_columns((pl.col("judge_0") - 1).clip(1, 5))
    (void,) = [
        one
        for one in check_lock(moved, lock, reference=["human"])[0].findings
        if one.kind == "cascade_void"
    ]
    assert void.severity == "serious"
    assert "judge_0" in void.message
    text = (tmp_path / "judge.lock").read_text("utf-8")
    (tmp_path / "judge.lock").write_text(text.replace("agree = 0.85", "agree = 0.95"), "utf-8")
    with pytest.raises(InputError, match="changed by hand"):
        read_lock(tmp_path / "judge.lock")
    with pytest.raises(InputError, match="certified of 'judge_0'"):
        freeze(frame, reference=["human"], judges=["judge_1"], cascade=certificate)


def test_a_study_that_asked_the_judges_gives_one_that_asks_those_of_the_cascade(tmp_path):
    panel()[0].write_csv(tmp_path / "judged.csv")
    raters = "".join(
        f'[[panel]]\nname = "judge_{k}"\nkind = "judge"\nmodel = "openai:model-{k}"\n\n'
        for k in range(2)
    )
    (tmp_path / "study.toml").write_text(
        f"""
name = "two"

[rubric]
scale = [1, 5]

[data]
reference = ["human"]

{raters}[[data.sources]]
path = "judged.csv"
item = "item"
""",
        "utf-8",
    )
    done = voirdire(
        "cascade",
        "study.toml",
        "--reference",
        "human",
        "--agree",
        "0.85",
        "--gate",
        "4",
        "--person",
        "1",
        "--price",
        "judge_0=0.001",
        "--price",
        "judge_1=0.02",
        "--out",
        "out",
        "--json",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout
    made = load_study(tmp_path / "out" / "study.toml")
    assert tuple(rater.name for rater in made.panel) == tuple(
        read_certificate(tmp_path / "out" / "cascade.toml").judges
    )
    assert made.panel[0].model == "openai:model-0"
    assert (tmp_path / "out" / made.data.sources[0].path).is_file()

"""A certified cascade on new responses: the dear judge is asked what the cheap one left open."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import polars as pl
import pytest
from command_line import typed

from voirdire import InputError, run
from voirdire.examining.certificate import read_certificate
from voirdire.examining.changing import freeze, read_lock, write_lock
from voirdire.examining.correcting import CascadeAsking
from voirdire.store.frames import ratings_frame
from voirdire.study import load_study

voirdire = partial(typed, COLUMNS="100")
STUDY = """
name = "two"

[rubric]
scale = [1, 5]
attributes = ["calm"]

[items]
path = "items.csv"

[responses]
path = "answers.csv"

[[panel]]
name = "small"
model = "simulated:small"

[[panel]]
name = "large"
model = "simulated:large"
"""


def world(folder, first, number):
    """A study of two simulated judges about texts that no other study here has."""
    folder.mkdir()
    names = [f"i{n}" for n in range(first, first + number)]
    pl.DataFrame({"id": names, "text": [f"What of {n}?" for n in names]}).write_csv(
        folder / "items.csv"
    )
    # Half of the items are answered by two systems: what is open is a response, and no item.
    rows = [(n, s, f"{s} says {n}.") for k, n in enumerate(names) for s in "ab"[: 1 + k % 2]]
    pl.DataFrame(rows, ["item", "system", "text"], orient="row").write_csv(folder / "answers.csv")
    (folder / "study.toml").write_text(STUDY, "utf-8")
    return folder / "study.toml"


def scores_of(session):
    """(item, system) -> the score of each judge."""
    wide = ratings_frame(session).pivot(on="rater", index=["item", "system"], values="score")
    return {(row["item"], row["system"]): row for row in wide.to_dicts()}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A recorded panel whose small judge is right where it says 1 or 2, the large one elsewhere."""
    folder = tmp_path_factory.mktemp("cascade")
    study = world(folder / "old", 0, 200)
    run(study, folder / "session", quiet=True)
    said = scores_of(folder / "session")
    chance = np.random.default_rng(0)
    labels = [
        (*key, row["small"] if row["small"] <= 2 else row["large"])
        for key, row in said.items()
        if chance.random() < 0.8
    ]
    pl.DataFrame(labels, ["item", "system", "human"], orient="row").write_csv(folder / "labels.csv")
    done = voirdire(
        "cascade",
        "session",
        "--human",
        "labels.csv",
        "--agree",
        "0.9",
        "--gate",
        "3",
        "--price",
        "small=0.001",
        "--price",
        "large=0.05",
        "--person",
        "1",
        "--out",
        "out",
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_each_judge_is_asked_what_those_before_it_left_open_and_paid_once(made):
    certificate = read_certificate(made / "out" / "cascade.toml")
    assert certificate.judges == ("small", "large")
    world(made / "new", 1000, 60)
    asked = ("run", "new/study.toml", "--cascade", "out/cascade.toml", "--out", "ran", "--quiet")
    cut = voirdire(*asked, "--max-calls", "100", cwd=made)
    assert cut.returncode == 3, cut.stdout + cut.stderr
    again = voirdire(*asked, cwd=made)
    assert "--resume" in again.stderr
    done = voirdire(*asked, "--resume", "--json", cwd=made)
    assert done.returncode == 0, done.stdout + done.stderr
    record = json.loads(done.stdout)
    small, large = (scores_of(made / "ran" / name) for name in ("1-small", "2-large"))
    assert len(small) == 90
    queue = pl.read_csv(made / "ran" / "queue.csv")
    sure = queue.filter(judge="small")
    assert 0 < sure.height < 90
    # The large one is asked about all others, and about none of these.
    assert set(large) == set(small) - set(sure.select("item", "system").iter_rows())
    assert record["calls"] == len(small) + len(large)
    assert record["automatic"] + record["human"] == 90
    for row in queue.filter(decision="automatic").to_dicts():
        said = {"small": small, "large": large}[row["judge"]]
        assert row["score"] == said[row["item"], row["system"]][row["judge"]]


def test_the_confidence_of_a_stage_is_that_of_the_panel_that_was_recorded(made):
    """On the very responses that it was learned on, verdict for verdict."""
    certificate = read_certificate(made / "out" / "cascade.toml")
    asking = CascadeAsking(certificate, load_study(made / "old" / "study.toml"))
    while asking.judge:
        place = made / f"same-{asking.stage}"
        run(asking.next_study(), place, quiet=True)
        asking.take(place)
    keys = ["item", "system"]
    recorded = pl.read_csv(made / "out" / "queue.csv").filter(pl.col("judge") != "").sort(keys)
    mine = asking.queue().filter(decision="automatic").sort(keys)
    assert mine.select(*keys, "judge", "score").equals(recorded.select(*keys, "judge", "score"))


def test_the_lock_holds_how_sure_one_can_be_and_refuses_another_weight(made):
    certificate = read_certificate(made / "out" / "cascade.toml")
    lock = freeze(made / "session", cascade=certificate)
    write_lock(made / "judge.lock", lock)
    assert read_lock(made / "judge.lock").cascade == certificate
    text = (made / "judge.lock").read_text("utf-8")
    assert text.count("intercept = ") == 2
    (made / "other.lock").write_text(text.replace("intercept = ", "intercept = 1", 1), "utf-8")
    with pytest.raises(InputError, match="changed by hand"):
        read_lock(made / "other.lock")


def test_what_cannot_be_run_is_said(made):
    certificate = read_certificate(made / "out" / "cascade.toml")
    study = load_study(made / "old" / "study.toml")
    with pytest.raises(InputError, match="has no 'large'"):
        CascadeAsking(certificate, study.model_copy(update={"panel": study.panel[:1]}))
    with pytest.raises(InputError, match="an earlier voirdire wrote it"):
        CascadeAsking(certificate.model_copy(update={"stages": ()}), study)
    with pytest.raises(InputError, match="responses that are there"):
        CascadeAsking(certificate, study.model_copy(update={"responses": None}))
    by_turn = tuple(one.model_copy(update={"unit": "turn"}) for one in study.panel)
    with pytest.raises(InputError, match="'small' judges by unit = 'turn'"):
        CascadeAsking(certificate, study.model_copy(update={"panel": by_turn}))

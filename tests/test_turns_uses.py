"""Juries, gates and corrected numbers over turns, as they are typed: conversations are clusters.

And a small part of the simulation that benchmarks/conversations.py repeats on a grid.
"""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from command_line import invoke
from turn_simulation import counted, true_mean

TALKS, TURNS = 60, 5
READ = ("--item", "conversation", "--turn", "turn", "--judge", "j1", "--judge", "j2")
#: The same rows without a word of turns: each an item of its own.
FLAT = ("--item", "row", "--ignore", "conversation", "--ignore", "turn", *READ[4:])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Turns whose scores, and errors, are alike within a conversation; people on a third."""
    folder = tmp_path_factory.mktemp("turns")
    rng = np.random.default_rng(1)
    talk = np.repeat(np.arange(TALKS), TURNS)
    truth = rng.normal(3, 0.9, TALKS)[talk] + rng.normal(0, 0.4, talk.size)

    def rated():
        return truth + rng.normal(0, 0.5, TALKS)[talk] + rng.normal(0, 0.3, talk.size)

    scores = {name: np.clip(np.rint(rated()), 1, 5) for name in ("human_1", "human_2", "j1", "j2")}
    turns = pl.DataFrame(
        {
            "row": [f"r{at}" for at in range(talk.size)],
            "conversation": [f"c{at}" for at in talk],
            "turn": np.tile(np.arange(1, TURNS + 1), TALKS),
            **scores,
        }
    )
    asked = pl.Series(talk < TALKS // 3)
    few = turns.with_columns(
        pl.when(asked).then(pl.col(name)).alias(name) for name in ("human_1", "human_2")
    )
    turns.write_csv(folder / "turns.csv")
    few.write_csv(folder / "few.csv")
    return folder


def said(*words):
    done = invoke([*map(str, words), "--json"])
    assert done.exit_code == 0, done.output + str(done.exception)
    return json.loads(done.stdout)


def width(interval):
    return interval["high"] - interval["low"]


def test_corrected_numbers_rest_on_conversations(files):
    (clustered,) = said("correct", files / "few.csv", *READ[:-2])["scores"]
    (flat,) = said("correct", files / "few.csv", *FLAT[:-2])["scores"]
    assert clustered["corrected"]["n_clusters"] == TALKS // 3
    assert clustered["corrected"]["df"] == TALKS // 3 - 2
    assert clustered["corrected"]["n_labelled"] == TALKS // 3 * TURNS
    # A conversation's turns are alike, so that its five labels tell little more than one.
    assert width(clustered["corrected"]["interval"]) > 1.4 * width(flat["corrected"]["interval"])


def test_a_jury_is_measured_with_conversations_as_clusters(files):
    (clustered,) = said("jury", files / "turns.csv", *READ, "--members", "j1,j2")["results"]
    (flat,) = said("jury", files / "turns.csv", *FLAT, "--members", "j1,j2")["results"]
    assert clustered["asked"] == flat["asked"] == TALKS * TURNS
    gains = [one["worth"]["over_single"]["intervals"][0] for one in (clustered, flat)]
    assert width(gains[0]) > 1.2 * width(gains[1])


def test_a_gate_holds_turns_by_their_conversation(files, tmp_path):
    lock = tmp_path / "lock.json"
    done = invoke(["gate", "freeze", str(files / "turns.csv"), *READ[:-2], "--as", str(lock)])
    assert done.exit_code == 0, done.output + str(done.exception)
    frame = pl.read_csv(files / "turns.csv")
    # In three conversations of sixty the judge says 2 points less in every turn.
    moved = frame.with_columns(
        j1=pl.when(pl.col("conversation").is_in(["c1", "c2", "c3"]))
        .then((pl.col("j1") - 2).clip(1, 5))
        .otherwise("j1")
    )
    moved.write_csv(tmp_path / "moved.csv")
    same = said("gate", "check", files / "turns.csv", "--lock", lock, *READ[:-2])
    assert "no change shown" in same["answer"]["sentence"]
    # Fifteen turns would be a change; three conversations of sixty may be chance.
    few = said("gate", "check", tmp_path / "moved.csv", "--lock", lock, *READ[:-2])
    assert "no change shown" in few["answer"]["sentence"]
    flat = tmp_path / "flat.json"
    invoke(["gate", "freeze", str(files / "turns.csv"), *FLAT[:-2], "--as", str(flat)])
    done = invoke(["gate", "check", str(tmp_path / "moved.csv"), "--lock", str(flat), *FLAT[:-2]])
    assert done.exit_code == 4


def test_intervals_cover_and_the_judge_of_the_last_turn_gets_no_use():
    found = counted(clients=20, turns=4, people=3, sets=40, first=5, mean=true_mean(100_000))
    for of in ("bias", "apart", "corrected"):
        assert found.share((of, "clustered")) >= 0.88
    assert found.share(("bias", "flat")) < found.share(("bias", "clustered")) - 0.1
    assert found.yes("last") <= 2  # 5 % of the sets
    assert [found.states["last", use, "yes"] for use in ("order", "single", "gate")] == [0] * 3
    assert found.yes("exchangeable") > 20

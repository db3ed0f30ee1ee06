"""mentalalign, cbt_bench and angst over turns: from personas to talks, ratings, labels and reports."""

from __future__ import annotations

import json

import polars as pl
import pytest
from command_line import invoke
from wire_server import WireServer

from voirdire.examining import examine
from voirdire.store import ratings_frame
from voirdire.study import load_study
from voirdire_plugins.conversations.studies import personas, write_labelled
from voirdire_plugins.mentalalign.benchmark import RUBRIC


def done(*arguments):
    result = invoke([str(one) for one in arguments])
    assert result.exit_code == 0, result.output + str(result.exception)
    return result.output


def refused(*arguments):
    result = invoke([str(one) for one in arguments])
    assert result.exit_code == 1
    return str(result.exception)


def test_personas_are_ours_and_in_several_languages():
    frame = personas()
    assert frame["id"].is_unique().all()
    assert frame["language"].unique().sort().to_list() == ["de", "en", "es"]
    assert frame["text"].str.len_chars().min() > 150


@pytest.fixture(scope="module")
def talks(tmp_path_factory):
    """A session in which two systems talked with our clients, its answers rated by turn."""
    folder = tmp_path_factory.mktemp("talks")
    asked = ("paper", "mentalalign", "personas", "--generator", "simulated:g", "--generator",
             "simulated:h", "--client", "simulated:c", "--turns", "2", "--unit", "turn",
             "--model", "simulated:a")  # fmt: skip
    done(*asked, "--out", folder / "study")
    done("run", folder / "study" / "study.toml", "--out", folder / "talks", "--quiet")
    return folder / "talks", asked


def test_mentalalign_rates_each_turn_of_systems_that_talk_with_clients(tmp_path, talks):
    session, asked = talks
    ratings = ratings_frame(session)
    # Two answers of two systems to twelve clients, on seven attributes.
    assert ratings.height == 2 * 2 * 12 * 7
    assert ratings["item"].unique().str.ends_with(" turn 2").sum() == 12
    rows = ratings.select("item", "system", "attribute", "score")
    people = pl.concat([rows.with_columns(rater=pl.lit(who)) for who in ("ann", "ben")])
    people.write_csv(tmp_path / "people.csv")
    # What people said comes after the talks: the same command, and nothing is asked again.
    done(*asked, "--humans", tmp_path / "people.csv", "--out", tmp_path / "rated")
    study = tmp_path / "rated" / "study.toml"
    said = done("run", study, "--out", session, "--resume", "--quiet")
    assert "Complete" in said
    assert ratings_frame(session).height == ratings.height
    found = examine("mentalalign", data=session, resamples=0)
    sections = {section.title: section for section in found.sections}
    assert [row[0] for row in sections["Agreement over turns"].table.rows] == [2, 4]
    assert {v.attribute for v in found.verdicts} >= {one["name"] for one in RUBRIC["attributes"]}


def test_cbt_bench_and_angst_label_what_clients_say(tmp_path, talks):
    session, seen = talks[0], []

    def answer(request):
        text = str(request.texts)
        seen.append(text)
        return '{"depression": "no"}' if "depression" in text else "B" if "turn 3" in text else "A"

    with WireServer(answer) as server:
        model = ("--model", "compatible:m", "--model-option", f"base_url={server.url}/v1")
        said = done(
            "paper",
            "cbt_bench",
            "conversations",
            session,
            "--task",
            "cd",
            "--unit",
            "turn",
            *model,
            "--out",
            tmp_path / "cd",
        )
        assert "no verdict follows" in said
        done("run", tmp_path / "cd" / "study.toml", "--out", tmp_path / "cd-out", "--quiet")
        labels = ratings_frame(tmp_path / "cd-out")
        people = labels.select("item", "attribute", "score").with_columns(rater=pl.lit("ann"))
        people.write_csv(tmp_path / "labels.csv")
        done(
            "paper",
            "angst",
            "conversations",
            session,
            "--task",
            "depression",
            "--unit",
            "whole",
            "--runs",
            "1",
            *model,
            "--out",
            tmp_path / "angst",
        )
        done("run", tmp_path / "angst" / "study.toml", "--out", tmp_path / "angst-out", "--quiet")
    # The client's turns, of both systems' conversations.
    assert labels["item"].n_unique() == 2 * 2 * 12
    assert {"baker g turn 1", "baker h turn 3"} <= set(labels["item"])
    assert labels.filter(pl.col("status") != "ok").is_empty()
    assert labels.select("item", "cluster").row(0) == ("baker g turn 1", "baker g")
    whole = ratings_frame(tmp_path / "angst-out")
    assert whole["item"].n_unique() == 2 * 12
    assert whole["score"].to_list() == [0.0] * whole.height
    assert any("The turn that is asked about:" in one and "[2] assistant" in one for one in seen)
    done(
        "paper",
        "cbt_bench",
        "conversations",
        session,
        "--task",
        "cd",
        "--unit",
        "turn",
        "--people",
        tmp_path / "labels.csv",
        *model,
        "--out",
        tmp_path / "held",
    )
    assert load_study(tmp_path / "held" / "study.toml").data.reference == ("ann",)


def test_what_is_asked_about_conversations_is_said(tmp_path):
    lines = [{"id": "c1", "messages": [{"role": "client", "content": "Hi"}]}]
    (tmp_path / "talks.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    asked = (
        "paper",
        "angst",
        "conversations",
        tmp_path / "talks.jsonl",
        "--model",
        "simulated:a",
        "--out",
        tmp_path / "out",
    )
    assert "Give --unit turn (each turn of a role" in refused(*asked)
    assert "--role 'user' is nobody's turn" in refused(*asked, "--unit", "turn")
    assert "(roles: 'client')" in refused(*asked, "--unit", "turn")
    pl.DataFrame(
        {"item": ["c1"], "rater": ["ann"], "attribute": ["depression"], "score": [1]}
    ).write_csv(tmp_path / "people.csv")
    own = (*asked, "--unit", "turn", "--role", "client", "--people", tmp_path / "people.csv")
    assert "such as 'c1'; the study asks about c1 turn 1" in refused(*own)
    personas_alone = (
        "paper",
        "mentalalign",
        "personas",
        "--generator",
        "simulated:g",
        "--model",
        "simulated:a",
        "--out",
        tmp_path / "out",
    )
    assert "who plays the clients?" in refused(*personas_alone)
    assert not (tmp_path / "out").exists()


def test_parts_that_are_no_text_stay_with_their_message(tmp_path):
    image = {"type": "image_url", "image_url": {"url": "a.png"}}
    said = [{"role": "user", "content": [{"type": "text", "text": "See."}, image]}]
    (tmp_path / "talks.jsonl").write_text(json.dumps({"id": "c1", "messages": said}), "utf-8")
    panel = [{"name": "ann", "kind": "human"}]
    write_labelled(
        tmp_path / "out",
        tmp_path / "talks.jsonl",
        {"name": "t", "panel": panel},
        ["calm"],
        unit="whole",
    )
    (row,) = pl.read_ndjson(tmp_path / "out" / "conversations.jsonl").to_dicts()
    assert json.loads(row["messages"])[0]["content"] == [{"type": "text", "text": "See."}, image]

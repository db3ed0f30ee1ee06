"""Conversations through a session: read, asked about by turn, kept, changed and gone on with."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import numpy as np
import polars as pl
import pytest

from voirdire.errors import StudyError, TableError
from voirdire.running import run, session_status
from voirdire.schema import Turn
from voirdire.store import ratings_frame, replies_frame, responses_frame
from voirdire.store.replies import shown_messages
from voirdire.study import build_study
from voirdire.tables.turns import looks_like_turns, turns_of_cell


def said(name, turns=6):
    return [
        {"role": "user" if at % 2 == 0 else "assistant", "content": f"{name}, {at + 1}"}
        for at in range(turns)
    ]


def study_of(folder, *, talks=None, unit="turn", role="assistant", panel=None, **more):
    pl.DataFrame({"id": ["c1", "c2"], "text": ["A scene.", "Another."]}).write_csv(
        folder / "items.csv"
    )
    talks = talks or {(c, s): said(c + s) for s in "ab" for c in ("c1", "c2")}
    lines = [{"item": c, "system": s, "messages": t} for (c, s), t in talks.items()]
    (folder / "talks.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    conversations = {"unit": unit, "role": role} if unit else {}
    raw = {
        "name": "talks", "rubric": {"attributes": [{"name": "Warm"}]},
        "panel": panel or [{"name": "ann", "use": "rubric", "model": "simulated:x"}],
        "items": {"path": "items.csv"},
        "responses": {"path": "talks.jsonl", "messages": "messages"},
        "conversations": conversations,
    }  # fmt: skip
    return build_study({**raw, **more}, folder=str(folder))


def went(folder, study, **more):
    return run(study, folder / "s", quiet=True, **more)


def test_each_turn_of_a_role_is_a_unit_and_its_conversation_the_cluster(tmp_path):
    result = went(tmp_path, study_of(tmp_path))
    (ann,) = result.raters
    assert (ann.tasks, ann.done) == (12, 12)
    ratings = ratings_frame(tmp_path / "s")
    assert ratings["item"].to_list()[:4] == ["c1 turn 2", "c1 turn 4", "c1 turn 6", "c2 turn 2"]
    assert ratings["cluster"].to_list()[:4] == ["c1", "c1", "c1", "c2"]
    kept = pl.read_parquet(tmp_path / "s" / "ratings.parquet")
    assert kept.select("item", "cluster").equals(ratings.select("item", "cluster"))
    assert set(replies_frame(tmp_path / "s")["item"]) == set(ratings["item"])


def test_a_judge_is_shown_the_past_of_a_turn_and_nothing_after_it(tmp_path):
    went(tmp_path, study_of(tmp_path))
    _, asked = shown_messages(tmp_path / "s", "ann", "c2 turn 4", "b", 1)
    assert "Another." in asked.text
    assert "[2] assistant: c2b, 2" in asked.text
    assert "[4] assistant: c2b, 4" in asked.text
    assert "c2b, 5" not in asked.text


def test_the_past_may_be_declared_away(tmp_path):
    study = study_of(tmp_path, conversations={"unit": "turn", "role": "assistant", "past": 0})
    went(tmp_path, study)
    _, asked = shown_messages(tmp_path / "s", "ann", "c2 turn 4", "b", 1)
    assert "c2b, 4" in asked.text
    assert "c2b, 3" not in asked.text


def test_whole_and_turns_are_judged_beside_each_other(tmp_path):
    panel = [
        {"name": name, "use": "rubric", "model": "simulated:x", "unit": unit}
        for name, unit in (("parts", "turn"), ("whole", "whole"))
    ]
    went(tmp_path, study_of(tmp_path, panel=panel))
    counts = ratings_frame(tmp_path / "s").group_by("rater").len().rows()
    assert sorted(counts) == [("parts", 12), ("whole", 4)]
    responses = responses_frame(tmp_path / "s")
    assert responses["text"][0].startswith("[1] user: c1a, 1\n[2] assistant: c1a, 2\n")


def test_a_changed_turn_sets_its_replies_aside_and_no_others(tmp_path):
    went(tmp_path, study_of(tmp_path))
    assert went(tmp_path, study_of(tmp_path), resume=True).raters[0].calls == 12
    talks = {(c, s): said(c + s) for s in "ab" for c in ("c1", "c2")}
    talks["c1", "a"][5]["content"] = "another end"
    study = study_of(tmp_path, talks=talks)
    result = went(tmp_path, study, resume=True, ask_again=True)
    assert result.raters[0].done == 12
    # The texts of turns 2 and 4 are what they were: their replies count again.
    assert result.raters[0].calls == 13


def test_a_conversation_that_grew_has_more_units(tmp_path):
    went(tmp_path, study_of(tmp_path))
    talks = {(c, s): said(c + s, 8) for s in "ab" for c in ("c1", "c2")}
    result = went(tmp_path, study_of(tmp_path, talks=talks), resume=True, ask_again=True)
    assert (result.raters[0].tasks, result.raters[0].calls) == (16, 16)
    assert session_status(tmp_path / "s").raters[0].done == 16


def test_the_unit_is_asked_for_and_so_is_the_role(tmp_path):
    with pytest.raises(StudyError, match=r"\[conversations\] whether unit = 'whole'"):
        went(tmp_path, study_of(tmp_path, unit=None))
    with pytest.raises(StudyError, match=r"role: is missing.*roles: 'assistant', 'user'"):
        went(tmp_path, study_of(tmp_path, role=""))
    with pytest.raises(StudyError, match="'bot' is not the role of any turn"):
        went(tmp_path, study_of(tmp_path, role="bot"))


def test_turns_never_reach_a_judge_as_json(tmp_path):
    study = study_of(tmp_path, responses={"path": "talks.jsonl", "text": "messages"})
    with pytest.raises(TableError, match=r"line 1.*holds the turns.*messages = 'messages'"):
        went(tmp_path, study)


def test_items_of_turns_are_labelled_turn_by_turn(tmp_path):
    lines = [{"id": c, "messages": said(c)} for c in ("c1", "c2")]
    (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    raw = {
        "name": "labels", "items": {"path": "items.jsonl", "messages": "messages"},
        "conversations": {"unit": "turn", "role": "user"},
        "panel": [{"name": "ann", "kind": "annotator", "use": "choice", "model": "simulated:x",
                   "options": {"options": ["calm", "tense"], "prompt": "Which? {text}"}}],
    }  # fmt: skip
    study = build_study(raw, folder=str(tmp_path))
    result = went(tmp_path, study)
    assert result.raters[0].done == 6
    frame = ratings_frame(tmp_path / "s")
    assert frame["item"].unique(maintain_order=True).to_list()[:2] == ["c1 turn 1", "c1 turn 3"]


def test_rows_of_one_message_each_are_a_conversation(tmp_path):
    rows = [
        {"item": c, "system": "a", "who": one["role"], "said": one["content"], "at": at}
        for c in ("c1", "c2")
        for at, one in enumerate(said(c))
    ]
    pl.DataFrame(rows).write_csv(tmp_path / "long.csv")
    columns = {"role": "who", "content": "said", "time": "at"}
    study = study_of(tmp_path, responses={"path": "long.csv", "messages": columns})
    assert went(tmp_path, study).raters[0].done == 6
    with closing(sqlite3.connect(tmp_path / "s" / "session.sqlite")) as connection:
        kept = connection.execute("SELECT turn, role, at, body FROM messages LIMIT 2").fetchall()
    assert kept == [(1, "user", "0", "c1, 1"), (2, "assistant", "1", "c1, 2")]


def test_parquet_of_nested_messages(tmp_path):
    frame = pl.DataFrame(
        {"item": ["c1", "c2"], "system": ["a", "a"], "messages": [said("c1"), said("c2", 2)]}
    )
    frame.write_parquet(tmp_path / "talks.parquet")
    responses = {"path": "talks.parquet", "messages": "messages"}
    assert went(tmp_path, study_of(tmp_path, responses=responses)).raters[0].done == 4


EXPORT = {
    "root": {"message": None, "parent": None, "children": ["a"]},
    "a": {"message": {"author": {"role": "user"}, "content": {"parts": ["Hi"]},
                      "create_time": 1.5}, "parent": "root", "children": ["b"]},
    "b": {"message": {"author": {"role": "assistant"}, "content": {"parts": ["Hello"]}},
          "parent": "a", "children": []},
}  # fmt: skip


@pytest.mark.parametrize(
    ("cell", "turns"),
    [
        (None, ()),
        ("", ()),
        ([{"role": "user", "content": "Hi"}], (Turn("user", "Hi"),)),
        ('[{"from": "human", "value": "Hi"}]', (Turn("human", "Hi"),)),
        ({"conversations": [{"from": "gpt", "value": "a"}]}, (Turn("gpt", "a"),)),
        ([{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image", "u": 1}]}],
         (Turn("user", "a", parts=({"type": "image", "u": 1},)),)),
        ([{"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}],
         (Turn("assistant", "", parts=({"type": "tool_call", "id": "1"},)),)),
        ({"mapping": EXPORT}, (Turn("user", "Hi", time="1.5"), Turn("assistant", "Hello"))),
    ],
)  # fmt: skip
def test_the_forms_of_a_conversation(cell, turns):
    assert turns_of_cell(cell, "x") == turns


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("Hello", "x: 'Hello' is no JSON"),
        ([{"speaker": "ann", "said": "Hi"}], "message 1: keys 'said', 'speaker'|said, speaker"),
        ([{"role": None, "content": "Hi"}], "role is None, and must say who speaks"),
        ({"a": 1}, "no conversation"),
        ([{"role": "user", "content": 4}], "message 1, content: 4 is neither"),
        ({"mapping": {**EXPORT, "c": {"message": None, "parent": "a", "children": []}}},
         "2 branches"),
    ],
)  # fmt: skip
def test_what_is_no_conversation_is_said_with_its_place(cell, message):
    with pytest.raises(TableError, match=message):
        turns_of_cell(cell, "x")


def test_a_text_is_not_taken_for_a_conversation():
    assert not looks_like_turns('{"a": [1]}')
    assert not looks_like_turns("[]")
    assert looks_like_turns(json.dumps(said("c1")))


def rated(folder, rows, **columns):
    frame = pl.DataFrame(rows, schema=["conversation", "turn", "human", "judge"], orient="row")
    frame.rename(columns).write_csv(folder / "rated.csv")
    return folder / "rated.csv"


ROWS = [(f"c{c}", t, 1 + (c + t) % 5, 1 + (c * t) % 5) for c in range(8) for t in range(1, 4)]


def test_rows_about_turns_have_ids_of_their_own_and_their_conversation_as_cluster(tmp_path):
    from voirdire.study import Source
    from voirdire.tables import read_tables

    rated(tmp_path, ROWS)
    data = {"sources": [{"path": "rated.csv", "turn": "turn", "item": "conversation"}]}
    ratings = read_tables(build_study({"name": "t", "data": data}, folder=str(tmp_path))).ratings
    assert ratings.height == 2 * len(ROWS)
    assert set(ratings.select("item", "cluster").rows()) == {
        (f"{c} turn {t}", c) for c, t, _, _ in ROWS
    }
    assert Source(path="x").turn is None


@pytest.mark.parametrize("turn", [0, 1.5, None, "second"])
def test_a_turn_that_is_none_is_said_with_its_row(tmp_path, turn):
    from voirdire.tables import read_tables

    rows = [*ROWS, ("c9", turn, 3, 3)]
    frame = pl.DataFrame(
        [(c, None if t is None else str(t), h, j) for c, t, h, j in rows],
        schema=["conversation", "turn", "human", "judge"],
        orient="row",
    )
    frame.write_csv(tmp_path / "rated.csv")
    data = {"sources": [{"path": "rated.csv", "turn": "turn"}]}
    study = build_study({"name": "t", "data": data}, folder=str(tmp_path))
    with pytest.raises(TableError, match=r"rated.csv: line 26, column 'turn': .* is no turn"):
        read_tables(study)


def test_a_column_that_looks_like_turns_is_said_and_nothing_is_done(tmp_path):
    from voirdire.tables import read_tables

    path = rated(tmp_path, ROWS)
    study = build_study(
        {"name": "t", "data": {"sources": [{"path": path.name}]}}, folder=str(tmp_path)
    )
    with pytest.raises(TableError, match=r'declare `turn = "turn"` if a row is a turn'):
        read_tables(study)
    frame = pl.read_csv(path).with_columns(system=pl.concat_str(pl.lit("s"), pl.col("turn")))
    frame.write_csv(path)
    tables = read_tables(study)
    assert "turns_not_declared" in [one.kind for one in tables.findings]
    assert "cluster" not in tables.ratings.columns


def test_agreement_over_turns(tmp_path):
    from voirdire import examine
    from voirdire.study import ReadOptions

    rng = np.random.default_rng(4)
    rows = []
    for c in range(40):
        base = rng.normal(3, 1)
        turns = base + rng.normal(0, 0.7, 5)
        for at, truth in enumerate(turns, 1):
            # The judge loses the thread: its noise grows with each turn.
            noise = [0.3, 0.3, 0.3, 0.4 * at]
            scores = np.clip(np.rint(truth + rng.normal(0, noise)), 1, 5)
            rows.append((f"c{c} turn {at}", f"c{c}", *scores))
        scores = np.clip(np.rint(turns.mean() + rng.normal(0, 0.3, 4)), 1, 5)
        rows.append((f"c{c}", f"c{c}", *scores))
    names = ["item", "cluster", "human_1", "human_2", "human_3", "judge"]
    pl.DataFrame(rows, schema=names, orient="row").write_csv(tmp_path / "both.csv")
    found = examine(tmp_path / "both.csv", read=ReadOptions())
    sections = {section.title: section for section in found.sections}
    by_turn = {row[0]: row for row in sections["Agreement over turns"].table.rows}
    assert sorted(by_turn) == [1, 2, 3, 4, 5]
    people, judge = ([by_turn[at][k] for at in range(1, 6)] for k in (2, 3))
    assert max(people) < 0.6 < judge[4]
    assert judge == sorted(judge)
    (figure,) = sections["Agreement over turns"].figures
    assert [name for name, _ in figure.series] == ["people among themselves", "judge"]


def test_lines_are_read_one_by_one_and_a_bad_one_is_named(tmp_path):
    study = study_of(tmp_path)
    path = tmp_path / "talks.jsonl"
    path.write_text(path.read_text("utf-8") + "\n{broken", "utf-8")
    with pytest.raises(TableError, match="line 5: cannot be read as JSON"):
        went(tmp_path, study)
    path.write_text('{"item": 1, "system": "a"}', "utf-8")
    with pytest.raises(TableError, match=r"'messages'.*under \[responses\]"):
        went(tmp_path, study)


def test_first_failures_that_judges_and_people_name_come_to_a_verdict(tmp_path):
    from voirdire import examine

    rng = np.random.default_rng(1)
    names = [f"c{c}" for c in range(60)]
    pl.DataFrame({"id": names, "text": ["A scene."] * 60}).write_csv(tmp_path / "items.csv")
    lengths = rng.integers(6, 14, 60)
    truth = np.where(rng.random(60) < 0.6, rng.integers(1, lengths + 1), 0)
    lines = [
        {"item": name, "system": "bot", "messages": said(name, length)}
        for name, length in zip(names, lengths.tolist(), strict=True)
    ]
    (tmp_path / "talks.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")

    def person():
        near = np.clip(truth + rng.choice([-1, 0, 0, 0, 1], 60), 1, lengths)
        return [str(n) if t else "never" for n, t in zip(near, truth, strict=True)]

    people = [f"human_{k}" for k in (1, 2, 3)]
    pl.DataFrame({"id": names, **{one: person() for one in people}}).write_csv(
        tmp_path / "people.csv"
    )
    raw = {
        "name": "t", "rubric": {"attributes": [{"name": "Safety", "description": "It harms."}]},
        "panel": [
            {"name": "wild", "use": "first-failure", "model": "simulated:x"},
            *({"name": one, "kind": "human"} for one in people),
        ],
        "data": {"reference": people, "sources": [{"path": "people.csv"}]},
        "items": {"path": "items.csv"},
        "responses": {"path": "talks.jsonl", "messages": "messages"},
        "conversations": {"unit": "first"},
    }  # fmt: skip
    went(tmp_path, build_study(raw, folder=str(tmp_path)))
    found = examine(tmp_path / "s")
    states = {(v.judge, v.use): v.state for v in found.verdicts}
    assert {state for (_, use), state in states.items() if use == "single"} == {"no"}
    (section,) = [one for one in found.sections if one.title == "Where conversations first fail"]
    rows = {row[:2]: row for row in section.table.rows}
    assert rows["wild", "whether at all"][4] == 1.0
    assert rows["wild", "the same turn"][3] < rows["wild", "the same turn"][4]
    assert "turn_beyond_end" in [one.kind for one in found.findings]  # of 0 to 1,000 it draws


def test_one_rater_names_first_failures_where_the_others_judge_turns(tmp_path):
    """Its numbers of turns are no scores: they stand next to people who named some as well."""
    from voirdire import examine

    talks = {(f"c{c}", "a"): said(f"c{c}") for c in range(30)}
    rng = np.random.default_rng(3)
    truth = np.where(rng.random(30) < 0.5, rng.integers(1, 7, 30), 0)
    near = [np.clip(truth + rng.choice([0, 0, 1], 30) * (truth > 0), 0, 6) for _ in range(2)]
    names = [f"c{c}" for c in range(30)]
    pl.DataFrame({"id": names, "ada": near[0], "ben": near[1]}).write_csv(tmp_path / "first.csv")
    panel = [
        {"name": "turns", "use": "rubric", "model": "simulated:x"},
        {"name": "first", "use": "first-failure", "model": "simulated:x", "unit": "first",
         "options": {"most": 6}},
        {"name": "eve", "kind": "human"},
        *({"name": one, "kind": "human", "unit": "first"} for one in ("ada", "ben")),
    ]  # fmt: skip
    study = study_of(tmp_path, talks=talks, panel=panel)
    pl.DataFrame({"id": names, "text": ["A scene."] * 30}).write_csv(tmp_path / "items.csv")
    went(tmp_path, study)
    own = ratings_frame(tmp_path / "s").filter(pl.col("rater") == "turns")
    own.select("item", "system", "attribute", "score", rater=pl.lit("eve")).write_csv(
        tmp_path / "eve.csv"
    )
    data = {
        "sources": [{"path": "first.csv"}, {"path": "eve.csv"}],
        "reference": ["eve", "ada", "ben"],
    }
    raw = study.model_dump(mode="json", exclude_unset=True, exclude_none=True)
    went(tmp_path, build_study({**raw, "data": data}, folder=str(tmp_path)), resume=True)
    found = examine(tmp_path / "s", resamples=0)
    assert {v.judge for v in found.verdicts} == {"turns"}
    assert found.inputs.tables.ratings["item"].cast(pl.String).str.contains(" turn ").all()
    sections = {one.title: one for one in found.sections}
    assert "Agreement over turns" in sections
    rows = {row[:2]: row for row in sections["Where conversations first fail"].table.rows}
    exact = float(np.mean(near[0] == near[1]))
    assert rows["first", "the same turn"][4] == pytest.approx(exact)
    assert rows["first", "whether at all"][4] == 1.0
    assert {judge for judge, _ in rows} == {"first"}


def test_first_failures_beside_which_nobody_named_any_leave_the_others_as_they_are(tmp_path):
    from voirdire import examine

    panel = [
        {"name": "turns", "use": "rubric", "model": "simulated:x"},
        {"name": "first", "use": "first-failure", "model": "simulated:x", "unit": "first"},
        {"name": "eve", "kind": "human"},
    ]
    study = study_of(tmp_path, panel=panel)
    went(tmp_path, study)
    own = ratings_frame(tmp_path / "s").filter(pl.col("rater") == "turns")
    own.select("item", "system", "attribute", "score", rater=pl.lit("eve")).write_csv(
        tmp_path / "eve.csv"
    )
    raw = study.model_dump(mode="json", exclude_unset=True, exclude_none=True)
    data = {"sources": [{"path": "eve.csv"}], "reference": ["eve"]}
    went(tmp_path, build_study({**raw, "data": data}, folder=str(tmp_path)), resume=True)
    found = examine(tmp_path / "s", resamples=0)
    assert {v.judge for v in found.verdicts} == {"turns"}
    assert "Where conversations first fail" not in {one.title for one in found.sections}
    assert "nobody_beside_firsts" in [one.kind for one in found.findings]


def items_study(folder, **items):
    raw = {
        "name": "labels", "items": items,
        "conversations": {"unit": "turn", "role": "assistant"},
        "panel": [{"name": "ann", "kind": "annotator", "use": "yes-no", "model": "simulated:x",
                   "options": {"labels": ["calm"]}}],
    }  # fmt: skip
    return build_study(raw, folder=str(folder))


def test_lines_of_messages_without_ids_are_items_by_their_place(tmp_path):
    lines = [json.dumps({"messages": said(f"c{at}", 2)}) for at in range(3)]
    (tmp_path / "openai.jsonl").write_text("\n".join([lines[0], "", *lines[1:]]), "utf-8")
    with pytest.raises(TableError, match=r"no column 'id'.*or id = .. for the place"):
        went(tmp_path, items_study(tmp_path, path="openai.jsonl", messages="messages"))
    study = items_study(tmp_path, path="openai.jsonl", messages="messages", id="")
    result = run(study, tmp_path / "s2", quiet=True)
    assert result.raters[0].done == 3
    assert ratings_frame(tmp_path / "s2")["item"].to_list() == ["1 turn 2", "3 turn 2", "4 turn 2"]
    rows = {"role": "who", "content": "said"}
    with pytest.raises(StudyError, match=r"items.id: rows of one message each need the column"):
        went(tmp_path, items_study(tmp_path, path="openai.jsonl", messages=rows, id=""))


def test_of_an_export_with_branches_the_one_that_was_shown_is_read(tmp_path):
    other = {
        "message": {"author": {"role": "assistant"}, "content": {"parts": ["Another"]}},
        "parent": "a",
        "children": [],
    }
    tree = {**EXPORT, "a": {**EXPORT["a"], "children": ["b", "c"]}, "c": other}
    records = [
        {"conversation_id": f"x{at}", "mapping": tree, "current_node": node}
        for at, node in enumerate("bc")
    ]
    (tmp_path / "conversations.json").write_text(json.dumps(records), "utf-8")
    study = items_study(
        tmp_path, path="conversations.json", messages="mapping", id="conversation_id"
    )
    went(tmp_path, study)
    with closing(sqlite3.connect(tmp_path / "s" / "session.sqlite")) as connection:
        kept = connection.execute("SELECT item, body FROM messages WHERE turn = 2").fetchall()
    assert kept == [("x0", "Hello"), ("x1", "Another")]


def test_what_no_judge_was_shown_is_a_finding(tmp_path):
    from voirdire.examining.session import session_findings

    image = {"type": "image_url", "image_url": {"url": "a.png"}}
    turns = [
        {"role": "user", "content": [{"type": "text", "text": "See."}, image, image]},
        {
            "role": "assistant",
            "content": [{"type": "input_audio", "data": ""}],
            "tool_calls": [{"id": "1"}],
        },
    ]
    (tmp_path / "t.jsonl").write_text(json.dumps({"id": "c1", "messages": turns}), "utf-8")
    went(tmp_path, items_study(tmp_path, path="t.jsonl", messages="messages"))
    (found,) = [f for f in session_findings(tmp_path / "s") if f.kind == "parts_not_shown"]
    assert (found.count, found.severity) == (3, "serious")
    assert "2 of kind 'image_url', 1 of kind 'input_audio'" in found.message
    asked = shown_messages(tmp_path / "s", "ann", "c1 turn 2", "", 1)[-1]
    assert "See. [image_url, not shown] [image_url, not shown]" in asked.text


def test_conversations_of_which_nothing_is_judged_are_a_finding(tmp_path):
    from voirdire.examining.session import session_findings

    talks = {("c1", "a"): said("c1"), ("c2", "a"): said("c2", 1), ("c1", "b"): []}
    result = went(tmp_path, study_of(tmp_path, talks=talks))
    assert result.raters[0].tasks == 3  # of the whole one alone
    (found,) = [f for f in session_findings(tmp_path / "s") if f.kind == "no_turn_judged"]
    assert (found.count, found.places) == (2, ("c2 a", "c1 b"))
    went(tmp_path, study_of(tmp_path, talks=talks, unit="whole", role=""), resume=True)
    assert "no_turn_judged" not in [f.kind for f in session_findings(tmp_path / "s")]

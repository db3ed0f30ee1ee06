"""What a session is handed comes back whole: replies, turns, examples, readings, looks, refusals."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace

import polars as pl
import pytest
from scripted import judge, scripted_plugins, study_of
from test_store_session import RATER, call_of, fill, keep, opened

from voirdire.errors import InputError, SessionError
from voirdire.running import run
from voirdire.schema import Item, Message, Note, Reply, Request, Response, Turn, Usage
from voirdire.store.forgetting import forget_texts
from voirdire.store.frames import iterate_parsed
from voirdire.store.health import check_session, make_private
from voirdire.store.ledger import LabelUse, keep_look, ledger_of, looks_at
from voirdire.store.parsed import parse_distinct
from voirdire.store.raters import Participant
from voirdire.store.readings import keep_readings
from voirdire.store.records import RaterId, Slot, for_run, make_call
from voirdire.store.replies import shown_messages
from voirdire.store.session import check_tables_are_its_own, read_session
from voirdire.store.shown import shown_as_examples
from voirdire.store.tasks import (
    iterate_comparisons,
    iterate_items,
    lonely_responses,
    take_items,
    take_responses,
)
from voirdire.store.turns import TurnTaker, turns_of
from voirdire.study import Rater
from voirdire.tables import HowRead

PLUGINS = scripted_plugins()


@pytest.mark.parametrize("notes", [(), (Note("dropped", "seed", "refused"),)])
def test_a_reply_comes_back_with_all_that_it_said(tmp_path, notes):
    told = {
        "model": "m-1", "provider_id": "abc", "latency": 1.5, "ended_by": "###", "candidate": 2,
        "notes": notes,
    }  # fmt: skip
    with opened(tmp_path) as session:
        session.start(lambda group: None)
        keep(session, call_of(), **told)
        keep(session, call_of("i2"))
        session.stop()
    with opened(tmp_path, resume=True) as session:
        stored = [session.lookup(call_of(item).key) for item in ("i1", "i2")]
    assert [(one.finished, one.current, one.status) for one in stored] == [(True, True, "ok")] * 2
    whole, bare = (one.replies[0] for one in stored)
    assert {name: getattr(whole, name) for name in told} == told
    assert (bare.model, bare.provider_id, bare.candidate, bare.usage) == ("", "", 0, Usage(10, 2))


def test_turns_come_back_with_their_times_and_only_pairs_that_are_there_are_compared(tmp_path):
    talk = Item(
        "t1", "A talk.", turns=(Turn("user", "I slept badly.", "", "09:30"), Turn("ai", ""))
    )
    plain = Item("t2", "No talk.")
    with opened(tmp_path) as session:
        take_items(session.connection, [(talk, ""), (plain, "")])
        answers = [("t1", "x"), ("t1", "y"), ("t2", "x")]
        take_responses(
            session.connection, [Response(i, s, f"{s} to {i}") for i, s in answers], "file"
        )
        assert list(iterate_items(session.connection)) == [talk, plain]
        compared = list(iterate_comparisons(session.connection, [("x", "y"), ("y", "z")]))
    assert [(pair.item.id, pair.first.system, pair.second.system) for pair in compared] == [
        ("t1", "x", "y")
    ]


def test_a_text_is_an_example_only_in_prompts_about_other_items(tmp_path):
    long = {
        name: f"{name} tells at length how the night went"
        for name in ("i1", "i2", "i3", "i4", "i5")
    }
    with opened(tmp_path) as session:
        take_items(session.connection, [(Item(name, text), "") for name, text in long.items()])
        session.start(lambda group: None)
        keep(session, call_of("i1", text=f"Rate: {long['i1']}"))
        keep(session, call_of("i2", text=f"Like {long['i3']}. Rate: {long['i2']}"))
        # One text for two items: of either it is an example to the other.
        shared = f"The answers are like {long['i4']}."
        for item in ("i4", "i5"):
            request = Request((Message("system", shared), Message("user", f"Rate {item}.")))
            keep(session, make_call(Slot(RATER, item, "x"), request))
        session.stop()
        found = shown_as_examples(tmp_path / "s", ["ann"], [(name, "") for name in long])
    assert found == {("i3", ""), ("i4", "")}


def test_a_reading_is_kept_once_and_nowhere_but_in_a_session(tmp_path):
    read = HowRead("a.csv", "ab" * 32, {"item": "id"}, (("id", "item", "by its name"),))
    assert keep_readings(tmp_path / "none", [read]) == 0
    with opened(tmp_path):
        # Another process works in it: it keeps none, and says so.
        assert keep_readings(tmp_path / "s", [read]) == 0
    nameless = HowRead("", "", {}, ())
    assert [keep_readings(tmp_path / "s", [read, nameless]) for _ in range(2)] == [1, 0]


def test_a_folder_that_is_no_session_was_never_looked_at(tmp_path):
    assert looks_at([b"unit"], session=tmp_path) == ()
    assert looks_at([b"unit"]) == ()
    # The ledger of a folder lies in it, that of a file beside it.
    assert ledger_of(tmp_path).parent == tmp_path
    assert ledger_of(tmp_path / "labels.csv").parent == tmp_path
    assert ledger_of(tmp_path / "labels.csv").name.startswith("labels.csv")


def test_only_turns_that_are_others_than_before_have_changed(tmp_path):
    turns = (Turn("user", "I slept badly."), Turn("ai", "Why?"))
    with opened(tmp_path) as session:
        TurnTaker(session.connection).take("t1", "x", turns)
        again = TurnTaker(session.connection)
        again.take("t1", "x", turns)
        assert again.changed == []
        again.take("t1", "x", turns[:1])
        assert again.changed == [("t1", "x")]
        assert turns_of(session.connection, "t1", "x") == turns[:1]


def test_reading_leaves_the_log_of_a_session_that_is_written(tmp_path):
    log = tmp_path / "s" / "session.sqlite-wal"
    with opened(tmp_path) as session:
        session.start(lambda group: None)
        keep(session, call_of())
        session.stop()
        assert log.exists()
        with closing(read_session(tmp_path / "s")) as connection:
            assert connection.execute("SELECT count(*) FROM attempts").fetchone() == (1,)
        assert log.exists()
        session.start(lambda group: None)
        keep(session, call_of("i2"))
        session.stop()
    with closing(read_session(tmp_path / "s")) as connection:
        assert connection.execute("SELECT count(*) FROM attempts").fetchone() == (2,)


def test_what_a_rater_asked_on_the_way_is_shown_as_such(tmp_path):
    with opened(tmp_path) as session:
        fill(session)
        session.start(lambda group: None)
        inner = (Message("user", "And the second?"), Message("assistant", "4"))
        keep(session, call_of(), inner=inner)
        session.stop()
    shown = shown_messages(tmp_path / "s", "ann", "i1", "x", 1)
    assert [one.role for one in shown] == ["system", "user", "then user", "then assistant"]


def test_forgetting_counts_replies_and_other_texts_apart(tmp_path):
    study = study_of(tmp_path, judge("ann"), items=3)
    run(study, tmp_path / "a", quiet=True, plugins=PLUGINS)
    with closing(sqlite3.connect(tmp_path / "a" / "session.sqlite")) as connection:
        count = "SELECT count(*) FROM {}"
        replies, *texts = (
            connection.execute(count.format(table)).fetchone()[0]
            for table in ("attempts", "items", "responses", "texts", "messages", "steps")
        )
    gone = forget_texts(tmp_path / "a", PLUGINS)
    assert (gone.replies, gone.texts) == (replies, sum(texts))


def test_files_are_open_to_others_only_where_their_folder_is(tmp_path):
    run(study_of(tmp_path, judge("ann"), items=2), tmp_path / "a", quiet=True, plugins=PLUGINS)

    def open_ones():
        return [one.count for one in check_session(tmp_path / "a") if one.kind == "open_to_others"]

    make_private(tmp_path / "a")
    (tmp_path / "a" / "ratings.parquet").chmod(0o644)
    assert open_ones() == []
    (tmp_path / "a").chmod(0o755)
    assert open_ones() == [2]  # the folder and the file


def test_tables_of_an_older_session_bear_no_name_that_could_be_wrong(tmp_path):
    run(study_of(tmp_path, judge("ann"), items=2), tmp_path / "a", quiet=True, plugins=PLUGINS)
    database = tmp_path / "a" / "session.sqlite"

    def named(name):
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("DELETE FROM meta WHERE name = 'session'")
            if name:
                connection.execute("INSERT INTO meta (name, value) VALUES ('session', ?)", (name,))
            connection.commit()
        with closing(read_session(tmp_path / "a")) as connection:
            check_tables_are_its_own(tmp_path / "a", connection)

    named("")  # of a version that gave none
    with pytest.raises(SessionError, match="another session"):
        named("other")
    (tmp_path / "a" / "raters.parquet").unlink()
    named("other")


def test_single_replies_are_read_as_a_column_and_several_of_one_task_are_not():
    from voirdire_judges import rubric

    class Counted(rubric.RubricJudge):
        columns = 0

        def parse_column(self, replies):
            type(self).columns += len(replies)
            return super().parse_column(replies)

    participant = Participant(
        RaterId("judge", "ann", "script:ann"),
        Counted(rubric.make("mentalalign").rubric),
        "rating",
        Rater(name="ann"),
    )
    parse_distinct([[Reply("Empathy: 3")], [Reply("Empathy: 4")]], participant)
    assert Counted.columns == 2
    parse_distinct([[Reply("Empathy: 3"), Reply("Empathy: 4")]], participant)
    assert Counted.columns == 2


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        ("content_filter", "filtered"),
        ("length", "truncated"),
        ("empty", "blank"),
        ("says: ", "blank"),
    ],
)
def test_why_a_generator_wrote_nothing_is_told(tmp_path, fault, status):
    generator = {
        "name": "gen", "use": "writer", "model": "script:gen", "model_options": {"fails": {"0": fault}}
    }  # fmt: skip
    study = study_of(
        tmp_path, judge("ann"), generators=[generator], items=1, systems=(), run={"reask": 0}
    )
    run(study, tmp_path / "a", quiet=True, plugins=PLUGINS)
    kept = pl.read_parquet(tmp_path / "a" / "responses.parquet")
    assert kept.select("system", "text", "status").rows() == [("gen", None, status)]


def test_a_ledger_of_a_newer_version_is_not_guessed_at(tmp_path):
    labels = tmp_path / "labels.csv"
    use = LabelUse("tune", "which prompt", 3, "b", frozenset([b"unit"]), at=1.0)
    keep_look(use, labels=[labels])
    assert [one.look.key for one in looks_at([b"unit"], labels=[labels])] == [use.key]
    path = ledger_of(labels)
    path.write_text(path.read_text().replace('"version": 1', '"version": 2'))
    with pytest.raises(InputError, match="a newer voirdire wrote it"):
        looks_at([b"unit"], labels=[labels])


def test_each_run_has_a_seed_of_its_own():
    request = Request((Message("user", "Rate."),), seed=7)
    assert [(for_run(request, run).seed, for_run(request, run).run) for run in (1, 2, 3)] == [
        (7, 1), (8, 2), (9, 3),
    ]  # fmt: skip
    assert for_run(replace(request, seed=None), 2).seed is None


def test_the_first_responses_without_an_item_are_named(tmp_path):
    with opened(tmp_path) as session:
        take_items(session.connection, [(Item("i1", "text"), "")])
        names = [f"i{number}" for number in range(1, 9)]
        take_responses(session.connection, [Response(n, "x", "said") for n in names], "file")
        assert lonely_responses(session.connection) == [(name, "x") for name in names[1:6]]


def test_replies_that_are_forgotten_are_told_apart_by_what_was_read(tmp_path):
    study = study_of(tmp_path, judge("ann", model_options={"says": "{tries}"}, runs=2), items=2)
    run(study, tmp_path / "a", quiet=True, plugins=PLUGINS)

    def said():
        return [
            (one.item, one.run, one.parsed.scores)
            for one in iterate_parsed(tmp_path / "a", "judge", PLUGINS)
        ]

    before = said()
    assert len({str(scores) for *_, scores in before}) == 2
    forget_texts(tmp_path / "a", PLUGINS)
    assert said() == before

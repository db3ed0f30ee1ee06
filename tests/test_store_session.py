"""The store: what is put in comes out, once each, whatever happens in between."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace

import pytest
from derived_tables import session_tables
from scripted import scripted_plugins

from voirdire.errors import PluginError, SessionError, StudyError
from voirdire.schema import Item, Message, Note, Reply, Request, Response, Usage
from voirdire.secrets import scrub
from voirdire.store import (
    preferences_frame,
    ratings_frame,
    read_session,
    replies_frame,
    session_study,
    write_tables,
)
from voirdire.store.counts import Replies, count_finished
from voirdire.store.frames import raters_frame
from voirdire.store.parsed import parse_distinct
from voirdire.store.raters import Participant, participants
from voirdire.store.records import Attempt, Finish, RaterId, Revival, Slot, make_call
from voirdire.store.session import WRITTEN, open_session
from voirdire.store.tasks import take_items, take_responses
from voirdire.study import Rater, build_study, load_study, study_to_toml


def study_of(tmp_path, **more):
    panel = [{"name": "ann", "model": "script:one", "use": "digit"}]
    return build_study({"name": "calm", "panel": panel, **more}, folder=str(tmp_path))


def rater_id_of(**more):
    return participants(study_of(".", **more), scripted_plugins())[0].id


PAIRWISE = [{"name": "ann", "model": "script:one", "use": "pair"}]
RATER, PAIR = rater_id_of(), rater_id_of(panel=PAIRWISE)


def opened(tmp_path, study=None, resume=False):
    study = study or study_of(tmp_path)
    return open_session(tmp_path / "s", study, study_to_toml(study), resume=resume)


def fill(session, items=("i1", "i2"), systems=("x", "y")):
    take_items(session.connection, [(Item(i, f"text of {i}"), "") for i in items])
    take_responses(
        session.connection, [Response(i, s, f"{s} to {i}") for i in items for s in systems], "file"
    )


def call_of(item="i1", system="x", text="hello", run=1, step=0, rater_id=RATER, second=""):
    request = Request((Message("system", "Rate."), Message("user", text)))
    return make_call(Slot(rater_id, item, system, second, run, step), request)


def keep(session, call, text="4", finish="stop", status="ok", **more):
    session.put(Attempt(call, time.time(), Reply(text, finish, Usage(10, 2), **more)))
    session.put(Finish((call.key,), status))


def test_a_record_counts_only_after_its_commit_and_survives_reopening(tmp_path):
    heard = []
    with opened(tmp_path) as session:
        session.start(heard.extend)
        call = call_of()
        keep(session, call)
        session.stop()
        assert [type(r) for r in heard] == [Attempt, Finish]
    with opened(tmp_path, resume=True) as session:
        assert session.resumed
        stored = session.lookup(call.key)
        assert stored.finished
        assert stored.replies[0].text == "4"
        assert stored.replies[0].usage == Usage(10, 2)
        assert session.lookup(call_of(text="other").key) is None


def test_every_attempt_is_kept_and_the_last_reply_is_final(tmp_path):
    with opened(tmp_path) as session:
        session.start(lambda group: None)
        call = call_of()
        session.put(Attempt(call, 1.0, error="server", message="500"))
        session.put(Attempt(call, 2.0, Reply("", "length")))
        session.put(
            Attempt(
                call,
                3.0,
                Reply("5", params={"temperature": 0}, provider_id="abc", notes=(Note("n"),)),
            )
        )
        session.put(Finish((call.key,), "ok"))
    frame = replies_frame(tmp_path / "s")
    assert frame["error"].to_list() == ["server", None, None]
    assert frame["finish_reason"].to_list() == [None, "length", "stop"]
    assert frame["final"].to_list() == [0, 0, 1]
    assert frame["provider_id"].to_list()[2] == "abc"
    assert frame["params"].to_list()[2] == '{"temperature":0}'


def test_messages_are_stored_once(tmp_path):
    with opened(tmp_path) as session:
        session.start(lambda group: None)
        for number in range(50):
            keep(session, call_of(item=f"i{number}", text="the same long text " * 100))
    with closing(read_session(tmp_path / "s")) as connection:
        assert connection.execute("SELECT count(*) FROM texts").fetchone()[0] == 2


@pytest.mark.parametrize(
    "text", ["", "0", "\x00 nul \x00", "\ud800 lone", "é" * 4000, "long " * 4000, "a\nb"]
)
def test_hostile_texts_come_back_as_they_were(tmp_path, text):
    with opened(tmp_path) as session:
        session.start(lambda group: None)
        call = call_of(text=text)
        keep(session, call, text=text)
        session.stop()
        assert session.lookup(call.key).replies[0].text == text
    assert replies_frame(tmp_path / "s").height == 1


def test_key_depends_on_rater_model_params_prompt_run_and_task():
    base = call_of()
    others = [
        call_of(item="i2"), call_of(system="y"), call_of(text="hello!"), call_of(run=2), call_of(step=1),
        call_of(rater_id=RaterId("judge", "bob", "script:one")), call_of(rater_id=RaterId("judge", "ann", "script:two")),
        make_call(base.slot, Request(base.request.messages, temperature=0.0)),
        make_call(base.slot, Request(base.request.messages, params={"n": 1})),
        make_call(base.slot, Request((Message("user", "Rate."), Message("system", "hello")))),
    ]  # fmt: skip
    keys = {base.key, *(other.key for other in others)}
    assert len(keys) == len(others) + 1
    assert call_of().key == base.key


def test_an_edited_prompt_never_uses_a_stale_answer_and_going_back_costs_nothing(tmp_path):
    study = study_of(tmp_path)
    old, new = call_of(text="old"), call_of(text="new")
    with opened(tmp_path, study) as session:
        fill(session, ["i1"], ["x"])
        session.start(lambda group: None)
        keep(session, old, "1")
        session.stop()
        assert session.lookup(new.key) is None
        session.start(lambda group: None)
        keep(session, new, "2")
        session.stop()
        assert not session.lookup(old.key).current
    assert ratings_frame(tmp_path / "s", scripted_plugins())["score"].to_list() == [2.0]
    with opened(tmp_path, study, resume=True) as session:
        session.start(lambda group: None)
        session.put(Revival(old))
    assert ratings_frame(tmp_path / "s", scripted_plugins())["score"].to_list() == [1.0]


@pytest.mark.parametrize("edited", [False, True], ids=["same prompt", "edited prompt"])
def test_counting_what_is_finished_grows_with_the_tasks(tmp_path, edited):
    """In steps of SQLite, whose newer versions chose an order of joins that grew by the square."""
    steps = []
    for tasks in (100, 800):
        study, work = study_of(tmp_path), []
        (participant,) = participants(study, scripted_plugins())
        with opened(tmp_path / str(tasks), study) as session:
            fill(session, items := [f"i{number}" for number in range(tasks)], ["x"])
            session.start(lambda group: None)
            rater = replace(participant.id, prompt="another") if edited else participant.id
            for item in items:
                keep(session, call_of(item, rater_id=rater))
            session.stop()
            replies = Replies.of(session.connection)
            session.connection.set_progress_handler(lambda work=work: work.append(1), 50)
            counts = count_finished(session.connection, participant, study.comparisons)
            unfit = replies.unfit(session.connection, [participant], study.comparisons)
        assert counts.statuses == ({} if edited else {"ok": tasks})
        assert unfit == ({"ann": tasks} if edited else {})
        steps.append(len(work))
    assert steps[1] < 12 * steps[0]


def test_fewer_steps_than_before_leave_no_old_step(tmp_path):
    with opened(tmp_path) as session:
        fill(session, ["i1"], ["x"])
        session.start(lambda group: None)
        first, second = call_of(text="a", step=0), call_of(text="b", step=1)
        keep(session, second, "9")
        session.put(Attempt(first, 1.0, Reply("1")))
        session.put(Finish((first.key, second.key), "ok"))
        keep(session, call_of(text="c"), "3")
    assert ratings_frame(tmp_path / "s", scripted_plugins())["score"].to_list() == [3.0]


def test_expected_ratings_without_a_reply_are_failed_and_in_order(tmp_path):
    with opened(
        tmp_path,
        study_of(
            tmp_path, panel=[{"name": "ann", "model": "script:one", "use": "digit", "runs": 2}]
        ),
    ) as session:
        fill(session)
        session.start(lambda group: None)
        keep(session, call_of("i2", "y", "t", run=2), "5")
        keep(session, call_of("i1", "x", "t"), "4")
        keep(session, call_of("i1", "y", "t"), "", "refusal", "refused")
    frame = ratings_frame(tmp_path / "s", scripted_plugins())
    assert frame.columns == [
        "item",
        "system",
        "rater",
        "run",
        "attribute",
        "score",
        "rank",
        "status",
    ]
    assert frame.select("item", "system", "run").rows() == [
        (i, s, r) for i in ("i1", "i2") for s in ("x", "y") for r in (1, 2)
    ]
    assert frame["score"].to_list() == [4, None, None, None, None, None, None, 5]
    assert frame["status"].to_list() == ["ok", "failed", "refused", *["failed"] * 4, "ok"]


def test_preferences_point_from_the_declared_first_system(tmp_path):
    study = study_of(tmp_path, panel=PAIRWISE, comparisons={"order": "both"})
    with opened(tmp_path, study) as session:
        fill(session, ["i1"])
        session.start(lambda group: None)
        keep(session, call_of("i1", "x", second="y", rater_id=PAIR), "2")
        keep(session, call_of("i1", "y", second="x", rater_id=PAIR), "1")
    frame = preferences_frame(tmp_path / "s", scripted_plugins())
    assert frame.select("system_a", "system_b", "shown_first", "score").rows() == [
        ("x", "y", "x", 2.0),
        ("x", "y", "y", -1.0),
    ]
    assert ratings_frame(tmp_path / "s", scripted_plugins()).is_empty()


def test_reading_by_columns_gives_what_reading_one_by_one_gives(tmp_path):
    from voirdire_judges import rubric

    class OneByOne(rubric.RubricJudge):
        parse_column = None

    judge = rubric.make("mentalalign")
    rater_id, spec = RaterId("judge", "ann", "script:ann"), Rater(name="ann")
    made, slow = (
        Participant(rater_id, mind, "rating", spec) for mind in (judge, OneByOne(judge.rubric))
    )
    good = '{"Guidance": 4, "Informativeness": 3, "Relevance": 5, "Safety": 5, "Empathy": 2, "Helpfulness": 1, "Understanding": 4}'
    texts = [
        good,
        good.replace("4", "9"),
        "",
        "prose",
        good[:40],
        "Empathy: 3",
        f"```json\n{good}\n```",
        '{"Empathy": null}',
    ]
    finishes = ["stop", "length", "refusal", "content_filter", "error"]
    replies = [[Reply(text, finish)] for text in texts for finish in finishes]
    (fast, statuses), (one_by_one, expected) = (
        parse_distinct(replies, made),
        parse_distinct(replies, slow),
    )
    assert fast.equals(one_by_one)
    assert list(statuses) == list(expected)
    assert fast.height == len(replies) * 7


def test_tables_are_written_and_read_back(tmp_path):
    with opened(tmp_path) as session:
        fill(session)
        session.start(lambda group: None)
        keep(session, call_of("i1", "x"), "4")
    rows = write_tables(tmp_path / "s", scripted_plugins())
    assert rows == {"raters": 1, "responses": 4, "ratings": 4, "preferences": 0}
    tables = session_tables(tmp_path / "s")
    assert tables["ratings"].equals(ratings_frame(tmp_path / "s", scripted_plugins()))
    assert tables["raters"].equals(raters_frame(tmp_path / "s", scripted_plugins()))
    assert tables["responses"]["text"].to_list() == ["x to i1", "y to i1", "x to i2", "y to i2"]
    assert session_study(tmp_path / "s").panel[0].name == "ann"


def test_item_edited_or_removed_between_runs_does_not_linger(tmp_path):
    with opened(tmp_path) as session:
        fill(session)
        take_items(session.connection, [(Item("i2", "anew"), "")])
        session.start(lambda group: None)
        keep(session, call_of("i1", "x"), "4")
    assert ratings_frame(tmp_path / "s", scripted_plugins())["item"].unique().to_list() == ["i2"]


def test_existing_session_needs_resume(tmp_path):
    opened(tmp_path).__exit__()
    with opened(tmp_path) as session:  # nothing has been asked in it yet
        session.start(lambda group: None)
        keep(session, call_of())
    with pytest.raises(SessionError, match="exists already; go on with it by --resume"):
        opened(tmp_path)


@pytest.mark.parametrize("name", WRITTEN)
def test_a_new_session_writes_over_no_file_of_the_users(tmp_path, name):
    (tmp_path / "s").mkdir()
    theirs = tmp_path / "s" / name
    theirs.write_text("mine", encoding="utf-8")
    with pytest.raises(SessionError, match=f"{name} lies there, .* write over"):
        opened(tmp_path)
    assert theirs.read_text(encoding="utf-8") == "mine"
    assert list(theirs.parent.iterdir()) == [theirs]


def test_second_process_is_refused_and_a_killed_one_does_not_block(tmp_path):
    opened(tmp_path).__exit__()
    study = tmp_path / "study.toml"
    study.write_text(study_to_toml(study_of(tmp_path)))
    code = (
        "import sys, time\nfrom voirdire.store.session import open_session\nfrom voirdire.study import load_study\n"
        f"s = open_session({str(tmp_path / 's')!r}, load_study({str(study)!r}), '', resume=True)\n"
        "print('held', flush=True)\ntime.sleep(60)"
    )
    holder = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(SessionError, match=f"process {holder.pid} works in it already"):
        opened(tmp_path, resume=True)
    holder.kill()
    holder.wait()
    holder.stdout.close()
    opened(tmp_path, resume=True).__exit__()


def test_foreign_and_later_databases_are_refused(tmp_path):
    with pytest.raises(SessionError, match=r"there is no session\.sqlite"):
        read_session(tmp_path)
    with opened(tmp_path) as session:
        session.connection.execute("UPDATE meta SET value = '99' WHERE name = 'schema_version'")
    with pytest.raises(SessionError, match=r"a newer voirdire wrote it .schema version 99, this"):
        read_session(tmp_path / "s")
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "session.sqlite").write_text("not a database, by far " * 100)
    with pytest.raises(SessionError, match="not a session of voirdire"):
        read_session(tmp_path / "t")
    with pytest.raises(SessionError, match="not a session of voirdire"):
        open_session(tmp_path / "t", study_of(tmp_path), "", resume=True)


def test_a_writer_that_fails_says_so(tmp_path):
    session = opened(tmp_path)
    session.connection.execute("DROP TABLE attempts")
    session.start(lambda group: None)
    keep(session, call_of())
    with pytest.raises(SessionError, match="cannot be written: no such table: attempts"):
        session.__exit__()


def test_keys_are_hidden(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "planted-secret-123")
    assert scrub("no: planted-secret-123 is wrong") == "no: [hidden] is wrong"
    assert scrub("Authorization: Bearer abcdefgh123456") == "Authorization: [hidden]"
    assert scrub("AIzaSyA1234567890 and sk-ant-api03-abcdefgh") == "[hidden] and [hidden]"
    assert scrub("a skillfully risky task-force") == "a skillfully risky task-force"


def test_planted_key_in_a_fault_reaches_no_file(tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "planted-secret-123")
    with opened(tmp_path) as session:
        session.start(lambda group: None)
        call = call_of()
        session.put(Attempt(call, 1.0, error="auth", message="bad key planted-secret-123"))
        session.put(
            Attempt(
                call,
                1.0,
                Reply(
                    "4",
                    params={"k": "planted-secret-123"},
                    notes=(Note("note", "planted-secret-123", "planted-secret-123"),),
                    error="planted-secret-123",
                ),
            )
        )
        session.stop()
        held = b"".join(path.read_bytes() for path in (tmp_path / "s").iterdir())
    assert b"planted-secret-123" not in held
    assert b"[hidden]" in held


def test_study_files_may_hold_no_key(tmp_path):
    with pytest.raises(
        StudyError, match=r"panel\.0\.model_options: \['api_key'\] may not stand in a study"
    ):
        study_of(tmp_path, panel=[{"name": "a", "model": "b:c", "model_options": {"api_key": "x"}}])


def test_an_unknown_option_names_the_rater(tmp_path):
    study = study_of(
        tmp_path,
        panel=[{"name": "ann", "model": "script:a", "use": "digit", "options": {"foo": 1}}],
    )
    with pytest.raises(PluginError, match=r"judge 'digit' of 'ann' does not take this: .*foo"):
        participants(study, scripted_plugins())


def test_a_study_survives_its_way_through_toml(tmp_path):
    study = study_of(
        tmp_path, run={"prices": {"openai:gpt-4o": {"input": 1, "output": 2}}}, title='a "b"\n\x7f'
    )
    path = tmp_path / "calm.toml"
    path.write_text(study_to_toml(study), encoding="utf-8")
    assert load_study(path) == study

"""Batches of three providers: each call is paid once, whatever goes wrong on the way."""

from __future__ import annotations

from collections import Counter

import pytest
from command_line import invoke
from test_running_matrix import FORMATS, member
from test_running_wire import EACH, KEY, study_of
from wire_server import WireServer, rubric_answer

from voirdire.errors import InputError, SessionError
from voirdire.running import batches, run, session_status
from voirdire.store import ratings_frame, read_session, replies_frame
from voirdire.store.batches import all_batches
from voirdire_judges.models import openai

PROVIDERS = [name for name in FORMATS if name != "compatible"]
ITEMS = 10
provider = pytest.mark.parametrize("sdk", PROVIDERS)


@pytest.fixture(autouse=True)
def _keys(monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OTHER_KEY"):
        monkeypatch.setenv(name, KEY)


def study(tmp_path, sdk, server, **more):
    prices = {f"{sdk}:m": {"input": 1.0, "output": 2.0}}
    limits = {"prices": prices, "batch_poll": 0.01, **more}
    return study_of(tmp_path, member(sdk, server), items=ITEMS, run=limits)


def states(folder):
    connection = read_session(folder)
    found = [batch.status for batch in all_batches(connection)]
    connection.close()
    return found


def once(server):
    """Whether no line was answered twice, in whichever batch."""
    return (
        Counter(key.partition("-")[0] for key in server.batches.answered).most_common(1)[0][1] == 1
    )


@provider
def test_failed_expired_and_missing_lines_go_live_and_each_call_is_paid_once(tmp_path, sdk):
    bad = {1: "errored", 2: "expired", 3: "missing", 4: "twice"}
    with WireServer(rubric_answer) as server:
        server.batches.spoil = lambda at: bad.get(at, "")
        result = run(study(tmp_path, sdk, server), tmp_path / "a", batch=True, quiet=True)
        assert result.complete
        assert server.count == 3
        assert once(server)
    assert result.cost == pytest.approx((ITEMS - 3) * EACH / 2 + 3 * EACH, rel=1e-12)
    assert session_status(tmp_path / "a").cost == pytest.approx(result.cost, rel=1e-12)
    kept = replies_frame(tmp_path / "a")
    assert kept.filter(kept["text"].is_not_null())["item"].n_unique() == ITEMS
    assert kept.height == ITEMS + 2  # what failed and expired is on file too
    assert states(tmp_path / "a") == ["ended"]
    with WireServer(rubric_answer) as server:
        run(study(tmp_path, sdk, server), tmp_path / "live", quiet=True)
    assert ratings_frame(tmp_path / "a").equals(ratings_frame(tmp_path / "live"))


@provider
def test_a_connection_that_breaks_behind_the_submit_pays_nothing_twice(tmp_path, sdk):
    with WireServer(rubric_answer) as server:
        server.batches.lost = True
        result = run(study(tmp_path, sdk, server), tmp_path / "a", batch=True, quiet=True)
        assert (len(server.batches.jobs), server.count) == (1, 0)
    assert result.complete
    assert result.cost == pytest.approx(ITEMS * EACH / 2, rel=1e-12)


@provider
def test_a_crash_between_submit_and_note_is_found_by_who_goes_on(tmp_path, sdk, monkeypatch):
    with WireServer(rubric_answer) as server:
        server.batches.hold = 3
        made = study(tmp_path, sdk, server)

        def die(*_, **__):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(batches, "set_status", die)
            with pytest.raises(KeyboardInterrupt):
                run(made, tmp_path / "a", batch=True, quiet=True)
        assert states(tmp_path / "a") == ["intended"]
        with pytest.raises(
            SessionError, match=r"1 batches of 10 calls are not settled; go on with"
        ):
            run(made, tmp_path / "a", resume=True, quiet=True)
        assert server.count == 0
        result = run(made, tmp_path / "a", resume=True, batch=True, quiet=True)
        assert (len(server.batches.jobs), server.count) == (1, 0)
    assert result.complete
    assert result.cost == pytest.approx(ITEMS * EACH / 2, rel=1e-12)
    assert states(tmp_path / "a") == ["ended"]


@provider
def test_a_crash_before_the_submit_is_told_from_one_behind_it(tmp_path, sdk, monkeypatch):
    monkeypatch.setattr(batches, "SETTLE", 0.3)

    async def die(*_):
        raise KeyboardInterrupt

    with WireServer(rubric_answer) as server:
        made = study(tmp_path, sdk, server)
        with monkeypatch.context() as patch:
            patch.setattr(type(openai.make("m").batches), "submit", die)
            with pytest.raises(KeyboardInterrupt):
                run(made, tmp_path / "a", batch=True, quiet=True)
        result = run(made, tmp_path / "a", resume=True, batch=True, quiet=True)
        assert (len(server.batches.jobs), server.count, once(server)) == (1, 0, True)
    assert result.complete
    assert states(tmp_path / "a") == ["void", "ended"]


def test_another_batch_of_as_many_lines_is_told_apart_once_it_has_ended(tmp_path, monkeypatch):
    """Anthropic keeps no name: until a batch shows its lines it may be ours, and nothing is sent."""
    monkeypatch.setattr(batches, "SETTLE", 0.0)

    async def die(*_):
        raise KeyboardInterrupt

    with WireServer(rubric_answer) as server:
        made = study(tmp_path, "anthropic", server)
        with monkeypatch.context() as patch:
            patch.setattr(type(openai.make("m").batches), "submit", die)
            with pytest.raises(KeyboardInterrupt):
                run(made, tmp_path / "a", batch=True, quiet=True)
        other = run(made, tmp_path / "b", batch=True, quiet=True)  # the same calls, of another
        assert other.complete
        job = server.batches.jobs["msgbatch_1"]
        ended, job.word, job.answers, job.left = (job.word, job.answers), "", None, 10**9
        looks = []

        async def look(waiting, seconds):
            looks.append(len(server.batches.jobs))
            if len(looks) == 3:
                job.word, job.answers = ended

        monkeypatch.setattr(batches.BatchRun, "_pause", look)
        result = run(made, tmp_path / "a", resume=True, batch=True, quiet=True)
    assert result.complete
    assert looks[:3] == [1, 1, 1]
    assert states(tmp_path / "a") == ["void", "ended"]
    assert len(server.batches.jobs) == 2


def test_undecided_calls_are_submitted_again_only_when_told_to(tmp_path, monkeypatch):
    with WireServer(rubric_answer) as server:
        made = study(tmp_path, "anthropic", server)
        server.batches.hold = 10**9
        server.batches.lost = True

        async def enough(waiting, seconds):
            waiting.stop.set("interrupted")

        with monkeypatch.context() as patch:
            patch.setattr(batches.BatchRun, "_pause", enough)
            first = run(made, tmp_path / "a", batch=True, quiet=True)
            again = run(made, tmp_path / "a", resume=True, batch=True, quiet=True)
        assert (first.exit_code, again.exit_code, server.count) == (130, 130, 0)
        assert len(server.batches.jobs) == 1
        server.batches.hold = 1
        told = run(made, tmp_path / "a", resume=True, batch=True, resubmit=True, quiet=True)
    assert told.complete
    assert len(server.batches.jobs) == 2
    assert states(tmp_path / "a") == ["void", "ended"]


@pytest.mark.parametrize(
    ("sdk", "word"), [("openai", "failed"), ("anthropic", "expired"), ("google", "cancelled")]
)
def test_a_batch_that_comes_to_nothing_is_asked_live(tmp_path, sdk, word):
    with WireServer(rubric_answer) as server:
        server.batches.ends = word
        result = run(study(tmp_path, sdk, server), tmp_path / "a", batch=True, quiet=True)
        assert (result.complete, server.count) == (True, ITEMS)
    assert result.cost == pytest.approx(ITEMS * EACH, rel=1e-12)


def test_an_interruption_leaves_the_batch_and_resume_fetches_it(tmp_path, monkeypatch, capsys):
    with WireServer(rubric_answer) as server:
        made = study(tmp_path, "openai", server)
        server.batches.hold = 2

        async def enough(waiting, seconds):
            waiting.stop.set("interrupted")

        with monkeypatch.context() as patch:
            patch.setattr(batches.BatchRun, "_pause", enough)
            assert run(made, tmp_path / "a", batch=True).exit_code == 130
        assert "goes on at its provider; fetch it with --resume --batch" in capsys.readouterr().err
        listed = invoke(["session", "batches", str(tmp_path / "a")])
        assert "10 lines, submitted" in listed.output
        result = run(made, tmp_path / "a", resume=True, batch=True, quiet=True)
        assert (result.complete, len(server.batches.jobs), server.count) == (True, 1, 0)


def test_a_batch_can_be_cancelled_and_the_rest_is_asked_live(tmp_path, monkeypatch):
    with WireServer(rubric_answer) as server:
        made = study(tmp_path, "anthropic", server)
        server.batches.hold = 10**9

        async def enough(waiting, seconds):
            waiting.stop.set("interrupted")

        with monkeypatch.context() as patch:
            patch.setattr(batches.BatchRun, "_pause", enough)
            run(made, tmp_path / "a", batch=True, quiet=True)
        said = invoke(["session", "batches", str(tmp_path / "a"), "--cancel"])
        assert said.exit_code == 0, said.output
        assert "is asked to stop" in said.output
        result = run(made, tmp_path / "a", resume=True, batch=True, quiet=True)
        assert (result.complete, server.count) == (True, ITEMS)


def test_limits_hold_for_batches(tmp_path):
    with WireServer(rubric_answer) as server:
        made = study(tmp_path, "openai", server)
        first = run(made, tmp_path / "a", batch=True, max_calls=4, quiet=True)
        assert (first.stopped, first.raters[0].done, server.count) == ("budget", 4, 0)
        rest = run(made, tmp_path / "a", resume=True, batch=True, quiet=True)
        assert rest.complete
        assert sum(server.batches.answered.values()) == ITEMS
    assert rest.cost == pytest.approx(ITEMS * EACH / 2, rel=1e-12)


def test_a_batch_that_is_refused_asks_nobody(tmp_path):
    with WireServer(rubric_answer) as server:
        made = study(tmp_path, "google", server)
        server.url += "/nowhere"
        made = study(tmp_path, "google", server)
        with pytest.raises(
            SessionError, match=r"a batch of 10 calls was refused .*without --batch"
        ):
            run(made, tmp_path / "a", batch=True, quiet=True)
    assert states(tmp_path / "a") == ["void"]


def test_a_model_without_batches_is_asked_live(tmp_path):
    with WireServer(rubric_answer) as server:
        result = run(study(tmp_path, "compatible", server), tmp_path / "a", batch=True, quiet=True)
        assert (result.complete, server.count) == (True, ITEMS)
        with pytest.raises(InputError, match="give workers or batch"):
            run(study(tmp_path, "openai", server), tmp_path / "b", batch=True, workers=2)

"""Plugins, limits and disks that behave oddly: nothing is lost, nobody waits, all of it is said."""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scripted import RECEIVED, Digit, TwoSteps, go, judge, rated, scripted_plugins, study_of

from voirdire.errors import ModelError, PluginError, SessionError
from voirdire.running import run, session_status
from voirdire.schema import Message, Note, Parsed, Reply, Request, Usage
from voirdire.store import ratings_frame, read_session, replies_frame, session_study

from voirdire.store.session import open_session  # isort: skip
from voirdire.store.findings import reply_findings_frame  # isort: skip
from voirdire.store import write_tables  # isort: skip
from voirdire.study import build_study, study_to_toml

#: Replies that are sound but for something beside the text.
BESIDE = {
    "finish": {"finish_reason": "done"},
    "unknown finish": {"finish_reason": "overheated"},
    "no finish": {"finish_reason": None},
    "no usage": {"usage": None},
    "usage": {"usage": Usage("5", -1, 2.5, 2**70)},
    "id": {"provider_id": object(), "model": None},
    "params": {"params": {1: 2, "a": {3}, (1, 2): float("nan")}},
    "no params": {"params": None},
    "notes": {"notes": (1, None, Note(1, None, ["x"]))},
    "notes that are none": {"notes": 7},
    "note": {"notes": "one"},
    "logprobs": {"option_logprobs": {"4": "x", 5: np.float32(-1)}, "latency": "slow"},
}
RAISED = {
    "exit": SystemExit(3),
    "cancelled": asyncio.CancelledError(),
    "stop": StopIteration(),
    "retry": ModelError("x", "server", retry_after="soon"),
    "memory": MemoryError("x"),
}


class OddModel:
    """Answers or raises as its name says."""

    def __init__(self, model_name):
        self.name = model_name

    async def complete(self, request):
        if self.name in RAISED:
            raise RAISED[self.name]
        if self.name == "no text":
            return Reply(None)
        return replace(Reply("4", usage=Usage(5, 1)), **BESIDE.get(self.name, {}))


class Wrapped(OddModel):
    """A coroutine function behind a plain one, as decorators leave it."""

    def complete(self, request):
        return super().complete(request)


ASKS = {
    "nothing": None,
    "one": Request((Message("user", "x"),)),
    "text": ["x"],
    "dict": [Request([{"role": "user", "content": "x"}])],
    "no content": [Request((Message("user", None),))],
    "temperature": [Request((Message("user", "x"),), temperature=object())],
}
SAYS = {
    "none": None,
    "dict": {"Calm": 4},
    "text": Parsed({"Calm": "4"}, "ok"),
    "status": Parsed({"Calm": 4.0}, "great"),
    "nan": Parsed({"Calm": float("nan")}, "ok"),
    "big": Parsed({"Calm": 10**400}, "ok"),
    "rank": Parsed({"Calm": 4.0}, "ok", ranks={"Calm": "first"}),
    "no scores": Parsed(None, "ok"),
}


class OddJudge(Digit):
    """Asks and says what its options name; what failed it reads as it should."""

    def __init__(self, rubric, *, asks="", says=""):
        super().__init__(rubric)
        self.asks, self.says = asks, says

    def requests(self, task):
        return ASKS[self.asks] if self.asks else super().requests(task)

    def parse(self, replies):
        failed = replies[0].finish_reason == "error"
        return super().parse(replies) if failed or not self.says else SAYS[self.says]


class Mute(Digit):
    """A judge that cannot read."""

    parse = None


class OddSteps(TwoSteps):
    """Goes on with what is no request."""

    def follow_up(self, replies):
        return ["x"]


class Whole(Digit):
    """Scores in other types of number."""

    def parse(self, replies):
        score = np.float32(4) if replies[0].text else None
        return Parsed({"Calm": score}, "ok" if replies[0].text else "failed")


def plugins():
    found = scripted_plugins()
    sys.modules.setdefault("test_running_odd", sys.modules[__name__])
    for kind, name, target in (
        ("model", "odd", "OddModel"),
        ("model", "wrapped", "Wrapped"),
        ("judge", "odd", "OddJudge"),
        ("judge", "mute", "Mute"),
        ("judge", "onward", "OddSteps"),
        ("judge", "whole", "Whole"),
    ):
        found.add(kind, "tests", name, f"test_running_odd:{target}")
    return found


def outcome(tmp_path, odd, **more):
    """The odd rater's result and its ratings; a healthy one beside it finishes whatever it does."""
    study = study_of(tmp_path, odd, judge("well"), items=3, systems=("x",), **more)
    result = run(study, tmp_path / "a", plugins=plugins(), quiet=True)
    assert (result.raters[1].done, result.raters[1].suspended) == (3, "")
    ratings = ratings_frame(tmp_path / "a", plugins())
    assert pl.read_parquet(tmp_path / "a" / "ratings.parquet").equals(ratings)
    return result.raters[0], ratings.filter(pl.col("rater") == "ann")


@pytest.mark.parametrize("name", sorted({*BESIDE} - {"unknown finish"}))
def test_what_is_wrong_beside_the_text_does_not_cost_the_reply(tmp_path, name):
    rater, ratings = outcome(tmp_path, judge("ann", f"odd:{name}"))
    assert rater.done == 3
    assert ratings["score"].to_list() == [4.0] * 3
    blind = name in ("no usage", "usage")
    assert rater.blind == (3 if blind else 0)


def test_a_reply_whose_end_is_in_doubt_is_kept_and_read_as_cut(tmp_path):
    rater, ratings = outcome(tmp_path, judge("ann", "odd:unknown finish"), run={"reask": 0})
    assert ratings["status"].to_list() == ["truncated"] * 3
    assert set(replies_frame(tmp_path / "a")["text"]) == {"4"}
    (row,) = reply_findings_frame(tmp_path / "a").iter_rows(named=True)
    assert (row["kind"], row["detail"]) == ("unknown_word", "finish_reason overheated")
    assert rater.nothing_read


def test_a_reply_without_text_is_a_fault_and_is_not_asked_again(tmp_path):
    rater, ratings = outcome(tmp_path, judge("ann", "odd:no text"), run={"breaker": 9})
    assert (dict(rater.faults), rater.calls) == ({"malformed": 3}, 3)
    assert ratings["status"].to_list() == ["failed"] * 3


@pytest.mark.parametrize("name", RAISED)
def test_nothing_that_a_model_raises_ends_the_run(tmp_path, name):
    rater, _ = outcome(tmp_path, judge("ann", f"odd:{name}"), run={"retries": 0, "breaker": 9})
    kind = {"cancelled": "connection", "retry": "server"}.get(name, "model")
    assert dict(rater.faults) == {kind: 3}


def test_a_coroutine_behind_a_plain_function_is_awaited(tmp_path):
    rater, ratings = outcome(tmp_path, judge("ann", "wrapped:w"))
    assert (rater.done, ratings["score"].to_list()) == (3, [4.0] * 3)


@pytest.mark.parametrize("name", ASKS)
def test_a_judge_that_asks_nonsense_is_parked_by_name(tmp_path, name):
    odd = {**judge("ann"), "use": "odd", "options": {"asks": name}}
    rater, ratings = outcome(tmp_path, odd)
    assert rater.suspended.startswith("it cannot ask about item 'i0': ")
    assert ratings["status"].to_list() == ["failed"] * 3


def test_a_judge_without_a_method_is_named_before_anything_is_asked(tmp_path):
    with pytest.raises(PluginError, match=r"judge 'mute' of 'ann' lacks the method 'parse' \(Mute"):
        outcome(tmp_path, {**judge("ann"), "use": "mute"})
    assert not (tmp_path / "a" / "session.sqlite").exists()


def test_a_further_step_that_is_no_request_parks_its_judge(tmp_path):
    rater, _ = outcome(tmp_path, {**judge("ann"), "use": "onward"})
    assert rater.suspended == "it broke on item 'i0': a request must be a Request, got str"


@pytest.mark.parametrize("name", SAYS)
def test_a_parser_that_says_nonsense_says_nothing(tmp_path, name):
    odd = {**judge("ann"), "use": "odd", "options": {"says": name}}
    rater, ratings = outcome(tmp_path, odd)
    assert dict(rater.statuses) == {"unparsable": 3}
    assert ratings["score"].to_list() == [None] * 3
    assert ratings["status"].to_list() == ["unparsable"] * 3


def test_scores_may_be_numbers_of_any_type(tmp_path):
    _, ratings = outcome(tmp_path, {**judge("ann"), "use": "whole"})
    assert ratings["score"].to_list() == [4.0] * 3


def test_a_longer_timeout_is_no_other_model(tmp_path):
    def study(seconds):
        options = {"seconds": 0.0} if seconds is None else {"seconds": 0.0, "timeout": seconds}
        return build_study(
            {
                "name": "t",
                "panel": [{**judge("ann", "reach:a"), "model_options": options}],
                "items": {"path": "items.csv"},
                "responses": {"path": "responses.csv"},
            },
            folder=str(tmp_path),
        )

    study_of(tmp_path, judge("ann"), items=2)
    found = scripted_plugins()
    sys.modules.setdefault("test_running_odd", sys.modules[__name__])
    found.add("model", "tests", "reach", "test_running_odd:reach")
    for number, seconds in enumerate((None, 5, 60)):
        run(study(seconds), tmp_path / "a", plugins=found, quiet=True, resume=number > 0)
    assert replies_frame(tmp_path / "a").height == 4


def reach(model_name, *, seconds, timeout=1.0):
    """A model that may be given a timeout."""
    return OddModel(model_name)


def test_a_study_that_was_moved_with_its_session_is_found_again(tmp_path):
    here = tmp_path / "here"
    here.mkdir()
    go(here, study_of(here, judge("ann"), items=1))
    assert session_study(here / "a").folder == str(here)
    there = tmp_path / "there"
    here.rename(there)
    assert session_study(there / "a").folder == str(there)
    alone = tmp_path / "elsewhere" / "deep" / "a"
    shutil.copytree(there / "a", alone)
    shutil.rmtree(there)
    assert session_study(alone).folder == str(alone.parent)  # a folder that exists


def test_a_session_is_made_at_once_or_not_at_all(tmp_path):
    study = study_of(tmp_path, judge("ann"), items=1)
    open_session(tmp_path / "a", study, study_to_toml(study)).__exit__()
    connection = read_session(tmp_path / "a")
    assert connection.execute("SELECT value FROM meta WHERE name = 'schema_version'").fetchone()
    connection.close()


@pytest.mark.parametrize("damage", ["cut", "overwritten"])
def test_a_damaged_session_is_said_to_be_one(tmp_path, damage):
    go(tmp_path, study_of(tmp_path, judge("ann"), items=200))
    path = tmp_path / "a" / "session.sqlite"
    whole = path.read_bytes()
    middle = len(whole) // 2
    path.write_bytes(
        whole[:middle] if damage == "cut" else whole[:4096] + b"\xff" * (len(whole) - 4096)
    )
    for look in (session_status, replies_frame, write_tables):
        with pytest.raises(SessionError, match="session"):
            look(tmp_path / "a", *([plugins()] if look is not replies_frame else []))


SCRIPT = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from scripted import *
from voirdire.errors import SessionError
plugins = scripted_plugins()
class Stuck(Scripted):
    async def complete(self, request):
        if "i3" in request.messages[-1].content:
            print("stuck", flush=True)
            time.sleep(60)
        return await super().complete(request)
sys.modules["stuck"] = sys.modules["__main__"]
plugins.add("model", "tests", "stuck", "stuck:Stuck")
study = study_of(Path({folder!r}), judge("ann", {model!r}), items={items})
"""


def script(tmp_path, model, items, body):
    text = SCRIPT.format(
        tests=str(Path(__file__).parent),
        folder=str(tmp_path),
        model=model,
        items=items,
    )
    return [sys.executable, "-c", text + textwrap.dedent(body)]


def test_a_full_disk_is_said_and_what_came_before_is_kept(tmp_path):
    body = f"""
    try:
        run(study, {str(tmp_path / "a")!r}, plugins=plugins, quiet=True)
    except SessionError as error:
        print(error)
        sys.exit(1)
    """
    for limit in (20_000, 60_000, 200_000):
        shutil.rmtree(tmp_path / "a", ignore_errors=True)
        done = subprocess.run(
            script(tmp_path, "script:ann", 400, body),
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
            # The limit holds for compiled modules too: cut ones would break every later import.
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            preexec_fn=lambda most=limit: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)),
        )
        assert done.returncode == 1, done.stderr
        assert "go on with --resume once the cause is gone" in done.stdout
    study = study_of(tmp_path, judge("ann"), items=400)
    result = go(tmp_path, study, resume=True)
    assert result.complete
    kept = replies_frame(tmp_path / "a")
    assert kept.height == 800
    assert RECEIVED["ann"] < 800


def test_a_second_ctrl_c_ends_a_run_whose_plugin_blocks_the_loop(tmp_path):
    body = f"""
    try:
        run(study, {str(tmp_path / "a")!r}, plugins=plugins, quiet=True)
    except KeyboardInterrupt:
        print("interrupted")
        sys.exit(130)
    """
    process = subprocess.Popen(
        script(tmp_path, "stuck:ann", 9, body), stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "stuck\n"
    began = time.monotonic()
    for _ in range(2):
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=120)
    assert (process.returncode, said) == (130, "interrupted\n")
    assert time.monotonic() - began < 120
    result = go(tmp_path, study_of(tmp_path, judge("ann"), items=9), resume=True, ask_again=True)
    assert result.complete


def test_tables_that_cannot_be_written_cost_no_reply(tmp_path):
    study = study_of(tmp_path, judge("ann"), items=2)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "ratings.parquet.draft").mkdir()  # in the way
    with pytest.raises(SessionError, match="every reply is kept, so derive them later"):
        go(tmp_path, study)
    (tmp_path / "a" / "ratings.parquet.draft").rmdir()
    result = go(tmp_path, study, resume=True)
    assert (result.complete, RECEIVED["ann"], rated(tmp_path).height) == (True, 0, 4)

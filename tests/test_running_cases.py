"""Each case of kind f_running in `../shared/cases/bug_cases.jsonl`, and what b_provider asks of it."""

from __future__ import annotations

import json
import shutil
import sys
import time

import polars as pl
import pytest
from scripted import RECEIVED, Digit, scripted_plugins

from voirdire.running import run
from voirdire.running.budget import cost_of
from voirdire.schema import Item, Rating, Reply, Response, Usage
from voirdire.store import ratings_frame, replies_frame
from voirdire.store.raters import participants
from voirdire.store.records import Attempt, Finish, Slot, make_call
from voirdire.store.session import open_session
from voirdire.study import Prices, build_study, study_to_toml

pytestmark = pytest.mark.shared
PLUGINS = scripted_plugins()


@pytest.fixture(scope="module")
def cases(shared):
    lines = (shared / "cases" / "bug_cases.jsonl").read_text("utf-8").splitlines()
    return {case["id"]: case for case in map(json.loads, lines)}


def study_of(folder, ids, *panel, **run):
    pl.DataFrame({"id": ids, "text": ids}).write_csv(folder / "items.csv")
    pl.DataFrame(
        {"item": ids, "system": ["x"] * len(ids), "text": [f"to {i}." for i in ids]}
    ).write_csv(folder / "responses.csv")
    made = panel or ({"name": "ann", "use": "digit", "model": "script:ann"},)
    raw = {
        "name": "case", "panel": list(made), "items": {"path": "items.csv"},
        "responses": {"path": "responses.csv"}, "run": {"backoff": 0.01, "retries": 1, **run},
    }  # fmt: skip
    return build_study(raw, folder=str(folder))


def go(folder, study, **more):
    RECEIVED.clear()
    return run(study, folder / "a", plugins=PLUGINS, quiet=True, **more)


def laid(folder, study, done=(), failed=()):
    """A session in which some items are done and some have failed."""
    (participant,) = participants(study, PLUGINS)
    with open_session(folder / "a", study, study_to_toml(study), resume=True) as session:
        session.start(lambda group: None)
        for item in (*done, *failed):
            (request,) = participant.rater.requests(
                Rating(Item(item), Response(item, "x", f"to {item}."))
            )
            call = make_call(Slot(participant.id, item, "x"), request)
            bad = item in failed
            session.put(
                Attempt(call, time.time(), None if bad else Reply("3"), "timeout" if bad else "")
            )
            session.put(Finish((call.key,), "failed" if bad else "ok", (call.key,) if bad else ()))


def test_every_case_about_running_stands_here_or_with_the_judges(cases):
    known = {"F01", "F03", "F04", "F06", "F07"}  # F07: tests/test_judges_rubric.py
    assert {name for name, case in cases.items() if case["kind"] == "f_running"} == known


@pytest.mark.parametrize("variant", [0, 2])
def test_f01_resume_by_what_is_done_not_by_how_many(cases, tmp_path, variant):
    given = cases["F01"]["variants"][variant]
    found = given["input"]
    done = [f"i{n}" for n in found.get("done_ids", [])]
    failed = [
        f"i{n}"
        for n in found.get("failed", [row["id"] for row in found.get("done", []) if "id" in row])
    ]
    ids = [f"i{n}" for n in range(found.get("total", 1))]
    study = study_of(tmp_path, ids)
    laid(tmp_path, study, done, failed)
    assert go(tmp_path, study, resume=True).complete
    assert RECEIVED["ann"] == len(given["expected"]["pending"])
    asked = ratings_frame(tmp_path / "a", PLUGINS).filter(score=4.0)["item"].to_list()
    assert asked == [f"i{n}" for n in given["expected"]["pending"]]


def test_f01_a_torn_tail_costs_what_was_torn_alone(cases, tmp_path):
    expected = cases["F01"]["variants"][1]["expected"]
    study = study_of(tmp_path, ["i0", "i1", "i2"])
    folder, torn = tmp_path / "a", tmp_path / "torn"
    laid(tmp_path, study, [f"i{n}" for n in expected["kept"]])
    (participant,) = participants(study, PLUGINS)
    with open_session(folder, study, study_to_toml(study), resume=True) as session:
        session.start(lambda group: None)
        before = (folder / "session.sqlite-wal").stat().st_size
        (request,) = participant.rater.requests(Rating(Item("i2"), Response("i2", "x", "to i2.")))
        call = make_call(Slot(participant.id, "i2", "x"), request)
        session.put(Attempt(call, time.time(), Reply("3")))
        session.put(Finish((call.key,), "ok"))
        while session.lookup(call.key) is None:
            time.sleep(0.01)
        shutil.copytree(folder, torn)
    wal = torn / "session.sqlite-wal"
    assert wal.stat().st_size > before
    with wal.open("r+b") as file:
        file.truncate(before + 100)
    RECEIVED.clear()
    assert run(study, torn, plugins=PLUGINS, quiet=True, resume=True).complete
    assert RECEIVED["ann"] == 1
    assert replies_frame(torn)["item"].to_list() == ["i0", "i1", "i2"]


def test_f01_an_edited_prompt_is_redone_and_never_mixed(cases, tmp_path):
    assert cases["F01"]["variants"][3]["expected"]["action"] == "refuse or redo, never mix"
    old = study_of(tmp_path, ["i0", "i1"])
    go(tmp_path, old)
    new = {"name": "ann", "use": "digit", "model": "script:ann", "options": {"prompt": "New:"}}
    edited = study_of(tmp_path, ["i0", "i1"], new, max_calls=3)
    go(tmp_path, edited, resume=True, ask_again=True)
    assert RECEIVED["ann"] == 1
    assert ratings_frame(tmp_path / "a", PLUGINS)["status"].to_list() == ["ok", "failed"]


@pytest.mark.parametrize("variant", [0, 1])
def test_f03_cached_tokens_are_billed_once(cases, variant):
    given = cases["F03"]["variants"][variant]
    found = given["input"]
    if found["style"] == "openai":
        usage = Usage(input=found["prompt_tokens"], output=0, cached=found["cached_tokens"])
    else:  # Usage counts cached tokens in `input`, whatever the provider's custom
        cached = found["cache_read_input_tokens"]
        usage = Usage(input=found["input_tokens"] + cached, output=0, cached=cached)
    prices = Prices(input=found["price_in"], output=0.0, cached=found["price_cached"])
    assert cost_of(usage, prices) == pytest.approx(given["expected"]["usd"], rel=1e-12)


def test_f03_what_is_in_the_store_costs_nothing_again(cases, tmp_path):
    assert cases["F03"]["variants"][2]["expected"]["usd"] == 0
    study = study_of(tmp_path, ["i0"], prices={"script:ann": {"input": 1, "output": 1}})
    cost = go(tmp_path, study).cost
    assert go(tmp_path, study, resume=True).cost == cost > 0


def test_f03_every_billed_attempt_counts_once(cases, tmp_path):
    found = cases["F03"]["variants"][3]
    first, second = (attempt["billed"] for attempt in found["input"]["attempts"])
    sys.modules["scripted"].Billed = billed_model(first, second)
    plugins = scripted_plugins()
    plugins.add("model", "tests", "billed", "scripted:Billed")
    panel = {"name": "ann", "use": "digit", "model": "billed:b"}
    result = run(study_of(tmp_path, ["i0"], panel), tmp_path / "a", plugins=plugins, quiet=True)
    assert result.raters[0].input + result.raters[0].output == found["expected"]["tokens"]
    assert result.raters[0].statuses == {"ok": 1}


def billed_model(*bills):
    class Billed:
        def __init__(self, name):
            self.left = list(bills)

        async def complete(self, request):
            tokens = self.left.pop(0)
            return Reply("prose" if self.left else "4", usage=Usage(tokens, 0))

    return Billed


def test_f04_is_tested_with_real_signals(cases):
    """Ctrl-C and SIGKILL: tests/test_running_wire.py; here, that the numbers are those asked for."""
    interrupt, kill = (variant["expected"] for variant in cases["F04"]["variants"])
    assert (interrupt["code"], interrupt["on_disk"], kill["on_disk"]) == (
        130,
        ">=40",
        ">=39 readable lines",
    )


def test_f06_rows_stay_with_their_items(cases, tmp_path):
    order = cases["F06"]["variants"][0]["expected"]["order"]
    options = {"fails": {"1": "server"}, "only": "slow", "says": "{tries}"}
    panel = {"name": "ann", "use": "digit", "model": "script:ann", "model_options": options}
    go(tmp_path, study_of(tmp_path, order, panel, backoff=0.2))
    assert ratings_frame(tmp_path / "a", PLUGINS).select("item", "score").rows() == [
        (order[0], 2),
        (order[1], 1),
    ]
    assert replies_frame(tmp_path / "a")["item"].to_list()[-1] == order[0]  # it did come last


@pytest.mark.parametrize("turn", [1, -1])
def test_f06_completed_counts_do_not_depend_on_the_order(cases, tmp_path, turn):
    expected = cases["F06"]["variants"][1]["expected"]["completed"]
    panel = [
        {"name": "ok", "use": "digit", "model": "script:ok"},
        {
            "name": "raises",
            "use": "digit",
            "model": "script:raises",
            "model_options": {"fails": {"0": "bad_request"}, "only": "odd"},
        },
    ][::turn]
    ids = ["a", "odd1", "b", "odd2", "c", "d"]
    result = go(tmp_path, study_of(tmp_path, ids, *panel))
    assert {rater.name: rater.done for rater in result.raters} == expected


def test_b02_b03_the_runner_does_as_the_fault_says(cases, tmp_path):
    quota, passing = (variant["expected"] for variant in cases["B02"]["variants"])
    filtered = cases["B03"]["variants"][0]["expected"]
    for name, kind, fault in (
        ("a", quota, "quota"),
        ("b", passing, "rate_limit"),
        ("c", filtered, "content_filter"),
    ):
        (tmp_path / name).mkdir()
        panel = {
            "name": "ann",
            "use": "digit",
            "model": "script:ann",
            "model_options": {"fails": {"1": fault}, "only": "i1"},
        }
        result = go(
            tmp_path / name,
            study_of(tmp_path / name, ["i0", "i1", "i2"], panel, start_concurrency=1),
        )
        assert RECEIVED["ann"] >= 2
        assert (RECEIVED["ann"] == 4) is kind["retry"]
        assert ("billing" in result.raters[0].suspended) is (fault == "quota")
    assert filtered["others_continue"]
    frame = ratings_frame(tmp_path / "c" / "a", PLUGINS)
    assert frame.select("status", "score").rows() == [
        ("ok", 4),
        ("filtered", filtered["score"]),
        ("ok", 4),
    ]


def test_b05_truncation_is_asked_once_more_with_a_higher_cap_and_counted(cases, tmp_path):
    assert cases["B05"]["variants"][0]["expected"]["retry"] == "once with a higher cap"
    caps = []

    class Capped(Digit):
        def parse(self, replies):
            caps.append(replies[0].request.max_tokens if replies[0].request else None)
            return super().parse(replies)

    sys.modules["scripted"].Capped = Capped
    plugins = scripted_plugins()
    plugins.add("judge", "tests", "capped", "scripted:Capped")
    panel = {
        "name": "ann",
        "use": "capped",
        "model": "script:ann",
        "max_tokens": 256,
        "model_options": {"fails": {"0": "length"}},
    }
    RECEIVED.clear()
    result = run(study_of(tmp_path, ["i0"], panel), tmp_path / "a", plugins=plugins, quiet=True)
    assert caps[:2] == [256, 512]
    assert RECEIVED["ann"] == 2
    assert result.raters[0].statuses == {"truncated": 1}
    assert result.raters[0].output == 2 * 10


def test_b09_a_call_that_never_returns_ends_in_time(cases, tmp_path):
    given = cases["B09"]["variants"][0]
    timeout, items = given["input"]["timeout_s"], given["input"]["items"]
    panel = {
        "name": "ann",
        "use": "digit",
        "model": "script:ann",
        "model_options": {"fails": {"0": "hang"}, "only": "i3"},
    }
    began = time.monotonic()
    result = go(
        tmp_path,
        study_of(tmp_path, [f"i{n}" for n in range(items)], panel, timeout=timeout, retries=0),
    )
    assert timeout <= time.monotonic() - began < timeout + 120
    assert result.raters[0].done == given["expected"]["finished"]
    assert result.raters[0].faults == {"timeout": given["expected"]["timed_out"]}


def test_b09_a_reset_connection_is_asked_again(cases, tmp_path):
    expected = cases["B09"]["variants"][1]["expected"]
    panel = {
        "name": "ann",
        "use": "digit",
        "model": "script:ann",
        "model_options": {"fails": {"1": "connection"}},
    }
    result = go(tmp_path, study_of(tmp_path, ["i0"], panel))
    assert (result.raters[0].done, result.raters[0].calls) == (
        expected["finished"],
        expected["attempts"],
    )

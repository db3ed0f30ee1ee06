"""The runner from end to end: nothing lost, nobody waited for, everything accounted for."""

from __future__ import annotations

import sys
import time

import pytest
from derived_tables import session_tables
from scripted import PLUGINS, RECEIVED, Digit, go, judge, rated, scripted_plugins, study_of

from voirdire.errors import StudyError
from voirdire.running import dry_run, run, session_status
from voirdire.store import replies_frame


def test_a_panel_rates_everything_in_the_declared_order(tmp_path):
    study = study_of(tmp_path, judge("ann", runs=2), judge("bob", model_options={"says": "2"}))
    result = go(tmp_path, study)
    assert result.complete
    assert result.exit_code == 0
    assert [(r.name, r.tasks, r.done, r.calls) for r in result.raters] == [
        ("ann", 16, 16, 16),
        ("bob", 8, 8, 8),
    ]
    frame = session_tables(tmp_path / "a")["ratings"]
    assert frame.equals(rated(tmp_path))
    assert frame["rater"].to_list() == ["ann"] * 16 + ["bob"] * 8
    assert frame.filter(rater="bob").select("item", "system").rows() == [
        (f"i{n}", s) for n in range(4) for s in ("x", "y")
    ]
    assert set(frame.filter(rater="bob")["score"]) == {2.0}


def test_results_do_not_come_in_finishing_order(tmp_path):  # F06
    """The slow item first, the fast second: rows stay with their items."""
    study = study_of(
        tmp_path, judge(model_options={"fails": {"1": "server"}, "only": "i0", "says": "{tries}"})
    )
    go(tmp_path, study)
    assert rated(tmp_path).select("item", "score").rows() == [
        ("i0", 2), ("i0", 2), ("i1", 1), ("i1", 1), ("i2", 1), ("i2", 1), ("i3", 1), ("i3", 1)
    ]  # fmt: skip


@pytest.mark.parametrize("order", [("good", "bad"), ("bad", "good")])
def test_counts_do_not_depend_on_who_is_declared_first(tmp_path, order):  # F06
    made = {
        "good": judge("good"),
        "bad": judge("bad", model_options={"fails": {"0": "bad_request"}, "only": "x to i1"}),
    }
    result = go(tmp_path, study_of(tmp_path, *(made[name] for name in order), items=3))
    assert {r.name: (r.done, r.failed) for r in result.raters} == {"good": (6, 0), "bad": (5, 1)}
    assert result.exit_code == 3


@pytest.mark.parametrize(
    ("kind", "calls", "status"),
    [
        ("rate_limit", 2, "ok"), ("overloaded", 2, "ok"), ("server", 2, "ok"), ("connection", 2, "ok"),
        ("timeout", 2, "ok"), ("malformed", 2, "ok"), ("refusal", 1, "refused"),
        ("content_filter", 1, "filtered"), ("bad_request", 1, "failed"), ("quota", 1, "failed"),
        ("auth", 1, "failed"), ("refused_parameter", 1, "failed"), ("model", 1, "failed"),
        ("empty_input", 1, "failed"), ("empty", 2, "ok"), ("length", 2, "ok"), ("says:prose", 2, "ok"),
    ],
)  # fmt: skip
def test_each_fault_has_its_answer(tmp_path, kind, calls, status):  # B02, B03, B05, B09
    study = study_of(tmp_path, judge(model_options={"fails": {"1": kind}}), items=1, systems=("x",))
    result = go(tmp_path, study)
    assert RECEIVED["ann"] == calls == result.raters[0].calls
    frame = rated(tmp_path)
    assert frame["status"].to_list() == [status]
    assert frame["score"].to_list() == [4.0 if status == "ok" else None]
    kept = replies_frame(tmp_path / "a")
    assert kept.height == calls
    if status == "failed":
        assert result.raters[0].faults == {kind: 1}
        assert kept["error"].to_list() == [kind]


def test_retries_end(tmp_path):
    study = study_of(
        tmp_path, judge(model_options={"fails": {"0": "server"}}), items=1, systems=("x",)
    )
    result = go(tmp_path, study)
    assert RECEIVED["ann"] == 3
    assert result.raters[0].faults == {"server": 1}


def test_retry_after_is_obeyed(tmp_path):
    options = {"fails": {"1": "rate_limit"}, "retry_after": 0.4}
    began = time.monotonic()
    go(tmp_path, study_of(tmp_path, judge(model_options=options), items=1, systems=("x",)))
    assert 0.4 <= time.monotonic() - began < 120
    at = replies_frame(tmp_path / "a")["at"]
    assert at[1] - at[0] >= 0.4


def test_truncated_is_asked_again_with_a_larger_cap(tmp_path):  # B05
    options = {"fails": {"1": "length"}}
    study = study_of(
        tmp_path, judge(model_options=options, max_tokens=100), items=1, systems=("x",)
    )
    result = go(tmp_path, study)
    assert replies_frame(tmp_path / "a")["finish_reason"].to_list() == ["length", "stop"]
    assert (result.raters[0].input, result.raters[0].output) == (200, 20)  # F03: both are billed
    assert rated(tmp_path)["status"].to_list() == ["ok"]


def test_truncated_for_good_says_so(tmp_path):
    study = study_of(
        tmp_path, judge(model_options={"fails": {"0": "length"}}), items=1, systems=("x",)
    )
    result = go(tmp_path, study)
    assert RECEIVED["ann"] == 2
    assert (result.complete, result.exit_code) == (False, 3)  # nothing could be read
    assert rated(tmp_path)["status"].to_list() == ["truncated"]


def test_reask_can_be_turned_off(tmp_path):
    study = study_of(
        tmp_path,
        judge(model_options={"fails": {"1": "empty"}}),
        items=1,
        systems=("x",),
        run={"reask": 0},
    )
    go(tmp_path, study)
    assert RECEIVED["ann"] == 1
    assert rated(tmp_path)["status"].to_list() == ["blank"]


def test_a_hung_socket_is_a_timeout_and_the_run_ends(tmp_path):  # B09
    options = {"fails": {"0": "hang"}, "only": "i3"}
    study = study_of(
        tmp_path,
        judge(model_options=options),
        items=5,
        systems=("x",),
        run={"timeout": 1, "retries": 1},
    )
    began = time.monotonic()
    result = go(tmp_path, study)
    assert time.monotonic() - began < 120  # the call itself would sleep for an hour
    assert result.raters[0].done == 4
    assert result.raters[0].faults == {"timeout": 1}


def test_resume_asks_only_for_what_has_no_final_reply(tmp_path):  # F01
    study = study_of(tmp_path, judge(model_options={"fails": {"1": "bad_request"}, "only": "i1"}))
    assert go(tmp_path, study).raters[0].failed == 2
    result = go(tmp_path, study, resume=True)
    # The scripted model is new in the second run and fails again: two are asked, six are not.
    assert RECEIVED["ann"] == 2
    assert result.raters[0].done == 6
    better = study_of(tmp_path, judge())
    assert go(tmp_path, better, resume=True, ask_again=True).complete is True


def test_an_edited_prompt_is_asked_anew_and_never_mixed(tmp_path):  # F01
    go(tmp_path, study_of(tmp_path, judge(options={"prompt": "Old"}, model_options={"says": "1"})))
    halted = study_of(tmp_path, judge(options={"prompt": "New"}, model_options={"says": "1"}))
    go(tmp_path, halted, resume=True, ask_again=True, max_calls=11)
    frame = rated(tmp_path)
    assert frame["score"].null_count() == 5
    assert go(tmp_path, halted, resume=True).raters[0].done == 8
    go(
        tmp_path,
        study_of(tmp_path, judge(options={"prompt": "Old"}, model_options={"says": "1"})),
        resume=True,
    )
    assert RECEIVED["ann"] == 0


def test_an_edited_response_is_asked_anew(tmp_path):
    study = study_of(tmp_path, judge())
    go(tmp_path, study)
    text = (tmp_path / "responses.csv").read_text()
    (tmp_path / "responses.csv").write_text(text.replace("x to i1.", "x to i1 edited."))
    result = go(tmp_path, study, resume=True, ask_again=True)
    assert RECEIVED["ann"] == 1
    assert result.complete


def test_a_dead_judge_is_parked_and_named_while_the_others_finish(tmp_path):
    panel = [judge("ann"), judge("dead", model_options={"fails": {"0": "server"}})]
    result = go(tmp_path, study_of(tmp_path, *panel, items=50, run={"start_concurrency": 8}))
    ann, dead = result.raters
    assert (ann.done, dead.done) == (100, 0)
    assert dead.suspended.startswith("5 calls failed in a row, the last by server")
    assert RECEIVED["dead"] < 60
    assert result.exit_code == 3
    frame = rated(tmp_path)
    assert frame.filter(rater="dead").height == 100
    assert set(frame.filter(rater="dead")["status"]) == {"failed"}


@pytest.mark.parametrize(("kind", "says"), [("quota", "billing"), ("auth", "key was refused")])
def test_hopeless_faults_park_at_once(tmp_path, kind, says):  # B02
    panel = [judge("ann"), judge("poor", model_options={"fails": {"0": kind}})]
    result = go(tmp_path, study_of(tmp_path, *panel, items=50, run={"start_concurrency": 4}))
    assert says in result.raters[1].suspended
    assert RECEIVED["poor"] <= 8
    assert result.raters[0].done == 100


def test_cost_is_exact_over_retries_and_resume(tmp_path):  # F03
    prices = {"script:ann": {"input": 2.0, "output": 10.0}}
    panel = judge(model_options={"fails": {"1": "length"}, "only": "x"})
    study = study_of(tmp_path, panel, run={"prices": prices, "max_calls": 5})
    first = go(tmp_path, study)
    assert first.stopped == "budget"
    assert first.exit_code == 3
    assert first.raters[0].calls == 5
    rest = study_of(tmp_path, panel, run={"prices": prices})
    second = go(tmp_path, rest, resume=True)
    assert second.complete
    assert second.raters[0].calls == 12  # 8 tasks, of which the 4 of system x are asked twice
    assert second.cost == pytest.approx(12 * (100 * 2 + 10 * 10) / 1e6, rel=1e-12)
    assert session_status(tmp_path / "a", PLUGINS).cost == second.cost


def test_cost_limit_holds(tmp_path):
    prices = {"script:ann": {"input": 10_000.0, "output": 0.0}}  # one dollar a call
    study = study_of(tmp_path, judge(), run={"prices": prices, "max_cost": 3.5}, items=20)
    result = go(tmp_path, study)
    assert result.stopped == "budget"
    assert result.cost == 3.0


def test_unknown_prices_say_unknown_and_forbid_a_limit(tmp_path):
    study = study_of(tmp_path, judge())
    assert go(tmp_path, study).cost is None
    with pytest.raises(
        StudyError, match=r"run\.max_cost is 5, but there is no price for script:ann"
    ):
        go(tmp_path, study, out="b", max_cost=5.0)
    assert not (tmp_path / "b").exists()


def test_a_model_that_says_it_is_free_costs_nothing_unless_the_study_prices_it(tmp_path):
    study = study_of(tmp_path, judge(model="free:ann"), run={"max_cost": 0})
    result = go(tmp_path, study)
    assert (result.complete, result.cost) == (True, 0.0)
    assert session_status(tmp_path / "a", PLUGINS).cost == 0.0
    assert dry_run(study, plugins=PLUGINS)[0].cost == 0.0
    prices = {"free:ann": {"input": 2.0, "output": 10.0}}
    priced = study_of(tmp_path, judge(model="free:ann"), run={"prices": prices})
    assert go(tmp_path, priced, out="b").cost == pytest.approx(8 * (100 * 2 + 10 * 10) / 1e6)


def test_unknown_usage_is_counted(tmp_path):
    prices = {"script:ann": {"input": 1.0, "output": 1.0}}
    result = go(
        tmp_path, study_of(tmp_path, judge(model_options={"usage": []}), run={"prices": prices})
    )
    assert result.raters[0].blind == 8


def test_concurrency_has_a_limit(tmp_path):
    study = study_of(
        tmp_path,
        judge(model_options={"latency": 0.05}),
        items=10,
        run={"concurrency": 4, "start_concurrency": 4},
    )
    began = time.monotonic()
    go(tmp_path, study)
    assert time.monotonic() - began >= 0.05 * 20 / 4


def test_requests_a_minute_are_obeyed(tmp_path):
    study = study_of(tmp_path, judge(), run={"requests_per_minute": 600})  # ten a second
    go(tmp_path, study)
    at = replies_frame(tmp_path / "a")["at"]
    assert RECEIVED["ann"] == 8
    assert at[-1] - at[0] < 1.0  # a burst of one second's worth is allowed
    more = study_of(tmp_path, judge(), items=15, run={"requests_per_minute": 600})
    began = time.monotonic()
    go(tmp_path, more, out="b")
    assert time.monotonic() - began >= (30 - 11) / 10


def test_blocking_models_run_in_threads(tmp_path):
    study = study_of(tmp_path, judge(model="block:b"), items=4)
    began = time.monotonic()
    assert go(tmp_path, study).complete
    assert time.monotonic() - began >= 0.2  # two at a time, 50 ms each


def test_a_model_that_raises_or_returns_nonsense_costs_only_its_calls(tmp_path):
    study = study_of(tmp_path, judge("ann"), judge("odd", model="odd:odd"), items=2)
    found = scripted_plugins()
    found.add("model", "tests", "odd", f"{__name__}:odd_model")
    sys.modules.setdefault(__name__, sys.modules[odd_model.__module__])
    result = run(study, tmp_path / "a", plugins=found, quiet=True)
    assert result.raters[0].done == 4
    assert set(result.raters[1].faults) == {"malformed", "model"}


def test_a_rater_that_cannot_ask_is_parked_and_the_others_finish(tmp_path):
    found = scripted_plugins()
    found.add("judge", "tests", "lame", f"{__name__}:lame_judge")
    found.add("judge", "tests", "late", f"{__name__}:late_judge")
    study = study_of(
        tmp_path, judge("ann"), judge("lame", use="lame"), judge("late", use="late"), items=3
    )
    result = run(study, tmp_path / "a", plugins=found, quiet=True)
    ann, lame, late = result.raters
    assert ann.done == 6
    assert lame.suspended == "it cannot ask about item 'i1': KeyError: 'nothing'"
    assert late.suspended.startswith("it broke on item 'i")
    assert result.exit_code == 3


def lame_judge(rubric):
    class Lame(Digit):
        def requests(self, task):
            if task.item.id == "i1":
                raise KeyError("nothing")
            return super().requests(task)

    return Lame(rubric)


def late_judge(rubric):
    class Late(Digit):
        def follow_up(self, replies):
            raise ZeroDivisionError("what a step")

    return Late(rubric)


def odd_model(name):
    class Odd:
        async def complete(self, request):
            if "x" in request.messages[-1].content:
                raise KeyError("choices")
            return "<html>"

    return Odd()

"""Budgets, patience and breakers: each holds, and none holds longer than it must."""

from __future__ import annotations

import time

import pytest
from scripted import RECEIVED, go, judge, study_of

from voirdire.errors import ModelError
from voirdire.running.budget import Budget, cost_of
from voirdire.running.limits import Breaker
from voirdire.schema import Usage
from voirdire.study import Prices


def test_requests_that_an_item_spoils_park_nobody_who_has_answered(tmp_path):
    """Otherwise five such items in a row would stop every resume at the same place."""
    breaker = Breaker(2)
    bad = ModelError("no", "bad_request", status_code=400)
    for _ in range(9):
        breaker.failed(ModelError("long", "bad_request", status_code=400, of_item=True))
    assert breaker.reason == ""
    for known in (Breaker(2, answered=True), breaker):
        known.succeeded()
        for _ in range(9):
            known.failed(bad)
        assert known.reason == ""
    breaker.failed(ModelError("gone", "bad_request", status_code=404))
    breaker.failed(ModelError("gone", "bad_request", status_code=404))
    assert breaker.reason == "2 calls failed in a row, the last by bad_request: gone"
    new = Breaker(2)
    new.failed(bad)
    new.failed(bad)
    assert new.reason != ""


def test_calls_in_line_are_let_go_when_the_rater_is_parked_or_the_budget_is_used_up(tmp_path):
    began = time.monotonic()
    slow = {"requests_per_minute": 2}
    suspended = judge("ann", model_options={"fails": {"0": "auth"}})
    result = go(tmp_path, study_of(tmp_path, suspended, items=20, run=slow))
    assert result.raters[0].calls == 1
    assert "its key was refused" in result.raters[0].suspended
    spent = study_of(
        tmp_path, judge("ann"), items=20, run={"requests_per_minute": 60, "max_calls": 2}
    )
    result = go(tmp_path, spent, out="b")
    assert (result.stopped, result.raters[0].calls) == ("budget", 2)
    assert time.monotonic() - began < 240  # in line they would have waited for ten minutes and more


def test_a_call_waits_for_money_that_others_hold_and_do_not_use(tmp_path):
    prices = {"script:ann": {"input": 0, "output": 10}}
    costly = judge("ann", model_options={"latency": 0.02}, max_tokens=50_000)  # 0.5 a call at most
    study = study_of(tmp_path, costly, items=12, run={"max_cost": 1, "prices": prices})
    result = go(tmp_path, study)
    assert (result.stopped, result.raters[0].done) == ("", 24)
    assert result.cost == pytest.approx(24 * 10 * 10 / 1e6)


def test_a_budget_is_used_up_only_when_no_call_is_under_way():
    budget = Budget(1.0, 3)
    assert budget.admit(0.7)
    assert not budget.admit(0.7)
    assert not budget.is_used_up
    budget.book(0.7, 0.9)
    assert not budget.admit(0.2)
    assert budget.is_used_up
    assert budget.admit(0.05)
    assert budget.admit(0.05)
    assert budget.is_used_up  # three calls


def test_replies_without_token_counts_are_charged_by_their_length_after_a_resume(tmp_path):
    prices = {"script:ann": {"input": 0, "output": 1e6 / 260}}  # 256 tokens are expected
    says = judge("ann", model_options={"usage": None, "says": "4" + " good" * 200})
    study = study_of(tmp_path, says, items=10, run={"max_cost": 5, "prices": prices})
    first = go(tmp_path, study)
    assert (first.stopped, first.raters[0].blind) == ("budget", first.raters[0].calls)
    again = go(tmp_path, study, resume=True)
    assert again.stopped == "budget"
    assert again.raters[0].calls <= first.raters[0].calls + 1


def test_more_cached_tokens_than_there_are_make_no_call_cheaper():
    prices = Prices(input=1.0, output=2.0, cached=0.1)
    assert cost_of(Usage(10, 5, cached=50), prices) == cost_of(Usage(10, 5, cached=10), prices)


def test_a_fault_after_throttling_has_all_its_retries(tmp_path):
    fails = {**{str(n): "rate_limit" for n in range(1, 6)}, "6": "server", "7": "server"}
    limits = {"retries": 2, "backoff": 0.001, "backoff_cap": 0.002}
    rater = judge("ann", model_options={"fails": fails})
    result = go(tmp_path, study_of(tmp_path, rater, items=1, systems=("x",), run=limits))
    assert (result.raters[0].done, RECEIVED["ann"]) == (1, 8)


def test_patience_with_throttling_begins_with_it(tmp_path):
    limits = {"requests_per_minute": 120, "patience": 0.4, "backoff": 0.001, "backoff_cap": 0.01}
    rater = judge("ann", model_options={"fails": {"1": "rate_limit"}, "only": "i3"})
    result = go(tmp_path, study_of(tmp_path, rater, items=4, systems=("x",), run=limits))
    assert result.raters[0].done == 4  # the last waited for longer than that before it was asked


def test_a_price_is_found_again_for_a_model_whose_name_holds_a_space(tmp_path):
    prices = {"script:my model": {"input": 0, "output": 1000}}  # 0.01 a call
    options = {"says": "4"}
    rater = judge("ann", "script:my model", model_options=options, max_tokens=10)
    study = study_of(tmp_path, rater, items=10, run={"max_cost": 0.05, "prices": prices})
    assert go(tmp_path, study).raters[0].calls == 5
    again = go(tmp_path, study, resume=True)
    assert (again.stopped, again.raters[0].calls) == ("budget", 5)

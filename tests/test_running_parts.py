"""The parts of the runner, one by one: pace, retries, breaker, budget, progress."""

from __future__ import annotations

import asyncio
import heapq
import io
import math
import os
import pty
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import judge, scripted_plugins, study_of

from voirdire.errors import ModelError, StudyError
from voirdire.running import _run, run
from voirdire.running.budget import Budget, cost_of
from voirdire.running.limits import Breaker, Bucket, OpenCalls, RateLimiter, may_retry, wait_before
from voirdire.schema import Usage
from voirdire.study import ModelLimits, Prices, RunSpec, build_study, study_to_toml


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@given(st.lists(st.floats(0.1, 500), min_size=1, max_size=60), st.floats(1, 1000))
def test_bucket_never_lets_more_through_than_the_allowance(amounts, a_minute):
    """In any window of w seconds at most rate * (w + one second's burst) plus one amount."""
    clock = Clock()
    bucket = Bucket(a_minute, clock)
    used = []
    for amount in amounts:
        clock.now += bucket.reserve(amount)
        used.append((clock.now, amount))
    span = used[-1][0] - used[0][0]
    before_last = sum(amount for _, amount in used[:-1])
    assert before_last <= a_minute / 60 * (span + 1) + 1e-6


def lane_of(clock, most=16, start=4):
    return RateLimiter(ModelLimits(concurrency=most, start_concurrency=start), clock)


def test_lane_opens_quickly_gives_way_once_and_creeps_up():
    clock = Clock()
    limiter = lane_of(clock)
    for _ in range(20):
        limiter.succeeded()
    assert limiter.limit == 16
    clock.now = 10.0
    for _ in range(16):
        limiter.setback(started=9.0)  # all were under way when the second came back
    assert limiter.limit == 8
    clock.now = 11.0
    for _ in range(2):
        limiter.setback(started=10.5)
    assert limiter.limit == 4
    for _ in range(4):
        limiter.succeeded()
    assert 4.5 < limiter.limit < 5.1
    for _ in range(1000):
        limiter.succeeded()
    assert limiter.limit == 16
    for number in range(40):
        clock.now = 100.0 + number
        limiter.setback(started=clock.now)
    assert limiter.limit == 1


def test_one_stray_refusal_cuts_nothing_and_many_cut_by_their_share():
    clock = Clock()
    limiter = lane_of(clock, most=100, start=100)
    for number in range(1000):
        clock.now += 0.01
        limiter.setback(clock.now) if number % 50 == 49 else limiter.succeeded()
    assert (limiter.limit, limiter.setbacks) == (100, 0)
    for number in range(60):
        clock.now += 0.01
        limiter.setback(clock.now) if number % 5 == 0 else limiter.succeeded()
    # Six refusals of 26 answers are over a twentieth of a round.
    assert limiter.setbacks >= 1
    assert 60 < limiter.limit < 90


def played(rate=math.inf, stray=0.0, most=256, latency=0.5, seconds=120.0):
    """Answers a second in the last two thirds, with which share of calls refused.

    A provider that admits `rate` calls a second and refuses a share of `stray` at random.
    """
    chance, clock = random.Random(1), Clock()
    limiter, bucket = lane_of(clock, most, 8), [min(rate, most), 0.0]
    under_way, counts, number = [], [0, 0], 0
    while clock.now < seconds:
        while limiter.enter_now():
            bucket[0] = min(rate, bucket[0] + (clock.now - bucket[1]) * min(rate, 1e6))
            bucket[1] = clock.now
            fine = bucket[0] >= 1 and chance.random() >= stray
            bucket[0] -= fine
            ends = clock.now + (latency * chance.uniform(0.7, 1.3) if fine else 0.02)
            heapq.heappush(under_way, (ends, number, clock.now, fine))
            number += 1
        clock.now, _, started, fine = heapq.heappop(under_way)
        limiter.leave()
        limiter.succeeded() if fine else limiter.setback(started)
        counts[fine] += clock.now > seconds / 3
    return counts[1] / (seconds * 2 / 3), counts[0] / sum(counts)


@pytest.mark.parametrize(
    ("provider", "least", "refused"),
    [
        # Halving at each refusal gave 33 and 95 a second, and 350 of 400.
        ({"stray": 0.005}, 0.95 * 256 / 0.5, 0.01),
        ({"rate": 100}, 95, 0.02),
        ({"rate": 400}, 380, 0.02),
    ],
)
def test_the_limit_finds_what_a_provider_bears(provider, least, refused):
    rate, share = played(**provider)
    assert rate >= least
    assert share <= refused


def test_a_lane_says_how_long_its_provider_asks_to_wait():
    async def play():
        now = [0.0]
        limiter = RateLimiter(ModelLimits(concurrency=4), clock=lambda: now[0])
        assert limiter.paused == 0
        limiter.setback(0.0, 30.0)
        now[0] = 10.0
        assert limiter.paused == 20
        now[0] = 31.0
        assert limiter.paused == 0

    asyncio.run(play())


def test_a_lane_says_how_many_calls_are_open_and_why_not_more():
    async def play():
        now = [0.0]
        limiter = lane_of(lambda: now[0])
        assert str(limiter.calls("m", 16)) == (
            "0 of 16 calls open (4 at once, rising from start_concurrency)"
        )
        for _ in range(20):
            limiter.succeeded()
        assert limiter.enter_now()
        assert limiter.calls("m", 16) == OpenCalls("m", 1, 16, 16)
        assert str(limiter.calls("m", 16)) == "1 of 16 calls open"
        assert limiter.calls("m", 64).held == "model"
        limiter.setback(0.0)
        limiter.setback(0.0, 30.0)
        assert str(limiter.calls("m", 16)).endswith("(waiting 30 s as its provider asks)")
        now[0] = 31.0
        held = limiter.calls("m", 16)
        assert (held.held, held.limit, held.throttled) == ("throttled", 8, 1)
        assert str(held + held).startswith("2 of 32 calls open (16 at once, since 429 or 529 came")
        slow = RateLimiter(ModelLimits(concurrency=4, requests_per_minute=60), lambda: now[0])
        waiting = [asyncio.create_task(slow.enter()) for _ in range(3)]
        await asyncio.sleep(0.01)
        assert slow.calls("m", 4).held == "allowance"
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        assert slow.calls("m", 4).held == ""

    asyncio.run(play())


def test_lane_never_holds_more_than_its_limit_and_a_pause_holds_all():
    async def play():
        limiter = RateLimiter(ModelLimits(concurrency=3, start_concurrency=3))
        peak, inside = 0, 0

        async def one():
            nonlocal peak, inside
            await limiter.enter()
            inside += 1
            peak = max(peak, inside)
            await asyncio.sleep(0.001)
            inside -= 1
            limiter.leave()

        await asyncio.gather(*(one() for _ in range(50)))
        assert (peak, limiter.in_flight) == (3, 0)
        limiter.setback(time.monotonic(), pause=0.2)
        began = time.monotonic()
        await asyncio.gather(*(one() for _ in range(3)))
        assert time.monotonic() - began >= 0.2

    asyncio.run(play())


def test_a_cancelled_wait_gives_its_place_back():
    async def play():
        limiter = RateLimiter(ModelLimits(concurrency=1, start_concurrency=1))
        await limiter.enter()
        waiting = [asyncio.create_task(limiter.enter()) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        limiter.leave()
        waiting[1].cancel()  # it has just been given the place
        await asyncio.gather(*waiting, return_exceptions=True)
        assert waiting[2].exception() is None
        assert limiter.in_flight == 1

    asyncio.run(play())


@given(st.integers(1, 60), st.floats(0, 500), st.integers(0, 2**32))
def test_waits_grow_within_their_caps_and_obey_retry_after(tries, asked, seed):
    spec, chance = RunSpec(backoff=0.5, backoff_cap=30, retry_after_cap=120), random.Random(seed)
    plain = wait_before(ModelError("x", "server"), tries, spec, chance)
    full = min(30.0, 0.5 * 2 ** (tries - 1))
    assert full / 2 <= plain <= full
    told = wait_before(ModelError("x", "rate_limit", retry_after=asked), tries, spec, chance)
    assert told >= min(asked, 120) or asked == 0
    assert told <= 120 * 1.1 + 30


def test_what_is_retried():
    spec = RunSpec(retries=2, patience=60)
    assert may_retry(ModelError("x", "server"), 2, 500, spec)
    assert not may_retry(ModelError("x", "server"), 3, 0, spec)
    assert may_retry(ModelError("x", "rate_limit"), 50, 59, spec)
    assert not may_retry(ModelError("x", "overloaded"), 1, 61, spec)
    assert not may_retry(ModelError("x", "quota"), 1, 0, spec)


def test_breaker_needs_a_row_and_an_item_of_its_own_is_no_reason():
    breaker = Breaker(3)
    for kind in ("server", "server", "empty_input", "empty_input"):
        breaker.failed(ModelError("x", kind))
    breaker.succeeded()
    for _ in range(2):
        breaker.failed(ModelError("x", "timeout"))
    assert breaker.reason == ""
    breaker.failed(ModelError("boom sk-abcdefgh12345", "timeout"))
    assert breaker.reason == "3 calls failed in a row, the last by timeout: boom [hidden]"


def test_budget_reserves_before_it_spends():
    budget = Budget(1.0, 3)
    assert budget.admit(0.6)
    assert not budget.admit(0.6)
    budget.book(0.6, 0.1)
    assert budget.admit(0.6)
    budget.book(0.6, None)  # unknown: what was expected
    assert budget.cost == pytest.approx(0.7)
    assert budget.admit(0.0)
    assert not budget.admit(0.0)  # three calls


def test_cost_is_unknown_without_price_or_tokens():
    prices = Prices(input=1.0, output=2.0)
    assert cost_of(Usage(10, 5), prices) == pytest.approx(20e-6)
    assert cost_of(Usage(10, 5, cached=4), prices) == pytest.approx(20e-6)
    assert cost_of(Usage(None, 5), prices) is None
    assert cost_of(Usage(10, None), prices) is None
    assert cost_of(Usage(10, 5), None) is None


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"run": {"timeout": 0}}, r"key 'run\.timeout' is 0: input should be greater than 0"),
        ({"run": {"pace": 1}}, r"unknown key 'run\.pace' \(.*allowed: timeout, retries"),
        ({"run": {"concurrency": 4, "start_concurrency": 8}}, r"start_concurrency is 8, more than concurrency \(4\)"),
        ({"run": {"prices": {"a:b": {"input": 1}}}}, r"key 'run\.prices\.a:b\.output' is required"),
        ({"run": {"reask_on": ["bad"]}}, r"key 'run\.reask_on\.0' is 'bad'"),
        ({"generators": [{"name": "g", "use": "chat"}]}, r"generators\.0: a generator asks a model: give it model"),
        ({"generators": [{"name": "g", "use": "c", "model": "a:b"}] * 2}, r"generators names \['g'\] twice"),
        ({"items": {"file": "x"}}, r"unknown key 'items\.file' .*key|unknown key 'items\.file'|key 'items\.path' is required"),
        ({"comparisons": {"order": "any"}}, r"key 'comparisons\.order' is 'any'"),
        ({"panel": [{"name": "a", "options": {"headers": {}}}]}, r"\['headers'\] may not stand in a study"),
    ],
)  # fmt: skip
def test_study_keys_are_checked_by_name(raw, message):
    with pytest.raises(StudyError, match=message):
        build_study({"name": "calm", **raw})


def test_limits_of_a_model_win_over_those_of_the_run():
    spec = RunSpec(
        concurrency=8,
        start_concurrency=4,
        tokens_per_minute=100,
        models={"a:b": ModelLimits(concurrency=2, requests_per_minute=5)},
    )
    assert spec.limits("a:b") == ModelLimits(
        requests_per_minute=5, tokens_per_minute=100, concurrency=2, start_concurrency=2
    )
    assert spec.limits("c:d").concurrency == 8


def test_plain_lines_off_a_terminal(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(_run, "LINE_EVERY", 0.1)
    prices = {"script:ann": {"input": 1.0, "output": 1.0}}
    options = {"latency": 0.02, "fails": {"0": "bad_request"}, "only": "i1."}
    study = study_of(
        tmp_path,
        judge(model_options=options),
        items=30,
        systems=("x",),
        run={"prices": prices, "concurrency": 2, "start_concurrency": 2},
    )
    run(study, tmp_path / "a", plugins=scripted_plugins())
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("ann: ")
    for part in ("/30 done", "failed bad_request 1", "/s, ", " tokens, 0.00", " USD, ", " left"):
        assert part in last


def test_a_live_table_on_a_terminal(tmp_path):
    """Through a pseudo-terminal: what a person sees."""
    study = study_of(
        tmp_path, judge(model="block:b", model_options={"seconds": 0.02}), items=40, systems=("x",)
    )
    (tmp_path / "study.toml").write_text(study_to_toml(study))
    code = (
        "from scripted import scripted_plugins\nfrom voirdire.running import run\n"
        "run('study.toml', 'a', plugins=scripted_plugins())"
    )
    terminal, end = pty.openpty()
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(__file__).parent),
        "TERM": "xterm",
        "COLUMNS": "100",
    }
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, stderr=end, env=environment
    )
    os.close(end)
    seen = io.BytesIO()
    while chunk := _read(terminal):
        seen.write(chunk)
    os.close(terminal)
    assert process.wait(timeout=120) == 0
    shown = seen.getvalue().decode()
    for part in ("rater", "done", "a second", "cost", "left", "ann", "/40", "cost unknown"):
        assert part in shown


def _read(terminal):
    try:
        return os.read(terminal, 4096)
    except OSError:  # Linux says so when the other end has closed
        return b""

"""Every fault and kills of the process, in every provider's format: nothing lost, cost to the reply.

Costs are held against what the server itself has answered, not against what the runner counted.
"""

from __future__ import annotations

import random
import signal
import sys
from collections import Counter

import polars as pl
import pytest
from test_running_wire import EACH, KEY, after, started, study_of
from wire_server import FAULTS, SILENT, Answer, WireServer, rubric_text

from voirdire.running import run, session_status
from voirdire.running.tasks import COMMITTING, WAITING
from voirdire.store import ratings_frame, replies_frame
from voirdire.study import load_study

FORMATS = {
    "openai": "openai",
    "openai-responses": "openai",
    "compatible": "orjson",
    "anthropic": "anthropic",
    "google": "google.genai",
}
#: What becomes of the one task that a fault strikes once.
FATAL = {"auth", "forbidden", "bad_request", "not_found", "quota", "refused_parameter"}
ANSWERED = {"refusal": "refused", "filter": "filtered"}
#: Faults of which an answer comes that is counted: these alone are in the usage of the server.
COUNTED = {"empty", "refusal", "filter", "length"}
#: Asked for by hand: any bytes under any status.
SKIPPED = {"raw"}
ITEMS = 4
#: Each fault alone; those that only a limit of time ends strike together, and wait together.
STRUCK = [
    *((fault,) for fault in FAULTS if fault not in SKIPPED | SILENT),
    tuple(sorted(SILENT)),
]


def strike(server, faults, words, more=lambda seen: True):
    """Let each fault strike once, each at an item of its own, in the words that a call sends."""
    for number, fault in enumerate(faults):
        details = {"retry_after": 0.01} if fault == "rate_limit" else {}

        def when(seen, item=f"i{2 - number:03}"):
            return item in words(seen) and more(seen)

        server.fault(fault, times=1, when=when, **details)


def free(faults):
    """How many of them bring no answer that is paid for."""
    return sum(fault not in COUNTED for fault in faults)


@pytest.fixture(autouse=True)
def _keys(monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OTHER_KEY"):
        monkeypatch.setenv(name, KEY)


def member(sdk, server, **more):
    pytest.importorskip(FORMATS[sdk])
    options = {"base_url": server.url if sdk in ("anthropic", "google") else server.openai}
    if sdk == "compatible":
        options["api_key_env"] = "OTHER_KEY"
    return {"name": "gpt", "model": f"{sdk}:m", "model_options": options, "max_tokens": 200, **more}


def limits(sdk, **more):
    prices = {f"{sdk}:m": {"input": 1.0, "output": 2.0}}
    return {"prices": prices, "concurrency": 8, "start_concurrency": 8, **more}


def handled(fault, sdk):
    """What the server's fault is to this format, by its own words."""
    if fault == "filter_400":  # Anthropic words no such refusal of a prompt
        return "bad_request" if sdk == "anthropic" else "filter"
    if fault == "filter" and sdk == "anthropic":
        return "refusal"  # it has no other word for it
    return fault


@pytest.mark.parametrize("sdk", FORMATS)
@pytest.mark.parametrize("faults", STRUCK, ids="+".join)
def test_a_fault_costs_what_it_costs_and_loses_nothing(tmp_path, sdk, faults):
    """One fault on one of four items, then a resume without it."""
    fault = faults[0]
    quick = limits(sdk, timeout=5 if fault in SILENT else 60, breaker=99)
    with WireServer(rubric_text()) as server:
        strike(server, faults, lambda seen: seen.prompt)
        study = study_of(tmp_path, member(sdk, server), items=ITEMS, run=quick)
        result = run(study, tmp_path / "a", quiet=True)
        (rater,) = result.raters
        kind, counted = handled(fault, sdk), server.count - free(faults)
        if kind in FATAL:
            assert sum(rater.faults.values()) == 1
            assert result.exit_code == 3
        elif kind in ANSWERED:
            assert rater.statuses == Counter(ok=ITEMS - 1, **{ANSWERED[kind]: 1})
            assert server.count == ITEMS
        else:  # a text that was cut behind its last brace is whole, and is not asked for again
            assert rater.statuses == {"ok": ITEMS}
            assert server.count == ITEMS + (kind != "length") * len(faults)
        assert result.cost == pytest.approx(counted * EACH, rel=1e-12)
        again = run(study, tmp_path / "a", quiet=True, resume=True)
        assert again.raters[0].done == ITEMS
        assert again.cost == pytest.approx((server.count - free(faults)) * EACH, rel=1e-12)
        assert session_status(tmp_path / "a").cost == pytest.approx(again.cost, rel=1e-12)
        kept = replies_frame(tmp_path / "a")
        assert kept.height == server.count
        assert kept["item"].n_unique() == ITEMS
        assert ratings_frame(tmp_path / "a").height == ITEMS * 7
    assert not any(KEY.encode() in path.read_bytes() for path in (tmp_path / "a").iterdir())


def calls_then_answers(seen):
    """A call of a tool, then the scores: by whether a result was sent."""
    if "<<<RESULT" in str(seen.body):
        return rubric_text()
    return Answer("", calls=[("calculate", '{"expression": "1 + 1"}')])


@pytest.mark.parametrize("faults", STRUCK, ids="+".join)
def test_a_fault_between_a_tool_and_the_answer_costs_what_it_costs(tmp_path, faults):
    """One fault on the second step of an agent on one of four items; the formats take turns."""
    fault = faults[0]
    sdk = list(FORMATS)[list(FAULTS).index(fault) % len(FORMATS)]
    quick = limits(sdk, timeout=5 if fault in SILENT else 60, breaker=99)
    with WireServer(calls_then_answers) as server:
        strike(
            server, faults, lambda seen: str(seen.body), lambda seen: "<<<RESULT" in str(seen.body)
        )
        agent = member(sdk, server, use="agent", options={"tools": ["calculate"]})
        study = study_of(tmp_path, agent, items=ITEMS, run=quick)
        run(study, tmp_path / "a", quiet=True)
        again = run(study, tmp_path / "a", quiet=True, resume=True)
        assert again.raters[0].done == ITEMS
        assert again.cost == pytest.approx((server.count - free(faults)) * EACH, rel=1e-12)
        # The step before the fault is asked and paid for once.
        assert server.count <= 2 * ITEMS + len(faults)
        kept = replies_frame(tmp_path / "a")
        assert kept.height == server.count
        assert set(kept.filter(pl.col("step") == 0)["item"]) == set(kept["item"])
        assert kept.filter(pl.col("step") == 0).height == ITEMS


KILLS = 4


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
@pytest.mark.parametrize("sdk", FORMATS)
def test_kills_in_the_midst_of_calls_lose_no_more_than_was_open(tmp_path, sdk):
    """Twenty kills in all, four a format, each while calls are under way."""
    chance, under_way = random.Random(sdk), 0
    with WireServer(rubric_text(), latency=0.1) as server:
        study_of(tmp_path, member(sdk, server), items=120, run=limits(sdk))
        for number in range(KILLS):
            process = started(tmp_path, "-q", *(["--resume"] if number else []))
            after(server, server.count + chance.randint(8, 24), process)
            in_flight = server.in_flight
            process.send_signal(signal.SIGKILL)
            process.communicate()
            assert process.returncode == -signal.SIGKILL
            under_way += in_flight > 0
        assert under_way >= KILLS * 3 / 4
        result = run(load_study(tmp_path / "study.toml"), tmp_path / "a", resume=True, quiet=True)
        assert result.complete
        kept = replies_frame(tmp_path / "a")
        assert kept.height == kept["item"].n_unique() == 120
        assert server.count - 120 <= (8 + WAITING + COMMITTING) * KILLS
        assert result.cost == pytest.approx(120 * EACH, rel=1e-12)
        assert ratings_frame(tmp_path / "a").height == 120 * 7

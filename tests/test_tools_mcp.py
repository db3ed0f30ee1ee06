"""Tools of MCP servers: listed once, allowed one by one, and watched while they are called."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest
from command_line import invoke
from test_agents import agent_study, at
from wire_server import Answer, WireServer

from voirdire import plugins
from voirdire.errors import InputError, VoirdireError
from voirdire.examining.session import session_findings
from voirdire.running import run
from voirdire.schema import ToolCall
from voirdire.store import ratings_frame
from voirdire.tools import make_tools, run_call
from voirdire_judges.tools import mcp as tool

pytest.importorskip("mcp", reason="pip install 'voirdire[mcp]'")
pytestmark = pytest.mark.usefixtures("invented_key")
PEER = Path(__file__).parent / "mcp_peer.py"


def listed(folder, how="good"):
    """A server that behaves so, its file of notes, and its listing made by the command."""
    notes = folder / "notes.txt"
    command = [sys.executable, str(PEER), how, str(notes)]
    said = invoke(
        ["tools", " ".join(f"'{word}'" for word in command), "--out", folder / "drugs.json"]
    )
    return said, command, notes


def drug_tools(folder, command, only=("dose",), **more):
    spec = {"use": "mcp", "listing": str(folder / "drugs.json"), "only": list(only), **more}
    return make_tools([{**spec, "command": command}], None, plugins())


def dose(tools, **arguments):
    return run_call(ToolCall("1", "dose", json.dumps({"drug": "aspirin", **arguments})), tools)


def test_a_server_is_listed_by_a_command_and_started_by_a_call_alone(tmp_path):
    said, command, notes = listed(tmp_path)
    assert said.exit_code == 0, said.output
    assert "drugs 1 offers 'dose', 'erase'" in said.stdout
    kept = json.loads((tmp_path / "drugs.json").read_text())
    assert (kept["name"], kept["version"]) == ("drugs", "1")
    assert kept["tools"][0]["parameters"]["required"] == ["drug"]
    before = notes.read_text()
    tools = drug_tools(tmp_path, command, ["dose", "odd.name/1"])
    assert notes.read_text() == before  # reading a study starts nothing
    assert [one.name for one in tools] == ["dose", "odd_name_1"]
    assert "drugs 1" in tools[0].findings[0].message
    assert dose(tools) == "dose: 5 mg of aspirin\n(image: not shown)"
    assert run_call(ToolCall("1", "odd_name_1", '{"n": null}'), tools).startswith("odd.name/1: ")
    assert "argument 'drug' is missing" in run_call(ToolCall("1", "dose"), tools)
    assert "there is no tool 'erase'" in run_call(ToolCall("1", "erase"), tools)
    assert notes.read_text().count("start") == 2  # once to list, once for both calls


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"only": []}, "say by only which tools may be called: 'dose', 'erase'"),
        ({"only": ["dosis"]}, "tool 'dosis' is unknown"),
        ({"only": ["dose"], "address": "http://127.0.0.1:1/mcp"}, "either command or address"),
        ({"only": ["dose"], "command": "", "address": "ftp://x"}, "begins with http"),
        ({"only": ["dose"], "listing": "none.json"}, "write it by voirdire tools"),
        ({"only": ["dose"], "time": 3}, "option 'time' is unknown"),
    ],
)
def test_what_a_study_says_of_a_server_is_checked(tmp_path, options, says):
    (tmp_path / "drugs.json").write_text(
        json.dumps({
            "name": "drugs", "version": "1", "listed": "2026-11-29",
            "tools": [{"name": n, "description": "", "parameters": {}} for n in ("dose", "erase")],
        })
    )  # fmt: skip
    given = {"listing": str(tmp_path / "drugs.json"), "command": "true", **options}
    with pytest.raises(VoirdireError, match=says):
        make_tools([{"use": "mcp", **given}], None, plugins())


def test_a_server_that_hangs_costs_its_calls_and_is_ended(tmp_path):
    _, command, notes = listed(tmp_path, "hangs")
    tools = drug_tools(tmp_path, command, timeout=0.5)
    assert dose(tools) == "Error: TimeoutError: no answer within 0.5 seconds"
    assert dose(tools) == "Error: TimeoutError: no answer within 0.5 seconds"
    assert notes.read_text().count("start") == 3  # it did not even list its tools, and was met anew


def test_a_server_that_dies_in_a_call_is_met_anew_by_the_next(tmp_path):
    _, command, notes = listed(tmp_path, "dies")
    tools = drug_tools(tmp_path, command)
    said = [dose(tools) for _ in range(3)]
    assert said[0].startswith("Error: ")
    assert "onnection closed" in said[0]
    assert said[1].startswith("dose: 5 mg")
    assert said[2].startswith("Error: ")
    assert notes.read_text().count("start") == 3


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("changes", "'dose' is gone or described in another way"),
        ("grew", "it is drugs 2 and was drugs 1"),
    ],
)
def test_a_server_that_is_another_than_was_listed_is_not_called(tmp_path, how, says):
    _, command, notes = listed(tmp_path, how)
    said = dose(drug_tools(tmp_path, command))
    assert says in said
    assert said.startswith("Error: InputError")
    assert "List it anew" in said
    assert "call" not in notes.read_text()


def test_a_list_that_may_change_is_looked_at_before_each_call(tmp_path):
    _, command, notes = listed(tmp_path, "changes later")
    tools = drug_tools(tmp_path, command)
    assert dose(tools).startswith("dose: ")
    assert "described in another way" in dose(tools)
    assert notes.read_text().count("call") == 1


def test_ten_megabytes_are_cut_and_hold_up_nobody_for_long(tmp_path):
    _, command, _ = listed(tmp_path, "floods")
    tools = drug_tools(tmp_path, command)
    began = time.process_time()
    said = dose(tools)
    assert len(said) < 4_100
    assert "(cut here: " in said
    assert time.process_time() - began < 5
    # Two at once share the one server.
    threads = [threading.Thread(target=lambda: told.append(dose(tools))) for _ in range(2)]
    told: list[str] = []
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == [said] * 2


def test_noise_and_failures_are_told_as_text(tmp_path):
    _, command, _ = listed(tmp_path, "noisy")
    assert dose(drug_tools(tmp_path, command)).startswith("dose: 5 mg")
    failing = [*command[:2], "fails", command[3]]
    assert dose(drug_tools(tmp_path, failing)) == "Error: RuntimeError: no such drug"


def test_a_server_that_does_not_start_says_what_it_wrote(tmp_path, monkeypatch):
    said, _, _ = listed(tmp_path, "broken")
    assert isinstance(said.exception, InputError)
    assert "no such database: /srv/drugs" in str(said.exception)
    assert "\x1b" not in str(said.exception)
    missing = invoke(["tools", "no-such-program-anywhere", "--out", tmp_path / "x.json"])
    assert "no-such-program-anywhere" in str(missing.exception)
    monkeypatch.setattr(tool, "START", 0.5)
    said, _, _ = listed(tmp_path, "silent")
    assert "said nothing in 0.5 seconds" in str(said.exception)


def test_an_agent_asks_a_server_and_the_session_keeps_which(tmp_path):
    _, command, notes = listed(tmp_path)

    def asks(seen):
        body = json.dumps(seen.body)
        called = [("dose", '{"drug": "aspirin"}')]
        return '{"Empathy": 4}' if "5 mg of aspirin" in body else Answer("", calls=called)

    entry = {"use": "mcp", "listing": "drugs.json", "command": command, "only": ["dose"]}
    with WireServer(asks) as server:
        study = agent_study(tmp_path, at(server), tools=[entry])
        result = run(study, tmp_path / "a", quiet=True)
        assert (result.exit_code, server.count) == (0, 4)
    starts = notes.read_text().count("start")
    # Examined without being started again.
    assert ratings_frame(tmp_path / "a")["score"].to_list() == [4.0, 4.0]
    found = [one for one in session_findings(tmp_path / "a") if one.kind == "tools_of_server"]
    assert "drugs 1" in found[0].message
    assert notes.read_text().count("start") == starts == 2


SERVER = """
import sys
from mcp.server.mcpserver import MCPServer
server = MCPServer("words", version="3")

@server.tool()
def count(text: str) -> int:
    "How many words a text has."
    return len(text.split())

server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
"""


def test_a_true_server_at_an_address(tmp_path):
    (tmp_path / "server.py").write_text(SERVER)
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    started = subprocess.Popen(
        [sys.executable, str(tmp_path / "server.py"), str(port)], stderr=subprocess.DEVNULL
    )
    try:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            with suppress(OSError), closing(socket.create_connection(("127.0.0.1", port), 1)):
                break
            time.sleep(0.05)
        address = f"http://127.0.0.1:{port}/mcp"
        said = invoke(["tools", address, "--out", tmp_path / "words.json", "--json"])
        assert "words 3 offers 'count'" in said.output
        spec = {"use": "mcp", "address": address, "listing": str(tmp_path / "words.json")}
        tools = make_tools([{**spec, "only": ["count"]}], None, plugins())
        assert run_call(ToolCall("1", "count", '{"text": "a b c"}'), tools) == "3"
    finally:
        started.kill()
        started.wait()

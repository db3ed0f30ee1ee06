"""Tools that reach further: code in a closed room, another judge, passages, tools of LangChain."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest
from room_attempts import DRIVER, KINDS, attempts

from voirdire import plugins
from voirdire.errors import InputError
from voirdire.schema import Message, Reply, Request, ToolCall
from voirdire.tools import AgentTool, asked_by, make_tools, read_answer, run_call
from voirdire_judges.tools import _sandboxed as python_tool_program
from voirdire_judges.tools import _share
from voirdire_judges.tools import python as python_tool
from voirdire_judges.tools._share import share
from voirdire_judges.tools.python import FLOOD, run_python, why_not

closed = pytest.mark.skipif(bool(why_not()), reason=f"no closed room here: {why_not()}")
ROOT = Path(__file__).parents[1]
#: Of x86_64 and of aarch64, where Debian and its like put them.
HEADERS = (
    Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    Path("/usr/include/asm-generic/unistd.h"),
)


def call(name, **arguments):
    return ToolCall("1", name, json.dumps(arguments))


@closed
@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("6 * 7", "42"),
        ("import statistics\nprint(statistics.mean([1, 2, 6]))", "3"),
        ("open('a.txt', 'w').write('kept'); print(open('a.txt').read())", "kept"),
        ("x = 1", "(no output)"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("def f(:", "SyntaxError"),
        ("raise SystemExit(3)", "(ended with code 3, no output)"),
        ("print('\\ud800')", "UnicodeEncodeError"),
        ("import threading\nt = threading.Thread(target=print, args=('hi',)); t.start(); t.join()", "hi"),
    ],
)  # fmt: skip
def test_code_is_run(code, said):
    assert said in run_python(code)


@closed
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of x86_64")
@pytest.mark.parametrize("user", ["this user", "another user"])
def test_no_attempt_comes_out(request, user):
    """Files, network, processes, memory and keys: what is there for us is not there for the code."""
    # Not in pytest's own folder, which is closed to other users.
    folder = Path(tempfile.mkdtemp(prefix="voirdire-test-"))
    request.addfinalizer(lambda: shutil.rmtree(folder))
    if user == "another user":
        if os.getuid() != 0:
            pytest.skip("only root may become another user")
        try:
            able = (
                subprocess.run(
                    [sys.executable, "-c", "import voirdire_judges"],
                    user=4242,
                    group=4242,
                    extra_groups=[],
                    env={},
                    check=False,
                    capture_output=True,
                ).returncode
                == 0
            )
        except PermissionError:
            able = False
        if not able:
            pytest.skip("another user may not read this installation of Python")
    who = {} if user == "this user" else {"user": 4242, "group": 4242, "extra_groups": []}
    file = folder / "secret.txt"
    file.write_text("held")
    folder.chmod(0o755)
    file.chmod(0o644)
    if who:
        os.chown(folder, 4242, 4242)
        os.chown(file, 4242, 4242)
    abstract = f"voirdire-{os.getpid()}"
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        unix, hidden = (closing(socket.socket(socket.AF_UNIX)) for _ in range(2))
        with unix as near, hidden as named:
            near.bind(str(folder / "s"))
            near.listen()
            named.bind(f"\0{abstract}")
            named.listen()
            host, port = server.getsockname()
            known = {
                "FILE": str(file), "FOLDER": str(folder), "HOST": host, "PORT": port,
                "UNIX": str(folder / "s"), "ABSTRACT": abstract, "PYTHON": sys.executable,
                "LIMIT": 256 << 20, "FILES_MB": 8,
            }  # fmt: skip
            ran = subprocess.run(
                [sys.executable, "-c", DRIVER, json.dumps(known)],
                env={"OPENAI_API_KEY": "held-for-tests", "PYTHONPATH": str(Path(__file__).parent)},
                capture_output=True,
                text=True,
                check=False,
                **who,
            )
    assert ran.returncode == 0, ran.stderr
    outcome = json.loads(ran.stdout)
    assert outcome["who"] == (4242 if who else os.getuid())
    for kind in KINDS:
        said = outcome["said"][kind]
        assert "ESCAPED" not in said, said
        assert said.endswith("through"), said
        assert said.count("kept in: ") == len(attempts(kind)) >= 10
        assert "held" not in said.replace("'held' in", "").replace("b'held'", "")
    assert sum(len(attempts(kind)) for kind in KINDS) >= 100
    assert file.read_text() == "held"
    assert file.stat().st_mode & 0o777 == 0o644
    assert sorted(one.name for one in folder.iterdir()) == ["s", "secret.txt"]


@closed
def test_what_the_code_ends_with_is_its_own():
    """Its exit code and its output say nothing of the room: that is found in another way."""
    assert run_python("raise SystemExit(97)") == "(ended with code 97, no output)"
    assert run_python("raise SystemExit(98)") == "(ended with code 98, no output)"
    said = run_python("import os, sys; print('no filter can be set', flush=True); os._exit(1)")
    assert said == "no filter can be set"


@closed
def test_threads_and_files_of_its_own_are_there():
    code = """
import csv, pathlib, tempfile, threading
with tempfile.TemporaryDirectory(dir="/") as folder:
    path = pathlib.Path(folder) / "a.csv"
    path.write_text("1,2")
    threads = [threading.Thread(target=print, args=(n,)) for n in range(4)]
    for thread in threads: thread.start(); thread.join()
    list(csv.reader(path.open()))
"""
    assert run_python(code).split() == ["0", "1", "2", "3"]


@closed
def test_all_calls_together_hold_no_more_than_their_budget(tmp_path, monkeypatch):
    """Four calls of a quarter of the budget run at once, and none beside them; a fifth waits."""
    monkeypatch.setattr(_share, "_folder", lambda: tmp_path)
    spans = []

    def one():
        code = "import time; print(time.time()); time.sleep(0.5); print(time.time())"
        began, ended = run_python(code, memory=240, files=16, together=1024).split()
        spans.append((float(began), float(ended)))

    threads = [threading.Thread(target=one) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(spans) == 10
    for at, _ in spans:
        assert sum(began <= at < ended for began, ended in spans) <= 4


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux only")
def test_the_budget_holds_over_processes_and_dies_with_its_holder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    program = (
        "import sys, tempfile, time; tempfile.tempdir = sys.argv[1]\n"
        "from voirdire_judges.tools._share import share\n"
        "with share(512, 512, 60): print('held', flush=True); time.sleep(600)"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout.readline() == "held\n"
        with (
            pytest.raises(OSError, match="all together may take 512 megabytes, and this one"),
            share(64, 512, 0.2),
        ):
            pass
        with share(64, 576, 0.2):  # what is not held may be taken
            pass
    finally:
        holder.kill()
        holder.communicate()
    with share(512, 512, 5):
        pass
    (tmp_path / f"voirdire-rooms-{os.getuid()}").chmod(0o777)
    with pytest.raises(OSError, match="is no folder of this user alone"), share(64, 512, 0.2):
        pass


@closed
def test_what_the_kernel_lacks_is_named_and_can_be_required():
    lacks = python_tool.lacks()
    (tool,) = make_tools(["python"], None, plugins())
    assert {one.message.split(" of the tool")[0] for one in tool.findings} <= {"The closed room"}
    assert len(tool.findings) == len(lacks)
    for name in python_tool.FURTHER:
        options = [{"use": "python", "require": [name]}]
        if name in lacks:
            with pytest.raises(InputError, match=f"requires {name}, which is not here"):
                make_tools(options, None, plugins())
        else:
            make_tools(options, None, plugins())
    with pytest.raises(InputError, match="landlock-network"):
        make_tools([{"use": "python", "require": ["landlock-netwrk"]}], None, plugins())


def test_the_filter_knows_each_call_once():
    numbers = [
        *python_tool_program.CALLS.values(),
        *python_tool_program.BARRED.values(),
        *(both for both, _, _ in python_tool_program.ARGUED.values()),
        python_tool_program._CLONE,
    ]
    for at in range(2):
        there = [both[at] for both in numbers if both[at] is not None]
        assert len(there) == len(set(there))
    for machine in python_tool_program._MACHINES.values():
        assert len(python_tool_program.filter_of(machine)) // 8 < 4096  # the kernel's most


@pytest.mark.skipif(not HEADERS[0].exists(), reason="no headers of the kernel are here")
def test_the_numbers_are_those_of_the_kernels_headers():
    for at, path in enumerate(HEADERS):
        if not path.exists():
            continue
        named = dict(re.findall(r"#define __NR(?:3264)?_(\w+) (\d+)", path.read_text()))
        tables = (
            python_tool_program.CALLS,
            python_tool_program.BARRED,
            {name: both for name, (both, _, _) in python_tool_program.ARGUED.items()},
        )
        for name, both in (pair for table in tables for pair in table.items()):
            told = named.get(name) or named.get({"newfstatat": "fstatat"}.get(name, ""))
            assert both[at] == (None if told is None else int(told)), name


@closed
def test_time_and_output_are_limited_and_nothing_outlives_a_call():
    started = time.monotonic()
    assert "(ended after 1 seconds)" in run_python("while True: pass", seconds=1)
    hidden = """
import ctypes, signal, threading, time
ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)
for number in range(1, 32):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
thread = threading.Thread(target=time.sleep, args=(1234.5,))
thread.start()
thread.join()
"""
    assert "(ended after 1 seconds)" in run_python(hidden, seconds=1)
    said = run_python("while True: print('x' * 1000)", seconds=20)
    assert len(said) < FLOOD + 200
    assert "of output" in said
    assert time.monotonic() - started < 240
    mine = [p for p in Path("/proc").glob("[0-9]*") if _is_ours(p)]
    assert mine == []


def _is_ours(process):
    try:
        return b"_sandboxed.py" in (process / "cmdline").read_bytes()
    except OSError:
        return False


@closed
def test_a_killed_run_leaves_no_code_behind(tmp_path):
    """What runs the code is its own watchman: it ends it also where nobody waits any more."""
    program = "from voirdire_judges.tools.python import run_python; run_python('while True: pass', seconds=2)"
    run = subprocess.Popen([sys.executable, "-c", program])
    deadline = time.monotonic() + 240
    while not any(_is_ours(p) for p in Path("/proc").glob("[0-9]*")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    run.send_signal(signal.SIGKILL)
    run.wait()
    while any(_is_ours(p) for p in Path("/proc").glob("[0-9]*")):
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.parametrize(
    ("lacks", "message"),
    [
        ("landlock_version = lambda: 0", "Landlock has version 0, and 3 or later is needed"),
        ("_NAMESPACES = 1", "no user and network namespace can be made"),
        ("_MACHINES = {}", "no table of system calls for"),
        ("filter_of = lambda machine: bytes(8)", "no filter of system calls can be set"),
    ],
)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux only")
def test_where_either_is_lacking_it_refuses_and_runs_nothing(tmp_path, monkeypatch, lacks, message):
    text = python_tool._PROGRAM.read_text().replace(
        "\n\ndef main()", f"\n\n{lacks}\n\n\ndef main()"
    )
    program = tmp_path / "sandboxed.py"
    program.write_text(text)
    monkeypatch.setattr(python_tool, "_PROGRAM", program)
    with pytest.raises(OSError, match=message):
        run_python("print('ran')")
    python_tool._first_try.cache_clear()
    try:
        with pytest.raises(
            InputError, match=f"'python' cannot be used on this system: .*{message}"
        ):
            make_tools(["python"], None, plugins())
    finally:
        python_tool._first_try.cache_clear()


def test_on_another_system_it_refuses(monkeypatch):
    python_tool._first_try.cache_clear()
    monkeypatch.setattr(sys, "platform", "darwin")
    try:
        with pytest.raises(InputError, match="it needs Linux, and this is darwin"):
            make_tools(["python"], None, plugins())
    finally:
        monkeypatch.undo()
        python_tool._first_try.cache_clear()


@closed
def test_code_as_a_tool():
    (tool,) = make_tools([{"use": "python", "seconds": 2}], None, plugins())
    assert run_call(call("python", code="print('\\x1b[31mred')"), [tool]).endswith("red")
    assert "\x1b" not in run_call(call("python", code="print('\\x1b[31mred')"), [tool])
    assert "10,000 characters" in run_call(call("python", code="#" * 10_001), [tool])
    with pytest.raises(InputError, match="seconds must be from 1 to 60"):
        make_tools([{"use": "python", "seconds": 600}], None, plugins())


def test_another_judge_is_asked_by_a_request_and_its_reply_is_read():
    made = make_tools([{"use": "ask", "name": "second", "rubric": "mentalalign"}], None, plugins())
    asked = asked_by(call("second", text="Rest.", context="I am tired."), made)
    assert (asked.role, asked.temperature) == ("second", 0.0)
    assert "Rest." in asked.messages[-1].content
    assert asked_by(call("second", text=" "), made) is None
    assert "there is nothing to judge" in run_call(call("second", text=" "), made)
    assert asked_by(call("second"), made) is None
    said = json.loads(read_answer(call("second", text="Rest."), made, Reply('{"Empathy": 4}')))
    assert said["scores"]["Empathy"] == 4
    assert said["missing"]["Safety"] in ("blank", "ok")
    refused = read_answer(call("second", text="Rest."), made, Reply("", "refusal"))
    assert "refused" in refused
    with pytest.raises(InputError, match="it needs a rubric"):
        make_tools(["ask"], None, plugins())


def test_a_request_without_a_reader_is_no_result():
    odd = AgentTool("odd", "Odd.", {"type": "object"}, lambda: Request((Message("user", "x"),)))
    assert asked_by(ToolCall("1", "odd"), [odd]) is None
    assert "it made a request" in run_call(ToolCall("1", "odd"), [odd])


def test_passages_come_from_an_index_of_ours(tmp_path, monkeypatch):
    pytest.importorskip("faiss")
    from word_embedder import WordEmbedder

    import voirdire_retrieval as vr
    from voirdire_retrieval import _tool

    texts = ["Sleep needs a fixed bedtime.", "Give no doses.", "Call a crisis line at once."]
    frame = pl.DataFrame({"id": ["a", "b", "c"], "text": texts, "source": ["1", "2", "3"]})
    vr.save_index(
        vr.build_index(vr.make_pool(frame), WordEmbedder(), device="cpu"), tmp_path / "idx"
    )
    monkeypatch.setattr(_tool, "open_embedder", lambda spec, **_: WordEmbedder(spec))
    options = {"use": "retrieve", "index": str(tmp_path / "idx"), "k": 2, "device": "cpu"}
    (tool,) = make_tools([options], None, plugins())
    found = json.loads(run_call(call("retrieve", query="a fixed bedtime"), [tool]))
    assert [one["text"] for one in found][:1] == texts[:1]
    assert len(found) == 2
    assert len(json.loads(run_call(call("retrieve", query="crisis line", k=1), [tool]))) == 1
    assert "k must be from 1 to 20" in run_call(call("retrieve", query="x", k=21), [tool])
    assert "no passage near" in run_call(call("retrieve", query=" "), [tool])
    (strict,) = make_tools([{**options, "least": 0.9}], None, plugins())
    assert "no passage near" in run_call(call("retrieve", query="bedtime stories"), [strict])
    with pytest.raises(InputError, match="column"):
        make_tools([{**options, "columns": ["author"]}], None, plugins())
    with pytest.raises(InputError, match="built with the model words, and other is asked for"):
        make_tools([{**options, "embedder": "other"}], None, plugins())


def test_tools_of_langchain_go_both_ways(tmp_path, monkeypatch):
    pytest.importorskip("langchain_core")
    (tmp_path / "their_tools.py").write_text(
        "from langchain_core.tools import tool\n"
        "@tool\n"
        "def beds(kind: str, most: int = 3) -> list:\n"
        "    '''Beds of a kind.'''\n"
        "    if kind == 'none': raise ValueError('no beds')\n"
        "    return [f'{kind} {n}' for n in range(most)]\n"
        "def make(): return beds\n"
        "number = 7\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    for path in ("their_tools:beds", "their_tools:make"):
        (tool,) = make_tools([{"use": "langchain", "path": path}], None, plugins())
        assert (tool.name, tool.description) == ("beds", "Beds of a kind.")
        assert tool.parameters["required"] == ["kind"]
        assert json.loads(run_call(call("beds", kind="warm", most=1), [tool])) == ["warm 0"]
        assert "no beds" in run_call(call("beds", kind="none"), [tool])
        assert "argument 'most' must be of type integer" in run_call(
            call("beds", kind="warm", most="x"), [tool]
        )
    for path, message in (
        ("their_tools:number", "expected a BaseTool, got int"),
        ("their_tools:none", "no attribute"),
        ("their_tools", "needs a path"),
    ):
        with pytest.raises(InputError, match=message):
            make_tools([{"use": "langchain", "path": path}], None, plugins())

    from voirdire_judges.tools.calculate import make as calculate
    from voirdire_judges.tools.langchain import as_langchain

    theirs = as_langchain(calculate())
    assert theirs.invoke({"expression": "6 * 7"}) == "42"
    assert theirs.tool_call_schema["required"] == ["expression"]
    made = make_tools([{"use": "ask", "rubric": "mentalalign"}], None, plugins())
    with pytest.raises(InputError, match="only an agent judge"):
        as_langchain(made[0])

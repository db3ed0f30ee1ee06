"""Tools that reach further: code in a closed room, another judge, passages, tools of LangChain."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

from voirdire import plugins
from voirdire.errors import InputError
from voirdire.schema import Message, Reply, Request, ToolCall
from voirdire.tools import AgentTool, asked_by, make_tools, read_answer, run_call
from voirdire_judges.tools import python as python_tool
from voirdire_judges.tools.python import FLOOD, run_python, why_not

closed = pytest.mark.skipif(bool(why_not()), reason=f"no closed room here: {why_not()}")
ROOT = Path(__file__).parents[1]


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


#: Each attempt would print ESCAPED if it came out.
ATTEMPTS = {
    "a file": "open({file!r}).read(); print('ESCAPED')",
    "a file by way of /proc": "open('/proc/self/root' + {file!r}).read(); print('ESCAPED')",
    "that a file is there": "import os; os.stat({file!r}); print('ESCAPED')",
    "writing": "open({folder!r} + '/new.txt', 'w').write('x'); print('ESCAPED')",
    "truncating": "import os; os.truncate({file!r}, 0); print('ESCAPED')",
    "removing": "import os; os.remove({file!r}); print('ESCAPED')",
    "a mode": "import os; os.chmod({file!r}, 0o777); print('ESCAPED')",
    "a folder": "import os; print('ESCAPED' if os.listdir('/') else 'empty')",
    "up": "import os; os.chdir('../../..'); print('ESCAPED' if os.listdir('.') else 'empty')",
    "a way out of the chroot": "import os; os.mkdir('d'); os.chroot('d'); print('ESCAPED')",
    "a link": "import os; os.symlink({file!r}, 'l'); open('l').read(); print('ESCAPED')",
    "an open file": "import os\nfor n in range(3, 64):\n try: os.fstat(n); print('ESCAPED', n)\n except OSError: pass",
    "a variable": "import os; print('ESCAPED' if dict(os.environ) else 'empty')",
    "a parent's variable": "open('/proc/1/environ').read(); print('ESCAPED')",
    "the network": "import socket; socket.create_connection(({host!r}, {port}), 2); print('ESCAPED')",
    "a datagram": "import socket; s = socket.socket(2, 2); s.sendto(b'x', ({host!r}, {port})); print('ESCAPED')",
    "a unix socket": "import socket; s = socket.socket(1); s.connect({unix!r}); print('ESCAPED')",
    "an abstract socket": "import socket; s = socket.socket(1); s.connect(chr(0) + {abstract!r}); print('ESCAPED')",
    "a program": "import subprocess; print('ESCAPED', subprocess.run(['/bin/true']))",
    "this interpreter": "import os; os.execv({python!r}, ['python', '-c', '1']); print('ESCAPED')",
    "a program of its own": "import os\nopen('p', 'wb').write(b'#!/x')\nos.chmod('p', 0o755)\nos.execv('/p', ['p'])\nprint('ESCAPED')",
    "a process outside": "import os; os.kill({pid}, 0); print('ESCAPED')",
    "its parent": "import os; print('ESCAPED' if os.getppid() else 'none')",
    "new rights": "import ctypes; l = ctypes.CDLL(None); print('ESCAPED' if l.unshare(0x10000000) == 0 or l.mount(b'n', b'/', b'tmpfs', 0, None) == 0 else 'no')",
    "memory": "x = bytearray(3 << 30); print('ESCAPED')",
    "disk": "for i in range(64): open(f'f{{i}}', 'wb').write(bytes(1 << 20))\nprint('ESCAPED')",
    "processes": "import os\nfor i in range(40): os.fork()\nprint('ESCAPED')",
}  # fmt: skip


@closed
@pytest.mark.parametrize("what", ATTEMPTS)
def test_no_attempt_comes_out(tmp_path, monkeypatch, what):
    """Network, environment, files, other processes: what is there for us is not there for it."""
    monkeypatch.setenv("OPENAI_API_KEY", "held-for-tests-1234567890")
    file = tmp_path / "secret.txt"
    file.write_text("held")
    file.chmod(0o644)
    abstract = f"voirdire-{os.getpid()}"
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        unix, hidden = (closing(socket.socket(socket.AF_UNIX)) for _ in range(2))
        with unix as near, hidden as named:
            near.bind(str(tmp_path / "s"))
            near.listen()
            named.bind(f"\0{abstract}")
            named.listen()
            host, port = server.getsockname()
            code = ATTEMPTS[what].format(
                file=str(file), folder=str(tmp_path), host=host, port=port, python=sys.executable,
                unix=str(tmp_path / "s"), abstract=abstract, pid=os.getpid(),
            )  # fmt: skip
            said = run_python(code, seconds=4)
    assert "ESCAPED" not in said
    assert file.read_text() == "held"
    assert file.stat().st_mode & 0o777 == 0o644
    assert not (tmp_path / "new.txt").exists()


#: What the process that asks holds in its keyring must not be there for the code.
KEYS = """
import ctypes, os, sys
from voirdire_judges.tools.python import run_python
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
if libc.syscall(250, 1, None) < 0:
    sys.exit("none: " + os.strerror(ctypes.get_errno()))
text = b"held-for-tests"
key = libc.syscall(248, b"user", b"voirdire", text, len(text), -3)
if key < 0:
    sys.exit("none: " + os.strerror(ctypes.get_errno()))
print(run_python(sys.argv[1].replace("KEY", str(key))))
"""
READS = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
room = ctypes.create_string_buffer(64)
for key in (KEY, -3, -4, -5):
    libc.syscall(250, 8, -3, key)
    print("read", libc.syscall(250, 11, key, room, 64), "ESCAPED" if b"held" in room.raw else "")
"""


@closed
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of x86_64")
def test_the_keys_of_who_runs_it_are_not_there():
    command = [sys.executable, "-c", KEYS, READS]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    if said.stderr.startswith("none: "):
        pytest.skip(f"no key can be made here: {said.stderr}")
    assert said.stdout.count("read") == 4, said.stderr
    assert "ESCAPED" not in said.stdout


@closed
def test_time_and_output_are_limited_and_nothing_outlives_a_call():
    started = time.monotonic()
    assert "(ended after 1 seconds)" in run_python("while True: pass", seconds=1)
    hidden = """
import ctypes, os, time
if os.fork() == 0:
    os.setsid()
    ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)
    time.sleep(1234.5)
time.sleep(1234.5)
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
    why_not.cache_clear()
    try:
        with pytest.raises(
            InputError, match=f"'python' cannot be used on this system: .*{message}"
        ):
            make_tools(["python"], None, plugins())
    finally:
        why_not.cache_clear()


def test_on_another_system_it_refuses(monkeypatch):
    why_not.cache_clear()
    monkeypatch.setattr(sys, "platform", "darwin")
    try:
        with pytest.raises(InputError, match="it needs Linux, and this is darwin"):
            make_tools(["python"], None, plugins())
    finally:
        monkeypatch.undo()
        why_not.cache_clear()


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

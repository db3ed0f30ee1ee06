"""voirdire as it is typed, in this process: for all tests that need no process of its own."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from subprocess import CompletedProcess
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import typer.testing
from json_documents import check_line
from typer.main import get_command

from voirdire.cli import main
from voirdire.cli.app import app_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

#: Typer turns an application into commands anew at every call, which takes longer than most
#: commands that tests type.
_commands = cache(get_command)


@cache
def _application(command: str) -> typer.Typer:
    """The application that `voirdire` answers a command with, and built-in plugins alone."""
    return app_for([command])


def invoke(words: Iterable[object], **options: Any) -> Any:
    """What a command line says, and its exit code or error, as `CliRunner.invoke` gives them."""
    line = [str(word) for word in words]
    with patch.object(typer.testing, "_get_command", _commands):
        said = typer.testing.CliRunner().invoke(_application(line[0]), line, **options)
    check_line(line, said.stdout)
    return said


def typed(*words: object, cwd: Path | str = ".", **environment: str) -> CompletedProcess[str]:
    """`voirdire` from its first line to its exit code, as a process of its own would end.

    Starting one takes longer than most commands; tests of pipes, signals and kills start one.
    """
    encoding = environment.get("PYTHONIOENCODING", "utf-8")
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding, write_through=True) for _ in range(2))
    line = ["voirdire", *map(str, words)]
    code: object = 0
    with (
        chdir(cwd),
        patch.dict(os.environ, {"NO_COLOR": "1", **environment}),
        patch.object(sys, "argv", line),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as ended:
            code = ended.code or 0
    said = [stream.buffer.getvalue().decode(encoding) for stream in (out, err)]
    check_line(line[1:], said[0])
    return CompletedProcess(line, int(str(code)), *said)


#: Command lines, each with its folder, from standard input; what each said, as one line of JSON.
_EACH = """
import json, sys
from command_line import typed
for words, cwd in json.load(sys.stdin):
    done = typed(*words, cwd=cwd)
    print(json.dumps([done.returncode, done.stdout, done.stderr]))
"""


def typed_elsewhere(
    lines: Sequence[tuple[Sequence[object], Path | str]], environment: Mapping[str, str]
) -> list[CompletedProcess[str]]:
    """Command lines, each in its folder, typed one after another in one other process.

    Where another environment, or other plugins, must be there from the start; a process for each
    would load the same libraries again.
    """
    here = str(Path(__file__).parent)
    path = os.pathsep.join(filter(None, (here, environment.get("PYTHONPATH", ""))))
    asked = [([str(word) for word in words], str(cwd)) for words, cwd in lines]
    done = subprocess.run(
        [sys.executable, "-c", _EACH],
        input=json.dumps(asked),
        text=True,
        capture_output=True,
        check=False,
        env={**environment, "PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr
    said = map(json.loads, done.stdout.splitlines())
    return [
        CompletedProcess(["voirdire", *words], *each)
        for (words, _), each in zip(asked, said, strict=True)
    ]

"""voirdire as it is typed, in this process: for all tests that need no process of its own."""

from __future__ import annotations

import io
import os
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from functools import cache
from subprocess import CompletedProcess
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import typer.testing
from json_documents import check_line
from typer.main import get_command

from voirdire.cli import main
from voirdire.cli.app import app_for

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

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

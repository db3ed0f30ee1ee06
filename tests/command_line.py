"""voirdire as it is typed, in this process: one way for all tests that need no process of its own."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import typer.testing
from typer.main import get_command

from voirdire.cli.app import app_for

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Typer turns an application into commands anew at every call, which takes longer than most
#: commands that tests type.
_commands = cache(get_command)


@cache
def _application(command: str) -> typer.Typer:
    """The application that `voirdire` answers a command with, and built-in plugins alone."""
    return app_for([command])


def invoke(words: Iterable[object], **options: Any) -> Any:
    """What a command line says, and its exit code or error, as `CliRunner.invoke` gives them."""
    typed = [str(word) for word in words]
    with patch.object(typer.testing, "_get_command", _commands):
        return typer.testing.CliRunner().invoke(_application(typed[0]), typed, **options)

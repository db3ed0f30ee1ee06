"""Next steps as whole commands, on what the command that was typed was given."""

from __future__ import annotations

import shlex
import sys
from typing import Any


def with_commands(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer whose next steps are whole commands, on what the command typed was given."""
    steps = [{**step, "command": command_like(step["command"])} for step in answer["next"]]
    return {**answer, "next": steps}


def command_like(name: str) -> str:
    """Another command on the same source, with the options that it shares with the one typed.

    Words behind its name are its own options.
    """
    words = sys.argv[1:]
    other, options = _command(name.split())
    typed, left = _command(words or name.split())
    own, others = _flags(typed), _flags(other)
    kept: list[str] = []
    while left:
        word, *left = left
        option = word.partition("=")[0]
        if option not in own:
            kept.append(word)
            continue
        given = [word]
        if not (own[option] or "=" in word) and left:
            given.append(left.pop(0))
        if option in others and option not in _OF_OUTPUT:
            kept += given
    path = name.split()[: len(name.split()) - len(options)]
    return shlex.join(["voirdire", *path, *kept, *options])


def _command(words: list[str]) -> tuple[Any, list[str]]:
    """The command that words begin with, and what stands behind its name."""
    from typer.main import get_command

    from voirdire.cli.app import app_for

    name, *left = words
    command: Any = get_command(app_for([name]))
    command = getattr(command, "commands", {}).get(name, command)
    while left and left[0] in getattr(command, "commands", {}):
        command = command.commands[left[0]]
        left = left[1:]
    return command, left


#: Options that say what comes of a command, and not of what it reads.
_OF_OUTPUT = ("--json", "--out", "-o", "--format", "--require")


def _flags(command: Any) -> dict[str, bool]:
    """Option -> whether it takes no value."""
    return {
        name: bool(getattr(one, "is_flag", False)) for one in command.params for name in one.opts
    }

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
    from typer.main import get_command

    from voirdire.cli.app import app_for

    name, *options = name.split()
    words = sys.argv[1:]
    typed = words[0] if words else name
    own, other = (_flags(get_command(app_for([one])), one) for one in (typed, name))
    kept, left = [], words[1:]
    while left:
        word, *left = left
        option = word.partition("=")[0]
        if option not in own:
            kept.append(word)
            continue
        given = [word]
        if not (own[option] or "=" in word) and left:
            given.append(left.pop(0))
        if option in other and option not in _OF_OUTPUT:
            kept += given
    return shlex.join(["voirdire", name, *kept, *options])


#: Options that say what comes of a command, and not of what it reads.
_OF_OUTPUT = ("--json", "--out", "-o", "--format", "--require")


def _flags(command: Any, name: str) -> dict[str, bool]:
    """Option -> whether it takes no value."""
    command = getattr(command, "commands", {}).get(name, command)
    return {
        name: bool(getattr(one, "is_flag", False)) for one in command.params for name in one.opts
    }

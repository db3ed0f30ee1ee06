"""The command line. One module a command; heavy imports stand inside command bodies."""

from __future__ import annotations

import gc
import io
import os
import sys
from typing import TYPE_CHECKING

from voirdire.shown import visible

if TYPE_CHECKING:
    from voirdire.errors import QuestionError

#: Exit codes, as `voirdire --help` prints them.
OK, BAD_INPUT, USAGE, PARTIAL, UNMET, INTERRUPTED = 0, 1, 2, 3, 4, 130


def main() -> None:
    """Run `voirdire`; errors become one line on stderr and an exit code."""
    from voirdire.cli.app import app_for
    from voirdire.errors import (
        ContractError,
        QuestionError,
        RequirementUnmetError,
        VoirdireError,
    )

    # In tests and notebooks they are other streams, which cannot be told.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # no name of an item ends a command
    # Modules are objects that stay: looking for cycles among them took 7 % of `voirdire examine`.
    gc.set_threshold(50_000, 20, 50)
    try:
        app_for(sys.argv[1:])()
    # These before VoirdireError, which they all are.
    except (ContractError, RequirementUnmetError) as error:
        _say(f"requirement unmet:{'' if str(error).startswith(chr(10)) else ' '}{error}")
        sys.exit(UNMET)
    except QuestionError as error:
        _say(f"error: {error}{_instead(error, sys.argv[1:])}")
        sys.exit(BAD_INPUT)
    except VoirdireError as error:
        _say(f"error: {error}")
        sys.exit(BAD_INPUT)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of a pipe has gone; Python would complain while closing
        sys.exit(OK)
    except OSError as error:
        place = "" if error.filename is None else f"{error.filename}: "
        _say(f"error: {place}{(error.strerror or str(error)).lower()}")
        _let_go_of_output()
        sys.exit(BAD_INPUT)


def _let_go_of_output() -> None:
    """Drop what cannot be printed: Python would try again at the end, complain and exit by 120."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _instead(question: QuestionError, words: list[str]) -> str:
    """Where a command has not the option that settles a question: which one has it."""
    from typer.main import get_command

    from voirdire.cli.app import app_for

    # Down the groups to the command that was typed: its parameters say what it can be asked.
    command = get_command(app_for(words))
    names: list[str] = []
    while words and words[0] in (under := getattr(command, "commands", {})):
        command, names, words = under[words[0]], [*names, words[0]], words[1:]
    if any(f"--{question.key}" in each.opts for each in command.params):
        return ""
    option = question.option(question.key, question.choices[0])
    return (
        f". voirdire {' '.join(names)} has no option --{question.key}: first say voirdire import "
        f"FILE {option} --out read.parquet, and give it read.parquet"
    )


def _say(text: str) -> None:
    sys.stderr.write(f"voirdire: {visible(text)}\n")

"""The command line. One module a command; heavy imports stand inside command bodies."""

from __future__ import annotations

import atexit
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


def program() -> None:
    """`main` as all of a process, which then ends without taking its modules apart one by one."""
    ended: list[int] = []
    # What is registered first is called last, when threads are over and whatever else was added
    # has run. Where something stands before it already, that would never be called.
    if not atexit._ncallbacks():  # noqa: SLF001 - there is no other way to know
        atexit.register(_leave, ended)
    try:
        main()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            ended.append(end.code or OK)
        raise
    ended.append(OK)


def _leave(ended: list[int]) -> None:
    """End the process; where an error or a pipe that is gone ends it, Python does."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        return
    if ended:
        os._exit(ended[0])


def main() -> None:
    """Run `voirdire`; errors become one line on stderr and an exit code."""
    # Modules are objects that stay: looking for cycles among them took 6 % of `voirdire examine`,
    # and looking once more as Python ends another 13 %.
    gc.set_threshold(400_000, 20, 50)
    atexit.register(gc.freeze)
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
    words = sys.argv[1:]
    if "--json" in words:
        sys.exit(_for_program(words))
    try:
        app_for(words)()
    # These before VoirdireError, which they all are.
    except (ContractError, RequirementUnmetError) as error:
        _say(f"requirement unmet:{'' if str(error).startswith(chr(10)) else ' '}{error}")
        sys.exit(UNMET)
    except QuestionError as error:
        _say(f"error: {error}{_instead(error, words)}")
        sys.exit(BAD_INPUT)
    except VoirdireError as error:
        _say(f"error: {error}")
        sys.exit(BAD_INPUT)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of a pipe has gone; Python would complain while closing
        sys.exit(OK)
    except OSError as error:
        _say(f"error: {_of_system(error)}")
        _let_go_of_output()
        sys.exit(BAD_INPUT)


def _of_system(error: OSError) -> str:
    place = "" if error.filename is None else f"{error.filename}: "
    return f"{place}{(error.strerror or str(error)).lower()}"


def _for_program(words: list[str]) -> int:
    """Run a command that was asked for JSON; whatever happens is one object on standard output.

    Where the object was printed before an error ended the command, the error is an event.
    """
    import typer

    from voirdire.cli.app import app_for
    from voirdire.cli.machine import begin, error_answer, event, printed_one
    from voirdire.errors import (
        ContractError,
        QuestionError,
        RequirementUnmetError,
        VoirdireError,
    )

    # What typer raises at a wrong option has no public name; its base has a code and a message.
    usage = next(one for one in typer.BadParameter.__mro__ if one.__name__ == "ClickException")
    ends: list[tuple[tuple[type[BaseException], ...], int, str]] = [
        ((ContractError, RequirementUnmetError), UNMET, "unmet"),
        ((VoirdireError,), BAD_INPUT, "error"),
        ((usage,), USAGE, "error"),
        ((KeyboardInterrupt, typer.Abort), INTERRUPTED, "interrupted"),
        ((OSError,), BAD_INPUT, "error"),
    ]
    begin()
    try:
        code = app_for(words)(standalone_mode=False)
        # Typer turns Ctrl-C into that exit code.
        if code == INTERRUPTED and not printed_one():
            raise KeyboardInterrupt
    except BrokenPipeError:
        sys.stderr.close()
        return OK
    except BaseException as error:
        found = next((end for end in ends if isinstance(error, end[0])), None)
        if found is None:
            raise
        _, code, state = found
        message = str(error).strip()
        if isinstance(error, QuestionError):
            message += _instead(error, words)
        elif isinstance(error, OSError):
            message = _of_system(error)
        elif state == "interrupted":
            message = "Interrupted."
        elif isinstance(error, usage):
            message = error.format_message()  # type: ignore[attr-defined]
        if printed_one():
            event(state, message=message)
        else:
            sys.stdout.write(error_answer(error, message, state) + "\n")
    return code if isinstance(code, int) else OK


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

"""How `--help` is laid out: flags without a type, prose filled, examples that can be copied.

One place for all commands, those of plugins included.
"""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    import typer

#: Commands that a help lists first, from the first look at data to what is done with a panel. typer
#: lists commands before groups, which would put `humans` and `classify` behind those of papers.
FIRST = (
    "demo", "init", "audit", "examine", "run", "session", "labels", "humans", "classify", "index",
)  # fmt: skip
LAST = ("paper", "new", "plugins")
#: What stands around a line of help: two spaces at the left, two columns kept free at the right.
MARGIN = 4
#: An example is broken before an option or a redirection, never within one.
_BREAK = re.compile(r" (?=--?[a-z]|>)")


class _PlainFlags:
    """A flag takes no value, so none is named."""

    def get_params(self, ctx: Any) -> list[Any]:
        found: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in found:
            if getattr(param, "is_flag", False):
                param.metavar = ""
        return found


class Command(_PlainFlags, TyperCommand):
    """A command whose help is filled to the terminal."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        width = shutil.get_terminal_size().columns - MARGIN
        self.help = laid_out(self.help or "", width)
        self.epilog = "\n" + laid_out(self.epilog or "", width)  # typer dedents after line one
        super().format_help(ctx, formatter)


class Group(_PlainFlags, TyperGroup):
    """A group of commands, in the order in which their users need them."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of commands: those of `FIRST`, then others as they were added, then `LAST`."""
        place = {name: number for number, name in enumerate(FIRST)}
        place |= {name: len(FIRST) + 1 + number for number, name in enumerate(LAST)}
        return sorted(super().list_commands(ctx), key=lambda name: place.get(name, len(FIRST)))


def lay_out_help(app: typer.Typer) -> None:
    """Have every command and group of an application show its help in this way."""
    app.info.cls = Group
    for command in app.registered_commands:
        command.cls = Command
    for group in app.registered_groups:
        group.cls = Group
        if group.typer_instance is not None:
            lay_out_help(group.typer_instance)


def laid_out(text: str, width: int) -> str:
    r"""Paragraphs as one line each; indented ones are commands, broken to fit by a backslash.

    Examples
    --------
    >>> print(laid_out("Two\nlines.\n\n  voirdire audit ratings.xlsx --json > found.json", 36))
    Two lines.
    <BLANKLINE>
      voirdire audit ratings.xlsx \
        --json > found.json
    """
    parts = text.strip("\n").split("\n\n")
    return "\n\n".join(
        _command(" ".join(part.split()), width) if part[:1] == " " else part.replace("\n", " ")
        for part in parts
    )


def _command(line: str, width: int) -> str:
    lines = [""]
    for piece in _BREAK.split(line):
        longer = f"{lines[-1]} {piece}" if lines[-1] else piece
        if lines[-1] and len(longer) > width - MARGIN - 2:
            lines.append(piece)
        else:
            lines[-1] = longer
    return "  " + " \\\n    ".join(lines)

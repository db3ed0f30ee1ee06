"""The typer application: our commands, then those of plugins, and how `--help` is laid out."""

from __future__ import annotations

import importlib
import os
import re
import shutil
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_command_name

from voirdire import __version__
from voirdire._manager import COMMAND, installed, load
from voirdire._registry import KINDS, Plugins
from voirdire.errors import PluginError, at_shell
from voirdire.progress import on_terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


Function = TypeVar("Function", bound="Callable[..., Any]")
PAPERS = """
Prepare the studies of published papers, to be run and examined like any other.

A study that a command writes is run by "voirdire run", and its session is examined by
"voirdire examine NAME --data SESSION", which adds the tables of the paper.
"""


class NamedOnce(typer.Typer):
    """A group of commands.

    Raises
    ------
    PluginError
        A command or group is added under a name that is taken.
    """

    def command(self, name: str | None = None, **options: Any) -> Callable[[Function], Function]:
        """Add a command under its name, or else its function's."""

        def once(function: Function) -> Function:
            self._refuse_taken(name or get_command_name(function.__name__))
            return super(NamedOnce, self).command(name, **options)(function)

        return once

    def add_typer(self, typer_instance: typer.Typer, **options: Any) -> None:
        """Add a group of commands."""
        self._refuse_taken(options.get("name") or typer_instance.info.name)
        super().add_typer(typer_instance, **options)

    def _refuse_taken(self, name: Any) -> None:
        # A command or group without a name has that of its function or application: typer works it
        # out only when it builds the parser, where the later one silently wins.
        commands = (
            one.name or get_command_name(one.callback.__name__)
            for one in self.registered_commands
            if one.callback is not None
        )
        groups = (
            one.name or (one.typer_instance.info.name if one.typer_instance else None)
            for one in self.registered_groups
        )
        if isinstance(name, str) and name in (*commands, *groups):
            raise PluginError(f"command {name!r} is there already: register it by another name")


class Application(NamedOnce):
    """The application that commands and plugins add to.

    Attributes
    ----------
    papers : NamedOnce
        The group `voirdire paper`. A plugin that reproduces a paper adds its command here, by
        ``app.papers.command("NAME")(function)`` or ``app.papers.add_typer(group)``; commands that
        serve any data are added to the application itself.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.papers = NamedOnce(name="paper", help=PAPERS, no_args_is_help=True)

    def show_papers(self) -> None:
        """Add the group of papers, where a plugin has added to it."""
        if self.papers.registered_commands or self.papers.registered_groups:
            self.add_typer(self.papers)


#: Module of this package -> the commands and groups that it registers.
COMMANDS = {
    "demo": ("demo",),
    "run": ("run",),
    "session": ("session",),
    "examine": ("examine",),
    "decide": ("decide",),
    "correct": ("correct", "calibrate", "plan", "escalate"),
    "cascade": ("cascade",),
    "watch": ("watch",),
    "compare": ("compare",),
    "look": ("look",),
    "item": ("item",),
    "gate": ("gate",),
    "probe": ("probe",),
    "jury": ("jury",),
    "labels": ("labels",),
    "humans": ("humans",),
    "annotators": ("annotators",),
    "importing": ("import",),
    "audit": ("audit",),
    "init": ("init",),
    "new": ("new",),
    "plugins": ("plugins",),
    "schemas": ("schema",),
    "mcp": ("mcp",),
    "skill": ("skill",),
}
HELP = """
Run panels of LLM judges, annotators and classifiers, and examine whether they can be trusted.

No verdict licenses clinical use.
"""
EPILOG = (
    "Exit codes: 0 fine, 1 bad input, 2 usage, 3 partial result, "
    "4 requirement unmet, 130 interrupted."
)
#: Commands under the heads of a help, in the order in which their users need them. What is named
#: nowhere, such as a plugin's, stands under `REST`.
GROUPS = {
    "Begin": ("demo", "init", "audit"),
    "Judges and verdicts": ("examine", "look", "item", "labels", "annotators", "jury", "probe"),
    "Numbers from few labels": ("correct", "calibrate", "plan", "escalate", "cascade"),
    "Releases": ("decide", "compare", "gate", "watch"),
    "Run": ("run", "session", "humans", "import"),
    "Agents": ("mcp", "skill"),
}
REST = "More"
LAST = ("paper", "new", "plugins", "schema")
#: What stands around a line of help: two spaces at the left, two columns kept free at the right.
MARGIN = 4
#: An example is broken before an option or a redirection, never within one.
_BREAK = re.compile(r" (?=--?[a-z]|>)")


def app_for(asked: Sequence[str]) -> typer.Typer:
    """The application that answers a command line.

    A command of our own is imported alone: the other modules and the commands of plugins, which
    take none of its names, would only cost time. `--help` and anything else need them all.
    """
    # Only where the command stands first: an option before it, such as --version, needs them all.
    for module, names in COMMANDS.items():
        if asked and asked[0] in names:
            app = _bare()
            _register(app, module)
            lay_out_help(app)
            return app
    return build_app()


def build_app() -> typer.Typer:
    """A fresh application with every command registered; of plugins those alone are loaded."""
    return assemble(())[0]


def assemble(kinds: Sequence[str] = KINDS) -> tuple[typer.Typer, Plugins]:
    """A fresh application, and the plugins whose commands it holds, loaded for these kinds too."""
    app = _bare()
    for module in COMMANDS:
        _register(app, module)
    asked = os.environ.get("VOIRDIRE_LOAD_PLUGINS")
    loaded = load(installed(*kinds, COMMAND), app, asked, kinds)
    app.show_papers()
    lay_out_help(app)
    return app, loaded


def _bare() -> Application:
    app = Application(
        name="voirdire",
        help=HELP,
        epilog=EPILOG,
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    return app


def _register(app: typer.Typer, module: str) -> None:
    importlib.import_module(f"voirdire.cli.{module}").register(app)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"voirdire {__version__}")
        raise typer.Exit


def _root(
    context: typer.Context,
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """The options that stand before a command."""
    context.with_resource(at_shell())


# Typer shows the callback's docstring in place of the application's help.
_root.__doc__ = HELP


def _asked_for_json(ctx: typer.Context, value: bool) -> bool:
    ctx.meta["voirdire.json"] = value
    return value


def _json_option() -> Any:
    """The option `--json`, for commands that have none of their own."""

    # Made by typer from a function, as it makes all others.
    def asks(
        _: Annotated[
            bool, typer.Option("--json", help="Print JSON for programs.", callback=_asked_for_json)
        ] = False,
    ) -> None:
        """Take the option."""

    app = typer.Typer(add_completion=False)
    app.command()(asks)
    option = get_command(app).params[0]
    option.expose_value = False
    return option


def _processed(param: Any, ctx: Any, value: Any) -> Any:
    """What becomes of an option's value; for one that was not given typer builds no schema."""
    if value is None and not param.required and param.callback is None:
        return () if param.multiple or param.nargs == -1 else None
    return type(param).process_value(param, ctx, value)


class _PlainFlags:
    """A flag takes no value, so none is named; every command can print JSON for programs."""

    def get_params(self, ctx: Any) -> list[Any]:
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        if isinstance(self, Command) and not any("--json" in one.opts for one in params):
            params.insert(-1, _json_option())
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = ""
            param.process_value = partial(_processed, param)
        return params

    def invoke(self, ctx: Any) -> Any:
        """Run it; for a program it prints one object and nothing else."""
        told = bool(ctx.meta.get("voirdire.json"))
        alone = isinstance(self, Command) or ctx.invoked_subcommand is None
        asked = any(ctx.params.get(one.name) for one in self.params if "--json" in one.opts)  # type: ignore[attr-defined]
        if not (told or (asked and alone)):
            if isinstance(self, Group):
                return super().invoke(ctx)  # type: ignore[misc]
            with on_terminal():
                return super().invoke(ctx)  # type: ignore[misc]
        from voirdire.cli.machine import for_programs

        with for_programs(tell=told):
            return super().invoke(ctx)  # type: ignore[misc]


class Command(_PlainFlags, TyperCommand):
    """A command whose help is filled to the terminal."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        # Laid out when it is shown, since only then the width is known.
        width = shutil.get_terminal_size().columns - MARGIN
        told = self.help, self.epilog
        self.help = laid_out(self.help or "", width)
        self.epilog = "\n" + laid_out(self.epilog or "", width)  # typer dedents after line one
        try:
            super().format_help(ctx, formatter)
        finally:
            self.help, self.epilog = told  # another window has another width


class Group(_PlainFlags, TyperGroup):
    """A group of commands, in the order in which their users need them."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of commands: those of `GROUPS`, then others as they were added, then `LAST`."""
        first = [name for names in GROUPS.values() for name in names]
        # Sorting is stable, so that the others, which share a place, stay in their order.
        place = {name: number for number, name in enumerate(first)}
        place |= {name: len(first) + 1 + number for number, name in enumerate(LAST)}
        return sorted(super().list_commands(ctx), key=lambda name: place.get(name, len(first)))


def lay_out_help(app: typer.Typer, *, top: bool = True) -> None:
    """Have every command and group of an application show its help in this way."""
    app.info.cls = Group
    for command in app.registered_commands:
        command.cls = Command
        own = command.name or (command.callback.__name__ if command.callback else "")
        command.rich_help_panel = _head(own) if top else command.rich_help_panel
    for group in app.registered_groups:
        group.cls = Group
        inner = group.typer_instance
        if top:
            group.rich_help_panel = _head(str(group.name or (inner.info.name if inner else "")))
        if group.typer_instance is not None:
            lay_out_help(group.typer_instance, top=False)


def _head(name: str) -> str:
    """The head of a help under which a command stands."""
    return next((head for head, names in GROUPS.items() if name in names), REST)


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

"""A typer application in which a name is given once, so that no plugin takes another's place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import typer
from typer.main import get_command_name

from voirdire.errors import PluginError

if TYPE_CHECKING:
    from collections.abc import Callable

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

"""A typer application in which a name is given once, so that no plugin takes another's place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import typer
from typer.main import get_command_name

from voirdire._errors import PluginError

if TYPE_CHECKING:
    from collections.abc import Callable

Function = TypeVar("Function", bound="Callable[..., Any]")


class Application(typer.Typer):
    """The application that commands and plugins add to.

    Raises
    ------
    PluginError
        A command or group is added under a name that is taken.
    """

    def command(self, name: str | None = None, **options: Any) -> Callable[[Function], Function]:
        """Add a command under its name, or else its function's."""

        def once(function: Function) -> Function:
            self._refuse_taken(name or get_command_name(function.__name__))
            return super(Application, self).command(name, **options)(function)

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

"""`voirdire plugins`: what is installed, what failed, and what keeps its contract."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voirdire.cli.machine import answer_of, emit
from voirdire.cli.options import JsonOption

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire._registry import Plugins, Registered
    from voirdire.testing import Outcome

EPILOG = """
Examples:

  voirdire plugins

  VOIRDIRE_LOAD_PLUGINS= voirdire plugins --json
"""


CHECK = """
Examples:

  voirdire plugins check next-step

  voirdire plugins check voirdire --json

The same checks, with options and answers of your own: voirdire.testing in docs/plugins.md.
"""


def register(app: typer.Typer) -> None:
    """Add the group: without a command of its own it lists."""
    group = typer.Typer(invoke_without_command=True, epilog=EPILOG)
    group.callback()(list_plugins)
    group.command("check", epilog=CHECK)(check)
    app.add_typer(group, name="plugins")


def list_plugins(context: typer.Context, as_json: JsonOption = False) -> None:
    """List the plugins: their versions, hooks and names, and why any of them failed.

    VOIRDIRE_LOAD_PLUGINS names the third-party plugins to load, separated by commas; an empty value
    loads none. Built-in plugins are always loaded.
    """
    if context.invoked_subcommand is not None:
        return
    from voirdire.cli.app import assemble

    rows = describe(assemble()[1])
    if as_json:
        failed = [row for row in rows if row["failure"]]
        told = f"{len(rows)} plugins" + (f", {len(failed)} of them broken." if failed else ".")
        emit(answer_of(told), {"plugins": rows})
        return
    _print(rows)


def check(
    package: Annotated[
        str,
        typer.Argument(
            help="A plugin, as `voirdire plugins` lists it, or its distribution.",
            show_default=False,
        ),
    ],
    ask: Annotated[
        bool, typer.Option("--ask", help="Ask models too, which may cost money.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Check that what a plugin registers keeps its contract, on ordinary and on hostile input."""
    from voirdire.cli.app import assemble
    from voirdire.errors import ContractError
    from voirdire.testing import check_registered

    loaded = assemble()[1]
    outcomes = [check_registered(one, loaded, ask=ask) for one in _registered_by(package, loaded)]
    if as_json:
        states = Counter(one.state for one in outcomes)
        told = ", ".join(f"{count} {state}" for state, count in states.items())
        emit(
            answer_of(f"Contracts: {told}.", states=dict(states)),
            {"outcomes": [asdict(one) for one in outcomes]},
        )
    else:
        _print_outcomes(outcomes)
    broken = [f"{one.kind} {one.name}" for one in outcomes if one.state == "broken"]
    if broken:
        raise ContractError(package, broken)


def _registered_by(package: str, loaded: Plugins) -> list[Registered]:
    """What a plugin, or every plugin of a distribution, registers."""
    from voirdire._manager import installed
    from voirdire.errors import PluginError, not_one_of

    of = {point.name: point.dist.name for point in installed() if point.dist is not None}
    names = {name for name in of if package in (name, of[name])}
    if not names:
        raise not_one_of("plugin", package, sorted({*of, *of.values()}))
    failed = [f"{name}: {loaded.failures[name]}" for name in sorted(names & set(loaded.failures))]
    if failed:
        raise PluginError("; ".join(failed))
    return [one for one in loaded.registered.values() if one.plugin in names]


def _print_outcomes(outcomes: Sequence[Outcome]) -> None:
    from voirdire.report import print_fitted
    from voirdire.shown import terminal, visible
    from voirdire.tabular import Table, text

    console = terminal()
    columns = (text("kind"), text("name"), text("contract"), text("why"))
    cells = [
        (one.kind, one.name, one.state, one.problems[0] if one.state == "not checked" else None)
        for one in outcomes
    ]
    print_fitted(console, Table(columns, tuple(cells)))
    for one in outcomes:
        for problem in one.problems if one.state == "broken" else ():
            console.print(visible(f"\n{one.kind} {one.name}: {problem}", keep="\n"), style="red")


def describe(loaded: Plugins) -> list[dict[str, Any]]:
    """One plain object a plugin."""
    return [
        {
            "name": name,
            "version": loaded.versions.get(name, ""),
            "hooks": loaded.hooks.get(name, []),
            "registers": [
                {"kind": one.kind, "name": one.name, "target": one.target}
                for one in loaded.registered.values()
                if one.plugin == name
            ],
            "failure": loaded.failures.get(name),
        }
        for name in dict.fromkeys((*loaded.versions, *loaded.failures))
    ]


def _print(rows: list[dict[str, Any]]) -> None:
    from voirdire.report import print_fitted
    from voirdire.shown import terminal, visible
    from voirdire.tabular import Table, text

    cells = []
    for row in rows:
        things = [f"{one['kind']} {one['name']}" for one in row["registers"]]
        things += ["commands"] if "voirdire_register_commands" in row["hooks"] else []
        cells.append((row["name"], row["version"], ", ".join(things) or None))
    console = terminal()
    columns = (text("plugin"), text("version"), text("registers"))
    print_fitted(console, Table(columns, tuple(cells)))
    for row in rows:
        if row["failure"]:
            console.print(visible(f"\n{row['name']}: {row['failure']}"), style="red")

"""Loading of plugins: each entry point by itself, and only when a kind is asked for that it brings.

An entry point of the group `voirdire` may bring anything; one of `voirdire.reader` brings readers,
and is not imported before somebody asks for readers. A plugin may stand in several groups.
"""

import os
import sys
from collections.abc import Iterable, Sequence
from functools import cache, partial
from importlib.metadata import EntryPoint, MetadataPathFinder
from typing import Any

import pluggy

from voirdire import hookspecs
from voirdire._registry import KINDS, Plugins
from voirdire.errors import PluginError
from voirdire.lazy import entry_points_on, name_and_version

GROUP = "voirdire"
#: What `voirdire.command` stands for: commands are added to an application, and have no names.
COMMAND = "command"


def installed(*kinds: str) -> list[EntryPoint]:
    """The entry points there are; those that may bring one of these kinds, where some are named."""
    groups = [GROUP, *(f"{GROUP}.{kind}" for kind in (*KINDS, COMMAND))]
    there = entry_points_on(tuple(sys.path))
    if not any(there.select(group=group) for group in groups):
        # Where no file could be opened, Python took a folder for empty, and keeps to that.
        MetadataPathFinder().invalidate_caches()
        entry_points_on.cache_clear()
        there = entry_points_on(tuple(sys.path))
        if not any(there.select(group=group) for group in groups):
            raise PluginError("not even the plugins of voirdire are found: install it by pip")
    wanted = {GROUP, *(f"{GROUP}.{kind}" for kind in kinds)} if kinds else set(groups)
    return [point for group in groups if group in wanted for point in there.select(group=group)]


def load(
    points: Iterable[EntryPoint],
    app: Any = None,
    only: str | None = None,
    kinds: Sequence[str] = KINDS,
    into: Plugins | None = None,
) -> Plugins:
    """Load entry points, each in a manager of its own, so that none costs another.

    `only` names the third-party ones to load, by commas: all by default. Commands are added to
    `app`. `kinds` are those that are asked for, `into` what others were loaded into before. Why one
    could not be loaded is among the `failures` of what comes back.
    """
    wanted = None if only is None else {part.strip() for part in only.split(",")}
    registry, points = into or Plugins(), list(points)
    if into is None:
        for name in sorted((wanted or set()) - {""} - {point.name for point in points}):
            registry.failures[name] = "no such plugin"
    asked = (*kinds, *([] if app is None else [COMMAND]))
    # Built-ins first: a third party cannot take their names.
    for point in sorted(points, key=lambda one: name_and_version(one.dist)[0] != "voirdire"):
        own = [kind for kind in asked if point.group in (GROUP, f"{GROUP}.{kind}")]
        own = [kind for kind in own if not registry.has(kind, point.name, point.value)]
        ours = name_and_version(point.dist)[0] == "voirdire"
        if own and (ours or wanted is None or point.name in wanted):
            try:
                _load_one(registry, point, own, app)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - it may raise anything at all
                registry.failures[point.name] = f"{type(error).__name__}: {error}"
    return registry


@cache
def plugins() -> Plugins:
    """The plugins of this process; VOIRDIRE_LOAD_PLUGINS restricts third parties."""
    return Plugins(ask=_ask)


def _ask(registry: Plugins, kind: str) -> None:
    load(installed(kind), None, os.environ.get("VOIRDIRE_LOAD_PLUGINS"), (kind,), registry)


def _load_one(registry: Plugins, point: EntryPoint, kinds: Sequence[str], app: Any) -> None:
    if registry.values.setdefault(point.name, point.value) != point.value:
        raise PluginError(f"{point.value} has this name too and is left out: names are given once")
    manager = pluggy.PluginManager(GROUP)
    manager.add_hookspecs(hookspecs.Hooks)
    # Before it is loaded, so that a plugin that fails still shows its version.
    registry.versions[point.name] = name_and_version(point.dist)[1]
    manager.register(point.load(), point.name)
    callers = manager.get_hookcallers(manager.get_plugin(point.name)) or []
    registry.hooks[point.name] = sorted(caller.name for caller in callers if caller.has_spec())
    for kind in kinds:
        registry.forget(kind, point.name)  # what it named before a failure
        if kind == COMMAND:
            manager.hook.voirdire_register_commands(app=app)
        else:
            hook = getattr(manager.hook, f"voirdire_register_{kind}s")
            hook(register=partial(registry.add, kind, point.name))
    manager.check_pending()  # last: a misspelt hook is flagged, and the others have been heard
    if not callers:
        raise PluginError("it does nothing: mark its hooks by @voirdire.hookimpl")
    registry.complete.update((kind, point.name) for kind in kinds)

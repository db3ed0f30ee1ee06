"""Loading of plugins: each entry point by itself, so that a broken one costs only itself."""

import os
from collections.abc import Iterable
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import pluggy

from voirdire import hookspecs
from voirdire._registry import Plugins
from voirdire.errors import PluginError

GROUP = "voirdire"
KINDS = (
    "model", "judge", "annotator", "generator", "classifier", "selector", "benchmark",
    "probe", "tool", "reader", "executor",
)  # fmt: skip


def load(points: Iterable[EntryPoint], app: Any = None, only: str | None = None) -> Plugins:
    """Load entry points, each in a manager of its own, so that none costs another.

    `only` names the third-party ones to load, by commas: all by default. Commands are added to
    `app`. Why one could not be loaded is among the `failures` of what comes back.
    """
    wanted = None if only is None else {part.strip() for part in only.split(",")}
    registry, points = Plugins(), list(points)
    for name in sorted((wanted or set()) - {""} - {point.name for point in points}):
        registry.failures[name] = "no such plugin"
    # Built-ins first: a third party cannot take their names.
    for point in sorted(points, key=lambda point: not _built_in(point)):
        if _built_in(point) or wanted is None or point.name in wanted:
            try:
                _load_one(registry, point, app)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - it may raise anything at all
                registry.failures[point.name] = f"{type(error).__name__}: {error}"
    return registry


@cache
def plugins() -> Plugins:
    """The plugins of this process, loaded once; VOIRDIRE_LOAD_PLUGINS restricts third parties."""
    return load(entry_points(group=GROUP), only=os.environ.get("VOIRDIRE_LOAD_PLUGINS"))


def _built_in(point: EntryPoint) -> bool:
    return point.dist is not None and point.dist.name == "voirdire"


def _load_one(registry: Plugins, point: EntryPoint, app: Any) -> None:
    if point.name in registry.versions:
        raise PluginError(f"{point.value} has this name too and is left out: names are given once")
    manager = pluggy.PluginManager(GROUP)
    manager.add_hookspecs(hookspecs.Hooks)
    # Before it is loaded, so that a plugin that fails still shows its version.
    registry.versions[point.name] = point.dist.version if point.dist else ""
    manager.register(point.load(), point.name)
    callers = manager.get_hookcallers(manager.get_plugin(point.name)) or []
    registry.hooks[point.name] = sorted(caller.name for caller in callers if caller.has_spec())
    for kind in KINDS:
        hook = getattr(manager.hook, f"voirdire_register_{kind}s")
        hook(register=partial(registry.add, kind, point.name))
    if app is not None:
        manager.hook.voirdire_register_commands(app=app)
    manager.check_pending()  # last: a misspelt hook is flagged, and the others have been heard
    if not callers:
        raise PluginError("it does nothing: mark its hooks by @voirdire.hookimpl")

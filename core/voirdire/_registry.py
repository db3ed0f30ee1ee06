"""What plugins registered: names against `"module:attribute"`, resolved on use."""

from __future__ import annotations

import importlib
import threading
from dataclasses import field
from typing import TYPE_CHECKING, Any

from voirdire.errors import MissingExtraError, PluginError, VoirdireError
from voirdire.late import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

#: What is registered under a name.
KINDS = (
    "model", "judge", "annotator", "generator", "classifier", "selector", "benchmark",
    "probe", "tool", "reader", "executor", "maker", "optimizer",
)  # fmt: skip
#: Top-level package of a missing import -> the extra that brings it.
EXTRAS = {
    "accelerate": "hf",
    "aiohttp": "openai",
    "anthropic": "anthropic",
    "dask": "dask",
    "datasets": "datasets",
    "distributed": "dask",
    "faiss": "faiss-cpu",
    "gguf": "hf",
    "gepa": "gepa",
    "google": "google",
    "langchain_core": "langchain",
    "mcp": "mcp",
    "openai": "openai",
    "sentence_transformers": "retrieval",
    "torch": "hf",
    "transformers": "hf",
    "xlsxwriter": "excel",
    "zstandard": "eval",
}


@dataclass(frozen=True, slots=True)
class Registered:
    """One registered name: where its object lies and which plugin named it."""

    kind: str
    name: str
    target: str
    plugin: str


class _AskLock:
    """A lock that a copy of its owner does not share."""

    def __init__(self) -> None:
        self.held = threading.RLock()

    def __deepcopy__(self, memo: object) -> _AskLock:
        return _AskLock()


@dataclass
class Plugins:
    """The plugins of this process, each loaded when a kind is first asked for that it may bring.

    Attributes
    ----------
    versions : dict
        Plugin name -> version of its distribution, in the order of loading.
    hooks : dict
        Plugin name -> names of the hooks it implements.
    failures : dict
        Plugin name -> why it, or a part of it, could not be used.
    registered : dict
        (kind, name) -> Registered, of the kinds that were asked for; `whole` asks for all.
    values : dict
        Plugin name -> the module of its entry point.
    ask : callable or None
        Loads what may bring a kind and is not `complete`; None where all is loaded. It is called
        once a kind, and again where it was interrupted or a name is not found.
    complete : set of (str, str)
        (kind, plugin) of what was loaded without a failure.
    """

    versions: dict[str, str] = field(default_factory=dict)
    hooks: dict[str, list[str]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    registered: dict[tuple[str, str], Registered] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)
    ask: Callable[[Plugins, str], None] | None = None
    complete: set[tuple[str, str]] = field(default_factory=set)
    _asked: set[str] = field(default_factory=set)
    _asking: set[str] = field(default_factory=set)
    _lock: _AskLock = field(default_factory=_AskLock)

    def of_kind(self, kind: str) -> Plugins:
        """These plugins, with all that brings this kind loaded."""
        with self._lock.held:
            if kind not in self._asked:
                self._load(kind)
        return self

    def _load(self, kind: str) -> None:
        """Ask for a kind; it counts as asked for only after that, since Ctrl-C may come between."""
        with self._lock.held:
            # A plugin that asks for its own kind while it is loaded sees what there is.
            if self.ask is None or kind in self._asking:
                return
            self._asking.add(kind)
            try:
                self.ask(self, kind)
            finally:
                self._asking.remove(kind)
            self._asked.add(kind)

    def whole(self) -> Plugins:
        """These plugins, with every kind loaded."""
        for kind in KINDS:
            self.of_kind(kind)
        return self

    def get(self, kind: str, name: str) -> Registered | None:
        """What is registered under a name; None where nothing is."""
        return self.of_kind(kind).registered.get((kind, name))

    def has(self, kind: str, plugin: str, value: str) -> bool:
        """Whether this entry point was heard on this kind, whole."""
        return (kind, plugin) in self.complete and self.values[plugin] == value

    def forget(self, kind: str, plugin: str) -> None:
        """Take back what a plugin registered of a kind: it is loaded anew."""
        self.registered = {
            key: one
            for key, one in self.registered.items()
            if (one.kind, one.plugin) != (kind, plugin)
        }

    def add(self, kind: str, plugin: str, name: str, target: str) -> None:
        """Register one name; a name can be taken once a kind, and the first keeps it."""
        if ":" not in str(target):
            raise PluginError(
                f'{kind} {name!r}: the target must be "module:attribute", got {target!r}'
            )
        taken = self.registered.get((kind, name))
        if taken is not None:
            raise PluginError(f"{kind} {name!r} is registered by plugin {taken.plugin!r} already")
        self.registered[kind, name] = Registered(kind, name, target, plugin)

    def names(self, kind: str) -> list[str]:
        """Registered names of a kind, sorted."""
        return sorted(name for of, name in self.of_kind(kind).registered if of == kind)

    def resolve(self, kind: str, name: str) -> Any:
        """The object behind a name; its module is imported only now.

        Raises
        ------
        PluginError
            Unknown name (the known ones and any plugin that failed are listed), or its module
            cannot be loaded.
        MissingExtraError
            The module needs a package that is not installed.
        """
        registered = self.get(kind, name)
        if registered is None:
            self._load(kind)  # what failed may have failed only once, for want of file handles
            registered = self.get(kind, name)
            if registered is not None:
                self.failures.pop(registered.plugin, None)
        if registered is None:
            names = ", ".join(self.names(kind)) or "none"
            lost = "".join(f"; plugin {p!r} failed: {why}" for p, why in self.failures.items())
            raise PluginError(f"there is no {kind} {name!r} (known: {names}){lost}")
        module, _, attribute = registered.target.partition(":")
        try:
            return getattr(importlib.import_module(module), attribute)
        # Our own errors say enough already.
        except VoirdireError:
            raise
        except Exception as error:
            missing = error.name if isinstance(error, ModuleNotFoundError) else None
            missing = (missing or "").partition(".")[0]
            if missing in EXTRAS:
                raise MissingExtraError(f"{kind} {name!r}", EXTRAS[missing], missing) from error
            raise PluginError(
                f"{kind} {name!r} of plugin {registered.plugin!r}: {registered.target} cannot be "
                f"loaded: {type(error).__name__}: {error}"
            ) from error

"""What plugins registered: names against `"module:attribute"`, resolved on use."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import Any

from voirdire.errors import MissingExtraError, PluginError, VoirdireError

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
    "google": "google",
    "langchain_core": "langchain",
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


@dataclass
class Plugins:
    """The plugins of this process.

    Attributes
    ----------
    versions : dict
        Plugin name -> version of its distribution, in the order of loading.
    hooks : dict
        Plugin name -> names of the hooks it implements.
    failures : dict
        Plugin name -> why it, or a part of it, could not be used.
    registered : dict
        (kind, name) -> Registered.
    """

    versions: dict[str, str] = field(default_factory=dict)
    hooks: dict[str, list[str]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    registered: dict[tuple[str, str], Registered] = field(default_factory=dict)

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
        return sorted(name for of, name in self.registered if of == kind)

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
        registered = self.registered.get((kind, name))
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

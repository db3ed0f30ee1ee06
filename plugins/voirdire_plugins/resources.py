"""Prompts, criteria, names and printed tables of a paper: TOML files that lie beside its plugin."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@cache
def resource(plugin: str, name: str) -> dict[str, Any]:
    """The file NAME.toml of a plugin, read once.

    >>> list(resource("distortions", "prompts"))
    ['ranked', 'multi']
    """
    path = files(f"voirdire_plugins.{plugin}") / f"{name}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def with_definitions(
    prompt: str, definitions: Mapping[str, str], *, before: str, bullet: str = "", gap: str = "\n"
) -> str:
    """A prompt with the definitions of its labels before a mark in it.

    >>> print(with_definitions("Read this. Choose:", {"calm": "at rest"}, before="Choose:"))
    Read this. Definitions:
    calm: at rest
    Choose:
    """
    lines = "\n".join(f"{bullet}{label}: {definition}" for label, definition in definitions.items())
    head, mark, tail = prompt.partition(before)
    return f"{head}Definitions:\n{lines}{gap}{mark}{tail}"

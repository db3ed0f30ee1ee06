"""Prompts, criteria, names and printed tables of a paper: TOML files that lie beside its plugin."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def resource(plugin: str, name: str) -> dict[str, Any]:
    """The file NAME.toml of a plugin, read once.

    >>> list(resource("distortions", "prompts"))
    ['ranked', 'multi']
    """
    path = files(f"voirdire_plugins.{plugin}") / f"{name}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))

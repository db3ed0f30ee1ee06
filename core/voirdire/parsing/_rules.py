"""The words by which rules for English decide, kept as data: `languages/rules.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path


@cache
def _rules() -> dict[str, str]:
    path = Path(__file__).with_name("languages") / "rules.toml"
    return tomllib.loads(path.read_text("utf-8"))


def rule(name: str) -> tuple[str, ...]:
    """The words and phrases of a rule, in the order of the file."""
    return tuple(_rules()[name].split("|"))

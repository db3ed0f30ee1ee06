"""The ten categories of exercises and what their responses are compared on (Tables 12 and 13)."""

from __future__ import annotations

from voirdire_plugins.resources import resource

_TABLE = resource("cbt_bench", "criteria")
DIFFICULTIES: tuple[str, ...] = tuple(_TABLE["difficulties"])
#: Attributes of every comparison, in order: four criteria, whose meaning is the category's.
ATTRIBUTES: tuple[str, ...] = tuple(_TABLE["attributes"])
OVERALL: str = _TABLE["overall"]
CRITERIA: dict[str, tuple[str, ...]] = {
    category: tuple(texts) for category, texts in _TABLE["criteria"].items()
}

"""The JSON schema of a reply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voirdire.schema import Scale


def scores_schema(fields: Mapping[str, bool], scale: Scale) -> dict[str, Any]:
    """An object of scores on the scale and of texts (`fields`: whether it is a number).

    >>> from voirdire.schema import Scale
    >>> found = scores_schema({"Empathy": True, "Explanation": False}, Scale())
    >>> found["properties"]
    {'Empathy': {'type': 'integer', 'minimum': 1, 'maximum': 5}, 'Explanation': {'type': 'string'}}
    """
    whole = all(float(level).is_integer() for level in scale.levels)
    number: dict[str, Any] = {"type": "number", "enum": list(scale.levels)}
    if whole and scale.step == 1:
        number = {"type": "integer", "minimum": int(scale.low), "maximum": int(scale.high)}
    return object_schema(
        {name: dict(number) if scored else {"type": "string"} for name, scored in fields.items()}
    )


def object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """A closed object that needs all its properties, as strict structured output asks."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }

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
    number = _number(scale)
    return object_schema(
        {name: dict(number) if scored else {"type": "string"} for name, scored in fields.items()}
    )


def _number(scale: Scale) -> dict[str, Any]:
    if scale.continuous:
        return {"type": "number", "minimum": scale.low, "maximum": scale.high}
    if scale.step == 1 and all(float(level).is_integer() for level in scale.levels):
        return {"type": "integer", "minimum": int(scale.low), "maximum": int(scale.high)}
    return {"type": "number", "enum": list(scale.levels)}


def object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """A closed object that needs all its properties, as strict structured output asks."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }

"""A rubric put into words."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Attribute, Rubric, Scale

_KEY = re.compile(r'"([^"]+)"\s*:\s*("?)')


def attribute_text(attribute: Attribute) -> str:
    """An attribute with its description and levels, the best first.

    >>> from voirdire.schema import Attribute
    >>> print(attribute_text(Attribute("Tact", "How it is said.", {1: "Rude.", 2: "Kind."})))
    Tact: How it is said.
      2: Kind.
      1: Rude.
    """
    head = f"{attribute.name}: {attribute.description}".rstrip(": ")
    levels = sorted(attribute.levels.items(), reverse=True)
    return "\n".join([head, *(f"  {level:g}: {text}" for level, text in levels)])


def scale_text(scale: Scale) -> str:
    """The scale's levels in a phrase.

    >>> from voirdire.schema import Scale
    >>> scale_text(Scale(1, 5)), scale_text(Scale(0, 1, 0.5))
    ('a whole number from 1 to 5', 'one of 0, 0.5, 1')
    >>> scale_text(Scale(0, 1, 0))
    'a number from 0 to 1'
    """
    if scale.continuous:
        return f"a number from {scale.low:g} to {scale.high:g}"
    if scale.step == 1 and float(scale.low).is_integer():
        return f"a whole number from {scale.low:g} to {scale.high:g}"
    return "one of " + ", ".join(f"{level:g}" for level in scale.levels)


def output_text(rubric: Rubric, attributes: Sequence[Attribute]) -> str:
    """The reply asked for: the rubric's own if all attributes are asked, else from their names."""
    if rubric.output and len(attributes) == len(rubric.attributes):
        return rubric.output
    return json.dumps({attribute.name: "X" for attribute in attributes}).replace('"X"', "X")


def output_fields(output: str) -> dict[str, bool]:
    """Keys of the reply asked for, in order; True for those that hold a number.

    >>> output_fields('{ "Empathy": X, "Explanation": "your explanation here" }')
    {'Empathy': True, 'Explanation': False}
    """
    return {key: not quote for key, quote in _KEY.findall(output)}

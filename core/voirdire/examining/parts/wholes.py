"""Wholes beside their parts: runs and steps, conversations and turns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.examining.parts.part import Examined

if TYPE_CHECKING:
    from voirdire.examining.inputs import Inputs
    from voirdire.examining.wholes import WholeFacts
    from voirdire.tabular import Section


class WholesPart:
    """Of ratings some of whose items are parts of others."""

    def needs(self, inputs: Inputs) -> bool:
        """Whether a turn or a step was rated."""
        if inputs.tables is None or inputs.ratings.is_empty():
            return False
        from voirdire.examining.wholes import has_parts  # noqa: PLC0415 - most items have none

        return has_parts(inputs.ratings)

    def examine(self, inputs: Inputs, before: tuple[Any, ...]) -> Examined[WholeFacts]:
        """What parts and wholes say of each other, and where the first wrong part is."""
        from voirdire.examining.wholes import measure_wholes  # noqa: PLC0415 - as above

        del before
        facts = measure_wholes(inputs)
        if not facts.untold:
            return Examined(facts)
        note = (
            f"Which scores on {', '.join(facts.untold)} are right is not known: --gate SCORE says "
            "so, and then wholes and first wrong parts are told of it too."
        )
        return Examined(facts, notes=(note,))

    def sections(self, facts: WholeFacts) -> tuple[Section, ...]:
        """Wholes beside parts, and first wrong parts."""
        from voirdire.examining.wholes import whole_sections  # noqa: PLC0415 - as above

        return whole_sections(facts)


WHOLES_PART = WholesPart()

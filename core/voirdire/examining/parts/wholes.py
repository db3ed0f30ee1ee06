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
        """Whether a turn or a step was rated or labelled."""
        from voirdire.examining.wholes import judged_parts  # noqa: PLC0415 - most items have none

        return judged_parts(inputs) is not None

    def examine(self, inputs: Inputs, before: tuple[Any, ...]) -> Examined[WholeFacts]:
        """What parts and wholes say of each other, and where the first wrong part is."""
        from voirdire.examining.wholes import measure_wholes  # noqa: PLC0415 - as above

        del before
        facts = measure_wholes(inputs)
        if not facts.untold:
            return Examined(facts)
        of, by = "Which scores on", "--gate SCORE says so"
        if facts.words:
            of = f"Which labels ({', '.join(facts.words)}) on"
            by = f'--kind label --words "{facts.words[0]}=1,...=0" says so'
        note = (
            f"{of} {', '.join(facts.untold)} are right is not known: {by}, and then wholes and "
            "first wrong parts are told of it too."
        )
        return Examined(facts, notes=(note,))

    def sections(self, facts: WholeFacts) -> tuple[Section, ...]:
        """Wholes beside parts, and first wrong parts."""
        from voirdire.examining.wholes import whole_sections  # noqa: PLC0415 - as above

        return whole_sections(facts)


WHOLES_PART = WholesPart()

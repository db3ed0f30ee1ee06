"""Conversations: agreement over turns, and where they first fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.examining.parts.part import Examined
from voirdire.late import dataclass

if TYPE_CHECKING:
    from voirdire.examining.inputs import Inputs
    from voirdire.tabular import Section


@dataclass(frozen=True, slots=True)
class ConversationFacts:
    """What is found of turns, as the tables and figures that show it."""

    tables: tuple[Section, ...]


class ConversationsPart:
    """Of sources whose items are turns of conversations."""

    def needs(self, inputs: Inputs) -> bool:
        """Whether an item is a turn, and somebody is a reference."""
        from voirdire.examining.conversing import has_turns  # noqa: PLC0415 - few sources have any

        return bool(inputs.reference) and has_turns(inputs)

    def examine(self, inputs: Inputs, before: tuple[Any, ...]) -> Examined[ConversationFacts]:
        """Agreement by turn, first failures."""
        from voirdire.examining.conversing import turn_sections  # noqa: PLC0415 - as above

        del before
        return Examined(ConversationFacts(turn_sections(inputs)))

    def sections(self, facts: ConversationFacts) -> tuple[Section, ...]:
        """Agreement over turns, and first failures."""
        return facts.tables


CONVERSATIONS_PART = ConversationsPart()

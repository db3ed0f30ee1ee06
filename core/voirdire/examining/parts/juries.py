"""Juries: what several judges together are worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.examining.parts.part import Examined
from voirdire.late import dataclass

if TYPE_CHECKING:
    from voirdire.examining.gains import JuryResult, Simpler
    from voirdire.examining.inputs import Inputs
    from voirdire.tabular import Section


@dataclass(frozen=True, slots=True)
class JuryFacts:
    """What each jury is worth on each attribute."""

    results: tuple[JuryResult, ...]

    @property
    def simpler(self) -> tuple[Simpler, ...]:
        """The best member of each jury that is not shown to beat it."""
        return tuple(filter(None, (one.simpler for one in self.results)))


class JuriesPart:
    """Of studies that declare a jury."""

    def needs(self, inputs: Inputs) -> bool:
        """Whether there is a jury, and a reference to hold it against."""
        return bool(inputs.study.juries and inputs.panel.reference)

    def examine(self, inputs: Inputs, before: tuple[Any, ...]) -> Examined[JuryFacts]:
        """What each jury adds to its best member."""
        from voirdire.examining.juries import (  # noqa: PLC0415 - few studies have one
            measure_juries,
        )

        del before
        return Examined(JuryFacts(measure_juries(inputs, inputs.cube)))

    def sections(self, facts: JuryFacts) -> tuple[Section, ...]:
        """What each is worth, and what it costs."""
        from voirdire.examining.juries import jury_sections  # noqa: PLC0415 - as above

        return jury_sections(facts.results) if facts.results else ()


JURIES_PART = JuriesPart()

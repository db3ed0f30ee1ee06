"""Probes: the effects that `voirdire probe` left in the session."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.examining.parts.part import Examined
from voirdire.late import dataclass

if TYPE_CHECKING:
    from voirdire.examining.inputs import Inputs
    from voirdire.examining.probing import ProbeEffect
    from voirdire.tabular import Section


@dataclass(frozen=True, slots=True)
class ProbeFacts:
    """What each probe changed in each judge's scores."""

    effects: tuple[ProbeEffect, ...]


class ProbesPart:
    """Of sessions that were probed."""

    def needs(self, inputs: Inputs) -> bool:
        """Whether the session holds effects of probes."""
        if inputs.session is None:
            return False
        from voirdire.probes import PROBES_FILE  # noqa: PLC0415 - for sessions alone

        return (inputs.session / PROBES_FILE).is_file()

    def examine(self, inputs: Inputs, before: tuple[Any, ...]) -> Examined[ProbeFacts]:
        """Read them."""
        from voirdire.examining.probing import (  # noqa: PLC0415 - few sessions are probed
            read_effects,
        )
        from voirdire.probes import PROBES_FILE  # noqa: PLC0415

        del before
        if inputs.session is None:
            raise InputError("only a session holds effects of probes")
        return Examined(ProbeFacts(read_effects(inputs.session / PROBES_FILE)))

    def sections(self, facts: ProbeFacts) -> tuple[Section, ...]:
        """One table of all effects."""
        from voirdire.examining.probing import effects_section  # noqa: PLC0415 - as above

        return (replace(effects_section(facts.effects), leading=False),) if facts.effects else ()


PROBES_PART = ProbesPart()

"""Verdicts: what each judge may be used for, and what that rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.examining.parts.part import Examined
from voirdire.examining.verdict.gathering import judged_of
from voirdire.examining.verdict.judging import careless_findings, copied_findings

if TYPE_CHECKING:
    from voirdire.examining.inputs import Inputs
    from voirdire.examining.verdict.judged import Judged
    from voirdire.tabular import Section


class VerdictsPart:
    """Of sources with ratings."""

    def needs(self, inputs: Inputs) -> bool:
        """Whether there are ratings."""
        return inputs.tables is not None

    def examine(self, inputs: Inputs, before: tuple[Any, ...]) -> Examined[Judged]:
        """Verdicts by use, and raters that answered without reading."""
        del before
        return examined(judged_of(inputs))

    def sections(self, facts: Judged) -> tuple[Section, ...]:
        """None: verdicts are what the report begins with."""
        del facts
        return ()


def examined(judged: Judged) -> Examined[Judged]:
    """Verdicts, and what their evidence shows to be odd."""
    evidence = judged.evidence
    return Examined(judged, (*careless_findings(evidence), *copied_findings(evidence)))


VERDICTS_PART = VerdictsPart()

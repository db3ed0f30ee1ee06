"""Verdicts: what each judge may be used for, and what that rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.examining.parts.exams import is_exam
from voirdire.examining.parts.part import Examined
from voirdire.examining.verdict.gathering import judged_of
from voirdire.examining.verdict.judging import careless_findings, copied_findings, leak_findings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.examining.inputs import Inputs
    from voirdire.examining.verdict.facts import Evidence, Judged
    from voirdire.schema import Finding
    from voirdire.tabular import Section


class VerdictsPart:
    """Of sources with judgements of any kind."""

    def needs(self, inputs: Inputs) -> bool:
        """Whether there are ratings, labels, probabilities or preferences, and no letters of
        options.
        """
        judged = inputs.tables is not None or inputs.judgements is not None or inputs.compared
        return judged and not is_exam(inputs)

    def examine(self, inputs: Inputs, before: tuple[Any, ...]) -> Examined[Judged]:
        """Verdicts by use, and raters that answered without reading."""
        del before
        return examined(judged_of(inputs))

    def sections(self, facts: Judged) -> tuple[Section, ...]:
        """People's rankings and calibration; verdicts are what the report begins with."""
        return facts.sections


def examined(judged: Judged) -> Examined[Judged]:
    """Verdicts, and what their evidence shows to be odd."""
    return Examined(judged, _odd(judged.evidence))


def _odd(evidence: Sequence[Evidence]) -> tuple[Finding, ...]:
    """Humans who were left out, and judges that repeat or follow one."""
    odd = (careless_findings, copied_findings, leak_findings)
    return tuple(one for find in odd for one in find(evidence))


VERDICTS_PART = VerdictsPart()

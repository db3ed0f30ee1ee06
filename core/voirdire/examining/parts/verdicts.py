"""Verdicts: what each judge may be used for, and what that rests on."""

from __future__ import annotations

from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

from voirdire.examining.parts.part import Examined
from voirdire.examining.verdict.facts import Judged
from voirdire.examining.verdict.gathering import judged_of
from voirdire.examining.verdict.judging import careless_findings, copied_findings, leak_findings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.examining.inputs import Inputs
    from voirdire.examining.verdict.facts import Evidence
    from voirdire.schema import Finding
    from voirdire.tabular import Section


class VerdictsPart:
    """Of sources with judgements of any kind."""

    def needs(self, inputs: Inputs) -> bool:
        """Whether there are ratings, labels, probabilities or preferences."""
        return inputs.tables is not None or inputs.judgements is not None or inputs.compared

    def examine(self, inputs: Inputs, before: tuple[Any, ...]) -> Examined[Judged]:
        """Verdicts by use, and raters that answered without reading."""
        del before
        if _is_exam(inputs):
            return Examined(Judged())
        return examined(judged_of(inputs))

    def sections(self, facts: Judged) -> tuple[Section, ...]:
        """People's rankings and calibration; verdicts are what the report begins with."""
        return facts.sections


def _is_exam(inputs: Inputs) -> bool:
    """Whether annotators choose among lettered options of questions.

    The meaning of a letter changes from item to item, so that it is no attribute, and a key of
    answers is no rater: accuracy is what there is to say.
    """
    judges = [r for r in inputs.study.panel if r.kind != "human" and not r.is_jury]
    names = [attribute.name for attribute in inputs.study.rubric.attributes]
    letters = names == list(ascii_uppercase[: len(names)]) and len(names) > 1
    return letters and bool(judges) and all(rater.kind == "annotator" for rater in judges)


def examined(judged: Judged) -> Examined[Judged]:
    """Verdicts, and what their evidence shows to be odd."""
    return Examined(judged, _odd(judged.evidence))


def _odd(evidence: Sequence[Evidence]) -> tuple[Finding, ...]:
    """Humans who were left out, and judges that repeat or follow one."""
    odd = (careless_findings, copied_findings, leak_findings)
    return tuple(one for find in odd for one in find(evidence))


VERDICTS_PART = VerdictsPart()

"""Verdicts: what each judge may be used for, and what that rests on."""

from __future__ import annotations

from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

from voirdire.examining.parts.part import Examined
from voirdire.examining.verdict.gathering import judged_of
from voirdire.examining.verdict.judged import Judged
from voirdire.examining.verdict.judging import careless_findings, copied_findings, leak_findings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.examining.inputs import Inputs
    from voirdire.examining.verdict.facts import Evidence
    from voirdire.schema import Finding
    from voirdire.tables.judged import ReadJudgements
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
            return Examined(Judged((), ()))
        labelled = inputs.labelled and bool(inputs.reference)
        if inputs.judgements is None and not (inputs.compared or labelled):
            return examined(judged_of(inputs))
        from voirdire.examining.verdict.of_kinds import (  # noqa: PLC0415 - most hold scores alone
            judged_kinds,
        )

        found = judged_kinds(inputs, inputs.judgements or annotated(inputs))
        scores = None if inputs.tables is None else examined(judged_of(inputs))
        odd = _odd(found.evidence)
        if scores is None:
            return Examined(found, odd)
        both = Judged(
            (*scores.facts.verdicts, *found.verdicts),
            (*scores.facts.evidence, *found.evidence),
            scores.facts.human_pairs,
            found.rankings,
            found.calibrations,
        )
        return Examined(both, (*scores.findings, *odd))

    def sections(self, facts: Judged) -> tuple[Section, ...]:
        """People's rankings and calibration; verdicts are what the report begins with."""
        if not (facts.rankings or facts.calibrations):
            return ()
        from voirdire.examining.verdict.of_kinds import (  # noqa: PLC0415 - most hold scores alone
            kind_sections,
        )

        return kind_sections(facts)


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


def annotated(inputs: Inputs) -> ReadJudgements | None:
    """Labels that annotators and the humans beside them name; None where there are none.

    Of a scale of 0 and 1 they are the ratings, beside a rubric a table of their own.
    """
    from voirdire.examining.judgements import labels_of_ratings  # noqa: PLC0415 - most have none
    from voirdire.examining.labels.annotators import (  # noqa: PLC0415 - as above
        annotators,
        labelling_groups,
    )

    rated = None if inputs.tables is None else (inputs.tables.labels or inputs.tables)
    names = [] if rated is None else annotators(inputs.study, rated)
    if rated is None or not (names and inputs.reference):
        return None
    made = [
        labels_of_ratings(rated.ratings, each.labels, (*members, *inputs.reference))
        for each, members in labelling_groups(inputs.study, rated.ratings, names).items()
    ]
    # Groups with labels of their own are few; the first that has any is examined.
    return next((one for one in made if one is not None), None)


VERDICTS_PART = VerdictsPart()

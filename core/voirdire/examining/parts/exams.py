"""Questions with lettered options: how often each rater's whole answer is the key's."""

from __future__ import annotations

from dataclasses import dataclass
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

from voirdire.examining.parts.part import Examined

if TYPE_CHECKING:
    from voirdire.examining.inputs import Inputs
    from voirdire.tabular import Section


@dataclass(frozen=True, slots=True)
class ExamFacts:
    """The accuracy of every rater against the key, as a section."""

    sections: tuple[Section, ...] = ()


def is_exam(inputs: Inputs) -> bool:
    """Whether annotators choose among lettered options of questions.

    The meaning of a letter changes from item to item, so that it is no attribute, and a key of
    answers is no rater: accuracy is what there is to say.
    """
    judges = [r for r in inputs.study.panel if r.kind != "human" and not r.is_jury]
    names = [attribute.name for attribute in inputs.study.rubric.attributes]
    letters = names == list(ascii_uppercase[: len(names)]) and len(names) > 1
    return letters and bool(judges) and all(rater.kind == "annotator" for rater in judges)


class ExamsPart:
    """Of exams that have a key."""

    def needs(self, inputs: Inputs) -> bool:
        """Whether it is an exam, and one rater holds the right answers."""
        return is_exam(inputs) and len(inputs.reference) == 1

    def examine(self, inputs: Inputs, before: tuple[Any, ...]) -> Examined[ExamFacts]:
        """Accuracy over the questions answered, and with unanswered ones as wrong."""
        from voirdire.examining.labels.matrix import (  # noqa: PLC0415 - of exams alone
            matrices_against,
        )
        from voirdire.examining.labels.scores import choice_accuracy  # noqa: PLC0415 - as above
        from voirdire.examining.labels.sections import accuracy_section  # noqa: PLC0415 - as above

        del before
        (key,) = inputs.reference
        study = inputs.study
        there = set(inputs.ratings["rater"].cast(str))
        raters = [r for r in study.panel if r.name != key and r.name in there and not r.is_jury]
        letters = [attribute.name for attribute in study.rubric.attributes]
        truth, given = matrices_against(inputs.ratings, key, [r.name for r in raters], letters)
        level = study.analysis.level
        told = [part for one in given for part in choice_accuracy(truth, one, level=level)]
        people = [r.name for r in raters if r.kind == "human"]
        return Examined(ExamFacts((accuracy_section(told, people=people),) if told else ()))

    def sections(self, facts: ExamFacts) -> tuple[Section, ...]:
        """The table of accuracies."""
        return facts.sections


EXAMS_PART = ExamsPart()

"""Ratings become cases, but for those that are examined as labels: most sources load no other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voirdire.examining.verdict.gathering import gather_cases

if TYPE_CHECKING:
    from collections.abc import Iterator

    from voirdire.examining.inputs import Inputs
    from voirdire.examining.spec.scores.case import Case


def cases_of_scores(inputs: Inputs) -> Iterator[Case]:
    """Every judge x attribute x reference of the ratings; none without ratings.

    What annotators name has verdicts as labels, and would have others as scores of 0 and 1.
    """
    if inputs.tables is None:
        return
    named: frozenset[tuple[str, str]] = frozenset()
    if any(rater.kind == "annotator" for rater in inputs.study.panel):
        from voirdire.examining.judgements import named_as_labels  # noqa: PLC0415 - most have none

        named = named_as_labels(inputs)
    for case in gather_cases(inputs.cube, inputs.panel, inputs.study, inputs.ratings):
        if (case.judge, case.attribute) not in named:
            yield case

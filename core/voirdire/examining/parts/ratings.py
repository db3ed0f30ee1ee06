"""Ratings: each judge against the reference, the humans among themselves, and the systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.examining.panel import check_panel
from voirdire.examining.parts.exams import is_exam
from voirdire.examining.parts.part import Examined
from voirdire.examining.ratings.results import examine_ratings

if TYPE_CHECKING:
    from voirdire.examining.inputs import Inputs
    from voirdire.examining.ratings.facts import Measure, RatingsFacts
    from voirdire.tabular import Section


#: Coefficients among people where there is no judge: in the units of the scale, and beyond chance.
OF_PEOPLE = ("alpha", "agreement", "icc", "bias")


class RatingsPart:
    """Of sources with ratings."""

    def needs(self, inputs: Inputs) -> bool:
        """Whether there are ratings, and not of the letters of options."""
        return inputs.tables is not None and not (is_exam(inputs) and inputs.reference)

    def examine(self, inputs: Inputs, before: tuple[Any, ...]) -> Examined[RatingsFacts]:
        """Coefficients of judges against the reference.

        Raises
        ------
        InputError
            There is no reference, or no judge, and nothing else to examine.
        """
        # Labels over runs say something without anybody to be held against.
        others = any(getattr(facts, "sections", ()) for facts in before)
        check_panel(
            inputs.study, inputs.panel, others=others, compared=inputs.preferences is not None
        )
        facts = examine_ratings(
            inputs.panel,
            inputs.cube,
            inputs.study.analysis,
            bias_level=inputs.study.thresholds.bias_level,
            alone=others,
            measures=_measures(inputs),
        )
        return Examined(facts)

    def sections(self, facts: RatingsFacts) -> tuple[Section, ...]:
        """None: the report has its own tables of coefficients."""
        del facts
        return ()


def _measures(inputs: Inputs) -> tuple[Measure, ...]:
    """The coefficients over all raters that were asked for."""
    analysis, cube = inputs.study.analysis, inputs.cube
    if not analysis.measures and not inputs.panel.judges and len(inputs.panel.reference) > 1:
        # People alone: how far they agree is all that there is to say.
        analysis = analysis.model_copy(update={"measures": OF_PEOPLE})
    if not analysis.measures:
        return ()
    from voirdire.examining.measures import measures_of  # noqa: PLC0415 - loads every coefficient
    from voirdire.examining.verdict.gathering import clusters_of  # noqa: PLC0415 - as above

    return measures_of(cube, inputs.panel, analysis, clusters_of(inputs.ratings, cube))


RATINGS_PART = RatingsPart()

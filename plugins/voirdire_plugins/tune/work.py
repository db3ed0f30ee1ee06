"""What is tuned and what was chosen, as the steps of tuning hand them on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from voirdire.errors import InputError
from voirdire.schema import Finding
from voirdire_plugins.tune.candidates import Scored, without_calls
from voirdire_plugins.tune.curves import curved
from voirdire_plugins.tune.juries import jury_scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from numpy.typing import NDArray

    from voirdire.stats import Estimate
    from voirdire.study import Rater
    from voirdire_plugins.tune.asking import Asking
    from voirdire_plugins.tune.goals import Goal, Marks
    from voirdire_plugins.tune.units import Units

    Floats = NDArray[np.float64]

#: Labels of each side of a gate below which nothing is said of it.
_FEWEST_OF_A_KIND = 5


@dataclass(frozen=True, slots=True)
class Work:
    """What is tuned, on what: read and checked before anybody is asked."""

    member: Rater
    goal: Goal
    units: Units
    marks: Marks
    asking: Asking
    findings: tuple[Finding, ...]
    seed: int
    level: float

    def scored(self, panel: Sequence[Rater], units: Units, ratings: pl.DataFrame) -> list[Scored]:
        """Each member of a panel, and behind it what its scores can be made into."""
        if self.member.is_jury:
            return jury_scores(panel, units, ratings, self.asking)
        step = self.asking.study.rubric.step
        # Labels that were said, and comparisons, have no threshold and no curve.
        graded = self.asking.subject.name == "responses"
        made: list[Scored] = []
        for one in panel:
            asked = Scored(one.name, units.scores(ratings, one.name), one.name)
            made.append(asked)
            made += without_calls(asked, self.goal.use, self.marks, step, shifts=graded)
            # A curve has ties, and pairs of tied responses are not decided.
            if graded and self.goal.use != "pick" and (curve := curved(asked, units)):
                made.append(curve)
        return made

    def goodness(self, scored: Sequence[Scored]) -> Floats:
        """(C, n) of the labelled units."""
        if self.goal.use in ("gate", "filter"):
            check_both(self.units, self.marks)
        return self.goal.goodness([one.runs for one in scored], self.units.humans, self.marks)

    def _how_unread(self, name: str, count: int) -> str:
        came = self.asking.given_up.get(name, count)
        if came < count:
            return (
                f"None of {came} replies of {name} could be read, and it was asked no further: "
                f"{count} judgements are not there."
            )
        return f"{count} replies of {name} could not be read."

    def unread(self) -> tuple[Finding, ...]:
        """What could not be read of a candidate, and what it counts as."""
        return tuple(
            Finding(
                "candidate_unread",
                "serious",
                name,
                count,
                (name,),
                self._how_unread(name, count),
                f"Each counts as {self.goal.unread}: no judge gains by leaving hard ones out.",
            )
            for name, count in self.asking.unread.items()
            if count
        )


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen among scored ways, and by how much it is better."""

    panel: Sequence[Rater]
    scored: Sequence[Scored]
    goodness: Floats
    chosen: int
    shares: Sequence[float]
    gain: Estimate
    claimed: Estimate
    measured_on: int
    findings: tuple[Finding, ...] = ()


def check_both(units: Units, marks: Marks) -> None:
    """People must pass some and fail some.

    Raises
    ------
    InputError
        Fewer than 5 of a kind.
    """
    people = np.nanmean(np.where(np.isnan(units.humans), np.nan, units.humans >= marks.gate), 1)
    passing, failing = people.sum(), (1 - people).sum()
    if min(passing, failing) < _FEWEST_OF_A_KIND:
        raise InputError(
            f"of {len(units)} labels people pass {passing:g} and fail {failing:g}: "
            f"fewer than {_FEWEST_OF_A_KIND} of a kind say nothing about it. Label more of them"
        )

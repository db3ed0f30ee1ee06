"""A result as people see it where each human is a reference in turn."""

from __future__ import annotations

import dataclasses

from voirdire.examining.ratings.facts import PairResult


@dataclasses.dataclass(frozen=True, slots=True)
class Displayed(PairResult):
    """A result under a display name, with the rater in the tables of ratings."""

    rater: str = ""

"""What an optimizer is handed: labelled units, and scores with texts for any candidate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class OptimizerUnit:
    """A labelled response on one question.

    Attributes
    ----------
    number : int
        Its place among the units.
    item, response : str
        Their texts.
    attribute : str
    label : str
        What people said, by commas.
    """

    number: int
    item: str
    response: str
    attribute: str
    label: str


@dataclass(frozen=True, slots=True)
class Evaluated:
    """How good a judge is on one unit.

    Attributes
    ----------
    unit : OptimizerUnit
    score : float
        0 to 1, more being better. A reply that could not be read has a score too, and `feedback`
        says so.
    feedback : str
        What the judge and people said.
    """

    unit: OptimizerUnit
    score: float
    feedback: str


class Evaluates(Protocol):
    """Has the judge score units by other instructions; asked twice, it is paid once.

    Attributes
    ----------
    left : int
        Judgements that may still be asked for.
    """

    @property
    def left(self) -> int: ...

    def __call__(self, candidate_text: str, units: Sequence[OptimizerUnit]) -> list[Evaluated]:
        """Raises `voirdire.errors.BudgetSpentError` where these are more than are left."""
        ...

"""From answers to a total, its bounds where answers lack, and what a threshold decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voirdire_judges.questionnaires._load import Questionnaire


@dataclass(frozen=True, slots=True)
class Scored:
    """What the answers to a questionnaire come to.

    Attributes
    ----------
    total : float or None
        The sum, only where every item is answered.
    partial : float
        The sum of what is answered; no total, and it looks low where answers lack.
    low, high : float
        The least and the most that the total can be, whatever the missing answers are.
    answered, missing : int, tuple of int
    band : str
        Severity, only of a complete total.
    positive : bool or None
        Whether the total reaches the threshold; None without one, or while missing answers could
        decide it either way.
    """

    total: float | None
    partial: float
    low: float
    high: float
    answered: int
    missing: tuple[int, ...]
    band: str
    positive: bool | None


def score_answers(
    questionnaire: Questionnaire,
    answers: Mapping[int, float | None],
    threshold: float | None = None,
) -> Scored:
    """Score answers by serial number; a missing one is never 0.

    Examples
    --------
    >>> from voirdire_judges.questionnaires import load_questionnaire
    >>> phq9 = load_questionnaire("phq9")
    >>> found = score_answers(phq9, {1: 3, 2: 3, 3: 0, 4: 3, 5: 1, 6: 2, 7: 0, 8: 0}, threshold=10)
    >>> found.total, found.partial, found.low, found.high, found.missing, found.positive
    (None, 12.0, 12.0, 15.0, (9,), True)
    """
    serials = range(1, len(questionnaire.questions) + 1)
    given = {n: answers.get(n) for n in serials}
    known = [float(value) for value in given.values() if value is not None]
    missing = tuple(n for n, value in given.items() if value is None)
    partial = sum(known, 0.0)
    low = partial + len(missing) * questionnaire.scale.low
    high = partial + len(missing) * questionnaire.scale.high
    total = None if missing else partial
    positive = None
    if threshold is not None and (low >= threshold or high < threshold):
        positive = low >= threshold
    return Scored(
        total, partial, low, high, len(known), missing, questionnaire.band(total), positive
    )

"""The best of many judges and attributes, with an interval that allows for its being picked."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from voirdire.examining.spec.components import LABELS_SAVED
from voirdire.late import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.examining.verdict.facts import Verdict

#: Up to so many pairs are read one by one; of more, some look good by chance.
FEW = 10


@dataclass(frozen=True, slots=True)
class BestWorth:
    """The judge and attribute that save most labels, picked among many.

    Attributes
    ----------
    among : int
        Of how many pairs of judge and attribute it was picked.
    value, low, high : float
        As many labels one is worth with the judge's scores beside it; the ends allow for picking.
    """

    judge: str
    attribute: str
    among: int
    value: float
    low: float
    high: float


def best_worth(verdicts: Sequence[Verdict]) -> BestWorth | None:
    """Which pair of judge and attribute saves most labels; None where there are few to pick from.

    GAIN is a correlation on Fisher's scale, counted in labels by the share that people label.
    """
    found = {
        (one.judge, one.about): part
        for one in verdicts
        for part in one.components
        if part.name == LABELS_SAVED.key and part.state != "not tested"
    }
    # One without an error, such as a judge that gives one score, is never picked.
    tried = {pair: one for pair, one in found.items() if one.human < 1 and one.se > 0}
    if len(found) <= FEW or not tried:
        return None
    from voirdire.stats import interval_of_best  # noqa: PLC0415 - for large grids alone

    parts = list(tried.values())
    at = [math.atanh(math.sqrt((1 - 1 / one.estimate) / (1 - one.human))) for one in parts]
    best, *ends = interval_of_best(at, [one.se for one in parts], [one.df for one in parts])
    part = parts[best]
    low, high = (1 / (1 - (1 - part.human) * max(math.tanh(end), 0.0) ** 2) for end in ends)
    judge, attribute = list(tried)[best]
    return BestWorth(judge, attribute, len(found), part.estimate, low, high)

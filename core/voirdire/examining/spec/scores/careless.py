"""Humans whose single scores do not follow the others'."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voirdire.examining.spec.margins import SURE_NO, SURE_YES
from voirdire.examining.spec.scores import responses
from voirdire.late import dataclass
from voirdire.stats import within
from voirdire.stats._arrays import median

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.examining.spec.component import State
    from voirdire.examining.spec.scores.case import Case
    from voirdire.stats.response_panel import ResponsePanel
    from voirdire.study import Margins

#: Humans from whom one may be found careless, and who are left whatever is found.
FEWEST_FOR_MAJORITY, FEWEST_LEFT = 3, 2
#: The share of what the others reach below which a human does not follow them.
_THIRD = 1 / 3


@dataclass(frozen=True, slots=True)
class Careless:
    """A human whose single scores do not follow the others', and who was left out."""

    human: str
    attribute: str
    correlation: float
    others: float


def careless_humans(
    case: Case, panel: ResponsePanel, everyone: Sequence[int], margins: Margins
) -> tuple[Careless, ...]:
    """Humans shown to reach less than a third of what the others reach, who follow each other.

    Two humans are always left, and nobody is careless where humans are shown not to agree at all:
    nothing then says who of them is the careless one.
    """
    # Two humans cannot outvote each other: with three there is a majority to be careless of.
    if len(everyone) < FEWEST_FOR_MAJORITY:
        return ()
    careless = []
    for k, own in zip(everyone, within.each_follows_others(panel, everyone), strict=True):
        # Nobody reaches more than 1, so that only such a one may lie below a third of the others.
        if own is None or own.bound(SURE_NO) >= _THIRD:
            continue
        rest = panel.without_humans([k])
        among = within.each_follows_others(rest, [m for m in everyone if m != k])
        others = [jackknifed for jackknifed in among if jackknifed is not None]
        reach = median(np.array([float(jackknifed.value) for jackknifed in others] or [0.0]))
        bounds = [float(jackknifed.bound(1 - SURE_YES)) for jackknifed in others]
        sure = median(np.array(bounds or [0.0]))
        # The upper bound, so that chance alone makes nobody careless; a third of what the others
        # reach, since a human on hard items may fall below any fixed number.
        if sure > margins.read and own.bound(SURE_NO) < _THIRD * reach:
            careless.append(Careless(case.reference[k], case.attribute, own.value, reach))
    if not careless or agreement(panel, margins) == "no":
        return ()
    worst_first = sorted(careless, key=lambda one: one.correlation)
    left_out = {one.human for one in worst_first[: len(everyone) - FEWEST_LEFT]}
    return tuple(one for one in careless if one.human in left_out)


def agreement(panel: ResponsePanel, margins: Margins) -> State:
    """Whether all humans together are shown to agree on single responses, or not to."""
    table = within.item_table(panel, beside=True)
    return responses.humans_agree("", table, margins).state

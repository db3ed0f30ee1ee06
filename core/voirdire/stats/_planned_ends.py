"""What a plan of graded scores owes to the ends of the scale, where nearly all labels lie there.

`correct` trusts no spread of labels of which nine in ten lie at one end, or are the judge's own
scores: half a pseudo-label at each end enters the variance. A plan foretells how often labels to
come will be such, and by how much their interval is then wider. A pilot in which hardly a label
differs from the others says nothing of those that will, and no plan is made from it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from voirdire.stats._powered import NEARLY_ALL
from voirdire.stats.special import special

if TYPE_CHECKING:
    from voirdire.stats._arrays import Floats
    from voirdire.stats._powered import Flags, Places

#: Labels of the pilot that differ from the commonest, from which a plan is made: with two the width
#: foretold held in .78 of pilots, with three and more in .91 and more.
FEWEST_DIFFERENT = 3


@dataclass(frozen=True, slots=True)
class PlannedEnds:
    """Of the pilot's labels and what the judge leaves of them.

    Attributes
    ----------
    size : float
        Labels of a labelled unit.
    at_end, as_judged : float
        Shares of labels at the commoner end of the scale, and equal to the judge's scores.
    away : float
        What the two half pseudo-labels add to a sum of squares.
    left, single : (float, float)
        Variances of labels, and of what the judge leaves of them: of a unit's mean, and of a single
        label. Both are the same where units are labels.
    """

    size: float
    at_end: float
    as_judged: float
    away: float
    left: tuple[float, float]
    single: tuple[float, float]

    @classmethod
    def of(
        cls,
        y: Floats,
        f: Floats,
        group: Places,
        ends: tuple[float, float],
        slope: float,
        left: tuple[float, float],
    ) -> PlannedEnds:
        """From labels (NaN where there is none), scores, units, the judge's weight and `left`."""
        known = ~np.isnan(y)
        labels, scores, units = y[known], f[known], np.unique(group[known], return_inverse=True)[1]
        k = int(units.max()) + 1
        size = len(labels) / k
        ratios = []
        for values in (labels, labels - slope * scores):
            away = values - values.mean()
            of_unit = float(np.bincount(units, weights=away).var()) / size**2
            ratios.append(float(away.var()) / of_unit if k < len(labels) and of_unit > 0 else 1.0)
        return cls(
            size,
            max(float((labels == end).mean()) for end in ends),
            float((labels == scores).mean()),
            sum((end - float(labels.mean())) ** 2 for end in ends) / 2,
            left,
            (left[0] * ratios[0], left[1] * ratios[1]),
        )

    def wider(self, units: float, *, judged: bool) -> float:
        """What pseudo-labels add to the variance of the labels' part, in parts of it, were so many
        units labelled; `judged`: beside the judge, or the labels alone.
        """
        labels = max(round(units * self.size), 1)
        shares = (self.at_end, self.as_judged) if judged else (self.at_end,)
        left, single = self.left[int(judged)], self.single[int(judged)]
        return max(self._lift(labels, share, left, single) for share in shares) / left

    def _lift(self, labels: int, share: float, left: float, single: float) -> float:
        """Expected over how many of the labels to come are as `share` of the pilot's are."""
        nearly, fewer = 1.0, 1.0
        if share < 1:
            # Labels of one cluster are alike, and count as fewer.
            count = max(round(labels * min(single / (left * self.size), 1.0)), 1)
            others = math.floor((1 - NEARLY_ALL) * count + 1e-9)
            nearly = float(special().bdtr(others, count, 1 - share))
            if nearly < 1e-9:
                return 0.0
            # How many of the others there are, given that they are so few.
            below = special().bdtr(others - 1, count - 1, 1 - share) if others else 0.0
            fewer = float(below) / nearly
        with_ends = (labels * single * fewer + self.away) / (labels + 1)
        return nearly * max(with_ends - left * fewer, 0.0)


def different(values: Floats, group: Places) -> int:
    """Units with a value other than the commonest, up to rounding."""
    _, at, counts = np.unique(np.round(values, 9), return_inverse=True, return_counts=True)
    return len(np.unique(group[at != counts.argmax()]))


def too_few_different(y: Floats, f: Floats, group: Places) -> int | None:
    """Labels (or clusters) of the pilot unlike the rest, from the judge or from each other, where
    these are too few to plan from; None where they are enough.
    """
    known: Flags = ~np.isnan(y)
    fewest = min(different(y[known], group[known]), different((y - f)[known], group[known]))
    return fewest if fewest < FEWEST_DIFFERENT else None

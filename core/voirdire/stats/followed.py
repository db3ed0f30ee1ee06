"""How far a judge's choices go with people's in some comparisons, beside another human's."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from voirdire.late import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.stats._arrays import Floats
    from voirdire.stats.comparisons import ComparisonPanel

#: Cosines are cut here, so that their z is a number.
_MOST = 0.999


@dataclass(frozen=True, slots=True)
class Followed:
    """Cosines of choices with those of the other humans, on Fisher's z.

    Attributes
    ----------
    judge, human : float
        Of the judge with the mean of all humans but one, and of that one with it; means over who is
        left out.
    n : int
        Comparisons behind the judge's.
    """

    judge: float
    human: float
    n: int


def followed(panel: ComparisonPanel, here: NDArray[np.bool_]) -> Followed | None:
    """What a judge and a held-out human share with the others in these comparisons.

    Nothing is taken out: whoever chooses without looking at them follows neither which system is
    better nor the single response, and both count here. Where both orders were asked each is an
    answer.

    Parameters
    ----------
    here : (N,) bool
        The comparisons.

    Returns
    -------
    Followed or None
        None where fewer than two humans share comparisons.

    Examples
    --------
    >>> from voirdire.stats.comparisons import Compared, ComparisonPanel
    >>> compared = Compared(np.array(["x"] * 4), np.array(["y"] * 4))
    >>> people = [[1, -1, 1, 0], [1, -1, 0, 1]]
    >>> panel = ComparisonPanel.of([1, 1, -1, -1], people, compared)
    >>> found = followed(panel, np.full(4, True))
    >>> round(found.judge, 2), round(found.human, 2)
    (-0.3, 0.8)
    """
    people = panel.humans[:, here]
    runs = [run[here] for run in (*panel.judge, *panel.swapped)]
    judged, human, most = [], [], 0
    for k, own in enumerate(people):
        rest = np.delete(people, k, axis=0)
        there = ~np.isnan(rest)
        n = there.sum(axis=0)
        others = np.where(n > 0, np.where(there, rest, 0.0).sum(axis=0) / np.maximum(n, 1), np.nan)
        of_runs = [found for run in runs if (found := _cosine(run, others)) is not None]
        of_human = _cosine(own, others)
        if of_runs and of_human is not None:
            judged.append(float(np.mean([z for z, _ in of_runs])))
            human.append(of_human[0])
            most = max(most, *(count for _, count in of_runs))
    if not judged:
        return None
    return Followed(float(np.mean(judged)), float(np.mean(human)), most)


def _cosine(one: Floats, other: Floats) -> tuple[float, int] | None:
    """On Fisher's z, and of how many; None where one of both never prefers."""
    there = ~(np.isnan(one) | np.isnan(other))
    one, other = one[there], other[there]
    size = math.sqrt(float((one**2).sum() * (other**2).sum()))
    if not size > 0:
        return None
    cosine = float((one * other).sum()) / size
    return math.atanh(min(max(cosine, -_MOST), _MOST)), len(one)

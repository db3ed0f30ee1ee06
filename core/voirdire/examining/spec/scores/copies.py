"""Whose scores repeat whose: a judge that repeats a human, and a human who repeats another."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from voirdire.late import dataclass
from voirdire.stats._arrays import occurring
from voirdire.stats.special import special

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from voirdire.examining.spec.scores.case import Case

#: Responses that two raters share at least before their equal scores say anything.
FEWEST_EQUAL = 20
#: How rarely a judge that copies nobody may be said to copy somebody, and a human.
BY_CHANCE, HUMAN_BY_CHANCE = 0.001, 1e-6
#: Fewer different scores may be equal on every response where all is plain.
_GRADED = 3


@dataclass(frozen=True, slots=True)
class Copied:
    """A human whose scores another rater gives more often than one who did not see them could.

    Attributes
    ----------
    equal, shared : int
        Responses on which the two are the same, of those that both scored.
    most : float
        The share of equal scores that a rater can reach who sees the response alone; NaN where no
        two humans scored enough of the same responses.
    by : str
        The human who gives them; empty for the judge.
    """

    human: str
    attribute: str
    equal: int
    shared: int
    most: float
    by: str = ""

    @property
    def sure(self) -> bool:
        """Whether a judge gives a human's scores more often than who did not see them could."""
        return not (self.by or math.isnan(self.most))

    @property
    def left_out(self) -> bool:
        """Whether the human who repeats another is known to, and leaves the reference."""
        return bool(self.by) and not math.isnan(self.most)


def copied_humans(case: Case, repeating: Collection[str] = ()) -> tuple[Copied, ...]:
    """Humans whose scores a run of the judge repeats; those who repeat others aside.

    Two raters who each see the response alone give the same score with probability sum(q²), where q
    are the shares of the scores that such a response gets. Nobody who sees the response alone can
    guess one of them more often than max(q), which is at most the root of that sum; and the mean of
    a root is at most the root of the mean. So a judge is equal to a human in at most sqrt(p) of the
    responses, p being how often two humans are. More equal scores than that, beyond a binomial tail
    of one in a thousand, come from the human's own. Where no two humans can be compared, only a
    judge that is equal on every response is named. Of scores on no grid that are examined as sums
    it is not known which are equal.
    """
    # Nodes that stand for scores on no grid were given by nobody.
    given = case.counted is None or case.counted.shows(case.scores.T)
    if not (np.isnan(case.constant) and given):
        return ()
    own = [k for k, name in enumerate(case.reference) if name not in repeating]
    most, made = _most_equal(case, list(combinations(own, 2))), []
    for name, human in zip(case.reference, case.humans, strict=True):
        # The run that repeats a human most: a copy in one run is a copy.
        shared, equal = max(
            (_equal(case, run, human) for run in case.scores),
            key=lambda pair: pair[1] / max(pair[0], 1),
        )
        # A human who gives one score is easily equalled by a judge that mostly gives it too.
        if shared < FEWEST_EQUAL or _different(human) < 2:
            continue
        rare = equal == shared if np.isnan(most) else _tail(equal, shared, most) < BY_CHANCE
        if rare:
            made.append(Copied(name, case.attribute, equal, shared, most))
    return tuple(made)


def repeating_humans(case: Case) -> tuple[Copied, ...]:
    """Humans who give another human's scores on every response that both scored.

    Where third humans differ from both by more than that allows (see `copied_humans`), the one of
    the two who scored less repeats the other. Else it may be that all is plain: `most` is NaN, and
    only scores of three levels or more are named.
    """
    if case.counted is not None and not case.counted.shows(case.humans.T):
        return ()
    made: dict[int, Copied] = {}
    different = [_different(scores) for scores in case.humans]
    for pair in combinations(range(len(case.humans)), 2):
        shared, equal = _equal(case, *case.humans[list(pair)])
        levels = min(different[k] for k in pair)
        if made.keys() & set(pair) or shared < FEWEST_EQUAL or equal < shared or levels < 2:
            continue
        thirds = [k for k in range(len(case.humans)) if k not in pair and k not in made]
        most = _most_equal(case, [(k, third) for third in thirds for k in pair])
        sure = not np.isnan(most) and _tail(equal, shared, most) < HUMAN_BY_CHANCE
        # The first of two who scored as much stays.
        kept, by = sorted(pair, key=lambda k: -case.size(~np.isnan(case.humans[k])))
        if sure or levels >= _GRADED:
            made[by] = Copied(
                case.reference[kept],
                case.attribute,
                equal,
                shared,
                most if sure else math.nan,
                case.reference[by],
            )
    return tuple(made.values())


def _different(scores: NDArray[np.float64]) -> int:
    return len(occurring(scores))


def _equal(case: Case, a: NDArray[np.float64], b: NDArray[np.float64]) -> tuple[int, int]:
    """How many responses both scored, and on how many of them the same."""
    shared = np.asarray(~np.isnan(a) & ~np.isnan(b))
    return case.size(shared), case.size(np.asarray(shared & (a == b)))


def _most_equal(case: Case, pairs: list[tuple[int, int]]) -> float:
    """The root of the largest share of equal scores of two humans; NaN without two."""
    each = [_equal(case, case.humans[a], case.humans[b]) for a, b in pairs]
    shares = [equal / shared for shared, equal in each if shared >= FEWEST_EQUAL]
    return float(max(shares) ** 0.5) if shares else float("nan")


def _tail(equal: int, shared: int, most: float) -> float:
    """Probability of so many equal scores or more."""
    return float(special().bdtrc(equal - 1, shared, most)) if equal else 1.0

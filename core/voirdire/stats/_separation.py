"""Whether Davidson's likelihood has a finite maximum, decided on the graph of outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Groups:
    """How systems fall apart.

    Attributes
    ----------
    members : tuple of tuples of int
        Systems that can be reached from one another by wins and ties; better groups first.
    connected : bool
        Whether all systems were compared, directly or through others.
    finite : bool
        Whether strengths and nu have a finite maximum (nu may be 0).
    """

    members: tuple[tuple[int, ...], ...]
    connected: bool
    finite: bool


def groups(wins: NDArray[np.float64], ties: NDArray[np.float64]) -> Groups:
    """Groups of systems, and whether all is finite.

    A direction in which the likelihood never falls moves systems apart (then some group is never
    beaten nor tied by another), or nu to infinity with them: wins at least one apart, ties at most
    one. Both are excluded where all systems reach each other and some cycle holds a win more than
    it holds ties.
    """
    k = len(wins)
    reach = _closure((wins > 0) | (ties > 0) | np.eye(k, dtype=np.bool_))
    mutual = reach & reach.T
    met = _closure((wins + wins.T + ties > 0) | np.eye(k, dtype=np.bool_))
    members = sorted(
        {tuple(np.flatnonzero(row).tolist()) for row in mutual},
        key=lambda group: (-int(reach[group[0]].sum()), group),
    )
    one = len(members) == 1 and k > 1
    bounded = not (ties > 0).any() or not _apart(wins, ties)
    return Groups(tuple(members), bool(k and met.all()), one and bounded)


def _closure(edges: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which systems are reached from which."""
    reach = edges.copy()
    for middle in range(len(reach)):
        reach |= reach[:, middle : middle + 1] & reach[middle]
    return reach


def _apart(wins: NDArray[np.float64], ties: NDArray[np.float64]) -> bool:
    """Whether places exist with winners 1 above losers and ties at most 1 apart (Bellman-Ford)."""
    k = len(wins)
    bound = np.where(ties > 0, 1.0, np.inf)
    bound = np.where(wins > 0, -1.0, bound)  # loser <= winner - 1
    place = np.zeros(k)
    for _ in range(k + 1):
        moved = np.minimum(place, (place[:, None] + bound).min(axis=0, initial=np.inf))
        if (moved == place).all():
            return True
        place = moved
    return False

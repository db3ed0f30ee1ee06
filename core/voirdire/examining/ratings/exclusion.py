"""The same judges under other rules of exclusion: before and after, one system or the family."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from voirdire.examining.examination import SystemPair, UnderRule
from voirdire.examining.ratings.pairing import reference_scores
from voirdire.stats import system_sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from voirdire.examining.panel import Member, Panel
    from voirdire.examining.ratings.cube import Cube
    from voirdire.examining.ratings.pairing import Pairing
    from voirdire.stats import SystemFeatures, SystemSums


@dataclass(frozen=True, slots=True)
class Before:
    """What other rules of exclusion do to one pairing.

    Attributes
    ----------
    left_out : tuple of SystemPair
        The systems left out, with their means.
    without_exclusion, family_rule : UnderRule or None
        None where the rule leaves out what the pairing leaves out anyway.
    loo_c1, loo_a1 : dict
        System -> ICC(C,1) and ICC(A,1) with that system left out besides.
    """

    left_out: tuple[SystemPair, ...] = ()
    without_exclusion: UnderRule | None = None
    family_rule: UnderRule | None = None
    loo_c1: dict[str, float] = field(default_factory=dict)
    loo_a1: dict[str, float] = field(default_factory=dict)


#: Positions of the rules: every system; without the family; then each system left out besides.
_ALL, _FAMILY, _EACH = 0, 1, 2


def under_other_rules(pairings: Sequence[Pairing], cube: Cube, panel: Panel) -> list[Before]:
    """Each pairing at system level without exclusion, with the family and with each system out.

    Judges held against the same raters are summed by system together, once; each rule is a choice
    among those sums.
    """
    results = [Before()] * len(pairings)
    members = {member.name: member for member in panel.members}
    for against in dict.fromkeys(p.against for p in pairings if p.level == "system"):
        held = {i: p for i, p in enumerate(pairings) if p.against == against}
        judges = {p.judge: members[p.judge] for p in held.values()}
        sums = system_sums(
            cube.scores[[cube.raters.index(judge) for judge in judges]],
            reference_scores(cube, panel, against),
            cube.system,
            names=cube.systems,
        )
        under = sums.under(_rules(sums, list(judges.values())))
        for i, pairing in held.items():
            at = list(judges).index(pairing.judge), cube.attributes.index(pairing.attribute)
            results[i] = _before(pairing, judges[pairing.judge], sums, under, at)
    return results


def _rules(sums: SystemSums, judges: Sequence[Member]) -> NDArray[np.bool_]:
    """(2 + S, J, S) the systems that each rule keeps; a judge without a family keeps its own."""
    nothing = sums.keeping([()] * len(judges))
    family = sums.keeping([judge.family_systems or () for judge in judges])
    own = sums.keeping([judge.excluded for judge in judges])
    each = own & ~np.eye(len(sums.systems), dtype=np.bool_)[:, None]
    return np.concatenate([nothing[None], family[None], each])


def _before(
    pairing: Pairing, judge: Member, sums: SystemSums, under: SystemFeatures, at: tuple[int, int]
) -> Before:
    family, places = judge.family_systems, {name: s for s, name in enumerate(sums.systems)}
    other_family = family is not None and set(family) & set(places) != set(pairing.excluded)
    rows = [_pair(sums, at, s) for name, s in places.items() if name in pairing.excluded]
    loo = {name: _EACH + places[name] for name in pairing.systems}
    return Before(
        left_out=tuple(row for row in rows if row.n),
        without_exclusion=_under(under, (_ALL, *at), ()) if pairing.excluded else None,
        family_rule=_under(under, (_FAMILY, *at), family or ()) if other_family else None,
        loo_c1={name: float(under.icc_c1[q, *at]) for name, q in loo.items()},
        loo_a1={name: float(under.icc_a1[q, *at]) for name, q in loo.items()},
    )


def _under(
    features: SystemFeatures, at: tuple[int, int, int], left_out: tuple[str, ...]
) -> UnderRule:
    return UnderRule(
        excluded_systems=left_out,
        n_systems=int(features.n_systems[at]),
        icc_c1=float(features.icc_c1[at]),
        icc_a1=float(features.icc_a1[at]),
        bias=float(features.bias[at]),
    )


def _pair(sums: SystemSums, at: tuple[int, int], system: int) -> SystemPair:
    reference, judge = sums.means[at][system]
    pairs = int(sums.table[at][system, 0])
    return SystemPair(sums.systems[system], float(reference), float(judge), pairs)


def system_pairs(pairing: Pairing) -> tuple[SystemPair, ...]:
    """The rows of the matrix with their names."""
    rows = zip(pairing.systems, pairing.matrix, pairing.counts, strict=True)
    return tuple(SystemPair(name, float(row[0]), float(row[1]), int(n)) for name, row, n in rows)

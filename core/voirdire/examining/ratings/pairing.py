"""One judge beside the reference: which responses count, means of systems, rules of exclusion."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire.late import dataclass
from voirdire.stats import panel_mean, system_sums

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from voirdire.examining.panel import Member, Panel
    from voirdire.examining.ratings.cube import Cube
    from voirdire.stats import SystemFeatures, SystemSums


#: The forms of ICC that every result has.
FORMS = ("C,1", "A,1")

#: The columns of pairs where there are none.
PAIRS = {
    "result": pl.UInt32,
    **dict.fromkeys(("judge", "attribute", "item", "system"), pl.String),
    **dict.fromkeys(("score", "reference"), pl.Float64),
}


@dataclass(frozen=True, slots=True)
class SystemPair:
    """One row of the system-level matrix: means over the pairs of one system."""

    system: str
    reference: float
    judge: float
    n: int


@dataclass(frozen=True, slots=True)
class UnderRule:
    """The same judge under another rule of leaving systems out."""

    excluded_systems: tuple[str, ...]
    n_systems: int
    icc_c1: float
    icc_a1: float
    bias: float


@dataclass(frozen=True, slots=True)
class Pairing:
    """The pairs of one judge and attribute.

    Attributes
    ----------
    reference, judge_scores : (P,) float64
        Both present, systems in `excluded` left out.
    system, item : (P,) intp
        Codes of the cube.
    systems : tuple of str
        Systems with at least one pair, in the cube's order.
    matrix : (n, 2) float64
        Reference and judge: means by system, or the pairs themselves at response level.
    counts : (n,) intp
        Pairs behind each row of `matrix`.
    n_expected : int
        Pairs there would be if nothing were missing: responses that the table gives a reference
        rater, be the score there or not. What no reference was asked about is no pair.
    """

    judge: str
    attribute: str
    against: tuple[str, ...]
    level: str
    excluded: tuple[str, ...]
    reference: NDArray[np.float64]
    judge_scores: NDArray[np.float64]
    system: NDArray[np.intp]
    item: NDArray[np.intp]
    systems: tuple[str, ...]
    matrix: NDArray[np.float64]
    counts: NDArray[np.intp]
    n_expected: int

    @property
    def rows(self) -> tuple[SystemPair, ...]:
        """The rows of the matrix with their names, at system level."""
        rows = zip(self.systems, self.matrix, self.counts, strict=True)
        return tuple(
            SystemPair(name, float(row[0]), float(row[1]), int(n)) for name, row, n in rows
        )


def pair_up(
    cube: Cube,
    judge: str,
    attribute: str,
    reference: Sequence[str],
    held_against: NDArray[np.float64],
    excluded: Sequence[str],
) -> Pairing:
    """Pair a judge with the mean of the reference raters present; see `reference_scores`."""
    at_reference = [cube.raters.index(name) for name in reference]
    human = held_against[cube.attributes.index(attribute)]
    scores = cube.of(judge, attribute)
    kept = kept_responses(cube, excluded)
    valid = kept & ~np.isnan(human) & ~np.isnan(scores)
    level = level_of(cube)
    pairs = np.stack([human[valid], scores[valid]], axis=1)
    matrix, counts, present = _means(pairs, cube.system[valid], len(cube.systems))
    # One system or none: there are no means to compare, and the pairs themselves are the matrix.
    if level == "response":
        matrix, counts = pairs, np.ones(len(pairs), dtype=np.intp)
    return Pairing(
        judge,
        attribute,
        tuple(reference),
        level,
        tuple(system for system in excluded if system in cube.systems),
        pairs[:, 0],
        pairs[:, 1],
        cube.system[valid],
        cube.item[valid],
        tuple(cube.systems[code] for code in present),
        matrix,
        counts,
        int((kept & cube.asked[at_reference].any(axis=0)).sum()),
    )


def kept_responses(cube: Cube, excluded: Sequence[str]) -> NDArray[np.bool_]:
    """(N,) whether a response's system is not among the excluded."""
    return ~np.isin(cube.system, [cube.systems.index(s) for s in excluded if s in cube.systems])


def level_of(cube: Cube) -> str:
    """``"system"`` where two or more systems are rated, else ``"response"``."""
    return "system" if len(cube.systems) > 1 else "response"


def pairings(
    cube: Cube, panel: Panel, judges: Sequence[Member], references: Sequence[Sequence[str]]
) -> Iterator[Pairing]:
    """Every judge x attribute x reference, in the order of the panel and the rubric."""
    held = [reference_scores(cube, panel, reference) for reference in references]
    for judge in judges:
        for attribute in cube.attributes:
            for reference, scores in zip(references, held, strict=True):
                yield pair_up(cube, judge.name, attribute, reference, scores, judge.excluded)


def reference_scores(cube: Cube, panel: Panel, reference: Sequence[str]) -> NDArray[np.float64]:
    """(A, N) mean of the reference raters present, NaN where fewer than the panel's quorum are.

    A listwise panel keeps only responses that every rater rated on the attribute, juries apart.
    """
    at = [cube.raters.index(name) for name in reference]
    quorum = min(panel.quorum, len(reference))
    scores = cube.scores[at]
    means = (
        np.stack(
            [panel_mean(scores[:, a].T, quorum=quorum).values for a in range(len(cube.attributes))]
        )
        if cube.attributes
        else scores[0]
    )
    if panel.listwise:
        means[not_by_all(cube, panel)] = np.nan
    return means


def not_by_all(cube: Cube, panel: Panel) -> NDArray[np.bool_]:
    """(A, N) whether some rater has no score there; juries, which derive theirs, do not count."""
    raters = [cube.raters.index(member.name) for member in panel.members if not member.derived]
    return np.asarray(np.isnan(cube.scores[raters]).any(axis=0))


def pairs_frame(pairings: Sequence[Pairing], cube: Cube) -> pl.DataFrame:
    """Every pair that a result rests on.

    Parameters
    ----------
    pairings : sequence of Pairing
        Those of the results, in their order.

    Returns
    -------
    DataFrame
        ``result`` (the position of its result), ``judge``, ``attribute``, ``item``, ``system``
        (null where there are none), ``score`` of the judge and ``reference``, the mean of the
        reference raters; of several runs the mean. Excluded systems have no pairs.
    """
    frames = [
        pl.DataFrame(
            {
                "result": pl.repeat(position, len(pairing.item), dtype=pl.UInt32, eager=True),
                "judge": _named(np.full(len(pairing.item), judge), cube.raters),
                "attribute": _named(np.full(len(pairing.item), attribute), cube.attributes),
                "item": _named(pairing.item, cube.items),
                "system": _named(pairing.system, cube.systems),
                "score": pairing.judge_scores,
                "reference": pairing.reference,
            }
        )
        for position, pairing in enumerate(pairings)
        for judge in [cube.raters.index(pairing.judge)]
        for attribute in [cube.attributes.index(pairing.attribute)]
    ]
    return pl.concat(frames) if frames else pl.DataFrame(schema=PAIRS)


def _named(codes: NDArray[np.intp], names: Sequence[str]) -> pl.Series:
    """The names of the codes; an empty name, which stands for no system, is null."""
    kept = [name for name in names if name]
    return pl.Series([name or None for name in names], dtype=pl.Enum(kept)).gather(codes)


def no_pairs() -> pl.DataFrame:
    """The frame of `pairs_frame` without a row."""
    return pl.DataFrame(schema=PAIRS)


def disagreements(pairs: pl.DataFrame, most: int = 200) -> pl.DataFrame:
    """The responses on which judge and reference differ most, summed over the attributes.

    Parameters
    ----------
    pairs : DataFrame
        As `pairs_frame` gives them.
    most : int, optional
        How many are kept.

    Returns
    -------
    DataFrame
        ``judge, reference_at`` (which of several references in turn, from 0), ``item, system,
        gap`` (points) and the lists ``attribute, score, reference``; the widest first.
    """
    gap = (pl.col("score") - pl.col("reference")).abs()
    # Results of one judge and attribute follow each other by reference: their rank is the
    # reference's turn.
    turn = pl.col("result").rank("dense").over("judge", "attribute").cast(pl.Int64) - 1
    keys = ["judge", "reference_at", "item", "system"]
    return (
        pairs.with_columns(
            turn.alias("reference_at"), pl.col("judge", "item", "system").cast(pl.String)
        )
        .group_by(keys, maintain_order=True)
        .agg(gap.sum().alias("gap"), pl.col("attribute").cast(pl.String), "score", "reference")
        .sort("gap", *keys, descending=[True, *(False for _ in keys)])
        .head(most)
    )


def _means(
    pairs: NDArray[np.float64], system: NDArray[np.intp], n_systems: int
) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.intp]]:
    """(n, 2) means by system that has pairs, (n,) counts, and the codes of those systems."""
    counts = np.bincount(system, minlength=n_systems)
    sums = np.stack(
        [np.bincount(system, weights=column, minlength=n_systems) for column in pairs.T], axis=1
    )
    present = np.flatnonzero(counts)
    return sums[present] / counts[present, None], counts[present], present


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
    # Judges beside one reference share its sums: with each human in turn they are summed anew.
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
    # Rule 2 + s leaves out system s besides what the judge leaves out anyway.
    each = own & ~np.eye(len(sums.systems), dtype=np.bool_)[:, None]
    return np.concatenate([nothing[None], family[None], each])


def _before(
    pairing: Pairing, judge: Member, sums: SystemSums, under: SystemFeatures, at: tuple[int, int]
) -> Before:
    family, places = judge.family_systems, {name: s for s, name in enumerate(sums.systems)}
    # Only where it would leave out other systems than are left out already.
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

"""One judge beside the reference: which responses count, and the system-level matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from voirdire.stats import panel_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from voirdire.examining.ratings.cube import Cube
    from voirdire.study import Rater, Study


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


def pair_up(
    cube: Cube,
    judge: str,
    attribute: str,
    reference: Sequence[str],
    excluded: Sequence[str],
    *,
    listwise: bool = False,
    quorum: int = 1,
) -> Pairing:
    """Pair a judge with the mean of the reference raters present, at least `quorum` of them.

    `listwise` keeps only responses that every rater of the cube rated on this attribute.
    """
    at = cube.attributes.index(attribute)
    at_reference = [cube.raters.index(name) for name in reference]
    asked = min(quorum, len(reference))
    human = panel_mean(cube.scores[at_reference, at].T, quorum=asked).values
    scores = cube.of(judge, attribute)
    kept = kept_responses(cube, excluded)
    valid = kept & ~np.isnan(human) & ~np.isnan(scores)
    if listwise:
        valid &= ~np.isnan(cube.scores[:, at]).any(axis=0)
    level = level_of(cube)
    pairs = np.stack([human[valid], scores[valid]], axis=1)
    matrix, counts, present = _means(pairs, cube.system[valid], len(cube.systems))
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


def excluded_systems(rater: Rater, study: Study) -> tuple[str, ...]:
    """Systems whose ratings by this rater are left out: `excludes`, else those of its family."""
    return family_systems(rater, study) if rater.excludes is None else rater.excludes


def family_systems(rater: Rater, study: Study) -> tuple[str, ...]:
    """Systems of the rater's own family; none where it declares no family."""
    return tuple(s.name for s in study.systems if rater.family and s.family == rater.family)


def pairings(
    cube: Cube, judges: Sequence[Rater], references: Sequence[Sequence[str]], study: Study
) -> Iterator[Pairing]:
    """Every judge x attribute x reference, in the order of the panel and the rubric."""
    for judge in judges:
        for attribute in cube.attributes:
            for reference in references:
                yield pair_up(
                    cube,
                    judge.name,
                    attribute,
                    reference,
                    excluded_systems(judge, study),
                    listwise=study.data.pairs == "listwise",
                    quorum=study.data.quorum,
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

"""What components of scores need, and the reason where it is not there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voirdire.examining.spec.component import Lack
from voirdire.examining.spec.reasons import FEWEST_IN_SYSTEM, FEWEST_RARE
from voirdire.stats._arrays import occurring

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.examining.spec.scores.ground import ScoreGround
    from voirdire.stats.response_panel import ResponsePanel

#: Systems from which agreement of their means is asked for.
FEWEST_FOR_ORDER = 3


def asked(ground: ScoreGround) -> Lack | None:
    """The judge has a row of the attribute, scored or missing."""
    return None if ground.case.asked else Lack("not asked", count=ground.n_labelled)


def clusters(ground: ScoreGround) -> Lack | None:
    """As many items or clusters as the margins ask for."""
    if not ground.few:
        return None
    return Lack("few clusters" if ground.case.asked else "not asked", count=ground.units[0])


def enough_of_each(ground: ScoreGround) -> Lack | None:
    """Ten scores other than the most frequent one, of people and of the judge."""
    return None if ground.kind != "score" else _rare(ground, ground.panel)


def enough_at_gate(ground: ScoreGround) -> Lack | None:
    """Ten passes and ten fails, of people and of the judge."""
    return _rare(ground, ground.bits)


def _rare(ground: ScoreGround, panel: ResponsePanel) -> Lack | None:
    people, own = (_off_the_mode(ground, panel, part) for part in (panel.humans, panel.judge))
    # Of a judge that gives one score whatever it is shown, what people say alone decides.
    if people >= FEWEST_RARE and (own >= FEWEST_RARE or not own):
        return None
    return Lack("few failures", count=min(people, own))


def _off_the_mode(ground: ScoreGround, panel: ResponsePanel, scores: NDArray[np.float64]) -> int:
    """Responses (declared clusters) with another score than the most frequent one."""
    there, values = ~np.isnan(scores), occurring(scores)
    if not len(values):
        return 0
    weight = np.ones(scores.shape[1]) if panel.weight is None else panel.weight
    often = np.bincount(
        np.searchsorted(values, scores[there]), np.broadcast_to(weight, scores.shape)[there]
    )
    off = np.asarray((there & (scores != values[often.argmax()])).any(axis=0))
    if not ground.clustered:
        return panel.size(off)
    return len(panel.by_cluster(off[:, None] * 1.0, where=0))


def two_humans(ground: ScoreGround) -> Lack | None:
    """A second human beside the judge."""
    return None if len(ground.humans) > 1 else Lack("one human")


def two_humans_at_gate(ground: ScoreGround) -> Lack | None:
    """A second human at the gate, who shares enough responses with the first."""
    return None if len(ground.gated_humans) > 1 else Lack("one human")


def connected(ground: ScoreGround) -> Lack | None:
    """Humans who share responses, even through others: else their severity is nobody's to tell."""
    return Lack("raters apart", ground.unconnected) if ground.unconnected else None


def two_systems(ground: ScoreGround) -> Lack | None:
    """Means of at least two systems."""
    return None if ground.means is not None else Lack("one system")


def every_system(ground: ScoreGround) -> Lack | None:
    """Enough items or clusters of each system for its mean to have an error."""
    if ground.means is None:
        return Lack("one system")
    seen = ground.means.met
    least = int(seen.argmin())
    if seen[least] >= FEWEST_IN_SYSTEM:
        return None
    return Lack("few in system", (ground.system_names[least],), int(seen[least]))


def systems_apart(ground: ScoreGround) -> Lack | None:
    """Three systems, which the humans tell apart."""
    if len(ground.system_names) < FEWEST_FOR_ORDER:
        return Lack("two systems")
    # Where humans do not tell the systems apart there is no order to agree on.
    return None if ground.humans_apart else Lack("humans alike")


def many_systems(ground: ScoreGround) -> Lack | None:
    """Enough systems to be a sample of others."""
    count = len(ground.system_names)
    return None if count >= ground.margins.systems else Lack("few systems", count=count)


def ordered(ground: ScoreGround) -> Lack | None:
    """Scores with an order."""
    return Lack("nominal") if ground.case.nominal else None


def several_runs(ground: ScoreGround) -> Lack | None:
    """Two runs of the judge."""
    return None if len(ground.panel.judge) > 1 else Lack("one run")


def few_and_cold(ground: ScoreGround) -> Lack | None:
    """Runs that could differ, where few items leave nothing else to be said of them."""
    return Lack("temperature 0") if ground.few and ground.case.temperature == 0 else None


def warm(ground: ScoreGround) -> Lack | None:
    """Runs that could differ."""
    return Lack("temperature 0") if ground.case.temperature == 0 else None

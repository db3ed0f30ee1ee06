"""Values of components before or after a change of the judge, with those without each cluster."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from voirdire.examining.spec.component import Estimated
from voirdire.examining.spec.margins import FEWEST_SHARED
from voirdire.examining.spec.reasons import FEWEST_IN_SYSTEM, FEWEST_SUCH
from voirdire.stats import held_out, within
from voirdire.stats.sums import mean_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from voirdire.examining.spec.scores.ground import ScoreGround
    from voirdire.stats.response_panel import ResponsePanel
    from voirdire.stats.sums import ClusterSums

    Floats = NDArray[np.float64]
    Statistic = Callable[[Floats], Floats]
    Estimates = Callable[[ScoreGround], Iterator[Estimated]]


def of(table: ClusterSums, statistic: Statistic, fewest: int) -> Iterator[Estimated]:
    if len(table) >= fewest:
        yield Estimated(float(statistic(table.total)), statistic(table.without))


def reading(ground: ScoreGround) -> Iterator[Estimated]:
    """READ."""
    yield from of(within.reading_sums(ground.panel), within.ratio, ground.margins.clusters)


def reading_at_gate(ground: ScoreGround) -> Iterator[Estimated]:
    """READ of 1[score >= gate]."""
    bits = _bits(ground)
    if bits is not None:
        yield from of(within.reading_sums(bits), within.ratio, ground.margins.clusters)


def item(ground: ScoreGround) -> Iterator[Estimated]:
    """ITEM, where two humans share enough responses."""
    statistic = partial(within.beyond, times=ground.times)
    yield from _shared(ground.shared, ground.humans, statistic, ground)


def slope(ground: ScoreGround) -> Iterator[Estimated]:
    """SLOPE, where two humans share enough responses."""
    yield from _shared(ground.shared, ground.humans, within.slope, ground)


def item_at_gate(ground: ScoreGround) -> Iterator[Estimated]:
    """ITEM of 1[score >= gate]."""
    bits = _bits(ground)
    if bits is not None:
        table = within.item_table(bits.only_humans(ground.humans), beside=True)
        statistic = partial(within.beyond, times=ground.margins.times_gate)
        yield from _shared(table, ground.humans, statistic, ground)


def _shared(
    table: ClusterSums, humans: Sequence[int], statistic: Statistic, ground: ScoreGround
) -> Iterator[Estimated]:
    if len(humans) > 1 and table.total[0] >= FEWEST_SHARED:
        yield from of(table, statistic, ground.margins.clusters)


def bias(ground: ScoreGround) -> Iterator[Estimated]:
    """The mean of how far the judge is off."""
    yield from of(ground.off, mean_of, ground.margins.clusters)


def rate(*, passes: bool) -> Estimates:
    """SENS (SPEC)."""

    def estimates(ground: ScoreGround) -> Iterator[Estimated]:
        bits, humans = _bits(ground), ground.humans
        if bits is None:
            return
        # What a human passes is the same both times, so their own rate plays no part.
        columns = held_out.beside_columns(bits, humans, passes=passes).sum(axis=0)[:, [0, 2]]
        if len(humans) < 2:
            columns = held_out.against_columns(bits, humans[0], passes=passes)
        if columns[:, 1].sum() >= FEWEST_SUCH:
            yield from of(bits.by_cluster(columns, where=1), mean_of, 2)

    return estimates


def moments(coefficient: Statistic) -> Estimates:
    """ORDER or AGREE of the plain means, where humans tell five systems or more apart."""

    def estimates(ground: ScoreGround) -> Iterator[Estimated]:
        if ground.systems > 2 and not ground.few_systems and _told(ground) and ground.humans_apart:
            moved = ground.moments
            yield Estimated(float(coefficient(moved.whole)), coefficient(moved.out))

    return estimates


def level(ground: ScoreGround) -> Iterator[Estimated]:
    """The bias of each system."""
    observed = ground.means
    if observed is not None and _told(ground):
        for at, name in enumerate(ground.system_names):
            yield Estimated(float(observed.bias[at]), observed.bias_out[:, at], name)


def _told(ground: ScoreGround) -> bool:
    """Whether each system has enough clusters for its mean to have an error."""
    return ground.means is not None and int(ground.means.met.min()) >= FEWEST_IN_SYSTEM


def _bits(ground: ScoreGround) -> ResponsePanel | None:
    return None if ground.gate is None else ground.panel.passing(ground.gate.at)

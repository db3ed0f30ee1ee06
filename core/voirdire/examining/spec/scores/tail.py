"""TAIL: of the tenth that the other humans score lowest, who passes more than a human would."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from voirdire.examining.spec.component import COMPONENTS, ChangeRule, ComponentSpec
from voirdire.examining.spec.margins import above
from voirdire.examining.spec.scores import change, needs
from voirdire.stats.response_panel import mean_present
from voirdire.tabular import interval_text, number_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from voirdire.examining.spec.component import Component, Estimated
    from voirdire.examining.spec.scores.ground import ScoreGround
    from voirdire.stats.sums import ClusterSums

    Floats = NDArray[np.float64]

#: The worst responses that are looked at, and by how much more of them a judge may pass: surely
#: within the first for a yes, surely beyond the second for a no. With 5 points for both a human was
#: held back in 19 of 100 panels of 10 x 100; 5 points to the worst 1 % are 8 of these.
WORST, ALLOWED, REFUSED = 0.10, 0.075, 0.05
#: So many of them tell anything.
FEWEST = 20


def _lowest(scores: Floats, size: Floats) -> Floats:
    """(N,) 1 for the lowest tenth of the scores there are, in part where the last of them tie."""
    there = ~np.isnan(scores)
    weight = np.zeros(len(scores))
    left = WORST * float(size[there].sum())
    for value in np.unique(scores[there]):
        tied = np.asarray(scores == value)
        share = min(left / float(size[tied].sum()), 1.0)
        weight[tied] = share
        left -= share * float(size[tied].sum())
        if left <= 0:
            break
    return weight


def _sums(ground: ScoreGround) -> ClusterSums:
    """By cluster: what the judge passes less what a held-out human passes, and how many."""
    panel, at = ground.panel, math.nan if ground.gate is None else ground.gate.at
    bits = panel.passing(at)
    size = np.ones(panel.judge.shape[1]) if panel.weight is None else panel.weight
    judge = mean_present(bits.judge)
    less, count = np.zeros(len(judge)), np.zeros(len(judge))
    for human in ground.humans:
        others = [k for k in ground.humans if k != human]
        weight = _lowest(mean_present(panel.humans[others]), size)
        weight *= ~np.isnan(judge) & ~np.isnan(bits.humans[human])
        less += weight * np.nan_to_num(judge - bits.humans[human])
        count += weight
    return panel.by_cluster(np.stack([less, count], axis=1), where=1)


def _share(sums: Floats) -> Floats:
    return np.asarray(sums[..., 0] / sums[..., 1])


def find(ground: ScoreGround) -> Component:
    """Yes where the upper bound lies below what is allowed, no where the lower bound lies above."""
    counted = ground.panel.counted
    if counted is not None and not counted.shows(ground.panel.humans.T):
        return TAIL.untested("worst unknown")
    table = _sums(ground)
    # Each response is seen once with every human held out.
    worst = float(table.total[1]) / len(ground.humans)
    if worst < FEWEST - 1e-6 or len(table) < 2:
        return TAIL.untested("few in tail", count=math.floor(worst + 1e-6))
    # A share passed too much is one stopped too little.
    part = above(TAIL.key, table.jackknife(lambda sums: -_share(sums)), -ALLOWED, -REFUSED)
    low, high = -part.high, -part.low
    return replace(part, estimate=-part.estimate, low=low, high=high, margin=ALLOWED)


def _said(part: Component) -> str:
    way = "more" if part.estimate > 0 else "fewer"
    told = f"of the worst tenth it passes {number_text(100 * abs(part.estimate), 0)} points {way}"
    ends = ""
    if math.isfinite(part.low) and math.isfinite(part.high):
        low, high = sorted(math.copysign(100, part.estimate) * end for end in (part.low, part.high))
        ends = f" {interval_text(low, high, 0)}"
    return f"{told}{ends} than a human does (allowed: {number_text(100 * ALLOWED, 1)})"


def _estimates(ground: ScoreGround) -> Iterator[Estimated]:
    if ground.gate is not None and len(ground.humans) > 1 and ground.case.counted is None:
        yield from change.of(_sums(ground), lambda sums: -_share(sums), ground.margins.clusters)


TAIL = COMPONENTS.register(
    ComponentSpec(
        key="TAIL",
        name="stops_the_worst",
        title="stops the worst tenth",
        plain="Of the worst tenth it passes hardly more than a human does.",
        asked="7.5 points more than a human",
        kinds=frozenset({"score"}),
        declared=lambda g: g.gate is not None,
        needs=(needs.clusters, needs.two_humans),
        find=find,
        says=_said,
        unit="share",
        side="within",
        change=ChangeRule(_estimates, lambda *_: ALLOWED),
    )
)

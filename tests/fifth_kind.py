"""A stranger's kind of judgements in one file: directions in degrees, 350 being close to 10."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from voirdire.examining.rated_cases import cases_of_scores
from voirdire.examining.spec import THESE, ComponentSpec, KindSpec, UseSpec, wanted
from voirdire.examining.spec.margins import inside
from voirdire.examining.spec.scores.ground import ScoreGround
from voirdire.examining.spec.words import correlates


class DirectionGround(ScoreGround):
    """Read as how far north each points; the turn is told from the degrees themselves."""

    def __init__(self, case, margins):
        north = {name: np.cos(np.radians(getattr(case, name))) for name in ("scores", "humans")}
        super().__init__(replace(case, width=2.0, **north), margins)
        self.degrees = case

    def turned(self):
        """How far the judge is turned against the first human, by the sine of the difference."""
        case = self.degrees.only(self.degrees.paired)
        turn = np.sin(np.radians(case.scores[0] - case.humans[0]))
        columns = np.stack([turn, np.ones(len(turn))], axis=1)
        return self.panel.by_cluster(columns).jackknife(lambda sums: sums[..., 0] / sums[..., 1])


def cases(inputs):
    """Every judge's ratings from 0 to 360."""
    for case in cases_of_scores(inputs):
        if np.nanmax(case.humans) > 300:
            yield replace(case, kind="direction", attribute="direction")


KIND = KindSpec(
    key="direction",
    name="direction",
    like="score",
    ground="fifth_kind:DirectionGround",
    cases="fifth_kind:cases",
    unread="its directions do not follow the items",
    averages="mean directions",
)
TURN = ComponentSpec(
    key="TURN",
    name="turned_against_people",
    title="turned",
    plain="It points where people point.",
    asked="a sine of .1",
    kinds=frozenset({"direction"}),
    find=lambda ground: inside("TURN", ground.turned(), 0.1),
    says=correlates("it is turned by a sine of {value}"),
    unit="correlation",
    side="within",
)
POINT = UseSpec(
    key="point",
    name="point_the_way",
    kinds=frozenset({"direction"}),
    required={THESE: wanted("COVER", "READ", "TURN")},
    question="Does it point the way?",
    permits="follow it",
    title="Point the way",
    verb="point the way",
    doing="pointing the way",
    refused="let {it} point the way",
    shown=("TURN",),
)

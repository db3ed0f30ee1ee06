"""Conversations of known truth, for the tests and for benchmarks/conversations.py.

What a turn is worth rests on a truth of an early turn and, less, on the turn itself. A person errs
about the conversation and about the turn. One judge errs as a person does; the other sees the last
turn alone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from voirdire.examining.spec.scores.case import Case, GateRule
from voirdire.examining.spec.scores.ground import ScoreGround
from voirdire.examining.verdict.decide import AskedUse, decide
from voirdire.stats import cluster_jackknife, prediction_powered_mean
from voirdire.study import Margins

SYSTEMS = 4
USES = ("order", "score", "single", "gate", "estimate")
MARGINS = Margins()


def _rounded(values):
    return np.clip(np.rint(values), 1, 5)


@dataclass
class Talks:
    """Scores of people (R, N), of a judge that errs as they do and of one that sees the last turn.

    A client talks with each of the systems: its conversations are one cluster.
    """

    humans: np.ndarray
    exchangeable: np.ndarray
    last: np.ndarray
    systems: np.ndarray
    clusters: np.ndarray


def drawn(rng, clients: int, turns: int, people: int) -> Talks:
    """`clients` clients, each with a conversation of `turns` judged turns with every system."""
    size = (clients, SYSTEMS, turns)
    level = np.array([-0.45, -0.15, 0.15, 0.45])[None, :, None]
    early = level + rng.normal(0, 0.4, (clients, 1, 1)) + rng.normal(0, 0.8, (clients, SYSTEMS, 1))
    own = rng.normal(0, 0.5, size)
    truth = 3 + early + own
    raters = [
        truth + rng.normal(0, 0.4, (clients, SYSTEMS, 1)) + rng.normal(0, 0.5, size)
        for _ in range(people + 1)
    ]
    last = 3 + own + rng.normal(0, 0.3, size)
    client, system, _ = np.indices(size)
    flat = [_rounded(one).ravel() for one in (*raters, last)]
    return Talks(np.array(flat[:people]), flat[people], flat[-1], system.ravel(), client.ravel())


def true_mean(draws: int = 4_000_000) -> float:
    """What a person says on average."""
    rng = np.random.default_rng(1)
    sd = np.sqrt(0.4**2 + 0.8**2 + 0.5**2 + 0.4**2 + 0.5**2)
    level = np.array([-0.45, -0.15, 0.15, 0.45])
    means = [_rounded(3 + one + rng.normal(0, sd, draws // 4)).mean() for one in level]
    return float(np.mean(means))


def _case(talks: Talks, judge) -> Case:
    names = tuple(map(str, range(len(talks.humans))))
    return Case(
        "judge",
        "quality",
        names,
        judge[None],
        talks.humans,
        np.arange(judge.size),
        4.0,
        systems=talks.systems,
        clusters=talks.clusters,
        gate=GateRule(4.0),
    )


def _covers(values, clusters, truth: float) -> bool:
    columns = np.stack([values, np.ones(values.size)], axis=1)
    found = cluster_jackknife(columns, clusters, lambda sums: sums[..., 0] / sums[..., 1])
    return bool(found.bound(0.025) <= truth <= found.bound(0.975))


@dataclass
class Counts:
    """Of so many sets of conversations: how often intervals cover, and who got which answer."""

    sets: int = 0
    covered: Counter = field(default_factory=Counter)
    states: Counter = field(default_factory=Counter)

    def share(self, name: str) -> float:
        """How often an interval held the true value."""
        return self.covered[name] / self.sets

    def yes(self, judge: str) -> int:
        """In how many sets a judge got a yes for any use."""
        return self.states[judge, "any", "yes"]


def counted(
    clients: int,
    turns: int,
    people: int,
    sets: int,
    first: int,
    mean: float,
    *,
    judged: bool = True,
) -> Counts:
    """So many sets, their seeds from `first` on; not `judged`, intervals by clusters alone."""
    found = Counts()
    for seed in range(first, first + sets):
        rng = np.random.default_rng(seed)
        talks = drawn(rng, clients, turns, people)
        found.sets += 1
        judge, humans, alone = talks.exchangeable, talks.humans, np.arange(talks.last.size)
        apart = np.abs(judge - humans).mean(axis=0)
        among = np.mean(
            [np.abs(humans[a] - humans[b]) for a in range(people) for b in range(a)], axis=0
        )
        gaps = {"bias": judge - humans.mean(axis=0), "apart": apart - among}
        labels = np.where(talks.clusters < max(8, clients // 3), humans.mean(axis=0), np.nan)
        ways = {"clustered": talks.clusters, **({"flat": alone} if judged else {})}
        for name, clusters in ways.items():
            for of, values in gaps.items():
                found.covered[of, name] += _covers(values, clusters, 0.0)
            made = prediction_powered_mean(labels, judge, clusters=clusters).interval
            found.covered["corrected", name] += made.low <= mean <= made.high
        for name, scores in (("exchangeable", judge), ("last", talks.last)) if judged else ():
            ground = ScoreGround(_case(talks, scores), MARGINS)
            states = [decide(ground, AskedUse(use, "these systems")).state for use in USES]
            found.states.update((name, use, state) for use, state in zip(USES, states, strict=True))
            found.states[name, "any", "yes"] += "yes" in states
    return found

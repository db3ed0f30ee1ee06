"""Panels of known truth: humans and judges whose faults are built in, on a scale of 1 to 5.

A response's quality is that of its system, of its item, and its own. A human sees it with a small
view of its own of each system and with noise; the score is rounded. A judge is a function of the
same quality, so that what it deserves is known before anything is examined.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire.examining.spec.uses import ORDER_SYSTEMS, PASS_AND_STOP, QUOTE_MEANS, STAND_IN
from voirdire.stats import system_means as means
from voirdire.stats.bias_by_system import HumanSpread, specific

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: Standard deviations of the quality of systems, items and single responses.
SYSTEMS, ITEMS, RESPONSES = 0.45, 0.45, 0.35
#: A human's own view of a system, and its noise on one response.
OWN, NOISE = 0.12, 0.7
CENTRE = 3.0
#: At this score a response passes.
GATE = 4.0


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """What a judge may see when it scores: all of (S, I) or broadcast to it.

    Attributes
    ----------
    quality, system, item : float64
        Quality of responses; that of systems (S, 1) and items (1, I) alone, about the centre.
    view, noise : float64
        A peer's own view of each system (S, 1), and its noise.
    special : (1, I) bool
        Items of the subgroup, a fifth of all.
    family : (S, 1) bool
        Systems of the judge's family, three in ten and one at least.
    rng : Generator
        For what else is random in a judge.
    """

    quality: Floats
    system: Floats
    item: Floats
    view: Floats
    noise: Floats
    special: NDArray[np.bool_]
    family: NDArray[np.bool_]
    rng: np.random.Generator

    @property
    def peer(self) -> Floats:
        """What one more human would say, before rounding."""
        return self.quality + self.view + self.noise


@dataclass(frozen=True, slots=True)
class Kind:
    """A judge: how it scores, and what is true of it by construction.

    Attributes
    ----------
    fault : str
        In a few words; empty for none.
    reads : bool
        Whether its scores follow single responses.
    single : bool or None
        Whether one run may stand in for one human, and be a gate; None where it is a close call.
    """

    name: str
    score: Callable[[World], Floats]
    fault: str = ""
    reads: bool = True
    single: bool | None = False


def _permuted(world: World) -> Floats:
    order = np.argsort(world.rng.random(world.quality.shape), axis=1)
    scores: Floats = np.take_along_axis(world.peer, order, axis=1)
    return scores


def _random_in_subgroup(world: World) -> Floats:
    lots = world.rng.uniform(0.5, 5.5, world.quality.shape)
    scores: Floats = np.where(world.special, lots, world.peer)
    return scores


def _length(world: World) -> Floats:
    """Correlates .3 with quality inside a system, by length alone."""
    inside = world.quality - CENTRE - world.system
    rest = world.rng.normal(0, 1, inside.shape)
    scores: Floats = CENTRE + 0.3 * inside / inside.std() + math.sqrt(1 - 0.09) * rest
    return scores


#: Twenty judges, from one that is as good as a human to one that never reads.
KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("good", lambda w: w.peer, single=True),
        Kind("sharp", lambda w: w.quality + 0.5 * (w.view + w.noise), single=True),
        Kind("lenient", lambda w: w.peer + 0.6, "scores 0.6 points too high"),
        Kind("harsh", lambda w: w.peer - 0.6, "scores 0.6 points too low"),
        Kind("slightly lenient", lambda w: w.peer + 0.15, "0.15 points too high", single=None),
        Kind("noisy", lambda w: w.quality + w.view + 2.6 * w.noise, "2.6 times a human's noise"),
        Kind("opinionated", lambda w: w.peer + 6 * w.view, "own taste in systems", single=None),
        Kind("flat", lambda w: CENTRE + 0.3 * (w.peer - CENTRE), "spreads a third as much"),
        Kind("extreme", lambda w: CENTRE + 2.5 * (w.peer - CENTRE), "spreads 2.5 times",
             single=None),
        Kind("blind", lambda w: CENTRE + w.system + 0.5 * w.view + 0 * w.quality,
             "answers the system's mean", reads=False),
        Kind("blind with noise", lambda w: CENTRE + w.system + w.noise,
             "the system's mean and noise", reads=False),
        Kind("permuted", _permuted, "a human's scores in another order", reads=False),
        Kind("constant", lambda w: CENTRE + 0 * w.quality, "always 3", reads=False),
        Kind("random", lambda w: w.rng.uniform(0.5, 5.5, w.quality.shape), "draws lots",
             reads=False),
        Kind("prompt only", lambda w: CENTRE + 2 * w.item + 0 * w.quality,
             "scores the question", reads=False),
        Kind("length", _length, "scores the length"),
        Kind("partisan", lambda w: w.peer + 1.2 * w.family, "1.2 points more for its family"),
        Kind("one system", lambda w: w.peer + 1.5 * (np.arange(len(w.system)) == 0)[:, None],
             "1.5 points more for one system"),
        Kind("fails on a subgroup", _random_in_subgroup, "draws lots on a fifth of the items"),
        Kind("unfair to a subgroup", lambda w: w.peer - 1.2 * w.special + 0.3 * ~w.special,
             "1.5 points less on a fifth of the items"),
    )
}  # fmt: skip

#: Those that `voirdire demo` shows.
DEMO = ("good", "lenient", "noisy", "blind", "permuted", "partisan", "fails on a subgroup")


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedPanel:
    """Scores and the truth behind them.

    Attributes
    ----------
    humans : (R, S, I) float64
        Whole scores of 1 to 5.
    judges : mapping of str to (S, I) float64
        The same of each kind.
    special : (I,) bool
        The subgroup.
    family : (S,) bool
        Systems of every judge's own family.
    means : mapping of str to (S,) float64
        True means of systems by judge, items without end; ``"humans"`` is the panel's.
    stops : mapping of str to bool
        Whether a judge, at a gate of 4 and over items without end, passes and stops as another
        human does, but for the margin.
    """

    humans: Floats
    judges: Mapping[str, Floats]
    special: NDArray[np.bool_]
    family: NDArray[np.bool_]
    means: Mapping[str, Floats] = field(default_factory=dict)
    stops: Mapping[str, bool] = field(default_factory=dict)


def simulate_panel(
    systems: int,
    items: int,
    seed: int,
    *,
    humans: int = 3,
    kinds: Sequence[str] = tuple(KINDS),
    endless: int = 0,
) -> SimulatedPanel:
    """Draw a panel.

    Parameters
    ----------
    systems, items, humans : int
        Its size; every human and judge scores every response.
    seed : int
        Equal seeds of one size give equal panels.
    kinds : sequence of str
        Keys of `KINDS`.
    endless : int
        So many more items give the true means; 0 leaves them out.

    Examples
    --------
    >>> panel = simulate_panel(4, 10, 1, kinds=("good", "constant"))
    >>> panel.humans.shape, sorted(panel.judges), float(panel.judges["constant"].mean())
    ((3, 4, 10), ['constant', 'good'], 3.0)
    """
    # The size is part of the seed, so that panels of two sizes are not beginnings of each other.
    rng = np.random.default_rng([seed, systems, items, humans])
    quality = rng.normal(0, SYSTEMS, (systems, 1))
    views = rng.normal(0, OWN, (humans + len(kinds), systems, 1))
    family = np.arange(systems) < max(1, round(0.3 * systems))
    seen, judged = _scores(quality, views, family, items, humans, kinds, rng)
    means: dict[str, Floats] = {}
    stops: dict[str, bool] = {}
    if endless:
        many, by = _scores(quality, views, family, endless, humans, kinds, rng)
        means = {name: scores.mean(axis=1) for name, scores in by.items()}
        means["humans"] = many.mean(axis=(0, 2))
        stops = {name: _stops(many >= GATE, scores >= GATE) for name, scores in by.items()}
    special = np.arange(items) < items // 5
    return SimulatedPanel(seen, judged, special, family, means, stops)


def _stops(humans: NDArray[np.bool_], judge: NDArray[np.bool_]) -> bool:
    """Of what one human passes (fails) the judge passes (fails) no fewer than the others do."""
    for passes in (True, False):
        people, own = humans == passes, judge == passes
        rates = [
            (people[k] * np.delete(people, k, 0)).sum() / np.delete(people, k, 0).sum()
            for k in range(len(people))
        ]
        # Judge and humans both held against one human, the others taking turns.
        less = (people * own).sum() / people.sum() - np.mean(rates)
        if less < -max(_RATE, float(np.std(rates, ddof=1))):
            return False
    return True


def _scores(
    system: Floats,
    views: Floats,
    family: NDArray[np.bool_],
    items: int,
    humans: int,
    kinds: Sequence[str],
    rng: np.random.Generator,
) -> tuple[Floats, dict[str, Floats]]:
    """(R, S, I) scores of humans and (S, I) of judges on fresh items of the same systems."""
    shape = (len(system), items)
    item = rng.normal(0, ITEMS, (1, items))
    quality = CENTRE + system + item + rng.normal(0, RESPONSES, shape)
    special = (np.arange(items) < items // 5)[None]
    seen = np.stack(
        [_rounded(quality + view + rng.normal(0, NOISE, shape)) for view in views[:humans]]
    )
    judged = {}
    for name, view in zip(kinds, views[humans:], strict=True):
        noise = rng.normal(0, NOISE, shape)
        world = World(quality, system, item, view, noise, special, family[:, None], rng)
        judged[name] = _rounded(KINDS[name].score(world) + np.zeros(shape))
    return seen, judged


def _rounded(scores: Floats) -> Floats:
    rounded: Floats = np.clip(np.rint(scores), 1, 5)
    return rounded


def tidy_ratings(panel: SimulatedPanel, attribute: str) -> pl.DataFrame:
    """A panel as ratings: item, system, rater, attribute, score, subgroup."""
    raters = {f"human-{k + 1}": scores for k, scores in enumerate(panel.humans)}
    raters |= dict(panel.judges)
    # Systems vary slowest, as `ravel` lays out (S, I).
    system, item = (part.ravel() for part in np.indices(panel.humans.shape[1:]))
    names = np.where(panel.special, "special", "common")
    parts = [
        pl.DataFrame(
            {
                "item": np.char.mod("item-%04d", item + 1),
                "system": np.char.mod("system-%02d", system + 1),
                "rater": [rater] * item.size,
                "attribute": [attribute] * item.size,
                "score": scores.ravel(),
                "subgroup": names[item],
            }
        )
        for rater, scores in raters.items()
    ]
    return pl.concat(parts)


#: Uses whose truth is known of a simulated panel.
TRUTHS = tuple(use.key for use in (ORDER_SYSTEMS, QUOTE_MEANS, STAND_IN, PASS_AND_STOP))
#: Margins of `Margins` in points of this scale, for the truth of a panel.
_BIAS, _SYSTEM, _ORDER, _AGREE, _RATE = 0.2, 0.4, 0.80, 0.75, 0.10


def deserved(panel: SimulatedPanel, name: str) -> dict[str, bool | None]:
    """What a judge deserves in a panel, by the true means; None where it is a close call.

    Only the margins of the verdict are used, no estimate. Allowances follow the built-in spread
    of humans; between the margin of "no" and that of "yes" neither answer is wrong.
    """
    kind, human, judge = KINDS[name], panel.means["humans"], panel.means[name]
    count = len(human)
    spread = HumanSpread(OWN**2, OWN, (len(panel.humans) - 1) * (count - 1), len(panel.humans))
    bias = judge - human
    fair = _fair(bias, panel.family, spread)
    truth: dict[str, bool | None] = dict.fromkeys(TRUTHS)
    if count > 2:
        truth[ORDER_SYSTEMS.key] = _all(kind.reads, fair, *_ordered(human, judge, spread))
        truth[QUOTE_MEANS.key] = _all(kind.reads, fair, *_scored(human, judge, spread))
    own = _zone(specific(bias), spread, count / max(count - 1, 1)) if count > 1 else True
    # A judge whose level is off beyond what humans differ by deserves no single use, unless it is
    # made a close call.
    level = True if abs(bias.mean()) <= max(_BIAS, OWN) else False if kind.single is False else None
    truth[STAND_IN.key] = _all(kind.reads, kind.single, fair, own, level)
    truth[PASS_AND_STOP.key] = _all(kind.reads, kind.single, fair, own, panel.stops[name])
    return truth


def _all(*parts: bool | None) -> bool | None:
    """False if any is, else None if any is, else True."""
    return False if False in parts else None if None in parts else True


def _zone(off: Floats, spread: HumanSpread, factor: float) -> bool | None:
    """Inside the margin of no, beyond that of yes, or between."""
    largest, many = float(np.abs(off).max()), len(off)
    if largest <= spread.allow(_SYSTEM, factor, many):
        return True
    return False if largest > spread.allow(_SYSTEM, factor, many, 0.01) else None


def _fair(bias: Floats, family: NDArray[np.bool_], spread: HumanSpread) -> bool:
    if family.all() or not family.any():
        return True
    factor = 1 / family.sum() + 1 / (~family).sum()
    off = abs(float(bias[family].mean() - bias[~family].mean()))
    return off <= spread.allow(_SYSTEM, factor, 1)


def _ordered(human: Floats, judge: Floats, spread: HumanSpread) -> tuple[bool | None, ...]:
    a, b = np.triu_indices(len(human), 1)
    apart, judged = human[a] - human[b], judge[a] - judge[b]
    against = np.abs(apart)[apart * judged < 0]
    margin, worst = spread.allow(_SYSTEM, 2.0, 1), float(against.max(initial=0.0))
    reversed_ = True if worst <= margin else False if worst > 2 * margin else None
    return bool(means.correlation(means.moments(human, judge)) >= _ORDER), reversed_


def _scored(human: Floats, judge: Floats, spread: HumanSpread) -> tuple[bool | None, ...]:
    agree = float(means.agreement(means.moments(human, judge)))
    bias = judge - human
    return (
        abs(float(bias.mean())) <= _BIAS,
        not math.isnan(agree) and agree >= _AGREE,
        _zone(bias, spread, 1.0),
    )

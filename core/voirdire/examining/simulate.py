"""Panels of known quality: scores drawn so that reliability and bias are the declared ones.

At system level the reference (the mean of the humans) and a judge are a bivariate normal pair of
equal variance V, whose correlation is the declared ICC(C,1): that is the two-way model of McGraw
and Wong (1996) with two raters, under which the F interval is exact. Responses scatter around
their system, and a score is rounded up or down at random so that its mean stays what it was.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: Standard deviation of the systems' quality in the humans' eyes, on a scale of 1 to 5.
_SPREAD = 0.40
#: Share of the variance of the reference's system means that is quality and not error.
_REFERENCE_RELIABILITY = 0.97
#: Half-widths of the uniform effects of an item (all raters share it) and of a single response.
_ITEM, _RESPONSE = 0.25, 0.60
_CENTRE = 2.8


@dataclass(frozen=True, slots=True)
class Character:
    """How a judge is on one attribute: true ICC(C,1), bias in points, share left unrated."""

    icc: float
    bias: float = 0.0
    missing: float = 0.0


@dataclass(frozen=True, slots=True)
class SimulatedJudge:
    """A judge: its character by attribute, and how often a further run draws its score anew."""

    name: str
    characters: Mapping[str, Character]
    flips: float = 0.05
    runs: int = 3


@dataclass(frozen=True, slots=True)
class Design:
    """A panel, and how much it rates."""

    judges: tuple[SimulatedJudge, ...]
    n_systems: int = 30
    n_items: int = 40
    humans: tuple[str, ...] = ("human-1", "human-2", "human-3")
    attributes: tuple[str, ...] = field(default=())

    @property
    def names(self) -> tuple[str, ...]:
        """Attributes in order."""
        every = (name for judge in self.judges for name in judge.characters)
        return self.attributes or tuple(dict.fromkeys(every))

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems."""
        return tuple(f"system-{i:02d}" for i in range(1, self.n_systems + 1))


@dataclass(frozen=True, slots=True)
class Truth:
    """What is true of a judge and attribute in the population that was drawn from."""

    judge: str
    attribute: str
    icc_c1: float
    icc_a1: float
    bias: float
    missing: float


def truths(design: Design) -> tuple[Truth, ...]:
    """The true values: ICC(A,1) = ICC(C,1) V / (V + bias^2 / 2), the judge being a fixed rater.

    >>> judge = SimulatedJudge("J", {"Tone": Character(icc=0.9, bias=0.5)})
    >>> round(truths(Design((judge,)))[0].icc_a1, 3)
    0.512
    """
    V = _reference_variance()
    return tuple(
        Truth(judge.name, name, c.icc, c.icc * V / (V + c.bias**2 / 2), c.bias, c.missing)
        for judge in design.judges
        for name, c in judge.characters.items()
    )


def simulate_scores(design: Design, seed: int) -> dict[str, Floats]:
    """Scores by rater, each (runs, attributes, systems, items); NaN where a judge did not rate."""
    rng = np.random.default_rng(seed)
    shape = (len(design.names), design.n_systems)
    quality = rng.normal(0.0, _SPREAD, shape)
    items = rng.uniform(-_ITEM, _ITEM, (len(design.names), 1, design.n_items))
    found = {}
    for name, deviation in zip(design.humans, _human_deviations(design, rng), strict=True):
        means = _CENTRE + quality + deviation
        found[name] = _scores(means[:, :, None] + items, rng)[None]
    for judge in design.judges:
        means = _judge_means(design, judge, quality, rng)
        found[judge.name] = _runs(judge, means[:, :, None] + items, rng)
        _drop(found[judge.name], design, judge, rng)
    return found


def simulate_ratings(design: Design, seed: int) -> pl.DataFrame:
    """The same as tidy ratings: item, system, rater, run, attribute, score, status."""
    parts = [
        _tidy(design, rater, scores) for rater, scores in simulate_scores(design, seed).items()
    ]
    return pl.concat(parts)


def _reference_variance() -> float:
    return _SPREAD**2 / _REFERENCE_RELIABILITY


def _response_variance() -> float:
    """Variance of one score around its expectation: the response's own effect, and rounding.

    Rounding up with probability p adds p (1 - p), which is 1/6 on average over p.
    """
    return _RESPONSE**2 / 3 + 1 / 6


def _human_deviations(design: Design, rng: np.random.Generator) -> Floats:
    """(humans, attributes, systems): what one human sees in a system and the others do not."""
    n_humans = len(design.humans)
    error = _reference_variance() - _SPREAD**2
    sampling = _response_variance() / (design.n_items * n_humans)
    deviation = math.sqrt(max(error - sampling, 0.0) * n_humans)
    return rng.normal(0.0, deviation, (n_humans, len(design.names), design.n_systems))


def _judge_means(
    design: Design, judge: SimulatedJudge, quality: Floats, rng: np.random.Generator
) -> Floats:
    """(attributes, systems): loyal to the quality as far as the ICC asks, the rest its own view."""
    V = _reference_variance()
    sampling = _response_variance() / design.n_items
    means = np.empty_like(quality)
    for at, name in enumerate(design.names):
        character = judge.characters[name]
        loyalty = character.icc * V / _SPREAD**2
        own = V - (loyalty * _SPREAD) ** 2 - sampling
        means[at] = loyalty * quality[at] + rng.normal(
            0.0, math.sqrt(max(own, 0.0)), quality[at].size
        )
        means[at] += _CENTRE + character.bias
    return means


def _runs(judge: SimulatedJudge, expected: Floats, rng: np.random.Generator) -> Floats:
    """(runs, ...): the first run's scores, some of them drawn anew in each further run."""
    first = _scores(expected, rng)
    runs = [first]
    for _ in range(judge.runs - 1):
        anew = rng.random(expected.shape) < judge.flips
        runs.append(np.where(anew, _scores(expected, rng), first))
    return np.stack(runs)


def _scores(expected: Floats, rng: np.random.Generator) -> Floats:
    """Whole scores of 1 to 5 whose mean is what is expected."""
    wanted = expected + rng.uniform(-_RESPONSE, _RESPONSE, expected.shape)
    rounded: Floats = np.clip(np.floor(wanted + rng.random(expected.shape)), 1.0, 5.0)
    return rounded


def _drop(scores: Floats, design: Design, judge: SimulatedJudge, rng: np.random.Generator) -> None:
    """Leave out the same responses in every run, as a judge that declines does."""
    for at, name in enumerate(design.names):
        lost = rng.random(scores.shape[2:]) < judge.characters[name].missing
        scores[:, at, lost] = np.nan


def _tidy(design: Design, rater: str, scores: Floats) -> pl.DataFrame:
    items = scores.shape[-1]
    code = np.indices(scores.shape).reshape(4, -1)
    item = np.array([f"item-{i:03d}" for i in range(1, items + 1)])
    return pl.DataFrame(
        {
            "item": item[code[3]],
            "system": np.array(design.systems)[code[2]],
            "rater": pl.repeat(rater, code.shape[1], eager=True),
            "run": code[0] + 1,
            "attribute": np.array(design.names)[code[1]],
            "score": pl.Series(scores.ravel()).fill_nan(None),
        }
    ).with_columns(
        status=pl.when(pl.col("score").is_null()).then(pl.lit("blank")).otherwise(pl.lit("ok"))
    )

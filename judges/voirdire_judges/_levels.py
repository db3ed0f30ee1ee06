"""A score as the mean of the levels, weighted by their probabilities."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from voirdire.schema import Flag, Parsed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voirdire.schema import Scale

#: Under this share of probability on the levels a weighted score is flagged.
LOW_MASS = 0.5


def level_names(scale: Scale) -> tuple[str, ...]:
    """The levels as they are written.

    >>> from voirdire.schema import Scale
    >>> level_names(Scale(0, 1, 0.5))
    ('0', '0.5', '1')
    """
    return tuple(f"{level:g}" for level in scale.levels)


def weighted_score(name: str, logprobs: Mapping[str, float], scale: Scale) -> Parsed:
    r"""The expected level, :math:`\sum_l l\,p_l / \sum_l p_l` over the levels reported.

    Liu et al. 2023 (G-Eval), equation 1. `extra` holds the share of each level and, as `mass`, the
    probability that all reported levels had together before they were scaled to one. Where that is
    under one half the model mostly meant something else, and a flag ``low_mass`` says so.

    >>> import math
    >>> from voirdire.schema import Scale
    >>> logprobs = {"4": math.log(0.6), "5": math.log(0.2)}
    >>> parsed = weighted_score("Empathy", logprobs, Scale())
    >>> round(parsed.scores["Empathy"], 3), round(parsed.extra["mass"], 3)
    (4.25, 0.8)
    """
    by_name = dict(zip(level_names(scale), scale.levels, strict=True))
    finite = {n: lp for n, lp in logprobs.items() if n in by_name and math.isfinite(lp)}
    if not finite:
        return Parsed({name: None}, "unparsable", {name: "unparsable"}, reasons={name: "no_answer"})
    top = max(finite.values())
    weights = {level: math.exp(lp - top) for level, lp in finite.items()}
    total = math.fsum(weights.values())
    mass = total * math.exp(top)
    score = math.fsum(by_name[level] * weight for level, weight in weights.items()) / total
    return Parsed(
        {name: score},
        "ok",
        {name: "ok"},
        flags=(
            Flag("weighted_levels", name),
            *((Flag("low_mass", name),) if mass < LOW_MASS else ()),
        ),
        extra={
            "levels": {level: weight / total for level, weight in weights.items()},
            "mass": mass,
        },
    )

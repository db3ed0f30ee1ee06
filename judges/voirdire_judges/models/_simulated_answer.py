"""What a simulated judge says: values for a JSON schema, or one of the options."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.schema import Request

_NORMAL = NormalDist()
#: Standard deviations above which an answer is named beside the strongest: one in fifteen.
_NAMED = 1.5


@dataclass(frozen=True, slots=True)
class Draw:
    """Numbers by hash and not by generator, so that order and concurrency change nothing."""

    noise_key: str
    truth_key: str

    @property
    def digest(self) -> str:
        """A short name for this draw."""
        return hashlib.blake2b(self.noise_key.encode(), digest_size=6).hexdigest()

    def noise_uniform(self, what: str) -> float:
        """Uniform on (0, 1), the judge's own."""
        return _uniform(f"{self.noise_key}|{what}")

    def score(self, what: str, reliability: float) -> float:
        """Standard normal, of which a share `reliability` of the variance is the truth's."""
        truth = _NORMAL.inv_cdf(_uniform(f"{self.truth_key}|{what}"))
        noise = _NORMAL.inv_cdf(self.noise_uniform(what))
        return math.sqrt(reliability) * truth + math.sqrt(1 - reliability) * noise


def _uniform(text: str) -> float:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return (int.from_bytes(digest) + 0.5) / 2**64


def text(
    request: Request,
    draw: Draw,
    reliability: float,
    bias: float,
    label: str,
    answers: Sequence[str] = (),
) -> str:
    """A JSON object for the schema; one of the options; some of `answers`; or a plain sentence."""
    fields = (request.schema or {}).get("properties")
    if isinstance(fields, dict):
        values = {
            name: _value(name, form, draw, reliability, bias, label)
            for name, form in fields.items()
            if isinstance(form, dict)
        }
        return json.dumps(values, ensure_ascii=False)
    if request.options:
        logprobs = option_logprobs(request.options, draw, reliability, bias)
        return max(logprobs, key=lambda option: logprobs[option])
    if answers:
        scores = {answer: draw.score(answer, reliability) for answer in answers}
        best = max(scores.values())
        return "; ".join(a for a in answers if scores[a] == best or scores[a] > _NAMED)
    return f"{label} An answer of no one, number {draw.digest}."


def option_logprobs(
    options: Sequence[str], draw: Draw, reliability: float, bias: float
) -> dict[str, float]:
    """Log-probabilities over options taken as ordered levels, around the score drawn."""
    if not options:
        return {}
    middle, spread = (len(options) - 1) / 2, max(len(options) / 4, 0.5)
    centre = middle + spread * draw.score("option", reliability) + bias
    logits = [-((place - centre) ** 2) / 2 for place in range(len(options))]
    total = math.log(sum(math.exp(logit - max(logits)) for logit in logits)) + max(logits)
    return {option: logit - total for option, logit in zip(options, logits, strict=True)}


def _value(
    name: str, form: Mapping[str, Any], draw: Draw, reliability: float, bias: float, label: str
) -> Any:
    score = draw.score(name, reliability)
    allowed = form.get("enum")
    if isinstance(allowed, list) and allowed:
        return _level(allowed, score, bias)
    kind = form.get("type")
    if kind in {"integer", "number"}:
        low, high = form.get("minimum", 1), form.get("maximum", 5)
        if kind == "number":
            return _level([low + at * (high - low) / 100 for at in range(101)], score, bias)
        return _level(list(range(math.ceil(low), math.floor(high) + 1)), score, bias)
    if kind == "boolean":
        return score > 0
    if kind == "array":
        within = form.get("items")
        choices = within.get("enum", []) if isinstance(within, dict) else []
        return [c for c in choices if draw.score(f"{name}|{c}", reliability) > 0.7]
    return f"{label} for {name}"


def _level(levels: list[Any], score: float, bias: float) -> Any:
    """The level at `score` standard deviations from the middle; half the scale is two of them."""
    middle, spread = (len(levels) - 1) / 2, (len(levels) - 1) / 4
    step = 1.0
    if len(levels) > 1 and all(isinstance(level, int | float) for level in levels):
        step = (max(levels) - min(levels)) / (len(levels) - 1) or 1.0
    place = round(middle + spread * score + bias / step)
    return levels[min(max(place, 0), len(levels) - 1)]

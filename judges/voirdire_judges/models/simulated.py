"""`simulated:`: a judge of declared reliability, bias and drop-out. Every reply says it is one."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.protocols import costs_nothing
from voirdire.schema import Note, Reply, ToolCall, Usage
from voirdire_judges.models._requests import sendable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.schema import FinishReason, Request


LABEL = "[simulated]"


@dataclass(frozen=True, slots=True)
class SimulatedModel:
    """Answers without a model: the same request, run and seed give the same reply.

    A score is ``middle + spread * (sqrt(r) * truth + sqrt(1 - r) * noise) + bias``, rounded to a
    declared level; `truth` depends on the texts asked about alone, so that all simulated judges of
    a panel share it, and `noise` on the judge's name, its seed, the run
    and the whole request.
    """

    name: str
    reliability: float = 0.8
    bias: float = 0.0
    drop_out: float = 0.0
    seed: int = 0
    latency: float = 0.0
    answers: tuple[str, ...] = ()
    calls: tuple[ToolCall, ...] = ()

    async def complete(self, request: Request) -> Reply:
        """One simulated reply."""
        request = sendable(self.name, request)
        if self.latency:
            await asyncio.sleep(self.latency)
        asked = "\n".join(f"{m.role}: {m.content}" for m in request.messages)
        own = f"{self.name}|{self.seed}|{request.seed}|{_run(request)}{asked}"
        draw = Draw(own, _truth(request))
        dropped = draw.noise_uniform("drop-out") < self.drop_out
        answered = any(message.role == "tool" for message in request.messages)
        if self.calls and request.tools and not answered and not dropped:
            # About four characters a token, as in English.
            usage = Usage(input=len(asked) // 4, output=8 * len(self.calls))
            return Reply(
                "", usage=usage, model=self.name, tool_calls=self.calls, ended_by="simulated calls"
            )
        text = f"{LABEL} I would rather not answer." if dropped else self._text(request, draw)
        ended: FinishReason = "refusal" if dropped else "stop"
        return Reply(
            text,
            ended,
            ended_by=f"simulated {ended}",
            usage=Usage(input=len(asked) // 4, output=len(text) // 4),
            model=self.name,
            params={"seed": self.seed, "temperature": request.temperature, "simulated": True},
            provider_id=f"simulated-{draw.digest}",
            latency=self.latency,
            notes=(Note("simulated", "", "no model was asked"),),
            option_logprobs={} if dropped else self._options(request, draw),
        )

    def _text(self, request: Request, draw: Draw) -> str:
        return answer_text(request, draw, self.reliability, self.bias, LABEL, self.answers)

    def _options(self, request: Request, draw: Draw) -> dict[str, float]:
        return option_logprobs(request.options, draw, self.reliability, self.bias)


def _run(request: Request) -> str:
    """What sets later runs apart; nothing for the first, which draws as it always did."""
    return f"run {request.run}|" if request.run > 1 else ""


def _truth(request: Request) -> str:
    return "\n".join(m.content for m in request.messages if m.role == "user")


@costs_nothing
def make(
    model_name: str,
    *,
    reliability: float = 0.8,
    bias: float = 0.0,
    drop_out: float = 0.0,
    seed: int = 0,
    latency: float = 0.0,
    answers: Sequence[str] = (),
    calls: Sequence[Mapping[str, Any]] = (),
) -> SimulatedModel:
    """A simulated judge (`simulated:strict`), for demonstrations and tests.

    Parameters
    ----------
    model_name : str
        Any name; another name is another judge.
    reliability : float
        Share of a score's variance that is shared with the truth, in [0, 1].
    bias : float
        Added to every score, in the scale's units.
    drop_out : float
        Share of requests that are refused, in [0, 1].
    seed : int
        Another seed gives other noise and the same truth.
    latency : float
        Seconds before each reply.
    answers : sequence of str
        What free text is answered with, such as the labels of an annotator: the strongest and any
        that is strong. Without it free text is answered by a sentence, which names no label.

    calls : sequence of mapping
        Tools that it calls before it answers, where it is asked with tools:
        ``[{tool = "lookup", arguments = {value = "tea"}}]``.

    Raises
    ------
    InputError
        A share off [0, 1], answers that are no list of strings, or calls that name no tool.
    """
    for what, value in (("reliability", reliability), ("drop_out", drop_out)):
        if not 0 <= value <= 1:
            raise InputError(f"simulated:{model_name}: {what} must lie in [0, 1], got {value!r}")
    if not isinstance(answers, list | tuple) or not all(isinstance(one, str) for one in answers):
        raise InputError(
            f"simulated:{model_name}: answers must be a list of strings, got {answers!r:.80}"
        )
    return SimulatedModel(
        f"simulated:{model_name}",
        reliability,
        bias,
        drop_out,
        seed,
        latency,
        tuple(answers),
        tuple(_call(model_name, number, one) for number, one in enumerate(calls)),
    )


def _call(model_name: str, number: int, given: Mapping[str, Any]) -> ToolCall:
    if not isinstance(given, dict) or set(given) - {"tool", "arguments"} or "tool" not in given:
        raise InputError(
            f"simulated:{model_name}: a call is {{tool = NAME, arguments = {{...}}}}, got "
            f"{given!r:.80}"
        )
    return ToolCall(f"call-{number}", str(given["tool"]), json.dumps(given.get("arguments", {})))


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
    # Never 0 and never 1, where the normal quantile is infinite.
    return (int.from_bytes(digest) + 0.5) / 2**64


def answer_text(
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
    # Half the options are two standard deviations, as for a scale; of two options still half a
    # step.
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
        # One label in four applies, by the normal distribution.
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

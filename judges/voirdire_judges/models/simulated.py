"""`simulated:`: a judge of declared reliability, bias and drop-out. Every reply says it is one."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from voirdire._errors import InputError
from voirdire.protocols import costs_nothing
from voirdire.schema import Reply, Usage
from voirdire_judges.models import _simulated_answer as answering
from voirdire_judges.models._checks import sendable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Request

LABEL = "[simulated]"


@dataclass(frozen=True, slots=True)
class SimulatedModel:
    """Answers without a model: the same request and seed give the same reply, in every run of it.

    A score is ``middle + spread * (sqrt(r) * truth + sqrt(1 - r) * noise) + bias``, rounded to a
    declared level; `truth` depends on the texts asked about alone, so that all simulated judges of
    a panel share it, and `noise` on the judge's name, its seed and the whole request.
    """

    name: str
    reliability: float = 0.8
    bias: float = 0.0
    drop_out: float = 0.0
    seed: int = 0
    latency: float = 0.0
    answers: tuple[str, ...] = ()

    async def complete(self, request: Request) -> Reply:
        """One simulated reply."""
        request = sendable(self.name, request)
        if self.latency:
            await asyncio.sleep(self.latency)
        asked = "\n".join(f"{m.role}: {m.content}" for m in request.messages)
        draw = answering.Draw(f"{self.name}|{self.seed}|{request.seed}|{asked}", _truth(request))
        dropped = draw.noise_uniform("drop-out") < self.drop_out
        text = f"{LABEL} I would rather not answer." if dropped else self._text(request, draw)
        return Reply(
            text,
            "refusal" if dropped else "stop",
            usage=Usage(input=len(asked) // 4, output=len(text) // 4),
            model=self.name,
            params={"seed": self.seed, "temperature": request.temperature, "simulated": True},
            provider_id=f"simulated-{draw.digest}",
            latency=self.latency,
            notes=("simulated: no model was asked",),
            option_logprobs={} if dropped else self._options(request, draw),
        )

    def _text(self, request: Request, draw: answering.Draw) -> str:
        return answering.text(request, draw, self.reliability, self.bias, LABEL, self.answers)

    def _options(self, request: Request, draw: answering.Draw) -> dict[str, float]:
        return answering.option_logprobs(request.options, draw, self.reliability, self.bias)


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

    Raises
    ------
    InputError
        A share off [0, 1], or answers that are no list of strings.
    """
    for what, value in (("reliability", reliability), ("drop_out", drop_out)):
        if not 0 <= value <= 1:
            raise InputError(f"simulated:{model_name}: {what} must lie in [0, 1], got {value!r}")
    if not isinstance(answers, list | tuple) or not all(isinstance(one, str) for one in answers):
        raise InputError(
            f"simulated:{model_name}: answers must be a list of strings, got {answers!r:.80}"
        )
    return SimulatedModel(
        f"simulated:{model_name}", reliability, bias, drop_out, seed, latency, tuple(answers)
    )

"""GEPA as an optimizer: its engine proposes instructions, and ours judges and counts them.

A reply that could not be read has the score that the goal gives it (for *single* 0, the far end of
the scale), which is what GEPA asks of an adapter; the text beside it says so, so that the model
that reflects sees what went wrong.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gepa
from gepa.core.adapter import EvaluationBatch

from voirdire import plugins
from voirdire.errors import InputError
from voirdire.protocols import ClosesConnections
from voirdire.running import completer, make_model
from voirdire.schema import Message, Request

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.optimizers import Evaluated, Evaluates, OptimizerUnit
    from voirdire.schema import Reply

#: The one text that is rewritten.
_PART = "instructions"
#: Seconds that the model which reflects may take.
TIMEOUT = 300.0


class _Adapter:
    """What GEPA's engine asks: scores of a batch, and what it shows to the model that reflects."""

    propose_new_texts = None

    def __init__(self, evaluate: Evaluates) -> None:
        self._evaluate = evaluate

    def evaluate(
        self, batch: list[OptimizerUnit], candidate: dict[str, str], capture_traces: bool = False
    ) -> EvaluationBatch:
        found = self._evaluate(candidate[_PART], batch)
        return EvaluationBatch(
            outputs=[one.feedback for one in found],
            scores=[one.score for one in found],
            trajectories=found if capture_traces else None,
        )

    def make_reflective_dataset(
        self,
        candidate: dict[str, str],  # noqa: ARG002 - GEPA's signature
        eval_batch: EvaluationBatch,
        components_to_update: list[str],
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        rows = [_shown(one) for one in eval_batch.trajectories or ()]
        return dict.fromkeys(components_to_update, rows)


def _shown(one: Evaluated) -> dict[str, Any]:
    return {
        "Inputs": {
            "context": one.unit.item,
            "response": one.unit.response,
            "attribute": one.unit.attribute,
        },
        "Generated Outputs": one.feedback,
        "Feedback": f"{one.feedback} Score: {one.score:.2f} of 1.",
    }


@dataclass(frozen=True, slots=True)
class Gepa:
    """Rewrites instructions by a model that is shown what a judge got wrong.

    Attributes
    ----------
    model : str
        The model that reflects, such as ``"openai:gpt-4o"``. Its calls are beside the session, and
        no limit of it counts them.
    batch : int
        Units that it is shown at a time.
    seed : int
    """

    model: str
    model_options: Mapping[str, Any]
    batch: int
    seed: int

    def optimize(self, start: str, units: Sequence[OptimizerUnit], evaluate: Evaluates) -> str:
        """The best instructions by GEPA's own validation, which is on the same units."""
        found = gepa.optimize(
            {_PART: start},
            trainset=list(units),
            valset=list(units),
            adapter=_Adapter(evaluate),
            reflection_lm=self._reflect,
            reflection_minibatch_size=self.batch,
            max_metric_calls=evaluate.left,
            seed=self.seed,
            logger=_Silent(),
            raise_on_exception=True,
        )
        return str(found.best_candidate[_PART])

    def _reflect(self, prompt: Any) -> str:
        """What the reflecting model answers to a prompt."""
        text = prompt if isinstance(prompt, str) else "\n\n".join(one["content"] for one in prompt)
        request = Request((Message("user", text),))
        model = make_model(self.model, self.model_options, plugins(), TIMEOUT)

        async def ask() -> Reply:
            try:
                return await completer(model)(request)
            finally:
                if isinstance(model, ClosesConnections):
                    await model.aclose()

        return asyncio.run(ask()).text


class _Silent:
    """Takes what GEPA logs: the report says what came of it."""

    def log(self, _: str) -> None:
        """Nothing."""


def make(
    model: str, *, model_options: Mapping[str, Any] | None = None, batch: int = 3, seed: int = 0
) -> Gepa:
    """GEPA (`--optimizer gepa --optimizer-option model=openai:gpt-4o`).

    Raises
    ------
    InputError
        No model, or a batch below 1.
    """
    if not model or ":" not in model:
        raise InputError("gepa: model must name the model that reflects, such as openai:gpt-4o")
    if batch < 1:
        raise InputError(f"gepa: batch must be 1 or more, got {batch}")
    return Gepa(model, model_options or {}, batch, seed)

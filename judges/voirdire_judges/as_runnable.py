"""A judge of ours for others' pipelines: as a `Runnable` of LangChain, and as an evaluator."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.lazy import require
from voirdire.protocols import ClosesConnections, FollowsUp
from voirdire.schema import Item, Rating, Response

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.protocols import ChatModel, Judge
    from voirdire.schema import Parsed, Reply, Request

#: Replies for one judgement, of a judge that asks further.
MOST_STEPS = 16


async def judged(
    judge: Judge, model: ChatModel, output: str, *, context: str = "", system: str = ""
) -> Parsed:
    """What a judge says of one text, asked here and now.

    Parameters
    ----------
    judge : Judge
        Such as `voirdire_judges.rubric.make` makes.
    model : ChatModel
        Whom it asks.
    output, context : str
        The response that is judged, and what it answers.
    system : str
        What produced it, where the judge is to know.

    Returns
    -------
    Parsed
        One score a question, None with a reason where none could be read; nothing is guessed.

    Raises
    ------
    ModelError
        A call came to nothing. It is not tried again: retries are the pipeline's.
    InputError
        The judge asks further and does not end.
    """
    task = Rating(Item("1", context), Response("1", system or "output", output))
    replies: list[Reply] = []
    more: Sequence[Request] = judge.requests(task)
    while more:
        if len(replies) + len(more) > MOST_STEPS:
            raise InputError(f"the judge asks more than {MOST_STEPS} times about one text")
        replies += [_with(one, await model.complete(one)) for one in more]
        more = judge.follow_up(replies) if isinstance(judge, FollowsUp) else ()
    return judge.parse(replies)


def as_runnable(judge: Judge, model: ChatModel) -> Any:
    """A judge as a `Runnable`: from ``{"output": ..., "input": ...}`` to its scores.

    It gives ``{"scores": {question: number or None}, "status": ..., "reasons": {...}}``. Examine
    the judge before its numbers decide anything.

    Raises
    ------
    MissingExtraError
        The extra `langchain` is not installed.

    Examples
    --------
    >>> from voirdire.schema import Attribute, Rubric
    >>> from voirdire_judges.models.simulated import make as simulated
    >>> from voirdire_judges.rubric import make as rubric
    >>> judge = rubric(Rubric("calm", (Attribute("Calm", "How calm it is."),)))
    >>> runnable = as_runnable(judge, simulated("a"))
    >>> runnable.invoke({"input": "I shout.", "output": "Breathe slowly."})["scores"]
    {'Calm': 2.0}
    """
    runnables = require("langchain_core.runnables", "as_runnable", "langchain")

    async def later(given: Mapping[str, Any]) -> dict[str, Any]:
        output, context = _texts(given)
        return _shown(await judged(judge, model, output, context=context))

    async def alone(given: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return await later(given)
        finally:
            # Connections belong to the loop that opened them, which ends here.
            if isinstance(model, ClosesConnections):
                await model.aclose()

    def now(given: Mapping[str, Any]) -> dict[str, Any]:
        return asyncio.run(alone(given))

    return runnables.RunnableLambda(now, later, name="voirdire judge")


def as_evaluator(judge: Judge, model: ChatModel) -> Any:
    """A judge as an evaluator function of LangSmith and openevals.

    Called with keywords ``inputs`` and ``outputs`` (texts, or mappings with one text), it returns a
    list of ``{"key": question, "score": number or None, "comment": why there is none}``.
    """

    async def evaluate(*, inputs: Any = "", outputs: Any, **_: Any) -> list[dict[str, Any]]:
        parsed = await judged(judge, model, _text(outputs), context=_text(inputs))
        return [
            {
                "key": name,
                "score": score,
                "comment": "" if score is not None else parsed.reasons.get(name, parsed.status),
            }
            for name, score in parsed.scores.items()
        ]

    return evaluate


def _with(request: Request, reply: Reply) -> Reply:
    return replace(reply, request=request)


def _shown(parsed: Parsed) -> dict[str, Any]:
    return {
        "scores": dict(parsed.scores),
        "status": parsed.status,
        "reasons": dict(parsed.reasons),
    }


def _texts(given: Mapping[str, Any]) -> tuple[str, str]:
    if not isinstance(given, dict) or not isinstance(given.get("output"), str):
        raise InputError('a judge takes {"output": text, "input": text}, got ' + repr(given)[:200])
    return given["output"], str(given.get("input", ""))


def _text(value: Any) -> str:
    if isinstance(value, dict):
        texts = [one for one in value.values() if isinstance(one, str)]
        if len(texts) != 1:
            raise InputError(f"one text is judged, got the keys {', '.join(map(str, value))}")
        return texts[0]
    return str(value)

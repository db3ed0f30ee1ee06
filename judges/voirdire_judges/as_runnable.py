"""A judge or a jury for others' pipelines: as a `Runnable` of LangChain, and as an evaluator."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from voirdire import load_study
from voirdire import plugins as loaded_plugins
from voirdire.errors import InputError, StatisticsError, not_there
from voirdire.lazy import require
from voirdire.protocols import ClosesConnections, FollowsUp
from voirdire.running import completer, make_model
from voirdire.schema import Item, Parsed, Rating, Reply, Response
from voirdire.stats import combine
from voirdire.store.raters import participants

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire import Plugins
    from voirdire.protocols import ChatModel, Judge
    from voirdire.schema import Request
    from voirdire.stats.combining import Combine
    from voirdire.study import Study

#: Replies for one judgement, of a judge that asks further.
MOST_STEPS = 16


@dataclass(frozen=True, slots=True)
class RunnableMember:
    """A judge and whom it asks.

    Attributes
    ----------
    judge : Judge
        Such as `voirdire_judges.rubric.make` makes.
    models : mapping
        Role -> the model that is asked in it; the role without a name serves all others.
    """

    judge: Judge
    models: Mapping[str, ChatModel]

    async def judged(self, task: Rating) -> Parsed:
        """What the judge says of one text; errors as `judged`."""
        replies: list[Reply] = []
        more: Sequence[Request] = self.judge.requests(task)
        while more:
            if len(replies) + len(more) > MOST_STEPS:
                raise InputError(f"the judge asks more than {MOST_STEPS} times about one text")
            replies += [await self._reply(one) for one in more]
            more = self.judge.follow_up(replies) if isinstance(self.judge, FollowsUp) else ()
        return self.judge.parse(replies)

    async def _reply(self, request: Request) -> Reply:
        model = self.models.get(request.role) or self.models[""]
        return replace(await completer(model)(request), request=request)


@dataclass(frozen=True, slots=True)
class Seat:
    """Who judges one text at a time: a judge, or the members of a jury and how they are combined.

    Attributes
    ----------
    members : tuple of RunnableMember
    combine : {"", "mean", "median", "vote"}
        Empty for one judge. What is fitted to many judgements cannot be done for one.
    """

    members: tuple[RunnableMember, ...]
    combine: str = ""

    async def judged(self, output: str, *, context: str = "", system: str = "") -> Parsed:
        """What is said of one text, asked here and now.

        Parameters
        ----------
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
        said = await asyncio.gather(*(member.judged(task) for member in self.members))
        return _combined(said, self.combine) if self.combine else said[0]

    async def aclose(self) -> None:
        """Close the connections of its models."""
        for member in self.members:
            for model in member.models.values():
                if isinstance(model, ClosesConnections):
                    await model.aclose()


def seat_of(study: Study | str | Path, name: str, plugins: Plugins | None = None) -> Seat:
    """A judge or a jury of a study, as it was examined: its rubric, prompt, models and sampling.

    Raises
    ------
    StudyError, PluginError
        As a run would.
    InputError
        No such judge, one that rates no single responses, or a jury whose weights are fitted.
    """
    study = load_study(study) if isinstance(study, str | Path) else study
    plugins = plugins or loaded_plugins()
    by_name = {participant.id.name: participant for participant in participants(study, plugins)}
    jury = next((one for one in study.juries if one.name == name), None)
    names = (name,) if jury is None else jury.members
    unknown = [one for one in names if one not in by_name]
    if unknown:
        raise not_there("judge", unknown[0], [*by_name, *(one.name for one in study.juries)])
    if jury is not None and jury.combine not in ("mean", "median", "vote"):
        raise InputError(
            f"jury {name!r}: combine = {jury.combine!r} is fitted to many judgements at once, and "
            "one text has none beside it: take mean, median or vote"
        )
    members = []
    for one in names:
        participant = by_name[one]
        if participant.task != "rating":
            raise InputError(
                f"{one!r} is asked about a {participant.task}, and not about one response"
            )
        asks = cast("Any", participant.spec).asks
        models = {
            role: make_model(asked.model, asked.options, plugins, study.run.timeout)
            for role, asked in asks.items()
        }
        members.append(RunnableMember(participant.rater, models))
    return Seat(tuple(members), "" if jury is None else jury.combine)


def _combined(said: Sequence[Parsed], how: str) -> Parsed:
    """The scores of a jury; where there is none, why."""
    names = dict.fromkeys(name for one in said for name in one.scores)
    scores: dict[str, float | None] = {}
    reasons: dict[str, str] = {}
    for name in names:
        given = [one.scores.get(name) for one in said]
        try:
            values = combine([[np.nan if v is None else v] for v in given], cast("Combine", how))
        except StatisticsError as error:
            raise InputError(f"{name}, combine = {how!r}: {error}") from error
        scores[name] = None if np.isnan(values[0]) else float(values[0])
        if scores[name] is None:
            none = all(one is None for one in given)
            reasons[name] = "no member gave a score" if none else "the members' vote is tied"
    some = any(score is not None for score in scores.values())
    return Parsed(scores, "ok" if some else "blank", reasons=reasons)


def as_runnable(judge: Judge | Seat, model: ChatModel | None = None) -> Any:
    """A judge as a `Runnable`: from ``{"output": ..., "input": ...}`` to its scores.

    It gives ``{"scores": {question: number or None}, "status": ..., "reasons": {...}}``. Examine
    the judge before its numbers decide anything.

    Parameters
    ----------
    judge : Judge or Seat
        A judge and the `model` that it asks, or who sits in a study: ``seat_of("study.toml", "j")``
        of a judge or a jury.

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
    seat = _seat(judge, model)

    async def later(given: Mapping[str, Any]) -> dict[str, Any]:
        output, context = _texts(given)
        return _shown(await seat.judged(output, context=context))

    async def alone(given: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return await later(given)
        finally:
            await seat.aclose()  # connections belong to the loop that opened them, which ends here

    def now(given: Mapping[str, Any]) -> dict[str, Any]:
        return asyncio.run(alone(given))

    return runnables.RunnableLambda(now, later, name="voirdire judge")


def as_evaluator(judge: Judge | Seat, model: ChatModel | None = None) -> Any:
    """A judge, or a jury, as an evaluator function of LangSmith and openevals.

    Called with keywords ``inputs`` and ``outputs`` (texts, or mappings with one text), it returns a
    list of ``{"key": question, "score": number or None, "comment": why there is none}``.
    """
    seat = _seat(judge, model)

    async def evaluate(*, inputs: Any = "", outputs: Any, **_: Any) -> list[dict[str, Any]]:
        parsed = await seat.judged(_text(outputs), context=_text(inputs))
        return [
            {
                "key": name,
                "score": score,
                "comment": "" if score is not None else parsed.reasons.get(name, parsed.status),
            }
            for name, score in parsed.scores.items()
        ]

    return evaluate


def _seat(judge: Judge | Seat, model: ChatModel | None) -> Seat:
    if isinstance(judge, Seat) is not (model is None):
        raise InputError("a judge needs the model that it asks, and who sits in a study has one")
    return (
        judge
        if isinstance(judge, Seat)
        else Seat((RunnableMember(judge, {"": cast("Any", model)}),))
    )


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

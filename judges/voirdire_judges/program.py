"""`program`: a judge that is a whole program of LangGraph or LangChain, its questions kept steps.

The program is built around a chat model that asks nobody. What it asks stops the program and
becomes a step of the run, kept and paid for as any; then the program runs again from its beginning,
and what was answered is answered at once. So a run that was killed goes on at its last step.
"""

from __future__ import annotations

import asyncio
import json
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from voirdire import plugins as loaded_plugins
from voirdire.errors import InputError
from voirdire.lazy import attribute_at, require
from voirdire.schema import Parsed, Reply, Request, Sampling, Tool
from voirdire.tools import shared_loop
from voirdire_judges._inner import inner_judge, only_question, task_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from voirdire import Plugins
    from voirdire.protocols import Judge
    from voirdire.schema import Message, Rubric
    from voirdire.study import Study

#: What has been answered so far of the program that runs in this context.
_ANSWERED: ContextVar[_ProgramReplies] = ContextVar("answered")


class _NotAnswered(BaseException):
    """The program asks what nobody has answered yet; no handler of its own may take it."""

    def __init__(self, request: Request) -> None:
        super().__init__("asked")
        self.request = request


@dataclass(slots=True)
class _ProgramReplies:
    first: Request
    replies: list[Reply]

    def to(self, messages: tuple[Message, ...], tools: tuple[Tool, ...]) -> Reply:
        for place, reply in enumerate(self.replies):
            asked = reply.request
            if asked is not None and (asked.messages, asked.tools) == (messages, tools):
                return self.replies.pop(place)
        # The sampling of the judge's own question; a schema of its answer fits the last step alone.
        raise _NotAnswered(replace(self.first, messages=messages, tools=tools, schema=None))


@dataclass(frozen=True, slots=True)
class ProgramJudge:
    """Another judge's question, answered by a program. What it does besides must be repeatable.

    Attributes
    ----------
    judge : Judge
        Who asks the question and reads the answer.
    run : callable
        From the question's messages and what was answered to the text of the answer.
    max_steps : int
        Questions of the program for one task.
    """

    judge: Judge
    run: Callable[[Request, Sequence[Reply]], str]
    max_steps: int = 8
    task: str = "rating"
    slow: bool = True
    _begun: dict[str, Request] = field(default_factory=dict)

    def requests(self, task: Any) -> list[Request]:
        """What the program asks first.

        Raises
        ------
        InputError
            It asks nothing, or the same of two tasks that differ: then nobody could tell later
            which of them goes on.
        """
        first = []
        for question in only_question(self.judge, task, "program"):
            asked = self._next(question, [])
            if asked is None:
                raise InputError("program: it ended without a question to the model")
            if self._begun.setdefault(_key(asked), question) != question:
                raise InputError(
                    "program: it begins with the same question about two texts: let its first "
                    "question hold what is judged"
                )
            first.append(asked)
        return first

    def follow_up(self, replies: Sequence[Reply]) -> list[Request]:
        """What the program asks next; nothing when it has ended.

        Raises
        ------
        InputError
            What it ends with is not the last reply, which is all that is kept and read.
        """
        begun = replies[0].request if replies else None
        question = None if begun is None else self._begun.get(_key(begun))
        if question is None:
            raise InputError("program: it does not begin as it did")
        asked = self._next(question, replies)
        return [] if asked is None else [asked]

    def parse(self, replies: Sequence[Reply]) -> Parsed:
        """What the judge reads in the last reply; one that calls a tool was cut."""
        if replies and replies[-1].tool_calls:
            return self.judge.parse([Reply("", "length")])
        return self.judge.parse(replies[-1:])

    def _next(self, question: Request, replies: Sequence[Reply]) -> Request | None:
        try:
            said = self.run(question, replies)
        except _NotAnswered as asked:
            return asked.request
        if replies and said.strip() != replies[-1].text.strip():
            raise InputError(
                "program: its answer is not what its model said last, and that alone is kept and "
                f"read: end it with the model's answer (it ended with {said[:80]!r})"
            )
        return None


def _key(request: Request) -> str:
    said = [[m.role, m.content] for m in request.messages]
    return json.dumps([said, [tool.name for tool in request.tools]])


def make(  # noqa: PLR0913 - each is an option of the study
    rubric: Rubric | str,
    *,
    path: str,
    arguments: Mapping[str, Any] | None = None,
    input_key: str = "",
    max_steps: int = 8,
    timeout: float = 60.0,
    judge: str = "rubric",
    options: Mapping[str, Any] | None = None,
    sampling: Sampling = Sampling(temperature=0.0),
    study: Study | None = None,
    plugins: Plugins | None = None,
) -> ProgramJudge:
    """A program as a judge (`use = "program"`, `options = {path = "my_graph:build"}`).

    Parameters
    ----------
    path : str
        ``"module:attribute"`` of a callable that takes a chat model of LangChain and makes a
        `Runnable`: a graph of LangGraph, a chain. The module may lie beside the study.
    arguments : mapping, optional
        Passed to it besides, by name.
    input_key : str
        Where the messages of the question go, if the program takes several keys and none of them
        is ``messages``.
    max_steps : int
        Questions of the program for one task.
    timeout : float
        Seconds that the program may take between two questions.
    judge, options
        Whose question it is and who reads the answer, and that judge's own options.

    Raises
    ------
    InputError
        The path cannot be imported, or makes no runnable.
    MissingExtraError
        The extra `langchain` is not installed.
    """
    runnables = require("langchain_core.runnables", "judge program", "langchain")
    folder = None if study is None else study.folder
    build = attribute_at(path, "judge program: ", folder)
    made = build(_model()(), **(arguments or {})) if callable(build) else build
    if not isinstance(made, runnables.Runnable) or not callable(build):
        raise InputError(
            f"judge program: {path} must be a callable that takes a chat model and makes a "
            f"Runnable, got {type(made).__name__}"
        )
    inner = inner_judge(judge, rubric, options, sampling, plugins or loaded_plugins(), study)
    from voirdire_judges.models.langchain import input_of  # noqa: PLC0415 - with the extra

    program = _Program(path, made, input_of(f"judge program: {path}", made, input_key), timeout)
    return ProgramJudge(inner, program, max_steps, task_of(inner))


@dataclass(frozen=True, slots=True)
class _Program:
    path: str
    runnable: Any
    wrap: Callable[[Sequence[Any]], Any]
    timeout: float

    def __call__(self, question: Request, replies: Sequence[Reply]) -> str:
        run = self._run(question, list(replies))
        return asyncio.run_coroutine_threadsafe(run, shared_loop()).result()

    async def _run(self, question: Request, replies: list[Reply]) -> str:
        from langchain_core.messages import convert_to_messages  # noqa: PLC0415 - an extra

        from voirdire_judges.models._body import texts_in  # noqa: PLC0415 - with the extra
        from voirdire_judges.models._langchain_chat import message_for  # noqa: PLC0415 - likewise

        _ANSWERED.set(_ProgramReplies(question, replies))
        messages = convert_to_messages(list(map(message_for, question.messages)))
        async with asyncio.timeout(self.timeout):
            answer = await self.runnable.ainvoke(self.wrap(messages))
        if isinstance(answer, dict) and answer.get("messages"):
            answer = answer["messages"][-1]
        content = getattr(answer, "content", answer)
        if not isinstance(content, str | list):
            raise InputError(
                f"judge program: {self.path} ended with a {type(answer).__name__}: a message, a "
                "text or a state with messages is read"
            )
        return texts_in(content)


@cache
def _model() -> Any:
    """The chat model that asks nobody. It is made late: an extra."""
    from langchain_core.language_models import BaseChatModel  # noqa: PLC0415 - an extra
    from langchain_core.messages import AIMessage  # noqa: PLC0415 - an extra
    from langchain_core.outputs import ChatGeneration, ChatResult  # noqa: PLC0415 - an extra
    from langchain_core.utils.function_calling import (  # noqa: PLC0415 - an extra
        convert_to_openai_tool,
    )

    from voirdire_judges.models._body import object_in  # noqa: PLC0415 - with the extra
    from voirdire_judges.models.langchain import as_ours  # noqa: PLC0415 - likewise

    class Kept(BaseChatModel):  # type: ignore[misc]
        @property
        def _llm_type(self) -> str:
            return "voirdire"

        def bind_tools(self, tools: Any, **_: Any) -> Any:
            return self.bind(tools=[convert_to_openai_tool(one) for one in tools])

        async def agenerate(self, *given: Any, **named: Any) -> Any:
            # What no handler may take does not come through its own, which gathers exceptions.
            return self.generate(*given, **named)

        def _generate(self, messages: Any, stop: Any = None, _: Any = None, **given: Any) -> Any:
            if stop:
                raise InputError("judge program: words that end a reply (stop) are not kept")
            tools = tuple(
                Tool(one["name"], one.get("description", ""), one.get("parameters", {}))
                for one in (tool["function"] for tool in given.get("tools", ()))
            )
            reply = _ANSWERED.get().to(tuple(map(as_ours, messages)), tools)
            calls = [
                {"id": c.id, "name": c.name, "args": object_in(c.arguments), "type": "tool_call"}
                for c in reply.tool_calls
            ]
            message = AIMessage(reply.text, tool_calls=calls)
            return ChatResult(generations=[ChatGeneration(message=message)])

    return Kept

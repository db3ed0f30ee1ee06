"""Tools of agent judges: described to a model, called with what it gave, and never trusted."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError, PluginError, VoirdireError, not_one_of
from voirdire.lazy import check_options
from voirdire.schema import Request, Tool
from voirdire.secrets import scrub
from voirdire.shown import visible

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from voirdire import Plugins
    from voirdire.schema import Finding, Message, Reply, ToolCall
    from voirdire.study import Study

#: Characters of a result that a model is shown, and of an error's sentence.
SHOWN, SENTENCE = 4_000, 300
#: How the result of a call that failed begins.
FAILED = "Error: "
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,), "number": (int, float), "integer": (int,), "boolean": (bool,),
    "array": (list,), "object": (dict,),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class AgentTool:
    """What an agent judge may call.

    A tool runs in the process of the run: it is trusted code, though what a model hands to it and
    what it gives back are not. Equal arguments must give equal results: a run that was killed calls
    it again, and goes on with the kept replies only where the results are the same.

    Attributes
    ----------
    name, description : str
        As the model is told.
    parameters : mapping
        JSON schema of an object: its properties, and which of them are required.
    function : callable
        Takes the arguments by name and gives a text, or what JSON can hold. What it raises the
        model is told. A coroutine function runs in one event loop that all tools share.
    answer : callable, optional
        Of a tool that asks a model: `function` then makes the `Request`, whose role names the
        model, and `answer` the result out of its `Reply`. The reply is kept and paid for as any.
    reads : str
        What it looks at, for people: a file, an index.
    timeout : float
        Seconds after which a call counts as failed.
    findings : tuple of Finding
        What people should know of it, such as what this system lacks.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    function: Callable[..., Any]
    reads: str = ""
    timeout: float = 10.0
    answer: Callable[[Reply], Any] | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def told(self) -> Tool:
        """As a request carries it."""
        return Tool(self.name, self.description, self.parameters)


def make_tools(
    named: Sequence[str | Mapping[str, Any]], study: Study | None, plugins: Plugins
) -> tuple[AgentTool, ...]:
    """The tools that a study names, each by its name or as ``{use = "lookup", path = "..."}``.

    One entry may bring several, as a server's tools do.

    Raises
    ------
    InputError
        No name, or a name that occurs twice.
    PluginError
        No such tool, options that it does not take, or something else than a tool.
    """
    made = [tool for one in named for tool in _made(one, study, plugins)]
    names = [tool.name for tool in made]
    if len(set(names)) < len(names):
        raise InputError(f"agent: several tools have one name: {', '.join(names)}")
    return tuple(made)


def _made(
    named: str | Mapping[str, Any], study: Study | None, plugins: Plugins
) -> tuple[AgentTool, ...]:
    options: dict[str, Any] = {"use": named} if isinstance(named, str) else dict(named)
    use = options.pop("use", None)
    if not isinstance(use, str):
        raise InputError(f'agent: a tool is a name or {{use = "NAME", ...}}, got {named!r}')
    if use not in plugins.names("tool"):
        raise not_one_of("tool", use, plugins.names("tool"), "agent")
    factory = plugins.resolve("tool", use)
    around = {"study": study, "plugins": plugins}
    takes, named_options = inspect.signature(factory).parameters, tuple(options)
    # A tool that has no use for the study need not name it.
    options |= {name: value for name, value in around.items() if name in takes}
    check_options(factory, named_options, f"tool {use!r} does not take this", around)
    try:
        made = factory(**options)
    except VoirdireError:
        raise
    except TypeError as error:
        raise PluginError(f"tool {use!r} does not take this: {error}") from error
    several = tuple(made) if isinstance(made, list | tuple) else (made,)
    odd = next((tool for tool in several if not isinstance(tool, AgentTool)), None)
    if odd is not None or not several:
        what = "nothing" if odd is None else f"a {type(odd).__name__}"
        raise PluginError(f"tool {use!r} made {what} in place of an AgentTool")
    return several


@dataclass
class _CallOutcome:
    said: str = "the tool gave no result in time"
    fine: bool = False
    cancel: Callable[[], Any] | None = None
    done: threading.Event = field(default_factory=threading.Event)


def run_call(call: ToolCall, tools: Sequence[AgentTool]) -> str:
    """The result of a call, or what was wrong with it, as a text for the model; never raises.

    >>> from voirdire.schema import ToolCall
    >>> run_call(ToolCall("1", "fly"), ())
    "Error: there is no tool 'fly'; there is: none"
    """
    tool, arguments, wrong = _understood(call, tools)
    if tool is None or wrong:
        return f"{FAILED}{wrong}"
    return _told(lambda: tool.function(**arguments), tool.timeout)


def asked_by(call: ToolCall, tools: Sequence[AgentTool]) -> Request | None:
    """The request that a call stands for, of a tool that asks a model; None for any other call.

    A call that cannot be understood, or whose tool makes no request of it, is none either:
    `run_call` then says what is wrong.
    """
    tool, arguments, wrong = _understood(call, tools)
    if tool is None or wrong or tool.answer is None:
        return None
    try:
        made = tool.function(**arguments)
    except BaseException:  # noqa: BLE001 - `run_call` meets it again, and tells it
        return None
    return made if isinstance(made, Request) else None


def read_answer(call: ToolCall, tools: Sequence[AgentTool], reply: Reply) -> str:
    """The result of a call out of the reply to what it asked, as a text for the model."""
    tool, _, wrong = _understood(call, tools)
    if tool is None or wrong or tool.answer is None:
        return f"{FAILED}{wrong or 'this tool asks no model'}"
    read = tool.answer
    return _told(lambda: read(reply), tool.timeout)


def _understood(
    call: ToolCall, tools: Sequence[AgentTool]
) -> tuple[AgentTool | None, dict[str, Any], str]:
    """The tool of a call and its arguments, or what is wrong with them."""
    tool = next((one for one in tools if one.name == call.name), None)
    if tool is None:
        names = ", ".join(one.name for one in tools) or "none"
        return None, {}, f"there is no tool {call.name[:80]!r}; there is: {names}"
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError) as error:
        return tool, {}, f"the arguments are no JSON: {str(error)[:SENTENCE]}"
    wrong = _wrong(arguments, tool.parameters)
    return tool, {} if wrong else arguments, wrong


def _told(work: Callable[[], Any], timeout: float) -> str:
    """What the work gives, as a text of bounded length; what it raises, or that it took too long.

    It has a thread of its own, and a daemon: one that never returns keeps neither run nor process.
    """
    outcome = _CallOutcome()
    threading.Thread(target=_work, args=(work, outcome), daemon=True).start()
    if not outcome.done.wait(timeout) and outcome.cancel is not None:
        outcome.cancel()
    text = _short(outcome.said)
    return text if outcome.fine else f"{FAILED}{text}"


def _work(work: Callable[[], Any], outcome: _CallOutcome) -> None:
    try:
        result = work()
        if inspect.isawaitable(result):
            result = _awaited(result, outcome)
        if isinstance(result, Request):
            raise TypeError("it made a request, and has no answer that reads the reply")
        text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
        outcome.said, outcome.fine = text, True
    except BaseException as error:  # noqa: BLE001 - a tool may raise anything at all, SystemExit too
        outcome.said = scrub(f"{type(error).__name__}: {str(error)[:SENTENCE]}")
    # Last, so that who waits sees the whole outcome.
    outcome.done.set()


def _awaited(result: Awaitable[Any], outcome: _CallOutcome) -> Any:
    """What an async tool gives. One loop serves all calls: clients belong to the loop they met."""

    async def whole() -> Any:
        return await result

    running = asyncio.run_coroutine_threadsafe(whole(), shared_loop())
    outcome.cancel = running.cancel
    return running.result()


@cache
def shared_loop() -> asyncio.AbstractEventLoop:
    """The event loop, in a thread of its own, in which all async tools of this process run."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="voirdire-tools", daemon=True).start()
    return loop


def failure_in(message: Message) -> str:
    r"""How a call failed, by the message with its result; empty where it did not fail.

    >>> from voirdire.schema import Message
    >>> failure_in(Message("tool", "<<<RESULT 1f\nError: ValueError: no\nRESULT 1f>>>"))
    'ValueError: no'
    """
    # A result may stand between marks, which begin with a line of their own.
    head, _, rest = message.content.partition("\n")
    first = rest if head.startswith("<<<") else message.content
    return first.partition("\n")[0].removeprefix(FAILED) if first.startswith(FAILED) else ""


def _wrong(arguments: Any, schema: Mapping[str, Any]) -> str:
    """What does not fit the schema, as far as names and kinds of values go; empty where it fits."""
    if not isinstance(arguments, dict):
        return f"the arguments must be a JSON object, got {type(arguments).__name__}"
    properties: Mapping[str, Any] = schema.get("properties", {})
    lacking = [name for name in schema.get("required", ()) if name not in arguments]
    if lacking:
        return f"the argument {lacking[0]!r} is missing"
    for name, value in arguments.items():
        if name not in properties:
            return (
                f"there is no argument {name[:80]!r} (arguments: {', '.join(properties) or 'none'})"
            )
        kind = properties[name].get("type") if isinstance(properties[name], dict) else None
        if not isinstance(kind, str) or kind not in _TYPES:
            continue  # several kinds, or any: whoever is called looks closer
        # True is an int to Python, and no number to a model.
        is_bool = isinstance(value, bool) and kind in ("number", "integer")
        if is_bool or not isinstance(value, _TYPES[kind]):
            return f"the argument {name!r} must be of type {kind}, got {type(value).__name__}"
    return ""


def _short(text: str) -> str:
    """Cut first: to make every character of megabytes visible takes seconds."""
    more = len(text) - SHOWN
    shown = visible(text[:SHOWN])
    return shown if more <= 0 else f"{shown}\n(cut here: {more:,} more characters)"

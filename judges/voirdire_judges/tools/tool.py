"""One tool: described to a model, called with what the model gave, and never trusted."""

from __future__ import annotations

import inspect
import json
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError, PluginError, VoirdireError, not_one_of
from voirdire.schema import Tool
from voirdire.secrets import scrub
from voirdire.shown import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from voirdire import Plugins
    from voirdire.schema import ToolCall
    from voirdire.study import Study

#: Characters of a result that a model is shown, and of an error's sentence.
SHOWN, SENTENCE = 4_000, 300
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
        model is told.
    reads : str
        What it looks at, for people: a file, an index.
    timeout : float
        Seconds after which a call counts as failed.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    function: Callable[..., Any]
    reads: str = ""
    timeout: float = 10.0

    @property
    def told(self) -> Tool:
        """As a request carries it."""
        return Tool(self.name, self.description, self.parameters)


def make_tools(
    named: Sequence[str | Mapping[str, Any]], study: Study | None, plugins: Plugins
) -> tuple[AgentTool, ...]:
    """The tools that a study names, each by its name or as ``{use = "lookup", path = "..."}``.

    Raises
    ------
    InputError
        No name, or a name that occurs twice.
    PluginError
        No such tool, options that it does not take, or something else than a tool.
    """
    made = [_made(one, study, plugins) for one in named]
    names = [tool.name for tool in made]
    if len(set(names)) < len(names):
        raise InputError(f"agent: several tools have one name: {', '.join(names)}")
    return tuple(made)


def _made(named: str | Mapping[str, Any], study: Study | None, plugins: Plugins) -> AgentTool:
    options: dict[str, Any] = {"use": named} if isinstance(named, str) else dict(named)
    use = options.pop("use", None)
    if not isinstance(use, str):
        raise InputError(f'agent: a tool is a name or {{use = "NAME", ...}}, got {named!r}')
    if use not in plugins.names("tool"):
        raise not_one_of("tool", use, plugins.names("tool"), "agent")
    factory = plugins.resolve("tool", use)
    if "study" in inspect.signature(factory).parameters:
        options["study"] = study
    try:
        tool = factory(**options)
    except VoirdireError:
        raise
    except TypeError as error:
        raise PluginError(f"tool {use!r} does not take this: {error}") from error
    if not isinstance(tool, AgentTool):
        raise PluginError(f"tool {use!r} made a {type(tool).__name__} in place of an AgentTool")
    return tool


@dataclass
class _Outcome:
    said: str = "the tool gave no result in time"
    fine: bool = False
    done: threading.Event = field(default_factory=threading.Event)


def run_call(call: ToolCall, tools: Sequence[AgentTool]) -> str:
    """The result of a call, or what was wrong with it, as a text for the model; never raises.

    >>> from voirdire.schema import ToolCall
    >>> run_call(ToolCall("1", "fly"), ())
    "Error: there is no tool 'fly'; there is: none"
    """
    tool = next((one for one in tools if one.name == call.name), None)
    if tool is None:
        names = ", ".join(one.name for one in tools) or "none"
        return f"Error: there is no tool {call.name[:80]!r}; there is: {names}"
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError) as error:
        return f"Error: the arguments are no JSON: {str(error)[:SENTENCE]}"
    wrong = _wrong(arguments, tool.parameters)
    if wrong:
        return f"Error: {wrong}"
    outcome = _Outcome()
    # A thread of its own, and a daemon: one that never returns keeps neither run nor process.
    work = threading.Thread(target=_work, args=(tool, arguments, outcome), daemon=True)
    work.start()
    outcome.done.wait(tool.timeout)
    said = _short(visible(outcome.said))
    return said if outcome.fine else f"Error: {said}"


def _work(tool: AgentTool, arguments: dict[str, Any], outcome: _Outcome) -> None:
    try:
        found = tool.function(**arguments)
        said = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
        outcome.said, outcome.fine = said, True
    except BaseException as error:  # noqa: BLE001 - a tool may raise anything at all, SystemExit too
        outcome.said = scrub(f"{type(error).__name__}: {str(error)[:SENTENCE]}")
    outcome.done.set()


def _wrong(arguments: Any, schema: Mapping[str, Any]) -> str:
    """What does not fit the schema, as far as names and kinds of values go; empty where it fits."""
    if not isinstance(arguments, dict):
        return f"the arguments must be a JSON object, got {type(arguments).__name__}"
    known: Mapping[str, Any] = schema.get("properties", {})
    lacking = [name for name in schema.get("required", ()) if name not in arguments]
    if lacking:
        return f"the argument {lacking[0]!r} is missing"
    for name, value in arguments.items():
        if name not in known:
            return f"there is no argument {name[:80]!r} (arguments: {', '.join(known) or 'none'})"
        kind = known[name].get("type", "")
        is_bool = isinstance(value, bool) and kind in ("number", "integer")
        if kind in _TYPES and (is_bool or not isinstance(value, _TYPES[kind])):
            return f"the argument {name!r} must be of type {kind}, got {type(value).__name__}"
    return ""


def _short(text: str) -> str:
    more = len(text) - SHOWN
    return text if more <= 0 else f"{text[:SHOWN]}\n(cut here: {more:,} more characters)"

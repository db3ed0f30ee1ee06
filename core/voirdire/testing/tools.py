"""The contract of an agent's tools: described, repeatable, and safe against odd arguments."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from voirdire.schema import ToolCall
from voirdire.testing.checks import Checks, name_of, shown
from voirdire.testing.hostile import TEXTS
from voirdire.tools import FAILED, AgentTool, run_call, shared_loop

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from concurrent.futures import Future

#: What all three providers take as a tool's name.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
#: Calls at once, characters of a long text, and seconds for which one may hold the shared loop.
_AT_ONCE, _LONG, _HELD = 8, 1_000_000, 2.0
_ENDS = (f"{FAILED}SystemExit", f"{FAILED}KeyboardInterrupt")
_REPEAT = "Equal arguments give equal results: a run that was killed calls the tool again."


def check_tool(
    make: Any,
    arguments: Sequence[Mapping[str, Any]] = (),
    *,
    failing: Sequence[Mapping[str, Any]] = (),
    **options: Any,
) -> None:
    """Check a tool's factory, as `voirdire_register_tools` names it. It calls the tool.

    Parameters
    ----------
    make : callable
        ``make(**options) -> AgentTool``.
    arguments : sequence of mapping, optional
        Arguments with which it must give a result and no error, alone and eight calls at once.
    failing : sequence of mapping, optional
        Arguments with which it must fail, such as a name that nothing has. An error that is
        written into a result would be counted as a call that worked.
    options
        As a study's would be.

    Notes
    -----
    An async tool that holds the loop of all tools for two seconds is named, and so is one that
    does not bear a text of a million characters.

    Raises
    ------
    ContractError
        All that does not hold, with a hint each.

    Examples
    --------
    >>> from voirdire_judges.tools.calculate import make
    >>> check_tool(make, arguments=[{"expression": "2 * (3 + 4)"}])
    """
    checks = Checks(f"the tool {name_of(make)}")
    tool = checks.made(make, **options)
    if not checks.hold(
        isinstance(tool, AgentTool),
        f"its factory makes a {type(tool).__name__}",
        "Return a voirdire.tools.AgentTool.",
    ):
        checks.done()
    checks.hold(
        _NAME.fullmatch(tool.name),
        f"its name is {tool.name!r}",
        "Providers take up to 64 letters, digits, _ and - after a letter or _.",
    )
    checks.hold(tool.description.strip(), "it has no description", "The model chooses by it.")
    _check_schema(checks, tool)
    for given in arguments:
        _check_result(checks, tool, given)
    for given in failing:
        answer = _call(tool, given)
        checks.hold(
            answer.startswith(FAILED),
            f"it does not fail on {shown(dict(given))}: {answer:.100}",
            "Raise a ValueError: the model reads its message, and the share of failures is told.",
        )
    _check_hostile(checks, tool)
    checks.done()


def _call(tool: AgentTool, given: Mapping[str, Any]) -> str:
    return run_call(ToolCall("1", tool.name, json.dumps(dict(given))), (tool,))


def _check_result(checks: Checks, tool: AgentTool, given: Mapping[str, Any]) -> None:
    """A result, the same each time: alone, again, and with others under way."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        first = pool.submit(_call, tool, given)
        if inspect.iscoroutinefunction(tool.function):
            _check_loop(checks, given, first)
        answer = first.result()
        checks.hold(
            not answer.startswith(FAILED),
            f"it fails on {shown(dict(given))}: {answer}",
            "See above.",
        )
        # A call is kept by its arguments, so that a result that varies could not be reproduced.
        checks.hold(
            answer == _call(tool, given), f"it answers {shown(dict(given))} in two ways", _REPEAT
        )
        together = set(pool.map(lambda _: _call(tool, given), range(_AT_ONCE)))
    checks.hold(
        together == {answer},
        f"it answers {shown(dict(given))} otherwise when {_AT_ONCE} calls are under way",
        "Raters call a tool at the same time: keep what belongs to a call inside it.",
    )


def _check_loop(checks: Checks, given: Mapping[str, Any], call: Future[str]) -> None:
    """Whether the loop that all async tools share turns for as long as this one is called."""
    while not call.done():
        turned = asyncio.run_coroutine_threadsafe(asyncio.sleep(0.01), shared_loop())
        try:
            turned.result(_HELD)
        except TimeoutError:
            checks.hold(
                condition=False,
                what=f"it holds the loop that all async tools share, on {shown(dict(given))}",
                hint="Await what takes time, or make it a plain function: it then has a thread.",
            )
            return


def _check_schema(checks: Checks, tool: AgentTool) -> None:
    with checks.safely("its parameters are no JSON", "They are a JSON schema of an object."):
        # It is sent to a provider as JSON.
        json.dumps(tool.parameters)
        properties = tool.parameters.get("properties", {})
        checks.hold(
            tool.parameters.get("type") == "object" and isinstance(properties, dict),
            "its parameters are no schema of an object",
            '{"type": "object", "properties": {...}, "required": [...]}.',
        )
        checks.hold(
            set(tool.parameters.get("required", ())) <= set(properties),
            "it requires a parameter that it does not describe",
            "Name every required parameter under properties.",
        )


def _check_hostile(checks: Checks, tool: AgentTool) -> None:
    # Only texts: other types are refused by the schema before the tool is called.
    texts = [name for name, one in tool.parameters.get("properties", {}).items() if _is_text(one)]
    for text in (*TEXTS, "a" * _LONG):
        answer = _call(tool, dict.fromkeys(texts, text))
        checks.hold(
            "gave no result in time" not in answer,
            f"it does not return on {shown(text)}",
            "Bound what it does, or raise a ValueError: the model then reads its message.",
        )
        checks.hold(
            not answer.startswith(_ENDS),
            f"it tries to end the process on {shown(text)}",
            "Raise a ValueError: the model then reads its message.",
        )


def _is_text(described: Any) -> bool:
    return isinstance(described, dict) and described.get("type") == "string"

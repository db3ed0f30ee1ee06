"""The contract of an agent's tools: described, repeatable, and safe against odd arguments."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from voirdire.schema import ToolCall
from voirdire.testing.checks import Checks, name_of, shown
from voirdire.testing.hostile import TEXTS
from voirdire.tools import AgentTool, run_call

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: What all three providers take as a tool's name.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_REPEAT = "Equal arguments give equal results: a run that was killed calls the tool again."


def check_tool(make: Any, arguments: Sequence[Mapping[str, Any]] = (), **options: Any) -> None:
    """Check a tool's factory, as `voirdire_register_tools` names it. It calls the tool.

    Parameters
    ----------
    make : callable
        ``make(**options) -> AgentTool``.
    arguments : sequence of mapping, optional
        Arguments with which it must give a result and no error.
    options
        As a study's would be.

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
        answer = run_call(ToolCall("1", tool.name, json.dumps(dict(given))), (tool,))
        checks.hold(
            not answer.startswith("Error:"),
            f"it fails on {shown(dict(given))}: {answer}",
            "See above.",
        )
        # A call is kept by its arguments, so that a result that varies could not be reproduced.
        again = run_call(ToolCall("1", tool.name, json.dumps(dict(given))), (tool,))
        checks.hold(answer == again, f"it answers {shown(dict(given))} in two ways", _REPEAT)
    _check_hostile(checks, tool)
    checks.done()


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
    for text in TEXTS:
        call = ToolCall("1", tool.name, json.dumps(dict.fromkeys(texts, text)))
        answer = run_call(call, (tool,))
        checks.hold(
            "gave no result in time" not in answer,
            f"it does not return on {shown(text)}",
            "Bound what it does, or raise a ValueError: the model then reads its message.",
        )


def _is_text(described: Any) -> bool:
    return isinstance(described, dict) and described.get("type") == "string"

"""Tools of LangChain for agent judges, and agent judges' tools for LangChain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.lazy import attribute_at, require
from voirdire.tools import AgentTool

if TYPE_CHECKING:
    from collections.abc import Mapping


def make(
    path: str | Any,
    *,
    name: str = "",
    description: str = "",
    timeout: float = 10.0,
    arguments: Mapping[str, Any] | None = None,
) -> AgentTool:
    """A tool of LangChain (`tools = [{use = "langchain", path = "my_tools:search"}]`).

    Parameters
    ----------
    path : str or BaseTool
        ``"module:attribute"`` of a tool, or of a callable that makes one; or the tool.
    name, description : str
        In place of the tool's own.
    timeout : float
        Seconds after which a call counts as failed.
    arguments : mapping, optional
        Passed to the callable that makes the tool.

    Raises
    ------
    InputError
        The path cannot be imported, or what lies there is no tool.
    MissingExtraError
        The extra `langchain` is not installed.
    """
    base = require("langchain_core.tools", "tool langchain", "langchain").BaseTool
    tool = attribute_at(path, "tool langchain: ") if isinstance(path, str) else path
    if not isinstance(tool, base) and callable(tool):
        tool = tool(**(arguments or {}))
    if not isinstance(tool, base):
        raise InputError(f"tool langchain:{path}: expected a BaseTool, got {type(tool).__name__}")
    schema = tool.tool_call_schema
    raw = schema if isinstance(schema, dict) else schema.model_json_schema()
    return AgentTool(
        name or tool.name,
        description or tool.description,
        # What pydantic adds to a schema; a provider would count it as prompt.
        {key: value for key, value in raw.items() if key not in ("title", "description")},
        lambda **given: _plain(tool.invoke(given)),
        reads=path if isinstance(path, str) else "",
        timeout=timeout,
    )


def as_langchain(tool: AgentTool) -> Any:
    """A tool of ours as one of LangChain's, for `bind_tools` and its agents.

    Raises
    ------
    InputError
        The tool asks a model: it works inside an agent judge alone.
    MissingExtraError
        The extra `langchain` is not installed.

    Examples
    --------
    >>> from voirdire_judges.tools.calculate import make as calculate
    >>> as_langchain(calculate()).invoke({"expression": "6 * 7"})
    '42'
    """
    structured = require("langchain_core.tools", "as_langchain", "langchain").StructuredTool
    if tool.answer is not None:
        raise InputError(f"tool {tool.name!r} asks a model, which only an agent judge can do")
    return structured(
        name=tool.name,
        description=tool.description,
        args_schema=dict(tool.parameters),
        func=tool.function,
    )


def _plain(answer: Any) -> Any:
    """A text or what JSON can hold; documents and messages as their text."""
    if isinstance(answer, list | tuple):
        return [_plain(one) for one in answer]
    for attribute in ("page_content", "content"):
        if isinstance(text := getattr(answer, attribute, None), str):
            return text
    return answer

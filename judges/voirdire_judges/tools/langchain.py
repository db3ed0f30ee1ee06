"""Tools of LangChain for agent judges, and agent judges' tools for LangChain."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError, check_allowed
from voirdire.lazy import attribute_at, require
from voirdire.tools import AgentTool

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.study import Study


def make(
    path: str | Any,
    *,
    name: str = "",
    description: str = "",
    timeout: float = 10.0,
    arguments: Mapping[str, Any] | None = None,
    only: Sequence[str] = (),
    study: Study | None = None,
) -> AgentTool | tuple[AgentTool, ...]:
    """Tools of LangChain (`tools = [{use = "langchain", path = "my_tools:search"}]`).

    Parameters
    ----------
    path : str, BaseTool or list of BaseTool
        ``"module:attribute"`` of a tool, of a list of tools, of a toolkit with ``get_tools``, or of
        a callable that makes one of these; or that itself. The module may lie beside the study.
    name, description : str
        In place of the tool's own, where there is one tool.
    only : sequence of str
        Of several tools those that may be called; all by default.
    timeout : float
        Seconds after which a call counts as failed.
    arguments : mapping, optional
        Passed to the callable that makes the tool.

    Raises
    ------
    InputError
        The path cannot be imported, what lies there is no tool, or `only` names one that there is
        not.
    MissingExtraError
        The extra `langchain` is not installed.
    """
    base = require("langchain_core.tools", "tool langchain", "langchain").BaseTool
    folder = None if study is None else study.folder
    made = attribute_at(path, "tool langchain: ", folder) if isinstance(path, str) else path
    if not isinstance(made, base) and callable(made):
        made = made(**(arguments or {}))
    if callable(getattr(made, "get_tools", None)):
        made = made.get_tools()
    several = list(made) if isinstance(made, list | tuple) else [made]
    for tool in several:
        if not isinstance(tool, base):
            kind = type(tool).__name__
            raise InputError(f"tool langchain:{path}: expected a BaseTool, got {kind}")
    if only:
        check_allowed("tool", only, [tool.name for tool in several], f"tool langchain:{path}, only")
        several = [tool for tool in several if tool.name in only]
    if len(several) == 1:
        return _ours(several[0], path, name, description, timeout)
    if name or description:
        raise InputError(f"tool langchain:{path}: name and description are for one tool alone")
    return tuple(_ours(tool, path, "", "", timeout) for tool in several)


def _ours(tool: Any, path: Any, name: str, description: str, timeout: float) -> AgentTool:
    schema = tool.tool_call_schema
    raw = schema if isinstance(schema, dict) else schema.model_json_schema()
    return AgentTool(
        name or tool.name,
        description or tool.description,
        # What pydantic adds to a schema; a provider would count it as prompt.
        {key: value for key, value in raw.items() if key not in ("title", "description")},
        lambda **given: _called(tool, given),
        reads=path if isinstance(path, str) else "",
        timeout=timeout,
    )


def _called(tool: Any, given: dict[str, Any]) -> Any:
    """The result of a call; what is to be awaited for a tool that is async alone."""
    # A StructuredTool of a coroutine has no function that blocks; a class of its own may raise.
    if getattr(tool, "coroutine", None) is not None and getattr(tool, "func", None) is None:
        return _later(tool, given)
    try:
        return _plain(tool.invoke(given))
    except NotImplementedError:
        return _later(tool, given)


async def _later(tool: Any, given: dict[str, Any]) -> Any:
    return _plain(await tool.ainvoke(given))


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
    is_async = inspect.iscoroutinefunction(tool.function)
    return structured(
        name=tool.name,
        description=tool.description,
        args_schema=dict(tool.parameters),
        func=None if is_async else tool.function,
        coroutine=tool.function if is_async else None,
    )


def _plain(answer: Any) -> Any:
    """A text or what JSON can hold; documents and messages as their text."""
    if isinstance(answer, list | tuple):
        return [_plain(one) for one in answer]
    for attribute in ("page_content", "content"):
        if isinstance(text := getattr(answer, attribute, None), str):
            return text
    return answer

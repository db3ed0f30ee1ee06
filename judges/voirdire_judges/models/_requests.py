"""Requests made fit to be sent: checked, and with their tools in words where a model knows none."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from voirdire.errors import ModelError
from voirdire.schema import Message, Reply, Request, ToolCall

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from voirdire.schema import Tool


def sendable(model: str, request: Request) -> Request:
    """The request as it can go over a wire: half a surrogate pair becomes U+FFFD.

    A reply that a cap cut inside an emoji holds one, and may be what a judge is asked about.

    Raises
    ------
    ModelError
        The request has no text: providers refuse an empty message, and some bill it.
    """
    asked = [message.content for message in request.messages if message.role == "user"]
    if not asked or "" in asked or any(map(str.isspace, asked)):
        raise ModelError(f"{model}: a user message without text was not sent", "empty_input")
    if all(map(_is_text, [message.content for message in request.messages])):
        return request
    return replace(request, messages=tuple(map(_mended, request.messages)))


def said_over(sent: Mapping[str, Any], *overrides: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a call, those of a study over our own; what is None is left to the model.

    >>> said_over({"temperature": None, "seed": 1}, {"seed": 2}, {"top_k": 5})
    {'seed': 2, 'top_k': 5}
    """
    whole = dict(sent)
    for given in overrides:
        whole |= given
    return {name: value for name, value in whole.items() if value is not None}


def _is_text(content: str) -> bool:
    if content.isascii():
        return True
    try:
        content.encode()
    except UnicodeEncodeError:
        return False
    return True


def _mended(message: Message) -> Message:
    # UTF-16 has a form for half a pair; read again it becomes U+FFFD, and whole pairs stay.
    wide = message.content.encode("utf-16", "surrogatepass")
    return replace(message, content=wide.decode("utf-16", "replace"))


_HOW = """You may use tools. To use one, write a line of this form and nothing after it:
{mark} {{"tool": "NAME", "arguments": {{...}}}}
You then get its result, and may use another tool or answer. Tools:
{tools}"""
#: Behind it stands a code that each request draws anew.
_MARK = "CALL"


async def asked_in_words(request: Request, ask: Callable[[Request], Awaitable[Reply]]) -> Reply:
    """The reply of a model that knows no tools: both they and its calls are plain text."""
    mark = mark_of(request)
    return with_calls(await ask(without_tools(request, mark)), mark)


def mark_of(request: Request) -> str:
    """What calls of tools begin with in the reply to a request, and in no text that it quotes.

    It is drawn from all that is sent, by a hash: a text that is judged cannot hold it on purpose,
    and the same request gets the same mark, so that the same reply may come again.

    >>> from voirdire.schema import Message, Request
    >>> mark_of(Request((Message("user", "Judge: CALL {}"),)))
    'CALL-067813e6'
    """
    texts = [text for m in request.messages for text in (m.role, m.content, m.call_id)]
    whole = json.dumps(texts + [tool.name for tool in request.tools])
    drawn = hashlib.blake2b(whole.encode(), digest_size=4).hexdigest()
    while drawn in whole:
        drawn = hashlib.blake2b(f"{drawn}{whole}".encode(), digest_size=4).hexdigest()
    return f"{_MARK}-{drawn}"


def without_tools(request: Request, mark: str) -> Request:
    """The request with its tools, calls and results written as text."""
    tools = "\n".join(map(_described, request.tools))
    how = Message("system", _HOW.format(mark=mark, tools=tools))
    first = [m for m in request.messages if m.role == "system"]
    rest = [_as_text(m, mark) for m in request.messages if m.role != "system"]
    return replace(request, tools=(), messages=(*_joined([*first, how]), *_joined(rest)))


def with_calls(reply: Reply, mark: str) -> Reply:
    r"""The reply with the calls that its text makes; the text ends before the first.

    A call stands at the beginning of a line, behind the mark of this request alone: what a reply
    quotes of a text that it judges calls nothing.

    A call whose JSON is broken is a call with these arguments and no name, so that whoever asked
    can say what is wrong with it.

    >>> text = 'Let me see.\nCALL-1f {"tool": "add", "arguments": {"a": 1}}'
    >>> reply = with_calls(Reply(text), "CALL-1f")
    >>> reply.text, reply.tool_calls[0].name, reply.tool_calls[0].arguments
    ('Let me see.', 'add', '{"a": 1}')
    """
    pattern = rf"^[ \t]*{re.escape(mark)}[ \t]*(?=\{{)"
    matches = list(re.finditer(pattern, reply.text, re.MULTILINE))
    if not matches:
        return reply
    calls = tuple(
        _call(f"call_{at}", reply.text[match.end() :]) for at, match in enumerate(matches, start=1)
    )
    return replace(reply, text=reply.text[: matches[0].start()].strip(), tool_calls=calls)


def _call(number: str, text: str) -> ToolCall:
    try:
        # Up to the end of the object: models go on writing. Not strict, for they break
        # lines in texts.
        call, _ = json.JSONDecoder(strict=False).raw_decode(text)
        name, arguments = call["tool"], call.get("arguments", {})
    except (ValueError, KeyError, RecursionError):
        return ToolCall(number, "", text.splitlines()[0])
    given = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return ToolCall(number, str(name), given)


def _described(tool: Tool) -> str:
    return f"- {tool.name}: {tool.description} Arguments: {json.dumps(dict(tool.parameters))}"


def _as_text(message: Message, mark: str) -> Message:
    if message.role == "tool":
        return Message("user", f"Result of {message.name}:\n{message.content}")
    lines = [message.content] if message.content else []
    lines += [f"{mark} {json.dumps(_shown(call), ensure_ascii=False)}" for call in message.calls]
    return Message(message.role, "\n".join(lines))


def _shown(call: ToolCall) -> dict[str, Any]:
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        arguments = call.arguments
    return {"tool": call.name, "arguments": arguments}


def _joined(messages: Sequence[Message]) -> list[Message]:
    """Neighbours of one role as one message: many chat formats take turns only."""
    merged: list[Message] = []
    for message in messages:
        if merged and merged[-1].role == message.role:
            joined = f"{merged[-1].content}\n\n{message.content}"
            merged[-1] = Message(message.role, joined)
        else:
            merged.append(message)
    return merged

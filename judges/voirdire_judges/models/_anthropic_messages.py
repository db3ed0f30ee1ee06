"""Anthropic's messages: parameters out, reply in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from voirdire.schema import Reply, Usage
from voirdire_judges.models._body import added, content_of, count, items, mapping, parse_body, text

if TYPE_CHECKING:
    from voirdire.schema import FinishReason, Request
    from voirdire_judges.models._options import Options

#: The API takes no call without a limit.
DEFAULT_MAX_TOKENS = 1024


def params(model: str, request: Request, options: Options) -> dict[str, Any]:
    """The body of a call: the system text apart, a schema as a tool that must be called."""
    system = "\n\n".join(m.content for m in request.messages if m.role == "system")
    sent: dict[str, Any] = {
        "model": model,
        "messages": [
            {"role": m.role, "content": m.content} for m in request.messages if m.role != "system"
        ],
        "max_tokens": request.max_tokens or DEFAULT_MAX_TOKENS,
        "system": system or None,
        "temperature": request.temperature,
        "top_p": request.top_p,
    }
    if request.schema is not None and options.structured:
        tool = {
            "name": "answer",
            "description": "Give the answer.",
            "input_schema": dict(request.schema),
        }
        sent |= {"tools": [tool], "tool_choice": {"type": "tool", "name": "answer"}}
    sent |= {**options.params, **request.params}
    return {name: value for name, value in sent.items() if value is not None}


async def send(client: Any, sent: dict[str, Any]) -> dict[str, Any]:
    """The body of a 200."""
    first = {"model", "messages", "max_tokens"}
    rest = {name: value for name, value in sent.items() if name not in first}
    raw = await client.messages.with_raw_response.create(
        model=sent["model"],
        messages=sent["messages"],
        max_tokens=sent["max_tokens"],
        extra_body=rest,
    )
    return parse_body(await content_of(raw), "content")


def read(body: dict[str, Any], request: Request) -> Reply:
    """The reply in a message: its text blocks and the input of the tool called, nothing else.

    >>> from voirdire.schema import Message, Request
    >>> blocks = [{"type": "thinking", "thinking": "..."}, {"type": "text", "text": "4"}]
    >>> read({"content": blocks, "stop_reason": "end_turn"}, Request((Message("user", "Hi"),))).text
    '4'
    """
    content = body.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else items(content)
    said = [text(block.get("text")) for block in blocks if block.get("type") == "text"]
    given = [block.get("input") for block in blocks if block.get("type") == "tool_use"]
    answer = "\n".join([*said, *(json.dumps(part, ensure_ascii=False) for part in given)])
    notes = ("option_logprobs: Anthropic gives none",) if request.options else ()
    return Reply(
        text=answer,
        finish_reason=_finish(text(body.get("stop_reason")), answer),
        usage=_usage(mapping(body.get("usage"))),
        model=text(body.get("model")),
        provider_id=text(body.get("id")),
        notes=notes,
    )


def _finish(reason: str, answer: str) -> FinishReason:
    if reason == "refusal":
        return "refusal"
    if reason in {"max_tokens", "model_context_window_exceeded"}:
        return "length"
    return "stop" if answer.strip() else "empty"


def _usage(usage: dict[str, Any]) -> Usage:
    # input_tokens leave out what was read from or written to the cache.
    cached = count(usage.get("cache_read_input_tokens"))
    written = count(usage.get("cache_creation_input_tokens"))
    fresh = count(usage.get("input_tokens"))
    return Usage(
        input=None if fresh is None else added(fresh, cached, written),
        output=count(usage.get("output_tokens")),
        cached=cached,
    )

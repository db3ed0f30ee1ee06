"""OpenAI's responses: parameters out, reply in."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from voirdire.schema import Reply, ToolCall
from voirdire_judges.models._body import (
    arguments_of,
    asked_calls,
    content_of,
    given_to,
    items,
    mapping,
    parse_body,
    stated_error,
    text,
    unknown_parts,
    usage_of,
)
from voirdire_judges.models._faults import MalformedBodyError
from voirdire_judges.models._finish import finish_of, unknown_finish
from voirdire_judges.models._logprobs import option_logprobs
from voirdire_judges.models._openai_chat import positions_of

if TYPE_CHECKING:
    from voirdire.schema import Message, Request, Usage
    from voirdire_judges.models._options import Options


def params(model: str, request: Request, options: Options) -> dict[str, Any]:
    """The body of a call; nothing is stored at the provider."""
    sent: dict[str, Any] = {
        "model": model,
        "input": [part for m in request.messages for part in _parts(m)],
        "temperature": request.temperature,
        "top_p": request.top_p,
        "max_output_tokens": request.max_tokens,
        "store": False,
    }
    if request.options and options.logprobs:
        sent |= {"top_logprobs": 20, "include": ["message.output_text.logprobs"]}
    if request.tools:
        sent["tools"] = [{"type": "function", **asdict(tool)} for tool in request.tools]
    elif request.schema is not None and options.structured:
        form = {"type": "json_schema", "name": "answer", "schema": dict(request.schema)}
        sent["text"] = {"format": {**form, "strict": True}}
    sent |= {**options.params, **request.params}
    return {name: value for name, value in sent.items() if value is not None}


def _parts(message: Message) -> list[dict[str, Any]]:
    """A message, the calls that it makes, or the result of one."""
    if message.role == "tool":
        output = {"call_id": message.call_id, "output": message.content}
        return [{"type": "function_call_output", **output}]
    if message.thoughts:  # a call must stand behind the reasoning that led to it
        return [dict(item) for item in message.thoughts]
    said = {"role": message.role, "content": message.content}
    calls = [
        {"type": "function_call", "call_id": c.id, "name": c.name, "arguments": c.arguments}
        for c in message.calls
    ]
    return [*([said] if message.content or not calls else []), *calls]


async def send(client: Any, sent: dict[str, Any]) -> dict[str, Any]:
    """The body of a 200."""
    rest = {name: value for name, value in sent.items() if name not in {"model", "input"}}
    raw = await client.responses.with_raw_response.create(
        model=sent["model"], input=sent["input"], extra_body=rest
    )
    return parse_body(await content_of(raw), "output")


def read(body: dict[str, Any], request: Request) -> Reply:
    """The reply in a response object; without a text, what the model handed to tools."""
    status = text(body.get("status"))
    if status == "failed":
        raise stated_error(body)
    if status not in {"", "completed", "incomplete"}:
        raise MalformedBodyError(f"a response whose status is {status[:40]!r}", body)
    messages = [item for item in items(body.get("output")) if item.get("type") == "message"]
    parts = [part for message in messages for part in items(message.get("content"))]
    said = "".join(text(p.get("text")) for p in parts if p.get("type") == "output_text")
    refusal = "".join(text(p.get("refusal")) for p in parts if p.get("type") == "refusal")
    calls = [item for item in items(body.get("output")) if item.get("type") == "function_call"]
    asked = asked_calls(map(_call, calls), request)
    if not asked:
        said = said or given_to(call.get("arguments") for call in calls)
    handed = "call" if asked else ""
    positions = [token for part in parts for token in items(part.get("logprobs"))]
    return Reply(
        text=said or refusal,
        finish_reason=finish_of(_reason(body), said or handed, refusal),
        usage=billed(body),
        model=text(body.get("model")),
        provider_id=text(body.get("id")),
        notes=(*unknown_finish(_reason(body)), *unknown_parts(parts)),
        option_logprobs=option_logprobs(positions_of(positions), request.options, said),
        tool_calls=asked,
        thoughts=_thoughts(items(body.get("output"))) if asked else (),
    )


def _thoughts(output: list[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """The items of a response that may be sent back whole; none where nothing was thought.

    Nothing is stored at the provider, so that it knows its reasoning again by the encrypted content
    alone. A model gives that where the study's `params` ask it to include it; reasoning without it
    would be an item that is not found.
    """
    known = [i for i in output if i.get("type") != "reasoning" or i.get("encrypted_content")]
    return tuple(known) if any(i.get("type") == "reasoning" for i in known) else ()


def _call(item: dict[str, Any]) -> ToolCall:
    number = text(item.get("call_id")) or text(item.get("id"))
    return ToolCall(number, text(item.get("name")), arguments_of(item.get("arguments")))


def _reason(body: dict[str, Any]) -> str:
    """Why it is incomplete; one that does not say why was cut."""
    if body.get("status") != "incomplete":
        return "completed"
    return text(mapping(body.get("incomplete_details")).get("reason")) or "max_output_tokens"


def billed(body: dict[str, Any]) -> Usage:
    """The tokens of a response, whatever else is wrong with it."""
    return usage_of(mapping(body.get("usage")))

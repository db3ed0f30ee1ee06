"""OpenAI's chat completions: parameters out, reply in."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from voirdire.schema import Part, Reply, ToolCall
from voirdire_judges.models._body import (
    RAW,
    arguments_of,
    asked_calls,
    call_parts,
    content_of,
    count,
    finish_of,
    given_to,
    is_filtered,
    items,
    mapping,
    object_in,
    parse_body,
    parts_in,
    stated_error,
    sure_end,
    text,
    texts_in,
    unknown_finish,
    unknown_parts,
    usage_of,
)
from voirdire_judges.models._faults import MalformedBodyError
from voirdire_judges.models._logprobs import Position, option_logprobs
from voirdire_judges.models._requests import said_over

if TYPE_CHECKING:
    from voirdire.schema import Message, Request, Usage
    from voirdire_judges.models._endpoint import Options


def params(model: str, request: Request, options: Options) -> dict[str, Any]:
    """The body of a call; `max_completion_tokens` is the name that all current models take."""
    sent: dict[str, Any] = {
        "model": model,
        "messages": [_message(m) for m in request.messages],
        "temperature": request.temperature,
        "top_p": request.top_p,
        "max_completion_tokens": request.max_tokens,
        "seed": request.seed,
    }
    if request.options and options.logprobs:
        # 20 is the most that may be asked for (API reference, Create chat completion).
        sent |= {"logprobs": True, "top_logprobs": 20}
    if request.tools:
        # Tools or a schema, never both: Gemini refuses the two together, and a schema that
        # binds every reply leaves no room for a call.
        sent["tools"] = [{"type": "function", "function": asdict(tool)} for tool in request.tools]
    elif request.schema is not None and options.structured is True:
        form = {"name": "answer", "schema": dict(request.schema), "strict": True}
        sent["response_format"] = {"type": "json_schema", "json_schema": form}
    return said_over(sent, options.params, request.params)


def _message(message: Message) -> dict[str, Any]:
    sent: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.role == "tool":
        sent["tool_call_id"] = message.call_id
    if message.calls:
        # Beside calls the API takes null; an empty text is refused by some servers.
        sent["content"] = message.content or None
        sent["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
                **object_in(call.signature),
            }
            for call in message.calls
        ]
    for thought in message.thoughts:
        sent |= thought
    return sent


def compatible_params(model: str, request: Request, options: Options) -> dict[str, Any]:
    """As `params`, with the older `max_tokens` that every compatible server knows."""
    sent = params(model, request, options)
    if "max_completion_tokens" in sent and "max_completion_tokens" not in options.params:
        sent["max_tokens"] = sent.pop("max_completion_tokens")
    return sent


async def send(client: Any, sent: dict[str, Any]) -> dict[str, Any]:
    """The body of a 200. The raw answer is read here: the SDK gives back a page of HTML as text.

    `post` is the SDK's way to any path; `chat.completions.create` would walk through every message
    to look for types it knows, at a third of the time that a call takes the processor.
    """
    raw = await client.post("/chat/completions", cast_to=object, body=sent, options=RAW)
    return parse_body(await content_of(raw), "choices")


def read(body: dict[str, Any], request: Request) -> Reply:
    """The reply in a chat completion; without a text, what the model handed to tools.

    >>> from voirdire.schema import Message, Request
    >>> choice = {"message": {"content": None, "refusal": "No."}, "finish_reason": "stop"}
    >>> reply = read({"choices": [choice]}, Request((Message("user", "Hi"),)))
    >>> reply.finish_reason, reply.text
    ('refusal', 'No.')
    """
    choices = items(body.get("choices"))
    if not choices:
        raise MalformedBodyError("an answer without choices", body)
    # The first by its number: some servers send several answers in the order in which they ended.
    choice = min(choices, key=lambda each: count(each.get("index")) or 0)
    message = mapping(choice.get("message"))
    # A refusal has a field of its own, and comes with the finish reason "stop" (API reference,
    # The chat completion object).
    parts = _parts(message)
    answer = texts_in(message.get("content"))
    refusal = "".join(part.text for part in parts if part.kind == "refusal")
    usage = billed(body)
    reason, ended = sure_end(
        text(choice.get("finish_reason")),
        text(choice.get("native_finish_reason")),
        usage,
        request.max_tokens,
        filtered=is_filtered(choice.get("content_filter_results")),
    )
    calls = asked_calls(_calls(message), request) if request.tools else ()
    # Where no tools were offered, a call is how some servers hand over a structured answer.
    if not (calls or answer):
        answer = given_to(_handed(message))
        parts += [Part("object", answer)] if answer else []
    handed = "call" if calls else ""
    _check_error(body, choice, reason, answer or refusal or handed)
    positions = items(mapping(choice.get("logprobs")).get("content"))
    return Reply(
        text=answer or refusal,
        finish_reason=finish_of(reason, answer or handed, refusal),
        usage=usage,
        model=text(body.get("model")),
        provider_id=text(body.get("id")),
        notes=(*unknown_finish(reason), *unknown_parts(message.get("content"))),
        option_logprobs=option_logprobs(positions_of(positions), request.options, answer),
        tool_calls=calls,
        thoughts=_thoughts(message) if calls else (),
        parts=(*parts, *call_parts(calls)),
        ended_by=ended,
        candidate=count(choice.get("index")) or 0,
    )


def _parts(message: dict[str, Any]) -> list[Part]:
    """Thoughts, texts and the refusal of a message, in that order."""
    thought = text(message.get("reasoning_content")) or text(message.get("reasoning"))
    refusal = text(message.get("refusal"))
    return [
        *([Part("reasoning", thought)] if thought else []),
        *parts_in(message.get("content")),
        *([Part("refusal", refusal)] if refusal else []),
    ]


def _calls(message: dict[str, Any]) -> list[ToolCall]:
    return [_call(call, mapping(call.get("function"))) for call in items(message.get("tool_calls"))]


def _call(call: dict[str, Any], function: dict[str, Any]) -> ToolCall:
    # Gemini behind this format wants the signature of its thoughts back, which stands here.
    extra = mapping(call.get("extra_content"))
    return ToolCall(
        text(call.get("id")),
        text(function.get("name")),
        arguments_of(function.get("arguments")),
        json.dumps({"extra_content": extra}) if extra else "",
    )


#: What DeepSeek (the first) and routers call the thoughts of a message; with calls of tools they
#: must come back, else the next request is refused.
_THOUGHTS = ("reasoning_content", "reasoning_details")


def _thoughts(message: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    thoughts = {name: message[name] for name in _THOUGHTS if message.get(name)}
    return (thoughts,) if thoughts else ()


def _handed(message: dict[str, Any]) -> list[Any]:
    calls = [mapping(call.get("function")) for call in items(message.get("tool_calls"))]
    # `function_call` came before `tool_calls`; older servers still send it.
    return [call.get("arguments") for call in (*calls, mapping(message.get("function_call")))]


def _check_error(body: dict[str, Any], choice: dict[str, Any], reason: str, answer: str) -> None:
    """Raise what a router says inside a 200: its provider failed, and no answer came of it."""
    error = choice.get("error") or body.get("error")
    # OpenRouter's finish reason for a provider that failed half way (page on errors).
    if reason == "error" or (error and not answer):
        said_of_it = error or {"message": "the generation ended in an error"}
        raise stated_error({**body, "error": said_of_it})


def billed(body: dict[str, Any]) -> Usage:
    """The tokens of an answer, whatever else is wrong with it."""
    return usage_of(mapping(body.get("usage")))


def positions_of(tokens: list[dict[str, Any]]) -> list[Position]:
    """Each token of a reply with its alternatives."""
    return [
        (
            text(token.get("token")),
            [
                (text(top.get("token")), float(top["logprob"]))
                for top in items(token.get("top_logprobs"))
                if isinstance(top.get("logprob"), int | float)
            ],
        )
        for token in tokens
    ]

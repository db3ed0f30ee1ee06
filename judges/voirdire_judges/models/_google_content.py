"""Google's generateContent: parameters out, reply in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.schema import Reply, Usage
from voirdire_judges.models._body import (
    added,
    count,
    given_to,
    items,
    mapping,
    parse_body,
    text,
)
from voirdire_judges.models._logprobs import option_logprobs

if TYPE_CHECKING:
    from voirdire.schema import FinishReason, Request
    from voirdire_judges.models._options import Options

#: Finish reasons of an answer that was withheld from us; SAFETY is how Gemini declines.
_WITHHELD = frozenset(
    {"RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR", "LANGUAGE"}
)
_PLAIN = frozenset({"", "STOP", "MAX_TOKENS"})


def params(model: str, request: Request, options: Options) -> dict[str, Any]:
    """The parameters of a call; all but `model` and `contents` are google-genai's config."""
    system = "\n\n".join(m.content for m in request.messages if m.role == "system")
    sent: dict[str, Any] = {
        "model": model,
        "contents": [
            {"role": "model" if m.role == "assistant" else "user", "parts": [{"text": m.content}]}
            for m in request.messages
            if m.role != "system"
        ],
        "system_instruction": system or None,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "max_output_tokens": request.max_tokens,
        "seed": request.seed,
    }
    if request.options and options.logprobs:
        sent |= {"response_logprobs": True, "logprobs": 20}
    if request.schema is not None and options.structured:
        sent |= {
            "response_mime_type": "application/json",
            "response_json_schema": dict(request.schema),
        }
    sent |= {**options.params, **request.params}
    return {name: value for name, value in sent.items() if value is not None}


async def send(opened: Any, sent: dict[str, Any]) -> dict[str, Any]:
    """The body of a 200, taken as it came."""
    config = {name: value for name, value in sent.items() if name not in {"model", "contents"}}
    client, _ = opened
    answer = await client.aio.models.generate_content(
        model=sent["model"],
        contents=sent["contents"],
        config={**config, "should_return_http_response": True},
    )
    body = answer.sdk_http_response.body or ""
    return parse_body(body, "candidates", "promptFeedback", "usageMetadata")


def read(body: dict[str, Any], request: Request) -> Reply:
    """The reply in a generateContent answer; without a text, what the model handed to tools.

    Thoughts are left aside.

    >>> from voirdire.schema import Message, Request
    >>> body = {"candidates": [], "promptFeedback": {"blockReason": "SAFETY"}}
    >>> reply = read(body, Request((Message("user", "Hi"),)))
    >>> reply.finish_reason, reply.notes
    ('content_filter', ('block_reason: SAFETY',))
    """
    blocked = text(mapping(body.get("promptFeedback")).get("blockReason"))
    candidate = next(iter(items(body.get("candidates"))), {})
    parts = items(mapping(candidate.get("content")).get("parts"))
    said = "".join(text(part.get("text")) for part in parts if part.get("thought") is not True)
    said = said or given_to(mapping(part.get("functionCall")).get("args") for part in parts)
    reason = text(candidate.get("finishReason"))
    notes = [f"block_reason: {blocked}"] if blocked else []
    notes += [f"finish_reason: {reason}"] if reason not in _PLAIN else []
    return Reply(
        text=said,
        finish_reason=_finish(reason, blocked, said),
        usage=_usage(mapping(body.get("usageMetadata"))),
        model=text(body.get("modelVersion")),
        provider_id=text(body.get("responseId")),
        notes=tuple(notes),
        option_logprobs=option_logprobs(_alternatives(candidate), request.options),
    )


def _finish(reason: str, blocked: str, said: str) -> FinishReason:
    if blocked or reason in _WITHHELD:
        return "content_filter"
    if reason == "SAFETY":
        return "refusal"
    if reason == "MAX_TOKENS":
        return "length"
    return "stop" if said.strip() else "empty"


def _usage(usage: dict[str, Any]) -> Usage:
    # candidatesTokenCount leaves the thoughts out; promptTokenCount holds the cached tokens.
    # A count of 0 is left out, as is all that is 0 in Google's JSON.
    thoughts = count(usage.get("thoughtsTokenCount"))
    none = 0 if count(usage.get("totalTokenCount")) is not None else None
    return Usage(
        input=count(usage.get("promptTokenCount")),
        output=added(count(usage.get("candidatesTokenCount")), thoughts, none),
        cached=count(usage.get("cachedContentTokenCount")),
        reasoning=thoughts,
    )


def _alternatives(candidate: dict[str, Any]) -> list[list[tuple[str, float]]]:
    return [
        [
            (text(top.get("token")), float(top["logProbability"]))
            for top in items(position.get("candidates"))
            if isinstance(top.get("logProbability"), int | float)
        ]
        for position in items(mapping(candidate.get("logprobsResult")).get("topCandidates"))
    ]

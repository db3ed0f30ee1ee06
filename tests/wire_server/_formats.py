"""An answer in each provider's format."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wire_server._answers import Answer
    from wire_server._seen import Seen

REFUSAL = "I'm sorry, but I can't help with that."


def body_of(answer: Answer, seen: Seen) -> dict[str, Any]:
    return _FORMATS[seen.format](answer, seen)


def _shown(answer: Answer) -> str:
    return "" if answer.finish in {"empty", "refusal"} else answer.text


def _chat(answer: Answer, seen: Seen) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": _shown(answer), "refusal": None}
    if answer.finish == "refusal":
        message.update(content=None, refusal=answer.text or REFUSAL)
    finish = answer.finish if answer.finish in {"length", "content_filter"} else "stop"
    if answer.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{seen.number}_{at}",
                "type": "function",
                "function": {"name": name, "arguments": given},
            }
            for at, (name, given) in enumerate(answer.calls)
        ]
        message["content"], finish = answer.text or None, "tool_calls"
    for fields in answer.blocks:
        message.update(fields)
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": finish}
    if seen.body.get("logprobs"):
        choice["logprobs"] = {"content": [_token(answer)]}
    return {
        "id": f"chatcmpl-{seen.number}",
        "object": "chat.completion",
        "created": 1,
        "model": seen.model,
        "choices": [choice],
        "usage": {
            "prompt_tokens": answer.input,
            "completion_tokens": answer.output,
            "total_tokens": answer.input + answer.output,
            "prompt_tokens_details": {"cached_tokens": answer.cached},
            "completion_tokens_details": {"reasoning_tokens": answer.reasoning},
        },
    }


def _token(answer: Answer) -> dict[str, Any]:
    top = [{"token": t, "logprob": p, "bytes": None} for t, p in answer.logprobs.items()]
    first = top[0] if top else {"token": answer.text[:1], "logprob": 0.0, "bytes": None}
    return {**first, "top_logprobs": top}


def _responses(answer: Answer, seen: Seen) -> dict[str, Any]:
    part: dict[str, Any] = {"type": "output_text", "text": _shown(answer), "annotations": []}
    if answer.finish == "refusal":
        part = {"type": "refusal", "refusal": answer.text or REFUSAL}
    if seen.body.get("top_logprobs") and answer.logprobs:
        part["logprobs"] = [_token(answer)]
    message = {
        "type": "message",
        "id": f"msg_{seen.number}",
        "status": "completed",
        "role": "assistant",
        "content": [part],
    }
    calls = [
        {
            "type": "function_call",
            "id": f"fc_{seen.number}_{at}",
            "call_id": f"call_{seen.number}_{at}",
            "name": name,
            "arguments": given,
            "status": "completed",
        }
        for at, (name, given) in enumerate(answer.calls)
    ]
    reasons = {"length": "max_output_tokens", "content_filter": "content_filter"}
    reason = reasons.get(answer.finish)
    return {
        "id": f"resp_{seen.number}",
        "object": "response",
        "created_at": 1,
        "model": seen.model,
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "output": [
            *answer.blocks,
            *([] if answer.finish == "empty" or answer.calls else [message]),
            *calls,
        ],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": answer.input,
            "input_tokens_details": {"cached_tokens": answer.cached, "cache_write_tokens": 0},
            "output_tokens": answer.output,
            "output_tokens_details": {"reasoning_tokens": answer.reasoning},
            "total_tokens": answer.input + answer.output,
        },
    }


def _anthropic(answer: Answer, seen: Seen) -> dict[str, Any]:
    reasons = {"length": "max_tokens", "refusal": "refusal", "content_filter": "refusal"}
    content: list[dict[str, Any]] = list(answer.blocks)
    if answer.finish not in {"empty", "refusal", "content_filter"} and not answer.calls:
        content.append(_block(answer, seen))
    content += [
        {
            "type": "tool_use",
            "id": f"toolu_{seen.number}_{at}",
            "name": name,
            "input": _object(given),
        }
        for at, (name, given) in enumerate(answer.calls)
    ]
    tool = content and content[-1]["type"] == "tool_use"
    return {
        "id": f"msg_{seen.number}",
        "type": "message",
        "role": "assistant",
        "model": seen.model,
        "content": content,
        "stop_reason": reasons.get(answer.finish, "tool_use" if tool else "end_turn"),
        "stop_sequence": None,
        "usage": {
            "input_tokens": answer.input - answer.cached,
            "output_tokens": answer.output,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": answer.cached,
            "service_tier": "standard",
        },
    }


def _object(given: str) -> Any:
    try:
        return json.loads(given)
    except ValueError:
        return given


def _block(answer: Answer, seen: Seen) -> dict[str, Any]:
    choice = seen.body.get("tool_choice") or {}
    if choice.get("type") == "tool" and answer.finish == "stop":
        given = json.loads(answer.text)
        return {"type": "tool_use", "id": "toolu_1", "name": choice["name"], "input": given}
    return {"type": "text", "text": answer.text}


def _google(answer: Answer, seen: Seen) -> dict[str, Any]:
    usage = {
        "promptTokenCount": answer.input,
        "candidatesTokenCount": answer.output - answer.reasoning,
        "thoughtsTokenCount": answer.reasoning,
        "cachedContentTokenCount": answer.cached,
        "totalTokenCount": answer.input + answer.output,
    }
    found = {
        "usageMetadata": usage,
        "modelVersion": seen.model,
        "responseId": f"g-{seen.number}",
        "candidates": [],
    }
    if answer.finish == "content_filter":
        return {**found, "promptFeedback": {"blockReason": "SAFETY"}}
    reasons = {"length": "MAX_TOKENS", "refusal": "SAFETY"}
    content: dict[str, Any] = {"role": "model"}
    if _shown(answer):
        content["parts"] = [{"text": answer.text}]
    if answer.calls:
        content["parts"] = [
            {"functionCall": {"name": name, "args": _object(given)}, "thoughtSignature": "c2ln"}
            for name, given in answer.calls
        ]
    candidate: dict[str, Any] = {
        "index": 0,
        "content": content,
        "finishReason": reasons.get(answer.finish, "STOP"),
    }
    if seen.body.get("generationConfig", {}).get("responseLogprobs"):
        top = [{"token": t, "logProbability": p} for t, p in answer.logprobs.items()]
        candidate["logprobsResult"] = {
            "topCandidates": [{"candidates": top}],
            "chosenCandidates": top[:1],
        }
    return {**found, "candidates": [candidate]}


def _systemone(answer: Answer, seen: Seen) -> dict[str, Any]:
    """Every question as a choice: the text, beside the probabilities that `logprobs` hold."""
    return {
        "model": seen.model,
        "answers": {
            name: {
                "type": "choice", "choice": _shown(answer), "confidence": 0.5,
                "probabilities": {o: math.exp(p) for o, p in answer.logprobs.items()},
            }
            for name in seen.body["questions"]
        },
        "usage": {"input_tokens": answer.input, "output_tokens": 0},
    }  # fmt: skip


_FORMATS = {
    "chat": _chat, "responses": _responses, "anthropic": _anthropic, "google": _google,
    "systemone": _systemone,
}  # fmt: skip

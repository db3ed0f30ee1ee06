"""From LangChain's AIMessage to a reply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.schema import Reply, Usage
from voirdire_judges.models._body import count, given_to, items, mapping, text, texts_in
from voirdire_judges.models._finish import finish_of

if TYPE_CHECKING:
    from collections.abc import Mapping


def read(message: Any, sent: Mapping[str, Any], notes: tuple[str, ...], seconds: float) -> Reply:
    """The reply in a message, whatever integration made it; else what was handed to tools."""
    meta = mapping(getattr(message, "response_metadata", None))
    extra = mapping(getattr(message, "additional_kwargs", None))
    calls = items(getattr(message, "tool_calls", None))
    said = texts_in(getattr(message, "content", "")) or given_to(c.get("args") for c in calls)
    refusal = text(extra.get("refusal")) or _refusals(getattr(message, "content", ""))
    return Reply(
        text=said or refusal,
        finish_reason=finish_of(_reason(meta), said, refusal),
        usage=_usage(mapping(getattr(message, "usage_metadata", None))),
        model=text(meta.get("model_name")) or text(meta.get("model")),
        params=dict(sent),
        provider_id=text(meta.get("id")) or text(getattr(message, "id", "")),
        latency=seconds,
        notes=notes,
    )


def _refusals(content: Any) -> str:
    return "".join(text(p.get("refusal")) for p in items(content) if p.get("type") == "refusal")


def _reason(meta: dict[str, Any]) -> str:
    incomplete = mapping(meta.get("incomplete_details")).get("reason")
    blocked = mapping(meta.get("prompt_feedback")).get("block_reason")
    if blocked:
        return "content_filter"
    found = incomplete or meta.get("finish_reason") or meta.get("stop_reason") or ""
    return str(getattr(found, "name", found))


def _usage(usage: dict[str, Any]) -> Usage:
    # LangChain's own counts already hold the cached and the reasoning tokens.
    return Usage(
        input=count(usage.get("input_tokens")),
        output=count(usage.get("output_tokens")),
        cached=count(mapping(usage.get("input_token_details")).get("cache_read")),
        reasoning=count(mapping(usage.get("output_token_details")).get("reasoning")),
    )

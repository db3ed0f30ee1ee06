"""From LangChain's AIMessage to a reply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.schema import Reply, Usage
from voirdire_judges.models._body import count, items, mapping, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voirdire.schema import FinishReason

_LENGTH = frozenset({"length", "max_tokens", "max_output_tokens", "model_context_window_exceeded"})
_FILTERED = frozenset(
    {"content_filter", "blocklist", "prohibited_content", "recitation", "spii", "model_armor"}
)
_REFUSED = frozenset({"refusal", "safety"})


def read(message: Any, sent: Mapping[str, Any], notes: tuple[str, ...], seconds: float) -> Reply:
    """The reply in a message, whatever integration made it."""
    meta = mapping(getattr(message, "response_metadata", None))
    extra = mapping(getattr(message, "additional_kwargs", None))
    said = _said(getattr(message, "content", ""))
    refusal = text(extra.get("refusal")) or _refusals(getattr(message, "content", ""))
    return Reply(
        text=said or refusal,
        finish_reason=_finish(_reason(meta), said, refusal),
        usage=_usage(mapping(getattr(message, "usage_metadata", None))),
        model=text(meta.get("model_name")) or text(meta.get("model")),
        params=dict(sent),
        provider_id=text(meta.get("id")) or text(getattr(message, "id", "")),
        latency=seconds,
        notes=notes,
    )


def _said(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(
        part if isinstance(part, str) else text(part.get("text"))
        for part in parts
        if isinstance(part, str) or (isinstance(part, dict) and part.get("type") == "text")
    )


def _refusals(content: Any) -> str:
    return "".join(text(p.get("refusal")) for p in items(content) if p.get("type") == "refusal")


def _reason(meta: dict[str, Any]) -> str:
    incomplete = mapping(meta.get("incomplete_details")).get("reason")
    blocked = mapping(meta.get("prompt_feedback")).get("block_reason")
    if blocked:
        return "content_filter"
    found = incomplete or meta.get("finish_reason") or meta.get("stop_reason") or ""
    return str(getattr(found, "name", found)).lower()


def _finish(reason: str, said: str, refusal: str) -> FinishReason:
    if refusal or reason in _REFUSED:
        return "refusal"
    if reason in _FILTERED:
        return "content_filter"
    if reason in _LENGTH:
        return "length"
    return "stop" if said.strip() else "empty"


def _usage(usage: dict[str, Any]) -> Usage:
    # LangChain's own counts already hold the cached and the reasoning tokens.
    return Usage(
        input=count(usage.get("input_tokens")),
        output=count(usage.get("output_tokens")),
        cached=count(mapping(usage.get("input_token_details")).get("cache_read")),
        reasoning=count(mapping(usage.get("output_token_details")).get("reasoning")),
    )

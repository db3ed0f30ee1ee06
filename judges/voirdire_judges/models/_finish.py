"""Why a model stopped, by whatever word its server has for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from voirdire.schema import FinishReason

_LENGTH = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"}
)
_FILTERED = frozenset(
    {"content_filter", "blocklist", "prohibited_content", "recitation", "spii", "model_armor"}
)
_REFUSED = frozenset({"refusal", "safety"})


def finish_of(reason: str, said: str, refusal: str) -> FinishReason:
    """One of ours for a server's reason, the text and the refusal.

    A refusal may come with the reason "stop", and a cut answer may be empty: reasoning ate the cap.

    >>> finish_of("model_length", '{"Emp', ""), finish_of("content_filter: SAFETY", "", "")
    ('length', 'content_filter')
    >>> finish_of("stop", "", ""), finish_of("", "4", "")
    ('empty', 'stop')
    """
    word = reason.lower().partition(":")[0].strip()
    if refusal or word in _REFUSED:
        return "refusal"
    if word in _FILTERED:
        return "content_filter"
    if word in _LENGTH:
        return "length"
    return "stop" if said.strip() else "empty"

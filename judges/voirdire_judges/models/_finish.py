"""Why a model stopped, by whatever word its server has for it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from voirdire.schema import ENDED, Note

if TYPE_CHECKING:
    from voirdire.schema import FinishReason

_LENGTH = frozenset(
    {"length", "max_length", "max_tokens", "max_output_tokens", "max_new_tokens", "model_length"}
    | {"model_context_window_exceeded"}
)
_FILTERED = frozenset(
    {"content_filter", "content_filtered", "blocklist", "prohibited_content", "recitation", "spii"}
    | {"model_armor", "guardrail_intervened", "sensitive", "language"}
)
_REFUSED = frozenset({"refusal", "safety"})
_KNOWN = ENDED | _LENGTH | _FILTERED | _REFUSED
#: Characters of an unknown word that are shown.
_SHOWN = 40


def finish_of(reason: str, said: str, refusal: str = "") -> FinishReason:
    """One of ours for a server's reason, the text and the refusal.

    A refusal may come with the reason "stop", and a cut answer may be empty: reasoning ate the cap.
    After a word that is not known the text may be whole or not, so it is read as one that was cut:
    what it states in full counts, and nothing else (`unknown_finish` says so).

    >>> finish_of("model_length", '{"Emp', ""), finish_of("content_filter: SAFETY", "", "")
    ('length', 'content_filter')
    >>> finish_of("stop", "", ""), finish_of("", "4", ""), finish_of("system_overload", "4", "")
    ('empty', 'stop', 'length')
    """
    word = _word(reason)
    if refusal or word in _REFUSED:
        return "refusal"
    if word in _FILTERED:
        return "content_filter"
    if word in _LENGTH:
        return "length"
    if not said.strip():
        return "empty"
    return "stop" if word in ENDED else "length"


def unknown_finish(reason: str) -> tuple[Note, ...]:
    """A note on a word that is not known; none on those that are.

    >>> print(*unknown_finish("system_overload"))
    unknown_word finish_reason system_overload: the text is read as one that may be cut
    >>> unknown_finish("STOP")
    ()
    """
    if reason in _KNOWN or (word := _word(reason)) in _KNOWN:
        return ()
    return (unknown("finish_reason", word, "the text is read as one that may be cut"),)


def unknown(what: str, word: str, said: str) -> Note:
    """A note on a word in an answer that is not known, made harmless and short."""
    plain = re.sub(r"[^\w.-]+", "_", word)[:_SHOWN]
    return Note("unknown_word", f"{what} {plain}", said)


def _word(reason: str) -> str:
    return reason.lower().partition(":")[0].strip()

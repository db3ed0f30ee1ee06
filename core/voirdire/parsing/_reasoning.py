"""Reasoning blocks taken out of a reply, so that a draft is never read as the answer."""

from __future__ import annotations

import re
from string import ascii_uppercase, digits
from typing import NamedTuple

from voirdire.parsing._decoders import TextReader, TooMuchError, decode_loose

_NAME = (
    "think|thinking|thoughts?|reasoning|reflection|scratchpad|analysis"
    "|(?:inner_?)?monologue|seed:think"
)
# A tag between back-ticks or quotes is talked about, not used. No possessive group here or around
# numbers: Python before 3.11.5 loses their place (CPython issue 106052).
_TAG = re.compile(
    rf"(?:(?P<quoted>(?<=[`\"'“‘]))|(?<![`\"'“‘]))(?:<(?P<close>/)?(?:{_NAME})(?:\s[^<>]{{0,80}})?>"
    r"|\[(?P<square>/)?THINK\]|◁(?P<white>/)?think▷"
    r"|<\|(?:(?P<token>/|end_of_|end_)|(?:begin_of_|start_)?)(?:thought|thinking|think)\|>)(?(quoted)(?![`\"'”’]))",
    re.IGNORECASE,
)
# A tag inside an object is part of its text: objects are stepped over whole.
_TAG_OR_OBJECT = re.compile(rf"{_TAG.pattern}|\{{", re.IGNORECASE)
_TAG_SIGNS = frozenset("<[◁")
_CHANNEL = "<|channel|>"
# The last channel of gpt-oss, "<|channel|>final<|message|>": what it holds is the answer.
_FINAL = re.compile(r"<\|channel\|>\s*final\b[^<]{0,80}(?:<\|message\|>)?")
# The same where a server took the tokens out: "analysisThe text ...assistantfinal4".
_BARE_CHANNEL = tuple(f"analysis{sign}" for sign in (*ascii_uppercase, *digits, *"\n[{"))
_BARE_FINAL = re.compile(r"(?:assistant|(?<=\n))final(?:\s*json)?[ \t]*(?=\S|\n|\Z)")
_MAX_LOOKS = 10


class WithoutReasoning(NamedTuple):
    """What is left of a reply without its reasoning; `unclosed` where the reasoning never ends."""

    text: str
    removed: bool = False
    unclosed: bool = False


def drop_reasoning(text: str) -> WithoutReasoning:
    """Everything up to the last closing tag outside a JSON string is dropped.

    A block that is never closed means that there is no answer behind it: what stands before the
    opening tag is kept, the rest is not.

    >>> drop_reasoning('<think>Maybe {"Empathy": 2}?</think> {"Empathy": 4}').text
    ' {"Empathy": 4}'
    >>> drop_reasoning('<think>Maybe {"Empathy": 2}? I should').unclosed
    True
    """
    if _CHANNEL in text:
        return _last_channel(text)
    if text.startswith(_BARE_CHANNEL):
        return _last_bare_channel(text)
    if _TAG_SIGNS.isdisjoint(text) or not _TAG.search(text):
        return WithoutReasoning(text)
    return _without_blocks(text)


def _last_channel(text: str) -> WithoutReasoning:
    finals = list(_FINAL.finditer(text))
    # Analysis alone: the channel of the answer was never opened.
    if not finals:
        return WithoutReasoning("", removed=True, unclosed=True)
    return WithoutReasoning(text[finals[-1].end() :].partition("<|")[0], removed=True)


def _last_bare_channel(text: str) -> WithoutReasoning:
    finals = list(_BARE_FINAL.finditer(text))
    if not finals:
        return WithoutReasoning("", removed=True, unclosed=True)
    return WithoutReasoning(text[finals[-1].end() :], removed=True)


def _without_blocks(text: str) -> WithoutReasoning:
    kept: list[str] = []
    at = start = looks = 0
    # From tag to tag; objects in between are stepped over, for a tag within is part of their text.
    while match := _TAG_OR_OBJECT.search(text, at):
        if match.group() == "{":
            looks += 1
            # Each look may read to the end of the text: ten of them, so that a
            # hostile one stays linear.
            at = _behind_object(text, match.start()) if looks <= _MAX_LOOKS else match.end()
        elif _closes(match):  # all before it was reasoning, whether or not a tag opened it
            kept, at, start = [], match.end(), match.end()
        else:
            kept.append(text[start : match.start()])
            closing = _next_closing(text, match.end())
            if closing is None:
                return WithoutReasoning("".join(kept), removed=True, unclosed=True)
            at = start = closing
    kept.append(text[start:])
    return WithoutReasoning("".join(kept), removed=start > 0)


def _closes(tag: re.Match[str]) -> bool:
    return bool(tag["close"] or tag["square"] or tag["white"] or tag["token"])


def _next_closing(text: str, at: int) -> int | None:
    return next((tag.end() for tag in _TAG.finditer(text, at) if _closes(tag)), None)


def _behind_object(text: str, at: int) -> int:
    """Where to go on: behind an object whose strings may hold tags, or just behind its brace.

    A repaired object shields its tags only if no sound object follows the last of them: an unclosed
    draft would otherwise swallow the closing tag together with the answer.
    """
    end = _sound_end(text, at)
    if end is not None:
        return end
    try:
        _, end, closed = TextReader(text).read(at)
    except TooMuchError:
        return at + 1
    # A draft that was left open reads on through the closing tag and into the answer.
    closing = [tag.end() for tag in _TAG.finditer(text, at, end) if _closes(tag)]
    follows = text.find("{", closing[-1]) if closing else -1
    if not closed or (follows >= 0 and _sound_end(text, follows) is not None):
        return at + 1
    return max(end, at + 1)


def _sound_end(text: str, at: int) -> int | None:
    try:
        return decode_loose(text, at)[1]
    except (ValueError, RecursionError):
        return None

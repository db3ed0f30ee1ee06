"""Reading foreign JSON: bodies checked once, fields taken without trust, why a model stopped."""

from __future__ import annotations

import importlib
import json
import re
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from voirdire.schema import ENDED, Note, Part, Usage
from voirdire_judges.models._faults import MalformedBodyError, WireError, stated_status

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from voirdire.schema import FinishReason, Request, ToolCall


def parse_body(content: bytes | str, *keys: str) -> dict[str, Any]:
    """The JSON object of a 200; without any of the keys it is a fault, and so is an error in it.

    A byte that is no UTF-8 becomes the replacement character, and a bare control character stands
    for itself: neither is worth a reply that is paid for.

    >>> parse_body(b'{"choices": []}', "choices")
    {'choices': []}
    >>> parse_body("<html>Sign in</html>", "choices")
    Traceback (most recent call last):
    voirdire_judges.models._faults.MalformedBodyError: not JSON: '<html>Sign in</html>'
    """
    try:
        body = load_body(content)
    except (ValueError, RecursionError):
        raise MalformedBodyError(f"not JSON: {_decoded(content)[:80]!r}") from None
    # Google's path that is compatible with OpenAI's wraps an error in a list.
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, dict):
        raise MalformedBodyError(f"no {keys[0]!r}: {_decoded(content)[:80]!r}")
    # A router answers 200 where the provider behind it failed (OpenRouter, page on errors).
    # Beside an answer an error is no more than a warning, and the answer is paid for.
    if body.get("error") and not body.get(keys[0]):
        raise stated_error(body)
    if all(body.get(key) is None for key in keys):
        raise MalformedBodyError(f"no {keys[0]!r}: {_decoded(content)[:80]!r}", body)
    return body


def load_body(content: bytes | str) -> Any:
    """What JSON says, by orjson where it is there and by Python's own where that is too strict.

    orjson takes no lone surrogate, no NaN, no byte that is not UTF-8 and no control character; of
    what it does take it makes the same objects.
    """
    if (fast := _orjson()) is not None:
        with suppress(ValueError):  # read below, or an error there
            return fast.loads(content)
    return json.loads(_decoded(content), strict=False)


def dump_body(sent: dict[str, Any]) -> bytes:
    """Parameters as the bytes of a JSON object; what orjson does not write, Python's own does."""
    if (fast := _orjson()) is not None:
        with suppress(TypeError):  # whole numbers beyond 64 bits, keys that are no text
            written: bytes = fast.dumps(sent)
            return written
    return json.dumps(sent, ensure_ascii=False).encode()


def parse_error(content: bytes) -> Any:
    """The body of an error: what its JSON says, or its text."""
    try:
        return load_body(content)
    except (ValueError, RecursionError):
        return _decoded(content)


def _decoded(content: bytes | str) -> str:
    # -sig: Python's JSON refuses the byte order mark that some servers begin with.
    return content if isinstance(content, str) else content.decode("utf-8-sig", errors="replace")


@cache
def _orjson() -> Any:
    """The module, or None: the extra `compatible` brings it, the SDKs get on without."""
    try:
        return importlib.import_module("orjson")
    except ImportError:
        return None


def stated_error(body: dict[str, Any]) -> WireError:
    """The error that a 200 states, with the status that it would have come with."""
    return WireError(stated_status(body.get("error")), body)


#: Asks an SDK of Stainless (OpenAI's, Anthropic's) for the answer as it came.
RAW: Any = {"headers": {"X-Stainless-Raw-Response": "raw"}}


async def content_of(raw: Any) -> bytes:
    """The body that an SDK's raw response carries, before the SDK makes objects of it."""
    content: bytes = await raw.http_response.aread()
    return content


def mapping(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[dict[str, Any]]:
    """The objects in a list; nothing where it is none."""
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []


def text(value: Any) -> str:
    """The value if it is text, else the empty text."""
    return value if isinstance(value, str) else ""


def texts_in(content: Any) -> str:
    """The text of a message's content: a string, or the text parts of a list; thoughts are none.

    >>> texts_in([{"type": "thinking", "thinking": "..."}, {"type": "text", "text": "4"}])
    '4'
    """
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return joined(_text_of(part) for part in parts)


def _text_of(part: Any) -> str | None:
    if isinstance(part, dict):
        kind = part.get("type", "text")
        return text(part.get("text")) if kind in {"text", "output_text"} else None
    return part if isinstance(part, str) else None


def joined(texts: Iterable[str | None]) -> str:
    r"""The pieces of one text put together; None stands for something else between them.

    What a tool call or a thought parts is no one word: a break is kept there.

    >>> joined(["4", " of 5"]), joined(["8", None, "5"])
    ('4 of 5', '8\n\n5')
    """
    runs = [""]
    for piece in texts:
        if piece is not None:
            runs[-1] += piece
        elif runs[-1]:
            runs.append("")
    return BREAK.join(filter(None, runs))


def one_answer(texts: Sequence[str]) -> tuple[str, tuple[Note, ...]]:
    r"""The answer that several messages of one reply give, and a note where they differ.

    Nothing says which of them is final, so all are kept, a break between them.

    >>> one_answer(["Score: 4", "Score: 4"]), one_answer(["8", "5"])[0]
    (('Score: 4', ()), '8\n\n5')
    """
    distinct = list(dict.fromkeys(each for each in texts if each.strip()))
    if len(distinct) < 2:
        return (distinct or [""])[0], ()
    detail = "nothing says which is final, and all are read together"
    return BREAK.join(distinct), (Note("several_messages", str(len(distinct)), detail),)


#: Between texts that are no one text.
BREAK = "\n\n"


def unknown_parts(content: Any) -> tuple[Note, ...]:
    """A note on each kind of part in a message's content that is neither read nor known.

    >>> unknown_parts([{"type": "text", "text": "4"}, {"type": "hologram"}])
    (Note(kind='unknown_word', about='part hologram', detail='it was not read'),)
    """
    if isinstance(content, str):
        return ()
    kinds = {text(part.get("type", "text")) for part in items(content)}
    return tuple(unknown("part", kind, "it was not read") for kind in sorted(kinds - _PARTS))


#: Parts of a message that are read, or known not to be the answer.
_PARTS = frozenset(
    {"text", "output_text", "refusal", "thinking", "redacted_thinking", "reasoning", "tool_use"}
    | {"function_call", "tool_call", "input_json_delta", "reasoning_content", "annotations"}
)


def parts_in(content: Any) -> list[Part]:
    """The parts of a message's content in order, of every format that has such parts."""
    if isinstance(content, str):
        return [Part("text", content)] if content else []
    return [
        part
        for each in (content if isinstance(content, list) else [])
        for part in _parts_of(each)
        if part.text or part.name
    ]


def _parts_of(each: Any) -> list[Part]:
    if isinstance(each, str):
        return [Part("text", each)]
    part = mapping(each)
    kind, phase = text(part.get("type", "text")), text(part.get("phase"))
    if kind in {"text", "output_text"}:
        return [Part("text", text(part.get("text")), phase)]
    if kind == "refusal":
        return [Part("refusal", text(part.get("refusal")))]
    if kind in {"tool_use", "function_call", "tool_call"}:
        given = part.get("input", part.get("arguments", part.get("args")))
        name = text(part.get("name"))
        return [Part("tool_call", "" if given is None else arguments_of(given), "", name)]
    if kind in {"thinking", "reasoning", "reasoning_content", "redacted_thinking"}:
        return [Part("reasoning", _thought(part))]
    return []


def _thought(part: dict[str, Any]) -> str:
    """The words of a thought, under whichever name: a text, or a list of texts."""
    for name in ("thinking", "reasoning", "text", "summary", "content", "reasoning_content"):
        value = part.get(name)
        if isinstance(value, str) and value:
            return value
        if inner := "\n".join(filter(None, (text(one.get("text")) for one in items(value)))):
            return inner
    return ""


def call_parts(calls: Iterable[ToolCall]) -> list[Part]:
    """Calls of tools as parts."""
    return [Part("tool_call", call.arguments, "", call.name) for call in calls]


def ended_by(field: str, word: str) -> str:
    """The field of a provider that says how a reply ended, and its word, short and plain."""
    plain = re.sub(r"[^\w.-]+", "_", word)[:_SHOWN]
    return f"{field} {plain}" if plain else ""


def given_to(calls: Iterable[Any]) -> str:
    r"""What a model handed to tools in place of a text, one JSON value a line.

    >>> given_to(['{"Empathy": 4}', {"Safety": 5}, None])
    '{"Empathy": 4}\n{"Safety": 5}'
    """
    return "\n".join(
        given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        for given in calls
        if given is not None
    )


def asked_calls(calls: Iterable[ToolCall], request: Request) -> tuple[ToolCall, ...]:
    """The calls of a reply, each with an id; none where the request brought no tools.

    Without tools of ours a call is a provider's way to hand over the answer (`given_to`).
    """
    if not request.tools:
        return ()
    return tuple(
        call if call.id else replace(call, id=f"call_{at}")
        for at, call in enumerate(calls, start=1)
    )


def arguments_of(value: Any) -> str:
    """Arguments of a call as text: as they came, or an object as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def object_in(arguments: str) -> dict[str, Any]:
    """The object that arguments are, for a provider that takes nothing else back."""
    try:
        return mapping(json.loads(arguments))
    except (ValueError, RecursionError):
        return {}


def count(value: Any) -> int | None:
    """A number of tokens, or None where the provider does not say."""
    if type(value) is int and value >= 0:  # as in nearly every answer
        return value
    # Some servers count in floats: 12.0.
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    good = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if good else None


def usage_of(usage: dict[str, Any], *, beside: bool = False) -> Usage:
    """Tokens in the fields of chat completions, responses, LangChain and those who follow them.

    Whether reasoning is counted inside the output or beside it differs between endpoints of one
    format, and their documentation is often wrong: the total decides. What it holds beyond input
    and output is reasoning, or cached input where it is just as much as that; without an account of
    it, it is output, the dearer of the two, so that a limit on cost holds. Where there is no total,
    reasoning is `beside` the output where the format says so, and where it is more than the output.

    >>> details = {"completion_tokens_details": {"reasoning_tokens": 94}}
    >>> usage_of({"prompt_tokens": 32, "completion_tokens": 9, "total_tokens": 135, **details})
    Usage(input=32, output=103, cached=None, reasoning=94, written=None)
    >>> usage_of({"prompt_tokens": 1000, "completion_tokens": 10, "prompt_cache_hit_tokens": 800})
    Usage(input=1000, output=10, cached=800, reasoning=None, written=None)
    """
    given = _first(usage, _INPUT)
    out = _first(usage, _OUTPUT)
    cached = reasoning = written = None
    # A server of one's own mostly gives the three plain counts: no need to look for others
    # then.
    if not usage.keys() <= _PLAIN:
        cached, reasoning = _first(usage, _CACHED), _first(usage, _REASONING)
        written = _first(usage, _WRITTEN) or None
    total = _first(usage, _TOTAL)
    if out is None:
        return Usage(given, out, cached, reasoning, written)
    if total is None or given is None:
        apart = (reasoning or 0) if beside or (reasoning or 0) > out else 0
        return Usage(given, out + apart, cached, reasoning, written)
    # A total below its parts is a mistake, and no refund.
    rest = max(total - given - out, 0)
    if rest and rest == cached and rest != reasoning:
        return Usage(given + rest, out, cached, reasoning, written)
    return Usage(given, out + rest, cached, reasoning, written)


#: Where the counts stand, each as the way through the object; the first that is there counts.
_INPUT = ("prompt_tokens", "input_tokens", "promptTokenCount")
_OUTPUT = ("completion_tokens", "output_tokens", "candidatesTokenCount")
_TOTAL = ("total_tokens", "totalTokenCount")
_PLAIN = {*_INPUT, *_OUTPUT, *_TOTAL}
_CACHED = (
    ("prompt_tokens_details", "cached_tokens"),
    ("input_tokens_details", "cached_tokens"),
    ("input_token_details", "cache_read"),
    "prompt_cache_hit_tokens",  # DeepSeek
    "cached_tokens",  # Moonshot
    "num_cached_tokens",
    "cache_read_input_tokens",  # Anthropic's field, as routers hand it on
    "cachedContentTokenCount",
)
# What was written to a cache is input at a price of its own (OpenAI, OpenRouter, Anthropic).
_WRITTEN = (
    ("prompt_tokens_details", "cache_write_tokens"),
    ("input_tokens_details", "cache_write_tokens"),
    ("input_token_details", "cache_creation"), "cache_creation_input_tokens",
    "cache_write_tokens",
)  # fmt: skip
_REASONING = (
    ("completion_tokens_details", "reasoning_tokens"),
    ("output_tokens_details", "reasoning_tokens"),
    ("output_token_details", "reasoning"), "reasoning_tokens", "thoughtsTokenCount",
)  # fmt: skip


def _first(usage: dict[str, Any], ways: Iterable[str | tuple[str, str]]) -> int | None:
    for way in ways:
        value = usage.get(way) if type(way) is str else mapping(usage.get(way[0])).get(way[1])
        if (number := count(value)) is not None:
            return number
    return None


def added(*values: int | None) -> int | None:
    """The sum of those that are known; None where none is."""
    present = [value for value in values if value is not None]
    return sum(present) if present else None


# OpenAI's length, max_output_tokens of responses, Anthropic's max_tokens and
# model_context_window_exceeded, Mistral's model_length, and what servers of one's own say.
_LENGTH = frozenset(
    {"length", "max_length", "max_tokens", "max_output_tokens", "max_new_tokens", "model_length"}
    | {"model_context_window_exceeded"}
)
# Finish reasons of the Gemini API and of Bedrock, and "sensitive" of Zhipu.
_FILTERED = frozenset(
    {"content_filter", "content_filtered", "blocklist", "prohibited_content", "recitation", "spii"}
    | {"model_armor", "guardrail_intervened", "sensitive", "language"}
)
# Gemini has no word for a refusal: SAFETY stands for what its model would not say.
_REFUSED = frozenset({"refusal", "safety"})
_KNOWN = ENDED | _LENGTH | _FILTERED | _REFUSED
#: Characters of an unknown word that are shown.
_SHOWN = 40


def finish_of(reason: str, answer: str, refusal: str = "") -> FinishReason:
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
    if not answer.strip():
        return "empty"
    return "stop" if word in ENDED else "length"


def is_filtered(results: Any) -> bool:
    """Whether Azure's results of filters say that one withheld the answer."""
    return any(mapping(each).get("filtered") is True for each in mapping(results).values())


def sure_end(
    reason: str,
    native: str,
    usage: Usage,
    cap: int | None,
    *,
    filtered: bool = False,
    names: tuple[str, str] = ("finish_reason", "completion_tokens"),
) -> tuple[str, str]:
    """The word for how a reply ended, and the field that says so, where several do.

    `names` are what a format calls the reason and the tokens that were written.

    Some servers and routers say *stop* of every reply: the provider's own word goes before it
    (``native_finish_reason``), a filter's result, and as many tokens as were allowed.

    >>> sure_end("stop", "MAX_TOKENS", Usage(), None)
    ('MAX_TOKENS', 'native_finish_reason MAX_TOKENS')
    >>> sure_end("stop", "", Usage(output=20), 20)
    ('length', 'completion_tokens 20')
    """
    word = _word(reason)
    if native and word in ENDED | {""} and _word(native) in _LENGTH | _FILTERED | _REFUSED:
        return native, ended_by("native_finish_reason", native)
    if filtered and word in ENDED | {""}:
        return "content_filter", "content_filter_results filtered"
    if word in ENDED - _CALLED and cap is not None and usage.output is not None:
        reasoning = usage.reasoning or 0
        if usage.output == cap or usage.output - reasoning == cap:
            return "length", ended_by(names[1], str(cap))
    return reason, ended_by(names[0], reason)


#: Ends that a call of a tool gives: whatever it counts, the call is whole.
_CALLED = frozenset({"tool_calls", "tool_use", "function_call"})


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


def unknown(what: str, word: str, detail: str) -> Note:
    """A note on a word in an answer that is not known, made harmless and short."""
    plain = re.sub(r"[^\w.-]+", "_", word)[:_SHOWN]
    return Note("unknown_word", f"{what} {plain}", detail)


def _word(reason: str) -> str:
    # A router writes its own word first and the provider's behind a colon.
    return reason.lower().partition(":")[0].strip()

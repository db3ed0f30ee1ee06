"""Which parameter a model refuses, and what may be done about it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from voirdire_judges.models._status import error_of, words

if TYPE_CHECKING:
    from collections.abc import Iterable

_REFUSES = re.compile(
    r"unsupported|not (?:be )?(?:supported|permitted|allowed|enabled|available)"
    r"|does(?: not|n't) support|unrecognized|unknown|unexpected|cannot find field"
    r"|invalid (?:argument|parameter|field)|deprecated|only be set|instead",
    re.IGNORECASE,
)
#: Parameters that make sense together only.
_GROUPS = (
    frozenset({"logprobs", "top_logprobs"}),
    frozenset({"top_logprobs", "include"}),
    frozenset({"logprobs", "response_logprobs"}),
    frozenset({"tools", "tool_choice"}),
    frozenset({"response_json_schema", "response_mime_type"}),
)
#: Without these there is no call.
_NEEDED = frozenset(
    {"model", "messages", "input", "contents", "system", "system_instruction", "store"}
)
#: Names that are ordinary words too, and are meant only where they are quoted.
_ORDINARY = frozenset({"text", "include", "user", "tools", "stop", "options", "n"})
_RENAMES = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}


def refused_parameter(body: Any, sent: Iterable[str]) -> str:
    """The sent parameter that an error body refuses; empty where it is about something else.

    >>> body = {"error": {"code": "unsupported_value", "param": "temperature", "message": "no"}}
    >>> refused_parameter(body, {"temperature": 0, "seed": 1})
    'temperature'
    >>> refused_parameter({"error": {"message": "`top_p` is deprecated"}}, ["top_p"])
    'top_p'
    >>> refused_parameter({"error": {"message": "the prompt is too long"}}, ["top_p"])
    ''
    """
    candidates = [name for name in sent if name not in _NEEDED]
    error = error_of(body)
    named = str(error.get("param") or "")
    said = " ".join(words(error))
    if not _REFUSES.search(said):
        return ""
    for name in candidates:
        if named.partition(".")[0] == name or _mentions(said, name):
            return name
    return ""


def _mentions(text: str, name: str) -> bool:
    spelt = "[_ ]?".join(re.escape(part) for part in name.split("_"))
    if name in _ORDINARY:
        return re.search(rf"(?i)['\"`]{spelt}['\"`.]", text) is not None
    return re.search(rf"(?i)(?<![a-z_]){spelt}(?![a-z_])", text) is not None


def together(name: str) -> frozenset[str]:
    """The parameter and those that must go with it.

    >>> sorted(together("tools"))
    ['tool_choice', 'tools']
    """
    return frozenset({name}).union(*(group for group in _GROUPS if name in group))


def renamed(name: str, body: Any) -> str:
    """The name that the error asks for in place of the refused one, or empty.

    >>> renamed("max_tokens", {"error": {"message": "Use 'max_completion_tokens' instead."}})
    'max_completion_tokens'
    """
    other = _RENAMES.get(name, "")
    return other if other and _mentions(" ".join(words(body)), other) else ""

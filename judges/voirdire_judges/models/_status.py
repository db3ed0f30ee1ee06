"""From an HTTP status and an error body to the kind of fault."""

from __future__ import annotations

import math
import re
import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from voirdire.errors import FaultKind

#: Statuses by the names that errors inside a 200 go by; any other is a 500.
_STATED = {
    "invalid_request_error": 400,
    "invalid_prompt": 400,
    "invalid_argument": 400,
    "content_filter": 400,
    "context_length_exceeded": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "unauthenticated": 401,
    "billing_error": 402,
    "permission_error": 403,
    "permission_denied": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "request_too_large": 413,
    "insufficient_quota": 429,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "resource_exhausted": 429,
    "unavailable": 503,
    "overloaded_error": 529,
}
_KINDS: dict[int, FaultKind] = {
    401: "auth",
    402: "quota",
    403: "auth",
    408: "timeout",
    409: "server",
    429: "rate_limit",
    503: "overloaded",
    529: "overloaded",
}
#: Out of credit, as OpenAI, Anthropic and Google word it; a daily allowance is not back soon.
_NO_CREDIT = re.compile(
    r"insufficient_quota|billing_(?:error|hard_limit|not_active)|credit balance is too low"
    r"|insufficient (?:credits|funds|balance)|spend.?limit|requests?perday|models-per-day",
    re.IGNORECASE,
)
#: A request longer than the model reads, as providers and servers word it.
_TOO_LONG = re.compile(
    r"context_length_exceeded|string_above_max_length|request_too_large"
    r"|(?:maximum|available|configured|model'?s?) context|context (?:window|size|length)"
    r"|(?:prompt|input) is too long|input token count|reduce the length of the (?:messages|prompt)",
    re.IGNORECASE,
)
_CAP_TOO_LARGE = re.compile(r"max_\w*tokens\W.{0,60}too large", re.IGNORECASE)


def kind_of(status: int, body: Any) -> FaultKind:
    """The kind of fault behind an HTTP status; the body tells an empty purse from a crowd.

    >>> kind_of(429, {"error": {"code": "rate_limit_exceeded"}})
    'rate_limit'
    >>> kind_of(429, {"error": {"code": "insufficient_quota"}})
    'quota'
    >>> kind_of(502, None), kind_of(404, None)
    ('server', 'bad_request')
    """
    if status in {400, 403, 429} and _NO_CREDIT.search(" ".join(words(body))):
        return "quota"
    if is_too_long(status, body):
        return "bad_request"
    if status in _KINDS:
        return _KINDS[status]
    if status >= 500:
        return "server"
    return "bad_request" if status >= 400 else "malformed"


def stated_status(error: Any) -> int:
    """The HTTP status that an error inside a 200 states, by number or by name.

    >>> [stated_status({"code": code}) for code in (429, "429", "rate_limit_exceeded", "odd")]
    [429, 429, 429, 500]
    >>> stated_status({"type": "overloaded_error"}), stated_status("the model is gone")
    (529, 500)
    """
    for name in ("code", "status", "type") if isinstance(error, dict) else ():
        said = str(error.get(name, "")).lower()
        status = _STATED.get(said) or (int(said) if re.fullmatch(r"[45]\d\d", said) else None)
        if status is not None:
            return status
    return 500


def is_too_long(status: int, body: Any) -> bool:
    """Whether the request is longer than the model reads: that says nothing of other requests.

    >>> is_too_long(400, {"error": {"message": "prompt is too long: 208310 tokens"}})
    True
    >>> is_too_long(400, {"error": {"message": "'max_tokens' is too large for its context length"}})
    False
    """
    said = " ".join(words(body))
    wide = status in {400, 422, 500} and _TOO_LONG.search(said) and not _CAP_TOO_LARGE.search(said)
    return status == 413 or bool(wide)


def words(body: Any, depth: int = 0) -> Iterator[str]:
    """All texts inside a JSON value, as far as they are of use (six levels)."""
    if isinstance(body, str):
        yield body[:2000]
    elif isinstance(body, dict) and depth < 6:
        for value in body.values():
            yield from words(value, depth + 1)
    elif isinstance(body, list) and depth < 6:
        for value in body[:50]:
            yield from words(value, depth + 1)


def error_of(body: Any) -> dict[str, Any]:
    """The error object in a body, whether or not it is wrapped in `error` or a list."""
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, dict):
        return {}
    inner = body.get("error")
    return inner if isinstance(inner, dict) else body


def retry_after(headers: Mapping[str, str], body: Any) -> float | None:
    """Seconds that the provider asks to wait: the header (seconds or a date), or Google's detail.

    >>> retry_after({"retry-after-ms": "1500"}, None)
    1.5
    >>> retry_after({}, {"error": {"details": [{"retryDelay": "37s"}]}})
    37.0
    >>> retry_after({"retry-after": "soon"}, None) is None
    True
    """
    milliseconds = _seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    header = headers.get("retry-after")
    found = _seconds(header)
    if found is None and header:
        found = _until(header)
    return _delay(body) if found is None else found


def _seconds(text: Any) -> float | None:
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _until(date: str) -> float | None:
    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def _delay(body: Any) -> float | None:
    details = error_of(body).get("details")
    for detail in details if isinstance(details, list) else []:
        if isinstance(detail, dict) and str(detail.get("retryDelay", "")).endswith("s"):
            return _seconds(str(detail["retryDelay"])[:-1])
    return None

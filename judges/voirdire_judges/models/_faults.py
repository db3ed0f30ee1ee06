"""What went wrong: from any exception, status and error body to a `ModelError`, without an SDK."""

from __future__ import annotations

import json
import math
import re
import time
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from voirdire.errors import ModelError
from voirdire.secrets import scrub

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from voirdire.errors import FaultKind
    from voirdire.schema import Usage
    from voirdire_judges.models._endpoint import SecretKey

#: Statuses by the names that errors inside a 200 go by; any other is a 500.
_STATED = {
    # Types of Anthropic, codes of OpenAI and statuses of Google (the pages on errors of their
    # APIs).
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
    # DeepSeek and OpenRouter: out of credit.
    402: "quota",
    403: "auth",
    408: "timeout",
    # A conflict passes by itself: OpenAI's own SDK asks again after it as after a 500.
    409: "server",
    # Too early (RFC 8470): the request was not processed, and may be sent again.
    425: "server",
    429: "rate_limit",
    # Anthropic's own status (its page on errors).
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
# A cap beyond what the model may write names the context length too; but it is the study's, and
# every other request would fail by it as well.
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
    # Anthropic says it with 400, OpenAI and Google with the 429 of a crowd. Waiting, as after a
    # crowd, would only repeat the refusal until the run ends.
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
        value = str(error.get(name, "")).lower()
        status = _STATED.get(value) or (int(value) if re.fullmatch(r"[45]\d\d", value) else None)
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
    # 500 as well: some servers of one's own (llama.cpp) give it for a prompt beyond their
    # context.
    wording = " ".join(words(body))
    wide = (
        status in {400, 422, 500}
        and _TOO_LONG.search(wording)
        and not _CAP_TOO_LARGE.search(wording)
    )
    return status == 413 or bool(wide)


def words(body: Any, depth: int = 0) -> Iterator[str]:
    """All texts inside a JSON value, as far as they are of use (six levels)."""
    if isinstance(body, str):
        # Bounded in length, width and depth: a body may be a page of HTML, or hostile.
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
    """Seconds that the provider asks to wait: by a header, a field of the body, or its text.

    >>> retry_after({"retry-after-ms": "1500"}, None), retry_after({"retry-after": "60s"}, None)
    (1.5, 60.0)
    >>> retry_after({}, {"error": {"details": [{"retryDelay": "1m30s"}]}})
    90.0
    >>> retry_after({}, {"error": {"message": "Rate limit: please try again in 6m0s."}})
    360.0
    >>> retry_after({"retry-after": "soon"}, None) is None
    True
    """
    # OpenAI's own header, finer than the standard one; its SDK reads them in this order.
    milliseconds = _seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    # Seconds or a date (RFC 9110, section 10.2.3).
    header = headers.get("retry-after")
    seconds = _duration(header)
    if seconds is None and header:
        seconds = _until(header)
    if seconds is None:
        seconds = _delay(body)
    # Last what only tells when a window ends: of several the longest, since all must pass.
    return _reset(headers) if seconds is None else seconds


#: "6m0s", "1m30s", "26.66s", "120ms", "1h2m": as Go and Google write a time.
_SPAN = re.compile(
    r"(?:(?P<h>\d{1,3})h)?(?:(?P<m>\d{1,4})m(?!s))?(?:(?P<s>\d{1,6}(?:\.\d+)?)s)?"
    r"(?:(?P<ms>\d{1,7}(?:\.\d+)?)ms)?"
)
#: "Please try again in 6m0s", "Please retry in 26.66s", "retry after 12 seconds".
_ASKS = re.compile(
    r"(?:try\s+again|retry|wait)\s+(?:in|after|for)\s+(?:about\s+)?(?P<span>\d[\d.hms]*)"
    r"(?:\s*(?P<unit>ms|milliseconds?|seconds?|secs?|minutes?|mins?|hours?)\b)?",
    re.IGNORECASE,
)
_UNITS = {"ms": 0.001, "mil": 0.001, "sec": 1, "min": 60, "hou": 3600}
#: Fields of a body that hold seconds, or a time.
_FIELDS = ("retry_after", "retryAfter", "retry_after_seconds", "retryDelay", "retry_after_ms")
#: Headers that tell when a window ends: seconds from now, a span, or a moment.
_RESETS = re.compile(
    r"(?:x-)?ratelimit-reset(?:-(?:requests|tokens))?|anthropic-ratelimit-.+-reset"
)
#: Seconds since 1970 are larger than any wait.
_MOMENT = 1e9


def _duration(text: Any) -> float | None:
    """Seconds, plain or with units."""
    if (seconds := _seconds(text)) is not None:
        return seconds
    match = _SPAN.fullmatch(text.strip()) if isinstance(text, str) and text.strip() else None
    if match is None or not any(match.groups()):
        return None
    hours, minutes, seconds_of, thousandths = (float(part or 0) for part in match.groups())
    return 3600 * hours + 60 * minutes + seconds_of + thousandths / 1000


def _reset(headers: Mapping[str, str]) -> float | None:
    """The longest of the windows that headers tell of; a window that is not used up is none."""
    waits = []
    for name, value in headers.items():
        if not _RESETS.fullmatch(name):
            continue
        left = headers.get(name.replace("reset", "remaining"))
        if left is not None and (_seconds(left) or 0) > 0:
            continue
        wait = _duration(value)
        if wait is not None and wait > _MOMENT:  # in thousandths at some
            wait = max(0.0, (wait / 1000 if wait > 1000 * _MOMENT else wait) - time.time())
        if wait is None and "-" in value:
            wait = _until_iso(value)
        waits += [wait] if wait is not None else []
    return max(waits, default=None)


def _until_iso(moment: str) -> float | None:
    try:
        return max(0.0, datetime.fromisoformat(moment).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _seconds(text: Any) -> float | None:
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    # float() takes "nan" and "inf" too.
    return value if math.isfinite(value) and value >= 0 else None


def _until(date: str) -> float | None:
    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def _delay(body: Any) -> float | None:
    """What a body asks for: google.rpc.RetryInfo among its details, a field, or its text."""
    error = error_of(body)
    details = error.get("details")
    places = [*(details if isinstance(details, list) else []), error, error.get("metadata"), body]
    for place in places:
        for name in _FIELDS if isinstance(place, dict) else ():
            wait = _duration(place.get(name)) if not isinstance(place.get(name), bool) else None
            if wait is not None:
                return wait / 1000 if name.endswith("ms") else wait
    asked = _ASKS.search(" ".join(words(body))[:4000])
    if asked is None:
        return None
    span = _duration(asked["span"].rstrip("."))
    unit = (asked["unit"] or "").casefold()
    return span if span is None or not unit else span * _UNITS.get(unit[:3], _UNITS.get(unit, 1))


# Azure's code and innererror, OpenAI's policy violation, OpenRouter's "flagged", Alibaba's data
# inspection, DeepSeek's "Content Exists Risk", and "sensitive content" of Chinese providers.
_FILTERED = re.compile(
    r"content_filter|content_?policy_?violation|ResponsibleAIPolicyViolation"
    r"|blocked by content filter|(?:prompt|input|content|request) (?:\w+ ){0,2}flagged"
    r"|data_?inspection_?failed|content exists risk|inappropriate content"
    r"|safety system|(?:usage|content) polic|敏感内容",
    re.IGNORECASE,
)
#: Statuses with which providers and routers withhold a prompt.
_STATUSES = frozenset({400, 403, 422, 451})


def filtered_categories(body: Any, status: int = 400) -> tuple[str, ...] | None:
    """The categories for which a prompt was withheld; None where it is another error.

    >>> result = {"self_harm": {"filtered": True}, "hate": {"filtered": False}}
    >>> inner = {"content_filter_result": result}
    >>> filtered_categories({"error": {"code": "content_filter", "innererror": inner}})
    ('self_harm',)
    >>> filtered_categories({"error": {"code": "unsupported_value"}}) is None
    True
    """
    error = error_of(body)
    if status not in _STATUSES or not _FILTERED.search(" ".join(words(error))):
        return None
    # Azure names its categories here, with those that let the prompt pass (page on content
    # filtering).
    inner = error.get("innererror")
    result = inner.get("content_filter_result") if isinstance(inner, dict) else None
    verdicts = result.items() if isinstance(result, dict) else ()
    # OpenRouter's moderation gives its reasons here (page on errors).
    metadata = error.get("metadata")
    reasons = metadata.get("reasons") if isinstance(metadata, dict) else None
    return (
        *(
            str(name)
            for name, verdict in verdicts
            if isinstance(verdict, dict) and verdict.get("filtered")
        ),
        *(str(reason) for reason in (reasons if isinstance(reasons, list) else ())),
    )


# Classes by name, the whole way up and through causes: nothing of an SDK is imported here, and each
# SDK may bring an HTTP library of its own.
_TIMEOUTS = {"TimeoutError", "APITimeoutError", "TimeoutException", "ServerTimeoutError"}
#: OpenAI's aiohttp transport reports a connection dropped by the server as a timeout.
_DROPPED = {"ServerDisconnectedError", "ClientOSError"}
_CONNECTIONS = {
    "APIConnectionError",
    "TransportError",
    "ClientConnectionError",
    "ClientPayloadError",
    "ClientConnectionResetError",
    "OSError",
    "RemoteProtocolError",
}
#: A proxy that is not there, or that does not let the call through (aiohttp, httpx).
_PROXIES = {"ClientProxyConnectionError", "ClientHttpProxyError", "ProxyError"}
#: Bytes that aiohttp cannot read as HTTP; these carry a `code` that no server has sent.
_UNREADABLE = {"HttpProcessingError"}
_MALFORMED = {
    "MalformedBodyError",
    "ContentEncodingError",
    "JSONDecodeError",
    "UnicodeDecodeError",
    "APIResponseValidationError",
    "ClientResponseError",
}
#: Characters of a provider's message that an error shows.
_LONGEST = 300
#: Bytes of an answer that are read at most, on the wire and unpacked.
LARGEST = 64 << 20


class WireError(Exception):
    """An HTTP error or an error object inside a 200, before it is classified."""

    def __init__(self, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(f"HTTP {status}")
        self.status_code, self.body, self.headers = status, body, dict(headers or {})


class MalformedBodyError(Exception):
    """A 200 whose body is not the provider's format; what could be read of it is its `body`."""

    def __init__(self, reason: str, body: Any = None) -> None:
        super().__init__(reason)
        self.body = body


class TooLargeError(Exception):
    """An answer that is larger than any answer: it was not read to its end."""


def wire_error(error: BaseException) -> WireError | None:
    """Status, body and headers of an SDK's exception; None where no answer came."""
    if isinstance(error, WireError):
        return error
    # What a proxy answers is no answer of the model, and what cannot be read has no status.
    if _names(error) & (_PROXIES | _UNREADABLE):
        return None
    # OpenAI's and Anthropic's exceptions have `status_code` and `body`, google-genai's `code`
    # and `details`.
    status = getattr(error, "status_code", None) or getattr(error, "code", None)
    if not isinstance(status, int) or isinstance(status, bool):
        return None
    body = getattr(error, "body", None)
    if body is None:
        body = getattr(error, "details", None)
    response = getattr(error, "response", None)
    headers = getattr(response, "headers", None) or {}
    lowered = {str(name).lower(): str(value) for name, value in headers.items()}
    beside = _fields_beside(response)
    if beside and isinstance(body, dict):
        body = {**beside, **body}
    return WireError(status, body if body is not None else str(error), lowered)


def _fields_beside(response: Any) -> dict[str, Any]:
    """What a body asks to wait beside its error: OpenAI's exceptions hold the error alone."""
    try:
        whole = json.loads(response.content)
    except (AttributeError, TypeError, ValueError, RuntimeError, RecursionError):
        return {}
    return {k: whole[k] for k in _FIELDS if k in whole} if isinstance(whole, dict) else {}


def model_error(
    model: str,
    error: BaseException,
    timeout: float,
    *keys: SecretKey | None,
    billed: Usage | None = None,
) -> ModelError:
    """The typed error for an exception of whatever SDK; no key stands in it.

    `billed` is what the provider says that the answer cost, where one came.
    """
    fault = wire_error(error)
    if fault is None:
        kind, detail = _transport(error, timeout)
        # Larger than any answer once, larger again: it is not asked for a second time.
        again = False if "TooLargeError" in _names(error) else None
        text = f"{model}: {scrub(detail, *_texts(keys))}"
        return ModelError(text, kind, retryable=again, billed=billed)
    kind = kind_of(fault.status_code, fault.body)
    detail = message(fault, *keys)
    return ModelError(
        f"{model} answered HTTP {fault.status_code} ({kind}{_key_sent(kind, keys)}): {detail}",
        kind,
        retry_after=retry_after(fault.headers, fault.body),
        status_code=fault.status_code,
        of_item=is_too_long(fault.status_code, fault.body),
        billed=billed,
    )


def _texts(keys: Iterable[SecretKey | None]) -> list[str]:
    return [key.reveal() for key in keys if key is not None]


def _key_sent(kind: FaultKind, keys: tuple[SecretKey | None, ...]) -> str:
    """Where the key that was refused comes from."""
    if kind != "auth" or not keys:
        return ""
    variables = ", ".join(key.variable for key in keys if key is not None and key.variable)
    if variables:
        return f", the key in {variables}"
    return "" if any(keys) else ", no key was sent"


def message(fault: WireError, *keys: SecretKey | None) -> str:
    """What the provider said, scrubbed and shortened."""
    inner = error_of(fault.body)
    value = inner.get("message") if inner else None
    text = value if isinstance(value, str) else _plain(fault.body)
    return _short(scrub(text, *_texts(keys)))


def _plain(body: Any) -> str:
    try:
        return body if isinstance(body, str) else json.dumps(body, default=str)
    except (RecursionError, TypeError):
        return "an error that cannot be shown"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."


def _transport(error: BaseException, timeout: float) -> tuple[FaultKind, str]:
    names = _names(error)
    first = _causes(error)[-1]
    # The first of its causes: an SDK says of a refused connection "Request timed out".
    cause = _short(f"{type(first).__name__}: {first}")
    if "TooLargeError" in names:
        return "malformed", f"the answer is larger than {LARGEST >> 20} MB and was not read"
    if names & _PROXIES:
        return "connection", f"the proxy that the environment names let no call through ({cause})"
    if names & _TIMEOUTS and not names & _DROPPED:
        return "timeout", f"no answer within {timeout:g} s"
    if names & _MALFORMED:
        return "malformed", f"the answer is not in the provider's format ({cause})"
    if names & (_CONNECTIONS | _DROPPED | _UNREADABLE):
        return "connection", f"the connection failed ({cause})"
    return "model", f"the client failed ({cause})"


def _names(error: BaseException | None) -> set[str]:
    """Names of the classes of an error and of what caused it."""
    return {kind.__name__ for one in _causes(error) for kind in type(one).__mro__}


def _causes(error: BaseException | None) -> list[BaseException]:
    """An error and what caused it, the first cause last."""
    causes: list[BaseException] = []
    # A chain of causes may be long, and nothing forbids one that bites its tail.
    while error is not None and len(causes) < 6:
        causes.append(error)
        error = error.__cause__
    return causes

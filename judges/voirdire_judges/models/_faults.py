"""From any exception of an SDK to a `ModelError`, without importing the SDK."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from voirdire.errors import ModelError
from voirdire.secrets import scrub
from voirdire_judges.models._status import error_of, is_too_long, kind_of, retry_after

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from voirdire.errors import FaultKind
    from voirdire.schema import Usage
    from voirdire_judges.models._keys import Key

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
_MALFORMED = {
    "MalformedBodyError",
    "JSONDecodeError",
    "UnicodeDecodeError",
    "APIResponseValidationError",
    "ClientResponseError",
}
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

    def __init__(self, said: str, body: Any = None) -> None:
        super().__init__(said)
        self.body = body


class TooLargeError(Exception):
    """An answer that is larger than any answer: it was not read to its end."""


def wire_error(error: BaseException) -> WireError | None:
    """Status, body and headers of an SDK's exception; None where no answer came."""
    if isinstance(error, WireError):
        return error
    status = getattr(error, "status_code", None) or getattr(error, "code", None)
    if not isinstance(status, int) or isinstance(status, bool):
        return None
    body = getattr(error, "body", None)
    if body is None:
        body = getattr(error, "details", None)
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    lowered = {str(name).lower(): str(value) for name, value in headers.items()}
    return WireError(status, body if body is not None else str(error), lowered)


def model_error(
    model: str, error: BaseException, timeout: float, *keys: Key | None, billed: Usage | None = None
) -> ModelError:
    """The typed error for an exception of whatever SDK; no key stands in it.

    `billed` is what the provider says that the answer cost, where one came.
    """
    fault = wire_error(error)
    if fault is None:
        kind, said = _transport(error, timeout)
        again = False if "TooLargeError" in _names(error) else None
        text = f"{model}: {scrub(said, *_texts(keys))}"
        return ModelError(text, kind, retryable=again, billed=billed)
    kind = kind_of(fault.status_code, fault.body)
    said = message(fault, *keys)
    return ModelError(
        f"{model} answered HTTP {fault.status_code} ({kind}{_key_sent(kind, keys)}): {said}",
        kind,
        retry_after=retry_after(fault.headers, fault.body),
        status_code=fault.status_code,
        of_item=is_too_long(fault.status_code, fault.body),
        billed=billed,
    )


def _texts(keys: Iterable[Key | None]) -> list[str]:
    return [key.reveal() for key in keys if key is not None]


def _key_sent(kind: FaultKind, keys: tuple[Key | None, ...]) -> str:
    """Where the key that was refused comes from."""
    if kind != "auth" or not keys:
        return ""
    variables = ", ".join(key.variable for key in keys if key is not None and key.variable)
    if variables:
        return f", the key in {variables}"
    return "" if any(keys) else ", no key was sent"


def message(found: WireError, *keys: Key | None) -> str:
    """What the provider said, scrubbed and shortened."""
    inner = error_of(found.body)
    said = inner.get("message") if inner else None
    text = said if isinstance(said, str) else _plain(found.body)
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
    said = _short(f"{type(error).__name__}: {error}")
    if "TooLargeError" in names:
        return "malformed", f"the answer is larger than {LARGEST >> 20} MB and was not read"
    if names & _TIMEOUTS and not names & _DROPPED:
        return "timeout", f"no answer within {timeout:g} s"
    if names & _MALFORMED:
        return "malformed", f"the answer is not in the provider's format ({said})"
    if names & (_CONNECTIONS | _DROPPED):
        return "connection", f"the connection failed ({said})"
    return "model", f"the client failed ({said})"


def _names(error: BaseException | None) -> set[str]:
    """Names of the classes of an error and of what caused it."""
    names: set[str] = set()
    for _ in range(6):
        if error is None:
            break
        names.update(kind.__name__ for kind in type(error).__mro__)
        error = error.__cause__
    return names

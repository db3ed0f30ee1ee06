"""Faults, each as the provider shows it on the wire."""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import Callable

    from wire_server._seen import Seen


@dataclass
class Fault:
    """A fault waiting for its requests: `times` of them (None: all), every `every`-th, if `when`."""

    name: str
    times: int | None = 1
    every: int = 1
    when: Callable[[Seen], bool] | None = None
    details: dict[str, Any] = field(default_factory=dict)
    met: int = 0

    def strikes(self, seen: Seen) -> bool:
        if self.times == 0 or (self.when is not None and not self.when(seen)):
            return False
        self.met += 1
        if self.met % self.every:
            return False
        if self.times is not None:
            self.times -= 1
        return True


def error_body(seen: Seen, status: int, message: str, **details: Any) -> dict[str, Any]:
    """The provider's own error object."""
    if seen.format == "anthropic":
        kind = _ANTHROPIC.get(status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}
    if seen.format == "google":
        kind = _GOOGLE.get(status, "INTERNAL")
        return {"error": {"code": status, "message": message, "status": kind, **details}}
    inner = {"message": message, "type": "error", "param": None, "code": None, **details}
    return {"error": inner}


_ANTHROPIC = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}
_GOOGLE = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}


def fail(seen: Seen, status: int, message: str, retry_after: Any = None, **details: Any) -> Any:
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    body = error_body(seen, status, message, **details)
    return web.json_response(body, status=status, headers=headers)


async def rate_limit(request: Any, seen: Seen, retry_after: Any = 1, **_: Any) -> Any:
    return fail(seen, 429, "Too many requests", retry_after, code="rate_limit_exceeded")


async def quota(request: Any, seen: Seen, **_: Any) -> Any:
    """Out of credit: a 429 at OpenAI and Google, a 400 that names the credit at Anthropic."""
    if seen.format == "anthropic":
        return fail(seen, 400, "Your credit balance is too low to access the Anthropic API.")
    if seen.format == "google":
        details = [{"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}]}]
        message = "You exceeded your current quota, please check your plan and billing details."
        return fail(seen, 429, message, details=details)
    return fail(seen, 429, "No credit left.", code="insufficient_quota", type="insufficient_quota")


def _status(status: int, message: str) -> Any:
    async def answer(request: Any, seen: Seen, retry_after: Any = None, **_: Any) -> Any:
        return fail(seen, status, message, retry_after)

    return answer


async def refused_parameter(
    request: Any, seen: Seen, parameter: str = "temperature", **_: Any
) -> Any:
    """As a reasoning model does; a fault with `when` asks whether the parameter was sent."""
    if seen.format in {"chat", "responses"}:
        message = f"Unsupported value: '{parameter}' does not support 0 with this model."
        return fail(seen, 400, message, code="unsupported_value", param=parameter)
    return fail(seen, 400, f"{parameter}: not supported by this model")


async def filter_400(request: Any, seen: Seen, **_: Any) -> Any:
    """Azure's refusal of the prompt itself: a 400 with no usage."""
    found = {"self_harm": {"filtered": True, "severity": "medium"}, "hate": {"filtered": False}}
    inner = {"code": "ResponsibleAIPolicyViolation", "content_filter_result": found}
    return fail(
        seen,
        400,
        "The prompt was filtered.",
        code="content_filter",
        innererror=inner,
        param="prompt",
    )


async def bad_key(request: Any, seen: Seen, **_: Any) -> Any:
    """401 with the key in the message, as some providers write it."""
    given = (
        seen.headers.get("Authorization", "").removeprefix("Bearer ")
        or seen.headers.get("X-Api-Key", "")
        or seen.headers.get("X-Goog-Api-Key", "")
    )
    return fail(seen, 401, f"Incorrect API key provided: {given}.", code="invalid_api_key")


def _sent(request: Any, written: bytes) -> None:
    """Write to the connection itself and close it; a client that was killed has none."""
    if request.transport is not None:
        request.transport.write(written)
        request.transport.close()


async def drop(request: Any, seen: Seen, **_: Any) -> Any:
    if request.transport is not None:
        request.transport.abort()
    await asyncio.sleep(3600)


async def short(request: Any, seen: Seen, body: bytes = b"{}", **_: Any) -> Any:
    """Fewer bytes than Content-Length says."""
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    _sent(request, head.encode() + body[: len(body) // 2])
    await asyncio.sleep(3600)


async def cut(request: Any, seen: Seen, body: bytes = b"{}", **_: Any) -> Any:
    """A complete answer whose JSON ends in the middle."""
    return web.Response(body=body[: len(body) // 2], content_type="application/json")


async def html(request: Any, seen: Seen, **_: Any) -> Any:
    page = "<html><head><title>Welcome</title></head><body>Sign in to the network</body></html>"
    return web.Response(text=page, content_type="text/html")


async def not_an_answer(request: Any, seen: Seen, **_: Any) -> Any:
    """JSON, but of another shape."""
    return web.json_response({"detail": "ok"})


async def raw(
    request: Any,
    seen: Seen,
    status: int = 200,
    content: str | bytes = "",
    kind: str = "application/json",
    headers: Any = None,
    **_: Any,
) -> Any:
    """Any bytes under any status, content type and headers."""
    sent = content.encode() if isinstance(content, str) else content
    return web.Response(body=sent, status=status, headers={"Content-Type": kind, **(headers or {})})


async def hang(request: Any, seen: Seen, **_: Any) -> Any:
    await asyncio.sleep(3600)


async def stall(request: Any, seen: Seen, body: bytes = b"{}", **_: Any) -> Any:
    """Headers at once, then nothing."""
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    await response.write(body[:10])
    await asyncio.sleep(3600)


async def trickle(request: Any, seen: Seen, body: bytes = b"{}", **_: Any) -> Any:
    """A byte at a time, so that something always comes and the answer never ends."""
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    with contextlib.suppress(ConnectionError):
        for byte in body:
            await response.write(bytes([byte]))
            await asyncio.sleep(0.5)
    await asyncio.sleep(3600)


async def broken_chunk(request: Any, seen: Seen, body: bytes = b"{}", **_: Any) -> Any:
    """A chunked answer whose second chunk has no length."""
    head = (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    half = body[: len(body) // 2]
    _sent(request, head + f"{len(half):x}\r\n".encode() + half + b"\r\nnone\r\n")
    await asyncio.sleep(3600)


async def not_gzip(request: Any, seen: Seen, body: bytes = b"{}", **_: Any) -> Any:
    """Plain bytes that say they are packed."""
    head = (
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    _sent(request, head.encode() + body)
    await asyncio.sleep(3600)


#: Faults that answer with something else than the answer.
BROKEN: dict[str, Any] = {
    "rate_limit": rate_limit,
    "quota": quota,
    "server": _status(500, "The server had an error"),
    "bad_gateway": _status(502, "Bad gateway"),
    "late": _status(408, "Request timeout"),
    "too_early": _status(425, "Too early"),
    "unavailable": _status(503, "The engine is currently overloaded"),
    "gateway_timeout": _status(504, "Gateway timeout"),
    "overloaded": _status(529, "Overloaded"),
    "auth": bad_key,
    "forbidden": _status(403, "Your key may not use this model"),
    "bad_request": _status(400, "Invalid body"),
    "not_found": _status(404, "There is no such model"),
    "refused_parameter": refused_parameter,
    "filter_400": filter_400,
    "drop": drop,
    "short": short,
    "broken_chunk": broken_chunk,
    "not_gzip": not_gzip,
    "cut": cut,
    "html": html,
    "not_an_answer": not_an_answer,
    "raw": raw,
    "hang": hang,
    "stall": stall,
    "trickle": trickle,
}
#: Faults of the answer itself, spelt as `Answer.finish`.
FINISHES: dict[str, str] = {
    "empty": "empty",
    "refusal": "refusal",
    "filter": "content_filter",
    "length": "length",
}
FAULTS = (*BROKEN, *FINISHES)
#: Faults that only the client's own limit of time ends.
SILENT = frozenset({"hang", "stall", "trickle"})


def encode(body: dict[str, Any]) -> bytes:
    return json.dumps(body).encode()

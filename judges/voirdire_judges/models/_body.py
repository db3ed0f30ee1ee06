"""Reading foreign JSON: bodies checked once, fields taken without trust."""

from __future__ import annotations

import json
from typing import Any

from voirdire_judges.models._faults import MalformedBodyError, WireError


def parse_body(content: bytes | str, *keys: str) -> dict[str, Any]:
    """The JSON object of a 200; without any of the keys it is a fault, and so is an error in it.

    >>> parse_body(b'{"choices": []}', "choices")
    {'choices': []}
    >>> parse_body("<html>Sign in</html>", "choices")
    Traceback (most recent call last):
    voirdire_judges.models._faults.MalformedBodyError: not JSON: '<html>Sign in</html>'
    """
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        body = None
    found = isinstance(body, dict) and any(body.get(key) is not None for key in keys)
    if isinstance(body, dict) and isinstance(body.get("error"), dict) and not body.get(keys[0]):
        code = body["error"].get("code")
        raise WireError(code if isinstance(code, int) else 500, body)
    if isinstance(body, dict) and found:
        return body
    shown = content[:80] if isinstance(content, str) else content[:80].decode(errors="replace")
    raise MalformedBodyError(f"{'not JSON' if body is None else f'no {keys[0]!r}'}: {shown!r}")


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


def count(value: Any) -> int | None:
    """A number of tokens, or None where the provider does not say."""
    good = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if good else None


def added(*values: int | None) -> int | None:
    """The sum of those that are known; None where none is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None

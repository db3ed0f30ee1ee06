"""Reading foreign JSON: bodies checked once, fields taken without trust."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from voirdire_judges.models._faults import MalformedBodyError, WireError
from voirdire_judges.models._status import stated_status

if TYPE_CHECKING:
    from collections.abc import Iterable


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
    said = content if isinstance(content, str) else content.decode("utf-8-sig", errors="replace")
    try:
        body = json.loads(said, strict=False)
    except (ValueError, RecursionError):
        raise MalformedBodyError(f"not JSON: {said[:80]!r}") from None
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, dict):
        raise MalformedBodyError(f"no {keys[0]!r}: {said[:80]!r}")
    if body.get("error") and not body.get(keys[0]):
        raise stated_error(body)
    if all(body.get(key) is None for key in keys):
        raise MalformedBodyError(f"no {keys[0]!r}: {said[:80]!r}")
    return body


def stated_error(body: dict[str, Any]) -> WireError:
    """The error that a 200 states, with the status that it would have come with."""
    return WireError(stated_status(body.get("error")), body)


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
    return "".join(
        part if isinstance(part, str) else text(part.get("text"))
        for part in parts
        if isinstance(part, str)
        or (isinstance(part, dict) and part.get("type", "text") in {"text", "output_text"})
    )


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


def count(value: Any) -> int | None:
    """A number of tokens, or None where the provider does not say."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    good = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if good else None


def added(*values: int | None) -> int | None:
    """The sum of those that are known; None where none is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None

"""What is checked before anything is sent."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from voirdire.errors import ModelError

if TYPE_CHECKING:
    from voirdire.schema import Message, Request


def sendable(model: str, request: Request) -> Request:
    """The request as it can go over a wire: half a surrogate pair becomes U+FFFD.

    A reply that a cap cut inside an emoji holds one, and may be what a judge is asked about.

    Raises
    ------
    ModelError
        The request says nothing: providers refuse an empty message, some with a bill.
    """
    asked = [message.content for message in request.messages if message.role == "user"]
    if not asked or "" in asked or any(map(str.isspace, asked)):
        raise ModelError(f"{model}: a user message without text was not sent", "empty_input")
    if all(map(_is_text, [message.content for message in request.messages])):
        return request
    return replace(request, messages=tuple(map(_mended, request.messages)))


def _is_text(content: str) -> bool:
    if content.isascii():
        return True
    try:
        content.encode()
    except UnicodeEncodeError:
        return False
    return True


def _mended(message: Message) -> Message:
    wide = message.content.encode("utf-16", "surrogatepass")
    return replace(message, content=wide.decode("utf-16", "replace"))

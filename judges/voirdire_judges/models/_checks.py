"""What is checked before anything is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voirdire._errors import ModelError

if TYPE_CHECKING:
    from voirdire.schema import Request


def check_text(model: str, request: Request) -> None:
    """Raise where the request says nothing: providers refuse an empty message, some with a bill."""
    users = [message for message in request.messages if message.role == "user"]
    if not users or any(not message.content.strip() for message in users):
        raise ModelError(f"{model}: a user message without text was not sent", "empty_input")

"""What the server saw of one request."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

Format = Literal["chat", "responses", "anthropic", "google", "systemone", "control", "unknown"]


@dataclass
class Seen:
    """One request as it came; the body is parsed only when someone looks."""

    path: str
    raw: bytes
    headers: dict[str, str]
    format: Format
    number: int = 0
    time: float = field(default_factory=time.monotonic)

    @cached_property
    def body(self) -> dict[str, Any]:
        return json.loads(self.raw) if self.raw else {}

    @cached_property
    def texts(self) -> list[tuple[str, str]]:
        """(role, text) of each message, whatever the format."""
        if self.format == "google":
            return _google_texts(self.body)
        if self.format == "systemone":
            asked = [one.get("instructions") for one in self.body.get("questions", {}).values()]
            return [*(("system", told) for told in asked if told), ("user", self.body["state"])]
        messages = self.body.get("messages") or self.body.get("input") or []
        if isinstance(messages, str):
            messages = [{"role": "user", "content": messages}]
        found = [(m.get("role", ""), _text(m.get("content"))) for m in messages]
        system = self.body.get("system") or self.body.get("instructions")
        return [("system", _text(system)), *found] if system else found

    @property
    def prompt(self) -> str:
        """All user texts, joined."""
        return "\n".join(text for role, text in self.texts if role == "user")

    @property
    def system(self) -> str:
        return "\n".join(text for role, text in self.texts if role in {"system", "developer"})

    @property
    def model(self) -> str:
        if self.format == "google":
            return self.path.rsplit("/", 1)[-1].partition(":")[0]
        return self.body.get("model", "")


def format_of(path: str) -> Format:
    if path.endswith("/chat/completions"):
        return "chat"
    if path.endswith("/responses"):
        return "responses"
    if path.endswith("/messages"):
        return "anthropic"
    if ":generateContent" in path:
        return "google"
    if path.endswith("/systemone"):
        return "systemone"
    return "control" if path.startswith("/_control") else "unknown"


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content or ""


def _google_texts(body: dict[str, Any]) -> list[tuple[str, str]]:
    found = [(c.get("role", "user"), _text(c.get("parts"))) for c in body.get("contents", [])]
    system = body.get("systemInstruction") or {}
    return [("system", _text(system.get("parts"))), *found] if system else found

"""Keys: read from the environment, never shown."""

from __future__ import annotations

import os
import re

from voirdire._errors import ModelError

#: What looks like a key or a header that carries one, whoever wrote it.
_LOOKS_SECRET = re.compile(
    r"(?i)\bbearer\s+[^\s\"',;]+|\b(?:sk|rk|pk)-[\w*-]{6,}|\bAIza[\w-]{10,}"
    r"|((?:x-)?(?:api|goog-api)-key\W{1,4})[^\s\"',;]+"
)
_NAMES_SECRET = re.compile(r"(?i)(?:key|token|secret|password)$")


class Key:
    """A secret that no repr, str or format shows; `reveal` is for the SDK alone."""

    __slots__ = ("_text", "variable")

    def __init__(self, text: str, variable: str = "") -> None:
        self._text, self.variable = text, variable

    def reveal(self) -> str:
        """The secret itself."""
        return self._text

    def __repr__(self) -> str:
        return "Key(hidden)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)


def key_from_environment(model: str, variable: str) -> Key:
    """The key in the environment variable, or an error that names the variable."""
    found = os.environ.get(variable, "").strip()
    if not found:
        raise ModelError(
            f"{model} needs the environment variable {variable}, which is not set", "auth"
        )
    return Key(found, variable)


def scrub(text: str, *keys: Key | None) -> str:
    """The text without the keys, without those of the environment and without what looks like one.

    >>> scrub("401: Incorrect API key provided: wanted-key", Key("wanted-key"))
    '401: Incorrect API key provided: [key]'
    >>> scrub("sent 'Authorization: Bearer abc' with sk-proj-12345678")
    "sent 'Authorization: [key]' with [key]"
    """
    known = {key.reveal() for key in keys if key is not None}
    known |= {value for name, value in os.environ.items() if _NAMES_SECRET.search(name)}
    for secret in sorted(known, key=len, reverse=True):
        text = text.replace(secret, "[key]") if len(secret) >= 6 else text
    return _LOOKS_SECRET.sub(lambda found: f"{found[1] or ''}[key]", text)

"""Keys: what holds one, what looks like one, and texts without them."""

from __future__ import annotations

import os
import re
from base64 import b64encode
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from voirdire.late import pattern

if TYPE_CHECKING:
    from collections.abc import Iterable

#: What stands in place of a key.
HIDDEN = "[hidden]"
#: Environment variables of such names hold secrets; shorter values are no keys, and too common.
_NAME = pattern(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$", re.IGNORECASE)
_SHORTEST = 6
#: What looks like a key: a known beginning, or what follows the name of a header that carries
#: one. After `Basic` an ordinary word may follow, so a digit or a capital inside is asked for.
_SHAPE = pattern(
    r"\b(?:sk|pk|rk|gsk|xai|hf)[-_][A-Za-z0-9*][\w*\-.=+/]{5,}"
    r"|\bAIza[\w-]{10,}"
    r"|(?i:\bbearer\s+)[^\s\"',;]+"
    r"|\bBasic\s+(?=[a-z]*[A-Z0-9+/=])[A-Za-z0-9+/=]{8,}"
    r"|(?i:((?:x-)?(?:api|goog-api)-key\W{1,4}))[^\s\"',;]+"
)
#: Parts of an address that carry keys.
_IN_QUERY = pattern(r"(?i)(?:^|[&;])(?:[\w-]*(?:key|token|secret|password|sig|signature))=")


def environment_keys() -> dict[str, str]:
    """The variables of the environment whose names say that they hold a secret, and their values.

    Values of fewer than six characters are left out: they would hide half a text.
    """
    return {
        name: value
        for name, value in os.environ.items()
        if len(value) >= _SHORTEST and _NAME.search(name)
    }


def held_keys(text: str) -> list[str]:
    """Names of the secret environment variables whose values stand in a text."""
    return [name for name, value in environment_keys().items() if value in text]


def looks_secret(text: str) -> bool:
    """Whether something in a text has the shape of a key.

    Examples
    --------
    >>> looks_secret("sk-proj-12345678abcd"), looks_secret("Basic understanding")
    (True, False)
    """
    return _SHAPE.search(text) is not None


def secret_in_address(address: str, *, query: bool = True) -> str:
    """Which part of an address may carry a key: a user, a query, or nothing (empty).

    Parameters
    ----------
    address : str
        What may be an address; any other text has no such parts.
    query : bool
        Whether any query counts; otherwise only one whose names say that they carry a key.

    Examples
    --------
    >>> secret_in_address("https://me:wanted@host/v1"), secret_in_address("https://host/v1?key=1")
    ('a user or password', 'a query')
    >>> secret_in_address("https://host/v1")
    ''
    """
    if "://" not in address:
        return ""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    if "@" in parts.netloc:
        return "a user or password"
    carries = parts.query if query else _IN_QUERY.search(parts.query)
    return "a query" if carries else ""


class Hider:
    """Takes given keys out of texts, as they are and in base64; made once, used often.

    Examples
    --------
    >>> hide = Hider(["wanted-key-1"])
    >>> hide("You sent wanted-key-1, in base64 d2FudGVkLWtleS0x.")
    'You sent [hidden], in base64 [hidden].'
    """

    def __init__(self, keys: Iterable[str]) -> None:
        forms = {form for key in keys if len(key) >= _SHORTEST for form in _forms(key)}
        longest_first = sorted(forms, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if forms else None

    def __call__(self, text: str) -> str:
        """The text without the keys."""
        return self._pattern.sub(HIDDEN, text) if self._pattern is not None else text


def scrub(text: str, *keys: str) -> str:
    """The text without given keys, those of the environment, and what looks like a key.

    For errors and notes, where a wrong hit costs nothing; replies lose known keys alone (`Hider`).

    Examples
    --------
    >>> scrub("Incorrect API key provided: sk-proj-12345678abcd.")
    'Incorrect API key provided: [hidden]'
    >>> scrub("401: Incorrect API key provided: wanted-key", "wanted-key")
    '401: Incorrect API key provided: [hidden]'
    >>> scrub("sent 'Authorization: Bearer abc'")
    "sent 'Authorization: [hidden]'"
    """
    without_keys = Hider((*keys, *environment_keys().values()))(text)
    return _SHAPE.sub(lambda match: f"{match[1] or ''}{HIDDEN}", without_keys)


def _forms(key: str) -> set[str]:
    """A key, and its base64 alone and inside a longer text, whose bytes may begin at any of three
    places within a group: what depends on the neighbours is cut off at both ends.
    """
    raw = key.encode("utf-8", "surrogatepass")
    alone = b64encode(raw).decode()
    forms = {key, alone, alone.replace("+", "-").replace("/", "_")}
    for before in range(3):
        coded = b64encode(b"\0" * before + raw).decode()
        rest = (
            before + len(raw)
        ) % 3  # bytes in the last group: its letters depend on what follows
        end = len(coded) if rest == 0 else len(coded) - 4 + rest
        sure = coded[(0, 2, 3)[before] : end]
        if len(sure) >= _SHORTEST:
            forms |= {sure, sure.replace("+", "-").replace("/", "_")}
    return forms

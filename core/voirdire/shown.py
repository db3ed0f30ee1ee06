"""Texts of others on a terminal and on a page."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

#: Categories of characters that are written out: control, format, half a pair, ends of lines.
_WRITTEN_OUT = ("Cc", "Cf", "Cs", "Zl", "Zp")
#: Format characters that belong to the spelling of words: the joiners and the soft hyphen.
_SPELLING = "\u200c\u200d\xad"


def visible(text: object, keep: str = "\n") -> str:
    r"""A text whose control and direction characters are written out, so that none acts.

    Newlines stay, or what `keep` says.

    >>> visible("red\x1b[31m"), visible("good\u202edab")
    ('red\\x1b[31m', 'good\\u202edab')
    """
    raw = str(text)
    if raw.isprintable():
        return raw
    return "".join(
        repr(letter)[1:-1]
        if unicodedata.category(letter) in _WRITTEN_OUT and letter not in keep + _SPELLING
        else letter
        for letter in raw
    )


def terminal(*, stderr: bool = False) -> Console:
    """A terminal that takes no markup and no codes of emoji from what it prints.

    What others wrote still has to go through `visible`.
    """
    from rich.console import Console  # noqa: PLC0415 - slow to import

    return Console(stderr=stderr, highlight=False, markup=False, emoji=False)

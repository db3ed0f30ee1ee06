"""Texts of others on a terminal."""

from __future__ import annotations


def visible(text: object) -> str:
    r"""A text whose control characters are written out, so that none moves the terminal.

    Newlines stay.

    >>> visible("red\x1b[31m")
    'red\\x1b[31m'
    """
    return "".join(
        letter if letter.isprintable() or letter == "\n" else repr(letter)[1:-1]
        for letter in str(text)
    )

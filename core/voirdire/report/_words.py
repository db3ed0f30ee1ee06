"""How verdicts, states and severities are said: by word, sign and colour, never colour alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class StateWords(NamedTuple):
    """A state's sign, its colour on a page and in a terminal, and what it means."""

    sign: str
    tone: str
    style: str
    meaning: str


STATES: Mapping[str, StateWords] = {
    "yes": StateWords("✓", "good", "bold green", "the data show that it may"),
    "no": StateWords("✕", "bad", "bold red", "the data show that it may not"),
    "open": StateWords("?", "open", "yellow", "these data cannot tell yet"),
    "not tested": StateWords("·", "none", "dim", "these data hold nothing that could tell"),
}

#: Severity -> sign, colour for terminals, what it means.
SEVERITIES: Mapping[str, tuple[str, str, str]] = {
    "blocking": ("■", "bold red", "forbids any verdict until it is corrected"),
    "serious": ("▲", "yellow", "may distort results"),
    "note": ("○", "cyan", "good to know"),
}

#: What the column of published classes says, and what it does not.
CLASSES = (
    "Class GR, MR, PR: width of the percentile interval of ICC(C,1) up to 0.355, up to 0.560, "
    "wider: precision relative to one published study, not reliability."
)

_ASCII = str.maketrans(
    {
        "●": "*",
        "◕": "+",
        "◑": "~",
        "◔": "-",
        "✕": "x",
        "✓": "v",
        "·": ".",
        "–": "-",
        "─": "-",
        "├": "|",
        "┤": "|",
        "−": "-",
        "■": "!",
        "▲": "!",
        "○": "o",
        "…": ".",
        "≥": ">=",
        "≤": "<=",
        "±": "+/-",
        "×": "x",
        "→": "->",
        "“": '"',
        "”": '"',
        "’": "'",
    }
)


def legible(text: str, encoding: str) -> str:
    """The text as a terminal of that encoding can print it.

    >>> legible("✕ −0.1", "ascii"), legible("✕ −0.1", "utf-8")
    ('x -0.1', '✕ −0.1')
    """
    try:
        text.encode(encoding)
    except (LookupError, UnicodeEncodeError):
        return text.translate(_ASCII).encode("ascii", "replace").decode("ascii")
    return text


def plural(count: int, one: str, many: str = "") -> str:
    """A count and its noun.

    >>> plural(1, "finding"), plural(3, "finding")
    ('1 finding', '3 findings')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def brief(text: str, most: int = 80) -> str:
    """A name or sentence, cut where no page could hold it; files of numbers hold it whole.

    >>> brief("o4-mini"), brief("a name beyond all measure", 10)
    ('o4-mini', 'a name be…')
    """
    return text if len(text) <= most else text[: most - 1] + "…"

"""How verdicts, states and severities are said: by word, sign and colour, never colour alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Wording:
    """A verdict in a word for a narrow cell, a sign, a colour for terminals, and its meaning."""

    short: str
    sign: str
    tone: str
    style: str
    meaning: str


VERDICTS: Mapping[str, Wording] = {
    "may replace one rater": Wording(
        "may replace",
        "●",
        "good",
        "bold green",
        "It agrees with the humans at least as well as one of them agrees with the others, on "
        "this population and for this purpose.",
    ),
    "assists": Wording(
        "assists",
        "◕",
        "good",
        "green",
        "Its scores can be used where a human audits a sample of them.",
    ),
    "only as a mean of k runs": Wording(
        "mean of k runs",
        "◑",
        "partial",
        "cyan",
        "One run is too unsteady; use the mean of several.",
    ),
    "ranks; scoring undecided": Wording(
        "ranks; scores?",
        "◑",
        "partial",
        "cyan",
        "It orders systems as the reference does; whether its numbers can be taken as they "
        "stand is open.",
    ),
    "ranks, does not score": Wording(
        "ranks only",
        "◔",
        "partial",
        "blue",
        "It orders systems as the reference does, but its numbers are shifted or stretched: "
        "calibrate and examine again.",
    ),
    "undecided": Wording(
        "undecided",
        "?",
        "open",
        "yellow",
        "These data cannot tell. This is no praise and no blame of the judge.",
    ),
    "not trusted": Wording(
        "not trusted",
        "✕",
        "bad",
        "bold red",
        "It does not order systems as the reference does.",
    ),
    "no verdict": Wording(
        "no verdict",
        "–",
        "none",
        "bold magenta",
        "The data do not permit a conclusion: mend what the audit found first.",
    ),
}

#: State of a component -> sign, tone.
STATES: Mapping[str, tuple[str, str]] = {
    "pass": ("✓", "good"),
    "fail": ("✕", "bad"),
    "undecided": ("?", "open"),
    "not tested": ("·", "none"),
}

#: Severity -> sign, colour for terminals, what it means.
SEVERITIES: Mapping[str, tuple[str, str, str]] = {
    "blocking": ("■", "bold red", "forbids any verdict until it is mended"),
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
        "–": "-",
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


def short_verdict(verdict: str) -> str:
    """A verdict in a word or two.

    >>> short_verdict("ranks, does not score")
    'ranks only'
    """
    return VERDICTS[verdict].short


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

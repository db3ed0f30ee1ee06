"""How words are spelled and compared; light, since readers of tables ask for it as well."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from voirdire.late import pattern

#: Signs that belong to the letter before them: accents, points and vowel signs.
MARKS = (
    r"\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u05c5\u05c7"
    r"\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7-\u06e8\u06ea-\u06ed"
    r"\u0900-\u0903\u093a-\u093c\u093e-\u094f\u0951-\u0957\u0962-\u0963\u0981-\u0983\u09bc"
    r"\u09be-\u09c4\u09c7-\u09c8\u09cb-\u09cd\u09d7\u09e2-\u09e3\u09fe\u0a01-\u0a03\u0a3c"
    r"\u0a3e-\u0a42\u0a47-\u0a48\u0a4b-\u0a4d\u0a51\u0a70-\u0a71\u0a75\u0a81-\u0a83\u0abc"
    r"\u0abe-\u0ac5\u0ac7-\u0ac9\u0acb-\u0acd\u0ae2-\u0ae3\u0afa-\u0aff\u0b01-\u0b03\u0b3c"
    r"\u0b3e-\u0b44\u0b47-\u0b48\u0b4b-\u0b4d\u0b55-\u0b57\u0b62-\u0b63\u0b82\u0bbe-\u0bc2"
    r"\u0bc6-\u0bc8\u0bca-\u0bcd\u0bd7\u0c00-\u0c04\u0c3c\u0c3e-\u0c44\u0c46-\u0c48"
    r"\u0c4a-\u0c4d\u0c55-\u0c56\u0c62-\u0c63\u0c81-\u0c83\u0cbc\u0cbe-\u0cc4\u0cc6-\u0cc8"
    r"\u0cca-\u0ccd\u0cd5-\u0cd6\u0ce2-\u0ce3\u0d00-\u0d03\u0d3b-\u0d3c\u0d3e-\u0d44"
    r"\u0d46-\u0d48\u0d4a-\u0d4d\u0d57\u0d62-\u0d63\u0d81-\u0d83\u0dca\u0dcf-\u0dd4\u0dd6"
    r"\u0dd8-\u0ddf\u0df2-\u0df3\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
)
#: Full-width letters and signs, as Chinese and Japanese keyboards write them, to plain ones.
FULL_WIDTH = {at + 0xFEE0: at for at in range(0x21, 0x7F)}
# "don't" is one word; "all_or_nothing" is three.
WORD = pattern(rf"[^\W_]++(?:[{MARKS}]++[^\W_]*+)*+(?:['’][^\W_]+)?")
# "-isation", "-ising", "labelling": British spellings of one word.
_SPELLING = pattern(r"(?<=[a-z]{3})is(ations?|ing|ed|es?)$|(?<=[a-z]{2})ll(ing|ed)$")


def spelled(text: str) -> str:
    """A label without case, signs, spaces and the differences of British spelling.

    >>> spelled("All-or-Nothing Thinking"), spelled("Over-generalisation")
    ('allornothingthinking', 'overgeneralization')
    """
    return "".join(word_form(word) for word in WORD.findall(text))


@lru_cache(maxsize=8192)
def word_form(word: str) -> str:
    """One word as it is compared."""
    word = word if word.isascii() else word.translate(FULL_WIDTH)
    return _SPELLING.sub(_american, word.casefold().replace("’", "'").removesuffix("'s"))


class Words:
    """The words of a text: in the form in which they are compared, and where each stands."""

    __slots__ = ("_spans", "forms", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.forms = tuple(map(word_form, WORD.findall(text)))
        self._spans: tuple[tuple[int, int], ...] | None = None

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Where each word begins and ends; few texts are asked for it."""
        if self._spans is None:
            self._spans = tuple(match.span() for match in WORD.finditer(self.text))
        return self._spans


# A line is asked for its words more than once.
@lru_cache(maxsize=64)
def words_of(text: str) -> Words:
    """The words of a text."""
    return Words(text)


def last_part(text: str, signs: str) -> str:
    """What stands behind the last of some signs: the clause or sentence that a text ends with.

    >>> last_part("It is warm. I would give", ".;!?")
    ' I would give'
    """
    return text[max(map(text.rfind, signs)) + 1 :]


def remark_in(head: str, most: int = 20) -> str:
    """What short brackets say at the end of a head: *Answer (revised)*, *Item 1 (draft)*."""
    inside, closes, behind = head.rpartition("(")[2].partition(")")
    whole = "(" in head and closes and 0 < len(inside) <= most and "\n" not in inside
    return inside if whole and not any(c.isalnum() or c == "_" for c in behind) else ""


class Phrases:
    """Words, and phrases of two words, that are looked for among the words of a text.

    >>> Phrases("if", "at first").among(["at", "first", "sight"])
    True
    """

    __slots__ = ("_begin", "_pairs", "_words")

    def __init__(self, *phrases: str) -> None:
        parts = [tuple(map(word_form, phrase.split())) for phrase in phrases]
        self._words = frozenset(part[0] for part in parts if len(part) == 1)
        self._pairs = frozenset(part for part in parts if len(part) == 2)
        self._begin = frozenset(part[0] for part in self._pairs)

    def among(self, forms: Sequence[str]) -> bool:
        """Whether one of them is among words."""
        if not self._words.isdisjoint(forms):
            return True
        return not self._begin.isdisjoint(forms) and not self._pairs.isdisjoint(pairwise(forms))

    def begin(self, forms: Sequence[str]) -> bool:
        """Whether words begin with one of them."""
        return not self._words.isdisjoint(forms[:1]) or tuple(forms[:2]) in self._pairs


def _american(match: re.Match[str]) -> str:
    return f"iz{match[1]}" if match[1] else f"l{match[2]}"

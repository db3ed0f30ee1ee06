"""Declared names among the words of a text: attributes, labels, fields and words of verdict."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple, Protocol

from voirdire.parsing._spelling import Words, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

# What stands between the entries of a list, and so not within a name.
_SEPARATORS = frozenset(",;|\n")
_MAX_GAP = 3
#: A sign of scripts that put no blanks between words: a name may stand within a run of them.
EASTERN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_FIRST_EASTERN = "\u3040"
#: What may stand before a name and says that its value is the last.
LAST = ("最终", "最終", "最后", "最後", "최종")


class DeclaredNames(Protocol):
    """Names by their spelling.

    `beginnings` holds what a spelling may begin with, `longest` how many words a name has at most.
    """

    @property
    def forms(self) -> Mapping[str, str]:
        """Spelling -> name."""

    @property
    def longest(self) -> int:
        """Words of the longest name."""

    @property
    def beginnings(self) -> frozenset[str]:
        """What a spelling may begin with."""

    @property
    def eastern(self) -> tuple[str, ...]:
        """Spellings that may stand within a run of signs, the longest first."""


class FoundName(NamedTuple):
    """A name in a text, and where it stands."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, eq=False)
class SpelledNames:
    """Names that are spelled as they are declared, but for case, signs and blanks."""

    forms: Mapping[str, str]
    beginnings: frozenset[str]
    longest: int
    eastern: tuple[str, ...]

    @classmethod
    def of(cls, names: Iterable[str]) -> SpelledNames:
        """The names, each by its words."""
        parts = {name: words_of(name).forms for name in names}
        forms = {"".join(words): name for name, words in parts.items() if words}
        begun = (each for words in parts.values() for each in accumulate(words))
        eastern = sorted(filter(EASTERN.search, forms), key=len, reverse=True)
        longest = max(map(len, parts.values()), default=0)
        return cls(forms, frozenset(begun), longest, tuple(eastern))


def name_at(declared: DeclaredNames, words: Words, at: int) -> tuple[str, int] | None:
    """The longest name that begins at a word, and how many words it takes."""
    found = None
    for found in names_at(declared, words, at):  # noqa: B007 - the last one
        pass
    return found


def names_at(declared: DeclaredNames, words: Words, at: int) -> Iterator[tuple[str, int]]:
    """The names that begin at a word, the shortest first, and how many words each takes."""
    form = ""
    # Most words begin no name, and are no more than looked up.
    for count, word in enumerate(words.forms[at : at + declared.longest], 1):
        form += word
        if form not in declared.beginnings:
            break
        name = declared.forms.get(form)
        if name is not None and _is_joined(words, at, at + count, name):
            yield name, count


def names_any(declared: DeclaredNames, words: Words) -> bool:
    """Whether a text holds a name."""
    return any(
        form in declared.beginnings and name_at(declared, words, at)
        for at, form in enumerate(words.forms)
    )


def names_in(text: str, names: DeclaredNames) -> Iterator[FoundName]:
    """The names of a text, in order; of those that begin at one place the longest first."""
    words = words_of(text)
    beginnings, eastern = names.beginnings, names.eastern
    joined = eastern and not text.isascii() and EASTERN.search(text)
    plain = not joined and "'" not in text and "’" not in text
    if plain and beginnings.isdisjoint(words.forms):  # nearly always
        return
    for at, form in enumerate(words.forms):
        if plain and form not in beginnings:
            continue
        if form in beginnings:
            start = words.spans[at][0]
            for name, count in [*names_at(names, words, at)][::-1]:
                yield FoundName(name, start, words.spans[at + count - 1][1])
        elif "'" in form and (own := names.forms.get(form.partition("'")[2])) is not None:
            start, end = words.spans[at]  # "dell'empatia"
            yield FoundName(own, max(text.find(sign, start, end) for sign in "'’") + 1, end)
        elif eastern and form >= _FIRST_EASTERN:
            yield from _within(form, words.spans[at][0], names)


def _within(form: str, start: int, names: DeclaredNames) -> Iterator[FoundName]:
    """The names with which a run of signs begins, or what stands behind a word for *last*."""
    lead = next((each for each in LAST if form.startswith(each)), "")
    for skipped in {0, len(lead), len(lead) + form[len(lead) :].startswith("的")}:
        for each in names.eastern:
            if form.startswith(each, skipped):
                yield FoundName(names.forms[each], start + skipped, start + skipped + len(each))


def _is_joined(words: Words, start: int, end: int, name: str) -> bool:
    """Whether nothing stands between the words that separates entries of a list."""
    for left, right in pairwise(words.spans[start:end]):
        gap = words.text[left[1] : right[0]]
        if len(gap) > _MAX_GAP or (
            not _SEPARATORS.isdisjoint(gap) and _SEPARATORS.isdisjoint(name)
        ):
            return False
    return True

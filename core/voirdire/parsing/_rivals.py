"""Another value behind the one that is stated: it takes back by what it does, in whatever words.

*Empathy: 2. Too stingy of me, 4 fits.* A value that is all of its clause, begins it or ends it, and
that counts and compares nothing there, is a claim like the one before it. Between the two nobody
can decide, unless words lead from the first to the second.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable  # noqa: TC003 - a dataclass has fields of them
from dataclasses import dataclass
from operator import eq
from typing import TYPE_CHECKING, Any

from voirdire.parsing._hearing import LONGEST, denies_any, hear, may_hold, truth
from voirdire.parsing._names import EASTERN
from voirdire.parsing._spelling import WORD as _WORD
from voirdire.parsing._spelling import Phrases, words_of
from voirdire.parsing._stated import Statement
from voirdire.parsing._vocabulary import rule
from voirdire.parsing._words import DENIED, TURNS_TO, other_values
from voirdire.parsing.numbers import read_numeral

if TYPE_CHECKING:
    from collections.abc import Iterator

# Where a clause ends: at a sign that is no part of a number.
_BREAK = re.compile(r"[.,:](?=\D|\Z)|[!?;\n()。！？；：，、،؛।—]|\s[–-]\s")
# In such a script a number is a claim where its clause ends, or one of these stands behind it.
_JOINED_BEHIND = ("分", "点", "점", "です", "だ", "が", "이", "가", "更", "比", "吧", "로", "으로")
# Words of a clause that set its value against the one that counts, or make it the number of
# something.
_DENIES = frozenset(rule("denies_value"))
_SET_AGAINST = _DENIES | frozenset(rule("set_against"))
_ADDS = frozenset({"also", "too", "well", "both", "and"})
#: Behind a value, where they end its clause: *B after all.*
REPLACES = re.compile(r",?\s+(?:after\s+all|instead|rather|it\s+is|then)\W*", re.IGNORECASE)
# Behind a number these say something of it; another word is what it counts: "2 questions".
_SAYS = Phrases(*rule("says"))
#: How far behind a statement, and before the end of a reply, its author's second thoughts stand.
_SOON, _LATE = 200, 100
#: Words of a clause beside its value; where it is led to, behind it.
_MOST_WORDS, _FEW_WORDS = 6, 3


def _alone(value: Any) -> tuple[Any]:
    return (value,)


def _never(_text: str) -> bool:
    return False


def _has_its_top(text: str) -> bool:
    numeral = read_numeral(text)
    return numeral is not None and numeral.top is not None and not numeral.remark


@dataclass(frozen=True, slots=True)
class Bare:
    """How values of a kind stand in running text without a head.

    Attributes
    ----------
    pattern
        What finds one.
    counts
        Whether it may count things, as *2 questions*. One that may not may be the subject of a
        clause that explains, as *B ignores the question*: it is a claim at the end of a clause.
    heads
        Before how many words it is one too where it begins a line that is all of the rest.
    most
        With how many words before it a value ends a clause as a claim.
    agree
        Whether two values say the same.
    parts
        What a value that names several things names.
    one
        Whether what stands from a value up to another one is all of one value: *55 (of 100)*.
    """

    pattern: re.Pattern[str]
    counts: bool = False
    heads: int = 0
    most: int = 2
    agree: Callable[[Any, Any], bool] = eq
    parts: Callable[[Any], Iterable[Any]] = _alone
    one: Callable[[str], bool] = _never

    def behind(
        self, value: Any, text: str, start: int, end: int, read: Callable[[str], Any]
    ) -> int:
        """Where a value ends that begins at `start`: behind the last of its parts."""
        left = list(self.parts(value))
        for match in self.pattern.finditer(text, start, end):
            named = read(match[0])
            mine = [] if named is None else list(self.parts(named))
            if mine and all(part in left for part in mine):
                left = [part for part in left if part not in mine]
                start = match.end()
            if not left:
                break
        return start


#: Numbers as scores; no date, no share, no range, no number in brackets.
NUMBERS = Bare(
    re.compile(
        # A digit first: most signs are none, and need not be looked at further.
        r"(?=\d)(?<![^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])(?<![.,/+(\[-])(?<!\d\s[–-]\s)\d{1,3}(?:[.,]\d)?(?:\s?/\s?\d{1,3})?"
        r"(?![A-Za-z0-9_%/]|[.,]\d|\s?%|[–-]\d|\s[–-]\s\d)"
    ),
    counts=True,
    most=_MOST_WORDS,
    one=_has_its_top,
)


def rivals(
    text: str, start: int, end: int, bare: Bare, *, apart: bool = False, led: bool = False
) -> Iterator[Statement]:
    """The claims between two places of a text.

    Looked for shortly behind the first place and at the end of the text. `apart`: the statement
    ends at the first place, so that no clause of its own goes on there. `led`: only those to which
    words lead. Words that lead to a claim make it final; it is a rival without them.
    """
    soon, leads = min(end, start + _SOON), _may_lead(text) if led else None
    if led and not leads:
        return
    for begins, upto in ((start, soon), (max(soon, len(text) - _LATE), end)):
        if upto <= begins:
            continue
        # What is said of another value is no claim of it: "4 (was 2)".
        aside = other_values(text, begins, upto)
        for match in bare.pattern.finditer(text, begins, upto):
            if aside and any(first <= match.start() < last for first, last in aside):
                continue
            clause = _clause(text, match, start)
            if not apart and len(clause[0]) >= match.start() - start:
                continue
            leads = _may_lead(text) if leads is None else leads
            turned = leads and _is_led_to(text, match, start, clause[1])
            claims = turned or (
                not led
                and (
                    _is_claim(text, match, start, bare, clause) or _heads(text, match, start, bare)
                )
            )
            if claims:
                yield Statement("", match.group(), *match.span(), "final" if turned else "rival")


def _may_lead(text: str) -> bool:
    """Whether any words of a text may lead to a value; nearly always none do."""
    return len(text) > LONGEST or may_hold(text, "final", "back") or bool(TURNS_TO.search(text))


def _is_led_to(text: str, match: re.Match[str], start: int, behind: str) -> bool:
    """Whether words lead to a value from the one before: *sorry, I meant 4*, *one more look: 4*."""
    between = text[max(start - 1, match.start() - _LATE, 0) : match.start()]
    if len(_WORD.findall(behind)) > _FEW_WORDS or not _WORD.search(between):
        return False
    led = [
        each.end()
        for each in TURNS_TO.finditer(between)
        if not DENIED.search(between[: each.start()])
    ]
    # What takes back leads on where it is a head: "Korrektur: 3".
    for heard in hear(between, "final", "back"):
        heads = [h for h in heard.of("back") if heard.text[h.end :].lstrip()[:1] in (":", "：")]
        led += [hit.end for hit in (*heard.of("final"), *heads)]
    words = _WORD.findall(between[max(led) :].casefold()) if led else []
    denied = not _DENIES.isdisjoint(words) or denies_any(words)
    return bool(led) and len(words) <= _FEW_WORDS and not denied


def _is_claim(
    text: str, match: re.Match[str], start: int, bare: Bare, clause: tuple[str, str]
) -> bool:
    """Whether a value is what its clause says: all of it, its beginning, or its end."""
    before, behind = clause
    # What another head states, or the number of a line.
    head = text[max(start, match.start() - 9) : match.start()].rstrip(" *_`")
    if head.endswith((":", "=", "|", "：", "\t")) or _is_listed(text, match):
        return False
    words, rest = _WORD.findall(before.casefold()), _WORD.findall(behind)
    if EASTERN.search(before + behind):
        ends = not behind.strip() or (bare.counts and behind.lstrip().startswith(_JOINED_BEHIND))
        return bool(ends) and len(before) <= 4 * _MOST_WORDS
    if not bare.counts and rest and not words:
        return REPLACES.fullmatch(behind) is not None
    against = not _SET_AGAINST.isdisjoint(words) or any(w.endswith(("n't", "n’t")) for w in words)
    if against or (rest and (words or not bare.counts)) or len(rest) > _MOST_WORDS:
        return False
    if not rest:
        return len(words) <= bare.most
    return (behind[:1].isspace() and _SAYS.begin(words_of(behind).forms)) or bool(
        hear(text[max(0, match.end() - 400) : match.end() + 200])
    )


def _heads(text: str, match: re.Match[str], start: int, bare: Bare) -> bool:
    """Whether a value begins a line that is all that stands behind the statement."""
    if not bare.heads or len(text) - match.end() > _SOON:
        return False
    between, line = text[start : match.start()], text[match.end() :].strip()
    words = _WORD.findall(line.casefold())
    return (
        "\n" in between
        and not between.strip(" \n*_`.)]}\"'")
        and "\n" not in line
        and 0 < len(words) <= bare.heads
        and line[:1] not in ").:"
        and (_DENIES | _ADDS).isdisjoint(words)
        and not any(truth(word) is False for word in words)
    )


def _clause(text: str, match: re.Match[str], start: int) -> tuple[str, str]:
    """What stands before and behind a value in its clause."""
    before = _BREAK.split(text[max(start, match.start() - _SOON) : match.start()])[-1]
    return before, _BREAK.split(text[match.end() : match.end() + _SOON], maxsplit=1)[0]


def _is_listed(text: str, match: re.Match[str]) -> bool:
    """Whether a value is the number of a line: *2. It is warm.*"""
    line = text[max(0, match.start() - _LATE) : match.start()].rpartition("\n")[2]
    behind = text[match.end() : match.end() + _SOON]
    return not line.strip(" \t(*>-") and behind[:1] in tuple(".)") and bool(behind[1:].strip())

"""What a short reply says in another language than English: a score, a preference, an option.

What decides is never the absence of a word: a value counts where a word of giving or preferring
leads to it, and where no word hedges, denies or takes back.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from voirdire.parsing._doubts import withdraws
from voirdire.parsing._hearing import CLAUSE, SENTENCE, Heard, Hit, hear, may_hold
from voirdire.parsing._vocabulary import JOINED, WORD, composed, of_heads

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: In these the word for *than* stands behind what it is held against.
_THAN_BEHIND = frozenset({"ja", "ko", "hi", "tr"})
#: A side and its noun behind a head, and no more.
_SHORT = 16


class GivenScore(NamedTuple):
    """A score that a sentence gives: its number, and the top where it is named."""

    number: float
    top: float | None = None
    conflict: bool = False


class _NumberWords(NamedTuple):
    value: float
    start: int
    end: int


_DIGITS = re.compile(r"(?<![\w.,/-])\d{1,4}(?:[.,]\d{1,2})?(?![\w%+]|[-–−](?:\s|$))")
# Where no blanks part words a number stands right behind one.
_DIGITS_JOINED = re.compile(r"(?<![0-9A-Za-z.,/-])\d{1,4}(?:[.,]\d{1,2})?(?![0-9A-Za-z%])")
_EASTERN_UNITS = ("分", "点")


def given_score(text: str, high: float) -> GivenScore | None:
    """The score that a short reply gives in a sentence; None where it gives none for sure.

    >>> given_score("Ich vergebe 4 von 5 Punkten.", 5)
    GivenScore(number=4.0, top=5.0, conflict=False)
    >>> given_score("Zwischen 3 und 4, genauer kann ich es nicht sagen.", 5) is None
    True
    """
    if not any(map(str.isdecimal, text)) and not may_hold(text, "number"):
        return None
    given = {_given(_without_reasons(heard), high) for heard in hear(text)}
    return given.pop() if len(given) == 1 else None


#: What stands in a verdict, and so in no reason that may be passed over.
_OF_VERDICTS = ("better", "worse", "final", "back", "gives", "units", "draft", "same", "choose")


def _without_reasons(heard: Heard) -> Heard:
    """What is heard but for what stands behind *because*, up to the end of its sentence."""
    text, spans = heard.text, list[tuple[int, int]]()
    for hit in heard.of("because"):
        opens = not SENTENCE.split(text[: hit.start])[-1].strip()
        ends = SENTENCE.search(text, hit.end)
        span = hit.start, ends.start() if ends else len(text)
        # "Because A listens, it is better", "because it is short, but B is better after all".
        verdict = any(heard.any(use, *span) for use in _OF_VERDICTS) or _DIGITS_JOINED.search(
            text, *span
        )
        if not (opens or verdict):
            spans.append(span)
    for start, end in spans:
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    kept = tuple(h for h in heard.hits if not any(a <= h.start < b for a, b in spans))
    return Heard(heard.language, text, kept) if spans else heard


def _given(heard: Heard, high: float) -> GivenScore | None:
    numbers, top = _without_tops(heard, high)
    if not numbers:
        return None
    last, before = numbers[-1], numbers[:-1]
    start = before[-1].end if before else 0
    others = [each for each in before if each.value != last.value]
    settled = heard.any("final", start, last.start) or heard.any("back", start, last.start)
    if others and not settled:
        drafted = heard.any("draft", 0, others[0].start)
        settled = drafted and heard.any("gives", start, len(heard.text))
        if not settled:
            return None
    # "本来想给3分": what a clause calls its first thought is none that stays.
    clause = max((m.end() for m in CLAUSE.finditer(heard.text, 0, last.start)), default=0)
    if not settled and heard.any("draft", clause, last.start):
        return None
    if heard.text[last.end :].lstrip()[:1] in ("?", "？", "؟"):  # "4? Eher nicht."
        return None
    # What is said of the number, from where it was settled to the end of its sentence.
    begins = max(
        [h.end for h in heard.of("final", "back") if start <= h.start < last.start], default=start
    )
    ends = SENTENCE.search(heard.text, last.end)
    upto = ends.start() if ends else len(heard.text)
    doubted = any(heard.any(use, begins, upto) for use in ("maybe", "not"))
    behind = heard.text[upto:]
    if doubted or heard.any("back", last.end) or heard.any("maybe", last.end) or withdraws(behind):
        return None
    unit = heard.any("units", last.end, last.end + 3) and _is_all(heard, last, begins, upto)
    told = settled or top is not None or unit or heard.of("gives")
    return GivenScore(last.value, top, bool(others)) if told and not _counts(heard, last) else None


def _is_all(heard: Heard, number: _NumberWords, start: int, end: int) -> bool:
    """Whether a sentence says nothing but a number of points: of others nobody knows what they do.

    *4 Punkte*, not *4 Punkte Abzug*.
    """
    known = [(hit.start, hit.end) for hit in heard.hits] + [(number.start, number.end)]
    words = WORD.finditer(_complement(heard.text[start:end]))
    first = start + len(heard.text[start:end]) - len(heard.text[start:end].lstrip(_CLOSING))
    spans = [(first + word.start(), first + word.end()) for word in words]
    if heard.language in JOINED:  # no blanks part words: each sign is looked at
        spans = [(at, at + 1) for begin, end in spans for at in range(begin, end)]
    return all(any(a < end and begin < b for a, b in known) for begin, end in spans)


def _counts(heard: Heard, number: _NumberWords) -> bool:
    """Whether a number is that of something else: *3 personas*."""
    behind = WORD.search(heard.text, number.end, number.end + 30)
    if behind is None or heard.text[number.end : behind.start()].strip():
        return False
    # A preposition is no thing: "un 3 a questa risposta".
    if len(behind.group()) == 1:
        return False
    return not any(hit.start <= behind.start() < hit.end for hit in heard.hits)


def _numbers(heard: Heard) -> Iterator[_NumberWords]:
    digits = _DIGITS_JOINED if heard.language in JOINED else _DIGITS
    for match in digits.finditer(heard.text):
        yield _NumberWords(float(match.group().replace(",", ".")), *match.span())
    for hit in heard.of("number"):
        # Where no blanks part words a sign may be part of another: "一" of "一个".
        if heard.language not in JOINED or heard.text[hit.end :].lstrip()[:1] in _EASTERN_UNITS:
            yield _NumberWords(float(hit.number), hit.start, hit.end)


def _without_tops(heard: Heard, high: float) -> tuple[list[_NumberWords], float | None]:
    """The numbers but for the top of the scale, where it stands next to another one."""
    numbers = sorted(set(_numbers(heard)), key=lambda each: each.start)
    kept, top, at = list[_NumberWords](), None, 0
    while at < len(numbers):
        one = numbers[at]
        other = numbers[at + 1] if at + 1 < len(numbers) else None
        between = heard.text[one.end : other.start] if other else ""
        if other and other.value == high and _joins(heard, "of", one.end, other.start, between):
            kept.append(one)
            top, at = float(high), at + 2
        elif other and one.value == high and _joins(heard, "before", one.end, other.start, between):
            kept.append(other)
            top, at = float(high), at + 2
        elif one.value == high and any(
            hit.end <= one.start <= hit.end + 1 for hit in heard.of("before")
        ):
            top, at = float(high), at + 1
        else:
            kept.append(one)
            at += 1
    # A spelled one beside another number is an article: "un 4".
    plain = [each for each in kept if each.value != 1 or heard.text[each.start].isdigit()]
    return plain or kept, top


def _joins(heard: Heard, use: str, start: int, end: int, between: str) -> bool:
    """Whether nothing but a word of that use, and words of units, stands between two numbers."""
    if between.strip() == "/":
        return True
    if not heard.any(use, start, end):
        return False
    inside = {
        at
        for hit in heard.of(use, "units", "gives")
        for at in range(max(hit.start, start), min(hit.end, end))
    }
    left = [c for at, c in enumerate(between, start) if at not in inside and c.isalnum()]
    return len(left) <= (2 if heard.language in JOINED else 8)


class Side(NamedTuple):
    """A mention of the first (0) or second (1) of two replies."""

    which: int
    start: int
    end: int


_PREFERRING = ("better", "choose")
_LETTER = re.compile(r"(?<![\w'’])[*_\"'“«(]{0,3}([AB])(?![\w'’])")
_LETTER_JOINED = re.compile(r"(?<![A-Za-z])([AB])(?![A-Za-z])")
_NUMBERED = re.compile(r"\s*[#:(]?\s*([12１２])(?![\w.,]*\d)")
_ORDINAL = re.compile(r"(?<!\w)([12])\s*(?:\.|º|ª|°|번|番|[-–]?[аяeèst]{1,2})?\s*\Z")


def preferred(text: str) -> int | None:
    """Which of two replies a short text prefers: 0, 1, or 2 for neither; None where it is not sure.

    >>> preferred("Die zweite Antwort ist besser."), preferred("Les deux réponses se valent.")
    (1, 2)
    >>> preferred("A ist wärmer, B ist konkreter; das kann ich nicht entscheiden.") is None
    True
    """
    text = composed(text.strip())
    sides = {
        _preferred(_without_reasons(heard), text)
        for heard in hear(text, *_PREFERRING, "worse", "same")
    }
    return sides.pop() if len(sides) == 1 else None


def _preferred(heard: Heard, text: str) -> int | None:
    if heard.of("maybe") or "?" in text:
        return None
    sides = _sides(heard, text)
    votes, upto = set[int](), 0
    for start, end in _verdict_spans(heard.text):
        better = any(heard.any(use, start, end) for use in _PREFERRING)
        if not better and not heard.any("worse", start, end):
            continue
        # "Not" of a taking back aside: what is denied is no verdict.
        denied = heard.any("not", start, end) or heard.any("absent", start, end)
        if denied or (better and heard.any("worse", start, end)):
            return None
        here = {each.which for each in _held(heard, sides, start, end)}
        if len(here) > 1:
            return None
        votes |= here if better else {1 - which for which in here}
        upto = end
    taken_back = [hit for hit in heard.of("back") if _opens_clause(heard, hit)]
    # What comes first in the reasons behind a verdict makes no draft of it.
    drafted = heard.any("draft", 0, upto or None)
    if (taken_back or drafted) and not heard.of("final"):
        return None
    if not votes:
        tie = heard.of("same") and not heard.of("not") and (heard.of("both") or not sides)
        return 2 if tie else None
    return votes.pop() if len(votes) == 1 and not heard.of("same") else None


def _opens_clause(heard: Heard, hit: Hit) -> bool:
    """Whether a phrase begins its clause, as what takes back does: *точнее, B*, not *он точнее*."""
    return heard.language in JOINED or not CLAUSE.split(heard.text[: hit.start])[-1].strip()


def _held(heard: Heard, sides: Sequence[Side], start: int, end: int) -> list[Side]:
    """The sides of a clause, but those that *than* sets against another."""
    here = [each for each in sides if start <= each.start < end]
    than = [hit for hit in heard.of("than") if start <= hit.start < end]
    if len({each.which for each in here}) < 2 or not than:
        return here
    at = than[-1].start
    if heard.language in _THAN_BEHIND:
        against = max((each for each in here if each.start < at), default=None, key=_begins)
    else:
        against = min((each for each in here if each.start >= at), default=None, key=_begins)
    return [each for each in here if against is None or each.which != against.which]


def _begins(side: Side) -> int:
    return side.start


def _sides(heard: Heard, text: str) -> list[Side]:
    """Mentions of A and B, of the first and the second, of reply 1 and 2."""
    sides = [Side(0 if hit.use == "first" else 1, *hit[1:3]) for hit in heard.of("first", "second")]
    for hit in heard.of("reply"):
        if number := _NUMBERED.match(heard.text, hit.end):
            sides.append(Side(int(number[1]) - 1, hit.start, number.end()))
        elif number := _ORDINAL.search(heard.text, 0, hit.start):
            # From its noun on: the point behind the number ends no clause.
            sides.append(Side(int(number[1]) - 1, hit.start, hit.end))
    same_length = len(text) == len(heard.text)
    pattern = _LETTER_JOINED if heard.language in JOINED else _LETTER
    for letter in pattern.finditer(text) if same_length else ():
        behind = text[letter.end() :].lstrip("*_\"'”»)")
        # "A resposta": at the start of a sentence the letter is an article or "and" in some.
        article = letter[1] == "A" and _is_word(text, letter.start(), behind, heard)
        if not article:
            sides.append(Side("AB".index(letter[1]), letter.start(), letter.end()))
    return sides


def _is_word(text: str, at: int, behind: str, heard: Heard) -> bool:
    begins = not text[:at].strip() or text[:at].rstrip()[-1:] in ".!?\n"
    noun = any(hit.start - 2 <= at <= hit.start for hit in heard.of("reply", "first", "second"))
    return (
        noun
        and begins
        and heard.language in {"pt", "pl", "cs", "es", "fr", "it", "ro"}
        and bool(behind)
    )


def _verdict_spans(text: str) -> Iterator[tuple[int, int]]:
    """The clauses of a text; a head and the short rest of its line are one: *Besser: A*."""
    spans = [*_spans(text, CLAUSE), (0, 0)]
    for (start, end), (begins, ends) in pairwise(spans):
        headed = text[end : end + 1] in (":", "：") and ends - begins <= _SHORT
        yield start, ends if headed else end


def _spans(text: str, breaks: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    start = 0
    for match in breaks.finditer(text):
        yield start, match.start()
        start = match.end()
    yield start, len(text)


#: What a sentence needs to choose an option, and what it must not hold.
_CHOOSING = ("answer", "choose", "better", "yes", "final")
_UNDECIDED = ("maybe", "would", "not", "absent", "back")


def _asked(text: str) -> list[tuple[int, int]]:
    """Where the questions of a text stand."""
    spans = _spans(text, SENTENCE)
    return [(start, end) for start, end in spans if text[end : end + 1] in ("?", "？", "؟")]


def chosen(text: str, letters: Sequence[str]) -> str | None:
    """The one option that a short text chooses; None where it is not sure.

    >>> chosen("Rätt svar är D.", "ABCD"), chosen("A eller C.", "ABCD")
    ('D', None)
    """
    text = composed(text.strip())
    one = "|".join(map(re.escape, letters))
    asked = _asked(text)
    found = list(re.finditer(rf"(?<![A-Za-z'’])(?:{one})(?![\w'’]*[a-z])", text))
    picked = set[str | None]()
    for heard in hear(text, *_CHOOSING):
        letters_of = [
            m
            for m in found
            if not (m.group() == "A" and _is_word(text, m.start(), text[m.end() :], heard))
            and not any(start <= m.start() < end for start, end in asked)
        ]
        # What settles decides: "Ich schwanke zwischen B und C. Am Ende wähle ich B."
        ends = [h.end for h in heard.of("final") if any(m.start() > h.end for m in letters_of)]
        begins = max(ends, default=0)
        named = {m.group() for m in letters_of if m.start() >= begins}
        behind = {hit.use for hit in heard.hits if hit.start >= begins}
        sure = not behind.isdisjoint(_CHOOSING) and behind.isdisjoint(
            ("maybe", "not", "absent", "back")
        )
        picked.add(named.pop() if sure and len(named) == 1 else None)
    return picked.pop() if len(picked) == 1 else None


_CLOSING = " .!。！،、,，*_\"'«»“”"
# Where the verb stands behind what it says: "悲しみです", "슬픔입니다".
_COPULAS_BEHIND = ("です", "である", "だ", "입니다", "이다", "है")
#: A sentence with one of these does not say what is.
_DECIDED_OTHERWISE = frozenset({"maybe", "would", "not", "no", "absent", "back", "draft", "none"})


def contrasted(text: str) -> str:
    """What stands behind *but* in a short sentence that denies what stands before it.

    >>> contrasted("Das ist keine Wut, sondern Angst."), contrasted("Das ist Wut, aber kaum Angst.")
    ('angst', '')
    """
    told = set[str]()
    for heard in hear(text, "but"):
        for hit in heard.of("but")[-1:]:
            # In some languages the word that denies stands behind what it denies, and is the same.
            denied = heard.language in ("ja", "ko") or any(
                heard.any(use, 0, hit.end) for use in ("not", "no")
            )
            others = heard.of("maybe", "would", "back", "none")
            open_ = any(each.start != hit.start for each in others)
            again = any(heard.any(use, hit.end) for use in ("not", "no", "absent", "also"))
            if denied and not (open_ or again):
                told.add(_complement(heard.text[hit.end :]))
    return told.pop() if len(told) == 1 else ""


def not_only(text: str) -> bool:
    """Whether a text of another language says *not only ... but also*."""
    return any(each.of("but") and each.of("also") and each.of("not") for each in hear(text, "also"))


def _complement(text: str) -> str:
    """What a verb says that something is, without one that stands behind it."""
    text = text.strip(_CLOSING)
    for copula in _COPULAS_BEHIND:
        text = text.removesuffix(copula)
    return text


def says_none(text: str) -> bool:
    """Whether a short text says that nothing of a list applies.

    >>> says_none("Keine der drei Emotionen kommt vor."), says_none("Keine Ahnung.")
    (True, False)
    """
    return any(
        any(
            hit.start < 12
            or heard.language in (*JOINED, "tr", "hi")
            or any(denial.start < 3 for denial in heard.of("no", "not"))
            for hit in heard.of("none")
        )
        and not heard.of("maybe")
        and len(SENTENCE.findall(heard.text)) <= 1
        for heard in hear(text, "none")
    )


def adds(text: str) -> bool:
    """Whether a text of another language adds something: *Angst kommt auch vor.*"""
    return any(
        heard.of("also") and not heard.of("not", "no", "absent", "none")
        for heard in hear(text, "also")
    )


def predicates(text: str) -> list[str]:
    """What a short sentence of another language says that something is, without its article.

    None where the sentence weighs, denies or asks, or goes on behind it.

    >>> predicates("L'émotion dominante est la joie."), predicates("Das ist vielleicht Wut.")
    (['joie'], [])
    """
    if "?" in text or "？" in text:
        return []
    told = list[str]()
    for heard in map(_without_reasons, hear(text, "is")):
        body = heard.text.strip(_CLOSING)
        if not _DECIDED_OTHERWISE.isdisjoint(h.use for h in heard.hits) or CLAUSE.search(body):
            continue
        for hit in heard.of("is"):
            words = _complement(body[hit.end :]).split()
            article = len(words) > 1 and words[0] in of_heads("article")
            told.append(" ".join(words[article:]))
    return told

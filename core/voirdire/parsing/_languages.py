"""What a short reply says in another language than English, by words kept as data.

Yes and no and spelled numbers come from Unicode's CLDR, the words of verdicts are by hand
(`languages/words.toml`). A text is read in the language of which it has most words. What decides is
never the absence of a word: a value counts where a word of giving or preferring leads to it, and
where no word hedges, denies or takes back.
"""

from __future__ import annotations

import json
import re
import tomllib
import unicodedata
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from voirdire.parsing._spelling import MARKS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

WORD = re.compile(rf"[^\W_](?:[^\W_]|[{MARKS}])*")
#: Languages that put no blanks between words, or join particles to them.
_JOINED = ("ja", "ko", "th", "zh")
#: In these the word for *than* stands behind what it is held against.
_THAN_BEHIND = frozenset({"ja", "ko", "hi", "tr"})
_SCRIPTS = re.compile(
    r"(?P<ja>[\u3040-\u30ff]+)|(?P<ko>[\uac00-\ud7af]+)|(?P<zh>[\u4e00-\u9fff]+)|(?P<th>[\u0e00-\u0e7f]+)"
)
#: Where English has this share of the words that the best language has, the text is English.
_ENGLISH_ENOUGH = 0.7
#: A longer text is no short reply: its author explains, and much is weighed in it.
LONGEST = 600
#: Words of heads of lines, which tell no language.
_OF_HEADS = frozenset({"verdict", "article"})
#: A side and its noun behind a head, and no more.
_SHORT = 16
# No value that affirms or denies has more words.
_MOST_WORDS = 8
_CLAUSE = re.compile(r"[.!?;:,\n。！？；：，、،؛।()（）]+(?!\d)|\s[–—]\s")
_SENTENCE = re.compile(r"[.!?\n。！？।]+(?!\d)")
_FOLDER = Path(__file__).with_name("languages")


# Vowel signs and the stretch of Arabic, which few write.
_VOWEL_SIGNS = dict.fromkeys((*range(0x64B, 0x653), 0x670, 0x640))


class Hit(NamedTuple):
    """A phrase of a language in a text: what it is for, and where it stands."""

    use: str
    start: int
    end: int
    number: int = -1


@dataclass(frozen=True, slots=True)
class Heard:
    """A text as one language hears it; `text` is folded, and hits are in its order."""

    language: str
    text: str
    hits: tuple[Hit, ...]

    def of(self, *uses: str) -> list[Hit]:
        """The hits of these uses."""
        return [hit for hit in self.hits if hit.use in uses]

    def any(self, use: str, start: int = 0, end: int | None = None) -> bool:
        """Whether a phrase of that use begins between two places."""
        upto = len(self.text) if end is None else end
        return any(hit.use == use and start <= hit.start < upto for hit in self.hits)


@dataclass(frozen=True, slots=True)
class _Words:
    """All phrases: by their first word, and those of joined languages as they stand."""

    by_first: Mapping[str, Sequence[tuple[str, Sequence[tuple[int, list[str], str, int]]]]]
    joined: Mapping[str, Mapping[str, Sequence[tuple[str, str, int]]]]
    truth: Mapping[str, bool]
    there: Mapping[str, frozenset[str]]
    denials: Mapping[str, Sequence[str]]
    denying: Mapping[str, frozenset[str]]
    numbers: Mapping[str, int]
    opening: re.Pattern[str]
    answers: tuple[str, ...]
    codes: tuple[str, ...] = field(default=())


def folded(text: str) -> str:
    """A text without case and Arabic vowel signs, composed; Turkish capitals keep their length.

    >>> folded("EVET, İkinci")
    'evet, ikinci'
    """
    return _composed(text).casefold()


def _composed(text: str) -> str:
    """A text whose signs stand where they do in the folded one."""
    if text.isascii():
        return text
    plain = unicodedata.normalize("NFC", text).replace("İ", "i").replace("ß", "ss")
    return plain.translate(_VOWEL_SIGNS)


@cache
def _by_hand() -> dict[str, dict[str, str]]:
    return tomllib.loads((_FOLDER / "words.toml").read_text("utf-8"))


@cache
def _data() -> dict[str, dict[str, list[tuple[str, int]]]]:
    """Language -> use -> phrases with the number that they stand for, or -1."""
    words = _by_hand()
    cldr = json.loads((_FOLDER / "cldr.json").read_text("utf-8"))["languages"]
    data: dict[str, dict[str, list[tuple[str, int]]]] = {}
    for code in {**cldr, **words}:
        own = {
            use: text.split("|")
            for use, text in words.get(code, {}).items()
            if use not in _OF_HEADS
        }
        given = cldr.get(code, {"yes": [], "no": [], "numbers": {}})
        for use in ("yes", "no"):
            own[use] = [*given[use], *own.get(use, [])]
        uses = {use: [(folded(each), -1) for each in some] for use, some in own.items()}
        uses["number"] = [(folded(each), number) for each, number in given["numbers"].items()]
        data[code] = uses
    return data


@cache
def _words() -> _Words:
    data = _data()
    by_first: dict[str, dict[str, list[tuple[int, list[str], str, int]]]] = {}
    joined: dict[str, dict[str, list[tuple[str, str, int]]]] = {}
    truth, there, denials = dict[str, bool](), dict[str, frozenset[str]](), dict[str, list[str]]()
    both, numbers = set[str](), dict[str, int]()
    for code, uses in data.items():
        for use, phrases in uses.items():
            for phrase, number in phrases:
                if code in _JOINED:
                    by_sign = joined.setdefault(code, {})
                    by_sign.setdefault(phrase[0], []).append((phrase, use, number))
                elif parts := WORD.findall(phrase):
                    own = by_first.setdefault(parts[0], {}).setdefault(code, [])
                    own.append((len(parts), parts, use, number))
                if use == "number":
                    both |= {phrase} if numbers.get(phrase, number) != number else set()
                    numbers[phrase] = number
        for use, says in (("yes", True), ("there", True), ("no", False), ("absent", False)):
            for phrase, _ in uses.get(use, ()):
                plain = " ".join(WORD.findall(phrase))
                both |= {plain} if truth.get(plain, says) is not says else set()
                truth[plain] = says
        there[code] = frozenset(" ".join(WORD.findall(p)) for p, _ in uses.get("there", ()))
        denials[code] = [p for p, _ in uses.get("not", ())]
    for doubtful in both:
        truth.pop(doubtful, None)
        numbers.pop(doubtful, None)
    answers = {
        p for uses in data.values() for use in ("yes", "no") for p, _ in uses[use] if p in truth
    }
    ordered = tuple(sorted(answers, key=len, reverse=True))
    opening = re.compile(rf"(?:{'|'.join(map(re.escape, ordered))})(?![\w{MARKS}])")
    denying = {code: frozenset(some) for code, some in denials.items()}
    first = {token: tuple(some.items()) for token, some in by_first.items()}
    return _Words(
        first, joined, truth, there, denials, denying, numbers, opening, ordered, tuple(data)
    )


def answer_words() -> tuple[str, ...]:
    """All words for yes and no, the longest first."""
    return _words().answers


@cache
def of_heads(use: str) -> tuple[str, ...]:
    """Words of heads in other languages than English: nouns of a *verdict*, or an *article*."""
    by_language = (uses.get(use, "") for uses in _by_hand().values())
    return tuple(dict.fromkeys(w for some in by_language for w in some.split("|") if w))


def hear(text: str) -> list[Heard]:
    """The text as the languages hear it that have most words of it; none where that is English."""
    text = folded(text.strip())
    if not text or len(text) > LONGEST:
        return []
    return list(_hear(text))


@lru_cache(maxsize=64)
def _hear(text: str) -> tuple[Heard, ...]:
    scripts = () if text.isascii() else {each.lastgroup for each in _SCRIPTS.finditer(text)}
    # Japanese has Chinese signs as well, and so may Korean.
    if code := next((code for code in ("ja", "ko", "zh", "th") if code in scripts), None):
        return (Heard(code, text, _outermost(_hits_joined(text, code))),)
    by_first = _words().by_first
    tokens = WORD.findall(text)
    if _is_surely_english(tokens):
        return ()
    spans = [each.span() for each in WORD.finditer(text)]
    # By the letters that are of words of a language: a long phrase says more than a short one.
    weight, upto = dict[str, int](), dict[str, int]()
    for at, token in enumerate(tokens):
        if (by_language := by_first.get(token)) is None:
            continue
        for code, phrases in by_language:
            size = max(
                (n for n, parts, _, _ in phrases if n == 1 or tokens[at : at + n] == parts),
                default=0,
            )
            if size and (end := spans[at + size - 1][1]) > (begun := upto.get(code, 0)):
                weight[code] = weight.get(code, 0) + end - max(spans[at][0], begun)
                upto[code] = end
    most = max(weight.values(), default=0)
    # Other languages share words with English, which has rules of its own.
    if not most or weight.get("en", 0) >= _ENGLISH_ENOUGH * most:
        return ()
    best = [code for code, each in weight.items() if each == most]
    return tuple(Heard(code, text, _outermost(_hits(code, tokens, spans))) for code in best)


def _is_surely_english(tokens: Sequence[str]) -> bool:
    """Whether no other language can have more words of a text than English, by single words."""
    english, others = _english_and_others()
    own = sum(map(len, filter(english.__contains__, tokens)))
    # With the blank before each: a phrase counts from its beginning to its end.
    other = sum(len(token) + 1 for token in tokens if token in others)
    return own >= _ENGLISH_ENOUGH * other and own > 0


@cache
def _english_and_others() -> tuple[frozenset[str], frozenset[str]]:
    """Words that are English phrases, and all words in phrases of other languages."""
    by_first = _words().by_first
    of_all = [
        (c, n, parts) for some in by_first.values() for c, own in some for n, parts, *_ in own
    ]
    english = {parts[0] for code, n, parts in of_all if code == "en" and n == 1}
    others = {part for code, _, parts in of_all if code != "en" for part in parts}
    return frozenset(english), frozenset(others)


def _hits(code: str, tokens: list[str], spans: list[tuple[int, int]]) -> list[Hit]:
    """The phrases of a language in a text of words."""
    by_first = _words().by_first
    return [
        Hit(use, spans[at][0], spans[at + n - 1][1], number)
        for at, token in enumerate(tokens)
        for own, phrases in by_first.get(token, ())
        if own == code
        for n, parts, use, number in phrases
        if n == 1 or tokens[at : at + n] == parts
    ]


def _outermost(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """The hits in order, without those inside a longer one: *if* is none in *as if*."""
    kept, longest = list[Hit](), (0, 0)
    for hit in sorted(hits, key=_place):
        if hit.end > longest[1]:
            longest = hit.start, hit.end
        if (hit.start, hit.end) == longest:
            kept.append(hit)
    return tuple(kept)


def _place(hit: Hit) -> tuple[int, int]:
    return hit.start, -hit.end


def _hits_joined(text: str, code: str) -> list[Hit]:
    hits, by_sign = list[Hit](), _words().joined.get(code, {})
    for at, sign in enumerate(text):
        for phrase, use, number in by_sign.get(sign, ()):
            if text.startswith(phrase, at):
                hits.append(Hit(use, at, at + len(phrase), number))
                if use in ("no", "absent"):  # "不是" denies within a sentence as "不" does
                    hits.append(Hit("not", at, at + len(phrase)))
    return hits


def truth(text: str) -> bool | None:
    """Whether a short value affirms or denies, in any language; None where it is not known.

    >>> truth("trifft nicht zu"), truth("是"), truth("vielleicht"), truth("does not apply")
    (False, True, None, False)
    """
    words, plain = _words(), WORD.findall(folded(text[:200]))
    phrase = " ".join(plain)
    if phrase in words.truth:
        return words.truth[phrase]
    if len(plain) > _MOST_WORDS:
        return None
    # A denial of what is known: its opposite is not known by that, so that only "no" comes of it.
    for code in words.codes:
        denials, there = words.denials[code], words.there[code]
        if code in _JOINED:
            if any(phrase.removeprefix(d) in there for d in denials if phrase.startswith(d)):
                return False
            continue
        if words.denying[code].isdisjoint(plain):
            continue
        rest = [word for word in plain if word not in denials]
        if " ".join(rest) in there or " ".join([*rest[1:], *rest[:1]]) in there:
            return False
    if plain[:2] in (["does", "not"], ["do", "not"]) and " ".join(plain[2:]) in words.there["en"]:
        return False
    return None


class Opening(NamedTuple):
    """The yes or no that opens a text, and where it ends."""

    says: bool
    end: int


def opens_with(text: str) -> Opening | None:
    """The yes or no with which a text begins, in any language."""
    text = folded(text[:200])
    match = _words().opening.match(text)
    return Opening(_words().truth[match.group()], match.end()) if match else None


def is_taken_back(text: str, start: int = 0, *, other: bool | None = None) -> bool:
    """Whether a text hedges, or takes back, from a place on; with `other`, or says that answer.

    What stands before the place tells the language.
    """
    heards = hear(text[:LONGEST])
    told = [h for h in heards if any(hit.start < start for hit in h.of("yes", "no"))]
    for heard in told or heards:
        if any(hit.start >= start for hit in heard.of("maybe", "back")):
            return True
        use = "yes" if other else "no"
        for hit in heard.of(use) if other is not None else ():
            if hit.start < start:
                continue
            # As a clause of its own: "no" stands within many sentences.
            before, behind = heard.text[: hit.start].rstrip(), heard.text[hit.end :].lstrip()
            alone = not behind or behind[0] in ".,;:!。，！"
            if alone and (not before or before[-1] in ".,;:!?…。，！"):
                return True
    return False


def number_word(text: str) -> tuple[int, int] | None:
    """A spelled number with which a text begins and its clause ends, and where it ends.

    >>> number_word("drei. Der Ton bleibt kühl."), number_word("one thing stands out")
    ((3, 4), None)
    """
    match = WORD.match(text)
    if match is None or match.end() > 20:
        return None
    number = _words().numbers.get(folded(match.group()))
    behind = text[match.end() :].lstrip(" *_")
    if number is None or (behind and behind[0] not in ".,;:!?()/\n–—-。，、"):
        return None
    return number, match.end()


class GivenScore(NamedTuple):
    """A score that a sentence gives: its number, and the top where it is named."""

    number: float
    top: float | None = None
    conflict: bool = False


class _NumberWords(NamedTuple):
    value: float
    start: int
    end: int


_DIGITS = re.compile(r"(?<![\w.,/-])\d{1,4}(?:[.,]\d{1,2})?(?![\w%])")
# Where no blanks part words a number stands right behind one.
_DIGITS_JOINED = re.compile(r"(?<![0-9A-Za-z.,/-])\d{1,4}(?:[.,]\d{1,2})?(?![0-9A-Za-z%])")
_EAST = re.compile(r"[一二两三四五六七八九十](?=\s?[分点])")
_EAST_NUMBERS = {sign: at for at, sign in enumerate("一二三四五六七八九十", 1)} | {"两": 2}


def given_score(text: str, high: float) -> GivenScore | None:
    """The score that a short reply gives in a sentence; None where it gives none for sure.

    >>> given_score("Ich vergebe 4 von 5 Punkten.", 5)
    GivenScore(number=4.0, top=5.0, conflict=False)
    >>> given_score("Zwischen 3 und 4, genauer kann ich es nicht sagen.", 5) is None
    True
    """
    given = {_given(_without_reasons(heard), high) for heard in hear(text)}
    return given.pop() if len(given) == 1 else None


#: What stands in a verdict, and so in no reason that may be passed over.
_OF_VERDICTS = ("better", "worse", "final", "back", "gives", "units", "draft", "same", "choose")


def _without_reasons(heard: Heard) -> Heard:
    """What is heard but for what stands behind *because*, up to the end of its sentence."""
    text, spans = heard.text, list[tuple[int, int]]()
    for hit in heard.of("because"):
        opens = not _SENTENCE.split(text[: hit.start])[-1].strip()
        ends = _SENTENCE.search(text, hit.end)
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
    # What is said of the number, from where it was settled to the end of its sentence.
    begins = max(
        [h.end for h in heard.of("final", "back") if start <= h.start < last.start], default=start
    )
    ends = _SENTENCE.search(heard.text, last.end)
    upto = ends.start() if ends else len(heard.text)
    doubted = any(heard.any(use, begins, upto) for use in ("maybe", "not"))
    if doubted or heard.any("back", last.end) or heard.any("maybe", last.end):
        return None
    unit = heard.any("units", last.end, last.end + 3)
    told = settled or top is not None or unit or heard.of("gives")
    return GivenScore(last.value, top, bool(others)) if told and not _counts(heard, last) else None


def _counts(heard: Heard, number: _NumberWords) -> bool:
    """Whether a number is that of something else: *3 personas*."""
    behind = WORD.search(heard.text, number.end, number.end + 30)
    if behind is None or heard.text[number.end : behind.start()].strip():
        return False
    return not any(hit.start <= behind.start() < hit.end for hit in heard.hits)


def _numbers(heard: Heard) -> Iterator[_NumberWords]:
    digits = _DIGITS_JOINED if heard.language in _JOINED else _DIGITS
    for match in digits.finditer(heard.text):
        yield _NumberWords(float(match.group().replace(",", ".")), *match.span())
    if heard.language in _JOINED:
        for match in _EAST.finditer(heard.text):
            yield _NumberWords(float(_EAST_NUMBERS[match.group()]), *match.span())
        return
    for hit in heard.of("number"):
        yield _NumberWords(float(hit.number), hit.start, hit.end)


def _without_tops(heard: Heard, high: float) -> tuple[list[_NumberWords], float | None]:
    """The numbers but for the top of the scale, where it stands beside another one."""
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
    return len(left) <= (2 if heard.language in _JOINED else 8)


class Side(NamedTuple):
    """A mention of the first (0) or second (1) of two replies."""

    which: int
    start: int
    end: int


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
    text = _composed(text.strip())
    sides = {_preferred(_without_reasons(heard), text) for heard in hear(text)}
    return sides.pop() if len(sides) == 1 else None


def _preferred(heard: Heard, text: str) -> int | None:
    if heard.of("maybe") or "?" in text:
        return None
    sides = _sides(heard, text)
    votes, upto = set[int](), 0
    for start, end in _verdict_spans(heard.text):
        better = heard.any("better", start, end)
        if not better and not heard.any("worse", start, end):
            continue
        # "Not" of a taking back aside: what is denied is no verdict.
        if heard.any("not", start, end) or (better and heard.any("worse", start, end)):
            return None
        here = {each.which for each in _held(heard, sides, start, end)}
        if len(here) > 1:
            return None
        votes |= here if better else {1 - which for which in here}
        upto = max(hit.end for hit in heard.of("better", "worse") if hit.start < end)
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
    return heard.language in _JOINED or not _CLAUSE.split(heard.text[: hit.start])[-1].strip()


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
    pattern = _LETTER_JOINED if heard.language in _JOINED else _LETTER
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
    spans = [*_spans(text, _CLAUSE), (0, 0)]
    for (start, end), (begins, ends) in pairwise(spans):
        headed = text[end : end + 1] in (":", "：") and ends - begins <= _SHORT
        yield start, ends if headed else end


def _spans(text: str, breaks: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    start = 0
    for match in breaks.finditer(text):
        yield start, match.start()
        start = match.end()
    yield start, len(text)


def chosen(text: str, letters: Sequence[str]) -> str | None:
    """The one option that a short text chooses; None where it is not sure.

    >>> chosen("Rätt svar är D.", "ABCD"), chosen("A eller C.", "ABCD")
    ('D', None)
    """
    text = _composed(text.strip())
    one = "|".join(map(re.escape, letters))
    found = list(re.finditer(rf"(?<![A-Za-z'’])(?:{one})(?![\w'’]*[a-z])", text))
    picked = set[str | None]()
    for heard in hear(text):
        letters_of = [
            m
            for m in found
            if not (m.group() == "A" and _is_word(text, m.start(), text[m.end() :], heard))
        ]
        # What settles decides: "Ich schwanke zwischen B und C. Am Ende wähle ich B."
        ends = [h.end for h in heard.of("final") if any(m.start() > h.end for m in letters_of)]
        begins = max(ends, default=0)
        named = {m.group() for m in letters_of if m.start() >= begins}
        behind = {hit.use for hit in heard.hits if hit.start >= begins}
        sure = not behind.isdisjoint(("answer", "choose", "reply")) and behind.isdisjoint(
            ("maybe", "not", "back")
        )
        picked.add(named.pop() if sure and len(named) == 1 else None)
    return picked.pop() if len(picked) == 1 else None


_CLOSING = " .!。！،,*_\"'«»“”"
# Where the verb stands behind what it says: "悲しみです", "슬픔입니다".
_COPULAS_BEHIND = ("です", "である", "だ", "입니다", "이다", "है")
#: A sentence with one of these does not say what is.
_DECIDED_OTHERWISE = frozenset({"maybe", "not", "no", "absent", "back", "draft", "none"})


def says_none(text: str) -> bool:
    """Whether a short text says that nothing of a list applies.

    >>> says_none("Keine der drei Emotionen kommt vor."), says_none("Keine Ahnung.")
    (True, False)
    """
    return any(
        any(
            hit.start < 12
            or heard.language in (*_JOINED, "tr", "hi")
            or any(denial.start < 3 for denial in heard.of("no", "not"))
            for hit in heard.of("none")
        )
        and not heard.of("maybe")
        and len(_SENTENCE.findall(heard.text)) <= 1
        for heard in hear(text)
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
    for heard in map(_without_reasons, hear(text)):
        body = heard.text.strip(_CLOSING)
        if not _DECIDED_OTHERWISE.isdisjoint(h.use for h in heard.hits) or _CLAUSE.search(body):
            continue
        for hit in heard.of("is"):
            complement = body[hit.end :].strip(_CLOSING)
            for copula in _COPULAS_BEHIND:
                complement = complement.removesuffix(copula)
            words = complement.split()
            article = len(words) > 1 and words[0] in of_heads("article")
            told.append(" ".join(words[article:]))
    return told


def hedges(text: str) -> bool:
    """Whether a text of another language than English weighs, or leaves open, what it speaks of."""
    return any(heard.of("maybe") for heard in hear(text))


def is_foreign(text: str, *, least: int = 1) -> bool:
    """Whether a text of at least so many words is in another language than English.

    As far as its words are known; of a language without blanks two signs are a word.
    """
    return any(
        (len(heard.text) / 2 if heard.language in _JOINED else len(WORD.findall(heard.text)))
        >= least
        for heard in hear(text)
    )


def denies(word: str) -> bool:
    """Whether a word alone denies, or says that something is not there, in any language."""
    return folded(word) in _denying()


@cache
def _denying() -> frozenset[str]:
    uses = ("not", "absent")
    return frozenset(
        phrase
        for code, data in _data().items()
        for use in uses
        for phrase, _ in data.get(use, ())
        if code != "en" and " " not in phrase
    ) - {"no"}

"""The words of other languages than English in a text, kept as data.

Yes and no and spelled numbers come from Unicode's CLDR, the words of verdicts are by hand
(`languages/words.toml`). A text is heard in the language of which it has most words.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from voirdire.parsing._spelling import words_of
from voirdire.parsing._vocabulary import JOINED, WORD, all_phrases, folded, rule, vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_BY_SCRIPT = ("ja", "ko", "zh", "th")
#: Languages whose verb ends the clause, and so does what takes back.
VERB_LAST = ("hi", "tr")
_SCRIPTS = re.compile(
    r"(?P<ja>[\u3040-\u30ff]+)|(?P<ko>[\uac00-\ud7af]+)|(?P<zh>[\u4e00-\u9fff]+)|(?P<th>[\u0e00-\u0e7f]+)"
)
#: Where English has this share of the words that the best language has, the text is English.
_ENGLISH_ENOUGH = 0.7
#: A longer text is no short reply: its author explains, and much is weighed in it.
LONGEST = 600
#: A clause of no more words, one of which denies, has no other sense.
_SHORT = 3
# No value that affirms or denies has more words.
_MOST_WORDS = 8
#: A clause behind a yes of more words explains it.
FEW_WORDS = 10
#: Signs of a word where no blanks part them.
_SIGNS_A_WORD = 3
# What is quoted is said by another.
QUOTED = re.compile(r"[„“«»「『\"][^„“”«»「」『』\"\n]{1,200}(?:[“”«»」』\"]|\Z)")
CLAUSE = re.compile(r"[.!?;:,\n。！？；：，、،؛।()（）]+(?!\d)|\s[–—]\s")
SENTENCE = re.compile(r"[.!?\n。！？।؟]+(?!\d)")


#: First two words -> languages and phrases that begin so.
_Longer = dict[tuple[str, ...], list[tuple[str, list[str]]]]


class Hit(NamedTuple):
    """A phrase of a language in a text: what it is for, and where it stands."""

    use: str
    start: int
    end: int
    number: int = -1


class Heard(NamedTuple):
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


def hear(text: str, *uses: str) -> list[Heard]:
    """The text as the languages hear it that have most words of it; none where that is English.

    With `uses` it is heard only where it may hold a phrase of one of them.
    """
    said = _folded_text(text.strip())
    if not said.text or len(said.text) > LONGEST or (uses and not _may_hold(said, uses)):
        return []
    return said.heard


def may_hold(text: str, *uses: str) -> bool:
    """Whether a text may hold a phrase of one of some uses, in whatever language."""
    return _may_hold(_folded_text(text[:LONGEST].strip()), uses)


def _may_hold(said: _FoldedText, uses: tuple[str, ...]) -> bool:
    return bool(said.script) or not _first_words(uses).isdisjoint(said.tokens)


class _FoldedText:
    """A folded text, its words, the language that its script alone tells, and what is heard."""

    __slots__ = ("_heard", "script", "text", "tokens")

    def __init__(self, text: str) -> None:
        self.text = folded(text)
        self.tokens = WORD.findall(self.text)
        self.script = ""
        self._heard: list[Heard] | None = None
        if not text.isascii():
            scripts = {each.lastgroup for each in _SCRIPTS.finditer(self.text)}
            # Japanese has Chinese signs as well, and so may Korean.
            self.script = next((code for code in _BY_SCRIPT if code in scripts), "")

    @property
    def heard(self) -> list[Heard]:
        """The text as its languages hear it."""
        if self._heard is None:
            self._heard = _hear(self.text, self.tokens, self.script)
        return self._heard


# A text is heard for one use after another.
@lru_cache(maxsize=64)
def _folded_text(text: str) -> _FoldedText:
    return _FoldedText(text)


@cache
def _first_words(uses: tuple[str, ...]) -> frozenset[str]:
    return frozenset(
        first
        for first, by_language in vocabulary().by_first.items()
        if any(use in uses for some in by_language.values() for _, _, use, _ in some)
    )


def _hear(text: str, tokens: Sequence[str], script: str) -> list[Heard]:
    if script:
        return [Heard(script, text, _outermost(_hits_joined(text, script)))]
    if _is_surely_english(tokens):
        return []
    alone, longer = _sizes()
    spans = [each.span() for each in WORD.finditer(text)]
    # By the letters that are of words of a language: a long phrase says more than a short one.
    weight, upto = dict[str, int](), dict[str, int]()
    for at, token in enumerate(tokens):
        if (sizes := alone.get(token)) is None:
            continue
        for code, parts in longer.get((token, *tokens[at + 1 : at + 2]), ()):
            if len(parts) > sizes.get(code, 0) and tokens[at : at + len(parts)] == parts:
                sizes = {**sizes, code: len(parts)}
        start = spans[at][0]
        for code, size in sizes.items():
            if (end := spans[at + size - 1][1]) > (begun := upto.get(code, 0)):
                weight[code] = weight.get(code, 0) + end - max(begun, start)
                upto[code] = end
    most = max(weight.values(), default=0)
    # Other languages share words with English, which has rules of its own.
    if not most or weight.get("en", 0) >= _ENGLISH_ENOUGH * most:
        return []
    best = [code for code, each in weight.items() if each == most]
    return [Heard(code, text, _outermost(_hits(code, tokens, spans))) for code in best]


@cache
def _sizes() -> tuple[dict[str, dict[str, int]], _Longer]:
    """First word -> languages in which it is a phrase alone, with 1, and its longer phrases."""
    alone, longer = dict[str, dict[str, int]](), _Longer()
    for token, by_language in vocabulary().by_first.items():
        every = [(code, parts) for code, some in by_language.items() for _, parts, *_ in some]
        alone[token] = {code: 1 for code, parts in every if len(parts) == 1}
        for code, parts in every:
            if len(parts) > 1:
                longer.setdefault((token, parts[1]), []).append((code, parts))
    return alone, longer


def _is_surely_english(tokens: Sequence[str]) -> bool:
    """Whether no other language can have more words of a text than English, by single words."""
    english, others = _english_and_others()
    if english.isdisjoint(tokens):
        return False
    own = sum(map(len, filter(english.__contains__, tokens)))
    # With the blank before each: a phrase counts from its beginning to its end.
    other = [len(token) for token in tokens if token in others]
    return own >= _ENGLISH_ENOUGH * (sum(other) + len(other))


@cache
def _english_and_others() -> tuple[frozenset[str], frozenset[str]]:
    """Words that are English phrases, and all words in phrases of other languages."""
    by_first = vocabulary().by_first
    of_all = [
        (code, n, parts)
        for some in by_first.values()
        for code, own in some.items()
        for n, parts, *_ in own
    ]
    english = {parts[0] for code, n, parts in of_all if code == "en" and n == 1}
    others = {part for code, _, parts in of_all if code != "en" for part in parts}
    return frozenset(english), frozenset(others)


def _hits(code: str, tokens: Sequence[str], spans: list[tuple[int, int]]) -> list[Hit]:
    """The phrases of a language in a text of words."""
    by_first = vocabulary().by_first
    return [
        Hit(use, spans[at][0], spans[at + n - 1][1], number)
        for at, token in enumerate(tokens)
        if token in by_first
        for n, parts, use, number in by_first[token].get(code, ())
        if n == 1 or tokens[at : at + n] == parts
    ]


def _outermost(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """The hits in order, without those inside a longer one: *if* is none in *as if*."""
    kept, first, last = list[Hit](), 0, 0
    for hit in sorted(hits, key=_place):
        _, start, end, _ = hit
        if end > last:
            first, last = start, end
        if start == first and end == last:
            kept.append(hit)
    return tuple(kept)


def _place(hit: Hit) -> int:
    return hit.start * LONGEST - hit.end


def _hits_joined(text: str, code: str) -> list[Hit]:
    hits, by_sign = list[Hit](), vocabulary().joined.get(code, {})
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
    words, plain = vocabulary(), WORD.findall(folded(text[:200]))
    phrase = " ".join(plain)
    if phrase in words.truth:
        return words.truth[phrase]
    if len(plain) > _MOST_WORDS:
        return None
    # A denial of what is known: its opposite is not known by that, so that only "no" comes of it.
    for code in JOINED if phrase and phrase[0] in _joined_denials() else ():
        denials, there = words.denials.get(code, ()), words.there.get(code, ())
        if any(phrase.removeprefix(d) in there for d in denials if phrase.startswith(d)):
            return False
    for code in () if words.any_denying.isdisjoint(plain) else words.codes:
        if code in JOINED or words.denying[code].isdisjoint(plain):
            continue
        denials, there = words.denials[code], words.there[code]
        rest = [word for word in plain if word not in denials]
        if " ".join(rest) in there or " ".join([*rest[1:], *rest[:1]]) in there:
            return False
    if plain[:2] in (["does", "not"], ["do", "not"]) and " ".join(plain[2:]) in words.there["en"]:
        return False
    return None


@cache
def _joined_denials() -> frozenset[str]:
    """The signs with which a denial begins where no blanks part words."""
    return frozenset(d[0] for code in JOINED for d in vocabulary().denials.get(code, ()))


class Opening(NamedTuple):
    """The yes or no that opens a text, and where it ends."""

    says: bool
    end: int


def opens_with(text: str) -> Opening | None:
    """The yes or no with which a text begins, in any language."""
    text = folded(text[:200])
    match = vocabulary().opening.match(text)
    return Opening(vocabulary().truth[match.group()], match.end()) if match else None


def without_offer(text: str, *, opens: bool = False) -> str:
    """A text without a last paragraph that offers something: *Si necesitas ayuda, llama al 024.*

    A condition in a paragraph of its own that denies, answers and takes back nothing is none of
    the verdict. With `opens` it must begin with the condition.
    """
    before, gap, last = text.rstrip().rpartition("\n\n")
    heards = hear(last, "if") if gap else []
    return before if heards and all(_offers(heard, opens) for heard in heards) else text


def _offers(heard: Heard, opens: bool) -> bool:
    conditions = [hit.start for hit in heard.of("if")]
    # Spanish has one word for *if* and, without its accent, *yes*.
    others = heard.of("not", "no", "absent", "yes", "back")
    return (
        bool(conditions)
        and all(hit.start in conditions for hit in others)
        and not (opens and any(map(str.isalnum, heard.text[: conditions[0]])))
    )


def is_taken_back(text: str, start: int = 0, *, other: bool | None = None) -> bool:
    """Whether a text hedges, or takes back, from a place on; with `other`, or says that answer.

    What stands before the place tells the language.
    """
    text = without_offer(text)
    heards = hear(
        text[:LONGEST], "maybe", "back", "yet", *(("yes", "no") if other is not None else ())
    )
    told = [h for h in heards if any(hit.start < start for hit in h.of("yes", "no"))]
    for heard in told or heards:
        if any(hit.start >= start for hit in heard.of("maybe", "back")):
            return True
        use = "yes" if other else "no"
        for hit in heard.of(use) if other is not None else ():
            if hit.start < start:
                continue
            # At the end of a short clause: "no" stands within many sentences.
            clause = _part_around(heard.text, CLAUSE, hit.start, hit.end)
            before, behind = heard.text[clause.start : hit.start], heard.text[hit.end :].lstrip()
            if (not behind or behind[0] in ".,;:!。，！") and len(WORD.findall(before)) <= _SHORT:
                return True
        spoken = SENTENCE.search(heard.text, start)
        further = spoken.end() if spoken else len(heard.text)
        if other is False and _denies_behind(heard, start, further):
            return True
        # "Oui, mais ...": how it goes on is not known.
        turns = [hit.start for hit in heard.of("yet") if hit.start >= start]
        if turns and not WORD.search(heard.text, start, turns[0]):
            return True
    return False


def denies_behind(text: str) -> bool:
    """Whether sentences behind a yes deny in a short clause, in another language than English.

    >>> denies_behind("Das trifft nicht zu."), denies_behind("Zögern Sie nicht zu fragen.")
    (True, False)
    """
    return any(_denies_behind(heard, 0, 0) for heard in hear(without_offer(text[:LONGEST])))


def _denies_behind(heard: Heard, start: int, further: int) -> bool:
    """Whether a further sentence denies, or a clause does little more: *Oui, enfin, pas vraiment.*

    Who denies in a short clause behind a yes may take it back, in whatever words; what says why
    does not, nor what another said, nor *do not hesitate*.
    """
    said = QUOTED.sub(_blank, heard.text)
    for at, end in _denials(heard, said):
        if at < start:
            continue
        clause = _part_around(said, CLAUSE, at, end)
        words = WORD.findall(said[clause])
        if is_polite(words, said[clause]):
            continue
        joined = (clause.stop - clause.start) / _SIGNS_A_WORD
        size = joined if heard.language in JOINED else len(words)
        if size <= _SHORT:
            return True
        sentence = _part_around(said, SENTENCE, at, end)
        why = any(heard.any(use, sentence.start, sentence.stop) for use in ("because", "bases"))
        if at >= further and not why and size <= FEW_WORDS:
            return True
    return False


def _part_around(text: str, breaks: re.Pattern[str], start: int, end: int) -> slice:
    """Where the clause or sentence stands that holds a place."""
    behind = breaks.search(text, end)
    begins = max((each.end() for each in breaks.finditer(text, 0, start)), default=0)
    return slice(begins, behind.start() if behind else len(text))


def denies_in(heard: Heard, start: int, end: int) -> bool:
    """Whether what stands between two places denies, and does not ask nobody to hesitate."""
    part = heard.text[start:end]
    told = any(start <= at < end for at, _ in _denials(heard, heard.text))
    return told and not is_polite(WORD.findall(part), part)


def _denials(heard: Heard, said: str) -> Iterator[tuple[int, int]]:
    """Where a text denies outside quotations: by a word, or by the ending of a verb."""
    for hit in heard.of("not", "no", "absent"):
        word = said[hit.start : hit.end]
        # One sign of a syllable is part of many words.
        if not word.isspace() and not (len(word) == 1 and "\u3040" <= word < "\u30a0"):
            yield hit.start, hit.end
    if heard.language == "tr":
        endings = rule("verb_denies")
        yield from (w.span() for w in WORD.finditer(said) if any(e in w[0] for e in endings))


def is_polite(words: Sequence[str], clause: str) -> bool:
    """Whether a clause asks nobody to hesitate, or denies a doubt."""
    stems = (*rule("doubt"), *rule("hesitate"))
    return any(word.startswith(stems) for word in words) or any(
        stem in clause for stem in stems if not stem.isascii()
    )


def _blank(quoted: re.Match[str]) -> str:
    return " " * len(quoted.group())


def only_denies(words: Sequence[str]) -> bool:
    """Whether a clause with a denial is a short one, and none of doubts: *no doubt*."""
    return len(words) <= _SHORT and not any(word.startswith(rule("doubt")) for word in words)


def takes_back(text: str) -> bool:
    """Whether a clause of a text in another language than English takes back what was said.

    >>> takes_back("4. Moment, das war falsch."), takes_back("Ein Moment der Nähe.")
    (True, False)
    """
    return any(
        hit.use == "back"
        and (
            heard.language in (*JOINED, *VERB_LAST)
            or not CLAUSE.split(heard.text[: hit.start])[-1].strip(" *_")
        )
        for heard in hear(text[:LONGEST], "back")
        for hit in heard.hits
    )


def number_word(text: str) -> tuple[int, int] | None:
    """A spelled number with which a text begins and its clause ends, and where it ends.

    >>> number_word("drei. Der Ton bleibt kühl."), number_word("one thing stands out")
    ((3, 4), None)
    """
    match = WORD.match(text)
    if match is None or match.end() > 20:
        return None
    number = vocabulary().numbers.get(folded(match.group()))
    behind = text[match.end() :].lstrip(" *_")
    ended = not behind or behind[0] in ".,;:!?()/\n–—-。，、"
    if number is None or not ended or text[match.end() : match.end() + 1] == "-":
        return None
    return number, match.end()


def hedges(text: str) -> bool:
    """Whether a text of another language than English weighs, or leaves open, what it speaks of."""
    return any(heard.of("maybe", "would") for heard in hear(text, "maybe", "would"))


def is_weighed(text: str) -> bool:
    """Whether a short text of another language weighs what it states, or calls it a first try."""
    few = len(WORD.findall(text)) <= _SHORT
    return few and any(heard.of("maybe", "draft") for heard in hear(text, "maybe", "draft"))


def is_english(text: str) -> bool:
    """Whether a text is English by its words as they are compared, which is known at once."""
    return text.isascii() and _is_surely_english(words_of(text).forms)


def is_foreign(text: str, *, least: int = 1) -> bool:
    """Whether a text of at least so many words is in another language than English.

    As far as its words are known; of a language without blanks two signs are a word.
    """
    return not is_english(text) and any(
        (len(heard.text) / 2 if heard.language in JOINED else len(WORD.findall(heard.text)))
        >= least
        for heard in hear(text)
    )


def denies(word: str) -> bool:
    """Whether a word alone denies, or says that something is not there, in any language."""
    return folded(word) in _denying()


def denies_any(forms: Sequence[str]) -> bool:
    """Whether one of some words, without case, denies in another language than English."""
    return not _denying().isdisjoint(forms)


@cache
def _denying() -> frozenset[str]:
    uses = ("not", "absent")
    return frozenset(
        phrase
        for code, data in all_phrases().items()
        for use in uses
        for phrase, _ in data.get(use, ())
        if code != "en" and " " not in phrase
    ) - {"no"}

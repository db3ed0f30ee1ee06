"""Whether what stands behind a verdict takes it back, by what it speaks of.

A sentence behind a verdict that speaks of the verdict itself (*this rating*, *diese Note*)
says why it is given, or takes it back. Why is said with few words in each language; what is said
with others is not understood, and the verdict does not stand.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from voirdire.parsing._hearing import (
    SENTENCE,
    Heard,
    denies_in,
    hear,
    is_english,
    takes_back,
    without_offer,
)
from voirdire.parsing._keys import plain_key
from voirdire.parsing._names import EASTERN
from voirdire.parsing._spelling import Phrases, words_of
from voirdire.parsing._vocabulary import JOINED, by_hand, numbers_of, of_heads, rule, words_for
from voirdire.parsing._words import SAYS_DRAFT

_NOUNS = rule("verdict_nouns")
# "this rating", "the score above": the verdict itself, and no other judge's.
_VERDICT = re.compile(
    r"\b(?:this|that|these|both|my|the(?:\s+above)?)\s+"
    r"(?:(?:final|overall|above|previous|earlier|first)\s+|(?P<of>[\w-]+)\s+)?"
    rf"(?:{'|'.join(_NOUNS)})s?\b",
    re.IGNORECASE,
)
# What a sentence about the verdict denies, or whoever gave it does to it.
_DENIES = Phrases(*rule("denies_verdict"))
_DOES = re.compile(
    r"(?:^|[,;:]|\band)\W*(?:i(?:['’](?:m|ll|d|ve)|\s+(?:am|will|would|have|must|should|now|hereby))?"
    r"|please|kindly)?\s+(?:\w+ly\s+)?(?P<verb>[^\W\d]+)(?:\s+(?:back|out|of|from|on|away|up))?\s*$",
    re.IGNORECASE,
)
# "Please ignore", "Withdrawn.", "Sorry, I mixed them up", "I abstain": how such a sentence begins.
_WITHDRAWS = Phrases(*rule("withdraws"))
_IS_TO = Phrases(*rule("is_to"))
_ABSTAINS = Phrases("i abstain", "with neither")
# Without one of these an English sentence speaks of no verdict and takes none back.
_SPEAKS = frozenset((*rule("speaks"), *(f"{noun}{s}" for noun in _NOUNS for s in ("", "s"))))
#: Heads below which something changes: where no value follows, the older one falls.
_CHANGES = frozenset({"edit", "update", "correction"})
_MOST, _STEM, _HEAD = 2_000, 4, 20


# Each of several questions asks it of the same text.
@lru_cache(maxsize=16)
def withdraws(text: str, before: str = "") -> bool:
    """Whether a text behind a verdict takes it back, or speaks of it in words not understood.

    `before` is the line of the verdict itself, which may say that nothing is chosen.

    >>> withdraws("This rating reflects one cue."), withdraws("This rating cannot be upheld.")
    (False, True)
    >>> withdraws("Diese Note beruht auf dem Ton."), withdraws("Diese Note ist hinfällig.")
    (False, True)
    """
    text = without_offer(text[:_MOST], opens=True)
    words = words_of(text)
    # Each look is cheap to rule out, and nearly always is.
    if (":" in text or "：" in text) and any(map(_changes, text.split("\n"))):
        return True
    if not _SPEAKS.isdisjoint(words.forms) and any(map(_is_undone, SENTENCE.split(text))):
        return True
    if before and _ABSTAINS.among(words_of(before).forms):
        return True
    if is_english(text):
        return False
    return takes_back(text) or (_may_name(text) and _is_unclear_anywhere(text))


def _is_unclear_anywhere(text: str) -> bool:
    heard = hear(text)
    # Nobody knows in which language: by the words of all of them.
    unknown = SENTENCE.split(text) if not (heard or text.isascii()) else []
    return any(map(_is_unclear, heard)) or any(map(_is_unclear_in_any, unknown))


def _changes(line: str) -> bool:
    """Whether a line is headed as a change: *Edit: ...*."""
    head, colon, _ = line.replace("：", ":").partition(":")
    return bool(colon) and plain_key(head[:_HEAD]) in _CHANGES


def _may_name(text: str) -> bool:
    """Whether a text may name a verdict in another language than English."""
    if not text.isascii() and EASTERN.search(text):
        return True
    stems, least, most = _stems()
    forms = words_of(text).forms
    # Each word is cut to each length, and looked up: there are many stems.
    return not _tellers().isdisjoint(forms) or any(
        form[:size] in stems for form in forms for size in range(least, min(most, len(form)) + 1)
    )


@cache
def _tellers() -> frozenset[str]:
    """The nouns of *this number* and *this choice*, and the words that ask for something."""
    figures = (each.split()[-1] for each in of_heads("figure"))
    return frozenset((*figures, *(max(p.split(), key=len) for p in of_heads("please"))))


def _is_undone(sentence: str) -> bool:
    """Whether an English sentence withdraws, or denies or acts on the verdict that it names."""
    words = words_of(sentence).forms
    if _WITHDRAWS.begin(words) or _ABSTAINS.among(words):
        return True
    verdict = _VERDICT.search(sentence)
    if verdict is None or not _english("bases").isdisjoint(words):
        return False
    behind = words_of(sentence[verdict.end() :]).forms
    # "The safety score is provisional", "must be ignored".
    if SAYS_DRAFT.among(behind) or _IS_TO.begin(behind):
        return True
    if verdict["of"] and verdict["of"] not in numbers_of(
        "en"
    ):  # perhaps a score of something else: of a test, of pain
        return False
    denied = _DENIES.among(words) or any(word.endswith("n't") for word in words)
    acts = _DOES.search(sentence[: verdict.start()])
    done = acts is not None and acts["verb"].casefold() not in _english("keeps")
    return denied or done or behind[:1] == ("was",)  # "My verdict was premature"


@cache
def _english(use: str) -> frozenset[str]:
    return frozenset(words_for("en", use))


def _is_unclear(heard: Heard) -> bool:
    """Whether a sentence of another language speaks of the verdict and does not say why it is."""
    at = 0
    for part in SENTENCE.split(heard.text):
        start = heard.text.find(part, at)
        at = start + len(part)
        if any(map(str.isdecimal, part)):
            continue
        # "Please do not use it": whoever reads a reply is asked nothing else about it.
        if heard.any("please", start, at) and denies_in(heard, start, at):
            return True
        named = heard.any("figure", start, at) or _names_verdict(part, heard.language)
        if not named:
            continue
        if not any(heard.any(use, start, at) for use in ("because", "bases", "would")):
            return True
    return False


def _is_unclear_in_any(sentence: str) -> bool:
    """The same of a sentence in whatever language."""
    forms = words_of(sentence).forms
    return (
        not any(map(str.isdecimal, sentence))
        and _holds(sentence, _all_nouns())
        and not any(form in _all_bases() for form in forms)
    )


def _names_verdict(part: str, language: str) -> bool:
    nouns = _nouns(language)
    if language in JOINED:
        return any(noun in part for noun in nouns)
    # By their stems: "оценку", "betyget", "puanı".
    return _holds(part, nouns)


def _holds(part: str, stems: tuple[str, ...]) -> bool:
    """Whether a word begins with one of some stems and is no head, as in *Note: ...*."""
    words = words_of(part)
    return any(
        form.startswith(stems) and part[end:].lstrip(" *_")[:1] not in (":", "：")
        for form, (_, end) in zip(words.forms, words.spans, strict=True)
    )


@cache
def _all_bases() -> frozenset[str]:
    phrases = (*of_heads("bases"), *of_heads("because"))
    return frozenset(word for phrase in phrases for word in words_of(phrase).forms)


@cache
def _all_nouns() -> tuple[str, ...]:
    """The stems of all such nouns."""
    stems = {word[: max(_STEM, len(word) - 1)] for word in of_heads("verdict")}
    return tuple(stem for stem in stems if len(stem) >= _STEM)


@cache
def _stems() -> tuple[frozenset[str], int, int]:
    """Those that are none of what is rated, for looking up; the least and the greatest length."""
    stems = {stem for code in by_hand() if code not in JOINED for stem in _nouns(code)}
    return frozenset(stems), min(map(len, stems)), max(map(len, stems))


@cache
def _nouns(language: str) -> tuple[str, ...]:
    """Nouns of a verdict that are none of what is rated."""
    rated = {word[:_STEM] for word in words_for(language, "reply")}
    nouns = [word for word in words_for(language, "verdict") if word[:_STEM] not in rated]
    if language in JOINED:
        return tuple(nouns)
    return tuple(word[: max(_STEM, len(word) - 1)] for word in nouns if len(word) >= _STEM)

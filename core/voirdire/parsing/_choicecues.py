"""Where a reply answers with option letters, and where a letter is only a word."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_WRAP = r"[\s(\[{*_`\"'“‘$]{0,6}"
_CLOSE = r"[)\]}*_`\"'”’$]{0,4}"
_NOUN = (
    r"(?:answers?|ans|solution|choices?|options?|selections?|letters?|correct|antwort(?:en)?|lösung|réponses?"
    r"|reponse|respuestas?|risposta|resposta|antwoord|ответ|答案)"
)
_THINKS = r"i\s+(?:think|believe|choose|pick|select|would\s+say)|it\s+is|it['’]s"
_SURELY = r"likely|probably|clearly|definitely|most|therefore|thus|simply|the|correct|right|best"
_IS = (
    r"\s+(?:is|are|was|would\s+be|should\s+be|must\s+be|be|ist|est|es|è|é)\b"
    rf"(?:\s+(?:{_THINKS}|{_SURELY}|be)\b){{0,4}}"
)
_STRONG = (
    rf"(?:\b{_NOUN}\b(?:\s*\([^()\n]{{0,20}}\))?{_CLOSE}"
    rf"(?:{_IS}(?:\s*[:：])?|(?:\s+{_SURELY})?\s*[:：=>–—-]|[ \t]*\n)"
    rf"{_WRAP}(?:(?:{_THINKS}|{_SURELY})\s+){{0,3}}"
    rf"(?:(?:the\s+)?(?:option|choice|letter|answer)\b\s*)?{_WRAP}|\\boxed\{{\s*(?:\\text\{{)?)"
)
_VERB = (
    r"\b(?:choose|select|pick|go\s+with|chose|selected|picked|going\s+with|would\s+say|i['’]d\s+say|it\s+is|it['’]s)\s+"
    r"(?:it\s+is\s+|it['’]s\s+)?(?:(?:the\s+)?(?:option|choice|letter|answer)\s+)?"
)
_WEAK = r"\b(?:option|choice|letter|answer)\s*"
_RIGHT = r"\s+(?:is|are)\s+(?:the\s+|my\s+|clearly\s+|most\s+)*(?:correct|right|best|answer|true)\b"
_DENIED = re.compile(
    r"(?:\bnot|n['’]t|\bnever|\brather\s+than|\binstead\s+of)\s+(?:\w+\s+)?$", re.IGNORECASE
)
_FAULTED = re.compile(
    r"[\s,]+(?:is|are|was|seems?|looks?|would\s+be|can|could|does|which\s+is)\b\s*"
    r"(?:not\b|n['’]t|wrong|incorrect|less|false|un\w+|tempting|also|too|be\b)",
    re.IGNORECASE,
)
_OR = re.compile(r"\bor\b|/", re.IGNORECASE)
# After "A" or "I" these words show that a letter was meant, not an article or a pronoun.
_GOES_ON = re.compile(
    r"\s*(?:$|[\n.,;:)\]*(–—-]|(?:because|since|as|and|or|for|is|due|given|based|fits?)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Cue:
    """Letters that a place answers with; none where it says *none of these*."""

    at: int
    end: int
    letters: tuple[str, ...]
    alternatives: bool = False


@dataclass(frozen=True, slots=True)
class Patterns:
    """Compiled for one set of option letters."""

    strong: tuple[re.Pattern[str], ...]
    weak: re.Pattern[str]
    alone: re.Pattern[str]
    leading: re.Pattern[str]
    many: re.Pattern[str]
    letter: re.Pattern[str]


@lru_cache(maxsize=64)
def patterns(letters: tuple[str, ...]) -> Patterns:
    """The places in which one of these letters answers."""
    one = "|".join(re.escape(letter) for letter in sorted(letters, key=len, reverse=True))
    token = rf"(?<!\w)(?<!\w['’])(?:{one})(?!\w|['’]\w)"
    more = rf"(?>{_CLOSE}\s*(?:,|;|&|/|\band\b|\bor\b|,\s*and\b)\s*{_WRAP}{token}){{0,25}}+"
    several = rf"(?P<letters>{token}{more})"
    none = r"(?P<none>none\b|no\s+(?:option|answer)\b|neither\b)"
    flags = re.IGNORECASE
    return Patterns(
        strong=(
            re.compile(rf"{_STRONG}(?:{several}|{none})", flags),
            re.compile(rf"{_VERB}{_WRAP}{several}", flags),
            re.compile(rf"{several}{_CLOSE}{_RIGHT}", flags),
        ),
        weak=re.compile(rf"{_WEAK}{_WRAP}{several}", flags),
        alone=re.compile(rf"{_WRAP}{several}{_CLOSE}\s*[.!]?\s*", flags),
        leading=re.compile(
            rf"(?m)(?:^|[,;])[ \t>*_`-]{{0,6}}\(?(?P<letters>{one})"
            r"(?:[).:][)*_`]{0,3}(?=\s|$)|\s[–—-]\s)",
            flags,
        ),
        many=re.compile(rf"(?>{_WRAP}{token}{_CLOSE}[\s,;&.]{{0,4}})++", flags),
        letter=re.compile(token, flags),
    )


def strong_cues(text: str, by: Patterns) -> list[Cue]:
    """Places that say what the answer is, in order."""
    found = [_cue(text, each, by) for pattern in by.strong for each in pattern.finditer(text)]
    whole = [line for line in _outer_lines(text) if by.alone.fullmatch(text[slice(*line)])]
    for start, end in whole:
        each = by.alone.fullmatch(text, start, end)
        found.append(_cue(text, each, by) if each else None)
    return sorted(filter(None, found), key=lambda cue: (cue.at, cue.end))


def weak_cues(text: str, by: Patterns) -> list[Cue]:
    """Places that speak of an option without faulting it."""
    found = [_cue(text, each, by) for each in by.weak.finditer(text)]
    return [cue for cue in found if cue and not _FAULTED.match(text, cue.end)]


def leading_letters(text: str, by: Patterns) -> list[str]:
    """Letters with which lines begin, as in ``d) worry``."""
    return [each["letters"].upper() for each in by.leading.finditer(text)]


def _outer_lines(text: str) -> list[tuple[int, int]]:
    """The first and the last line that are not blank."""
    lines = [(m.start(), m.end()) for m in re.finditer(r"\S[^\n]*", text)]
    return list(dict.fromkeys(lines[:1] + lines[-1:]))


def _cue(text: str, found: re.Match[str], by: Patterns) -> Cue | None:
    if _DENIED.search(text[max(0, found.start() - 24) : found.start()]):
        return None
    if found.groupdict().get("none"):
        return Cue(found.start(), found.end(), ())
    raw, start, end = found["letters"], *found.span("letters")
    alone = found.re is by.alone
    letters = [each.group() for each in by.letter.finditer(text, start, end)]
    letters = [
        each
        for each in letters
        if each.isdigit() or each.isupper() or _marked(text, end, alone=alone)
    ]
    if not letters or (letters[-1].upper() in "AI" and not alone and not _GOES_ON.match(text, end)):
        return None
    unique = tuple(dict.fromkeys(letter.upper() for letter in letters))
    return Cue(found.start(), end, unique, _OR.search(raw) is not None)


def _marked(text: str, end: int, *, alone: bool) -> bool:
    """Whether small letters are set off like an answer: ``(b)``, ``a, b.``, or nothing follows."""
    return alone or text[end : end + 1] in (")", "]", "}", "*", "", ".", "\n")

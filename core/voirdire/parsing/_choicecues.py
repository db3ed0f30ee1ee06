"""Where a reply answers with option letters, and where a letter is only a word."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from voirdire.parsing._names import SpelledNames, names_in
from voirdire.parsing._rivals import Bare
from voirdire.parsing._spelling import Phrases, remark_in, words_of
from voirdire.parsing._statements import BETWEEN, verdict_words
from voirdire.parsing._vocabulary import copulas, rule
from voirdire.parsing._words import (
    DENIED,
    DRAFT_NOUNS,
    FINAL_NOUNS,
    Rank,
    rank_of,
)

# What may wrap a letter: "(B", "**B", "$\text{B", "\boxed{B".
_WRAP = (
    r"(?:[\s(\[{<*_`\"'“‘$]|\\[(\[]|\\(?:text|textbf|textrm|mathrm|mathbf|boxed|fbox)\s?\{){0,6}"
)
# What closes it again: "B)", "B**", "B}$".
_CLOSE = r"[)\]}>*_`\"'”’$\\]{0,6}"
# What the letter is called: "answer", "Antwort", "my pick", "the correct response".
_NOUNS = (*rule("option_nouns"), *FINAL_NOUNS, *DRAFT_NOUNS)
# Scripts that put no space between words.
_CJK = r"(?:答案|故选|应选|选择|正解|答え|解答|정답)\s*(?:应为|[是为為は은는이])?\s*[:：]?\s*"
# "The answer is, I think, B": words between the noun and its letter.
_THINKS = r"i\s+(?:think|believe|choose|pick|select|would\s+say)|it\s+is|it['’]s"
_SURELY = r"likely|probably|clearly|definitely|most|therefore|thus|simply|the|la|correct|right|best"
# "The answer to this question is B", "the option I would choose is B".
_ABOUT = (
    r"(?:\s+(?:to|for)\s+(?:the|this)\s+question|\s+here|\s+(?:correcta|correcte|corretta)"
    r"|\s+i\s+(?:choose|chose|pick|select|would\s+(?:choose|pick|give)))?"
)
# "I'd go with C", "pick (B)", "not A but C": only a capital may follow "not".
_VERB = (
    r"\b(?:choose|select|pick|vote(?:\s+for)?|(?:(?<=\bi\s)|(?<=\bwould\s))answer|go\s+with|chose|selected|picked|going\s+with"
    r"|would\s+say|i['’]d\s+say|it\s+is|it['’]s|it\s+(?:must|should|has\s+to)\s+be|not\s+[A-Z]\s*,?\s+but)\s+"
    r"(?:it\s+is\s+|it['’]s\s+)?(?:(?:the\s+)?(?:option|choice|letter|answer)\s+)?"
)
# A word that concludes, before a letter that ends its sentence.
_HENCE = (
    r"\b(?:so|thus|hence|therefore|definitely|probably|clearly)\b,?\s+"
    r"(?:(?:the\s+)?(?:option|choice)\s+)?"
)
# "Option B" is spoken of, and chosen only where nothing else is.
_WEAK = r"\b(?:options?|choice|letter|answer)\s*"
# "B is clearly correct", "A it is."
_RIGHT = (
    r"\s+(?:is|are|seems?(?:\s+to\s+be)?|would\s+be|fits|it\s+is\b(?=\s*[.!\n]|\s*$))"
    r"(?:(?<=it\sis)|\s+(?:the\s+|my\s+|clearly\s+|most\s+)*(?:correct|right|best|answer|true)\b)"
)
# "They would say A", "the second best is A": another's answer, or another question's; "Vitamin C",
# "Speaker A is right": a name, not an option.
_OTHERS = re.compile(
    r"\b(?:person|speaker|patient|client|student|vitamin|type|plan|group|step|hepatitis|grade|part|case)\s+$"
    r"|\b(?:may|might|could|he|she|they|you|people|someone|against)\s+(?:would\s+)?$"
    r"|\b(?:wrong|incorrect|false|worst|bad|poor|second|2nd|third|3rd|least\s+\w+|previous|earlier|other"
    r"|\w+['’]s)\s+(?:best\s+)?$",
    re.IGNORECASE,
)
# "A is tempting", "A isn't right": the words behind a letter set it aside.
_FAULTED = re.compile(
    rf"{_CLOSE}[\s,]+(?:is|are|was|seems?|looks?|would\s+be|can|could|does|which\s+is)\b\s*"
    r"(?:not\b|n['’]t|wrong|incorrect|less|false|un\w+|tempting|also|too|be\b)",
    re.IGNORECASE,
)
# "C? No.", "B or another", "A if he agrees".
_RETRACTED = re.compile(
    r"[\W_]{0,8}no[,:;.](?!\w)|[*_)]{0,3}\s?\?|\s+(?:or|if|unless)\b|\s?[,….]{1,4}\s+or\b",
    re.IGNORECASE,
)
# "Answer choices: A": what is offered, not what is chosen.
_OFFERED = re.compile(
    r"(?:^|[\n.:;?!])\W*(?:the\s+)?(?:answers?|possible|available|given|offered|response|multiple)[\s-]+$",
    re.IGNORECASE,
)
# The plural may announce the list rather than the choice.
_PLURAL = Phrases("choices", "options", "letters", "selections", "answers")
# "Choices: A) calm", "Letters: A-D": a list of options begins, or their range.
_LISTED = re.compile(
    r"(?:choices|options|letters)\b.{0,20}?[A-Z][):.]\s*\w", re.IGNORECASE | re.DOTALL
)
# The options told again, from the first on, below a question or a head.
_HEADED = re.compile(
    r"^(?:[^\w\n]{0,20}(?:choices|options)[^\w\n]{0,20}|[^\n]*\?[ \t*]{0,20})\n"
    r"[ \t(*]{0,20}A[).:][^\n]*"
    r"(?:\n[ \t(*]*[A-Z][).:][^\n]*)*",
    re.IGNORECASE | re.MULTILINE,
)
# "Letters: A-D", "A is cruel, B is kind": a range, or the first of several options spoken of.
_COMPARED = re.compile(
    r"\s?(?:[-=]>|[-–—→])\s?[A-Z]\b"
    r"|\s+(?:is|was|seems|sounds)\b(?!\s+(?:\w+ly\s+)?(?:the|my|correct|right|better|best)\b)"
    r"[^.!?\n]{0,80}\b[B-HJ-Z]\b"
)
# "B, not A": what is set against the choice may end its line.
_CONTRAST = r"(?:,?\s*(?:and\s+)?(?:not|rather\s+than|instead\s+of)\s[^\n]{1,60})?"
# After "A" or "I" these words show that a letter was meant, not an article or a pronoun.
_GOES_ON = re.compile(
    rf"{_CLOSE}\s*(?:$|[\n.,;:)\]*(<–—-]|(?:because|since|as|and|or|for|is|due|given|based|fits?)\b)",
    re.IGNORECASE,
)
# A letter of a script with spaces: beside one of these no option letter stands.
_LETTER = r"[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"


@dataclass(frozen=True, slots=True)
class Cue:
    """Letters that a place answers with; none where it says *none of these*."""

    at: int
    end: int
    letters: tuple[str, ...]
    alternatives: bool = False
    retracted: bool = False
    rank: Rank = "said"
    alone: bool = False


@dataclass(frozen=True, slots=True)
class OptionPatterns:
    """Compiled for one set of option letters."""

    strong: tuple[re.Pattern[str], ...]
    noun: re.Pattern[str]
    weak: re.Pattern[str]
    alone: re.Pattern[str]
    leading: re.Pattern[str]
    many: re.Pattern[str]
    letter: re.Pattern[str]
    bare: Bare


@cache
def _is() -> str:
    """What joins a noun to its letter: "is", "must be", "lautet", "seems to be most likely"."""
    foreign = "|".join(copulas())
    return (
        r"\s+(?:is|are|was|would\s+be|should\s+be|must\s+be|(?:seems|appears)\s+to\s+be|be"
        rf"|{foreign})\b(?:\s+(?:{_THINKS}|{_SURELY}|be)\b){{0,4}}"
    )


@cache
def _nouns() -> SpelledNames:
    """What the letter is called: words of verdict, and nouns of an option."""
    return SpelledNames.of((*_NOUNS, *verdict_words()))


@cache
def _behind_noun() -> str:
    """A verb or sign that leads from a noun to its letter."""
    return (
        rf"(?![^\W_])(?:\s*\([^()\n]{{0,20}}\))?\.?{_CLOSE}{_ABOUT}{BETWEEN}"
        rf"(?:{_is()}(?:\s*[:：])?|(?:\s+{_SURELY})?\s*[:：=>–—|→-]{{1,2}}|(?<=[\].])\s"
        r"|(?<!correct)(?<!right)(?<!best)[ \t]*\n)"
        rf"{_WRAP}(?:(?:{_THINKS}|{_SURELY})\s+){{0,3}}"
        rf"(?:(?:the\s+)?(?:option|choice|letter|answer)\b\s*)?{_WRAP}"
    )


@lru_cache(maxsize=64)
def patterns(letters: tuple[str, ...]) -> OptionPatterns:
    """The places in which one of these letters answers."""
    one = "|".join(re.escape(letter) for letter in sorted(letters, key=len, reverse=True))
    token = rf"(?<!{_LETTER})(?<!\w['’])(?:{one})(?!{_LETTER}|['’]\w)"
    more = rf"(?>{_CLOSE}\s*(?:,|;|&|/|\band\b|\bor\b|,\s*and\b)\s*{_WRAP}{token}){{0,25}}+"
    several = rf"(?P<letters>{token}{more})"
    none = r"(?P<none>none\b|no\s+(?:option|answer)\b|neither\b)"
    flags = re.IGNORECASE
    return OptionPatterns(
        strong=(
            # "\boxed{B}", and words of a script without spaces.
            re.compile(rf"(?:\\f?box(?:ed)?\{{|{_CJK}){_WRAP}(?:{several}|{none})", flags),
            # "I choose **B**".
            re.compile(rf"{_VERB}{_WRAP}{several}", flags),
            # "B is correct".
            re.compile(rf"{several}{_CLOSE}{_RIGHT}", flags),
            # "So B." ends there: "So B seems odd" says nothing yet.
            re.compile(rf"{_HENCE}{_WRAP}{several}(?={_CLOSE}\s*(?:[.!]|$|\n))", flags),
        ),
        # "The answer is B and C", "Final answer: none": behind the noun.
        noun=re.compile(rf"{_behind_noun()}(?:{several}|{none})", flags),
        # "Option B": counts where nothing stronger is said.
        weak=re.compile(rf"{_WEAK}{_WRAP}{several}", flags),
        # "Both A and C." and nothing else.
        alone=re.compile(
            rf"{_WRAP}(?:(?:both|all\s+of|options?)\s+)?{several}{_CLOSE}{_CONTRAST}[\s.!✅✓]*",
            flags,
        ),
        # "B) because ...", "B - the second": the letter that a line, or a part of one, begins with.
        # "A - B" is a range, so what follows the dash is no other letter.
        leading=re.compile(
            rf"(?m)(?:^|[,;](?=[^\n]{{0,12}}[).:]\s*\w))[ \t>*_`-]{{0,6}}\(?(?P<letters>{one})"
            rf"(?:[).:][)*_`]{{0,3}}(?=\s|$)|\s[–—-]\s(?!(?-i:{one})\b)|,?\s+(?:because|since|due)\b)",
            flags,
        ),
        # "A, B & D". Possessive, so that a long run cannot be tried again in every split.
        many=re.compile(rf"(?>{_WRAP}{token}{_CLOSE}[\s,;&.]{{0,4}})++", flags),
        letter=re.compile(token, flags),
        bare=Bare(
            re.compile(rf"[(\[*\"']{{0,3}}{token}[)\]*\"']{{0,3}}"),
            heads=12 if len(letters) > 2 else 0,
        ),
    )


def strong_cues(text: str, by: OptionPatterns) -> list[Cue]:
    """Places that say what the answer is, in order."""
    cues = [_cue(text, each, by) for pattern in by.strong for each in pattern.finditer(text)]
    free = 0
    for noun in names_in(text, _nouns()):
        if noun.start >= free and (each := by.noun.match(text, noun.end)):
            cues.append(_cue(text, each, by, noun.start))
            free = each.end()
    whole = [line for line in _outer_lines(text) if by.alone.fullmatch(text[slice(*line)])]
    # By the whole line, so that "A" alone answers and the "A" of a sentence does not.
    for start, end in whole:
        each = by.alone.fullmatch(text, start, end)
        cues.append(_cue(text, each, by) if each else None)
    return sorted(filter(None, cues), key=lambda cue: (cue.at, cue.end))


def weak_cues(text: str, by: OptionPatterns) -> list[Cue]:
    """Places that speak of an option; those that fault it are *retracted*."""
    cues = [_cue(text, each, by) for each in by.weak.finditer(text)]
    return [
        replace(cue, retracted=cue.retracted or _FAULTED.match(text, cue.end) is not None)
        for cue in cues
        if cue
    ]


def leading_letters(text: str, by: OptionPatterns) -> list[str]:
    """Letters with which lines begin, as in ``d) worry``."""
    text = _HEADED.sub("", text)
    return [each["letters"].upper() for each in by.leading.finditer(text)]


def _outer_lines(text: str) -> list[tuple[int, int]]:
    """The first and the last line that are not blank."""
    lines = [(m.start(), m.end()) for m in re.finditer(r"\S[^\n]*", text)]
    return list(dict.fromkeys(lines[:1] + lines[-1:]))


def _cue(text: str, match: re.Match[str], by: OptionPatterns, at: int = -1) -> Cue | None:
    at = match.start() if at < 0 else at
    head = text[at : match.end()]
    # What denies further off belongs to another clause.
    before = text[max(0, at - 40) : at]
    if DENIED.search(before) or _OTHERS.search(before):
        return None
    if _lists(head, text, match.end()) or (
        _PLURAL.begin(words_of(head).forms) and _OFFERED.search(before)
    ):
        return None
    if match.groupdict().get("none"):
        rank = _rank(text, match, at, match.end())
        return Cue(at, match.end(), (), rank=rank)
    raw, start, end = match["letters"], *match.span("letters")
    alone = match.re is by.alone
    # Case was ignored to find the place: a small letter is an option only where it is set
    # off, since "a" is a word.
    kept = [
        each
        for each in by.letter.finditer(text, start, end)
        if each.group().isdigit() or each.group().isupper() or _marked(text, end, alone=alone)
    ]
    if not kept or (_FAULTED.match(text, end) and match.re is not by.weak):
        return None
    letters = tuple(dict.fromkeys(each.group().upper() for each in kept))
    # "A" and "I" are words, and "option B" may be spoken of in any sense: of these what follows
    # must show that an answer was given.
    sure = alone or match.re is by.strong[2] or _GOES_ON.match(text, kept[-1].end())
    if (letters[-1] in "AI" or match.re is by.weak) and not sure:
        return None
    retracted = not alone and _RETRACTED.match(text, end) is not None
    # "A or B", "A/B": alternatives, which choose neither.
    either = "/" in raw or "or" in words_of(raw).forms
    return Cue(at, end, letters, either, retracted, _rank(text, match, at, end), alone)


def _rank(text: str, match: re.Match[str], at: int, end: int) -> Rank:
    """How far a cue goes by its own noun (*Draft: A*) or by the words around it."""
    upto = match.start("letters") if "letters" in match.groupdict() else -1
    remark = remark_in(text[at : upto if upto >= 0 else match.end()])
    head = text[at : match.end()].casefold()
    if head.startswith((*FINAL_NOUNS, *DRAFT_NOUNS)):
        return "final" if head.startswith(FINAL_NOUNS) else "draft"
    between = match.groupdict().get("between")
    return rank_of(text, at, end, remark or between or "")


def _lists(head: str, text: str, end: int) -> bool:
    """Whether options are listed or compared here and none is chosen."""
    behind = text[end : end + 100]
    return bool(_LISTED.match(head + behind[:3]) or _COMPARED.match(behind))


def _marked(text: str, end: int, *, alone: bool) -> bool:
    """Whether small letters are set off like an answer: ``(b)``, ``a, b.``, or nothing follows."""
    return alone or text[end : end + 1] in (")", "]", "}", "*", "", ".", ":", "\n")

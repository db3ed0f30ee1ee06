"""The words by which replies are read, kept as data.

Yes and no and spelled numbers come from Unicode's CLDR. By hand are the words of verdicts by
language (`languages/words.toml`) and the words by which rules for English and for keys of objects
decide (`languages/rules.toml`).
"""

from __future__ import annotations

import json
import re
import tomllib
import unicodedata
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from voirdire.parsing._spelling import MARKS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WORD = re.compile(rf"[^\W_]++(?:[{MARKS}]++[^\W_]*+)*+")
#: Languages that put no blanks between words, or join particles to them.
JOINED = ("ja", "ko", "th", "zh")
#: Words for *is* that are letters or pronouns of other languages.
_AMBIGUOUS = frozenset({"", "e", "je", "to"})
#: Words of heads of lines, which tell no language.
_OF_HEADS = frozenset({"verdict", "article"})
_FOLDER = files("voirdire.parsing") / "languages"


# Vowel signs and the stretch of Arabic, which few write.
_VOWEL_SIGNS = re.compile(r"[\u064b-\u0652\u0670\u0640]+")


@cache
def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((_FOLDER / name).read_text("utf-8"))


def rule(name: str) -> tuple[str, ...]:
    """The words and phrases of a rule, in the order of the file."""
    return tuple(_read("rules.toml")[name].split("|"))


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """All phrases: by their first word, and those of joined languages as they stand."""

    by_first: Mapping[str, Mapping[str, Sequence[tuple[int, list[str], str, int]]]]
    joined: Mapping[str, Mapping[str, Sequence[tuple[str, str, int]]]]
    truth: Mapping[str, bool]
    there: Mapping[str, frozenset[str]]
    denials: Mapping[str, Sequence[str]]
    denying: Mapping[str, frozenset[str]]
    any_denying: frozenset[str]
    numbers: Mapping[str, int]
    opening: re.Pattern[str]
    answers: tuple[str, ...]
    codes: tuple[str, ...] = field(default=())


def folded(text: str) -> str:
    """A text without case and Arabic vowel signs, composed; Turkish capitals keep their length.

    >>> folded("EVET, İkinci")
    'evet, ikinci'
    """
    return composed(text).casefold()


def composed(text: str) -> str:
    """A text whose signs stand where they do in the folded one."""
    if text.isascii():
        return text
    plain = unicodedata.normalize("NFC", text).replace("İ", "i").replace("ß", "ss")
    return _VOWEL_SIGNS.sub("", plain)


def by_hand() -> dict[str, dict[str, str]]:
    """Language -> use -> its phrases, parted by ``|``."""
    return _read("words.toml")


@cache
def all_phrases() -> dict[str, dict[str, list[tuple[str, int]]]]:
    """Language -> use -> phrases with the number that they stand for, or -1."""
    words = by_hand()
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
        own["maybe"] = [*own.get("maybe", ()), *own.get("if", ())]  # a condition hedges too
        uses = {use: [(folded(each), -1) for each in some] for use, some in own.items()}
        uses["number"] = [(folded(each), number) for each, number in given["numbers"].items()]
        data[code] = uses
    return data


@cache
def vocabulary() -> Vocabulary:
    data = all_phrases()
    by_first: dict[str, dict[str, list[tuple[int, list[str], str, int]]]] = {}
    joined: dict[str, dict[str, list[tuple[str, str, int]]]] = {}
    truth, there, denials = dict[str, bool](), dict[str, frozenset[str]](), dict[str, list[str]]()
    both, numbers = set[str](), dict[str, int]()
    for code, uses in data.items():
        for use, phrases in uses.items():
            for phrase, number in phrases:
                if code in JOINED:
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
    return Vocabulary(
        *(by_first, joined, truth, there, denials, denying, frozenset().union(*denying.values())),
        *(numbers, opening, ordered, tuple(data)),
    )


@cache
def numbers_of(code: str) -> Mapping[str, int]:
    """The spelled numbers of a language."""
    return dict(all_phrases()[code]["number"])


def answer_words() -> tuple[str, ...]:
    """All words for yes and no, the longest first."""
    return vocabulary().answers


@cache
def of_heads(use: str) -> tuple[str, ...]:
    """Words of heads in other languages than English: nouns of a *verdict*, or an *article*."""
    by_language = (uses.get(use, "") for uses in by_hand().values())
    return tuple(dict.fromkeys(w for some in by_language for w in some.split("|") if w))


@cache
def words_for(code: str, use: str) -> tuple[str, ...]:
    """The words by hand of one language for a use."""
    return tuple(filter(None, by_hand().get(code, {}).get(use, "").split("|")))


@cache
def copulas() -> tuple[str, ...]:
    """What joins a noun to what it is, in languages that put blanks between words."""
    some = (
        w
        for code, uses in by_hand().items()
        if code not in JOINED
        for w in uses.get("is", "").split("|")
    )
    return tuple(dict.fromkeys(w for w in some if w not in _AMBIGUOUS))

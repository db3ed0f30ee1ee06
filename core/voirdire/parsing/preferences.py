"""Pairwise replies: five levels from ``A>>B`` to ``B>>A``, and what two orders say together."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from voirdire.parsing._hearing import SENTENCE
from voirdire.parsing._keys import RawValue, key_forms
from voirdire.parsing._languages import preferred
from voirdire.parsing._parsed import answered_from, missing, one_answer
from voirdire.parsing._rivals import Bare
from voirdire.parsing._settling import InText, Settled, in_text, settled, with_text_behind
from voirdire.parsing._source import (
    VERDICT_KEYS,
    ReplySource,
    by_verdict_key,
    nothing_there,
    read_source,
    values_by_key,
    why_no_answer,
    without_last_word,
)
from voirdire.parsing._spelling import FULL_WIDTH, Phrases, last_part, words_of
from voirdire.parsing._stated import Statement
from voirdire.parsing._statements import set_apart, verdicts
from voirdire.parsing._ticks import without_boxes
from voirdire.parsing._vocabulary import rule
from voirdire.parsing._words import DENIED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import FinishReason, Parsed

#: Level -> score of the response shown first, as in paper 002 (section 5).
LEVELS = {"A>>B": 2.0, "A>B": 1.0, "A=B": 0.0, "B>A": -1.0, "B>>A": -2.0}
_NAMES = {score: level for level, score in LEVELS.items()}
_KEYS = (
    *("finalverdict", "preference", "preferred", "winner", "verdict", "better", "betterresponse"),
    *VERDICT_KEYS,
)

# "the response A", "Assistant (A": what may stand before the letter.
_SIDE = r"(?:(?:the\s+)?(?:response|answer|reply|assistant|option|model|text|output)[\s_]+\(?)?"
_OF = r"(?:['’]s\s+(?:response|answer|reply)|\))?"
_ONE, _TWO = rf"{_SIDE}(?P<left>[AB]){_OF}", rf"{_SIDE}(?P<right>[AB])"
# Not part of a chain such as A>B>A.
_SIGNS = re.compile(
    rf"(?<![<>=≈~])(?<![<>=≈~]\s)\b{_ONE}\s*(?P<sign>>>+|≫|<<+|≪|>|<|=+|≈|~)\s*{_TWO}\b(?!\s*[<>=≈~])",
    re.IGNORECASE,
)
# "A is slightly better than B", "B much worse": not "a better response".
_WORDS = re.compile(
    rf"\b{_ONE}(?:\s+(?:is|was|seems)|(?-i:(?<=[AB]))(?=\s+(?:much|far|slightly|somewhat)\s))\s+(?P<degree>(?:much|far|significantly|considerably|clearly|strongly"
    r"|slightly|somewhat|marginally|a\s+(?:bit|little|lot))\s+)?(?P<way>better|worse|stronger|weaker|superior|inferior|preferred|preferable)"
    r"(?!\s+(?:response|answer|reply|option|one)\b)"
    rf"(?:\s+(?:than|to|over)\s+{_TWO}\b)?",
    re.IGNORECASE,
)
# "A and B are equally good", "no clear winner", a line that is "tie".
_SAME = re.compile(
    r"\bA\s+and\s+B\s+are\s+(?:about\s+|roughly\s+|equally\s+|both\s+)?(?:the\s+)?(?:same|equal|good|tied)\b"
    r"|\bboth\s+(?:\w+\s+)?are\s+(?:about\s+|equally\s+|the\s+)?(?:same|equal|tied)\b"
    r"|\bno\s+clear\s+winner\b|\bneither\s+(?:\w+\s+)?is\s+better\b|\bthey\s+are\s+(?:tied|equal)\b"
    r"|(?:^\W*|[.!?\n][\s*_]{0,9})(?:i\s+prefer\s+|it(?:['’]s|\s+is)\s+)?(?:a\s+)?(?:tie|draw|equal|same|about\s+the\s+same|no\s+preference"
    r"|both|neither|\[\[C\]\]|A\s*=\s*B)(?:\W*$|[\s*_]{0,9}[.!?\n])",
    re.IGNORECASE,
)
# "I prefer B", "the better response is A", "A over B", "A beats B".
_PICKS = re.compile(
    rf"(?:\bi(?:['’]d|\s+would)?\s+(?:prefer|choose|pick|favou?r|go\s+with|lean\s+towards?)|\b(?:better|best|preferred|winning)"
    rf"(?:\s+(?:one|response|answer|reply))?\s*(?:\bis\b|:))[*\s]+{_ONE}(?![\w'’]|\s+being\b)"
    rf"|\b{_ONE.replace('left', 'over')}\s+"
    rf"(?:(?:is\s+)?(?:chosen\s+)?over|beats|outperforms)\s+{_TWO}\b"
    rf"|\b{_ONE.replace('left', 'won')}\s+"
    r"(?:wins|takes\s+it(?=\W*$|[.!;\n])|is\s+the\s+(?:better|best|stronger|winner|winning))\b",
    re.IGNORECASE,
)
# "At first A is better", "plan A": no verdict on A.
_OTHERS = re.compile(
    r"\b(?:thought|initially|at\s+first)\b[^.!?\n]*$"
    r"|\b(?:of|plan|type|group|person|part|case|step)\s+$",
    re.IGNORECASE,
)
# "A is better in warmth", "A over B if ...": a verdict on one point, or under a condition.
_QUALIFIED = re.compile(
    r"\s+(?:in|on|for|at|regarding|when|if|unless)\b"
    r"(?!\s+(?:my|this|general|all|total|balance|overall|me|the\s+whole|every\w*|each)\b)",
    re.IGNORECASE,
)
# "which is better, A": a question, shortly before the statement and in its sentence.
_WHICH = Phrases("which", "whether")
_ENTITIES = {"&gt;": ">", "&lt;": "<", "\\gg": "≫", "\\ll": "≪"}
# A reply that is a letter, perhaps with "wins".
_ALONE = re.compile(
    rf"\W*{_SIDE}(?P<left>[AB])\)?(?:\s*\([^()\n]{{1,60}}\))?"
    r"(?:\s+(?:is\s+better|better|wins(?:\s+by\s+[\w\s]{1,20})?))?\W*",
    re.IGNORECASE,
)
# "A: it is warmer": a verdict and its reasons, which name no other letter.
_EXPLAINED = re.compile(
    rf"\W*{_SIDE}(?P<left>[AB])(?:[:,;]|\s[–—-])\s"
    r"(?!.*(?:n['’]t|\b(?:not|no|never|but|worse|weaker|less|inferior))\b)"
    r"(?:[^\W\d]{2,}\W+){2}(?-i:(?!.*\b[A-Z]\b))",
    re.IGNORECASE,
)
# "Both are good" says that neither is better, where nothing else is said.
_BOTH = Phrases("are good", "are bad", "equally good", "equally bad")
# The whole reply must be it, "The first response is better.": "first" alone is a common word.
_PLACES = {("first",): 1.0, ("second",): -1.0}
_BESIDE_PLACE = frozenset(rule("beside_place"))
# "Response 1", "assistant #2"; not "response 1 of 3", nor a level as in "answer: 2".
_NUMBERED = re.compile(
    r"\b(?P<noun>(?:response|reply|assistant|model|output|option))\s*#?(?P<number>[12])\b(?!\s*(?:of\b|[/.,]\d))",
    re.IGNORECASE,
)
# "The second response", "the latter": where no letter names a side.
_PLACED = re.compile(
    r"\b(?:the\s+)?(?:(?P<place>first|second)\s+(?:one|response|reply|answer|assistant)"
    r"|(?<=the\s)(?P<which>former|latter))\b",
    re.IGNORECASE,
)
_LETTERED = re.compile(r"(?<![\w'’])[AB](?![\w'’]|\s[a-z])")
_LEVELLED = ("preference", "overall", "result")


def _same_winner(one: float, other: float) -> bool:
    """Whether two levels prefer the same; how clearly is said once."""
    return (one > 0) == (other > 0) and (one < 0) == (other < 0)


_BARE = Bare(
    re.compile(
        rf"(?:[(\[*\"']{{0,3}}{_SIDE}[(\[*]{{0,3}}(?<![\w'’])[AB](?![\w'’]|\s?[<>=≈~])[)\]*\"']{{0,3}}"
        r"|(?i:\b(?:tie|draw)\b))"
    ),
    agree=_same_winner,
)
_MUCH = ("much", "far", "significantly", "considerably", "strongly", "clearly", "a lot")
_ENDS = frozenset(".!\n")
_OF_SIGNS, _SIDES = frozenset("<>≫≪=≈~"), frozenset("ab")
_MAX_LENGTH, _LONGEST, _MOST = 50_000, 300, 500
_NOTHING = ("absent", "no_answer", "null")


@dataclass(frozen=True, slots=True)
class Orders:
    """What both presentation orders say of systems A and B.

    `score` > 0 prefers A (the mean of both orders); None unless the status is *ok*. `status` is
    *ok*, *inconsistent* (the orders disagree on the winner; not a tie), *half_missing* or
    *missing*. `levels` holds each order's level with the swap undone.
    """

    winner: Literal["A", "B", "tie"] | None
    score: float | None
    status: Literal["ok", "inconsistent", "half_missing", "missing"]
    levels: tuple[str | None, str | None]


def read_level(value: Any) -> float | str:
    """The level that a verdict states, -2..2 for what was shown first; else a reason.

    >>> read_level("A>>B"), read_level("B is slightly better than A"), read_level("tie")
    (2.0, -1.0, 0.0)
    """
    if value is None or value == "":
        return "null"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if value in _NAMES else "off_scale"
    if not isinstance(value, str) or len(value) > _MAX_LENGTH:
        return "not_numeric"
    level = _in_text(_plain(value.strip()), cut=False)
    return level.reason if level.value is None else level.value


def _in_text(text: str, *, cut: bool) -> Settled[float | str]:
    """The level that verdicts and boxes settle on, or on which all of the text agrees."""
    apart = [
        each._replace(text="tie" if each.text.upper() == "C" else each.text)
        for each in set_apart(text)
    ]
    stated = [*apart, *verdicts(text)]
    settles: Settled[float | str] | None = settled(stated, text, _read, cut=cut, bare=_BARE)
    if settles:
        return settles
    level = _level_of(without_last_word(text) if cut else text)
    # A sentence is a statement too: what stands behind it may take it back.
    end = SENTENCE.search(text.rstrip())
    if not isinstance(level, float) or end is None or cut:
        return Settled(level)
    first = Statement("", text, 0, end.start(), closed=True, value=level)
    again: Settled[float | str] | None = settled([first], text, _read, cut=False, bare=_BARE)
    return again or Settled(level)


def _read(text: str) -> float | str | None:
    level = _level_of(text[:_LONGEST])
    if level == "no_answer":
        explained = _EXPLAINED.match(text)
        return (1.0 if explained["left"].upper() == "A" else -1.0) if explained else None
    return level


def _plain(text: str) -> str:
    """The text with plain letters and signs; *Response 2* and *the second response* as B."""
    text = text.translate(FULL_WIDTH)
    # A place alone, "Response 1", is a head and no verdict.
    if _NUMBERED.search(text) and not _NUMBERED.fullmatch(text.strip(" .*_\n")):
        text = _NUMBERED.sub(lambda m: f"{m['noun']} {'AB'[int(m['number']) - 1]}", text)
    if not _LETTERED.search(text):
        text = _PLACED.sub(_side, text)
    for entity, sign in _ENTITIES.items():
        text = text.replace(entity, sign)
    return text


def _side(place: re.Match[str]) -> str:
    word = (place["place"] or place["which"]).casefold()
    return f"response {'AB'[word in ('second', 'latter')]}"


def _level_of(text: str) -> float | str:
    """The level on which everything said in a text agrees."""
    text = text.strip(" *_`\"'.")
    levels, limited = set[float](), True
    # All ways of saying it are read, and must agree: "A>B, since B is worse".
    forms = words_of(text).forms
    signs = ((_SIGNS, _signed),) if not _OF_SIGNS.isdisjoint(text) else ()
    # Without a letter of its own no side is named.
    worded = ((_WORDS, _worded), (_PICKS, _picked)) if not _SIDES.isdisjoint(forms) else ()
    for pattern, read in (*signs, *worded):
        # The last so many: no honest reply says it more often.
        found = list(pattern.finditer(text))[-_MOST:]
        told = [each for each in found if not _is_denied(text, each)]
        levels |= {level for each in told if (level := read(each)) is not None}
        limited &= all(_QUALIFIED.match(text, each.end()) for each in told)
    # Every statement is about one point, and none about the whole.
    if levels and limited:
        return "ambiguous"
    if _SAME.search(text):
        levels.add(0.0)
    if not levels and (alone := _ALONE.fullmatch(text)):
        levels.add(1.0 if alone["left"].upper() == "A" else -1.0)
    place = tuple(form for form in forms if form not in _BESIDE_PLACE)
    if not levels and place in _PLACES and "?" not in text:
        levels.add(_PLACES[place])
    if not levels and "both" in forms and _BOTH.among(forms):
        levels.add(0.0)
    if not levels and (which := preferred(text)) is not None:
        levels.add((1.0, -1.0, 0.0)[which])
    if len(levels) > 1:
        return "ambiguous"
    # A swapped tie may be -0.0, which prints as one that is not.
    return levels.pop() or 0.0 if levels else "no_answer"


def _signed(match: re.Match[str]) -> float | None:
    left, right, sign = match["left"].upper(), match["right"].upper(), match["sign"]
    if left == right:
        return None
    if sign[0] in "=≈~":
        return 0.0
    strength = 2.0 if len(sign) > 1 or sign in "≫≪" else 1.0
    return strength if (left == "A") == (sign[0] in ">≫") else -strength


def _is_denied(text: str, match: re.Match[str]) -> bool:
    """Whether a statement is taken back, asked or conditional."""
    before = text[max(0, match.start() - 40) : match.start()]
    # "Which is better: A?" asks.
    upto = text.find("?", match.end(), match.end() + 21)
    asked = upto >= 0 and _ENDS.isdisjoint(text[match.end() : upto])
    asked = asked or _WHICH.among(words_of(last_part(before[-30:], ".!?\n")).forms)
    return bool(asked or DENIED.search(before) or _OTHERS.search(before))


def _picked(match: re.Match[str]) -> float | None:
    left, right = (match["left"] or match["over"] or match["won"]).upper(), match["right"]
    if right and right.upper() == left:
        return None
    return 1.0 if left == "A" else -1.0


def _worded(match: re.Match[str]) -> float | None:
    left, right = match["left"].upper(), (match["right"] or "").upper()
    if left == right:
        return None
    degree = re.sub(r"\s+", " ", (match["degree"] or "").casefold().strip())
    strength = 2.0 if degree in _MUCH else 1.0
    better = match["way"].casefold() not in ("worse", "weaker", "inferior")
    return strength if (left == "A") == better else -strength


def parse_preferences(
    text: str | None,
    keys: Sequence[str],
    *,
    swapped: bool = False,
    finish_reason: FinishReason = "stop",
) -> Parsed:
    """Read one five-level preference a criterion. Never raises, whatever the text.

    In a reply *A* is the response shown first. Scores are 2 (A much better) to -2; with `swapped`
    (system B was shown first) they are turned round, so that a score > 0 always prefers system A.
    For a single key the reply needs no key: a verdict line, ``[[A]]`` or ``A>>B`` will do.

    Examples
    --------
    >>> parse_preferences('{"warmth": "A>B", "overall": "B>>A"}', ["warmth", "overall"]).scores
    {'warmth': 1.0, 'overall': -2.0}
    >>> parse_preferences("[[A]]", ["overall"], swapped=True).scores
    {'overall': -1.0}
    """
    if text is None or nothing_there(text, finish_reason):
        return missing(keys, nothing_there(text, finish_reason))
    source = read_source(text, finish_reason)
    levels = _levels(source, keys)
    if all((each.value or each.reason) in _NOTHING for each in levels.values()):
        return missing(keys, why_no_answer(source), flags=source.flags)
    sign = -1.0 if swapped else 1.0
    turned = {
        key: each._replace(value=sign * each.value + 0.0) if isinstance(each.value, float) else each
        for key, each in levels.items()
    }
    return answered_from(turned, source)


def _levels(source: ReplySource, keys: Sequence[str]) -> dict[str, Settled[float | str]]:
    by_key = values_by_key(source, key_forms(keys), _level_in)
    if len(keys) == 1 and not any(by_key.values()):
        by_key = _by_verdict_key(source, keys[0])
    if any(by_key.values()):
        return _from_objects(by_key, source, keys)
    # An object without the keys has been asked for something else; its text explains it.
    if source.has_object:
        return dict.fromkeys(keys, Settled(None, "absent"))
    text, cut = _plain(source.text[-_MAX_LENGTH:]), not source.keep_cut
    text = without_boxes(text) if len(keys) == 1 else text
    bare = _BARE if len(keys) == 1 else None
    found: InText[float | str] = in_text(text, keys, _read_level, cut=cut, bare=bare)
    levels = {key: settles or Settled(None, "absent") for key, (_, settles) in found.items()}
    # A statement on the key that cannot be read is no reason to read the text at large.
    if len(keys) == 1 and not found[keys[0]][0]:
        levels = {keys[0]: _in_text(text, cut=cut)}
    return levels


def _from_objects(
    by_key: dict[str, list[RawValue]], source: ReplySource, keys: Sequence[str]
) -> dict[str, Settled[float | str]]:
    """What the objects say, as far as the text behind the last one lets it stand."""
    own = {
        key: one_answer([each.reason or _from_value(each.value) for each in by_key.get(key, ())])
        for key in keys
    }
    values = {key: None if level == "absent" else level for key, level in own.items()}
    behind = _plain(source.reading.behind)
    return with_text_behind(values, source, _read, behind, raw=by_key, bare=_BARE)


def _level_in(raw: RawValue) -> float | None:
    level = raw.reason or _from_value(raw.value)
    return level if isinstance(level, float) else None


def _read_level(text: str) -> float | str | None:
    level = read_level(text)
    return None if level in _NOTHING else level


def _by_verdict_key(source: ReplySource, name: str) -> dict[str, list[RawValue]]:
    """What *winner*, *verdict* and the like say; of a number only *preference* and *overall* do.

    A winner 2 is the second response, not the level 2.
    """
    key, by_key = by_verdict_key(source, name, _level_in, _KEYS)
    if not by_key[name]:
        return by_key
    told = [each for each in by_key[name] if key in _LEVELLED or not _is_number(each.value)]
    return {name: told or [RawValue(reason="ambiguous")]}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) or _is_level(str(value))


def _is_level(text: str) -> bool:
    """Whether a text is one digit: ``-1``, ``2.0``."""
    digit = text.removesuffix(".0")
    return digit[digit[:1] in ("+", "-") :] in tuple("0123456789")


def _from_value(value: Any) -> float | str:
    """The level of a JSON value, where ``"-2"`` is a level as -2 is."""
    text = isinstance(value, str) and _is_level(value.strip())
    return read_level(float(value) if text else value)


def combine_orders(shown_ab: float | None, shown_ba: float | None) -> Orders:
    """Put together two orders of one comparison, both as scores that prefer A where > 0.

    The second order's score must have its swap undone (``parse_preferences(..., swapped=True)``).

    >>> combine_orders(1.0, -1.0).status, combine_orders(2.0, 1.0).winner
    ('inconsistent', 'A')
    """
    levels = (_level_name(shown_ab), _level_name(shown_ba))
    if shown_ab is None or shown_ba is None:
        both = shown_ab is None and shown_ba is None
        return Orders(None, None, "missing" if both else "half_missing", levels)
    winners = {_winner(shown_ab), _winner(shown_ba)}
    if len(winners) > 1:
        return Orders(None, None, "inconsistent", levels)
    return Orders(winners.pop(), (shown_ab + shown_ba) / 2, "ok", levels)


def _winner(score: float) -> Literal["A", "B", "tie"]:
    return "A" if score > 0 else "B" if score < 0 else "tie"


def _level_name(score: float | None) -> str | None:
    return None if score is None else _NAMES.get(score, f"{score:+g}")

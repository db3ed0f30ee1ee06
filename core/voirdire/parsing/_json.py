"""What JSON a reply holds: plain first, then after fences and preamble, then repaired."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any, NamedTuple

from voirdire.parsing._decoders import Cut, TextReader, TooMuchError, decode, decode_loose, pairs_of
from voirdire.parsing._words import LOOKS_AGAIN, TAKES_BACK, rank_of, squeezed

__all__ = ["Cut", "JsonReading", "pairs_of", "read_json"]

# Without one of these nothing begins: an object, a list, a key in quotes.
_MAY_HOLD = re.compile(r"[{\[\"“]|\A\s*\Z")
# Where an object or a list may begin.
_OPEN = re.compile(r"[{\[]")
# "[1]" may be a list, "[sic]" is prose: a list begins with a value.
_LIST_OPENS = re.compile(r"\[\s*+[{\[\"“\d-]")
# An object that came as an escaped string: {\"Empathy\": 4}.
_ESCAPED_KEY = re.compile(r"\{(?:\s|\\n)*+\\+\"")
# A reply to a prefilled brace begins inside the object.
_HEADLESS = re.compile(
    r"(?P<head>\s*+(?:```[a-z]{0,10}\s++)?)\[?\s*+(?P<key>[\"“][^\"“”\n{}]{1,80}[\"”]\s*+[:：])"
)
# Behind an object a closing fence alone is no other text.
_CLEAN_TAIL = re.compile(r"\s*+(?:```\s*+)?")
# Before it an opening fence with its language alone is none: "```json".
_CLEAN_HEAD = re.compile(r"\s*+(?:```[^\n`{\[]{0,40}+)?\s*+")
MAX_VALUES = 1_000
_AROUND = 300


class JsonReading(NamedTuple):
    """All outermost objects and lists of a text that count, in order.

    `repaired`: the syntax was put right; `cut`: the last value was not closed; `torn`: the text
    even ends inside a key or a scalar; `mixed`: other text stands before or after; `too_much`:
    given up, for no honest reply nests or repeats so. `before` and `behind`: the text around the
    last value.
    """

    values: tuple[Any, ...] = ()
    repaired: bool = False
    cut: bool = False
    torn: bool = False
    mixed: bool = False
    too_much: bool = False
    before: str = ""
    behind: str = ""


_NONE = JsonReading(mixed=True)


def read_json(text: str) -> JsonReading:
    """Every outermost JSON value of a text; never raises, in time linear in its length."""
    if not _MAY_HOLD.search(text):  # nearly all running text
        return _NONE
    # The whole text first, at the decoder's speed: most replies are an object and nothing else.
    head = _CLEAN_HEAD.match(text)
    start = head.end() if head else 0
    try:
        value, end = decode(text, start)
    except (ValueError, RecursionError):
        return _read_mixed(text)
    tail = _CLEAN_TAIL.match(text, end)
    if isinstance(value, dict | list) and tail and tail.end() == len(text):
        return JsonReading((value,))
    # JSON within a JSON string: some servers encode a reply twice.
    if isinstance(value, str) and tail and tail.end() == len(text):
        return _read_mixed(value)
    return _read_mixed(text)


def _read_mixed(text: str) -> JsonReading:
    if _ESCAPED_KEY.search(text) and not _has_plain_key(text):
        text = text.replace('\\"', '"')
    if headless := _HEADLESS.match(text):
        text = f"{headless['head']}{{{text[headless.start('key') :]}"
        return _safely(text)._replace(repaired=True)
    return _safely(text)


def _safely(text: str) -> JsonReading:
    try:
        return _scan(text)
    except TooMuchError:
        return JsonReading(repaired=True, too_much=True)


def _has_plain_key(text: str) -> bool:
    return re.search(r"[{,]\s*+\"[^\"\n]{1,200}\"\s*+:", text) is not None


def _scan(text: str) -> JsonReading:
    reader = TextReader(text)
    values: list[Any] = []
    places: list[tuple[int, int]] = []
    repaired, how = False, "plain"
    first, at = len(text), 0
    for _ in range(MAX_VALUES):
        opening = _OPEN.search(text, at)
        if opening is None:
            break
        value, at, way = _one(reader, opening.start())
        if value is None:
            continue
        # Of values only: a bracket of prose at the end must not make a sound reply a cut one.
        how = way
        first = min(first, opening.start())
        values.append(value)
        places.append((opening.start(), at))
        repaired = repaired or how != "plain"
    else:
        raise TooMuchError(f"more than {MAX_VALUES} objects")
    bare = _CLEAN_HEAD.fullmatch(text[:first]) and _CLEAN_TAIL.fullmatch(text[at:])
    cut, torn = how in ("cut", "torn"), how == "torn"
    reading = JsonReading(tuple(values), repaired, cut, torn, mixed=not bare)
    return _without_drafts(reading, text, places) if values else reading


# "Example of a bad reply: {...}": an object that is shown, beside the one that answers.
_EXAMPLE = re.compile(r"\b(?:examples?|sample|template)\b[^.{}\n]*\s?$", re.IGNORECASE)


def _without_drafts(reading: JsonReading, text: str, places: list[tuple[int, int]]) -> JsonReading:
    """The objects that count: no draft beside others, and only the final one where one is.

    ``Final: {...} Draft: {...}``: what is left out is blanked, so that its keys state nothing.
    An object behind which second thoughts lead to the next one does not count either.
    """
    ranks = [_rank_of_object(text, *place) for place in places] if len(places) > 1 else ["said"]
    for at, ((_, end), (start, _)) in enumerate(pairwise(places)):
        # Far between two objects other things are spoken of: both ends are looked at.
        between = text[end : end + _AROUND], text[max(end, start - _AROUND) : start]
        if any(TAKES_BACK.search(part) or LOOKS_AGAIN.search(part) for part in between):
            ranks[at] = "draft"
    # Where all are drafts they are all that was said, and count.
    best = "final" if "final" in ranks else "said"
    kept = [at for at, rank in enumerate(ranks) if rank == best or best not in ranks]
    for at in sorted({*range(len(places))} - {*kept}):
        start, end = places[at]
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    last, end = places[kept[-1]]
    values = tuple(reading.values[at] for at in kept)
    return reading._replace(values=values, before=text[:last], behind=squeezed(text[end:]))


def _rank_of_object(text: str, start: int, end: int) -> str:
    around = text[max(0, start - _AROUND) : start]
    if _EXAMPLE.search(around):
        return "draft"
    shown = f"{around}\0{text[end : end + _AROUND]}"
    return rank_of(shown, len(around), len(around) + 1)


def _one(reader: TextReader, at: int) -> tuple[Any, int, str]:
    """One value from its opening sign: the value (None where it is prose), its end, and how."""
    # From strict to lenient: what a stricter reader takes needs no repair and gets no flag.
    for decoder, how in ((decode, "plain"), (decode_loose, "repaired")):
        try:
            return *decoder(reader.text, at), how
        except (ValueError, RecursionError):
            continue
    if reader.text[at] == "[" and not _LIST_OPENS.match(reader.text, at):
        return None, at + 1, "prose"
    value, end, closed = reader.read(at)
    left_open = "torn" if reader.torn else "cut"
    return value or None, max(end, at + 1), "repaired" if closed else left_open

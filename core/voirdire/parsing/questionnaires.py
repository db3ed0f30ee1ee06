"""Questionnaire replies: one answer an item, by serial number; a total only when all are there."""

from __future__ import annotations

import re
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.parsing._json import pairs_of
from voirdire.parsing._keys import ASIDES, RawValue, plain_key, scalars
from voirdire.parsing._parsed import answered, missing
from voirdire.parsing._settling import Settled, settled, with_last_words
from voirdire.parsing._source import (
    ReplySource,
    answering,
    nothing_there,
    read_source,
    why_no_answer,
)
from voirdire.parsing._spelling import remark_in
from voirdire.parsing._stated import Statement
from voirdire.parsing._statements import VALUE
from voirdire.parsing._vocabulary import rule
from voirdire.parsing._words import MARK, mark_rank, rank_of, without_aside
from voirdire.parsing.numbers import Number, agreed, could_go_on, read_number
from voirdire.parsing.yesno import said_yes
from voirdire.schema import Flag

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from voirdire.schema import FinishReason, Parsed, Scale

_WORD = r"(?:q|question|item|symptom|statement|number|no|nr|s)"
_KEY_WORD = rf"(?:{_WORD}|(?:phq[- ]?9|gad[- ]?7)[_.])"
# "Q3", "item_03", "PHQ-9_3", "3. Tension": a serial number and what follows it.
_SERIAL = re.compile(
    rf"\s*{_KEY_WORD}?[\s._#-]{{0,3}}0{{0,3}}(\d{{1,3}})(?:[.):\s_-](?P<rest>.*))?",
    re.IGNORECASE | re.DOTALL,
)
# "1. Tension: 2", "1 - 2", "| 1 | Tension | 2 |": a sign, or a dash or cell before a number.
_LINE = re.compile(
    rf"^[\s*_>#(-]{{0,6}}(?:(?:{MARK})[ \t]+)?"
    rf"(?P<item>{_WORD}?[\s._#]{{0,3}}0{{0,3}}(?P<serial>\d{{1,3}}))(?:[.)](?=\W*\d{{1,3}}\W*$)"
    r"|[.)]?(?P<name>[^:=|\n]{0,200}?)(?:[:=]|(?:[-=]>|→|\s[-–—])(?=\s*\d)))"
    r"[*_ \t]{0,4}(?P<answer>[^\s|][^\n|]{0,99})$"
    r"|^[ \t]*\|[\s*]{0,3}(?P<row>\d{1,3})[\s.*]{0,3}\|(?:[^|\n\w]{0,6}[^\W\d][^|\n]{0,200}\|)?"
    r"[\s*]{0,3}(?P<cell>\d[^|\n]{0,40})\|(?=[ \t]*(?:$|[^\W\d]))",
    re.IGNORECASE | re.MULTILINE,
)
# Several answers in one line: "Q1: 2, Q2: 0".
_INLINE = re.compile(rf"[,;][ \t]*(?={_WORD}?[ .#]{{0,2}}\d{{1,3}}[ \t]*[:=])", re.IGNORECASE)
# A table whose columns are the items: its rows are no items.
_SIDEWAYS = re.compile(r"^[ \t]*\|[ \dQq|]{3,200}\n[ \t]*\|[-: |]{3,}", re.MULTILINE)
_RANGE = re.compile(r"\W*\d\s*[-–]\s*\d\W*")  # an echo of the levels to choose from
_ITEM_KEYS = frozenset(rule("item_keys"))
_VALUES = frozenset({"score", "answer", "rating", "value", "response"})
_TOTALS = frozenset({"total", "totalscore", "sum"})
_NOT_RATABLE = frozenset(rule("not_ratable"))
_NO_NUMBER = ("not_numeric", "empty", "not_yes_no", "null")
_MAX_DEPTH = 6
# The last so many: no questionnaire has more items.
_MOST_LINES = 1_000


def parse_questionnaire(
    text: str | None,
    items: Sequence[Scale],
    *,
    yes_no: bool = False,
    not_ratable: Collection[int] = (),
    finish_reason: FinishReason = "stop",
) -> Parsed:
    """Read the answers to items 1..n by their serial numbers. Never raises on any text.

    Keys are compared as numbers (``"3"``, ``"03"``, ``"Q3"``, ``"3. Tension"``). Zero-based keys
    are refused, not shifted; a bare list is no answer, for position is not identity.

    Parameters
    ----------
    items
        The declared scale of each item, in order.
    yes_no
        Read yes as 1 and no as 0 (the PHQ-9 as paper 004 asks it).
    not_ratable
        Serial numbers that may be answered *not ratable*: missing, with that reason.

    Returns
    -------
    Parsed
        ``scores`` keyed ``"1"``..``"n"``; ``extra`` holds ``total`` (None unless complete),
        ``complete``, and ``missing`` (serial numbers without an answer).

    Examples
    --------
    >>> from voirdire.schema import Scale
    >>> parsed = parse_questionnaire('{"1": 2, "Q2": 0}', [Scale(0, 3)] * 3)
    >>> parsed.scores, parsed.extra["total"], parsed.extra["missing"]
    ({'1': 2.0, '2': 0.0, '3': None}, None, (3,))
    """
    if not items:
        raise InputError("a questionnaire needs at least one item, got none")
    serials = range(1, len(items) + 1)
    if text is None or nothing_there(text, finish_reason):
        return _nothing(serials, nothing_there(text, finish_reason))
    source = read_source(text, finish_reason)
    answers = _in_objects(source)
    # Beside an object that does not answer, numbered lines are not answers either.
    behind = source.reading.behind if answers else "" if source.has_object else source.text
    in_lines = _in_lines(behind)
    numbered = answers.keys() | {
        n for n in in_lines if not answers or any(e.final for e in in_lines[n])
    }
    if numbered.isdisjoint((0, *serials)):
        return _nothing(serials, why_no_answer(source))
    # Numbered from 0: to shift them is a guess that moves every answer.
    if 0 in numbered and len(items) not in numbered:
        return _nothing(serials, "zero_based_keys")
    settles: dict[int, Settled[Number]] = {}
    for serial in serials:
        read = partial(_read, scale=items[serial - 1], lacks=serial in not_ratable, yes_no=yes_no)
        settles[serial] = _settled(answers.get(serial, []), in_lines.get(serial, []), source, read)
    flags = [Flag("unknown_item", str(n)) for n in (*answers, *in_lines) if n not in serials]
    flags += [Flag("conflicting", str(n)) for n, each in settles.items() if each.conflict]
    numbers = {n: each.value or Number(None, each.reason) for n, each in settles.items()}
    return _finished(numbers, source, list(dict.fromkeys(flags)))


def _in_objects(source: ReplySource) -> dict[int, list[RawValue]]:
    """Serial number -> what the last object that holds any serial number says.

    Where another one says otherwise of an item, neither is known to be meant.
    """
    stated = [
        {n: scalars(values, keep_cut=source.keep_cut) for n, values in by_serial.items()}
        for tree in answering(source.reading.values)
        if (by_serial := _outermost(tree))
    ]
    if not stated:
        return {}
    last, *others = stated
    differ = {
        n
        for other in others
        for n, values in other.items()
        if n in last and _stated(values) and _stated(values) != _stated(last[n])
    }
    unsure = RawValue(reason="ambiguous", conflict=True)
    return {n: [unsure] if n in differ else values for n, values in last.items()}


def _stated(values: list[RawValue]) -> set[str]:
    """What raw values state, as texts: 2 and "2" are one."""
    plain = [each.value for each in values if not each.reason and each.value is not None]
    return {str(value).strip() for value in plain}


def _in_lines(text: str) -> dict[int, list[Statement]]:
    """Serial number -> what lines and cells of a text state of it."""
    text = _INLINE.sub("\n", text[:100_000])
    by_serial: dict[int, list[Statement]] = {}
    sideways = _SIDEWAYS.search(text, 0, 10_000) is not None
    for line in list(_LINE.finditer(text))[-_MOST_LINES:]:
        serial, group = line["serial"] or line["row"], "answer" if line["serial"] else "cell"
        answer, (start, end) = line[group], line.span(group)
        if not (_RANGE.fullmatch(answer) or (sideways and line["row"])):
            at = line.start("item") if line["serial"] else line.start()
            rank = rank_of(text, at, _value_end(text, start, end), remark_in(line["name"] or ""))
            one = Statement(serial, without_aside(answer).strip(), start, end, rank, begins=start)
            by_serial.setdefault(int(serial), []).append(one)
    return by_serial


def _value_end(text: str, start: int, end: int) -> int:
    value = VALUE.match(text, start, end)
    return value.end() if value else start


def _settled(
    answers: list[RawValue],
    in_lines: list[Statement],
    source: ReplySource,
    read: Callable[[RawValue], Number],
) -> Settled[Number]:
    """What objects and lines say of one item, by the rule of all statements."""

    def stated(text: str) -> Number | None:
        number = read(RawValue(text))
        return None if number.reason in _NO_NUMBER else number

    if answers:
        own = agreed([read(each) for each in answers])
        said = with_last_words(own, source, in_lines, stated) or Settled(own)
        return said._replace(conflict=said.conflict or any(e.conflict for e in answers))
    text = _INLINE.sub("\n", source.text[:100_000])
    if settles := settled(in_lines, text, stated, cut=not source.keep_cut):
        return settles
    return Settled(agreed([read(RawValue(each.text)) for each in in_lines]))


def _outermost(tree: Any) -> dict[int, list[Any]]:
    level = [tree]
    for _ in range(_MAX_DEPTH):
        by_serial: dict[int, list[Any]] = {}
        for node in level:
            for serial, value in _numbered(node):
                by_serial.setdefault(serial, []).append(value)
        # The outermost level that has serial numbers: those further in number something else.
        if by_serial:
            return by_serial
        level = [
            inner for node in level for inner in _inside(node) if isinstance(inner, dict | list)
        ]
    return {}


def _numbered(node: Any) -> Iterator[tuple[int, Any]]:
    if not isinstance(node, dict):
        return
    pairs = pairs_of(node)
    serials = [(_serial(key), value) for key, value in pairs]
    yield from ((serial, value) for serial, value in serials if serial is not None)
    if any(plain_key(key) in _VALUES for key, _ in pairs):  # {"item": 3, "score": 2}
        numbers = [value for key, value in pairs if plain_key(key) in _ITEM_KEYS]
        serials_named = [_serial(str(value)) for value in numbers if isinstance(value, str | int)]
        yield from ((serial, node) for serial in serials_named[:1] if serial is not None)


def _inside(node: Any) -> list[Any]:
    """The members of an object or list; beside a *final* one no other, and no *draft*."""
    if not isinstance(node, dict):
        return node if isinstance(node, list) else []
    ranked = [(mark_rank(_first_word(key)), value) for key, value in pairs_of(node)]
    final = [value for rank, value in ranked if rank == "final" and isinstance(value, dict | list)]
    return final or [value for rank, value in ranked if rank != "draft"]


def _first_word(key: str) -> str:
    return "".join(takewhile(str.isalpha, key))


def _serial(key: str) -> int | None:
    match = _SERIAL.fullmatch(key[:200])
    if match is None or plain_key(match["rest"] or "") in ASIDES:
        return None
    return int(match[1])


def _read(raw: RawValue, scale: Scale, *, lacks: bool, yes_no: bool) -> Number:
    if raw.reason:
        return Number(None, raw.reason)
    if lacks and isinstance(raw.value, str) and plain_key(raw.value) in _NOT_RATABLE:
        return Number(None, "not_ratable")
    if not yes_no:
        if raw.top is not None and read_number(raw.top, scale).value != scale.high:
            return Number(None, "scale_mismatch")
        number = read_number(raw.value, scale)
        cut = raw.left_open and could_go_on(number.value, scale)
        # An item is answered by a level; 1.5 between two of them is none.
        off = Number(None, "off_scale", number.value) if number.between else number
        return Number(None, "cut") if cut else off
    answer = said_yes(raw.value)
    if answer is not None:
        return Number(float(answer))
    return Number(None, "null" if raw.value in (None, "") else "not_yes_no")


def _finished(numbers: dict[int, Number], source: ReplySource, flags: list[Flag]) -> Parsed:
    values = [number.value for number in numbers.values() if number.value is not None]
    # A sum of some answers would look like that of a milder case.
    total = sum(values) if len(values) == len(numbers) else None
    lacking = tuple(serial for serial, number in numbers.items() if number.value is None)
    extra: dict[str, Any] = {"total": total, "complete": not lacking, "missing": lacking}
    if off := {str(n): number.off for n, number in numbers.items() if number.off is not None}:
        extra["off_scale"] = off
    if total is not None and _stated_totals(source) - {total}:
        flags.append(Flag("total_differs"))
    answers = {str(n): x.reason if x.value is None else x.value for n, x in numbers.items()}
    return answered(answers, source, flags=flags, extra=extra)


def _stated_totals(source: ReplySource) -> set[float]:
    """Totals that the reply itself gives; they are compared, never used."""
    trees = [tree for tree in source.reading.values if isinstance(tree, dict)]
    pairs = [pair for tree in trees for pair in pairs_of(tree) if plain_key(pair[0]) in _TOTALS]
    return {float(v) for _, v in pairs if isinstance(v, int | float) and abs(v) < 1e9}


def _nothing(serials: range, reason: str) -> Parsed:
    extra = {"total": None, "complete": False, "missing": tuple(serials)}
    return missing(map(str, serials), reason, extra=extra)

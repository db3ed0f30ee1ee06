"""One JSON value: by the standard decoder, and by a tolerant reader of what that rejects.

Both keep repeated keys in sight (`Repeated`). The tolerant one repairs typographic and single
quotes, unescaped inner quotes, raw line breaks, missing or surplus commas, bare keys and values,
comments, and a missing end. It reads forward only and counts its steps, so its time is linear and
bounded whatever the text.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

#: Far beyond honest replies, far below what would take a second or Python's stack.
MAX_DEPTH = 40
MAX_STEPS = 60_000

_DOUBLE = '"“”„‟″«»'
_SINGLE = "'‘’‚`´"
# Comments and escaped line breaks between members: {"a": 4, // warm}.
_ASIDE = r"\\[nrt]|//[^\n]*+|#[^\n]*+|/\*[^*]*+\*/"
# Possessive, so that a long run of blanks cannot be tried again in every split.
_SKIP = re.compile(rf"(?:\s++|{_ASIDE})*+")
# What may stand between two members, a comma too many among it.
_BETWEEN = re.compile(rf"(?:[\s,;]++|{_ASIDE})*+")
# "Empathy": with any kind of quotes, or none.
_KEY = re.compile(
    rf"[{_DOUBLE}](?P<double>[^{_DOUBLE}\n]{{0,200}})[{_DOUBLE}]\s*+(?:[:：]|=>?)"
    rf"|[{_SINGLE}](?P<single>[^{_SINGLE}\n]{{0,200}})[{_SINGLE}]\s*+(?:[:：]|=>?)"
    r"|(?P<bare>\w[\w .\-/()]{0,80})[:：=]"
)
# What may begin a value, by which a key is distinguished from quoted text.
_VALUE_STARTS = rf"(?:[{_DOUBLE}{_SINGLE}{{\[+\-.\d]|null|none|nan|n/a|true|false|\Z)"
_ANY = _DOUBLE + _SINGLE
# A quote inside a text ends it only where another key follows.
_NEXT_KEY = rf"[{_ANY}][^{_DOUBLE}\n:]{{1,100}}[{_ANY}]\s*+[:：=]\s*+{_VALUE_STARTS}"
# A remark may stand between a text and what follows: {"answer": "B" /* a guess */}.
_BLANKS = r"(?:\s++|//[^\n]*+\n|/\*[^*]*+\*/)*+"
# A quote ends a string only where what follows continues the structure; else it is quoted text.
_ENDS_IN_OBJECT = re.compile(
    rf"{_BLANKS}(?:\Z|```|\}}|{_NEXT_KEY}|[,;]\s*+(?:\Z|\}}|{_NEXT_KEY}))", re.IGNORECASE
)
# The same for a text in a list.
_ENDS_IN_LIST = re.compile(
    rf"{_BLANKS}(?:\Z|```|[\]}}]|,\s*+(?:[\]{{\[{_DOUBLE}{_SINGLE}\d-]|null|true|false|\Z))",
    re.IGNORECASE,
)
# ".5" and "+4" are no JSON, and meant as numbers. An exponent is short: 1e999999 is a trap.
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,5})?")
# "4 out of 5" is a text, "4," and "4 # was 3" are numbers.
_CLOSES_NUMBER = re.compile(rf"[^\S\n]*+(?:\Z|[\n,}}\];#{_DOUBLE}]|\\[nrt]|//|/\*|```)")
# {"Empathy": 4,5}: one number, unless a key of digits follows.
_DECIMAL_COMMA = re.compile(r",\d++(?!\s*+[:：=])")
# "None", "True" and "null" as words of their own.
_LITERAL = re.compile(
    r"(null|none|undefined|nan|true|false)\b(?=[^\S\n]*+(?:\Z|[\n,}\];]|//|```))", re.IGNORECASE
)
# A value without quotes runs to the end of its line, member or list.
_BARE = re.compile(r"[^,}\]\n]*")
# What stands where a key should: passed over up to the next member, end or quote.
_JUNK = re.compile(rf"[^,;}}\]{{\n{_DOUBLE}]*")
# JSON escapes, surrogate pairs first.
_ESCAPE = re.compile(
    r"\\u(d[89ab]\w\w)\\u(d[c-f]\w\w)|\\u([0-9a-f]{4})|\\(.)", re.IGNORECASE | re.DOTALL
)
_NAMED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_LITERALS = {"true": True, "false": False}


class Repeated(dict[str, Any]):
    """An object that names a key more than once; `pairs` holds all of them in order."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


def from_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A plain dict, or a `Repeated` where a key occurs twice."""
    plain = dict(pairs)
    return plain if len(plain) == len(pairs) else Repeated(pairs)


def pairs_of(value: dict[str, Any]) -> list[tuple[str, Any]]:
    """All pairs of an object, repeated keys included."""
    return value.pairs if isinstance(value, Repeated) else list(value.items())


#: ``(text, index) -> (value, end)``; raises ValueError or RecursionError.
decode = json.JSONDecoder(object_pairs_hook=from_pairs).raw_decode
#: The same with raw line breaks allowed inside strings.
decode_loose = json.JSONDecoder(object_pairs_hook=from_pairs, strict=False).raw_decode


class TooMuchError(ValueError):
    """The text nests deeper, or needs more steps, than any honest reply."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A value at which the text ends before anything closed it; None where it is incomplete."""

    value: Any = None


class TextReader:
    """A position in a text, moving forward; its steps are counted over all values it reads."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.steps = text, 0, 0
        self.closed, self.torn = True, False

    def read(self, start: int) -> tuple[Any, int, bool]:
        """The object or list that begins at `start`, where it ends, and whether it was closed.

        `torn` then says whether the text ends inside a key or value.
        """
        self.at, self.closed, self.torn = start, True, False
        value = self._value(in_object=False, depth=0)
        return (value.value if isinstance(value, Cut) else value), self.at, self.closed

    def _value(self, *, in_object: bool, depth: int) -> Any:
        self._step(depth)
        self._skip(_SKIP)
        sign = self.text[self.at : self.at + 1]
        if sign == "{":
            return self._object(depth + 1)
        if sign == "[":
            return self._list(depth + 1)
        if sign and sign in _DOUBLE:
            return self._string(_DOUBLE, in_object=in_object)
        # The back-ticks of a fence are no quotes.
        if sign and sign in _SINGLE and not self.text.startswith("```", self.at):
            return self._string(_SINGLE, in_object=in_object)
        return self._bare(in_object=in_object)

    def _object(self, depth: int) -> dict[str, Any]:
        self.at += 1
        pairs: list[tuple[str, Any]] = []
        while self._goes_on("}", depth):
            if self.text[self.at] == "{":
                if not pairs:  # a brace of prose: the object proper begins at the next one
                    break
                pairs.append(("", self._value(in_object=True, depth=depth)))
            elif key := _KEY.match(self.text, self.at):
                self.at = key.end()
                name = _unescape((key["double"] or key["single"] or key["bare"] or "").strip())
                pairs.append((name, self._value(in_object=True, depth=depth)))
            else:
                self._pass_over()
        return from_pairs(pairs)

    def _pass_over(self) -> None:
        """Something where a key should stand; a quote that leads to the end is a torn key."""
        opens_key = self.text[self.at] in _DOUBLE
        self.at += 1
        self._skip(_JUNK)
        self.torn = self.torn or (opens_key and self.at >= len(self.text))

    def _list(self, depth: int) -> list[Any]:
        self.at += 1
        values: list[Any] = []
        while self._goes_on("]", depth):
            if self.text[self.at] == "}":  # the list was left open
                break
            before = self.at
            values.append(self._value(in_object=False, depth=depth))
            # A sign that no value takes would be met again for ever.
            self.at = max(self.at, before + 1)
        return values

    def _goes_on(self, closing: str, depth: int) -> bool:
        """Whether another member stands here; steps over the closing sign, notes a cut."""
        self._step(depth)
        self._skip(_BETWEEN)
        if self.text.startswith(closing, self.at):
            self.at += 1
            return False
        # A fence ends an object that nobody closed, as the end of the text does.
        if self.at >= len(self.text) or self.text.startswith("```", self.at):
            self.closed = False
            return False
        return True

    def _string(self, quotes: str, *, in_object: bool) -> Any:
        ends = _ENDS_IN_OBJECT if in_object else _ENDS_IN_LIST
        start = self.at + 1
        # Each quote is a candidate; only one behind which the structure goes on ends the text.
        for sign in _SIGNS[quotes].finditer(self.text, start):
            self._step(0)
            if sign.group()[0] != "\\" and ends.match(self.text, sign.end()):
                self.at = sign.end()
                return self._maybe_cut(_unescape(self.text[start : sign.start()]))
        self.at = len(self.text)
        return self._torn()

    def _torn(self) -> Cut:
        self.torn = True
        return Cut()

    def _bare(self, *, in_object: bool) -> Any:
        number = _NUMBER.match(self.text, self.at)
        # A number counts only where something closes it: "4 out of 5" is a text.
        if number and _CLOSES_NUMBER.match(self.text, number.end()):
            # In a list the comma parts two numbers: [4,5].
            comma = in_object and _DECIMAL_COMMA.match(self.text, number.end())
            self.at = comma.end() if comma else number.end()
            return f"{number.group()}{comma.group()}" if comma else self._number(number.group())
        if literal := _LITERAL.match(self.text, self.at):
            self.at = literal.end()
            return self._maybe_cut(_LITERALS.get(literal.group().lower()))
        bare = _BARE.match(self.text, self.at)
        words = bare.group() if bare else ""
        self.at += len(words)
        words = words.partition("//")[0].partition("```")[0].strip()
        return self._torn() if self.at >= len(self.text) else words or None

    def _number(self, digits: str) -> Any:
        """An int where it is one, so that a total of 12 stays 12."""
        value = float(digits)
        # Beyond 2 ** 53 a float skips whole numbers, and int would show digits that nobody wrote.
        whole = value.is_integer() and abs(value) < 2**53
        return self._maybe_cut(int(value) if whole else value)

    def _maybe_cut(self, value: Any) -> Any:
        """The value, marked where nothing follows it any more."""
        self._skip(_SKIP)
        return Cut(value) if self.at >= len(self.text) else value

    def _skip(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def _step(self, depth: int) -> None:
        self.steps += 1
        if depth > MAX_DEPTH or self.steps > MAX_STEPS:
            raise TooMuchError(f"nested beyond {MAX_DEPTH} levels or longer than {MAX_STEPS} steps")


# A backslash and its sign are one step, so that an escaped quote ends no text.
_SIGNS = {quotes: re.compile(rf"\\.?|[{quotes}]", re.DOTALL) for quotes in (_DOUBLE, _SINGLE)}


def _unescape(raw: str) -> str:
    """JSON escapes undone; an unknown escape stays as it is."""
    return _ESCAPE.sub(_escaped, raw) if "\\" in raw else raw


def _escaped(match: re.Match[str]) -> str:
    high, low, single, sign = match.groups()
    try:
        if high:
            return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + (int(low, 16) - 0xDC00))
        if single:
            return chr(int(single, 16))
    except ValueError:
        return match.group()
    return _NAMED.get(sign, sign if sign in "\"\\/'" else match.group())

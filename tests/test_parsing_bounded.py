"""Every parser is linear and bounded: sixty shapes of 64 kB, as processor time."""

from __future__ import annotations

import time
from typing import Any

import pytest

from voirdire import parsing
from voirdire.parsing import (
    LabelSet,
    parse_labels,
    read_level,
    read_options,
    said_yes,
)
from voirdire.parsing.choices import parse_choice
from voirdire.parsing.named import parse_fields, parse_named
from voirdire.parsing.preferences import parse_preferences
from voirdire.parsing.questionnaires import parse_questionnaire
from voirdire.parsing.scores import parse_scores
from voirdire.parsing.yesno import parse_yes_no
from voirdire.schema import Scale

SIZE = 64_000
#: Processor seconds that one reply of 64 kB may take.
MOST = 0.2
#: What else the machine does meanwhile.
NOISE = 0.02
FEELINGS = LabelSet(("Anger", "Fear", "Joy", "Mind Reading", "None"))

#: Named pieces that are repeated up to the size; some come with a head or a tail.
SHAPES: dict[str, str | tuple[str, str, str]] = {
    "blank lines": "\n",
    "blanks": " ",
    "tabs": "\t",
    "carriage returns": "\r\n",
    "stars": "*",
    "underscores": "_",
    "back-ticks": "`",
    "fences": "```json\n",
    "quotes": '"',
    "single quotes": "'",
    "typographic quotes": "“",
    "braces": "{",
    "closed braces": "{}",
    "brackets": "[",
    "closed brackets": "[]",
    "double brackets": "[[",
    "boxes": "[[A]] ",
    "open boxes": "\\boxed{",
    "closed boxes": "\\boxed{4} ",
    "nested objects": '{"a":',
    "objects": '{"Empathy": 4} ',
    "objects that differ": ('{"Empathy": 4}', '{"Empathy": 1} ', ""),
    "keys": ("{", '"k": 1, ', '"Empathy": 4}'),
    "broken keys": ("{", '"k": "v" ', ""),
    "keys without values": ("{", '"Empathy": ', ""),
    "a long string": ('{"Empathy": "', "warm ", '"}'),
    "escapes": ('{"Empathy": "', "\\\\", '"}'),
    "commas": ",",
    "semicolons": ";",
    "colons": ":",
    "bars": "|",
    "rows": "| Empathy | 4 |\n",
    "open rows": "| Empathy ",
    "hyphens": "-",
    "dashes": " – ",
    "equals": "=",
    "less and more": "A<B>",
    "preferences": "A>B ",
    "tags": "<score>",
    "closed tags": "<score>4</score>",
    "thoughts": "<think>",
    "closed thoughts": "<think>2</think>",
    "channels": "<|channel|>final<|message|>",
    "bare channels": ("analysis", "\nfinal", ""),
    "statements": "Empathy: 4\n",
    "statements that differ": ("Empathy: 4\n", "Empathy: 2\n", ""),
    "statements in a line": "Empathy: 4, ",
    "verdict words": "score answer final ",
    "final heads": "Final: ",
    "second thoughts": "Wait, ",
    "another look": "one more look ",
    "digits": "1",
    "points": "1.",
    "thousands": "1,000",
    "per cent": "50% ",
    "yes and no": "yes no ",
    "letters": "A B C D ",
    "options": "A) calm\n",
    "labels": "Anger, Fear, ",
    "labels with verdicts": "Anger: yes\n",
    "labels without signs": "Anger ",
    "denials": "not no never ",
    "a sentence": "The reply is warm and it names what he feels. ",
    "another language": "Die Antwort ist vielleicht besser, aber nicht sicher. ",
    "signs of East Asia": "回答更好不是可能",
    "marks": "a\u0301\u093f",
    "words of one letter": "a ",
    "serial numbers": "1. 2\n",
    "items": "Q1: 2, ",
    "struck out": "~~4~~ ",
    "struck open": "~~",
    "headings": "## Draft\n",
    "question marks": "? ",
    "emoji": "👍🏽",
    "zero width": "\u200b",
    "surrogates": "\ud83d",
}  # fmt: skip
#: A function of the parsers, and what it is asked, -> a call.
PARSERS: dict[str, Any] = {
    "parse_scores": lambda text: parse_scores(text, ["Empathy"], Scale()),
    "parse_scores of three": lambda t: parse_scores(t, ["Empathy", "Safety", "Clarity"], Scale()),
    "parse_labels": lambda text: parse_labels(text, FEELINGS),
    "parse_choice": lambda text: parse_choice(text, {"A": "calm", "B": "cold", "C": "warm"}),
    "parse_yes_no": lambda text: parse_yes_no(text, ["calm"]),
    "parse_preferences": lambda text: parse_preferences(text, ["overall"]),
    "parse_questionnaire": lambda text: parse_questionnaire(text, [Scale(0, 3)] * 9),
    "parse_fields": lambda text: parse_fields(text, ["Cue", "Name of cue"]),
    "parse_named": lambda text: parse_named(
        text, ("Cue", "Name", "Why"), {"grief": [r"\bgrief\b"]}
    ),
    "read_options": read_options,
    "read_level": read_level,
    "said_yes": said_yes,
}


def shaped(name: str, size: int) -> str:
    """A text of that shape and size."""
    shape = SHAPES[name]
    head, piece, tail = ("", shape, "") if isinstance(shape, str) else shape
    return head + piece * ((size - len(head) - len(tail)) // len(piece)) + tail


def _spent(parse: Any, text: str) -> float:
    start = time.process_time()
    parse(text)
    return time.process_time() - start


def test_there_are_sixty_shapes_and_every_parser() -> None:
    assert len(SHAPES) >= 60
    public = {n for n in parsing.__all__ if n.startswith(("parse_", "read_", "said_"))}
    public -= {"parse_scores_column", "parse_labels_column"}  # one of these by one
    assert public == {name.partition(" ")[0] for name in PARSERS}


def _is_slow(quarter: float, long: float) -> bool:
    return long > MOST or long > 5 * quarter + NOISE


@pytest.mark.parametrize("parser", PARSERS)
def test_a_long_reply_takes_little_time(parser: str) -> None:
    parse, slow = PARSERS[parser], list[str]()
    for name in SHAPES:
        parse(shaped(name, 200))  # what is compiled or loaded once
        texts = shaped(name, SIZE // 4), shaped(name, SIZE)
        quarter, long = (_spent(parse, text) for text in texts)
        # Again where it seems slow: another process may have had the caches.
        if _is_slow(quarter, long):
            quarter, long = (min(_spent(parse, text) for _ in range(3)) for text in texts)
        if _is_slow(quarter, long):
            slow.append(f"{name}: {long:.3f} s, a quarter of it {quarter:.3f} s")
    assert not slow

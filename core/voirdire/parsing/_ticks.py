"""Boxes of a reply that are ticked, left empty or crossed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from voirdire.parsing._stated import Statement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MOST_LINES = 1_000
#: Signs of a box that is left empty or crossed.
CROSSES = "❌☐✗✘✖×✕"
#: "[x] Anger", "☑ Anger", "[ ] Anger": ticked, or left empty or crossed.
BOX = re.compile(
    rf"[\W_]{{0,6}}?(?:\[\s*(?P<tick>[xX✓✔]?)\s*\]|(?P<yes>[✅☑✓✔○◯〇⭕])|[{CROSSES}])\ufe0f?[ \t]*"
)


def ticks(text: str, name_of: Callable[[str], str | None]) -> Iterator[Statement]:
    """The keys behind a box, each in its line: ``[x] calm``."""
    if "[" not in text and text.isascii():  # nearly always
        return
    at = 0
    for line in text.splitlines(keepends=True)[:_MOST_LINES]:
        if (box := BOX.match(line)) and (name := name_of(line[box.end() :].strip())):
            says = "yes" if is_ticked(box) else "no"
            yield Statement(name, says, at, at + len(line), closed=True)
        at += len(line)


def is_ticked(box: re.Match[str]) -> bool:
    """Whether a box says yes."""
    return bool(box["tick"] or box["yes"])


def without_boxes(text: str) -> str:
    r"""A text with lines that are ticked or left empty, without those that are left empty.

    For one question: what is ticked answers it, and what is left empty does not.

    >>> without_boxes("[x] Yes\n[ ] No")
    'Yes'
    """
    if "[" not in text and text.isascii():  # nearly always
        return text
    lines = text.splitlines()[:_MOST_LINES]
    boxes = [BOX.match(line) for line in lines]
    ticked = [bool(box and is_ticked(box)) for box in boxes]
    if sum(box is not None for box in boxes) < 2 or all(ticked):
        return text
    kept = [
        line[box.end() :] if box else line
        for line, box, yes in zip(lines, boxes, ticked, strict=True)
        if box is None or yes
    ]
    return "\n".join(kept)

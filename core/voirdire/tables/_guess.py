"""Which columns are raters, and which raters are human, where no study says so."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from voirdire.tables._numbers import is_numeric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.tables._files import RawTable

_HUMAN = re.compile(
    r"human|annotator|expert|clinician|therapist|psycholog|crowd|coder|worker|gold|person|student",
    re.IGNORECASE,
)
_JUDGE = re.compile(
    r"judge|rater|reviewer|llm|gpt|claude|gemini|gemma|llama|mistral|mixtral|qwen|deepseek|grok"
    r"|sonnet|haiku|opus|\bo[134]\b|\bo[134]-",
    re.IGNORECASE,
)


def is_human(name: str, column: str | None = None) -> bool:
    """Whether a rater's name, or the header of the column it stands in, speaks of people."""
    if _HUMAN.search(name):
        return True
    return column is not None and not _JUDGE.search(name) and bool(_HUMAN.search(column))


def rater_columns(raw: RawTable, reference: Sequence[str]) -> tuple[str, ...]:
    """Columns of numbers that are named like raters, with the reference's own."""
    columns = raw.frame.columns
    known = [name for name in reference if name in columns]
    named = [
        column
        for column in columns
        if (_HUMAN.search(column) or _JUDGE.search(column))
        and is_numeric(raw.frame[column], decimal_comma=raw.decimal_comma)
        and raw.frame[column].n_unique() > 1
    ]
    found = dict.fromkeys((*known, *named))
    return tuple(found) if known or len(found) > 1 else ()

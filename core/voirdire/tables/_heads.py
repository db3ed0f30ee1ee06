"""Headers that name a rater and a system: each system's columns become rows of their own."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import QuestionError, TableError, listed
from voirdire.tables._keys import are_versions, says_system
from voirdire.tables._names import SYNONYMS, plain_word
from voirdire.tables._numbers import are_texts
from voirdire.tables._tables import finding
from voirdire.tables._values import beside, common_prefix, is_score

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.study import Source
    from voirdire.tables._files import RawTable

#: The column of the systems that stood in headers.
_SYSTEM = "system"
#: What the names of systems that are only numbered end in.
_NUMBERED = re.compile(r"[\s_.-]*(?:\d+|[A-Za-z])$")
_FEWEST = 2


def systems_as_rows(raw: RawTable, source: Source, named: Sequence[str]) -> tuple[RawTable, Source]:
    """The table with a row a system where its headers name a rater and a system:
    ``human_gpt-4o``, ``llm_gpt-4o``, ``human_llama-3``, ``llm_llama-3``.

    They do where each other part of the headers can only be a version or a model. Where these are
    numbered alone (``human_A``, ``llm_A``) it is asked.

    Raises
    ------
    QuestionError
        They may name systems or what was judged.
    TableError
        Systems are asked for, and no headers name them.
    """
    if source.layout not in ("auto", "systems", "attributes"):
        return raw, source
    plain = source.model_copy(update={"layout": "auto"})
    if source.layout == "attributes" or source.columns or source.prefix:
        return raw, plain if source.layout == "attributes" else source
    columns = [c for c in raw.frame.columns if c not in source.ignore]
    grid = {} if set(named) & set(columns) else _grid(raw, columns, named)
    grid = _without_common_start(grid)
    parts = list(dict.fromkeys(part for _, part in grid.values()))
    if source.layout == "systems" and not parts:
        raise TableError(
            f"{raw.name}: no headers name a rater and a system (columns: {listed(columns)}); name "
            f"the reference by --reference as it stands in them"
        )
    if len(parts) < _FEWEST or source.system is not None:
        return raw, plain
    told = are_versions(pl.Series(parts)) or _have_answers(raw, columns, parts)
    if source.layout == "auto" and not told:
        if not _are_numbered(parts) or source.assume:
            return raw, source
        raise QuestionError(
            f"{raw.name}: headers hold {listed(parts)} beside {listed(list(named))}; are these "
            f"systems that answered, or attributes that were judged?",
            "layout",
            ("systems", "attributes"),
            'layout = "systems"',
            likely=False,
        )
    return _turned(raw, grid, parts), plain


def _grid(
    raw: RawTable, columns: Sequence[str], named: Sequence[str]
) -> Mapping[str, tuple[str, str]]:
    """Column -> rater and the other part of its header; nothing where the grid is not whole."""
    grid = {
        c: (name, part)
        for name in named
        for c in columns
        if (part := beside(c, name)) and is_score(raw, c)
    }
    parts = {part for _, part in grid.values()}
    for column in columns:
        for part in parts:
            rater = beside(column, part) if column not in grid else ""
            if rater and is_score(raw, column):
                grid[column] = rater, part
    held: dict[str, set[str]] = {}
    for rater, part in grid.values():
        held.setdefault(rater, set()).add(part)
    whole = {rater for rater, own in held.items() if own == parts}
    if not set(named) & set(held) or len(whole) < _FEWEST:
        return {}
    return {c: (rater, part) for c, (rater, part) in grid.items() if rater in whole}


def _without_common_start(grid: Mapping[str, tuple[str, str]]) -> Mapping[str, tuple[str, str]]:
    """The grid without what all other parts begin with: ``outputs.v1`` and ``outputs.v2``."""
    start = common_prefix(sorted({part for _, part in grid.values()}))
    return {c: (rater, part.removeprefix(start)) for c, (rater, part) in grid.items()}


def _have_answers(raw: RawTable, columns: Sequence[str], parts: Sequence[str]) -> bool:
    """Whether a column of texts stands next to the scores of each part, as what a system answered
    does, and an attribute never has.
    """
    texts = [c for c in columns if are_texts(raw.frame[c])]
    return all(any(_holds_answer(column, part) for column in texts) for part in parts)


def _holds_answer(column: str, part: str) -> bool:
    """Whether a header is made of a part and a word for an answer: ``outputs.base.text``."""
    at = re.search(rf"(?:^|[\s._:-]){re.escape(part)}(?=$|[\s._:-])", column)
    if at is None:
        return False
    rest = re.split(r"[\s._:-]+", column[: at.start()] + column[at.end() :])
    return any(plain_word(word) in (*SYNONYMS["response"], "text", "content") for word in rest)


def _are_numbered(parts: Sequence[str]) -> bool:
    """Whether names differ in a letter or a number at their end alone: ``A`` and ``B``."""
    bare = {_NUMBERED.sub("", part) for part in parts}
    return len(bare) == 1 and (not next(iter(bare)) or says_system(next(iter(bare))))


def _turned(raw: RawTable, grid: Mapping[str, tuple[str, str]], parts: Sequence[str]) -> RawTable:
    """A row for each system of a row."""
    base = raw.frame.select(c for c in raw.frame.columns if c not in grid)
    blocks = [
        base.with_columns(
            pl.lit(part).alias(_SYSTEM),
            *(raw.frame[c].alias(rater) for c, (rater, of) in grid.items() if of == part),
        )
        for part in parts
    ]
    frame = pl.concat(blocks, how="vertical_relaxed")
    note = finding(
        "systems_in_headers",
        "note",
        raw.name,
        list(grid),
        f"The headers name raters and systems ({listed(parts)}): each row became one a system.",
        "Where these are attributes, say --layout attributes.",
    )
    turned = replace(
        raw,
        frame=frame,
        headers={c: c for c in frame.columns},
        lines=pl.concat([raw.numbers()] * len(parts)),
        each=len(parts),
    )
    return turned.noted(note)

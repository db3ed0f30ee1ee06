"""Columns of 0 and 1, one a label, as one column of sets of labels."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import QuestionError, listed
from voirdire.tables._files._raw import build
from voirdire.tables._names import find, names_rater
from voirdire.tables.judged.label_columns import is_indicator

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.study import TableKeys
    from voirdire.tables._files import RawTable

#: Fewer columns of 0 and 1 are questions of their own, unless somebody says otherwise.
_FEWEST_INDICATORS = 3
#: A header over 0 and 1 of one label: `label_toxic`.
_LABEL_HEAD = re.compile(r"labels?[ _.:-]+(.+)", re.IGNORECASE)


def indicators_in(
    raw: RawTable, read: TableKeys, free: Sequence[str], rater: str | None
) -> RawTable | None:
    """Columns of 0 and 1, one a label, as one column of sets; None where there are none.

    They are where somebody says so, or where their headers begin with *label*.

    Raises
    ------
    QuestionError
        Each may as well be a question of its own.
    """
    bits = [c for c in free if is_indicator(raw.frame[c])]
    headed = {c: _LABEL_HEAD.fullmatch(c) for c in bits}
    labels = {c: told.group(1) for c, told in headed.items() if told is not None}
    if rater is not None and len(labels) > 1:
        return _gathered(raw, read, {raw.frame[rater].name: labels}, rater)
    grid = _grid(bits) if rater is None else {raw.frame[rater].name: {c: c for c in bits}}
    if grid is None or not bits or (rater is None and len(bits) < 2):
        return None
    if read.kind == "label set":
        return _gathered(raw, read, grid, rater)
    _ask_about_indicators(raw, read, grid)
    return None


def _ask_about_indicators(
    raw: RawTable, read: TableKeys, grid: Mapping[str, Mapping[str, str]]
) -> None:
    """Raise where rows mark some of several 0/1 columns: labels of one set, or a question each?

    Where no row marks two of them they are no set.
    """
    if read.kind is not None or read.score is not None or read.columns or read.layout != "auto":
        return
    for columns in grid.values():
        if len(columns) < _FEWEST_INDICATORS:
            return
        marked = raw.frame.select(
            pl.sum_horizontal(pl.col(c).cast(pl.Float64, strict=False) for c in columns)
        ).to_series()
        if (marked > 1).any():
            break
    else:
        return
    labels = list(dict.fromkeys(label for each in grid.values() for label in each.values()))
    raise QuestionError(
        f"{raw.name}: {listed(labels, 6)} are columns of 0 and 1; are they the labels of one set, "
        f"any number of which a unit may have, or yes/no questions of their own?",
        "kind",
        ("label set", "score"),
        'kind = "label set"',
        likely=False,
    )


def _grid(columns: Sequence[str]) -> dict[str, dict[str, str]] | None:
    """Rater -> column -> label, of headers such as `ann1_toxic` or `toxic_human_1`.

    Every rater has a column of every label; None where headers are not made so.
    """
    every = set(columns)
    for sign in ("_", " ", "-", ".", ":"):
        for at in [k for k, letter in enumerate(columns[0] if columns else "") if letter == sign]:
            start, end = columns[0][: at + 1], columns[0][at:]
            fronts = [c.removesuffix(end) for c in columns if c.endswith(end)]
            backs = [c.removeprefix(start) for c in columns if c.startswith(start)]
            whole = {f"{front}{sign}{back}" for front in fronts for back in backs}
            if whole != every or min(len(fronts), len(backs)) < 2:
                continue
            if any(map(names_rater, fronts)):
                return {f: {f"{f}{sign}{b}": b for b in backs} for f in fronts}
            if any(map(names_rater, backs)):
                return {b: {f"{f}{sign}{b}": f for f in fronts} for b in backs}
    return None


def _gathered(
    raw: RawTable, read: TableKeys, grid: Mapping[str, Mapping[str, str]], rater: str | None
) -> RawTable:
    """One row a judgement, its set as a JSON list; a row with an empty cell says nothing."""
    kept = [c for c in raw.frame.columns if not any(c in each for each in grid.values())]
    base, blocks = raw.frame.select(c for c in kept if c not in read.ignore), []
    for name, labels in grid.items():
        bits = raw.frame.select(pl.col(c).cast(pl.Float64, strict=False) for c in labels)
        cells = [
            None
            if None in row
            else json.dumps([label for label, bit in zip(labels.values(), row, strict=True) if bit])
            for row in bits.iter_rows()
        ]
        block = base.with_columns(pl.Series("labels", cells, pl.String))
        blocks.append(block if rater else block.with_columns(pl.lit(name).alias("rater")))
    if "item" not in base.columns and find("item", base.columns, read.item, raw.name) is None:
        blocks = [block.with_columns(raw.numbers().alias("item")) for block in blocks]
    frame = pl.concat(blocks)
    return build(raw.name, frame.columns, frame.get_columns(), first=1)


def read_as_sets(read: TableKeys) -> TableKeys:
    # A row of zeros says that no label applies, so that an empty cell says nothing.
    update = {"kind": "label set", "score": "labels", "empty": "missing"}
    return read.model_copy(update=update)

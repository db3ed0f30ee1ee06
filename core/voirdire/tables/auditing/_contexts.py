"""Whether tables show the same text beside the same id, and one text of each response."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire.errors import listed
from voirdire.late import dataclass
from voirdire.tables._tables import finding, plural
from voirdire.units import ENDS_PLACED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from voirdire.schema import Finding
    from voirdire.study import Study
    from voirdire.tables._tables import Tables


#: Above this share of differing texts most pairs may compare different items.
_BLOCKING = 0.20
#: Rows that a block may have moved, and the fewest that make one: shorter ones meet by chance.
_FARTHEST = 5
_SHORTEST = 3


def context_findings(tables: Tables, study: Study) -> list[Finding]:
    """``context_varies``, ``duplicate_contexts``, ``context_mismatch``, ``context_shift`` and
    ``response_varies``.
    """
    answers = _responses(tables.responses)
    shown = tables.contexts.filter(pl.col("text").is_not_null())
    if shown.height == 0:
        return answers
    shown = shown.select("table", "row", "item", hash=_SAME.hash())
    first = shown.unique(["table", "item"], keep="first", maintain_order=True)
    wide = _wide(first, _base(tables, study))
    return [*_varies(shown), *_repeats(first), *_mismatch(wide), *_shifts(wide), *answers]


#: A text as it is compared: letters composed, runs of blanks as one.
_SAME = pl.col("text").str.normalize("NFC").str.replace_all(r"\s+", " ").str.strip_chars()


def _responses(responses: pl.DataFrame) -> list[Finding]:
    """A finding on responses with several texts in one run."""
    keys = ("item", "system", "run")
    several = responses.filter(pl.struct(keys).is_duplicated())  # each text of a response is once
    many = (
        several.group_by(keys, maintain_order=True).agg(n=_SAME.n_unique()).filter(pl.col("n") > 1)
    )
    pairs = many.select("item", "system").rows()
    places = [f"item {item}" + (f", {system}" if system else "") for item, system in pairs]
    if not places:
        return []
    note = finding(
        "response_varies",
        "serious",
        "",
        places,
        f"{plural(len(places), 'response')} with more than one text beside the same item and "
        f"system.",
        "Their ratings may be of different responses: name the column of systems, or of runs.",
    )
    return [note]


def _base(tables: Tables, study: Study) -> str:
    """The table of the reference, else the first."""
    names = tables.contexts["table"].unique(maintain_order=True).to_list()
    files = [(PurePath(source.path), source.rater) for source in study.data.sources]
    of_reference = [
        path.name for path, rater in files if (rater or path.stem) in study.data.reference
    ]
    return next((name for name in of_reference if name in names), str(names[0]))


def _wide(first: pl.DataFrame, base: str) -> pl.DataFrame:
    """One row an item in the base table's order, one column of hashes a table, the base first."""
    wide = first.filter(pl.col("table") == base).select("item", pl.col("hash").alias(base))
    for table in first["table"].unique(maintain_order=True):
        if table != base:
            other = first.filter(pl.col("table") == table).select(
                "item", pl.col("hash").alias(table)
            )
            wide = wide.join(other, on="item", how="left", maintain_order="left")
    return wide


def _varies(shown: pl.DataFrame) -> list[Finding]:
    many = (
        shown.group_by("table", "item", maintain_order=True)
        .agg(n=pl.col("hash").n_unique())
        .filter(pl.col("n") > 1)
    )
    return [
        finding(
            "context_varies",
            "serious",
            str(table),
            block["item"].to_list(),
            f"{plural(block.height, 'item')} with more than one text beside the same id.",
            "One id may stand for several items; their ratings are then mixed.",
        )
        for (table,), block in many.group_by("table", maintain_order=True)
    ]


def _repeats(first: pl.DataFrame) -> list[Finding]:
    groups = (
        first.group_by("table", "hash", maintain_order=True)
        # Turns and steps of one conversation are shown with what it began with.
        .agg(pl.col("item"), n=pl.col("item").str.replace(ENDS_PLACED, "").n_unique())
        .filter(pl.col("n") > 1)
    )
    return [
        finding(
            "duplicate_contexts",
            "note",
            str(table),
            [" and ".join(items) for items in block["item"].head(20).to_list()],
            f"{plural(block.height, 'text')} under more than one id.",
            "Those items are not independent, or a row was copied onto another.",
            count=block.height,
        )
        for (table,), block in groups.group_by("table", maintain_order=True)
    ]


def _mismatch(wide: pl.DataFrame) -> list[Finding]:
    base, *others = wide.columns[1:]
    findings = []
    for group in _alike(wide, others):
        other = pl.col(group[0])
        differ = wide.filter(other.is_not_null() & (other != pl.col(base)))
        if differ.height:
            both = wide.filter(other.is_not_null()).height
            findings.append(_mismatch_finding(wide, differ, base, group, both))
    return findings


def _alike(wide: pl.DataFrame, others: Sequence[str]) -> list[list[str]]:
    """Tables that show the same texts as one another, together."""
    groups: list[list[str]] = []
    for table in others:
        same = (g for g in groups if wide[table].equals(wide[g[0]], check_names=False))
        group = next(same, None)
        if group is None:
            groups.append([table])
        else:
            group.append(table)
    return groups


def _mismatch_finding(
    wide: pl.DataFrame, differ: pl.DataFrame, base: str, group: Sequence[str], both: int
) -> Finding:
    where = wide.select(pl.col(base).alias("hash"), pl.col("item").alias("there")).unique(
        "hash", keep="last", maintain_order=True
    )
    # Where a text stands under another id, a row was moved; where nowhere, it was changed.
    moved = differ.select("item", pl.col(group[0]).alias("hash")).join(
        where, on="hash", maintain_order="left"
    )
    pairs = [f"{item} at {there}" for item, _, there in moved.head(10).iter_rows()]
    elsewhere = f" {len(moved)} of these texts stand under another id in {base}: " if pairs else ""
    more = f" and {len(moved) - 10} more" if len(moved) > 10 else ""
    return finding(
        "context_mismatch",
        "blocking" if differ.height > _BLOCKING * both else "serious",
        base,
        differ["item"].to_list(),
        f"{plural(differ.height, 'item')} of {both:,} with another text in {base} than in "
        f"{_and(group)}.{elsewhere}{', '.join(pairs)}{more}{'.' if pairs else ''}",
        "Ratings joined by id may be of different items there.",
    )


def _shifts(wide: pl.DataFrame) -> list[Finding]:
    base, *others = wide.columns[1:]
    base_hashes = _hashes(wide[base])
    findings = []
    for group in _alike(wide, others):
        for block in shifted_blocks(base_hashes, _hashes(wide[group[0]])):
            items = wide["item"][block.first : block.last + 1].to_list()
            findings.append(_shift_finding(items, block.offset, base, group))
    return findings


def _hashes(column: pl.Series) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return column.fill_null(0).to_numpy().astype(np.uint64)


def _shift_finding(items: list[str], offset: int, base: str, group: Sequence[str]) -> Finding:
    steps = plural(abs(offset), "row")
    way = "after" if offset > 0 else "before"
    return finding(
        "context_shift",
        "serious",
        base,
        [f"{items[0]}-{items[-1]}"],
        f"Items {items[0]} to {items[-1]} look shifted: the text of row i in {_and(group)} stands "
        f"in row i{offset:+d} of {base}, {steps} {way}.",
        "Joining by id probably pairs each rating with that of a neighbouring item; nothing was "
        "moved.",
        count=len(items),
    )


def _and(names: Sequence[str]) -> str:
    return listed(list(names), 5).replace("'", "")


@dataclass(frozen=True, slots=True)
class Block:
    """Rows `first`..`last` (inclusive) where row i of the other table is row i + `offset` here."""

    first: int
    last: int
    offset: int


def shifted_blocks(
    here: NDArray[np.uint64],
    other: NDArray[np.uint64],
    *,
    farthest: int = _FARTHEST,
    shortest: int = _SHORTEST,
) -> tuple[Block, ...]:
    """Blocks of at least `shortest` rows shifted by 1..`farthest` rows; linear in the rows.

    Parameters
    ----------
    here, other : (n,) uint64
        Hashes of the texts of two tables in the same order of ids; 0 where there is none.

    Notes
    -----
    A row counts as shifted where the texts of its own id differ and the other table's text stands
    `offset` rows further on. A block also takes in up to ``abs(offset)`` rows at either end whose
    texts differ and stand nowhere near: an inserted or dropped row orphans as many.

    Examples
    --------
    >>> here = np.array([1, 1, 2, 3, 4, 6], dtype=np.uint64)
    >>> other = np.array([1, 2, 3, 4, 5, 6], dtype=np.uint64)
    >>> shifted_blocks(here, other)
    (Block(first=1, last=4, offset=1),)
    """
    differ = (here != other) & (here != 0) & (other != 0)
    if not differ.any():
        return ()
    blocks: list[Block] = []
    taken = np.zeros(len(here), dtype=bool)
    # Small shifts first: in texts that repeat a far one may fit as well.
    for size in range(1, farthest + 1):
        for offset in (size, -size):
            follows = differ & ~taken & (other == _moved(here, offset))
            for first, last in _runs(follows, shortest):
                block = _widened(first, last, offset, differ & ~taken & ~follows)
                taken[block.first : block.last + 1] = True
                blocks.append(block)
    return tuple(sorted(blocks, key=lambda block: block.first))


def _moved(values: NDArray[np.uint64], offset: int) -> NDArray[np.uint64]:
    """Row i holds what row i + offset held; 0 beyond the ends."""
    moved = np.zeros_like(values)
    if abs(offset) >= len(values):
        return moved
    if offset > 0:
        moved[:-offset] = values[offset:]
    else:
        moved[-offset:] = values[:offset]
    return moved


def _runs(flags: NDArray[np.bool_], shortest: int) -> list[tuple[int, int]]:
    """First and last index of each run of True of at least that length."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8)))
    starts, ends = edges[::2], edges[1::2]
    long = ends - starts >= shortest
    return [(int(a), int(b) - 1) for a, b in zip(starts[long], ends[long], strict=True)]


def _widened(first: int, last: int, offset: int, orphans: NDArray[np.bool_]) -> Block:
    """The block with the rows that the shift orphaned at its ends."""
    for _ in range(abs(offset)):
        if last + 1 < len(orphans) and orphans[last + 1]:
            last += 1
        if first > 0 and orphans[first - 1]:
            first -= 1
    return Block(first, last, offset)

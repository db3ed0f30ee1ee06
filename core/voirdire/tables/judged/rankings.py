"""Rankings of systems: each pair of them on an item is a comparison."""

from __future__ import annotations

import json
import re
from itertools import combinations
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.kinds import Cells
from voirdire.late import pattern
from voirdire.tables._names import find, kind_of, measures
from voirdire.tables._numbers import is_numeric
from voirdire.tables.judged.comparisons import all_numbers, rater_column, ready

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from voirdire.study import TableKeys
    from voirdire.tables._files import RawTable
    from voirdire.tables.judged.frames import ReadJudgements

#: One rater's order of one item: groups of systems that are tied, the best first.
Order = list[list[str]]
#: What stands before or behind the system in a header.
_RANK = pattern(r"^rank(?:ing)?[ _.:-]+|[ _.:-]+rank(?:ing)?$", re.IGNORECASE)
#: Rows of which one shows that numbers are no ranks.
_FEW = 20
#: Rows of which a unit shows it, where a row is one of its systems.
_MANY = 400
#: Three systems at the least: of two a rank is no more than a winner.
_FEWEST = 3


def read_rankings(
    raw: RawTable, read: TableKeys, plain: dict[str, str], reference: Sequence[str]
) -> ReadJudgements | None:
    """Ranks 1..S of systems on an item, or their order in a cell; None for any other table.

    A row a rater, or a column a rater; of ranks also a column a system.
    """
    frame = raw.frame
    item = find("item", frame.columns, read.item, raw.name)
    rater = rater_column(raw, read)
    ordered = [c for c in frame.columns if c not in (item, rater, *read.ignore) and _orders(raw, c)]
    if "ranking" in plain and rater is not None:
        ordered = [plain["ranking"]]
    if rater is None and len(ordered) > 1:
        rows = [
            (str(at if key is None else key), name, _order(cell))
            for name in ordered
            for at, key, cell in zip(
                raw.numbers(),
                frame[item] if item else [None] * frame.height,
                frame[name],
                strict=True,
            )
        ]
    elif rater is None:
        rows = _ranks_by_column(raw, read, item)
    elif item is None:
        return None
    elif len(ordered) == 1:
        rows = [
            (str(i), str(r), _order(cell))
            for i, r, cell in frame.select(item, rater, ordered[0]).iter_rows()
            if i is not None and r is not None
        ]
    elif ranked := _ranked_columns(frame, [item, rater]):
        rows = [
            (str(i), str(r), _by_rank(zip(map(_bare, ranked), ranks, strict=True)))
            for i, r, *ranks in frame.select(item, rater, *ranked).iter_rows()
            if i is not None and r is not None and None not in ranks
        ]
    else:
        system = find("system", [c for c in frame.columns if c != rater], read.system, raw.name)
        if "rank" not in plain or system is None or not all_numbers(frame[plain["rank"]]):
            return None
        rows = _ranks_of_rows(frame.select(item, rater, system, plain["rank"]).iter_rows())
    made = [
        (i, a, b, r, 1.0 if place < other else 0.0)
        for i, r, order in rows
        for (place, a), (other, b) in combinations(
            [(place, name) for place, tied in enumerate(order) for name in tied], 2
        )
    ]
    if not made:
        return None
    table = pl.DataFrame(
        made, schema=["item", "system_a", "system_b", "rater", "score"], orient="row"
    ).with_columns(
        pl.lit(None, pl.String).alias("shown_first"),
        pl.lit(1, pl.Int32).alias("run"),
        pl.lit(read.about or "preference").alias("attribute"),
        pl.lit(None, pl.Float64).alias("length"),
        pl.col("item").alias("cluster"),
    )
    return ready(
        table,
        raw,
        read,
        reference,
        "systems are ranked on each item: pairs of them, resampled by item",
        rater,
        shows_order=False,
    )


def _orders(raw: RawTable, column: str) -> bool:
    """Whether cells are orders of the same three systems or more: ``c > a > b``, or lists."""
    first = [str(cell) for cell in raw.frame[column].head(_MANY).drop_nulls()[:1]]
    if not any(">" in cell or cell.startswith("[") for cell in first):
        return False  # before all cells are looked at
    cells = Cells.of(column, [raw.frame[column]])
    if not cells.texts or (">" not in cells.texts[0] and not cells.texts[0].startswith("[")):
        return False
    orders = [_order(text) for text in cells.texts]
    names = [sorted(name for tied in order for name in tied) for order in orders]
    # A set of labels names few of many; an order names all, each once.
    whole = all(own == names[0] and len(set(own)) == len(own) for own in names)
    return whole and len(names[0]) >= _FEWEST and len(orders) > 1


def _ranks_by_column(
    raw: RawTable, read: TableKeys, item: str | None
) -> list[tuple[str, str, Order]]:
    """A column of ranks a rater, and one of systems; none where numbers are anything else.

    Of scores some are tied, or some are missing between them.
    """
    frame = raw.frame
    free = [c for c in frame.columns if c not in (item, *read.ignore)]
    system = find("system", free, read.system, raw.name)
    raters = [c for c in free if c != system and kind_of(c) and not measures(c)]
    raters = [c for c in raters if is_numeric(frame[c]) and all_numbers(frame[c])]
    if item is None or system is None or len(raters) < 2:
        return []
    # Of scores mostly the first rater's first units have two alike, or none that is 1.
    one = pl.col(raters[0]).cast(pl.Float64, strict=False)
    whole = (one.n_unique() == one.len()) & (one.min() == 1) & (one.max() == one.len())
    units = frame.head(_MANY).group_by(item, maintain_order=True).agg(whole.alias("ranked"))
    # The last of them may go on behind.
    if not units["ranked"][:-1].all():
        return []
    rows = _ranks_of_rows(
        (i, name, s, rank)
        for name in raters
        for i, s, rank in frame.select(item, system, name).iter_rows()
    )
    most = max((len(order) for _, _, order in rows), default=0)
    items = {i for i, _, _ in rows}
    return rows if most >= _FEWEST and len(items) > 1 else []


def _ranks_of_rows(cells: Iterable[tuple[Any, Any, Any, Any]]) -> list[tuple[str, str, Order]]:
    """Item, rater, system and rank of each row as orders; none where one is no order 1..S."""
    grouped: dict[tuple[str, str], list[tuple[str, float]]] = {}
    for i, r, s, rank in cells:
        if None not in (i, r, s, rank):
            grouped.setdefault((str(i), str(r)), []).append((str(s), float(rank)))
    if not all(_are_ranks([rank for _, rank in each]) for each in grouped.values()):
        return []
    return [(i, r, _by_rank(each)) for (i, r), each in grouped.items()]


def _by_rank(ranks: Iterable[tuple[str, float]]) -> Order:
    return [[name] for _, name in sorted((rank, name) for name, rank in ranks)]


def _ranked_columns(frame: pl.DataFrame, taken: Sequence[str]) -> list[str]:
    """Columns of systems in each row of which the ranks 1..S stand; none where there are no such.

    A row of scores has ties; of two columns 1 and 2 may be anything.
    """
    names = [c for c in frame.columns if c not in taken and is_numeric(frame[c])]
    names = [c for c in names if not measures(c) and all_numbers(frame[c])]
    # A few rows say so of nearly every table of scores; only of ranks all are looked at.
    if len(names) < _FEWEST or not _all_ranked(frame.head(_FEW).select(names), 0):
        return []
    return names if _all_ranked(frame.select(names), 2) else []


def _all_ranked(frame: pl.DataFrame, least: int) -> bool:
    """Whether ranks stand in every row without a gap, and so many rows are without one."""
    rows = [row for row in frame.iter_rows() if None not in row]
    return len(rows) >= least and all(_are_ranks(map(float, row)) for row in rows)


def _bare(column: str) -> str:
    """The system that a column of ranks is of: ``rank_alpha`` is alpha's."""
    return _RANK.sub("", column) or column


def _are_ranks(ranks: Iterable[float]) -> bool:
    given = sorted(ranks)
    return len(given) > 1 and given == [float(k) for k in range(1, len(given) + 1)]


def _order(cell: Any) -> Order:
    """Systems, the best first: a list, a JSON list, or names with > between them, = for a tie.

    >>> _order("b > a = c"), _order('["b", "a"]')
    ([['b'], ['a', 'c']], [['b'], ['a']])
    """
    if isinstance(cell, list | pl.Series):
        return [[str(part)] for part in cell]
    text = str(cell or "").strip()
    if text.startswith("["):
        try:
            given = json.loads(text)
        except ValueError:
            return []
        return [[str(part)] for part in given] if isinstance(given, list) else []
    groups = [re.split("[=~]", part) for part in text.split(">")]
    return [own for tied in groups if (own := [name.strip() for name in tied if name.strip()])]

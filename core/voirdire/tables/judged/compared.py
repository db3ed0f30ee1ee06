"""Preferences in files: winners, both orders, grades, chosen and rejected, rankings."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import TableError, listed
from voirdire.kinds import Cells
from voirdire.kinds._column import text_of
from voirdire.tables._names import find, measures, names_rater, plain_word
from voirdire.tables._numbers import fold, is_numeric
from voirdire.tables._preferences import (
    ComparisonColumns,
    compared_in,
    signed_grades,
)
from voirdire.tables.judged.frames import ReadJudgements
from voirdire.tables.judged.people import people_of
from voirdire.tables.judged.raters import raters_among, unread_note
from voirdire.tables.judged.winners import (
    all_numbers,
    declared_words,
    place_of,
    says_who,
    with_scores,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from voirdire.schema import Finding
    from voirdire.study import TableKeys
    from voirdire.tables._files import RawTable

#: Columns of the two systems, without case and signs.
PAIRS = (
    ("systema", "systemb"), ("modela", "modelb"), ("model1", "model2"), ("system1", "system2"),
    ("generator1", "generator2"), ("bota", "botb"),
)  # fmt: skip
#: Columns of their texts.
TEXTS = (
    ("responsea", "responseb"), ("answera", "answerb"), ("outputa", "outputb"),
    ("response1", "response2"), ("output1", "output2"), ("answer1", "answer2"),
    ("completiona", "completionb"), ("texta", "textb"), ("conversationa", "conversationb"),
)  # fmt: skip
#: Columns that say who won; of both orders one each.
WINNERS = ("winner", "preference", "preferred", "choice", "verdict", "label", "judgment",
           "judgement", "vote")  # fmt: skip
BOTH = ("g1winner", "g2winner")
#: So many rows are looked at before all of them.
_FEW = 1_000


def read_preferences(
    raw: RawTable, read: TableKeys, reference: Sequence[str]
) -> ReadJudgements | None:
    """The table as preferences; None where it holds none."""
    if read.kind not in (None, "preference"):
        return None
    plain = {plain_word(name): name for name in reversed(raw.frame.columns)}
    if "score" in plain and ("systema" in plain or {"rank", "status"} <= set(plain)):
        return None  # a standard table, which is read as it is
    for shape in (_chosen_rejected, _rankings, _of_two_systems, _of_two_places):
        found = shape(raw, read, plain, reference)
        if found is not None:
            return found
    return None


def _of_two_systems(
    raw: RawTable, read: TableKeys, plain: dict[str, str], reference: Sequence[str]
) -> ReadJudgements | None:
    """`model_a, model_b` and who won: one column, one for each order, or one for each rater."""
    sides = next(((plain[a], plain[b]) for a, b in PAIRS if a in plain and b in plain), None)
    # Names second: two columns that share the names of systems, and a third that says which.
    by_cells = compared_in(raw.frame)
    if sides is None and by_cells is not None:
        sides = by_cells.first, by_cells.second
    if sides is None:
        return None
    frame = raw.frame.filter(pl.col(sides[0]).is_not_null() & pl.col(sides[1]).is_not_null())
    base = _base(raw, frame, read, plain, sides)
    taken = {*sides, *(c for pair in TEXTS for name in pair if (c := plain.get(name)))}
    if all(name in plain for name in BOTH):
        blocks = []
        for name, first in zip(BOTH, ("system_a", "system_b"), strict=True):
            block = with_scores(base, frame[plain[name]], {})
            blocks.append(block.with_columns(pl.col(first).alias("shown_first")))
        table = pl.concat(blocks)
        reason = f"{plain[BOTH[0]]!r} and {plain[BOTH[1]]!r} name the winner in both orders"
        return _ready(table, raw, read, reference, reason, _rater_column(raw, read))
    every = _columns_that_say(raw, frame, read, (*taken, *sides), sides)
    says = raters_among(raw, every, read, reference)
    left = unread_note(raw, every, says)
    rater = _rater_column(raw, read, says)
    # Beside `winner`, `judge` may say who that judge prefers.
    if len(says) > 1 and (
        set(reference) & set(says) or (not rater and any(map(names_rater, says)))
    ):
        return _noted(_of_columns(raw, frame, read, base, sides, says, reference), left)
    winner = find("score", list(raw.frame.columns), read.score, raw.name) if read.score else None
    winner = winner or next((plain[name] for name in WINNERS if name in plain), None)
    if winner is None and by_cells is not None and len(by_cells.winners) == 1:
        winner = by_cells.winners[0]
    told = by_cells is not None and winner in by_cells.winners
    if winner is not None and (told or says_who(raw.frame[winner], frame, sides)):
        said = declared_words(raw, read, ComparisonColumns(*sides, (winner,)), winner)
        table = with_scores(base, frame[winner], said)
        reason = f"{winner!r} names the winner of {sides[0]!r} and {sides[1]!r}"
        return _ready(table, raw, read, reference, reason, _rater_column(raw, read))
    if len(says) < 2:
        return None
    return _noted(_of_columns(raw, frame, read, base, sides, says, reference), left)


def _noted(read: ReadJudgements, notes: tuple[Finding, ...]) -> ReadJudgements:
    return replace(read, findings=(*read.findings, *notes))


def _columns_that_say(
    raw: RawTable, frame: pl.DataFrame, read: TableKeys, taken: Sequence[str],
    sides: tuple[str, str],
) -> list[str]:  # fmt: skip
    """The columns that say who is better."""
    return [
        c for c in raw.frame.columns
        if c not in taken and c not in read.ignore and says_who(raw.frame[c], frame, sides)
        # A number beside two systems may be a turn, a length or a fact; a rater's name says more.
        and (not all_numbers(raw.frame[c]) or signed_grades(raw.frame[c]) or names_rater(c))
    ]  # fmt: skip


def _of_columns(
    raw: RawTable, frame: pl.DataFrame, read: TableKeys, base: pl.DataFrame,
    sides: tuple[str, str], says: Sequence[str], reference: Sequence[str],
) -> ReadJudgements:  # fmt: skip
    """A column for each rater, that says who that one prefers."""
    table = pl.concat(
        with_scores(
            base, frame[c], declared_words(raw, read, ComparisonColumns(*sides, (c,)), c)
        ).with_columns(pl.lit(c).alias("rater"))
        for c in says
    ).filter(pl.col("score").is_not_null())
    reason = f"{listed(says)} name the winner of {sides[0]!r} and {sides[1]!r}"
    return _ready(table, raw, read, reference, reason, None)


def _of_two_places(
    raw: RawTable, read: TableKeys, plain: dict[str, str], reference: Sequence[str]
) -> ReadJudgements | None:
    """Columns of raters that say A, B or tie, and no column of the systems."""
    said = {
        c: places for c in raw.frame.columns
        if c not in read.ignore and (places := _places(raw.frame[c]))
    }  # fmt: skip
    named, words = list(said), {word: p for each in said.values() for word, p in each.items()}
    # A and B alone may be answers to a question, and C one more of them.
    ties = {word for word, place in words.items() if place == 0.0} - {"c", "none", "neither"}
    if len(named) < 2 or not ties or len({place for place in words.values() if place}) < 2:
        return None
    every, named = named, raters_among(raw, named, read, reference)
    frame = raw.frame.with_columns(pl.lit("A").alias("system_a"), pl.lit("B").alias("system_b"))
    base = _base(raw, frame, read, plain, ("system_a", "system_b"))
    table = pl.concat(
        with_scores(base, frame[c], {}).with_columns(pl.lit(c).alias("rater")) for c in named
    ).filter(pl.col("score").is_not_null())
    reason = f"{listed(named)} say which of two, A or B, is better"
    ready = _ready(table, raw, read, reference, reason, None)
    return _noted(ready, unread_note(raw, every, named))


def _places(column: pl.Series) -> dict[str, float]:
    """What each cell says of two places; nothing where one says something else."""
    if is_numeric(column) or measures(column.name):
        return {}
    # A few cells say of nearly every column that it holds other words.
    if not all(map(_names_place, column.head(_FEW).unique().to_list())):
        return {}
    places: dict[str, float] = {}
    for text in Cells.of(column.name, [column]).texts:
        place = place_of(text)
        if place is None:
            return {}  # at once: a column of items has as many words as rows
        places[fold(text)] = place
    return places


def _names_place(cell: object) -> bool:
    text = text_of(cell)
    return text is None or place_of(text) is not None


def _rater_column(raw: RawTable, read: TableKeys, says: Sequence[str] = ()) -> str | None:
    """The column that names who compares, which is none of those that say who is better."""
    named = read.rater if read.rater in raw.frame.columns else None
    return find(
        "rater", [c for c in raw.frame.columns if c not in says or c == named], named, raw.name
    )


def _base(
    raw: RawTable, frame: pl.DataFrame, read: TableKeys, plain: dict[str, str],
    sides: tuple[str, str],
) -> pl.DataFrame:  # fmt: skip
    """item, systems, rater, run, attribute, what was shown first, and the difference of lengths."""
    columns = [c for c in frame.columns if c not in sides]
    item = find("item", columns, read.item, raw.name)
    rater = _rater_column(raw, read)
    run = find("run", columns, read.run, raw.name)
    attribute = find("attribute", columns, read.attribute, raw.name)
    turn = plain.get("turn")
    texts = next(((plain[a], plain[b]) for a, b in TEXTS if a in plain and b in plain), None)
    name = raw.name.rsplit(".", 1)[0]
    items = (
        pl.Series("item", [str(k) for k in range(1, frame.height + 1)])
        if item is None else frame[item].cast(pl.String)
    )  # fmt: skip
    if turn is not None:
        items = items + " turn " + frame[turn].cast(pl.String)
    length: pl.Series | pl.Expr = pl.lit(None, pl.Float64)
    if texts is not None:
        sizes = [frame[c].cast(pl.String).str.len_chars().cast(pl.Float64) for c in texts]
        length = sizes[0] - sizes[1]
    return pl.DataFrame({"item": items}).with_columns(
        frame[sides[0]].cast(pl.String).alias("system_a"),
        frame[sides[1]].cast(pl.String).alias("system_b"),
        (pl.lit(name) if rater is None else frame[rater].cast(pl.String)).alias("rater"),
        (pl.lit(1) if run is None else frame[run]).cast(pl.Int32).alias("run"),
        (pl.lit(read.about or "preference") if attribute is None
         else frame[attribute].cast(pl.String)).alias("attribute"),
        length.alias("length"),
        _fact(frame, find("cluster", list(frame.columns), read.cluster, raw.name)).alias("cluster"),
        _fact(frame, plain.get("shownfirst")).alias("shown_first"),
    )  # fmt: skip


def _fact(frame: pl.DataFrame, column: str | None) -> pl.Series | pl.Expr:
    return pl.lit(None, pl.String) if column is None else frame[column].cast(pl.String)


def shown_first(read: TableKeys) -> pl.Expr:
    """Who was shown first in every row, as somebody declared it."""
    told = read.first in ("a", "b")
    return pl.col(f"system_{read.first}") if told else pl.lit(None, pl.String)


def _chosen_rejected(
    raw: RawTable, read: TableKeys, plain: dict[str, str], reference: Sequence[str]
) -> ReadJudgements | None:
    """`chosen, rejected` with a judge's scores of both.

    The human side is always *chosen*, so that its column says nothing: the two texts are put in an
    order of their own (that of their letters), and people prefer the one or the other.
    """
    if not {"chosen", "rejected"} <= set(plain):
        return None
    frame = raw.frame
    judges = {
        name: (name, other) for name in frame.columns
        if "chosen" in plain_word(name) and name != plain["chosen"] and is_numeric(frame[name])
        and (other := re.sub("chosen", "rejected", name)) in frame.columns
    }  # fmt: skip
    if not judges:
        return None
    item = find("item", frame.columns, read.item, raw.name) or plain.get("prompt")
    texts = [frame[plain[side]].cast(pl.String) for side in ("chosen", "rejected")]
    turn = pl.Series([1.0 if (a or "") < (b or "") else -1.0 for a, b in zip(*texts, strict=True)])
    sizes = [text.str.len_chars().cast(pl.Float64) for text in texts]
    base = pl.DataFrame(
        {"item": [str(k) for k in range(1, frame.height + 1)] if item is None
         else frame[item].cast(pl.String)}
    ).with_columns(
        pl.lit("response 1").alias("system_a"), pl.lit("response 2").alias("system_b"),
        pl.lit(None, pl.String).alias("shown_first"), pl.lit(1, pl.Int32).alias("run"),
        pl.lit(read.about or "preference").alias("attribute"),
        ((sizes[0] - sizes[1]) * turn).alias("length"), pl.lit(None, pl.String).alias("cluster"),
    )  # fmt: skip
    blocks = [base.with_columns(pl.lit("chosen").alias("rater"), turn.alias("score"))]
    for name, (yes, no) in judges.items():
        stripped = re.sub(r"[_ -]?chosen[_ -]?", "", name) or "judge"
        stripped = "judge" if stripped in ("score", "scores", "reward") else stripped
        off = (frame[yes].cast(pl.Float64) - frame[no].cast(pl.Float64)).sign() * turn
        blocks.append(base.with_columns(pl.lit(stripped).alias("rater"), off.alias("score")))
    table = pl.concat([block.select(sorted(block.columns)) for block in blocks])
    reason = "'chosen' and 'rejected' hold texts with scores of both"
    return _ready(table, raw, read, reference or ["chosen"], reason, None, shows_order=False)


def _rankings(
    raw: RawTable, read: TableKeys, plain: dict[str, str], reference: Sequence[str]
) -> ReadJudgements | None:
    """Ranks 1..S of systems on an item, or a list of them: each pair is a comparison."""
    frame = raw.frame
    item = find("item", frame.columns, read.item, raw.name)
    rater = _rater_column(raw, read)
    if item is None or rater is None:
        return None
    rows: list[tuple[str, str, list[str]]]
    if "ranking" in plain:
        rows = [
            (str(i), str(r), order)
            for i, r, cell in frame.select(item, rater, plain["ranking"]).iter_rows()
            if i is not None and r is not None and len(order := _order(cell)) > 1
        ]
    elif ranked := _ranked_columns(frame, [item, rater]):
        rows = [
            (str(i), str(r), [name for _, name in sorted(zip(ranks, ranked, strict=True))])
            for i, r, *ranks in frame.select(item, rater, *ranked).iter_rows()
            if i is not None and r is not None and None not in ranks
        ]
    else:
        system = find("system", [c for c in frame.columns if c != rater], read.system, raw.name)
        if "rank" not in plain or system is None or not is_numeric(frame[plain["rank"]]):
            return None
        grouped: dict[tuple[str, str], list[tuple[float, str]]] = {}
        for i, r, s, rank in frame.select(item, rater, system, plain["rank"]).iter_rows():
            if None not in (i, r, s, rank):
                grouped.setdefault((str(i), str(r)), []).append((float(rank), str(s)))
        if not all(_are_ranks([rank for rank, _ in each]) for each in grouped.values()):
            return None
        rows = [(i, r, [s for _, s in sorted(each)]) for (i, r), each in grouped.items()]
    made = [
        (i, a, b, r, 1.0)
        for i, r, order in rows
        for a, b in combinations(order, 2)
    ]  # fmt: skip
    table = pl.DataFrame(
        made, schema=["item", "system_a", "system_b", "rater", "score"], orient="row"
    ).with_columns(
        pl.lit(None, pl.String).alias("shown_first"), pl.lit(1, pl.Int32).alias("run"),
        pl.lit(read.about or "preference").alias("attribute"),
        pl.lit(None, pl.Float64).alias("length"), pl.col("item").alias("cluster"),
    )  # fmt: skip
    return _ready(table, raw, read, reference, "systems are ranked on each item: pairs of "
                  "them, resampled by item", rater, shows_order=False)  # fmt: skip


def _ranked_columns(frame: pl.DataFrame, taken: Sequence[str]) -> list[str]:
    """Columns of systems in each row of which the ranks 1..S stand; none where there are no such.

    A row of scores has ties; of two columns 1 and 2 may be anything.
    """
    names = [c for c in frame.columns if c not in taken and is_numeric(frame[c])]
    names = [c for c in names if not measures(c)]
    # A few rows say so of nearly every table of scores; only of ranks all are looked at.
    if len(names) < 3 or not _all_ranked(frame.head(_FEW).select(names), 0):
        return []
    return names if _all_ranked(frame.select(names), 2) else []


def _all_ranked(frame: pl.DataFrame, least: int) -> bool:
    """Whether ranks stand in every row without a gap, and so many rows are without one."""
    rows = [row for row in frame.iter_rows() if None not in row]
    return len(rows) >= least and all(_are_ranks(map(float, row)) for row in rows)


def _are_ranks(ranks: Iterable[float]) -> bool:
    given = sorted(ranks)
    return len(given) > 1 and given == [float(k) for k in range(1, len(given) + 1)]


def _order(cell: Any) -> list[str]:
    """Systems, the best first: a list, a JSON list, or names with > between them."""
    if isinstance(cell, list | pl.Series):
        return [str(part) for part in cell]
    text = str(cell or "")
    if text.startswith("["):
        try:
            return [str(part) for part in json.loads(text)]
        except ValueError:
            return []
    return [part.strip() for part in text.split(">") if part.strip()]


def _ready(
    table: pl.DataFrame,
    raw: RawTable,
    read: TableKeys,
    reference: Sequence[str],
    reason: str,
    column: str | None,
    *,
    shows_order: bool = True,
) -> ReadJudgements:
    """The comparisons; of some shapes nobody is shown one of two before the other."""
    raters = table["rater"].drop_nulls().unique(maintain_order=True).to_list()
    same = table.filter(pl.col("system_a") == pl.col("system_b"))
    if same.height:
        row = same.row(0, named=True)
        raise TableError(
            f"{raw.name}: item {row['item']!r} compares {row['system_a']!r} with itself"
        )
    names = ["item", "system_a", "system_b", "shown_first", "rater", "run", "attribute", "score",
             "length", "cluster"]  # fmt: skip
    people = people_of(raters, reference, raw.name, column)
    kept = table.filter(pl.col("item").is_not_null() & pl.col("rater").is_not_null())
    # Who compares a pair in both directions was asked in both orders: a row names the first first.
    pair = [pl.min_horizontal("system_a", "system_b"), pl.max_horizontal("system_a", "system_b")]
    both = pl.col("system_a").n_unique().over("item", "rater", "run", "attribute", *pair) > 1
    shown = pl.when(both).then("system_a")
    declared = shown_first(read) if shows_order else pl.lit(None, pl.String)
    first = pl.coalesce("shown_first", declared, shown).alias("shown_first")
    kept = kept.with_columns(first)
    return ReadJudgements(
        people, preferences=kept.select(names), reason=reason,
        order=(read.first or "") if shows_order else "drawn",
    )  # fmt: skip

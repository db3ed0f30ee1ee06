"""Preferences in files: winners, both orders, grades, chosen and rejected."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING
from zlib import crc32

import polars as pl

from voirdire.errors import listed
from voirdire.kinds import Cells
from voirdire.kinds._column import text_of
from voirdire.study import Source
from voirdire.tables._names import find, kind_of, measures, names_rater, plain_word
from voirdire.tables._numbers import fold, is_numeric
from voirdire.tables._preferences import (
    ComparisonColumns,
    better_and_worse,
    compared_in,
    place_of,
    signed_grades,
)
from voirdire.tables._roles import rater_column as rater_named
from voirdire.tables.judged.comparisons import rater_column, ready
from voirdire.tables.judged.frames import LABELS
from voirdire.tables.judged.order import (
    ask_about_order,
    first_in,
    may_say_order,
    order_column,
    speaks_of_order,
)
from voirdire.tables.judged.raters import judges_named, raters_among, unread_note
from voirdire.tables.judged.winners import (
    all_numbers,
    ask_about_outcomes,
    ask_about_signs,
    declared_words,
    says_who,
    with_scores,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from voirdire.schema import Finding
    from voirdire.study import TableKeys
    from voirdire.tables._files import RawTable
    from voirdire.tables.judged.frames import ReadJudgements

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
#: A system is in so few rows the one that it is compared with.
_SAME = 0.01
#: So many rows are looked at before all of them.
_FEW = 1_000


def read_preferences(
    raw: RawTable, read: TableKeys, reference: Sequence[str]
) -> ReadJudgements | None:
    """The table as preferences; None where it holds none.

    Beside them may stand how probable it is that one side is preferred: read is both, or what
    somebody says by `kind`.
    """
    if read.kind not in (None, "preference", "probability"):
        return None
    plain = {plain_word(name): name for name in reversed(raw.frame.columns)}
    if "score" in plain and ("systema" in plain or {"rank", "status"} <= set(plain)):
        return None  # a standard table, which is read as it is
    if read.kind == "probability":
        found = _of_two_systems(raw, read, plain, reference)
        return replace(found, preferences=None) if found and found.questions else None
    for shape in (_chosen_rejected, _better_worse, _ranked, _of_two_systems, _of_two_places):
        found = shape(raw, read, plain, reference)
        if found is not None and read.kind is not None:
            # Whoever gives probabilities alone prefers all the same.
            return replace(found, labels=LABELS.to_frame(), questions=())
        if found is not None:
            return found
    return None


def _ranked(
    raw: RawTable, read: TableKeys, plain: dict[str, str], reference: Sequence[str]
) -> ReadJudgements | None:
    """Rankings, whose reader is loaded where a table may be one."""
    # Ranks take four columns; in fewer a cell holds a whole order.
    first = [str(cell) for column in raw.frame for cell in column.head(_FEW).drop_nulls()[:1]]
    orders = any(">" in text or text[:1] == "[" for text in first)
    if raw.frame.width < 4 and not orders:
        return None
    from voirdire.tables.judged.rankings import read_rankings  # noqa: PLC0415 - as said

    return read_rankings(raw, read, plain, reference)


def names_two_systems(path: Path) -> bool:
    """Whether the first line of a file names a column for each of two systems.

    Of a workbook nobody looks: it would have to be opened.
    """
    if path.suffix.lower() not in (".csv", ".tsv", ".txt", ".jsonl"):
        return False
    with path.open(encoding="utf-8", errors="replace") as lines:
        # Columns of a table, or keys of a record: all that is asked is which words are there.
        words = {plain_word(part) for part in re.split(r"[,;\t|{}\":]+", lines.readline(20_000))}
    return any({a, b} <= words for a, b in PAIRS)


def _of_two_systems(
    raw: RawTable, read: TableKeys, plain: dict[str, str], reference: Sequence[str]
) -> ReadJudgements | None:
    """`model_a, model_b` and who won: one column, one for each order, or one for each rater."""
    sides = next(((plain[a], plain[b]) for a, b in PAIRS if a in plain and b in plain), None)
    if sides is not None and _are_scores(raw.frame, *sides):
        sides = None  # two models that judge, and none that is judged
    # Names second: two columns that share the names of systems, and a third that says which.
    by_cells = compared_in(raw.frame, read.words)
    if sides is None and by_cells is not None:
        sides = by_cells.first, by_cells.second
    if sides is None:
        ask_about_outcomes(raw, read, reference)
        return None
    frame = raw.frame.filter(pl.col(sides[0]).is_not_null() & pl.col(sides[1]).is_not_null())
    # Who was shown first is a system too, and nobody's choice.
    order = order_column(raw, read, sides, (*reference, *judges_named(read)))
    base = _base(raw, frame, read, plain, sides, order)
    beside = {name for pair in TEXTS for name in pair}
    taken = {*sides, *(plain[name] for name in beside if name in plain)}
    taken.update([order] if order else [])
    if all(name in plain for name in BOTH):
        return _in_both_orders(raw, frame, read, plain, base, sides, taken, reference)
    who_is_named = (*reference, *judges_named(read))
    every = _columns_that_say(raw, frame, read, (*taken, *sides), sides, who_is_named)
    able = [c for c in every if not _orders(frame, c, read, reference, sides)]
    says = raters_among(raw, able, read, reference)
    left = unread_note(raw, every, says)
    rater = rater_column(raw, read, says)
    from voirdire.tables.judged.favoured import (  # noqa: PLC0415 - of comparisons alone
        side_claims,
        with_side_claims,
    )

    claims = side_claims(raw, frame, read, base, sides, says)
    # Beside `winner`, `judge` may say who that judge prefers.
    if (
        len(says) > 1
        and (set(reference) & set(says) or (not rater and any(map(names_rater, says))))
    ) or (claims is not None and says and not rater):
        ask_about_order(raw, frame, read, sides, (order, *taken, *says))
        found = _of_columns(raw, frame, read, base, sides, says, reference, order)
        return _noted(with_side_claims(found, claims, raw.name), left)
    winner = find("score", list(raw.frame.columns), read.score, raw.name) if read.score else None
    winner = winner or next((plain[name] for name in WINNERS if name in plain), None)
    winners = [c for c in by_cells.winners if c not in taken] if by_cells is not None else []
    if winner is None and len(winners) == 1:
        winner = winners[0]
    told = winner in winners
    if winner is not None and (told or says_who(raw.frame[winner], frame, sides)):
        ask_about_order(raw, frame, read, sides, (order, *taken, winner, *says))
        said = declared_words(raw, read, ComparisonColumns(*sides, (winner,)), winner)
        table = with_scores(base, frame[winner], said)
        reason = f"{winner!r} names the winner of {sides[0]!r} and {sides[1]!r}"
        who = rater_column(raw, read)
        others = [c for c in every if c != winner and kind_of(c) == "judge"] if who else []
        if others:
            table = _with_judges(table, _blocks_of(raw, frame, read, base, sides, others))
        found = ready(table, raw, read, reference, reason, who, order=order)
        return with_side_claims(found, claims, raw.name)
    if len(says) < 2:
        return None
    ask_about_order(raw, frame, read, sides, (order, *taken, *says))
    found = _of_columns(raw, frame, read, base, sides, says, reference, order)
    return _noted(with_side_claims(found, claims, raw.name), left)


def _are_scores(frame: pl.DataFrame, first: str, second: str) -> bool:
    """Whether two columns hold numbers that are often the same in a row, as no system is compared
    with itself.
    """
    if not (is_numeric(frame[first]) and is_numeric(frame[second])):
        return False
    same = frame.select((pl.col(first) == pl.col(second)).mean()).item()
    return same is not None and same > _SAME


def _orders(
    frame: pl.DataFrame, column: str, read: TableKeys, reference: Sequence[str],
    sides: tuple[str, str],
) -> bool:  # fmt: skip
    """Whether a column says who was shown first, by its header and its cells: it is a judge's only
    where somebody says so.
    """
    told = column in (*reference, *judges_named(read))
    return not told and speaks_of_order(column) and may_say_order(frame, column, sides)


def _noted(read: ReadJudgements, notes: tuple[Finding, ...]) -> ReadJudgements:
    return replace(read, findings=(*read.findings, *notes))


def _columns_that_say(
    raw: RawTable, frame: pl.DataFrame, read: TableKeys, taken: Sequence[str],
    sides: tuple[str, str], named: Sequence[str],
) -> list[str]:  # fmt: skip
    """The columns that say who is better; `named` are raters that somebody named."""
    able = [
        c for c in raw.frame.columns
        if c not in taken and c not in read.ignore
        and says_who(raw.frame[c], frame, sides, read.words)
    ]  # fmt: skip
    # A number beside two systems may be a turn, a length or a fact: a rater's name says more, and
    # so does what goes with a rater's numbers.
    told = [
        c for c in able
        if not all_numbers(raw.frame[c]) or signed_grades(raw.frame[c]) or names_rater(c)
        or c in named
    ]  # fmt: skip
    rest = [c for c in able if c not in told]
    beside = [c for c in told if all_numbers(raw.frame[c])]
    if not rest or not beside:
        return told
    from voirdire.tables.judged.codes import go_together  # noqa: PLC0415 - for numbers alone

    cells = raw.frame.select(pl.col(c).cast(pl.String) for c in (*rest, *beside))
    told += [c for c in rest if any(go_together(cells[c], cells[o]) for o in beside)]
    return [c for c in able if c in told]


def _in_both_orders(
    raw: RawTable, frame: pl.DataFrame, read: TableKeys, plain: dict[str, str],
    base: pl.DataFrame, sides: tuple[str, str], taken: set[str], reference: Sequence[str],
) -> ReadJudgements:  # fmt: skip
    """`g1_winner, g2_winner`: each row asked in both orders; beside one judge's answers may stand
    columns of others, people's too.
    """
    blocks = []
    for name, first in zip(BOTH, ("system_a", "system_b"), strict=True):
        block = with_scores(base, frame[plain[name]], {})
        blocks.append(block.with_columns(pl.col(first).alias("shown_first")))
    rater = rater_column(raw, read)
    apart = (*taken, *sides, *(plain[name] for name in BOTH))
    named = (*reference, *judges_named(read))
    says = [] if rater else _columns_that_say(raw, frame, read, apart, sides, named)
    if says:
        blocks = [block.with_columns(pl.lit("judge").alias("rater")) for block in blocks]
        blocks += _blocks_of(raw, frame, read, base, sides, says)
    table = pl.concat([block.select(sorted(block.columns)) for block in blocks])
    reason = f"{plain[BOTH[0]]!r} and {plain[BOTH[1]]!r} name the winner in both orders"
    return ready(table, raw, read, reference, reason, rater)


def _with_judges(table: pl.DataFrame, blocks: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Comparisons of voters, a row each, with those of judges whose columns stand next to them."""
    once = ["item", "system_a", "system_b", "rater", "run", "attribute"]
    own = pl.concat(blocks).filter(pl.col("score").is_not_null())
    return pl.concat([table, own.unique(once, maintain_order=True).select(table.columns)])


def _blocks_of(
    raw: RawTable, frame: pl.DataFrame, read: TableKeys, base: pl.DataFrame,
    sides: tuple[str, str], says: Sequence[str],
) -> list[pl.DataFrame]:  # fmt: skip
    """What each of several columns says, as comparisons of the rater who is called so."""
    return [
        with_scores(
            base, frame[c], declared_words(raw, read, ComparisonColumns(*sides, (c,)), c)
        ).with_columns(pl.lit(c).alias("rater"))
        for c in says
    ]


def _of_columns(
    raw: RawTable, frame: pl.DataFrame, read: TableKeys, base: pl.DataFrame,
    sides: tuple[str, str], says: Sequence[str], reference: Sequence[str], order: str | None,
) -> ReadJudgements:  # fmt: skip
    """A column for each rater, that says who that one prefers."""
    table = pl.concat(_blocks_of(raw, frame, read, base, sides, says))
    table = table.filter(pl.col("score").is_not_null())
    reason = f"{listed(says)} name the winner of {sides[0]!r} and {sides[1]!r}"
    return ready(table, raw, read, reference, reason, None, order=order)


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
    sides = ("system_a", "system_b")
    frame = raw.frame.with_columns(pl.lit("A").alias(sides[0]), pl.lit("B").alias(sides[1]))
    order = order_column(replace(raw, frame=frame), read, sides, (*reference, *judges_named(read)))
    orders = [c for c in named if c == order or _orders(frame, c, read, reference, sides)]
    every, named = named, [c for c in named if c not in orders]
    named = raters_among(raw, named, read, reference)
    if len(named) < 2:
        return None
    ask_about_order(raw, frame, read, sides, (order, *named))
    for column in named:
        ask_about_signs(raw, read, column, ("A", "B"))
    base = _base(raw, frame, read, plain, sides, order)
    table = pl.concat(
        with_scores(base, frame[c], _numbers_in(read)).with_columns(pl.lit(c).alias("rater"))
        for c in named
    ).filter(pl.col("score").is_not_null())
    reason = f"{listed(named)} say which of two, A or B, is better"
    made = ready(table, raw, read, reference, reason, None, order=order)
    return _noted(made, unread_note(raw, every, named))


def _numbers_in(read: TableKeys) -> dict[str, float | None]:
    return {w: None if v == "missing" else float(v) for w, v in read.words.items()}


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


def _base(
    raw: RawTable, frame: pl.DataFrame, read: TableKeys, plain: dict[str, str],
    sides: tuple[str, str], order: str | None,
) -> pl.DataFrame:  # fmt: skip
    """item, systems, rater, run, attribute, what was shown first, and the difference of lengths."""
    columns = [c for c in frame.columns if c not in sides]
    item = find("item", columns, read.item, raw.name)
    rater = rater_column(raw, read)
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
        first_in(raw, frame, order, sides).alias("shown_first"),
    )  # fmt: skip


def _fact(frame: pl.DataFrame, column: str | None) -> pl.Series | pl.Expr:
    return pl.lit(None, pl.String) if column is None else frame[column].cast(pl.String)


def _better_worse(
    raw: RawTable, read: TableKeys, plain: dict[str, str], reference: Sequence[str]
) -> ReadJudgements | None:
    """`chosen, rejected` (or `winner, loser`) that hold names of systems, a row a judgement."""
    sides = better_and_worse(raw.frame)
    if sides is None:
        return None
    frame = raw.frame.filter(pl.all_horizontal(pl.col(side).is_not_null() for side in sides))
    better, worse = (frame[side].cast(pl.String) for side in sides)
    # No column says which stood first: the systems of a row are put in the order of their names.
    pair = frame.with_columns(
        pl.min_horizontal(better, worse).alias("system_a"),
        pl.max_horizontal(better, worse).alias("system_b"),
    )
    names = ("system_a", "system_b")
    base = _base(raw, pair, read, plain, names, order_column(replace(raw, frame=pair), read, names))
    table = base.with_columns((pl.when(better < worse).then(1.0).otherwise(-1.0)).alias("score"))
    reason = f"{sides[0]!r} names the better of two systems, and {sides[1]!r} the other"
    rater = rater_column(raw, read)
    if rater is None and reference:
        rater = rater_named(raw, Source(path=raw.name), reference)
        table = table if rater is None else table.with_columns(frame[rater].alias("rater"))
    return ready(table, raw, read, reference, reason, rater)


def _chosen_rejected(
    raw: RawTable, read: TableKeys, plain: dict[str, str], reference: Sequence[str]
) -> ReadJudgements | None:
    """`chosen, rejected` with a judge's scores of both.

    The human side is always *chosen*, so that its column says nothing: the two texts are put in an
    order that says nothing either (that of their checksums), and people prefer the one or the
    other.
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
    # By their letters "I cannot" would stand before "Sure", wherever people prefer the latter.
    sums = [[crc32((text or "").encode()) for text in side] for side in texts]
    turn = pl.Series([1.0 if a < b else -1.0 for a, b in zip(*sums, strict=True)])
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
    return ready(table, raw, read, reference or ["chosen"], reason, None, shows_order=False)

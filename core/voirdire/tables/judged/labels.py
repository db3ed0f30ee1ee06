"""Labels and label sets in files: wide (a column a rater), long (a row a judgement), nested."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import QuestionError, TableError, WordsDifferError, listed
from voirdire.kinds import Cells
from voirdire.tables._judging import follows, may_judge
from voirdire.tables._names import (
    find,
    holds_labels,
    is_person,
    kind_of,
    measures,
    names_rater,
    plain_word,
)
from voirdire.tables._numbers import folded, is_numeric
from voirdire.tables._preferences import place_of
from voirdire.tables.judged.frames import LABELS
from voirdire.tables.judged.label_columns import (
    HEADS,
    MOST_LABELS,
    LabelColumn,
    alike,
    ask_about_codes,
    check_names_beside_codes,
    check_one_beside_codes,
    codes_as_names,
    groups_of,
    in_its_words,
    is_indicator,
    label_columns,
    may_be_codes,
    not_the_same,
)
from voirdire.tables.judged.raters import raters_among, unread_note
from voirdire.tables.judged.words import judgements_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.study import TableKeys
    from voirdire.tables._files import RawTable
    from voirdire.tables.judged.frames import ReadJudgements

#: Of those, the ones that do not say what is asked.
_PLAIN = frozenset(
    ("label", "labels", "class", "category", "annotation", "choice", "verdict", "tag", "tags")
)
#: Parts of a table that are no rater's labels.
PARTS = ("item", "system", "run", "cluster", "subgroup", "context", "response", "reason", "origin")
#: So often two raters of the same shares would say the same by chance, who never do.
_BY_CHANCE = 8
#: Words for one of two responses; A and B alone may be answers to a question.
_OF_TWO = re.compile(r"model|system|response|assistant|output", re.IGNORECASE)


def read_labels(raw: RawTable, read: TableKeys, reference: Sequence[str]) -> ReadJudgements | None:
    """The table as labels; None where it holds none.

    Raises
    ------
    QuestionError
        It may be read in two ways.
    TableError
        It holds labels that cannot be used.
    """
    if read.kind not in (None, "label", "label set"):
        return None
    columns = [c for c in raw.frame.columns if c not in read.ignore]
    said = _like_the_reference(raw, read, columns, reference)
    roles = parts_found([c for c in columns if c not in said], read, raw.name)
    rater = find("rater", columns, _column(read.rater, columns), raw.name)
    # A header that is a person's name, such as `expert`, stands over that person's labels, and
    # `judge` beside it over a judge's.
    rater = None if rater in (*reference, *said) or judges_there(raw, rater, columns) else rater
    # Where the reference is a column of labels, `annotator` says who filled in the row.
    rater = None if said and read.rater is None and not _holds(raw, rater, reference) else rater
    if read.system is None and judges_there(raw, roles["system"], columns):
        roles["system"] = None
    free = [c for c in columns if c not in {*roles.values(), rater}]
    raw = codes_as_names(raw, read, free)
    if any(is_indicator(raw.frame[c]) for c in free):
        from voirdire.tables.judged.indicators import (  # noqa: PLC0415 - for 0 and 1 alone
            indicators_in,
            read_as_sets,
        )

        set_of = indicators_in(raw, read, free, rater)
        if set_of is not None:
            return read_labels(set_of, read_as_sets(read), reference)
    ask_about_codes(raw, read, free, rater, reference)
    if rater is not None:
        check_names_beside_codes(raw, free, rater)
    found = label_columns(raw, read, free)
    if rater is not None and read.score is None:
        found = _not_about_raters(raw, found, free, rater)
    if rater is not None and found:
        return _long(raw, read, roles, rater, found, reference)
    groups = [g for g in groups_of(found) if len(g) > 1]
    groups = [[*g, *in_its_words(raw, free, g)] for g in groups]
    if rater is None and not groups and read.kind is not None:
        check_one_beside_codes(raw, found, free)
    if rater is not None or not groups:
        return None
    return _wide(raw, read, roles, groups, reference)


def _not_about_raters(
    raw: RawTable, found: Sequence[LabelColumn], free: Sequence[str], rater: str
) -> list[LabelColumn]:
    """Columns of labels without those in which each rater says one word throughout, where others
    hold judgements: `kind` says of *ada* human and of *gpt* model.
    """
    about = [one for one in found if follows(raw.frame, one.name, [rater])]
    names = {one.name for one in about}
    scores = (c for c in free if c not in names and c != rater and may_judge(raw, c))
    others = len(about) < len(found) or any(not follows(raw.frame, c, [rater]) for c in scores)
    return [one for one in found if one not in about] if others else list(found)


def _like_the_reference(
    raw: RawTable, read: TableKeys, columns: Sequence[str], reference: Sequence[str]
) -> list[str]:
    """The reference's columns of labels, and those that say the same words, whatever their names:
    `model` beside `coder1` may be a judge.
    """
    # Where nobody is named, headers that are people's stand for the reference; beside a column
    # that is called label they say who labelled.
    if not reference and not any(plain_word(c) in _PLAIN for c in columns):
        reference = [c for c in columns if is_person(c)]
    if not reference or not set(reference) <= set(columns):
        return []
    own = label_columns(raw, read, list(reference))
    rest = [c for c in columns if c not in reference and raw.frame[c].dtype == pl.String]
    declared = {getattr(read, part) for part in PARTS}
    same_words = [
        c.name for c in label_columns(raw, read, [c for c in rest if c not in declared])
        if any(alike(c, other) for other in own)
    ]  # fmt: skip
    return [*(c.name for c in own), *same_words] if own else []


def _holds(raw: RawTable, rater: str | None, reference: Sequence[str]) -> bool:
    """Whether a column of raters holds the names of the reference."""
    return rater is not None and set(reference) <= set(raw.frame[rater].cast(pl.String).unique())


def parts_found(columns: Sequence[str], read: TableKeys, where: str) -> dict[str, str | None]:
    """The column of each of `PARTS`; one that is declared as a part is not found as another."""
    said = {part: name for part in PARTS if (name := getattr(read, part)) is not None}
    declared = {part: find(part, columns, name, where) for part, name in said.items()}
    free = [column for column in columns if column not in declared.values()]
    return {
        part: declared[part] if part in declared else find(part, free, None, where)
        for part in PARTS
    }


def judges_there(raw: RawTable, column: str | None, columns: Sequence[str]) -> bool:
    """Whether a column called as raters or systems are holds judgements: numbers, or a person's
    words.
    """
    others = [c for c in columns if c != column]
    people = [raw.frame[c] for c in others if is_person(c) or holds_labels(c)]
    numbers = column is not None and is_numeric(raw.frame[column])
    # Beside another rater's numbers they are this one's.
    if numbers and any(names_rater(c) and is_numeric(raw.frame[c]) for c in others):
        return True
    if column is None or not people:
        return False
    own = set(folded(raw.frame[column].cast(pl.String)).drop_nulls().unique())
    said = {word for cells in people for word in folded(cells.cast(pl.String)).drop_nulls()}
    coded = is_numeric(raw.frame[column]) and any(map(is_person, columns))
    return coded or (len(own) > 1 and own <= said)


def _column(name: str | None, columns: Sequence[str]) -> str | None:
    """A declared rater that is a column; else it is the name of who rated the whole file."""
    return name if name in columns else None


# --- layouts


def _wide(
    raw: RawTable,
    read: TableKeys,
    roles: Mapping[str, str | None],
    groups: Sequence[Sequence[LabelColumn]],
    reference: Sequence[str],
) -> ReadJudgements | None:
    _check_others(raw, read, roles, groups)
    if read.kind is None:
        for group in groups:
            _check_systems(raw, group)
    every = [column.name for group in groups for column in group]
    kept = [
        c for group in groups for c in raters_among(raw, [x.name for x in group], read, reference)
    ]
    groups = [[column for column in group if column.name in kept] for group in groups]
    named = [_named(group, reference, several=len(groups) > 1) for group in groups]
    if len(groups) > 1 and any(attribute is None for attribute, _ in named):
        shown = "; ".join(listed([column.name for column in group]) for group in groups)
        raise TableError(
            f"{raw.name}: several sets of columns hold labels of their own ({shown}), and no "
            f"common part of their names says what each is about; leave all but one out by --ignore"
        )
    base, blocks, sets = facts_of(raw, roles), [], {}
    for group, (attribute, raters) in zip(groups, named, strict=True):
        about = read.about or attribute or "label"
        sets[about] = any(column.sets for column in group)
        blocks += [
            base.with_columns(
                pl.lit(raters[column.name]).alias("rater"), pl.lit(about).alias("attribute"),
                raw.frame[column.name].cast(pl.String).alias("cell"),
            )
            for column in group
        ]  # fmt: skip
    names = [column.name for group in groups for column in group]
    cells = pl.concat(blocks)
    # An empty cell of sets may say that no label applies.
    if read.empty == "missing" or not any(sets.values()):
        cells = _unasked(cells)
    read_so = judgements_of(
        cells, sets, raw.name, read, reference, None,
        f"{listed(names)} hold labels: words that they share",
    )  # fmt: skip
    return replace(read_so, findings=(*read_so.findings, *unread_note(raw, every, kept)))


def _check_others(
    raw: RawTable,
    read: TableKeys,
    roles: Mapping[str, str | None],
    groups: Sequence[Sequence[LabelColumn]],
) -> None:
    """Raise where a column is a rater's by its name, or by its codes, and holds few values, none of
    which is a word of the others.
    """
    settled = {column.name for group in groups for column in group} | {*read.ignore}
    for name in raw.frame.columns:
        if name in settled or name in roles.values() or measures(name):
            continue
        named = kind_of(name)
        if named is None and not _codes_of(raw, name, groups[0]):
            continue
        if named == "human" and find("rater", [name], None, raw.name):
            continue  # `annotator` beside columns of raters says who filled in the row
        cells = Cells.of(name, [raw.frame[name]])
        if 1 < len(cells.texts) <= MOST_LABELS and cells.total >= 2 * len(cells.texts):
            words = [word for word, _ in groups[0][0].words.most_common()]
            raise not_the_same(raw.name, name, cells.texts, groups[0][0].name, words)


def _check_systems(raw: RawTable, group: Sequence[LabelColumn]) -> None:
    """Raise where two columns share their words and never say the same of a row: two systems that
    are compared. Raters agree now and then, were it by chance.
    """
    names = [column.name for column in group if not is_person(column.name)]
    for one, other in combinations(names, 2):
        both = raw.frame.select(
            pl.col(one).cast(pl.String).alias("one"), pl.col(other).cast(pl.String).alias("other")
        ).drop_nulls()
        shares = [both[name].value_counts().rename({name: "said"}) for name in both.columns]
        beside = shares[0].join(shares[1], on="said", suffix="_other")
        chance = int((beside["count"] * beside["count_other"]).sum()) / max(both.height, 1)
        same = int((both["one"] == both["other"]).sum())
        if beside.height > 2 and chance >= _BY_CHANCE and same <= 0.01 * both.height:
            raise WordsDifferError(
                f"{raw.name}: {one!r} and {other!r} hold the same names and never the same one in "
                f"a row: two systems that are compared, and no column that is understood says "
                f"which is better. Write it in a column winner (A, B, tie), or say --kind label "
                f"where these are labels of two raters"
            )


def _codes_of(raw: RawTable, name: str, group: Sequence[LabelColumn]) -> bool:
    """Whether a column of codes says what a rater says in words: it is another rater's."""
    words = [c.name for c in group if not (c.sets or is_numeric(raw.frame[c.name]))]
    if not words or not may_be_codes(raw.frame[name]):
        return False
    from voirdire.tables.judged.codes import code_the_labels  # noqa: PLC0415 - for codes alone

    return any(code_the_labels(raw.frame[name], raw.frame[other]) for other in words)


def _named(
    group: Sequence[LabelColumn], reference: Sequence[str], *, several: bool
) -> tuple[str | None, dict[str, str]]:
    """The attribute that a group's names share at an end, and the rater of each column."""
    names = [column.name for column in group]
    if set(reference) & set(names):  # a whole header is a rater's name
        return None, {name: name for name in names}
    for sign in ("_", " ", "-", "."):
        ends = {name.rpartition(sign)[2] for name in names}
        if len(ends) == 1 and all(sign in name for name in names):
            attribute = ends.pop()
            return attribute, {name: name.rpartition(sign)[0] for name in names}
        starts = {name.partition(sign)[0] for name in names}
        told = len(starts) == 1 and (several or plain_word(next(iter(starts))) in HEADS)
        if told and all(sign in name for name in names):
            attribute = starts.pop()
            return attribute, {name: name.partition(sign)[2] for name in names}
    return None, {name: name for name in names}


def _long(
    raw: RawTable,
    read: TableKeys,
    roles: Mapping[str, str | None],
    rater: str,
    found: Sequence[LabelColumn],
    reference: Sequence[str],
) -> ReadJudgements | None:
    scored = find("score", raw.frame.columns, read.score, raw.name)
    attribute = find("attribute", raw.frame.columns, read.attribute, raw.name)
    found = [column for column in found if column.name != attribute]
    if scored is not None and scored not in [column.name for column in found]:
        return None  # numbers are rated here, and words beside them say something about a row
    cells = _complementary(raw, found) if scored is None else None
    column = (
        found[0]
        if cells is not None
        else _the_one(raw, found, scored, declared=read.kind is not None)
    )
    if column is None:
        return None
    if read.kind is None:
        _check_places(raw, column)
    cells = raw.frame[column.name].cast(pl.String) if cells is None else cells
    if roles["item"] is None:
        taken = {rater, column.name, attribute, *roles.values()}
        free = [c for c in raw.frame.columns if c not in (*taken, *read.ignore)]
        roles = {**roles, "item": _item_beside(raw, rater, column.name, free)}
    if roles["item"] is None:
        raise TableError(
            f"{raw.name}: {column.name!r} holds labels by {rater!r}, and no column of item ids was "
            f"found (columns: {listed(raw.frame.columns)}); name it with --item"
        )
    base = facts_of(raw, roles).with_columns(
        raw.frame[rater].cast(pl.String).alias("rater"),
        cells.alias("cell"),
        (pl.lit(read.about or _asked(column.name)) if attribute is None else
         raw.frame[attribute].cast(pl.String)).alias("attribute"),
    )  # fmt: skip
    several = read.kind == "label set" or column.sets
    sets = dict.fromkeys(base["attribute"].drop_nulls().unique(), several)
    if not sets:
        return None
    base = _gathered_rows(base) if read.kind == "label set" else base
    _once_each(base, raw.name)
    return judgements_of(
        base, sets, raw.name, read, reference, rater,
        f"{column.name!r} holds labels, one row a judgement",
    )  # fmt: skip


def _check_places(raw: RawTable, column: LabelColumn) -> None:
    """Raise where the words say which of two responses is better, and nothing names the two."""
    places = {word: place_of(word) for word in column.words}
    sides = {place for place in places.values() if place}
    named = any(_OF_TWO.search(word) for word in places)
    if None in places.values() or len(sides) < 2 or not named:
        return
    keys = [name for name in raw.frame.columns if raw.frame[name].dtype == pl.String]
    parted = [name for name in keys if raw.frame[name].str.contains("__", literal=True).all()]
    how = (
        f"say by --parts which parts of {parted[0]!r} are item, system_a and system_b"
        if parted else "hand in columns system_a and system_b"
    )  # fmt: skip
    raise TableError(
        f"{raw.name}: {column.name!r} says {listed(list(places), 4)}: which of two is better, and "
        f"no column names the two; {how}, or say --kind label where these are labels"
    )


def _asked(column: str) -> str:
    """What is asked, by the header over the answers: *intent*; a plain *label* says nothing."""
    return "label" if plain_word(column) in _PLAIN else column


def _complementary(raw: RawTable, found: Sequence[LabelColumn]) -> pl.Series | None:
    """Columns that speak of labels and of which no row fills two, as one.

    So it is where each rater's rows keep the answer under a name of their own. None where there is
    no such pair, or where they share no words.
    """
    named = [column for column in found if plain_word(column.name) in HEADS]
    if len(named) < 2 or not all(alike(named[0], other) for other in named[1:]):
        return None
    cells = raw.frame.select(pl.col(column.name).cast(pl.String) for column in named)
    filled = cells.select(pl.all().fill_null("").str.strip_chars() != "")
    if bool((filled.select(pl.sum_horizontal(pl.all())).to_series() > 1).any()):
        return None
    return cells.select(pl.coalesce(cells.columns)).to_series()


def _the_one(
    raw: RawTable, found: Sequence[LabelColumn], scored: str | None, *, declared: bool
) -> LabelColumn | None:
    """The column of labels: the one that is named so, or the only one that there is."""
    named = [c for c in found if c.name == scored] or [
        c for c in found if plain_word(c.name) in HEADS
    ]
    if len(named) == 1:
        return named[0]
    several = named or list(found)
    in_words = [c for c in several if not is_numeric(raw.frame[c.name])]
    several = in_words if declared and len(in_words) == 1 else several
    if len(several) == 1:
        return several[0]
    if not (named or declared):
        return None
    names = [column.name for column in several]
    raise QuestionError(
        f"{raw.name}: {listed(names)} hold words; which are the labels?",
        "score", tuple(names), f"score = {json.dumps(names[0])}", likely=False,
    )  # fmt: skip


def facts_of(raw: RawTable, roles: Mapping[str, str | None]) -> pl.DataFrame:
    """Item, system, run and facts of each row; its number where no column names items."""
    frame = raw.frame
    item = roles["item"]
    parts: dict[str, pl.Series | pl.Expr] = {
        "item": raw.numbers().cast(pl.String) if item is None else frame[item].cast(pl.String),
    }
    for name in ("system", "cluster", "subgroup"):
        column = roles[name]
        parts[name] = pl.lit(None, pl.String) if column is None else frame[column].cast(pl.String)
    origin = roles["origin"]
    parts["origin"] = (
        pl.lit(None, LABELS["origin"]) if origin is None
        else frame[origin].cast(pl.String).cast(LABELS["origin"], strict=False)
    )  # fmt: skip
    run = roles["run"]
    parts["run"] = (
        pl.lit(1, pl.Int32) if run is None else frame[run].cast(pl.Int32, strict=False).fill_null(1)
    )
    with_item = pl.DataFrame({"item": parts.pop("item")})
    return with_item.with_columns(**parts).select(
        "item", "system", "run", "cluster", "subgroup", "origin"
    )


def _item_beside(raw: RawTable, rater: str, label: str, free: Sequence[str]) -> str | None:
    """The only column that tells rows apart beside a rater's, or beside that and the label's of a
    set, whatever it is called.
    """
    able = [
        c for c in free
        if 1 < raw.frame[c].n_unique() < raw.frame.height and not raw.frame[c].null_count()
    ]  # fmt: skip
    for beside in ([rater], [rater, label]):
        told = [c for c in able if not raw.frame.select(c, *beside).is_duplicated().any()]
        if told:
            return told[0] if len(told) == 1 else None
    return None


def _once_each(table: pl.DataFrame, where: str) -> None:
    key = ["item", "system", "rater", "run", "attribute"]
    twice = table.filter(table.select(key).is_duplicated())
    if twice.height:
        row = twice.row(0, named=True)
        raise WordsDifferError(
            f"{where}: rater {row['rater']!r} labels item {row['item']!r} more than once; name a "
            f"column of runs by --run, or of what differs by --attribute, or say --kind "
            f"'label set' where each row is one label of a set"
        )


def _gathered_rows(table: pl.DataFrame) -> pl.DataFrame:
    """One row a judgement, where each row names one label of its set."""
    key = ["item", "system", "rater", "run", "attribute"]
    if not table.select(key).is_duplicated().any():
        return table
    # Of a unit that others label, no row of a rater may say that no label applies: it is asked.
    units = table.select("item", "system", "run", "attribute").unique(maintain_order=True)
    raters = table.select("rater").drop_nulls().unique(maintain_order=True)
    facts = table.drop("rater", "cell").unique(units.columns, keep="first", maintain_order=True)
    whole = units.join(raters, how="cross").join(facts, on=units.columns, nulls_equal=True)
    silent = whole.join(table, on=[*units.columns, "rater"], how="anti", nulls_equal=True)
    blank = silent.with_columns(pl.lit(None, pl.String).alias("cell")).select(table.columns)
    table = pl.concat([table, blank])
    said = pl.col("cell").drop_nulls()
    gathered = table.group_by(key, maintain_order=True).agg(
        said, *(pl.col(c).first() for c in table.columns if c not in (*key, "cell"))
    )
    cells = [json.dumps(labels) if labels else None for labels in gathered["cell"].to_list()]
    return gathered.with_columns(pl.Series("cell", cells, pl.String)).select(table.columns)


def _unasked(cells: pl.DataFrame) -> pl.DataFrame:
    """Without blanks: of a wide table an empty cell is a judgement that nobody asked for or made.

    A judge's blank beside a label of somebody else was asked for, and stays as missing.
    """
    filled = pl.col("cell").is_not_null() & (pl.col("cell").str.strip_chars() != "")
    return cells.filter(filled.any().over("item", "system", "attribute"))

"""Labels and label sets in files: wide (a column a rater), long (a row a judgement), nested."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import QuestionError, TableError, listed
from voirdire.kinds import LABEL, Cells
from voirdire.parsing import spelled
from voirdire.tables._names import find, is_person, kind_of, measures, plain_word
from voirdire.tables._numbers import fold, folded, inside, is_numeric, order_of, to_scores
from voirdire.tables._tables import STATUS, finding, plural
from voirdire.tables.judged.frames import LABELS, LabelQuestion, ReadJudgements
from voirdire.tables.judged.people import people_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.schema import Finding
    from voirdire.study import TableKeys
    from voirdire.tables._files import RawTable

#: Words of headers over labels, without case and signs.
HEADS = frozenset(
    ("label", "labels", "class", "category", "annotation", "intent", "choice", "verdict", "tag",
     "tags", "topic", "relation", "emotion", "sentiment", "stance")
)  # fmt: skip
#: Heads over numbers that are codes of classes and never grades.
CODED = frozenset(("class", "category", "intent", "topic"))
#: Parts of a table that are no rater's labels.
PARTS = ("item", "system", "run", "cluster", "subgroup", "context", "response", "reason", "origin")
#: What parts labels of a set in a cell, the surest first.
SEPARATORS = (";", "|", ",")
#: The share of cells that must hold several labels, in one column at least, before it is one of
#: sets; and of a column's cells that must be words of the others.
SEVERAL, SHARED = 0.02, 0.5
MOST_LABELS = 60


@dataclass(frozen=True, slots=True)
class Column:
    """A column that holds labels: its words by spelling, and the label set of each cell."""

    name: str
    words: Counter[str]
    sets: bool


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
    roles = {part: find(part, columns, getattr(read, part), raw.name) for part in PARTS}
    rater = find("rater", columns, _column(read.rater, columns), raw.name)
    # A header that is a person's name, such as `expert`, stands over that person's labels, and
    # `judge` beside it over a judge's.
    rater = None if rater in reference or _judges(raw, rater, columns) else rater
    free = [c for c in columns if c not in {*roles.values(), rater}]
    found = [column for name in free if (column := _holds_labels(raw, name, read)) is not None]
    if rater is not None and found:
        return _long(raw, read, roles, rater, found, reference)
    groups = [g for g in _groups(found) if len(g) > 1]
    if rater is not None or not groups:
        return None
    return _wide(raw, read, roles, groups, reference)


def _judges(raw: RawTable, rater: str | None, columns: Sequence[str]) -> bool:
    """Whether a column called as raters are holds judgements: numbers, or a person's words."""
    people = [raw.frame[c] for c in columns if c != rater and is_person(c)]
    if rater is None or not people:
        return False
    own = set(folded(raw.frame[rater].cast(pl.String)).drop_nulls().unique())
    said = {word for cells in people for word in folded(cells.cast(pl.String)).drop_nulls()}
    return is_numeric(raw.frame[rater]) or own <= said


def _column(name: str | None, columns: Sequence[str]) -> str | None:
    """A declared rater that is a column; else it is the name of who rated the whole file."""
    return name if name in columns else None


# --- what a column holds


def _holds_labels(raw: RawTable, name: str, read: TableKeys) -> Column | None:
    cells = Cells.of(name, [raw.frame[name]])
    if not cells.texts:
        return None
    declared = read.kind is not None
    several = _several(cells)
    if read.kind != "label" and several:
        parts: Counter[str] = Counter()
        for text, count in zip(cells.texts, cells.counts, strict=True):
            for part in members(text):
                parts[part] += count
        return Column(name, parts, sets=True)
    words = Counter(dict(zip(cells.texts, cells.counts, strict=True)))
    # Yes and no alone are numbers; beside *unsure* they are words like it.
    if is_numeric(raw.frame[name]) and not to_scores(raw.frame[name]).bad.any():
        coded = declared or plain_word(name) in CODED
        return Column(name, words, sets=False) if coded and len(words) <= MOST_LABELS else None
    labels = LABEL.recognise(cells)
    if labels is None:
        return None
    if not declared and _are_grades(cells):
        return None
    return Column(name, words, sets=read.kind == "label set")


def _are_grades(cells: Cells) -> bool:
    """Whether the words are numbers in disguise: yes and no, pass and fail, a usual order."""
    texts = pl.Series(cells.name, list(cells.texts))
    if not to_scores(texts).bad.any():
        return True
    words = {cells.name: pl.Series([fold(text) for text in cells.texts])}
    order = order_of(words)
    return bool(order and inside(words[cells.name], order))


def _several(cells: Cells) -> bool:
    """Whether cells hold several labels: parts that recur, and fewer of them than whole cells."""
    parts: Counter[str] = Counter()
    many = 0
    for text, count in zip(cells.texts, cells.counts, strict=True):
        own = members(text)
        many += count if len(own) > 1 else 0
        for part in own:
            parts[part] += count
    lists = sum(
        n for t, n in zip(cells.texts, cells.counts, strict=True) if _as_list(t) is not None
    )
    if lists > 0.9 * cells.total:
        return 0 < len(parts) <= MOST_LABELS
    recurring = all(count > 1 for count in parts.values()) and 1 < len(parts) <= MOST_LABELS
    short = all(len(part) <= 40 for part in parts)
    alone = sum(1 for text in cells.texts if len(members(text)) == 1)
    return many > SEVERAL * cells.total and recurring and short and alone > 0


def members(text: str) -> list[str]:
    """The labels that a cell names: those of a JSON list, or parted by a separator.

    >>> members("calm; tense"), members('["calm"]'), members("[]")
    (['calm', 'tense'], ['calm'], [])
    """
    listed_ = _as_list(text)
    if listed_ is not None:
        return listed_
    for sign in SEPARATORS:
        if sign in text:
            return [part.strip() for part in text.split(sign) if part.strip()]
    return [text.strip()] if text.strip() else []


def _as_list(text: str) -> list[str] | None:
    if not text.startswith("["):
        return None
    try:
        given = json.loads(text.replace("'", '"') if '"' not in text else text)
    except ValueError:
        return None
    return [str(part).strip() for part in given] if isinstance(given, list) else None


def _groups(found: Sequence[Column]) -> list[list[Column]]:
    """Columns that share their words, in the order of the table."""
    groups: list[list[Column]] = []
    for column in found:
        for group in groups:
            if any(_alike(column, other) for other in group):
                group.append(column)
                break
        else:
            groups.append([column])
    return groups


def _alike(one: Column, other: Column) -> bool:
    """Whether half of the cells of either are words of the other, by spelling."""
    if one.sets != other.sets and not (one.sets or other.sets):
        return False
    known = {spelled(word) for word in other.words}, {spelled(word) for word in one.words}
    for column, words in zip((one, other), known, strict=True):
        inside_ = sum(n for word, n in column.words.items() if spelled(word) in words)
        if inside_ >= SHARED * column.words.total():
            return True
    return False


# --- layouts


def _wide(
    raw: RawTable,
    read: TableKeys,
    roles: Mapping[str, str | None],
    groups: Sequence[Sequence[Column]],
    reference: Sequence[str],
) -> ReadJudgements | None:
    _check_others(raw, roles, groups)
    named = [_named(group, several=len(groups) > 1) for group in groups]
    if len(groups) > 1 and any(attribute is None for attribute, _ in named):
        shown = "; ".join(listed([column.name for column in group]) for group in groups)
        raise TableError(
            f"{raw.name}: several sets of columns hold labels of their own ({shown}), and no "
            f"common part of their names says what each is about; leave all but one out by --ignore"
        )
    blocks, questions, notes = [], [], []
    for group, (attribute, raters) in zip(groups, named, strict=True):
        about = read.about or attribute or "label"
        question = question_of(about, group, raw.name)
        questions.append(question)
        notes += folded_notes(question, raw.name)
        base = _facts(raw, roles)
        for column in group:
            block = base.with_columns(
                pl.lit(raters[column.name]).alias("rater"), pl.lit(about).alias("attribute"),
                raw.frame[column.name].cast(pl.String).alias("cell"),
            )  # fmt: skip
            blocks.append(_with_labels(block, question, read, raw.name))
    table = _unasked(pl.concat(blocks))
    people = people_of(table["rater"].unique(maintain_order=True).to_list(), reference, raw.name)
    names = [column.name for group in groups for column in group]
    return ReadJudgements(
        people, _finished(table, questions), tuple(questions), findings=tuple(notes),
        reason=f"{listed(names)} hold labels: words that they share",
    )  # fmt: skip


def _check_others(
    raw: RawTable, roles: Mapping[str, str | None], groups: Sequence[Sequence[Column]]
) -> None:
    """Raise where a rater's column holds few values, none of which is a word of the others."""
    grouped = {column.name for group in groups for column in group}
    for name in raw.frame.columns:
        if name in grouped or name in roles.values() or kind_of(name) is None or measures(name):
            continue
        cells = Cells.of(name, [raw.frame[name]])
        if 1 < len(cells.texts) <= MOST_LABELS and cells.total >= 2 * len(cells.texts):
            words = [word for word, _ in groups[0][0].words.most_common()]
            raise TableError(
                f"{raw.name}: {name!r} says {listed(list(cells.texts), 6)}, and "
                f"{groups[0][0].name!r} says {listed(words, 6)}: which of them mean the same is "
                f"not known. Write the same words in both, or leave {name!r} out by --ignore"
            )


def _named(group: Sequence[Column], *, several: bool) -> tuple[str | None, dict[str, str]]:
    """The attribute that a group's names share at an end, and the rater of each column."""
    names = [column.name for column in group]
    for sign in ("_", " ", "-", "."):
        ends = {name.rpartition(sign)[2] for name in names}
        if len(ends) == 1 and all(sign in name for name in names):
            attribute = ends.pop()
            return attribute, {name: name.rpartition(sign)[0] for name in names}
        starts = {name.partition(sign)[0] for name in names}
        if several and len(starts) == 1 and all(sign in name for name in names):
            attribute = starts.pop()
            return attribute, {name: name.partition(sign)[2] for name in names}
    return None, {name: name for name in names}


def _long(
    raw: RawTable,
    read: TableKeys,
    roles: Mapping[str, str | None],
    rater: str,
    found: Sequence[Column],
    reference: Sequence[str],
) -> ReadJudgements | None:
    scored = find("score", raw.frame.columns, read.score, raw.name)
    attribute = find("attribute", raw.frame.columns, read.attribute, raw.name)
    found = [column for column in found if column.name != attribute]
    if scored is not None and scored not in [column.name for column in found]:
        return None  # numbers are rated here, and words beside them say something about a row
    column = _the_one(raw, found, scored)
    if column is None:
        return None
    if roles["item"] is None:
        raise TableError(
            f"{raw.name}: {column.name!r} holds labels by {rater!r}, and no column of item ids was "
            f"found (columns: {listed(raw.frame.columns)}); name it with --item"
        )
    base = _facts(raw, roles).with_columns(
        raw.frame[rater].cast(pl.String).alias("rater"),
        raw.frame[column.name].cast(pl.String).alias("cell"),
        (pl.lit(read.about or "label") if attribute is None else
         raw.frame[attribute].cast(pl.String)).alias("attribute"),
    )  # fmt: skip
    blocks, questions, notes = [], [], []
    for about in base["attribute"].drop_nulls().unique(maintain_order=True):
        block = base.filter(pl.col("attribute") == about)
        cells = Cells.of(column.name, [block["cell"]])
        words: Counter[str] = Counter()
        for text, count in zip(cells.texts, cells.counts, strict=True):
            for part in members(text) if column.sets else [text]:
                words[part] += count
        question = question_of(about, [Column(column.name, words, column.sets)], raw.name)
        questions.append(question)
        notes += folded_notes(question, raw.name)
        blocks.append(_with_labels(block, question, read, raw.name))
    if not blocks:
        return None
    table = pl.concat(blocks)
    _once_each(table, raw.name)
    raters = table["rater"].drop_nulls().unique(maintain_order=True).to_list()
    people = people_of(raters, reference, raw.name, rater)
    return ReadJudgements(
        people, _finished(table, questions), tuple(questions), findings=tuple(notes),
        reason=f"{column.name!r} holds labels, one row a judgement",
    )  # fmt: skip


def _the_one(raw: RawTable, found: Sequence[Column], scored: str | None) -> Column | None:
    """The column of labels: the one that is named so, or the only one that there is."""
    named = [c for c in found if c.name == scored] or [
        c for c in found if plain_word(c.name) in HEADS
    ]
    if len(named) == 1:
        return named[0]
    several = named or list(found)
    if len(several) == 1:
        return several[0]
    if not named:
        return None
    names = [column.name for column in several]
    raise QuestionError(
        f"{raw.name}: {listed(names)} hold words; which are the labels?",
        "score", tuple(names), f"score = {json.dumps(names[0])}", likely=False,
    )  # fmt: skip


def _facts(raw: RawTable, roles: Mapping[str, str | None]) -> pl.DataFrame:
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


def _once_each(table: pl.DataFrame, where: str) -> None:
    key = ["item", "system", "rater", "run", "attribute"]
    twice = table.filter(table.select(key).is_duplicated())
    if twice.height:
        row = twice.row(0, named=True)
        raise TableError(
            f"{where}: rater {row['rater']!r} labels item {row['item']!r} more than once; name a "
            f"column of runs by --run, or of what differs by --attribute"
        )


# --- words


def question_of(attribute: str, columns: Sequence[Column], where: str) -> LabelQuestion:
    """The list of labels of columns: one spelling each, the most frequent.

    Raises
    ------
    TableError
        One side gives names and the other codes, so that no word of one is one of the other.
    """
    del where
    counts: Counter[str] = Counter()
    for column in columns:
        counts.update(column.words)
    by_form: dict[str, str] = {}
    for word, _ in counts.most_common():
        by_form.setdefault(_form(word), word)
    kept = {word: by_form[_form(word)] for word in counts if by_form[_form(word)] != word}
    labels = tuple(sorted(by_form.values()))
    return LabelQuestion(attribute, labels, any(c.sets for c in columns), folded=kept)


def _form(word: str) -> str:
    """A label without case, signs and a plural's s; a sign or a number is itself."""
    form = spelled(word) or word.strip()
    return form[:-1] if len(form) > 3 and form.endswith("s") and not form.endswith("ss") else form


def folded_notes(question: LabelQuestion, where: str) -> list[Finding]:
    """Words that differ only in case, signs or a plural, and are one label."""
    if not question.folded:
        return []
    pairs = [f"{word!r} as {label!r}" for word, label in question.folded.items()]
    return [
        finding(
            "labels_folded", "note", where, pairs,
            f"{plural(len(pairs), 'spelling')} of {question.attribute} "
            f"{'was' if len(pairs) == 1 else 'were'} read as another label: {listed(pairs, 5)}.",
            "If these are labels of their own, call them by words that differ.",
        )
    ]  # fmt: skip


def _with_labels(
    block: pl.DataFrame, question: LabelQuestion, read: TableKeys, where: str
) -> pl.DataFrame:
    """`labels` and `status` of each cell, each distinct cell once."""
    forms = {_form(label): label for label in question.labels}
    distinct = block["cell"].unique()
    lists: list[list[str] | None] = []
    for text in distinct:
        clean = "" if text is None else str(text).strip()
        if not clean:
            lists.append(None)
        elif question.sets:
            named = [forms[_form(part)] for part in members(clean) if _form(part) in forms]
            lists.append(list(dict.fromkeys(named)))
        else:
            lists.append([forms[_form(clean)]] if _form(clean) in forms else None)
    if question.sets:
        lists = _empty_sets(block, distinct, lists, read, where)
    looked = pl.DataFrame(
        {"cell": distinct, "labels": lists}, schema={"cell": pl.String, "labels": LABELS["labels"]}
    )
    joined = block.join(looked, on="cell", how="left", nulls_equal=True, maintain_order="left")
    blank = pl.col("cell").is_null() | (pl.col("cell").str.strip_chars() == "")
    return joined.with_columns(
        pl.when(pl.col("labels").is_not_null()).then(pl.lit("ok"))
        .when(blank).then(pl.lit("blank")).otherwise(pl.lit("out_of_scale"))
        .cast(STATUS).alias("status"),
        pl.lit(None, pl.Float64).alias("probability"),
    )  # fmt: skip


def _empty_sets(
    block: pl.DataFrame,
    distinct: pl.Series,
    lists: list[list[str] | None],
    read: TableKeys,
    where: str,
) -> list[list[str] | None]:
    """What an empty cell of a column of sets says: no label, or nothing.

    Raises
    ------
    QuestionError
        There are such cells beside others, and nobody said.
    """
    empty = int((block["cell"].is_null() | (block["cell"].str.strip_chars() == "")).sum())
    if not empty or read.empty == "missing":
        return lists
    if read.empty == "none":
        blanks = [text is None or not str(text).strip() for text in distinct]
        return [[] if blank else given for blank, given in zip(blanks, lists, strict=True)]
    raise QuestionError(
        f"{where}: {plural(empty, 'cell')} of label sets {'is' if empty == 1 else 'are'} empty; "
        f"does that say that no label applies, or is it missing?",
        "empty", ("none", "missing"), 'empty = "none"', likely=False,
    )  # fmt: skip


def _unasked(table: pl.DataFrame) -> pl.DataFrame:
    """Without blanks: of a wide table an empty cell is a judgement that nobody asked for or made.

    A judge's blank beside a label of somebody else was asked for, and stays as missing.
    """
    some = pl.col("labels").is_not_null().any().over("item", "system", "attribute")
    return table.filter(some)


def _finished(table: pl.DataFrame, questions: Sequence[LabelQuestion]) -> pl.DataFrame:
    """In the columns of `LABELS`, attributes in the order of the questions."""
    del questions
    return table.select(pl.col(name).cast(kind) for name, kind in LABELS.items())

"""Readings that would change numbers: asked about, answered by a key, or assumed with a finding."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import QuestionError, TableError, check_columns, listed
from voirdire.tables._files._raw import Unseen
from voirdire.tables._ids import canonical_ids
from voirdire.tables._keys import ABOUT_ANSWERS, WHO, identifies, is_counter, is_kept
from voirdire.tables._names import SYNONYMS, find, kind_of, measures, plain_word
from voirdire.tables._numbers import are_texts, fold, folded, inside, is_numeric, order_of
from voirdire.tables._rated import tells_apart
from voirdire.tables._tables import finding, plural
from voirdire.tables._turns import with_turns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Finding
    from voirdire.study import Source
    from voirdire.tables._files import RawTable

#: Headers that count the versions of one rating, which a later one may replace.
_VERSIONS = (
    "revision", "rev", "version", "attempt", "try", "edit", "draft", "round", "pass", "update",
    "submission", "take",
)  # fmt: skip
#: Headers that mostly name an attribute, and sometimes something else (a topic, a rater's name).
_MAYBE_ATTRIBUTES = (
    "name", "key", "category", "rubric", "measure", "scorename", "evaluatorname", "feedbackkey",
)  # fmt: skip


#: Files of sheets.
_WORKBOOKS = (".xlsx", ".xlsm", ".xls", ".ods")
#: How headers of ids end, the surer ones first.
_ID_ENDS = ("id", ("nr", "key", "number"))


def without_ignored(raw: RawTable, source: Source) -> RawTable:
    """The table without the columns that the source ignores."""
    check_columns(raw.name, source.ignore, raw.frame.columns)
    return replace(raw, frame=raw.frame.drop(source.ignore)) if source.ignore else raw


def one_of_its_sheets(raw: RawTable, source: Source) -> RawTable:
    """The table, where no other sheet of its workbook holds the same columns, or one was named.

    Raises
    ------
    QuestionError
        Others do, and nobody said which is meant.
    """
    first, *others = raw.sheets or ("",)
    if not others or source.sheet is not None or raw.together:
        return raw
    if not source.assume:
        # All sheets lose nothing: of a workbook they are mostly of one rater or system each.
        every = raw.name.lower().endswith(_WORKBOOKS)
        choices = ("*", first, *others) if every else (first, *others, "*")
        raise QuestionError(
            f"{raw.name}: sheets {listed([first, *others])} hold the same columns; which of them "
            f"is read? With '*' it is all, and a column 'sheet' says from which of them a row is.",
            "sheet", choices, f"sheet = {json.dumps(choices[0])}", likely=not every,
        )  # fmt: skip
    note = assumed(raw.name, others, f"Sheet {first!r} was read; {listed(others)} were not.")
    return raw.noted(note)


def as_it_is_seen(raw: RawTable, source: Source) -> RawTable:
    """The table with the hidden rows and columns of its sheet, or without them; where a column
    numbers turns, each row is about a turn.

    Raises
    ------
    QuestionError
        Some are hidden, and nobody said whether they count; or a column holds nothing but formulas
        whose values are not in the file.
    """
    unseen = raw.unseen
    shown = [c for c in raw.frame.columns if c not in source.ignore]
    hidden = [c for c in unseen.columns if c in shown and _may_count(raw.frame[c])]
    if unseen.rows or hidden:
        raw = _settled(raw, source, hidden)
    for column, rows in unseen.formulas.items():
        if column not in raw.frame.columns or column in source.ignore:
            continue
        if raw.frame[column].null_count() == raw.frame.height:
            raise QuestionError(
                f"{raw.name}: column {column!r} holds formulas whose values are not in the file "
                f"(row {rows[0]} and {len(rows) - 1} others); open and save it in a spreadsheet "
                f"program, or leave the column out.",
                "ignore", (column,), f"ignore = [{json.dumps(column)}]", likely=False,
            )  # fmt: skip
        note = finding(
            "formulas_without_values", "serious", raw.name, [f"row {row}" for row in rows],
            f"{plural(len(rows), 'cell')} of column {column!r} with a formula whose value is not "
            f"in the file.",
            "They read as blank; open and save the file in a spreadsheet program.",
        )  # fmt: skip
        raw = raw.noted(note)
    # What was settled is not asked again of the table that is read a second time.
    raw = replace(raw, unseen=Unseen()) if raw.unseen != Unseen() else raw
    return with_turns(raw, source)


def _may_count(cells: pl.Series) -> bool:
    """Whether leaving a column out may change a number: it holds more than long texts."""
    return cells.null_count() < len(cells) and not are_texts(cells)


def _settled(raw: RawTable, source: Source, hidden: Sequence[str]) -> RawTable:
    """The table with what its sheet hides, or without, as the source says."""
    rows, columns = list(raw.unseen.rows), list(hidden)
    parts = [plural(len(rows), "row") + f" ({listed(condensed_numbers(rows))})"] if rows else []
    parts += [f"{plural(len(columns), 'column')} ({listed(columns)})"] if columns else []
    by = " by a filter" if raw.unseen.filtered and rows else ""
    many = len(rows) + len(columns) > 1
    what = f"{' and '.join(parts)} {'are' if many else 'is'} hidden{by}"
    if source.hidden is None and not source.assume:
        raise QuestionError(
            f"{raw.name}: {what}; are they left out?",
            "hidden", ("leave-out", "read"), 'hidden = "leave-out"',
        )  # fmt: skip
    out = source.hidden != "read"
    # Rows that were left out are counted in the account of the file, by a finding of their own.
    told = {
        "hidden_rows" if out else "hidden_cells": [f"row {row}" for row in rows],
        "hidden_cells": [f"column {column}" for column in columns],
    }
    if not out:
        told["hidden_cells"] = [f"row {row}" for row in rows] + told["hidden_cells"]
    notes = [
        finding(
            kind, "serious" if source.hidden is None else "note", raw.name, places,
            f"{what[0].upper()}{what[1:]} in the workbook.",
            "They were left out." if out else "They were read.",
        )
        for kind, places in told.items()
        if places
    ]  # fmt: skip
    raw = raw.noted(*notes)
    if not out:
        return raw
    shown = ~raw.numbers().is_in(rows)
    lines = None if raw.lines is None else raw.lines.filter(shown)
    return replace(raw, frame=raw.frame.filter(shown).drop(columns), lines=lines)


def condensed_numbers(numbers: Sequence[int]) -> list[str]:
    """Rows that follow each other as one: ``3-7``.

    >>> condensed_numbers([2, 3, 4, 9])
    ['2-4', '9']
    """
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return [f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs]


#: Rows of a survey that are no answers, by column.
_NOT_MEANT = {
    "finished": ("false", "0"),
    "status": ("survey preview", "survey test", "spam", "1", "2", "8", "9"),
    "distributionchannel": ("preview", "test"),
}
#: A question of a grid in Google Forms: ``How warm? [Answer 3]``.
_GRID = re.compile(r"(?P<attribute>.*\S)\s*\[(?P<item>.+)\]")


def laid_out(
    raw: RawTable, source: Source, reference: Sequence[str] = ()
) -> tuple[RawTable, Source]:
    """The table and its source, whose layout is that of a form where it is one.

    Qualtrics writes a row a respondent, and its questions may be items or attributes: items where
    the reference are respondents. Among several files the layout ``raters-by-items`` is that of
    those without a column of items.

    Raises
    ------
    QuestionError
        The file is an export of Qualtrics, and nobody said how its rows and columns lie.
    """
    # Of several files the form is the one without a column of items; the option is given for all.
    named = source.item or any(plain_word(c) in SYNONYMS["item"] for c in raw.frame.columns)
    if source.layout == "raters-by-items" and named:
        return raw, source.model_copy(update={"layout": "auto"})
    if source.layout != "auto" or named or source.columns or not _of_qualtrics(raw):
        return raw, source
    who = next((c for c in raw.frame.columns if _names_all(raw.frame[c], reference)), None)
    if who is not None:
        rows = {"layout": "raters-by-items", "rater": source.rater or who}
        return raw, source.model_copy(update=rows)
    if not source.assume:
        raise QuestionError(
            f"{raw.name}: Qualtrics writes a row a respondent; is each respondent a rater, and "
            f"each question an item that they rated?",
            "layout", ("raters-by-items", "scores"), 'layout = "raters-by-items"',
        )  # fmt: skip
    note = assumed(raw.name, [], "Each row was taken for a rater, and each question for an item.")
    return raw.noted(note), source.model_copy(update={"layout": "raters-by-items"})


def _names_all(cells: pl.Series, names: Sequence[str]) -> bool:
    return cells.dtype == pl.String and bool(names) and set(names) <= set(cells.unique())


def _of_qualtrics(raw: RawTable) -> bool:
    return any(note.kind == "rows_of_questions" for note in raw.findings)


def one_row_a_rating(raw: RawTable, source: Source) -> RawTable:
    """A form with one row a rater and one column an item, laid out as one row a rating.

    Of a header such as ``How warm? [Answer 3]`` the bracket is the item, the rest the attribute.

    Raises
    ------
    TableError
        No column says who rated, or none holds scores.
    """
    if source.layout != "raters-by-items":
        return raw
    raw = _finished(raw) if _of_qualtrics(raw) else raw
    columns = raw.frame.columns
    who = find("rater", columns, source.rater, raw.name)
    who = who or next((c for c in columns if plain_word(c) in WHO), None)
    able = [c for c in columns if raw.frame[c].dtype == pl.String and identifies(raw.frame, c)]
    if who is None and able:
        raise QuestionError(
            f"{raw.name}: each row is a rater; which column says who?",
            "rater", tuple(able), f"rater = {json.dumps(able[0])}", likely=False,
        )  # fmt: skip
    if who is None:
        raise TableError(
            f"{raw.name}: each row is a rater; name the column that says which by --rater, or by "
            f"`rater` in the study (columns: {listed(columns)})"
        )
    scored = _answered(raw, source, who)
    if not scored:
        raise TableError(
            f"{raw.name}: no column holds numbers or words of a usual order, such as 'agree' "
            f"(columns: {listed(columns)}); say by --words, or by `words` in the study, what other "
            f"words stand for"
        )
    blocks = []
    for column in scored:
        # Google Forms writes a grid of questions so: what is asked, and in brackets what about.
        part = _GRID.fullmatch(column)
        of, item = (part["attribute"], part["item"]) if part else ("score", column)
        blocks.append(
            pl.DataFrame([raw.frame[who].alias(source.rater or "rater"), raw.numbers()]).select(
                pl.lit(item).alias("item"),
                pl.col(source.rater or "rater"),
                pl.lit(of).alias("attribute"),
                raw.frame[column].cast(pl.String).alias("score"),
                "row",
            )
        )
    long = pl.concat(blocks)
    frame = long.drop("row")
    return replace(
        raw, frame=frame, headers={c: c for c in frame.columns}, lines=long["row"],
        each=len(scored),
    )  # fmt: skip


def _answered(raw: RawTable, source: Source, who: str) -> list[str]:
    """The columns of a form with what each respondent rated, in numbers or in words."""
    # Progress, duration and age are numbers of the respondent, and no ratings of anything.
    about = {*WHO, *ABOUT_ANSWERS}
    asked = [c for c in raw.frame.columns if c != who and plain_word(c) not in about]
    numeric = {c for c in asked if is_numeric(raw.frame[c])}
    texts = {c: raw.frame[c] for c in asked if raw.frame[c].dtype == pl.String}
    words = {c: folded(text) for c, text in texts.items() if not are_texts(text)}
    declared = [fold(word) for word in source.words]
    # All columns together say the order: of one, everybody may have chosen the same word.
    order = [*order_of(words), *declared]
    in_words = {c for c, text in words.items() if inside(text, order)}
    return [
        c for c in asked
        if c in in_words or (c in numeric and not measures(c) and not is_counter(raw.frame[c]))
    ]  # fmt: skip


def _finished(raw: RawTable) -> RawTable:
    """The rows of respondents who came to the end, without previews and tests of the survey."""
    out = pl.repeat(False, raw.frame.height, eager=True)  # noqa: FBT003 - a value, no flag
    for column in raw.frame.columns:
        cells = raw.frame[column].cast(pl.String).str.strip_chars().str.to_lowercase()
        if (words := _NOT_MEANT.get(plain_word(column))) is not None:
            out = out | cells.is_in(words).fill_null(value=False)
    if not out.any():
        return raw
    places = [f"line {line}" for line in raw.numbers().filter(out)]
    note = finding(
        "rows_withdrawn", "serious", raw.name, places,
        f"{len(places)} rows of the survey are previews, tests, spam or not finished.",
        "They are left out.", count=len(places),
    )  # fmt: skip
    lines = None if raw.lines is None else raw.lines.filter(~out)
    return replace(raw, frame=raw.frame.filter(~out), lines=lines).noted(note)


def attribute_column(
    raw: RawTable,
    source: Source,
    keys: Sequence[str | None],
    free: Sequence[str],
) -> tuple[str | None, tuple[Finding, ...]]:
    """The column of a long file that names what was rated, where none is called by a usual word.

    Parameters
    ----------
    keys : sequence of str or None
        The columns of item, system, rater and run.
    free : sequence of str
        Columns that play no part yet.

    Raises
    ------
    QuestionError
        A column may name attributes or describe raters, and nobody said which.
    """
    key_columns = [key for key in keys if key is not None]
    # With a rater or a system as well as an item, equal keys mean that something else differs.
    if len(key_columns) < 2:
        return None, ()
    texts = [c for c in free if raw.frame[c].dtype == pl.String and _few(raw.frame[c])]
    if not texts:
        return None, ()
    folded = raw.frame.select(
        *(canonical_ids(raw.frame[key]) for key in key_columns), *(pl.col(c) for c in texts)
    )
    for column in texts:
        apart = tells_apart(folded, key_columns, column)
        called = plain_word(column) in _MAYBE_ATTRIBUTES or (
            len(key_columns) > 1 and _tells_sides_apart(folded, column, key_columns)
        )
        if not apart and (not called or _follows(folded, column, key_columns[0])):
            continue
        # A version tells rows apart as an attribute does, but then the last one counts, or all do.
        if apart and plain_word(column) in _VERSIONS and not source.run:
            raise _repeated_or_replaced(raw, column)
        # `category` may be the rater's profession, which is the same in all of that rater's rows.
        of_a_rater = not apart and any(_follows(folded, column, key) for key in key_columns[1:])
        if of_a_rater and not source.assume:
            raise _attribute_or_not(raw, column)
        words = folded[column].drop_nulls().unique(maintain_order=True).to_list()
        message = f"{column!r} was read as the attribute: it holds {listed(words)}."
        return column, (assumed(raw.name, [column], message),)
    return None, ()


def _tells_sides_apart(frame: pl.DataFrame, column: str, key_columns: Sequence[str]) -> bool:
    """Whether people and judges never share a word of a column: they may speak of unlike things.

    Not where the words are kinds of raters (*human*, *model*) or say something of people alone.
    """
    words = frame[column].drop_nulls().unique().to_list()
    if measures(column) or any(kind_of(word) is not None for word in words):
        return False
    for key in key_columns[1:]:
        kinds = {name: kind_of(str(name)) for name in frame[key].drop_nulls().unique()}
        sides = [
            set(frame.filter(pl.col(key).is_in([n for n, k in kinds.items() if k == kind]))[column])
            - {None}
            for kind in ("human", "judge")
        ]
        if all(sides) and not sides[0] & sides[1]:
            return True
    return False


def _few(cells: pl.Series) -> bool:
    """Whether a text column names several things, each more than once on the whole."""
    different = cells.drop_nulls().n_unique()
    return different > 1 and 2 * different <= len(cells)


def _follows(frame: pl.DataFrame, column: str, key: str) -> bool:
    """Whether a column says the same in all rows of a key, as a topic of an item does."""
    return frame.select(key, column).n_unique() == frame[key].n_unique()


def _attribute_or_not(raw: RawTable, column: str) -> QuestionError:
    words = raw.frame[column].drop_nulls().unique(maintain_order=True).to_list()
    return QuestionError(
        f"{raw.name}: column {column!r} ({listed(words)}) may name what was rated, or may say "
        f"something else; if it is no attribute, say --ignore {column!r}.",
        "attribute",
        (column,),
        f"attribute = {json.dumps(column)}",
    )


def _repeated_or_replaced(raw: RawTable, column: str) -> QuestionError:
    return QuestionError(
        f"{raw.name}: {column!r} tells several rows of one rating apart; where a later row "
        f"replaces the earlier, leave the earlier out of the file; where all count, it is the run.",
        "run", (column,), f"run = {json.dumps(column)}", likely=False,
    )  # fmt: skip


def item_column(
    raw: RawTable, source: Source, free: Sequence[str], *, alone: bool = True
) -> str | None:
    """The column of ids where none is called by a usual word: the only one that looks like one.

    Parameters
    ----------
    alone : bool
        Whether no other file is read with it: numbers that only count its rows are then ids as good
        as any, and in several files they are those of other items in each.

    Raises
    ------
    QuestionError
        Several do, or in several files none does but numbers of rows.
    """
    counters = [c for c in free if is_counter(raw.frame[c])]
    by_name = [[c for c in free if plain_word(c).endswith(end)] for end in _ID_ENDS]
    called = next((columns for columns in by_name if any(map(raw.filled, columns))), [])
    called = [c for c in called if raw.filled(c)]
    # What tells rows apart and does not merely count them, before numbers of rows by any name.
    apart = [
        c
        for c in free
        if c not in counters and identifies(raw.frame, c) and not is_kept(c, raw.frame[c])
    ]
    candidates = [c for c in called if c not in counters] or apart or called or counters
    counted = not alone and bool(candidates) and set(candidates) <= set(counters)
    if (len(candidates) > 1 or counted) and not source.assume:
        why = ", or do its numbers only count the rows of each file" if counted else ""
        raise QuestionError(
            f"{raw.name}: which column holds the ids of the items{why}?",
            "item", tuple(candidates), f"item = {json.dumps(candidates[0])}",
        )  # fmt: skip
    return candidates[0] if candidates else None


def found_alone(why: TableError) -> str:
    """What was not understood, without the options that the error proposes: another question's
    answer, where one is asked in its place.

    >>> found_alone(TableError("r.csv: no ids; row 0 holds 'a'; name them with --item"))
    "r.csv: no ids; row 0 holds 'a'"
    """
    first, *rest = str(why).rstrip(".").split("; ")
    return "; ".join([first, *(part for part in rest if "--" not in part)])


def assumed(
    name: str,
    columns: Sequence[str],
    message: str,
    advice: str = "If that is wrong, name the column that is meant in the study or by an option.",
) -> Finding:
    """The finding that the likelier of two readings of a file was taken."""
    return finding("reading_assumed", "serious", name, columns, message, advice, count=1)

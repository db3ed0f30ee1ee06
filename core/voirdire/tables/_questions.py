"""Readings that would change numbers: asked about, answered by a key, or assumed with a finding."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import QuestionError, TableError, check_columns, listed
from voirdire.tables._ids import canonical_ids
from voirdire.tables._names import SYNONYMS, find, kind_of, measures, plain_word
from voirdire.tables._numbers import are_texts, fold, folded, inside, is_numeric, order_of
from voirdire.tables._rated import tells_apart
from voirdire.tables._tables import finding

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
    if not others or source.sheet is not None:
        return raw
    if not source.assume:
        raise QuestionError(
            f"{raw.name}: sheets {listed([first, *others])} hold the same columns, and one is "
            f"read; which? For several save each as a file, and give all of them",
            "sheet", (first, *others), f"sheet = {json.dumps(first)}",
        )  # fmt: skip
    note = assumed(raw.name, others, f"Sheet {first!r} was read; {listed(others)} were not.")
    return raw.noted(note)


#: Headers of the column that says who filled in a form.
_WHO = ("emailaddress", "email", "responseid", "username", "participant", "participantid", "name",
        "respondentid", "prolificid")  # fmt: skip
#: What survey tools say of a whole answer, and of no item.
_ABOUT_ANSWERS = ("progress", "finished", "durationinseconds", "locationlatitude", "status",
                  "locationlongitude", "ipaddress", "timestamp", "startdate", "enddate",
                  "recordeddate", "userlanguage", "distributionchannel", "qrecaptchascore",
                  "age", "yearofbirth")  # fmt: skip
#: Rows of a survey that are no answers, by column.
_NOT_MEANT = {
    "finished": ("false", "0"),
    "status": ("survey preview", "survey test", "spam", "1", "2", "8", "9"),
    "distributionchannel": ("preview", "test"),
}
#: A question of a grid in Google Forms: ``How warm? [Answer 3]``.
_GRID = re.compile(r"(?P<attribute>.*\S)\s*\[(?P<item>.+)\]")


def laid_out(raw: RawTable, source: Source) -> tuple[RawTable, Source]:
    """The table and its source, whose layout is that of a form where it is one.

    Qualtrics writes a row a respondent, and its questions may be items or attributes. Among
    several files the layout ``raters-by-items`` is that of those without a column of items.

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
    if not source.assume:
        raise QuestionError(
            f"{raw.name}: Qualtrics writes a row a respondent; is each respondent a rater, and "
            f"each question an item that they rated?",
            "layout", ("raters-by-items", "scores"), 'layout = "raters-by-items"',
        )  # fmt: skip
    note = assumed(raw.name, [], "Each row was taken for a rater, and each question for an item.")
    return raw.noted(note), source.model_copy(update={"layout": "raters-by-items"})


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
    who = who or next((c for c in columns if plain_word(c) in _WHO), None)
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
    return replace(raw, frame=frame, headers={c: c for c in frame.columns}, lines=long["row"])


def _answered(raw: RawTable, source: Source, who: str) -> list[str]:
    """The columns of a form with what each respondent rated, in numbers or in words."""
    # Progress, duration and age are numbers of the respondent, and no ratings of anything.
    about = {*_WHO, *_ABOUT_ANSWERS}
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


def item_column(raw: RawTable, source: Source, free: Sequence[str]) -> str | None:
    """The column of ids where none is called by a usual word: the only one that looks like one.

    Raises
    ------
    QuestionError
        Several do.
    """
    # A name that ends in `id` before a column that counts: row numbers are ids only for want of
    # one.
    by_name = [[c for c in free if plain_word(c).endswith(end)] for end in _ID_ENDS]
    named = ([c for c in called if _filled(raw.frame[c])] for called in by_name)
    counters = [c for c in free if is_counter(raw.frame[c])]
    candidates = next((columns for columns in named if columns), counters)
    if len(candidates) > 1 and not source.assume:
        raise QuestionError(
            f"{raw.name}: which column holds the ids of the items?",
            "item", tuple(candidates), f"item = {json.dumps(candidates[0])}",
        )  # fmt: skip
    return candidates[0] if candidates else None


def _filled(cells: pl.Series) -> bool:
    return cells.null_count() == 0 and cells.n_unique() > 1


def is_counter(cells: pl.Series) -> bool:
    """Whether a column numbers its rows: whole numbers, each larger than the one above.

    Examples
    --------
    >>> is_counter(pl.Series([1, 2, 3, 4, 6, 7])), is_counter(pl.Series([1, 2, 2, 3, 4, 5]))
    (True, False)
    """
    numbers = cells.cast(pl.Float64, strict=False)
    if len(numbers) < _COUNTS or numbers.null_count():
        return False
    return bool((numbers == numbers.floor()).all()) and bool(
        (numbers.diff().drop_nulls() > 0).all()
    )


#: Fewer rows than this may rise by chance.
_COUNTS = 6


def assumed(
    name: str,
    columns: Sequence[str],
    message: str,
    advice: str = "If that is wrong, name the column that is meant in the study or by an option.",
) -> Finding:
    """The finding that the likelier of two readings of a file was taken."""
    return finding("reading_assumed", "serious", name, columns, message, advice, count=1)

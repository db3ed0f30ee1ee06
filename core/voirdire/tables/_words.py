"""Words in score columns: those of a usual order, those that somebody declared, and the others."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import polars as pl

from voirdire.errors import QuestionError, TableError, listed
from voirdire.late import pattern
from voirdire.tables._ids import plain_name
from voirdire.tables._names import find, is_person, is_usual, kind_of, measures
from voirdire.tables._numbers import (
    Scores,
    are_texts,
    fold,
    folded,
    inside,
    is_numeric,
    is_ordered,
    order_of,
    spoken,
    to_scores,
)
from voirdire.tables._questions import assumed
from voirdire.tables._tables import PLACES, STATUS, finding, plural, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from voirdire.schema import Finding
    from voirdire.study import Source
    from voirdire.tables._files import RawTable

#: What a study writes for a word that stands where no score came, and for all other words.
MISSING: Literal["missing"] = "missing"
OTHERS = "*"
#: What replaces such a word in its cell. It is an answer, and no blank, which may mean that nobody
#: was asked.
_UNREAD = "unparsable"
#: A date of a workbook, with its time of midnight.
_DATE = pattern(r"\d{4}-(?P<month>\d{2})-(?P<day>\d{2})(?:[ T]00:00:00(?:\.0+)?)?")
#: Longer texts are remarks, and no levels of a scale.
_LONGEST_WORD = 40
#: A word beside those of an order is a slip, or no answer, in at most so many of the cells.
_SLIPS = 0.1
#: More unknown words than this are not listed in an option.
_MOST_WORDS = 8

Words = dict[str, float | Literal["missing"]]


def words_as_numbers(raw: RawTable, source: Source, scored: Sequence[str]) -> RawTable:
    """The table with words of a declared or usual order in its score columns as numbers.

    Parameters
    ----------
    scored : sequence of str
        The columns that may hold scores.

    Raises
    ------
    QuestionError
        Words of a usual order, and nobody said which number each of them is.
    """
    raw = _with_declared(raw, source, scored)
    words_in = [c for c in scored if raw.frame[c].dtype == pl.String]
    # By their distinct values first: names of raters are no words of an order, however many rows.
    able = [c for c in words_in if _kind(c) is not None or _may_be_ordered(raw.frame[c])]
    texts = {c: folded(raw.frame[c]) for c in able if not are_texts(raw.frame[c])}
    # All columns together: of one, everybody may have chosen the same word.
    order = order_of(texts)
    columns = {c: text for c, text in texts.items() if inside(text, order)}
    if not columns:
        _ask_what_words_mean(raw, source, texts)
        return raw
    words: Words = {word: float(at) for at, word in enumerate(order, 1)}
    if not source.assume:
        raise _which_numbers(raw, source, columns, words)
    meanings = ", ".join(f"{word} = {number:g}" for word, number in words.items())
    note = assumed(raw.name, list(columns), f"Words were read as numbers: {meanings}.")
    numbers = {word: _cell(number) for word, number in words.items()}
    frame = raw.frame.with_columns(t.replace(numbers).alias(c) for c, t in columns.items())
    return replace(raw, frame=frame).noted(note)


def _may_be_ordered(cells: pl.Series) -> bool:
    """Whether any distinct value of a column is a word of a usual order."""
    return any(map(is_ordered, folded(cells.unique()).drop_nulls().to_list()))


def _which_numbers(
    raw: RawTable, source: Source, columns: Mapping[str, pl.Series], words: Words
) -> QuestionError:
    """What the words of an order stand for, and what else stands among them."""
    blocks = []
    for column, text in columns.items():
        # What else stands in these columns is asked in the same question, and not in the next run.
        strange = to_scores(text).bad & ~text.is_in(list(words))
        rows = pl.DataFrame({"row": raw.numbers(), "cell": raw.frame[column]}).filter(strange)
        blocks.append(rows.select(pl.lit(column).alias("column"), "row", item=None, cell="cell"))
    others = grouped(pl.concat(blocks).lazy())
    if _are_no_order(raw, columns, others):
        told = "; ".join(
            _stands(row, raw.unit) for row in others.head(PLACES).iter_rows(named=True)
        )
        return QuestionError(
            f"{raw.name}: {listed(list(columns))} holds words of a usual order "
            f"({listed(list(words))}) and others, too many to be slips ({told}). Are they labels? "
            f"If they are grades, say by --words which number each of them is.",
            "kind", ("label",), 'kind = "label"', likely=False,
        )  # fmt: skip
    places = [
        f" Also {_stands(row, raw.unit)}." for row in others.head(PLACES).iter_rows(named=True)
    ]
    asked: Words = {**source.words, **words, **dict.fromkeys(_named(others), MISSING)}
    return QuestionError(
        f"{raw.name}: {listed(list(columns))} holds words ({listed(list(words))}); which number "
        f"is each of them?{''.join(places)}",
        "words", (as_option(asked),), as_line(asked),
    )  # fmt: skip


def _are_no_order(raw: RawTable, columns: Mapping[str, pl.Series], others: pl.DataFrame) -> bool:
    """Whether words beside those of an order are too many to be slips or missing answers."""
    filled = sum(raw.frame[c].drop_nulls().len() for c in columns)
    return bool((others["count"] > _SLIPS * filled).any())


def _with_declared(raw: RawTable, source: Source, scored: Sequence[str]) -> RawTable:
    """The table with the words that its source declares as what they stand for."""
    changed = [
        made
        for column in raw.frame.columns
        if source.words and column != plain_name(source.response or "")
        if column in scored or is_numeric(raw.frame[column])
        if (made := with_declared(raw.frame[column], source, comma=raw.decimal_comma)) is not None
    ]
    return replace(raw, frame=raw.frame.with_columns(changed)) if changed else raw


def with_all_declared(raw: RawTable, source: Source) -> RawTable:
    """The table with declared words as what they stand for, in each column of nothing else but
    numbers: what such a column may be is decided by them.
    """
    if not source.words:
        return raw
    changed = []
    for column in raw.frame.columns:
        cells = raw.frame[column]
        if cells.dtype != pl.String:
            continue
        distinct = folded(cells.unique()).drop_nulls()
        known = distinct.is_in([fold(word) for word in source.words])
        others = distinct.filter(~known).cast(pl.Float64, strict=False)
        made = with_declared(cells, source, comma=raw.decimal_comma)
        if made is not None and not others.null_count():
            changed.append(made.replace(_UNREAD, None))
    return replace(raw, frame=raw.frame.with_columns(changed)) if changed else raw


def with_declared(column: pl.Series, source: Source, *, comma: bool = False) -> pl.Series | None:
    """A column with the declared words, or numbers, as what they stand for; None without any.

    What else it says is read first: beside a declared *maybe*, yes and no alone are still 1 and 0.
    """
    cells = {fold(word): _cell(value) for word, value in source.words.items() if word != OTHERS}
    declared = _declared(column, cells)
    is_declared = declared.is_not_null()
    if not is_declared.any():
        return None
    # Without the declared cells: they would hide what the others say, a pair such as yes and no.
    read = to_scores(column.set(is_declared, None), decimal_comma=comma).values.cast(pl.String)
    rest = read.zip_with(read.is_not_null(), column.cast(pl.String))
    return declared.zip_with(is_declared, rest).alias(column.name)


def declared_numbers(sources: Iterable[Source]) -> set[float]:
    """Numbers that some source declares to be scores, or to stand for them."""
    return {
        value for source in sources for value in source.words.values() if isinstance(value, float)
    }


def _declared(column: pl.Series, cells: Mapping[str, str]) -> pl.Series:
    """What is declared for each cell, by its words or its number; null where nothing is."""
    numbers = {}
    # A declared 99 is met as 99, 99.0 and "99", and the word n/a as it is written.
    for word, cell in cells.items():
        with suppress(ValueError):
            numbers[float(word)] = cell
    by_word = folded(column.cast(pl.String)).replace_strict(
        cells, default=None, return_dtype=pl.String
    )
    values = column.cast(pl.Float64, strict=False)
    by_number = values.replace_strict(numbers, default=None, return_dtype=pl.String)
    return by_word.zip_with(by_word.is_not_null(), by_number)


def _cell(value: float | Literal["missing"]) -> str:
    return _UNREAD if value == MISSING else repr(float(value))


def as_option(words: Words) -> str:
    """Words as `--words` takes them; a number that is still to be filled in is NaN.

    >>> as_option({"yes": 1, "no, never": 0, "maybe": "missing"})
    'yes=1,"no, never"=0,maybe=missing'
    """
    return ",".join(f"{quoted(word)}={_shown(value)}" for word, value in words.items())


def as_line(words: Words) -> str:
    """Words as a line of a study."""
    shown = (
        f"{json.dumps(word, ensure_ascii=False)} = "
        f"{json.dumps(value) if value == MISSING else _shown(value)}"
        for word, value in words.items()
    )
    return f"words = {{{', '.join(shown)}}}"


def _shown(value: float | Literal["missing"]) -> str:
    if value == MISSING:
        return MISSING
    return "NUMBER" if value != value else f"{value:g}"  # noqa: PLR0124 - only NaN differs


def quoted(word: str) -> str:
    """A word as the reader of `--words` takes it: in quotes where it holds a comma or quotes."""
    return '"' + word.replace('"', '""') + '"' if set(word) & {",", '"'} else word


class Unread(NamedTuple):
    """Texts that are no scores, each once: how often and where each stands, and what was read."""

    texts: pl.DataFrame
    known: Words
    numbers: int
    span: tuple[float, float] | None = None


def unread_finding(
    raw: RawTable, source: Source, frame: pl.DataFrame, read: Mapping[str, Scores]
) -> Finding | None:
    """The finding that texts which are no scores count as missing; None where there are none.

    Parameters
    ----------
    frame : DataFrame
        The records: ``item``, ``row`` and the score columns, each with ``=`` before its name.
    read : mapping
        Score column -> what was read of it.

    Raises
    ------
    QuestionError
        There are such texts, and nobody said what they stand for.
    TableError
        A score is a date or endless, which no answer makes a number.
    """
    blocks = []
    for column, (_, bad, _) in read.items():
        if not bad.any():
            continue
        cells, at = frame[f"={column}"].filter(bad), frame.filter(bad)
        header = raw.headers.get(column, column)
        # A date or an infinity: no word can be declared to stand for it.
        if cells.dtype != pl.String:
            place = f"{raw.unit} {at['row'][0]} (item {at['item'][0]!r})"
            raise TableError(
                f"{raw.name}: column {header!r}, {place} holds {cells[0]} where a number is needed"
            )
        block = at.select(pl.lit(header).alias("column"), "row", "item", cells.alias("cell"))
        blocks.append(block)
    if not blocks:
        return None
    numbers = sum(len(values) - values.null_count() for values, _, _ in read.values())
    texts = grouped(pl.concat(blocks).lazy())
    scores = pl.concat([values for values, _, _ in read.values()]).drop_nulls()
    ends = (scores.min(), scores.max()) if len(scores) else None
    unread = Unread(texts, _known_words(frame, read), numbers, ends)  # type: ignore[arg-type]
    return finding_of_unread(raw.name, raw.unit, source, unread)


def grouped(cells: pl.LazyFrame) -> pl.DataFrame:
    """Texts each once (``cell``), with its first ``column`` and ``item``, ``count`` and ``row``."""
    return (
        cells.with_columns(folded(pl.col("cell")).alias("word"))
        .group_by("word", maintain_order=True)
        .agg(
            pl.col("cell", "column", "item").first(),
            pl.len().alias("count"),
            pl.col("row").head(PLACES),
        )
        .collect()
    )


def _known_words(frame: pl.DataFrame, read: Mapping[str, Scores]) -> Words:
    words: Words = {}
    for column, (values, _, _) in read.items():
        cells = frame[f"={column}"]
        words |= known_words(cells, values) if cells.dtype == pl.String else {}
    return words


def known_words(cells: pl.Series, values: pl.Series) -> Words:
    """Words without a digit that were read as numbers: yes is 1."""
    pairs = pl.DataFrame([folded(cells).alias("word"), values.alias("value")])
    words = pairs.filter(pl.col("value").is_not_null(), ~pl.col("word").str.contains(r"\d"))
    return dict(words.unique(maintain_order=True).iter_rows())


def finding_of_unread(name: str, unit: str, source: Source, unread: Unread) -> Finding:
    """The finding that unread texts are missing, where a source says so or accepts it.

    Raises
    ------
    QuestionError
        It does neither.
    """
    count = int(unread.texts["count"].sum())
    # Where most of a column is no number, it is hardly missing scores: that is not assumed.
    likely = unread.numbers >= count
    if source.words.get(OTHERS) == MISSING or (source.assume and likely):
        shown = ", ".join(
            f"{shortened(cell)!r} ({times:,})"
            for cell, times in unread.texts.select("cell", "count").head(PLACES).iter_rows()
        )
        more = unread.texts.height - PLACES
        shown += f" and {plural(more, 'other text')}" if more > 0 else ""
        return finding(
            "words_missing",
            "note" if OTHERS in source.words else "serious",
            name,
            [f"{unit} {row}" for rows in unread.texts["row"] for row in rows],
            f"{plural(count, 'score')} in words that stand for no number: {shown}.",
            "They count as missing.",
            count=count,
        )
    raise _question(name, unit, source, unread, likely=likely)


def told(bad: pl.Series, fates: pl.Series) -> pl.Series:
    """What became of scores, now that unread texts are known to stand for none."""
    unread = pl.Series([_UNREAD], dtype=STATUS).new_from_index(0, len(bad))
    return unread.zip_with(bad, fates)


def _question(
    name: str, unit: str, source: Source, unread: Unread, *, likely: bool
) -> QuestionError:
    """What the unread texts of a file stand for."""
    first, *rest = [_stands(row, unit) for row in unread.texts.head(PLACES).iter_rows(named=True)]
    more = unread.texts.height - PLACES
    also = f" (also {'; '.join(rest)}" if rest else ""
    also += f", and {plural(more, 'other text')}" if more > 0 else ""
    also += ")" if rest else ""
    read = ", ".join(f"{word!r} as {value:g}" for word, value in unread.known.items())
    beside = f" Read were {read}." if read else ""
    words = _named(unread.texts)
    declared = dict(source.words)
    missing: Words = {**declared, **dict.fromkeys(words, MISSING)}
    given: Words = {**declared, **unread.known, **dict.fromkeys(words, float("nan"))}
    choices = [missing] if words == [OTHERS] else [missing, given]
    if typed := _as_typed(unread):
        choices = [{**declared, **typed}, missing]
        return QuestionError(
            f"{name}: {first} where a number is needed{also}. A spreadsheet makes a date of 4.5, "
            f"the 4th of May; are these the numbers that were typed, or are they missing?",
            "words", tuple(map(as_option, choices)), as_line(choices[0]), likely=False,
        )  # fmt: skip
    # The likelier answer stands first: whoever accepts a question blindly takes that one.
    if not likely:
        choices.reverse()
    them = "it" if unread.texts.height == 1 else "each of them"
    return QuestionError(
        f"{name}: {first} where a number is needed{also}.{beside} Which number is {them}, or is it "
        f"missing?",
        "words",
        tuple(map(as_option, choices)),
        as_line(choices[0]),
        likely=likely,
    )


def _as_typed(unread: Unread) -> Words:
    """The number of which a spreadsheet made each date; nothing where one is none, or leaves the
    span of the others: where days stand before months 4.5 is the 4th of May.
    """
    found: Words = {}
    for text in unread.texts["cell"].str.strip_chars():
        date = _DATE.fullmatch(text)
        if date is None:
            return {}
        month = date["month"].lstrip("0")
        found[text] = float(f"{int(date['day'])}.{month}")
    numbers = [value for value in found.values() if isinstance(value, float)]
    low, high = unread.span or (0.0, 0.0)
    # One half below or above what the others reach: the ends may all be dates.
    return found if all(low - 1 < number < high + 1 for number in numbers) else {}


def _named(texts: pl.DataFrame) -> list[str]:
    """Texts as an option names them, all others together where they are many or long."""
    words = texts["cell"].str.strip_chars().to_list()
    some = len(words) <= _MOST_WORDS and max(map(len, words), default=0) <= _LONGEST_WORD
    return words if some else [OTHERS]


def _stands(row: dict[str, object], unit: str) -> str:
    """Where a text stands, and how often."""
    rows, count = row["row"], row["count"]
    first, *others = rows if isinstance(rows, list) else [rows]
    item = "" if row["item"] is None else f" (item {row['item']!r})"
    place = f"column {row['column']!r}, {unit} {first}{item}"
    sentence = f"{place} holds {shortened(str(row['cell']))!r}"
    if not others:
        return sentence
    dots = ", ..." if isinstance(count, int) and count > PLACES else ""
    return f"{sentence} ({count} cells: {unit}s {listed([first, *others], PLACES)}{dots})"


def _ask_what_words_mean(raw: RawTable, source: Source, texts: Mapping[str, pl.Series]) -> None:
    """Raise where people, or judges, rated in words of no usual order, and none of them in numbers.

    Raises
    ------
    QuestionError
        The option with the words, for numbers to be filled in.
    """
    columns = raw.frame.columns
    score = find("score", columns, source.score, raw.name)
    if (
        score is not None
        and score != plain_name(source.response or "")
        and _may_hold_scores(raw.frame[score])
    ):
        return  # beside a column of scores words are names
    # A side that rated in words alone would be left out of every number without a word.
    for kind in ("human", "judge"):
        own = [c for c in columns if _kind(c) == kind]
        if any(is_numeric(raw.frame[c]) for c in own if c not in texts or kind == "judge"):
            continue
        for column in own:
            words = _words(texts[column]) if column in texts else []
            if is_numeric(raw.frame[column]) or not words:
                continue
            asked: Words = {**source.words, **dict.fromkeys(words, float("nan"))}
            raise QuestionError(
                f"{raw.name}: {column!r} holds words ({listed(words)}); which number is each of "
                f"them?{_or_labels(raw, columns)}",
                "words", (as_option(asked),), as_line(asked), likely=False,
            )  # fmt: skip


def _or_labels(raw: RawTable, columns: Sequence[str]) -> str:
    """What the raters beside such words say in numbers, which may be codes of the same labels."""
    coded = [c for c in columns if _kind(c) is not None and is_numeric(raw.frame[c])]
    if not coded:
        return ""
    cells = raw.frame[coded[0]].drop_nulls().cast(pl.String).unique().sort().to_list()
    return (
        f" {coded[0]!r} says {listed(cells, 6)}: where these are codes of labels, say also that "
        f"the kind is label, and each code is read as its word."
    )


def _words(text: pl.Series) -> list[str]:
    """The different words of a column; none where it says one thing alone, or holds texts."""
    cells = spoken(text)
    words = cells.unique(maintain_order=True).to_list()
    short = max(map(len, words), default=0) <= _LONGEST_WORD
    return words if short and 1 < len(words) <= len(cells) / 2 else []


def _may_hold_scores(cells: pl.Series) -> bool:
    """Whether a column called by a word for scores holds numbers or words, and no texts."""
    if cells.name.casefold() == "score" or is_numeric(cells) or cells.dtype != pl.String:
        return True
    return not are_texts(cells) and bool(_words(folded(cells)))


def _kind(column: str) -> str | None:
    """Whose scores a header may stand over: a person's, a judge's, or nobody's."""
    if is_usual(column) or measures(column):
        return None
    if is_person(column):
        return "human"
    return "judge" if kind_of(column) == "judge" else None

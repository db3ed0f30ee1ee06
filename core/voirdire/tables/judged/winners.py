"""What the cells of a comparison say: which of two is better, how clearly, or neither."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import QuestionError, listed
from voirdire.kinds import Cells
from voirdire.tables._numbers import fold, is_numeric
from voirdire.tables._preferences import (
    ComparisonColumns,
    place_of,
    places_in,
    signed_grades,
    strange_words,
    systems_in,
    words_of,
)
from voirdire.tables._words import MISSING, Words, as_line, as_option

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.study import TableKeys
    from voirdire.tables._files import RawTable

#: A comparison is of two.
_SIDES = 2
#: Signs alone, which may be read as *better than* or as an arrow.
_SIGNS = {">": 1.0, ">>": 2.0, "<": -1.0, "<<": -2.0}


def says_who(
    column: pl.Series,
    frame: pl.DataFrame,
    sides: tuple[str, str],
    said: Mapping[str, object] | None = None,
) -> bool:
    """Whether cells name one of two, or a tie: by place, by name, by a number about 0, or by a word
    of which somebody `said` what it means.
    """
    cells = Cells.of(column.name, [column])
    if not cells.texts:
        return False
    if all_numbers(column):
        if _numbered_sides(column, sides):
            return True
        graded = signed_grades(column) or _top_grade(column) or _place_numbers(column)
        return bool(graded) or _is_one_to_two(column)
    names = {*frame[sides[0]].cast(pl.String), *frame[sides[1]].cast(pl.String), *(said or ())}
    known = sum(
        count
        for text, count in zip(cells.texts, cells.counts, strict=True)
        if place_of(text) is not None or text in names
    )
    return known >= 0.9 * cells.total


def _numbered_sides(column: pl.Series, sides: tuple[str, str]) -> dict[str, float | None]:
    """1 and -1 of the numbers by which the headers of both sides differ, 0 and 1 in most files,
    where a column holds these alone; else nothing.
    """
    places = places_in(*sides)
    held = {f"{value:g}" for value in column.drop_nulls().cast(pl.Float64).unique()}
    return {places[0]: 1.0, places[1]: -1.0} if held and held == set(places) else {}


def _is_one_to_two(column: pl.Series) -> bool:
    """Numbers from 1 (the first) to 2 (the second), and some between, as AlpacaEval has them."""
    low, high = _ends(column)
    return 1 <= low < high <= 2 and column.drop_nulls().n_unique() > 2


def _top_grade(column: pl.Series) -> int | None:
    """5 or 7 where cells are whole numbers from 1 to it, which have a middle."""
    low, high = _ends(column)
    values = column.drop_nulls().cast(pl.Float64).unique()
    whole = bool((values == values.round()).all())
    if not whole or low < 1 or not 4 <= high <= 7 or len(values) < 3:
        return None
    return 5 if high <= 5 else 7


def _place_numbers(column: pl.Series) -> tuple[int, ...]:
    """1, 2 and 0 or 3 where cells are such numbers of a place, and of neither; none else."""
    values = column.drop_nulls().cast(pl.Float64).unique().to_list()
    known = {1.0, 2.0} <= set(values) <= {0.0, 1.0, 2.0} or set(values) == {1.0, 2.0, 3.0}
    return tuple(sorted(map(int, values))) if known else ()


def _ends(column: pl.Series) -> tuple[float, float]:
    values = column.drop_nulls().cast(pl.Float64)
    return float(values.min() or 0), float(values.max() or 0)  # type: ignore[arg-type]


def all_numbers(column: pl.Series) -> bool:
    """Whether every cell is a number: 1, 2 and *tie* are words for a side."""
    if not is_numeric(column):
        return False
    numbers = column.cast(pl.Float64, strict=False)
    return numbers.null_count() == column.null_count()


def declared_words(
    raw: RawTable, read: TableKeys, compared: ComparisonColumns, column: str
) -> dict[str, float | None]:
    """What somebody said that words of a winner's column mean.

    Raises
    ------
    QuestionError
        A word says neither of both, no tie and no missing answer.
    """
    said = words_of(compared.first, compared.second)
    if all_numbers(raw.frame[column]):
        said = _numbered_sides(raw.frame[column], (compared.first, compared.second))
        if not said:
            _ask_about_grades(raw, read, compared, column)
    said |= {w: None if v == "missing" else float(v) for w, v in read.words.items()}
    if all_numbers(raw.frame[column]):
        return said
    ask_about_signs(raw, read, column, (compared.first, compared.second))
    strange = strange_words(raw.frame, compared, column, said)
    unknown = {w: n for w, n in strange.items() if place_of(w) is None}
    if unknown and not read.assume:
        tied: Words = {**read.words, **dict.fromkeys(unknown, 0.0)}
        lost: Words = {**read.words, **dict.fromkeys(unknown, MISSING)}
        shown = ", ".join(f"{word!r} ({count:,} rows)" for word, count in unknown.items())
        raise QuestionError(
            f"{raw.name}: {column!r} says which of {compared.first!r} and {compared.second!r} is "
            f"better; what does {shown} say? 1 is the first, -1 the second, 0 a tie.",
            "words",
            (as_option(tied), as_option(lost)),
            as_line(tied),
        )
    return said


def ask_about_outcomes(raw: RawTable, read: TableKeys, reference: Sequence[str]) -> None:
    """Raise where two columns name systems that are compared, and the reference says of each row
    one of two words that nobody knows, or a tie: *win* and *loss* of the first, or of the second?

    Raises
    ------
    QuestionError
        Nobody said it.
    """
    said = [c for c in reference if c in raw.frame.columns]
    for first, second in systems_in(raw.frame) if said else ():
        column = next((c for c in said if c not in (first, second)), None)
        cells = () if column is None else Cells.of(column, [raw.frame[column]]).texts
        unknown = [word for word in cells if place_of(word) is None and word not in read.words]
        if len(unknown) != _SIDES or len(cells) > len(unknown) + 1:
            continue
        ties: Words = {word: 0.0 for word in cells if place_of(word) == 0}
        ahead: Words = {**read.words, unknown[0]: 1.0, unknown[1]: -1.0, **ties}
        other: Words = {**read.words, unknown[0]: -1.0, unknown[1]: 1.0, **ties}
        raise QuestionError(
            f"{raw.name}: {first!r} and {second!r} name two systems that are compared, and "
            f"{column!r} says {listed(unknown)}; which of both words favours {first!r}? The first "
            f"choice says {unknown[0]!r}.",
            "words",
            (as_option(ahead), as_option(other)),
            as_line(ahead),
            likely=False,
        )


def ask_about_signs(raw: RawTable, read: TableKeys, column: str, sides: tuple[str, str]) -> None:
    """Raise where bare signs stand between two: greater is better, or an arrow to the better one?

    Raises
    ------
    QuestionError
        Nobody said it.
    """
    cells = raw.frame[column].cast(pl.String).str.strip_chars()
    signs = [sign for sign in _SIGNS if (cells == sign).any() and sign not in read.words]
    if not signs or read.assume:
        return
    better: Words = {**read.words, **{sign: _SIGNS[sign] for sign in signs}}
    arrow: Words = {**read.words, **{sign: -_SIGNS[sign] for sign in signs}}
    raise QuestionError(
        f"{raw.name}: {column!r} says {listed(signs)} between {sides[0]!r} and {sides[1]!r}; is "
        f"'>' *the first is better*, or an arrow that points to the better one? The first choice "
        f"says that the first is better.",
        "words",
        (as_option(better), as_option(arrow)),
        as_line(better),
    )


def _ask_about_grades(
    raw: RawTable, read: TableKeys, compared: ComparisonColumns, column: str
) -> None:
    """Raise where nobody said which of two the grades -2 to 2, or 1 to 5 or 7, favour."""
    places = _place_numbers(raw.frame[column])
    if places:
        _ask_about_places(raw, read, compared, column, places)
        return
    signed, top = signed_grades(raw.frame[column]), _top_grade(raw.frame[column])
    grades: Sequence[float] = signed or (range(1, top + 1) if top else ())
    if all(f"{grade:g}" in read.words for grade in grades):
        return
    # The farthest grade is a clear preference, which is a score of 2 on the scale of comparisons.
    middle = 0.0 if signed else (grades[0] + grades[-1]) / 2
    unit = max(1.0, max(abs(grade - middle) for grade in grades) / 2)
    steps = {f"{g:g}": round((g - middle) / unit, 4) + 0.0 for g in grades}
    turned: Words = {grade: 0.0 - step for grade, step in steps.items()}
    first: Words = {**read.words, **steps}
    second: Words = {**read.words, **turned}
    # Below and above 0 mostly speak of the first, and 1 to 5 go from the first to the second.
    one, other = (first, second) if signed else (second, first)
    favoured = compared.first if signed else compared.second
    raise QuestionError(
        f"{raw.name}: {column!r} grades {compared.first!r} against {compared.second!r} from "
        f"{grades[0]:g} to {grades[-1]:g}; which of both does {grades[-1]:g} favour? The first "
        f"choice says {favoured!r}.",
        "words",
        (as_option(one), as_option(other)),
        as_line(one),
        likely=False,
    )


def _ask_about_places(
    raw: RawTable, read: TableKeys, compared: ComparisonColumns, column: str, places: Sequence[int]
) -> None:
    """Raise where nobody said which of two 1 and 2 are, and what 0 or 3 says."""
    if all(str(place) in read.words for place in places) or read.assume:
        return
    neither = [place for place in places if place not in (1, 2)]
    # By their names the columns may be numbered as the cells are; else by their order.
    ahead: Words = {**read.words, "1": 1.0, "2": -1.0, **{str(place): 0.0 for place in neither}}
    other: Words = {**read.words, "1": -1.0, "2": 1.0, **{str(place): 0.0 for place in neither}}
    tie = f", and {neither[0]} neither" if neither else ""
    raise QuestionError(
        f"{raw.name}: {column!r} says {listed(list(map(str, places)))} of {compared.first!r} and "
        f"{compared.second!r}; is 1 the first and 2 the second{tie}?",
        "words",
        (as_option(ahead), as_option(other)),
        as_line(ahead),
    )


def with_scores(
    base: pl.DataFrame, column: pl.Series, said: dict[str, float | None]
) -> pl.DataFrame:
    """The score in favour of system_a that each cell says; a word for no answer is missing."""
    if all_numbers(column):
        numbers = column.cast(pl.Float64)
        distinct = numbers.drop_nulls().unique()
        if all(f"{value:g}" in said for value in distinct):
            told = {value: said[f"{value:g}"] for value in distinct}
            numbers = numbers.replace_strict(told, default=None, return_dtype=pl.Float64)
        elif _is_one_to_two(column):
            numbers = 3 - 2 * numbers
        elif signed_grades(column) or _top_grade(column) or _place_numbers(column):
            grades = {float(grade): value for grade, value in said.items() if _is_grade(grade)}
            numbers = numbers.replace_strict(grades, default=None, return_dtype=pl.Float64)
        return base.with_columns(numbers.alias("score"))
    cells = column.cast(pl.String).str.strip_chars()
    distinct = cells.drop_nulls().unique()
    words = {fold(word): value for word, value in said.items()}
    places = {text: words.get(fold(text), place_of(text)) for text in distinct}
    score = cells.replace_strict(
        list(places), list(places.values()), default=None, return_dtype=pl.Float64
    )
    # Rows from before 2024 name the winner by its name.
    return (
        base.with_columns(cells.alias("_cell"), score.alias("score"))
        .with_columns(
            pl.when(pl.col("_cell") == pl.col("system_a"))
            .then(1.0)
            .when(pl.col("_cell") == pl.col("system_b"))
            .then(-1.0)
            .otherwise("score")
            .alias("score")
        )
        .drop("_cell")
    )


def _is_grade(word: str) -> bool:
    return re.fullmatch(r"-?\d", word) is not None

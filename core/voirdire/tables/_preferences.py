"""Comparisons by their cells: two columns that share the names of systems, and who is better."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING

import polars as pl

from voirdire.late import dataclass, pattern
from voirdire.tables._names import is_person, plain_word
from voirdire.tables._numbers import fold, folded, is_numeric

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: Words for the response in the first and in the second column, and for neither; folded.
FIRST = frozenset(
    ("a", "model a", "system a", "assistant a", "response a", "answer a", "left", "first", "1",
     "model 1", "system 1", "response 1", "output 1", "a>b", "a>>b", ">", ">>", "links", "gauche",
     "izquierda", "erste", "sinistra", "premier", "primero", "primera")
)  # fmt: skip
SECOND = frozenset(
    ("b", "model b", "system b", "assistant b", "response b", "answer b", "right", "second", "2",
     "model 2", "system 2", "response 2", "output 2", "b>a", "b>>a", "<", "<<", "rechts", "droite",
     "derecha", "zweite", "destra", "second", "segundo", "segunda")
)  # fmt: skip
TIE = frozenset(
    ("tie", "ties", "tied", "draw", "equal", "equals", "same", "both", "neither", "no difference",
     "tie (bothbad)",
     "both bad", "both good", "no preference", "unentschieden", "gleich", "égalité", "empate",
     "a=b", "a~b", "=", "≈", "pareggio", "remis", "gelijk")
)  # fmt: skip
#: Words for a comparison without an answer: two orders that disagree are no tie.
MISSING = frozenset(("error", "inconsistent", "n/a", "na", "none", "skip"))
#: The same words without blanks; beside a letter for each of both, C is a tie.
_FIRST, _SECOND, _TIE = (
    frozenset(re.sub(r"[\s_-]", "", word) for word in words)
    for words in (FIRST, SECOND, TIE | {"c", "none"})
)
_CLEAR = frozenset(("a>>b", "b>>a", ">>", "<<"))
_BRACKETS = pattern(r"^\[+|\]+$")
#: Words of a sentence on two responses beside the one that names a place, or neither.
_AROUND = pattern(
    r"\b(?:is|are|was|were|a|an|the|about|roughly|bit|little|much|far|clearly|slightly|somewhat"
    r"|strongly|significantly|better|best|preferred|prefer|wins?|won|winner|one|equally|good|bad"
    r"|ist|sind|viel|etwas|deutlich|besser|bevorzugt|est|un|peu|beaucoup|meilleure?|es|mejor|mucho)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[-+]?[\d.]+")
#: What stands between the words of a header.
_PARTS = pattern(r"[\W_]+")
#: What stands between two systems that are compared.
_VERSUS = pattern(r"\s+(?:vs?\.?|versus|gegen|contre|contra)\s+|\s*\|\s*", re.IGNORECASE)
#: Headers of the better and of the worse of two.
_BETTER = (
    ("chosen", "rejected"), ("winner", "loser"), ("better", "worse"), ("preferred", "rejected"),
    ("preferred", "other"), ("won", "lost"), ("best", "worst"),
)  # fmt: skip
#: A column of systems has at most so many names.
_MOST_SYSTEMS = 500
#: So many of the cells of a column must be words for a winner.
_WINNERS = 0.6


@dataclass(frozen=True, slots=True)
class ComparisonColumns:
    """The columns of a table of comparisons.

    Attributes
    ----------
    first, second : str
        The columns of the systems.
    winners : tuple of str
        Those that say which is better.
    """

    first: str
    second: str
    winners: tuple[str, ...]


def compared_in(
    frame: pl.DataFrame, said: Mapping[str, object] | None = None
) -> ComparisonColumns | None:
    """The columns of the two systems and of the winners; None where the table compares nothing.

    Two systems share their names and are never the same one in a row, which tells them from two
    columns of labels; a third column names one of both in most rows, or a tie. Of the words that
    somebody `said` what they mean it may hold any.

    Examples
    --------
    >>> rows = [("m", "n", "x"), ("n", "m", "y"), ("m", "n", "tie"), ("n", "m", "x")]
    >>> frame = pl.DataFrame(rows, schema=["x", "y", "best"], orient="row")
    >>> compared_in(frame)
    ComparisonColumns(first='x', second='y', winners=('best',))
    """
    # Numbers of two raters share their values too, and so do the labels of a person and of a judge
    # that never agree: neither are names of systems.
    for first, second in systems_in(frame):
        # Numbers are grades, which their own column tells: those of ids would look like them.
        words = words_of(first, second) | {
            fold(word): value if isinstance(value, float) else None
            for word, value in (said or {}).items()
            if not _NUMBER.fullmatch(word)
        }
        winners = tuple(
            c
            for c in frame.columns
            if c not in (first, second) and _says_winner(frame, c, words, (first, second))
        )
        if winners:
            return ComparisonColumns(first, second, winners)
    return None


def systems_in(frame: pl.DataFrame) -> Iterator[tuple[str, str]]:
    """Each two columns that share names of systems, and never have the same one in a row."""
    texts = [
        c
        for c in frame.columns
        if frame[c].dtype == pl.String and not (is_person(c) or is_numeric(frame[c]))
    ]
    names = {c: set(frame[c].drop_nulls().unique().to_list()) for c in texts}
    able = [c for c in texts if _few_enough(names[c], frame)]
    for first, second in combinations(able, 2):
        if _share_names(frame, first, second, names[first], names[second]):
            yield first, second


def better_and_worse(frame: pl.DataFrame) -> tuple[str, str] | None:
    """The columns of the better and of the worse system, where they are called so; else None.

    Examples
    --------
    >>> frame = pl.DataFrame({"Chosen": ["m", "n", "m", "n"], "Rejected": ["n", "m", "n", "m"]})
    >>> better_and_worse(frame)
    ('Chosen', 'Rejected')
    """
    plain = {plain_word(name): name for name in reversed(frame.columns)}
    called = ((plain[a], plain[b]) for a, b in _BETTER if a in plain and b in plain)
    return next((sides for sides in called if name_two_systems(frame, *sides)), None)


def with_pairs_apart(frame: pl.DataFrame) -> pl.DataFrame:
    """The table with two columns in place of one that names both systems in each cell: as a list
    (``["m", "n"]``), or with a sign or *vs* between them; as it is where no column does.

    Examples
    --------
    >>> rows = [("m vs n", "m"), ("n vs m", "n"), ("m vs n", "n"), ("n vs m", "m")]
    >>> with_pairs_apart(pl.DataFrame(rows, schema=["pair", "best"], orient="row")).columns
    ['pair.1', 'pair.2', 'best']
    """
    for column in frame.columns:
        cells = frame[column]
        if cells.dtype != pl.String or cells.null_count() or not len(cells):
            continue
        if _two_in(cells[0]) is None or cells.n_unique() > _MOST_SYSTEMS:
            continue
        pairs = {cell: _two_in(cell) for cell in cells.unique()}
        whole = {cell: two for cell, two in pairs.items() if two is not None}
        if len(whole) < len(pairs):
            continue
        sides = [f"{column}.{k + 1}" for k in (0, 1)]
        apart = [
            cells.replace_strict({c: two[k] for c, two in whole.items()}).alias(sides[k])
            for k in (0, 1)
        ]
        at = frame.columns.index(column)
        kept = frame.get_columns()
        made = pl.DataFrame([*kept[:at], *apart, *kept[at + 1 :]])
        # Two labels of a set look so too: a third column has to say which of both is better.
        found = compared_in(made)
        if found is not None and {found.first, found.second} == set(sides):
            return made
    return frame


def _two_in(cell: str) -> tuple[str, str] | None:
    """Two different names in a cell; None where it holds anything else."""
    parts: list[str] = []
    if cell[:1] == "[":
        try:
            given = json.loads(cell)
        except ValueError:
            return None
        parts = given if isinstance(given, list) and all(isinstance(g, str) for g in given) else []
    else:
        parts = [part.strip() for part in _VERSUS.split(cell)]
    return (parts[0], parts[1]) if len(parts) == 2 and parts[0] != parts[1] and all(parts) else None


def name_two_systems(frame: pl.DataFrame, first: str, second: str) -> bool:
    """Whether two columns hold names of the same systems, never the same one in a row.

    Examples
    --------
    >>> frame = pl.DataFrame({"chosen": ["m", "n", "m", "n"], "rejected": ["n", "m", "n", "m"]})
    >>> name_two_systems(frame, "chosen", "rejected")
    True
    """
    if frame[first].dtype != pl.String or frame[second].dtype != pl.String:
        return False
    one, other = (set(frame[c].drop_nulls().unique().to_list()) for c in (first, second))
    able = _few_enough(one, frame) and _few_enough(other, frame)
    return able and _share_names(frame, first, second, one, other)


def _few_enough(names: set[str], frame: pl.DataFrame) -> bool:
    return 1 < len(names) <= min(_MOST_SYSTEMS, max(2, frame.height / 2))


def _share_names(
    frame: pl.DataFrame, first: str, second: str, one: set[str], other: set[str]
) -> bool:
    # Two systems compare with each other, and none with itself: raters' labels are often equal.
    if 2 * len(one & other) < min(len(one), len(other)):
        return False
    same = frame.select((pl.col(first) == pl.col(second)).mean()).item()
    return same is not None and same <= 0.01


def place_of(text: str) -> float | None:
    """What a cell says of two: 1 (2: clearly) the first, -1 the second, 0 a tie; None otherwise.

    >>> place_of("model_a"), place_of("[[B>>A]]"), place_of("tie (bothbad)"), place_of("error")
    (1.0, -2.0, 0.0, None)
    """
    bare = _BRACKETS.sub("", text.strip()).casefold()
    if " " in bare and _AROUND.search(bare):  # *A is slightly better* says A, *about the same* same
        bare = _AROUND.sub(" ", bare)
    word = re.sub(r"\(.*\)|[\s_.!-]", "", bare)
    if word in _TIE:
        return 0.0
    size = 2.0 if word in _CLEAR else 1.0
    if word in _FIRST:
        return size
    return -size if word in _SECOND else None


def words_of(first: str, second: str) -> dict[str, float | None]:
    """The words that are known for the first, the second, a tie and no answer."""
    words: dict[str, float | None] = dict.fromkeys(FIRST, 1.0)
    words |= dict.fromkeys(SECOND, -1.0) | dict.fromkeys(TIE, 0.0) | dict.fromkeys(MISSING)
    words |= dict(zip(places_in(first, second), (1.0, -1.0), strict=False))
    return words | {fold(first): 1.0, fold(second): -1.0}


def places_in(first: str, second: str) -> tuple[str, ...]:
    """The words by which two headers differ; none where these are more than one each.

    >>> places_in("response_0_source", "response_1_source"), places_in("m", "other_m")
    (('0', '1'), ())
    """
    one, other = (_PARTS.split(name.casefold()) for name in (first, second))
    unlike = [pair for pair in zip(one, other, strict=False) if pair[0] != pair[1]]
    return unlike[0] if len(one) == len(other) > 1 and len(unlike) == 1 else ()


def _says_winner(
    frame: pl.DataFrame, column: str, words: Mapping[str, float | None], systems: tuple[str, str]
) -> bool:
    cells = frame[column]
    if signed_grades(cells):
        return True
    if cells.dtype.is_float() or cells.dtype.is_temporal() or cells.null_count() == len(cells):
        return False
    text = folded(cells.cast(pl.String))
    distinct = text.drop_nulls().unique().to_list()
    if len(distinct) > _MOST_SYSTEMS:
        return False
    by_name = (text == folded(frame[systems[0]])) | (text == folded(frame[systems[1]]))
    told = {word: words[word] if word in words else place_of(word) for word in distinct}
    signs = {(place > 0) - (place < 0) for place in told.values() if place is not None}
    both = signs >= {1, -1} or bool(by_name.any())
    said = [word for word, place in told.items() if place is not None or word in words]
    known = text.is_in(said) | by_name.fill_null(value=False)
    share = known.filter(text.is_not_null()).mean()
    return both and isinstance(share, float) and share >= _WINNERS


def signed_grades(cells: pl.Series) -> tuple[float, ...]:
    """The grades of a column of whole numbers on both sides of 0, at most 3 from it; none else.

    Examples
    --------
    >>> signed_grades(pl.Series([-2, 0, 2])), signed_grades(pl.Series([1, 2]))
    ((-2.0, 0.0, 2.0), ())
    """
    if not is_numeric(cells):
        return ()
    values = cells.cast(pl.Float64, strict=False).drop_nulls().unique().sort().to_list()
    whole = all(value == round(value) for value in values)
    both = bool(values) and -3 <= values[0] < 0 < values[-1] <= 3
    return tuple(values) if whole and both else ()


def strange_words(
    frame: pl.DataFrame, compared: ComparisonColumns, column: str, known: Mapping[str, object]
) -> dict[str, int]:
    """The words of a winner's column that say neither of both, no tie and no missing answer, and
    how often each stands there; `known` are words that somebody declared.
    """
    words = {**words_of(compared.first, compared.second), **{fold(w): v for w, v in known.items()}}
    sides = (compared.first, compared.second)
    systems = {fold(str(name)) for side in sides for name in frame[side].drop_nulls().unique()}
    counts = Counter(folded(frame[column].cast(pl.String)).drop_nulls().to_list())
    return {w: n for w, n in counts.items() if w and w not in words and w not in systems}

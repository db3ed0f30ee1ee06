"""Cells that should hold a score, as numbers or words of a usual order; a text is never guessed."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import polars as pl

from voirdire.late import pattern
from voirdire.parsing.numbers import MISSING_WORDS, read_numeral, snapped
from voirdire.tables._tables import NEAR, STATUS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from voirdire.parsing.numbers import Numeral
    from voirdire.schema import Scale

#: Cells that show whether a column holds numbers; later ones may still be texts.
_SAMPLE = 10_000
#: Letters of a cell that is a text, and neither a number nor a word.
_LONG = 80
#: A text of so many words is a sentence, where hardly any stands there twice.
_WORDS = 5
#: Words that say the better and the worse of two levels: reading them loses nothing.
PAIRS = (
    (("yes", "y", "true", "t"), ("no", "n", "false", "f")),
    (("pass", "passed"), ("fail", "failed")), (("good",), ("bad",)),
    (("correct",), ("incorrect",)), (("right",), ("wrong",)),
    (("acceptable",), ("unacceptable",)),
)  # fmt: skip
_PAIRED = {word for pair in PAIRS for level in pair for word in level}
#: What stands where no score came, and the status that it gives.
FATES = {
    **dict.fromkeys(("refused", "refusal", "declined", "refuse"), "refused"),
    **dict.fromkeys(("filtered", "blocked", "content_filter"), "filtered"),
    **dict.fromkeys(("truncated", "cut off"), "truncated"),
    **dict.fromkeys(("unparsable", "unparseable", "parse error", "parsing error"), "unparsable"),
    **dict.fromkeys(("error", "failed", "timeout", "timed out", "api error"), "failed"),
    **dict.fromkeys(
        ("not applicable", "not rated", "unrated", "skipped", "skip", "don't know", "dont know",
         "do not know", "no answer", "no response", "no rating", "cannot say", "can't say"),
        "blank",
    ),
}  # fmt: skip
# A word for no score, and why: "n/a: solved before", "refused (too long)". A hyphen needs blanks
# around it, so that "error-prone" is a word of its own. No such word has 40 letters: of a long text
# the rest need not be looked through.
_EXPLAINED = pattern(r"(.{1,40}?)(?:\s*[:;,(]\s*|\s+[-–—]\s+)\S")
#: The scales on which a number with a sign for per cent stands.
_SHARES = ((0, 100), (0, 1))

#: The usual orders of words of agreement, quality, frequency and degree, the lowest first.
ORDERS = (
    ("strongly disagree", "disagree", "agree", "strongly agree"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("strongly disagree", "disagree", "neither agree nor disagree", "agree", "strongly agree"),
    ("strongly disagree", "disagree", "somewhat disagree", "neutral", "somewhat agree", "agree",
     "strongly agree"),
    ("very poor", "poor", "fair", "good", "very good"),
    ("very poor", "poor", "fair", "good", "excellent"),
    ("poor", "fair", "good", "excellent"),
    ("poor", "fair", "good", "very good", "excellent"),
    ("very bad", "bad", "neutral", "good", "very good"),
    ("bad", "ok", "good"),
    ("bad", "mediocre", "good"),
    ("strongly disagree", "somewhat disagree", "neutral", "somewhat agree", "strongly agree"),
    ("strongly disagree", "somewhat disagree", "neither agree nor disagree", "somewhat agree",
     "strongly agree"),
    ("strongly disagree", "disagree", "somewhat disagree", "neither agree nor disagree",
     "somewhat agree", "agree", "strongly agree"),
    ("strongly disagree", "disagree", "undecided", "agree", "strongly agree"),
    ("strongly disagree", "disagree", "slightly disagree", "neutral", "slightly agree", "agree",
     "strongly agree"),
    ("completely disagree", "disagree", "neutral", "agree", "completely agree"),
    ("disagree", "neutral", "agree"),
    ("very unlikely", "unlikely", "neutral", "likely", "very likely"),
    ("not helpful", "somewhat helpful", "helpful", "very helpful"),
    ("never", "seldom", "sometimes", "often", "always"),
    ("none", "partial", "full"),
    ("incorrect", "partially correct", "correct"),
    ("sehr schlecht", "schlecht", "mittel", "gut", "sehr gut"),
    ("stimme gar nicht zu", "stimme nicht zu", "neutral", "stimme zu", "stimme voll zu"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("never", "sometimes", "about half the time", "most of the time", "always"),
    ("not at all", "slightly", "moderately", "very", "extremely"),
    ("not at all", "a little", "somewhat", "very much"),
    ("not at all", "slightly", "somewhat", "moderately", "very", "extremely"),
    ("not at all", "a little bit", "somewhat", "quite a bit", "very much"),
    ("none at all", "a little", "a moderate amount", "a lot", "a great deal"),
    ("none", "mild", "moderate", "severe"),
    ("very low", "low", "medium", "high", "very high"),
    ("low", "medium", "high"),
    ("very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied"),
    ("extremely dissatisfied", "somewhat dissatisfied", "neither satisfied nor dissatisfied",
     "somewhat satisfied", "extremely satisfied"),
    ("extremely unlikely", "somewhat unlikely", "neither likely nor unlikely", "somewhat likely",
     "extremely likely"),
    ("terrible", "poor", "average", "good", "excellent"),
    ("much worse", "somewhat worse", "about the same", "somewhat better", "much better"),
    ("trifft nicht zu", "trifft eher nicht zu", "teils/teils", "trifft eher zu", "trifft zu"),
    ("trifft nicht zu", "trifft eher nicht zu", "trifft eher zu", "trifft zu"),
    ("trifft gar nicht zu", "trifft eher nicht zu", "teils/teils", "trifft eher zu",
     "trifft voll zu"),
    ("trifft überhaupt nicht zu", "trifft eher nicht zu", "teils/teils", "trifft eher zu",
     "trifft voll und ganz zu"),
    ("stimme überhaupt nicht zu", "stimme eher nicht zu", "teils/teils", "stimme eher zu",
     "stimme voll und ganz zu"),
    ("stimme nicht zu", "stimme eher nicht zu", "neutral", "stimme eher zu", "stimme zu"),
    ("ungenügend", "mangelhaft", "ausreichend", "befriedigend", "gut", "sehr gut"),
    ("nie", "selten", "manchmal", "oft", "immer"),
    ("niedrig", "mittel", "hoch"),
    ("pas du tout d'accord", "pas d'accord", "neutre", "d'accord", "tout à fait d'accord"),
    ("pas du tout d'accord", "plutôt pas d'accord", "ni d'accord ni pas d'accord",
     "plutôt d'accord", "tout à fait d'accord"),
    ("très mauvais", "mauvais", "moyen", "bon", "très bon"),
    ("insuffisant", "faible", "moyen", "bon", "très bon"),
    ("jamais", "rarement", "parfois", "souvent", "toujours"),
    ("faible", "moyen", "élevé"),
    ("totalmente en desacuerdo", "en desacuerdo", "neutral", "de acuerdo",
     "totalmente de acuerdo"),
    ("muy malo", "malo", "regular", "bueno", "muy bueno"),
    ("nunca", "rara vez", "a veces", "a menudo", "siempre"),
    ("bajo", "medio", "alto"),
    ("pessimo", "scarso", "sufficiente", "buono", "ottimo"),
    ("helemaal mee oneens", "mee oneens", "neutraal", "mee eens", "helemaal mee eens"),
    ("zeer slecht", "slecht", "matig", "goed", "zeer goed"),
    ("discordo totalmente", "discordo", "neutro", "concordo", "concordo totalmente"),
    ("muito ruim", "ruim", "regular", "bom", "muito bom"),
)  # fmt: skip
#: Words of degree, behind which surveys write what is rated: ``very helpful``.
_DEGREES = frozenset(
    (
        "not at all",
        "slightly",
        "somewhat",
        "moderately",
        "quite",
        "very",
        "extremely",
        "a little",
        "very much",
    )
)
#: A word of degree and the rest; the longest of them first, as ``very`` begins ``very much``.
_DEGREE = rf"^(?:{'|'.join(sorted(_DEGREES, key=len, reverse=True))}) (.+)$"
_DEGREE_WORD = pattern(_DEGREE)
_ORDERED = frozenset(word for order in ORDERS for word in order)
#: Where more follows words of degree than this, they are sentences.
_MOST_NOUNS = 8
_Texts = TypeVar("_Texts", pl.Series, pl.Expr)


class Scores(NamedTuple):
    """Cells as numbers: `values` (null is missing), the unreadable ones, and what became of those
    that say it in a word.
    """

    values: pl.Series
    bad: pl.Series
    fates: pl.Series


def to_scores(
    column: pl.Series, *, decimal_comma: bool = False, scale: Scale | None = None
) -> Scores:
    """Scores of a column, whatever they are written as.

    "3,5" is 3.5; "1,234" is a number only where a comma stands for nothing else
    (`decimal_comma`). "4 stars" and "Score: 4" are 4. "85%" is 85, on a scale of 0 to 1 0.85, and
    unreadable on any other but 0 to 100 or where not all cells are in per cent; fewer such than
    there are numbers are missing, with the status ``unparsable``. Two words such as "pass" and
    "fail" alone are 1 and 0. A number within round-off of an end of the scale is it.

    Examples
    --------
    >>> scores, bad, fates = to_scores(pl.Series(["4", " 3.5", "n/a", "good", "refused"]))
    >>> scores.to_list(), bad.to_list()
    ([4.0, 3.5, None, None, None], [False, False, False, True, False])
    >>> fates.to_list()[-1]
    'refused'
    """
    if column.dtype == pl.Float32:
        column = column.cast(pl.String)  # 0.1 and not 0.10000000149
    if column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null):
        scores = column.cast(pl.Float64).fill_nan(None)
        bad = scores.is_infinite().fill_null(value=False)
        return Scores(_on(scores, scale), bad, _no_fates(column))
    if column.dtype.is_temporal():
        none = pl.Series(column.name, [None] * len(column), dtype=pl.Float64)
        return Scores(none, column.is_not_null(), _no_fates(column))
    return _of_texts(column, scale, decimal_comma=decimal_comma)


def is_numeric(column: pl.Series, *, decimal_comma: bool = False) -> bool:
    """Whether a column holds scores: numbers, or texts most of which (of the first) are numbers."""
    if column.dtype == pl.Float32:
        column = column.cast(pl.String)
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        return True
    if column.dtype.is_temporal() or column.dtype == pl.Null or are_texts(column):
        return False
    cells = column.drop_nulls().head(_SAMPLE)
    if cells.dtype == pl.String:
        return _hold_numbers(tuple(cells), decimal_comma=decimal_comma)
    return _are_numbers(cells, decimal_comma=decimal_comma)


@lru_cache(maxsize=64)  # each rule about columns asks again
def _hold_numbers(cells: tuple[str, ...], *, decimal_comma: bool) -> bool:
    return _are_numbers(pl.Series(cells, dtype=pl.String), decimal_comma=decimal_comma)


def _are_numbers(cells: pl.Series, *, decimal_comma: bool) -> bool:
    scores, bad, _ = to_scores(cells, decimal_comma=decimal_comma)
    numbers = len(scores) - scores.null_count()
    return numbers > 0 and numbers >= int(bad.sum())


def are_texts(column: pl.Series) -> bool:
    """Whether most cells (of the first) are longer than any number or word of a scale, or are of
    five words and more and nearly all of them different.
    """
    if column.dtype != pl.String:
        return False
    cells = column.drop_nulls().head(_SAMPLE)
    lengths = cells.str.len_chars()
    if not (lengths >= 2 * _WORDS - 1).any():  # no room for so many words
        return False
    if 2 * int((lengths > _LONG).sum()) > len(cells):
        return True
    sentences = cells.str.strip_chars().str.count_matches(r"\s+") >= _WORDS - 1
    return 2 * int(sentences.sum()) > len(cells) and cells.n_unique() > 0.9 * len(cells) > _WORDS


def in_per_cent(column: pl.Series) -> bool:
    """Whether most cells are written in per cent; a few such cells say nothing of a scale."""
    if column.dtype != pl.String:
        return False
    cells = column.drop_nulls()
    return 2 * int(cells.str.contains(r"^\s*[\d.,]+\s*%\s*$").sum()) > len(cells)


def _of_texts(column: pl.Series, scale: Scale | None, *, decimal_comma: bool) -> Scores:
    text = column.cast(pl.String).str.strip_chars().str.to_lowercase()
    # Plain numbers all at once, by Polars: only the other texts, each once, are read one by one.
    values = text.cast(pl.Float64, strict=False)
    if not values.null_count() and values.is_finite().all():
        scores = _on(values, scale).alias(column.name)
        return Scores(scores, scores.is_null(), _no_fates(column))
    empty = text.is_null() | text.is_in(list(MISSING_WORDS))
    values = values.set(~values.is_finite().fill_null(value=False) | empty, None)
    words = text.filter(values.is_null() & ~empty).unique(maintain_order=True).to_list()
    fates = _no_fates(column)
    if words:
        read, became, elsewhere = _read(words, values, scale, decimal_comma=decimal_comma)
        numbers = text.replace_strict(read, default=None, return_dtype=pl.Float64)
        values = values.zip_with(values.is_not_null(), numbers)
        # A few numbers of another scale are slips; as many as there are numbers, they are a
        # question.
        if int(text.is_in(elsewhere).sum()) < len(values) - values.null_count():
            became |= dict.fromkeys(elsewhere, "unparsable")
        fates = text.replace_strict(became, default=None, return_dtype=STATUS)
    bad = values.is_null() & ~empty & fates.is_null()
    return Scores(_on(values, scale).alias(column.name), bad, fates.alias(column.name))


def _read(
    words: list[str], plain: pl.Series, scale: Scale | None, *, decimal_comma: bool
) -> tuple[dict[str, float], dict[str, str], list[str]]:
    """Texts that are no plain numbers, read together: numbers, and what became of the rest.

    Last those that say a number of another scale: ``80 %`` or ``8/10`` among 1 to 5.
    """
    # Yes and no beside 3 and 4 are remarks, and no levels.
    digits = set(plain.drop_nulls().unique())
    pair = _pair(words) if digits <= {0.0, 1.0} else {}
    if pair:
        return pair, _said(words, pair), []
    numerals = {word: numeral for word in words if (numeral := read_numeral(word)) is not None}
    read = {w: v for w, n in numerals.items() if (v := _value(n, comma=decimal_comma)) is not None}
    stated = list(read)
    shares = {word for word in read if numerals[word].percent}
    tops = {n.top for n in numerals.values() if n.top is not None}
    if shares:
        whole = scale is None or (scale.low, scale.high) in _SHARES or _is_open(scale)
        # 85 % beside 4 is of two scales, whatever the declared one.
        if not whole or digits or len(shares) < len(read):
            read = {word: value for word, value in read.items() if word not in shares}
        elif scale is not None and scale.high == 1:
            read = {word: value / 100 for word, value in read.items()}
    wanted = None if scale is None or _is_open(scale) else scale.high
    # 8/10 on a scale to 5 would be 8, which is off it, or 4, which nobody wrote.
    if len(tops) > 1 or (wanted is not None and tops - {wanted}):
        read = {w: value for w, value in read.items() if numerals[w].top in (None, wanted)}
    return read, _said(words, read), [word for word in stated if word not in read]


def _pair(words: list[str]) -> dict[str, float]:
    """Words of the two levels that a column is about, as 1 and 0; none where it is about others.

    Words that are neither stay out where both levels are named: *maybe* beside yes and no is
    asked about, and does not make yes a word that nobody knows.
    """
    if _PAIRED.isdisjoint(words):
        return {}
    plain = [word for word in words if _fate(word) is None]
    for better, worse in PAIRS:
        # "failed" is a level beside "passed", and else what became of a reply.
        inside = [word for word in words if word in (*better, *worse)]
        alone = bool(inside) and (set(plain) <= set(inside) or len(inside) == len(words))
        if alone or (set(inside) & set(better) and set(inside) & set(worse)):
            return {word: float(word in better) for word in inside}
    return {}


def _said(words: list[str], read: Iterable[str]) -> dict[str, str]:
    taken = set(read)
    fates = {word: _fate(word) for word in words if word not in taken}
    return {word: fate for word, fate in fates.items() if fate is not None}


def _fate(word: str) -> str | None:
    """What a cell says became of its score, with a reason behind it or none; None: nothing.

    >>> _fate("refused"), _fate("n/a: solved before"), _fate("good")
    ('refused', 'blank', None)
    """
    explained = _EXPLAINED.match(word)
    head = explained[1] if explained else word
    return FATES.get(head) or ("blank" if explained and head in MISSING_WORDS else None)


def _value(numeral: Numeral, *, comma: bool) -> float | None:
    """What a numeral says in a column; of the two readings of "1,234" none, unless commas are
    decimal there.
    """
    return None if numeral.other is not None and not comma else numeral.value


def _is_open(scale: Scale) -> bool:
    """Whether a scale only stands for one that is not known yet."""
    return scale.low == -scale.high


def _on(scores: pl.Series, scale: Scale | None) -> pl.Series:
    """Scores within round-off of an end of the scale are that end."""
    if scale is None or _is_open(scale):
        return scores
    slack = NEAR * (scale.high - scale.low)
    off = (scores < scale.low) & (scores >= scale.low - slack)
    off |= (scores > scale.high) & (scores <= scale.high + slack)
    near = scores.filter(off.fill_null(value=False)).unique().to_list()
    if not near:
        return scores
    return scores.replace({value: snapped(value, scale.low, scale.high) for value in near})


def _no_fates(column: pl.Series) -> pl.Series:
    return pl.Series(column.name, [None], dtype=STATUS).new_from_index(0, len(column))


def fold(word: str) -> str:
    """A word as it is compared: in lower case, with single blanks."""
    return str(folded(pl.Series([word]))[0])


def folded(column: _Texts) -> _Texts:
    """Texts as they are compared."""
    return column.str.strip_chars().str.to_lowercase().str.replace_all(r"[\s_]+", " ")


def spoken(text: pl.Series) -> pl.Series:
    """What a column says but for missing scores."""
    cells = text.drop_nulls()
    return cells.filter(~cells.is_in([*MISSING_WORDS, *FATES]))


def inside(text: pl.Series, order: Sequence[str]) -> list[str]:
    """What a column says in an order's words; nothing where it mostly says something else."""
    cells = spoken(text)
    inside = cells.filter(cells.is_in(list(order)))
    return inside.to_list() if 2 * len(inside) > len(cells) else []


def is_ordered(word: str) -> bool:
    """Whether a folded word is one of a usual order, with what is rated behind it or without.

    Examples
    --------
    >>> is_ordered("somewhat agree"), is_ordered("very helpful"), is_ordered("gpt-4o")
    (True, True, False)
    """
    return word in _ORDERED or _DEGREE_WORD.match(word) is not None


def order_of(texts: Mapping[str, pl.Series]) -> tuple[str, ...]:
    """The usual order that most words of one or more columns are of, the shortest of several."""
    best: tuple[str, ...] = ()
    most = 0
    columns = [dict(spoken(text).value_counts().iter_rows()) for text in texts.values()]
    # The shortest first: all words of a long order may be of a short one that needs no others.
    for order in sorted([*ORDERS, *_with_noun(texts.values())], key=len):
        held, count, cells = [], 0, 0
        for column in columns:
            own = sum(column.get(word, 0) for word in order)
            if 2 * own > (whole := sum(column.values())):
                held += [word for word in order if word in column]
                count, cells = count + own, cells + whole
        words = set(held)
        # Two words, such as low and high, may be of another order if there are other words as well.
        alone = count == cells
        # `good` and `bad` alone are a pair, which is read without a question.
        if count > most and len(words) > (1 if alone else 2) and not words <= {"good", "bad"}:
            best, most = order, count
    return best


def _with_noun(texts: Iterable[pl.Series]) -> list[tuple[str, ...]]:
    """The orders of degree with what is rated behind each word: ``very helpful``."""
    nouns = {noun for text in texts for noun in text.str.extract(_DEGREE, 1).drop_nulls().unique()}
    if len(nouns) > _MOST_NOUNS:
        return []
    return [
        tuple(f"{degree} {noun}" for degree in order)
        for noun in sorted(nouns)
        for order in ORDERS
        if set(order) <= _DEGREES
    ]


def says_scores(cells: pl.Series, *, comma: bool = False) -> bool:
    """Whether a column's cells are numbers, or the words of a usual order."""
    if is_numeric(cells, decimal_comma=comma):
        return True
    if cells.dtype != pl.String or are_texts(cells):
        return False
    return bool(order_of({cells.name: folded(cells)}))

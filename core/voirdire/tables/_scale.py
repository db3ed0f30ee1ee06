"""A scale guessed from the values, for files that come without a study."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from voirdire.errors import QuestionError, TableError, listed
from voirdire.schema import Scale
from voirdire.tables._names import head_of
from voirdire.tables._tables import PLACES, plural
from voirdire.tables._words import MISSING, Words, as_line, as_option, declared_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from voirdire.study import Source
    from voirdire.tables._files import RawTable

#: Values this rare at either end may be slips; a scale is not stretched for them.
_RARE = 0.005
#: Widths of levels that people use, the widest first: whole numbers also lie on steps of a half.
_STEPS = (1.0, 0.5, 0.25, 0.1)
#: What people write for a missing score, by the highest score beside which it can be none.
_CODES = {77: 10, 88: 10, 97: 10, 98: 10, 99: 10, 777: 100, 888: 100, 999: 100, 9999: 1000}
#: Below any usual scale, so that it matters little how far the scale reaches.
_NEGATIVE_CODES = (-1, -7, -8, -9, -77, -88, -97, -98, -99, -777, -888, -999, -9999)
#: The share of scores that lie on a step: a few means of two raters among them do not change it.
_MOSTLY = 0.99
#: From so many scores on, a highest level of 2 or 3 is the end of the scale and no chance.
_ENOUGH = 30
#: Where more of the scores than this lie beyond what a header states, one of them is wrong.
_MOST_BEYOND = 0.5
#: More levels than these are not named one by one.
_MOST_LEVELS = 11


def is_code(value: float, low: float, high: float) -> bool:
    """Whether a number is a usual code for a missing score beside scores from `low` to `high`.

    Examples
    --------
    >>> is_code(99, 1, 5), is_code(99, 0, 100), is_code(-1, 1, 5), is_code(-1, 0, 1)
    (True, False, True, False)
    """
    if value < 0:
        return value in _NEGATIVE_CODES and low >= 0 and (high >= 3 or value < -1)
    return high <= _CODES.get(int(value), -1) and value == int(value)


def without_codes(scores: pl.Series) -> pl.Series:
    """Scores without codes for missing ones, where most are none."""
    usual = list(map(float, (*_CODES, *_NEGATIVE_CODES)))
    rest = scores.filter(~scores.is_in(usual))
    # Where most are such numbers, they are scores: percentages hold 77, 88 and 99.
    if len(rest) == len(scores) or 2 * len(rest) < len(scores):
        return scores
    low, high = float(rest[0]), float(rest[-1])
    codes = [value for value in usual if is_code(value, low, high)]
    return scores.filter(~scores.is_in(codes))


#: Ends of the usual scales from 1; a value beyond one whose levels are all used is looked at.
_ENDS = (10, 7, 5)
#: A code stands in at most this share of the scores of those who use it.
_CODED = 0.25
#: A value beyond a scale that is not used in full, or that both sides use, is one of the scale from
#: this share of all scores on.
_SELDOM = 0.05
#: Two steps of single precision: a number this near to a whole one is it but for round-off.
_ROUND_OFF = 2.0**-22


class OddLevels(NamedTuple):
    """Values out of the pattern of the others, which would stretch the scale.

    Attributes
    ----------
    coded : tuple of float
        No scores, as sure as can be: only one side uses them, beside a usual scale in full use.
    doubtful : tuple of float
        These may be scores, or stand for missing ones.
    """

    coded: tuple[float, ...] = ()
    doubtful: tuple[float, ...] = ()


def odd_levels(scores: pl.Series, sides: pl.Series) -> OddLevels:
    """Values beyond the scale that the others keep to: 7, 8, 9, 8.5 or 0 beside 1 to 5.

    Where all levels of a usual scale (1 to 5, 7 or 10) are used, a value is no score that only one
    side uses, and seldom. One that a side uses often, that both use seldom, or that stands beyond a
    gap where the levels are others (0 and 1, 1 to 4), is doubtful. 6 and 8 beside 1 to 5 are the
    rest of a longer scale, and so are 0 and 0.5.

    Parameters
    ----------
    scores : Series of float
        Scores; null is missing.
    sides : Series of str
        Who gave each: people or judges, or a rater's name.

    Examples
    --------
    >>> people = [1.0, 2.0, 3.0, 4.0, 5.0, 5.0, 4.0, 3.0, 8.5, 9.0]
    >>> judges = [1.0, 2.0, 3.0, 4.0, 5.0, 5.0, 4.0, 3.0, 1.0, 2.0]
    >>> sides = pl.Series(["people"] * 10 + ["judges"] * 10)
    >>> odd_levels(pl.Series(people + judges), sides)
    OddLevels(coded=(8.5, 9.0), doubtful=())
    """
    frame = pl.DataFrame({"score": scores.cast(pl.Float64), "side": sides}).drop_nulls()
    counts = frame.group_by("score", "side").len()
    users = counts.group_by("score").agg(n=pl.len(), times=pl.col("len").sum()).sort("score")
    usual = list(map(float, (*_CODES, *_NEGATIVE_CODES)))
    # Usual codes are looked at by `infer_scale`; here by the pattern of all others.
    levels = users.filter(~pl.col("score").is_in(usual))["score"].to_list()
    low, high, full = _core(set(levels))
    rare = set(users.filter(pl.col("times") <= _SELDOM * frame.height)["score"])
    if (low, high) == (0, 2) and 2 in rare:
        high = 1.0  # yes and no, and a third thing
    if high <= low:
        return OddLevels()
    above = [level for level in levels if level > high]
    below = [level for level in levels if level < low]
    # 6 and 7 beside 1 to 5 go on without a gap: the scale is longer than it seemed.
    goes_on = len(above) > 1 and above[0] == high + 1
    beyond = {*([] if goes_on else above), *(below if len(below) == 1 else [])}
    # Of half stars the lowest is half a star, and no code.
    halves = [level for level in levels if level % 1 == 0.5 and low < level < high]
    beyond -= {low - 0.5, high + 0.5} if len(halves) > 2 else set()
    times = dict(users.select("score", "times").iter_rows())
    if sum(times[level] for level in beyond) > sum(times[level] for level in levels) / 2:
        return OddLevels()  # few whole numbers next to each other are no scale: 0 to 100
    totals = dict(frame.group_by("side").len().iter_rows())
    seldom = {row[0] for row in counts.iter_rows() if row[2] <= _CODED * totals[row[1]]}
    outside = users.filter(pl.col("score").is_in(list(beyond)))
    few = outside["times"].sum() <= _SELDOM * frame.height  # else the others are the pattern
    coded, doubtful = [], []
    for level, n, _ in outside.iter_rows():
        if full and n == 1 and level in seldom:
            coded.append(level)
        elif (full and n == 1) or (
            few and level in rare and (full or level > high + (high > 1) or level < low - 1)
        ):
            doubtful.append(level)
    return OddLevels(tuple(coded), tuple(doubtful))


def _core(levels: set[float]) -> tuple[float, float, bool]:
    """The ends of the whole levels that are used without a gap, and whether from 1 to a usual end.

    Of others the end is that of the usual scale that holds them: 5 where 1 to 4 are used.
    """
    end = next((end for end in _ENDS if levels >= set(map(float, range(1, end + 1)))), None)
    if end is not None:
        return 1.0, float(end), True
    low = next((start for start in (0.0, 1.0) if start in levels), 0.0)
    high = low
    while high + 1 in levels:
        high += 1
    if high == low:
        return 0.0, 0.0, False
    return low, (high if low == 0 else max(high, 5.0)), False


def drafted_scale(
    ratings: pl.DataFrame, sides: pl.Series, tables: Sequence[Source]
) -> tuple[Scale, tuple[float, ...]]:
    """The scale of ratings without the values that are no scores, and those values.

    Parameters
    ----------
    ratings : DataFrame
        ``item``, ``rater``, ``score``.
    sides : Series of str
        Who gave each: people or judges, or a rater's name.
    tables : sequence of Source
        The files of them that are no other tool's; what these declare to be a score is one.

    Raises
    ------
    QuestionError
        Some values may be scores, and nobody said what they are.
    """
    scores = ratings["score"]
    odd = odd_levels(scores, sides)
    declared = declared_numbers(tables)
    coded = tuple(level for level in odd.coded if level not in declared)
    doubtful = tuple(level for level in odd.doubtful if level not in declared)
    scale = infer_scale(scores.filter(~scores.is_in([*coded, *doubtful])))
    if doubtful:
        wide = infer_scale(scores.filter(~scores.is_in(list(coded))))
        if (wide.low, wide.high) == (scale.low, scale.high):
            return wide, coded
        if tables and not tables[0].assume:
            raise _score_or_not(tables[0], ratings, doubtful, scale)
    return scale, (*coded, *doubtful)


def _score_or_not(
    source: Source, ratings: pl.DataFrame, doubtful: Sequence[float], inside: Scale
) -> QuestionError:
    odd = ratings.filter(pl.col("score").is_in(doubtful))
    places = [f"{rater} on item {item!r}" for rater, item in odd.select("rater", "item").rows()]
    missing: Words = dict.fromkeys((f"{level:g}" for level in doubtful), MISSING)
    scores: Words = {f"{level:g}": level for level in doubtful}
    # Missing first: a value that others do not use is mostly a code.
    both = [{**source.words, **missing}, {**source.words, **scores}]
    more = len(places) - PLACES
    return QuestionError(
        f"{source.path}: {', '.join(f'{level:g}' for level in doubtful)} stands in "
        f"{plural(odd.height, 'score')} ({', '.join(places[:PLACES])}"
        f"{f' and {more} more' if more > 0 else ''}), and all others are from {inside.low:g} to "
        f"{inside.high:g}; is it a score, or does it stand for a missing one?",
        "words",
        tuple(map(as_option, both)),
        as_line(both[0]),
    )


#: Fewer of a rater's scores between whole numbers than this share may be slips.
_FEW_BETWEEN = 0.05


def few_between(ratings: pl.DataFrame) -> str:
    """A sentence on raters whose scores are whole numbers but for a few, which set the step."""
    between = pl.col("score") != pl.col("score").round()
    few = (
        ratings.drop_nulls("score")
        .group_by("rater", maintain_order=True)
        .agg(
            pl.col("score").filter(between).unique(maintain_order=True),
            between.sum().alias("n"),
            pl.len(),
        )
        .filter(pl.col("n") > 0, pl.col("n") <= _FEW_BETWEEN * pl.col("len"))
    )
    sentences = [
        f" {plural(n, 'score')} of {rater} of {count:,} {'is' if n == 1 else 'are'} no whole "
        f"{'number' if n == 1 else 'numbers'} ({', '.join(f'{one:g}' for one in values[:5])})."
        for rater, values, n, count in few.iter_rows()
    ]
    return "".join(sentences)


def infer_scale(scores: pl.Series) -> Scale:
    """The usual scale that holds nearly all scores: 1..5 where they are 1..5, 0..1 for labels.

    Codes for a missing score, such as 99 or -1 beside 1..5, do not stretch it either.
    Values that make up under half a percent beyond an end do not stretch it, so that a few zeros
    on a 1..5 scale are found to be off it.

    Examples
    --------
    >>> import polars as pl
    >>> infer_scale(pl.Series([1, 2, 5, 4] * 100 + [0]))
    Scale(low=1.0, high=5.0, step=1.0)
    >>> infer_scale(pl.Series([0.0, 1.0, 1.0]))
    Scale(low=0.0, high=1.0, step=1.0)
    >>> infer_scale(pl.Series([0.137, 0.52, 0.981])).continuous
    True
    """
    numbers = scores.cast(pl.Float64).drop_nulls()
    # Single precision and divisions leave 3.0000002, which would make any scale continuous.
    whole = numbers.round()
    slack = _ROUND_OFF * whole.abs().clip(lower_bound=1)
    present = without_codes(whole.zip_with((numbers - whole).abs() <= slack, numbers).sort())
    n = len(present)
    if n == 0:
        return Scale()
    skip = math.floor(n * _RARE)
    low, high = float(present[skip]), float(present[n - 1 - skip])
    ends = _ends(low, high, n)
    return Scale(*ends, _step(present, *ends))


def _ends(low: float, high: float, n: int) -> tuple[float, float]:
    # Comparisons run from -2 to 2: with a score below 0 a scale is as long on either side.
    if low < 0:
        most = float(math.ceil(max(-low, high)))
        return -most, most
    if low < 1:
        tops = (1, 2, 3, 4, 5, 10, 100)
        return 0.0, _first(tops, high)
    # Of few scores the highest may not have been given yet: 1 to 3 may be the half of 1 to 5.
    if high <= 3 and n >= _ENOUGH and low < high:
        return 1.0, float(math.ceil(high))
    if high <= 10:
        return 1.0, _first((5, 7, 10), high)
    return 0.0, _first((100, 1000), high)


def _first(tops: tuple[int, ...], high: float) -> float:
    return float(next((top for top in tops if high <= top), math.ceil(high)))


def _step(present: pl.Series, low: float, high: float) -> float:
    """The widest usual step that nearly all scores keep to.

    Where none is, half of the scores on whole levels of a scale of several are those of raters
    beside means of raters, and the step is 1; any other scale is continuous, and the step 0.
    """
    inside = present.filter((present >= low) & (present <= high))
    kept = {step: _kept(inside - low, step) for step in _STEPS}
    for step in _STEPS:
        if step < high - low + 1e-9 and kept[step] >= _MOSTLY * len(inside):
            return step
    return 1.0 if high - low > 1 and 2 * kept[1.0] >= len(inside) else 0.0


def _kept(above: pl.Series, step: float) -> int:
    """How many scores lie whole steps above the scale's end."""
    steps = above / step
    return int(((steps - steps.round()).abs() < 1e-9).sum())


def stated_scale(name: str, columns: Sequence[str], scores: pl.Series) -> Scale | None:
    """The scale that headers state; None where none does.

    Raises
    ------
    QuestionError
        Headers state different scales.
    TableError
        Most scores lie beyond the scale that a header states.
    """
    ends: dict[tuple[float | None, float], str] = {}
    for column in columns:
        head = head_of(column)
        if head.high is not None:
            ends.setdefault((head.low, head.high), column)
    if len(ends) > 1:
        first, *others = ends.values()
        raise QuestionError(
            f"{name}: headers state different scales ({listed([first, *others])}), and a study has "
            "one; which columns are left out?",
            "ignore",
            tuple(others),
            f"ignore = {list(others)}".replace("'", '"'),
            likely=False,
        )
    if not ends:
        return None
    (((low, high), column),) = ends.items()
    numbers = scores.cast(pl.Float64).drop_nulls()
    # "out of 10" names the high end alone.
    low = infer_scale(numbers).low if low is None else low
    within = numbers.filter(numbers.is_between(low, high))
    if len(within) < (1 - _MOST_BEYOND) * len(numbers):
        raise TableError(
            f"{name}: header {column!r} says that scores run from {low:g} to {high:g}, and "
            f"{len(numbers) - len(within)} of {len(numbers)} do not; correct one of the two"
        )
    return Scale(low, high, infer_scale(within).step)


def ask_about_direction(raw: RawTable, source: Source, columns: Iterable[str]) -> None:
    """Raise where a header says that low scores are good, for more is better in every table here.

    Raises
    ------
    QuestionError
        Nobody said whether the scores are turned over or kept as they are.
    TableError
        Headers state both directions, or there are too many levels to be named.
    """
    best = {column: head_of(column).best for column in columns}
    down = [column for column, end in best.items() if end == "low"]
    up = [column for column, end in best.items() if end == "high"]
    if not down:
        return
    if up:
        raise TableError(
            f"{raw.name}: in {listed(down)} low scores are good and in {listed(up)} high ones, by "
            "their headers; turn one side over in the file, or leave it out with --ignore"
        )
    cells = [raw.frame[column].cast(pl.Float64, strict=False) for column in best]
    values = pl.concat(cells).drop_nulls()
    scale = infer_scale(values)
    stated = head_of(down[0])
    low = scale.low if stated.low is None else stated.low
    high = scale.high if stated.high is None else stated.high
    # All levels, used or not: the answer is a table of words, and must hold whatever comes later.
    levels = sorted({*values.to_list(), low, high, *map(float, range(int(low), int(high) + 1))})
    if len(levels) > _MOST_LEVELS:
        raise TableError(
            f"{raw.name}: in {listed(down)} low scores are good, by the header, and more is better "
            "here: turn the scores over in the file"
        )
    if {f"{level:g}" for level in levels} <= set(source.words):
        return
    turned: Words = {f"{level:g}": low + high - level for level in levels}
    kept: Words = {f"{level:g}": level for level in levels}
    raise QuestionError(
        f"{raw.name}: in {listed(down)} low scores are good, by the header, and more is better "
        "here; are they turned over (the first choice, for all columns of scores), or kept?",
        "words",
        tuple(as_option({**source.words, **each}) for each in (turned, kept)),
        as_line({**source.words, **turned}),
        likely=False,
    )


def unlike_scales(name: str, ratings: pl.DataFrame, *, assume: bool) -> str:
    """A sentence on attributes of a tool that are on unlike scales, such as 0 to 1 and 1 to 5.

    Raises
    ------
    QuestionError
        Nobody accepted that one scale is taken for all.
    """
    by_attribute = ratings.drop_nulls("score").group_by("attribute", maintain_order=True)
    scales = {str(one): infer_scale(part["score"]) for (one,), part in by_attribute}
    # The first attribute of each scale: these are offered.
    first = {(scale.low, scale.high): one for one, scale in reversed(list(scales.items()))}
    if len(first) < 2:
        return ""
    spans = ", ".join(f"{one} {scale.low:g} to {scale.high:g}" for one, scale in scales.items())
    if not assume:
        raise QuestionError(
            f"{name}: attributes seem to be on unlike scales ({spans}), and a study has "
            f"one scale: which of them are examined?",
            "only",
            tuple(reversed(first.values())),
            f'only = ["{next(reversed(first.values()))}"]',
        )
    return f" Attributes seem to be on unlike scales: {spans}."

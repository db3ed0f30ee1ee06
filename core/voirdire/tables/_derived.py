"""Raters that are made of others: means, majorities and what was agreed on afterwards."""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire.late import dataclass, pattern
from voirdire.tables._names import kind_of
from voirdire.tables._numbers import to_scores
from voirdire.tables._values import is_score

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from voirdire.tables._files import RawTable

    Floats = NDArray[np.float64]

#: Fewer responses than this may agree by chance.
_LEAST = 12
#: Of more raters than this only all together are looked at, and not each choice of some.
_MOST = 6
#: Means are written with two decimals, or as whole numbers.
_ROUNDED = 0.00501
#: A linear function of fewer values is any function; and what rounding leaves of its range.
_FEWEST_VALUES, _SLIPS = 3, 0.002
#: Words of a name over what several raters' scores come to, in the languages of most files.
_SUMMED = pattern(
    r"(?:^|[^a-zäöüé])(?:mean|avg|average|median|mode|sum|total|max|min|majority|consensus|aggregate\w*"
    r"|mittelwert|mittel|durchschnitt|mehrheit\w*|konsens|summe|moyenne|majorit\w*|somme|media|promedio"
    r"|mayor[ií]a|consenso"
    # Summaries of how far they differ are no judgements either.
    r"|sd|std|stdev|stddev|var|variance|spread|range|disagreement|streuung|standardabweichung"
    r"|spannweite|[ée]cart|varianz|desviaci[oó]n|rango)(?:$|[^a-zäöüé])",
    re.IGNORECASE,
)
#: Words over what somebody settled after the others had rated.
_SETTLED = pattern(
    r"(?:^|[^a-z])(?:gold|final\w*|adjudicat\w*|agreed|resolved|reconciled|settled)(?:$|[^a-z])",
    re.IGNORECASE,
)


#: How far several raters' scores differ, in the ways that a file may tell it.
_SPREADS = (
    "the standard deviation",
    "the standard deviation of all",
    "the variance",
    "the variance of all",
    "the range",
)


@dataclass(frozen=True, slots=True)
class Derived:
    """A rater made of others.

    Attributes
    ----------
    rater : str
    of : tuple of str
        Those it is made of.
    how : str
        ``"the mean"``, ``"the majority"``; empty where only its name says so.
    """

    rater: str
    of: tuple[str, ...]
    how: str = ""


def derived_raters(
    ratings: pl.DataFrame, people: Sequence[str], named: Sequence[str] = ()
) -> tuple[Derived, ...]:
    """The raters whose scores are a function of others', and people called so who may be.

    Parameters
    ----------
    ratings : DataFrame
        ``item, system, run, attribute, rater, score``.
    people : sequence of str
        The raters that are people.
    named : sequence of str
        Raters that somebody named as reference or judge: these are what they are said to be.

    Examples
    --------
    >>> scores = {"ann": [1, 2, 3] * 5, "ben": [2, 2, 5] * 5, "human_mean": [1.5, 2, 4] * 5}
    >>> rows = [(str(at), who, s) for who, each in scores.items() for at, s in enumerate(each)]
    >>> frame = pl.DataFrame(rows, schema=["item", "rater", "score"], orient="row", strict=False)
    >>> frame = frame.with_columns(system=None, run=1, attribute=pl.lit("score"))
    >>> derived_raters(frame, ["ann", "ben", "human_mean"])
    (Derived(rater='human_mean', of=('ann', 'ben'), how='the mean'),)
    """
    raters = ratings["rater"].cast(pl.String).unique(maintain_order=True).to_list()
    looked_at = [r for r in raters if r not in named and (kind_of(r) != "judge" or _sums(r))]
    if len(raters) < 3 or not looked_at:
        return ()
    keys = ["item", "system", "run", "attribute"]
    wide = ratings.pivot("rater", index=keys, values="score", aggregate_function="first")
    columns = {rater: wide[rater].cast(pl.Float64).to_numpy() for rater in raters}
    # Names that say so first: `human_mean` is made of the others, though each is a function of it.
    order = sorted(looked_at, key=lambda rater: not (_sums(rater) or _settles(rater)))
    found: dict[str, Derived] = {}
    for rater in order:
        others = [name for name in raters if name not in found and name != rater]
        made = _made_of(columns, rater, others, people)
        if made is not None:
            found[rater] = made
    return tuple(found[rater] for rater in raters if rater in found)


def _sums(rater: str) -> bool:
    return _SUMMED.search(rater) is not None


def _settles(rater: str) -> bool:
    return _SETTLED.search(rater) is not None


def _made_of(
    columns: dict[str, Floats], rater: str, others: Sequence[str], people: Sequence[str]
) -> Derived | None:
    """What a rater is made of; None where it is one of its own."""
    for names in _groups(others, people):
        how = _function(columns[rater], [columns[name] for name in names])
        # Without a word for it only what no rater does by chance: a mean between levels.
        between = (columns[rater] % 1 > 0).any()
        telling = how in ("the mean", *_SPREADS) and between
        if how and not _settles(rater) and (_sums(rater) or telling):
            return Derived(rater, names, how)
    rest = tuple(name for name in others if name in people)
    if rater in people and rest and (_sums(rater) or _settles(rater)):
        return Derived(rater, rest)
    return None


def _groups(others: Sequence[str], people: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Those that a rater may be made of, the likelier ones first."""
    humans = tuple(name for name in others if name in people)
    judges = tuple(name for name in others if name not in people)
    for group in (humans, judges):
        if len(group) > _MOST:
            yield group
            continue
        for size in range(len(group), 1, -1):
            yield from combinations(group, size)


def _function(made: Floats, of: list[Floats]) -> str:
    """The function of others that a rater's scores are on every response; empty where none is."""
    parts = np.stack(of)
    whole = np.isfinite(made) & np.isfinite(parts).all(axis=0)
    made, parts = made[whole], parts[:, whole]
    apart = parts.min(axis=0) < parts.max(axis=0)
    # Where all agree any function is what they said: only the others tell.
    if made.size < _LEAST or apart.sum() < _LEAST / 3:
        return ""
    mean = parts.mean(axis=0)
    if (np.abs(made - mean) <= _ROUNDED).all():
        return "the mean"
    for how, values in (
        ("the median", np.median(parts, axis=0)),
        ("the highest", parts.max(axis=0)),
        ("the lowest", parts.min(axis=0)),
        ("the sum", parts.sum(axis=0)),
    ):
        if (np.abs(made - values) <= _ROUNDED).all():
            return how
    for how, values in zip(_SPREADS, _spreads(parts), strict=True):
        if (np.abs(made - values) <= _ROUNDED).all():
            return how
    whole_mean = (np.abs(made - mean) <= 0.5 + 1e-9) & (made == np.round(made))
    if whole_mean.all() and (made != np.floor(mean)).any():
        return "the rounded mean"
    return "the majority" if _is_mode(made, parts) else ""


def _spreads(parts: Floats) -> tuple[Floats, ...]:
    """How far the parts differ, as `_SPREADS` names it."""
    return (
        parts.std(axis=0, ddof=1), parts.std(axis=0), parts.var(axis=0, ddof=1), parts.var(axis=0),
        np.ptp(parts, axis=0),
    )  # fmt: skip


def _is_mode(made: Floats, parts: Floats) -> bool:
    """Whether each value is one that most raters gave."""
    counts = (parts[:, None, :] == parts[None, :, :]).sum(axis=1)
    own = (parts == made).sum(axis=0)
    return bool((own == counts.max(axis=0)).all())


def made_of_others(raw: RawTable, columns: Sequence[str], raters: Sequence[str]) -> list[str]:
    """Those of columns that are the mean of two raters' columns or more, or a difference of two
    columns: no judgements of their own.

    Of a difference its parts are others' judgements, or means of these.
    """
    scored = {c: to_scores(raw.frame[c]).values for c in dict.fromkeys(raters) if is_score(raw, c)}
    if len(scored) < 3:
        return []
    values = {name: cells.cast(pl.Float64).to_numpy() for name, cells in scored.items()}
    found: list[str] = []
    for column in (c for c in columns if c in values):
        others = [name for name in values if name not in (column, *found)][:_MOST]
        own = values[column]
        sizes = range(len(others), 1, -1)
        groups = [names for size in sizes for names in combinations(others, size)]
        how = (_function(own, [values[name] for name in names]) for names in groups)
        pairs = combinations((name for name in values if name != column), 2)
        if ((own % 1 > 0).any() and "the mean" in how) or any(
            _differ_by(own, values[one], values[other]) for one, other in pairs
        ):
            found.append(column)
    return found


def linear_in(raw: RawTable, columns: Sequence[str]) -> dict[str, str]:
    """Column -> another of them, of which it is a linear function and no copy: its z-score."""
    scored = [c for c in columns if is_score(raw, c)]
    values = {c: to_scores(raw.frame[c]).values.cast(pl.Float64).to_numpy() for c in scored}
    found = {}
    for column, own in values.items():
        for other, of in values.items():
            if other != column and _is_linear(own, of):
                found[column] = other
                break
    return found


def _is_linear(made: Floats, of: Floats) -> bool:
    """Whether numbers are a linear function of others, on three values of these or more, rounded as
    they are written, and not the same numbers.
    """
    whole = np.isfinite(made) & np.isfinite(of)
    made, of = made[whole], of[whole]
    if made.size < _LEAST or np.unique(of).size < _FEWEST_VALUES or (made == of).all():
        return False
    low, high = of.argmin(), of.argmax()
    slope = (made[high] - made[low]) / (of[high] - of[low])
    off = np.abs(made - (made[low] + slope * (of - of[low])))
    return bool(slope != 0 and (off <= _SLIPS * np.ptp(made)).all())


def _differ_by(made: Floats, one: Floats, other: Floats) -> bool:
    """Whether a column is the difference of two others, either way or without its sign."""
    off = one - other
    whole = np.isfinite(made) & np.isfinite(off)
    if whole.sum() < _LEAST or not (off[whole] != 0).any():
        return False
    made, off = made[whole], off[whole]
    # What is never below 0 may be a rater's, of whom another column is the difference.
    ways = (off, -off) if (made < 0).any() else (np.abs(off),)
    return any((np.abs(made - way) <= _ROUNDED).all() for way in ways)

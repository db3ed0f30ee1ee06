"""Preferences of experts and LLM judges: which system is preferred, and how far raters agree."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import TableError, duplicate
from voirdire.examining.preferences.table import (
    MOST,
    combine_comparisons,
    preference_table,
)
from voirdire.stats import (
    bradley_terry,
    mean_preference,
    position_effect,
    preference_agreement,
    win_tie_loss,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from voirdire.stats import BradleyTerry, Estimate, WinTieLoss

#: The attribute that says which response is better in all.
OVERALL = "Overall"
#: A ranking is a fit, and a bootstrap one fit a resample: more than these take long.
_FITS = 200


def is_overall(attribute: str) -> bool:
    """Whether an attribute says which response is better in all, however it is spelled."""
    return attribute.casefold() == OVERALL.casefold()


#: More raters than these are an arena; who compared so often has tables of its own there.
_MOST_RATERS, _OFTEN = 40, 20


@dataclass(frozen=True, slots=True)
class PreferenceCell:
    """One rater's preferences between two systems on one attribute, over some of the items.

    Attributes
    ----------
    part : str
        The value of the grouping column; empty for all items.
    mean : Estimate
        On -2..2, above 0 for system_a, with the t interval over items. Pairs whose two orders
        disagree are not in it.
    outcome : WinTieLoss
        Of the same comparisons.
    inconsistent, opposite, missing : int
        Comparisons whose two orders disagree on the winner (a tie in one of them counts), of these
        those that name opposite winners, and comparisons without a score.
    """

    rater: str
    system_a: str
    system_b: str
    attribute: str
    part: str
    mean: Estimate
    outcome: WinTieLoss
    inconsistent: int
    opposite: int
    missing: int


@dataclass(frozen=True, slots=True)
class RaterPair:
    """Two raters on the comparisons that both made.

    `winner` is the share on which they name the same winner (or both a tie), `alpha` Krippendorff's
    alpha of the scores as numbers.
    """

    first: str
    second: str
    attribute: str
    winner: Estimate
    alpha: Estimate


@dataclass(frozen=True, slots=True)
class PositionBias:
    """How much one rater favours what is shown first; see `voirdire.stats.position_effect`."""

    rater: str
    attribute: str
    effect: Estimate


@dataclass(frozen=True, slots=True)
class Strengths:
    """One rater's Bradley-Terry ranking of the systems on one attribute.

    `unscored` are the systems of which no comparison has a score: they stand in no ranking, and do
    not keep the others from one.
    """

    rater: str
    attribute: str
    ranking: BradleyTerry
    unscored: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Preferences:
    """Everything that a table of preferences says.

    Attributes
    ----------
    table : DataFrame
        The preferences, as `preference_table` gives them.
    combined : DataFrame
        One row a comparison; see `combine_comparisons`.
    cells : tuple of PreferenceCell
        Over all items.
    parts : mapping of str to tuple of PreferenceCell
        Over the items of each value of a grouping column.
    agreement, position, strengths : tuple
        By attribute.
    """

    table: pl.DataFrame
    combined: pl.DataFrame
    cells: tuple[PreferenceCell, ...]
    parts: dict[str, tuple[PreferenceCell, ...]]
    agreement: tuple[RaterPair, ...]
    position: tuple[PositionBias, ...]
    strengths: tuple[Strengths, ...]

    def lost(self, most: int) -> pl.DataFrame:
        """The comparisons with the lowest score for the first system, over raters, worst first.

        Parameters
        ----------
        most : int
            How many are returned at most; those with a score of 0 or more are none.

        Returns
        -------
        DataFrame
            ``item, system_a, system_b``, ``all`` (the score on the overall attribute, or the mean
            of all) and the lists ``attribute`` and ``score``.
        """
        key, score = ["item", "system_a", "system_b"], pl.col("score")
        scored = self.combined.filter(score.is_not_null())
        means = scored.group_by(*key, "attribute", maintain_order=True).agg(score.mean())
        overall = pl.col("attribute").str.to_lowercase() == OVERALL.casefold()
        frame = means.group_by(key, maintain_order=True).agg(
            # What was asked overall counts; the mean over criteria stands in where nobody was.
            pl.coalesce(score.filter(overall).first(), score.mean()).alias("all"),
            "attribute",
            "score",
        )
        return frame.filter(pl.col("all") < 0).sort("all", maintain_order=True).head(most)

    def cell(self, rater: str, system: str, attribute: str, part: str = "") -> PreferenceCell:
        """The cell of one rater and system; `part` names a value of a grouping column."""
        cells = self.cells if not part else (one for cells in self.parts.values() for one in cells)
        key = (rater, system, attribute, part)
        for cell in cells:
            if (cell.rater, cell.system_a, cell.attribute, cell.part) == key:
                return cell
        raise KeyError(key)


@dataclass(frozen=True, slots=True)
class _ResultOptions:
    level: float
    resamples: int
    seed: int

    def drawn(self, method: str = "percentile", most: int = 10**9) -> dict[str, Any]:
        """How a bootstrap is asked for; with 0 resamples it is left out."""
        resamples = min(self.resamples, most)
        asked = method if resamples or method != "percentile" else None
        return {"ci": asked, "level": self.level, "n_resamples": resamples or 1, "seed": self.seed}


def examine_preferences(
    table: pl.DataFrame,
    groups: pl.DataFrame | None = None,
    *,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> Preferences:
    """Mean preferences, wins, agreement of raters, position bias and a ranking of systems.

    Parameters
    ----------
    table : DataFrame
        Preferences; see `preference_table`.
    groups : DataFrame, optional
        ``item`` and columns to break results down by, such as the exercise and its difficulty;
        the values of an Enum stand in its order, others as they first occur.
    level, resamples, seed
        Of the intervals; the bootstrap draws whole items.

    Returns
    -------
    Preferences
        With both orders of a comparison asked, those that disagree on the winner are counted and
        stay out of means and shares; the position effect is estimated from them too. Runs of one
        rater are comparisons of their own, except in the agreement of raters, where they are
        averaged.

    Raises
    ------
    TableError
        As `preference_table`; an item is missing from `groups` or occurs twice in it.

    Examples
    --------
    >>> rows = [(i, "m", "ref", f, "ann", "Overall", s) for i, f, s in
    ...         [("1", "m", 1), ("1", "ref", 1), ("2", "m", 1), ("2", "ref", -1)]]
    >>> names = ["item", "system_a", "system_b", "shown_first", "rater", "attribute", "score"]
    >>> preferences = examine_preferences(pl.DataFrame(rows, schema=names, orient="row"))
    >>> cell = preferences.cells[0]
    >>> cell.mean.value, cell.mean.n, cell.inconsistent
    (1.0, 1, 1)
    """
    options = _ResultOptions(level, resamples, seed)
    table = preference_table(table)
    combined = combine_comparisons(table)
    parts = {} if groups is None else _parts(combined, groups, options)
    often = _often(combined)
    return Preferences(
        table=table,
        combined=combined,
        cells=tuple(_cells(often, options)),
        parts=parts,
        agreement=tuple(_agreement(often, options)),
        position=tuple(_position(_often(table), options)),
        strengths=tuple(_strengths(often, options)),
    )


def _often(table: pl.DataFrame) -> pl.DataFrame:
    """Of an arena those who compared often: of hundreds who voted once each there is no table."""
    if table["rater"].n_unique() <= _MOST_RATERS:
        return table
    return table.filter(pl.len().over("rater") >= _OFTEN)


def _parts(
    combined: pl.DataFrame, groups: pl.DataFrame, options: _ResultOptions
) -> dict[str, tuple[PreferenceCell, ...]]:
    groups = groups.with_columns(pl.col("item").cast(pl.String))
    repeated = groups.filter(pl.col("item").is_duplicated())
    if repeated.height:
        raise duplicate("item", repeated["item"][0], "groups", error=TableError)
    # An item without a group would drop out of every part, unseen.
    lost = combined.join(groups, on="item", how="anti")
    if lost.height:
        raise TableError(f"groups: item {lost['item'][0]!r} was compared and has no group")
    joined = combined.join(groups, on="item", how="left", maintain_order="left")
    names = [name for name in groups.columns if name != "item"]
    return {
        name: tuple(
            cell
            for value in _values(groups[name])
            for cell in _cells(joined.filter(pl.col(name) == value), options, str(value))
        )
        for name in names
    }


def _values(column: pl.Series) -> list[Any]:
    """The values of a grouping column: in their declared order, or as they first occur."""
    values = column.unique(maintain_order=True)
    return (values.sort() if isinstance(column.dtype, pl.Enum) else values).to_list()


def _cells(
    combined: pl.DataFrame, options: _ResultOptions, part: str = ""
) -> Iterator[PreferenceCell]:
    keys = ("rater", "system_a", "system_b", "attribute")
    for names, frame in combined.group_by(keys, maintain_order=True):
        rater, a, b, attribute = (str(name) for name in names)
        scores, items = frame["score"].to_numpy(), frame["item"].to_numpy()
        repeated = frame.filter(pl.col("score").is_not_null())["item"].is_duplicated().any()
        # Several runs or attributes of an item depend on each other: items are drawn then, and
        # Wilson's interval would be too short.
        method = "percentile" if repeated else "wilson"
        yield PreferenceCell(
            rater,
            a,
            b,
            attribute,
            part,
            mean_preference(scores, items, scale=MOST, ci="t", level=options.level),
            win_tie_loss(scores, items, scale=MOST, **options.drawn(method)),
            _count(frame, "inconsistent"),
            int(frame["opposite"].sum()),
            _count(frame, "missing") + _count(frame, "half_missing"),
        )


def _count(frame: pl.DataFrame, outcome: str) -> int:
    return int((frame["outcome"] == outcome).sum())


def _agreement(combined: pl.DataFrame, options: _ResultOptions) -> Iterator[RaterPair]:
    """Each pair of raters on each attribute; runs are averaged first."""
    keys = ("item", "system_a", "system_b", "attribute", "rater")
    means = combined.group_by(keys, maintain_order=True).agg(pl.col("score").mean())
    raters = means["rater"].unique(maintain_order=True).to_list()
    if len(raters) < 2:
        return
    wide = means.pivot(on="rater", index=list(keys[:-1]), values="score", maintain_order=True)
    for (attribute,), frame in wide.group_by("attribute", maintain_order=True):
        for first, second in combinations(raters, 2):
            both = frame.select("item", first, second).drop_nulls()
            asked = options.drawn()
            # Wilson's interval takes comparisons for independent: right where no item has two of
            # them.
            if not both["item"].is_duplicated().any():
                asked["ci"] = ("wilson", "percentile") if asked["ci"] else "wilson"
            columns = (frame[name].to_numpy() for name in (first, second, "item"))
            agreed = preference_agreement(*columns, **asked)
            yield RaterPair(first, second, str(attribute), agreed.winner, agreed.alpha)


def _position(table: pl.DataFrame, options: _ResultOptions) -> Iterator[PositionBias]:
    shown = table.filter(pl.col("shown_first").is_not_null())
    for names, frame in shown.group_by("rater", "attribute", maintain_order=True):
        pair = pl.concat_str("item", "system_a", "system_b", "run", separator="\0")
        effect = position_effect(
            frame["score"].to_numpy(),
            (frame["shown_first"] == frame["system_a"]).to_numpy(),
            frame["item"].to_numpy(),
            pairs=frame.select(pair).to_series().to_numpy(),
            **options.drawn(),
        )
        yield PositionBias(str(names[0]), str(names[1]), effect)


def _strengths(combined: pl.DataFrame, options: _ResultOptions) -> Iterator[Strengths]:
    """Rankings on the overall attribute, or on each where there is none of that name."""
    attributes: Sequence[str] = combined["attribute"].unique(maintain_order=True).to_list()
    overall = [name for name in attributes if is_overall(name)]
    ranked = combined.filter(pl.col("attribute").is_in(overall or attributes))
    for names, every in ranked.group_by("rater", "attribute", maintain_order=True):
        frame = every.filter(pl.col("score").is_not_null())
        # As for shares: Wald's interval takes comparisons for independent.
        method = "percentile" if frame["item"].is_duplicated().any() else "wald"
        ranking = bradley_terry(
            frame["system_a"].to_numpy(),
            frame["system_b"].to_numpy(),
            frame["score"].to_numpy(),
            frame["item"].to_numpy(),
            **options.drawn(method, _FITS),
        )
        systems = pl.concat([every["system_a"], every["system_b"]]).unique(maintain_order=True)
        unscored = tuple(name for name in systems if name not in ranking.systems)
        yield Strengths(str(names[0]), str(names[1]), ranking, unscored)

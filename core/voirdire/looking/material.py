"""An examination as rows that a page filters and sorts: one a judge, attribute and response."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire.errors import InputError, not_one_of
from voirdire.examining.ratings.cube import build_cube
from voirdire.examining.texts import Texts
from voirdire.examining.verdict.beside import influences_in, use_key, verdicts_beside
from voirdire.examining.verdict.gathering import gather_cases, item_names
from voirdire.examining.verdict.influence import deciding, weakest
from voirdire.looking.view import OF, SORTS
from voirdire.progress import stage
from voirdire.stats.response_panel import mean_present
from voirdire.tables.hand_labels import HAND_LABELS, latest, read_hand_labels
from voirdire.units import cluster_of, parted

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from voirdire.examining import Examination
    from voirdire.examining.inputs import Inputs
    from voirdire.examining.spec.scores.case import Case
    from voirdire.examining.verdict.facts import Component, Verdict
    from voirdire.looking.view import View
    from voirdire.schema import Scale

#: Levels up to which a matrix has one row and column each; finer scales are cut into ranges.
MOST_LEVELS, RANGES = 12, 10
#: Columns that are sorted by their size, the largest first.
BY_SIZE = ("difference", "influence", "change")
#: Judges and attributes whose rows are kept at hand.
_KEPT = 6


@dataclass(frozen=True, slots=True)
class JudgeOnAttribute:
    """One judge on one attribute beside one reference; `turn` tells several references apart."""

    place: int
    judge: str
    attribute: str
    reference: tuple[str, ...]
    turn: int


@dataclass(frozen=True, slots=True)
class Matrix:
    """How often the judge said one thing where the humans said another.

    Attributes
    ----------
    names : tuple of str
        What each level, or range of the scale, is called, from low to high.
    counts : (n, n) int64
        Humans in rows, the judge in columns.
    """

    names: tuple[str, ...]
    counts: NDArray[np.int64]


class Material:
    """What the pages show. Its rows are made when they are asked for and kept for a while."""

    def __init__(
        self,
        inputs: Inputs,
        examination: Examination,
        labels: Path | None,
        *,
        with_text: bool,
        beside: Material | None = None,
    ) -> None:
        self.examination, self.labels_path = examination, labels
        self.scale: Scale = inputs.panel.scale
        self.texts = Texts.of(examination) if with_text else Texts.none()
        self.with_text, self.beside = with_text, beside
        self._inputs = inputs
        panel = inputs.panel
        self._cube = build_cube(inputs.ratings, panel.names, panel.attributes, panel.systems)
        self._items = item_names(self._cube)
        combinations = [
            (judge.name, attribute, reference, turn)
            for judge in panel.judges
            for attribute in self._cube.attributes
            for turn, reference in enumerate(panel.references)
        ]
        self.pairs = tuple(JudgeOnAttribute(place, *one) for place, one in enumerate(combinations))
        #: (judge, attribute, turn) -> how many responses both scored, and how far apart on average.
        self.means = _means(examination)
        # Caches of this object: on the class they would keep every examination alive.
        self.case = lru_cache(_KEPT)(self._case)
        self.rows = lru_cache(_KEPT)(self._rows)
        self.influence = lru_cache(_KEPT)(self._influence)

    @cached_property
    def _parts(self) -> dict[tuple[str, str], list[tuple[int, str]]]:
        """The judged parts of each conversation and system: their positions and ids."""
        found: dict[tuple[str, str], list[tuple[int, str]]] = {}
        units = self._inputs.ratings.select(
            pl.col("item").cast(pl.String), pl.col("system").cast(pl.String).fill_null("")
        ).unique(maintain_order=True)
        for item, system in units.iter_rows():
            name, unit = parted(item)
            if unit.position:
                found.setdefault((name, system), []).append((unit.position, item))
        return {key: sorted(parts) for key, parts in found.items()}

    def parts(self, item: str, system: str) -> dict[int, str]:
        """The judged turns or steps of the conversation that an item is or is part of, in order."""
        return dict(self._parts.get((cluster_of(item), system), ()))

    def pair(self, view: View) -> JudgeOnAttribute:
        """The judge and attribute of a view; without names, the first.

        Raises
        ------
        InputError
            There is no such judge or attribute.
        """
        for key in ("judge", "attribute"):
            names = tuple(dict.fromkeys(getattr(pair, key) for pair in self.pairs))
            if getattr(view, key) not in ("", *names):
                raise not_one_of(key, getattr(view, key), names, "address", InputError)
        for pair in self.pairs:
            asked = (view.judge or pair.judge, view.attribute or pair.attribute, view.turn)
            if asked == (pair.judge, pair.attribute, pair.turn):
                return pair
        raise InputError(f"address: there is no reference number {view.turn} (turn)")

    def _case(self, place: int) -> Case:
        inputs = self._inputs
        cases = gather_cases(self._cube, inputs.panel, inputs.study, inputs.ratings)
        # Cases come in the order of `pairs`, and each is built only when it is reached.
        return next(islice(cases, place, None))

    def verdicts(self, pair: JudgeOnAttribute) -> dict[str, Verdict]:
        """Use (with + for systems to come) -> verdict."""
        beside = verdicts_beside(self._inputs, self.case(pair.place), self.examination.verdicts)
        return {use_key(one): one for one in beside}

    def verdict(self, view: View) -> Verdict | None:
        """The verdict on the use of a view; without one, the first that is not a yes.

        Raises
        ------
        InputError
            The use is none of this judge's.
        """
        verdicts = self.verdicts(self.pair(view))
        if view.use:
            if view.use not in verdicts:
                raise not_one_of("use", view.use, tuple(verdicts), "address", InputError)
            return verdicts[view.use]
        return weakest(verdicts.values())

    def _rows(self, place: int, against: str) -> pl.DataFrame:
        case = self.case(place)
        if against and against not in case.reference:
            raise not_one_of("against", against, case.reference, "address", InputError)
        human = case.humans[case.reference.index(against)] if against else mean_present(case.humans)
        score, n = mean_present(case.scores), case.humans.shape[1]
        blank = np.full(n, "")
        frame = pl.DataFrame(
            {
                "row": np.arange(n, dtype=np.uint32),
                "item": self._items[case.items].astype(str),
                "system": blank if case.systems is None else case.systems.astype(str),
                "subgroup": blank if case.subgroups is None else case.subgroups.astype(str),
                "score": score,
                "human": human,
                "difference": score - human,
                "at_score": self._bins(score),
                "at_human": self._bins(human),
            }
        ).with_columns(pl.col("score", "human", "difference").fill_nan(None))
        frame = frame.with_columns(
            pl.Series(OF + name, own).fill_nan(None)
            for name, own in zip(case.reference, case.humans, strict=True)
        )
        keys = ["item", "system"]
        frame = frame.join(self._statuses(case), on=keys, how="left", maintain_order="left")
        before = self._before(case).rename({"score": "before"})
        return frame.join(before, on=keys, how="left", maintain_order="left").with_columns(
            change=pl.col("score") - pl.col("before")
        )

    def _before(self, case: Case) -> pl.DataFrame:
        """What the judge of that name said in the source beside."""
        named = (
            {(one.judge, one.attribute): one for one in self.beside.pairs} if self.beside else {}
        )
        there = named.get((case.judge, case.attribute))
        if self.beside is None or there is None:
            kinds = {"item": pl.String, "system": pl.String, "score": pl.Float64}
            return pl.DataFrame(schema=kinds)
        return self.beside.rows(there.place, "").select("item", "system", "score")

    def _statuses(self, case: Case) -> pl.DataFrame:
        """What became of the judge's reply: the first status of its runs that is not ok."""
        status = pl.col("status").cast(pl.String)
        own = self._inputs.ratings.filter(
            pl.col("rater").cast(pl.String) == case.judge,
            pl.col("attribute").cast(pl.String) == case.attribute,
        )
        odd = status.filter(status != "ok").first().fill_null("ok")
        named = pl.col("system").cast(pl.String).fill_null("")
        return own.group_by(pl.col("item").cast(pl.String), named).agg(odd.alias("status"))

    def _bins(self, values: NDArray[np.float64]) -> NDArray[np.int16]:
        """The number of each value's level, or range; -1 where there is none."""
        scale, count = self.scale, self._bin_count
        if self.fine:
            bins = np.floor((values - scale.low) / scale.width * RANGES)
        else:
            # To the nearest level: the mean of several humans or runs lies between levels.
            bins = np.floor((values - scale.low) / scale.step + 0.5)
        return np.where(np.isnan(values), -1, np.clip(bins, 0, count - 1)).astype(np.int16)

    @property
    def fine(self) -> bool:
        """Whether the scale has too many levels for a row and column each."""
        return self.scale.continuous or self.scale.count > MOST_LEVELS

    @property
    def _bin_count(self) -> int:
        return RANGES if self.fine else self.scale.count

    @property
    def bin_names(self) -> tuple[str, ...]:
        """Levels, or ranges of a fine scale, from low to high."""
        if not self.fine:
            return tuple(f"{level:g}" for level in self.scale.levels)
        ends = np.linspace(self.scale.low, self.scale.high, RANGES + 1)
        return tuple(f"{a:g}–{b:g}" for a, b in pairwise(ends))

    def matrix(self, view: View) -> Matrix:
        """Counts over the responses that both scored."""
        rows = self.rows(self.pair(view).place, view.against)
        both = rows.filter(pl.col("at_human") >= 0, pl.col("at_score") >= 0)
        n = self._bin_count
        key = both["at_human"].to_numpy().astype(int) * n + both["at_score"].to_numpy()
        return Matrix(self.bin_names, np.bincount(key, minlength=n * n).reshape(n, n))

    def component(self, view: View) -> Component | None:
        """The component whose influences a view shows."""
        verdict = self.verdict(view)
        return None if verdict is None else deciding(verdict)

    def _influence(self, place: int, component: Component) -> pl.Series:
        moved = influences_in(self._inputs, self.case(place), component)
        return pl.Series("influence", moved).fill_nan(None)

    def select(self, view: View) -> pl.DataFrame:
        """The rows that a view lists, in its order: those of `rows`, ``influence, by_hand``.

        Raises
        ------
        InputError
            A judge, attribute, use or human that there is none of.
        """
        pair = self.pair(view)
        rows = self.rows(pair.place, view.against)
        part = self.component(view)
        influence = (
            pl.Series("influence", [None] * rows.height, pl.Float64)
            if part is None
            else self.influence(pair.place, part)
        )
        rows = rows.with_columns(influence)
        for column, wanted in (("at_human", view.human), ("at_score", view.score)):
            if wanted is not None:
                rows = rows.filter(pl.col(column) == wanted)
        for column in ("system", "subgroup", "status"):
            if getattr(view, column):
                rows = rows.filter(pl.col(column) == getattr(view, column))
        if view.sort not in rows.columns:
            sorts = (*SORTS, *(OF + name for name in pair.reference))
            raise not_one_of("sort", view.sort, sorts, "address", InputError)
        rows = self._sought(self._labelled(rows, pair), view, pair)
        if view.changed:
            both = pl.col("score").is_not_null() | pl.col("before").is_not_null()
            rows = rows.filter(both, pl.col("score").ne_missing(pl.col("before")))
        return _sorted(rows.filter("by_hand") if view.by_hand else rows, view)

    def _labelled(self, rows: pl.DataFrame, pair: JudgeOnAttribute) -> pl.DataFrame:
        own = self.labels().filter(pl.col("attribute") == pair.attribute)
        by_hand = own.select("item", pl.col("system").fill_null("")).unique()
        return rows.join(
            by_hand.with_columns(by_hand=True),
            on=["item", "system"],
            how="left",
            maintain_order="left",
        ).with_columns(pl.col("by_hand").fill_null(value=False))

    def _sought(self, rows: pl.DataFrame, view: View, pair: JudgeOnAttribute) -> pl.DataFrame:
        words = view.q.strip()
        if not words:
            return rows
        items, responses = self.texts.hits(words, pair.judge)
        named = pl.col("item", "system").str.contains(f"(?i){re.escape(words)}")
        hit = responses.with_columns(hit=True)
        return (
            rows.join(hit, on=["item", "system"], how="left", maintain_order="left")
            .filter(pl.any_horizontal(named, pl.col("hit"), pl.col("item").is_in(items.implode())))
            .drop("hit")
        )

    def labels(self) -> pl.DataFrame:
        """Labels set by hand that count."""
        if self.labels_path is None:
            return HAND_LABELS.to_frame()
        return latest(read_hand_labels(self.labels_path))

    def response(self, view: View) -> dict[str, Any]:
        """The row of one response.

        Raises
        ------
        InputError
            There is none of that number.
        """
        rows = self.rows(self.pair(view).place, view.against)
        if view.row is None or view.row >= rows.height:
            raise InputError(f"address: there is no response {view.row} (0 to {rows.height - 1})")
        return rows.row(view.row, named=True)


def _means(examination: Examination) -> dict[tuple[str, str, int], dict[str, Any]]:
    pairs = examination.rated.pairs
    turn = pl.col("result").rank("dense").over("judge", "attribute").cast(pl.Int64) - 1
    gap = (pl.col("score") - pl.col("reference")).abs().mean().alias("gap")
    by = [pl.col("judge").cast(pl.String), pl.col("attribute").cast(pl.String), turn.alias("turn")]
    rows = pairs.with_columns(*by).group_by("judge", "attribute", "turn").agg(gap, pl.len())
    return {(row["judge"], row["attribute"], row["turn"]): row for row in rows.to_dicts()}


def _sorted(rows: pl.DataFrame, view: View) -> pl.DataFrame:
    by_size = view.sort in BY_SIZE
    key = pl.col(view.sort).abs() if by_size else pl.col(view.sort)
    return rows.sort(key, descending=by_size != view.up, nulls_last=True, maintain_order=True)


def material_of(
    inputs: Inputs,
    examination: Examination,
    labels: Path | None = None,
    *,
    with_text: bool = False,
    beside: Material | None = None,
) -> Material:
    """The rows behind an examination.

    Parameters
    ----------
    inputs : Inputs
        What it was made of (see `voirdire.examining.source`).
    examination : Examination
        The verdicts, findings and texts.
    labels : Path, optional
        Where labels set by hand lie, and are kept (see `voirdire.tables.hand_labels`).
    with_text : bool
        Whether texts of items, responses and replies may be shown.
    beside : Material, optional
        Another source, whose judges of the same names are what changes are counted from.

    Raises
    ------
    InputError
        No judge was held against a human: there is nothing to look at.
    """
    stage("preparing the page")
    if inputs.tables is None or not inputs.panel.judges or not inputs.panel.reference:
        raise InputError(
            "there is nothing to look at: look shows the scores of judges beside those of humans, "
            "and this source has no ratings of both"
        )
    return Material(inputs, examination, labels, with_text=with_text, beside=beside)

"""Ratings as one array: raters x attributes x responses, NaN where missing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire.late import dataclass
from voirdire.tabular import places_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Cube:
    """Ratings of a panel, dense.

    Attributes
    ----------
    scores : (R raters, A attributes, N responses) float64
        NaN is missing. Where a rater has several runs, their mean over the runs present.
    item, system : (N,) intp
        Positions in `items` and `systems`; a response is one system's answer to one item.
    asked : (R, N) bool
        Whether the table has a row of that rater and response, be its score there or missing.
    systems : tuple of str
        Empty names stand for ratings of items without a system.
    runs : mapping
        Rater -> number of runs found.
    """

    raters: tuple[str, ...]
    attributes: tuple[str, ...]
    items: tuple[str, ...]
    systems: tuple[str, ...]
    scores: NDArray[np.float64]
    item: NDArray[np.intp]
    system: NDArray[np.intp]
    asked: NDArray[np.bool_]
    runs: Mapping[str, int]

    def of(self, rater: str, attribute: str) -> NDArray[np.float64]:
        """One rater's scores on one attribute, (N,)."""
        scores: NDArray[np.float64] = self.scores[
            self.raters.index(rater), self.attributes.index(attribute)
        ]
        return scores

    def with_composites(self, composites: Mapping[str, Sequence[str]]) -> Cube:
        """A cube whose attributes are the composites: the mean of all parts, missing if one is."""
        places = {
            name: [self.attributes.index(part) for part in parts if part in self.attributes]
            for name, parts in composites.items()
        }
        places = {name: at for name, at in places.items() if len(at) == len(composites[name])}
        shape = (len(self.raters), len(places), self.item.size)
        scores = np.empty(shape)
        for i, at in enumerate(places.values()):
            scores[:, i] = self.scores[:, at].mean(axis=1)
        return replace(self, attributes=tuple(places), scores=scores)


def build_cube(
    ratings: pl.DataFrame,
    raters: Sequence[str],
    attributes: Sequence[str],
    systems: Sequence[str] = (),
) -> Cube:
    """A cube from the ratings table; names given first keep their order, others follow.

    A table may name a rater or attribute that is not asked for: its rows are left out here (the
    audit has said so). Systems that the table holds and `systems` does not are appended.

    Parameters
    ----------
    ratings : DataFrame
        ``item, system, rater, run, attribute, score``; null is missing.
    """
    wanted = ratings.filter(
        pl.col("rater").cast(pl.String).is_in(list(raters)),
        pl.col("attribute").cast(pl.String).is_in(list(attributes)),
    )
    system = wanted["system"].cast(pl.String).fill_null("")
    occurring = system.unique(maintain_order=True).to_list()
    systems = [name for name in systems if name in set(occurring)]
    systems += [name for name in occurring if name not in systems]
    items = wanted["item"].unique(maintain_order=True).cast(pl.String).to_list()
    at_item = places_of(wanted["item"], items)
    at_system = places_of(system, systems)
    # (item, system) pairs that occur get numbers in the order of their keys: a grid of all pairs
    # may be mostly empty.
    response, of_response = _responses(at_item * len(systems) + at_system, len(items), systems)
    at_rater = places_of(wanted["rater"], raters)
    at_attribute = places_of(wanted["attribute"], attributes)
    # One number a cell of the cube, so that two `bincount`s over all rows fill it.
    cell = (at_rater * len(attributes) + at_attribute) * of_response.size + response
    asked = np.zeros((len(raters), of_response.size), dtype=bool)
    asked[at_rater, response] = True
    scores = _mean_by_cell(cell, wanted["score"], len(raters) * len(attributes) * of_response.size)
    return Cube(
        tuple(raters),
        tuple(attributes),
        tuple(items),
        tuple(systems),
        scores.reshape(len(raters), len(attributes), of_response.size),
        of_response // max(len(systems), 1),
        of_response % max(len(systems), 1),
        asked,
        _runs(wanted, raters),
    )


def _responses(
    key: NDArray[np.intp], n_items: int, systems: Sequence[str]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Number the (item, system) pairs that occur: the number of each row, and the keys."""
    seen = np.zeros(n_items * len(systems), dtype=bool)
    seen[key] = True
    number = np.cumsum(seen) - 1
    return number[key], np.flatnonzero(seen)


def _mean_by_cell(cell: NDArray[np.intp], score: pl.Series, size: int) -> NDArray[np.float64]:
    """The mean of the scores present in each cell; NaN where there is none."""
    values = score.cast(pl.Float64).to_numpy()
    present = ~np.isnan(values)
    counts = np.bincount(cell[present], minlength=size)
    sums = np.bincount(cell[present], weights=values[present], minlength=size)
    with np.errstate(invalid="ignore"):
        return np.where(counts > 0, sums / counts, np.nan)


def _runs(ratings: pl.DataFrame, raters: Sequence[str]) -> dict[str, int]:
    counts = ratings.group_by(pl.col("rater").cast(pl.String)).agg(pl.col("run").n_unique())
    runs = dict(counts.iter_rows())
    return {rater: int(runs.get(rater, 0)) for rater in raters}

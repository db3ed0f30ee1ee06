"""Preference with length taken out: what would be preferred if both responses were as long."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire.examining.preferences.results import OVERALL
from voirdire.stats.special import special
from voirdire.tabular import Section, Table, count, interval, number, text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: Fewer items than this, beyond the systems and the slope, say nothing of either.
_FEWEST = 8


@dataclass(frozen=True, slots=True)
class Adjusted:
    """Means of groups at x = 0, with one slope for all of them.

    Attributes
    ----------
    means, slope : (G,) float64 and float
    means_interval, slope_interval : (G, 2) and (2,) float64
        t intervals from errors clustered by item (CR1), with clusters - 1 degrees of freedom.
    clusters : int
    """

    means: Floats
    slope: float
    means_interval: Floats
    slope_interval: Floats
    clusters: int


def adjusted_means(
    y: Floats, groups: NDArray[np.int64], x: Floats, clusters: NDArray[np.int64], level: float
) -> Adjusted | None:
    """Regression of y on groups and x, all groups with one slope; None where x tells nothing.

    Parameters
    ----------
    y, x : (n,) float64
    groups, clusters : (n,) int64
        Numbered from 0.

    References
    ----------
    Liang and Zeger (1986), Biometrika 73, 13-22. Dubois et al. (2024), arXiv:2404.04475, take the
    length out of win rates in the same way.
    """
    G, items = int(groups.max()) + 1, int(clusters.max()) + 1
    design = np.column_stack([np.eye(G)[groups], x])
    # A column that the others give is no slope: every group has one length ratio.
    if items < _FEWEST or np.linalg.matrix_rank(design) < G + 1:
        return None
    bread = np.linalg.inv(design.T @ design)
    found = bread @ design.T @ y
    scores = design * (y - design @ found)[:, None]
    sums = np.zeros((items, G + 1))
    np.add.at(sums, clusters, scores)
    n = len(y)
    factor = items / (items - 1) * (n - 1) / max(1, n - G - 1)
    errors = np.sqrt(np.diag(bread @ (sums.T @ sums) @ bread) * factor)
    reach = float(special().stdtrit(items - 1, (1 + level) / 2)) * errors
    ends = np.column_stack([found - reach, found + reach])
    return Adjusted(found[:G], float(found[G]), ends[:G], ends[G], items)


def adjusted_section(
    combined: pl.DataFrame, responses: pl.DataFrame, reference: str, level: float
) -> Section:
    """The overall preference for each system over the reference, as it is and at equal length.

    Parameters
    ----------
    combined : DataFrame
        Comparisons with the reference, above 0 for the other system; both orders combined.
    responses : DataFrame
        ``item, system, text``.
    """
    words = (
        responses.drop_nulls("text")
        .select(
            "item",
            pl.col("system").cast(pl.String),
            pl.col("text").str.count_matches(r"\S+").alias("words"),
        )
        .filter(pl.col("words") > 0)
    )
    own = (
        combined.filter(pl.col("attribute") == OVERALL, pl.col("system_b") == reference)
        .drop_nulls("score")
        .group_by("rater", "system_a", "item", maintain_order=True)
        .agg(pl.col("score").mean())
    )
    mine = words.rename({"system": "system_a", "words": "own"})
    theirs = words.filter(pl.col("system") == reference).select(
        "item", pl.col("words").alias("its")
    )
    known = (
        own.join(mine, on=["item", "system_a"])
        .join(theirs, on="item")
        .with_columns(
            # Doublings: 1 is a response of twice as many words.
            x=(pl.col("own") / pl.col("its")).log(2)
        )
    )
    rows: list[tuple[Any, ...]] = []
    for part in known.partition_by("rater", maintain_order=True):
        systems = part["system_a"].unique(maintain_order=True).to_list()
        found = _adjusted(part, systems, level)
        for place, system in enumerate(systems):
            here = part.filter(pl.col("system_a") == system)
            rows.append(
                (
                    part["rater"][0],
                    system,
                    here.height,
                    here["score"].mean(),
                    2 ** float(np.median(here["x"].to_numpy())),
                    *_cells(found, place),
                )
            )
    columns = (
        text("Rater"), text("System"), count("Items"), number("Preference", signed=True),
        number("Median length ratio", 2), number("At equal length", signed=True),
        interval("At equal length, interval"), number("For twice the words", signed=True),
        interval("For twice the words, interval"),
    )  # fmt: skip
    return Section(
        f"Preference over the {reference} with length taken out",
        "A regression of the overall preference on the ratio of words (in doublings), one slope a "
        "rater and a mean a system, errors clustered by item: what would be preferred if both "
        "responses were as long. Where all of a system's responses are much longer, or shorter, "
        "that is extrapolated. Length may also be what makes a response good.",
        (Table(columns, tuple(rows)),),
    )


def _adjusted(part: pl.DataFrame, systems: list[str], level: float) -> Adjusted | None:
    groups = part["system_a"].replace_strict(systems, range(len(systems)), return_dtype=pl.Int64)
    return adjusted_means(
        part["score"].cast(pl.Float64).to_numpy(),
        groups.to_numpy(),
        part["x"].to_numpy(),
        part["item"].cast(pl.String).rank("dense").cast(pl.Int64).to_numpy() - 1,
        level,
    )


def _cells(found: Adjusted | None, place: int) -> tuple[Any, ...]:
    if found is None:
        return (math.nan, None, math.nan, None)
    own, slope = found.means_interval[place], found.slope_interval
    return (
        float(found.means[place]), (float(own[0]), float(own[1])),
        found.slope, (float(slope[0]), float(slope[1])),
    )  # fmt: skip

"""How many labels are needed, with the judge and without it, from a pilot."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import InputError
from voirdire.examining.correcting.labelled import read_labelled
from voirdire.stats import icc, labels_needed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from voirdire.examining.correcting.labelled import Labelled
    from voirdire.examining.source import Source
    from voirdire.schema import Finding
    from voirdire.stats import LabelsNeeded

#: The reliability that a mean of several humans or runs is planned for.
_WANTED = 0.8


@dataclass(frozen=True, slots=True)
class PlannedLabels:
    """One attribute, judge and group (empty: all), and what each half width costs."""

    attribute: str
    judge: str
    group: str
    plans: tuple[LabelsNeeded, ...]


@dataclass(frozen=True, slots=True)
class MeanOfSeveral:
    """How many humans (or runs of a judge) a mean of them needs for a reliability of 0.80.

    Attributes
    ----------
    rater : str
        The judge whose runs these are; empty for the humans.
    single : float
        Reliability of one, ICC(A,1) over responses; NaN where undefined.
    needed : int or None
        How many reach 0.80 together (Spearman and Brown); None where no number does.
    found : int
        How many there are.
    """

    attribute: str
    rater: str
    single: float
    needed: int | None
    found: int


@dataclass(frozen=True, slots=True)
class LabelPlan:
    """A table of budget against half width.

    Attributes
    ----------
    rows : tuple of PlannedLabels
    means : tuple of MeanOfSeveral
        Where there are several humans, or several runs of a judge.
    power : float or None
        Where differences are to be detected.
    cost : float or None
        Of one label.
    unit : {"labels", "items", "clusters"}
        What is counted: an item with the labels of all its systems where they are taken together.
    """

    rows: tuple[PlannedLabels, ...]
    means: tuple[MeanOfSeveral, ...]
    power: float | None
    cost: float | None
    unit: str
    findings: tuple[Finding, ...]


def plan_labels(  # noqa: PLR0913 - the options are those of the command
    source: Source,
    half_widths: Sequence[float],
    *,
    power: float | None = None,
    reference: Sequence[str] = (),
    judges: Sequence[str] = (),
    by: str = "",
    cluster: str = "",
    judged: int | None = None,
    cost: float | None = None,
    level: float = 0.95,
) -> LabelPlan:
    """Labels needed for each half width, beside the judge's scores and without them.

    Parameters
    ----------
    source : source
        A pilot: some labels, and the judges' scores.
    half_widths : sequence of float
        Of the interval wanted, in points of the scale; with `power`, differences to detect.
    power : float, optional
        Plan to detect differences with that probability.
    by : str, optional
        ``"system"`` or a column of the file: a plan for each; by default for all together.
    judged : int, optional
        Responses (of each group) that will have a judge score.
    cost : float, optional
        Of one label.
    reference, judges, cluster, level
        As in `correct`.

    Raises
    ------
    InputError
        As `read_labelled`; fewer than four labels.
    """
    if power is not None and not 0 < power < 1:
        raise InputError(f"--power must lie between 0 and 1, got {power}")
    data = read_labelled(
        source, reference=reference, judges=judges, by=by or "system", cluster=cluster
    )
    groups = dict.fromkeys(data.group.tolist()) if by else {"": None}
    rows = []
    for a, attribute in enumerate(data.attributes):
        for j, judge in enumerate(data.judges):
            for group in groups:
                own = (data.group == group) | (not by)
                clusters = data.cluster if by else data.overall_cluster
                found = labels_needed(
                    data.human[a][own], data.judge[j, a][own], list(half_widths), judged=judged,
                    clusters=None if clusters is None else clusters[own], level=level, power=power,
                )  # fmt: skip
                rows.append(PlannedLabels(attribute, judge, str(group), found))
    unit = "labels"
    if data.cluster is not None:
        unit = "clusters"
    elif not by and data.overall_cluster is not None:
        unit = "items"
    return LabelPlan(tuple(rows), tuple(_means(data)), power, cost, unit, data.findings)


def _means(data: Labelled) -> Iterator[MeanOfSeveral]:
    """Of the humans, and of the runs of each judge."""
    ratings = data.inputs.ratings.select(
        pl.concat_str(
            [pl.col("item").cast(pl.String), pl.col("system").cast(pl.String).fill_null("")],
            separator="\0",
        ).alias("response"),
        pl.col("rater").cast(pl.String), "run", pl.col("attribute").cast(pl.String), "score",
    )  # fmt: skip
    people = ratings.filter(pl.col("rater").is_in(list(data.inputs.panel.reference)))
    for attribute in data.attributes:
        yield from _mean(people, attribute, "", "rater")
        for judge in data.judges:
            yield from _mean(ratings.filter(pl.col("rater") == judge), attribute, judge, "run")


def _mean(
    ratings: pl.DataFrame, attribute: str, rater: str, column: str
) -> Iterator[MeanOfSeveral]:
    own = ratings.filter(pl.col("attribute") == attribute)
    if own[column].n_unique() < 2:
        return
    wide = own.pivot(on=column, index="response", values="score", aggregate_function="mean")
    found = icc(wide.drop("response").to_numpy(), "A,1")
    single = found.value
    needed = None
    if 0 < single < 1:
        needed = max(1, math.ceil(_WANTED * (1 - single) / (single * (1 - _WANTED)) - 1e-9))
    elif single >= 1:
        needed = 1
    yield MeanOfSeveral(attribute, rater, single, needed, wide.width - 1)

"""How many labels are needed, with the judge and without it, from a pilot."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire.errors import InputError
from voirdire.examining.at_prompt import AtPrompt, Telling
from voirdire.examining.correcting.escalating import named_place
from voirdire.examining.correcting.labelled import read_labelled
from voirdire.examining.juries import used
from voirdire.examining.planning.drawing import draw_labels
from voirdire.examining.spoken import speaks_python
from voirdire.examining.verdict.gathering import gate_of
from voirdire.progress import stage
from voirdire.stats import icc, labels_needed, raters_needed, runs_needed, variance_components

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from voirdire.examining.correcting.labelled import LabelledResponses
    from voirdire.examining.planning.drawing import LabelDraw
    from voirdire.examining.sources import AnySource
    from voirdire.schema import Finding
    from voirdire.stats import Decision, LabelsNeeded, VarianceComponents
    from voirdire.study import ReadOptions

#: The reliability that a mean of several humans or runs is planned for.
_WANTED = 0.8
#: Strata of a draw from both sides of a judge.
SIDES = ("it fails", "it passes")
#: The share of labelled clusters' responses with a label from which clusters are labelled whole.
_MOSTLY = 0.5
#: Judges, and runs of each, from which the parts of the variance can be told apart.
_FEWEST = 2


@dataclass(frozen=True, slots=True)
class PlannedLabels:
    """One attribute, judge and group (empty: all), and what each half width costs.

    `judging` is what the judge's scores of all responses of the plan cost, by the prices and the
    tokens of the session; None where these are not known.
    """

    attribute: str
    judge: str
    group: str
    plans: tuple[LabelsNeeded, ...]
    judging: float | None = None


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
    present : int
        How many there are.
    """

    attribute: str
    rater: str
    single: float
    needed: int | None
    present: int


@dataclass(frozen=True, slots=True)
class PanelOfJudges:
    """Where the scores of several judges with several runs vary, and how many judges it takes.

    Attributes
    ----------
    judges : tuple of str
        Those with several runs; of each, as many runs as all of them have.
    components : VarianceComponents
        Over responses (its items), judges (its raters) and runs within judges.
    needed : tuple of Decision
        Judges whose mean reaches a reliability of 0.80, with one run each and with as many as
        there are.
    """

    attribute: str
    judges: tuple[str, ...]
    components: VarianceComponents
    needed: tuple[Decision, ...]


@dataclass(frozen=True, slots=True)
class LabelPlan(AtPrompt):
    """A table of budget against half width.

    Attributes
    ----------
    rows : tuple of PlannedLabels
    means : tuple of MeanOfSeveral
        Where there are several humans, or several runs of a judge.
    panels : tuple of PanelOfJudges
        Where several judges have several runs.
    power : float or None
        Where differences are to be detected.
    cost : float or None
        Of one label.
    unit : {"labels", "items", "clusters"}
        What the numbers of `plans` count, each with `LabelsNeeded.each` labels: an item with the
        labels of its systems where they are taken together.
    draw : LabelDraw or None
        What to label next, where that was asked for.
    """

    telling = Telling(
        title="How many labels",
        rows="rows",
        sections="voirdire.examining.correcting.sections:plan_sections",
        said="voirdire.report.first:plan_said",
    )

    rows: tuple[PlannedLabels, ...]
    means: tuple[MeanOfSeveral, ...]
    panels: tuple[PanelOfJudges, ...]
    power: float | None
    cost: float | None
    unit: str
    findings: tuple[Finding, ...]
    draw: LabelDraw | None = None


@speaks_python
def plan_labels(  # noqa: PLR0913 - the options are those of the command
    source: AnySource,
    half_widths: Sequence[float],
    *,
    power: float | None = None,
    reference: Sequence[str] = (),
    read: ReadOptions | None = None,
    judges: Sequence[str] = (),
    by: str = "",
    judged: int | None = None,
    cost: float | None = None,
    gate: float | None = None,
    level: float = 0.95,
    draw: bool = False,
    seed: int = 0,
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
    gate : float, optional
        Scores at or above it pass, and pass rates are planned.
    draw : bool
        Whether to draw the responses to label next: beside the labels there are, as many as the
        number under "at most" asks for, with the judge that needs the fewest.
    seed : int
        Of the draw.
    reference, read, judges, level
        As in `correct`.

    Raises
    ------
    InputError
        As `read_labelled`; fewer than four labels; a draw for several half widths, or where no
        number of labels suffices.
    """
    if draw and len(half_widths) != 1:
        raise InputError(f"a draw needs one half width to plan for, got {len(half_widths)}")
    if power is not None and not 0 < power < 1:
        raise InputError(f"--power must lie between 0 and 1, got {power}")
    data = read_labelled(source, reference=reference, judges=judges, by=by or "system", read=read)
    stage("counting the labels needed")
    if gate is not None:
        data = data.at_gate(gate)
    groups = dict.fromkeys(data.group.tolist()) if by else {"": None}
    rows, prices = [], _prices(data)
    for a, attribute in enumerate(data.attributes):
        for j, judge in enumerate(data.judges):
            for group in groups:
                # Without `by` the one group is the empty name, and means all.
                own = (data.group == group) | (not by)
                clusters = data.cluster if by else data.overall_cluster
                plans = labels_needed(
                    data.human[a][own],
                    data.judge[j, a][own],
                    list(half_widths),
                    judged=judged,
                    clusters=None if clusters is None else clusters[own],
                    level=level,
                    power=power,
                    scale=data.scale,
                    method=data.method,
                )
                each = prices.get(judge)
                total = None if each is None else each * plans[0].judged
                rows.append(PlannedLabels(attribute, judge, str(group), plans, total))
    unit = "labels"
    if data.cluster is not None:
        unit = "clusters"
    elif not by and data.overall_cluster is not None:
        unit = "items"
    plan = LabelPlan(
        tuple(rows), tuple(_means(data)), tuple(_panels(data)), power, cost, unit, data.findings
    )
    return replace(plan, draw=_draw(data, plan, by, seed)) if draw else plan


@speaks_python
def plan_sides(
    source: AnySource,
    each: int,
    *,
    reference: Sequence[str] = (),
    read: ReadOptions | None = None,
    judges: Sequence[str] = (),
    gate: float | None = None,
    seed: int = 0,
) -> LabelPlan:
    """So many more labels of what a judge passes, and as many of what it fails.

    Where hardly anything fails, a random draw meets few failures; this one meets more. The answers
    know the probability with which they were drawn, which a verdict on the gate and `correct` take
    into account.

    Parameters
    ----------
    source, reference, read, judges
        As in `correct`; one attribute and one judge.
    each : int
        Responses of either side that have no label yet.
    gate : float, optional
        Scores at or above it pass; by default the study's, or the upper of two levels.
    seed : int
        Of the draw.

    Raises
    ------
    InputError
        As `read_labelled`; no gate, several attributes or judges, or fewer than one of each.
    """
    if each < 1:
        raise InputError(f"--each must be 1 or more, got {each}")
    data = read_labelled(source, reference=reference, judges=judges, by="system", read=read)
    rule = gate_of(data.inputs.study, data.inputs.panel.scale)
    if gate is not None:
        data, at = data.at_gate(gate), 1.0
    elif rule is not None:
        at = rule.at
    else:
        raise InputError("--each: say by --gate from which score on a response passes")
    if len(data.attributes) > 1:
        raise InputError(
            f"--each draws for one attribute, and there are {', '.join(data.attributes)}"
        )
    scores = data.judge[named_place("judge", "judge", "", data.judges), 0]
    responses = pl.DataFrame(
        {
            "item": np.array(data.items)[data.item],
            "system": np.array(data.systems)[data.system],
            "stratum": np.where(scores >= at, SIDES[1], SIDES[0]),
            "labelled": ~np.isnan(data.human[0]),
        }
    ).filter(pl.Series(~np.isnan(scores)))
    there = set(responses["stratum"])
    drawn = draw_labels(responses, {side: each for side in SIDES if side in there}, seed=seed)
    return LabelPlan((), (), (), None, None, "labels", data.findings, drawn)


def _draw(data: LabelledResponses, plan: LabelPlan, by: str, seed: int) -> LabelDraw:
    """The responses that the plan asks for and that have no label yet."""
    clusters = data.cluster if by else data.overall_cluster
    # One sheet asks for all attributes.
    labelled = np.asarray((~np.isnan(data.human)).any(0), np.bool_)
    # An item with one label of its systems is drawn as a response, with more as a whole; so are
    # clusters, unless the labels there are lie singly in many.
    whole = clusters is not None and any(one.each > 1 for row in plan.rows for one in row.plans)
    if whole and clusters is not None:
        whole = bool(labelled[np.isin(clusters, clusters[labelled])].mean() > _MOSTLY)
    responses = pl.DataFrame(
        {
            "item": np.array(data.items)[data.item],
            "system": np.array(data.systems)[data.system],
            "stratum": data.group if by else np.full(len(data.item), ""),
            "labelled": labelled,
            **({"unit": clusters} if whole else {}),
        }
    ).filter(pl.Series(~np.isnan(data.judge).all((0, 1))))
    wanted = {}
    for group in responses["stratum"].unique(maintain_order=True).to_list():
        own = responses.filter(pl.col("stratum") == group)
        known = own.filter("labelled")
        asked = _asked(plan, group, whole=whole)
        if not math.isfinite(asked):
            raise InputError(
                "no number of labels gives a half width of "
                f"{plan.rows[0].plans[0].half_width:g}{f' for {group}' if group else ''}: ask for "
                "a larger one"
            )
        wanted[group] = max(0, int(asked) - (known["unit"].n_unique() if whole else known.height))
    return draw_labels(responses, wanted, seed=seed)


def _asked(plan: LabelPlan, group: str, *, whole: bool) -> float:
    """Labels (or units) that suffice for every attribute, each with its best judge; where its pilot
    is too small to plan from, those of one that is not.
    """
    most = 0.0
    for attribute in dict.fromkeys(row.attribute for row in plan.rows):
        rows = [r.plans[0] for r in plan.rows if (r.group, r.attribute) == (group, attribute)]
        planned = [(one, one.upper) for one in rows if one.few is None]
        units = planned or [(one, one.least_pilot) for one in rows]
        most = max(most, min(n if whole else one.labels(n) for one, n in units))
    return most


def _prices(data: LabelledResponses) -> dict[str, float]:
    """What one response costs to judge, in all runs, where a session knows tokens and prices."""
    prices = {}
    for name, price in used(data.inputs).items():
        if name not in data.judges or price.money is None:
            continue
        # A reply mostly scores all attributes at once: the price is one response's, in all runs.
        scored = ~np.isnan(data.judge[data.judges.index(name)]).all(0)
        if scored.any():
            prices[name] = price.money / int(scored.sum())
    return prices


def _means(data: LabelledResponses) -> Iterator[MeanOfSeveral]:
    """Of the humans, and of the runs of each judge."""
    ratings = _by_response(data)
    people = ratings.filter(pl.col("rater").is_in(list(data.inputs.panel.reference)))
    for attribute in data.attributes:
        yield from _mean(people, attribute, "", "rater")
        for judge in data.judges:
            yield from _mean(ratings.filter(pl.col("rater") == judge), attribute, judge, "run")


def _by_response(data: LabelledResponses) -> pl.DataFrame:
    return data.inputs.ratings.select(
        pl.concat_str(
            [pl.col("item").cast(pl.String), pl.col("system").cast(pl.String).fill_null("")],
            separator="\0",
        ).alias("response"),
        pl.col("rater").cast(pl.String),
        "run",
        pl.col("attribute").cast(pl.String),
        "score",
    )


def _mean(
    ratings: pl.DataFrame, attribute: str, rater: str, column: str
) -> Iterator[MeanOfSeveral]:
    own = ratings.filter(pl.col("attribute") == attribute)
    if own[column].n_unique() < 2:
        return
    wide = own.pivot(on=column, index="response", values="score", aggregate_function="mean")
    single = icc(wide.drop("response").to_numpy(), "A,1").value
    yield MeanOfSeveral(attribute, rater, single, runs_needed(single, _WANTED).runs, wide.width - 1)


def _panels(data: LabelledResponses) -> Iterator[PanelOfJudges]:
    """The judges with several runs, on the runs that all of them have."""
    judged = _by_response(data).filter(pl.col("rater").is_in(list(data.judges)))
    for attribute in data.attributes:
        own = judged.filter(pl.col("attribute") == attribute)
        counts = own.group_by("rater", maintain_order=True).agg(pl.col("run").n_unique())
        # A single run cannot be told from the rest of the variance.
        several = counts.filter(pl.col("run") >= _FEWEST)
        if several.height < _FEWEST:
            continue
        judges, runs = several["rater"].to_list(), int(several["run"].min())  # type: ignore[arg-type]
        scores = _cells(own, judges, runs)
        components = variance_components(scores)
        needed = tuple(raters_needed(components, _WANTED, runs=n) for n in dict.fromkeys((1, runs)))
        yield PanelOfJudges(attribute, tuple(judges), components, needed)


def _cells(own: pl.DataFrame, judges: Sequence[str], runs: int) -> NDArray[np.float64]:
    """(responses, judges, runs): of each judge its first runs; NaN where a score is missing."""
    # The first runs of each, however they are numbered.
    at = pl.col("run").rank("dense").over("rater")
    cell = pl.concat_str("rater", at.cast(pl.String), separator="\0").alias("cell")
    wide = (
        own.filter(at <= runs)
        .with_columns(cell)
        .pivot(on="cell", index="response", values="score", aggregate_function="mean")
    )
    names = [f"{judge}\0{n + 1}" for judge in judges for n in range(runs)]
    return wide.select(names).to_numpy().reshape(wide.height, len(judges), runs)

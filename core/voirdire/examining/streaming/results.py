"""Counted patterns to the results that an Examination holds: planned, then read off the sums."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.examining.ratings.agreement import MANY_LEVELS, levels_of, system_level
from voirdire.examining.ratings.facts import Measure
from voirdire.examining.ratings.pairing import (
    FORMS,
    Pairing,
    UnderRule,
    level_of,
    reference_scores,
)
from voirdire.examining.ratings.results import icc_forms, result_of_forms
from voirdire.examining.spec.coefficients import COEFFICIENTS
from voirdire.examining.streaming.counted import Planned, PlannedSizes, dot
from voirdire.stats import icc_batch
from voirdire.stats._forms import f_interval
from voirdire.stats._results import Estimate, Interval
from voirdire.stats.rating_sums import (
    MOST_LEVELS,
    icc_squares,
    poisson_interval,
    summed_coefficient,
)
from voirdire.stats.sums import quantile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from voirdire.examining.panel import Member, Panel
    from voirdire.examining.ratings.facts import PairResult
    from voirdire.examining.spec.coefficients import CoefficientSpec
    from voirdire.examining.streaming.counted import Counted
    from voirdire.examining.streaming.second_pass import AskedSums, SecondSums
    from voirdire.study import Analysis, Study

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class PairPlan:
    """A judge beside a reference on one attribute: means by system, and coefficients of pairs."""

    pairing: Pairing
    valid: NDArray[np.bool_]
    scores: Floats
    n_pairs: int
    planned: Mapping[str, Planned]
    levels: Sequence[float] | None
    sizes: PlannedSizes | None = None


#: What is computed of the pairs of a result; those of levels only where scores keep to them.
_OF_PAIRS = ("icc_c1", "icc_a1", "ccc", "pearson", "bias", "loa_low", "loa_high", "mae", "rmse")
_OF_LEVELS = ("qwk", "alpha_ordinal", "alpha_nominal")


def plan_pairs(
    table: Counted, panel: Panel, judges: Sequence[Member], references: Sequence[Sequence[str]]
) -> Iterator[PairPlan]:
    """Every judge x reference of one attribute."""
    cube = table.cube
    for judge in judges:
        for reference in references:
            human = reference_scores(cube, panel, reference)[0]
            own = cube.scores[cube.raters.index(judge.name), 0]
            out = [cube.systems.index(s) for s in judge.excluded if s in cube.systems]
            kept = ~np.isin(cube.system, out)
            valid = kept & ~np.isnan(human) & ~np.isnan(own)
            pairs = np.where(valid[:, None], np.stack([human, own], axis=1), np.nan)
            levels = levels_of(panel.scale, human[valid], own[valid]) if valid.any() else None
            # Kappa and alpha are sums of one column a pair of levels: not for scores on no grid,
            # nor for hundreds of levels.
            if table.is_loose(judge.name, *reference) or len(levels or ()) > MOST_LEVELS:
                levels = None
            names: Sequence[str] = _OF_PAIRS if levels is None else (*_OF_PAIRS, *_OF_LEVELS)
            sizes = None
            if table.is_loose(judge.name, *reference):
                # A node stands for scores that lie about it: the mean size of differences is no
                # moment of these.
                names = [name for name in names if name != "mae"]
                sizes = PlannedSizes(pairs[:, 1] - pairs[:, 0])
            planned = {
                name: Planned.of(summed_coefficient(name, 2, levels), pairs, table.counts)
                for name in names
            }
            yield PairPlan(
                _pairing(table, judge, reference, pairs, valid, kept),
                valid,
                pairs,
                table.size(valid),
                planned,
                levels,
                sizes,
            )


def _pairing(
    table: Counted,
    judge: Member,
    reference: Sequence[str],
    pairs: Floats,
    valid: NDArray[np.bool_],
    kept: NDArray[np.bool_],
) -> Pairing:
    cube, weight = table.cube, np.where(valid, table.counts, 0)
    count = np.bincount(cube.system, weights=weight, minlength=len(cube.systems))
    sums = [
        np.bincount(cube.system, weights=weight * np.where(valid, column, 0), minlength=len(count))
        for column in pairs.T
    ]
    # Shares of nodes add up to whole responses but for rounding.
    count = np.rint(count)
    there = np.flatnonzero(count)
    matrix = np.stack(sums, axis=1)[there] / count[there, None]
    asked = cube.asked[[cube.raters.index(name) for name in reference]].any(axis=0)
    return Pairing(
        judge.name,
        cube.attributes[0],
        tuple(reference),
        level_of(cube),
        tuple(system for system in judge.excluded if system in cube.systems),
        pairs[valid, 0],
        pairs[valid, 1],
        cube.system[valid],
        cube.item[valid],
        tuple(cube.systems[at] for at in there),
        matrix,
        count[there].astype(np.intp),
        table.size(kept & asked),
    )


@dataclass(frozen=True, slots=True, eq=False)
class ResampledSpread:
    """What the second pass found of one attribute: squares of each planned coefficient, draws.

    `weights` (B, P) says how often each replicate draws each row, `drawn` what the columns of each
    coefficient come to.
    """

    squares: Mapping[int, float]
    weights: Floats
    drawn: Mapping[int, Floats]
    sizes: Mapping[int, Floats]


def spread_of(
    table: Counted,
    planned: Sequence[Planned],
    sizes: Sequence[PlannedSizes],
    asked: AskedSums,
    sums: SecondSums,
) -> ResampledSpread:
    """Squares, and sums of sizes, by the identity of each planned coefficient."""
    attribute = table.cube.attributes[0]
    if asked.linear is None:
        squares = [float(dot(table.counts, one.moves[:, None] ** 2)[0]) for one in planned]
    else:
        squares = asked.linear.squares(sums.high[attribute], sums.low[attribute]).tolist()
    drawn = sums.drawn.get(attribute, np.zeros((len(table.counts), 0)))
    weights = np.ascontiguousarray(drawn.T, dtype=np.float64)
    return ResampledSpread(
        {id(one): square for one, square in zip(planned, squares, strict=True)},
        weights,
        _drawn_sums(weights, planned),
        {id(one): sums.apart[attribute][:, at] for at, one in enumerate(sizes)},
    )


#: Rows whose columns of all coefficients are multiplied at a time.
_ROWS = 2_048


def _drawn_sums(weights: Floats, planned: Sequence[Planned]) -> dict[int, Floats]:
    """(B, F) sums of each coefficient's columns: one product for all is many times faster."""
    # Where the columns of each coefficient stand in the product of all.
    ends = np.cumsum([0, *(one.columns.shape[1] for one in planned)])
    total = np.zeros((len(weights), ends[-1]))
    # A block of rows at a time: the columns of all coefficients together would fill gigabytes.
    for start in range(0, weights.shape[1] if total.size else 0, _ROWS):
        rows = slice(start, start + _ROWS)
        total += weights[:, rows] @ np.concatenate([one.columns[rows] for one in planned], axis=1)
    pairs = zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    return {id(one): total[:, a:b] for one, (a, b) in zip(planned, pairs, strict=True)}


def result_of(
    plan: PairPlan,
    table: Counted,
    spread: ResampledSpread,
    panel: Panel,
    study: Study,
    resampled: bool,
) -> PairResult:
    """Every number of one judge, attribute and reference."""
    pairing, analysis = plan.pairing, study.analysis
    of = _estimates(plan, table, spread, analysis.level)
    sums = {name: dot(table.counts, one.columns) for name, one in plan.planned.items()}
    at_system = pairing.level == "system"
    forms = (
        _system_forms(plan, table, spread, analysis, resampled=resampled)
        if at_system
        else _response_forms(sums["icc_c1"], of, analysis.level)
    )
    scale = panel.scale
    level = (
        system_level(pairing, scale, study.thresholds.bias_level)
        if at_system
        else _response_level(of, sums["bias"], scale.width, study.thresholds.bias_level)
    )
    return result_of_forms(
        pairing,
        forms,
        plan.n_pairs,
        # The published classes and what lies below 0 rest on draws of systems that are not kept.
        reliability_class="",
        class_exact="",
        class_borderline=False,
        mass_below_0={},
        label_alpha=_label_alpha(of, scale.count, at_system),
        **_before(plan, table, panel),
        **level,
        **_of_responses(of, sums["bias"], plan.levels, scale.count),
    )


def _estimates(
    plan: PairPlan, table: Counted, spread: ResampledSpread, level: float
) -> dict[str, Estimate]:
    """What the plan asks for, by name, each with its interval."""
    counts, clusters = table.counts, table.clusters
    of = {
        name: one.estimate(counts, spread.squares[id(one)], spread.drawn[id(one)], clusters, level)
        for name, one in plan.planned.items()
    }
    if plan.sizes is not None:
        total = round(float(counts.sum()))
        of["mae"] = plan.sizes.estimate(spread.sizes[id(plan.sizes)], total, clusters, level)
    return of


def _label_alpha(of: Mapping[str, Estimate], levels: int, at_system: bool) -> Estimate | None:
    return None if at_system or levels != 2 else of.get("alpha_nominal")


def _system_forms(
    plan: PairPlan, table: Counted, spread: ResampledSpread, analysis: Analysis, *, resampled: bool
) -> tuple[Estimate, ...]:
    """ICCs of the systems' means, with the interval over clusters last."""
    (forms,) = icc_forms([plan.pairing], analysis)
    if not (resampled and len(spread.weights)):
        return forms
    matrices = _drawn_matrices(plan, table, spread.weights)
    batch = icc_batch(matrices, FORMS, ci=None)
    values = np.array([[one.value for one in pair] for pair in batch])
    return tuple(
        replace(form, intervals=(*form.intervals, poisson_interval(values[:, at], analysis.level)))
        for at, form in enumerate(forms)
    )


def _drawn_matrices(plan: PairPlan, table: Counted, weights: Floats) -> list[Floats]:
    """The systems' means in each replicate."""
    codes = [table.cube.systems.index(name) for name in plan.pairing.systems]
    weight = np.where(plan.valid, weights, 0.0)
    scores = np.where(plan.valid[:, None], plan.scores, 0.0)
    matrices = np.empty((len(weights), len(codes), 2))
    for row, code in enumerate(codes):
        own = weight[:, table.cube.system == code]
        sums = own @ scores[table.cube.system == code]
        with np.errstate(invalid="ignore", divide="ignore"):
            matrices[:, row] = sums / own.sum(axis=1)[:, None]
    return list(matrices)


def _response_forms(sums: Floats, of: Mapping[str, Estimate], level: float) -> tuple[Estimate, ...]:
    """ICCs of single pairs: F, the delta method and the Poisson bootstrap."""
    n = round(float(sums[0]))
    squares = np.array(icc_squares(sums)) if n > 1 else np.full(3, math.nan)
    estimates = []
    for form, name in zip(FORMS, ("icc_c1", "icc_a1"), strict=True):
        low, high = f_interval(form, squares[:, None], n, 2, level) if n > 1 else ([math.nan],) * 2
        f = Interval("f", level, float(low[0]), float(high[0]))
        names = ("ms_rows", "ms_raters", "ms_error")
        details = {**of[name].details, **dict(zip(names, map(float, squares), strict=True))}
        estimates.append(replace(of[name], intervals=(f, *of[name].intervals), details=details))
    return tuple(estimates)


def _response_level(
    of: Mapping[str, Estimate], sums: Floats, width: float, level: float
) -> dict[str, Any]:
    """The numbers that stand at system level where there are systems, of single pairs."""
    n, x, y, xx, yy, xy, _ = sums.tolist()
    shift = of["bias"].value
    # Of the differences, from sums of squares and products.
    sd = math.sqrt(max(xx + yy - 2 * xy - n * shift**2, 0) / (n - 1)) if n > 1 else math.nan
    reach = quantile((1 + level) / 2, n - 1) * sd / math.sqrt(n) if n > 1 else math.nan
    return {
        "bias": shift,
        "bias_interval": Interval("t", level, shift - reach, shift + reach),
        "bias_normalised": abs(shift) / width,
        "human_mean": x / n if n else math.nan,
        "judge_mean": y / n if n else math.nan,
        "mse_system": of["rmse"].value ** 2,
        "ccc": of["ccc"].value,
        "pearson_r": of["pearson"].value,
        "loa_low": of["loa_low"].value,
        "loa_high": of["loa_high"].value,
        "loa_low_ci": of["loa_low"].interval(),
        "loa_high_ci": of["loa_high"].interval(),
    }


def _of_responses(
    of: Mapping[str, Estimate], sums: Floats, levels: Sequence[float] | None, count: int
) -> dict[str, Any]:
    n, x, y, xx, yy, _, _ = sums.tolist()

    def sd(total: float, square: float) -> float:
        return math.sqrt(max(square - total**2 / n, 0) / (n - 1)) if n > 1 else math.nan

    few_levels = levels is not None and count <= MANY_LEVELS
    return {
        "human_sd": sd(x, xx),
        "judge_sd": sd(y, yy),
        "mse": of["rmse"].value ** 2,
        "mae": of["mae"].value,
        "rmse": of["rmse"].value,
        "qwk": of["qwk"].value if few_levels else math.nan,
        "alpha_ordinal": of["alpha_ordinal"].value if few_levels else math.nan,
    }


def _before(plan: PairPlan, table: Counted, panel: Panel) -> dict[str, Any]:
    """Each system left out in turn, and the results without exclusion."""
    pairing = plan.pairing
    if pairing.level != "system":
        return {}
    names = pairing.systems
    out = [np.delete(pairing.matrix, at, axis=0) for at in range(len(names))]
    batch = icc_batch(out, FORMS, ci=None)
    before: dict[str, Any] = {
        "loo_c1": {name: pair[0].value for name, pair in zip(names, batch, strict=True)},
        "loo_a1": {name: pair[1].value for name, pair in zip(names, batch, strict=True)},
    }
    if pairing.excluded:
        judge = replace(next(m for m in panel.members if m.name == pairing.judge), excluded=())
        (whole,) = plan_pairs(table, panel, [judge], [pairing.against])
        rows = whole.pairing.matrix
        (pair,) = icc_batch([rows], FORMS, ci=None)
        before["without_exclusion"] = UnderRule(
            (), len(rows), pair[0].value, pair[1].value, float((rows[:, 1] - rows[:, 0]).mean())
        )
        before["left_out"] = tuple(
            row for row in whole.pairing.rows if row.system in pairing.excluded
        )
    return before


@dataclass(frozen=True, slots=True, eq=False)
class MeasurePlan:
    """A coefficient that the study asks for; without `planned` no sum can tell it."""

    name: str
    raters: tuple[str, ...]
    planned: Planned | None
    why: str = ""
    sizes: PlannedSizes | None = None


def plan_measures(
    table: Counted, panel: Panel, names: Sequence[str], raters: Sequence[str]
) -> Iterator[MeasurePlan]:
    """Coefficients over all raters, and of each two, of one attribute."""
    cube = table.cube
    scores = cube.scores[[cube.raters.index(name) for name in raters], 0].T
    present = scores[~np.isnan(scores)]
    levels = levels_of(panel.scale, present) if present.size else None
    if table.is_loose(*raters) or len(levels or ()) > MOST_LEVELS:
        levels = None
    for asked in names:
        spec = COEFFICIENTS[asked]
        if spec.of == "all":
            yield _measure(spec, tuple(raters), scores, table, levels)
            continue
        for a, b in combinations(range(len(raters)), 2):
            two = (raters[a], raters[b])
            if spec.of_sizes and table.is_loose(*two):
                sizes = PlannedSizes(scores[:, a] - scores[:, b])
                yield MeasurePlan(asked, two, None, sizes=sizes)
            else:
                # As in memory, the later rater comes first.
                yield _measure(spec, two, scores[:, [b, a]], table, levels)


def _measure(
    spec: CoefficientSpec,
    raters: tuple[str, ...],
    scores: Floats,
    table: Counted,
    levels: Sequence[float] | None,
) -> MeasurePlan:
    from voirdire.errors import StatisticsError  # noqa: PLC0415 - one use

    if spec.summed is None:
        return MeasurePlan(spec.key, raters, None, "not_summable")
    try:
        coefficient = spec.summed(len(raters), levels)
        return MeasurePlan(spec.key, raters, Planned.of(coefficient, scores, table.counts))
    # A coefficient of levels, of raters whose scores keep to none.
    except StatisticsError:  # levels that are not there
        return MeasurePlan(spec.key, raters, None, "not_summable")


def measure_of(plan: MeasurePlan, table: Counted, spread: ResampledSpread, level: float) -> Measure:
    """The coefficient with its intervals."""
    attribute = table.cube.attributes[0]
    if plan.sizes is not None:
        total = round(float(table.counts.sum()))
        sizes = plan.sizes.estimate(spread.sizes[id(plan.sizes)], total, table.clusters, level)
        return Measure(plan.name, attribute, "response", plan.raters, sizes)
    if plan.planned is None:
        empty = Estimate(plan.name, math.nan, n=0, k=len(plan.raters), reason=plan.why)
        return Measure(plan.name, attribute, "response", plan.raters, empty)
    estimate = plan.planned.estimate(
        table.counts,
        spread.squares[id(plan.planned)],
        spread.drawn[id(plan.planned)],
        table.clusters,
        level,
    )
    return Measure(plan.name, attribute, "response", plan.raters, estimate)

"""From pairings to results: every number of one judge and attribute."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.examining.ratings.agreement import (
    FEWEST_SYSTEMS,
    band_of,
    is_borderline,
    label_alpha,
    reliability_class,
    response_level,
    system_level,
)
from voirdire.examining.ratings.facts import FormInterval, PairResult, RatingsFacts
from voirdire.examining.ratings.pairing import (
    FORMS,
    Before,
    pairings,
    under_other_rules,
)
from voirdire.examining.ratings.systems import judge_mean_tests, system_means, system_tests
from voirdire.late import dataclass
from voirdire.stats import icc_batch, icc_over_seeds, icc_systems_batch
from voirdire.stats._arrays import coded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from voirdire.examining.panel import Panel
    from voirdire.examining.ratings.cube import Cube
    from voirdire.examining.ratings.facts import Measure, SystemTest
    from voirdire.examining.ratings.pairing import Pairing
    from voirdire.stats import Estimate
    from voirdire.study import Analysis


#: More subjects than this have too many resamples to enumerate.
EXACT_LIMIT = 10

#: Scores that are held by item at a time (128 MiB); pairs held together share their draws.
CELLS_AT_ONCE = 1 << 24

#: Seeds that are tried to see whether the seed decides the published class.
SEEDS_TRIED = 100


@dataclass(frozen=True, slots=True)
class _Ways:
    """How results are computed: the panel's rules, the draws, the level of the bias."""

    panel: Panel
    analysis: Analysis
    bias_level: float


def examine_ratings(
    panel: Panel,
    cube: Cube,
    analysis: Analysis,
    *,
    bias_level: float,
    alone: bool,
    measures: tuple[Measure, ...] = (),
) -> RatingsFacts:
    """Each judge against the reference, the humans among themselves, and the systems.

    Parameters
    ----------
    bias_level : float
        Level of the interval of the bias.
    alone : bool
        Labels are examined besides: without a result their means by system say nothing.
    measures : tuple of Measure
        The coefficients over all raters that were asked for.
    """
    ways = _Ways(panel, analysis, bias_level)
    paired = list(pairings(cube, panel, panel.judges, panel.references))
    results = _results(paired, cube, ways)
    composed = cube.with_composites(panel.composites)
    of_composites = list(pairings(composed, panel, panel.judges, panel.references))
    return RatingsFacts(
        results=results,
        composites=_results(of_composites, composed, ways),
        ceiling=_ceiling(cube, ways),
        system_means=() if alone and not results else system_means(cube, panel.composites),
        tests=_tests(cube, panel, analysis),
        measures=measures,
        paired=tuple(paired),
        cube=cube,
    )


def _ceiling(cube: Cube, ways: _Ways) -> tuple[PairResult, ...]:
    """Each human against the mean of the others."""
    humans = [member for member in ways.panel.members if member.name in ways.panel.reference]
    if len(humans) < 2:
        return ()
    return tuple(
        result
        for human in humans
        for others in [tuple(other.name for other in humans if other != human)]
        for result in _results(list(pairings(cube, ways.panel, [human], [others])), cube, ways)
    )


def _tests(cube: Cube, panel: Panel, analysis: Analysis) -> tuple[SystemTest, ...]:
    if len(cube.systems) < 2:
        return ()
    judges = [judge.name for judge in panel.judges]
    published = analysis.compat == "badawi2025" and len(judges) > 1
    return (*system_tests(cube), *(judge_mean_tests(cube, judges) if published else ()))


def _results(pairings: Sequence[Pairing], cube: Cube, ways: _Ways) -> tuple[PairResult, ...]:
    """Results in the order given. Matrices of one shape share their bootstrap counts."""
    if not pairings:
        return ()
    estimates = _with_items_drawn(
        pairings,
        icc_forms(pairings, ways.analysis, ways.analysis.compat or None),
        cube,
        ways.analysis,
    )
    borderline = _borderline(pairings, ways.analysis)
    before = under_other_rules(pairings, cube, ways.panel)
    return tuple(
        _result(pairing, estimates[i], borderline[i], before[i], ways)
        for i, pairing in enumerate(pairings)
    )


def icc_forms(
    pairings: Sequence[Pairing], analysis: Analysis, compat: str | None = None
) -> list[tuple[Estimate, ...]]:
    """The two ICCs of each pairing with all intervals that its size allows."""
    results: list[tuple[Estimate, ...]] = [()] * len(pairings)
    for small in (True, False):
        members = [i for i, p in enumerate(pairings) if (len(p.matrix) <= EXACT_LIMIT) == small]
        drawn = ("percentile", "bca") if analysis.resamples else ()
        batch = icc_batch(
            [pairings[i].matrix for i in members],
            FORMS,
            ci=("f", *drawn, *(("exact",) if small else ())),
            level=analysis.level,
            n_resamples=max(analysis.resamples, 1),  # unused where none is drawn
            seed=analysis.seed,
            compat=compat,
        )
        for i, estimates in zip(members, batch, strict=True):
            results[i] = estimates
    return results


def _with_items_drawn(
    pairings: Sequence[Pairing],
    estimates: list[tuple[Estimate, ...]],
    cube: Cube,
    analysis: Analysis,
) -> list[tuple[Estimate, ...]]:
    """The same with the interval over items ("cluster") last, at system level."""
    n_items = len(cube.items)
    results = list(estimates)
    systems = [i for i, p in enumerate(pairings) if p.level == "system" and analysis.resamples]
    # Pairings that are held together share their draws, so that their intervals compare; more would
    # not fit into memory.
    together = max(1, CELLS_AT_ONCE // (2 * n_items * len(cube.systems)))
    for start in range(0, len(systems), together):
        members = systems[start : start + together]
        batch = icc_systems_batch(
            [_by_item(pairings[i], n_items) for i in members],
            FORMS,
            level=analysis.level,
            n_resamples=analysis.resamples,
            seed=analysis.seed,
        )
        for i, drawn in zip(members, batch, strict=True):
            results[i] = tuple(
                replace(one, intervals=(*one.intervals, *other.intervals))
                for one, other in zip(estimates[i], drawn, strict=True)
            )
    return results


def _by_item(pairing: Pairing, n_items: int) -> NDArray[np.float64]:
    """(items, systems, 2) scores of reference and judge; NaN where either is missing."""
    scores = np.full((n_items, len(pairing.systems), 2), np.nan)
    # Systems with pairs, numbered without gaps, as the matrix has them.
    column = coded(pairing.system)[1]
    scores[pairing.item, column, 0] = pairing.reference
    scores[pairing.item, column, 1] = pairing.judge_scores
    return scores


def _borderline(pairings: Sequence[Pairing], analysis: Analysis) -> list[bool]:
    """Whether the published class depends on the seed; never at response level or without one."""
    members = [i for i, p in enumerate(pairings) if p.level == "system"]
    borderline = [is_borderline(())] * len(pairings)
    if not (members and analysis.published_class and analysis.resamples):
        return borderline
    # The published class is read off a bootstrap interval: with another seed it may be another.
    bounds = icc_over_seeds(
        [pairings[i].matrix for i in members],
        "C,1",
        n_seeds=SEEDS_TRIED,
        level=analysis.level,
        n_resamples=analysis.resamples,
        seed=analysis.seed,
        compat=analysis.compat or None,
    )
    for i, widths in zip(members, bounds[:, :, 1] - bounds[:, :, 0], strict=True):
        borderline[i] = is_borderline(widths[~np.isnan(widths)].tolist())
    return borderline


def _result(
    pairing: Pairing,
    estimates: tuple[Estimate, ...],
    borderline: bool,
    before: Before,
    ways: _Ways,
) -> PairResult:
    classed = (
        bool(ways.analysis.published_class)
        and pairing.level == "system"
        and len(pairing.systems) >= FEWEST_SYSTEMS
    )
    consistency = estimates[0]
    # Classes are by the width of the interval of ICC(C,1), the first of the two forms.
    percentile, exact = _width(consistency, "percentile"), _width(consistency, "exact")
    return result_of_forms(
        pairing,
        estimates,
        len(pairing.reference),
        reliability_class=reliability_class(percentile) if classed else "",
        class_exact=reliability_class(exact) if classed else "",
        class_borderline=borderline,
        mass_below_0=_mass_below_0(estimates),
        left_out=before.left_out,
        loo_c1=before.loo_c1,
        loo_a1=before.loo_a1,
        without_exclusion=before.without_exclusion,
        family_rule=before.family_rule,
        label_alpha=label_alpha(pairing, ways.panel.scale, ways.analysis.level),
        compat_shift=_compat_shift(estimates),
        **system_level(pairing, ways.panel.scale, ways.bias_level),
        **response_level(pairing, ways.panel.scale),
    )


def result_of_forms(
    pairing: Pairing, forms: tuple[Estimate, ...], n_pairs: int, **numbers: Any
) -> PairResult:
    """What a result says of a pairing and its ICCs, be they of single pairs or of sums of them.

    `numbers` are the other fields of `PairResult`.
    """
    consistency, agreement = forms
    return PairResult(
        judge=pairing.judge,
        attribute=pairing.attribute,
        level=pairing.level,
        n_systems=len(pairing.systems),
        n_pairs=n_pairs,
        n_expected=pairing.n_expected,
        icc_c1=consistency.value,
        icc_a1=agreement.value,
        ci=tuple(
            FormInterval(form, interval)
            for form, estimate in zip(FORMS, forms, strict=True)
            for interval in estimate.intervals
        ),
        band=band_of(consistency.interval("f")),
        ms_rows=consistency.details.get("ms_rows", math.nan),
        ms_raters=consistency.details.get("ms_raters", math.nan),
        ms_error=consistency.details.get("ms_error", math.nan),
        excluded_systems=pairing.excluded,
        reason=(consistency.reason or agreement.reason) if n_pairs else "no_pairs",
        systems=pairing.rows if pairing.level == "system" else (),
        reference=pairing.against,
        **numbers,
    )


def _width(estimate: Estimate, method: str) -> float:
    interval = estimate.interval(method)
    return math.nan if interval is None else interval.width


def _mass_below_0(estimates: tuple[Estimate, ...]) -> dict[str, float]:
    return {
        form: estimate.details["mass_below_0"]
        for form, estimate in zip(FORMS, estimates, strict=True)
        if "mass_below_0" in estimate.details
    }


def _compat_shift(estimates: tuple[Estimate, ...]) -> tuple[float, ...]:
    """By how much the published rule of dropping values moved each percentile bound."""
    shifts = [e.details["shift_percentile"] for e in estimates if "shift_percentile" in e.details]
    return tuple(float(shift) for pair in shifts for shift in pair)

"""Bootstrap intervals of ICC, and what their distributions tell besides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from voirdire.stats import _icc_bootstrap
from voirdire.stats._quantiles import Distribution, bca, percentile_levels
from voirdire.stats._results import Interval

if TYPE_CHECKING:
    from voirdire.stats._anova import Decomposition
    from voirdire.stats._arrays import Floats

_FEW_UNITS = 20


@dataclass(frozen=True, slots=True)
class Plan:
    """What is asked of a batch: forms, interval methods and their options."""

    forms: tuple[str, ...]
    methods: tuple[str, ...]
    level: float
    n_resamples: int
    seed: int
    compat: str | None


def bootstrap_intervals(
    parts: Decomposition,
    points: Floats,
    jackknife: Floats,
    plan: Plan,
    intervals: dict[str, list[Interval]],
    details: list[dict[str, Any]],
) -> None:
    """Add each bootstrap method to `intervals`, and what else is seen to `details`."""
    drawn_methods = [m for m in plan.methods if m in ("percentile", "bca")]
    exact_methods = [m for m in plan.methods if m in ("exact", "exact_bca")]
    if drawn_methods:
        draws = _icc_bootstrap.drawn(parts, plan.forms, plan.seed, plan.n_resamples)
        _read(draws, drawn_methods, parts.n, points, jackknife, plan, intervals, details)
    if exact_methods:
        draws = _icc_bootstrap.enumerated(parts, plan.forms)
        _read(draws, exact_methods, parts.n, points, jackknife, plan, intervals, details)


def _read(
    draws: Distribution,
    methods: list[str],
    n: int,
    points: Floats,
    jackknife: Floats,
    plan: Plan,
    intervals: dict[str, list[Interval]],
    details: list[dict[str, Any]],
) -> None:
    _add_mass(draws, details)
    kept = _kept(draws, plan)
    for method in methods:
        bounds = _bounds(kept, method, points, jackknife, plan.level)
        if plan.compat is not None:
            shift = bounds - _bounds(draws, method, points, jackknife, plan.level)
            for row, moved in zip(details, shift, strict=True):
                row[f"shift_{method}"] = tuple(map(float, moved))
        intervals[method] = _intervals(method, bounds, draws, kept, n, plan.level)


def percentile_bounds(draws: Distribution, plan: Plan) -> Floats:
    """(R, 2) bounds of the percentile method alone."""
    return _kept(draws, plan).quantiles(percentile_levels(plan.level, len(draws.values)))


def _kept(draws: Distribution, plan: Plan) -> Distribution:
    """The published study drops values outside [0, 1]."""
    return draws if plan.compat is None else draws.within(0.0, 1.0)


def _bounds(
    draws: Distribution, method: str, points: Floats, jackknife: Floats, level: float
) -> Floats:
    if method.endswith("bca"):
        return bca(draws, points, jackknife, level)
    return draws.quantiles(percentile_levels(level, len(points)))


def _add_mass(draws: Distribution, details: list[dict[str, Any]]) -> None:
    below = draws.mass(draws.values < 0)
    outside = below + draws.mass(draws.values > 1)
    for row, low, out in zip(details, below.tolist(), outside.tolist(), strict=True):
        row["mass_below_0"], row["mass_outside"] = low, out


def _intervals(
    method: str, bounds: Floats, draws: Distribution, kept: Distribution, n: int, level: float
) -> list[Interval]:
    flags = ("unreliable_interval",) if n < _FEW_UNITS else ()
    undefined = draws.undefined
    dropped = kept.undefined - undefined
    resamples = draws.values.shape[1]
    rows = zip(bounds.tolist(), undefined.tolist(), dropped.tolist(), strict=True)
    return [
        Interval(method, level, low, high, resamples, lost, left_out, flags)
        for (low, high), lost, left_out in rows
    ]

"""Components of a verdict that rest on levels: the bias overall, and the means of systems."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.examining.verdict.facts import Component
from voirdire.examining.verdict.margins import (
    FEWEST_IN_SYSTEM,
    SURE_NO,
    SURE_YES,
    above,
    inside,
    untested,
)
from voirdire.stats import system_means as means
from voirdire.stats.bias_by_system import HumanSpread, human_by_system, specific
from voirdire.stats.sums import above_t, jackknife, means_of, on_scale, quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from voirdire.examining.verdict.case import Case
    from voirdire.examining.verdict.facts import ComponentName, Reason, State
    from voirdire.stats.response_panel import ResponsePanel
    from voirdire.stats.sums import ClusterSums, Jackknifed
    from voirdire.study import Margins

    Floats = NDArray[np.float64]


def human_spread(panel: ResponsePanel, humans: Sequence[int], *, nominal: bool) -> HumanSpread:
    if nominal:
        return HumanSpread(math.nan, 0.0, 0, len(humans))
    return human_by_system(panel, humans)


def bias_of(
    case: Case, panel: ResponsePanel, spread: HumanSpread, margins: Margins
) -> list[Component]:
    if case.nominal:
        return _label_bias(panel, margins)
    off = (panel.mean_run - panel.mean_human)[:, None]
    return levels(case, _sums_off(panel, off), spread, margins)


def levels(case: Case, off: ClusterSums, spread: HumanSpread, margins: Margins) -> list[Component]:
    """BIAS and BIAS1, from sums of how far the judge is off and their number."""
    jackknifed = off.jackknife(means_of)[0]
    margin = margins.bias * case.width
    # One run takes the place of one human, and humans differ in leniency by as much.
    wide = max(margin, 0.0 if math.isnan(spread.leniency) else spread.leniency)
    return [inside("BIAS", jackknifed, margin), inside("BIAS1", jackknifed, wide)]


def _label_bias(panel: ResponsePanel, margins: Margins) -> list[Component]:
    """Shares of labels: the judge's less the humans'."""
    shares = []
    for scores in (panel.judge, panel.humans):
        # A label is a vector of 0 and 1: the mean of its codes would mean nothing.
        vectors = panel.vectors(scores)
        n = (~np.isnan(vectors)).sum(axis=0)
        total = np.where(np.isnan(vectors), 0.0, vectors).sum(axis=0)
        shares.append(np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 0))
    jackknifed = _sums_off(panel, shares[0] - shares[1]).jackknife(means_of)
    names = [f"{code:g}" for code in panel.categories] if panel.categories is not None else []
    part = inside("BIAS", jackknifed, margins.system, names)
    return [part, replace(part, name="BIAS1")]


def _sums_off(panel: ResponsePanel, off: Floats) -> ClusterSums:
    """Sums by cluster of columns (N, k), and how many responses have them."""
    kept = ~np.isnan(off[:, 0])
    columns = np.concatenate([off, np.ones((len(off), 1))], axis=1)
    return panel.by_cluster(columns, kept, where=off.shape[1])


def of_systems(
    case: Case,
    systems: NDArray[Any],
    observed: means.Means | None,
    spread: HumanSpread,
    margins: Margins,
    *,
    quoted: bool = False,
) -> list[Component]:
    """Components of the means of systems; where means are to be `quoted`, what that needs alone."""
    count = len(systems)
    if observed is None:
        names: Sequence[ComponentName] = ("ORDER", "AGREE", "LEVEL", "REVERSE", "SYS")
        return [untested(name, "one system") for name in names]
    names_of = [str(name) for name in systems]
    if observed.met.min() < FEWEST_IN_SYSTEM:
        return _few_in_system(names_of, observed.met, own=bool(case.family))
    margin = margins.system * case.width
    parts = _ordered(observed, count, margins)
    # Each system's bias; the mean over all is BIAS, which may be zero where single systems are not.
    off = observed.jackknife(lambda human, judge: judge - human)
    # The variance of what is tested, in units of a human's own view of a system: 1 for one system,
    # 2 for a pair, count / (count - 1) for one beside the mean of the others (SYS).
    parts.append(_allowed("LEVEL", off, (margin, 1.0, spread), names_of))
    family = _family(case, observed, names_of, spread, margin)
    if quoted:
        return [*parts, *family]
    allowed = spread.allow(margin, 2.0, 1)
    parts.append(_reverse(observed, allowed, names_of))
    own = observed.jackknife(lambda human, judge: specific(judge - human))
    parts.append(_allowed("SYS", own, (margin, count / (count - 1), spread), names_of))
    return [*parts, *family, *_to_come(observed, spread, margin, margins)]


def _few_in_system(
    systems: Sequence[str], seen: NDArray[np.int64], *, own: bool
) -> list[Component]:
    names: list[ComponentName] = [
        "ORDER", "AGREE", "LEVEL", "REVERSE", "SYS", "ORDER+", "LEVEL+",
    ]  # fmt: skip
    least = int(seen.argmin())
    at, count = (systems[least],), int(seen[least])
    names += ["FAM"] if own else []
    return [untested(name, "few in system", at=at, count=count) for name in names]


def _ordered(observed: means.Means, count: int, margins: Margins) -> list[Component]:
    """ORDER and AGREE."""
    moments = observed.moments()
    variance = moments.jackknife(lambda each: each[..., 0])
    reason: Reason = ""
    if count < 3:
        reason = "two systems"
    # Where humans do not tell the systems apart there is no order to agree on.
    elif variance.at - quantile(SURE_YES, variance.df) * variance.se <= 0:
        reason = "humans alike"
    if reason:
        return [untested("ORDER", reason), untested("AGREE", reason)]
    return [
        above("ORDER", moments.unbiased(means.correlation), margins.order),
        above("AGREE", moments.unbiased(means.agreement), margins.agree),
    ]


def _allowed(
    name: ComponentName,
    off: Jackknifed,
    rule: tuple[float, float, HumanSpread],
    names: Sequence[str],
) -> Component:
    """Biases of systems inside what a human's own would reach: stricter for yes than for no."""
    margin, factor, spread = rule
    many = len(off.at)
    return inside(
        name,
        off,
        spread.allow(margin, factor, many),
        names,
        spread.allow(margin, factor, many, 0.01),
    )


def _reverse(observed: means.Means, margin: float, names: Sequence[str]) -> Component:
    """Pairs that the humans hold apart by more than the margin, and the judge the other way.

    Yes asks it of pairs twice as far apart: between the two the answer is open.
    """
    a, b = np.triu_indices(len(names), 1)
    human = observed.jackknife(lambda human, _: human[..., a] - human[..., b])
    judge = observed.jackknife(lambda _, judge: judge[..., a] - judge[..., b])
    # Each pair is turned so that the humans put its first system ahead.
    flip = np.where(human.at < 0, -1, 1)
    dh, dj, sh, sj, df = human.at * flip, judge.at * flip, human.se, judge.se, human.df
    # Any pair that is reversed is a no, so that no is corrected for the number of pairs; yes asks
    # it of all, and needs no correction.
    near, far = quantile(SURE_NO, df), quantile(1 - (1 - SURE_NO) / len(a), df)
    reversed_ = (dh - far * sh > margin) & (dj + far * sj < 0)
    # Yes is about pairs twice as far apart: a pair at the margin is neither shown to be reversed
    # nor not.
    wide = 2 * margin
    # Shown not to be reversed: not that far apart, or the judge agrees; and the mirror image.
    clear = ((dh + near * sh <= wide) | (dj - near * sj >= 0)) & (
        (dh - near * sh >= -wide) | (dj + near * sj <= 0)
    )
    state: State = "no" if reversed_.any() else "yes" if clear.all() else "open"
    apart = above_t((wide - dh) / np.maximum(sh, 1e-12), df)
    # A pair is clear for either reason, and the two are tested: hence twice the smaller.
    p = np.minimum(apart, above_t(dj / np.maximum(sj, 1e-12), df)) * 2
    # Reversed pairs first, then open ones, then clear ones; among equals the one the judge turns
    # most.
    worst = int(np.argmin(np.where(reversed_, -1e9, np.where(clear, 1e9, 0.0)) + dj))
    pair = (
        (names[a[worst]], names[b[worst]])
        if flip[worst] > 0
        else (names[b[worst]], names[a[worst]])
    )
    return Component(
        "REVERSE",
        state,
        float(reversed_.sum()),
        float(reversed_.sum()),
        float((~clear).sum()),
        margin,
        0.0,
        df,
        float(min(p.max(), 1)),
        at=() if state == "yes" else pair,
        judge=float(dj[worst]),
        human=float(dh[worst]),
        count=int(reversed_.sum()),
    )


def _family(
    case: Case,
    observed: means.Means,
    names: Sequence[str],
    spread: HumanSpread,
    margin: float,
) -> list[Component]:
    own = np.array([case.family.get(name, False) for name in names])
    if not own.any() or own.all():
        return []

    def contrast(bias: Floats) -> Floats:
        part: Floats = bias[..., own].mean(axis=-1) - bias[..., ~own].mean(axis=-1)
        return part

    # Variance of a difference of two means of systems, in units of one system's.
    factor = 1 / own.sum() + 1 / (~own).sum()
    off = observed.jackknife(lambda human, judge: contrast(judge - human))
    return [inside("FAM", off, spread.allow(margin, factor, 1))]


def _to_come(
    observed: means.Means, spread: HumanSpread, margin: float, margins: Margins
) -> list[Component]:
    """ORDER+ and LEVEL+: the systems are a sample."""
    count = len(observed.human)
    if count < margins.systems:
        names: Sequence[ComponentName] = ("ORDER+", "LEVEL+")
        return [untested(name, "few systems", count=count) for name in names]
    whole = means.correlation(means.moments(observed.human, observed.judge))
    # Row k holds all systems but k, so that all that leave one out are one array.
    others = np.nonzero(~np.eye(count, dtype=bool))[1].reshape(count, count - 1)
    out = means.correlation(means.moments(observed.human[others], observed.judge[others]))
    order = jackknife(whole, out, "fisher")
    # The jackknife, never below Fisher's own; the estimate is the plain one.
    order = replace(
        order,
        at=float(on_scale(whole, "fisher")),
        se=max(order.se, 1 / math.sqrt(count - 3)),
        df=count - 2,
    )
    return [above("ORDER+", order, margins.order), _level_to_come(observed.bias, spread, margin)]


def _level_to_come(bias: Floats, spread: HumanSpread, margin: float) -> Component:
    """Where a new system's bias will lie: a 90 % prediction interval."""
    from scipy.special import chdtri  # noqa: PLC0415 - slow to import

    count, centre, sd = len(bias), float(bias.mean()), float(bias.std(ddof=1))
    limit = spread.allow(margin, 1.0, 1)
    # Of a new system beside the mean of these: its own spread, and the error of the mean.
    error = sd * math.sqrt(1 + 1 / count)
    reach = quantile(SURE_YES, count - 1) * error
    # The lower bound of the spread: surely as wide as this.
    least = sd * math.sqrt((count - 1) / float(chdtri(count - 1, 1 - SURE_NO)))
    state: State = "open"
    if abs(centre) + reach <= limit:
        state = "yes"
    # Even with that spread nine systems in ten would not stay inside: a no whatever the mean is.
    elif 1.645 * least > limit:
        state = "no"
    return Component(
        "LEVEL+", state, centre, centre - reach, centre + reach, limit, error, count - 1,
        0.0 if state == "yes" else 1.0,
    )  # fmt: skip

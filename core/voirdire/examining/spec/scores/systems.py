"""Components of a verdict that rest on levels: the bias overall, and the means of systems."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from voirdire.examining.spec.component import Component
from voirdire.examining.spec.margins import (
    SURE_NO,
    SURE_YES,
    above,
    inside,
)
from voirdire.stats import system_means as means
from voirdire.stats.bias_by_system import HumanSpread, human_by_system, specific
from voirdire.stats.special import special
from voirdire.stats.sums import above_t, jackknife, means_of, on_scale, quantile
from voirdire.stats.turned_pairs import turned_pairs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from voirdire.examining.spec.component import State
    from voirdire.stats.response_panel import ResponsePanel
    from voirdire.stats.sums import ClusterSums, Jackknifed

    Floats = NDArray[np.float64]
    Statistic = Callable[[Floats], Floats]


#: How surely each system has to lie inside by itself where they are taken together: its estimate
#: does. How many systems tell what they really differ by.
SURE_ALONE, FEWEST_TOGETHER = 0.50, 5
#: How many of its errors the judge has to lean to people's side of a pair that they hold closely.
LEANS = 0.5


def human_spread(panel: ResponsePanel, humans: Sequence[int], *, nominal: bool) -> HumanSpread:
    if nominal:
        return HumanSpread(math.nan, 0.0, 0, len(humans))
    return human_by_system(panel, humans)


def bias(name: str, off: ClusterSums, margin: float, margin_yes: float | None = None) -> Component:
    """From sums of how far the judge is off and their number."""
    return inside(name, off.jackknife(means_of)[0], margin, (), margin_yes)


def label_bias(name: str, panel: ResponsePanel, margin: float) -> Component:
    """Shares of labels: the judge's less the humans'."""
    shares = []
    for scores in (panel.judge, panel.humans):
        # A label is a vector of 0 and 1: the mean of its codes would mean nothing.
        vectors = panel.vectors(scores)
        n = (~np.isnan(vectors)).sum(axis=0)
        total = np.where(np.isnan(vectors), 0.0, vectors).sum(axis=0)
        shares.append(np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 0))
    jackknifed = sums_off(panel, shares[0] - shares[1]).jackknife(means_of)
    names = [f"{code:g}" for code in panel.categories] if panel.categories is not None else []
    return inside(name, jackknifed, margin, names)


def sums_off(panel: ResponsePanel, off: Floats) -> ClusterSums:
    """Sums by cluster of columns (N, k), and how many responses have them."""
    kept = ~np.isnan(off[:, 0])
    columns = np.concatenate([off, np.ones((len(off), 1))], axis=1)
    return panel.by_cluster(columns, kept, where=off.shape[1])


def moment(
    name: str, moments: means.MeanMoments, coefficient: Statistic, margin: float
) -> Component:
    """ORDER and AGREE: a coefficient of the moments of means, freed of their noise."""
    return above(name, moments.unbiased(coefficient), margin)


def pairs(name: str, observed: means.Means, margin: float, names: Sequence[str]) -> Component:
    """Of two to four systems: whether humans and judge put each pair the same way.

    A side tells a pair apart where its 95 % interval lies on one side of 0. Yes where both tell a
    pair apart on the same side, and so every pair that either tells apart; of three and four
    systems, where humans hold a pair apart by less than the margin, the judge need only lean to
    the same side, by half an error. No where a pair is (Bonferroni); of three and four systems,
    one beyond the margin.
    """
    a, b, human, judge = _differences(observed)
    near, far = quantile(SURE_NO, human.df), quantile(1 - (1 - SURE_NO) / len(a), human.df)
    flip = np.where(human.at < 0, -1.0, 1.0)
    dh, dj = human.at * flip, judge.at * flip
    least = 0.0 if len(a) == 1 else margin
    opposite = (dh - far * human.se > least) & (dj + far * judge.se < 0)
    told, same = dh - near * human.se > 0, dj - near * judge.se > 0
    both, silent = told & same, ~told & (np.abs(dj) - near * judge.se <= 0)
    # Of a close pair it is enough that the judge leans to the same side.
    close = told & (dh <= least) & (dj >= LEANS * judge.se)
    clear = both | silent | close
    state: State = "no" if opposite.any() else "open"
    if clear.all() and both.any():
        state = "yes"
    # At 2.5 % in each direction: twice the larger of the two, of the pairs that are told apart.
    p = 2 * np.maximum(
        above_t(dh / np.maximum(human.se, 1e-300), human.df),
        above_t(dj / np.maximum(judge.se, 1e-300), judge.df),
    )
    asked = ~clear if not clear.all() else both if both.any() else np.ones(len(a), np.bool_)
    rank = np.where(opposite, -1e9, np.where(~clear, -1e6, np.where(told, 0.0, 1e6))) + dj
    k = int(np.argmin(rank))
    times = _times_told(dh, dj, human.se, judge.se, near)[~clear]
    part = _pair(name, state, (a, b, flip, names), k, judge, float(dj[k]), float(dh[k]))
    return replace(
        part,
        p=float(min(p[asked].max(), 1.0)) if state != "no" else 1.0,
        count=int(opposite.sum()),
        times=float(times.max()) if len(times) else math.inf,
    )


def apart(
    name: str,
    observed: means.Means,
    moments: means.MeanMoments,
    margin: float,
    names: Sequence[str],
) -> Component:
    """AGREE of three or four systems, shown as the pair whose distance is most off."""
    part = moment(name, moments, means.agreement, margin)
    a, b, human, judge = _differences(observed)
    flip = np.where(human.at < 0, -1.0, 1.0)
    off = judge.at - human.at
    k = int(np.argmax(np.abs(off)))
    own = observed.jackknife(lambda h, j: (j - h)[..., a[k]] - (j - h)[..., b[k]])
    shown = _pair(
        name,
        part.state,
        (a, b, flip, names),
        k,
        judge,
        float(judge.at[k] * flip[k]),
        float(human.at[k] * flip[k]),
    )
    near = quantile(SURE_YES, own.df) * own.se
    value = float((observed.bias[a[k]] - observed.bias[b[k]]) * flip[k])
    return replace(
        shown,
        estimate=value,
        low=value - near,
        high=value + near,
        se=float(own.se),
        p=part.p,
        times=part.times,
        reason=part.reason,
    )


def _differences(
    observed: means.Means,
) -> tuple[NDArray[np.intp], NDArray[np.intp], Jackknifed, Jackknifed]:
    """Each pair of systems, and how far humans and judge hold them apart."""
    a, b = np.triu_indices(len(observed.human), 1)
    human = observed.jackknife(lambda human, _: human[..., a] - human[..., b])
    return a, b, human, observed.jackknife(lambda _, judge: judge[..., a] - judge[..., b])


def _pair(
    name: str,
    state: State,
    of: tuple[NDArray[np.intp], NDArray[np.intp], Floats, Sequence[str]],
    k: int,
    judge: Jackknifed,
    dj: float,
    dh: float,
) -> Component:
    """One pair, the system that humans put ahead first, with the judge's difference."""
    a, b, flip, names = of
    at = (names[a[k]], names[b[k]])
    reach = quantile(SURE_NO, judge.df) * float(judge.se[k])
    return Component(
        name,
        state,
        dj,
        dj - reach,
        dj + reach,
        0.0,
        float(judge.se[k]),
        float(judge.df),
        at=at if flip[k] > 0 else at[::-1],
        judge=dj,
        human=dh,
    )


def _times_told(dh: Floats, dj: Floats, sh: Floats, sj: Floats, near: float) -> Floats:
    """How many times as many units tell each pair apart; infinite where the sides differ."""
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.maximum((near * sh / dh) ** 2, (near * sj / dj) ** 2)
    return np.where(dj > 0, each, math.inf)


def level(
    name: str, observed: means.Means, spread: HumanSpread, margin: float, names: Sequence[str]
) -> Component:
    """Each system's bias; the mean over all is BIAS, which may be 0 where single ones are not."""
    off = observed.jackknife(lambda human, judge: judge - human)
    rule = (margin, 1.0, spread)
    return _together(_allowed(name, off, rule, names), off, _margin_of_yes(rule, len(names)))


def favour(
    name: str, observed: means.Means, spread: HumanSpread, margin: float, names: Sequence[str]
) -> Component:
    """Each system's bias beside the mean of the others'."""
    own = observed.jackknife(lambda human, judge: specific(judge - human))
    rule = (margin, len(names) / (len(names) - 1), spread)
    return _together(_allowed(name, own, rule, names), own, _margin_of_yes(rule, len(names)))


def _together(part: Component, own: Jackknifed, margin: float) -> Component:
    """Yes as well where the systems taken together say so, though single ones are unclear.

    The largest of many deviations is large by chance. Shrunk towards their mean by what they really
    differ by (empirical Bayes), each has to lie inside at 95 %, and unshrunk at 80 %: shrinking
    alone would hide one system that is favoured among many that are not.

    Source: Morris (1983), Journal of the American Statistical Association 78, 47-55.
    """
    if part.state == "no" or len(own.at) < FEWEST_TOGETHER or not np.isfinite(own.se).all():
        return part
    centre, error = float(own.at.mean()), np.maximum(own.se, 1e-300)
    around = own.at - centre
    real = max(float((around**2).sum() / (len(around) - 1) - np.mean(own.se**2)), 0.0)
    kept = real / np.maximum(real + own.se**2, 1e-300)
    alone = float(above_t((margin - np.abs(own.at)) / error, own.df).max())
    # What is left of a deviation, with its own error and that of the mean of all.
    left = np.sqrt(kept + (1 - kept) / len(around)) * error
    shrunk = np.abs(centre + kept * around)
    together = float(above_t((margin - shrunk) / left, own.df).max())
    # At 50 % alone and at 5 % together: in units of 5 %.
    p = max(alone * (1 - SURE_YES) / (1 - SURE_ALONE), together)
    state: State = "yes" if p <= 1 - SURE_YES else "open"
    return replace(part, state=state, p=min(p, part.p)) if p < part.p else part


def _margin_of_yes(rule: tuple[float, float, HumanSpread], many: int) -> float:
    margin, factor, spread = rule
    return spread.allow(margin, factor, many, 0.01)


def _allowed(
    name: str,
    off: Jackknifed,
    rule: tuple[float, float, HumanSpread],
    names: Sequence[str],
) -> Component:
    """Biases of systems inside what a human's own would reach: stricter for yes than for no.

    `factor` is the variance of what is tested, in units of a human's own view of a system: 1 for
    one system, 2 for a pair, S / (S - 1) for one beside the mean of the others.
    """
    margin, factor, spread = rule
    many = len(off.at)
    return inside(
        name,
        off,
        spread.allow(margin, factor, many),
        names,
        _margin_of_yes(rule, many),
    )


def reversals(name: str, observed: means.Means, margin: float, names: Sequence[str]) -> Component:
    """Pairs that the humans hold apart by more than the margin, and the judge the other way.

    Yes asks it of pairs twice as far apart: between the two the answer is open.
    """
    found = turned_pairs(observed, margin)
    state: State = "no" if found.reversed else "yes" if not found.unclear else "open"
    pair = (names[found.ahead], names[found.behind])
    return Component(
        name,
        state,
        float(found.reversed),
        float(found.reversed),
        float(found.unclear),
        margin,
        0.0,
        found.df,
        float(min(found.p, 1)),
        at=() if state == "yes" else pair,
        judge=found.judge,
        human=found.human,
        count=found.reversed,
    )


def family(
    name: str, observed: means.Means, own: NDArray[np.bool_], spread: HumanSpread, margin: float
) -> Component:
    """The bias of the systems of the judge's own family, less that of the others."""

    def contrast(human: Floats, judge: Floats) -> Floats:
        bias = judge - human
        part: Floats = bias[..., own].mean(axis=-1) - bias[..., ~own].mean(axis=-1)
        return part

    # Variance of a difference of two means of systems, in units of one system's.
    factor = 1 / own.sum() + 1 / (~own).sum()
    return inside(name, observed.jackknife(contrast), spread.allow(margin, factor, 1))


def order_to_come(name: str, observed: means.Means, margin: float) -> Component:
    """ORDER, the systems being a sample."""
    count = len(observed.human)
    whole = means.correlation(means.moments(observed.human, observed.judge))
    out = means.correlation(means.moments_without_one(observed.human, observed.judge))
    order = jackknife(whole, out, "fisher")
    # The jackknife, never below Fisher's own; the estimate is the plain one.
    order = replace(
        order,
        at=float(on_scale(whole, "fisher")),
        se=max(order.se, 1 / math.sqrt(count - 3)),
        df=count - 2,
    )
    return above(name, order, margin)


def level_to_come(name: str, bias: Floats, spread: HumanSpread, margin: float) -> Component:
    """Where a new system's bias will lie: a 90 % prediction interval."""
    count, centre, sd = len(bias), float(bias.mean()), float(bias.std(ddof=1))
    limit = spread.allow(margin, 1.0, 1)
    # Of a new system beside the mean of these: its own spread, and the error of the mean.
    error = sd * math.sqrt(1 + 1 / count)
    reach = quantile(SURE_YES, count - 1) * error
    # The lower bound of the spread: surely as wide as this.
    least = sd * math.sqrt((count - 1) / float(special().chdtri(count - 1, 1 - SURE_NO)))
    state: State = "open"
    if abs(centre) + reach <= limit:
        state = "yes"
    # Even with that spread nine systems in ten would not stay inside: a no whatever the mean is.
    elif 1.645 * least > limit:
        state = "no"
    return Component(
        name,
        state,
        centre,
        centre - reach,
        centre + reach,
        limit,
        error,
        count - 1,
        0.0 if state == "yes" else 1.0,
    )

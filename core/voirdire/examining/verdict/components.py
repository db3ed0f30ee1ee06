"""The components of a verdict: estimates held against margins, one judge and attribute at a time.

Each is a smooth function of sums over clusters with a jackknife error (`stats`); here the estimate
meets its margin and becomes yes, no, open or not tested.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.examining.verdict.case import FOLDS, calibrated
from voirdire.examining.verdict.facts import Careless, Component, ComponentName, Reason, State
from voirdire.stats import held_out, runs_needed, within
from voirdire.stats import system_means as means
from voirdire.stats.calibration import in_order, lines_of_folds
from voirdire.stats.responses import effective_size, share_interval
from voirdire.stats.sums import (
    ClusterSums,
    Jackknifed,
    above_t,
    jackknife,
    natural,
    on_scale,
    quantile,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from voirdire.examining.verdict.case import Case
    from voirdire.stats.response_panel import ResponsePanel
    from voirdire.stats.system_means import HumanSpread, Means
    from voirdire.study import Margins

    Floats = NDArray[np.float64]

#: One-sided levels at which an estimate is shown to be inside, and outside, its margin.
SURE_YES, SURE_NO = 0.95, 0.975
#: READ asks for more: a fluke there would license a blind judge for everything.
SURE_READ = 0.995
#: Responses that two humans must share for ITEM, and that humans must pass (fail) for SENS (SPEC).
FEWEST_SHARED, FEWEST_SUCH = 50, 20
#: Items or clusters of each system: fewer give its mean no error (one alone an error of 0).
FEWEST_IN_SYSTEM = 5
#: Below this reliability humans are not shown to agree at all.
LEAST_HUMANS = 0.02
#: Where all responses are labelled, GAIN plans for one label in five.
PLANNED = 0.2


@dataclass(frozen=True, slots=True, eq=False)
class Computed:
    """All components of one judge and attribute, and the humans that were left out.

    `means` and `spread` are what those of systems rest on; None where they were not needed.
    """

    components: dict[ComponentName, Component]
    careless: tuple[Careless, ...]
    panel: ResponsePanel
    humans: tuple[int, ...]
    humans_below: float = math.nan
    means: Means | None = None
    spread: HumanSpread | None = None

    @property
    def labels_alone(self) -> bool:
        """Whether the gate was held against one column of labels, with no second human beside."""
        return "GITEM" in self.components and self.components["GITEM"].reason == "one human"


def find_components(case: Case, margins: Margins) -> Computed:
    """Compute every component that the data can tell."""
    panel = case.panel()
    parts = [_cover(case, margins)]
    if panel.n_clusters < margins.clusters:
        few: Sequence[ComponentName] = ("READ", "BIAS", "ITEM", "GREAD", "GAIN")
        why: Reason = "few clusters" if case.asked else "not asked"
        parts += [_untested(name, why, count=panel.n_clusters) for name in few]
        parts.append(_untested("RUN", "temperature 0" if case.temperature == 0 else why))
        return Computed(
            {part.name: part for part in parts}, (), panel, tuple(range(len(panel.humans)))
        )
    careless = _careless(case, panel, margins)
    panel, humans = _attentive(case, panel, careless)
    sums = within.item_columns(panel.only_humans(humans))
    table = panel.by_cluster(sums, where=6)
    parts.append(_read(case, panel, margins, "READ"))
    parts += _single(panel, table, humans, margins)
    spread = _spread(panel, humans, nominal=case.nominal)
    parts += _bias(case, panel, spread, margins)
    observed = None
    if not case.nominal:
        observed = means.Means.of(panel) if len(panel.systems) > 1 else None
        parts += _systems(case, panel.systems, observed, spread, margins)
    parts += _subgroups(case, panel, sums, humans, margins)
    if case.gate is not None and not case.nominal:
        parts += _gate(case, panel, humans, margins)
    parts += [_run(case, panel, margins), _gain(case, panel, margins)]
    below = math.nan
    if len(humans) == 1:
        below = pass_if_below(next(part for part in parts if part.name == "READ").estimate)
    by_name = {part.name: part for part in parts}
    return Computed(by_name, careless, panel, humans, below, observed, spread)


def kept_panel(case: Case, margins: Margins) -> tuple[ResponsePanel, tuple[int, ...]]:
    """The responses and the humans that the components rest on: without careless humans."""
    panel = case.panel()
    if panel.n_clusters < margins.clusters:
        return panel, tuple(range(len(panel.humans)))
    return _attentive(case, panel, _careless(case, panel, margins))


def _attentive(
    case: Case, panel: ResponsePanel, careless: Sequence[Careless]
) -> tuple[ResponsePanel, tuple[int, ...]]:
    out = {case.reference.index(one.human) for one in careless}
    if out:
        panel = panel.without_humans(sorted(out))
    return panel, tuple(k for k in range(len(panel.humans)) if k not in out)


def find_calibrated_components(case: Case, before: Computed, margins: Margins) -> Computed | None:
    """Those that quoting means of systems needs, had the judge been calibrated on these ratings.

    A calibrated score is a line of the score, one line a fold of clusters, so that the sums of
    `before` say what becomes of them. Only READ goes back to the responses; where one of the
    others is no, it is left out. None where there are no means of systems, and where rows stand
    for many responses: these lie in several folds.
    """
    if before.means is None or before.spread is None or case.counted is not None:
        return None
    sums, answered = _calibrated_sums(case, before, before.means.sums)
    observed = means.Means.from_sums(sums)
    off = sums.cells.sum(axis=1)
    columns = np.stack([off[:, 1, 0] - off[:, 0, 0], off[:, 1, 1]], axis=1)
    parts = [_coverage(case.size(case.labelled), answered, margins)]
    parts += _levels(case, ClusterSums(sums.sums.clusters, columns), before.spread, margins)
    parts += _systems(case, before.panel.systems, observed, before.spread, margins, quoted=True)
    panel = before.panel
    if all(part.state != "no" for part in parts):  # one is enough, and READ takes the longest
        after = calibrated(case)
        if after.size(after.paired) == panel.n:
            panel = replace(panel, judge=after.scores[:, after.paired])
        else:
            panel = _attentive(after, after.panel(), before.careless)[0]
        parts.append(_read(after, panel, margins, "READ"))
    return Computed({part.name: part for part in parts}, (), panel, before.humans)


def _calibrated_sums(
    case: Case, before: Computed, sums: means.SystemTable
) -> tuple[means.SystemTable, int]:
    """The judge's sums on the lines that other folds teach; clusters that none teaches left out.

    With how many responses both scored, careless humans included.
    """
    taught = sums  # a careless human teaches too, as it would in `voirdire calibrate`
    if before.careless:
        taught = means.Means.of(case.panel()).sums
    fold = _folds(case, taught)
    held = np.stack([taught.cells[fold == one].sum(axis=0) for one in range(FOLDS)])
    lines = lines_of_folds(held[:, :, 1, 1], held[:, :, 1, 0], held[:, :, 0, 0])
    moved = np.isfinite(lines.level)
    fold = fold if taught is sums else _folds(case, sums)
    known = moved[fold]
    stretch = lines.stretch[fold]
    shift = lines.level[fold] - stretch * lines.centre[fold]
    cells = sums.cells.copy()
    cells[:, :, 1, 0] = stretch[:, None] * cells[:, :, 1, 0] + shift[:, None] * cells[:, :, 1, 1]
    table = cells[known].reshape(int(known.sum()), -1)
    left = replace(sums, sums=ClusterSums(sums.sums.clusters[known], table))
    return left, int(held[moved, :, 1, 1].sum())


def _folds(case: Case, sums: means.SystemTable) -> NDArray[np.intp]:
    """(G,) the fold of each cluster, dealt by the order of all that the case has."""
    names = np.unique(case.groups())
    folds: NDArray[np.intp] = in_order(names)[np.searchsorted(names, sums.sums.clusters)] % FOLDS
    return folds


# --- an estimate meets its margin


def _untested(name: ComponentName, reason: Reason, **facts: Any) -> Component:
    return Component(name, "not tested", reason=reason, **facts)


def _above(
    name: ComponentName,
    jackknifed: Jackknifed,
    limit: float,
    fail: float | None = None,
    sure: float = SURE_YES,
) -> Component:
    """Yes where it is shown to reach `limit`, no where shown to lie below `fail` (or `limit`)."""
    if not (math.isfinite(jackknifed.at) and math.isfinite(jackknifed.se)):
        return Component(name, "open", float(jackknifed.value), margin=limit, reason="no interval")
    asked = float(on_scale(limit, jackknifed.scale))
    least = asked if fail is None else float(on_scale(fail, jackknifed.scale))
    low = jackknifed.at - quantile(sure, jackknifed.df) * jackknifed.se
    high = jackknifed.at + quantile(SURE_NO, jackknifed.df) * jackknifed.se
    state: State = "yes" if low >= asked else "no" if high < least else "open"
    p = float(jackknifed.at < asked)
    if jackknifed.se > 0:
        p = float(above_t((jackknifed.at - asked) / jackknifed.se, jackknifed.df))
    return Component(
        name,
        state,
        float(jackknifed.value),
        float(jackknifed.bound(1 - sure)),
        float(jackknifed.bound(sure)),
        limit,
        float(jackknifed.se),
        float(jackknifed.df),
        p,
    )


def _inside(
    name: ComponentName,
    jackknifed: Jackknifed,
    margin: float,
    names: Sequence[str] = (),
    margin_yes: float | None = None,
) -> Component:
    """Equivalence of one or several estimates.

    Yes where all lie inside, an intersection-union test that needs no correction; no where one
    lies outside, with Bonferroni's correction.
    """
    at, se = np.atleast_1d(jackknifed.at), np.atleast_1d(jackknifed.se)
    known = np.isfinite(at) & np.isfinite(se)
    if not known.any():
        return Component(name, "open", margin=margin, reason="no interval")
    inner = margin if margin_yes is None else margin_yes
    reach = quantile(SURE_YES, jackknifed.df) * se
    far = quantile(1 - (1 - SURE_NO) / len(at), jackknifed.df) * se
    state: State = "open"
    if (np.abs(at) - far > margin)[known].any():
        state = "no"
    elif known.all() and (np.abs(at) + reach <= inner).all():
        state = "yes"
    k = int(np.argmax(np.where(known, np.abs(at) / margin, -1)))
    p = float(np.nanmax(above_t((inner - np.abs(at)) / np.maximum(se, 1e-300), jackknifed.df)))
    return Component(
        name, state, float(at[k]), float(at[k] - reach[k]), float(at[k] + reach[k]), margin,
        float(se[k]), float(jackknifed.df), p, at=tuple(names[k : k + 1]),
    )  # fmt: skip


# --- coverage, careless humans, reading


def _cover(case: Case, margins: Margins) -> Component:
    if not case.asked:
        return _untested("COVER", "not asked", count=case.size(case.labelled))
    return _coverage(case.size(case.labelled), case.size(case.paired), margins)


def _coverage(asked: int, answered: int, margins: Margins) -> Component:
    if not asked:
        return _untested("COVER", "few clusters")
    share = answered / asked
    state: State = "yes" if share >= margins.cover else "no"
    return Component(
        "COVER", state, share, margin=margins.cover, p=0.0 if state == "yes" else 1.0, count=asked
    )


def _careless(case: Case, panel: ResponsePanel, margins: Margins) -> tuple[Careless, ...]:
    """Humans shown not to follow the others: a third of what these reach, or less."""
    if len(panel.humans) < 3:
        return ()
    rows = {k: within.follows_others(panel, k) for k in range(len(panel.humans))}
    known = {k: jackknifed for k, jackknifed in rows.items() if jackknifed is not None}
    careless = []
    for k, jackknifed in known.items():
        others = float(np.median([other.value for m, other in known.items() if m != k] or [0.0]))
        if jackknifed.bound(SURE_NO) < max(margins.read, others / 3):
            careless.append(Careless(case.reference[k], case.attribute, jackknifed.value, others))
    return tuple(careless)


def _read(case: Case, panel: ResponsePanel, margins: Margins, name: ComponentName) -> Component:
    table = within.reading_sums(panel)
    if len(table) < margins.clusters:
        return _untested(name, "few clusters", count=len(table))
    if table.total[2] < 1e-9 * (case.width / 4) ** 2:
        reason: Reason = "no variance" if math.isnan(case.constant) else "constant"
        return Component(name, "no", 0.0, 0.0, 0.0, 0.0, 0.0, len(table) - 1, 1.0, reason)
    return _above(name, table.jackknife(within.ratio, "fisher"), 0.0, margins.read, SURE_READ)


# --- single responses


def _single(
    panel: ResponsePanel, table: ClusterSums, humans: Sequence[int], margins: Margins
) -> list[Component]:
    parts = []
    if len(humans) > 1:
        parts.append(_humans(table, margins))
    seen = np.unique(panel.humans[~np.isnan(panel.humans)])
    one_bit = len(seen) == 2 and panel.categories is None
    times = margins.times_gate if one_bit else margins.times
    parts.append(_item("ITEM", table, len(humans), times, margins))
    if panel.categories is None:
        parts.append(_slope(table, len(humans), margins))
    return parts


def _humans(table: ClusterSums, margins: Margins) -> Component:
    """Reliability of one human on single responses: with none, nothing can be examined."""
    if table.met(0) < margins.clusters:
        return _untested("HUMANS", "few shared")
    jackknifed = table.jackknife(within.reliability, "fisher")
    # The floor is stated on Fisher's z, where so small a correlation is the same number.
    limit = float(natural(LEAST_HUMANS, "fisher"))
    return replace(_above("HUMANS", jackknifed, limit, margins.read), margin=limit)


def _item(
    name: ComponentName, table: ClusterSums, humans: int, times: float, margins: Margins
) -> Component:
    """From the sums of clusters where the judge has a human beside it."""
    total, shared = table.total, table.met(0)
    if humans < 2:
        return _untested(name, "one human")
    if total[0] < FEWEST_SHARED or shared < margins.clusters:
        return _untested(name, "few shared", count=int(total[0]))
    c, v, _, _ = (float(part) for part in within.moments(total))
    common = table.jackknife(lambda sums: within.moments(sums)[0])
    if common.at - quantile(SURE_YES, common.df) * common.se <= LEAST_HUMANS * v:
        share = c / v if v > 0 else math.nan
        return Component(name, "open", share, margin=times, reason="humans unclear", human=share)
    jackknifed = table.jackknife(lambda sums: within.beyond(sums, times))
    jackknifed = replace(jackknifed, df=min(jackknifed.df, shared - 1))
    part = _above(name, jackknifed, 0.0)
    return replace(part, margin=times, judge=within.worth_of(total), human=c / v)


def _slope(table: ClusterSums, humans: int, margins: Margins) -> Component:
    """Points of the judge for one point of what the humans share."""
    if humans < 2:
        return _untested("SLOPE", "one human")
    c, _, j, _ = within.moments(table.total)
    cs, _, js, _ = within.moments(table.without)
    if not (c > 0 and j > 0 and (cs > 0).all() and (js > 0).all()):
        value = float(j / c) if c else math.nan
        return Component("SLOPE", "open", value, margin=margins.slope, reason="no interval")
    jackknifed = jackknife(j / c, js / cs, "log", table.weight)
    low, high = math.log(margins.slope[0]), math.log(margins.slope[1])
    reach, far = (quantile(sure, jackknifed.df) * jackknifed.se for sure in (SURE_YES, SURE_NO))
    state: State = "open"
    if jackknifed.at - reach >= low and jackknifed.at + reach <= high:
        state = "yes"
    elif jackknifed.at + far < low or jackknifed.at - far > high:
        state = "no"
    p = float(
        max(
            above_t(
                np.array([jackknifed.at - low, high - jackknifed.at]) / jackknifed.se, jackknifed.df
            )
        )
    )
    return Component(
        "SLOPE", state, jackknifed.value, jackknifed.bound(1 - SURE_YES),
        jackknifed.bound(SURE_YES), margins.slope, jackknifed.se, jackknifed.df, p,
    )  # fmt: skip


def pass_if_below(reading: float) -> float:
    """With one human column: the reliability of one human below which ITEM could still pass.

    Solves r² / q = q / (q + 2 (1 - q)) for q.

    >>> round(pass_if_below(0.381200508), 6)
    0.471316
    """
    square = reading * reading
    return (-square + math.sqrt(square * square + 8 * square)) / 2


# --- level


def _spread(panel: ResponsePanel, humans: Sequence[int], *, nominal: bool) -> means.HumanSpread:
    if nominal:
        return means.HumanSpread(math.nan, 0.0, 0, len(humans))
    return means.human_by_system(panel, humans)


def _bias(
    case: Case, panel: ResponsePanel, spread: means.HumanSpread, margins: Margins
) -> list[Component]:
    if case.nominal:
        return _label_bias(panel, margins)
    off = (panel.mean_run - panel.mean_human)[:, None]
    return _levels(case, _sums_off(panel, off), spread, margins)


def _levels(
    case: Case, off: ClusterSums, spread: means.HumanSpread, margins: Margins
) -> list[Component]:
    """BIAS and BIAS1, from sums of how far the judge is off and their number."""
    jackknifed = off.jackknife(_mean)[0]
    margin = margins.bias * case.width
    wide = max(margin, 0.0 if math.isnan(spread.leniency) else spread.leniency)
    return [_inside("BIAS", jackknifed, margin), _inside("BIAS1", jackknifed, wide)]


def _label_bias(panel: ResponsePanel, margins: Margins) -> list[Component]:
    """Shares of labels: the judge's less the humans'."""
    shares = []
    for scores in (panel.judge, panel.humans):
        vectors = panel.vectors(scores)
        n = (~np.isnan(vectors)).sum(axis=0)
        total = np.where(np.isnan(vectors), 0.0, vectors).sum(axis=0)
        shares.append(np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 0))
    jackknifed = _sums_off(panel, shares[0] - shares[1]).jackknife(_mean)
    names = [f"{code:g}" for code in panel.categories] if panel.categories is not None else []
    part = _inside("BIAS", jackknifed, margins.system, names)
    return [part, replace(part, name="BIAS1")]


def _sums_off(panel: ResponsePanel, off: Floats) -> ClusterSums:
    """Sums by cluster of columns (N, k), and how many responses have them."""
    kept = ~np.isnan(off[:, 0])
    columns = np.concatenate([off, np.ones((len(off), 1))], axis=1)
    return panel.by_cluster(columns, kept, where=off.shape[1])


def _mean(sums: Floats) -> Floats:
    return np.asarray(sums[..., :-1] / sums[..., -1:])


# --- systems


def _systems(
    case: Case,
    systems: NDArray[Any],
    observed: means.Means | None,
    spread: means.HumanSpread,
    margins: Margins,
    *,
    quoted: bool = False,
) -> list[Component]:
    """Components of the means of systems; where means are to be `quoted`, what that needs alone."""
    count = len(systems)
    if observed is None:
        names: Sequence[ComponentName] = ("ORDER", "AGREE", "LEVEL", "REVERSE", "SYS")
        return [_untested(name, "one system") for name in names]
    names_of = [str(name) for name in systems]
    if observed.met.min() < FEWEST_IN_SYSTEM:
        return _few_in_system(names_of, observed.met, own=bool(case.family))
    margin = margins.system * case.width
    parts = _ordered(observed, count, margins)
    off = observed.jackknife(lambda human, judge: judge - human)
    parts.append(_allowed("LEVEL", off, (margin, 1.0, spread), names_of))
    family = _family(case, observed, names_of, spread, margin)
    if quoted:
        return [*parts, *family]
    allowed = spread.allow(margin, 2.0, 1)
    parts.append(_reverse(observed, allowed, names_of))
    own = observed.jackknife(lambda human, judge: means.specific(judge - human))
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
    return [_untested(name, "few in system", at=at, count=count) for name in names]


def _ordered(observed: means.Means, count: int, margins: Margins) -> list[Component]:
    """ORDER and AGREE."""
    moments = observed.moments()
    variance = moments.jackknife(lambda each: each[..., 0])
    reason: Reason = ""
    if count < 3:
        reason = "two systems"
    elif variance.at - quantile(SURE_YES, variance.df) * variance.se <= 0:
        reason = "humans alike"
    if reason:
        return [_untested("ORDER", reason), _untested("AGREE", reason)]
    return [
        _above("ORDER", moments.unbiased(means.correlation), margins.order),
        _above("AGREE", moments.unbiased(means.agreement), margins.agree),
    ]


def _allowed(
    name: ComponentName,
    off: Jackknifed,
    rule: tuple[float, float, means.HumanSpread],
    names: Sequence[str],
) -> Component:
    """Biases of systems inside what a human's own would reach: stricter for yes than for no."""
    margin, factor, spread = rule
    many = len(off.at)
    return _inside(
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
    flip = np.where(human.at < 0, -1, 1)
    dh, dj, sh, sj, df = human.at * flip, judge.at * flip, human.se, judge.se, human.df
    near, far = quantile(SURE_NO, df), quantile(1 - (1 - SURE_NO) / len(a), df)
    reversed_ = (dh - far * sh > margin) & (dj + far * sj < 0)
    wide = 2 * margin
    # Shown not to be reversed: not that far apart, or the judge agrees; and the mirror image.
    clear = ((dh + near * sh <= wide) | (dj - near * sj >= 0)) & (
        (dh - near * sh >= -wide) | (dj + near * sj <= 0)
    )
    state: State = "no" if reversed_.any() else "yes" if clear.all() else "open"
    apart = above_t((wide - dh) / np.maximum(sh, 1e-12), df)
    p = np.minimum(apart, above_t(dj / np.maximum(sj, 1e-12), df)) * 2
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
    spread: means.HumanSpread,
    margin: float,
) -> list[Component]:
    own = np.array([case.family.get(name, False) for name in names])
    if not own.any() or own.all():
        return []

    def contrast(bias: Floats) -> Floats:
        part: Floats = bias[..., own].mean(axis=-1) - bias[..., ~own].mean(axis=-1)
        return part

    factor = 1 / own.sum() + 1 / (~own).sum()
    off = observed.jackknife(lambda human, judge: contrast(judge - human))
    return [_inside("FAM", off, spread.allow(margin, factor, 1))]


def _to_come(
    observed: means.Means, spread: means.HumanSpread, margin: float, margins: Margins
) -> list[Component]:
    """ORDER+ and LEVEL+: the systems are a sample."""
    count = len(observed.human)
    if count < margins.systems:
        names: Sequence[ComponentName] = ("ORDER+", "LEVEL+")
        return [_untested(name, "few systems", count=count) for name in names]
    whole = means.correlation(means.moments(observed.human, observed.judge))
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
    return [_above("ORDER+", order, margins.order), _level_to_come(observed.bias, spread, margin)]


def _level_to_come(bias: Floats, spread: means.HumanSpread, margin: float) -> Component:
    """Where a new system's bias will lie: a 90 % prediction interval."""
    from scipy.special import chdtri  # noqa: PLC0415 - slow to import

    count, centre, sd = len(bias), float(bias.mean()), float(bias.std(ddof=1))
    limit = spread.allow(margin, 1.0, 1)
    error = sd * math.sqrt(1 + 1 / count)
    reach = quantile(SURE_YES, count - 1) * error
    least = sd * math.sqrt((count - 1) / float(chdtri(count - 1, 1 - SURE_NO)))
    state: State = "open"
    if abs(centre) + reach <= limit:
        state = "yes"
    elif 1.645 * least > limit:
        state = "no"
    return Component(
        "LEVEL+", state, centre, centre - reach, centre + reach, limit, error, count - 1,
        0.0 if state == "yes" else 1.0,
    )  # fmt: skip


# --- subgroups


def _subgroups(
    case: Case, panel: ResponsePanel, sums: Floats, humans: Sequence[int], margins: Margins
) -> list[Component]:
    if case.subgroups is None:
        return []
    groups = case.subgroups[case.paired].astype(str)
    off = np.zeros(len(groups)) if case.nominal else panel.mean_run - panel.mean_human
    bias, names, items, few = [], [], [], []
    for name in (found for found in np.unique(groups) if found):
        inside = np.asarray(groups == name)
        found = _subgroup_bias(panel, off, inside, margins)
        if found is None:
            few.append(name)
            continue
        bias.append(found)
        names.append(name)
        table = panel.by_cluster(sums, inside, where=6)
        part = _item("SUBITEM", table, len(humans), margins.times_subgroup, margins)
        items.append(replace(part, at=(name,)))
    if not bias:
        return [_untested("SUB", "few in subgroup", at=tuple(few))]
    together = Jackknifed(
        np.array([found.at for found in bias]),
        np.array([found.se for found in bias]),
        min(found.df for found in bias),
    )
    sub = _inside("SUB", together, margins.system * case.width, names)
    if few and sub.state == "yes":
        sub = replace(sub, state="not tested", reason="few in subgroup", at=tuple(few))
    tested = [part for part in items if part.state != "not tested"]
    order = ("no", "open", "yes")
    return [sub, *([min(tested, key=lambda part: order.index(part.state))] if tested else [])]


def _subgroup_bias(
    panel: ResponsePanel, off: Floats, inside: NDArray[np.bool_], margins: Margins
) -> Jackknifed | None:
    """Bias inside less outside; None where either has too few clusters."""
    kept = ~np.isnan(off)
    columns = np.stack([off * inside, inside * 1.0, off * ~inside, ~inside * 1.0], axis=1)
    table = panel.by_cluster(columns, kept)
    if min(table.met(1), table.met(3)) < margins.clusters:
        return None

    def contrast(s: Floats) -> Floats:
        part: Floats = s[..., 0] / s[..., 1] - s[..., 2] / s[..., 3]
        return part

    return table.jackknife(contrast)


# --- pass and fail


def _gate(
    case: Case, panel: ResponsePanel, humans: Sequence[int], margins: Margins
) -> list[Component]:
    """GREAD, GITEM, SENS and SPEC on 1[score >= gate]."""
    rule = case.gate
    if rule is None:
        return []
    bits = panel.passing(rule.at)
    table = within.item_table(bits.only_humans(humans), beside=True)
    if rule.has_minima and len(humans) > 1 and table.total[0] < FEWEST_SHARED:
        bits, humans = _one_column(bits, humans), (0,)
        table = within.item_table(bits, beside=True)
    parts = [
        _read(case, bits, margins, "GREAD"),
        _item("GITEM", table, len(humans), margins.times_gate, margins),
    ]
    kinds: Sequence[tuple[ComponentName, bool, float | None]] = (
        ("SENS", True, rule.sensitivity),
        ("SPEC", False, rule.specificity),
    )
    for name, passes, least in kinds:
        if len(humans) < 2:
            parts.append(_against_labels(name, bits, humans[0], passes, least))
        else:
            parts.append(_beside_human(name, bits, humans, passes, margins))
    return parts


def _one_column(bits: ResponsePanel, humans: Sequence[int]) -> ResponsePanel:
    """Humans who share too few responses to be compared with each other, as one column of labels.

    The one who labelled most comes first: a few labels under another name change little.
    """
    labelled = [bits.size(np.asarray(~np.isnan(human))) for human in bits.humans]
    order = sorted(humans, key=lambda k: -labelled[k])
    return replace(bits, humans=_first_present(bits.humans[order])[None])


def _beside_human(
    name: ComponentName, bits: ResponsePanel, humans: Sequence[int], passes: bool, margins: Margins
) -> Component:
    rates = held_out.Rates.of(bits, humans, passes=passes)
    if rates.n < 2 * FEWEST_SUCH:
        return _untested(name, "few such", count=math.floor(rates.n + 1e-6))
    margin = max(margins.gate, rates.between)
    part = _above(name, rates.difference(), -margin)
    return replace(part, judge=rates.judge, human=rates.human, count=math.floor(rates.n + 1e-6))


def _against_labels(
    name: ComponentName, bits: ResponsePanel, human: int, passes: bool, least: float | None
) -> Component:
    """One column of labels: against the declared minimum, or printed without a verdict."""
    jackknifed, n = held_out.rate_against(bits, human, passes=passes)
    if n < FEWEST_SUCH:
        return _untested(name, "few such", count=n, margin=least)
    value, se = float(jackknifed.at), float(jackknifed.se)
    facts: dict[str, Any] = {"judge": value, "count": n, "se": se, "df": float(jackknifed.df)}
    if least is None:
        low, high = value - 1.96 * se, value + 1.96 * se
        return Component(
            name, "not tested", value, low, high, reason="no minima", **facts
        )  # as the specification prints them
    sure, no = (
        share_interval(value, se, jackknifed.df, n, 2 * level - 1) for level in (SURE_YES, SURE_NO)
    )
    state: State = "yes" if sure.low >= least else "no" if no.high < least else "open"
    p = share_p(value, se, float(jackknifed.df), n, least)
    return Component(name, state, value, sure.low, sure.high, least, p=p, **facts)


def share_p(value: float, se: float, df: float, n: int, least: float) -> float:
    """One-sided p-value of a share below `least`: the score test that Wilson's interval inverts."""
    size = effective_size(value, se, df, n)
    error = math.sqrt(least * (1 - least) / size)
    return float(above_t((value - least) / error, df)) if error > 0 else float(value < least)


# --- runs and labels saved


def _run(case: Case, panel: ResponsePanel, margins: Margins) -> Component:
    """Reliability of one run within systems."""
    if len(panel.judge) < 2 or case.nominal:
        return _untested("RUN", "one run" if len(panel.judge) < 2 else "nominal")
    if case.temperature == 0:
        return _untested("RUN", "temperature 0")
    count = len(panel.judge)
    runs = np.stack([panel.centred(run[:, None], least=2)[:, 0] for run in panel.judge])
    kept = np.asarray(~np.isnan(runs).any(axis=0))
    square = (runs**2).sum(axis=0)
    columns = np.stack(
        [(runs.sum(axis=0) ** 2 - square) / (count * (count - 1)), square / count], 1
    )
    table = panel.by_cluster(columns, kept)

    def share(s: Floats) -> Floats:
        part: Floats = s[..., 0] / np.maximum(s[..., 1], 1e-300)
        return part

    jackknifed = table.jackknife(share, "fisher")
    needed = runs_needed(jackknifed.value, margins.run).runs
    return replace(_above("RUN", jackknifed, margins.run), count=needed or 0)


def _gain(case: Case, panel: ResponsePanel, margins: Margins) -> Component:
    """What a label counts as once the judge's scores on all responses are used as well."""
    n, judged = panel.n, case.size(case.judged)
    if n and panel.per_system().max() < 2:  # within systems nothing is left to correlate
        return _untested("GAIN", "few in system", count=1)
    partly, share = _partly(case, panel), labelled_share(case, panel)
    jackknifed = _following(case, panel)
    need = math.sqrt((1 - 1 / margins.gain) / (1 - share))
    part = _above("GAIN", jackknifed, min(need, 1.0))

    def gain(r: float) -> float:
        return float(1 / (1 - (1 - share) * np.clip(r, 0, 0.999) ** 2))

    part = replace(
        part,
        estimate=gain(part.estimate),
        low=gain(part.low),
        high=gain(part.high),
        margin=gain(need),
        count=n if partly else round(share * judged),
    )
    if partly and not case.random_labels:
        return replace(part, state="not tested", reason="not random", p=1.0)
    return part


def _partly(case: Case, panel: ResponsePanel) -> bool:
    return case.size(case.judged) > panel.n * 1.05


def labelled_share(case: Case, panel: ResponsePanel) -> float:
    """The share of the judged responses that humans labelled; planned where all are."""
    return panel.n / case.size(case.judged) if _partly(case, panel) else PLANNED


def _following(case: Case, panel: ResponsePanel) -> Jackknifed:
    """Correlation of the judge with the first human that scored, within systems.

    Of cluster totals where clusters are declared: that is what the variance of a mean is made of.
    """
    judge = panel.judge[0] if case.nominal else panel.mean_run
    human = _first_present(panel.humans)
    x, y = (panel.centred(panel.vectors(part), least=2) for part in (judge, human))
    kept = ~np.isnan(x[:, 0]) & ~np.isnan(y[:, 0])
    if case.clusters is None:
        columns = np.stack([(x * y).sum(axis=1), (x**2).sum(axis=1), (y**2).sum(axis=1)], axis=1)
        table = panel.by_cluster(columns, kept)
    else:
        table = panel.products(x, y, kept)

    def correlation(s: Floats) -> Floats:
        found: Floats = np.where(s[..., 1] > 1e-9, within.ratio(s), 0.0)
        return found

    return table.jackknife(correlation, "fisher")


def _first_present(humans: Floats) -> Floats:
    scores: Floats = humans[0].copy()
    for other in humans[1:]:
        scores = np.where(np.isnan(scores), other, scores)
    return scores

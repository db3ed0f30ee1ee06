"""Components of a verdict that rest on single responses: reading, humans, items, gates, labels."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.examining.spec.component import Component
from voirdire.examining.spec.margins import (
    FEWEST_SHARED,
    SURE_NO,
    SURE_READ,
    SURE_YES,
    above,
    inside,
    inside_range,
    untested,
)
from voirdire.examining.spec.reasons import FEWEST_SUCH, MOST_TIMES
from voirdire.stats import held_out, runs_needed, within
from voirdire.stats.intervals import effective_size, share_interval
from voirdire.stats.sums import Jackknifed, above_t, jackknife, mean_of, natural, quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from voirdire.examining.spec.component import State
    from voirdire.examining.spec.scores.case import Case, GateRule
    from voirdire.stats.response_panel import ResponsePanel
    from voirdire.stats.sums import ClusterSums
    from voirdire.study import Margins

    Floats = NDArray[np.float64]

#: Below this reliability humans are not shown to agree at all.
LEAST_HUMANS = 0.02
#: Where all responses are labelled, GAIN plans for one label in five.
PLANNED = 0.2


def coverage(name: str, asked: int, answered: int, margins: Margins) -> Component:
    """The share of what was asked that was answered."""
    if not asked:
        return untested(name, "few clusters")
    share = answered / asked
    state: State = "yes" if share >= margins.cover else "no"
    p = 0.0 if state == "yes" else 1.0
    return Component(name, state, share, margin=margins.cover, p=p, count=asked)


#: Kind -> why nothing is read: what is given varies somewhere, or nowhere.
_ALIKE = {
    "label": ("always or never", "one answer"),
    "label set": ("always or never", "one answer"),
    "probability": ("no variance", "one answer"),
}


def reading(name: str, case: Case, panel: ResponsePanel, margins: Margins) -> Component:
    """Correlation of one run with the mean human within systems."""
    table = within.reading_sums(panel)
    if len(table) < margins.clusters:
        return untested(name, "few clusters", count=len(table))
    # Column 2 is the judge's sum of squares within systems. It is set beside the scale, a quarter
    # of whose width is a large spread: rounding must not look like reading.
    if table.total[2] < 1e-9 * (case.width / 4) ** 2:
        varies, constant = _ALIKE.get(case.kind, ("no variance", "constant"))
        reason = varies if math.isnan(case.constant) else constant
        return Component(name, "no", 0.0, 0.0, 0.0, 0.0, 0.0, len(table) - 1, 1.0, reason)
    return above(name, table.jackknife(within.ratio, "fisher"), 0.0, margins.read, SURE_READ)


def humans_agree(name: str, table: ClusterSums, margins: Margins) -> Component:
    """Reliability of one human on single responses: with none, nothing can be examined."""
    if table.met(0) < margins.clusters:
        return untested(name, "few shared")
    jackknifed = table.jackknife(within.reliability, "fisher")
    # The floor is stated on Fisher's z, where so small a correlation is the same number.
    # The floor is stated where the test is made.
    limit = float(natural(LEAST_HUMANS, "fisher"))
    return replace(above(name, jackknifed, limit, margins.read), margin=limit)


def item(name: str, table: ClusterSums, times: float, margins: Margins) -> Component:
    """From the sums of clusters where the judge has a human beside it."""
    total, shared = table.total, table.met(0)
    # Column 0 counts pairs of humans on a response, and `met` the clusters that have one.
    if total[0] < FEWEST_SHARED or shared < margins.clusters:
        return untested(name, "few shared", count=int(total[0]))
    c, v, _, _ = (float(part) for part in within.moments(total))
    common = table.jackknife(lambda sums: within.moments(sums)[0])
    # What humans share is the measure here: a judge cannot be set against a signal that is not
    # shown to be there.
    if common.at - quantile(SURE_YES, common.df) * common.se <= LEAST_HUMANS * v:
        share = c / v if v > 0 else math.nan
        return Component(name, "open", share, margin=times, reason="humans unclear", human=share)
    jackknifed = table.jackknife(lambda sums: within.beyond(sums, times))
    # Clusters where no two humans met say nothing of c, and must not lend the test degrees of
    # freedom.
    jackknifed = replace(jackknifed, df=min(jackknifed.df, shared - 1))
    part = above(name, jackknifed, 0.0)
    return replace(part, margin=times, judge=within.worth_of(total), human=c / v)


def slope(name: str, table: ClusterSums, margins: Margins) -> Component:
    """Points of the judge for one point of what the humans share."""
    value, without = within.slope(table.total), within.slope(table.without)
    if not (_is_positive(table.total) and _is_positive(table.without)):
        shown = float(value) if math.isfinite(value) else math.nan
        return Component(name, "open", shown, margin=margins.slope, reason="no interval")
    return inside_range(name, jackknife(value, without, "log", table.weight), margins.slope)


def _is_positive(sums: Floats) -> bool:
    """Whether both covariances behind a slope are above 0, so that it has a logarithm."""
    c, _, j, _ = within.moments(sums)
    return bool((np.asarray(c) > 0).all() and (np.asarray(j) > 0).all())


def pass_if_below(reading: float) -> float:
    """With one human column: the reliability of one human below which ITEM could still pass.

    Solves r² / q = q / (q + 2 (1 - q)) for q.

    >>> round(pass_if_below(0.381200508), 6)
    0.471316
    """
    square = reading * reading
    # The positive root of q² + r² q - 2 r² = 0, which the docstring's equation comes to.
    return (-square + math.sqrt(square * square + 8 * square)) / 2


# --- subgroups


def subgroups(
    case: Case, panel: ResponsePanel, sums: Floats, humans: Sequence[int], margins: Margins
) -> list[Component]:
    if case.subgroups is None:
        return []
    groups = case.subgroups[case.paired].astype(str)
    off = np.zeros(len(groups)) if case.nominal else panel.mean_run - panel.mean_human
    # Of labels without an order no bias can be told, and `off` stays 0 throughout.
    bias, names, items, few = [], [], [], []
    for name in filter(None, np.unique(groups)):
        members = np.asarray(groups == name)
        apart = _subgroup_bias(panel, off, members, margins)
        if apart is None:
            few.append(name)
            continue
        bias.append(apart)
        names.append(name)
        table = panel.by_cluster(sums, members, where=6)
        if len(humans) > 1:
            part = item("SUBITEM", table, margins.times_subgroup, margins)
            items.append(replace(part, at=(name,)))
    if not bias:
        return [untested("SUB", "few in subgroup", at=tuple(few))]
    together = Jackknifed(
        np.array([one.at for one in bias]),
        np.array([one.se for one in bias]),
        # One t for all groups, by the smallest of them: careful where they differ.
        min(one.df for one in bias),
    )
    sub = inside("SUB", together, margins.system * case.width, names)
    # A yes would speak for the groups that are too small to be tested as well.
    if few and sub.state == "yes":
        sub = replace(sub, state="not tested", reason="few in subgroup", at=tuple(few))
    tested = [part for part in items if part.state != "not tested"]
    # The worst group is what is shown, and decides.
    order = ("no", "open", "yes")
    return [sub, *([min(tested, key=lambda part: order.index(part.state))] if tested else [])]


def _subgroup_bias(
    panel: ResponsePanel, off: Floats, members: NDArray[np.bool_], margins: Margins
) -> Jackknifed | None:
    """Bias of the members less that of the others; None where either has too few clusters."""
    kept = ~np.isnan(off)
    columns = np.stack([off * members, members * 1.0, off * ~members, ~members * 1.0], axis=1)
    table = panel.by_cluster(columns, kept)
    if min(table.met(1), table.met(3)) < margins.clusters:
        return None

    def contrast(s: Floats) -> Floats:
        part: Floats = s[..., 0] / s[..., 1] - s[..., 2] / s[..., 3]
        return part

    return table.jackknife(contrast)


# --- pass and fail


def one_column(bits: ResponsePanel, humans: Sequence[int]) -> ResponsePanel:
    """Humans who share too few responses to be compared with each other, as one column of labels.

    The one who labelled most comes first: a few labels under another name change little.
    """
    labelled = [bits.size(np.asarray(~np.isnan(human))) for human in bits.humans]
    # The fullest first, since the first that scored is the label.
    order = sorted(humans, key=lambda k: -labelled[k])
    return replace(bits, humans=_first_present(bits.humans[order])[None])


def gate_rate(
    name: str,
    rule: GateRule,
    bits: ResponsePanel,
    humans: Sequence[int],
    margins: Margins,
    *,
    passes: bool,
) -> Component:
    """SENS (SPEC): beside a held-out human, or against one column of labels."""
    if len(humans) > 1:
        return beside_human(name, bits, humans, passes, margins)
    least = rule.sensitivity if passes else rule.specificity
    part = against_labels(name, bits, humans[0], passes, least, exact=not rule.by_default)
    if rule.by_default and not part.reason:
        return replace(part, reason="default minima")
    return part


def beside_human(
    name: str, bits: ResponsePanel, humans: Sequence[int], passes: bool, margins: Margins
) -> Component:
    rates = held_out.Rates.of(bits, humans, passes=passes)
    # Each such response is seen from both sides: either human is the label, the other is held out.
    if rates.n < 2 * FEWEST_SUCH:
        return untested(name, "few such", count=math.floor(rates.n + 1e-6))
    # Humans differ from one another by `between`: no judge can be asked to differ by less.
    margin = max(margins.gate, rates.between)
    part = above(name, rates.difference(), -margin)
    # Weighted counts are a hair off whole numbers: 1e-6 keeps 20 from becoming 19.
    return replace(part, judge=rates.judge, human=rates.human, count=math.floor(rates.n + 1e-6))


def against_labels(
    name: str,
    bits: ResponsePanel,
    human: int,
    passes: bool,
    least: float | None,
    *,
    exact: bool = False,
) -> Component:
    """One column of labels: against the declared minimum, or printed without a verdict.

    Of fewer than 20 such labels no share is tested; `exact` says no all the same where so few hits
    have a chance of less than 2.5 % at the minimum. A yes cannot come earlier: with 13 labels, all
    of them right, the lower bound is still below 0.80.
    """
    jackknifed, n = held_out.rate_against(bits, human, passes=passes)
    if n < FEWEST_SUCH:
        few = untested(name, "few such", count=n, margin=least)
        from voirdire.stats.effective import lower_share, share_tails  # noqa: PLC0415 - seldom

        # Labels of one cluster, and runs, err together: the binomial is none of theirs.
        alone = len(bits.judge) == 1 and jackknifed.df == n - 1
        if not (n > 1 and exact and alone and least is not None):
            return few
        # Of single labels the jackknife's value is the plain share, and so counts hits.
        hits = round(float(jackknifed.value) * n)
        _, fewer = share_tails(hits, n, least)
        if fewer >= 1 - SURE_NO:
            return few
        low = lower_share(hits, n, 1 - SURE_YES)
        high = 1 - lower_share(n - hits, n, 1 - SURE_YES)
        return replace(
            few, state="no", reason="", estimate=hits / n, low=low, high=high, judge=hits / n
        )
    value, se = float(jackknifed.at), float(jackknifed.se)
    facts: dict[str, Any] = {"judge": value, "count": n, "se": se, "df": float(jackknifed.df)}
    if least is None:
        # Only printed, and decides nothing: the plain interval of the specification, not Wilson's.
        low, high = value - 1.96 * se, value + 1.96 * se
        return Component(
            name, "not tested", value, low, high, reason="no minima", **facts
        )  # as the specification prints them
    sure, no = (
        share_interval(value, se, jackknifed.df, n, 2 * level - 1) for level in (SURE_YES, SURE_NO)
    )
    state: State = "yes" if sure.low >= least else "no" if no.high < least else "open"
    p = share_p(value, se, float(jackknifed.df), n, least)
    made = Component(name, state, value, sure.low, sure.high, least, p=p, **facts)
    return replace(made, times=_times_share(made, least)) if state == "open" else made


def errs_both_ways(bits: ResponsePanel, human: int) -> bool:
    """Whether it passes what fails about as often as it fails what passes, by a score test.

    Two people who label alike differ in both directions alike: such a judge may be one.

    Source: McNemar (1947), Psychometrika 12, 153-157; over clusters the sums are jackknifed.
    """
    off = bits.mean_run - bits.humans[human]
    there = ~np.isnan(off)
    columns = np.stack([np.where(there, off, 0.0), there * 1.0], axis=1)
    found = bits.by_cluster(columns, where=1).jackknife(mean_of)
    return bool(abs(found.at) <= quantile(SURE_NO, found.df) * found.se)


def _times_share(part: Component, least: float) -> float:
    """How many times as many labels settle a share with the interval of Wilson."""
    # Wilson's interval has no closed form for n: tried by tenths.
    for tenth in range(11, 10 * MOST_TIMES + 1):
        times = tenth / 10
        n, df, se = round(part.count * times), part.df * times, part.se / math.sqrt(times)
        low = share_interval(part.estimate, se, df, n, 2 * SURE_YES - 1).low
        high = share_interval(part.estimate, se, df, n, 2 * SURE_NO - 1).high
        if low >= least or high < least:
            return times
    return math.inf


def share_p(value: float, se: float, df: float, n: int, least: float) -> float:
    """One-sided p-value of a share below `least`: the score test that Wilson's interval inverts."""
    # Responses of one cluster tell less than as many alone: as many as give this error are counted.
    size = effective_size(value, se, df, n)
    error = math.sqrt(least * (1 - least) / size)
    return float(above_t((value - least) / error, df)) if error > 0 else float(value < least)


# --- runs and labels saved


def repeated_runs(name: str, panel: ResponsePanel, margins: Margins) -> Component:
    """Reliability of one run within systems."""
    count = len(panel.judge)
    # Within systems: that a run tells systems apart is no stability on single responses.
    runs = np.stack([panel.centred(run[:, None], least=2)[:, 0] for run in panel.judge])
    kept = np.asarray(~np.isnan(runs).any(axis=0))
    square = (runs**2).sum(axis=0)
    columns = np.stack(
        # Mean product of two different runs, over the mean square of one: their correlation,
        # without a loop over pairs.
        [(runs.sum(axis=0) ** 2 - square) / (count * (count - 1)), square / count],
        1,
    )
    table = panel.by_cluster(columns, kept)

    def share(s: Floats) -> Floats:
        part: Floats = s[..., 0] / np.maximum(s[..., 1], 1e-300)
        return part

    jackknifed = table.jackknife(share, "fisher")
    needed = runs_needed(jackknifed.value, margins.run).runs
    return replace(above(name, jackknifed, margins.run), count=needed or 0)


def labels_saved(name: str, case: Case, panel: ResponsePanel, margins: Margins) -> Component:
    """What a label counts as once the judge's scores on all responses are used as well."""
    n, judged = panel.n, case.size(case.judged)
    if n and panel.per_system().max() < 2:  # within systems nothing is left to correlate
        return untested(name, "few in system", count=1)
    partly, share = _partly(case, panel), labelled_share(case, panel)
    jackknifed = _following(case, panel)
    # 1 / (1 - (1 - share) r²) = gain, solved for r: GAIN is tested as a correlation, whose error is
    # known.
    need = math.sqrt((1 - 1 / margins.gain) / (1 - share))
    part = above(name, jackknifed, min(need, 1.0))

    def gain(r: float) -> float:
        # Held below 1, where the gain would be endless; a negative correlation saves nothing.
        return float(1 / (1 - (1 - share) * np.clip(r, 0, 0.999) ** 2))

    part = replace(
        part,
        estimate=gain(part.estimate),
        low=gain(part.low),
        high=gain(part.high),
        margin=gain(need),
        count=n if partly else round(share * judged),
        human=share,
    )
    if partly and not case.random_labels:
        return replace(part, state="not tested", reason="not random", p=1.0)
    return part


def _partly(case: Case, panel: ResponsePanel) -> bool:
    # A few judged responses without a label are missing labels, and no design with unlabelled ones.
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
        # A constant judge has no correlation; it follows nothing, which is 0 and not undefined.
        following: Floats = np.where(s[..., 1] > 1e-9, within.ratio(s), 0.0)
        return following

    return table.jackknife(correlation, "fisher")


def _first_present(humans: Floats) -> Floats:
    scores: Floats = humans[0].copy()
    for other in humans[1:]:
        scores = np.where(np.isnan(scores), other, scores)
    return scores

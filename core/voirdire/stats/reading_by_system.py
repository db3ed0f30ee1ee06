"""Does a judge follow the responses of every single system? And would another human be seen to?"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from voirdire.late import dataclass
from voirdire.stats import within
from voirdire.stats.intervals import normal_quantile
from voirdire.stats.response_panel import mean_present
from voirdire.stats.sums import Jackknifed, quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from voirdire.stats._arrays import Floats
    from voirdire.stats.response_panel import ResponsePanel
    from voirdire.stats.sums import ClusterSums

#: How surely reading is shown in a system, and how often a human would have to be seen to read.
SURE_HERE, POWER = 0.975, 0.80
#: Items that two systems share before their names can look swapped, and how often they would of a
#: judge that reads nothing.
_FEWEST_SHARED, _LOOKS_SWAPPED = 20, 0.2
#: The share of what is read in the other systems that both must show under the other's name.
_AS_OTHERS = 0.5
#: A sum of squares below this is none.
_NONE = 1e-9


@dataclass(frozen=True, slots=True)
class SystemReading:
    """Reading within one system.

    Attributes
    ----------
    judge : Jackknifed
        Correlation of one run with the mean human among the responses of the system.
    human : float
        Fisher's z that one more human would have there. With one human that of the judge itself,
        reading as it does on the whole where people vary as little as here.
    known : bool
        Whether it is that of a human.
    size : int
        Responses.
    """

    system: str
    judge: Jackknifed
    human: float
    known: bool
    size: int

    @property
    def low(self) -> float:
        """Lower bound on Fisher's z; minus infinity where there is no error."""
        low = self.judge.at - quantile(SURE_HERE, self.judge.df) * self.judge.se
        return float(low) if math.isfinite(low) else -math.inf

    def would_show(self, z: float) -> bool:
        """Whether a rater whose true value is `z` would be shown to read in four of five tries."""
        se = max(float(self.judge.se), 1 / math.sqrt(max(self.size - 3, 1)))
        return z > (quantile(SURE_HERE, self.judge.df) + quantile(POWER, self.judge.df)) * se


def reading_in_systems(
    panel: ResponsePanel, humans: Sequence[int]
) -> tuple[Jackknifed, list[SystemReading]]:
    """The reading within systems taken together, and in each in which people vary.

    Items are left in, as within one system they are what there is to read. A judge that does not
    vary in a system correlates 0 there, with the error 1 / sqrt(n - 3).

    Source: the project's own (VERDICT.md, section 11); where people vary less, Thorndike (1949),
    Personnel Selection, on restriction of range.
    """
    columns = _columns(panel)
    together = panel.by_cluster(columns, where=3)
    whole = together.jackknife(within.ratio, "fisher")
    tables = []
    for place, name in enumerate(panel.systems):
        here = np.asarray((columns[:, 3] > 0) & (panel.system == place))
        table, size = panel.by_cluster(columns, here, where=3), panel.size(here)
        if len(table) > 1 and table.total[1] > _NONE * size:
            tables.append((str(name), here, table, size))
    if not tables:
        return whole, []
    judges = [_reading(table, size) for _, _, table, size in tables]
    shared = _human_columns(panel, humans)
    if shared is not None:
        expected = [_of_one_human(panel, shared, here) for _, here, _, _ in tables]
    else:
        # The middle system: those in which it does not read must not lower what is asked of them.
        middle = max(float(np.median([one.at for one in judges])), float(whole.at))
        usual = together.total[1] / together.total[3]
        spread = [table.total[1] / table.total[3] / usual for _, _, table, _ in tables]
        expected = [_restricted(middle, ratio) for ratio in spread]
    return whole, [
        SystemReading(name, judge, human, shared is not None, size)
        for (name, _, _, size), judge, human in zip(tables, judges, expected, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class LeftOfSystem:
    """What is read within one system once the effects of items are taken out as well.

    Attributes
    ----------
    correlation, slope : Jackknifed
        Of one run with the mean human, on Fisher's z; and on the mean human. A judge with less
        noise than people shows by the slope that it does not read, one with more by the other.
    """

    correlation: Jackknifed
    slope: Jackknifed

    def far_below(self, usual: LeftOfSystem, share: float, far: float) -> bool:
        """Whether one of both is less than that share of what is usual, by `far` errors."""
        return _far_below(self.correlation, usual.correlation, share, far) or _far_below(
            self.slope, usual.slope, share, far
        )


def _far_below(own: Jackknifed, usual: Jackknifed, share: float, far: float) -> bool:
    # Where the error is larger than what is usual, what is missed could not have been seen.
    seen = usual.at - far * own.se
    return bool(seen > 0 and own.at < min(share * usual.at, seen))


def left_of_items(panel: ResponsePanel) -> tuple[LeftOfSystem, dict[str, LeftOfSystem]]:
    """Reading less the effects of systems and items: of all responses, and within each system.

    Systems in which people do not vary are left out.
    """
    columns, kept = within.reading_columns(panel)
    columns = np.concatenate([columns, np.ones((len(columns), 1))], axis=1)
    found = {}
    for place, name in enumerate(panel.systems):
        here = kept & (panel.system == place)
        table = panel.by_cluster(columns, here, where=3)
        if len(table) > 1 and table.total[1] > _NONE * panel.size(here):
            found[str(name)] = _left(table)
    return _left(panel.by_cluster(columns, kept, where=3)), found


def swapped(panel: ResponsePanel) -> tuple[str, str] | None:
    """Two systems whose scores of the judge follow what people say of the other's responses.

    With z_ab Fisher's z of the judge's scores of system a and people's of system b over the items
    that both answered, effects of systems and items taken out: z_ab + z_ba - z_aa - z_bb, of which
    each part has the error 1 / sqrt(n - 3). A judge that reads lies far below 0 there: it is looked
    for what one in five that read nothing would show, over all pairs. None where there is no such
    pair, where items are not crossed, or a system answered an item more than once.
    """
    human, judge = _by_item(panel)
    if human is None or judge is None:
        return None
    there = ~np.isnan(human) & ~np.isnan(judge)
    x, y = (np.where(there, part, 0.0) for part in (judge, human))
    shared = there.astype(np.float64)
    n = shared @ shared.T
    with np.errstate(invalid="ignore", divide="ignore"):
        # Sums over what both systems answered: rows are the judge's systems, columns people's.
        r = (x @ y.T) / np.sqrt((x**2 @ shared.T) * (shared @ (y**2).T))
        z = np.arctanh(np.clip(np.nan_to_num(r), -0.9999, 0.9999))
        own = np.diag(z)
        errors = 2 / np.sqrt(np.maximum(n - 3, 1e-9))
        surely = (z + z.T - own[:, None] - own[None]) / errors
    pairs = np.triu(n > _FEWEST_SHARED, 1)
    if not pairs.any():
        return None
    surely[~pairs] = -math.inf
    a, b = np.unravel_index(int(surely.argmax()), surely.shape)
    limit = normal_quantile(1 - _LOOKS_SWAPPED / int(pairs.sum()))
    others = np.delete(own, [a, b])
    # Under each other's name both are read as the other systems are: a judge that hardly reads two
    # systems, whose scores follow what is left of the items, is another matter.
    alike = min(z[a, b], z[b, a]) >= _AS_OTHERS * (others.mean() if len(others) else 0.0)
    if not (surely[a, b] > limit and alike):
        return None
    return str(panel.systems[a]), str(panel.systems[b])


def _by_item(panel: ResponsePanel) -> tuple[Floats, Floats] | tuple[None, None]:
    """(S, items) of the mean human and the mean run, effects of systems and items taken out."""
    cells = panel.system * (int(panel.item.max(initial=0)) + 1) + panel.item
    if panel.counted is not None or not panel.crossed or len(np.unique(cells)) < len(cells):
        return None, None
    made = []
    for scores in (panel.mean_human, panel.mean_run):
        table = np.full((len(panel.systems), int(panel.item.max()) + 1), np.nan)
        table[panel.system, panel.item] = within.less_effects(panel, scores[:, None])[:, 0]
        made.append(table)
    return made[0], made[1]


def _left(table: ClusterSums) -> LeftOfSystem:
    correlation = table.jackknife(within.ratio, "fisher")
    least = 1 / math.sqrt(max(float(table.total[3]) - 3, 1))
    correlation = replace(correlation, se=max(float(correlation.se), least))
    slope = table.jackknife(lambda sums: sums[..., 0] / np.maximum(sums[..., 1], 1e-300))
    return LeftOfSystem(correlation, slope)


def _reading(table: ClusterSums, size: int) -> Jackknifed:
    if table.total[2] > _NONE * size:
        return table.jackknife(within.ratio, "fisher")
    return Jackknifed(0.0, 1 / math.sqrt(max(size - 3, 1)), len(table) - 1, "fisher")


def _columns(panel: ResponsePanel) -> Floats:
    """(N, 4): products of one run and the mean human within systems, squares of each, and ones."""
    human = panel.centred(panel.mean_human[:, None], unbiased=False, least=2)[:, 0]
    runs = np.stack(
        [panel.centred(run[:, None], unbiased=False, least=2)[:, 0] for run in panel.judge]
    )
    one, square = mean_present(runs), mean_present(runs**2)
    kept = ~np.isnan(human) & ~np.isnan(one)
    columns = np.stack([human * one, human**2, square, np.ones(len(human))], axis=1)
    return np.where(kept[:, None], columns, 0.0)


def _human_columns(panel: ResponsePanel, humans: Sequence[int]) -> Floats | None:
    return within.item_columns(panel.only_humans(humans)) if len(humans) > 1 else None


def _restricted(z: float, ratio: float) -> float:
    """Fisher's z of a rater with `z` on the whole where people's variance is `ratio` of it."""
    r = math.tanh(max(z, 0.0))
    here = r * math.sqrt(ratio) / math.sqrt(1 - r * r + r * r * ratio)
    return math.atanh(min(here, 0.9999))


def _of_one_human(panel: ResponsePanel, shared: Floats, here: NDArray[np.bool_]) -> float:
    """Fisher's z of one more human with the mean of these: c / sqrt(v (c + (v - c) / m))."""
    columns = np.nan_to_num(shared[here])
    weight = np.ones(len(columns)) if panel.weight is None else panel.weight[here]
    sums = weight @ columns
    with np.errstate(invalid="ignore", divide="ignore"):
        c, v, _, _ = (float(part) for part in within.moments(sums))
    # Two humans who share nothing there, or too little to be seen: nobody would be shown to read.
    if not (c > 0 and v > 0):
        return 0.0
    among = max(float(sums[2] / max(sums[6], 1.0)), 1.0)
    r = c / math.sqrt(v * (c + max(v - c, 0.0) / among))
    return math.atanh(min(r, 0.9999))

"""Does a judge follow the responses of every single system? And would another human be seen to?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from voirdire.late import dataclass
from voirdire.stats import within
from voirdire.stats._arrays import median
from voirdire.stats.intervals import normal_quantile
from voirdire.stats.response_panel import mean_present
from voirdire.stats.sums import Jackknifed, means_of, quantile, summed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from voirdire.stats._arrays import Floats
    from voirdire.stats.response_panel import ResponsePanel
    from voirdire.stats.sums import ClusterSums

#: How surely reading is shown in a system, and how often a human would have to be seen to read.
SURE_HERE, POWER = 0.975, 0.80
#: Items that a system shares with others before its own reading beside them is looked at.
_FEWEST_SHARED = 20
#: How often two systems look swapped of a judge that reads nothing, and of one that reads.
_LOOKS_SWAPPED, _SELDOM_SWAPPED = 0.2, 0.01
#: The share of what is read in the other systems that both must show under the other's name; of
#: what people share elsewhere below which a judge need not follow them.
_AS_OTHERS = 0.5
#: How much likelier it has to be that some system is answered by the item than that none is: at
#: most, at least, and a system. It holds back 4 to 7 in 100 exchangeable humans (docs/verdict.md).
_LIKELIER, _LIKELIER_OF_FEW, _LIKELIER_EACH = 2.5, 1.1, 0.25
#: The logarithm of a ratio beyond which more of it says nothing.
_SURELY = 100.0
#: A sum of squares below this is none; and below which share of the middle system's people's scores
#: hardly vary.
_NONE, _LEAST_VARIES = 1e-9, 0.25


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
        middle = max(median(np.array([float(one.at) for one in judges])), float(whole.at))
        usual = together.total[1] / together.total[3]
        spread = [table.total[1] / table.total[3] / usual for _, _, table, _ in tables]
        expected = [_restricted(middle, ratio) for ratio in spread]
    return whole, [
        SystemReading(name, judge, human, shared is not None, size)
        for (name, _, _, size), judge, human in zip(tables, judges, expected, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class BesideItems:
    """What is followed of the responses of a system beside what all answers to an item share.

    Attributes
    ----------
    slope, correlation : Jackknifed
        Of one run on how far people put the response from the other systems' to the same item, what
        they think of the item itself being taken out. Of a judge that answers by the item both are
        0, whatever its noise. The correlation is on Fisher's z.
    expected : float
        The slope of a judge that reads there as elsewhere: half of it the median of its own in the
        other systems; half what follows from its points for a shared point of people and from what
        people share of responses. With one human the first alone.
    people, people_high : float
        How much of what two people share of responses lies in this system, beside the mean of all,
        and its upper 95 % bound; NaN with one human.
    """

    slope: Jackknifed
    correlation: Jackknifed
    expected: float
    people: float
    people_high: float

    @property
    def unread(self) -> float:
        """How many times as likely the slope is of a judge that reads nothing as of a reader.

        Where people are shown to share less than half of what they do elsewhere nothing is wrong
        with a judge that follows little: 1.
        """
        at, se, df = float(self.slope.at), float(self.slope.se), self.slope.df
        if self.people_high < _AS_OTHERS or not (self.expected > 0 and se > 0):
            return 1.0
        # Densities of t about 0 and about what is expected, of which all but this is the same.
        nothing, reader = 1 + (at / se) ** 2 / df, 1 + ((at - self.expected) / se) ** 2 / df
        # Beyond this a ratio says no more, and its power would overflow.
        return math.exp(min((df + 1) / 2 * math.log(reader / nothing), _SURELY))


def answered_by_item(each: dict[str, BesideItems]) -> tuple[str, ...]:
    """Systems that a judge answers by the item; none where that is not likelier than reading.

    Each of S systems is one with a chance of 1 / S, and the others are read as expected. That some
    are has to be 2.5 times as likely as that none is, of few systems less; those are named which
    are so rather than not, and at least the likeliest.

    Parameters
    ----------
    each : dict of str to BesideItems
        Of `beside_items`.

    Source: Neyman and Pearson (1933), Philosophical Transactions A 231, 289-337, for the ratio.
    """
    if not each:
        return ()
    chance, ratios = 1 / len(each), {name: one.unread for name, one in each.items()}
    together = math.fsum(math.log1p(chance * (ratio - 1)) for ratio in ratios.values())
    limit = min(max(_LIKELIER_EACH * len(each), _LIKELIER_OF_FEW), _LIKELIER)
    if together <= math.log(limit):
        return ()
    likely = tuple(name for name, ratio in ratios.items() if chance * ratio > 1 - chance)
    return likely or (max(ratios, key=lambda name: ratios[name]),)


def beside_items(panel: ResponsePanel, humans: Sequence[int]) -> dict[str, BesideItems]:
    """Reading of the responses alone in each system, where items are crossed with systems.

    With h the mean human and j one run, both about their means of the system: x is h less the mean
    of h over the other systems' responses to the item, y the mean of h over all of them. What a
    judge makes of the item is uncorrelated with x, so that the slope of j on x beside y is its
    reading of the response. By people it is expected to be (j / c) r / var(x): j / c its points for
    a shared point of people in the other systems, and r what two people share of a response, the
    product of h_k and x_l averaged over pairs of people.

    Empty where rows stand for many responses, and where items are not crossed. Systems with fewer
    than 20 such clusters are left out, and those in which people do not vary.

    Source: the project's own (docs/verdict.md); the partial slope is that of Frisch and Waugh
    (1933), Econometrica 1, 387-401.
    """
    if panel.counted is not None or not panel.crossed:
        return {}
    people = _about_means(panel, panel.humans[list(humans)])
    panel, people = _varying(panel, people)
    mean, run = mean_present(people), mean_present(_about_means(panel, panel.judge))
    away, shared = _away(panel, mean), _of_item(panel, mean)
    kept = ~np.isnan(away) & ~np.isnan(run)
    x, y, j, h = (np.where(kept, part, 0.0) for part in (away, shared, run, mean))
    columns = np.stack([x * x, x * y, y * y, x * j, y * j, j * j, kept * 1.0, h * h], axis=1)
    tables, places = [], []
    for place in range(len(panel.systems)):
        table = panel.by_cluster(columns, kept & (panel.system == place), where=6)
        # Also where people put all responses of a system alike beside the others'.
        least = _NONE * table.total[6]
        if len(table) >= _FEWEST_SHARED and min(table.total[0], table.total[7]) > least:
            tables.append(table)
            places.append(place)
    slopes = [table.jackknife(_partial_slope) for table in tables]
    # Two estimates that err apart are better than either; with one human there is but its own.
    usual = _of_others(np.array([float(slope.at) for slope in slopes]))
    among = [(math.nan, math.nan)] * len(tables)
    if len(humans) > 1:
        expected, among = _expected(panel, people, humans, places)
        varies = [table.total[0] / table.total[6] for table in tables]
        usual = [
            (own + value / v) / 2 for own, value, v in zip(usual, expected, varies, strict=True)
        ]
    return {
        str(panel.systems[place]): BesideItems(
            slope, table.jackknife(_partial_correlation, "fisher"), float(value), *share
        )
        for place, table, slope, value, share in zip(
            places, tables, slopes, usual, among, strict=True
        )
    }


def _about_means(panel: ResponsePanel, scores: Floats) -> Floats:
    """(R, N) scores of each rater about its own means of systems."""
    return np.stack([panel.centred(one[:, None], unbiased=False, least=2)[:, 0] for one in scores])


def _varying(panel: ResponsePanel, people: Floats) -> tuple[ResponsePanel, Floats]:
    """Without the systems in which people hardly vary: they do not tell what an item is worth."""
    squares = np.nan_to_num(mean_present(people)) ** 2
    size = np.maximum(np.bincount(panel.system, minlength=len(panel.systems)), 1)
    varies = np.bincount(panel.system, squares, len(panel.systems)) / size
    kept = (varies > _LEAST_VARIES * median(varies))[panel.system]
    return panel.only(kept), people[:, kept]


def _item_sums(panel: ResponsePanel, values: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """(N,) of the item of each row: sum and number over all systems, and over its own."""
    there = ~np.isnan(values)
    columns = np.stack([np.where(there, values, 0.0), there * 1.0], axis=1)
    n_items, n_systems = int(panel.item.max(initial=0)) + 1, len(panel.systems)
    cell = panel.item * n_systems + panel.system
    whole = summed(columns, panel.item, n_items)[panel.item]
    own = summed(columns, cell, n_items * n_systems)[cell]
    return whole[:, 0], whole[:, 1], own[:, 0], own[:, 1]


def _away(panel: ResponsePanel, values: Floats) -> Floats:
    """(N,) less the mean over the other systems' responses to the item; NaN without any."""
    total, n, own, n_own = _item_sums(panel, values)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(n > n_own, values - (total - own) / (n - n_own), np.nan))


def _of_item(panel: ResponsePanel, values: Floats) -> Floats:
    """(N,) the mean over all systems' responses to the item."""
    total, n, _, _ = _item_sums(panel, values)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(total / n)


def _partial(sums: Floats) -> tuple[Floats, Floats, Floats]:
    """Products of x and j, squares of x, squares of j, y being taken out of both."""
    xx, xy, yy, xj, yj, jj = (sums[..., k] for k in range(6))
    # Where people hold all items alike there is nothing to take out.
    below = np.maximum(yy, 1e-12)
    return xj - xy * yj / below, xx - xy * xy / below, jj - yj * yj / below


def _partial_slope(sums: Floats) -> Floats:
    products, squares, _ = _partial(sums)
    return np.asarray(products / np.maximum(squares, 1e-12))


def _partial_correlation(sums: Floats) -> Floats:
    products, squares, own = _partial(sums)
    return np.asarray(products / np.sqrt(np.maximum(squares * own, 1e-12)))


def _expected(
    panel: ResponsePanel, people: Floats, humans: Sequence[int], places: Sequence[int]
) -> tuple[list[float], list[tuple[float, float]]]:
    """Of each place: covariance of a reading judge with x, and people's own beside the mean."""
    away = np.stack([_away(panel, one) for one in people])
    both, known = ~np.isnan(people), ~np.isnan(away)
    h, x = np.where(both, people, 0.0), np.where(known, away, 0.0)
    # All pairs of two people at once: products of the sums less those of each with itself.
    products = h.sum(axis=0) * x.sum(axis=0) - (h * x).sum(axis=0)
    pairs = both.sum(axis=0) * known.sum(axis=0) - (both & known).sum(axis=0)
    rows = np.stack([products, pairs * 1.0], axis=1)
    tables = [panel.by_cluster(rows, panel.system == place, where=1) for place in places]
    if not tables:
        return [], []
    own = within.item_columns(panel.only_humans(humans))
    points = np.stack([own[panel.system == place].sum(axis=0) for place in places])
    sums = np.stack([table.total for table in tables])
    shared = [table.jackknife(means_of)[0] for table in tables]
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = sums[:, 0].sum() / sums[:, 1].sum()
        c, _, j, _ = within.moments(points.sum(axis=0) - points)
        among = [
            (float(one.at / mean), float((one.at + quantile(0.95, one.df) * one.se) / mean))
            for one in shared
        ]
        return list(j / c * max(float(mean), 0.0)), among


def _of_others(slopes: Floats) -> list[float]:
    """Of each the median of the others."""
    return [median(np.delete(slopes, place)) for place in range(len(slopes))]


def swapped(panel: ResponsePanel) -> tuple[str, str] | None:
    """Two systems whose scores of the judge follow what people say of the other's responses.

    With z_ab Fisher's z of the judge's scores of system a and people's of system b over the items
    that both answered, effects of systems and items taken out: z_ab + z_ba - z_aa - z_bb, of which
    each part has the error 1 / sqrt(n - 3). With z what it reads in the other systems, a judge that
    reads has -2 z there, and one whose scores are swapped 2 z: it is looked for what one in a
    hundred that read show in some pair, or one in five that read nothing. None where there is no
    such pair, where items are not crossed, or a system answered an item more than once.
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
    others = np.delete(own, [a, b])
    usual = float(others.mean()) if len(others) else 0.0
    limit = min(
        normal_quantile(1 - _LOOKS_SWAPPED / int(pairs.sum())),
        normal_quantile(1 - _SELDOM_SWAPPED / int(pairs.sum())) - 2 * usual / errors[a, b],
    )
    # Under each other's name both are read as the other systems are: a judge that hardly reads two
    # systems, whose scores follow what is left of the items, is another matter.
    alike = (z[a, b] + z[b, a]) / 2 >= _AS_OTHERS * usual
    if not (surely[a, b] > limit and alike):
        return None
    return str(panel.systems[a]), str(panel.systems[b])


def _by_item(panel: ResponsePanel) -> tuple[Floats, Floats] | tuple[None, None]:
    """(S, items) of the mean human and the mean run, effects of systems and items taken out."""
    cells = panel.system * (int(panel.item.max(initial=0)) + 1) + panel.item
    if panel.counted is not None or not panel.crossed or np.bincount(cells).max() > 1:
        return None, None
    made = []
    for scores in (panel.mean_human, panel.mean_run):
        table = np.full((len(panel.systems), int(panel.item.max()) + 1), np.nan)
        table[panel.system, panel.item] = within.less_effects(panel, scores[:, None])[:, 0]
        made.append(table)
    return made[0], made[1]


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

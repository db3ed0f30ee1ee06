"""Comparisons of two systems: what a judge and the humans share within pairs of systems.

A comparison is one row: two systems, what the judge says of them (in one order or in both) and what
humans say, each a signed number in favour of the system that comes first by name. Everything is
centred by pair, so that to know which system is better is no reading.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats import within
from voirdire.stats._results import Result
from voirdire.stats.response_panel import ResponsePanel, centred, mean_present
from voirdire.stats.sums import Jackknifed, means_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from voirdire.stats._arrays import Floats
    from voirdire.stats.sums import ClusterSums

    Codes = NDArray[np.intp]

#: How many times a human's error variance a judge may have: three values are coarse.
TIMES = 3.0
#: Sums of squares below this are none.
_NONE = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """What was compared, and how it was shown.

    Attributes
    ----------
    a, b : (N,) array of str
        Names of the two systems.
    width : float
        From the lowest score to the highest.
    swapped : (N,) or (K runs, N) float64, optional
        The judge asked in the other order, still in favour of `a`.
    first : (N,) float64, optional
        1 where `a` was shown first, -1 where `b` was; NaN where not recorded.
    length : (N,) float64, optional
        Length of a's response less b's.
    family : tuple of str
        Systems of the judge's own family.
    """

    a: NDArray[np.str_]
    b: NDArray[np.str_]
    width: float = 2.0
    swapped: Floats | None = None
    first: Floats | None = None
    length: Floats | None = None
    family: tuple[str, ...] = ()

    def only(self, kept: NDArray[np.bool_]) -> Compared:
        """Some of the comparisons."""
        given: dict[str, Any] = {
            name: getattr(self, name) for name in ("swapped", "first", "length")
        }
        facts: dict[str, Any] = {
            name: None if fact is None else fact[..., kept] for name, fact in given.items()
        }
        return replace(
            self, a=self.a[kept], b=self.b[kept],
            **facts,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonPanel:
    """Comparisons that the judge and at least one human made.

    Attributes
    ----------
    judge : (K runs, N) float64
        In favour of the system that comes first by name; NaN is missing.
    swapped : (K runs, N) float64
        The same asked with the two responses in the other order; NaN where it was not.
    humans : (R, N) float64
        As `judge`.
    a, b : (N,) intp
        Positions in `systems`, a < b.
    systems : (S,) array
        Names, sorted.
    pair : (N,) intp
        Which pair of systems, 0 .. P - 1.
    cluster : (N,) intp
        What is left out at a time.
    first : (N,) float64
        1 where system a was shown first to the judge, -1 where b was; NaN where not recorded.
    length : (N,) float64
        Length of a's response less that of b's, in standard deviations; NaN where not known.
    own : (N,) float64
        Whether a is of the judge's family, less whether b is.
    width : float
        Of the scale of scores: 2 for win, tie and loss, 4 for five levels.
    """

    judge: Floats
    swapped: Floats
    humans: Floats
    a: Codes
    b: Codes
    systems: NDArray[Any]
    pair: Codes
    cluster: Codes
    first: Floats
    length: Floats
    own: Floats
    width: float
    n_clusters: int

    @classmethod
    def of(
        cls, judge: Any, humans: Any, compared: Compared, clusters: Any = None
    ) -> ComparisonPanel:
        """Turn every row so that the system first by name leads; keep rows of both sides.

        Parameters
        ----------
        judge : array-like, shape (N,) or (K runs, N)
            Above 0 in favour of `compared.a`; NaN is missing.
        humans : array-like, shape (R, N)
            The same.
        compared : Compared
            What was compared, and how.
        clusters : array-like, shape (N,), optional
            What is left out at a time; by default each comparison.

        Raises
        ------
        StatisticsError
            A system beside itself, or shapes that do not match.

        Examples
        --------
        >>> compared = Compared(np.array(["y", "x"]), np.array(["x", "y"]))
        >>> panel = ComparisonPanel.of([1, -1], [[1, 1]], compared)
        >>> panel.judge.tolist(), panel.humans.tolist()
        ([[-1.0, -1.0]], [[-1.0, 1.0]])
        """
        runs, truth = (np.atleast_2d(np.asarray(part, np.float64)) for part in (judge, humans))
        left, right = (np.asarray(side).astype(str) for side in (compared.a, compared.b))
        n = len(left)
        if runs.shape[1] != n or truth.shape[1] != n or len(right) != n:
            raise StatisticsError(
                f"{n} comparisons, but {runs.shape[1]} of the judge, {truth.shape[1]} of the humans"
            )
        if (left == right).any():
            where = int(np.flatnonzero(left == right)[0])
            raise StatisticsError(f"row {where} compares system {str(left[where])!r} with itself")
        kept = ~np.isnan(runs).all(axis=0) & ~np.isnan(truth).all(axis=0)
        turn = np.where(left < right, 1.0, -1.0)
        low, high = np.where(left < right, left, right), np.where(left < right, right, left)
        systems = np.unique(np.concatenate([low[kept], high[kept]]))
        first_by_name, second = (np.searchsorted(systems, side[kept]) for side in (low, high))
        pairs = np.unique(first_by_name * len(systems) + second, return_inverse=True)[1]
        groups = np.arange(n) if clusters is None else np.asarray(clusters)
        cluster = np.unique(groups[kept], return_inverse=True)[1].astype(np.intp)

        def facts(values: Any) -> Floats:
            """What is known of each comparison, turned to its pair; NaN where nothing is."""
            if values is None:
                return np.full(int(kept.sum()), np.nan)
            given: Floats = (np.asarray(values, np.float64) * turn)[kept]
            return given

        other = (
            np.full(runs.shape, np.nan)
            if compared.swapped is None
            else np.atleast_2d(np.asarray(compared.swapped, np.float64))
        )
        own = np.isin(systems, list(compared.family)).astype(np.float64)
        return cls(
            (runs * turn)[:, kept],
            (other * turn)[:, kept],
            (truth * turn)[:, kept],
            first_by_name,
            second,
            systems,
            pairs.astype(np.intp),
            cluster,
            facts(compared.first),
            _scaled(facts(compared.length)),
            own[first_by_name] - own[second],
            float(compared.width),
            int(cluster.max(initial=-1)) + 1,
        )

    @property
    def n(self) -> int:
        """Comparisons."""
        return len(self.a)

    @property
    def n_pairs(self) -> int:
        """Pairs of systems that were compared."""
        return int(self.pair.max(initial=-1)) + 1

    @property
    def beyond_pairs(self) -> int:
        """Comparisons beyond one a pair, of which alone anything can be read."""
        return self.n - self.n_pairs

    @property
    def both(self) -> NDArray[np.bool_]:
        """(N,) whether some run was asked in both orders."""
        return np.asarray((~np.isnan(self.judge) & ~np.isnan(self.swapped)).any(axis=0))

    @property
    def mean_human(self) -> Floats:
        """(N,) mean over the humans present."""
        return mean_present(self.humans)

    @property
    def mean_order(self) -> Floats:
        """(N,) the judge, mean of both orders where there are two, and of runs."""
        orders = mean_present(np.stack([self.judge, self.swapped]))
        return mean_present(orders)

    @property
    def inflation(self) -> float:
        """By which errors grow, since a mean is taken out of each pair."""
        return math.sqrt(self.n / max(self.beyond_pairs, 1))

    def centred(self, values: Floats) -> Floats:
        """(N,) less their mean in the pair, times sqrt(n / (n - 1)); NaN where alone."""
        return centred(values[:, None], self.pair, self.n_pairs, least=2)[:, 0]

    def responses(self) -> ResponsePanel:
        """Pairs in the place of systems: what the statistics of single responses take."""
        return ResponsePanel(
            self.judge, self.humans, self.pair, np.arange(self.n), self.cluster,
            np.arange(self.n_pairs), np.arange(self.n_clusters),
        )  # fmt: skip

    def sums(self, columns: Floats, kept: NDArray[np.bool_] | None = None) -> ClusterSums:
        """Columns (N, F) by cluster; clusters without a row keep their place."""
        return self.responses().by_cluster(columns, kept)

    def jackknife(
        self,
        columns: Sequence[Floats],
        statistic: Callable[[Floats], Any],
        scale: Any = "plain",
        *,
        pairs_removed: bool = True,
    ) -> Jackknifed:
        """A smooth function of sums, its error enlarged where pairs' means were taken out."""
        table = self.sums(np.nan_to_num(np.stack(columns, axis=1)))
        found = table.jackknife(statistic, scale)
        return found.grown(self.inflation if pairs_removed else 1.0)


def _scaled(length: Floats) -> Floats:
    """Lengths in units of their root mean square."""
    known = length[~np.isnan(length)]
    size = math.sqrt(float((known**2).mean())) if len(known) else 0.0
    return length / size if size > 0 else np.full(len(length), np.nan)


# --- reading


@dataclass(frozen=True, slots=True, eq=False)
class PairReading(Result):
    """Whether a judge follows single comparisons.

    Attributes
    ----------
    correlation : Jackknifed
        On Fisher's z; 0 for a judge that does not vary.
    varies : bool
        Whether the judge varies once pairs and order are taken out.
    by_strengths : bool
        Whether strengths of systems were taken out, pairs having too few comparisons.
    beyond : int
        Comparisons beyond what was taken out.
    """

    correlation: Jackknifed
    varies: bool
    by_strengths: bool
    beyond: int

    def __str__(self) -> str:
        """The correlation."""
        return str(self.correlation)


def reading(panel: ComparisonPanel) -> PairReading:
    """Correlation of one run with the mean human, cleared of pairs and of the order shown.

    The first order is what counts: the mean of two orders is no single comparison.
    """
    return readings(panel, by_strengths=False)[0]


def sparse_reading(panel: ComparisonPanel) -> PairReading:
    """The same cleared of strengths of systems, their cube and the order: for sparse pairs.

    Of pairs with fewer than three comparisons a pair's mean is mostly the comparison itself. Taken
    out of each side, by least squares, are the systems, the cube of what its own strengths predict
    (a score is bounded, so that lopsided pairs lie off the line) and the order shown.
    """
    return readings(panel, by_strengths=True)[0]


def readings(
    panel: ComparisonPanel, groups: Sequence[NDArray[np.bool_]] = (), *, by_strengths: bool
) -> list[PairReading]:
    """The reading of all comparisons, and of each group (N,) of them, cleared of the same."""
    known = not np.isnan(panel.first).any()
    if by_strengths:
        runs = [_beside_strengths(panel, run, known=known) for run in panel.judge]
        human = _beside_strengths(panel, panel.mean_human, known=known)
        order, removed = np.zeros(panel.n), len(panel.systems) + 1 + int(known)
    else:
        human, runs = panel.centred(panel.mean_human), [panel.centred(run) for run in panel.judge]
        order = panel.centred(panel.first) if known else np.zeros(panel.n)
        removed = panel.n_pairs
    columns = _reading_columns(runs, human, order)
    # Where strengths are taken out, the order was taken out with them.
    shown = known and not by_strengths
    return [
        _correlated(panel, columns, kept, known=shown, removed=removed, by_strengths=by_strengths)
        for kept in (None, *groups)
    ]


def _beside_strengths(panel: ComparisonPanel, values: Floats, *, known: bool) -> Floats:
    there = ~np.isnan(values)
    design = design_of(panel)
    strengths = np.linalg.lstsq(design[there], values[there], rcond=None)[0]
    predicted = design @ strengths
    sides = [design, (predicted**3)[:, None]]
    if known:
        sides.append(panel.first[:, None])
    full = np.concatenate(sides, axis=1)
    fitted = full @ np.linalg.lstsq(full[there], values[there], rcond=None)[0]
    return np.where(there, values - fitted, np.nan)


def _reading_columns(runs: Sequence[Floats], human: Floats, order: Floats) -> Floats:
    """(N, 7): products, squares of judge and human, each with the order, its square, and ones."""
    n = np.sum([~np.isnan(run) for run in runs], axis=0)
    there = (n > 0) & ~np.isnan(human)
    one = np.nansum(runs, axis=0) / np.maximum(n, 1)
    square = np.nansum([run**2 for run in runs], axis=0) / np.maximum(n, 1)
    columns = np.stack(
        [one * human, square, human**2, one * order, human * order, order**2, np.ones(len(n))], 1
    )
    return np.where(there[:, None], np.nan_to_num(columns), 0.0)


def _correlated(
    panel: ComparisonPanel,
    columns: Floats,
    kept: NDArray[np.bool_] | None,
    *,
    known: bool,
    removed: int,
    by_strengths: bool,
) -> PairReading:
    if kept is not None:
        columns = np.where(kept[:, None], columns, 0.0)
    table = panel.sums(columns)
    if kept is not None:
        table = table.where(6)

    def partial(sums: Floats) -> Floats:
        """The correlation of judge and people, with the order shown taken out of both."""
        yh, yy, hh, yf, hf, ff = (sums[..., place] for place in range(6))
        shown = np.maximum(ff, 1e-9) if known else np.inf
        return np.asarray(
            (yh - yf * hf / shown)
            / np.sqrt(np.maximum((yy - yf**2 / shown) * (hh - hf**2 / shown), 1e-12))
        )

    total = table.total
    rest = total[1] - (total[3] ** 2 / max(float(total[5]), 1e-9) if known else 0.0)
    found = table.jackknife(partial, "fisher")
    grown = math.sqrt(panel.n / max(panel.n - removed, 1))
    varies = bool(rest > _NONE)
    at = found.at if varies else 0.0
    return PairReading(
        replace(found.grown(grown), at=at),
        varies,
        by_strengths,
        max(panel.n - removed, 0),
    )


def design_of(panel: ComparisonPanel) -> Floats:
    """(N, S) 1 at system a, -1 at system b."""
    design = np.zeros((panel.n, len(panel.systems)))
    rows = np.arange(panel.n)
    design[rows, panel.a], design[rows, panel.b] = 1.0, -1.0
    return design


# --- single comparisons


@dataclass(frozen=True, slots=True, eq=False)
class SharedWithin(Result):
    """What judge and humans share on single comparisons, within pairs.

    Attributes
    ----------
    beyond : Jackknifed
        `j / sqrt(u c) - sqrt(c / (c + times (v - c)))`.
    reliability : Jackknifed
        Of one human, c / v, on Fisher's z.
    shared : Jackknifed
        The covariance c of two humans.
    worth : float
        Humans that one run is worth.
    pairs : int
        Comparisons that two humans made, each pair of humans counting.
    """

    beyond: Jackknifed
    reliability: Jackknifed
    shared: Jackknifed
    worth: float
    pairs: int

    def __str__(self) -> str:
        """Worth and reliability."""
        return f"worth {self.worth:.2f} humans, who agree {self.reliability}"


def shared_within(panel: ComparisonPanel, times: float) -> SharedWithin:
    """The moments of `voirdire.stats.within`, pairs in the place of systems."""
    # Clusters where nobody meets stay: as many as were drawn are what a share of them is out of.
    table = panel.sums(within.item_columns(panel.responses(), least=2))

    # Errors are widened by what the means of pairs cost.
    more = panel.inflation
    return SharedWithin(
        table.jackknife(lambda sums: within.beyond(sums, times)).grown(more),
        table.jackknife(within.reliability, "fisher").grown(more),
        table.jackknife(lambda sums: within.moments(sums)[0]).grown(more),
        within.worth_of(table.total),
        round(float(table.total[0])),
    )


def position(panel: ComparisonPanel) -> Jackknifed | None:
    """Points of the score that the response shown first gains; None where the order is not known.

    Of comparisons in both orders the mean of (y1 - y2) / 2 towards the first; in one order the
    slope on the order within pairs, adjusted for what humans prefer.
    """
    known = ~np.isnan(panel.first)
    if panel.both.any() and known[panel.both].all():
        gain = mean_present((panel.judge - panel.swapped) / 2 * panel.first)
        there = ~np.isnan(gain)
        columns = [np.where(there, gain, 0.0), there * 1.0]
        return panel.jackknife(columns, lambda sums: means_of(sums)[..., 0], pairs_removed=False)
    if not known.all():
        return None
    judge = mean_present(np.stack([panel.centred(run) for run in panel.judge]))
    human, order = panel.centred(panel.mean_human), panel.centred(panel.first)
    columns = [judge * order, judge * human, human * order, human**2, order**2]

    def slope(sums: Floats) -> Floats:
        """On what one human says, what the others say taken out."""
        jo, jh, ho, hh, oo = (sums[..., place] for place in range(5))
        with np.errstate(invalid="ignore", divide="ignore"):
            adjust = np.where(hh > 0, 1 / hh, 0.0)
            return np.asarray((jo - jh * ho * adjust) / (oo - ho**2 * adjust))

    return panel.jackknife(columns, slope)


def length_effect(panel: ComparisonPanel) -> Jackknifed | None:
    """Points of judge less humans for one standard deviation of length; None without lengths."""
    if np.isnan(panel.length).all():
        return None
    off = panel.centred(panel.mean_order) - panel.centred(panel.mean_human)
    length = panel.centred(panel.length)
    there = ~np.isnan(off) & ~np.isnan(length)
    columns = [np.where(there, off * length, 0.0), np.where(there, length**2, 0.0)]
    return panel.jackknife(columns, lambda sums: means_of(sums)[..., 0])


@dataclass(frozen=True, slots=True, eq=False)
class Picks(Result):
    """Decided human choices that the judge makes too, beside a held-out human.

    Attributes
    ----------
    difference : Jackknifed
        The judge's share less the human's.
    judge, human : float
        The two shares; a tie counts one half.
    count : int
        Decided choices, each beside a held-out human.
    """

    difference: Jackknifed
    judge: float
    human: float
    count: int

    def __str__(self) -> str:
        """Both shares."""
        return f"judge {self.judge:.3f}, held-out human {self.human:.3f}"


def picks(panel: ComparisonPanel) -> Picks | None:
    """How often the judge picks what a human picks, less how often another human does.

    Of every choice of a human that is no tie, beside each other human of the same comparison; in
    the first order alone. None with one human a comparison.
    """
    own, judge, count = np.zeros(panel.n), np.zeros(panel.n), np.zeros(panel.n)
    for q, choice in enumerate(panel.humans):
        decided = ~np.isnan(choice) & (choice != 0)
        agrees = mean_present(_agreeing(panel.judge, choice))
        for r, other in enumerate(panel.humans):
            there = decided & ~np.isnan(other) & ~np.isnan(agrees)
            if r == q:
                continue
            judge += np.where(there, agrees, 0.0)
            own += np.where(there, _agreeing(other, choice), 0.0)
            count += there
    if not count.any():
        return None
    difference = panel.jackknife(
        [judge - own, count], lambda sums: means_of(sums)[..., 0], pairs_removed=False
    )
    total = float(count.sum())
    return Picks(difference, judge.sum() / total, own.sum() / total, round(total))


def vote_agreement(panel: ComparisonPanel) -> Jackknifed | None:
    """The share of decided votes that the judge gives too, a tie one half: with one human each."""
    agrees, decided = np.zeros(panel.n), np.zeros(panel.n)
    for choice in panel.humans:
        there = ~np.isnan(choice) & (choice != 0)
        same = mean_present(_agreeing(panel.judge, choice))
        there &= ~np.isnan(same)
        agrees += np.where(there, same, 0.0)
        decided += there
    if not decided.any():
        return None
    return panel.jackknife(
        [agrees, decided], lambda sums: means_of(sums)[..., 0], pairs_removed=False
    )


def _agreeing(scores: Floats, choice: Floats) -> Floats:
    """1 for the same winner, 0 for the other, one half for a tie; NaN where missing."""
    product = scores * choice
    return np.where(np.isnan(product), np.nan, (np.sign(product) + 1) / 2)


def flips(panel: ComparisonPanel) -> tuple[float, float] | None:
    """P(opposite winners in the two orders), and P(two humans choose opposite winners).

    The second is NaN with one human a comparison; None where nothing was asked in both orders.
    """
    product = panel.judge * panel.swapped
    asked = ~np.isnan(product)
    if not asked.any():
        return None
    opposite, met = 0.0, 0
    for r, choice in enumerate(panel.humans):
        for other in panel.humans[r + 1 :]:
            both = ~np.isnan(choice) & ~np.isnan(other)
            opposite += float((choice * other < 0)[both].sum())
            met += int(both.sum())
    return float((product < 0)[asked].mean()), opposite / met if met else math.nan


def ties(panel: ComparisonPanel) -> Jackknifed:
    """P(the judge ties) less P(a human ties)."""

    def tied(scores: Floats) -> Floats:
        """Share of ties of each comparison."""
        return mean_present(np.where(np.isnan(scores), np.nan, scores == 0))

    off = tied(panel.judge) - tied(panel.humans)
    return panel.jackknife(
        [off, np.ones(panel.n)], lambda sums: means_of(sums)[..., 0], pairs_removed=False
    )


def pair_bias(panel: ComparisonPanel, least: int = 10) -> tuple[Codes, Jackknifed] | None:
    """Mean of judge less humans in each pair of `least` comparisons or more."""
    size = np.bincount(panel.pair, minlength=panel.n_pairs)
    places = np.flatnonzero(size >= least)
    if not len(places):
        return None
    off = panel.mean_order - panel.mean_human
    here = panel.pair[:, None] == places
    columns = np.concatenate([off[:, None] * here, here * 1.0], axis=1)
    found = panel.sums(columns).jackknife(_halves)
    return places, found


def _halves(sums: Floats) -> Floats:
    count = sums.shape[-1] // 2
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(sums[..., :count] / sums[..., count:])


def favour_by_system(panel: ComparisonPanel) -> Jackknifed:
    """(S,) mean of judge less humans towards each system, over its comparisons."""
    off = (panel.mean_order - panel.mean_human)[:, None]
    design = design_of(panel)
    columns = np.concatenate([off * design, design**2], axis=1)
    return panel.sums(columns).jackknife(_halves)


def favour_of_family(panel: ComparisonPanel, least: int = 20) -> Jackknifed | None:
    """The same towards the judge's own family against others; None below `least` such rows."""
    if int((panel.own != 0).sum()) < least:
        return None
    off = panel.mean_order - panel.mean_human
    return panel.jackknife(
        [off * panel.own, panel.own**2], lambda sums: means_of(sums)[..., 0], pairs_removed=False
    )

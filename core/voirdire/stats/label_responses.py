"""Labels and label sets, response by response: what a judge does with each label, beside humans.

Everything here takes a `ResponsePanel` whose codes are rows of a table (`ResponsePanel.table`): one
column a label. Each statistic is a smooth function of sums over clusters, for all labels at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from voirdire.stats._results import Result
from voirdire.stats.response_panel import mean_present
from voirdire.stats.sums import ClusterSums, Jackknifed, means_of, quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from voirdire.stats._arrays import Floats
    from voirdire.stats.response_panel import ResponsePanel

#: Shared responses from which a human's own share of a label counts.
_OWN = 10


@dataclass(frozen=True, slots=True, eq=False)
class LabelShares(Result):
    """Shares of labels: the judge's less the humans', and how far humans differ in them.

    Attributes
    ----------
    humans : (D,) float64
        Mean over responses of the share of the humans who give the label.
    difference : Jackknifed
        (D,) the judge's share less the humans', on the responses of both.
    between : (D,) float64
        Standard deviation of a human's share beside the others on the same responses, the noise of
        responses removed; 0 with one human.
    given : (D,) int64
        Responses on which some human gives the label.
    judge : (D,) float64
        How often the judge gives it, over runs on average.
    """

    humans: Floats
    difference: Jackknifed
    between: Floats
    given: NDArray[np.int64]
    judge: Floats

    def __str__(self) -> str:
        """The humans' shares and the judge's difference."""
        return f"humans {np.round(self.humans, 3).tolist()}, judge less humans {self.difference}"


def shares(panel: ResponsePanel, humans: Sequence[int]) -> LabelShares:
    """Shares of each label, on the responses that both sides labelled.

    Parameters
    ----------
    panel : ResponsePanel
        Codes with a table of D labels.
    humans : sequence of int
        Those who count.

    Notes
    -----
    `between`² is ((R-1)/R)² (var(d) - mean(noise) R/(R-1)), d being each human's mean difference
    from the mean of the others and noise the variance of that mean (VERDICT_KINDS.md, 6.5).
    """
    truth, off = _differences(panel, humans)
    kept = ~np.isnan(off[:, 0])
    counted = np.concatenate([off, np.ones((len(off), 1))], axis=1)
    table = panel.by_cluster(counted, kept, where=off.shape[1])
    human = np.where(kept[:, None], truth, 0.0)
    weight = np.ones(len(human)) if panel.weight is None else panel.weight
    size = max(float(weight[kept].sum()), 1.0)
    judge = np.where(np.isnan(truth + off), 0.0, truth + off)
    return LabelShares(
        (weight[:, None] * human).sum(axis=0) / size,
        table.jackknife(means_of),
        _between(panel, humans),
        np.rint((weight[:, None] * (human > 0)).sum(axis=0)).astype(np.int64),
        (weight[:, None] * judge).sum(axis=0),
    )


def share_contrast(
    panel: ResponsePanel, humans: Sequence[int], members: NDArray[np.bool_]
) -> Jackknifed:
    """(D,) the difference of shares among the members less that among the others."""
    _, off = _differences(panel, humans)
    kept = ~np.isnan(off[:, 0])
    inside, outside = (members & kept)[:, None] * 1.0, (~members & kept)[:, None] * 1.0
    off = np.where(kept[:, None], off, 0.0)
    labels = off.shape[1]
    table = panel.by_cluster(
        np.concatenate([off * inside, inside, off * outside, outside], axis=1), kept
    )

    def contrast(sums: Floats) -> Floats:
        """The share on one side less that on the other."""
        with np.errstate(invalid="ignore", divide="ignore"):
            here = sums[..., :labels] / sums[..., [labels]]
            there = sums[..., labels + 1 : -1] / sums[..., [-1]]
        return np.asarray(here - there)

    return table.jackknife(contrast)


def _differences(panel: ResponsePanel, humans: Sequence[int]) -> tuple[Floats, Floats]:
    """(N, D) the humans' mean vector, and the judge's (mean over runs) less it; NaN is missing."""
    truth = mean_present(panel.vectors(panel.humans[list(humans)]))
    return truth, mean_present(panel.vectors(panel.judge)) - truth


def _between(panel: ResponsePanel, humans: Sequence[int]) -> Floats:
    labels = panel.vectors(panel.humans[:1]).shape[-1]
    means, noise = [], []
    for human in humans:
        rest = [other for other in humans if other != human]
        if not rest:
            return np.zeros(labels)
        vectors = panel.vectors(panel.humans[human])
        off = vectors - mean_present(panel.vectors(panel.humans[rest]))
        kept = ~np.isnan(off[:, 0])
        weight = np.ones(int(kept.sum())) if panel.weight is None else panel.weight[kept]
        size = float(weight.sum())
        if size < _OWN:
            continue
        mean = weight @ off[kept] / size
        means.append(mean)
        noise.append(weight @ (off[kept] - mean) ** 2 / (size - 1) / size)
    if len(means) < 2:
        return np.zeros(labels)
    count = len(humans)
    spread = np.var(means, axis=0, ddof=1) - np.mean(noise, axis=0) * count / (count - 1)
    return np.asarray((count - 1) / count * np.sqrt(np.maximum(spread, 0.0)))


# --- recall and precision beside a held-out human


@dataclass(frozen=True, slots=True, eq=False)
class LabelRates(Result):
    """Recall and precision of one label, judge and held-out human against the same others.

    Attributes
    ----------
    own : (R, 5) float64
        By human: the judge's agreements with the share of the others who give the label, how often
        the judge gives it, the human's own agreements, how often that human gives it, and the
        others' shares.
    table : ClusterSums
        The same five summed over humans.
    """

    own: Floats
    table: ClusterSums

    @classmethod
    def of(cls, bits: ResponsePanel, humans: Sequence[int]) -> LabelRates:
        """From a panel of 0 and 1 (`ResponsePanel.label`) and the humans that count."""
        judge, parts = mean_present(bits.judge), []
        for human in humans:
            rest = bits.humans[[other for other in humans if other != human]]
            share = mean_present(rest) if len(rest) else np.full(bits.judge.shape[1], np.nan)
            own = bits.humans[human]
            kept = ~np.isnan(share) & ~np.isnan(own) & ~np.isnan(judge)
            columns = np.stack([judge * share, judge, own * share, own, share], axis=1)
            parts.append(np.where(kept[:, None], columns, 0.0))
        by_human = np.stack(parts)
        sums = np.stack([bits.by_cluster(one).total for one in by_human])
        # All clusters stay: one without this label is no less a draw of what is labelled.
        return cls(sums, bits.by_cluster(by_human.sum(axis=0)))

    @property
    def given(self) -> float:
        """Human verdicts with the label, each beside a held-out human."""
        return float(self.table.total[4])

    @property
    def said(self) -> float:
        """How often the judge gives the label beside a held-out human, each human counting."""
        return float(self.table.total[1])

    @property
    def recalls(self) -> tuple[float, float]:
        """P(label | another human gives it), of the judge and of a held-out human."""
        total = self.table.total
        return _over(total[0], total[4]), _over(total[2], total[4])

    @property
    def precisions(self) -> tuple[float, float]:
        """P(another human gives it | label), of the judge and of a held-out human."""
        total = self.table.total
        return _over(total[0], total[1]), _over(total[2], total[3])

    def recall(self) -> tuple[Jackknifed, float]:
        """Judge's recall less the human's, and how far the humans' own recalls spread."""
        return self.table.jackknife(_recall), self._between(4)

    def precision(self) -> tuple[Jackknifed, float]:
        """Judge's precision less the human's, and how far the humans' own spread."""
        return self.table.jackknife(_precision), self._between(3)

    def _between(self, size: int) -> float:
        """Standard deviation of the humans' rates, the binomial noise of each taken out."""
        kept = self.own[:, size] >= _OWN
        rates = self.own[kept, 2] / self.own[kept, size]
        if len(rates) < 2:
            return 0.0
        noise = float(np.mean(rates * (1 - rates) / self.own[kept, size]))
        return math.sqrt(max(float(rates.var(ddof=1)) - noise, 0.0))

    def __str__(self) -> str:
        """Both rates of both."""
        return f"recall {self.recalls}, precision {self.precisions} (judge, held-out human)"


def _recall(sums: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        difference: Floats = (sums[..., 0] - sums[..., 2]) / sums[..., 4]
    return difference


def _precision(sums: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        difference: Floats = sums[..., 0] / sums[..., 1] - sums[..., 2] / sums[..., 3]
    return difference


def _over(part: float, whole: float) -> float:
    return float(part / whole) if whole > 0 else math.nan


def precision_against(bits: ResponsePanel, human: int) -> tuple[Jackknifed, int]:
    """P(this human gives the label, given that the judge does), and the responses behind it."""
    judge = mean_present(bits.judge)
    own = bits.humans[human]
    kept = ~np.isnan(own) & (judge > 0)
    columns = np.stack([np.where(kept, judge * own, 0.0), np.where(kept, judge, 0.0)], axis=1)
    table = bits.by_cluster(columns, where=1)
    if not len(table):
        return Jackknifed(math.nan, math.nan, 0), 0
    return table.jackknife(lambda sums: sums[..., 0] / sums[..., 1]), bits.size(kept)


# --- where humans differ


@dataclass(frozen=True, slots=True, eq=False)
class WhereHumansDiffer(Result):
    """How often the judge takes one of two labels on which two humans differ, beside a third human.

    Attributes
    ----------
    judge, human : float
        Shares of taking one of the two; `chance` what the labels' shares alone would give.
    kept : float
        The judge's lead over chance as a share of the human's.
    excess : float
        Sum over responses of the judge's lead less `floor` of the human's.
    error, df : float
        Its standard error (sqrt(G) times the standard deviation of the clusters' sums) and G - 1.
    count : int
        Triples behind it: a third human, and two who differ.
    """

    judge: float
    human: float
    chance: float
    kept: float
    excess: float
    error: float
    df: int
    count: int

    def bounds(self, yes: float, no: float) -> tuple[float, float]:
        """Lower and upper one-sided bounds of `excess` at these levels."""
        return (
            self.excess - quantile(yes, self.df) * self.error,
            self.excess + quantile(no, self.df) * self.error,
        )

    def __str__(self) -> str:
        """Judge, human and chance."""
        return f"judge {self.judge:.3f}, third human {self.human:.3f}, chance {self.chance:.3f}"


def where_humans_differ(
    panel: ResponsePanel, humans: Sequence[int], floor: float
) -> WhereHumansDiffer | None:
    """Whether a judge still reads where two humans differ: it takes one of the two labels.

    Over each human r and each two others s and t who give different labels: a = judge takes one of
    the two, b = r does, c = sum of the two labels' shares; the sums of a - c and `floor` times
    b - c are held against one another. A missing label of the judge is neither. None below three
    humans, or where no two differ beside a third.

    Source: the project's own (VERDICT_KINDS.md, section 5).
    """
    if len(humans) < 3:
        return None
    codes = panel.humans[list(humans)]
    truth = mean_present(panel.vectors(codes))
    weight = np.ones(len(truth)) if panel.weight is None else panel.weight
    rated = ~np.isnan(truth[:, 0])
    prior = weight[rated] @ truth[rated] / weight[rated].sum()
    judge, human, chance = (np.zeros(codes.shape[1]) for _ in range(3))
    count = np.zeros(codes.shape[1])
    asked = np.maximum((~np.isnan(panel.judge)).sum(axis=0), 1)
    own_share = panel.vectors(codes) @ prior  # (R, N) the share of each human's label
    for r in range(len(codes)):
        for s, t in combinations([other for other in range(len(codes)) if other != r], 2):
            there = ~np.isnan(codes[r]) & ~np.isnan(codes[s]) & ~np.isnan(codes[t])
            differ = there & (codes[s] != codes[t])
            took = ((panel.judge == codes[s]) | (panel.judge == codes[t])).sum(axis=0) / asked
            judge += np.where(differ, took, 0.0)
            human += differ & ((codes[r] == codes[s]) | (codes[r] == codes[t]))
            chance += np.where(differ, own_share[s] + own_share[t], 0.0)
            count += differ
    lead, own = judge - chance, human - chance
    table = panel.by_cluster(
        np.stack([lead - floor * own, judge, human, chance, count, lead, own], 1)
    )
    total, groups = table.total, len(table)
    if not total[4] > 0 or groups < 2:
        return None
    mean = total[0] / groups
    spread = table.weight if table.weight is not None else np.ones(len(table.table))
    deviation = math.sqrt(float(spread @ (table.table[:, 0] - mean) ** 2) / (groups - 1))
    return WhereHumansDiffer(
        float(total[1] / total[4]),
        float(total[2] / total[4]),
        float(total[3] / total[4]),
        float(total[5] / total[6]) if total[6] else math.nan,
        float(total[0]),
        math.sqrt(groups) * deviation,
        groups - 1,
        round(float(total[4])),
    )


# --- silence and empty sets


def empty_sets(panel: ResponsePanel, humans: Sequence[int]) -> Jackknifed:
    """Share of the judge's empty sets less the humans', on the responses of both."""

    def empty(scores: Floats) -> Floats:
        """Share of empty sets of each response."""
        vectors = panel.vectors(scores)
        return mean_present(np.where(np.isnan(vectors[..., 0]), np.nan, vectors.sum(-1) == 0))

    off = (empty(panel.judge) - empty(panel.humans[list(humans)]))[:, None]
    kept = ~np.isnan(off[:, 0])
    columns = np.concatenate([np.where(kept[:, None], off, 0.0), kept[:, None] * 1.0], axis=1)
    return panel.by_cluster(columns, kept, where=1).jackknife(means_of)[0]


def silence(vectors: Floats, silent: NDArray[np.bool_], clusters: NDArray[np.intp]) -> Jackknifed:
    """Agreement of two humans where the judge is silent less that elsewhere.

    Parameters
    ----------
    vectors : (R, N, D) float64
        What humans say of all asked responses, judged or not; NaN is missing.
    silent : (N,) bool
        Where the judge was asked and gave nothing.
    clusters : (N,) int
        What is left out at a time.

    Returns
    -------
    Jackknifed
        Below 0 where the judge keeps silent on what humans find hard.
    """
    pairs, same = np.zeros(vectors.shape[1]), np.zeros(vectors.shape[1])
    for a, b in combinations(range(len(vectors)), 2):
        there = ~np.isnan(vectors[a, :, 0]) & ~np.isnan(vectors[b, :, 0])
        pairs += there
        same += there & (vectors[a] == vectors[b]).all(axis=1)
    columns = np.stack([same * silent, pairs * silent, same * ~silent, pairs * ~silent], axis=1)

    def contrast(sums: Floats) -> Floats:
        """The share on one side less that on the other."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(sums[..., 0] / sums[..., 1] - sums[..., 2] / sums[..., 3])

    return ClusterSums.of(columns[pairs > 0], clusters[pairs > 0]).jackknife(contrast)

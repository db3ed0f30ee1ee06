"""What the components of one judge's scores on one attribute rest on: sums, found when asked for.

Each component is a smooth function of sums over clusters with a jackknife error (`stats`), and many
are functions of the same sums; these are here, once.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from voirdire.examining.spec.component import Ground
from voirdire.examining.spec.kind import is_for
from voirdire.examining.spec.margins import FEWEST_SHARED, SURE_YES
from voirdire.examining.spec.scores import everywhere, responses, seen
from voirdire.examining.spec.scores.careless import (
    FEWEST_LEFT,
    Careless,
    agreement,
    careless_humans,
)
from voirdire.examining.spec.scores.case import FOLDS, calibrated
from voirdire.examining.spec.scores.copies import repeating_humans
from voirdire.examining.spec.scores.systems import human_spread, sums_off
from voirdire.stats import severity, within
from voirdire.stats import system_means as means
from voirdire.stats._arrays import coded, occurring
from voirdire.stats.calibration import in_order, lines_of_folds
from voirdire.stats.sums import ClusterSums, quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from voirdire.examining.spec.component import Component
    from voirdire.examining.spec.scores.case import Case, GateRule
    from voirdire.examining.spec.scores.copies import Copied
    from voirdire.stats.bias_by_system import HumanSpread
    from voirdire.stats.response_panel import ResponsePanel
    from voirdire.stats.sums import Jackknifed
    from voirdire.stats.system_means import MeanMoments, Means

    Floats = NDArray[np.float64]


class ScoreGround(Ground):
    """Scores of one judge and of humans on one attribute, and the sums that components share.

    Attributes
    ----------
    case : Case
        The scores.
    margins : Margins
        What the study asks for.
    """

    case: Case
    #: Systems from which a correlation of their means is computed at all: fewer are pairs.
    fewest_correlated = 5

    # --- what verdicts and advice know of it

    @property
    def of_numbers(self) -> bool:
        """Whether judgements are scores, or of a kind that is like them."""
        return is_for(("score",), self.kind)

    @property
    def clustered(self) -> bool:
        """Whether clusters are declared."""
        return self.case.clusters is not None

    @property
    def units(self) -> tuple[int, str]:
        """How many items (or declared clusters) there are, and what they are called."""
        return self.panel.n_clusters, "clusters" if self.clustered else "items"

    @property
    def systems(self) -> int:
        """How many systems there are; 1 for none."""
        return len(self.panel.systems)

    @property
    def unequal(self) -> bool:
        """Whether responses were given to people with different probabilities."""
        return self.case.chances is not None

    @property
    def few_systems(self) -> bool:
        """Whether there are two to four systems, which are compared pair by pair."""
        return 1 < self.systems < self.fewest_correlated

    @property
    def gate(self) -> GateRule | None:
        """Where pass begins."""
        return self.case.gate

    @property
    def named_systems(self) -> tuple[str, ...]:
        """Those with responses of both; none where none is declared."""
        return () if self.case.systems is None else tuple(self.system_names)

    @property
    def held_against(self) -> tuple[str, ...]:
        """The humans who were not left out."""
        return tuple(self.case.reference[k] for k in self.humans)

    @property
    def labels_alone(self) -> bool:
        """Whether the gate is held against one column of labels, with no second human beside."""
        gated = self.gate is not None and not self.case.nominal and not self.few
        return gated and len(self.gated_humans) < 2

    @property
    def labels_decide(self) -> bool:
        """Whether these labels are held against minima."""
        return self.labels_alone and self.gate is not None and self.gate.has_minima

    @property
    def humans_below(self) -> float:
        """With one human: the reliability of one below which ITEM could still pass; else NaN."""
        if self.few or len(self.humans) != 1:
            return math.nan
        reading = self.one("READ")
        return math.nan if reading is None else responses.pass_if_below(reading.estimate)

    def calibrated(self) -> CalibratedGround | None:
        """The same judge after calibration on these ratings.

        None where there are no means of systems, and where rows stand for many responses: these
        lie in several folds.
        """
        # Patterns of a stream stand for responses in several folds at once, so that no line is
        # theirs.
        if self.few or self.means is None or self.case.counted is not None:
            return None
        return CalibratedGround(self, self.means)

    # --- the sums

    @cached_property
    def _everybody(self) -> ResponsePanel:
        return self.case.panel()

    def by_system(self) -> Component | None:
        """READ_s: reading among the responses of each system."""
        return everywhere.reads_each_system("READ_s", self.panel, self.humans, self.margins)

    @property
    def few(self) -> bool:
        """Whether there are too few clusters for anything to be tested."""
        return self._everybody.n_clusters < self.margins.clusters

    @cached_property
    def repeating(self) -> tuple[Copied, ...]:
        """Humans who give another's scores."""
        return repeating_humans(self.case)

    @property
    def copies(self) -> tuple[str, ...]:
        """Those of them who are known to repeat another, and left out: copies are no humans."""
        return tuple(one.by for one in self.repeating if one.left_out)

    @cached_property
    def careless(self) -> tuple[Careless, ...]:
        """Humans who were left out since they do not follow the others."""
        return (
            ()
            if self.few
            else careless_humans(self.case, *self._without(self.copies), self.margins)
        )

    @cached_property
    def _careful(self) -> tuple[ResponsePanel, tuple[int, ...]]:
        """The panel without copies and careless humans, and the places of the others."""
        return self._without((*self.copies, *(one.human for one in self.careless)))

    def _without(self, names: Sequence[str]) -> tuple[ResponsePanel, tuple[int, ...]]:
        """The panel without these humans, and the places of the others."""
        out = [self.case.reference.index(name) for name in names]
        humans = tuple(k for k in range(len(self._everybody.humans)) if k not in out)
        return self._everybody.without_humans(out) if out else self._everybody, humans

    @cached_property
    def leaks(self) -> tuple[tuple[str, Jackknifed], ...]:
        """The slope of the judge on what each human alone says, where there are three."""
        return seen.slopes(*self._careful, self.case.reference)

    @cached_property
    def _they_agree(self) -> bool:
        """Whether humans are shown to agree: else what one alone says is all that each says."""
        if self.few or not self.of_numbers:
            return False
        panel, humans = self._careful
        return len(humans) > 1 and agreement(panel, self.margins) == "yes"

    @cached_property
    def too_close(self) -> Component | None:
        """LEAK where the judge follows people more closely than the response alone allows."""
        return seen.closer_than_possible(*self._careful) if self._they_agree else None

    @cached_property
    def followed(self) -> tuple[str, ...]:
        """Humans whom the judge follows beyond what people share, and who are left out for it.

        Nobody where fewer than two would be left, or where it has seen everybody's answers.
        """
        if not self._they_agree or self.too_close is not None:
            return ()
        found = seen.followed(self.leaks)
        return found if len(self.leaks) - len(found) >= FEWEST_LEFT else ()

    def leak(self) -> Component:
        """LEAK: *no* where it has seen the answers, or too few are left whom it does not follow."""
        if self.too_close is not None:
            return self.too_close
        if not self._they_agree:
            return seen.one_followed(())
        part = seen.one_followed(self.leaks)
        if part.reason != "seen":
            return part
        # Those who are followed have left the reference, if two others are left.
        return (
            replace(part, state="yes", reason="follows one")
            if self.followed
            else (replace(part, state="no"))
        )

    @cached_property
    def humans(self) -> tuple[int, ...]:
        """Places in the reference of those who were not."""
        # By place in the reference: the panel keeps that order, whoever is left out of it.
        out = {self.case.reference.index(name) for name in self.followed}
        return tuple(k for k in self._careful[1] if k not in out)

    @cached_property
    def panel(self) -> ResponsePanel:
        """What both scored, without careless humans."""
        left_out = sorted(set(range(len(self._everybody.humans))) - set(self.humans))
        return self._everybody.without_humans(left_out) if left_out else self._everybody

    @cached_property
    def levelled(self) -> ResponsePanel:
        """What levels are held against: people's scores freed of severity where they divide work.

        One who got the better systems to rate, or is milder, would else raise their means.
        """
        if not self.of_numbers:
            return self.panel
        return severity.freed(self.panel, self.humans)

    @cached_property
    def _moved(self) -> Floats | None:
        """(N, S) what each response does to people's means through their severities."""
        return None if self.levelled is self.panel else severity.moved(self.panel, self.humans)

    @cached_property
    def unconnected(self) -> tuple[str, ...]:
        """Humans who share no response with the others: nobody knows how severe they are.

        Empty where they gave less than a tenth of the scores, which are then left out of levels.
        """
        if not self.of_numbers or len(self.humans) < 2:
            return ()
        alone = severity.apart(self.panel, self.humans)
        few = severity.few_scores(self.panel, alone)
        return () if few else tuple(self.case.reference[k] for k in alone)

    @property
    def as_scores(self) -> tuple[Case, ResponsePanel]:
        """What labels are worth beside."""
        return self.case, self.panel

    @property
    def read_scores(self) -> tuple[Case, ResponsePanel]:
        """What READ looks at."""
        return self.case, self.panel

    @cached_property
    def columns(self) -> Floats:
        """(N, 8) what the judge and the humans share, a row a response."""
        return within.item_columns(self.panel.only_humans(self.humans))

    @cached_property
    def shared(self) -> ClusterSums:
        """Their sums by cluster."""
        # Column 6 counts the responses with both judge and human: other clusters tell nothing of
        # the judge, and would count as degrees of freedom.
        return self.panel.by_cluster(self.columns, where=6)

    @cached_property
    def times(self) -> float:
        """The error variance allowed beside one human's."""
        # A score of two values is rounded coarsely, which is error too: judges are allowed as much
        # of it as on pass and fail.
        seen = occurring(self.panel.humans)
        one_bit = len(seen) == 2 and self.panel.categories is None
        return self.margins.times_gate if one_bit else self.margins.times

    @cached_property
    def spread(self) -> HumanSpread:
        """By how much humans differ in their view of systems."""
        return human_spread(self.panel, self.humans, nominal=self.case.nominal)

    @cached_property
    def off(self) -> ClusterSums:
        """How far the judge is off, and of how many responses, by cluster."""
        panel = self.levelled
        off = panel.mean_run - panel.mean_human
        off = off if self._moved is None else off - self._moved.sum(axis=1)
        return sums_off(panel, off[:, None])

    @cached_property
    def means(self) -> Means | None:
        """Means of systems; None with one system, and of labels without an order."""
        # Computed once: every component of systems, and the calibration, are functions of these.
        if self.case.nominal or self.systems < 2:
            return None
        return means.Means.of(self.levelled, self._moved)

    @cached_property
    def moments(self) -> MeanMoments:
        """Variances and covariance of the means of systems."""
        if self.means is None:
            raise ValueError("there are no means of systems")
        return self.means.moments()

    @cached_property
    def humans_apart(self) -> bool:
        """Whether the humans are shown to tell the systems apart."""
        variance = self.moments.jackknife(lambda each: each[..., 0])
        return bool(variance.at - quantile(SURE_YES, variance.df) * variance.se > 0)

    @property
    def own_family(self) -> NDArray[np.bool_]:
        """(S,) which systems are of the judge's own family."""
        return np.array([self.case.family.get(name, False) for name in self.system_names])

    @property
    def has_family(self) -> bool:
        """Whether some systems are of it and some are not."""
        own = self.own_family
        return bool(own.any() and not own.all())

    @cached_property
    def system_names(self) -> list[str]:
        """Systems with paired responses."""
        return [str(name) for name in self.panel.systems]

    @cached_property
    def subgroups(self) -> dict[str, Component]:
        """SUB, and SUBITEM where humans share enough in a subgroup, by key."""
        made = responses.subgroups(self.case, self.panel, self.columns, self.humans, self.margins)
        return {part.name: part for part in made}

    @cached_property
    def _gated(self) -> tuple[ResponsePanel, tuple[int, ...], ClusterSums]:
        """1[score >= gate], its humans, and what they share."""
        if self.gate is None:
            raise ValueError("there is no gate")
        bits, humans = self.panel.passing(self.gate.at), self.humans
        table = within.item_table(bits.only_humans(humans), beside=True)
        # A second human on a handful of responses must not turn an answer against labels into an
        # open question.
        if self.gate.has_minima and len(humans) > 1 and table.total[0] < FEWEST_SHARED:
            bits, humans = responses.one_column(bits, humans), (0,)
            table = within.item_table(bits, beside=True)
        return bits, humans, table

    @property
    def bits(self) -> ResponsePanel:
        """The panel at the gate."""
        return self._gated[0]

    @property
    def gated_humans(self) -> tuple[int, ...]:
        """Humans at the gate: those who share too few responses count as one column of labels."""
        return self._gated[1]

    @property
    def gated_shared(self) -> ClusterSums:
        """What judge and humans share at the gate, by cluster."""
        return self._gated[2]


class RejudgedGround(ScoreGround):
    """The same responses and humans, scored anew by the judge: (K, N) of the paired ones."""

    def __init__(self, before: ScoreGround, scores: Floats) -> None:
        super().__init__(replace(before.case, scores=scores), before.margins)
        self._before = before

    @cached_property
    def careless(self) -> tuple[Careless, ...]:
        """Those of before: the humans are the same, whatever the judge does after."""
        return self._before.careless

    @cached_property
    def repeating(self) -> tuple[Copied, ...]:
        """Those of before, as well."""
        return self._before.repeating

    @cached_property
    def followed(self) -> tuple[str, ...]:
        """Those of before, as well."""
        return self._before.followed

    @cached_property
    def panel(self) -> ResponsePanel:
        """What both scored before."""
        return replace(self._before.panel, judge=self.case.scores)


class CalibratedGround(ScoreGround):
    """The same judge, had it been calibrated on these ratings: what quoting its means needs.

    A calibrated score is a line of the score, one line a fold of clusters, so that the sums of
    `before` say what becomes of them. Only READ goes back to the responses.
    """

    def __init__(self, before: ScoreGround, observed: Means) -> None:
        super().__init__(before.case, before.margins)
        self._before = before
        self._lines, self._answered = _calibrated_sums(before, observed.sums)

    @property
    def answered(self) -> tuple[int, int]:
        """Responses that the judge was asked about, and those of them that have a line."""
        return self.n_labelled, self._answered

    @property
    def few(self) -> bool:
        """Else nothing would be calibrated."""
        return False

    @cached_property
    def careless(self) -> tuple[Careless, ...]:
        """Those of before."""
        return self._before.careless

    @cached_property
    def panel(self) -> ResponsePanel:
        """What both scored, before it was calibrated."""
        return self._before.panel

    @cached_property
    def spread(self) -> HumanSpread:
        """That of before: calibration moves no human."""
        return self._before.spread

    @cached_property
    def means(self) -> Means:
        """Means of systems on the lines."""
        return means.Means.from_sums(self._lines)

    @cached_property
    def off(self) -> ClusterSums:
        """How far the judge is off on the lines, and of how many responses, by cluster."""
        # Summed over systems. A cell holds, of the human and of the judge, the sum of scores and
        # their number.
        off = self._lines.cells.sum(axis=1)
        columns = np.stack([off[:, 1, 0] - off[:, 0, 0], off[:, 1, 1]], axis=1)
        return ClusterSums(self._lines.sums.clusters, columns)

    @property
    def as_scores(self) -> tuple[Case, ResponsePanel]:
        """What labels are worth beside."""
        return self.case, self.panel

    @property
    def read_scores(self) -> tuple[Case, ResponsePanel]:
        """The responses themselves, calibrated."""
        after = calibrated(self.case)
        # Responses are lost only where all of them lie in one fold, and then nothing is answered.
        return after, replace(self.panel, judge=after.scores[:, after.paired])


def _calibrated_sums(before: ScoreGround, sums: means.SystemTable) -> tuple[means.SystemTable, int]:
    """The judge's sums on the lines that other folds teach; clusters that none teaches left out.

    With how many responses both scored, careless humans included.
    """
    case = before.case
    taught = sums  # a careless human teaches too, as it would in `voirdire calibrate`
    if len(before.humans) < len(case.humans) or before.levelled is not before.panel:
        taught = means.Means.of(case.panel()).sums
    fold = _folds(case, taught)
    # What each fold teaches the others: the fold itself is left out in `lines_of_folds`.
    held = np.stack([taught.cells[fold == one].sum(axis=0) for one in range(FOLDS)])
    lines = lines_of_folds(held[:, :, 1, 1], held[:, :, 1, 0], held[:, :, 0, 0])
    # A fold has no line where no other fold has both scores.
    moved = np.isfinite(lines.level)
    fold = fold if taught is sums else _folds(case, sums)
    has_line = moved[fold]
    stretch = lines.stretch[fold]
    # level + stretch (score - centre), written as stretch score + shift, so that sums move as
    # scores do.
    shift = lines.level[fold] - stretch * lines.centre[fold]
    cells = sums.cells.copy()
    # A sum of n scores on a line is stretch times the sum, plus n times the shift.
    cells[:, :, 1, 0] = stretch[:, None] * cells[:, :, 1, 0] + shift[:, None] * cells[:, :, 1, 1]
    table = cells[has_line].reshape(int(has_line.sum()), -1)
    left = replace(sums, sums=ClusterSums(sums.sums.clusters[has_line], table))
    return left, int(held[moved, :, 1, 1].sum())


def _folds(case: Case, sums: means.SystemTable) -> NDArray[np.intp]:
    """(G,) the fold of each cluster, dealt by the order of all that the case has."""
    names = coded(case.groups())[0]
    # As `calibrate` deals them: by the order of the names, not by their place in these data, so
    # that what is left out changes nobody's fold.
    folds: NDArray[np.intp] = in_order(names)[np.searchsorted(names, sums.sums.clusters)] % FOLDS
    return folds

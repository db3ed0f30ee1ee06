"""The components of a verdict: estimates held against margins, one judge and attribute at a time.

Each is a smooth function of sums over clusters with a jackknife error (`stats`); here the estimate
meets its margin and becomes yes, no, open or not tested.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from voirdire.examining.verdict import responses
from voirdire.examining.verdict.case import FOLDS, calibrated
from voirdire.examining.verdict.facts import Careless, Component
from voirdire.examining.verdict.margins import SURE_NO, SURE_YES, untested
from voirdire.examining.verdict.systems import bias_of, human_spread, levels, of_systems
from voirdire.stats import system_means as means
from voirdire.stats import within
from voirdire.stats.calibration import in_order, lines_of_folds
from voirdire.stats.sums import ClusterSums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from voirdire.examining.verdict.case import Case
    from voirdire.examining.verdict.facts import ComponentName, Reason, State
    from voirdire.stats.bias_by_system import HumanSpread
    from voirdire.stats.response_panel import ResponsePanel
    from voirdire.stats.system_means import Means
    from voirdire.study import Margins

#: Humans from whom one may be found careless, and who are left whatever is found.
FEWEST_FOR_MAJORITY, FEWEST_LEFT = 3, 2
#: The share of what the others reach below which a human does not follow them.
_THIRD = 1 / 3


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
        # One of each use, so that none is left without a reason.
        few: Sequence[ComponentName] = ("READ", "BIAS", "ITEM", "GREAD", "GAIN")
        why: Reason = "few clusters" if case.asked else "not asked"
        parts += [untested(name, why, count=panel.n_clusters) for name in few]
        parts.append(untested("RUN", "temperature 0" if case.temperature == 0 else why))
        return Computed(
            {part.name: part for part in parts}, (), panel, tuple(range(len(panel.humans)))
        )
    careless = _careless(case, panel, margins)
    panel, humans = _attentive(case, panel, careless)
    sums = within.item_columns(panel.only_humans(humans))
    # Column 6 counts the responses with both judge and human: other clusters tell nothing of the
    # judge, and would count as degrees of freedom.
    table = panel.by_cluster(sums, where=6)
    parts.append(responses.reading(case, panel, margins, "READ"))
    parts += responses.single_responses(panel, table, humans, margins)
    spread = human_spread(panel, humans, nominal=case.nominal)
    parts += bias_of(case, panel, spread, margins)
    observed = None
    if not case.nominal:
        # Computed once: every component of systems, and the calibration, are functions of these
        # sums.
        observed = means.Means.of(panel) if len(panel.systems) > 1 else None
        parts += of_systems(case, panel.systems, observed, spread, margins)
    parts += responses.subgroups(case, panel, sums, humans, margins)
    parts += responses.pass_and_fail(case, panel, humans, margins)
    parts += [
        responses.repeated_runs(case, panel, margins),
        responses.labels_saved(case, panel, margins),
    ]
    below = math.nan
    if len(humans) == 1:
        below = responses.pass_if_below(
            next(part for part in parts if part.name == "READ").estimate
        )
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
    # By place in the reference: the panel keeps that order, whoever is left out of it.
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
    # Patterns of a stream stand for responses in several folds at once, so that no line is theirs.
    if before.means is None or before.spread is None or case.counted is not None:
        return None
    sums, answered = _calibrated_sums(case, before, before.means.sums)
    observed = means.Means.from_sums(sums)
    # Summed over systems. A cell holds, of the human and of the judge, the sum of scores and their
    # number.
    off = sums.cells.sum(axis=1)
    columns = np.stack([off[:, 1, 0] - off[:, 0, 0], off[:, 1, 1]], axis=1)
    parts = [_coverage(case.size(case.labelled), answered, margins)]
    parts += levels(case, ClusterSums(sums.sums.clusters, columns), before.spread, margins)
    parts += of_systems(case, before.panel.systems, observed, before.spread, margins, quoted=True)
    panel = before.panel
    # One no is enough, and READ takes the longest.
    if answered and all(part.state != "no" for part in parts):
        after = calibrated(case)
        # Responses are lost only where all of them lie in one fold, and then nothing is answered.
        panel = replace(panel, judge=after.scores[:, after.paired])
        parts.append(responses.reading(after, panel, margins, "READ"))
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
    names = np.unique(case.groups())
    # As `calibrate` deals them: by the order of the names, not by their place in these data, so
    # that what is left out changes nobody's fold.
    folds: NDArray[np.intp] = in_order(names)[np.searchsorted(names, sums.sums.clusters)] % FOLDS
    return folds


def _cover(case: Case, margins: Margins) -> Component:
    if not case.asked:
        return untested("COVER", "not asked", count=case.size(case.labelled))
    return _coverage(case.size(case.labelled), case.size(case.paired), margins)


def _coverage(asked: int, answered: int, margins: Margins) -> Component:
    if not asked:
        return untested("COVER", "few clusters")
    share = answered / asked
    state: State = "yes" if share >= margins.cover else "no"
    return Component(
        "COVER", state, share, margin=margins.cover, p=0.0 if state == "yes" else 1.0, count=asked
    )


def _careless(case: Case, panel: ResponsePanel, margins: Margins) -> tuple[Careless, ...]:
    """Humans shown to reach less than a third of what the others reach, who follow each other.

    Two humans are always left, and nobody is careless where humans are shown not to agree at all:
    nothing then says who of them is the careless one.
    """
    everyone = range(len(panel.humans))
    # Two humans cannot outvote each other: with three there is a majority to be careless of.
    if len(everyone) < FEWEST_FOR_MAJORITY:
        return ()
    careless = []
    for k in everyone:
        own = within.follows_others(panel, k)
        # Nobody reaches more than 1, so that only such a one may lie below a third of the others.
        if own is None or own.bound(SURE_NO) >= _THIRD:
            continue
        rest = panel.without_humans([k])
        among = [within.follows_others(rest, m) for m in everyone if m != k]
        others = [jackknifed for jackknifed in among if jackknifed is not None]
        reach = float(np.median([jackknifed.value for jackknifed in others] or [0.0]))
        sure = float(np.median([jackknifed.bound(1 - SURE_YES) for jackknifed in others] or [0.0]))
        # The upper bound, so that chance alone makes nobody careless; a third of what the others
        # reach, since a human on hard items may fall below any fixed number.
        if sure > margins.read and own.bound(SURE_NO) < _THIRD * reach:
            careless.append(Careless(case.reference[k], case.attribute, own.value, reach))
    if not careless or _disagree(panel, margins):
        return ()
    worst_first = sorted(careless, key=lambda one: one.correlation)
    left_out = {one.human for one in worst_first[: len(everyone) - FEWEST_LEFT]}
    return tuple(one for one in careless if one.human in left_out)


def _disagree(panel: ResponsePanel, margins: Margins) -> bool:
    """Whether all humans together are shown not to agree on single responses."""
    table = within.item_table(panel, beside=True)
    return responses.humans_agree(table, margins).state == "no"

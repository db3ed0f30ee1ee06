"""What calibration does to the verdict's errors, on simulated judges whose truth is known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from voirdire.examining.simulate import KINDS, deserved, simulate_panel
from voirdire.examining.verdict.case import Case
from voirdire.examining.verdict.judging import judge_cases
from voirdire.stats import calibrate
from voirdire.study import Margins

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from voirdire.examining.simulate import SimulatedPanel
    from voirdire.stats.calibration import Method

    Floats = NDArray[np.float64]

#: Panels drawn; items that stand for all items; the largest design that is drawn.
_PANELS, _ENDLESS, _SYSTEMS, _ITEMS, _HUMANS = 8, 2000, 12, 200, 5


@dataclass(frozen=True, slots=True)
class VerdictErrors:
    """Verdicts on simulated judges, for the use "score".

    Attributes
    ----------
    undeserving, wrong : int
        Judges whose means must not be quoted, by the truth, and those of them with a yes.
    deserving, right : int
        Judges whose means may be quoted, and those of them with a yes.
    """

    undeserving: int
    wrong: int
    deserving: int
    right: int


@dataclass(frozen=True, slots=True)
class CalibrationErrors:
    """The verdict's errors on raw and on calibrated judges, in panels of this size."""

    systems: int
    items: int
    humans: int
    panels: int
    raw: VerdictErrors
    calibrated: VerdictErrors


def simulate_errors(
    systems: int, items: int, humans: int, method: Method = "level_and_spread"
) -> CalibrationErrors | None:
    """How often a verdict on means is wrong, without calibration and with it.

    Panels of this size (at most 12 systems, 200 items and 5 humans, at least 2) with a judge of
    each kind of `voirdire.examining.simulate.KINDS`. The truth is what the judge deserves on 2,000
    items of the same systems; after calibration, what it deserves calibrated on all of these.

    Returns
    -------
    CalibrationErrors or None
        None with fewer than three systems, where no truth about their means is defined.
    """
    if systems < 3:
        return None
    size = min(systems, _SYSTEMS), min(items, _ITEMS), min(max(humans, 2), _HUMANS)
    counts = np.zeros((2, 2, 2), int)  # raw or calibrated; deserved; yes
    for seed in range(_PANELS):
        for at, truth, yes in _verdicts(*size, seed, method):
            counts[at, int(truth), int(yes)] += 1
    raw, after = (VerdictErrors(*(int(x) for x in (of[0].sum(), of[0, 1], of[1].sum(), of[1, 1])))
                  for of in counts)  # fmt: skip
    return CalibrationErrors(*size, _PANELS, raw, after)


def _verdicts(
    systems: int, items: int, humans: int, seed: int, method: Method
) -> Iterator[tuple[int, bool, bool]]:
    """Raw (0) or calibrated (1), whether a yes is deserved, whether there is one."""
    whole = simulate_panel(systems, items + _ENDLESS, seed, humans=humans)
    drawn = np.random.default_rng(seed).permutation(items + _ENDLESS)[:items]
    part = replace(
        whole, humans=whole.humans[:, :, drawn], special=whole.special[drawn],
        judges={name: scores[:, drawn] for name, scores in whole.judges.items()},
    )  # fmt: skip
    people = whole.humans.mean((0, 2))
    for name in KINDS:
        raw, case = whole.judges[name], _case(part, name)
        mean_human = part.humans.mean(0).ravel()
        scores = calibrate(
            case.scores, mean_human, systems=case.systems, clusters=case.items, method=method
        ).scores
        level = _calibrated(whole, name, method)
        for at, (means, one) in enumerate(
            ((raw.mean(1), case), (level.mean(1), replace(case, scores=scores)))
        ):
            known = replace(
                whole, humans=part.humans, means={"humans": people, name: means},
                stops={name: True},
            )  # fmt: skip
            truth = deserved(known, name)["score"]
            if truth is None:
                continue
            verdict = judge_cases([one], Margins(), uses=("score",)).verdicts[0]
            yield at, truth, verdict.state == "yes"


def _calibrated(whole: SimulatedPanel, name: str, method: Method) -> Floats:
    """A judge's scores of all items, calibrated by all of these."""
    scores = whole.judges[name]
    system, item = (at.ravel() for at in np.indices(scores.shape))
    human = whole.humans.mean(0).ravel()
    found = calibrate(scores.ravel(), human, systems=system, clusters=item, method=method)
    return np.asarray(found.scores.reshape(scores.shape))


def _case(panel: SimulatedPanel, name: str) -> Case:
    raters, systems, items = panel.humans.shape
    system, item = (at.ravel() for at in np.indices((systems, items)))
    return Case(
        name, "quality", tuple(map(str, range(raters))), panel.judges[name].reshape(1, -1),
        panel.humans.reshape(raters, -1), item, 4.0, systems=system,
        family={str(k): bool(own) for k, own in enumerate(panel.family)},
    )  # fmt: skip

"""Which component decided a verdict, and what each response does to it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from voirdire.examining.spec import COMPONENTS, ground_of
from voirdire.examining.spec.scores.ground import ScoreGround

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from voirdire.examining.spec import Component
    from voirdire.examining.spec.kind import JudgedCase
    from voirdire.examining.verdict.facts import Verdict
    from voirdire.study import Margins


def deciding(verdict: Verdict) -> Component | None:
    """The component that decided; of a yes, the one that came closest to its margin."""
    wanted = set(verdict.deciding)
    parts = [part for part in verdict.components if part.name in wanted]
    # A yes has no deciding component: the largest p came closest to its margin.
    if not parts:
        parts = sorted(verdict.components, key=lambda part: -part.p)
    return parts[0] if parts else None


def weakest(verdicts: Iterable[Verdict]) -> Verdict | None:
    """The first no, else the first that is open, not tested, and only then a yes."""
    order = ("no", "open", "not tested", "yes")
    return min(verdicts, key=lambda one: order.index(one.state), default=None)


def influences(case: JudgedCase, component: Component, margins: Margins) -> NDArray[np.float64]:
    """By how much each response raises the estimate of a component.

    Parameters
    ----------
    case : JudgedCase
        One judge and attribute.
    component : Component
        One of its verdict's; `at` says of which system, pair or subgroup.
    margins : Margins
        The study's.

    Returns
    -------
    (N,) float64
        One value a response of the case: the estimate less what it would be without it. Of ORDER
        and AGREE that of the plain means, their noise not removed. 0 for a response that plays no
        part; NaN throughout for a component that is no such sum.
    """
    kept = case.paired
    influence = np.full(len(kept), np.nan)
    if not kept.any():
        return influence
    ground = ground_of(case, margins)
    if type(ground) is not ScoreGround:
        return _of_a_kind(case, kept, component, margins)
    of_each = COMPONENTS[component.name].influence
    values = None if of_each is None else of_each(ground, component)
    if values is not None:
        influence[kept] = values
    return influence


def _of_a_kind(
    case: JudgedCase, kept: NDArray[np.bool_], component: Component, margins: Margins
) -> NDArray[np.float64]:
    """What leaving out each response does, as the jackknife that compares states of a judge does.

    Means of systems (pairs) are those of all responses.
    """
    from voirdire.examining.spec import kinds_change  # noqa: PLC0415 - for kinds alone

    influence = np.full(len(kept), np.nan)
    spec = COMPONENTS[component.name]
    of_each = None if "score" in spec.kinds else spec.influence
    if spec.change is not None:
        of_each = kinds_change.moved_by_each(spec.change.values)
    ground = ground_of(replace(case.only(kept), clusters=np.arange(int(kept.sum()))), margins)
    values = None if of_each is None else of_each(ground, component)
    if values is not None and len(values) == kept.sum():
        influence[kept] = values
    return influence

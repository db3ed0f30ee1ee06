"""An optimizer chooses on some labels, and is measured on others."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import InputError
from voirdire.stats import measured_gain
from voirdire.stats.refitting import folds_of, raced_gain, refitted_gain
from voirdire.stats.tuning import half_of
from voirdire_plugins.tune.candidates import Scored
from voirdire_plugins.tune.optimizing import Evaluate, climb
from voirdire_plugins.tune.work import Choice

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from voirdire.schema import Finding
    from voirdire.stats import Estimate
    from voirdire.study import Rater
    from voirdire_plugins.tune.optimizing import Climb
    from voirdire_plugins.tune.work import Work

    Floats = NDArray[np.float64]

#: Folds below which too few labels are left to look by.
FEWEST_FOLDS = 5


def climb_price(work: Work, name: str, steps: int, folds: int) -> str:
    """How often an optimizer may ask, and what that costs at most, before it does.

    Raises
    ------
    InputError
        The use has no score for each unit, or there are too few folds.
    """
    if work.goal.use not in ("single", "pick"):
        raise InputError(
            f"--for {work.goal.use}: an optimizer needs a score for each unit, which single and "
            "pick have; tune for one of these, or give candidates. Nobody was asked."
        )
    if folds:
        check_folds(work, folds)
    (plan,) = work.asking.price((work.member,), work.units.responses)
    most = steps * (folds + 1)
    cost = "unknown" if plan.cost is None else f"{most * plan.cost / max(plan.calls, 1):.4f}"
    cost = f", cost {cost} at most" if plan.calls else ""
    seen = (
        f"once by all labels, and once without each of {folds} folds"
        if folds
        else "on one half of the labels"
    )
    return f"{name} may ask for {most:,} judgements of {work.member.name}, {seen}{cost}."


def check_folds(work: Work, folds: int) -> None:
    """Whether so many folds can be dealt.

    Raises
    ------
    InputError
        They cannot.
    """
    most = len(np.unique(work.units.cluster))
    if not FEWEST_FOLDS <= folds <= most:
        raise InputError(f"--folds must be 0 or {FEWEST_FOLDS} to {most} (the items), got {folds}")


def climbed(work: Work, name: str, options: Mapping[str, Any], steps: int, folds: int) -> Choice:
    """What an optimizer chose, measured by labels that it did not see."""
    if folds:
        return _refitted(work, name, options, steps, folds)
    member, units = work.member, work.units
    own = half_of(len(units), units.cluster, seed=work.seed)
    found = _found(work, own, name, options, steps)
    panel = (member, found.rater) if found.rater is not None else (member,)
    scored, goodness = _judged(work, panel)
    chosen = len(panel) - 1

    def gain(kept: NDArray[np.bool_]) -> Estimate:
        return measured_gain(
            goodness[chosen, kept],
            goodness[0, kept],
            clusters=units.cluster[kept],
            level=work.level,
        )

    return Choice(
        panel,
        scored,
        goodness,
        chosen,
        [math.nan] * len(scored),
        gain(~own),
        gain(own),
        int((~own).sum()),
        found.findings,
    )


def _refitted(work: Work, name: str, options: Mapping[str, Any], steps: int, folds: int) -> Choice:
    """It chooses by all labels, and is run again without each fold, which measures that."""
    member, units = work.member, work.units
    fold = folds_of(len(units), folds, units.cluster, seed=work.seed)
    whole = _found(work, fold >= 0, name, options, steps)
    parts = [_found(work, fold != at, name, options, steps) for at in range(folds)]
    raters = {one.rater.name: one.rater for one in (whole, *parts) if one.rater is not None}
    panel = (member, *raters.values())
    scored, goodness = _judged(work, panel)
    names = [member.name if one.rater is None else one.rater.name for one in (whole, *parts)]
    findings = {one.kind: one for part in (*parts, whole) for one in part.findings}
    return by_folds(work, panel, scored, goodness, fold, names, tuple(findings.values()))


def by_folds(
    work: Work,
    panel: Sequence[Rater],
    scored: Sequence[Scored],
    goodness: Floats,
    fold: NDArray[np.intp],
    names: Sequence[str],
    findings: tuple[Finding, ...],
    *,
    race: bool = False,
) -> Choice:
    """What was found by all labels, `names[0]`, measured by what was found without each fold."""
    units = work.units
    row = {one.name: at for at, one in enumerate(scored)}
    chosen, *parts = (row[name] for name in names)
    each = np.array(parts)
    given: dict[str, Any] = {"clusters": units.cluster, "level": work.level}
    if race:
        won = np.unique([0, chosen, *parts])
        gain = raced_gain(goodness[won], np.searchsorted(won, each), fold, **given)
    else:
        found = goodness[each[fold], np.arange(len(units))]
        gain = refitted_gain(found, goodness[0], fold, **given)
    claimed = measured_gain(goodness[chosen], goodness[0], **given)
    shares = [float((each == at).mean()) for at in range(len(scored))]
    return Choice(panel, scored, goodness, chosen, shares, gain, claimed, len(units), findings)


def _found(
    work: Work, own: NDArray[np.bool_], name: str, options: Mapping[str, Any], steps: int
) -> Climb:
    evaluate = Evaluate(
        work.member, work.goal, work.units.taken(own), work.marks, work.asking, steps
    )
    return climb(evaluate, name, options)


def _judged(work: Work, panel: tuple[Rater, ...]) -> tuple[list[Scored], Any]:
    ratings = work.asking.ask(panel, work.units.responses)
    scored = [Scored(one.name, work.units.scores(ratings, one.name), one.name) for one in panel]
    return scored, work.goodness(scored)

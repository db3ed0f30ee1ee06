"""A race of candidates: those that are shown to be worse are asked about no further units."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from voirdire.errors import InputError, StatisticsError
from voirdire.schema import Finding
from voirdire.stats.racing import heats, in_the_race
from voirdire.stats.refitting import folds_of
from voirdire_plugins.tune.climbing import by_folds, check_folds

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from voirdire.study import Rater
    from voirdire_plugins.tune.work import Choice, Work


def raced(work: Work, panel: Sequence[Rater], folds: int) -> Choice:
    """The winner of a race by all labels, measured by those of races without each fold.

    A fold's race sees none of its units, so that what is dropped in it was not dropped by them.
    The order of units is the same in all, so that most replies of one serve the others.

    Raises
    ------
    InputError
        Too few folds.
    """
    check_folds(work, folds)
    units = work.units
    fold = folds_of(len(units), folds, units.cluster, seed=work.seed)
    whole, asked = _race(work, panel, fold >= 0)
    parts = [_race(work, panel, fold != at)[0] for at in range(folds)]
    names = [name for name, _ in (whole, *parts)]
    raters = {rater for _, rater in (whole, *parts)}
    left = tuple(one for one in panel if one.name in raters or one.name == work.member.name)
    ratings = work.asking.ask(left, units.responses)
    scored = work.scored(left, units, ratings)
    findings = _dropped(work, asked, len(panel))
    return by_folds(work, left, scored, work.goodness(scored), fold, names, findings, race=True)


def _race(
    work: Work, panel: Sequence[Rater], own: NDArray[np.bool_]
) -> tuple[tuple[str, str], list[int]]:
    """The way that wins on some units and whose calls it takes; how many ran in each heat."""
    units, running, ran = work.units.taken(own), list(panel), []
    for heat in heats(len(units), units.cluster, seed=work.seed):
        part = units.taken(heat)
        ran.append(len(running))
        scored = work.scored(running, part, work.asking.ask(running, part.responses))
        if heat.all():
            break
        with suppress(StatisticsError):  # too few of a kind so far: nobody is dropped
            good = work.goal.goodness([one.runs for one in scored], part.humans, work.marks)
            stay = in_the_race(good, clusters=part.cluster)
            kept = {one.rater for one, in_it in zip(scored, stay, strict=True) if in_it}
            running = [one for one in running if one.name in kept]
    try:
        good = work.goal.goodness([one.runs for one in scored], part.humans, work.marks)
    except StatisticsError as error:
        raise InputError(f"--race: without one fold {error}") from error
    best = scored[int(good.sum(axis=1).argmax())]
    return (best.name, best.rater), ran


def _dropped(work: Work, ran: list[int], number: int) -> tuple[Finding, ...]:
    """How many were left in each heat of the race by all labels."""
    if ran[-1] == number:
        return ()
    left = ", ".join(map(str, ran))
    return (
        Finding(
            "raced",
            "note",
            work.member.name,
            number - ran[-1],
            (work.member.name,),
            f"{number - ran[-1]} of {number} judges were shown to be worse and asked no further "
            f"(in the race after each heat: {left}).",
            "Each fold had a race of its own, which saw none of its labels.",
        ),
    )

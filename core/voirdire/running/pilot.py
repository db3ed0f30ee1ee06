"""A pilot: a few items asked once, to see what each rater refuses before the whole is paid for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import InputError, StudyError
from voirdire.stats import wilson_interval
from voirdire.study import Study, load_study
from voirdire.tables import read_items
from voirdire.tabular import Section, Table, count, interval, share, text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from voirdire.running._result import RaterResult

#: Statuses that say that a model or its provider would not answer.
REFUSED = ("refused", "filtered")
_READ = ("ok", "repaired")
_LEVEL = 0.95


def pilot_study(study: Study | str | Path, items: int) -> tuple[Study, int]:
    """The study on so many items drawn by its seed, asked in one run; and how many there are.

    The items are a random draw, so that what is refused of them speaks for the others. Everything
    else is the study's own: the whole study can go on in the pilot's session, which asks only for
    what it lacks.

    Raises
    ------
    StudyError
        The study has no items.
    InputError
        Fewer than one item, or more than there are.
    """
    declared = study if isinstance(study, Study) else load_study(study)
    if declared.items is None:
        raise StudyError(f"study {declared.name!r}: key 'items' is required to run it")
    names = [item.id for item, _ in read_items(declared, declared.items)]
    if not 1 <= items <= len(names):
        raise InputError(f"--pilot: from 1 to {len(names)} items, got {items}")
    drawn = np.random.default_rng(declared.analysis.seed).permutation(len(names))[:items]
    chosen = tuple(names[place] for place in sorted(drawn.tolist()))
    once = tuple(
        rater.model_copy(update={"runs": 1}) if rater.model else rater for rater in declared.panel
    )
    only = declared.items.model_copy(update={"only": chosen})
    return declared.model_copy(update={"items": only, "panel": once}), len(names)


def pilot_section(raters: Sequence[RaterResult], items: int, whole: int) -> Section:
    """What each rater refused of the pilot's items, and how sure that is of all of them.

    Parameters
    ----------
    raters : sequence of RaterResult
    items, whole : int
        Items of the pilot and of the study.
    """
    rows: list[tuple[Any, ...]] = []
    for rater in raters:
        done = sum(rater.statuses.values())
        if not done:
            continue
        refused = sum(rater.statuses.get(name, 0) for name in REFUSED)
        read = sum(rater.statuses.get(name, 0) for name in _READ)
        reach = wilson_interval(refused / done, done, _LEVEL)
        expected = rater.tasks * whole / items
        rows.append(
            (
                rater.name,
                done,
                refused,
                refused / done,
                reach,
                done - refused - read,
                rater.failed,
                (reach.low * expected, reach.high * expected),
            )
        )
    columns = (
        text("Rater"),
        *map(count, ("Answered", "Refused")),
        share("Share refused"),
        interval("Share, Wilson 95 %"),
        count("Unread otherwise"),
        count("Failed"),
        interval("Refused in one whole run", 0),
    )
    return Section(
        f"Pilot: {items} of {whole} items, each asked once",
        "Refused are replies in which the model declines or the provider's filter cut in. A text "
        "that is refused once may be answered in another run; those refused are rarely a random "
        "part of all texts.",
        (Table(columns, tuple(rows)),),
    )

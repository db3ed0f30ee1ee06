"""A study run into a session folder: generate, then judge and annotate."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from voirdire._manager import plugins as loaded_plugins
from voirdire.running._commits import Commits
from voirdire.running._costs import with_free_models
from voirdire.running._inputs import read_inputs
from voirdire.running._models import close_model
from voirdire.running._progress import show_progress
from voirdire.running._result import RunResult
from voirdire.running._staff import chosen, staff
from voirdire.running._status import rater_results
from voirdire.running._stop import GRACE, Stop
from voirdire.running._work import work
from voirdire.store import (
    Finish,
    keep_findings,
    keep_generated,
    open_session,
    usable,
    write_tables,
)
from voirdire.study import STAGES, Study, load_study, study_to_toml

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from voirdire._registry import Plugins
    from voirdire.running._desk import Desk
    from voirdire.store import Session
    from voirdire.study import Stage


#: Tasks whose tables are written even after Ctrl-C, since that takes no second.
AT_ONCE = 5_000


async def arun(
    study: Study | str | Path,
    out: str | Path,
    *,
    resume: bool = False,
    only: Stage | None = None,
    max_cost: float | None = None,
    max_calls: int | None = None,
    quiet: bool = False,
    plugins: Plugins | None = None,
) -> RunResult:
    """Run a study from within a running event loop; parameters and errors are those of `run`.

    Cancelling the task that awaits it ends the run; what has come is kept.
    """
    known = read_study(study, max_cost=max_cost, max_calls=max_calls)
    return await execute(known, out, Stop(), resume=resume, only=only, quiet=quiet, plugins=plugins)


async def execute(
    known: tuple[Study, str],
    out: str | Path,
    stop: Stop,
    *,
    resume: bool,
    only: Stage | None,
    quiet: bool,
    plugins: Plugins | None,
) -> RunResult:
    """Run a study (given with its text) until it is through or `stop` is set."""
    began = time.monotonic()
    study, text = known
    plugins = plugins or loaded_plugins()
    declared, study = study, with_free_models(study, plugins)
    found = chosen(study, plugins, STAGES if only is None else (only,))
    with usable(out), open_session(out, declared, text, resume=resume) as session:
        read_inputs(session.connection, study, found)
        desks, models = staff(study, found, session, stop, plugins)
        try:
            await _stages(desks, study, session, stop, quiet=quiet)
        finally:
            for model in models:
                await close_model(model)
            session.stop()
        if stop.reason != "interrupted" or sum(desk.tally.tasks for desk in desks) <= AT_ONCE:
            write_tables(session.folder, plugins)
        keep_findings(session.folder, ((d.asker.seat.name, d.asker.mind) for d in desks))
        parked = {desk.asker.seat.name: desk.breaker.reason for desk in desks}
        raters = rater_results(session.connection, study, found, parked)
    taken = time.monotonic() - began
    return RunResult(session.folder, raters, taken, stop.reason, study.run.currency)


def read_study(
    study: Study | str | Path, *, max_cost: float | None = None, max_calls: int | None = None
) -> tuple[Study, str]:
    """The study with limits given by hand, and its text as it is kept in the session."""
    if isinstance(study, Study):
        text = study_to_toml(study)
    else:
        path, study = Path(study), load_study(study)
        text = path.read_text(encoding="utf-8-sig")
    given = {"max_cost": max_cost, "max_calls": max_calls}
    limits = {name: value for name, value in given.items() if value is not None}
    spec = study.run.model_copy(update=limits)
    return study.model_copy(update={"run": spec}), text


async def _stages(
    desks: Sequence[Desk], study: Study, session: Session, stop: Stop, *, quiet: bool
) -> None:
    """Generate first; then everyone else at once."""
    first = [desk for desk in desks if desk.asker.seat.stage == "generate"]
    for group in (first, [desk for desk in desks if desk not in first]):
        if group and not stop.reason:
            commits = Commits()
            for desk in group:
                desk.commits = commits
            session.start(_counter(desks, commits))
            await _together(group, study, stop, quiet=quiet)
            session.stop()
            await asyncio.sleep(0)  # what the last commit counted is counted now
            keep_generated(session.connection, [desk.asker for desk in first])


async def _together(desks: Sequence[Desk], study: Study, stop: Stop, *, quiet: bool) -> None:
    """Let the desks work side by side; at an interruption end within the grace period."""
    display = asyncio.create_task(show_progress(desks, quiet=quiet))
    workers = [asyncio.create_task(work(desk, study)) for desk in desks]
    watch = asyncio.create_task(_hurry(desks, stop))
    try:
        await asyncio.gather(*workers)
    finally:
        ending = (display, watch, *workers, *(task for desk in desks for task in desk.open))
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)


async def _hurry(desks: Sequence[Desk], stop: Stop) -> None:
    """At the end of a run: no call is made that waits; after an interruption, cancel those late."""
    await stop.wait()
    for desk in desks:
        desk.dismiss()
    if stop.reason == "budget":
        return  # calls under way are paid for, and end by their own timeout
    with suppress(TimeoutError):
        await asyncio.wait_for(stop.hurry.wait(), GRACE)
    for desk in desks:
        for task in desk.open:
            task.cancel()


def _counter(desks: Sequence[Desk], commits: Commits) -> Callable[[Sequence[object]], None]:
    """What hears of commits in the writer's thread, and counts tasks in the loop's."""
    loop = asyncio.get_running_loop()
    tallies = {desk.asker.seat: desk.tally for desk in desks}

    def count(records: Sequence[object]) -> None:
        commits.advance(len(records))
        for finish in records:
            if isinstance(finish, Finish) and finish.slot is not None:
                tally = tallies[finish.slot.seat]
                (tally.faults if finish.failed else tally.statuses)[
                    finish.fault or finish.status
                ] += 1
                tally.fresh += 1

    def committed(records: Sequence[object]) -> None:
        loop.call_soon_threadsafe(count, records)

    return committed

"""A study run into a session folder: generate, then judge and annotate."""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from voirdire._manager import plugins as loaded_plugins
from voirdire.errors import SessionError, StudyError
from voirdire.running._batches import Desk, check_no_batch_is_open
from voirdire.running._models import close_model
from voirdire.running._panel import chosen, make_workers
from voirdire.running._progress import show_progress
from voirdire.running._result import RunResult, rater_results
from voirdire.running._stop import GRACE, Stop
from voirdire.running.budget import with_free_models
from voirdire.running.tasks import work
from voirdire.running.workers import Commits
from voirdire.secrets import looks_secret
from voirdire.store import write_tables
from voirdire.store.counts import Replies
from voirdire.store.findings import keep_findings
from voirdire.store.frames import Panel
from voirdire.store.generated import keep_generated
from voirdire.store.raters import askers
from voirdire.store.records import Finish
from voirdire.store.session import open_session, usable
from voirdire.store.subjects import lonely_responses, take_items, take_responses
from voirdire.study import STAGES, Study, load_study, study_to_toml
from voirdire.tables import read_items, read_responses

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from voirdire._registry import Plugins
    from voirdire.running.workers import Worker
    from voirdire.store.raters import Asker
    from voirdire.store.session import Session
    from voirdire.study import ItemsSpec, Stage


#: Tasks whose tables are written even after Ctrl-C, since that takes no second.
AT_ONCE = 5_000


async def arun(  # noqa: PLR0913 - each is a choice of the caller
    study: Study | str | Path,
    out: str | Path,
    *,
    resume: bool = False,
    only: Stage | None = None,
    max_cost: float | None = None,
    max_calls: int | None = None,
    ask_again: bool = False,
    quiet: bool = False,
    plugins: Plugins | None = None,
) -> RunResult:
    """Run a study from within a running event loop; parameters and errors are those of `run`.

    Cancelling the task that awaits it ends the run; what has come is kept.
    """
    known = read_study(study, max_cost=max_cost, max_calls=max_calls)
    how = How(resume, ask_again, only, quiet)
    return await execute(known, out, Stop(), how, plugins)


@dataclass(frozen=True, slots=True)
class How:
    """How a run is made: see `run`.

    With `batch` calls go in batches where their model takes them so, and with `resubmit` those too
    of which it is not known whether they were submitted. A piece of a study that was shared out is
    run with `whole` False: its session holds its texts already, and tables are derived where the
    pieces come together.
    """

    resume: bool = False
    ask_again: bool = False
    only: Stage | None = None
    quiet: bool = False
    whole: bool = True
    batch: bool = False
    resubmit: bool = False


async def execute(
    known: tuple[Study, str], out: str | Path, stop: Stop, how: How, plugins: Plugins | None
) -> RunResult:
    """Run a study (given with its text) until it is through or `stop` is set."""
    began = time.monotonic()
    declared, text = known
    plugins = plugins or loaded_plugins()
    study = with_free_models(declared, plugins)
    panel = Panel(Path(out), study, tuple(askers(study, plugins)))
    found = chosen(panel, STAGES if how.only is None else (how.only,))
    if how.whole:
        warn_of_keys(text)

    def take(connection: sqlite3.Connection) -> None:
        take_inputs(connection, study, found, how, out)

    with (
        _few_collections(),
        usable(out),
        open_session(out, declared, text, resume=how.resume, take=take) as session,
    ):
        workers, models = make_workers(study, found, session, stop, plugins)
        try:
            await _stages(workers, study, session, stop, how)
        finally:
            for model in models:
                await close_model(model)
            session.stop()
        few = sum(one.tally.tasks for one in workers) <= AT_ONCE
        if how.whole and (few or stop.reason != "interrupted"):
            write_tables(session.folder, panel=panel, connection=session.connection)
        keep_findings(session.folder, ((one.asker.id.name, one.asker.rater) for one in workers))
        parked = {one.asker.id.name: one.parked for one in workers}
        raters = rater_results(session.connection, study, found, parked)
    taken = time.monotonic() - began
    return RunResult(session.folder, raters, taken, stop.reason, study.run.currency)


def take_inputs(
    connection: sqlite3.Connection,
    study: Study,
    found: Sequence[Asker],
    how: How,
    out: str | Path,
) -> None:
    """Take the study's texts in, and see that what is on file fits it."""
    replies = Replies.of(connection)
    if how.whole:
        read_inputs(connection, study, found)
    if how.resume and not how.ask_again:
        _check_fit(replies.unfit(connection, found, study.comparisons), out)


#: Objects more before the young are looked through, and how often the older are.
_COLLECT = (50_000, 20, 50)


@contextmanager
def _few_collections() -> Iterator[None]:
    """Let Python look for garbage in cycles less often, and not among what was there before.

    Calls leave almost none, and looking through all objects of all packages again and again took a
    fifth of the time of a judgement.
    """
    if gc.get_freeze_count():  # another run in this process has said so
        yield
        return
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*_COLLECT)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def warn_of_keys(text: str) -> None:
    """A study is kept with its session: what looks like a key in it is said."""
    lines = [number for number, line in enumerate(text.splitlines(), 1) if looks_secret(line)]
    if lines:
        sys.stderr.write(
            f"voirdire: line {lines[0]} of the study looks as if it held a key, and the study is "
            "kept with the session: keys come from the environment only\n"
        )


def _check_fit(unfit: Mapping[str, int], out: str | Path) -> None:
    """Replies that the edited study would ask for again are asked for only on purpose.

    Raises
    ------
    SessionError
        There are such replies.
    """
    if unfit:
        named = ", ".join(f"{name} {count:,}" for name, count in unfit.items())
        raise SessionError(
            f"session {out}: {sum(unfit.values()):,} stored replies no longer fit the study "
            f"({named}): a prompt, a model, a parameter or a text has changed. Going on asks for "
            "them again and takes them out of the tables: give --ask-again if that is meant, or "
            "--out another folder"
        )


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
    workers: Sequence[Worker], study: Study, session: Session, stop: Stop, how: How
) -> None:
    """Generate first; then everyone else at once."""
    first = [worker for worker in workers if worker.asker.id.stage == "generate"]
    if not how.batch:
        check_no_batch_is_open(session)
    for group in (first, [worker for worker in workers if worker not in first]):
        if group and how.batch and not stop.reason:
            await Desk(group, study, session, stop, how.quiet).run(resubmit=how.resubmit)
        if group and not stop.reason:
            commits = Commits()
            for worker in group:
                worker.commits = commits
            session.start(_counter(workers, commits))
            await _together(group, study, stop, quiet=how.quiet)
            session.stop()
            await asyncio.sleep(0)  # what the last commit counted is counted now
            keep_generated(session.connection, [worker.asker for worker in first])


async def _together(workers: Sequence[Worker], study: Study, stop: Stop, *, quiet: bool) -> None:
    """Let the workers work side by side; at an interruption end within the grace period."""
    display = asyncio.create_task(show_progress(workers, quiet=quiet))
    loops = [asyncio.create_task(work(worker, study)) for worker in workers]
    watch = asyncio.create_task(_hurry(workers, stop))
    try:
        await asyncio.gather(*loops)
    finally:
        ending = (display, watch, *loops, *(task for worker in workers for task in worker.open))
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)


async def _hurry(workers: Sequence[Worker], stop: Stop) -> None:
    """At the end of a run: no call is made that waits; after an interruption, cancel those late."""
    await stop.wait()
    for worker in workers:
        worker.dismiss()
    if stop.reason == "budget":
        return  # calls under way are paid for, and end by their own timeout
    with suppress(TimeoutError):
        await asyncio.wait_for(stop.hurry.wait(), GRACE)
    for worker in workers:
        for task in worker.open:
            task.cancel()


def _counter(workers: Sequence[Worker], commits: Commits) -> Callable[[Sequence[object]], None]:
    """What hears of commits in the writer's thread, and counts tasks in the loop's."""
    loop = asyncio.get_running_loop()
    tallies = {worker.asker.id: worker.tally for worker in workers}

    def count(records: Sequence[object]) -> None:
        commits.advance(len(records))
        for finish in records:
            if isinstance(finish, Finish) and finish.slot is not None:
                tally = tallies[finish.slot.rater]
                (tally.faults if finish.failed else tally.statuses)[
                    finish.fault or finish.status
                ] += 1
                tally.fresh += 1

    def committed(records: Sequence[object]) -> None:
        loop.call_soon_threadsafe(count, records)

    return committed


def read_inputs(connection: sqlite3.Connection, study: Study, found: Sequence[Asker]) -> None:
    """Take the items and responses of a study into a session.

    Raises
    ------
    StudyError
        Items or responses are needed and not declared, or do not fit together.
    """
    if study.items is None:
        raise StudyError(f"study {study.name!r}: key 'items' is required to run it")
    if take_items(connection, read_items(study, study.items)) == 0:
        raise StudyError(f"items.path: {study.items.path} holds no items")
    for origin, spec in (("file", study.responses), ("generated", study.generators)):
        if not spec:  # what an earlier version of the study brought
            take_responses(connection, (), origin)
    if study.responses is not None:
        take_responses(connection, read_responses(study, study.responses), "file")
        _check_known(connection, study.items)
    elif not study.generators and any(asker.task != "item" for asker in found):
        raise StudyError(
            f"study {study.name!r}: judges need [responses] or [[generators]] to have something "
            "to rate"
        )


def _check_known(connection: sqlite3.Connection, spec: ItemsSpec) -> None:
    lonely = lonely_responses(connection)
    if lonely:
        item, system = lonely[0]
        raise StudyError(
            f"responses.path: {system!r} responds to item {item!r}, which {spec.path} does not hold"
        )

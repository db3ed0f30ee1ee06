"""A study run into a session folder: generate, then judge and annotate."""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire._manager import plugins as loaded_plugins
from voirdire.running._models import close_model, learn_schema
from voirdire.running._prepare import (
    RunOptions,
    chosen,
    make_workers,
    priced_panel,
    take_inputs,
    warn_of_keys,
)
from voirdire.running._result import RunResult, keep_outcome
from voirdire.running._seal import keep_seal, seal_of, sealed
from voirdire.running._stop import GRACE, Stop
from voirdire.running.batches import BatchRun, check_no_batch_is_open
from voirdire.running.tasks import work
from voirdire.running.workers import Commits
from voirdire.shown import terminal, visible
from voirdire.store.records import Finish
from voirdire.store.session import open_session, usable
from voirdire.store.tasks import keep_generated

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Sequence

    from voirdire._registry import Plugins
    from voirdire.running._prepare import Declared
    from voirdire.running._result import RaterResult
    from voirdire.running.workers import Worker
    from voirdire.store.session import Session
    from voirdire.study import Study

#: Seconds between looks at how far a run is: on a terminal, and where lines are written.
LIVE_EVERY, LINE_EVERY = 0.25, 15.0
#: Seconds between the words that a run leaves for `session status`.
TELL_EVERY = 1.0
#: Tasks whose tables are written even after Ctrl-C, since that takes no second.
AT_ONCE = 5_000


async def execute(
    declared: Declared, out: str | Path, stop: Stop, options: RunOptions, plugins: Plugins | None
) -> RunResult:
    """Run a study (given with its text) until it is through or `stop` is set."""
    began = time.monotonic()
    plugins = plugins or loaded_plugins()
    panel = priced_panel(declared.study, out, plugins)
    study, asking = panel.study, chosen(panel, options.only)
    if options.whole:
        warn_of_keys(declared.text)

    seal = seal_of(declared, asking, options) if options.whole else None
    finished: tuple[RaterResult, ...] | None = None

    def take(connection: sqlite3.Connection) -> None:
        nonlocal finished
        if options.resume and not options.ask_again:
            finished = sealed(connection, Path(out), seal)
        if finished is None:
            take_inputs(connection, study, asking, options, out)

    with (
        _few_collections(),
        usable(out),
        # The study is kept as it was declared, without the prices of 0 of free models.
        open_session(
            out,
            declared.study,
            declared.text,
            resume=options.resume,
            take=take,
            shared=options.shared,
        ) as session,
    ):
        if finished is not None:
            taken = time.monotonic() - began
            return RunResult(session.folder, finished, taken, stop.reason, study.run.currency)
        workers, models = make_workers(study, asking, session, stop, plugins)
        try:
            await learn_schema(models, session.connection)
            await _stages(workers, study, session, stop, options)
        finally:
            # Models first: ending the writer raises where the disk is full, and they
            # must be closed all the same.
            for model in models:
                await close_model(model)
            session.stop()
        # Deriving them takes half a minute for a million replies, and who pressed Ctrl-C wants
        # to leave: `session reparse` does it later.
        few = sum(one.tally.tasks for one in workers) <= AT_ONCE
        raters = keep_outcome(
            session,
            panel,
            asking,
            suspended={one.participant.id.name: one.suspended for one in workers},
            tables=options.whole and (few or stop.reason != "interrupted"),
        )
        taken = time.monotonic() - began
        result = RunResult(session.folder, raters, taken, stop.reason, study.run.currency)
        if result.complete:
            keep_seal(session, seal, raters)
    return result


#: Objects more before the young are looked through, and how often the older are.
_COLLECT = (50_000, 20, 50)


@contextmanager
def _few_collections() -> Iterator[None]:
    """Let Python look for garbage in cycles less often, and not among what was there before.

    Calls leave almost none, and looking through all objects of all packages again and again took a
    fifth of the time of a judgement.
    """
    # Frozen twice, the inner run's end would thaw what the outer one counts on.
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


async def _stages(
    workers: Sequence[Worker], study: Study, session: Session, stop: Stop, options: RunOptions
) -> None:
    """Generate first; then everyone else at once."""
    # Judges are asked about what generators write, and so must wait for all of it.
    first = [worker for worker in workers if worker.participant.id.stage == "generate"]
    # A call that lies in a batch would be paid for twice.
    if not options.batch:
        check_no_batch_is_open(session)
    for group in (first, [worker for worker in workers if worker not in first]):
        if group and options.batch and not stop.reason:
            await BatchRun(group, study, session, stop, options.quiet).run(
                resubmit=options.resubmit
            )
        if group and not stop.reason:
            # Each stage has a writer of its own, which counts its records from none.
            commits = Commits()
            for worker in group:
                worker.commits = commits
            session.start(_counter(workers, commits))
            await _together(group, study, session, stop, quiet=options.quiet)
            session.stop()
            await asyncio.sleep(0)  # what the last commit counted is counted now
            # Also after an interruption: what was written is there, and is
            # rated by whoever goes on.
            keep_generated(session.connection, [worker.participant for worker in first])


async def _together(
    workers: Sequence[Worker], study: Study, session: Session, stop: Stop, *, quiet: bool
) -> None:
    """Let the workers work side by side; at an interruption end within the grace period."""
    display = asyncio.create_task(show_progress(workers, quiet=quiet))
    telling = asyncio.create_task(_tell(workers, session))
    # Tasks of their own, so that one rater that breaks does not leave the others running unheard.
    loops = [asyncio.create_task(work(worker, study)) for worker in workers]
    watch = asyncio.create_task(_hurry(workers, stop))
    try:
        await asyncio.gather(*loops)
    finally:
        # All of them, calls under way too: a task that outlives its loop is a warning at exit, and
        # a reply that nobody keeps.
        calls = (task for worker in workers for task in worker.open)
        ending = (display, telling, watch, *loops, *calls)
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)


async def _tell(workers: Sequence[Worker], session: Session) -> None:
    """Leave word of how many calls are open until cancelled, for `session status`."""
    try:
        while True:
            calls = {one.model: one for worker in workers for one in worker.calls_open}
            session.tell(json.dumps([asdict(one) for one in calls.values()]))
            await asyncio.sleep(TELL_EVERY)
    finally:
        session.tell("")


async def _hurry(workers: Sequence[Worker], stop: Stop) -> None:
    """At the end of a run: no call is made that waits; after an interruption, cancel those late."""
    await stop.wait()
    # Who waits for a place or an allowance has cost nothing yet.
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
    tallies = {worker.participant.id: worker.tally for worker in workers}

    def count(records: Sequence[object]) -> None:
        commits.advance(len(records))
        for finish in records:
            # Counted at the commit, not at the reply: what the display shows
            # as done outlives a kill.
            if isinstance(finish, Finish) and finish.slot is not None:
                tally = tallies[finish.slot.rater]
                (tally.faults if finish.failed else tally.statuses)[
                    finish.fault or finish.status
                ] += 1
                tally.fresh += 1

    # In the writer's thread, where neither futures nor tallies may be touched.
    def committed(records: Sequence[object]) -> None:
        loop.call_soon_threadsafe(count, records)

    return committed


async def show_progress(workers: Sequence[Worker], *, quiet: bool) -> None:
    """Show how far the workers are until cancelled."""
    if quiet:
        return
    # A log or a notebook would fill with the signs by which a live table is drawn anew.
    if sys.stderr.isatty():
        await _live(workers)
    else:
        await _lines(workers)


def summary(worker: Worker, seconds: float) -> str:
    """One line on one rater: done, failed by kind, rate, tokens, cost and time left."""
    tally = worker.tally
    parts = [f"{worker.participant.id.name}: {tally.done}/{tally.tasks} done"]
    if tally.failed:
        parts.append(f"failed {_kinds(tally.faults)}")
    parts += [f"{_rate(worker, seconds):.1f}/s", f"{_tokens(worker)} tokens"]
    parts += [cost_text(worker), f"{_left(worker, seconds)} left"]
    parts += map(str, worker.calls_open)
    if worker.suspended:
        parts.append(f"SUSPENDED: {worker.suspended}")
    return ", ".join(parts)


def cost_text(worker: Worker) -> str:
    """What a rater has cost, or that it is not known."""
    cost = worker.tally.cost(worker.prices)
    if cost is None:
        return "cost unknown"
    blind = worker.tally.whole.blind
    more = f" (and {blind} replies without token counts)" if blind else ""
    return f"{cost:.4f} {worker.spec.currency}{more}"


async def _lines(workers: Sequence[Worker]) -> None:
    started = time.monotonic()
    while True:
        await asyncio.sleep(LINE_EVERY)
        for worker in workers:
            sys.stderr.write(summary(worker, time.monotonic() - started) + "\n")
        sys.stderr.flush()


async def _live(workers: Sequence[Worker]) -> None:
    from rich.live import Live  # noqa: PLC0415 - a terminal alone needs it

    started = time.monotonic()
    with Live(console=terminal(stderr=True), refresh_per_second=8, transient=True) as live:
        while True:
            live.update(_table(workers, time.monotonic() - started))
            await asyncio.sleep(LIVE_EVERY)


def _table(workers: Sequence[Worker], seconds: float) -> Any:
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(
        "rater", "done", "failed", "a second", "tokens", "cost", "left", "calls", box=None
    )
    for worker in workers:
        tally = worker.tally
        state = "suspended" if worker.suspended else _left(worker, seconds)
        row = (
            worker.participant.id.name,
            f"{tally.done}/{tally.tasks}",
            _kinds(tally.faults),
            f"{_rate(worker, seconds):.1f}",
            str(_tokens(worker)),
            cost_text(worker),
            state,
            "; ".join(map(str, worker.calls_open)),
        )
        table.add_row(*(Text(visible(cell)) for cell in row))
    return table


def _tokens(worker: Worker) -> int:
    whole = worker.tally.whole
    return whole.input + whole.output


def _kinds(faults: dict[str, int]) -> str:
    return " ".join(f"{kind} {count}" for kind, count in sorted(faults.items())) or "-"


def _rate(worker: Worker, seconds: float) -> float:
    return worker.tally.fresh / seconds if seconds > 0 else 0.0


def _left(worker: Worker, seconds: float) -> str:
    rate = _rate(worker, seconds)
    if rate == 0:
        return "?"
    left = (worker.tally.tasks - worker.tally.done - worker.tally.failed) / rate
    return (
        f"{left / 3600:.1f} h"
        if left >= 3600
        else f"{left / 60:.0f} min"
        if left >= 90
        else f"{left:.0f} s"
    )

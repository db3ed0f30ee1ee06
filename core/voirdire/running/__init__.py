"""Running panels: the only room that awaits."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

from voirdire.errors import InputError
from voirdire.running._models import completer, make_model
from voirdire.running._prepare import DryRater, RunOptions, dry_run, read_study
from voirdire.running._result import RaterResult, RunResult, session_status
from voirdire.running._run import execute
from voirdire.running._stop import Stop, interruptible, supervised
from voirdire.running.batches import cancel_batches
from voirdire.running.sharing import run_shared

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

    from voirdire._registry import Plugins
    from voirdire.study import Stage, Study

__all__ = [
    "DryRater",
    "RaterResult",
    "RunResult",
    "arun",
    "cancel_batches",
    "completer",
    "dry_run",
    "make_model",
    "run",
    "session_status",
]


def run(  # noqa: PLR0913 - each is a choice of the caller
    study: Study | str | Path,
    out: str | Path,
    *,
    resume: bool = False,
    only: Stage | None = None,
    max_cost: float | None = None,
    max_calls: int | None = None,
    ask_again: bool = False,
    quiet: bool = False,
    workers: str | int | None = None,
    insecure: bool = False,
    batch: bool = False,
    resubmit: bool = False,
    end_within: float | None = None,
    shared: bool = False,
    plugins: Plugins | None = None,
) -> RunResult:
    """Run a study: ask its generators and its panel, keep every reply, derive the tables.

    Works from scripts and in Jupyter (there in a thread of its own). Ctrl-C, SIGTERM and SIGHUP end
    it cleanly: calls under way get three seconds, what has come is kept, and the result says
    ``interrupted``. Where a plugin blocks the loop, a second signal raises KeyboardInterrupt.

    Parameters
    ----------
    study : Study, str or Path
        The study, or its file.
    out : str or Path
        The session folder.
    resume : bool
        Go on with an existing session: only what has no final reply is asked.
    only : {"generate", "judge", "annotate"}, optional
        One stage alone.
    max_cost, max_calls : optional
        Limits on the whole session (earlier runs included), in place of the study's.
    ask_again : bool
        Ask again for stored replies that no longer fit the study, because a prompt, a model, a
        parameter or a text has changed; without it they are an error.
    quiet : bool
        Show no progress.
    workers : str or int, optional
        Share the study out: a number of processes, or the address of a cluster (`dask://...`), as
        `voirdire.executors.open_executor` takes it. Limits are of the whole run.
    insecure : bool
        Whether a cluster on another machine may be used without TLS.
    batch : bool
        Ask in batches, at a lower price and within a day, where a model takes them.
    resubmit : bool
        Ask again for batches of which it is not known whether they were submitted.
    end_within : float, optional
        Seconds after a signal to end in which this process must have ended; a process beside it
        kills it otherwise, such as where a plugin never comes back. Without it nobody does.
    shared : bool
        Whether others may read a new session, as the umask says; by default its owner alone may.
    plugins : Plugins, optional
        In place of those that are installed.

    Returns
    -------
    RunResult
        What each rater did and cost; ``exit_code`` is 0 complete, 3 partial, 130 interrupted.

    Raises
    ------
    StudyError, TableError
        The study or its files cannot be used; nothing has been asked.
    SessionError
        The folder is locked, foreign, or holds a session and `resume` is False.
    """
    declared = read_study(study, max_cost=max_cost, max_calls=max_calls)
    options = RunOptions(
        resume, ask_again, only, quiet, batch=batch, resubmit=resubmit, shared=shared
    )
    if workers is not None and batch:
        raise InputError("give workers or batch: a batch is one piece, and one process submits it")
    if workers is not None:
        if plugins is not None:
            raise InputError("workers load the plugins that are installed: leave plugins out")
        with supervised(end_within):
            return run_shared(declared, out, options, workers, insecure=insecure)

    async def go(stop: Stop) -> RunResult:
        return await execute(declared, out, stop, options, plugins)

    # In a notebook a loop runs already, and a loop cannot be run inside another.
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        with supervised(end_within):
            return asyncio.run(interruptible(go))
    with supervised(end_within):
        return _in_thread(go)


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
    declared = read_study(study, max_cost=max_cost, max_calls=max_calls)
    options = RunOptions(resume, ask_again, only, quiet)
    return await execute(declared, out, Stop(), options, plugins)


def _in_thread(go: Callable[[Stop], Coroutine[None, None, RunResult]]) -> RunResult:
    """Run in a thread with a loop of its own; Ctrl-C in the waiting thread ends it."""
    outcome: list[RunResult | BaseException] = []
    started = threading.Event()
    handle: list[Callable[[], object]] = []

    async def inside() -> RunResult:
        stop, loop = Stop(), asyncio.get_running_loop()
        handle.append(lambda: loop.call_soon_threadsafe(stop.set, "interrupted"))
        started.set()
        return await go(stop)

    def body() -> None:
        try:
            outcome.append(asyncio.run(inside()))
        except BaseException as error:  # noqa: BLE001 - raised again in the calling thread
            outcome.append(error)

    thread = threading.Thread(target=body, name="voirdire-run")
    thread.start()
    # `join` is where Ctrl-C arrives: it is passed on to the loop, and the end is waited for.
    while thread.is_alive():
        try:
            thread.join()
        except KeyboardInterrupt:
            # A Ctrl-C within the first milliseconds: there is no loop yet that could be told.
            started.wait()
            handle[0]()
    result = outcome[0]
    if isinstance(result, BaseException):
        raise result
    return result

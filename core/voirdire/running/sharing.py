"""A study shared out among workers: pieces of its items, each run in a session of its own.

The pieces lie in a folder of the session that they come from, which all workers must reach. A piece
is run as any study is, so that a worker that dies costs the calls it had open: whoever gets the
piece next goes on with its session. A piece that is through is merged by its keys and removed.
"""

from __future__ import annotations

import asyncio
import shutil
import signal
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import parent_process
from pathlib import Path
from typing import TYPE_CHECKING

from voirdire._manager import plugins as loaded_plugins
from voirdire.errors import SessionError, WorkerError
from voirdire.executors import open_executor
from voirdire.files import own_folder
from voirdire.running._prepare import (
    RunOptions,
    charge,
    chosen,
    priced_panel,
    read_study,
    take_inputs,
    warn_of_keys,
)
from voirdire.running._result import RunResult, keep_outcome, rater_results
from voirdire.running._run import execute
from voirdire.running._stop import interruptible
from voirdire.running.budget import Budget
from voirdire.store import is_session, session_study
from voirdire.store.counts import open_items
from voirdire.store.findings import take_findings
from voirdire.store.lock import acquire, release
from voirdire.store.merging import take_piece, take_session
from voirdire.store.session import (
    PIECES,
    locked_session,
    open_session,
    session_mode,
    transaction,
    usable,
)
from voirdire.store.tasks import keep_generated
from voirdire.study import study_to_toml

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

    from voirdire.running._prepare import Declared
    from voirdire.running._stop import Stop
    from voirdire.store.raters import Participant
    from voirdire.store.session import Session
    from voirdire.study import ModelLimits, RunSpec, Stage, Study

#: Tasks of a piece at least: fewer would cost more to hand over than to ask.
CHUNK = 1_000
#: Places of a worker that a chunk keeps busy: with more of them a piece would soon be at its last
#: calls, where one that hangs holds up the rest.
PLACES = 32
#: The file that asks all workers to end.
STOP = "stop"
#: Seconds that a piece's former worker is given to end, and between looks at `STOP`.
#: A worker that was told to end has its calls' grace and its writer's last commit before it.
PATIENCE, LOOK = 60.0, 0.5


@dataclass(frozen=True, slots=True)
class Piece:
    """A session to be run, and the limits on what it may come to, that on file included."""

    folder: str
    max_cost: float | None = None
    max_calls: int | None = None


@dataclass(frozen=True, slots=True)
class PieceResult:
    """What became of pieces: their folders, who was suspended and why, and why one was stopped."""

    folders: tuple[str, ...]
    suspended: tuple[tuple[str, str], ...] = ()
    stopped: str = ""

    def __add__(self, other: PieceResult) -> PieceResult:
        """Both together."""
        stopped = self.stopped or other.stopped
        return PieceResult(self.folders + other.folders, self.suspended + other.suspended, stopped)


def run_shared(
    declared: Declared, out: str | Path, options: RunOptions, workers: str | int, *, insecure: bool
) -> RunResult:
    """Run a study by several workers; parameters and errors are those of `run`."""
    began = time.monotonic()
    panel = priced_panel(declared.study, out, loaded_plugins())
    study, asking = panel.study, chosen(panel, options.only)
    warn_of_keys(declared.text)

    def take(connection: sqlite3.Connection) -> None:
        take_inputs(connection, study, asking, options, out)

    with (
        usable(out),
        open_session(
            out,
            declared.study,
            declared.text,
            resume=options.resume,
            take=take,
            shared=options.shared,
        ) as session,
        open_executor(workers, insecure=insecure) as executor,
    ):
        shared = SharedRun(session, study, asking, options, executor.workers)
        with shared.stoppable():
            # What an earlier run left first: its pieces hold replies that were paid for,
            # and would be asked again.
            shared.gather_left()
            work = partial(run_piece, only=options.only)
            while shared.open_items() and not shared.stopped:
                before = shared.attempts()
                try:
                    shared.take_in(executor.map_reduce(work, shared.pieces(), shared.added))
                # A worker died, and perhaps others with it: what their pieces hold is taken in,
                # and the rest goes on, as long as every round gets something done.
                except WorkerError:
                    shared.gather_left()
                    if shared.attempts() == before:
                        raise
                if shared.attempts() == before:  # what is open stays so
                    shared.end()
                    break
                shared.again = True
        raters = keep_outcome(session, panel, asking, suspended=shared.suspended)
    taken = time.monotonic() - began
    return RunResult(session.folder, raters, taken, shared.stopped, study.run.currency)


class SharedRun:
    """A study on its way through the workers, as the one who shares it out knows it.

    Attributes
    ----------
    suspended : dict
        Raters that were given up, and why; later pieces do without them.
    stopped : str
        ``"interrupted"``, ``"budget"`` or empty.
    short : str
        ``"budget"`` once a piece has used up its share; others may have some of theirs left.
    again : bool
        Whether all pieces were given out once: then what failed is not asked again.
    """

    def __init__(
        self,
        session: Session,
        study: Study,
        asking: Sequence[Participant],
        options: RunOptions,
        workers: int,
    ) -> None:
        self.session, self.study, self.asking, self.options = session, study, asking, options
        self.workers, self.again = workers, False
        self.suspended: dict[str, str] = {}
        self.stopped = self.short = ""
        self._folder = session.folder / PIECES
        self._made = 0
        self._taken: set[str] = set()
        #: What pieces that are under way may still spend: cost and calls.
        self._held: dict[str, tuple[float, int]] = {}

    def open_items(self) -> dict[str, int]:
        """Item -> tasks that are to be asked about it, in order."""
        # Judges' tasks on responses that pieces have generated are open from now on.
        keep_generated(self.session.connection, self.asking)
        tasks: dict[str, int] = {}
        for participant in self._not_suspended():
            for item, count in open_items(
                self.session.connection, participant, self.study.comparisons, failed=not self.again
            ).items():
                tasks[item] = tasks.get(item, 0) + count
        return tasks

    def end(self) -> None:
        """Nothing more can be asked: the budget is used up, or all who could ask are suspended."""
        self.stopped = self.stopped or self.short

    def attempts(self) -> int:
        """Attempts on file, by which progress is known."""
        sql = "SELECT count(*) FROM attempts"
        return int(self.session.connection.execute(sql).fetchone()[0])

    def pieces(self) -> Iterator[Piece]:
        """The pieces, each made when a worker is about to take it."""
        items: list[str] = []
        open_tasks = self.open_items()
        left, tasks = sum(open_tasks.values()), 0
        enough = CHUNK * max(1, _part(self.study.run.concurrency, self.workers) // PLACES)
        for at, (item, count) in enumerate(open_tasks.items(), 1):
            items.append(item)
            tasks += count
            # Whole items: a task and what it is rated beside belong in one session.
            if tasks >= enough or at == len(open_tasks):
                # Asked at each piece: while workers were at theirs, a signal may have
                # come or a rater been suspended.
                if self.stopped or not self._not_suspended():
                    return
                yield self._piece(items, tasks / left)
                items, left, tasks = [], left - tasks, 0

    def _not_suspended(self) -> list[Participant]:
        return [
            participant for participant in self.asking if participant.id.name not in self.suspended
        ]

    def _piece(self, items: Sequence[str], share: float) -> Piece:
        """A session that holds these items and all that is on file about them.

        Of what the run may still spend it gets the share that its tasks are of the open ones.
        """
        # By the time as well: pieces that a killed run left must not be taken for these.
        self._made += 1
        folder = self._folder / f"{int(time.time() * 1000):x}-{self._made:05}"
        study = self.study.model_copy(
            update={
                "run": self._limits(),
                "panel": tuple(s for s in self.study.panel if s.name not in self.suspended),
                "generators": tuple(
                    s for s in self.study.generators if s.name not in self.suspended
                ),
            }
        )

        def take(connection: sqlite3.Connection) -> None:
            take_piece(connection, self.session.connection, items)

        shared = session_mode(self.session.folder) is None
        with open_session(folder, study, study_to_toml(study), take=take, shared=shared) as session:
            spent = Budget(self.study.run.max_cost, None)
            charge(spent, session, self.study)
        cost, calls = self._left()
        more = (
            None if cost is None else cost * share,
            # Rounded down: the sum of all shares must not exceed what is left.
            None if calls is None else int(calls * share),
        )
        # Held until the piece comes back, so that pieces together cannot spend
        # more than the whole may.
        self._held[str(folder)] = more[0] or 0.0, more[1] or 0
        return Piece(
            str(folder),
            None if more[0] is None else spent.cost + more[0],
            None if more[1] is None else spent.calls + more[1],
        )

    def _left(self) -> tuple[float | None, int | None]:
        """Cost and calls that are neither spent nor held by a piece; None without a limit."""
        spec = self.study.run
        spent = Budget(spec.max_cost, None)
        charge(spent, self.session, self.study)
        cost = sum(cost for cost, _ in self._held.values()) + spent.cost
        calls = sum(calls for _, calls in self._held.values()) + spent.calls
        return (
            None if spec.max_cost is None else max(spec.max_cost - cost, 0.0),
            None if spec.max_calls is None else max(spec.max_calls - calls, 0),
        )

    def _limits(self) -> RunSpec:
        """What the models bear from one worker: that of the whole run, divided."""
        spec, n = self.study.run, self.workers
        limits: dict[str, object] = {
            "concurrency": _part(spec.concurrency, n),
            "start_concurrency": _part(spec.start_concurrency, n),
            # Workers know nothing of one another: each keeps within its share,
            # which together is the limit.
            "requests_per_minute": spec.requests_per_minute and spec.requests_per_minute / n,
            "tokens_per_minute": spec.tokens_per_minute and spec.tokens_per_minute / n,
            "models": {name: _divided(own, n) for name, own in spec.models.items()},
            "max_cost": None,
            "max_calls": None,
        }
        return spec.model_copy(update=limits)

    def added(self, one: PieceResult, other: PieceResult) -> PieceResult:
        """Two results together, once both are taken in."""
        self.take_in(one)
        self.take_in(other)
        return one + other

    def take_in(self, ran: PieceResult) -> None:
        """Merge the pieces that are through."""
        if ran.stopped == "budget":
            self.short = ran.stopped
        else:
            self.stopped = self.stopped or ran.stopped
        self.suspended |= dict(ran.suspended)
        for folder in ran.folders:
            # The executor may hand over one result twice, alone and as part of a sum.
            if folder not in self._taken:
                self._taken.add(folder)
                self._merge(Path(folder))
                self._held.pop(folder, None)

    def gather_left(self) -> None:
        """Merge what pieces hold that nobody came back with.

        Raises
        ------
        SessionError
            A worker still works in one.
        """
        for folder in sorted(self._folder.glob("*-*")):
            # A kill may have left a folder in which nothing was written yet.
            if is_session(folder):
                _wait_until_free(folder)
                self._merge(folder)
        self._held.clear()

    def _merge(self, folder: Path) -> None:
        # Whole or not at all: a kill in between leaves the piece to be merged by the next run.
        with locked_session(folder), transaction(self.session.connection):
            take_session(self.session.connection, folder, subjects=False)
        # Then the findings, and only then is the folder removed: after a
        # kill they are taken again.
        take_findings(self.session.folder, folder)
        shutil.rmtree(folder, ignore_errors=True)
        if not self.options.quiet:
            done = ", ".join(
                f"{one.name} {one.done}/{one.tasks}"
                for one in rater_results(self.session.connection, self.study, self.asking)
            )
            sys.stderr.write(f"a piece is through: {done} done\n")

    @contextmanager
    def stoppable(self) -> Iterator[None]:
        """Let a first signal end all workers cleanly, and a second one end this at once."""
        own_folder(self._folder, shared=session_mode(self.session.folder) is None)
        (self._folder / STOP).unlink(missing_ok=True)

        def heard(*_: object) -> None:
            # The second one: who presses twice does not want to wait for the workers' grace.
            if self.stopped == "interrupted":
                raise KeyboardInterrupt
            self.stopped = "interrupted"
            (self._folder / STOP).touch()

        # In a notebook's thread signals cannot be set; there the file alone stops the workers.
        in_main_thread = threading.current_thread() is threading.main_thread()
        signals = [signal.SIGINT, signal.SIGTERM] if in_main_thread else []
        before = {number: signal.signal(number, heard) for number in signals}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            (self._folder / STOP).unlink(missing_ok=True)
            # Pieces that a worker still holds stay for the next run.
            if not any(self._folder.iterdir()):
                self._folder.rmdir()


def _part(count: int, workers: int) -> int:
    # A limit of 2 among 8 workers would be none at all.
    return max(count // workers, 1)


def _divided(limits: ModelLimits, workers: int) -> ModelLimits:
    given = {
        name: value / workers if name.endswith("minute") else _part(int(value), workers)
        for name, value in limits
        if value is not None
    }
    return limits.model_copy(update=given)


def run_piece(piece: Piece, only: Stage | None) -> PieceResult:
    """Run the session of a piece to its end, in whichever process; nothing is asked twice."""
    folder = Path(piece.folder)
    if not is_session(folder):  # it was through and merged, and its worker died on the way back
        return PieceResult(())
    if parent_process() is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is for who shares out
    _wait_until_free(folder)
    # A file: workers on other machines share the folder with us, and nothing else.
    stop = folder.parent / STOP
    if stop.exists():
        return PieceResult((piece.folder,), (), "interrupted")
    declared = read_study(session_study(folder), max_cost=piece.max_cost, max_calls=piece.max_calls)
    result = asyncio.run(_ended(declared, folder, only, stop))
    suspended = tuple((rater.name, rater.suspended) for rater in result.raters if rater.suspended)
    return PieceResult((piece.folder,), suspended, result.stopped)


async def _ended(declared: Declared, folder: Path, only: Stage | None, path: Path) -> RunResult:
    # The piece's texts were checked where it was made; what does not fit
    # there was agreed to there.
    options = RunOptions(resume=True, ask_again=True, only=only, quiet=True, whole=False)

    async def go(stop: Stop) -> RunResult:
        watch = asyncio.create_task(_watch(path, stop))
        try:
            return await execute(declared, folder, stop, options, None)
        finally:
            watch.cancel()

    return await interruptible(go)


async def _watch(path: Path, stop: Stop) -> None:
    """End the piece when all are to end, or when nobody is left to hand it to."""
    while not _is_over(path):  # noqa: ASYNC110 - another process makes the file, on any machine
        await asyncio.sleep(LOOK)
    stop.set("interrupted")


def _is_over(path: Path) -> bool:
    # Whoever shares out may have been killed: without it nobody takes what
    # this would go on to buy.
    parent = parent_process()
    return path.exists() or (parent is not None and not parent.is_alive())


def _wait_until_free(folder: Path) -> None:
    """Wait until a former worker has let go of a session: one that was told to end takes seconds.

    Raises
    ------
    SessionError
        It still works there.
    """
    ends = time.monotonic() + PATIENCE
    while True:
        try:
            release(acquire(folder))
            return
        except SessionError:
            if time.monotonic() > ends:
                raise
            time.sleep(LOOK)

"""Calls asked in batches, at half the price and within a day: submitted, waited for, kept.

This goes before the live run and leaves it less to do: what a batch has answered is on file, and
what it has not (a line that failed or expired, a further step, a reply that must be asked again) is
asked live. Nothing that may have been submitted is asked again before that is decided.
"""

from __future__ import annotations

import asyncio
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from voirdire._manager import plugins as loaded_plugins
from voirdire.errors import ModelError, SessionError
from voirdire.running._models import close_model, make_model
from voirdire.running._prepare import charge
from voirdire.running.budget import tally_of
from voirdire.running.tasks import first_steps
from voirdire.secrets import scrub
from voirdire.store import session_study
from voirdire.store.batches import (
    intend,
    keep_results,
    lines_of,
    open_batches,
    set_status,
    was_tried,
)
from voirdire.store.counts import count_finished
from voirdire.store.raters import model_identity, model_name
from voirdire.store.session import locked_session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire._registry import Plugins
    from voirdire.protocols import Batches
    from voirdire.running._stop import Stop
    from voirdire.running.tasks import TaskStep
    from voirdire.running.workers import Worker
    from voirdire.schema import BatchState
    from voirdire.store.batches import Batch
    from voirdire.store.session import Session
    from voirdire.study import GeneratorSpec, Rater, Study

#: Lines of a batch at most, and characters: results of more would not be read, and Google takes no
#: more than 20 MB.
#: OpenAI bears 50,000 lines and 200 MB; smaller batches are done sooner, and
#: one that fails costs less.
LINES, CHARACTERS = 5_000, 10_000_000
#: Seconds after which a batch that its provider does not list was never submitted, and by which
#: its clock may be behind ours.
#: A list that lags by a few seconds must not make us pay twice; waiting a minute once
#: costs nothing beside a day.
SETTLE, SKEW = 60.0, 300.0


@dataclass
class BatchRun:
    """The batches of one session on their way."""

    workers: Sequence[Worker]
    study: Study
    session: Session
    stop: Stop
    quiet: bool
    open: list[Batch] = field(default_factory=list)
    _said: dict[str, str] = field(default_factory=dict)

    async def run(self, *, resubmit: bool) -> None:
        """Settle what an earlier process left, submit what is open, and wait for all of it.

        Raises
        ------
        SessionError
            A provider refuses a batch.
        """
        connection = self.session.connection
        # Those of the other stage are its own affair, and those of a model that is asked no
        # more can be asked by nobody.
        self.open = [one for one in open_batches(connection) if self._batches(one.model)]
        for batch in self.open:
            # Only these are in doubt: of a submitted one the provider's id is known.
            if resubmit and batch.status == "intended":
                set_status(connection, batch, "void", detail="to be submitted again")
        self.open = [one for one in open_batches(connection) if self._batches(one.model)]
        await self._wait()
        if not self.stop.reason:
            await self._submit_all()
            await self._wait()
        self._count_anew()

    def _batches(self, model: str) -> Batches | None:
        for worker in self.workers:
            for endpoint in worker.endpoints.values():
                if endpoint.identity == model:
                    return endpoint.batches
        return None

    def _count_anew(self) -> None:
        """What came is on file now: counts and costs are read there, and so are the replies."""
        connection = self.session.connection
        for worker in self.workers:
            counts = count_finished(connection, worker.participant, self.study.comparisons)
            worker.tally = tally_of(connection, worker.participant, counts)
        budget = self.workers[0].budget
        # What the batches cost was reserved; now it is on file, and must not count twice.
        budget.restart()
        charge(budget, self.session, self.study)
        # From here on calls are looked up before they are asked: their replies came by the batch.
        self.session.resumed = True

    async def _submit_all(self) -> None:
        groups: dict[str, list[TaskStep]] = {}
        sizes: dict[str, int] = {}
        for worker in self.workers:
            for step in first_steps(worker, self.study):
                endpoint = worker.endpoint(step.request.role)
                batches = endpoint.batches
                if batches is None or not batches.fits(step.request):
                    continue
                # A line that failed or expired would do so again: it is asked live,
                # where faults can be retried.
                if was_tried(self.session.connection, step.call.key):
                    continue
                if not worker.affords(step.request):
                    break  # the live run says that the budget is used up
                group = groups.setdefault(endpoint.identity, [])
                group.append(step)
                size = sum(len(message.content) for message in step.request.messages)
                sizes[endpoint.identity] = sizes.get(endpoint.identity, 0) + size
                if len(group) >= LINES or sizes[endpoint.identity] >= CHARACTERS:
                    await self._submit(endpoint.identity, groups.pop(endpoint.identity))
                    sizes[endpoint.identity] = 0
        for identity, group in groups.items():
            await self._submit(identity, group)

    async def _submit(self, model: str, steps: Sequence[TaskStep]) -> None:
        """Write the intent down, submit, and note the provider's id."""
        batches = self._batches(model)
        if batches is None or self.stop.reason:
            return
        connection = self.session.connection
        # On the disk before anything is sent: a kill between the two leaves a trace to be settled.
        batch = intend(connection, model, [step.call for step in steps])
        lines = [(batch.line(step.call.key), step.request) for step in steps]
        try:
            number = await batches.submit(batch.name, lines)
        except ModelError as error:
            # A 4xx is an answer that nothing was taken; a time limit or a 5xx may come
            # behind an accepted batch.
            refused = error.status_code is not None and 400 <= error.status_code < 500
            if not refused:  # it may have come there all the same
                self._say(batch, f"it is not known whether it was submitted ({error})")
                self.open.append(batch)
                return
            # Errors of providers may quote the key that they were sent.
            set_status(connection, batch, "void", detail=scrub(str(error)))
            raise SessionError(
                f"session {self.session.folder}: a batch of {len(steps):,} calls was refused "
                f"({error}). Nothing of it was asked; without --batch they are asked one by one"
            ) from None
        set_status(connection, batch, "submitted", number=number)
        self.open = [*self.open, *(one for one in open_batches(connection) if one.id == batch.id)]
        self._say(batch, f"{len(steps):,} calls submitted")

    async def _wait(self) -> None:
        """Look at the open batches until none is left, or the run is to end."""
        while self.open and not self.stop.reason:
            for batch in list(self.open):
                try:
                    if await self._is_over(batch):
                        self.open = [one for one in self.open if one.id != batch.id]
                except ModelError as error:
                    # A key that expired or a quota: waiting would not help, and the
                    # batch itself is not lost.
                    if not error.retryable:
                        raise SessionError(
                            f"session {self.session.folder}: the state of batch {batch.name} "
                            f"cannot be read: {error}. The batch is kept as it is; go on with "
                            "--resume --batch"
                        ) from None
                    self._say(batch, f"its state cannot be read now ({error})")
            if self.open:
                await self._pause(self.study.run.batch_poll)
        for batch in self.open:
            self._say(batch, "goes on at its provider; fetch it with --resume --batch")

    async def _pause(self, seconds: float) -> None:
        # Between two looks lie minutes: a Ctrl-C must not wait for the next one.
        waits = asyncio.create_task(self.stop.wait())
        await asyncio.wait([waits], timeout=seconds)
        waits.cancel()

    async def _is_over(self, batch: Batch) -> bool:
        """Whether nothing more is to come of a batch: its results are kept, or there is none."""
        batches = self._batches(batch.model)
        if batches is None:
            return True
        number = batch.provider_id or await self._provider_id(batch, batches)
        if number is None:
            return False
        if not number:
            set_status(self.session.connection, batch, "void", detail="it was never submitted")
            self._say(batch, "was never submitted")
            return True
        state = await batches.state(number)
        self._say(batch, _progress(batch, state))
        if not state.ended:
            return False
        # Results come in any order and name their lines; parameters are
        # needed to read some of them.
        requests = lines_of(self.session.connection, batch)
        outcomes = await batches.results(number, requests)
        kept = keep_results(self.session.connection, batch, outcomes, state.said)
        self._say(batch, f"{kept:,} of {batch.lines:,} lines came back ({state.said})")
        return True

    async def _provider_id(self, batch: Batch, batches: Batches) -> str | None:
        """The provider's id of a batch that may have been submitted; empty: it was not.

        None while that is undecided.
        """
        connection = self.session.connection
        # Only those that the provider made since then: an older one cannot be ours.
        states = await batches.states(batch.at - SKEW)
        if batches.named:
            candidates = [state for state in states if state.name == batch.name]
        else:
            candidates = await self._of_lines(batch, batches, states)
        # Batches without names differ only in the names of their lines, which stand in the
        # results: an open batch has none.
        ended = [state for state in candidates if state.ended or batches.named]
        if ended:
            set_status(connection, batch, "submitted", number=ended[0].id)
            self._say(batch, "had been submitted")
            return str(ended[0].id)
        # Only now: a provider's list may lag behind what it has accepted.
        if not candidates and time.time() - batch.at > SETTLE:
            return ""
        self._say(
            batch,
            "it is not known yet whether it was submitted; nothing of it is asked again before "
            "that is decided (or with --resubmit)",
        )
        return None

    async def _of_lines(
        self, batch: Batch, batches: Batches, states: Sequence[BatchState]
    ) -> list[BatchState]:
        """Those that may be the batch by their number of lines, and are by their lines' names."""
        connection = self.session.connection
        ids = {row[0] for row in connection.execute("SELECT provider_id FROM batches")}
        requests = lines_of(connection, batch)
        alike = []
        for state in states:
            # Fetching the results of each of an account's batches would take minutes; their number
            # of lines tells nearly all apart.
            if state.lines != batch.lines or state.id in ids:
                continue
            if not state.ended or await batches.results(state.id, requests):
                alike.append(state)
        return alike

    def _say(self, batch: Batch, message: str) -> None:
        """A line on a batch, where it is another than the last one."""
        if not self.quiet and self._said.get(batch.name) != message:
            self._said[batch.name] = message
            sys.stderr.write(f"{batch.name} ({model_name(batch.model)}): {message}\n")


def _progress(batch: Batch, state: BatchState) -> str:
    counts = f"{state.done:,} of {batch.lines:,} done"
    if not state.lines:  # Google does not say
        return state.said
    return f"{counts}, {state.failed:,} failed" if state.failed else counts


def check_no_batch_is_open(session: Session) -> None:
    """A live run does not ask what a batch may have been asked.

    Raises
    ------
    SessionError
        There is an open batch.
    """
    waiting = open_batches(session.connection)
    if waiting:
        lines = sum(batch.lines for batch in waiting)
        raise SessionError(
            f"session {session.folder}: {len(waiting)} batches of {lines:,} calls are not settled; "
            "go on with --resume --batch, which waits for them (see them: voirdire session batches "
            f"{session.folder})"
        )


async def _cancelled(folder: Path, plugins: Plugins) -> list[Batch]:
    study = session_study(folder)
    with locked_session(folder) as connection:
        # What has no id cannot be named to its provider.
        waiting = [batch for batch in open_batches(connection) if batch.provider_id]
        specs: tuple[GeneratorSpec | Rater, ...] = (*study.generators, *study.panel)
        asked = {
            model_identity(one.model, one.options): one
            for spec in specs
            for one in spec.asks.values()
        }
        for batch in waiting:
            one = asked.get(batch.model)
            if one is None:
                raise SessionError(f"session {folder}: the study no longer asks {batch.model}")
            model = make_model(one.model, one.options, plugins, study.run.timeout)
            try:
                await model.batches.cancel(batch.provider_id)
            finally:
                await close_model(model)
    return waiting


def cancel_batches(folder: str | Path, plugins: Plugins | None = None) -> list[Batch]:
    """Ask the providers to stop the batches of a session that are under way.

    What was answered before is billed, and the next ``run --resume --batch`` fetches it and asks
    the rest live.

    Returns
    -------
    list of Batch
        Those that were to be stopped; empty where none is under way.

    Raises
    ------
    SessionError
        It is no session, or another process works in it.
    ModelError
        The provider cannot be reached, or refuses.
    """
    return asyncio.run(_cancelled(Path(folder), plugins or loaded_plugins()))

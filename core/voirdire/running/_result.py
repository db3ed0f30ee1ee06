"""What a run came to, frozen."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from voirdire._manager import plugins as loaded_plugins
from voirdire.running.budget import Tally, prices_of, spent_cost, tally_of, with_free_models
from voirdire.running.limits import OpenCalls
from voirdire.store import read_session, session_study, write_tables
from voirdire.store.counts import count_finished, count_on_file
from voirdire.store.findings import keep_findings
from voirdire.store.lock import told
from voirdire.store.raters import participants_found, stage_of
from voirdire.store.session import PIECES, usable

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence

    from voirdire._registry import Plugins
    from voirdire.store.frames import SessionPanel
    from voirdire.store.raters import Participant
    from voirdire.store.session import Session
    from voirdire.study import GeneratorSpec, Prices, Rater, Study


@dataclass(frozen=True, slots=True)
class ModelResult:
    """What one of a rater's models used in its role; `cost` is None where no price is known."""

    role: str
    model: str
    calls: int
    input: int
    output: int
    cost: float | None


@dataclass(frozen=True, slots=True)
class RaterResult:
    """What one rater (or generator) has done in this session, earlier runs included.

    Attributes
    ----------
    tasks, done, failed, open : int
        Tasks asked for; with a final reply; asked in vain; never settled.
    statuses, faults : mapping
        Done tasks by status, failed ones by kind of fault.
    calls : int
        Attempts made, good and bad.
    cost : float or None
        By the study's prices, 0 for a model that costs nothing; None where the price is not known.
    blind : int
        Replies whose tokens the provider did not say, which the cost leaves out.
    suspended : str
        Why it was given up in this run; empty where it was not.
    models : tuple of ModelResult
        What each of its models used, where it asks several.
    missing : str
        Why it cannot be made here, such as for a plugin that is not installed; then `tasks` counts
        those that were begun, since how many there are is not known.
    """

    name: str
    stage: str
    model: str
    tasks: int
    done: int
    failed: int
    statuses: Mapping[str, int]
    faults: Mapping[str, int]
    calls: int
    input: int
    output: int
    cached: int
    cost: float | None
    blind: int
    suspended: str
    models: tuple[ModelResult, ...] = ()
    missing: str = ""

    @property
    def open(self) -> int:
        """Tasks that have not been finished."""
        return self.tasks - self.done - self.failed

    @property
    def nothing_read(self) -> bool:
        """Whether there are replies and none could be read: all refused, blank, cut or the like."""
        # Such a run is whole by its count, and worth nothing: its exit code must say so.
        return self.done > 0 and not any(self.statuses.get(name) for name in ("ok", "repaired"))


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run came to.

    Attributes
    ----------
    folder : Path
        The session.
    raters : tuple of RaterResult
        In the order in which they were asked.
    seconds : float
        How long this run took.
    stopped : str
        ``"interrupted"``, ``"budget"`` or empty.
    currency : str
        Of the costs.
    calls : tuple of OpenCalls
        Of a run that is under way: how many calls to each model are open, and why not more.
    """

    folder: Path
    raters: tuple[RaterResult, ...]
    seconds: float
    stopped: str = ""
    currency: str = "USD"
    calls: tuple[OpenCalls, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every task has a final reply, and something could be read of every rater."""
        return not self.stopped and all(
            rater.done == rater.tasks and not rater.nothing_read and not rater.missing
            for rater in self.raters
        )

    @property
    def cost(self) -> float | None:
        """All costs; None where one is not known."""
        # Of a rater that made no call no price is needed.
        costs = [rater.cost for rater in self.raters if rater.calls]
        priced = [cost for cost in costs if cost is not None]
        return sum(priced) if len(priced) == len(costs) else None

    def to_json(self) -> str:
        """All of it as JSON, with what is derived and a `schema_version`."""
        raters = [
            {**asdict(rater), "open": rater.open, "nothing_read": rater.nothing_read}
            for rater in self.raters
        ]
        content = {
            "schema_version": 1,
            "folder": str(self.folder),
            "complete": self.complete,
            "exit_code": self.exit_code,
            "stopped": self.stopped,
            "seconds": self.seconds,
            "cost": self.cost,
            "currency": self.currency,
            "raters": raters,
            "calls": [asdict(one) for one in self.calls],
        }
        return json.dumps(content, indent=1)

    @property
    def exit_code(self) -> int:
        """0 complete, 3 partial, 130 interrupted."""
        # As a shell reports a process that Ctrl-C ended: 128 and the signal's number.
        if self.stopped == "interrupted":
            return 130
        return 0 if self.complete else 3


def session_status(folder: str | Path, plugins: Plugins | None = None) -> RunResult:
    """What a session holds, also while another process works in it; nothing is written.

    Of a rater whose plugin is not installed here it says what is on file.

    Returns
    -------
    RunResult
        With ``seconds`` 0 and nothing suspended: those belong to a run under way.
    """
    plugins = plugins or loaded_plugins()
    study = with_free_models(session_study(folder), plugins)
    made, lost = participants_found(study, plugins)
    # Counted in the database, not in the tables beside it: those are as old as the last run's end.
    with usable(folder), closing(read_session(folder)) as connection:
        raters = (
            *rater_results(connection, study, made),
            *(_on_file(connection, study, spec, why) for spec, why in lost),
        )
    calls = calls_open(Path(folder))
    return RunResult(Path(folder), raters, 0.0, "", study.run.currency, calls)


def _on_file(
    connection: sqlite3.Connection, study: Study, spec: Rater | GeneratorSpec, missing: str
) -> RaterResult:
    """What the store holds of a rater that cannot be made here."""
    stage = stage_of(spec)
    counts, spent = count_on_file(connection, stage, spec.name)
    tally = Tally(counts.tasks, counts.statuses, spent=spent)
    whole, faults = tally.whole, counts.faults
    return RaterResult(
        name=spec.name,
        stage=stage,
        model=spec.model_names,
        tasks=counts.tasks,
        done=tally.done,
        failed=faults.total(),
        statuses=dict(tally.statuses),
        faults=dict(faults),
        calls=whole.calls,
        input=whole.input,
        output=whole.output,
        cached=whole.cached,
        cost=tally.cost(prices_of(spec, study)),
        blind=whole.blind,
        suspended="",
        missing=missing,
    )


def calls_open(folder: Path) -> tuple[OpenCalls, ...]:
    """How many calls a run that is under way has open, over all its workers; none where none is."""
    found: dict[str, OpenCalls] = {}
    for place in (folder, *sorted((folder / PIECES).glob("*-*"))):
        for one in _told(place):
            found[one.model] = one + found[one.model] if one.model in found else one
    return tuple(found.values())


def _told(folder: Path) -> list[OpenCalls]:
    try:
        return [OpenCalls(**one) for one in json.loads(told(folder) or "[]")]
    except (ValueError, TypeError):  # read while it was being written, or by another version
        return []


def keep_outcome(
    session: Session,
    panel: SessionPanel,
    asking: Sequence[Participant],
    *,
    suspended: Mapping[str, str],
    tables: bool = True,
) -> tuple[RaterResult, ...]:
    """Keep what follows from the replies beside them: tables, and what raters find of their work.

    `suspended` says of raters that were given up why. Returns what each of the raters has done.
    """
    if tables:
        write_tables(session.folder, panel=panel, connection=session.connection)
    keep_findings(
        session.folder, ((participant.id.name, participant.rater) for participant in asking)
    )
    return rater_results(session.connection, panel.study, asking, suspended)


def rater_results(
    connection: sqlite3.Connection,
    study: Study,
    asking: Sequence[Participant],
    suspended: Mapping[str, str] | None = None,
) -> tuple[RaterResult, ...]:
    """Each rater's counts as the store holds them."""
    return tuple(
        _result(connection, study, participant, (suspended or {}).get(participant.id.name, ""))
        for participant in asking
    )


def _result(
    connection: sqlite3.Connection, study: Study, participant: Participant, suspended: str
) -> RaterResult:
    counts = count_finished(connection, participant, study.comparisons)
    tally, faults = tally_of(connection, participant, counts), counts.faults
    rater_id, whole, prices = participant.id, tally.whole, prices_of(participant.spec, study)
    return RaterResult(
        name=rater_id.name,
        stage=rater_id.stage,
        model=participant.spec.model_names,
        tasks=tally.tasks,
        done=tally.done,
        failed=faults.total(),
        statuses=dict(tally.statuses),
        faults=dict(faults),
        calls=whole.calls,
        input=whole.input,
        output=whole.output,
        cached=whole.cached,
        cost=tally.cost(prices),
        blind=whole.blind,
        suspended=suspended,
        models=_by_model(tally, participant, prices) if len(participant.spec.asks) > 1 else (),
    )


def _by_model(
    tally: Tally, participant: Participant, prices: Callable[[str], Prices | None]
) -> tuple[ModelResult, ...]:
    """What each model used that a rater of several has asked."""
    asks = participant.spec.asks
    models = []
    for role, spent in sorted(tally.spent.items()):
        asked = asks.get(role) or asks[""]
        cost = spent_cost(spent, prices(role))
        models.append(ModelResult(role, asked.model, spent.calls, spent.input, spent.output, cost))
    return tuple(models)

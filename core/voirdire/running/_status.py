"""How far a session is, without touching it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from voirdire._manager import plugins as loaded_plugins
from voirdire.running._costs import with_free_models
from voirdire.running._result import RaterResult, RunResult
from voirdire.running._tally import tally_of
from voirdire.store import askers, count_settled, read_session, session_study, usable

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from voirdire._registry import Plugins
    from voirdire.store import Asker
    from voirdire.study import Study


def session_status(folder: str | Path, plugins: Plugins | None = None) -> RunResult:
    """What a session holds, also while another process works in it.

    Returns
    -------
    RunResult
        With ``seconds`` 0 and nothing parked: those belong to a run under way.
    """
    plugins = plugins or loaded_plugins()
    study = with_free_models(session_study(folder), plugins)
    found = askers(study, plugins)
    with usable(folder), closing(read_session(folder)) as connection:
        return RunResult(
            Path(folder), rater_results(connection, study, found), 0.0, "", study.run.currency
        )


def rater_results(
    connection: sqlite3.Connection,
    study: Study,
    found: Sequence[Asker],
    parked: dict[str, str] | None = None,
) -> tuple[RaterResult, ...]:
    """Each rater's counts as the store holds them."""
    return tuple(
        _result(connection, study, asker, (parked or {}).get(asker.seat.name, ""))
        for asker in found
    )


def _result(connection: sqlite3.Connection, study: Study, asker: Asker, parked: str) -> RaterResult:
    tally = tally_of(connection, asker, study.comparisons)
    faults = count_settled(connection, asker, study.comparisons).faults
    seat = asker.seat
    return RaterResult(
        name=seat.name, stage=seat.stage, model=asker.spec.model, tasks=tally.tasks,
        done=tally.done, failed=faults.total(), statuses=dict(tally.statuses), faults=dict(faults),
        calls=tally.calls, input=tally.input, output=tally.output, cached=tally.cached,
        cost=tally.cost(study.run.prices.get(asker.spec.model)), blind=tally.blind, parked=parked,
    )  # fmt: skip

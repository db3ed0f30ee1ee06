"""What a run would take, before anything is asked."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from voirdire._manager import plugins as loaded_plugins
from voirdire.running._models import model_factory
from voirdire.running._panel import chosen, naming
from voirdire.running._run import read_inputs, read_study
from voirdire.running._tally import Tally
from voirdire.running.budget import REPLY_TOKENS, estimate_tokens, prices_of, with_free_models
from voirdire.schema import Response
from voirdire.store import is_session, read_session
from voirdire.store.counts import Spent
from voirdire.store.findings import rater_findings
from voirdire.store.frames import Panel
from voirdire.store.raters import askers
from voirdire.store.records import Slot, for_run, make_call
from voirdire.store.session import memory_session
from voirdire.store.subjects import generated_responses, take_responses
from voirdire.store.tasks import iterate_tasks
from voirdire.study import STAGES, Comparisons

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from voirdire._registry import Plugins
    from voirdire.schema import Finding, Request
    from voirdire.store.raters import Asker
    from voirdire.study import Stage, Study


@dataclass(frozen=True, slots=True)
class DryRater:
    """What one rater would take: an estimate at four characters a token.

    `calls` counts what is to be asked, `on_file` what the session holds already; both count first
    steps alone, retries and re-asking apart. `output` takes every reply to be
    as long as its cap (or 256 tokens). `cost` is None where the price is not known. `findings` are
    what the rater says of its own prompts, leaks of few-shot examples above all.
    """

    name: str
    stage: str
    model: str
    tasks: int
    calls: int
    on_file: int
    input: int
    output: int
    cost: float | None
    findings: tuple[Finding, ...] = ()


def dry_run(
    study: Study | str | Path,
    out: str | Path | None = None,
    *,
    only: Stage | None = None,
    max_cost: float | None = None,
    plugins: Plugins | None = None,
) -> tuple[DryRater, ...]:
    """Calls, tokens and cost by rater; where `out` is a session, of what it still lacks.

    Raises
    ------
    StudyError, TableError
        As a run would.
    """
    study, _ = read_study(study, max_cost=max_cost)
    plugins = plugins or loaded_plugins()
    study = with_free_models(study, plugins)
    panel = Panel(Path(out or ""), study, tuple(askers(study, plugins)))
    found = chosen(panel, STAGES if only is None else (only,))
    for asker in found:
        with naming(asker.spec.name):
            for asked in asker.spec.asks.values():
                model_factory(asked.model, plugins)
    with closing(memory_session()) as connection:
        read_inputs(connection, study, found)
        with closing(_known(out)) as known:
            _expect_generated(connection, known, panel.askers)
            return tuple(_estimate(connection, known, asker, study) for asker in found)


def _estimate(
    connection: sqlite3.Connection, known: sqlite3.Connection, asker: Asker, study: Study
) -> DryRater:
    tasks = kept = 0
    spent: dict[str, Spent] = {}
    for names, task in iterate_tasks(connection, asker.task, study.comparisons):
        requests = asker.rater.requests(task)
        tasks += asker.runs
        for run in range(1, asker.runs + 1):
            for step, request in enumerate(requests):
                if _is_on_file(known, Slot(asker.id, *names, run, step), request):
                    kept += 1
                    continue
                tokens = estimate_tokens(request)
                role = request.role
                spent[role] = spent.get(role, Spent()) + Spent(1, 0, *tokens)
    tally = Tally(spent=spent)
    whole, cost = tally.whole, tally.cost(prices_of(asker.spec, study))
    return DryRater(
        asker.id.name, asker.id.stage, asker.spec.model_names, tasks, whole.calls, kept,
        whole.input, whole.output, cost, rater_findings(asker.id.name, asker.rater),
    )  # fmt: skip


def _is_on_file(known: sqlite3.Connection, slot: Slot, request: Request) -> bool:
    key = make_call(slot, for_run(request, slot.run)).key
    sql = "SELECT 1 FROM calls WHERE key = ? AND final IS NOT NULL"
    return known.execute(sql, (key,)).fetchone() is not None


def _expect_generated(
    connection: sqlite3.Connection, known: sqlite3.Connection, askers: Sequence[Asker]
) -> None:
    """The responses that were generated, and stand-ins for others, each as long as its cap."""
    kept = generated_responses(known)
    responses = []
    for asker in askers:
        if asker.id.stage != "generate":
            continue
        system, cap = asker.id.name, asker.spec.max_tokens or REPLY_TOKENS
        for names, task in iterate_tasks(connection, asker.task, Comparisons()):
            (first, *_) = asker.rater.requests(task)
            text = kept.get((names[0], system))
            if text is None or not _is_on_file(known, Slot(asker.id, *names, 1, 0), first):
                text = "text" * cap
            responses.append(Response(names[0], system, text))
    take_responses(connection, responses, "generated")


def _known(out: str | Path | None) -> sqlite3.Connection:
    return memory_session() if out is None or not is_session(out) else read_session(out)

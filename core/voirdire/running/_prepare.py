"""Before anything is asked: the study is read, its texts are taken in, and workers are made.

A dry run stops there, and says what a run would take.
"""

from __future__ import annotations

import inspect
import random
import sys
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire._manager import plugins as loaded_plugins
from voirdire.errors import (
    InputError,
    MissingExtraError,
    PluginError,
    SessionError,
    StudyError,
    listed,
)
from voirdire.lazy import make_importable
from voirdire.protocols import BearsConcurrency, Converses, Prepares, TakesBatches
from voirdire.running._models import completer, make_model, model_factory, progress_of
from voirdire.running.budget import (
    REPLY_TOKENS,
    Budget,
    Tally,
    check_prices,
    cost_of,
    estimate_tokens,
    guessed,
    prices_of,
    tally_of,
    with_free_models,
)
from voirdire.running.limits import Breaker, RateLimiter
from voirdire.running.workers import Road, Worker
from voirdire.schema import Response, Turn
from voirdire.secrets import looks_secret
from voirdire.store import is_session, read_session
from voirdire.store.counts import Replies, Spent, blind_characters, count_finished, spent_by_model
from voirdire.store.findings import rater_findings
from voirdire.store.frames import SessionPanel
from voirdire.store.health import damage
from voirdire.store.raters import model_identity, model_name, participants
from voirdire.store.records import Slot, for_run, make_call
from voirdire.store.session import memory_session
from voirdire.store.tasks import (
    generated_responses,
    iterate_tasks,
    lonely_responses,
    take_items,
    take_responses,
)
from voirdire.store.turns import check_role, has_turns
from voirdire.study import STAGES, Comparisons, Study, load_study, study_to_toml
from voirdire.tables import read_items, read_responses

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping, Sequence

    from voirdire._registry import Plugins
    from voirdire.running._stop import Stop
    from voirdire.schema import Finding, Request
    from voirdire.store.raters import Participant
    from voirdire.store.session import Session
    from voirdire.study import Asked, ItemsSpec, ModelLimits, Stage


@dataclass(frozen=True, slots=True)
class Declared:
    """A study with its text, which is kept in the session."""

    study: Study
    text: str


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a run is made: see `run`.

    With `batch` calls go in batches where their model takes them so, and with `resubmit` those too
    of which it is not known whether they were submitted. A piece of a study that was shared out is
    run with `whole` False: its session holds its texts already, and tables are derived where the
    pieces come together. A new session is its owner's alone, or `shared` as the umask says.
    """

    resume: bool = False
    ask_again: bool = False
    only: Stage | None = None
    quiet: bool = False
    whole: bool = True
    batch: bool = False
    resubmit: bool = False
    shared: bool = False


def read_study(
    study: Study | str | Path, *, max_cost: float | None = None, max_calls: int | None = None
) -> Declared:
    """The study with limits given by hand, and its text as it is kept in the session."""
    # A study that was built in code has no text: it is written down, so that its
    # session can be read alone.
    if isinstance(study, Study):
        text = study_to_toml(study)
    else:
        path, study = Path(study), load_study(study)
        # Windows' editors put a byte-order mark before it, which TOML forbids.
        text = path.read_text(encoding="utf-8-sig")
    given = {"max_cost": max_cost, "max_calls": max_calls}
    limits = {name: value for name, value in given.items() if value is not None}
    spec = study.run.model_copy(update=limits)
    return Declared(study.model_copy(update={"run": spec}), text)


def warn_of_keys(text: str) -> None:
    """A study is kept with its session: what looks like a key in it is said."""
    lines = [number for number, line in enumerate(text.splitlines(), 1) if looks_secret(line)]
    if lines:
        sys.stderr.write(
            f"voirdire: line {lines[0]} of the study looks as if it held a key, and the study is "
            "kept with the session: keys come from the environment only\n"
        )


def priced_panel(study: Study, folder: str | Path, plugins: Plugins) -> SessionPanel:
    """Everyone in a study who asks a model; models that cost nothing have a price of 0."""
    study = with_free_models(study, plugins)
    return SessionPanel(Path(folder), study, tuple(participants(study, plugins)))


def chosen(panel: SessionPanel, only: Stage | None) -> list[Participant]:
    """Those who are to ask: everyone, or those of one stage.

    Raises
    ------
    StudyError
        Nobody is, or a cost limit is set and a price is not known.
    """
    stages = STAGES if only is None else (only,)
    study, asking = panel.study, list(panel.of(*stages))
    if not asking:
        raise StudyError(
            f"study {study.name!r} has nobody to run for {', '.join(stages)}: "
            "give [[panel]] or [[generators]] a model"
        )
    check_prices(
        study.run, (one.model for participant in asking for one in participant.spec.asks.values())
    )
    return asking


def make_workers(
    study: Study, asking: Sequence[Participant], session: Session, stop: Stop, plugins: Plugins
) -> tuple[list[Worker], list[Any]]:
    """A worker for each participant, and the models behind them, one a name and its options."""
    models: dict[str, tuple[Any, RateLimiter]] = {}
    workers: list[Worker] = []
    # One for all: the limit is on the session, whoever spends it.
    budget = Budget(study.run.max_cost, study.run.max_calls)
    for participant in asking:
        counts = count_finished(session.connection, participant, study.comparisons)
        tally = tally_of(session.connection, participant, counts)
        workers.append(
            Worker(
                participant=participant,
                endpoints={
                    role: Road(
                        completer(model),
                        limiter,
                        # A model that has answered in this session knows its parameters:
                        # a 400 is then the item's.
                        Breaker(study.run.breaker, answered=tally.done > 0),
                        study.run.prices.get(asked.model),
                        model_identity(asked.model, asked.options),
                        model.batches if isinstance(model, TakesBatches) else None,
                        model.prepare if isinstance(model, Prepares) else None,
                        progress_of(model),
                    )
                    for role, asked in participant.spec.asks.items()
                    for model, limiter in [
                        _model(participant.spec.name, asked, study, models, plugins)
                    ]
                },
                budget=budget,
                tally=tally,
                spec=study.run,
                session=session,
                stop=stop,
                # By its name, so that raters do not come back in step with one another, and
                # a test can repeat a run.
                chance=random.Random(participant.id.name),  # noqa: S311 - jitter is no secret
            )
        )
    # After the models are made: what is wrong with one is said before replies
    # without tokens are measured.
    charge(budget, session, study)
    return workers, [model for model, _ in models.values()]


def _model(
    name: str,
    asked: Asked,
    study: Study,
    made: dict[str, tuple[Any, RateLimiter]],
    plugins: Plugins,
) -> tuple[Any, RateLimiter]:
    """The model and its limiter, made once for each distinct name and options."""
    # Raters that ask the same model share its limits: the provider counts per key, not per rater.
    identity = repr((asked.model, asked.options))
    if identity not in made:
        # A path to a model of the user's own may lead to a module beside the study.
        if asked.model.startswith("langchain:"):
            make_importable(study.folder)
        with naming(name):
            model = make_model(asked.model, asked.options, plugins, study.run.timeout)
        made[identity] = model, RateLimiter(_limits(model, study.run.limits(asked.model)))
    return made[identity]


@contextmanager
def naming(rater: str) -> Iterator[None]:
    """Errors about a model name the rater that it is of."""
    try:
        yield
    # Which package to install needs no rater's name before it.
    except MissingExtraError:
        raise
    except (InputError, PluginError) as error:
        raise StudyError(f"{rater!r}, key 'model': {error}") from error


def _limits(model: Any, limits: ModelLimits) -> ModelLimits:
    """The study's limits, within what the model itself bears."""
    bears = model.concurrency if isinstance(model, BearsConcurrency) else None
    # A model that blocks runs in a thread; whether its library bears two at
    # once only its author knows.
    if bears is None and not inspect.iscoroutinefunction(model.complete):
        bears = 1
    if bears is None:
        return limits
    most = min(bears, limits.concurrency or bears)
    start = min(most, limits.start_concurrency or most)
    return limits.model_copy(update={"concurrency": most, "start_concurrency": start})


def charge(budget: Budget, session: Session, study: Study) -> None:
    """Charge the budget with what the session has spent so far, whoever spent it.

    Replies whose tokens are not known are charged by their length.
    """
    for identity, spent in spent_by_model(session.connection):
        prices = study.run.prices.get(model_name(identity))
        budget.calls += spent.calls
        budget.cost += 0.0 if prices is None else spent.cost(prices)
        # Measuring texts reads all of them: only where a limit rests on it.
        if prices is not None and spent.blind and budget.max_cost is not None:
            for asked, answered in blind_characters(session.connection, identity):
                budget.cost += cost_of(guessed(asked, answered), prices) or 0.0


def take_inputs(
    connection: sqlite3.Connection,
    study: Study,
    asking: Sequence[Participant],
    options: RunOptions,
    out: str | Path,
) -> None:
    """Take the study's texts in, and see that what is on file fits it."""
    # Before the texts are taken in: an edited text sets its replies aside, and
    # these are to be counted.
    replies = Replies.of(connection)
    if options.whole:
        read_inputs(connection, study, asking)
    if options.resume and not options.ask_again:
        _check_fit(replies.unfit(connection, asking, study.comparisons), out)


def _check_fit(unfit: Mapping[str, int], out: str | Path) -> None:
    """Replies that the edited study would ask for again are asked for only on purpose.

    Raises
    ------
    SessionError
        There are such replies; or their texts are damaged, which looks the same.
    """
    if unfit:
        # As it was before the study's texts were taken in, which is not committed yet.
        for problem in damage(out):
            if problem.kind == "damaged":
                raise SessionError(
                    f"session {out}: it is damaged, {problem.where}: {problem.detail} "
                    f"({problem.remedy})"
                )
        counts = ", ".join(f"{name} {count:,}" for name, count in unfit.items())
        raise SessionError(
            f"session {out}: {sum(unfit.values()):,} stored replies no longer fit the study "
            f"({counts}): a prompt, a model, a parameter or a text has changed. Going on asks for "
            "them again and takes them out of the tables: give --ask-again if that is meant, or "
            "--out another folder"
        )


def read_inputs(
    connection: sqlite3.Connection, study: Study, asking: Sequence[Participant]
) -> None:
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
    # An annotator labels items alone; whoever rates needs something to rate.
    elif not study.generators and any(participant.task != "item" for participant in asking):
        raise StudyError(
            f"study {study.name!r}: judges need [responses] or [[generators]] to have something "
            "to rate"
        )
    _check_units(connection, study, asking)


def _check_units(
    connection: sqlite3.Connection, study: Study, asking: Sequence[Participant]
) -> None:
    """What of conversations is judged is said, and there.

    Raises
    ------
    StudyError
        Nobody says whether the whole, each turn or the first failure is judged; nobody speaks in
        the role whose turns are; or a generator writes texts, which have no turns.
    """
    makers = [participant for participant in asking if participant.id.stage == "generate"]
    speakers, plain = _speakers(makers)
    there = has_turns(connection)
    if not (there or speakers or any(participant.judged.placed for participant in asking)):
        return
    for participant in asking:
        if participant.id.stage == "generate" or participant.task == "comparison":
            continue
        if getattr(participant.spec, "unit", None) is None and study.conversations.unit is None:
            raise StudyError(
                f"study {study.name!r}: there are conversations, and {participant.id.name!r} is to "
                "judge them: say under [conversations] whether unit = 'whole' (one judgement of "
                "each), 'turn' (each turn of a role, given its past), 'step' (each step of an "
                "agent) or 'first' (the first turn or step where it fails)"
            )
        if not participant.judged.placed:
            continue
        of_items = participant.task == "item"
        if plain and not of_items:
            raise StudyError(
                f"conversations.unit is {participant.judged.kind!r}, and what {listed(plain)} "
                "generates are texts without turns: give a generator of conversations (use = "
                "'dialogue'), or unit = 'whole'"
            )
        # Of a study whose generators were not run yet, nothing is known.
        if of_items or not study.generators or speakers or there:
            roles = () if of_items else speakers
            check_role(connection, participant.judged, of_items=of_items, speakers=roles)


def _speakers(makers: Sequence[Participant]) -> tuple[tuple[str, ...], list[str]]:
    """The roles of turns that generators will write, and the generators that write none."""
    talkers = [one.rater for one in makers if isinstance(one.rater, Converses)]
    plain = [one.id.name for one in makers if not isinstance(one.rater, Converses)]
    return tuple(role for rater in talkers for role in rater.speakers), plain


def _check_known(connection: sqlite3.Connection, spec: ItemsSpec) -> None:
    lonely = lonely_responses(connection)
    if lonely:
        item, system = lonely[0]
        raise StudyError(
            f"responses.path: {system!r} responds to item {item!r}, which {spec.path} does not hold"
        )


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
    plugins = plugins or loaded_plugins()
    panel = priced_panel(read_study(study, max_cost=max_cost).study, out or "", plugins)
    study, asking = panel.study, chosen(panel, only)
    for participant in asking:
        with naming(participant.spec.name):
            # Names are looked up and nothing is made: a dry run needs no key and loads no weights.
            for asked in participant.spec.asks.values():
                model_factory(asked.model, plugins)
    with closing(memory_session()) as connection:
        # Into memory: a dry run leaves no trace, also where the folder is a session.
        read_inputs(connection, study, asking)
        with closing(_on_file(out)) as on_file:
            _expect_generated(connection, on_file, panel.participants)
            return tuple(
                _estimate(connection, on_file, participant, study) for participant in asking
            )


def _estimate(
    connection: sqlite3.Connection,
    on_file: sqlite3.Connection,
    participant: Participant,
    study: Study,
) -> DryRater:
    tasks = kept = 0
    spent: dict[str, Spent] = {}
    for names, task in iterate_tasks(
        connection, participant.task, study.comparisons, participant.judged
    ):
        requests = participant.rater.requests(task)
        tasks += participant.runs
        for run in range(1, participant.runs + 1):
            for step, request in enumerate(requests):
                slot = Slot(participant.id, *names[:3], run, step, names.unit)
                if _is_on_file(on_file, slot, request):
                    kept += 1
                    continue
                tokens = estimate_tokens(request)
                role = request.role
                spent[role] = spent.get(role, Spent()) + Spent(1, 0, *tokens)
    tally = Tally(spent=spent)
    whole, cost = tally.whole, tally.cost(prices_of(participant.spec, study))
    return DryRater(
        participant.id.name,
        participant.id.stage,
        participant.spec.model_names,
        tasks,
        whole.calls,
        kept,
        whole.input,
        whole.output,
        cost,
        rater_findings(participant.id.name, participant.rater),
    )


def _is_on_file(on_file: sqlite3.Connection, slot: Slot, request: Request) -> bool:
    key = make_call(slot, for_run(request, slot.run)).key
    # By the key: an edited prompt has another one, and would be asked anew.
    sql = "SELECT 1 FROM calls WHERE key = ? AND final IS NOT NULL"
    return on_file.execute(sql, (key,)).fetchone() is not None


def _expect_generated(
    connection: sqlite3.Connection, on_file: sqlite3.Connection, participants: Sequence[Participant]
) -> None:
    """The responses that were generated, and stand-ins for others, each as long as its cap."""
    kept = generated_responses(on_file)
    responses = []
    for participant in participants:
        if participant.id.stage != "generate":
            continue
        system, cap = participant.id.name, participant.spec.max_tokens or REPLY_TOKENS
        for names, task in iterate_tasks(connection, participant.task, Comparisons()):
            (first, *_) = participant.rater.requests(task)
            text = kept.get((names[0], system))
            # What is not written yet is taken to be as long as it may become, so that
            # the estimate errs upwards.
            if text is None or not _is_on_file(
                on_file, Slot(participant.id, *names[:3], 1, 0), first
            ):
                text = "text" * cap
            turns: tuple[Turn, ...] = ()
            if isinstance(participant.rater, Converses) and participant.max_steps:
                pair = tuple(Turn(role, text) for role in participant.rater.speakers)
                turns = pair * max(1, participant.max_steps - 1)
            responses.append(Response(names[0], system, "" if turns else text, turns))
    take_responses(connection, responses, "generated")


def _on_file(out: str | Path | None) -> sqlite3.Connection:
    return memory_session() if out is None or not is_session(out) else read_session(out)

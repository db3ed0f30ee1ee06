"""From a study to workers: models made once, limiters and breakers set up, spending looked up."""

from __future__ import annotations

import inspect
import random
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError, MissingExtraError, PluginError, StudyError
from voirdire.protocols import BearsConcurrency, TakesBatches
from voirdire.running._models import completer, make_model
from voirdire.running._tally import tally_of
from voirdire.running.budget import Budget, check_prices, cost_of, guessed
from voirdire.running.limits import Breaker, RateLimiter
from voirdire.running.workers import Line, Worker
from voirdire.store.counts import blind_characters, count_finished, spent_by_model
from voirdire.store.raters import model_identity, model_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from voirdire._registry import Plugins
    from voirdire.running._stop import Stop
    from voirdire.store.frames import Panel
    from voirdire.store.raters import Asker
    from voirdire.store.session import Session
    from voirdire.study import Asked, ModelLimits, Stage, Study


def chosen(panel: Panel, only: Sequence[Stage]) -> list[Asker]:
    """Those who are to ask, of the stages wanted.

    Raises
    ------
    StudyError
        Nobody is, or a cost limit is set and a price is not known.
    """
    study, found = panel.study, list(panel.of(*only))
    if not found:
        raise StudyError(
            f"study {study.name!r} has nobody to run for {', '.join(only)}: "
            "give [[panel]] or [[generators]] a model"
        )
    check_prices(study.run, (one.model for asker in found for one in asker.spec.asks.values()))
    return found


def make_workers(
    study: Study, found: Sequence[Asker], session: Session, stop: Stop, plugins: Plugins
) -> tuple[list[Worker], list[Any]]:
    """A worker for each asker, and the models behind them, one a distinct name and options."""
    models: dict[str, tuple[Any, RateLimiter]] = {}
    workers: list[Worker] = []
    budget = Budget(study.run.max_cost, study.run.max_calls)
    for asker in found:
        counts = count_finished(session.connection, asker, study.comparisons)
        tally = tally_of(session.connection, asker, counts)
        workers.append(
            Worker(
                asker=asker,
                lines={
                    role: Line(
                        completer(model),
                        limiter,
                        Breaker(study.run.breaker, answered=tally.done > 0),
                        study.run.prices.get(asked.model),
                        model_identity(asked.model, asked.options),
                        model.batches if isinstance(model, TakesBatches) else None,
                    )
                    for role, asked in asker.spec.asks.items()
                    for model, limiter in [_model(asker.spec.name, asked, study, models, plugins)]
                },
                budget=budget,
                tally=tally,
                spec=study.run,
                session=session,
                stop=stop,
                chance=random.Random(asker.id.name),  # noqa: S311 - jitter is no secret
            )
        )
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
    identity = repr((asked.model, asked.options))
    if identity not in made:
        with naming(name):
            model = make_model(asked.model, asked.options, plugins, study.run.timeout)
        made[identity] = model, RateLimiter(_limits(model, study.run.limits(asked.model)))
    return made[identity]


@contextmanager
def naming(rater: str) -> Iterator[None]:
    """Errors about a model name the rater that it is of."""
    try:
        yield
    except MissingExtraError:
        raise
    except (InputError, PluginError) as error:
        raise StudyError(f"{rater!r}, key 'model': {error}") from error


def _limits(model: Any, limits: ModelLimits) -> ModelLimits:
    """The study's limits, within what the model itself bears."""
    bears = model.concurrency if isinstance(model, BearsConcurrency) else None
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
        if prices is not None and spent.blind and budget.max_cost is not None:
            for asked, answered in blind_characters(session.connection, identity):
                budget.cost += cost_of(guessed(asked, answered), prices) or 0.0

"""What a rater has done and used so far, what that costs, and the budget that ends a run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from voirdire.errors import PluginError, StudyError
from voirdire.protocols import CostsNothing
from voirdire.running._models import model_factory
from voirdire.schema import Usage
from voirdire.store.counts import Spent, count_spent
from voirdire.study import Prices

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable

    from voirdire._registry import Plugins
    from voirdire.schema import Request
    from voirdire.store.counts import TaskCounts
    from voirdire.store.raters import Participant
    from voirdire.study import GeneratorSpec, Rater, RunSpec, Study

#: Characters of a token, and tokens of a reply whose cap is not known; for estimates only.
#: Four characters are about a token of English; other scripts take more, which `_expected` learns
#: from what calls have cost.
CHARACTERS, REPLY_TOKENS = 4, 256


def cost_of(usage: Usage, prices: Prices | None) -> float | None:
    """What one reply costs; None where price or token counts are unknown.

    ``((input - cached) * p_in + cached * p_cached + output * p_out) / 1e6``, with no more tokens
    cached than there are.

    Examples
    --------
    >>> from voirdire.schema import Usage
    >>> from voirdire.study import Prices
    >>> cost_of(Usage(input=1000, output=0, cached=800), Prices(input=1.0, output=2.0, cached=0.1))
    0.00028
    """
    # Half a count would make a cost that looks whole.
    if prices is None or usage.input is None or usage.output is None:
        return None
    return prices.cost(usage.input, usage.output, usage.cached or 0, usage.written or 0)


def estimate_tokens(request: Request) -> tuple[int, int]:
    """Roughly, the tokens of a request and of its reply."""
    characters = sum(len(message.content) for message in request.messages)
    # The cap, though most replies are shorter: a budget must not be overrun.
    return characters // CHARACTERS + 1, request.max_tokens or REPLY_TOKENS


def guessed(asked: int, answered: int) -> Usage:
    """Roughly, the tokens of a reply that came without them, by characters asked and answered."""
    return Usage(asked // CHARACTERS + 1, answered // CHARACTERS + 1)


def estimate_cost(request: Request, prices: Prices) -> float:
    """Roughly, what a call will cost."""
    given, out = estimate_tokens(request)
    return prices.cost(given, out)


def with_free_models(study: Study, plugins: Plugins) -> Study:
    """The study with a price of 0 for its models that cost nothing, unless it names another."""
    asked: tuple[GeneratorSpec | Rater, ...] = (*study.generators, *study.panel)
    models = {one.model for spec in asked for one in spec.asks.values()}
    free = {
        model: Prices(input=0, output=0) for model in sorted(models) if _is_free(model, plugins)
    }
    spec = study.run.model_copy(update={"prices": {**free, **study.run.prices}})
    return study.model_copy(update={"run": spec})


def _is_free(model: str, plugins: Plugins) -> bool:
    """Whether the plugin says so; what is wrong with a model is said where it is made."""
    try:
        factory: object = model_factory(model, plugins)
        return isinstance(factory, CostsNothing) and factory.free is True
    # It is said where the model is made, with the rater's name.
    except (PluginError, StudyError):
        return False


def prices_of(spec: GeneratorSpec | Rater, study: Study) -> Callable[[str], Prices | None]:
    """What the model costs that a rater asks in a role; None where it is not known."""
    asks = spec.asks

    def price(role: str) -> Prices | None:
        # A model without a role answers in all roles that have none of their own.
        asked = asks.get(role) or asks.get("")
        return None if asked is None else study.run.prices.get(asked.model)

    return price


def check_prices(spec: RunSpec, models: Iterable[str]) -> None:
    """A limit on cost needs the price of every model.

    Raises
    ------
    StudyError
        A model without a price.
    """
    unknown = sorted(set(models) - set(spec.prices))
    if spec.max_cost is not None and unknown:
        raise StudyError(
            f"run.max_cost is {spec.max_cost:g}, but there is no price for {', '.join(unknown)}: "
            f'give [run.prices."{unknown[0]}"] with input and output per million tokens'
        )


@dataclass
class Tally:
    """Counts of one rater.

    `statuses` counts the tasks that are through by what was read, `faults` those that failed by
    kind, `fresh` the tasks that were settled since this process began. `spent` is what its calls
    used, by their role.
    """

    tasks: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    fresh: int = 0
    spent: dict[str, Spent] = field(default_factory=dict)

    @property
    def done(self) -> int:
        """Tasks with a final reply."""
        return self.statuses.total()

    @property
    def failed(self) -> int:
        """Tasks that were asked and got none."""
        return self.faults.total()

    @property
    def whole(self) -> Spent:
        """What all its calls used."""
        return sum(self.spent.values(), Spent())

    def cost(self, prices: Callable[[str], Prices | None]) -> float | None:
        """What all attempts cost, by the prices of each role; None where one is unknown.

        Replies without token counts are left out, which `whole.blind` counts.
        """
        costs = [spent_cost(spent, prices(role)) for role, spent in self.spent.items()]
        # A sum without one of its parts would look like the whole: then there is none.
        priced = [cost for cost in costs if cost is not None]
        unknown = len(priced) < len(costs) or (not costs and prices("") is None)
        return None if unknown else sum(priced)

    def book(self, role: str, usage: Usage | None) -> None:
        """Count one call, and the tokens that it used, if any."""
        self.spent[role] = self.spent.get(role, Spent()).with_call(usage)


def spent_cost(spent: Spent, prices: Prices | None) -> float | None:
    """What tokens cost that were added up; None where the price is unknown."""
    return None if prices is None else spent.cost(prices)


def tally_of(connection: sqlite3.Connection, participant: Participant, counts: TaskCounts) -> Tally:
    """What the store says of a participant; what failed is open again, since it will be asked."""
    # `counts.faults` are left out: they are asked again, and are open until then.
    return Tally(counts.tasks, counts.statuses, spent=count_spent(connection, participant.id))


@dataclass
class Budget:
    """What a session may still spend; calls reserve what they may cost before they are made."""

    max_cost: float | None
    max_calls: int | None
    cost: float = 0.0
    calls: int = 0
    #: Calls that wait until those under way have cost less than they might.
    waiting: int = 0
    _reserved: float = 0.0
    _open: int = 0

    @property
    def is_used_up(self) -> bool:
        """Whether no call that is refused now may be admitted later: none is under way."""
        # Calls never come back; cost does, where a call was cheaper than it might have been.
        counted_out = self.max_calls is not None and self.calls >= self.max_calls
        return counted_out or not self._open

    def restart(self) -> None:
        """Forget what was spent and reserved, to be charged anew."""
        self.cost = self._reserved = 0.0
        self.calls = self._open = 0

    def admit(self, expected: float) -> bool:
        """Reserve a call of that expected cost, if the budget allows it."""
        if self.max_calls is not None and self.calls >= self.max_calls:
            return False
        # What is under way counts as it may cost: else hundreds of calls would be
        # admitted by the last cent.
        total = self.cost + self._reserved + expected
        if self.max_cost is not None and total > self.max_cost:
            return False
        self.calls += 1
        self._open += 1
        self._reserved += expected
        return True

    def book(self, expected: float, cost: float | None) -> None:
        """A reserved call is through: book its cost (its expected cost where unknown)."""
        self._reserved -= expected
        self._open -= 1
        # A provider that names no tokens is taken to have used what was expected.
        self.cost += expected if cost is None else cost

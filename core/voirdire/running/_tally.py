"""What a rater has done so far: counted from the store, then kept up to date."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from voirdire.store.counts import Spent, count_spent

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from voirdire.schema import Usage
    from voirdire.store.counts import Counts
    from voirdire.store.raters import Asker
    from voirdire.study import Prices


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
        known = [cost for cost in costs if cost is not None]
        unknown = len(known) < len(costs) or (not costs and prices("") is None)
        return None if unknown else sum(known)

    def book(self, role: str, usage: Usage | None) -> None:
        """Count one call, and the tokens that it used, if any."""
        self.spent[role] = self.spent.get(role, Spent()).with_call(usage)


def spent_cost(spent: Spent, prices: Prices | None) -> float | None:
    """What tokens cost that were added up; None where the price is unknown."""
    return None if prices is None else spent.cost(prices)


def tally_of(connection: sqlite3.Connection, asker: Asker, counts: Counts) -> Tally:
    """What the store says of an asker; what failed is open again, since it will be asked."""
    return Tally(counts.tasks, counts.statuses, spent=count_spent(connection, asker.id))

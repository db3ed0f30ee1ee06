"""What a rater has done so far: counted from the store, then kept up to date."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from voirdire.running.budget import cost_of
from voirdire.schema import Usage
from voirdire.store.counts import count_finished, count_spent

if TYPE_CHECKING:
    import sqlite3

    from voirdire.store.raters import Asker
    from voirdire.study import Comparisons, Prices


@dataclass
class Tally:
    """Counts of one rater.

    `statuses` counts the tasks that are through by what was read, `faults` those that failed by
    kind; `blind` counts replies whose tokens the provider did not say, `fresh` the
    tasks that were settled since this process began.
    """

    tasks: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    blind: int = 0
    fresh: int = 0

    @property
    def done(self) -> int:
        """Tasks with a final reply."""
        return self.statuses.total()

    @property
    def failed(self) -> int:
        """Tasks that were asked and got none."""
        return self.faults.total()

    def cost(self, prices: Prices | None) -> float | None:
        """What all attempts cost; None where the price is unknown.

        Replies without token counts are left out, which `blind` counts.
        """
        return cost_of(Usage(self.input, self.output, self.cached), prices)

    def add_usage(self, usage: Usage) -> None:
        """Book the tokens of one reply."""
        if usage.input is None or usage.output is None:
            self.blind += 1
            return
        self.input += usage.input
        self.output += usage.output
        self.cached += min(usage.cached or 0, usage.input)


def tally_of(connection: sqlite3.Connection, asker: Asker, comparisons: Comparisons) -> Tally:
    """What the store says of an asker; what failed is open again, since it will be asked."""
    counts, spent = (
        count_finished(connection, asker, comparisons), count_spent(connection, asker.id)
    )  # fmt: skip
    return Tally(
        tasks=counts.tasks, statuses=counts.statuses, calls=spent.calls, input=spent.input,
        output=spent.output, cached=spent.cached, blind=spent.blind,
    )  # fmt: skip

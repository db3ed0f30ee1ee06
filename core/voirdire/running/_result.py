"""What a run came to, frozen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


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
    parked : str
        Why it was given up in this run; empty where it was not.
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
    parked: str

    @property
    def open(self) -> int:
        """Tasks that have not been settled."""
        return self.tasks - self.done - self.failed


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
    """

    folder: Path
    raters: tuple[RaterResult, ...]
    seconds: float
    stopped: str = ""
    currency: str = "USD"

    @property
    def complete(self) -> bool:
        """Whether every task has a final reply."""
        return not self.stopped and all(rater.done == rater.tasks for rater in self.raters)

    @property
    def cost(self) -> float | None:
        """All costs; None where one is not known."""
        costs = [rater.cost for rater in self.raters if rater.calls]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None

    @property
    def exit_code(self) -> int:
        """0 complete, 3 partial, 130 interrupted."""
        if self.stopped == "interrupted":
            return 130
        return 0 if self.complete else 3

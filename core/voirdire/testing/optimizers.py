"""The contract of optimizers: a text comes back, and the budget holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.errors import BudgetSpentError
from voirdire.optimizers import Evaluated, OptimizerUnit
from voirdire.testing.checks import Checks, name_of
from voirdire.testing.hostile import TEXTS

if TYPE_CHECKING:
    from collections.abc import Sequence

_START = "Rate the response. Be fair. Use the whole scale."
_ENDS = "`evaluate.left` says how many judgements may still be asked for; end before it is spent."


class _CountedScores:
    """Scores by the length of a candidate; a fifth of the replies cannot be read."""

    def __init__(self, budget: int, *, unread: bool) -> None:
        self.left = budget
        self._unread = unread
        self._spent: set[tuple[str, int]] = set()
        self.odd = ""

    def __call__(self, candidate_text: Any, units: Sequence[OptimizerUnit]) -> list[Evaluated]:
        if not isinstance(candidate_text, str) or not candidate_text.strip():
            self.odd = f"it evaluates {candidate_text!r}"
        fresh = {(str(candidate_text), unit.number) for unit in units} - self._spent
        if len(fresh) > self.left:
            raise BudgetSpentError(f"{len(fresh)} judgements, and {self.left} are left")
        self.left -= len(fresh)
        self._spent |= fresh
        return [self._one(str(candidate_text), unit) for unit in units]

    def _one(self, text: str, unit: OptimizerUnit) -> Evaluated:
        if self._unread or unit.number % 5 == 4:
            return Evaluated(unit, 0.0, "The reply could not be read. It counts as wrong.")
        score = ((len(text) + unit.number) % 7) / 7
        return Evaluated(unit, score, f"The judge said 3; people said {unit.label}.")


def check_optimizer(make: Any, **options: Any) -> None:
    """Check an optimizer's factory, as `voirdire_register_optimizers` names it. Nobody is asked.

    Parameters
    ----------
    make : callable
        ``make(**options) -> Optimizer``.
    **options
        What it is made with.

    Raises
    ------
    ContractError
        All that does not hold, with a hint each.

    Examples
    --------
    >>> class Keeps:
    ...     def optimize(self, start, units, evaluate):
    ...         return start
    >>> check_optimizer(Keeps)
    """
    checks = Checks(f"the optimizer {name_of(make)}")
    optimizer = checks.made(make, **options)
    if not checks.has_methods(optimizer, ("optimize",), "See voirdire.protocols.Optimizer."):
        checks.done()
    units = tuple(
        OptimizerUnit(at, text, "Pick one small task.", "Empathy", "4")
        for at, text in enumerate(TEXTS[:10])
    )
    for what, budget, unread, given in (
        ("on ten units", 100, False, units),
        ("on one unit", 10, False, units[:1]),
        ("without a budget", 0, False, units),
        ("where no reply is read", 40, True, units),
    ):
        evaluate = _CountedScores(budget, unread=unread)
        found: Any = _START
        # That a budget ends is lawful: what was evaluated whole is taken.
        with checks.safely(
            f"it raises {what}", "What comes of a judge is no error.", lawful=(BudgetSpentError,)
        ):
            found = optimizer.optimize(_START, given, evaluate)
        checks.hold(
            isinstance(found, str) and found.strip(),
            f"{what} it gives back {found!r}",
            "A text of instructions.",
        )
        checks.hold(not evaluate.odd, evaluate.odd, "A candidate is a text of instructions.")
        checks.hold(evaluate.left >= 0, "it asks more than it may", _ENDS)
    checks.done()

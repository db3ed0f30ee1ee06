"""What a judge is tuned for: how good it is on one unit, for each use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import InputError, not_one_of
from voirdire.stats import pseudo_values

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Goal:
    """What is to become better.

    Attributes
    ----------
    use : str
    measure : str
        What is measured, in words; a gain is a difference of two of these.
    columns : callable
        Scores of a judge (R runs, n) and of people (n, H) -> (R, n, F) parts of sums.
    statistic : callable
        (..., F) sums -> (...) between 0 and 1.
    unread : str
        What a reply that could not be read counts as.
    """

    use: str
    measure: str
    columns: Callable[[Floats, Floats, Marks], Floats]
    statistic: Callable[[Floats], Floats]
    unread: str = "wrong"

    def goodness(self, judges: list[Floats], humans: Floats, marks: Marks) -> Floats:
        """(C, n): how good each judge is on each unit; of several runs a single one's mean."""
        parts = [self.columns(runs, humans, marks).mean(axis=0) for runs in judges]
        return pseudo_values(np.stack(parts), self.statistic)


@dataclass(frozen=True, slots=True)
class Marks:
    """The ends of the scale, and the score from which a response passes."""

    low: float
    high: float
    gate: float

    @property
    def width(self) -> float:
        """Of the scale."""
        return self.high - self.low


def _mean(values: Floats) -> Floats:
    """Over the people who answered, and every unit has one; NaN of a judge that did not."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, values, 0.0).sum(axis=-1) / known.sum(axis=-1))


def _close(judge: Floats, humans: Floats, marks: Marks) -> Floats:
    close = _mean(1 - np.abs(judge[..., None] - humans) / marks.width)
    close = np.where(np.isnan(judge), 0.0, close)
    return np.stack([close, np.ones_like(close)], axis=-1)


def _passes(judge: Floats, humans: Floats, marks: Marks) -> tuple[Floats, Floats, Floats]:
    """Whether the judge passes it, whether it was read, and the share of people who do."""
    people = _mean(np.where(np.isnan(humans), np.nan, (humans >= marks.gate) * 1.0))
    passed: Floats = np.asarray((judge >= marks.gate) * 1.0)
    read: Floats = np.asarray(~np.isnan(judge) * 1.0)
    return passed, read, np.broadcast_to(people, judge.shape)


def _sides(judge: Floats, humans: Floats, marks: Marks) -> Floats:
    passed, read, people = _passes(judge, humans, marks)
    return np.stack([passed * people, people, (read - passed) * (1 - people), 1 - people], axis=-1)


def _found(judge: Floats, humans: Floats, marks: Marks) -> Floats:
    """Hits, misses and false finds; an unread reply is a miss, or a false find."""
    passed, read, people = _passes(judge, humans, marks)
    said = passed + (1 - read)
    return np.stack([passed * people, (1 - passed) * people, said * (1 - people)], axis=-1)


def _moments(judge: Floats, humans: Floats, marks: Marks) -> Floats:
    """Of the judge and the mean human; the judge's own mean stands for what was not read."""
    read = ~np.isnan(judge)
    size = np.maximum(read.sum(axis=1, keepdims=True), 1)
    centre = np.where(read, judge, 0.0).sum(axis=1, keepdims=True) / size
    x = (np.where(read, judge, centre) - marks.low) / marks.width
    y = np.broadcast_to((_mean(humans) - marks.low) / marks.width, x.shape)
    return np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=-1)


def _ratio(sums: Floats) -> Floats:
    return np.asarray(sums[..., 0] / sums[..., 1])


def _balanced(sums: Floats) -> Floats:
    return np.asarray((sums[..., 0] / sums[..., 1] + sums[..., 2] / sums[..., 3]) / 2)


def _f1(sums: Floats) -> Floats:
    return np.asarray(2 * sums[..., 0] / (2 * sums[..., 0] + sums[..., 1] + sums[..., 2]))


def _explained(sums: Floats) -> Floats:
    """The squared correlation; 0 of a judge that always says the same."""
    n = sums[..., 0]
    both = sums[..., 5] / n - sums[..., 1] * sums[..., 2] / n**2
    judge = sums[..., 3] / n - (sums[..., 1] / n) ** 2
    human = sums[..., 4] / n - (sums[..., 2] / n) ** 2
    still = judge < 1e-12
    return np.asarray(np.where(still, 0.0, both**2 / (np.where(still, 1.0, judge) * human)))


def _decided(judge: Floats, humans: Floats, _: Marks) -> Floats:
    """Of pairs of responses: whether the better one for people is so for the judge."""
    people = np.sign(_mean(humans))
    right = np.where(judge * people > 0, 1.0, np.where(judge == 0, 0.5, 0.0))
    right = np.where(np.isnan(judge), 0.0, right)
    return np.stack([right, np.ones_like(right)], axis=-1)


_GOALS = {
    goal.use: goal
    for goal in (
        Goal("single", "closeness to a human's score (1 is the same, 0 the other end of the scale)",
             _close, _ratio, "the other end of the scale"),
        Goal("gate", "the mean of sensitivity and specificity", _sides, _balanced),
        Goal("filter", "F1 of what passes", _found, _f1),
        Goal("pick", "the share of people's decided choices between two systems", _decided, _ratio),
        Goal("worth", "the share of people's variance that the judge explains", _moments,
             _explained, "the judge's own mean"),
    )
}  # fmt: skip
USES = tuple(_GOALS)


def goal_of(use: str) -> Goal:
    """The goal of a use.

    Raises
    ------
    InputError
        There is none.
    """
    if use not in _GOALS:
        raise not_one_of("--for", use, USES)
    return _GOALS[use]


def rates(judge: Floats, humans: Floats, marks: Marks) -> tuple[float, float]:
    """Sensitivity and specificity of a judge's runs, taken together."""
    sums: Any = _sides(judge, humans, marks).mean(axis=0).sum(axis=0)
    return float(sums[0] / sums[1]), float(sums[2] / sums[3])


def check_gate(gate: float | None, use: str, low: float, high: float) -> Marks:
    """The marks of a use; a scale of two values passes at the upper one.

    Raises
    ------
    InputError
        The use needs a gate and none is declared, or it lies outside the scale.
    """
    if gate is None and use in ("gate", "filter") and (low, high) == (0, 1):
        gate = 1.0
    if gate is None and use in ("gate", "filter"):
        raise InputError(
            f"--for {use}: scores lie on {low:g} to {high:g}, and nothing says from where on a "
            "response passes: declare gate = {at = 4} in the study"
        )
    if gate is not None and not low < gate <= high:
        raise InputError(f"gate.at must lie above {low:g} and up to {high:g}, got {gate:g}")
    return Marks(low, high, high if gate is None else gate)

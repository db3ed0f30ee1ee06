"""What an examination says of raters that cost more: juries, and raters of several steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from voirdire.stats import Estimate, JuryWorth
    from voirdire.study import Combine

    Floats = NDArray[np.float64]

    from voirdire.stats import ExplainedGain


@dataclass(frozen=True, slots=True)
class Price:
    """What one rater used; None is not known.

    Attributes
    ----------
    calls, tokens : int or None
        Attempts, and the tokens in and out that providers counted.
    money : float or None
        By the study's prices.
    """

    rater: str
    calls: int | None = None
    tokens: int | None = None
    money: float | None = None


@dataclass(frozen=True, slots=True)
class JuryResult:
    """A jury on one attribute, beside its members.

    Attributes
    ----------
    combine : str
        How the members' scores are put together.
    members : tuple of str
        As declared; `dead` are those that scored nothing, and `abstained` says how many of the
        `asked` responses each of the others left without a score.
    missing : int
        Responses without a score of the jury: all members abstained, or a vote was tied.
    worth : JuryWorth
        The numbers.
    best : str
        The member that was chosen most often; empty where nothing could be said.
    prices : tuple of Price
        Of each member, where a session knows them.
    """

    jury: str
    attribute: str
    combine: Combine
    members: tuple[str, ...]
    dead: tuple[str, ...]
    abstained: Mapping[str, int]
    asked: int
    missing: int
    worth: JuryWorth
    best: str
    prices: tuple[Price, ...]

    @property
    def price(self) -> Price:
        """That of the whole jury."""
        return together(self.jury, self.prices)

    @property
    def price_of_best(self) -> Price:
        """That of its best member."""
        return next((one for one in self.prices if one.rater == self.best), Price(self.best))

    @property
    def over_best(self) -> Estimate:
        """The gain over the best member that decides: of explained variance, of a vote agreement.

        A tied vote is no answer. Left out, as a correlation has to, it would take the hard
        responses with it.
        """
        by_label = self.combine == "vote" and self.worth.over_single_agreement.reason is None
        return self.worth.over_single_agreement if by_label else self.worth.over_single

    @property
    def is_worth_it(self) -> bool:
        """Whether the jury beats its best member, beyond chance."""
        return self.over_best.bounds[0] > 0


def together(name: str, prices: Sequence[Price]) -> Price:
    def total(values: Sequence[Any]) -> Any:
        return None if not values or None in values else sum(values)

    return Price(
        name,
        total([one.calls for one in prices]),
        total([one.tokens for one in prices]),
        total([one.money for one in prices]),
    )


@dataclass(frozen=True, slots=True)
class Use:
    """What one response takes: tokens in and out as providers counted, and money where prices are.

    None is not known.
    """

    tokens: float | None = None
    money: float | None = None


@dataclass(frozen=True, slots=True)
class StepsResult:
    """What a rater of several steps did.

    Attributes
    ----------
    tasks, steps, most : int, float, int
        Tasks with replies; replies of one on average, and at most.
    used : mapping
        What was done on the way (calls by tool, rounds) -> (how often, in how many tasks).
    ended : mapping
        Why it ended -> tasks; empty where the rater does not say.
    compared, changed : int
        Scores that the judge also gave alone, and those of them that are another now.
    use : Use
        Of one task.
    """

    rater: str
    tasks: int
    steps: float
    most: int
    used: Mapping[str, tuple[int, int]]
    ended: Mapping[str, int]
    compared: int
    changed: int
    use: Use


@dataclass(frozen=True, slots=True)
class StepsGain:
    """A rater of several steps on one attribute, beside what costs less.

    Attributes
    ----------
    beside : str
        ``"alone"``, ``"openings"``, or the name of a rater of the panel that asks the same without
        further steps.
    runs : int
        How many runs of that rater are averaged, so that it costs as much; 0 for other things.
    wanted : int
        How many it would take to cost as much.
    """

    rater: str
    attribute: str
    beside: str
    gain: ExplainedGain
    use: Use
    beside_use: Use
    runs: int = 0
    wanted: int = 0

    @property
    def is_worth_it(self) -> bool:
        """Whether it explains more, beyond chance."""
        return self.gain.gain.bounds[0] > 0

    @property
    def is_worse(self) -> bool:
        """Whether it explains less, beyond chance."""
        return self.gain.gain.bounds[1] < 0

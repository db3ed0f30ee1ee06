"""What an examination says of raters that cost more: juries, and raters of several steps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from voirdire.late import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from voirdire.stats import Estimate, JuryWorth
    from voirdire.study import Combine

    Floats = NDArray[np.float64]

    from voirdire.stats import ExplainedGain


#: What `schema.Beside.name` is in words.
BESIDE = {"alone": "the judge alone", "openings": "the plain mean of the first positions"}


@dataclass(frozen=True, slots=True)
class Simpler:
    """What costs less than a rater and is not shown to be worse.

    Attributes
    ----------
    rater, attribute : str
        The dear one, and on what.
    instead : str
        A rater of the panel; or a key of `BESIDE`, such as ``"alone"``.
    times : float
        How many times as dear the rater is; NaN where that is not known.
    """

    rater: str
    attribute: str
    instead: str
    times: float


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

    @property
    def times(self) -> float:
        """How many times as dear it is as its best member: by money, calls, or members."""
        whole, one = self.price, self.price_of_best
        if whole.money is not None and one.money:
            return whole.money / one.money
        if whole.calls is not None and one.calls:
            return whole.calls / one.calls
        return float(len(self.members) - len(self.dead))

    @property
    def simpler(self) -> Simpler | None:
        """Its best member, where no gain over that is shown."""
        if self.worth.reason is not None or not self.best or self.is_worth_it:
            return None
        return Simpler(self.jury, self.attribute, self.best, self.times)


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

    @property
    def times(self) -> float:
        """How many times as dear it is, by money or else by tokens; NaN where neither is known."""
        pairs = (
            (self.use.money, self.beside_use.money),
            (self.use.tokens, self.beside_use.tokens),
        )
        return next((a / b for a, b in pairs if a and b), math.nan)

    @property
    def simpler(self) -> Simpler | None:
        """What it stands next to, where that costs less and no gain over it is shown."""
        as_dear = self.runs > 1 or self.times <= 1
        if self.gain.reason is not None or self.is_worth_it or as_dear:
            return None
        return Simpler(self.rater, self.attribute, self.beside, self.times)

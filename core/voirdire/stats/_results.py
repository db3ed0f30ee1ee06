"""What every statistic returns: a frozen value, its intervals, and why it may be undefined."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from voirdire.late import dataclass

#: Why a value is undefined. A statistic never invents a number in place of these.
REASONS: Mapping[str, str] = {
    "no_data": "there is no rating at all",
    "too_few_items": "fewer than two complete items",
    "too_few_raters": "fewer than two raters",
    "too_few_shared_items": "no rater shares enough items with the others",
    "no_pairable_item": "no item has two ratings",
    "zero_variance": "the ratings do not vary, so there is nothing to be reliable about",
    "zero_expected_disagreement": "all ratings fall into one category",
    "one_category_declared": "a single category is declared, so agreement is certain",
    "ratio_needs_nonnegative": "the ratio metric is undefined for negative values",
    "not_estimable": "the data do not identify this quantity",
    "not_applicable": "this statistic does not apply to these data",
}

#: What a reader must know beside a value that is defined.
FLAGS: Mapping[str, str] = {
    "outside_range": "the value lies outside [-1, 1] and cannot be read as reliability",
    "counts": "every row has the same sum: these may be counts of raters by category, and the "
    "raters' values are needed (a row an item, a column a rater)",
    "transposed": "more raters than items: the matrix may lie on its side (a row is an item)",
    "unreliable_interval": "fewer than 20 units: this interval is known to cover too seldom",
    "few_informative_items": "a handful of items carry this value: its interval may be too short",
    "boundary": "a variance component lies at zero, the edge of what the model allows",
    "unbounded": "a maximum-likelihood estimate runs off to infinity",
}


class Result:
    """What the frozen results share: plain types for JSON, and equality by content."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain types; NaN becomes None, so no bare NaN is ever written."""
        names = [field.name for field in dataclasses.fields(self)]  # type: ignore[arg-type]
        return {name: plain(getattr(self, name)) for name in names}

    def __eq__(self, other: object) -> bool:
        """Equal when of one class with equal parts, undefined values included."""
        # NaN equals nothing, arrays compare cell by cell: as plain types both compare as one means
        # it.
        return isinstance(other, type(self)) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        """Hash of what is printed: equal results print alike."""
        return hash(str(self))


@dataclass(frozen=True, slots=True, eq=False)
class Interval(Result):
    """A confidence interval that names its method.

    Attributes
    ----------
    method : str
        For example ``"f"``, ``"percentile"``, ``"bca"``, ``"exact"``, ``"t"``, ``"jackknife"``,
        ``"clopper_pearson"``,
        ``"wilson"``.
    level : float
        Nominal coverage in (0, 1).
    low, high : float
        Bounds; NaN where undefined, never clipped.
    n_resamples : int
        Resamples drawn or enumerated; 0 for analytic intervals.
    n_undefined : int
        Resamples whose value was undefined and left out.
    n_dropped : int
        Resamples whose defined value was left out because a `compat` rule says so.
    flags : tuple of str
        Keys of `FLAGS`.
    """

    method: str
    level: float
    low: float
    high: float
    n_resamples: int = 0
    n_undefined: int = 0
    n_dropped: int = 0
    flags: tuple[str, ...] = ()

    @property
    def width(self) -> float:
        """``high - low``."""
        return self.high - self.low

    def __str__(self) -> str:
        """As a paper would print it."""
        return f"{100 * self.level:.6g}% CI [{self.low:.3f}, {self.high:.3f}] ({self.method})"


@dataclass(frozen=True, slots=True, eq=False)
class Estimate(Result):
    """The frozen result of a statistic.

    Attributes
    ----------
    statistic : str
        The literature's name, for example ``"ICC(C,1)"``.
    value : float
        NaN where undefined; then `reason` says why.
    intervals : tuple of Interval
        Each names its method; the first leads.
    n, k : int
        Items (units) and raters used.
    left_out : int
        Items that could not be used.
    reason : str or None
        A key of `REASONS`.
    flags : tuple of str
        Keys of `FLAGS`.
    details : mapping
        Quantities the value was made from (mean squares, observed and expected agreement, ...).
    """

    statistic: str
    value: float
    intervals: tuple[Interval, ...] = ()
    n: int = 0
    k: int = 0
    left_out: int = 0
    reason: str | None = None
    flags: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    def interval(self, method: str | None = None) -> Interval | None:
        """The interval of that method, or the leading one; None where there is none."""
        for interval in self.intervals:
            if method is None or interval.method == method:
                return interval
        return None

    @property
    def bounds(self) -> tuple[float, float]:
        """The ends of the leading interval; NaN where there is none."""
        interval = self.interval()
        return (math.nan, math.nan) if interval is None else (interval.low, interval.high)

    def __float__(self) -> float:
        """The value."""
        return float(self.value)

    def __str__(self) -> str:
        """One line, as a paper would print it."""
        if self.reason is not None and math.isnan(self.value):
            return f"{self.statistic} undefined: {REASONS.get(self.reason, self.reason)}"
        text = f"{self.statistic} = {self.value:.3f}"
        if self.intervals:
            text += f", {self.intervals[0]}"
        text += f", n = {self.n}, k = {self.k}"
        notes = [FLAGS.get(flag, flag) for flag in self.flags]
        return "; ".join([text, *notes])


def plain(value: Any) -> Any:
    """Results, NumPy scalars and arrays, tuples and NaN as JSON can hold them."""
    if isinstance(value, Result):
        return value.to_dict()
    # NumPy's arrays and scalars both, without importing NumPy.
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        # JSON has no word for NaN or infinity; the first is no value, the second is one.
        return value if math.isfinite(value) else (None if math.isnan(value) else str(value))
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    return value

"""Self-exclusion: the same statistic with and without the systems that a judge may favour."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire._errors import StatisticsError
from voirdire.stats._results import Estimate

if TYPE_CHECKING:
    from collections.abc import Iterable

Statistic = Callable[..., Estimate]


@dataclass(frozen=True, slots=True)
class SelfExclusion:
    """A statistic before and after systems are left out.

    Attributes
    ----------
    before, after : Estimate
        With every system; without the excluded ones.
    excluded : tuple of str
        The systems left out that occur in the data.
    rows_excluded : int
        Rows that this left out.
    """

    before: Estimate
    after: Estimate
    excluded: tuple[str, ...]
    rows_excluded: int

    @property
    def change(self) -> float:
        """``after - before``; NaN where either is undefined."""
        return self.after.value - self.before.value

    def to_dict(self) -> dict[str, Any]:
        """Plain types; undefined values become None."""
        return {
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
            "excluded": list(self.excluded),
            "rows_excluded": self.rows_excluded,
            "change": None if math.isnan(self.change) else self.change,
        }


def self_exclusion(
    statistic: Statistic, *arrays: Any, systems: Any, excludes: Iterable[str], **options: Any
) -> SelfExclusion:
    """Compute `statistic` on all rows, then without those of the systems in `excludes`.

    Parameters
    ----------
    statistic : callable
        Any function of arrays that returns an Estimate: `icc`, `bias`, `ccc`, ...
    *arrays : array-like
        What it takes, each with one row (first axis) a system or a response.
    systems : array-like of str
        The system behind each row.
    excludes : iterable of str
        Systems to leave out. One that does not occur changes nothing.
    **options
        Handed on to `statistic`.

    Raises
    ------
    StatisticsError
        When `systems` and an array differ in length; and what `statistic` raises.

    Examples
    --------
    >>> from voirdire.stats import bias, self_exclusion
    >>> found = self_exclusion(
    ...     bias, [5, 3, 4], [3, 3, 4], systems=["own", "a", "b"], excludes=["own"])
    >>> round(found.before.value, 3), found.after.value, found.excluded
    (0.667, 0.0, ('own',))
    """
    names = np.asarray(systems, dtype=str)
    left_out = {str(name) for name in excludes}
    kept = ~np.isin(names, sorted(left_out))
    values = [np.asarray(array) for array in arrays]
    for value in values:
        if value.ndim == 0 or len(value) != len(names):
            raise StatisticsError(
                f"systems must name each row: {len(names)} names for an array of shape "
                f"{value.shape}"
            )
    return SelfExclusion(
        statistic(*values, **options),
        statistic(*(value[kept] for value in values), **options),
        tuple(sorted(left_out & set(names.tolist()))),
        int((~kept).sum()),
    )

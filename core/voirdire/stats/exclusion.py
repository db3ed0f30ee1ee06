"""Self-exclusion: the same statistic with and without the systems that a judge may favour."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._arrays import masked, row_names
from voirdire.stats._results import Estimate, Result, plain

if TYPE_CHECKING:
    from collections.abc import Iterable

Statistic = Callable[..., Estimate]


@dataclass(frozen=True, slots=True, eq=False)
class SelfExclusion(Result):
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
        return {**Result.to_dict(self), "change": plain(self.change)}

    def __str__(self) -> str:
        """Before, after and the change, a line each."""
        names = ", ".join(self.excluded) or "no system"
        return (
            f"before: {self.before}\nafter: {self.after}\n"
            f"change: {self.change:.3f} without {names} ({self.rows_excluded} rows)"
        )


def self_exclusion(
    statistic: Statistic, *arrays: Any, systems: Any, excludes: str | Iterable[str], **options: Any
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
    excludes : str or iterable of str
        The system or systems to leave out. One that does not occur changes nothing.
    **options
        Handed on to `statistic`; `clusters`, which name each row, lose the same rows.

    Returns
    -------
    SelfExclusion
        Both estimates, the systems of `excludes` that occur, and how many rows they had.

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

    References
    ----------
    Badawi et al. (2025), whose analysis leaves a judge's ratings of its own system out.
    Panickssery, Bowman and Feng (2024), LLM Evaluators Recognize and Favor Their Own Generations.
    """
    given = masked(systems, "systems")[0]
    names = row_names(given, len(np.atleast_1d(given)), "systems").astype(str)
    left_out = {str(name) for name in ([excludes] if isinstance(excludes, str) else excludes)}
    kept = ~np.isin(names, sorted(left_out))
    values = [_rows(array) for array in arrays]
    for value in values:
        if value.ndim == 0 or len(value) != len(names):
            raise StatisticsError(
                f"systems must name each row: {len(names)} names for an array of shape "
                f"{value.shape}"
            )
    fewer = dict(options)
    if options.get("clusters") is not None:
        fewer["clusters"] = row_names(options["clusters"], len(names), "clusters")[kept]
    return SelfExclusion(
        statistic(*values, **options),
        statistic(*(value[kept] for value in values), **fewer),
        tuple(sorted(left_out & set(names.tolist()))),
        int((~kept).sum()),
    )


def _rows(array: Any) -> Any:
    """An array whose rows can be chosen; a mask stays."""
    data, mask = masked(array, "array")
    return data if mask is None else np.ma.MaskedArray(data, mask)

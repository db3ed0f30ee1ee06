"""What verdicts ask of the parts of a stream, and what one part answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from voirdire.stats.sums import ClusterMoments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.examining.streaming.parts import Rated

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

#: Whole steps of a point: means of up to 8 scores in 20ths are exact.
FINE = 64 * 16_800.0
#: Rounds in which effects of systems and items are removed, as `voirdire.stats.within` does.
_ROUNDS = 3
#: A missing score among whole steps.
MISSING = -(2**31)
#: Bits of columns whose sums are multiplied.
LEVEL_BITS = 12


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """Sums that a pass is to find.

    Attributes
    ----------
    kind : str
        "sums" of columns by cluster; "products" of two columns' sums; "items", how many have a
        row that is present; "effects" and "reading" of items crossed with systems.
    values : array
        (P, F) whole numbers, for "reading" (2, P, 1 + K) floats.
    bits : (F,) int64
        Units of 2^-bits of what is summed.
    present : (P,) bool
        Rows that make a cluster, or an item, count.
    system : (P,) int64
        For "effects".
    where : int
        A column whose sum must be above 0; -1: none.
    """

    kind: Literal["sums", "products", "items", "effects", "reading"]
    values: NDArray[Any]
    bits: Ints
    present: NDArray[np.bool_]
    system: Ints
    where: int = -1


def answer(request: Request, rated: Rated, code: Ints, systems: int) -> Any:
    """What one part adds; `code` (N,) is the pattern of each response among all patterns."""
    from voirdire.stats import _pattern_kernels as kernels  # noqa: PLC0415 - slow to import

    if request.kind == "items":
        return len(np.unique(rated.item[request.present[code]]))
    if request.kind == "effects":
        width = request.values.shape[1]
        shift = np.zeros((width, systems + 1, systems), np.int64)
        share = np.zeros((width, systems + 1, systems, systems), np.int64)
        kernels.item_effects(code, rated.item, request.system, request.values, shift, share)
        return Effects(shift, share)
    width = len(request.bits)
    unit = np.ldexp(1.0, request.bits.astype(np.intc))
    fine = np.zeros((width, 2), np.int64)
    out = (*np.zeros((2, width), np.int64), *np.zeros((2, width, width), np.int64), fine)
    if request.kind == "reading":
        rest, less = request.values
        units = kernels.crossed_moments(code, rated.item, rated.cluster, rest, less, unit, out)
    else:
        scale = np.zeros(0)
        if request.kind == "products":
            scale = unit * 2.0 ** (-2 * LEVEL_BITS)
        units = kernels.cluster_moments(
            code, rated.cluster, request.values, request.present, request.where, scale, out
        )
    total, seen, high, low, fine = out
    exact = fine[:, 0].astype(object) * (1 << 32) + fine[:, 1].astype(object)
    return ClusterMoments(units, total.astype(object), _whole(high, low), request.bits, seen, exact)


def _whole(high: Ints, low: Ints) -> NDArray[Any]:
    """(F, F) symmetric, as Python's whole numbers."""
    lower = high.astype(object) * (1 << 32) + low.astype(object)
    return np.asarray(lower + lower.T - np.diag(np.diag(lower)))


@dataclass(frozen=True, slots=True, eq=False)
class Effects:
    """Sums behind effects of crossed systems and items: see `item_effects`; ``a + b``."""

    shift: Ints
    share: Ints

    def __add__(self, other: Effects) -> Effects:
        """Those of both parts."""
        return Effects(self.shift + other.shift, self.share + other.share)

    def of_systems(self, start: Floats) -> tuple[Floats, Floats]:
        """(V, S) effects after the last round, and after the last but one, from those at first."""
        k, own = np.maximum(np.arange(self.shift.shape[1]), 1) * 1.0, start.shape[1]
        shift = (self.shift[..., :own] / FINE / k[None, :, None]).sum(axis=1)
        share = (self.share[..., :own, :own] / k[None, :, None, None]).sum(axis=1)
        n = np.maximum(share.sum(axis=2), 1)
        now = before = start
        for _ in range(_ROUNDS):
            before = now
            now = now + (shift - n * now + np.einsum("vst,vt->vs", share, now)) / n
        return now, before

"""The smallest number that is enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def smallest(enough: Callable[[int], bool], least: int, most: int) -> int | None:
    """The smallest n of least..most at which a condition holds that, once true, stays true.

    None where it holds nowhere. Doubling, then bisection.

    >>> smallest(lambda n: n * n > 1000, 2, 100), smallest(lambda n: n > 100, 2, 100)
    (32, None)
    """
    low, high = least, min(least, most)
    while not enough(high):
        if high >= most:
            return None
        low, high = high + 1, min(2 * high, most)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return low

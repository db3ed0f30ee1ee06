"""Scores: a number on a declared scale; its vector is the number itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from voirdire.kinds._column import says_nothing
from voirdire.kinds._kind import Checked, Recognised
from voirdire.parsing.numbers import read_number, read_numeral
from voirdire.schema import Scale

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from voirdire.kinds._column import Cells
    from voirdire.parsing.numbers import Number
    from voirdire.schema import Status

#: The share of cells that must state a number before a column is one of scores.
MOSTLY = 0.5
#: Distinct numbers beyond which steps between them are not looked for: the scale is continuous.
_MOST_LEVELS = 201


@dataclass(frozen=True, slots=True)
class ScoreKind:
    """A number on a `voirdire.schema.Scale`."""

    name: str = "score"
    plural: str = "scores"

    def recognise(self, cells: Cells) -> Recognised[Scale] | None:
        """Numbers in most cells; the scale runs from the least to the largest of them."""
        numerals = {text: read_numeral(text) for text in cells.texts if not says_nothing(text)}
        numbers = [numeral.value for numeral in numerals.values() if numeral is not None]
        stating = sum(
            count
            for text, count in zip(cells.texts, cells.counts, strict=True)
            if numerals.get(text) is not None
        )
        if len(set(numbers)) < 2 or stating <= MOSTLY * cells.total:
            return None
        low, high = min(numbers), max(numbers)
        scale = Scale(low, high, _step(sorted(set(numbers))))
        words = [text for text, numeral in numerals.items() if numeral is None]
        question = f"which number is each of {', '.join(words)}?" if words else ""
        return Recognised(scale, f"holds numbers from {low:g} to {high:g}", question)

    def check(self, cells: Cells, domain: Scale) -> Checked:
        """Numbers on the scale, also those between its levels, as a mean may be."""
        numbers = [read_number(text, domain) for text in cells.texts]
        statuses = tuple(
            "blank" if says_nothing(text) else _status(number)
            for text, number in zip(cells.texts, numbers, strict=True)
        )
        return Checked(tuple(number.value for number in numbers), statuses)

    def vectors(self, values: Sequence[Hashable], domain: Scale) -> NDArray[np.float64]:
        """(V, 1) the numbers."""
        del domain  # a score means its number, whatever the ends of its scale
        return np.asarray(values, dtype=np.float64).reshape(-1, 1)

    def decode(self, vector: NDArray[np.float64], domain: Scale) -> float:
        """The number: a mean of scores is a score, and no level is the nearest one to it."""
        del domain
        return float(vector[0])

    def worded(self, value: Hashable, domain: Scale) -> str:
        """The number without zeros behind it."""
        del domain
        return f"{cast('float', value):g}"


def _status(number: Number) -> Status:
    if number.value is not None:
        return "ok"
    return "unparsable" if number.off is None else "out_of_scale"


def _step(levels: Sequence[float]) -> float:
    """The largest step of which all distances between levels are multiples; 0: continuous.

    >>> _step([1.0, 2.0, 5.0]), _step([1.0, 1.5, 3.0]), _step([0.13, 0.71, 0.9137])
    (1.0, 0.5, 0.0)
    """
    if len(levels) > _MOST_LEVELS:
        return 0.0
    for step in (1.0, 0.5, 0.25, 0.1):
        multiples = (np.asarray(levels) - levels[0]) / step
        if np.allclose(multiples, np.round(multiples), rtol=0, atol=1e-9):
            return step
    return 0.0


#: The one score kind.
SCORE = ScoreKind()

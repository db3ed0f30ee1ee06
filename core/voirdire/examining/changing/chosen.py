"""What judges chose of comparisons, beside the winner: by order shown, how clearly, how long.

A lock keeps comparisons as ratings from 0 to 1 (`as_ratings`), in which both orders are one. A
verdict on single comparisons needs what that leaves out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire.examining.judgements import choices_of_people, orders_of, turned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from voirdire.examining.sources import Opened
    from voirdire.examining.spec.rated_question import RatedQuestion

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """Of N comparisons, in favour of the system that is named first in each.

    Attributes
    ----------
    scores, swapped : (N,) float64
        Of a judge as it was asked first, and in the other order; NaN is missing.
    first : (N,) float64
        1 where the system named first was shown first, -1 where the other was; NaN: not recorded.
    """

    scores: Floats
    swapped: Floats
    first: Floats

    def only(self, kept: NDArray[np.bool_]) -> Choices:
        """Some of the comparisons."""
        return Choices(self.scores[kept], self.swapped[kept], self.first[kept])


@dataclass(frozen=True, slots=True, eq=False)
class ComparedFacts:
    """The comparisons of a source as they were read, for whatever is held beside them.

    Attributes
    ----------
    table : DataFrame
        One direction a pair (`judgements.turned`), with `length` where texts are known.
    drawn : bool
        Whether somebody said that an order which is not recorded was drawn each time.
    """

    table: pl.DataFrame
    drawn: bool

    @property
    def width(self) -> float:
        """Of the scale of choices: 4 where some are clear ones, else 2."""
        return 4.0 if float(self.table["score"].abs().max() or 0) > 1 else 2.0  # type: ignore[arg-type]

    def choices(
        self, judge: str, question: RatedQuestion, items: NDArray[np.str_], pairs: NDArray[np.str_]
    ) -> Choices:
        """What a judge chose of (N,) comparisons: an item, and which two systems by their name."""
        placed, sign = self._placed(question, items, pairs)
        own = placed.filter(pl.col("rater") == judge)
        scores, swapped, first = orders_of(own, len(items))
        none = np.full(len(items), np.nan)
        return Choices(
            scores[0] * sign,
            none if swapped is None else swapped[0] * sign,
            none if first is None else first * sign,
        )

    def people(
        self,
        people: Sequence[str],
        question: RatedQuestion,
        items: NDArray[np.str_],
        pairs: NDArray[np.str_],
    ) -> Floats:
        """(R, N) what people chose, both orders of one averaged."""
        placed, sign = self._placed(question, items, pairs)
        return (
            np.concatenate(
                [
                    choices_of_people(placed.filter(pl.col("rater") == name), [name], len(items))[0]
                    for name in people
                ]
            )
            * sign
        )

    def lengths(
        self, question: RatedQuestion, items: NDArray[np.str_], pairs: NDArray[np.str_]
    ) -> Floats:
        """(N,) length of the response named first less the other's; NaN where it is not known."""
        placed, sign = self._placed(question, items, pairs)
        known = placed.drop_nulls("length").unique("at", keep="first", maintain_order=True)
        out = np.full(len(items), np.nan)
        out[known["at"].to_numpy()] = known["length"].to_numpy()
        return out * sign

    def _placed(
        self, question: RatedQuestion, items: NDArray[np.str_], pairs: NDArray[np.str_]
    ) -> tuple[pl.DataFrame, Floats]:
        """The rows with the place of each, and by which sign a place favours the one named first.

        Rows favour the system that is first by name.
        """
        sides = [question.sides_of(str(name)) for name in pairs]
        sign = np.array([1.0 if a <= b else -1.0 for a, b in sides])
        units = pl.DataFrame(
            {
                "item": items.astype(str),
                "system_a": [min(pair) for pair in sides],
                "system_b": [max(pair) for pair in sides],
            }
        ).with_row_index("at")
        own = self.table.filter(pl.col("attribute").cast(pl.String) == question.name)
        keys = ["item", "system_a", "system_b"]
        return own.join(units, on=keys, how="inner", maintain_order="left"), sign


def compared_facts(opened: Opened) -> ComparedFacts | None:
    """The comparisons of an opened source; None where it compares nothing."""
    said, compared = opened.judgements, opened.preferences
    table = said.preferences if said is not None and said.preferences is not None else None
    if table is None and compared is not None:
        table = compared.table
    if table is None:
        return None
    drawn = compared is not None and compared.order == "drawn"
    return ComparedFacts(turned(table.filter(pl.col("score").is_not_null())), drawn)

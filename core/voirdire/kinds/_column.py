"""A column by its distinct cells: all that a kind looks at, however long the column is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voirdire.late import dataclass
from voirdire.parsing.numbers import MISSING_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl


@dataclass(frozen=True, slots=True)
class Cells:
    """The distinct cells of one or more columns and how often each stands there.

    Attributes
    ----------
    name : str
        The column's name, for questions and errors.
    texts : tuple of str
        The distinct cells without blanks around them, the most frequent first; no empty ones.
        A word such as ``n/a`` or ``none`` is among them: what it says depends on the kind.
    counts : tuple of int
        How often each stands there.
    empty : int
        How many cells are empty.
    """

    name: str
    texts: tuple[str, ...]
    counts: tuple[int, ...]
    empty: int = 0

    @classmethod
    def of(cls, name: str, columns: Iterable[pl.Series]) -> Cells:
        """The distinct cells of columns.

        >>> import polars as pl
        >>> Cells.of("label", [pl.Series(["yes", " yes", None, "no", " "])])
        Cells(name='label', texts=('yes', 'no'), counts=(2, 1), empty=2)
        """
        counts: dict[str, int] = {}
        empty = 0
        for column in columns:
            tally = column.alias("cell").value_counts(name="count")
            for cell, count in zip(*(tally[part].to_list() for part in tally.columns), strict=True):
                text = text_of(cell)
                if text is None:
                    empty += count
                else:
                    counts[text] = counts.get(text, 0) + count
        # `value_counts` keeps no order: by how often, then by name, is one that anybody can repeat.
        texts = sorted(counts, key=lambda text: (-counts[text], text))
        return cls(name, tuple(texts), tuple(counts[text] for text in texts), empty)

    @property
    def total(self) -> int:
        """How many cells are not empty."""
        return sum(self.counts)


def text_of(cell: object) -> str | None:
    """A cell as a kind reads it; None where it is empty. Whole floats lose their point.

    >>> text_of(4.0), text_of(" Yes "), text_of("  "), text_of(float("nan"))
    ('4', 'Yes', None, None)
    """
    if cell is None or cell != cell:  # noqa: PLR0124 - only NaN differs from itself
        return None
    text = f"{cell:.17g}" if isinstance(cell, float) else str(cell).strip()
    return text or None


def says_nothing(text: str) -> bool:
    """Whether a cell is a word for no answer, such as ``n/a``; a label may be spelled so too."""
    return text.casefold() in MISSING_WORDS

"""What every kind of judgement can do: the seam between files, statistics and reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from voirdire.kinds._column import Cells
    from voirdire.schema import Status

#: What is declared of a kind's values: a `Scale` of scores, a `LabelSet` of labels.
Domain = TypeVar("Domain")


@dataclass(frozen=True, slots=True)
class Recognised(Generic[Domain]):
    """A column read as one kind.

    Attributes
    ----------
    domain : Scale, LabelSet, ...
        The values that the column suggests, to be declared or corrected.
    reason : str
        Why it can be read so: ends a sentence that begins with the column's name.
    question : str
        What somebody has to say before it is read so; empty where nothing is open.
    """

    domain: Domain
    reason: str
    question: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """What each of the distinct cells says.

    Attributes
    ----------
    values : tuple
        One a cell: the value that stands in a domain, or None.
    statuses : tuple of Status
        One a cell: ``ok``, ``out_of_scale`` (a value that the domain does not hold), ``blank`` (a
        word such as ``n/a``) or ``unparsable``.
    """

    values: tuple[Hashable | None, ...]
    statuses: tuple[Status, ...]


class JudgementKind(Protocol[Domain]):
    """One kind of judgement. Everything here works on distinct values, never on rows."""

    @property
    def name(self) -> str:
        """The word for it in columns, commands and JSON: ``score``."""
        ...

    @property
    def plural(self) -> str:
        """The word for several of them in sentences."""
        ...

    def recognise(self, cells: Cells) -> Recognised[Domain] | None:
        """The column read as this kind; None where its cells are positively something else."""
        ...

    def check(self, cells: Cells, domain: Domain) -> Checked:
        """The value of each distinct cell in a declared domain; what is not in it is missing."""
        ...

    def vectors(self, values: Sequence[Hashable], domain: Domain) -> NDArray[np.float64]:
        """(V, D) one vector a value; dot products of them are what statistics are made of."""
        ...

    def decode(self, vector: NDArray[np.float64], domain: Domain) -> Hashable:
        """The value that a vector, or a mean of vectors, is nearest to."""
        ...

    def worded(self, value: Hashable, domain: Domain) -> str:
        """A value as tables and sentences show it."""
        ...

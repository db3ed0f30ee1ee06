"""Probes: one pure change of a response, request or pair, and what a sound judge makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from voirdire.late import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy as np
    from numpy.typing import NDArray

    from voirdire.schema import Comparison, Item, Request, Response, Turn

    Floats = NDArray[np.float64]

#: What a probe makes of a response: a text, or the turns of a conversation.
Said: TypeAlias = "str | tuple[Turn, ...]"
Change: TypeAlias = "Callable[[Item, Response], Said | None]"
#: The file of a folder in which the effects of probes are kept.
PROBES_FILE = "probes.parquet"
#: What a sound judge's score does: it stays, it falls, and further the stronger the change is, or
#: it changes its sign.
Expectation = Literal["same", "monotone", "flip"]


@dataclass(frozen=True, slots=True)
class ResponseProbe:
    """A change of a response's text.

    Attributes
    ----------
    name : str
        As it is asked for by ``--probes``.
    change : callable
        From an item and a response to the changed text, or of a conversation to its changed turns;
        None where it does not apply. Pure: the same each time, and no model is asked.
    expects : {"same", "monotone"}
        "same": the change is none that the rubric is about. "monotone": it does harm, and more
        the stronger it is.
    strength : str
        How large the change is, such as "about 50 words".
    says : str
        What is changed, as a sentence of the report.
    stronger : tuple of callable
        The same change in growing strength, each beyond `change`; every one is asked about.
    of_turns : bool
        Whether it changes conversations alone; where there are none it is left out.
    language : str
        The language of the words that it adds, such as ``en``; empty where it adds none. Responses
        to items that are declared to be in another language are left as they are.

    Examples
    --------
    >>> from voirdire.schema import Item, Response
    >>> shout = ResponseProbe("shout", lambda item, response: response.text.upper())
    >>> shout.change(Item("1"), Response("1", "a", "Keep calm."))
    'KEEP CALM.'
    """

    name: str
    change: Change
    expects: Expectation = "same"
    strength: str = ""
    says: str = ""
    stronger: tuple[Change, ...] = ()
    of_turns: bool = False
    language: str = ""

    @property
    def changes(self) -> tuple[Change, ...]:
        """All strengths, the weakest first."""
        return (self.change, *self.stronger)


@dataclass(frozen=True, slots=True)
class RequestProbe:
    """A change of what a judge asks; the other attributes are those of `ResponseProbe`."""

    name: str
    change: Callable[[Request], Request]
    expects: Expectation = "same"
    strength: str = ""
    says: str = ""


@dataclass(frozen=True, slots=True)
class PairProbe:
    """A change of a pair that a pairwise judge is shown; attributes as those of `ResponseProbe`.

    A score above 0 prefers what is shown first, so a judge that does not look at the order flips
    the sign of its score where the two change places.
    """

    name: str
    change: Callable[[Comparison], Comparison]
    expects: Expectation = "flip"
    strength: str = ""
    says: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class StoredPairs:
    """Scores that are there already, in pairs that a sound judge scores alike.

    Attributes
    ----------
    before, after : (K, N) array
        Scores of K runs; NaN where missing. With a probe that expects "flip", of which one is
        the other's negative.
    groups : (N,) array of str
        What is resampled: clusters or items.
    width : float
        Of the scale: 4 for preferences from -2 to 2.
    """

    judge: str
    attribute: str
    before: Floats
    after: Floats
    groups: NDArray[np.str_]
    width: float


@dataclass(frozen=True, slots=True)
class StoredProbe:
    """A probe that asks nothing: `pairs` finds in a `voirdire.Examination` what it compares.

    It yields nothing where the data cannot say. The other attributes are those of `ResponseProbe`.
    """

    name: str
    pairs: Callable[[Any], Iterable[StoredPairs]]
    expects: Expectation = "same"
    strength: str = "in data already there"
    says: str = ""


Probe = ResponseProbe | RequestProbe | PairProbe | StoredProbe

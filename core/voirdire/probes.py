"""Probes: one pure change of a response or a request, and what a sound judge should make of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from voirdire.schema import Item, Request, Response

#: What a sound judge's score does: it stays, or it falls.
Expectation = Literal["same", "lower"]


@dataclass(frozen=True, slots=True)
class ResponseProbe:
    """A change of a response's text.

    Attributes
    ----------
    name : str
        As it is asked for by ``--probes``.
    change : callable
        From an item and a response to the changed text; None where it does not apply. Pure: the
        same text each time, and no model is asked.
    expects : {"same", "lower"}
        "same": the change is none that the rubric is about. "lower": it does harm.
    strength : str
        How large the change is, such as "about 50 words".
    says : str
        What is changed, as a sentence of the report.

    Examples
    --------
    >>> from voirdire.schema import Item, Response
    >>> shout = ResponseProbe("shout", lambda item, response: response.text.upper())
    >>> shout.change(Item("1"), Response("1", "a", "Keep calm."))
    'KEEP CALM.'
    """

    name: str
    change: Callable[[Item, Response], str | None]
    expects: Expectation = "same"
    strength: str = ""
    says: str = ""


@dataclass(frozen=True, slots=True)
class RequestProbe:
    """A change of what a judge asks; the other attributes are those of `ResponseProbe`."""

    name: str
    change: Callable[[Request], Request]
    expects: Expectation = "same"
    strength: str = ""
    says: str = ""


Probe = ResponseProbe | RequestProbe

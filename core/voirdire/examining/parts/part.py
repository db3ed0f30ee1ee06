"""What each part of an examination can do; one that has nothing to examine is not asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from voirdire.late import dataclass

if TYPE_CHECKING:
    from voirdire.examining.inputs import Inputs
    from voirdire.schema import Finding
    from voirdire.tabular import Section

Facts = TypeVar("Facts")


@dataclass(frozen=True, slots=True)
class Examined(Generic[Facts]):
    """What a part found: its facts, what is odd in them, and what a reader must know."""

    facts: Facts
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()


class ExaminationPart(Protocol[Facts]):
    """One part of an examination, whose facts have a type of their own.

    It has no state. What is slow to import is imported in `examine` and `sections`: most
    examinations need few of the parts.
    """

    def needs(self, inputs: Inputs) -> bool:
        """Whether the inputs hold what it examines."""
        ...

    def examine(self, inputs: Inputs, before: tuple[Any, ...]) -> Examined[Facts]:
        """What it finds; `before` are the facts of the parts that stand before it."""
        ...

    def sections(self, facts: Facts) -> tuple[Section, ...]:
        """The tables that the report shows of it, besides those of its own."""
        ...

"""Where each human is a reference in turn, a judge has one row for each: its name says which."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from voirdire.examining import PairResult

if TYPE_CHECKING:
    from voirdire.examining import Examination


@dataclasses.dataclass(frozen=True, slots=True)
class _Displayed(PairResult):
    """A result under a display name, with the rater in the tables of ratings."""

    rater: str = ""


def for_display(examination: Examination) -> Examination:
    """The examination with a distinct name for each judge and reference.

    With one reference for all it is returned as it is.
    """
    if len({result.reference for result in examination.results}) < 2:
        return examination
    return examination.replace(
        results=tuple(_renamed(result) for result in examination.results),
        composites=tuple(_renamed(result) for result in examination.composites),
    )


def rater_name(examination: Examination, judge: str, turn: int) -> str:
    """A judge as it is displayed; `turn` says against which of several references."""
    names = dict.fromkeys(r.judge for r in examination.results if rater_of(r) == judge)
    return list(names)[turn] if len(names) > turn else judge


def rater_of(result: PairResult) -> str:
    """The rater in the tables of ratings, whatever its result is displayed as."""
    return result.rater if isinstance(result, _Displayed) else result.judge


def reference_of(examination: Examination, result: PairResult) -> tuple[str, ...]:
    """The raters with whose mean the judge is compared."""
    return result.reference or tuple(examination.options.get("reference") or ())


def _renamed(result: PairResult) -> PairResult:
    values = {part.name: getattr(result, part.name) for part in dataclasses.fields(PairResult)}
    return _Displayed(**{**values, "judge": _name(result)}, rater=result.judge)


def _name(result: PairResult) -> str:
    return f"{result.judge} vs {' and '.join(result.reference)}"

"""Where each human is a reference in turn, a judge has one row for each: its name says which."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from voirdire.examining import Examination, PairResult

_RATER = "rater"


def for_display(examination: Examination) -> Examination:
    """The examination with a distinct name for each judge and reference.

    With one reference for all it is returned as it is.
    """
    if len({result.reference for result in examination.results}) < 2:
        return examination
    verdicts = tuple(
        dataclasses.replace(verdict, judge=_name(result))
        for verdict, result in zip(examination.verdicts, examination.results, strict=True)
    )
    return examination.replace(
        results=tuple(_renamed(result) for result in examination.results),
        composites=tuple(_renamed(result) for result in examination.composites),
        verdicts=verdicts,
    )


def rater_of(result: PairResult) -> str:
    """The rater in the tables of ratings, whatever its result is displayed as."""
    return str(result.extra.get(_RATER, result.judge))


def reference_of(examination: Examination, result: PairResult) -> tuple[str, ...]:
    """The raters whose mean stands beside the judge."""
    names = tuple(examination.options.get("reference") or ())
    return (result.reference,) if result.reference in names else names


def _renamed(result: PairResult) -> PairResult:
    extra = {**result.extra, _RATER: result.judge}
    return dataclasses.replace(result, judge=_name(result), extra=extra)


def _name(result: PairResult) -> str:
    return f"{result.judge} vs {result.reference}"

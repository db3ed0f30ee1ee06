"""Who takes part in an examination: raters, the reference, the judges, and their cube."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

import polars as pl

from voirdire._errors import InputError
from voirdire.examining._context import Context
from voirdire.examining.ratings.cube import build_cube
from voirdire.schema import Scale
from voirdire.study import Rater

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.study import Study


def raters_of(study: Study, frame: pl.DataFrame) -> list[Rater]:
    """The panel's raters that have ratings, in its order, then others that the tables hold."""
    present = frame["rater"].to_list()
    declared = [rater for rater in study.panel if rater.name in present]
    names = {rater.name for rater in declared}
    return declared + [Rater(name=name) for name in present if name not in names]


def reference_of(study: Study, raters: Sequence[Rater], *, alone: bool) -> tuple[str, ...]:
    """The raters that others are held against; none where something else stands `alone`."""
    names = [rater.name for rater in raters]
    unknown = [name for name in study.data.reference if name not in names]
    if unknown:
        raise InputError(
            f"reference {unknown[0]!r} has no ratings (raters: {', '.join(names)})"
            + _meant(unknown[0], names)
        )
    found = study.data.reference or tuple(r.name for r in raters if r.kind == "human")
    if not found and not study.analysis.measures and not alone:
        raise InputError(
            "no reference: say by --reference NAME, or [data] reference in the study, which rater "
            f"the others are held against (raters: {', '.join(names)})"
        )
    return found


def _meant(unknown: str, names: Sequence[str]) -> str:
    """The raters whose names begin so, or else are spelled almost so, as a question."""
    begun = [name for name in names if name.casefold().startswith(unknown.casefold())]
    near = begun or get_close_matches(unknown, names)
    return f": did you mean {', '.join(near)}?" if near else ""


def judges_of(
    study: Study, raters: Sequence[Rater], reference: Sequence[str], *, alone: bool
) -> list[Rater]:
    """All but the reference; there must be one, unless something else stands `alone`."""
    judges = [rater for rater in raters if rater.name not in reference]
    if not judges and not study.analysis.measures and not alone:
        names = ", ".join(reference)
        asked = ", ".join(rater.name for rater in study.panel if rater.model)
        raise InputError(
            f"there is no judge to examine: all raters are the reference ({names})"
            + (f"; not rated yet, voirdire run asks them: {asked}" if asked else "")
        )
    return judges


def references_of(study: Study, reference: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The mean of all reference raters, or each in turn; none where only measures are asked."""
    if study.data.reference_use == "each":
        return [(name,) for name in reference]
    return [reference] if reference else []


def context_of(study: Study, ratings: pl.DataFrame, raters: Sequence[Rater]) -> Context:
    cube = build_cube(
        ratings,
        [rater.name for rater in raters],
        _attributes(study, ratings),
        [system.name for system in study.systems],
    )
    return Context(cube, study, scale_of(study))


def _attributes(study: Study, ratings: pl.DataFrame) -> list[str]:
    declared = [attribute.name for attribute in study.rubric.attributes]
    return declared or ratings["attribute"].cast(pl.String).unique(maintain_order=True).to_list()


def scale_of(study: Study) -> Scale:
    return Scale(*study.rubric.scale, study.rubric.step)

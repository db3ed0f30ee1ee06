"""One Examination out of tidy tables: every part is computed here, in the order of reading."""

from __future__ import annotations

import datetime as dt
import platform
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from voirdire import __version__, tables
from voirdire.examining import _notes
from voirdire.examining._context import Context
from voirdire.examining._labels_beside import all_labels
from voirdire.examining._panel import (
    context_of,
    judges_of,
    raters_of,
    reference_of,
    references_of,
    scale_of,
)
from voirdire.examining.examination import Examination
from voirdire.examining.ladder._facts import known_facts
from voirdire.examining.ladder.verdict import judge_verdicts
from voirdire.examining.measures import measures_of
from voirdire.examining.ratings.pairing import pairings
from voirdire.examining.ratings.results import pair_results
from voirdire.examining.ratings.systems import judge_mean_tests, system_means, system_tests

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.examining.examination import PairResult, SystemTest
    from voirdire.examining.ratings.cube import Cube
    from voirdire.schema import Finding
    from voirdire.study import Rater, Study
    from voirdire.tables import Tables

PACKAGES = ("numpy", "numba", "scipy", "polars")


def assemble(
    study: Study, found: Tables, findings: Sequence[Finding], *, compared: bool = False
) -> Examination:
    """The Examination of ratings; annotators without a reference have sections, not results.

    Where systems were `compared` besides, nobody needs to have rated against a reference.
    """
    ratings = tables.apply_off_scale(found.ratings, study.data.off_scale, scale_of(study))
    raters = raters_of(study, found.raters)
    labels = all_labels(study, found)
    alone = compared or bool(labels.sections)
    reference = reference_of(study, raters, alone=alone)
    judges = judges_of(study, raters, reference, alone=compared)
    context = context_of(study, ratings, raters)
    results = _results(context, judges, references_of(study, reference))
    return Examination(
        study=study,
        date=dt.datetime.now(dt.UTC).date().isoformat(),
        seed=study.analysis.seed,
        versions=versions(),
        options=options_of(study, reference),
        input_hashes=dict(found.hashes),
        findings=tuple(findings),
        results=results,
        composites=_results(_composed(context), judges, references_of(study, reference)),
        ceiling=_ceiling(context, [rater for rater in raters if rater.name in reference]),
        system_means=()
        if labels.sections and not results
        else system_means(context.cube, study.rubric.composites),
        tests=_tests(context.cube, judges, study),
        measures=measures_of(context.cube, study, context.scale),
        verdicts=judge_verdicts(
            results, study, findings, known_facts(context, raters, reference, ratings)
        ),
        ratings=ratings,
        raters=found.raters,
        choices=_notes.choices(study, found.ratings, ratings, results),
        notes=(*_notes.notes(results, reference), *labels.notes),
        sections=labels.sections,
        items=found.items,
        replies=found.replies,
    )


def _results(
    context: Context, judges: Sequence[Rater], references: Sequence[tuple[str, ...]]
) -> tuple[PairResult, ...]:
    found = list(pairings(context.cube, judges, references, context.study))
    return pair_results(found, context) if found else ()


def _composed(context: Context) -> Context:
    """The same, its attributes being the composites."""
    cube = context.cube.with_composites(context.study.rubric.composites)
    return Context(cube, context.study, context.scale)


def _ceiling(context: Context, humans: Sequence[Rater]) -> tuple[PairResult, ...]:
    """Each human against the mean of the others."""
    if len(humans) < 2:
        return ()
    names = [human.name for human in humans]
    return tuple(
        result
        for human in humans
        for result in _results(
            context, [human], [tuple(name for name in names if name != human.name)]
        )
    )


def _tests(cube: Cube, judges: Sequence[Rater], study: Study) -> tuple[SystemTest, ...]:
    if len(cube.systems) < 2:
        return ()
    published = study.analysis.compat == "badawi2025" and len(judges) > 1
    extra = judge_mean_tests(cube, [judge.name for judge in judges]) if published else ()
    return (*system_tests(cube), *extra)


def versions() -> dict[str, str]:
    """Of ourselves and of what the numbers depend on."""
    found = {"voirdire": __version__, "python": platform.python_version()}
    return {**found, **{name: version(name) for name in PACKAGES}}


def options_of(study: Study, reference: Sequence[str]) -> dict[str, Any]:
    """What was asked for, as `results.json` keeps it."""
    return {
        "reference": list(reference),
        "reference_use": study.data.reference_use,
        "off_scale": study.data.off_scale,
        "pairs": study.data.pairs,
        "level": study.analysis.level,
        "resamples": study.analysis.resamples,
        "seed": study.analysis.seed,
        "compat": study.analysis.compat,
    }

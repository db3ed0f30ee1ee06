"""From a source to an Examination: read, audit, pair, compute, judge."""

from __future__ import annotations

import datetime as dt
import platform
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire import __version__, tables
from voirdire._errors import InputError
from voirdire.examining import _notes
from voirdire.examining._cube import build_cube
from voirdire.examining._examination import Examination
from voirdire.examining._facts import known_facts
from voirdire.examining._labels import label_part, label_scale
from voirdire.examining._measures import frame_of, measures_of
from voirdire.examining._pairing import pairings
from voirdire.examining._preference_part import (
    with_preferences,
    without_comparers,
    without_ratings,
    worst_first,
)
from voirdire.examining._preference_source import preferences_alone, split_preferences
from voirdire.examining._results import Context, pair_results
from voirdire.examining._session_findings import session_findings
from voirdire.examining._source import adjust, resolve
from voirdire.examining._systems import judge_mean_tests, system_means, system_tests
from voirdire.examining.preference_sections import preference_findings
from voirdire.examining.verdict import judge_verdicts
from voirdire.schema import Scale
from voirdire.study import Rater

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from voirdire.examining._cube import Cube
    from voirdire.examining._examination import PairResult
    from voirdire.examining._preference_source import Compared
    from voirdire.examining._source import Benchmark
    from voirdire.schema import Finding
    from voirdire.study import Study
    from voirdire.tables import Tables

PACKAGES = ("numpy", "numba", "scipy", "polars")


def examine(  # noqa: PLR0913 - the options are those of the command
    source: str | Path | Study | pl.DataFrame,
    *,
    data: str | Path | None = None,
    reference: Sequence[str] = (),
    off_scale: str | None = None,
    pairs: str | None = None,
    resamples: int | None = None,
    level: float | None = None,
    seed: int | None = None,
    measures: Sequence[str] = (),
    compat: str | None = None,
) -> Examination:
    """Examine judges against a reference.

    Parameters
    ----------
    source : str, Path, Study or polars.DataFrame
        A benchmark's name, a study.toml, a file of ratings, a session folder, a Study, or a frame
        with the columns item, rater, score and, where there are any, system, attribute, run.
    data : path, optional
        The folder of a benchmark's data.
    reference : sequence of str
        Raters that the others are held against; by default the study's, else all of kind human.
    off_scale : {"missing", "keep", "error"}, optional
        What to do with values off the declared scale.
    pairs : {"pairwise", "listwise"}, optional
        A pair counts where reference and judge rated, or where all raters did.
    resamples, level, seed
        Of the bootstrap; 0 resamples leave it out.
    measures : sequence of str
        Coefficients over all raters besides, such as ``"alpha"``, ``"fleiss"``, ``"ac1"``.
    compat : {"badawi2025"}, optional
        Follow that study to the letter.

    Returns
    -------
    Examination
        Findings of the audit, a result for each judge and attribute, and verdicts.

    Raises
    ------
    InputError
        Whatever is wrong with the input; the message names the place.

    Examples
    --------
    >>> import polars as pl, voirdire
    >>> frame = pl.DataFrame({
    ...     "item": ["1", "1", "2", "2", "3", "3"] * 2,
    ...     "system": ["a", "b"] * 6,
    ...     "rater": ["human"] * 6 + ["judge"] * 6,
    ...     "score": [1, 4, 2, 5, 1, 5, 2, 5, 2, 4, 3, 5],
    ... })
    >>> found = voirdire.examine(frame, reference=["human"])
    >>> result = found.results[0]
    >>> result.judge, result.n_pairs, round(result.bias, 3)
    ('judge', 6, 0.5)
    """
    study, found, compared, benchmark = _opened(source, data, reference)
    study = adjust(
        label_scale(study),
        {
            "data": {"off_scale": off_scale, "pairs": pairs, "reference": tuple(reference) or None},
            "analysis": {
                "resamples": resamples,
                "level": level,
                "seed": seed,
                "compat": compat,
                "measures": tuple(measures) or None,
            },
        },
    )
    if _is_unrated(study, found, compared, benchmark):
        examination = without_ratings(study, _versions(), _options(study, reference))
    else:
        found = found or tables.read_tables(study)
        examination = _examination(study, found, tables.audit(found, study))
    examination = with_preferences(examination, compared, grouped=benchmark is None)
    if said := session_findings(source):
        examination = examination.replace(findings=worst_first((*said, *examination.findings)))
    return benchmark.review(examination) if benchmark else examination


def _opened(
    source: str | Path | Study | pl.DataFrame, data: str | Path | None, reference: Sequence[str]
) -> tuple[Study, Tables | None, Compared | None, Benchmark | None]:
    """The study behind a source; its tables, preferences and benchmark, where it has any."""
    alone = preferences_alone(source)
    if alone is not None:
        return alone[0], None, alone[1], None
    study, found, benchmark = resolve(source, data, reference)
    if found is not None:
        return study, found, None, benchmark
    study, compared = split_preferences(study)
    return study, None, compared, benchmark


def _is_unrated(
    study: Study,
    found: Tables | None,
    compared: Compared | None,
    benchmark: Benchmark | None,
) -> bool:
    """Whether there is something to examine, and no ratings in it."""
    unrated = found is None and not study.data.sources
    return unrated and (compared is not None or benchmark is not None)


def audit_source(
    source: str | Path | Study | pl.DataFrame,
    *,
    data: str | Path | None = None,
    reference: Sequence[str] = (),
) -> tuple[Finding, ...]:
    """What is odd in the data of a source, worst first; no number is computed.

    Raises
    ------
    InputError
        As `examine`.
    """
    study, found, compared, benchmark = _opened(source, data, reference)
    study = adjust(label_scale(study), {"data": {"reference": tuple(reference) or None}})
    said = session_findings(source)
    said += () if compared is None else tuple(preference_findings(compared.table))
    if _is_unrated(study, found, compared, benchmark):
        return said
    odd = tables.audit(found or tables.read_tables(study), study)
    return worst_first((*said, *(without_comparers(odd, compared.table) if compared else odd)))


def measure(
    source: str | Path | Study | pl.DataFrame,
    measures: Sequence[str],
    *,
    data: str | Path | None = None,
    raters: Sequence[str] = (),
    off_scale: str | None = None,
) -> pl.DataFrame:
    """Coefficients over all raters of a table, without a reference, an audit or a verdict.

    Parameters
    ----------
    source, data, off_scale
        As in `examine`.
    measures : sequence of str
        Over all raters: icc (A,1), icc_1, icc_c1, icc_a1, icc_1k, icc_ck, icc_ak, alpha (ordinal),
        alpha_nominal, alpha_interval, alpha_ratio, fleiss, ac1, ac2, bp, agreement. For each pair
        of raters: cohen, qwk, ccc, pearson, spearman, kendall.
    raters : sequence of str, optional
        Only these; in a wide file without a study, the columns that are raters.

    Returns
    -------
    polars.DataFrame
        ``measure, attribute, raters, value, low, high, interval, n, k, reason``: one row a
        coefficient and attribute, at response level. Undefined is null with a reason.

    Raises
    ------
    InputError
        As `examine`; an unknown measure.

    Examples
    --------
    >>> import polars as pl, voirdire
    >>> frame = pl.DataFrame({"item": [1, 2, 3, 4], "anna": [1, 2, 3, 3], "ben": [1, 2, 3, 2]})
    >>> voirdire.measure(frame, ["alpha"], raters=["anna", "ben"])["value"].round(3).to_list()
    [0.79]
    """
    study, found, _ = resolve(source, data, raters)
    study = label_scale(study)
    study = adjust(study, {"data": {"off_scale": off_scale}, "analysis": {"measures": measures}})
    found = found or tables.read_tables(study)
    ratings = tables.apply_off_scale(found.ratings, study.data.off_scale, _scale(study))
    panel = [r for r in _raters(study, found.raters) if not raters or r.name in raters]
    context = _context(study, ratings, panel)
    return frame_of(measures_of(context.cube, study, context.scale))


def _examination(study: Study, found: Tables, findings: Sequence[Finding]) -> Examination:
    ratings = tables.apply_off_scale(found.ratings, study.data.off_scale, _scale(study))
    raters = _raters(study, found.raters)
    labels = label_part(study, found)
    reference = _reference(study, raters, alone=bool(labels.sections))
    judges = _judges(study, raters, reference)
    context = _context(study, ratings, raters)
    results = _results(context, judges, _references(study, reference))
    return Examination(
        study=study,
        date=dt.datetime.now(dt.UTC).date().isoformat(),
        seed=study.analysis.seed,
        versions=_versions(),
        options=_options(study, reference),
        input_hashes=dict(found.hashes),
        findings=tuple(findings),
        results=results,
        composites=_results(_composed(context), judges, _references(study, reference)),
        ceiling=_ceiling(context, [rater for rater in raters if rater.name in reference]),
        system_means=system_means(context.cube, study.rubric.composites)
        if results or not labels.sections
        else (),
        tests=_tests(context.cube, judges, study),
        measures=measures_of(context.cube, study, context.scale),
        verdicts=judge_verdicts(
            results, study, findings, known_facts(context, raters, reference, ratings)
        )
        if results
        else (),
        ratings=ratings,
        raters=found.raters,
        choices=_notes.choices(study, found.ratings, ratings, results),
        notes=(*_notes.notes(results, reference), *labels.notes),
        sections=labels.sections,
        items=found.items,
        replies=found.replies,
    )


def _judges(study: Study, raters: Sequence[Rater], reference: Sequence[str]) -> list[Rater]:
    judges = [rater for rater in raters if rater.name not in reference]
    if not judges and not study.analysis.measures:
        names = ", ".join(reference)
        raise InputError(f"there is no judge to examine: all raters are the reference ({names})")
    return judges


def _context(study: Study, ratings: pl.DataFrame, raters: Sequence[Rater]) -> Context:
    cube = build_cube(
        ratings,
        [rater.name for rater in raters],
        _attributes(study, ratings),
        [system.name for system in study.systems],
    )
    return Context(cube, study, _scale(study))


def _scale(study: Study) -> Scale:
    return Scale(*study.rubric.scale, study.rubric.step)


def _references(study: Study, reference: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The mean of all reference raters, or each in turn; none where only measures are asked."""
    if study.data.reference_use == "each":
        return [(name,) for name in reference]
    return [reference] if reference else []


def _raters(study: Study, frame: pl.DataFrame) -> list[Rater]:
    """The panel's raters that have ratings, in its order, then others that the tables hold."""
    present = frame["rater"].to_list()
    declared = [rater for rater in study.panel if rater.name in present]
    names = {rater.name for rater in declared}
    return declared + [Rater(name=name) for name in present if name not in names]


def _reference(study: Study, raters: Sequence[Rater], *, alone: bool) -> tuple[str, ...]:
    """The raters that others are held against; none is needed where annotators stand `alone`."""
    names = [rater.name for rater in raters]
    unknown = [name for name in study.data.reference if name not in names]
    if unknown:
        raise InputError(f"reference {unknown[0]!r} has no ratings (raters: {', '.join(names)})")
    found = study.data.reference or tuple(r.name for r in raters if r.kind == "human")
    if not found and not study.analysis.measures and not alone:
        raise InputError(
            "no reference: say by --reference NAME, or [data] reference in the study, which rater "
            f"the others are held against (raters: {', '.join(names)})"
        )
    return found


def _attributes(study: Study, ratings: pl.DataFrame) -> list[str]:
    declared = [attribute.name for attribute in study.rubric.attributes]
    return declared or ratings["attribute"].cast(pl.String).unique(maintain_order=True).to_list()


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


def _tests(cube: Cube, judges: Sequence[Rater], study: Study) -> tuple[Any, ...]:
    if len(cube.systems) < 2:
        return ()
    published = study.analysis.compat == "badawi2025" and len(judges) > 1
    extra = judge_mean_tests(cube, [judge.name for judge in judges]) if published else ()
    return (*system_tests(cube), *extra)


def _versions() -> dict[str, str]:
    found = {"voirdire": __version__, "python": platform.python_version()}
    return {**found, **{name: version(name) for name in PACKAGES}}


def _options(study: Study, reference: Sequence[str]) -> dict[str, Any]:
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

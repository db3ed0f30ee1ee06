"""What was read becomes an Examination: each part examined, all joined once."""

from __future__ import annotations

import datetime as dt
import platform
import sys
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire import __version__
from voirdire.examining.examination import Examination
from voirdire.examining.panel import check_panel
from voirdire.examining.ratings.cube import build_cube
from voirdire.examining.ratings.pairing import disagreements
from voirdire.examining.ratings.results import RatingsPart, examine_ratings
from voirdire.examining.source import by_severity
from voirdire.examining.verdict.gathering import blocked_pairs, clusters_of, gather_cases
from voirdire.examining.verdict.judging import (
    Judged,
    careless_findings,
    copied_findings,
    judge_by_study,
)
from voirdire.probes import PROBES_FILE
from voirdire.tables import RATERS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from voirdire.examining.examination import PairResult
    from voirdire.examining.gains import JuryResult
    from voirdire.examining.inputs import Inputs
    from voirdire.examining.labels import LabelPart
    from voirdire.examining.preferences import Preferences
    from voirdire.examining.probing import ProbeEffect
    from voirdire.examining.ratings.cube import Cube
    from voirdire.examining.traces import TracesPart
    from voirdire.schema import Finding
    from voirdire.study import Study
    from voirdire.tabular import Section

PACKAGES = ("numpy", "numba", "scipy", "polars")
ONE_COLUMN = (
    "The reference is one column of human ratings: agreement among humans, the ceiling for any "
    "judge, cannot be estimated from it."
)
EXACT = (
    "Exact intervals enumerate every resample of at most 10 systems: they have no seed and no "
    "Monte Carlo error, and the same under-coverage as the percentile bootstrap."
)


def examine_inputs(inputs: Inputs) -> Examination:
    """The Examination of what was read; a benchmark has not reviewed it.

    Raises
    ------
    InputError
        There is no reference, or no judge, and nothing else to examine.
    """
    study, preferences = inputs.study, _preferences(inputs)
    if inputs.tables is None:
        return joined(
            inputs, RatingsPart(), None, preferences, Judged((), ()), traces=_traces(inputs, None)
        )
    panel, compared = inputs.panel, inputs.preferences is not None
    labels = _labels(inputs)
    # Labels over runs say something without anybody to be held against.
    others = labels is not None and bool(labels.sections)
    check_panel(study, panel, others=others, compared=compared)
    cube = build_cube(inputs.ratings, panel.names, panel.attributes, panel.systems)
    ratings = examine_ratings(
        panel,
        cube,
        study.analysis,
        bias_level=study.thresholds.bias_level,
        alone=others,
        clusters=clusters_of(inputs.ratings, cube) if study.analysis.measures else None,
    )
    return joined(
        inputs, ratings, labels, preferences, judged_of(inputs, cube), _juries(inputs, cube),
        _traces(inputs, cube),
    )  # fmt: skip


def judged_of(inputs: Inputs, cube: Cube) -> Judged:
    """Verdicts by use and their evidence."""
    study, panel = inputs.study, inputs.panel
    return judge_by_study(
        gather_cases(cube, panel, study, inputs.ratings),
        study,
        blocked_pairs(inputs.findings, panel, study),
        epsilon=study.thresholds.epsilon,
    )


def _labels(inputs: Inputs) -> LabelPart | None:
    """What annotators said; None where there are no labels."""
    if not inputs.labelled:
        return None
    from voirdire.examining.labels.annotators import (  # noqa: PLC0415 - most sources name no labels
        examine_labels,
    )

    return examine_labels(inputs)


def _juries(inputs: Inputs, cube: Cube) -> tuple[JuryResult, ...]:
    """What each jury is worth; nothing where there is none, or no reference."""
    if not (inputs.study.juries and inputs.panel.reference):
        return ()
    from voirdire.examining.juries import measure_juries  # noqa: PLC0415 - few studies have one

    return measure_juries(inputs, cube)


def _sections_of(juries: tuple[JuryResult, ...]) -> tuple[Section, ...]:
    if not juries:
        return ()
    from voirdire.examining.juries import jury_sections  # noqa: PLC0415 - few studies have one

    return jury_sections(juries)


def _traces(inputs: Inputs, cube: Cube | None) -> TracesPart | None:
    """What raters of several steps did, and gained by it; nothing where the session has none."""
    if inputs.session is None:
        return None
    from voirdire.examining.traces import measure_traces  # noqa: PLC0415 - loads the store

    return measure_traces(inputs, cube)


def _preferences(inputs: Inputs) -> Preferences | None:
    """What the comparisons say; not by group where a benchmark has groups of its own."""
    compared, analysis = inputs.preferences, inputs.study.analysis
    if compared is None or compared.table.is_empty():
        return None
    from voirdire.examining.preferences import (  # noqa: PLC0415 - most sources compare nothing
        examine_preferences,
    )

    return examine_preferences(
        compared.table,
        None if inputs.benchmark else compared.groups,
        level=analysis.level,
        resamples=analysis.resamples,
        seed=analysis.seed,
    )


def joined(
    inputs: Inputs,
    ratings: RatingsPart,
    labels: LabelPart | None,
    preferences: Preferences | None,
    judged: Judged,
    juries: tuple[JuryResult, ...] = (),
    traces: TracesPart | None = None,
) -> Examination:
    """One Examination of what each part found."""
    study, rated, compared = inputs.study, inputs.tables, inputs.preferences
    probes = _probes(inputs.session)
    hashes = {} if rated is None else dict(rated.hashes)
    read = inputs.ratings if rated is None else rated.ratings
    return Examination(
        study=study,
        date=dt.datetime.now(dt.UTC).date().isoformat(),
        seed=study.analysis.seed,
        versions=_versions(),
        options=_options(study, inputs.panel.reference or study.data.reference),
        input_hashes=hashes if compared is None else {**hashes, **compared.hashes},
        findings=_findings(inputs, judged),
        results=ratings.results,
        composites=ratings.composites,
        ceiling=ratings.ceiling,
        system_means=ratings.system_means,
        tests=ratings.tests,
        measures=ratings.measures,
        verdicts=judged.verdicts,
        evidence=judged.evidence,
        human_pairs=judged.human_pairs,
        ratings=inputs.ratings,
        raters=_raters(inputs),
        choices=_choices(study, read, inputs.ratings, ratings.results),
        notes=(
            *_notes(ratings.results, inputs.panel.reference),
            *(labels.notes if labels else ()),
        ),
        sections=(
            *_shown(preferences),
            *(labels.sections if labels else ()),
            *_sections_of(juries),
            *(traces.sections if traces else ()),
            *_prompts(study, inputs.ratings),
            *_probed(probes),
        ),
        probes=probes,
        juries=juries,
        steps=traces.steps if traces else (),
        step_gains=traces.gains if traces else (),
        items=None if rated is None else rated.items,
        replies=None if rated is None else rated.replies,
        responses=None if rated is None else rated.responses,
        reasons=None if rated is None else rated.reasons,
        preferences=preferences,
        pairs=ratings.pairs,
        disagreements=disagreements(ratings.pairs),
        label_errors=labels.errors if labels else None,
        session=inputs.session,
        panel=inputs.panel,
    )


def _findings(inputs: Inputs, judged: Judged) -> tuple[Finding, ...]:
    """What the audit and the verdicts find odd, worst first."""
    of_verdicts = (*careless_findings(judged.evidence), *copied_findings(judged.evidence))
    return by_severity((*inputs.findings, *of_verdicts))


def _shown(preferences: Preferences | None) -> tuple[Section, ...]:
    if preferences is None:
        return ()
    from voirdire.examining.preferences import (  # noqa: PLC0415 - most sources compare nothing
        preference_sections,
    )

    return preference_sections(preferences)


def _probes(session: Path | None) -> tuple[ProbeEffect, ...]:
    """What `voirdire probe` left in the session."""
    if session is None or not (session / PROBES_FILE).is_file():
        return ()
    from voirdire.examining.probing import read_effects  # noqa: PLC0415 - few sessions are probed

    return read_effects(session / PROBES_FILE)


def _probed(effects: tuple[ProbeEffect, ...]) -> tuple[Section, ...]:
    if not effects:
        return ()
    from voirdire.examining.probing import effects_section  # noqa: PLC0415 - as above

    return (replace(effects_section(effects), leading=False),)


def _prompts(study: Study, ratings: pl.DataFrame) -> tuple[Section, ...]:
    """What the wording does, where a judge is asked in several."""
    if all("instructions" not in rater.options for rater in study.panel):
        return ()
    from voirdire.examining.prompts import prompt_sections  # noqa: PLC0415 - few studies vary it

    return prompt_sections(study, ratings)


def _versions() -> dict[str, str]:
    """Of ourselves and of what the numbers depend on."""
    ours = {"voirdire": __version__, "python": platform.python_version()}
    return {**ours, **{name: _version(name) for name in PACKAGES}}


def _version(package: str) -> str:
    """As its metadata says, else as the loaded module does: a zip or a closed folder has none."""
    try:
        return version(package)
    except PackageNotFoundError:
        return str(getattr(sys.modules.get(package), "__version__", "unknown"))


def _options(study: Study, reference: Sequence[str]) -> dict[str, Any]:
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


def _raters(inputs: Inputs) -> pl.DataFrame:
    """Raters that rate, and beside them those that only compare."""
    rated = RATERS.to_frame() if inputs.tables is None else inputs.tables.raters
    if inputs.preferences is None:
        return rated
    raters = set(rated["rater"])
    compared = inputs.preferences.table["rater"].unique(maintain_order=True)
    rows = []
    for name in compared:
        spec = inputs.study.rater(name)
        kind, family = ("", "") if spec is None else (spec.kind, spec.family)
        # Who only compares has no ratings, and would be missing from the table of raters.
        rows.append((name, kind or None, family, None, spec.model_names or None if spec else None))
    more = pl.DataFrame(
        [(*row, None, None) for row in rows if row[0] not in raters],
        schema=dict(RATERS),
        orient="row",
    )
    return pl.concat([rated.select(list(RATERS)), more])


def _choices(
    study: Study, read: pl.DataFrame, used: pl.DataFrame, results: Sequence[PairResult]
) -> tuple[str, ...]:
    """What each option did to the data; only what made a difference is said."""
    options = [
        _off_scale(study, read, used),
        _pairs_used(study, results),
        _runs_averaged(used),
        _dropped(study, results),
    ]
    return tuple(note for note in options if note)


def _notes(results: Sequence[PairResult], reference: Sequence[str]) -> tuple[str, ...]:
    """What else a reader of these results must know."""
    lines = [
        ONE_COLUMN if len(reference) == 1 else "",
        EXACT if any(r.interval("C,1", "exact") for r in results) else "",
        _borderline(results),
    ]
    return tuple(note for note in lines if note)


def _off_scale(study: Study, read: pl.DataFrame, used: pl.DataFrame) -> str:
    low, high = study.rubric.scale
    off = read.filter(pl.col("score").is_not_null(), pl.col("status") == "out_of_scale")
    if off.is_empty():
        return ""
    kinds = ", ".join(
        f"{count:,} x {value:g}"
        for value, count in off.group_by("score").len().sort("score").iter_rows()
    )
    kept = used["score"].null_count() == read["score"].null_count()
    what = "were kept as they are" if kept else "were treated as missing"
    return (
        f"Off-scale policy {study.data.off_scale}: {len(off):,} values off {low:g}..{high:g} "
        f"({kinds}) {what}."
    )


def _pairs_used(study: Study, results: Sequence[PairResult]) -> str:
    used = sum(result.n_pairs for result in results)
    expected = sum(result.n_expected for result in results)
    if not expected:
        return ""
    rule = (
        "a pair counts where reference and judge both rated"
        if study.data.pairs == "pairwise"
        else "a pair counts where every rater rated"
    )
    return (
        f"Pairs {study.data.pairs} ({rule}): {used:,} of {expected:,} possible pairs were used "
        f"({used / expected:.2%})."
    )


def _runs_averaged(used: pl.DataFrame) -> str:
    runs = used.group_by("rater").agg(pl.col("run").n_unique()).filter(pl.col("run") > 1)
    if runs.is_empty():
        return ""
    names = ", ".join(f"{rater} ({count})" for rater, count in runs.sort("rater").iter_rows())
    return f"Several runs were averaged before pairing: {names}."


def _dropped(study: Study, results: Sequence[PairResult]) -> str:
    """What the published rule of dropping bootstrap values outside [0, 1] shifts."""
    if study.analysis.compat != "badawi2025":
        return ""
    shifts = [shift for result in results for shift in result.compat_shift]
    if not shifts:
        return ""
    return (
        "compat badawi2025 drops bootstrap values of ICC outside [0, 1]: this moves a bound of a "
        f"percentile interval by up to {max(map(abs, shifts)):.3f} "
        f"({sum(abs(shift) > 0.0005 for shift in shifts)} of {len(shifts)} bounds move)."
    )


def _borderline(results: Sequence[PairResult]) -> str:
    names = [f"{r.judge} {r.attribute}" for r in results if r.class_borderline]
    if not names:
        return ""
    return (
        f"The published class depends on the bootstrap's seed for {len(names)} of {len(results)}: "
        f"{', '.join(names)}."
    )

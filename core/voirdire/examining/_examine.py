"""From a source to an Examination, downhill: opened once, each part examined, joined once."""

from __future__ import annotations

import datetime as dt
import platform
import sys
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire import __version__
from voirdire.errors import InputError
from voirdire.examining import _notes
from voirdire.examining.examination import Examination
from voirdire.examining.panel import check_panel
from voirdire.examining.ratings.cube import build_cube
from voirdire.examining.ratings.pairing import disagreements
from voirdire.examining.ratings.results import RatingsPart, examine_ratings
from voirdire.examining.source import audit_of, by_severity, inputs_of, open_source
from voirdire.examining.streaming.source import stream_of
from voirdire.examining.verdict.gathering import blocked_pairs, clusters_of, gather_cases
from voirdire.examining.verdict.judging import (
    Judged,
    careless_findings,
    copied_findings,
    judge_cases,
)
from voirdire.probes import PROBES_FILE
from voirdire.study import Gate
from voirdire.tables import RATERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

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


def examine(  # noqa: PLR0913 - the options are those of the command
    source: str | Path | Study | pl.DataFrame | Sequence[str | Path],
    *,
    data: str | Path | None = None,
    reference: Sequence[str] = (),
    columns: Mapping[str, Any] | None = None,
    human: Sequence[str | Path] = (),
    off_scale: str | None = None,
    pairs: str | None = None,
    resamples: int | None = None,
    level: float | None = None,
    seed: int | None = None,
    measures: Sequence[str] = (),
    raters: Sequence[str] = (),
    compat: str | None = None,
    gate: float | Gate | None = None,
    streaming: bool = False,
    workers: str | int | None = None,
    insecure: bool = False,
) -> Examination:
    """Examine judges against a reference.

    Parameters
    ----------
    source : str, Path, Study, polars.DataFrame or sequence of paths
        Several files of ratings, each of one rater (who is called as the file) or of several; or a
        benchmark's name, a study.toml, a file of ratings, a session folder, a Study, or a frame
        with the columns item, rater, score and, where there are any, system, attribute, run.
    data : path, optional
        The folder of a benchmark's data.
    reference : sequence of str
        Raters that the others are held against; by default the study's, else all of kind human.
    columns : mapping, optional
        For files and frames without a study: keys of ``[[data.sources]]``, such as
        ``{"item": "post", "score": "stars"}``; ``{"assume": True}`` accepts the likelier reading
        where there are two, with a serious finding. Every function that reads ratings takes them,
        and with them ``{"human": ["labels.csv"]}``.
    human : sequence of paths, optional
        Files of labels by people, joined to the items that the source rates, by the column that
        ``columns`` names as ``key`` (``"ticket"``, or ``"ticket=ticket_id"`` where the source calls
        it otherwise), else by the text of the items, without regard to letter case and blanks.
        ``about`` there is the attribute that the labels speak of, where they name none.
    off_scale : {"missing", "keep", "error"}, optional
        What to do with values off the declared scale.
    pairs : {"pairwise", "listwise"}, optional
        A pair counts where reference and judge rated, or where all raters did.
    resamples, level, seed
        Of the bootstrap; 0 resamples leave it out.
    measures : sequence of str
        Coefficients over all raters besides, such as ``"alpha"``, ``"fleiss"``, ``"ac1"``.
    raters : sequence of str
        Over whom: ``"humans"``, ``"judges"`` or names; by default the study's, else all.
    compat : {"badawi2025"}, optional
        Follow that study to the letter.
    gate : float or Gate, optional
        Scores at or above it pass; a `voirdire.study.Gate` also says which sensitivity and
        specificity a judge must reach against one column of labels. By default the study's.
    streaming : bool
        Examine Parquet files as sums, in constant memory, whatever their size. A folder of parts,
        a pattern such as ``"ratings/**/*.parquet"`` and more than 5 million rows are always.
    workers : str or int, optional
        Where the sums of a stream are computed: see `voirdire.executors.open_executor`.
    insecure : bool
        Whether a scheduler on another machine may be used without TLS.

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
    asked = Gate(at=gate) if isinstance(gate, int | float) else gate
    changes: dict[str, dict[str, Any]] = {
        "data": {"off_scale": off_scale, "pairs": pairs, "reference": tuple(reference) or None},
        "analysis": {
            "resamples": resamples,
            "level": level,
            "seed": seed,
            "compat": compat,
            "measures": tuple(measures) or None,
            "raters": tuple(raters) or None,
        },
    }
    human = human or (columns or {}).get("human", ())
    if streaming and (human or data):
        raise InputError(
            "--streaming reads one stream of ratings, and no --human or --data beside it: give all "
            "files of ratings together, or leave out --streaming"
        )
    if human:
        columns = {**(columns or {}), "human": human}
    stream = None if human or data else stream_of(source, asked=streaming)
    if stream is not None:
        from voirdire.examining.streaming.examine import (  # noqa: PLC0415 - most sources are small
            examine_stream,
        )

        streamed = examine_stream(
            stream,
            reference=reference,
            columns=columns or {},
            changes=changes,
            gate=asked,
            workers=workers,
            insecure=insecure,
        )
        if streamed is not None:
            return _joined(streamed.inputs, streamed.ratings, None, None, streamed.judged)
    opened = open_source(
        source,
        data=data,
        reference=reference,
        columns=columns,
        changes=changes,
    )
    inputs = inputs_of(opened)
    if asked is not None:
        inputs = replace(inputs, study=inputs.study.model_copy(update={"gate": asked}))
    examination = examine_inputs(inputs)
    return inputs.benchmark.review(examination) if inputs.benchmark else examination


def examine_inputs(inputs: Inputs) -> Examination:
    """The Examination of what was read; a benchmark has not reviewed it.

    Raises
    ------
    InputError
        There is no reference, or no judge, and nothing else to examine.
    """
    study, preferences = inputs.study, _preferences(inputs)
    if inputs.tables is None:
        return _joined(
            inputs, RatingsPart(), None, preferences, Judged((), ()), traces=_traces(inputs, None)
        )
    panel, compared = inputs.panel, inputs.preferences is not None
    labels = _labels(inputs)
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
    return _joined(
        inputs, ratings, labels, preferences, judged_of(inputs, cube), _juries(inputs, cube),
        _traces(inputs, cube),
    )  # fmt: skip


def judged_of(inputs: Inputs, cube: Cube) -> Judged:
    """Verdicts by use and their evidence."""
    study, panel = inputs.study, inputs.panel
    return judge_cases(
        gather_cases(cube, panel, study, inputs.ratings),
        study.margins,
        uses=study.uses,
        critical={part.name for part in study.rubric.attributes if part.safety_critical},
        blocked=blocked_pairs(inputs.findings, panel, study),
        level=study.analysis.level,
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


def audit_source(
    source: str | Path | Study | pl.DataFrame | Sequence[str | Path],
    *,
    data: str | Path | None = None,
    reference: Sequence[str] = (),
    columns: Mapping[str, Any] | None = None,
) -> tuple[Finding, ...]:
    """What is odd in the data of a source, worst first; no number is computed.

    Raises
    ------
    InputError
        As `examine`.
    """
    changes = {"data": {"reference": tuple(reference) or None}}
    opened = open_source(
        source,
        data=data,
        reference=reference,
        columns=columns,
        changes=changes,
    )
    return audit_of(opened)


def _joined(
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
        findings=by_severity(
            (
                *inputs.findings,
                *careless_findings(judged.evidence),
                *copied_findings(judged.evidence),
            )
        ),
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
        choices=_notes.choices(study, read, inputs.ratings, ratings.results),
        notes=(
            *_notes.notes(ratings.results, inputs.panel.reference),
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
    known = set(rated["rater"])
    compared = inputs.preferences.table["rater"].unique(maintain_order=True)
    rows = []
    for name in compared:
        spec = inputs.study.rater(name)
        kind, family = ("", "") if spec is None else (spec.kind, spec.family)
        rows.append((name, kind or None, family, None, spec.model_names or None if spec else None))
    more = pl.DataFrame(
        [(*row, None, None) for row in rows if row[0] not in known],
        schema=dict(RATERS),
        orient="row",
    )
    return pl.concat([rated.select(list(RATERS)), more])

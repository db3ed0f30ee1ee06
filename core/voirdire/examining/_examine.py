"""From a source to an Examination: read, audit, pair, compute, judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voirdire import tables
from voirdire.examining._assemble import assemble, options_of, versions
from voirdire.examining._labels import label_scale
from voirdire.examining._labels_beside import labels_beside, study_of_labels
from voirdire.examining._preference_part import (
    with_preferences,
    without_comparers,
    without_ratings,
    worst_first,
)
from voirdire.examining._session_findings import session_findings
from voirdire.examining.preferences.sections import preference_findings
from voirdire.examining.preferences.source import preferences_alone, split_preferences
from voirdire.examining.source import adjust, is_benchmark, resolve

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl

    from voirdire.examining._benchmark import Benchmark
    from voirdire.examining.examination import Examination
    from voirdire.examining.preferences.source import Compared
    from voirdire.schema import Finding
    from voirdire.study import Study
    from voirdire.tables import Tables


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
        examination = without_ratings(study, versions(), options_of(study, reference))
    else:
        found = found or tables.read_tables(study, labels=labels_beside(study))
        odd = _audited(study, found)
        examination = assemble(study, found, odd, compared=compared is not None)
    examination = with_preferences(examination, compared, grouped=benchmark is None)
    if said := _said(source, data):
        examination = examination.replace(findings=worst_first((*said, *examination.findings)))
    return benchmark.review(examination) if benchmark else examination


def _opened(
    source: str | Path | Study | pl.DataFrame, data: str | Path | None, reference: Sequence[str]
) -> tuple[Study, Tables | None, Compared | None, Benchmark | None]:
    """The study behind a source; its tables, preferences and benchmark, where it has any."""
    alone = None if is_benchmark(source, data) else preferences_alone(source)
    if alone is not None:
        return alone[0], None, alone[1], None
    study, found, benchmark = resolve(source, data, reference)
    if found is not None:
        return study, found, None, benchmark
    study, compared = split_preferences(study)
    return study, None, compared, benchmark


def _said(
    source: str | Path | Study | pl.DataFrame, data: str | Path | None
) -> tuple[Finding, ...]:
    """What a session says of itself; nothing where the source is none."""
    return () if is_benchmark(source, data) else session_findings(source)


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
    said = _said(source, data)
    said += () if compared is None else tuple(preference_findings(compared.table))
    if _is_unrated(study, found, compared, benchmark):
        return said
    found = found or tables.read_tables(study, labels=labels_beside(study))
    odd = _audited(study, found)
    return worst_first((*said, *(without_comparers(odd, compared.table) if compared else odd)))


def _audited(study: Study, found: Tables) -> tuple[Finding, ...]:
    """What is odd in the ratings, and in labels beside them."""
    odd = tables.audit(found, study)
    if found.labels is None:
        return odd
    return worst_first((*odd, *tables.audit(found.labels, study_of_labels(study, found.labels))))

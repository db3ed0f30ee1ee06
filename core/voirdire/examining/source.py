"""The one door: any source becomes frozen `Inputs`, and what stands behind it reads no file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire import tables
from voirdire.errors import QuestionError
from voirdire.progress import stage
from voirdire.schema import Finding, by_severity
from voirdire.study import ReadOptions, Study, successor, without_effect
from voirdire.tables.hand_labels import hand_labels_path, with_hand_labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from voirdire.examining.sources import AnySource, Opened
from voirdire.examining.inputs import Inputs
from voirdire.examining.panel import Panel, member_of, panel_of
from voirdire.examining.sources import source_of


def open_source(
    source: AnySource,
    *,
    data: str | Path | None = None,
    reference: Sequence[str] = (),
    read: ReadOptions | None = None,
    changes: Mapping[str, Mapping[str, Any]] | None = None,
) -> Opened:
    """Read a source whole.

    Parameters
    ----------
    source, data, reference, read
        As in `voirdire.examine`.
    changes : mapping, optional
        Keys of the study's parts to exchange, as `adjust` takes them.

    Raises
    ------
    InputError
        No such file, benchmark or session; the message lists the benchmarks there are. What is
        wrong with a file is said by its reader.
    """
    stage("reading the data")
    opened = source_of(source, data, reference, read).open()
    study = opened.study
    beside: tuple[str, ...] = ()
    if any(rater.kind == "annotator" for rater in study.panel):
        from voirdire.examining.labels.annotators import (  # noqa: PLC0415 - for annotators alone
            label_scale,
            labels_beside,
        )

        # Before the tables are read: they are checked against the scale.
        study = label_scale(study)
        beside = labels_beside(study)
    study = adjust(study, changes or {}, None if read is None else read.families)
    rated = opened.tables
    if rated is None and not _is_unrated(opened):
        try:
            rated = tables.read_tables(study, labels=beside)
        except QuestionError as question:
            # A study names its file, so that the answer is a key of the study and no option.
            raise (question if question.key == "reference" else question.in_study()) from None
    if rated is not None and opened.session is not None:
        from voirdire.examining.session import (  # noqa: PLC0415 - loads the store
            reading_kept,
        )

        rated = replace(rated, findings=(*rated.findings, *reading_kept(opened.session, rated)))
    path = labelled_at(source, opened.session)
    if rated is not None and path is not None and path.is_file():
        study, rated = with_hand_labels(study, rated, path)
    return replace(opened, study=study, tables=rated, by=_called(study, read))


def _called(study: Study, read: ReadOptions | None) -> str:
    """What results are given by: a language, where a source or the items declare one."""
    declared = [] if read is None else [read.language]
    declared += [source.language for source in study.data.sources]
    declared += [] if study.items is None else [study.items.language]
    return "language" if any(declared) else "subgroup"


def options_of(sources: Sequence[object], read: ReadOptions | None) -> tuple[ReadOptions, ...]:
    """For each of several sources that are read together, how it is read.

    They are for files and frames; a study or a session names its own, and is told whose models
    judges are. Where all are such, each is given them, so that the first says so.
    """
    read = read or ReadOptions()
    takes = [is_of_files(one) for one in sources]
    rest = ReadOptions(families=read.families)
    return tuple(read if has or not any(takes) else rest for has in takes)


def is_of_files(source: object) -> bool:
    """Whether a source is files or a frame, and no study, session or benchmark."""
    return isinstance(source, pl.DataFrame | list | tuple) or (
        isinstance(source, str | Path) and Path(source).is_file() and Path(source).suffix != ".toml"
    )


def labelled_at(source: AnySource, session: Path | None) -> Path | None:
    """Where labels set by hand lie; None for what is no single file or folder."""
    if session is not None:
        return hand_labels_path(session)
    if isinstance(source, list | tuple) and len(source) == 1:
        source = source[0]
    if isinstance(source, str | Path) and Path(source).exists():
        return hand_labels_path(source)
    return None


def inputs_of(opened: Opened) -> Inputs:
    """What was read, audited, its off-scale values treated and its panel named.

    Raises
    ------
    InputError
        A reference that has no ratings.
    TableError
        A value off the scale where the study says that it is an error.
    """
    study, rated = opened.study, opened.tables
    panel, ratings = Panel(), tables.RATINGS.to_frame()
    if rated is not None:
        panel = panel_of(study, rated)
        ratings = tables.apply_off_scale(rated.ratings, study.data.off_scale, panel.scale)
        # After the policy for values off the scale, so that a jury never votes on what counts as
        # missing.
        panel, ratings = _with_juries(study, panel, ratings)
    return Inputs(
        study,
        panel,
        rated,
        ratings,
        opened.preferences,
        audit_of(opened),
        "" if opened.benchmark is None else opened.benchmark.name,
        opened.session,
        opened.judgements,
        by=opened.by,
        firsts=opened.firsts,
        votes=opened.votes,
    )


def _with_juries(study: Study, panel: Panel, ratings: pl.DataFrame) -> tuple[Panel, pl.DataFrame]:
    """The panel and its ratings with those of the study's juries behind them."""
    if not study.juries:
        return panel, ratings
    from voirdire.examining.deriving import derive_ratings  # noqa: PLC0415 - for juries alone

    derived = tuple(replace(member_of(jury, study), derived=True) for jury in study.juries)
    ratings = derive_ratings(study, panel, ratings)
    return replace(panel, members=(*panel.members, *derived)), ratings


def audit_of(opened: Opened) -> tuple[Finding, ...]:
    """What is odd in the session, its preferences, its ratings and its labels; worst first."""
    if opened.found is not None:
        return opened.found
    study, rated, compared = opened.study, opened.tables, opened.preferences
    findings = list(_old_keys(study))
    if opened.judgements is not None:
        findings += opened.judgements.findings
    if opened.firsts is not None:
        findings += opened.firsts.findings
    if study.juries:  # derived, so that no file holds a rating of theirs
        asked = tuple(rater for rater in study.panel if not rater.is_jury)
        study = study.model_copy(update={"panel": asked})
    if opened.session is not None:
        from voirdire.examining.session import session_findings  # noqa: PLC0415 - loads the store

        findings += session_findings(opened.session)
    if opened.votes:
        from voirdire.tables.judged.votes import votes_note  # noqa: PLC0415 - where they are asked for

        voting = [rater.name for rater in study.panel if rater.kind == "annotator"]
        findings.append(votes_note(study.name, voting))
    if compared is not None:
        from voirdire.examining.preferences import (  # noqa: PLC0415 - most sources compare nothing
            preference_findings,
        )

        findings += [*compared.findings, *preference_findings(compared.table)]
    if rated is not None:
        odd = [*tables.audit(rated, study)]
        if rated.labels is not None:
            from voirdire.examining.labels.annotators import (  # noqa: PLC0415 - for annotators
                study_of_labels,
            )

            odd += tables.audit(rated.labels, study_of_labels(study, rated.labels))
        findings += odd if compared is None else _without_comparers(odd, compared.table)
    return by_severity(findings)


def _old_keys(study: Study) -> Iterator[Finding]:
    """One finding about the keys of an earlier version that change nothing any longer."""
    keys = without_effect(study)
    if keys:
        yield Finding(
            "keys_without_effect",
            "serious",
            "",
            len(keys),
            keys,
            f"The study has keys of an earlier version: {'; '.join(map(successor, keys))}.",
            "They changed nothing here; the margins under [margins] decide.",
        )


def _without_comparers(findings: Iterable[Finding], table: pl.DataFrame) -> list[Finding]:
    """The findings, but for raters said to have no rating that are there to compare."""
    comparers = set(table["rater"].unique())
    return [
        finding
        for finding in findings
        if finding.kind != "rater_missing" or not comparers.issuperset(finding.places)
    ]


def adjust(
    study: Study,
    changes: Mapping[str, Mapping[str, Any]],
    families: Mapping[str, str] | None = None,
) -> Study:
    """A study with some keys of `data` and `analysis` exchanged; None leaves a key as it is.

    `families` are added to the study's own: an answer wins over what a rater or system declares.
    """
    if families:
        study = _with_families(study, families)
    update = {
        part: getattr(study, part).model_copy(
            update={key: value for key, value in keys.items() if value is not None}
        )
        for part, keys in changes.items()
    }
    return study.model_copy(update=update)


def _with_families(study: Study, families: Mapping[str, str]) -> Study:
    def answered(members: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(
            one.model_copy(update={"family": families[one.name]}) if one.name in families else one
            for one in members
        )

    return study.model_copy(
        update={
            "families": {**study.families, **families},
            "panel": answered(study.panel),
            "systems": answered(study.systems),
        }
    )


def _is_unrated(opened: Opened) -> bool:
    """Whether there is something to examine, and no ratings in it."""
    other = opened.preferences is not None or opened.benchmark is not None
    return opened.judgements is not None or (not opened.study.data.sources and other)

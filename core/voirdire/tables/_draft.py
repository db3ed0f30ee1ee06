"""A study drafted from a file or frame that comes without one."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import TableError, listed, not_rated
from voirdire.files import file_hash
from voirdire.schema import Scale
from voirdire.study import ReadOptions, Source, build_study
from voirdire.tables._asking import all_at_once
from voirdire.tables._card import card
from voirdire.tables._drafted_raters import (
    assumed_judges,
    people_among,
    those_named,
    without_derived,
    without_measures,
)
from voirdire.tables._drafted_scale import scale_note, scale_of_all
from voirdire.tables._files import RawTable, sheets_of
from voirdire.tables._files._raw import build
from voirdire.tables._guess import either_kind
from voirdire.tables._layout import FilePlan, unread_columns
from voirdire.tables._linking import (
    attributes_apart,
    check_named,
    check_readers,
    keyed,
    linked_part,
    own_keys,
    rated_of,
)
from voirdire.tables._load import located, made_ready, read_part, tables_from, unread_raters
from voirdire.tables._looked import Looked
from voirdire.tables._numbers import is_numeric
from voirdire.tables._open import only_asked, open_file, open_files
from voirdire.tables._reading import LAYOUTS, declared_by, is_form
from voirdire.tables._rescale import ask_about_scales, rescaled
from voirdire.tables._role import NamedRaters
from voirdire.tables._same import ask_which_are_the_same, with_one_name
from voirdire.tables._tables import SourceTables, finding, on_scale
from voirdire.tables._values import Known
from voirdire.tables.readers import Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Finding
    from voirdire.study import Study
    from voirdire.tables._tables import Tables

#: While the scale is not known; a number beyond it counts all the same.
_ANY = Scale(-100, 100)


def draft_study(
    paths: str | Path | Sequence[str | Path],
    *,
    reference: Sequence[str] = (),
    folder: str | Path | None = None,
    read: ReadOptions | None = None,
) -> Study:
    """A study for files: layout, columns, raters, attributes, systems and scale as found.

    Parameters
    ----------
    paths : path or sequence of paths
        Files of ratings in any layout; a file that names no rater is of one who is called as it.
    reference : sequence of str
        The reference, where it is known; else the raters whose names speak of people.
    folder : str or Path, optional
        Where the study will lie; paths are written relative to it. The first file's own folder by
        default.
    read : ReadOptions, optional
        What is known of the files. Beside files of people's labels (`human`) each key is of the
        files that have the column, and `key` and `about` are of the labels.

    Raises
    ------
    TableError
        A file cannot be read, or no ids or scores can be found in it.
    QuestionError
        A file can be read in two ways that give different numbers.
    """
    files = _paths(paths)
    at = Path(files[0].parent if folder is None else folder)
    looked = _looked_together(files, at, reference, read or ReadOptions())
    study, _ = _draft(looked, _as_called(looked, tuple(reference)), files[0].stem)
    return study.model_copy(update={"folder": str(at)})


def read_file(
    paths: str | Path | Sequence[str | Path],
    *,
    reference: Sequence[str] = (),
    read: ReadOptions | None = None,
) -> tuple[Study, Tables]:
    """Files without a study: the drafted study, and the tables read by it.

    What was taken for granted (layout, raters, reference, scale) is said in the findings.

    Parameters
    ----------
    paths, reference, read
        As in `draft_study`.

    Raises
    ------
    TableError
        As `draft_study` and `read_tables`.
    """
    files = _paths(paths)
    folder = files[0].parent
    read = read or ReadOptions()

    def attempt(
        named: tuple[str, ...], options: ReadOptions
    ) -> tuple[list[Looked], tuple[Study, tuple[Finding, ...]]]:
        looked = _looked_together(files, folder, named, options)
        named = _as_called(looked, named)
        return looked, _draft(looked, named, files[0].stem, options.judge)

    looked, (study, notes) = all_at_once(attempt, reference, read)
    files = [*files, *read.human]
    study = study.model_copy(update={"folder": str(folder)})
    # Hashed as the drafted study names them: a report says by which files its numbers came.
    hashes = {s.path: file_hash(f) for s, f in zip(study.data.sources, files, strict=True)}
    raws: list[tuple[Source, RawTable | Reading | SourceTables]] = [
        (s, _once_read(each, s, study) or each.raw)
        for s, each in zip(study.data.sources, looked, strict=True)
    ]
    del looked  # what is tidy is held once
    return study, tables_from(study, raws, hashes, notes=notes)


def _as_called(looked: Sequence[Looked], named: tuple[str, ...]) -> tuple[str, ...]:
    """The reference as the only file calls it, where another tool wrote that."""
    only = looked[0].raw if len(looked) == 1 else None
    if not isinstance(only, Reading):
        return named
    from voirdire.tables._several import as_called  # noqa: PLC0415 - of a tool's file alone

    return as_called(only.raters, named)


def _once_read(each: Looked, source: Source, study: Study) -> SourceTables | None:
    """What was read while the study was drafted, on its scale; None where that must be read anew.

    Plain numbers are the same on any scale; of texts such as 85 % the scale says what they are.
    """
    how, raw = each.how, each.table
    if how is None or not isinstance(raw, RawTable) or how.kind == "replies" or each.source.key:
        return None
    if is_form(each.source) or not all(_are_plain(raw.frame[c]) for c in how.values):
        return None
    told = ("columns_inferred", "reading_assumed")  # the draft says these itself
    said = [note for note in how.findings if note.kind in told]
    findings = tuple(note for note in each.part.findings if note not in said)
    scale = Scale(*study.rubric.scale, study.rubric.step)
    kept = each.part.ratings
    if source.leave_out:
        kept = kept.filter(~pl.col("rater").is_in(source.leave_out))
    part = replace(each.part, ratings=on_scale(kept, scale), findings=findings)
    return rescaled(part, source.rescale, scale)


def _are_plain(cells: pl.Series) -> bool:
    """Whether a column holds nothing but plain numbers and blanks."""
    if cells.dtype.is_numeric():
        return True
    if cells.dtype != pl.String:
        return False
    distinct = cells.unique()
    numbers = distinct.cast(pl.Float64, strict=False)
    return numbers.null_count() == distinct.null_count() and bool(numbers.is_finite().all())


def from_frame(
    frame: pl.DataFrame,
    *,
    reference: Sequence[str] = (),
    name: str = "frame",
    read: ReadOptions | None = None,
) -> tuple[Study, Tables]:
    """A frame in any of the layouts: the drafted study, and the tables read by it.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"item": [1, 2], "human": [4, 5], "judge": [3, 5]})
    >>> study, tables = from_frame(frame)
    >>> study.data.reference, tables.ratings.height
    (('human',), 4)
    """
    if frame.height == 0:
        raise TableError(f"{name}: there are no rows")
    raw = build(name, frame.columns, frame.get_columns(), first=0)

    def attempt(
        named: tuple[str, ...], options: ReadOptions
    ) -> tuple[list[Looked], tuple[Study, tuple[Finding, ...]]]:
        looked = [_looked(raw, Source(path=name, **options.keys_set()), named, options.judge)]
        return looked, _draft(looked, named, name, options.judge)

    looked, (study, notes) = all_at_once(attempt, reference, read or ReadOptions())
    read_once = _once_read(looked[0], study.data.sources[0], study)
    raws: list[tuple[Source, RawTable | Reading | SourceTables]] = [
        (study.data.sources[0], read_once or looked[0].raw)
    ]
    return study, tables_from(study, raws, {}, notes=notes)


def _paths(paths: str | Path | Sequence[str | Path]) -> list[Path]:
    one = isinstance(paths, str | Path)
    return [Path(path) for path in ([paths] if one else paths)]  # type: ignore[union-attr,arg-type]


def _looked_together(
    files: Sequence[Path], folder: Path, reference: Sequence[str], read: ReadOptions
) -> list[Looked]:
    """As `_looked_at`; of several files it is asked what each of them stands for."""
    if len(files) < 2:
        return _looked_at(files, folder, reference, read)
    from voirdire.tables._several import (  # noqa: PLC0415 - of several files alone
        ask_what_files_are,
        ask_whose_files,
    )

    try:
        looked = _looked_at(files, folder, reference, read)
    except TableError as error:
        ask_whose_files(error, files, reference)
        raise
    ask_what_files_are(looked)
    return looked


def _looked_at(
    files: Sequence[Path], folder: Path, reference: Sequence[str], read: ReadOptions
) -> list[Looked]:
    """Every file as it was found; labels by people are joined to the items of the others."""
    at = {path: Path(os.path.relpath(path, folder)).as_posix() for path in (*files, *read.human)}
    if not read.human:
        keys = read.keys_set()
        sources = [Source(path=at[path], **keys) for path in files]
        raws = open_files(files, sources, named=reference)
        check_readers(keys, raws, at[files[0]])
        pairs = located(list(zip(sources, raws, strict=True)))
        return [_looked(raw, s, reference, read.judge, alone=len(files) < 2) for s, raw in pairs]
    keys = read.keys_set("key", "about", "only", "sheet")
    joining = {"key": read.key, "about": read.about}
    sheets = sheets_of(at, read.sheet)
    opened = {
        path: open_file(path, Source(path="", sheet=sheets[path]), people=reference) for path in at
    }
    raws_of = {path: _only(raw, read.only, path.name) for path, raw in opened.items()}
    check_named(keys, raws_of)

    def source_of(path: Path, **joining: Any) -> Source:
        own = own_keys(keys, raws_of[path])
        return Source(path=at[path], sheet=sheets[path], **own, **joining)

    pairs = located([(source_of(path), raws_of[path]) for path in files])
    looked = [_looked(raw, s, reference, read.judge, alone=len(files) < 2) for s, raw in pairs]
    # First what was rated, then labels: these are joined to all files of it together.
    rated = rated_of([each.part for each in looked])
    for path in read.human:
        raw = raws_of[path]
        source = keyed(raw, source_of(path, **joining), rated)
        labels = _looked(raw, source, reference, read.judge)
        looked.append(replace(labels, part=linked_part(labels.part, source, rated)))
    return looked


def _only(raw: RawTable | Reading, wanted: tuple[str, ...], name: str) -> RawTable | Reading:
    """The attributes alone that are asked for, where a file of another tool has any of them."""
    if not wanted or not isinstance(raw, Reading):
        return raw
    there = set(raw.ratings["attribute"])
    own = tuple(one for one in wanted if one in there)
    return only_asked(raw, own, name) if own else raw


def _looked(
    raw: RawTable | Reading,
    source: Source,
    reference: Sequence[str],
    judges: Sequence[str] = (),
    *,
    alone: bool = True,
) -> Looked:
    if isinstance(raw, Reading):
        kept = tuple(raw.ratings["attribute"].unique(maintain_order=True)) if raw.some else ()
        named = source.model_copy(update={"reader": raw.format, "only": kept})
        part = with_one_name(raw.part(source.path, _ANY), source.same)
        return Looked(raw, raw, named, None, part)
    if raw.together and source.sheet is None:
        source = source.model_copy(update={"sheet": "*"})
    asked = NamedRaters(tuple(reference), tuple(judges))
    ready = made_ready(raw, source, Known(tuple(reference), (), ()), alone=alone, asked=asked)
    if any(note.kind == "sheet_chosen" for note in raw.findings) and raw.sheets:
        # Which sheet it was may rest on who was named.
        own = ready.source.model_copy(update={"sheet": ready.source.sheet or raw.sheets[0]})
        ready = replace(ready, source=own)
    part = with_one_name(read_part(ready, _ANY), source.same)
    if part.problems and alone and not reference:
        from voirdire.tables._unnamed import ask_for_reference  # noqa: PLC0415 - to ask

        ask_for_reference(ready.table, TableError(part.problems[0]))
    return Looked(ready.raw, ready.table, ready.source, ready.how, part, ready.roles)


def _passed_over(looked: Sequence[Looked], absent: Sequence[str]) -> str:
    """Where replies were read in the place of columns of scores: what to do."""
    for one in looked:
        columns = one.raw.frame.columns if isinstance(one.raw, RawTable) else []
        if one.how and one.how.kind == "replies" and set(absent) & set(columns):
            return (
                f"; the columns of replies were read, and none of scores: leave out "
                f"{listed([*one.how.values])} to have the columns of scores read"
            )
    return ""


def _draft(
    looked: Sequence[Looked], reference: Sequence[str], name: str, judges: Sequence[str] = ()
) -> tuple[Study, tuple[Finding, ...]]:
    looked = those_named(looked, reference, judges)
    looked, measured = without_measures(looked, reference, judges)
    looked, made = without_derived(looked, (*reference, *judges), named=bool(reference))
    made = (*measured, *made)
    ratings = pl.concat([each.ratings for each in looked], how="diagonal")
    raters = ratings["rater"].unique(maintain_order=True).to_list()
    people = people_among(looked, reference)
    humans = [rater for rater in raters if rater in people]
    absent = [rater for rater in reference if rater not in raters]
    if absent:
        raise not_rated(absent, raters, looked[0].name, _passed_over(looked, absent))
    own = {name for each in looked for name in each.source.rescale}
    known = ratings.filter(~pl.col("rater").is_in(own)) if own else ratings
    # Attributes in cells are words of one hand: of these people and judges are known to differ.
    if all(e.how is not None and not (e.source.key or e.how.attribute) for e in looked):
        ask_which_are_the_same(looked[0].source, ratings, reference or humans)
    ask_about_scales(looked[0].source, ratings, reference or humans, own)
    scale, codes = scale_of_all(looked, known, reference or humans, raters)
    # Readers of formats know who is a person, and so does who names a file of people.
    told = reference or any(e.how is None or e.source.key for e in looked)
    unsure = [] if told else either_kind(raters, humans)
    assumed = assumed_judges(looked[0], unsure, humans, raters) if unsure else ()
    # Where all are people, none of them is the reference for the others.
    chosen = list(reference) or (humans if len(humans) < len(raters) else [])
    study = build_study(
        {
            "name": name,
            "data": {
                "sources": [_declared(each) for each in looked],
                "reference": chosen,
            },
            "rubric": _rubric(ratings, scale),
            "systems": [{"name": s} for s in ratings["system"].unique(maintain_order=True) if s],
            "panel": [{"name": r, "kind": "human" if r in humans else "judge"} for r in raters],
        },
        looked[0].name,
    )
    notes = [note for each in looked for note in _taken(each, study)]
    # The study declares these columns, so that reading by it would not say that they were guessed.
    guessed = [note for each in looked for note in _notes_of(each, "columns_inferred")]
    apart = attributes_apart([(each.name, each.ratings) for each in looked], humans)
    cards = [
        card(
            e.raw, e.how, e.ratings, humans, e.roles.columns if e.roles else (), e.source.leave_out
        )
        for e in looked
        if e.how is not None and isinstance(e.raw, RawTable)
    ]
    scaled = scale_note(looked, scale, codes)
    return study, (*cards, *made, *assumed, *apart, *notes, scaled, *guessed)


def _notes_of(each: Looked, kind: str) -> list[Finding]:
    """Notes of one kind on how one file was laid out."""
    return [] if each.how is None else [note for note in each.how.findings if note.kind == kind]


def _taken(each: Looked, study: Study) -> list[Finding]:
    """What was taken for granted in one file."""
    if isinstance(each.table, Reading) or each.how is None:
        return [_drafted(each.name, str(each.source.reader), study)]
    assumed = _notes_of(each, "reading_assumed")
    return [*assumed, *unread_raters(each.table, each.how), _said(each.table, each.how, study)]


def _declared(each: Looked) -> dict[str, Any]:
    """The source with everything that was found out about it."""
    return declared_by(each.source, each.how)


def _rubric(ratings: pl.DataFrame, scale: Scale) -> dict[str, Any]:
    return {
        "scale": [scale.low, scale.high],
        "step": scale.step,
        "attributes": [{"name": a} for a in ratings["attribute"].unique(maintain_order=True)],
    }


def _said(raw: RawTable, how: FilePlan, study: Study) -> Finding:
    unread = [column for column in unread_columns(raw, how) if not is_numeric(raw.frame[column])]
    left = f" Columns not read: {listed(unread)}." if unread else ""
    shown = (
        ("systems", how.system),
        ("texts of items", how.context),
        ("texts that were judged", how.response),
        *(("what raters said", column) for column in how.reasons),
    )
    more = "".join(
        f"; {what}: those in column {column!r}" for what, column in shown if column is not None
    )
    layout = LAYOUTS.get(how.kind, how.kind)
    return _drafted(raw.name, layout, study, f"{more}.{left}")


def _drafted(name: str, layout: str, study: Study, more: str = ".") -> Finding:
    reference = listed(study.data.reference) if study.data.reference else "none was found"
    return finding(
        "study_drafted",
        "note",
        name,
        [f"{rater.name}: {rater.kind}" for rater in study.panel],
        f"No study was given. Layout: {layout}; reference: {reference}; "
        f"raters: {listed([rater.name for rater in study.panel])}; "
        f"attributes: {listed([attribute.name for attribute in study.rubric.attributes])}"
        f"{more}",
        "If that is wrong, draft a study with `voirdire init`, edit it and examine that.",
        count=1,
    )

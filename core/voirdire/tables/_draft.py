"""A study drafted from a file or frame that comes without one."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import QuestionError, TableError, check_columns, listed, not_rated
from voirdire.files import file_hash
from voirdire.schema import Scale
from voirdire.study import Source, build_study
from voirdire.tables._files import RawTable
from voirdire.tables._files._raw import build
from voirdire.tables._guess import answers_or_scores, either_kind, with_raters
from voirdire.tables._layout import Plan, plan, unread_columns
from voirdire.tables._linking import keyed, linked_part, rated_of
from voirdire.tables._load import only_asked, open_file, prepared, read_part, tables_from
from voirdire.tables._names import head_of, is_human, names_rater
from voirdire.tables._numbers import is_numeric
from voirdire.tables._questions import laid_out
from voirdire.tables._scale import drafted_scale, few_between, infer_scale, stated_scale
from voirdire.tables._tables import Part, finding, plural, shortened
from voirdire.tables._values import LARGEST, Known, common_prefix
from voirdire.tables._words import quoted
from voirdire.tables.readers import Reading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.schema import Finding
    from voirdire.study import Study
    from voirdire.tables._tables import Tables

#: While the scale is not known; a number beyond it counts all the same.
_ANY = Scale(-100, 100)
_LAYOUTS = {
    "replies": "replies",
    "scores": "scores",
    "raters": "scores",
    "grid": "scores",
    "long": "long",
}


@dataclass(frozen=True, slots=True)
class _Looked:
    """A file as it was found (`raw`), as it is read (`ready`), and its ratings without a scale.

    `how` is None where a reader of another tool's file read it.
    """

    raw: RawTable | Reading
    ready: RawTable | Reading
    source: Source
    how: Plan | None
    part: Part

    @property
    def ratings(self) -> pl.DataFrame:
        return self.part.ratings

    @property
    def name(self) -> str:
        return self.source.path

    @property
    def people(self) -> set[str]:
        """Raters that are people: by what the reader says, all in a form, else by their names."""
        if isinstance(self.raw, Reading):
            kinds = self.raw.raters.filter(pl.col("kind") == "human")
            return set(kinds["rater"])
        if _is_form(self.source):
            return set(self.ratings["rater"].unique())
        column = self.how.rater if self.how else None
        return {rater for rater in self.ratings["rater"].unique() if is_human(rater, column)}


def draft_study(
    paths: str | Path | Sequence[str | Path],
    *,
    sheet: str | None = None,
    reference: Sequence[str] = (),
    folder: str | Path | None = None,
    keys: Mapping[str, Any] | None = None,
    human: Sequence[str | Path] = (),
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
    keys : mapping, optional
        Keys of ``[[data.sources]]`` that are known, such as ``{"item": "post"}``. Beside `human`
        each is of the files that have the column, and ``key`` and ``about`` are of the labels.
    human : sequence of paths, optional
        Files of labels by people, which are joined to the items of the others.

    Raises
    ------
    TableError
        A file cannot be read, or no ids or scores can be found in it.
    QuestionError
        A file can be read in two ways that give different numbers.
    """
    sheet, keys = _sheet_of(sheet, keys)
    files = _paths(paths)
    at = Path(files[0].parent if folder is None else folder)
    looked = _looked_at(files, sheet, at, reference, keys, human)
    study, _ = _draft(looked, reference, files[0].stem)
    return study.model_copy(update={"folder": str(at)})


def read_file(
    paths: str | Path | Sequence[str | Path],
    *,
    sheet: str | None = None,
    reference: Sequence[str] = (),
    keys: Mapping[str, Any] | None = None,
    human: Sequence[str | Path] = (),
) -> tuple[Study, Tables]:
    """Files without a study: the drafted study, and the tables read by it.

    What was taken for granted (layout, raters, reference, scale) is said in the findings.

    Parameters
    ----------
    paths, sheet, reference, keys, human
        As in `draft_study`.

    Raises
    ------
    TableError
        As `draft_study` and `read_tables`.
    """
    sheet, keys = _sheet_of(sheet, keys)
    files = _paths(paths)
    folder = files[0].parent
    looked = _looked_at(files, sheet, folder, reference, keys, human)
    files = [*files, *_paths(human)]
    study, notes = _draft(looked, reference, files[0].stem)
    study = study.model_copy(update={"folder": str(folder)})
    hashes = {s.path: file_hash(f) for s, f in zip(study.data.sources, files, strict=True)}
    raws: list[tuple[Source, RawTable | Reading]] = [
        (s, each.raw) for s, each in zip(study.data.sources, looked, strict=True)
    ]
    return study, tables_from(study, raws, hashes, notes=notes)


def from_frame(
    frame: pl.DataFrame,
    *,
    reference: Sequence[str] = (),
    name: str = "frame",
    keys: Mapping[str, Any] | None = None,
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
    looked = [_looked(raw, Source(path=name, **(keys or {})), reference)]
    study, notes = _draft(looked, reference, name)
    raws: list[tuple[Source, RawTable | Reading]] = [(study.data.sources[0], looked[0].raw)]
    return study, tables_from(study, raws, {}, notes=notes)


def _sheet_of(
    sheet: str | None, keys: Mapping[str, Any] | None
) -> tuple[str | None, dict[str, Any]]:
    """The sheet, wherever it is named, and the other keys."""
    known = dict(keys or {})
    named = known.pop("sheet", None)
    return sheet or named, known


def _paths(paths: str | Path | Sequence[str | Path]) -> list[Path]:
    one = isinstance(paths, str | Path)
    return [Path(path) for path in ([paths] if one else paths)]  # type: ignore[union-attr,arg-type]


def _looked_at(
    files: Sequence[Path],
    sheet: str | None,
    folder: Path,
    reference: Sequence[str],
    keys: Mapping[str, Any] | None,
    human: Sequence[str | Path],
) -> list[_Looked]:
    if not human:
        alone = [_opened(path, sheet, folder, keys or {}, reference) for path in files]
        _check_read_by_name(keys or {}, alone)
        return alone
    known = dict(keys or {})
    joining: dict[str, Any] = {key: known.pop(key) for key in ("key", "about") if key in known}
    wanted = tuple(known.pop("only", ()))
    opened = {path: open_file(path, Source(path="")) for path in (*files, *_paths(human))}
    opened = {path: _only(raw, wanted, path.name) for path, raw in opened.items()}
    _check_named(known, opened)
    looked = [
        _looked(opened[path], _source(path, sheet, folder, _own(known, opened[path])), reference)
        for path in files
    ]
    rated = rated_of([each.part for each in looked])
    for path in _paths(human):
        raw = opened[path]
        source = _source(path, sheet, folder, {**_own(known, raw), **joining})
        source = keyed(raw, source, rated)
        found = _looked(raw, source, reference)
        looked.append(replace(found, part=linked_part(found.part, source, rated)))
    return looked


def _only(raw: RawTable | Reading, wanted: tuple[str, ...], name: str) -> RawTable | Reading:
    """The attributes alone that are asked for, where a file of another tool has any of them."""
    if not wanted or not isinstance(raw, Reading):
        return raw
    there = set(raw.ratings["attribute"])
    own = tuple(one for one in wanted if one in there)
    return only_asked(raw, own, name) if own else raw


#: Keys of a source that name one of its columns.
_COLUMNS = frozenset(
    (
        "reason",
        "item",
        "system",
        "rater",
        "score",
        "attribute",
        "cluster",
        "status",
        "run",
        "context",
        "response",
    )
)


def _check_read_by_name(keys: Mapping[str, Any], found: Sequence[_Looked]) -> None:
    """Raise where columns are named, and every file is another tool's, whose reader knows them."""
    named = [key for key in keys if key in _COLUMNS]
    if named and all(isinstance(each.raw, Reading) for each in found):
        raise TableError(
            f"{found[0].name}: read as {found[0].source.reader}, whose columns are known: "
            f"{', '.join(f'--{key}' for key in named)} is for plain tables"
        )


def _own(keys: Mapping[str, Any], raw: RawTable | Reading) -> dict[str, Any]:
    """The keys that name columns of this file, and those that name none."""
    if isinstance(raw, Reading):
        return {k: v for k, v in keys.items() if k == "assume"}
    columns = raw.frame.columns
    own = {k: v for k, v in keys.items() if k not in _COLUMNS or v in columns}
    if "ignore" in own:
        own["ignore"] = tuple(name for name in own["ignore"] if name in columns)
    return own


def _check_named(keys: Mapping[str, Any], opened: Mapping[Path, RawTable | Reading]) -> None:
    """Raise where a key names a column that no file has."""
    columns = [c for raw in opened.values() if not isinstance(raw, Reading) for c in raw.frame]
    names = {column.name for column in columns}
    for key, name in keys.items():
        if key in _COLUMNS and name not in names:
            check_columns(", ".join(path.name for path in opened), (name,), sorted(names))


def _source(path: Path, sheet: str | None, folder: Path, keys: Mapping[str, Any]) -> Source:
    return Source(path=Path(os.path.relpath(path, folder)).as_posix(), sheet=sheet, **keys)


def _opened(
    path: Path, sheet: str | None, folder: Path, keys: Mapping[str, Any], reference: Sequence[str]
) -> _Looked:
    source = _source(path, sheet, folder, keys)
    return _looked(open_file(path, source), source, reference)


def _looked(raw: RawTable | Reading, source: Source, reference: Sequence[str]) -> _Looked:
    if isinstance(raw, Reading):
        kept = tuple(raw.ratings["attribute"].unique(maintain_order=True)) if raw.some else ()
        named = source.model_copy(update={"reader": raw.format, "only": kept})
        return _Looked(raw, raw, named, None, raw.part(source.path, _ANY))
    names = Known(tuple(reference), attributes=(), systems=())
    raw, source = laid_out(raw, source)
    raw, source = answers_or_scores(raw, source, names)
    ready = prepared(raw, source, names)
    names = with_raters(ready, source, names)
    part = read_part(ready, source, names, _ANY)
    return _Looked(raw, ready, source, plan(ready, source, names), part)


def _passed_over(looked: Sequence[_Looked], absent: Sequence[str]) -> str:
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
    looked: Sequence[_Looked], reference: Sequence[str], name: str
) -> tuple[Study, tuple[Finding, ...]]:
    ratings = pl.concat([each.ratings for each in looked], how="diagonal")
    raters = ratings["rater"].unique(maintain_order=True).to_list()
    people = set(reference).union(
        *(e.ratings["rater"].unique() if e.source.key else e.people for e in looked)
    )
    humans = [rater for rater in raters if rater in people]
    absent = [rater for rater in reference if rater not in raters]
    if absent:
        raise not_rated(absent, raters, looked[0].name, _passed_over(looked, absent))
    scale, codes = _scale(looked, ratings, reference or humans, raters)
    # Readers of formats know who is a person, and so does who names a file of people.
    told = reference or any(e.how is None or e.source.key for e in looked)
    unsure = [] if told else either_kind(raters, humans)
    assumed = _assumed_judges(looked[0], unsure, humans, raters) if unsure else ()
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
    apart = _attributes_apart(looked, humans)
    return study, (*assumed, *apart, *notes, _scale_note(looked, scale, codes), *guessed)


def _attributes_apart(looked: Sequence[_Looked], humans: Sequence[str]) -> tuple[Finding, ...]:
    """The finding that people's labels and judges' scores are of no attribute in common.

    Which column of labels speaks of which scores is no guess to be made in silence, so it is said.
    """
    person = pl.col("rater").is_in(list(humans))
    labelled = [e for e in looked if set(e.ratings["rater"]) <= set(humans)]
    judged = {name for e in looked for name in e.ratings.filter(~person)["attribute"]}
    theirs = {name for e in looked for name in e.ratings.filter(person)["attribute"]}
    if not labelled or not judged or judged & theirs:
        return ()
    of = sorted(theirs)
    note = finding(
        "attributes_apart",
        "serious",
        labelled[0].name,
        of,
        f"People scored {listed(of)} and the judges {listed(sorted(judged))}: no attribute is "
        f"scored by both, so nothing can be compared.",
        f"If the labels in {labelled[0].name} are of what the judges scored, say "
        f"--human {labelled[0].name} in place of naming the file beside the others.",
    )
    return (note,)


def _assumed_judges(
    first: _Looked, unsure: Sequence[str], humans: Sequence[str], raters: Sequence[str]
) -> tuple[Finding, ...]:
    """The finding that raters who may be people were taken for judges.

    Raises
    ------
    QuestionError
        Nobody said that it may be so taken.
    """
    if not first.source.assume:
        # Somebody has to be left who is a judge.
        more = unsure if len(humans) + len(unsure) < len(raters) else unsure[:-1]
        raise QuestionError(
            f"{first.name}: {listed(humans)} {'is' if len(humans) == 1 else 'are'} held to be "
            f"people, others judges, and {listed(unsure)} may be either; whose ratings are the "
            f"reference?",
            "reference",
            (", ".join(map(quoted, humans)), ", ".join(map(quoted, (*humans, *more)))),
            f"reference = {json.dumps(list(humans))}",
        )
    note = finding(
        "reading_assumed",
        "serious",
        first.name,
        unsure,
        f"{listed(unsure)} may be people or judges, and {'was' if len(unsure) == 1 else 'were'} "
        f"taken for judges.",
        "If that is wrong, name every person by --reference.",
    )
    return (note,)


def _scale(
    looked: Sequence[_Looked], ratings: pl.DataFrame, people: Sequence[str], raters: Sequence[str]
) -> tuple[Scale, tuple[float, ...]]:
    """The scale of all files, and levels that are codes for a missing score."""
    split = 0 < len(people) < len(raters)
    stated = _stated(looked, ratings["score"])
    if stated is not None:
        return stated, ()
    headed = stated_scale(looked[0].name, _score_columns(looked), ratings["score"])
    if headed is not None:
        return headed, ()
    sides = ratings["rater"].is_in(list(people)) if split else ratings["rater"]
    tables = [each.source for each in looked if each.how is not None]
    scale, codes = drafted_scale(ratings, sides.cast(pl.String), tables)
    if any(map(_in_per_cent, looked)):
        scale = Scale(0, 100, scale.step)
    if scale.width > 2 * LARGEST:
        columns = [column for each in looked if each.how for column in each.how.values]
        raise TableError(
            f"{looked[0].name}: values run from {scale.low:g} to {scale.high:g}, which is no "
            f"rating scale (columns: {listed(columns)}); declare columns and scale in a study"
        )
    return scale, codes


def _score_columns(looked: Sequence[_Looked]) -> list[str]:
    """The headers of columns that hold scores."""
    how = [each.how for each in looked if each.how is not None and each.how.kind != "replies"]
    return [column for each in how for column in each.values]


def _stated(looked: Sequence[_Looked], scores: pl.Series) -> Scale | None:
    """The scale that a reader states, where all files keep to it."""
    said = [each.raw.scale for each in looked if isinstance(each.raw, Reading)]
    scales = {scale for scale in said if scale is not None}
    if len(scales) != 1:
        return None
    (scale,) = scales
    return scale if scores.drop_nulls().is_between(scale.low, scale.high).all() else None


def _notes_of(each: _Looked, kind: str) -> list[Finding]:
    """Notes of one kind on how one file was laid out."""
    return [] if each.how is None else [note for note in each.how.findings if note.kind == kind]


def _taken(each: _Looked, study: Study) -> list[Finding]:
    """What was taken for granted in one file."""
    if isinstance(each.ready, Reading) or each.how is None:
        return [_drafted(each.name, str(each.source.reader), study)]
    assumed = _notes_of(each, "reading_assumed")
    return [*assumed, *_unread(each.ready, each.how), _said(each.ready, each.how, study)]


def _declared(each: _Looked) -> dict[str, Any]:
    """The source with everything that was found out about it."""
    source, how = each.source, each.how
    if how is None or _is_form(source):
        return source.model_dump(exclude_defaults=True)  # its columns are those of the form
    found: dict[str, Any] = {
        "path": source.path,
        "sheet": source.sheet,
        "layout": _LAYOUTS.get(how.kind, how.kind),
        "item": how.item,
        "system": how.system,
        "context": how.context,
        "response": how.response,
        "reason": source.reason or next((c for c, who in how.reasons.items() if not who), None),
        "rater": how.rater or (None if how.raters or how.kind == "raters" else how.rater_name),
        "attribute": how.attribute,
        "run": how.run,
        "status": how.status,
        "score": next(iter(how.values)) if how.kind == "long" else None,
        "words": source.words or None,
        "ignore": source.ignore or None,
        "assume": source.assume or None,
        "key": source.key,
        "about": source.about,
        **how.facts,
    }
    if how.kind == "replies" and not how.raters:
        columns = list(how.values)
        prefix = common_prefix(columns) if len(columns) > 1 else ""
        found |= {"prefix": prefix} if prefix else {"columns": dict(how.values)}
    if how.kind == "scores":
        found["columns"] = dict(how.values)
    return {key: value for key, value in found.items() if value is not None}


def _is_form(source: Source) -> bool:
    return source.layout == "raters-by-items"


def _rubric(ratings: pl.DataFrame, scale: Scale) -> dict[str, Any]:
    return {
        "scale": [scale.low, scale.high],
        "step": scale.step,
        "attributes": [{"name": a} for a in ratings["attribute"].unique(maintain_order=True)],
    }


def _said(raw: RawTable, how: Plan, study: Study) -> Finding:
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
    layout = _LAYOUTS.get(how.kind, how.kind)
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


def _unread(raw: RawTable, how: Plan) -> tuple[Finding, ...]:
    """Columns named like raters that hold words, or nothing."""
    found = {
        column: raw.frame[column].drop_nulls()
        for column in unread_columns(raw, how)
        if names_rater(column) and not is_numeric(raw.frame[column])
    }
    # Many different texts are remarks, and no ratings in words.
    few = {c: cells for c, cells in found.items() if 2 * cells.n_unique() <= max(len(cells), 1)}
    if not few:
        return ()
    holds = [
        f"{column!r} ({shortened(str(cells[0])) if len(cells) else 'blank throughout'})"
        for column, cells in few.items()
    ]
    note = finding(
        "rater_unread",
        "serious",
        raw.name,
        holds,
        f"{plural(len(few), 'column')} named like a rater and without numbers: {', '.join(holds)}.",
        "Nothing was read there; write ratings as numbers, and formulas with their values.",
    )
    return (note,)


def _in_per_cent(each: _Looked) -> bool:
    """Whether a column of scores is written in per cent; a few such cells say nothing of it."""
    raw, how = each.ready, each.how
    if how is None or how.kind == "replies" or isinstance(raw, Reading):
        return False
    texts = [raw.frame[c].drop_nulls() for c in how.values if raw.frame[c].dtype == pl.String]
    return any(2 * text.str.contains(r"^\s*[\d.,]+\s*%\s*$").sum() > len(text) for text in texts)


def _scale_note(looked: Sequence[_Looked], scale: Scale, codes: Sequence[float] = ()) -> Finding:
    steps = ", continuous," if scale.continuous else f" by {scale.step:g}"
    beside = (
        f" Without {', '.join(f'{c:g}' for c in codes)}, which the others do not use."
        if codes
        else ""
    )
    ratings = pl.concat([each.ratings for each in looked], how="diagonal")
    between = few_between(ratings) if scale.step < 1 else ""
    ranges = _ranges(looked)
    stated = [c for c in _score_columns(looked) if head_of(c).high is not None]
    whence = f"is stated by {listed(stated[:1])}" if stated else "was inferred from the values"
    return finding(
        "scale_inferred",
        "serious" if codes or ranges or between else "note",
        looked[0].name,
        [],
        f"The scale {scale.low:g} to {scale.high:g}{steps} {whence}.{beside}{between}{ranges}",
        "Bias is measured against its width, and other values count as off it: declare it.",
        count=1,
    )


def _ranges(looked: Sequence[_Looked]) -> str:
    """A sentence on attributes of a tool that are on unlike scales, such as 0 to 1 and 1 to 5.

    Raises
    ------
    QuestionError
        Nobody accepted that one scale is taken for all.
    """
    foreign = [each for each in looked if each.how is None]
    if not foreign:
        return ""
    ratings = pl.concat([each.ratings for each in looked], how="diagonal")
    found = ratings.drop_nulls("score").group_by("attribute", maintain_order=True)
    spans = {str(name): infer_scale(part["score"]) for (name,), part in found}
    first = {(span.low, span.high): name for name, span in reversed(list(spans.items()))}
    if len(first) < 2:
        return ""
    said = ", ".join(f"{name} {span.low:g} to {span.high:g}" for name, span in spans.items())
    if not any(each.source.assume for each in looked):
        raise QuestionError(
            f"{foreign[0].name}: attributes seem to be on unlike scales ({said}), and a study has "
            f"one scale: which of them are examined?",
            "only",
            tuple(reversed(first.values())),
            f'only = ["{next(reversed(first.values()))}"]',
        )
    return f" Attributes seem to be on unlike scales: {said}."

"""A study drafted from a file or frame that comes without one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire._errors import TableError, listed
from voirdire.files import file_hash
from voirdire.schema import Scale
from voirdire.study import Source, build_study
from voirdire.tables._files import RawTable, read_raw
from voirdire.tables._files._raw import build
from voirdire.tables._guess import is_human, names_rater, with_raters
from voirdire.tables._layout import LARGEST, Known, Plan, common_prefix, plan, unread_columns
from voirdire.tables._load import prepared, read_part, tables_from
from voirdire.tables._numbers import is_numeric
from voirdire.tables._scale import coded_levels, infer_scale
from voirdire.tables._tables import finding, plural, shortened

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


def draft_study(
    path: str | Path,
    *,
    sheet: str | None = None,
    reference: Sequence[str] = (),
    folder: str | Path | None = None,
) -> Study:
    """A study for one file: layout, columns, raters, attributes, systems and scale as found.

    Parameters
    ----------
    path : str or Path
        A file of ratings in any layout.
    reference : sequence of str
        The reference, where it is known; else the raters whose names speak of people.
    folder : str or Path, optional
        Where the study will lie; the file's path is written relative to it. The file's own folder
        by default.

    Raises
    ------
    TableError
        The file cannot be read, or no ids or scores can be found in it.
    """
    path = Path(path)
    raw = read_raw(path, sheet=sheet)
    study, _ = _draft(raw, _source(path, sheet, folder), reference, path.stem)
    return study.model_copy(update={"folder": str(path.parent if folder is None else folder)})


def read_file(
    path: str | Path,
    *,
    sheet: str | None = None,
    reference: Sequence[str] = (),
    keys: Mapping[str, Any] | None = None,
) -> tuple[Study, Tables]:
    """A file without a study: the drafted study, and the tables read by it.

    What was taken for granted (layout, raters, reference, scale) is said in the findings. `keys`
    are keys of ``[[data.sources]]`` that are known, such as ``{"item": "post"}``.

    Raises
    ------
    TableError
        As `draft_study` and `read_tables`.
    """
    path = Path(path)
    raw = read_raw(path, sheet=sheet)
    source = _source(path, sheet, None, keys)
    study, notes = _draft(raw, source, reference, path.stem)
    study = study.model_copy(update={"folder": str(path.parent)})
    return study, _tables(study, raw, notes, {source.path: file_hash(path)})


def from_frame(
    frame: pl.DataFrame, *, reference: Sequence[str] = (), name: str = "frame"
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
    study, notes = _draft(raw, Source(path=name), reference, name)
    return study, _tables(study, raw, notes, {})


def _tables(
    study: Study, raw: RawTable, notes: tuple[Finding, ...], hashes: dict[str, str]
) -> Tables:
    return tables_from(study, [(study.data.sources[0], raw)], hashes, notes=notes)


def _source(
    path: Path, sheet: str | None, folder: str | Path | None, keys: Mapping[str, Any] | None = None
) -> Source:
    at = path.name if folder is None else os.path.relpath(path, folder)
    return Source(path=str(at), sheet=sheet, **(keys or {}))


def _draft(
    raw: RawTable, source: Source, reference: Sequence[str], name: str
) -> tuple[Study, tuple[Finding, ...]]:
    names = Known(tuple(reference), attributes=(), systems=())
    raw = prepared(raw, source, names)
    names = with_raters(raw, source, names)
    how = plan(raw, source, names)
    ratings = read_part(raw, source, names, _ANY).ratings
    raters = ratings["rater"].unique(maintain_order=True).to_list()
    humans = [r for r in raters if r in reference or is_human(r, how.rater)]
    people = set(reference or humans)
    sides = ratings["rater"] if len(people) in (0, len(raters)) else ratings["rater"].is_in(people)
    codes = coded_levels(ratings["score"], sides.cast(pl.String))
    scale = infer_scale(ratings["score"].filter(~ratings["score"].is_in(codes)))
    if _in_per_cent(raw, how):
        scale = Scale(0, 100, scale.step)
    if scale.width > 2 * LARGEST:
        raise TableError(
            f"{raw.name}: values run from {scale.low:g} to {scale.high:g}, which is no rating "
            f"scale (columns: {listed(list(how.values))}); declare columns and scale in a study"
        )
    absent = [rater for rater in reference if rater not in raters]
    if absent:
        raise TableError(
            f"{raw.name}: the reference {listed(absent)} has no ratings (raters: {listed(raters)})"
        )
    chosen = list(reference) or (humans if len(humans) < len(raters) else [])
    study = build_study(
        {
            "name": name,
            "data": {"sources": [_declared(source, how)], "reference": chosen},
            "rubric": _rubric(ratings, scale),
            "systems": [{"name": s} for s in ratings["system"].unique(maintain_order=True) if s],
            "panel": [{"name": r, "kind": "human" if r in humans else "judge"} for r in raters],
        },
        raw.name,
    )
    assumed = [note for note in how.findings if note.kind == "reading_assumed"]
    return study, (
        *assumed,
        *_unread(raw, how),
        _said(raw, how, study),
        _scale_note(raw.name, scale, codes),
    )


def _declared(source: Source, how: Plan) -> dict[str, Any]:
    """The source with everything that was found out about it."""
    found: dict[str, Any] = {
        "path": source.path,
        "sheet": source.sheet,
        "layout": _LAYOUTS.get(how.kind, how.kind),
        "item": how.item,
        "system": how.system,
        "context": how.context,
        "rater": how.rater or (None if how.raters or how.kind == "raters" else how.rater_name),
        "attribute": how.attribute,
        "run": how.run,
        "status": how.status,
        "score": next(iter(how.values)) if how.kind == "long" else None,
        "words": source.words or None,
        "ignore": source.ignore or None,
        "assume": source.assume or None,
        **how.facts,
    }
    if how.kind == "replies" and not how.raters:
        columns = list(how.values)
        prefix = common_prefix(columns) if len(columns) > 1 else ""
        found |= {"prefix": prefix} if prefix else {"columns": dict(how.values)}
    if how.kind == "scores":
        found["columns"] = dict(how.values)
    return {key: value for key, value in found.items() if value is not None}


def _rubric(ratings: pl.DataFrame, scale: Scale) -> dict[str, Any]:
    return {
        "scale": [scale.low, scale.high],
        "step": scale.step,
        "attributes": [{"name": a} for a in ratings["attribute"].unique(maintain_order=True)],
    }


def _said(raw: RawTable, how: Plan, study: Study) -> Finding:
    reference = listed(study.data.reference) if study.data.reference else "none was found"
    unread = [column for column in unread_columns(raw, how) if not is_numeric(raw.frame[column])]
    left = f" Columns not read: {listed(unread)}." if unread else ""
    systems = "" if how.system is None else f"; systems: those in column {how.system!r}"
    return finding(
        "study_drafted",
        "note",
        raw.name,
        [f"{rater.name}: {rater.kind}" for rater in study.panel],
        f"No study was given. Layout: {_LAYOUTS.get(how.kind, how.kind)}; reference: {reference}; "
        f"raters: {listed([rater.name for rater in study.panel])}; "
        f"attributes: {listed([attribute.name for attribute in study.rubric.attributes])}"
        f"{systems}.{left}",
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


def _in_per_cent(raw: RawTable, how: Plan) -> bool:
    """Whether scores are written in per cent."""
    texts = [raw.frame[c] for c in how.values if raw.frame[c].dtype == pl.String]
    return how.kind != "replies" and any(
        t.str.contains(r"^\s*[\d.,]+\s*%\s*$").any() for t in texts
    )


def _scale_note(table: str, scale: Scale, codes: Sequence[float] = ()) -> Finding:
    steps = ", continuous," if scale.continuous else f" by {scale.step:g}"
    beside = (
        f" Without {listed([f'{c:g}' for c in codes])}, which only one side uses." if codes else ""
    )
    return finding(
        "scale_inferred",
        "serious" if codes else "note",
        table,
        [],
        f"The scale {scale.low:g} to {scale.high:g}{steps} was inferred from the values.{beside}",
        "Bias is measured against its width, and other values count as off it: declare it.",
        count=1,
    )

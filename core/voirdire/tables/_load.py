"""A study's files as tidy tables."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from voirdire._errors import TableError
from voirdire.schema import Scale
from voirdire.tables._files import read_raw
from voirdire.tables._files._read import file_hash
from voirdire.tables._join import join
from voirdire.tables._layout import known, plan
from voirdire.tables._parse import attributes_in, flag_findings, parse_cells
from voirdire.tables._records import records
from voirdire.tables._shape import shape_replies, shape_scores, stack_replies
from voirdire.tables._tables import REPLIES, Part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.study import Source, Study
    from voirdire.tables._files import RawTable
    from voirdire.tables._layout import Known, Plan
    from voirdire.tables._tables import Tables


def read_tables(study: Study, *, sources: Sequence[Source] | None = None) -> Tables:
    """Read the files that a study names.

    Parameters
    ----------
    study : Study
        Its rubric's scale and attributes decide what is read; paths are relative to its folder.
    sources : sequence of Source, optional
        Read these instead of the study's own.

    Raises
    ------
    TableError
        A file, sheet, column or value that cannot be used; two different values for one rating; a
        rater that the panel does not declare; a reference without ratings.

    Examples
    --------
    >>> import tempfile
    >>> from voirdire.study import build_study
    >>> folder = Path(tempfile.mkdtemp())
    >>> text = "item,system,rater,attribute,score\\n1,A,human,Empathy,4\\n1,A,judge,Empathy,7\\n"
    >>> _ = (folder / "ratings.csv").write_text(text)
    >>> study = build_study({"name": "s", "data": {"sources": [{"path": "ratings.csv"}]}}, folder=str(folder))
    >>> read_tables(study).ratings.select("rater", "score", "status").rows()
    [('human', 4.0, 'ok'), ('judge', 7.0, 'out_of_scale')]
    """
    chosen = tuple(study.data.sources if sources is None else sources)
    if not chosen:
        raise TableError(f"study {study.name!r} names no data: give [[data.sources]] a path")
    paths = [Path(study.folder) / source.path for source in chosen]
    with ThreadPoolExecutor(max_workers=min(4, len(paths))) as pool:
        raws = list(pool.map(lambda pair: _raw(study, *pair), zip(chosen, paths, strict=True)))
        hashes = dict(
            zip([source.path for source in chosen], pool.map(file_hash, paths), strict=True)
        )
    return tables_from(study, list(zip(chosen, raws, strict=True)), hashes)


def tables_from(
    study: Study, raws: list[tuple[Source, RawTable]], hashes: dict[str, str]
) -> Tables:
    """Tidy tables of files already open."""
    names = known(study)
    scale = Scale(*study.rubric.scale, study.rubric.step)
    parts = []
    while raws:
        # Each raw table is let go once it is tidy, so that large files are held once.
        source, raw = raws.pop(0)
        parts.append(read_part(raw, source, names, scale))
        del raw
    return join(study, parts, hashes)


def read_part(raw: RawTable, source: Source, names: Known, scale: Scale) -> Part:
    """One file as tidy ratings."""
    how = plan(raw, source, names)
    only = names.attributes[0] if len(names.attributes) == 1 else "score"
    found = records(raw, how, only)
    notes = (*raw.findings, *how.findings, *found.findings)
    if how.kind == "replies":
        ratings, replies, remarks = _replies(how, found.frame, names, scale)
        notes = (*notes, *remarks)
    else:
        ratings, replies = shape_scores(raw, how, found.frame, scale), REPLIES.to_frame()
    return Part(ratings, replies, found.contexts, notes, found.problems)


def _replies(
    how: Plan, frame: pl.DataFrame, names: Known, scale: Scale
) -> tuple[pl.DataFrame, pl.DataFrame, tuple[object, ...]]:
    cells = stack_replies(how, frame)
    texts = cells["reply"].to_list()
    attributes = names.attributes or attributes_in(texts)
    if not attributes:
        raise TableError(
            f"{how.rater_name}: no score was found in the replies, and the study declares no "
            f"attributes (rubric.attributes)"
        )
    parsed = parse_cells(texts, attributes, scale)
    ratings, replies = shape_replies(cells, parsed.scores, parsed.statuses, parsed.status)
    return ratings, replies, flag_findings(how.rater_name, parsed.flags)


def _raw(study: Study, source: Source, path: Path) -> RawTable:
    return read_raw(path, sheet=source.sheet, skip_bad_lines=study.data.skip_bad_lines)

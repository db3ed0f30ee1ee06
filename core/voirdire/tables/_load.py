"""A study's files as tidy tables."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import polars as pl

from voirdire.errors import QuestionError, TableError, check_columns, listed
from voirdire.files import file_hash
from voirdire.late import dataclass
from voirdire.schema import Scale
from voirdire.tables._account import account_findings, account_of
from voirdire.tables._files import RawTable
from voirdire.tables._guess import answers_or_scores, with_raters
from voirdire.tables._ids import plain_name
from voirdire.tables._join import join
from voirdire.tables._layout import plan, unread_columns
from voirdire.tables._linking import linked_part, rated_of
from voirdire.tables._names import find, measures, names_rater
from voirdire.tables._numbers import is_numeric
from voirdire.tables._open import open_files, opened, with_short_names, without_foot
from voirdire.tables._questions import (
    as_it_is_seen,
    laid_out,
    one_of_its_sheets,
    one_row_a_rating,
    without_ignored,
)
from voirdire.tables._reading import declared_by
from voirdire.tables._records import records
from voirdire.tables._rescale import rescaled
from voirdire.tables._role import NamedRaters, Roles
from voirdire.tables._roles import people_spoken_of, roles_of
from voirdire.tables._same import with_one_name
from voirdire.tables._scale import ask_about_direction
from voirdire.tables._shape import shape_replies, shape_scores
from voirdire.tables._tables import (
    CONTEXTS,
    FACTS,
    RATINGS,
    REPLIES,
    HowRead,
    SourceTables,
    finding,
    plural,
    shortened,
    status_of,
)
from voirdire.tables._values import known, replies_in
from voirdire.tables._words import with_all_declared, words_as_numbers
from voirdire.tables.readers import Reading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.schema import Finding
    from voirdire.study import ItemsSpec, Source, Study
    from voirdire.tables._layout import FilePlan
    from voirdire.tables._tables import Tables
    from voirdire.tables._values import Known


def read_tables(
    study: Study,
    *,
    sources: Sequence[Source] | None = None,
    ratings: pl.DataFrame | None = None,
    raters: pl.DataFrame | None = None,
    replies: pl.DataFrame | None = None,
    labels: Sequence[str] = (),
) -> Tables:
    r"""Read the files that a study names, and join ratings that are at hand already.

    Parameters
    ----------
    study : Study
        Its rubric's scale and attributes decide what is read; paths are relative to its folder.
    sources : sequence of Source, optional
        Read these instead of the study's own.
    ratings, raters, replies : DataFrame, optional
        Tidy frames to join, for example those of a session: `ratings` with the columns of
        `RATINGS`, rows of `raters` in place of those that the panel gives.
    labels : sequence of str, optional
        What annotators name beside a rubric: these attributes are none of the rubric's and stand
        in `Tables.labels`.

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
    >>> text = "item,rater,attribute,score\n1,human,Calm,4\n1,judge,Calm,7\n"
    >>> _ = (folder / "ratings.csv").write_text(text)
    >>> data = {"sources": [{"path": "ratings.csv"}]}
    >>> study = build_study({"name": "calm", "data": data}, folder=str(folder))
    >>> read_tables(study).ratings.select("rater", "score", "status").rows()
    [('human', 4.0, 'ok'), ('judge', 7.0, 'out_of_scale')]
    """
    chosen = tuple(study.data.sources if sources is None else sources)
    given = () if ratings is None else (_given(study, ratings, replies),)
    if not chosen and not given:
        raise TableError(f"study {study.name!r} names no data: give [[data.sources]] a path")
    opened, hashes = _open(study, chosen)
    raws: list[tuple[Source, RawTable | Reading | SourceTables]] = [*opened]
    del opened
    return tables_from(study, raws, hashes, given=given, raters=raters, labels=labels)


def tables_from(
    study: Study,
    raws: list[tuple[Source, RawTable | Reading | SourceTables]],
    hashes: Mapping[str, str],
    *,
    given: Sequence[SourceTables] = (),
    raters: pl.DataFrame | None = None,
    notes: tuple[Finding, ...] = (),
    labels: Sequence[str] = (),
) -> Tables:
    """Tidy tables of files already open; `notes` come first among the findings.

    `raws` is emptied: each raw table is let go once it is tidy, so that large files are held once.
    """
    read: list[tuple[Source, SourceTables]] = []
    raws[:] = located(raws)
    alone = len(raws) < 2
    while raws:
        # Taken out of the list and deleted, so that a file of gigabytes is not held raw and tidy.
        source, raw = raws.pop(0)
        read.append((source, _part(study, source, raw, alone=alone)))
        del raw
    # Labels with a key are joined to what the other files rate, so these are read first.
    parts = [part for source, part in read if source.key is None]
    if len(parts) < len(read):
        rated = rated_of(parts)
        parts += [linked_part(part, source, rated) for source, part in read if source.key]
    raters = _raters_of(study, parts) if raters is None else raters
    joined = join(study, (*parts, *given), hashes, raters, labels)
    readings = tuple(
        HowRead(source.path, hashes.get(source.path, ""), dict(part.keys), part.columns)
        for source, part in read
    )
    return replace(joined, findings=(*notes, *joined.findings), readings=readings)


_Raw = TypeVar("_Raw", bound="RawTable | Reading | SourceTables")


def located(raws: Sequence[tuple[Source, _Raw]]) -> list[tuple[Source, _Raw]]:
    """The files, whose sources name the column of items where numbers that count the rows of each
    would be taken for it.
    """
    tables = [raw for source, raw in raws if isinstance(raw, RawTable) and source.item is None]
    if len(tables) < 2:
        return list(raws)
    from voirdire.tables._keys_of_files import item_of_all  # noqa: PLC0415 - of several files alone

    item = item_of_all([raw for raw in tables if raw.frame.height])
    if item is None:
        return list(raws)
    return [
        (source.model_copy(update={"item": item}), raw)
        if isinstance(raw, RawTable) and source.item is None
        else (source, raw)
        for source, raw in raws
    ]


def _part(
    study: Study, source: Source, raw: RawTable | Reading | SourceTables, *, alone: bool
) -> SourceTables:
    """One file as tidy ratings, on the study's scale; a part is one already."""
    if isinstance(raw, SourceTables):
        return raw
    scale = Scale(*study.rubric.scale, study.rubric.step)
    if isinstance(raw, Reading):
        part = replace(raw.part(source.path, scale), keys={"reader": raw.format})
        return rescaled(with_one_name(part, source.same), source.rescale, scale)
    source = _with_item(source, study.items, raw)
    try:
        ready = made_ready(raw, source, known(study), declared=bool(study.panel), alone=alone)
        part = with_one_name(read_part(ready, scale), source.same)
        return rescaled(part, source.rescale, scale)
    except pl.exceptions.PolarsError as error:
        cause = str(error).splitlines()[0]
        raise TableError(f"{raw.name}: cannot be made tidy ({cause})") from error


def _raters_of(study: Study, parts: Sequence[SourceTables]) -> pl.DataFrame | None:
    """What readers say of raters that the panel does not declare."""
    from_readers = [part.raters for part in parts if part.raters is not None]
    if not from_readers:
        return None
    declared = [rater.name for rater in study.panel]
    return (
        pl.concat(from_readers)
        .unique("rater", keep="first")
        .filter(~pl.col("rater").is_in(declared))
    )


@dataclass(frozen=True, slots=True)
class Ready:
    """A table whose layout and words are settled.

    Attributes
    ----------
    raw : RawTable
        As it stands, with the findings on what was asked about it.
    table : RawTable
        As it is read: without ignored columns, one row a rating where it was a form, and words as
        numbers.
    names : Known
        The study's, and the raters that were found among its columns.
    roles : Roles
        What was found out about its columns where nobody declared them.
    """

    raw: RawTable
    table: RawTable
    source: Source
    names: Known
    how: FilePlan
    roles: Roles


def made_ready(
    raw: RawTable,
    source: Source,
    names: Known,
    *,
    declared: bool = False,
    alone: bool = True,
    asked: NamedRaters | None = None,
) -> Ready:
    """A table with everything that is needed to read it; `declared`: all raters are in `names`;
    `alone`: no other file is read with it; `asked`: the roles of its columns are looked for.

    The order matters: a form becomes one row a rating before its words are looked at, and words
    become numbers before columns of numbers are looked for.

    Raises
    ------
    QuestionError
        It can be read in two ways that give different numbers.
    TableError
        No ids or scores can be found in it, or a named column is not there.
    """
    known_raters = names.raters if asked is None else (*asked.reference, *asked.judges)
    raw = opened(raw, source, known_raters)
    raw = with_short_names(raw, known_raters)
    raw = without_foot(as_it_is_seen(raw, source))
    if source.layout == "replies" or source.columns or source.prefix:
        raw = replace(raw, nested=frozenset())  # asked for: objects are what a judge replied
    raw, source = laid_out(raw, source, () if asked is None else asked.reference)
    elsewhere = asked is not None and not set(asked.reference) & set(raw.frame.columns)
    if asked is not None and asked.reference and elsewhere and source.layout == "auto":
        from voirdire.tables._unnamed import with_raters_in_rows  # noqa: PLC0415 - for forms alone

        raw, source = with_raters_in_rows(raw, source, asked.reference)
    if not set(known_raters) & set(raw.frame.columns) or source.layout != "auto":
        from voirdire.tables._heads import systems_as_rows  # noqa: PLC0415 - for grids alone

        spoken = people_spoken_of(raw) if asked is not None and not known_raters else ()
        raw, source = systems_as_rows(raw, source, known_raters or spoken)
    raw, source = answers_or_scores(raw, source, names)
    roles = Roles(source)
    if asked is not None:
        seen = with_all_declared(without_ignored(raw, source), source)
        roles = roles_of(seen, source, asked, alone=alone)
        if roles.source.rater is not None and roles.source.layout in ("long", "scores"):
            from voirdire.tables._judges_beside import with_judges_beside  # noqa: PLC0415 - rare

            more = with_judges_beside(seen, roles.source, asked)
            if more is not seen:
                raw, roles = more, roles_of(more, source, asked, alone=alone)
        source = roles.source
        names = replace(names, raters=roles.raters or names.raters)
    source = _as_columns(raw, source, roles)
    table = _prepared(raw, source, names)
    if not (declared or roles.raters):
        names = with_raters(table, source, names)
    try:
        how = plan(table, source, names, alone=alone)
    except TableError as error:
        unnamed = asked is not None and not asked.reference and alone
        other = isinstance(error, QuestionError) and error.key != "item"
        if unnamed and not other and source.layout == "auto" and source.item is None:
            from voirdire.tables._unnamed import ask_for_reference  # noqa: PLC0415 - to ask

            ask_for_reference(table, error)
        raise
    return Ready(raw, table, source, names, how, roles)


def _as_columns(raw: RawTable, source: Source, roles: Roles) -> Source:
    """A source whose columns are raters, also where one of them is called as scores are."""
    columns = raw.frame.columns
    if source.layout != "auto" or not set(roles.raters) & set(columns):
        return source
    if find("score", columns, None, raw.name) is None:
        return source
    if any(replies_in(raw, c) for c in roles.raters if c in columns):
        return source
    return source.model_copy(update={"layout": "scores"})


def _prepared(raw: RawTable, source: Source, names: Known) -> RawTable:
    """The table as it is read: without ignored columns, and words of score columns as numbers.

    Raises
    ------
    TableError
        An ignored column is not there; words of a scale, and nobody said what number each is.
    """
    raw = one_of_its_sheets(raw, source)
    raw = one_row_a_rating(without_ignored(raw, source), source)
    if source.layout == "replies":  # whole texts: no word in them is a score
        return raw
    columns = raw.frame.columns
    named = {*names.raters, *names.attributes, *source.columns, source.score, source.rater}
    score = find("score", columns, source.score, raw.name)
    scored = [c for c in columns if c in named or c == score or names_rater(c)]
    if source.response is not None:  # nor is a word that was judged
        scored = [c for c in scored if c != plain_name(source.response)]
    return words_as_numbers(raw, source, scored)


def _with_item(source: Source, items: ItemsSpec | None, raw: RawTable) -> Source:
    """A source that names no column of ids has them where the study's items do.

    A usual word such as `id` may mean the row: it has its place among the others of its kind.
    """
    if items is None or source.item is not None:
        return source
    name = plain_name(items.id)
    if name not in raw.frame.columns or find("item", [name], None, raw.name) is not None:
        return source
    return source.model_copy(update={"item": name})


def _open(
    study: Study, chosen: Sequence[Source]
) -> tuple[list[tuple[Source, RawTable | Reading]], dict[str, str]]:
    """Every file read as it stands, several at once: the readers let go of the interpreter."""
    if not chosen:
        return [], {}
    paths = [Path(study.folder) / source.path for source in chosen]
    with ThreadPoolExecutor(max_workers=min(4, len(paths))) as pool:
        raws = open_files(
            paths,
            chosen,
            skip_bad_lines=study.data.skip_bad_lines,
            pool=pool,
            people=study.data.reference,
        )
        hashes = pool.map(file_hash, paths)
        pairs = list(zip(chosen, raws, strict=True))
        return pairs, {s.path: h for s, h in zip(chosen, hashes, strict=True)}


def _given(study: Study, ratings: pl.DataFrame, replies: pl.DataFrame | None) -> SourceTables:
    """Tidy frames as a part; a column that is not there is null."""
    needed = ("item", "rater", "attribute", "score")
    check_columns(f"study {study.name!r}, ratings", needed, ratings.columns)
    defaults = {"run": pl.lit(1), "status": status_of(Scale(*study.rubric.scale))}
    filled = ratings.with_columns(
        defaults.get(name, pl.lit(None)).alias(name) for name in RATINGS if name not in ratings
    )
    kinds = dict(RATINGS) | {name: kind for name, kind in FACTS.items() if name in ratings}
    tidy = filled.select(pl.col(name).cast(kind) for name, kind in kinds.items())
    kept_replies = REPLIES.to_frame()
    if replies is not None:
        kept_replies = replies.select(pl.col(name).cast(dtype) for name, dtype in REPLIES.items())
    return SourceTables(tidy, kept_replies, CONTEXTS.to_frame())


def read_part(ready: Ready, scale: Scale) -> SourceTables:
    """One file as tidy ratings."""
    raw, source, names, how = ready.table, ready.source, ready.names, ready.how
    only = names.attributes[0] if len(names.attributes) == 1 else "score"
    if how.kind != "replies":
        ask_about_direction(raw, source, how.values)
    tidy = records(raw, how, only)
    notes = (*raw.findings, *how.findings, *_unread(raw, how), *tidy.findings)
    columns = len(how.values)
    if how.kind == "replies":
        ratings, replies, remarks = shape_replies(how, tidy.frame, names.attributes, scale)
        columns *= max(1, ratings["attribute"].n_unique())
    else:
        ratings, remarks = shape_scores(raw, how, tidy.frame, scale, source)
        replies = REPLIES.to_frame()
    account = account_of(
        raw,
        tidy.findings,
        each=raw.each,
        kept=tidy.frame.height,
        columns=columns,
        judgements=ratings.height,
    )
    wide = how.raters_are_columns and how.kind != "replies"
    if source.leave_out:
        out = pl.col("rater").is_in(source.leave_out)
        ratings, replies = ratings.filter(~out), replies.filter(~out)
    return SourceTables(
        ratings,
        replies,
        tidy.contexts,
        (*notes, *remarks, *account_findings(account)),
        tidy.problems,
        wide,
        responses=tidy.responses,
        reasons=tidy.reasons,
        id_column=how.item,
        account=account,
        keys=declared_by(source, how),
        columns=tuple((one.column, one.role, one.reason) for one in ready.roles.columns),
    )


def _unread(raw: RawTable, how: FilePlan) -> tuple[Finding, ...]:
    """A note on columns of numbers that may be scores and were not read."""
    left = [column for column in unread_columns(raw, how) if is_numeric(raw.frame[column])]
    about = [column for column in left if measures(column) and names_rater(column)]
    left = [column for column in left if column not in about]
    notes = (_about_raters(raw, about),) if about else ()
    if not left:
        return notes
    note = finding(
        "columns_unread",
        "note",
        raw.name,
        left,
        f"{plural(len(left), 'column')} of numbers not read: {listed(left)}.",
        "Declare them in the study if they hold ratings.",
    )
    return (*notes, note)


def _about_raters(raw: RawTable, columns: list[str]) -> Finding:
    return finding(
        "columns_of_raters",
        "serious",
        raw.name,
        columns,
        f"{plural(len(columns), 'column')} about a rater, by name, and not of ratings: "
        f"{listed(columns)}.",
        "Not read; if these are ratings, declare their raters in the panel of a study.",
    )


def unread_raters(raw: RawTable, how: FilePlan) -> tuple[Finding, ...]:
    """Columns named like raters that hold words, or nothing."""
    words = {
        column: raw.frame[column].drop_nulls()
        for column in unread_columns(raw, how)
        if names_rater(column) and not is_numeric(raw.frame[column])
    }
    # Many different texts are remarks, and no ratings in words.
    few = {c: cells for c, cells in words.items() if 2 * cells.n_unique() <= max(len(cells), 1)}
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

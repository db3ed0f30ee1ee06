"""Which sources hold labels, preferences or probabilities, and how each is read."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import QuestionError, TableError, WordsDifferError
from voirdire.files import file_hash
from voirdire.late import pattern
from voirdire.study import Data, Rater, Source, Study
from voirdire.tables._account import account_findings, account_of, whole_rows
from voirdire.tables._asking import all_at_once
from voirdire.tables._files._raw import build
from voirdire.tables._keys import keys_of
from voirdire.tables._names import find, is_human, plain_word
from voirdire.tables._open import means_the_table, opened, with_short_names, without_foot
from voirdire.tables._preferences import (
    ComparisonColumns,
    better_and_worse,
    compared_in,
    place_of,
    with_pairs_apart,
)
from voirdire.tables._questions import as_it_is_seen, one_of_its_sheets
from voirdire.tables._role import NamedRaters
from voirdire.tables._roles import parts_of, rater_column
from voirdire.tables.judged.as_one import one_table, paths_in, people_of_files, read_nested
from voirdire.tables.judged.compared import PAIRS, TEXTS, read_preferences
from voirdire.tables.judged.frames import LABELS, NO_COLUMN, VOTES, ReadJudgements
from voirdire.tables.judged.labels import parts_found, read_labels
from voirdire.tables.judged.order import shown_first
from voirdire.tables.judged.raters import of_judges
from voirdire.tables.judged.words import judgements_of
from voirdire.tables.readers import read_foreign, together

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.study import ReadOptions
    from voirdire.tables._files import RawTable
    from voirdire.tables.readers import Reading


def _objects(raw: RawTable, read: ReadOptions, reference: Sequence[str]) -> ReadJudgements | None:
    """Objects in cells, whose reader is loaded where there are any."""
    texts = [column for column in raw.frame if column.dtype == pl.String]
    if not any(column.str.starts_with("{").any() for column in texts):
        return None
    from voirdire.tables.judged.objects import read_objects  # noqa: PLC0415 - as said

    return read_objects(raw, read, reference)


def _probabilities(
    raw: RawTable, read: ReadOptions, reference: Sequence[str]
) -> ReadJudgements | None:
    """Probabilities, whose readers are loaded where there may be any.

    So it is where somebody or a header says so, or where a number lies between 0 and 1.
    """
    if read.probability == NO_COLUMN:
        return None
    first = [column.head(_FIRST) for column in raw.frame]
    told = any(
        _lies_between(column) or any(str(cell).startswith("{") for cell in column.drop_nulls()[:1])
        for column in first
    )
    named = any(map(_MAY_CLAIM.search, raw.frame.columns))
    if not (told or named or read.kind == "probability" or read.probability):
        return None
    from voirdire.tables.judged.chances import read_probabilities  # noqa: PLC0415 - as said
    from voirdire.tables.judged.claims import read_claims  # noqa: PLC0415

    return read_claims(raw, read, reference) or read_probabilities(raw, read, reference)


def _lies_between(column: pl.Series) -> bool:
    if not (column.dtype == pl.String or column.dtype.is_numeric()):
        return False
    numbers = column.cast(pl.Float64, strict=False)
    return bool(((numbers > 0) & (numbers < 1)).any())


#: What parts the words of a header.
_END = pattern(r"[_\s.-]+")
#: Rows of which one shows a number between 0 and 1 where a column holds probabilities.
_FIRST = 1000
#: A number per cent.
_PERCENT = r"^\s*\d+(?:\.\d+)?\s*%\s*$"
#: Words of headers that may claim a probability; what they claim their readers say.
_MAY_CLAIM = pattern(r"prob|chance|logp|p_?(?:yes|true|pass)|distribution|(?<![a-z])p(?![a-z])",
                     re.IGNORECASE)  # fmt: skip
#: The role that a part of a table plays, where it is called otherwise.
_ROLES = {"context": "text", "response": "text", "origin": "about an item", "score": "label"}
#: Roles that one column plays, called as the keys of a source are.
_ONE_COLUMN = ("item", "rater", "attribute", "run", "cluster", "subgroup")
#: In this order: what is more particular first.
SHAPES = (read_preferences, _objects, _probabilities, read_labels)


def read_judged(  # noqa: PLR0911 - a return for each kind
    source: object, *, reference: Sequence[str] = (), read: ReadOptions
) -> tuple[Study, ReadJudgements] | None:
    """A source of labels, preferences or probabilities, with a study of its name.

    Parameters
    ----------
    source : path, paths or DataFrame
        Several files are read together.
    reference : sequence of str
        Who is the reference; by default raters whose names speak of people.
    read : ReadOptions
        What is known of the files.

    Returns
    -------
    Study and ReadJudgements, or None where it is none of them.

    Raises
    ------
    QuestionError
        It may be read in two ways.
    TableError
        It cannot be read.
    """
    if read.kind == "score":
        return None
    files = paths_in(source)
    foreign = _foreign(files, read)
    if (
        foreign is not None
        and read.reader is None
        and means_the_table(foreign, files[0], reference)
    ):
        foreign = None  # a person's column stands in a tool's table
    if foreign is not None:
        found = _of_a_tool(files[0], foreign, read, reference)
        if found is None:
            return None
        found = replace(found, hashes={path.name: file_hash(path) for path in files})
        return _study(files[0].stem, files, found, read), found
    raw = one_table(files, read, reference) if files else None
    if isinstance(source, pl.DataFrame) and source.height:
        raw = build("frame", source.columns, source.get_columns(), first=0)
    people, beside = people_of_files(files, read), read.human
    if raw is None:
        return None
    if beside:
        from voirdire.tables.judged.beside import with_people  # noqa: PLC0415 - for these alone

        joined = with_people(raw, read)
        if joined is None:
            return None  # scores are joined where they are read
        raw, read, people = joined
    votes, read = _voting(raw, read)
    # One question after the other, with the answers before it taken: all are asked at once.
    seen, found = all_at_once(
        lambda named, options: _understood(raw, options, named or people), reference, read,
    )  # fmt: skip
    if found is None:
        return None
    found = _those_named(found, read, seen.name, votes=votes)
    from voirdire.tables.judged.card import (  # noqa: PLC0415 - of what is none of scores
        card_of,
        roles_in,
    )

    made = found.labels.height if found.preferences is None else found.preferences.height
    # Of probabilities a row may hold any number.
    of_rows = not any(one.probability for one in found.questions)
    each = max(1, round(made / max(seen.frame.height, 1))) if of_rows else 0
    account = account_of(seen, (), each=1, kept=seen.frame.height, columns=each, judgements=made)
    roles = roles_in(seen, found)
    found = replace(
        found, hashes={path.name: file_hash(path) for path in (*files, *beside)},
        columns=tuple((one.column, one.role, one.reason) for one in roles),
        findings=(
            card_of(seen, found, roles), *seen.findings, *account_findings(account),
            *found.findings,
        ),
    )  # fmt: skip
    return _study(files[0].stem if files else raw.name, files, found, read), found


def _voting(raw: RawTable, read: ReadOptions) -> tuple[bool, ReadOptions]:
    """Whether runs vote, and how the table is read then; a column may be called so."""
    votes = read.probability == VOTES and VOTES not in raw.frame.columns
    return votes, read.with_(probability=NO_COLUMN) if votes else read


def _those_named(
    found: ReadJudgements, read: ReadOptions, where: str, *, votes: bool
) -> ReadJudgements:
    """The judgements of people and of those judges that are named, where some are."""
    if found.preferences is not None:
        kept = of_judges(found.preferences, found.people, read.judge, where)
        return replace(found, preferences=kept)
    found = replace(found, labels=of_judges(found.labels, found.people, read.judge, where))
    if not votes:
        return found
    from voirdire.tables.judged.votes import with_votes  # noqa: PLC0415 - where they are asked for

    return with_votes(found, where)


def _parts_of(raw: RawTable, read: ReadOptions) -> dict[str, str]:
    """The columns that say which unit a row is of, who judged it, and what was shown, each with its
    role.
    """
    columns = raw.frame.columns
    plain = {plain_word(name): name for name in columns}
    found: dict[str | None, str] = {}
    for pair in PAIRS:
        found |= {plain[word]: "system" for word in pair if word in plain}
    for pair in TEXTS:
        found |= {plain[word]: "text" for word in pair if word in plain}
    found |= {plain[w]: role for w, role in (("turn", "turn"), ("shownfirst", "order shown"))
              if w in plain}  # fmt: skip
    usual = {part: find(part, columns, None, raw.name) for part in ("rater", "attribute")}
    known = {**usual, **parts_found(columns, read, raw.name)}
    known |= {part: name for part in ("item", "rater", "attribute", "score")
              if (name := getattr(read, part)) is not None}  # fmt: skip
    found |= {name: _ROLES.get(part, part) for part, name in known.items() if name is not None}
    if read.first is not None:
        found[read.first] = "order shown"
    return {c: role for c, role in found.items() if c in columns and c not in read.ignore}


def _understood(
    raw: RawTable, read: ReadOptions, reference: Sequence[str]
) -> tuple[RawTable, ReadJudgements | None]:
    """As `_looked_at`; where nobody is named and it cannot be read, who is the reference is asked:
    with that known its columns are understood by their cells.
    """
    try:
        return _looked_at(raw, read, reference)
    except WordsDifferError:
        raise  # whoever is named, their words stay what they are
    except TableError as error:
        # Whoever is offered is nobody of the table, where all of it is of one who is called as it.
        nobody = isinstance(error, QuestionError) and error.choices[0] in ("", Path(raw.name).stem)
        if isinstance(error, QuestionError) and not (error.key == "reference" and nobody):
            raise
        if not reference and read.rater is None and read.item is None:
            from voirdire.tables._unnamed import ask_for_reference  # noqa: PLC0415 - to ask

            ask_for_reference(raw, error)
        raise


def _looked_at(
    raw: RawTable, read: ReadOptions, reference: Sequence[str]
) -> tuple[RawTable, ReadJudgements | None]:
    """The table as it is seen, and what it holds."""
    raw = opened(raw, read, (*reference, *read.judge))
    raw = with_short_names(raw, (*reference, *read.judge))
    raw = _spread(_pairs_apart(without_foot(raw), read), read)
    seen, open_question = _seen(raw, read)
    seen, found = recognised(seen, read, reference)
    if found is not None and open_question is not None:
        raise open_question  # of ratings it is asked together with the others
    return seen, found


def _pairs_apart(raw: RawTable, read: ReadOptions) -> RawTable:
    """The table with two systems that stand in one cell as two columns."""
    if read.kind not in (None, "preference"):
        return raw
    frame = with_pairs_apart(raw.frame)
    if frame is raw.frame:
        return raw
    return replace(raw, frame=frame, headers={c: raw.headers.get(c, c) for c in frame.columns})


def _spread(raw: RawTable, read: ReadOptions) -> RawTable:
    """The table with winners that are marked in several columns as one, and lists of people's
    labels as a column each; the readers are loaded where a table may hold such.
    """
    ends = {place_of(_END.split(name)[-1]) for name in raw.frame.columns}
    if {1.0, -1.0} <= ends and read.kind in (None, "preference"):
        from voirdire.tables.judged.spread import with_marked_winners  # noqa: PLC0415 - as said

        raw = with_marked_winners(raw)
    texts = [column for column in raw.frame if column.dtype == pl.String]
    percent = [c.name for c in texts if c.str.contains(_PERCENT).all() and not c.has_nulls()]
    if percent and any(map(_MAY_CLAIM.search, percent)):
        made = [pl.col(c).str.strip_chars(" %") for c in percent if _MAY_CLAIM.search(c)]
        raw = replace(raw, frame=raw.frame.with_columns(made))
    if any(column.head(_FIRST).str.starts_with("[").any() for column in texts):
        from voirdire.tables.judged.spread import with_votes_apart  # noqa: PLC0415 - as said

        raw = with_votes_apart(raw)
    return raw


def _seen(raw: RawTable, read: ReadOptions) -> tuple[RawTable, QuestionError | None]:
    """The table as its sheet shows it, or as it stands and what is asked about that."""
    source = Source(path=raw.name, **read.keys_set())
    try:
        return one_of_its_sheets(as_it_is_seen(raw, source), source), None
    except QuestionError as question:
        return raw, question


def _foreign(files: Sequence[Path], read: ReadOptions) -> Reading | None:
    """The files of a source as their tool's reader has them as one; None for plain tables."""
    if not files or read.human or read_nested(files[0], read) is not None:
        return None
    if len(together(files, [read.reader] * len(files))) > 1:
        return None
    words = {} if read.kind in ("label", "label set") else read.words
    return read_foreign(files[0], read.reader, beside=files[1:], words=words)


def _of_a_tool(
    path: Path, reading: Reading, read: ReadOptions, reference: Sequence[str]
) -> ReadJudgements | None:
    """Comparisons or labels of a tool's file; None where it holds ratings."""
    people = reading.raters.filter(pl.col("kind") == "human")["rater"].to_list()
    from voirdire.tables._several import as_called  # noqa: PLC0415 - of a tool's file alone

    reference = as_called(reading.raters, reference)
    if reading.preferences is not None:
        names = reading.preferences["rater"].unique(maintain_order=True).to_list()
        # A file of judges alone tells win rates, and asks for nobody.
        people = people or [name for name in names if is_human(name)]
        table = _with_lengths(reading.preferences, reading)
        table = table.with_columns(pl.coalesce("shown_first", shown_first(read)))
        return ReadJudgements(
            tuple(reference or people), preferences=table, findings=reading.findings,
            reason=f"{reading.format} compares responses", order=read.first or "",
        )  # fmt: skip
    labels = reading.only_labels
    if labels is None or read.kind not in (None, "label", "label set"):
        return None
    sets = {
        str(name): bool((rows["labels"].list.len() != 1).any())
        for (name,), rows in labels.group_by("attribute", maintain_order=True)
    }
    cells = [
        json.dumps(chosen) if sets[attribute] else chosen[0]
        for attribute, chosen in labels.select("attribute", "labels").iter_rows()
    ]
    # What is a label is decided by the words of people: those of the file are cells until then.
    rows = labels.drop("labels").with_columns(
        pl.Series("cell", cells, pl.String),
        *(
            pl.lit(None, LABELS[fact]).alias(fact)
            for fact in ("cluster", "subgroup", "origin")
            if fact not in labels.columns
        ),
    )
    said = judgements_of(
        rows, sets, path.name, read, reference or people, None,
        f"{reading.format} holds labels and no scores",
    )  # fmt: skip
    kept = [one for one in reading.findings if one.kind != "labels_inferred"]
    return replace(said, findings=(*kept, *said.findings))


def _with_lengths(table: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """Comparisons with the difference of lengths of their responses, where all are shown."""
    sizes = reading.responses.group_by("item", "system").agg(
        pl.col("text").str.len_chars().mean().alias("size")
    )
    for side in ("a", "b"):
        table = table.join(
            sizes.rename({"system": f"system_{side}", "size": f"size_{side}"}),
            on=["item", f"system_{side}"], how="left", maintain_order="left",
        )  # fmt: skip
    length = (pl.col("size_a") - pl.col("size_b")).cast(pl.Float64)
    return table.with_columns(
        length.alias("length"), pl.lit(None, pl.String).alias("cluster")
    ).drop("size_a", "size_b")


def recognised(
    raw: RawTable, read: ReadOptions, reference: Sequence[str]
) -> tuple[RawTable, ReadJudgements | None]:
    """The table as it counts, and the first shape that it has.

    Raises
    ------
    QuestionError
        Columns of it may be read in two ways.
    """
    asked: QuestionError | None = None
    try:
        read = read.with_(**_parts(raw, read, reference))
    except QuestionError as question:
        asked = question
    item = find("item", raw.frame.columns, read.item, raw.name)
    rater = read.rater or find("rater", raw.frame.columns, None, raw.name)
    # Two ways to count rows, each found once for all shapes.
    whole_by = cache(lambda once: whole_rows(raw, item, read.rater, once=once))
    for shape in SHAPES:
        # Comparisons by people without a name may well be equal: each is a vote. A rater who labels
        # an item twice is an error, which says what to do.
        once = (rater in (None, *reference)) == (shape is not read_preferences)
        whole = whole_by(once)
        try:
            found = shape(whole, read, reference)
        except QuestionError:
            raise
        except TableError:
            if asked is not None:  # what is asked says what was not understood
                raise asked from None
            raise
        if found is None:
            continue
        if asked is not None:  # of ratings it is asked together with the others
            raise asked
        return whole, replace(found, parts={**_parts_of(whole, read), **found.parts})
    return raw, None


def _parts(raw: RawTable, read: ReadOptions, reference: Sequence[str]) -> dict[str, str]:
    """The columns of a table that its cells tell, whatever they are called."""
    compared = better = None
    if read.kind in (None, "preference"):
        compared, better = compared_in(raw.frame, read.words), better_and_worse(raw.frame)
    if better is not None:
        compared = ComparisonColumns(*better, ())
    if compared is None:
        named = tuple(reference) or _people_in(raw, read)
        return parts_of(raw, read, NamedRaters(named, read.judge))
    names = raw.frame.columns
    taken = {compared.first, compared.second, *compared.winners}
    source = Source(path=raw.name, **read.keys_set("score"))
    rater = rater_column(raw, source, reference) if reference else None
    rater = rater or find("rater", [c for c in names if c not in taken], None, raw.name)
    beside = [compared.first, compared.second, *([rater] if rater else [])]
    free = [c for c in names if c not in {*taken, *beside}]
    keys = keys_of(raw, source.model_copy(update={"system": None}), free, beside)
    found = {"item": keys[0] if keys else None, "rater": rater if rater in names else None}
    return {k: v for k, v in found.items() if v is not None and getattr(read, k) is None}


def _people_in(raw: RawTable, read: ReadOptions) -> tuple[str, ...]:
    """Names of people in a column of raters, where no column of items is called so: with them the
    cells tell which it is.
    """
    columns = [c for c in raw.frame.columns if c not in read.ignore]
    rater = find("rater", columns, read.rater if read.rater in columns else None, raw.name)
    if rater is None or find("item", columns, read.item, raw.name) is not None:
        return ()
    names = raw.frame[rater].cast(pl.String).drop_nulls().unique(maintain_order=True)
    return tuple(name for name in names.to_list() if is_human(name, rater))


def draft_judged(
    path: Path, *, reference: Sequence[str] = (), folder: Path, read: ReadOptions
) -> Study | None:
    """A study of a file of labels, preferences or probabilities; None for any other file.

    It says by `kind` what the file holds, and all that `read` says, so that nothing is asked of it.
    `folder` is where the study will lie.

    Raises
    ------
    QuestionError
        The file may be read in two ways.
    """
    found = read_judged(path, reference=reference, read=read)
    if found is None:
        return None
    study, said = found
    kinds: set[str] = {one.kind for one in said.questions}
    kinds |= set() if said.preferences is None else {"preference"}
    keys = read.keys_set()
    if len(kinds) == 1:  # what stands next to probabilities is recognised once more
        keys.setdefault("kind", min(kinds))
    at = Path(os.path.relpath(path, folder)).as_posix()
    data = study.data.model_copy(update={"sources": (Source(path=at, **keys),)})
    return study.model_copy(update={"data": data, "folder": str(folder)})


def _columns_kept(found: ReadJudgements, read: ReadOptions) -> dict[str, Any]:
    """The columns that were found or said of the parts of a row, each the only one of its part: a
    lock keeps them, so that the next file is read by them.
    """
    held: dict[str, list[str]] = {}
    for column, role in found.parts.items():
        if role in _ONE_COLUMN:
            held.setdefault(role, []).append(column)
    alone = {role: columns[0] for role, columns in held.items() if len(columns) == 1}
    said = {role: name for role in _ONE_COLUMN if (name := getattr(read, role)) is not None}
    return {**alone, **said}


def _study(name: str, files: Sequence[Path], found: ReadJudgements, read: ReadOptions) -> Study:
    """A study that names the files and who is who, so that what follows reads it like any other."""
    panel = tuple(
        Rater(name=rater, kind="human" if rater in found.people else "judge")
        for rater in found.raters
    )
    # What words count as is asked once more, by whoever compares parts with wholes.
    kept = _columns_kept(found, read) if len(files) == 1 and not read.human else {}
    sources = tuple(Source(path=path.name, words=read.words, **kept) for path in files)
    study = Study(
        name=name, panel=panel, data=Data(sources=sources, reference=found.people),
    )  # fmt: skip
    folder = str(files[0].parent) if files else study.folder
    return study.model_copy(update={"folder": folder})

"""Labels that need not fit into memory: units that everybody judged alike are counted together.

Counts of parts add up, and the verdict on labels rests on nothing but them where each unit stands
for itself. The numbers are those of the table read whole, to rounding.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import InputError, TableError, listed
from voirdire.examining.source import adjust, open_source
from voirdire.examining.sources import Opened
from voirdire.examining.streaming.source import MOST_IN_MEMORY
from voirdire.files import file_hash
from voirdire.schema import Finding
from voirdire.study import ReadOptions
from voirdire.tables import read_judged
from voirdire.tables._tables import plural
from voirdire.tables.judged.cells import members
from voirdire.tables.judged.words import spellings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from voirdire.examining.streaming.source import Stream
    from voirdire.tables.judged import LabelQuestion, ReadJudgements

#: Rows by which the kind of a stream is told.
_SAMPLE = 4000
#: Rows of one share of the items, which are put side by side in memory.
_AT_ONCE = 10_000_000
#: What makes units hang together: counts of units that are alike do not tell it.
_PARTS = ("system", "cluster", "run")
ITEM, COUNT = "item", "#units"


def opened_labels(
    stream: Stream,
    reference: Sequence[str],
    read: ReadOptions,
    changes: Mapping[str, Mapping[str, Any]],
) -> Opened | None:
    """A stream of labels or label sets as counted judgements; None where it is of scores.

    What counts of units that are alike do not tell is read whole where it fits into memory:
    comparisons, probabilities, several questions, and labels of systems, clusters or runs.

    Raises
    ------
    InputError
        It is such, and too large; the message says why.
    TableError
        A rater labels an item twice.
    QuestionError
        The files may be read in two ways, as a table of them may.
    """
    read, named = _options(stream, reference, read)
    if read.kind == "score":
        return None
    lazy = pl.scan_parquet(list(stream.files), hive_partitioning=False, missing_columns="insert")
    sample = lazy.head(_SAMPLE).collect()
    # Columns of numbers are scores, unless somebody says otherwise; codes are asked about as whole.
    if read.kind is None and pl.String not in sample.dtypes:
        return None
    found = read_judged(sample, reference=named, read=read)
    if found is None:
        return None
    study, said = found
    why = _not_counted(said)
    if why:
        return _whole(lazy, named, read, changes, stream, why)
    (question,) = said.questions
    alike, read = _alike(lazy, sample, said, question, read, stream)
    made = read_judged(alike.drop(COUNT), reference=said.people, read=read)
    if made is None:
        raise TableError(f"{stream.name}: its labels could not be read")
    counts = {str(k): int(n) for k, n in alike.select(ITEM, COUNT).unique(ITEM).iter_rows()}
    findings = [one for one in made[1].findings if one.kind not in ("reading", "account")]
    judged = replace(
        made[1],
        counts=counts,
        findings=(_card(stream, said, question, counts), *findings),
        hashes={path.name: file_hash(path) for path in stream.files},
    )
    of_files = study.model_copy(update={"name": Path(stream.name).stem})
    study = (stream.study or of_files).model_copy(update={"panel": study.panel})
    changed = {**changes, "data": {**changes.get("data", {}), "reference": judged.people}}
    return Opened(adjust(study, changed, read.families), judgements=judged)


def _not_counted(said: ReadJudgements) -> str:
    """What a file holds of which counts of units that are alike do not tell all; else empty."""
    if said.preferences is not None:
        return (
            "comparisons, of which a pair, an order and two lengths make nearly every row another"
        )
    if any(question.probability for question in said.questions):
        return "probabilities, of which hardly two rows are alike"
    if len(said.questions) > 1:
        return "several questions, whose answers are set beside each other row by row"
    held = [part for part in _PARTS if said.labels[part].n_unique() > 1]
    return (
        f"labels by {listed(held)}, and counts do not tell which rows belong together"
        if held
        else ""
    )


def _whole(
    lazy: pl.LazyFrame,
    reference: Sequence[str],
    read: ReadOptions,
    changes: Mapping[str, Mapping[str, Any]],
    stream: Stream,
    why: str,
) -> Opened:
    """The files as one table in memory, with a note that they were.

    Raises
    ------
    InputError
        They have too many rows for it.
    """
    if stream.rows > MOST_IN_MEMORY:
        raise InputError(
            f"{stream.name}: it holds {why}. Such files are read whole, and {stream.rows:,} rows "
            f"are more than the {MOST_IN_MEMORY:,} that are: examine a part of them"
        )
    opened = open_source(lazy.collect(), reference=reference, read=read, changes=changes)
    note = Finding(
        "read_whole",
        "note",
        stream.name,
        stream.rows,
        tuple(map(str, stream.files)),
        f"{plural(len(stream.files), 'file')} with {stream.rows:,} rows were read whole: they hold "
        f"{why}.",
        "Nothing is lost by it but memory.",
    )
    study = stream.study or opened.study.model_copy(update={"name": Path(stream.name).stem})
    study = study.model_copy(update={"panel": opened.study.panel, "data": opened.study.data})
    said, compared = opened.judgements, opened.preferences
    if said is not None:
        said = replace(said, findings=(note, *said.findings))
    elif compared is not None:
        compared = replace(compared, findings=(note, *compared.findings))
    return replace(opened, study=study, judgements=said, preferences=compared)


def _options(
    stream: Stream, reference: Sequence[str], read: ReadOptions
) -> tuple[ReadOptions, tuple[str, ...]]:
    """How the files are read, and who is the reference: as the study says, where there is one."""
    study = stream.study
    if study is None:
        return read, tuple(reference)
    keys = next(iter(stream.keys.values())).keys_set()
    scored = keys.get("kind") is None and bool(study.rubric.model_fields_set)
    people = tuple(one.name for one in study.panel if one.kind == "human")
    named = tuple(reference) or study.data.reference or people
    return ReadOptions(**{**keys, **({"kind": "score"} if scored else {})}), named


def _alike(
    lazy: pl.LazyFrame,
    sample: pl.DataFrame,
    said: ReadJudgements,
    question: LabelQuestion,
    read: ReadOptions,
    stream: Stream,
) -> tuple[pl.DataFrame, ReadOptions]:
    """Units that are alike as one: a row a unit (or unit and rater), and how many it stands for."""
    from voirdire.tables._files._raw import build  # noqa: PLC0415 - as the tables' own rooms do
    from voirdire.tables._names import find  # noqa: PLC0415
    from voirdire.tables.judged.labels import parts_found  # noqa: PLC0415

    names = lazy.collect_schema().names()
    raw = build(stream.name, names, [pl.Series(name, [], pl.String) for name in names], first=1)
    parts = parts_found(names, read, raw.name)
    item, subgroup = parts["item"], parts["subgroup"]
    rater = find("rater", names, read.rater if read.rater in names else None, raw.name)
    held = [subgroup] if subgroup is not None else []
    by_row = rater is not None and bool(set(said.raters) & set(sample[rater].cast(pl.String)))
    if by_row and rater is not None:
        if item is None:
            raise TableError(f"{stream.name}: no column of item ids was found; name it with --item")
        column = _column_of(sample, said, [c for c in names if c not in (item, rater, *held)])
        wide, raters = _side_by_side(lazy, item, rater, column, held, stream)
    else:
        raters = [c for c in names if repr(c) in said.reason]
        wide = _counted(lazy.select(*raters, *held), [*raters, *held])
    wide = wide.with_row_index(ITEM).with_columns(pl.col(ITEM).cast(pl.String))
    people: Counter[str] = Counter()
    own = [c for c in raters if c in said.people or not by_row]
    for name in own:
        for cell, n in wide.group_by(name).agg(pl.col(COUNT).sum()).drop_nulls().iter_rows():
            for word in members(cell) if question.sets else [str(cell).strip()]:
                people[word] += n
    labels = read.labels or tuple(sorted(spellings(people, question, stream.name).values()))
    keys: dict[str, Any] = {"kind": question.kind, "labels": labels, "item": ITEM}
    keys["ignore"] = tuple(name for name in read.ignore if name in wide.columns)
    if not by_row:
        return wide, read.with_(**keys)
    long = wide.unpivot(
        raters, index=[ITEM, COUNT, *held], variable_name=rater, value_name=column
    ).filter(pl.col(column).is_not_null())
    return long, read.with_(**keys, rater=rater, score=column)


def _column_of(sample: pl.DataFrame, said: ReadJudgements, names: Sequence[str]) -> str:
    """The column that holds the labels: the one that is named in why the sample is read so."""
    return next(name for name in names if repr(name) in said.reason and name in sample.columns)


def _side_by_side(
    lazy: pl.LazyFrame, item: str, rater: str, column: str, held: Sequence[str], stream: Stream
) -> tuple[pl.DataFrame, list[str]]:
    """Rows a judgement as rows an item, a column a rater, counted; some of the items at a time."""
    who = pl.col(rater).cast(pl.String)
    raters = lazy.select(who).unique().collect(engine="streaming")[rater].drop_nulls().sort()
    shares = max(1, -(-stream.rows // _AT_ONCE))
    rows = lazy.select(item, who, pl.col(column).cast(pl.String), *held)
    counts = []
    for share in range(shares):
        own = rows.filter(pl.col(item).hash(0) % shares == share) if shares > 1 else rows
        by_item = own.group_by(item).agg(
            *(pl.col(column).filter(who == name).first().alias(name) for name in raters),
            *(pl.col(part).drop_nulls().first() for part in held),
            pl.struct(rater).is_duplicated().any().alias("#twice"),
        )
        twice = by_item.filter("#twice").head(1).collect(engine="streaming")
        if twice.height:
            raise TableError(
                f"{stream.name}: a rater labels item {twice[item][0]!r} more than once, and sums "
                "do not tell runs of labels: leave out --streaming"
            )
        counts.append(_counted(by_item, [*raters, *held]))
    every = [*raters, *held]
    both = pl.concat(counts).group_by(every).agg(pl.col(COUNT).sum()).sort(every)
    return both, raters.to_list()


def _counted(lazy: pl.LazyFrame, names: Sequence[str]) -> pl.DataFrame:
    """The distinct rows, in an order that anybody can repeat, and how often each is there."""
    texts = lazy.select(pl.col(name).cast(pl.String) for name in names)
    found = texts.group_by(names).agg(pl.len().alias(COUNT)).collect(engine="streaming")
    return found.sort(names)


def _card(
    stream: Stream, said: ReadJudgements, question: LabelQuestion, counts: Mapping[str, int]
) -> Finding:
    judges = [name for name in said.raters if name not in said.people]
    units = sum(counts.values())
    return Finding(
        "reading",
        "note",
        stream.name,
        stream.rows,
        (said.reason,),
        f"{stream.rows:,} rows = {units:,} items; judges: {listed(judges)}; humans: "
        f"{listed(list(said.people))}; {question.attribute}: labels "
        f"{listed(list(question.labels))}.",
        f"Items that everybody judged alike are counted together: {len(counts):,} are different.",
    )

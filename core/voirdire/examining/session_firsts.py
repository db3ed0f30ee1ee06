"""First failures that judges of a session named, and people beside them, as labels of turns.

People may name them as well, or have judged turns or steps one by one: then it is the first of
these that is wrong.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import InputError, listed
from voirdire.schema import Finding
from voirdire.store.session import read_session
from voirdire.study import Rater, ReadOptions
from voirdire.tables import read_tables
from voirdire.tables.judged import ReadJudgements, read_judged
from voirdire.units import CALL, RESULT, THOUGHT, parted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from voirdire.study import Source, Study

_LENGTHS = "SELECT item, system, max(turn) FROM messages GROUP BY item, system"
_DONE = "SELECT 1 FROM messages WHERE role IN (?, ?, ?) LIMIT 1"
_COLUMNS = ("item", "system", "rater", "run", "attribute", "score")


def firsts_of_session(
    folder: Path, study: Study, only: Sequence[str] = ()
) -> tuple[Study, ReadJudgements]:
    """What judges and people say of the first turns that fail, with the study of who is who.

    Parameters
    ----------
    folder : Path
        A session whose study has ``unit = "first"``, or some of whose raters have.
    study : Study
        That study, whose sources are the session's ratings and files of people: a row a
        conversation, with the number of a turn, 0 or ``never``; or a row a turn or step, which is
        wrong below the study's gate or, where an attribute has two values, by the lower one.
    only : sequence of str
        The raters that name first failures, where others judge turns; all without.

    Raises
    ------
    InputError
        The session holds no conversation, nobody named a turn, or which steps are wrong is not
        known.
    """
    with closing(read_session(folder)) as connection:
        rows = connection.execute(_LENGTHS).fetchall()
        runs = connection.execute(_DONE, (THOUGHT, CALL, RESULT)).fetchone() is not None
    lengths = pl.DataFrame(
        rows, schema={"item": pl.String, "system": pl.String, "turns": pl.Int64}, orient="row"
    )
    longest = lengths["turns"].max() if rows else None
    if not isinstance(longest, int):
        raise InputError(f"session {folder}: unit is 'first', and it holds no conversation")
    places = _positions(study, longest, only)
    known = _with_lengths(places, lengths)
    _check_overlap(places, known, lengths, folder)
    beyond = known.filter(pl.col("score") > pl.col("turns"))
    written = known.with_columns(
        pl.when(pl.col("score") <= pl.col("turns")).then("score").cast(pl.Int64).cast(pl.String)
    )
    read = ReadOptions(unit="first", turns="turns", kind="label").with_(
        **{name: name for name in _COLUMNS}
    )
    people = study.data.reference or [one.name for one in study.panel if one.kind == "human"]
    if only:
        people = [one.name for one in study.panel if one.kind == "human" and one.name in only]
    found = read_judged(written, reference=tuple(people), read=read)
    if found is None:
        raise InputError(f"session {folder}: nobody named a first turn that fails")
    named, said = found[0].model_copy(update={"name": study.name}), found[1]
    if runs:  # what an agent did is told in steps
        as_steps = pl.col("item").str.replace(r" turn ([1-9][0-9]*)$", " step ${1}")
        said = replace(said, labels=said.labels.with_columns(as_steps))
    if beyond.is_empty():
        return named, said
    return named, replace(said, findings=(*said.findings, _beyond(beyond)))


def firsts_beside(folder: Path, study: Study, named: Sequence[str]) -> ReadJudgements:
    """The first failures of some raters, where others judge turns; errors of `firsts_of_session`.

    Where no person is among them there is nothing to hold a judge's against, which is said.
    """
    people = [one.name for one in study.panel if one.kind == "human" and one.name in named]
    if people:
        return firsts_of_session(folder, study, only=named)[1]
    alone = Finding(
        "nobody_beside_firsts",
        "note",
        "",
        len(named),
        tuple(named),
        "No person names first failures beside these raters.",
        "Nothing is said of theirs: give people who name some unit = 'first' in the panel.",
    )
    return ReadJudgements((), findings=(alone,))


def _check_overlap(
    places: pl.DataFrame, known: pl.DataFrame, lengths: pl.DataFrame, folder: Path
) -> None:
    """Whoever said something must speak of what the session holds: else ids differ."""
    there = set(known["rater"])
    for (name,), own in places.group_by("rater", maintain_order=True):
        if name not in there:
            raise InputError(
                f"session {folder}: rater {name!r} speaks of none of its conversations: ids such "
                f"as {listed(own['item'].unique(maintain_order=True).to_list()[:2])} against "
                f"{listed(lengths['item'].to_list()[:2])}"
            )


def _positions(study: Study, longest: int, only: Sequence[str]) -> pl.DataFrame:
    """Everyone's first failures as numbers, 0 for never."""

    def with_never(source: Source) -> Source:
        return source.model_copy(update={"words": {"never": 0.0, **source.words}})

    low, high = study.rubric.scale
    ends = min(low, 0.0), max(high, longest, 1.0)
    rubric = study.rubric.model_copy(update={"scale": ends, "step": 1.0})
    sources: Sequence[Source] = tuple(map(with_never, study.data.sources))
    # A person may have judged steps, whose ids are none of the judge's: they are compared later.
    data = study.data.model_copy(update={"reference": ()})
    # People who are named as the reference alone are declared by that.
    declared = {one.name for one in study.panel}
    people = (
        Rater(name=name, kind="human") for name in study.data.reference if name not in declared
    )
    changes = {"rubric": rubric, "data": data, "panel": (*study.panel, *people)}
    read = read_tables(study.model_copy(update=changes), sources=sources)
    kinds = (pl.String, pl.String, pl.String, pl.Int64, pl.String, pl.Float64)
    places = read.ratings.select(
        pl.col(name).cast(kind) for name, kind in zip(_COLUMNS, kinds, strict=True)
    )
    if only:
        places = places.filter(pl.col("rater").is_in(list(only)))
    return _with_derived(places, study)


def _with_derived(places: pl.DataFrame, study: Study) -> pl.DataFrame:
    """First failures that were named, and those of conversations whose parts were judged."""
    names = places["item"].unique(maintain_order=True).to_list()
    of = {name: parted(name) for name in names}
    at = pl.DataFrame(
        {
            "item": names,
            "whole": [of[name][0] for name in names],
            "at": [float(of[name][1].position) for name in names],
        },
        schema={"item": pl.String, "whole": pl.String, "at": pl.Float64},
    )
    told = places.join(at, on="item", maintain_order="left")
    parts = told.filter(pl.col("at") > 0, pl.col("score").is_not_null())
    if parts.is_empty():
        return places
    lines = {
        str(attribute): _line(rows["score"], str(attribute), study)
        for (attribute,), rows in parts.group_by("attribute")
    }
    right = pl.col("score") >= pl.col("attribute").replace_strict(lines, return_dtype=pl.Float64)
    keys = ["whole", "system", "rater", "run", "attribute"]
    first = parts.group_by(keys, maintain_order=True).agg(
        score=pl.col("at").filter(~right).min().fill_null(0.0)
    )
    named = told.filter(pl.col("at") == 0).select(places.columns)
    return pl.concat([named, first.rename({"whole": "item"}).select(places.columns)])


def _line(scores: pl.Series, attribute: str, study: Study) -> float:
    """From which score on a part is right."""
    values = scores.unique().sort().to_list()
    if study.gate is not None:
        return float(study.gate.at)
    if len(values) == 2:
        return float(values[1])
    low, high = study.rubric.scale
    # Where all got the same score, a declared scale may say which of two it is.
    if len(values) == 1 and high - low == 1 and values[0] in (low, high):
        return float(high)
    raise InputError(
        f"steps were judged on {attribute}, and from which score one is right is not known: "
        "[gate] at = SCORE says so, and then the first that is wrong is known"
    )


def _with_lengths(places: pl.DataFrame, lengths: pl.DataFrame) -> pl.DataFrame:
    """Everyone's first failures with the turns that there are.

    Who names no system speaks of all conversations about the item; an item's own have none.
    """
    named = places.filter(pl.col("system").is_not_null()).join(
        lengths, on=["item", "system"], maintain_order="left"
    )
    lone = (
        places.filter(pl.col("system").is_null())
        .drop("system")
        .join(lengths, on="item", maintain_order="left")
    )
    both = pl.concat([named, lone.select(named.columns)])
    return both.with_columns(pl.col("system").replace("", None))


def _beyond(rows: pl.DataFrame) -> Finding:
    named = [f"{rater} on {item}" for rater, item in rows.select("rater", "item").rows()]
    return Finding(
        "turn_beyond_end",
        "serious",
        "",
        len(named),
        tuple(named[:20]),
        f"{len(named):,} first failures behind the last turn of their conversation.",
        "They are missing: such a turn is not there.",
    )

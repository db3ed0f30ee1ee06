"""First failures that judges of a session named, and people beside them, as labels of turns."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import InputError
from voirdire.schema import Finding
from voirdire.store.session import read_session
from voirdire.study import ReadOptions
from voirdire.tables import read_tables
from voirdire.tables.judged import read_judged

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from voirdire.study import Source, Study
    from voirdire.tables.judged import ReadJudgements

_LENGTHS = "SELECT item, system, max(turn) FROM messages GROUP BY item, system"
_COLUMNS = ("item", "system", "rater", "run", "attribute", "score")


def firsts_of_session(folder: Path, study: Study) -> tuple[Study, ReadJudgements]:
    """What judges and people say of the first turns that fail, with the study of who is who.

    Parameters
    ----------
    folder : Path
        A session whose study has ``unit = "first"``.
    study : Study
        That study, whose sources are the session's ratings and files of people: a row a
        conversation, with the number of a turn, 0 or ``never``.

    Raises
    ------
    InputError
        The session holds no conversation, or nobody named a turn.
    """
    with closing(read_session(folder)) as connection:
        rows = connection.execute(_LENGTHS).fetchall()
    lengths = pl.DataFrame(
        rows, schema={"item": pl.String, "system": pl.String, "turns": pl.Int64}, orient="row"
    )
    longest = lengths["turns"].max() if rows else None
    if not isinstance(longest, int):
        raise InputError(f"session {folder}: unit is 'first', and it holds no conversation")
    places = _positions(study, longest)
    known = _with_lengths(places, lengths)
    beyond = known.filter(pl.col("score") > pl.col("turns"))
    written = known.with_columns(
        pl.when(pl.col("score") <= pl.col("turns")).then("score").cast(pl.Int64).cast(pl.String)
    )
    read = ReadOptions(unit="first", turns="turns", kind="label").with_(
        **{name: name for name in _COLUMNS}
    )
    people = study.data.reference or [one.name for one in study.panel if one.kind == "human"]
    found = read_judged(written, reference=tuple(people), read=read)
    if found is None:
        raise InputError(f"session {folder}: nobody named a first turn that fails")
    if beyond.is_empty():
        return found
    return found[0], replace(found[1], findings=(*found[1].findings, _beyond(beyond)))


def _positions(study: Study, longest: int) -> pl.DataFrame:
    """Everyone's first failures as numbers, 0 for never."""

    def with_never(source: Source) -> Source:
        return source.model_copy(update={"words": {"never": 0.0, **source.words}})

    rubric = study.rubric.model_copy(update={"scale": (0.0, float(max(longest, 1))), "step": 1.0})
    sources: Sequence[Source] = tuple(map(with_never, study.data.sources))
    read = read_tables(study.model_copy(update={"rubric": rubric}), sources=sources)
    kinds = (pl.String, pl.String, pl.String, pl.Int64, pl.String, pl.Float64)
    return read.ratings.select(
        pl.col(name).cast(kind) for name, kind in zip(_COLUMNS, kinds, strict=True)
    )


def _with_lengths(places: pl.DataFrame, lengths: pl.DataFrame) -> pl.DataFrame:
    """Everyone's first failures with the turns that there are.

    Who names no system speaks of all conversations about the item; an item's own have none.
    """
    named = places.filter(pl.col("system").is_not_null()).join(lengths, on=["item", "system"])
    lone = places.filter(pl.col("system").is_null()).drop("system").join(lengths, on="item")
    both = pl.concat([named, lone.select(named.columns)])
    return both.with_columns(pl.col("system").replace("", None))


def _beyond(rows: pl.DataFrame) -> Finding:
    named = [f"{rater} on {item}" for rater, item in rows.select("rater", "item").rows()]
    return Finding(
        "turn_beyond_end", "serious", "", len(named), tuple(named[:20]),
        f"{len(named):,} first failures behind the last turn of their conversation.",
        "They are missing: such a turn is not there.",
    )  # fmt: skip

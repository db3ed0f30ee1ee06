"""What the study's options did to the ratings that were read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.examining.parts.part import Examined
from voirdire.late import dataclass

if TYPE_CHECKING:
    from voirdire.examining.inputs import Inputs
    from voirdire.tabular import Section


@dataclass(frozen=True, slots=True)
class DataFacts:
    """What became of the ratings before anything was computed from them.

    Attributes
    ----------
    off_scale : tuple of (float, int)
        Values off the scale and how often each stood there, by value.
    kept : bool
        Whether these count as they are; otherwise they are missing.
    runs : tuple of (str, int)
        Raters with several runs, which are averaged before they are paired, and how many.
    """

    off_scale: tuple[tuple[float, int], ...]
    kept: bool
    runs: tuple[tuple[str, int], ...]


class DataPart:
    """Of every examination."""

    def needs(self, inputs: Inputs) -> bool:
        """Whether there is anything: an examination without ratings has had nothing done to it."""
        return inputs.tables is not None

    def examine(self, inputs: Inputs, before: tuple[Any, ...]) -> Examined[DataFacts]:
        """Count values off the scale, and runs."""
        del before
        used = inputs.ratings
        read = used if inputs.tables is None else inputs.tables.ratings
        off = read.filter(pl.col("score").is_not_null(), pl.col("status") == "out_of_scale")
        counts = off.group_by("score").len().sort("score").iter_rows()
        runs = used.group_by("rater").agg(pl.col("run").n_unique()).filter(pl.col("run") > 1)
        kept = used["score"].null_count() == read["score"].null_count()
        return Examined(DataFacts(tuple(counts), kept, tuple(runs.sort("rater").iter_rows())))

    def sections(self, facts: DataFacts) -> tuple[Section, ...]:
        """None: a sentence each is enough, and the report words it."""
        del facts
        return ()


DATA_PART = DataPart()

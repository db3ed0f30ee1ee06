"""Comparisons as scores: 1 where the first system is preferred, 0 where the other is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from voirdire import tables
from voirdire.errors import InputError
from voirdire.examining.preferences import combine_comparisons
from voirdire.examining.preferences.table import COMPARISON
from voirdire.examining.source import adjust, audit_of, inputs_of
from voirdire.study import ReadOptions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from voirdire.examining.inputs import Inputs
    from voirdire.examining.sources import Opened

#: A comparison is worth 1, half or nothing to a system.
_SCALE = {"scale": (0, 1), "step": 0.5}


def inputs_of_wins(opened: Opened, reference: Sequence[str]) -> Iterator[Inputs]:
    """Comparisons as ratings from 0 to 1: by pair, then by system where there are several pairs.

    The score of a comparison is the share preferring: 1, 0, or half for a tie. Where both orders
    were asked and disagree on the winner, it is missing. By pair, the system is called "A over B";
    by system, each comparison counts for both, and the comparisons of an item belong together.

    Raises
    ------
    InputError
        No reference, or one that compares nothing.
    """
    if opened.preferences is None:
        return
    table = opened.preferences.table
    # Whoever the user names, else the study's reference, else all that are declared to be human.
    declared = (r.name for r in opened.study.panel if r.kind == "human")
    people = tuple(reference) or opened.study.data.reference or tuple(declared)
    raters = table["rater"].unique(maintain_order=True).to_list()
    unknown = [name for name in people if name not in raters]
    if unknown or not people:
        reason = f"{unknown[0]!r} has no comparison" if unknown else "say who is human: --reference"
        raise InputError(f"{reason} (raters: {', '.join(raters)})")
    findings = audit_of(replace(opened, tables=None))
    wins = _wins(table)
    by_pair = wins.with_columns(
        pl.concat_str("system_a", "system_b", separator=" over ").alias("system")
    )
    # With one pair both ways would say the same twice.
    frames = [by_pair, _by_system(wins)] if by_pair["system"].n_unique() > 1 else [by_pair]
    for frame in frames:
        named = frame.drop("system_a", "system_b")
        study, read = tables.from_frame(
            named, reference=people, name="comparisons", read=ReadOptions(layout="long")
        )
        study = adjust(study, {"rubric": _SCALE})
        panel = adjust(opened.study, {"data": {"reference": people}}).panel
        study = study.model_copy(update={"panel": panel or study.panel, "run": opened.study.run})
        yield replace(inputs_of(replace(opened, study=study, tables=read)), findings=findings)


def _wins(table: pl.DataFrame) -> pl.DataFrame:
    """One row a comparison, with what the file says of how it was chosen."""
    facts = [name for name in tables.FACTS if name in table.columns]
    by_comparison = table.group_by(COMPARISON, maintain_order=True).agg(
        pl.col(name).drop_nulls().first() for name in facts
    )
    # By how much a response is preferred does not count in a win rate: -1, 0, 1 become 0, half, 1.
    won = (pl.col("score").sign() + 1) / 2
    scored = combine_comparisons(table).with_columns(won.alias("score"))
    return scored.select(*COMPARISON, "score").join(
        by_comparison, on=COMPARISON, how="left", maintain_order="left"
    )


def _by_system(wins: pl.DataFrame) -> pl.DataFrame:
    """Each comparison twice: what it is worth to either system; an item's belong together."""
    # A comparison is an item of its own here; the sign of a unit separator is in no name.
    own = pl.concat_str("item", "system_a", "system_b", separator="\u241f")
    cluster = pl.coalesce("cluster", "item") if "cluster" in wins.columns else pl.col("item")
    lone = wins.with_columns(cluster.alias("cluster"), own.alias("item"))
    return pl.concat(
        [
            lone.with_columns(pl.col("system_a").alias("system")),
            lone.with_columns(
                pl.col("system_b").alias("system"), (1 - pl.col("score")).alias("score")
            ),
        ]
    )

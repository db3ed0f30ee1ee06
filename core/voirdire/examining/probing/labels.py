"""Probes of annotators: which labels are named of items, and of the same items changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire.examining.probing.names import IDENTITY, SEPARATOR, arms_of, changed_name
from voirdire.examining.probing.paired import BesideScores, PairedRuns
from voirdire.examining.probing.stored import by_run
from voirdire.probes import RequestProbe, ResponseProbe

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from voirdire.examining.probing.suite import Suite
    from voirdire.probes import Probe

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ChangedAnswers:
    """One probe and annotator: (N,) in which share of runs the whole answer is another.

    `again` is that of the same text asked about once more, `changed` that of the changed one; NaN
    where a run is missing.
    """

    probe: Probe
    judge: str
    again: Floats
    changed: Floats
    groups: NDArray[np.str_]


def asked_labels(suite: Suite, folder: str | Path) -> Iterator[BesideScores | ChangedAnswers]:
    """Of each annotator and probe: the whole answer, then every label that was ever named."""
    table = pl.read_parquet(f"{folder}/ratings.parquet").with_columns(
        pl.col("item", "rater", "attribute").cast(pl.String)
    )
    parts = table["item"].str.splitn(SEPARATOR, 2)
    table = table.with_columns(
        parts.struct.field("field_0").alias("base"),
        parts.struct.field("field_1").fill_null("").alias("arm"),
    )
    for judge in suite.labellers:
        own = table.filter(pl.col("rater") == judge)
        plain, again = own.filter(pl.col("arm") == ""), own.filter(pl.col("arm") == IDENTITY)
        named = own.filter(pl.col("score") > 0)["attribute"].unique(maintain_order=True).to_list()
        for probe in suite.probes:
            changed = _of(table, own, judge, probe)
            if changed is None or changed.is_empty():
                continue
            yield _whole(probe, judge, plain, again, changed)
            for label in named:
                pair, same = (_pair(plain, other, label) for other in (changed, again))
                if len(pair.key):
                    yield BesideScores(probe, judge, label, (pair,), same, 1.0)


def _of(table: pl.DataFrame, own: pl.DataFrame, judge: str, probe: Probe) -> pl.DataFrame | None:
    """What was named of changed items, or by the annotator whose request was changed."""
    if isinstance(probe, RequestProbe):
        rater = changed_name(judge, probe.name)
        return table.filter(pl.col("rater") == rater, pl.col("arm") == "")
    if isinstance(probe, ResponseProbe):
        (arm,) = arms_of(probe)[-1:]
        return own.filter(pl.col("arm") == arm)
    return None


def _pair(plain: pl.DataFrame, other: pl.DataFrame, label: str) -> PairedRuns:
    key, before = by_run(plain.filter(pl.col("attribute") == label), ["base"])
    of_other, after = by_run(other.filter(pl.col("attribute") == label), ["base"])
    at = key.with_row_index("at").join(of_other.with_row_index("other"), on="base")
    mine, theirs = at["at"].to_numpy().astype(np.intp), at["other"].to_numpy()
    return PairedRuns(
        before[:, mine], after[:, theirs], mine, at["base"].to_numpy().astype(np.str_)
    )


def _whole(
    probe: Probe, judge: str, plain: pl.DataFrame, again: pl.DataFrame, changed: pl.DataFrame
) -> ChangedAnswers:
    """Each run beside the same run of the other text, whatever labels differ."""
    named = _differs(plain, changed).rename({"differs": "changed"})
    both = named.join(
        _differs(plain, again).rename({"differs": "again"}),
        on="base",
        how="left",
        maintain_order="left",
    )
    again_, changed_ = (
        both[name].cast(pl.Float64).fill_null(np.nan).to_numpy() for name in ("again", "changed")
    )
    return ChangedAnswers(probe, judge, again_, changed_, both["base"].to_numpy().astype(np.str_))


def _differs(plain: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
    """Item -> the share of runs in which some label differs; runs with a missing label go."""
    key = ["base", "run", "attribute"]
    both = plain.select(*key, "score").join(
        other.select(*key, pl.col("score").alias("other")), on=key, maintain_order="left"
    )
    runs = both.group_by("base", "run", maintain_order=True).agg(
        (pl.col("score") != pl.col("other")).any().alias("differs"),
        (pl.col("score").is_null() | pl.col("other").is_null()).any().alias("missing"),
    )
    return (
        runs.filter(~pl.col("missing"))
        .group_by("base", maintain_order=True)
        .agg(pl.col("differs").mean())
    )

"""Probes that ask nothing: position and self-preference, from ratings and comparisons there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire.examining.panel import scale_of
from voirdire.examining.preferences.results import Preferences
from voirdire.examining.preferences.table import MOST
from voirdire.probes import StoredPairs, StoredProbe
from voirdire.schema import Finding
from voirdire.study import own_systems

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from voirdire.examining.examination import Examination

    Floats = NDArray[np.float64]

_PAIR = ("item", "system_a", "system_b")
_NEEDS = {
    "position": "comparisons of which a judge saw both orders",
    "self_preference": "a judge and a system with the same `family`, a system of another family, "
    "and scores of humans",
}


@dataclass(frozen=True, slots=True)
class StoredRatings:
    """What probes of stored data found, and which of them found nothing."""

    probes: tuple[StoredProbe, ...]
    pairs: tuple[tuple[StoredProbe, StoredPairs], ...]
    findings: tuple[Finding, ...]


def stored_pairs(examination: Examination, probes: Sequence[StoredProbe]) -> StoredRatings:
    """What the probes find in an examination; a note names those that find nothing."""
    every = [(probe, pairs) for probe in probes for pairs in probe.pairs(examination)]
    used = {probe.name for probe, _ in every}
    lacking = [probe.name for probe in probes if probe.name not in used]
    findings = tuple(
        Finding(
            "probe_no_data",
            "note",
            "",
            1,
            (name,),
            f"The data say nothing of {name}: it needs {_NEEDS.get(name, 'other data')}.",
            "It is left out.",
        )
        for name in lacking
    )
    kept = tuple(probe for probe in probes if probe.name in used)
    return StoredRatings(kept, tuple(every), findings)


def as_shown(table: pl.DataFrame) -> pl.DataFrame:
    """Preferences with ``score`` above 0 for what was shown first; rows that do not say it go."""
    shown = table.filter(pl.col("shown_first").is_not_null())
    ahead = pl.col("shown_first") == pl.col("system_a")
    return shown.with_columns(
        pl.col("rater", "attribute", *_PAIR, "shown_first").cast(pl.String),
        score=pl.when(ahead).then("score").otherwise(-pl.col("score")),
    )


def by_run(table: pl.DataFrame, key: Iterable[str]) -> tuple[pl.DataFrame, Floats]:
    """(N rows of the key, (K runs, N) scores), NaN where one is missing."""
    names = list(key)
    if table.is_empty():
        return table.select(names), np.empty((1, 0))
    wide = table.pivot(on="run", index=names, values="score", maintain_order=True)
    scores = wide.drop(names).cast(pl.Float64).fill_null(np.nan).to_numpy().T
    return wide.select(names), np.ascontiguousarray(scores)


def position_pairs(examination: Examination) -> Iterator[StoredPairs]:
    """Comparisons of which a judge saw both orders."""
    preferences = examination.facts(Preferences)
    if preferences is None:
        return
    humans = _humans(examination)
    shown = as_shown(preferences.table)
    for (rater, attribute), own in shown.group_by("rater", "attribute", maintain_order=True):
        if rater in humans:
            continue
        # Each pair is held in one direction, so that the two orders differ in this alone.
        first = pl.col("shown_first") == pl.col("system_a")
        key, before = by_run(own.filter(first), _PAIR)
        other, after = by_run(own.filter(~first), _PAIR)
        at = key.with_row_index("at").join(other.with_row_index("other"), on=list(_PAIR))
        if at.height:
            # Runs are paired in order; one that was asked in one order alone has no partner.
            runs = min(len(before), len(after))
            yield StoredPairs(
                str(rater),
                str(attribute),
                before[:runs, at["at"].to_numpy()],
                after[:runs, at["other"].to_numpy()],
                at["item"].to_numpy().astype(np.str_),
                2.0 * MOST,
            )


def self_preference_pairs(examination: Examination) -> Iterator[StoredPairs]:
    """What judges make of systems of their own family beside what humans make of them.

    In ratings: judge less humans on the own systems, beside judge less humans on the others, by
    item. In comparisons of an own with another system: the judge's preference for its own, beside
    the humans'.
    """
    for rater in examination.study.panel:
        own = own_systems(rater, examination.study)
        if own and rater.name not in _humans(examination):
            yield from _rated(examination, rater.name, own)
            yield from _compared(examination, rater.name, own)


def _humans(examination: Examination) -> set[str]:
    declared = {rater.name for rater in examination.study.panel if rater.kind == "human"}
    return declared | set(examination.inputs.reference)


def _rated(examination: Examination, judge: str, own: Sequence[str]) -> Iterator[StoredPairs]:
    frame = examination.ratings.with_columns(
        pl.col("item", "system", "rater", "attribute").cast(pl.String)
    )
    if "cluster" not in frame.columns:
        frame = frame.with_columns(cluster=pl.lit(None, pl.String))
    key = ["item", "system", "attribute"]
    humans = frame.filter(pl.col("rater").is_in(sorted(_humans(examination)))).group_by(key)
    unit = pl.coalesce(pl.col("cluster").cast(pl.String), "item").first().alias("unit")
    judged = frame.filter(pl.col("rater") == judge).group_by(key, maintain_order=True)
    both = judged.agg(pl.col("score").mean(), unit).join(
        humans.agg(pl.col("score").mean().alias("human")), on=key
    )
    off, mine = pl.col("score") - pl.col("human"), pl.col("system").is_in(own)
    items = (
        both.group_by("attribute", "item", maintain_order=True)
        .agg(
            # By item: a judge that is lenient on an item is so to both, which then cancels out.
            off.filter(~mine).mean().alias("others"),
            off.filter(mine).mean().alias("own"),
            pl.col("unit").first(),
        )
        .drop_nulls()
    )
    width = scale_of(examination.study).width
    yield from _pairs_of(items, judge, ("others", "own", "unit"), width)


def _compared(examination: Examination, judge: str, own: Sequence[str]) -> Iterator[StoredPairs]:
    preferences = examination.facts(Preferences)
    if preferences is None:
        return
    a, b = pl.col("system_a").is_in(own), pl.col("system_b").is_in(own)
    mixed = preferences.table.filter(a != b).with_columns(
        score=pl.when(a).then("score").otherwise(-pl.col("score"))
    )
    key = [*_PAIR, "attribute"]
    humans = mixed.filter(pl.col("rater").is_in(sorted(_humans(examination)))).group_by(key)
    judged = mixed.filter(pl.col("rater") == judge).group_by(key, maintain_order=True)
    both = judged.agg(pl.col("score").mean()).join(
        humans.agg(pl.col("score").mean().alias("human")), on=key
    )
    yield from _pairs_of(both.drop_nulls(), judge, ("human", "score", "item"), 2.0 * MOST)


def _pairs_of(
    rows: pl.DataFrame, judge: str, columns: tuple[str, str, str], width: float
) -> Iterator[StoredPairs]:
    """Each attribute of rows with a column before, one after and one of units."""
    before, after, unit = columns
    for (attribute,), part in rows.group_by("attribute", maintain_order=True):
        yield StoredPairs(
            judge,
            str(attribute),
            part[before].to_numpy()[None],
            part[after].to_numpy()[None],
            part[unit].to_numpy().astype(np.str_),
            width,
        )


POSITION = StoredProbe(
    "position",
    position_pairs,
    expects="flip",
    says="Comparisons asked in both orders: the preference should change its sign.",
)
SELF_PREFERENCE = StoredProbe(
    "self_preference",
    self_preference_pairs,
    says="Systems of the judge's own family, beside what humans make of them.",
)

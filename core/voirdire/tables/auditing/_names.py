"""Names and scales that are probably one or two, and items that only one side has rated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import listed
from voirdire.tables._ids import match_ids
from voirdire.tables._tables import finding, plural
from voirdire.tables.auditing._cells import n_ratings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Finding, Severity
    from voirdire.study import Study
    from voirdire.tables._ids import IdMatch
    from voirdire.tables._tables import Tables


_ENOUGH = 10
#: The highest score of one rater is at most this share of another's.
_SHARE = 0.5
_NOTE, _BLOCKING = 0.95, 0.50


def alike_findings(tables: Tables, study: Study) -> list[Finding]:
    """``names_alike`` and ``scales_differ``."""
    names = {
        "rater": tables.raters["rater"].to_list(),
        "system": tables.rated["system"].drop_nulls().unique(maintain_order=True).to_list(),
        "attribute": tables.ratings["attribute"].unique(maintain_order=True).to_list(),
    }
    alike = [note for part, found in names.items() for note in _alike(part, found)]
    return [*alike, *_scales(tables, study)]


def _alike(part: str, names: Sequence[str]) -> list[Finding]:
    spelt: dict[str, list[str]] = {}
    for name in names:
        spelt.setdefault("".join(filter(str.isalnum, name.casefold())) or name, []).append(name)
    return [
        finding(
            "names_alike",
            "serious",
            "",
            found,
            f"Names of {part}s that differ only by case, blanks or marks: {listed(found)}.",
            f"They are read as different {part}s; if they are one, spell them alike.",
        )
        for found in spelt.values()
        if len(found) > 1
    ]


def _scales(tables: Tables, study: Study) -> list[Finding]:
    """Raters whose highest score is at most half of the reference's, or the other way round."""
    ok = pl.col("status").is_in(["ok", "repaired"])
    score = pl.col("score")
    ranges = (
        tables.ratings.lazy()
        .filter(ok)
        .group_by("rater", maintain_order=True)
        .agg(low=score.min(), high=score.max(), n=n_ratings(tables.ratings))
        .filter(pl.col("n") >= _ENOUGH, pl.col("low") >= 0, pl.col("low") < pl.col("high"))
        .collect()
    )
    known = {row["rater"]: (row["low"], row["high"]) for row in ranges.iter_rows(named=True)}
    first = next((name for name in (*study.data.reference, *known) if name in known), None)
    if first is None:
        return []
    top = known[first][1]
    return [
        finding(
            "scales_differ",
            "serious",
            name,
            [f"{name}: {low:g} to {high:g}", f"{first}: {known[first][0]:g} to {top:g}"],
            f"The scores run from {low:g} to {high:g}, those of {first} from "
            f"{known[first][0]:g} to {top:g}.",
            "If these are two scales, bias and agreement say nothing: bring them to one.",
            count=1,
        )
        for name, (low, high) in known.items()
        if min(high, top) <= _SHARE * max(high, top)
    ]


def id_findings(tables: Tables, study: Study) -> list[Finding]:
    """``ids_unmatched``, one finding a rater whose items are not those of the reference.

    Without a reference the first rater takes its place. A rater with under half of the ids
    matched blocks: ids are then probably written in two ways.
    """
    pairs = tables.rated
    names = tables.raters["rater"].to_list()
    reference = [name for name in names if name in study.data.reference] or names[:1]
    base = pairs.filter(pl.col("rater").is_in(reference))["item"]
    findings = []
    for name in names:
        if name in reference:
            continue
        match = match_ids(base, pairs.filter(pl.col("rater") == name)["item"])
        if match.left_only or match.right_only:
            findings.append(_finding(name, " and ".join(reference), match))
    return findings


@dataclass(frozen=True, slots=True)
class Matched:
    """Items that a rater and the reference rated, and that one of them rated alone.

    Attributes
    ----------
    both, left, right : int
        Rated by both, by the reference alone, and by the rater alone.
    left_items, right_items : sequence of str
        Some of those.
    """

    both: int
    left: int
    right: int
    left_items: Sequence[str] = ()
    right_items: Sequence[str] = ()


def _finding(name: str, reference: str, match: IdMatch) -> Finding:
    why = "".join(f" {text[0].upper()}{text[1:]}." for text in match.warnings)
    left, right = match.left_only, match.right_only
    return unmatched(
        name, reference, Matched(match.matched, len(left), len(right), left, right), why
    )


def unmatched(name: str, reference: str, items: Matched, why: str = "") -> Finding:
    """``ids_unmatched`` of a rater; ten items of either side are named."""
    share = items.both / (items.both + min(items.left, items.right))
    low: Severity = "serious" if share >= _BLOCKING else "blocking"
    return finding(
        "ids_unmatched",
        "note" if share >= _NOTE else low,
        name,
        [
            *(f"only {reference}: {item}" for item in items.left_items[:10]),
            *(f"only {name}: {item}" for item in items.right_items[:10]),
        ],
        f"{plural(items.both, 'item')} rated by both {reference} and {name}; {items.left:,} only "
        f"by {reference}, {items.right:,} only by {name}.{why}",
        "Only items rated by both are compared.",
        count=items.left + items.right,
    )

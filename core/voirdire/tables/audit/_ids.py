"""Items that only the reference, or only a judge, has rated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from voirdire.tables._ids import match_ids
from voirdire.tables._tables import finding, plural

if TYPE_CHECKING:
    from voirdire.schema import Finding, Severity
    from voirdire.study import Study
    from voirdire.tables._ids import IdMatch
    from voirdire.tables._tables import Tables

_NOTE, _BLOCKING = 0.95, 0.50


def id_findings(tables: Tables, study: Study) -> list[Finding]:
    """``ids_unmatched``, one finding a rater whose items are not those of the reference.

    Without a reference the first rater takes its place. A rater with under half of the ids
    matched blocks: ids are then probably written in two ways.
    """
    pairs = tables.rated
    names = tables.raters["rater"].to_list()
    reference = [name for name in names if name in study.data.reference] or names[:1]
    base = pairs.filter(pl.col("rater").is_in(reference))["item"]
    found = []
    for name in names:
        if name in reference:
            continue
        match = match_ids(base, pairs.filter(pl.col("rater") == name)["item"])
        if match.left_only or match.right_only:
            found.append(_finding(name, " and ".join(reference), match))
    return found


def _finding(name: str, reference: str, match: IdMatch) -> Finding:
    smaller = match.matched + min(len(match.left_only), len(match.right_only))
    share = match.matched / smaller
    low: Severity = "serious" if share >= _BLOCKING else "blocking"
    why = "".join(f" {text[0].upper()}{text[1:]}." for text in match.warnings)
    places = [
        *(f"only {reference}: {item}" for item in match.left_only[:10]),
        *(f"only {name}: {item}" for item in match.right_only[:10]),
    ]
    return finding(
        "ids_unmatched",
        "note" if share >= _NOTE else low,
        name,
        places,
        f"{plural(match.matched, 'item')} rated by both {reference} and {name}; "
        f"{len(match.left_only):,} only by {reference}, {len(match.right_only):,} only by "
        f"{name}.{why}",
        "Only items rated by both are compared.",
        count=len(match.left_only) + len(match.right_only),
    )

"""Systems, attributes, raters and responses that a table lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import listed
from voirdire.late import dataclass
from voirdire.tables._join import people_of, unlabelled
from voirdire.tables._tables import finding, plural
from voirdire.tables.auditing._cells import n_ratings, place, ratings
from voirdire.tables.auditing._families import family_findings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Finding
    from voirdire.study import Study
    from voirdire.tables._tables import Tables


def coverage_findings(tables: Tables, study: Study) -> list[Finding]:
    """What a rater lacks that others have, and what the study declares and no file has."""
    systems = tables.rated.select("rater", "system").unique(maintain_order=True).drop_nulls()
    attributes = (
        tables.ratings.lazy()
        .filter(pl.col("score").is_not_null())
        .select("rater", pl.col("attribute").cast(pl.String))
        .unique(maintain_order=True)
        .collect()
    )
    raters = tables.raters["rater"].to_list()
    # A rater without any score is said to be silent, and not to lack each attribute as well.
    speaking = [name for name in raters if name in set(attributes["rater"])]
    declared = [system.name for system in study.systems]
    held = systems["system"].unique(maintain_order=True).to_list()
    wanted = [attribute.name for attribute in study.rubric.attributes]
    return [
        *_raters(study, [*raters, *_labelling(tables)]),
        *_excluded(study, raters, systems),
        *family_findings(tables, study, held),
        *_undeclared(systems, declared),
        *_lacking("system", systems, raters, declared),
        *_lacking("attribute", attributes, _by_rubric(study, speaking), wanted),
        *_silent(tables, speaking),
    ]


def response_findings(tables: Tables, study: Study, shared: int) -> list[Finding]:
    """Responses without a system, those that a rater left out, and how people divided the work."""
    return [*_blank_systems(tables), *_unrated(tables, study), *_labour(study, shared)]


@dataclass(frozen=True, slots=True)
class RatedBy:
    """Responses of one system that just these raters have rated, counted.

    Attributes
    ----------
    system : str
        Empty for none.
    raters, beside : frozenset of str
        Who rated the response, and who rated some response to its item.
    n : int
        How many such responses there are.
    items : tuple of str
        Items of some of them.
    """

    system: str
    raters: frozenset[str]
    beside: frozenset[str]
    n: int
    items: tuple[str, ...]


def counted_responses(
    answered: Sequence[RatedBy], tables: Tables, study: Study, shared: int
) -> list[Finding]:
    """The same of counted responses, and ``unlabelled``; of places the first ones alone."""
    people = frozenset(people_of(study))
    bare = [one for one in answered if people.isdisjoint(one.raters)]
    n = sum(one.n for one in bare)
    labelled = 0 < n < sum(one.n for one in answered)
    return [
        *([unlabelled(_first(bare), n)] if labelled else []),
        *_nameless(answered),
        *_left_out(answered, tables.raters["rater"].to_list(), people),
        *_labour(study, shared),
    ]


def counted_division(answered: Sequence[RatedBy], study: Study) -> int:
    """`divided` of counted responses."""
    people = frozenset(study.data.reference)
    rated = [one for one in answered if not people.isdisjoint(one.raters)]
    sizes = {len(people & one.raters) for one in rated}
    everyone = frozenset[str]().union(*(people & one.raters for one in rated))
    return sum(one.n for one in rated) if len(sizes) == 1 and max(sizes) < len(everyone) else 0


def _first(answered: Sequence[RatedBy]) -> list[str]:
    cells = sorted((item, one.system) for one in answered for item in one.items)
    return [place(*cell) for cell in cells]


def _nameless(answered: Sequence[RatedBy]) -> list[Finding]:
    bare = [one for one in answered if not one.system]
    if len(bare) in (0, len(answered)):
        return []
    ratings = sum(one.n * len(one.raters) for one in bare)
    items = sorted({item for one in bare for item in one.items})
    return [_blank_finding([place(item) for item in items], ratings)]


def _left_out(
    answered: Sequence[RatedBy], raters: Sequence[str], people: frozenset[str]
) -> list[Finding]:
    """`_unrated` of counted responses."""
    findings = []
    for rater in raters:
        systems = {one.system for one in answered if rater in one.raters}
        mine = [
            one
            for one in answered
            if rater in one.beside
            and one.system in systems
            and not (rater in people and people.isdisjoint(one.raters))
        ]
        absent = [one for one in mine if rater not in one.raters]
        if absent:
            counts = sum(one.n for one in absent), sum(one.n for one in mine)
            findings.append(_unrated_finding(rater, _first(absent), *counts))
    return findings


def _labelling(tables: Tables) -> list[str]:
    """Raters of labels beside the rubric."""
    return [] if tables.labels is None else tables.labels.raters["rater"].to_list()


def _by_rubric(study: Study, raters: Sequence[str]) -> list[str]:
    """Raters that are to rate all of the rubric: an annotator declares labels of its own."""
    own = {r.name for r in study.panel if r.kind == "annotator" and r.use}
    return [name for name in raters if name not in own]


def _raters(study: Study, raters: Sequence[str]) -> list[Finding]:
    absent = [rater.name for rater in study.panel if rater.name not in raters]
    if not absent:
        return []
    of = " of what the rubric declares" if study.rubric.attributes else ""
    return [
        finding(
            "rater_missing",
            "serious",
            "",
            absent,
            f"{plural(len(absent), 'rater')} of the panel without a rating{of}: {listed(absent)}.",
            "Nothing is said about them.",
        )
    ]


def _silent(tables: Tables, speaking: Sequence[str]) -> list[Finding]:
    """Raters that were to rate and have no score at all, and what became of their ratings."""
    mute = tables.ratings.filter(~pl.col("rater").cast(pl.String).is_in(speaking))
    findings = []
    for (rater,), block in mute.group_by("rater", maintain_order=True):
        fates = block.group_by("status").agg(len=n_ratings(block))
        fates = fates.sort("len", "status", descending=[True, False])
        counted = ", ".join(f"{count:,} {status}" for status, count in fates.iter_rows())
        findings.append(
            finding(
                "rater_silent",
                "serious",
                str(rater),
                [],
                f"Not one of its {plural(ratings(block), 'rating')} has a score: {counted}.",
                "Nothing is said about it.",
                count=ratings(block),
            )
        )
    return findings


def _excluded(study: Study, raters: Sequence[str], systems: pl.DataFrame) -> list[Finding]:
    """Systems that a rater excludes and that no file holds: a slip would undo self-exclusion."""
    held = set(systems["system"])
    findings = []
    for rater in study.panel:
        absent = [name for name in rater.excludes or () if name not in held]
        if rater.name in raters and absent:
            findings.append(
                finding(
                    "excludes_unknown",
                    "serious",
                    rater.name,
                    absent,
                    f"It excludes {plural(len(absent), 'system')} that no file holds: "
                    f"{listed(absent)}.",
                    "Nothing is left out for that: compare the names with those in the files.",
                )
            )
    return findings


def _blank_systems(tables: Tables) -> list[Finding]:
    """Ratings without a system in a table that has systems."""
    blank = tables.rated.filter(pl.col("system").is_null())
    if blank.height in (0, tables.rated.height):
        return []
    items = blank["item"].unique(maintain_order=True)
    return [_blank_finding([place(item) for item in items], blank.height)]


def _blank_finding(places: Sequence[str], count: int) -> Finding:
    return finding(
        "system_blank",
        "serious",
        "",
        places,
        f"{plural(count, 'response')} without a system, where others have one.",
        "They are compared among themselves, as those of one nameless system.",
        count=count,
    )


def _undeclared(systems: pl.DataFrame, declared: Sequence[str]) -> list[Finding]:
    present = systems["system"].unique(maintain_order=True).to_list()
    extra = [name for name in present if name not in declared]
    if not declared or not extra:
        return []
    return [
        finding(
            "system_undeclared",
            "serious",
            "",
            extra,
            f"{plural(len(extra), 'system')} in the files that the study does not declare: "
            f"{listed(extra)}.",
            "They are examined like the others; no family is known for them.",
        )
    ]


def _lacking(
    what: str, pairs: pl.DataFrame, raters: Sequence[str], declared: Sequence[str]
) -> list[Finding]:
    """A finding a rater that lacks some of what is declared or what others have."""
    everyone = pairs[what].unique(maintain_order=True).to_list()
    whole = list(dict.fromkeys((*declared, *everyone)))
    nowhere = [name for name in whole if name not in everyone]
    findings = [_lack(what, "", nowhere, "no file has a rating of")] if nowhere else []
    for rater in raters:
        present = set(pairs.filter(pl.col("rater") == rater)[what])
        absent = [name for name in everyone if name not in present]
        if absent:
            findings.append(_lack(what, rater, absent, "no rating of"))
    return findings


def _lack(what: str, table: str, names: list[str], words: str) -> Finding:
    return finding(
        f"{what}_missing",
        "serious",
        table,
        names,
        f"{words[0].upper()}{words[1:]} {plural(len(names), what)}: {listed(names)}.",
        "Comparisons rest on what both sides rated.",
    )


def _unrated(tables: Tables, study: Study) -> list[Finding]:
    """Responses of a rater's own items and systems that others rated and this rater did not.

    People are held against people: what none of them rated is unlabelled.
    """
    seen = tables.rated
    people = {rater.name for rater in study.panel if rater.kind == "human"}
    people |= set(study.data.reference)
    everything = seen.select("item", "system").unique()
    by_people = seen.filter(pl.col("rater").is_in(people)).select("item", "system").unique()
    counts = dict(seen.group_by("rater").len().iter_rows())
    findings = []
    for rater in tables.raters["rater"]:
        whole = by_people if rater in people else everything
        # Whoever rated all has left nothing out: the joins below are for the others.
        if counts[rater] == whole.height:
            continue
        by_rater = seen.filter(pl.col("rater") == rater)
        mine = whole.join(by_rater.select("item").unique(), on="item", how="semi").join(
            by_rater.select("system").unique(), on="system", how="semi", nulls_equal=True
        )
        absent = mine.join(by_rater, on=["item", "system"], how="anti", nulls_equal=True)
        if absent.height:
            first = absent.sort("item", "system").head(5_000)
            names = [place(*cell) for cell in first.iter_rows()]
            findings.append(_unrated_finding(rater, names, absent.height, mine.height))
    return findings


def _labour(study: Study, shared: int) -> list[Finding]:
    """A note that people divided the work, which is a design and no fault."""
    if not shared:
        return []
    return [
        finding(
            "labour_divided",
            "note",
            "",
            list(study.data.reference),
            f"Each of {plural(shared, 'response')} was rated by some of "
            f"{len(study.data.reference)} people: they divided the work.",
            "Judges are held against whoever rated a response; how far people agree is known only "
            "where two of them rated the same.",
            count=shared,
        )
    ]


def _unrated_finding(rater: str, places: Sequence[str], absent: int, whole: int) -> Finding:
    return finding(
        "responses_unrated",
        "serious" if absent > 0.05 * whole else "note",
        rater,
        places,
        f"{absent:,} of {plural(whole, 'response')} to the items it rated have no row.",
        "They count as missing pairs.",
        count=absent,
    )

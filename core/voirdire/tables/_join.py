"""Parts of several files as one set of tables, checked against the study."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import TableError, listed, not_rated
from voirdire.schema import Scale
from voirdire.study import family_of
from voirdire.tables._ids import match_ids
from voirdire.tables._names import is_human
from voirdire.tables._rated import has_duplicates, who_rated_what
from voirdire.tables._tables import (
    CONTEXTS,
    RATERS,
    REPLIES,
    Tables,
    finding,
    plural,
    status_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.schema import Finding
    from voirdire.study import Rater, Study
    from voirdire.tables._tables import SourceTables


#: A label is named or not, whatever the scale of the rubric beside it.
LABEL_SCALE = Scale(0, 1)


def join(
    study: Study,
    parts: Sequence[SourceTables],
    hashes: Mapping[str, str],
    raters: pl.DataFrame | None = None,
    labels: Sequence[str] = (),
) -> Tables:
    """One `Tables`; ids are joined as text and the order of rows is ignored.

    Attributes that are `labels` beside the rubric stand apart, in tables of their own.

    Raises
    ------
    TableError
        Conflicting duplicates, undeclared raters, a reference without ratings, no ratings at all,
        or a rater that shares no item with the reference.
    """
    problems = [problem for part in parts for problem in part.problems]
    if problems:
        raise TableError("; ".join(problems))
    asked = [_asked(study, part) for part in parts]
    ratings = pl.concat(asked, how="diagonal")
    # Within one part they were looked for with its own words, which name rows.
    if len(parts) > 1 and has_duplicates(ratings):
        raise TableError(_twice(ratings))
    named = ratings.clear()
    if labels:
        is_label = pl.col("attribute").is_in(list(labels))
        named, ratings = ratings.filter(is_label), ratings.filter(~is_label)
    attributes = ratings["attribute"].unique(maintain_order=True).to_list()
    # After the labels: these are no attributes of the rubric, and are not undeclared for that.
    ratings, left_out = _declared_attributes(study, ratings)
    if ratings.height == 0:
        declared = [attribute.name for attribute in study.rubric.attributes]
        raise TableError(
            f"study {study.name!r}: its files hold no rating of a declared attribute "
            f"(declared: {listed(declared)}; found: {listed(attributes)})"
        )
    rated = who_rated_what(ratings)
    names = rated["rater"].unique(maintain_order=True).to_list()
    _check_raters(study, names)
    _check_overlap(study, rated, names)
    contexts = pl.concat([part.contexts for part in parts])
    own = _labels(study, named, contexts, raters) if named.height else None
    return Tables(
        ratings=ratings,
        raters=_raters(study, names, raters),
        items=_items(rated, contexts),
        replies=pl.concat([part.replies for part in parts]),
        contexts=contexts,
        rated=rated,
        responses=_responses(parts),
        reasons=pl.concat([part.reasons for part in parts]),
        findings=(
            *(note for part in parts for note in part.findings),
            *left_out,
            *_unlabelled(study, rated),
        ),
        hashes=dict(hashes),
        labels=own,
        accounts=tuple(part.account for part in parts if part.account is not None),
    )


def people_of(study: Study) -> list[str]:
    """The people of the panel, and the reference."""
    named = [rater.name for rater in study.panel if rater.kind == "human"]
    return list(dict.fromkeys((*named, *study.data.reference)))


def _asked(study: Study, part: SourceTables) -> pl.DataFrame:
    """The ratings of a part without those that no person was asked for.

    In a file with a column a rater, a blank says so where nobody rated the response, and where
    each response has equally many people, who are not always the same: they divided the work.
    """
    people = people_of(study)
    if not part.wide or not people:
        return part.ratings
    # A word such as "refused" is an answer: only a blank says that nobody was asked.
    blank = pl.col("score").is_null() & (pl.col("status") == "blank")
    key = ("item", "system", "run")
    own = part.ratings.filter(pl.col("rater").is_in(people))
    if not own.select(blank.any()).item():
        return part.ratings
    who = own.filter(~blank).group_by(key).agg(pl.col("rater").unique().sort().alias("=who"))
    if who.height == 0:
        return part.ratings
    silent = own.group_by(*key, "rater").agg(blank.all().alias("=bare")).filter("=bare")
    # People who divided the work were not asked for the rest; else one blank of several is a gap.
    if not _is_divided(who["=who"], own["rater"].n_unique()):
        silent = silent.join(who, on=key, how="anti", nulls_equal=True)
    return part.ratings.join(silent, on=(*key, "rater"), how="anti", nulls_equal=True)


def _is_divided(who: pl.Series, people: int) -> bool:
    """Whether each response has the same number of raters, fewer than there are, not one group."""
    counts = who.list.len()
    return people > 1 and counts.n_unique() == 1 and counts[0] < people and who.n_unique() > 1


def _unlabelled(study: Study, rated: pl.DataFrame) -> tuple[Finding, ...]:
    """A note on responses that judges rated and no person did."""
    key = ("item", "system")
    by_people = pl.col("rater").is_in(people_of(study))
    if not rated.select(by_people.any()).item():
        return ()
    whole = rated.group_by(key, maintain_order=True).agg(by_people.any().alias("labelled"))
    if whole["labelled"].all():
        return ()
    items = whole.filter(~pl.col("labelled")).select(key)
    places = [
        f"item {item}" + (f", {system}" if system else "")
        for item, system in items.head(5_000).rows()
    ]
    return (unlabelled(places, items.height),)


def unlabelled(places: Sequence[str], count: int) -> Finding:
    """The note on so many responses that judges rated and no person did."""
    return finding(
        "unlabelled",
        "note",
        "",
        places,
        f"{plural(count, 'response')} that no person rated.",
        "They are unlabelled and count neither as missing nor against anybody; `voirdire correct` "
        "uses what the judges say about them.",
        count=count,
    )


def _labels(
    study: Study, named: pl.DataFrame, contexts: pl.DataFrame, raters: pl.DataFrame | None
) -> Tables:
    """Labels beside a rubric: every rater that names them, on the scale of labels."""
    rated = who_rated_what(named)
    status = pl.when(pl.col("score").is_null()).then("status").otherwise(status_of(LABEL_SCALE))
    attributes = named["attribute"].unique(maintain_order=True).to_list()
    return Tables(
        ratings=named.with_columns(pl.col("attribute").cast(pl.Enum(attributes)), status=status),
        raters=_raters(study, rated["rater"].unique(maintain_order=True).to_list(), raters),
        items=_items(rated, contexts),
        replies=REPLIES.to_frame(),
        contexts=CONTEXTS.to_frame(),
        rated=rated,
    )


def _twice(ratings: pl.DataFrame) -> str:
    """One sentence on a rating that two files give."""
    keys = ["item", "system", "rater", "run", "attribute"]
    twice = ratings.filter(pl.struct(keys).is_duplicated())
    item, system, rater, run, attribute = twice.select(keys).row(0)
    of = f", system {system!r}" if system is not None else ""
    return (
        f"two files rate item {item!r}{of}, attribute {attribute!r} by rater {rater!r}, run {run} "
        f"(and {plural(twice.height // 2 - 1, 'more such rating')}); give the files different "
        f"raters or runs"
    )


def _declared_attributes(
    study: Study, ratings: pl.DataFrame
) -> tuple[pl.DataFrame, tuple[Finding, ...]]:
    """Attributes under their declared spelling as an Enum; undeclared ones are left out."""
    attributes = ratings["attribute"].unique(maintain_order=True).to_list()
    declared = [attribute.name for attribute in study.rubric.attributes]
    if not declared:
        return ratings.with_columns(pl.col("attribute").cast(pl.Enum(attributes))), ()
    # Headers mostly write an attribute in another case, or with underscores.
    spelling = {_fold(name): name for name in declared}
    unknown = [name for name in attributes if _fold(name) not in spelling]
    spelt = {n: spelling[_fold(n)] for n in attributes if n not in declared and n not in unknown}
    notes: tuple[Finding, ...] = ()
    if unknown:
        rows = ratings.filter(pl.col("attribute").is_in(unknown)).height
        ratings = ratings.filter(~pl.col("attribute").is_in(unknown))
        notes = (_undeclared(unknown, rows),)
    if spelt:
        ratings = ratings.with_columns(pl.col("attribute").replace(spelt))
    return ratings.with_columns(pl.col("attribute").cast(pl.Enum(declared))), notes


def _fold(name: str) -> str:
    return " ".join(name.casefold().replace("_", " ").replace("-", " ").split())


def _undeclared(names: list[str], rows: int) -> Finding:
    return finding(
        "attribute_undeclared",
        "note",
        "",
        names,
        f"{plural(len(names), 'attribute')} in the files that the rubric does not declare: "
        f"{listed(names)}.",
        f"{plural(rows, 'rating')} left out; declare the attribute to examine it.",
        count=rows,
    )


def _check_raters(study: Study, names: list[str]) -> None:
    panel = [rater.name for rater in study.panel]
    declared = {*panel, *study.data.reference}
    # Without a panel whoever rated is taken as found.
    unknown = [name for name in names if panel and name not in declared]
    if unknown:
        raise TableError(
            f"study {study.name!r}: the files hold raters that the panel does not declare: "
            f"{listed(unknown)} (panel: {listed(panel)})"
        )
    absent = [name for name in study.data.reference if name not in names]
    if absent:
        raise not_rated(absent, names, f"study {study.name!r}")


def _check_overlap(study: Study, rated: pl.DataFrame, names: list[str]) -> None:
    """Every rater must share an item with the reference: else ids are written differently."""
    reference = list(study.data.reference)
    if not reference:
        return
    base = rated.filter(pl.col("rater").is_in(reference))["item"].unique(maintain_order=True)
    for name in names:
        if name in reference:
            continue
        own = rated.filter(pl.col("rater") == name)["item"].unique(maintain_order=True)
        match = match_ids(base, own)
        # Not one item in common means ids written in two ways, and every number would be empty.
        if match.matched == 0:
            why = f"; {match.warnings[0]}" if match.warnings else ""
            raise TableError(
                f"rater {name!r} and the reference share no item: ids such as "
                f"{listed(match.right_only, 2)} against {listed(match.left_only, 2)}{why}"
            )


def _raters(study: Study, names: list[str], given: pl.DataFrame | None) -> pl.DataFrame:
    """The panel's members that have ratings, in the panel's order; others as they came."""
    given_rows = {} if given is None else {row["rater"]: row for row in given.iter_rows(named=True)}
    order = [rater.name for rater in study.panel if rater.name in names]
    order += [name for name in names if name not in order]
    rows = [given_rows.get(name) or _rater_row(study, name, study.rater(name)) for name in order]
    return pl.DataFrame(rows, schema=RATERS, orient="row")


def _rater_row(study: Study, name: str, rater: Rater | None) -> dict[str, object]:
    if rater is None:
        human = name in study.data.reference or is_human(name)
        return {"rater": name, "kind": "human" if human else "judge"}
    return {
        "rater": name,
        "kind": rater.kind,
        "family": family_of(rater, study) or None,
        "excludes": None if rater.excludes is None else list(rater.excludes),
        "model": rater.model or None,
        "temperature": rater.temperature,
        "prompt_hash": None,
    }


def _responses(parts: Sequence[SourceTables]) -> pl.DataFrame:
    """The texts that were judged, each of a response once whatever the file."""
    responses = pl.concat([part.responses for part in parts])
    return responses.unique(["item", "system", "text"], keep="first", maintain_order=True)


def _items(rated: pl.DataFrame, contexts: pl.DataFrame) -> pl.DataFrame:
    """Every item once, with the first text that a file shows beside it."""
    items = rated.select(pl.col("item").unique(maintain_order=True))
    if contexts.height == 0:
        return items.select("item", pl.lit(None, dtype=pl.String).alias("text"))
    texts = contexts.filter(pl.col("text").is_not_null()).unique(
        "item", keep="first", maintain_order=True
    )
    return items.join(texts.select("item", "text"), on="item", how="left", maintain_order="left")

"""Who counts as a rater of files without a study: those named, and none that others make up."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import QuestionError, TableError, listed
from voirdire.tables._derived import derived_raters
from voirdire.tables._names import measures
from voirdire.tables._tables import finding
from voirdire.tables._words import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Finding
    from voirdire.tables._looked import Looked


def people_among(looked: Sequence[Looked], reference: Sequence[str]) -> set[str]:
    """Raters that are people: the reference, all of labels by people, others by their names."""
    return set(reference).union(
        *(e.ratings["rater"].unique() if e.source.key else e.people for e in looked)
    )


def those_named(
    looked: Sequence[Looked], reference: Sequence[str], judges: Sequence[str]
) -> Sequence[Looked]:
    """The files without judges that nobody named, where some are named.

    Raises
    ------
    TableError
        A named judge has no ratings.
    """
    if not judges:
        return looked
    raters = list(dict.fromkeys(rater for e in looked for rater in e.ratings["rater"].unique()))
    lost = [name for name in judges if name not in raters]
    if lost:
        raise TableError(f"{looked[0].name}: no judge {lost[0]!r} (raters: {listed(raters)})")
    kept = people_among(looked, reference) | set(judges)
    return [_left_out(each, [r for r in raters if r not in kept]) for each in looked]


def _left_out(each: Looked, raters: Sequence[str]) -> Looked:
    """A file without the ratings of these raters."""
    own = tuple(rater for rater in raters if rater in each.ratings["rater"])
    if not own:
        return each
    source = each.source.model_copy(update={"leave_out": (*each.source.leave_out, *own)})
    kept = each.part.ratings.filter(~pl.col("rater").is_in(own))
    return replace(each, source=source, part=replace(each.part, ratings=kept))


def without_measures(
    looked: Sequence[Looked], reference: Sequence[str], judges: Sequence[str]
) -> tuple[Sequence[Looked], tuple[Finding, ...]]:
    """The files without raters in cells that are called as what is measured is, and whose values
    leave the reference's scale: `tokens` beside `human` and `llm` in a melted table.
    """
    own = [e.ratings.filter(pl.col("rater").is_in(list(reference))) for e in looked]
    held = pl.concat([part["score"] for part in own]).drop_nulls() if own else pl.Series()
    if not len(held):
        return looked, ()
    low, high = sorted(map(float, (held.min(), held.max())))  # type: ignore[arg-type]
    lost: dict[str, None] = {}
    for each in looked:
        if each.how is None or each.how.rater is None:
            continue
        names = [
            r
            for r in each.ratings["rater"].unique(maintain_order=True)
            if measures(r) and r not in (*reference, *judges)
        ]
        for name in names:
            scores = each.ratings.filter(pl.col("rater") == name)["score"].drop_nulls()
            if not scores.is_between(low, high).all():
                lost[name] = None
    if not lost:
        return looked, ()
    note = finding(
        "raters_measured",
        "serious",
        looked[0].name,
        [*lost],
        f"{listed([*lost])}: called as what is measured is, with values beyond the reference's "
        f"{low:g} to {high:g}.",
        "No rater: left out. To hold it against the reference, name it by --judge.",
        count=len(lost),
    )
    return [_left_out(each, [*lost]) for each in looked], (note,)


def without_derived(
    looked: Sequence[Looked], reference: Sequence[str], *, named: bool
) -> tuple[Sequence[Looked], tuple[Finding, ...]]:
    """The files without raters that are made of others, and findings that name them.

    Raises
    ------
    QuestionError
        A person's column may hold what was settled after the others had rated.
    """
    ratings = pl.concat([each.ratings for each in looked], how="diagonal")
    people = people_among(looked, reference)
    settled = [w for each in looked for w in each.source.leave_out]
    made = [
        one
        for one in derived_raters(ratings, sorted(people), reference)
        if one.rater not in settled
    ]
    if not made:
        return looked, ()
    for one in made:
        if not one.how and not named and not looked[0].source.assume:
            raise QuestionError(
                f"{looked[0].name}: {one.rater!r} may hold what was agreed on after "
                f"{listed(one.of)} had rated, and is then no further person; who is the reference?",
                "reference",
                (", ".join(map(quoted, one.of)), quoted(one.rater)),
                f"reference = {json.dumps(list(one.of))}",
            )
    rest = [_left_out(each, [one.rater for one in made]) for each in looked]
    told = [
        f"{one.rater!r} is {one.how} of {listed(one.of)}"
        if one.how
        else f"{one.rater!r} is, by its name, what was agreed on after {listed(one.of)} had rated"
        for one in made
    ]
    note = finding(
        "raters_derived",
        "serious",
        looked[0].name,
        told,
        f"{'; '.join(told)}.",
        "No rater of its own: left out. To hold others against it, name it by --reference.",
        count=len(made),
    )
    return rest, (note,)


def assumed_judges(
    first: Looked, unsure: Sequence[str], humans: Sequence[str], raters: Sequence[str]
) -> tuple[Finding, ...]:
    """The finding that raters who may be people were taken for judges.

    Raises
    ------
    QuestionError
        Nobody said that it may be so taken.
    """
    if not first.source.assume:
        # Somebody has to be left who is a judge.
        more = unsure if len(humans) + len(unsure) < len(raters) else unsure[:-1]
        raise QuestionError(
            f"{first.name}: {listed(humans)} {'is' if len(humans) == 1 else 'are'} held to be "
            f"people, others judges, and {listed(unsure)} may be either; whose ratings are the "
            f"reference?",
            "reference",
            (", ".join(map(quoted, humans)), ", ".join(map(quoted, (*humans, *more)))),
            f"reference = {json.dumps(list(humans))}",
        )
    note = finding(
        "reading_assumed",
        "serious",
        first.name,
        unsure,
        f"{listed(unsure)} may be people or judges, and {'was' if len(unsure) == 1 else 'were'} "
        f"taken for judges.",
        "If that is wrong, name every person by --reference.",
    )
    return (note,)

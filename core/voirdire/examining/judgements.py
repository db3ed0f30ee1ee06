"""Labels, preferences and probabilities as they were read become cases: arrays, judge by judge."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire.examining.spec.labels.ground import of_labels
from voirdire.examining.spec.preferences.ground import ComparedCase
from voirdire.examining.spec.scores.case import Case
from voirdire.examining.verdict.gathering import by_place, cluster_names
from voirdire.stats.comparisons import Compared
from voirdire.stats.response_panel import AlikeUnits
from voirdire.study import Rater, own_systems
from voirdire.tables.judged import LABELS, LabelQuestion, ReadJudgements

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from voirdire.examining.inputs import Inputs

    Floats = NDArray[np.float64]

#: People beyond whom choices of a comparison are taken in the order of the table, whoever made
#: them: of an arena each voter makes a few.
MOST_PEOPLE = 15
_FACTS = ("cluster", "subgroup", "origin")


# --- labels and probabilities


def cases_of_labels(inputs: Inputs) -> Iterator[Case]:
    """Every judge and question of labels and probabilities, read or named by annotators."""
    read = inputs.judgements or _annotated(inputs, chances=True)
    if read is not None and read.questions:
        yield from label_cases(read, read.people or inputs.reference)


def named_as_labels(inputs: Inputs) -> frozenset[tuple[str, str]]:
    """(rater, label) of annotators whose answers are examined as labels, be they asked or not."""
    if inputs.judgements is not None or not any(
        rater.kind == "annotator" for rater in inputs.study.panel
    ):
        return frozenset()
    read = _annotated(inputs)
    if read is None:
        return frozenset()
    labels = {label for one in read.questions for label in one.labels}
    return frozenset((rater, label) for rater in read.raters for label in labels)


def _annotated(inputs: Inputs, *, chances: bool = False) -> ReadJudgements | None:
    """Labels that annotators and the humans beside them name; None where there are none.

    With `chances` beside how probable each label is, where a session says it.
    Of a scale of 0 and 1 they are the ratings, beside a rubric a table of their own.
    """
    if inputs.tables is None:
        return None
    from voirdire.examining.labels.annotators import (  # noqa: PLC0415 - most sources name no labels
        annotators,
        labelling_groups,
    )

    rated = inputs.tables.labels or inputs.tables
    names = annotators(inputs.study, rated)
    groups = labelling_groups(inputs.study, rated.ratings, names) if names else {}
    members: dict[tuple[str, ...], list[str]] = {}
    for each, own in groups.items():
        members.setdefault(each.labels, []).extend(own)
    made = [
        labels_of_ratings(
            rated.ratings,
            labels,
            (*own, *inputs.reference),
            "labels" if len(members) == 1 else f"labels {_listed(labels)}",
        )
        for labels, own in members.items()
    ]
    found = [one for one in made if one is not None]
    if not found:
        return None
    if chances:
        found = _with_chances(found, inputs)
    questions = tuple(question for one in found for question in one.questions)
    return ReadJudgements((), pl.concat([one.labels for one in found]), questions)


def _with_chances(found: Sequence[ReadJudgements], inputs: Inputs) -> list[ReadJudgements]:
    """Labels of a session beside how probable each is: by its runs, where somebody said so, else by
    what models reported of the options that a request named.
    """
    if inputs.session is None or not inputs.reference:
        return list(found)
    from voirdire.tables.judged.claims import with_claims  # noqa: PLC0415 - of sessions alone
    from voirdire.tables.judged.votes import with_votes  # noqa: PLC0415 - as above

    held = [replace(one, people=inputs.reference) for one in found]
    if inputs.votes:
        return [with_votes(one, inputs.session.name) for one in held]
    from voirdire.store.frames import label_claims  # noqa: PLC0415 - loads the store

    claims = label_claims(inputs.session)
    return [with_claims(one, [claim for claim in claims if claim[2] in one.raters]) for one in held]


def _listed(labels: Sequence[str]) -> str:
    """The first labels of a list, by which several lists are told apart."""
    return "/".join(labels) if len(labels) <= 3 else f"{'/'.join(labels[:2])}/..."


def label_cases(read: ReadJudgements, reference: Sequence[str]) -> Iterator[Case]:
    """Every judge and question."""
    judges = [rater for rater in read.raters if rater not in reference]
    for question in read.questions:
        rows = read.labels.filter(pl.col("attribute") == question.attribute)
        units = rows.select("item", "system").unique(maintain_order=True)
        placed = rows.join(
            units.with_row_index("at"), on=["item", "system"], how="left", nulls_equal=True
        )
        chosen = placed.filter(
            pl.col("rater").is_in(list(reference)), pl.col("origin").cast(pl.String) == "chosen"
        )
        codes, table = _codes(placed, question)
        placed = placed.with_columns(pl.Series("code", codes))
        size, items = units.height, units["item"].to_numpy().astype(np.str_)
        systems = _names(placed, "system", size)
        clusters, subgroups = _clusters(placed, size, items), _names(placed, "subgroup", size)
        present = [name for name in reference if name in set(placed["rater"])]
        if not present:
            continue
        alike = [read.counts[item] for item in items.tolist()] if read.counts else None
        counted = None if alike is None else AlikeUnits(np.array(alike, dtype=np.float64))
        humans = np.stack([_one(placed, name, size) for name in present])
        column = "probability" if question.probability else "code"
        for judge in judges:
            own = placed.filter(pl.col("rater") == judge)
            if question.probability and own["probability"].null_count() == own.height:
                continue  # it claims none
            runs = _runs(own, size, column)
            case = Case(
                judge,
                question.attribute,
                tuple(present),
                runs,
                humans,
                items,
                1.0,
                systems=systems,
                clusters=clusters,
                subgroups=subgroups,
                kind=question.kind,
                random_labels=chosen.is_empty(),
                asked=own.height > 0,
                counted=counted,
            )
            yield case if question.probability else of_labels(case, question.labels, table)


def _names(rows: pl.DataFrame, column: str, size: int) -> NDArray[np.str_] | None:
    """(N,) what a column says of each unit, empty where nothing; None where it never says any."""
    if rows[column].null_count() == rows.height:
        return None
    said = by_place(rows["at"], rows[column].cast(pl.String), size)
    return said.fill_null("").to_numpy().astype(np.str_)


def _clusters(rows: pl.DataFrame, size: int, items: NDArray[np.str_]) -> NDArray[np.str_] | None:
    """Declared clusters, and items where none is; None without any."""
    said = _names(rows, "cluster", size)
    return None if said is None else cluster_names(said, items)


def _codes(rows: pl.DataFrame, question: LabelQuestion) -> tuple[Floats, Floats]:
    """The row of the table of vectors that each judgement is, and the table."""
    if question.probability:
        first = rows["labels"].list.first() == question.labels[0]
        return first.cast(pl.Float64).to_numpy(), np.eye(2)[:, :1]
    place = {label: k for k, label in enumerate(question.labels)}
    distinct = rows["labels"].drop_nulls().unique().to_list()
    keys = {tuple(sorted(given, key=place.__getitem__)) for given in distinct}
    order = {key: k for k, key in enumerate(sorted(keys))}
    table = np.zeros((max(len(order), 1), len(question.labels)))
    for key, k in order.items():
        table[k, [place[label] for label in key]] = 1.0
    codes = [
        np.nan if given is None else order[tuple(sorted(given, key=place.__getitem__))]
        for given in rows["labels"].to_list()
    ]
    return np.array(codes, dtype=np.float64), table


def _one(rows: pl.DataFrame, rater: str, size: int, column: str = "code") -> Floats:
    """(N,) what a rater said, in its first run of each unit."""
    own = (
        rows.filter(pl.col("rater") == rater)
        .sort("run")
        .unique("at", keep="first", maintain_order=True)
    )
    out = np.full(size, np.nan)
    out[own["at"].to_numpy()] = own[column].cast(pl.Float64).fill_null(np.nan).to_numpy()
    return out


def _runs(own: pl.DataFrame, size: int, column: str) -> Floats:
    """(K, N) by run; one of nothing where there is no row."""
    numbers = own["run"].unique().sort().to_list()
    if not numbers:
        return np.full((1, size), np.nan)
    out = np.full((len(numbers), size), np.nan)
    for k, number in enumerate(numbers):
        run = own.filter(pl.col("run") == number)
        values = run[column].cast(pl.Float64).fill_null(np.nan).to_numpy()
        out[k, run["at"].to_numpy()] = values
    return out


def labels_of_ratings(
    ratings: pl.DataFrame, labels: Sequence[str], raters: Sequence[str], attribute: str = "labels"
) -> ReadJudgements | None:
    """Sets of labels from ratings of 0 and 1, one a label, as annotators give them.

    Who gave no score of some label gave no set. None where no rater gave one.
    """
    own = ratings.filter(
        pl.col("rater").cast(pl.String).is_in(list(raters)),
        pl.col("attribute").cast(pl.String).is_in(list(labels)),
    )
    name = pl.col("attribute").cast(pl.String)
    given = own.group_by("item", "system", "rater", "run", maintain_order=True).agg(
        name.filter(pl.col("score") == 1).alias("labels"),
        (pl.col("score").count() == len(labels)).alias("whole"),
        *(
            pl.col(fact).first()
            for fact in ("cluster", "subgroup", "origin")
            if fact in own.columns
        ),
    )
    if not given.height or not given["whole"].any():
        return None
    absent = [fact for fact in _FACTS if fact not in given.columns]
    table = given.with_columns(
        pl.when("whole").then("labels").alias("labels"),
        pl.when("whole").then(pl.lit("ok")).otherwise(pl.lit("blank")).alias("status"),
        pl.lit(attribute).alias("attribute"),
        pl.lit(None, pl.Float64).alias("probability"),
        *(pl.lit(None).alias(fact) for fact in absent),
    )
    several = table["labels"].drop_nulls().list.len() != 1
    question = LabelQuestion(attribute, tuple(labels), sets=bool(several.any()))
    rows = table.select(pl.col(column).cast(kind) for column, kind in LABELS.items())
    return ReadJudgements((), rows, (question,))


# --- preferences


def cases_of_preferences(inputs: Inputs) -> Iterator[ComparedCase]:
    """Every judge and attribute of comparisons that were read."""
    read, compared, study = inputs.judgements, inputs.preferences, inputs.study
    table = read.preferences if read and read.preferences is not None else None
    if table is None:
        if compared is None:
            return
        table = compared.table
    raters = map(str, table["rater"].unique())
    own = {name: own_systems(study.rater(name) or Rater(name=name), study) for name in raters}
    people = (read.people if read else ()) or inputs.reference
    drawn = compared is not None and compared.order == "drawn"
    yield from compared_cases(table, people, own, drawn=drawn)


def compared_cases(
    table: pl.DataFrame,
    reference: Sequence[str],
    family: dict[str, tuple[str, ...]] | None = None,
    *,
    drawn: bool = False,
) -> Iterator[ComparedCase]:
    """Every judge and attribute of a table of preferences.

    A comparison is an item, two systems and an attribute; who compared it twice, with the systems
    in the other order, was asked in both orders. `drawn` says that an order which is not recorded
    was drawn each time.
    """
    rows = turned(table.filter(pl.col("score").is_not_null()))
    judges = [r for r in rows["rater"].unique(maintain_order=True) if r not in reference]
    for attribute in rows["attribute"].unique(maintain_order=True):
        of_it = rows.filter(pl.col("attribute") == attribute)
        keys = ["item", "system_a", "system_b"]
        units = of_it.select(keys).unique(maintain_order=True)
        placed = of_it.join(units.with_row_index("at"), on=keys, how="left")
        size = units.height
        people = [name for name in reference if name in set(placed["rater"])]
        if not people:
            continue
        humans, pooled = choices_of_people(placed, people, size)
        width = 4.0 if float(of_it["score"].abs().max() or 0) > 1 else 2.0  # type: ignore[arg-type]
        items = units["item"].to_numpy().astype(np.str_)
        clusters = _items_or_clusters(placed, size, items)
        length = by_place(placed["at"], placed["length"].cast(pl.Float64), size)
        for judge in judges:
            own = placed.filter(pl.col("rater") == judge)
            scores, swapped, first = orders_of(own, size)
            yield ComparedCase(
                judge,
                str(attribute),
                tuple(people),
                scores,
                humans,
                items,
                Compared(
                    units["system_a"].to_numpy().astype(np.str_),
                    units["system_b"].to_numpy().astype(np.str_),
                    width,
                    swapped,
                    first,
                    None if length.null_count() == size else length.to_numpy(),
                    (family or {}).get(judge, ()),
                ),
                pooled,
                drawn,
                clusters=clusters,
                asked=own.height > 0,
            )


def turned(table: pl.DataFrame) -> pl.DataFrame:
    """Every pair in one direction, that of its names; `order` says whether a was named first."""
    swap = pl.col("system_a") > pl.col("system_b")
    extra = [pl.lit(None, pl.Float64).alias(n) for n in ("length",) if n not in table.columns]
    extra += [pl.lit(None, pl.String).alias(n) for n in ("cluster",) if n not in table.columns]
    table = table.with_columns(*extra)
    sign = pl.when(swap).then(-1.0).otherwise(1.0)
    return table.with_columns(
        pl.when(swap).then("system_b").otherwise("system_a").alias("system_a"),
        pl.when(swap).then("system_a").otherwise("system_b").alias("system_b"),
        (pl.col("score") * sign).alias("score"),
        (pl.col("length") * sign).alias("length"),
        sign.alias("order"),
    )


def choices_of_people(rows: pl.DataFrame, people: Sequence[str], size: int) -> tuple[Floats, bool]:
    """(R, N) choices of people, both orders of one averaged; pooled where they are many."""
    own = (
        rows.filter(pl.col("rater").is_in(list(people)))
        .group_by("at", "rater", maintain_order=True)
        .agg(pl.col("score").mean())
    )
    if len(people) <= MOST_PEOPLE:
        place = {name: k for k, name in enumerate(people)}
        out = np.full((len(people), size), np.nan)
        rater = np.array([place[name] for name in own["rater"].to_list()])
        out[rater, own["at"].to_numpy()] = own["score"].to_numpy()
        return out, False
    # The k-th choice of a comparison is of "human k", whoever made it.
    numbered = own.with_columns(pl.int_range(pl.len()).over("at").alias("slot"))
    slots = int(numbered["slot"].max() or 0) + 1  # type: ignore[arg-type]
    out = np.full((min(slots, MOST_PEOPLE), size), np.nan)
    kept = numbered.filter(pl.col("slot") < MOST_PEOPLE)
    out[kept["slot"].to_numpy(), kept["at"].to_numpy()] = kept["score"].to_numpy()
    return out, True


def orders_of(own: pl.DataFrame, size: int) -> tuple[Floats, Floats | None, Floats | None]:
    """Scores of the first order by run, those of the other, and which system was shown first.

    The order is that of `shown_first`; where nobody says it, and a comparison stands there in both
    directions, the system that a row names first was shown first.
    """
    if not own.height:
        return np.full((1, size), np.nan), None, None
    said = (
        pl.when(pl.col("shown_first") == pl.col("system_a"))
        .then(1.0)
        .when(pl.col("shown_first") == pl.col("system_b"))
        .then(-1.0)
    )
    both = pl.col("order").n_unique().over("at", "run") > 1
    own = own.with_columns(
        pl.coalesce(said, pl.when(both).then("order")).alias("first")
    ).with_columns(pl.int_range(pl.len()).over("at", "run").alias("turn"))
    runs = own["run"].unique().sort().to_list()
    scores, swapped = (np.full((len(runs), size), np.nan) for _ in range(2))
    first = np.full(size, np.nan)
    for k, number in enumerate(runs):
        run = own.filter(pl.col("run") == number)
        once = run.filter(pl.col("turn") == 0)
        again = run.filter(pl.col("turn") == 1)
        scores[k, once["at"].to_numpy()] = once["score"].to_numpy()
        swapped[k, again["at"].to_numpy()] = again["score"].to_numpy()
        if k == 0:
            first[once["at"].to_numpy()] = once["first"].fill_null(np.nan).to_numpy()
    known = None if np.isnan(first[~np.isnan(scores[0])]).any() else first
    return scores, None if np.isnan(swapped).all() else swapped, known


def _items_or_clusters(
    rows: pl.DataFrame, size: int, items: NDArray[np.str_]
) -> NDArray[np.str_] | None:
    """Declared clusters, else items where some item has several comparisons; else None."""
    clusters = _clusters(rows, size, items)
    if clusters is not None:
        return clusters
    # A turn of a conversation belongs to its item.
    base = np.array([item.rpartition(" turn ")[0] or item for item in items.tolist()])
    return base if len(np.unique(base)) < size else None

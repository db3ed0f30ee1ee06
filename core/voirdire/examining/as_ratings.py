"""Labels, probabilities and comparisons as numbers from 0 to 1, for whatever takes scores.

A label becomes an attribute, 1 where it is given; a comparison 1 where the first system is
preferred, 0 where the other is. Their means are shares and win rates.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from voirdire import tables
from voirdire.errors import InputError, QuestionError, not_rated
from voirdire.examining.preferences import combine_comparisons
from voirdire.examining.preferences.table import COMPARISON
from voirdire.examining.source import adjust, audit_of, inputs_of
from voirdire.examining.spec.rated_question import RatedQuestion
from voirdire.study import ReadOptions
from voirdire.tables import to_scores

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from voirdire.examining.inputs import Inputs
    from voirdire.examining.sources import Opened
    from voirdire.schema import Finding
    from voirdire.tables.judged import LabelQuestion

_KEY = ("item", "system", "rater", "run")
_FACTS = ("origin", "cluster", "subgroup")
#: A label is given or not; a probability is anything between.
_SCALES = {False: {"scale": (0, 1), "step": 1}, True: {"scale": (0, 1), "step": 0}}


def inputs_of_labels(opened: Opened, reference: Sequence[str]) -> Iterator[Inputs]:
    """Labels as ratings, as `labels_as_ratings`."""
    for one in labels_as_ratings(opened, reference):
        yield inputs_of(one)


def labels_as_ratings(
    opened: Opened, reference: Sequence[str], *, together: bool = False
) -> Iterator[Opened]:
    """Labels as ratings of 0 and 1, an attribute a label; then probabilities, where there are any.

    The mean of such an attribute is the share of the label. What is no label of the list is
    missing. `together`: both as one, on the scale of probabilities.

    Raises
    ------
    InputError
        A reference that labels nothing.
    """
    said = opened.judgements
    if said is None or not said.questions:
        return
    raters = said.labels["rater"].unique(maintain_order=True).to_list()
    people = tuple(reference) or said.people
    absent = [name for name in people if name not in raters]
    if absent:
        raise not_rated(absent, raters, opened.study.name)
    if not people:
        raise InputError(f"say who is human: --reference (raters: {', '.join(raters)})")
    several, beside = _shared_names(said.questions)
    claimed = any(one.probability for one in said.questions)
    for probability in (claimed,) if together else (False, True):
        asked = [one for one in said.questions if together or one.probability is probability]
        frames = [
            _indicators(said.labels, one, rated_names(one, several=several, beside=beside))
            for one in asked
        ]
        if not frames:
            continue
        study, rated = tables.from_frame(
            pl.concat(frames),
            reference=people,
            name="labels",
            read=ReadOptions(layout="long", attribute="attribute"),
        )
        study = adjust(study, {"rubric": _SCALES[probability], "data": {"reference": people}})
        study = study.model_copy(update={"run": opened.study.run})
        yield replace(opened, study=study, tables=rated, judgements=None, found=_found(opened))


def check_scores(opened: Opened | Inputs, what: str) -> None:
    """Raise where a source holds no scores, with what serves its kind.

    Raises
    ------
    InputError
        It holds labels, probabilities or comparisons.
    """
    said = opened.judgements
    if opened.tables is not None or (said is None and opened.preferences is None):
        return
    if said is None or said.preferences is not None:
        held, instead = "comparisons", "correct tells win rates"
    elif all(one.probability for one in said.questions):
        held, instead = "probabilities", "examine says whether they mean what they claim"
    else:
        held, instead = "labels", "correct tells how often each is true, examine which to trust"
    raise InputError(f"{what}; this source holds {held}: voirdire {instead}")


def as_ratings(opened: Opened, reference: Sequence[str], *, claims: bool = True) -> Opened:
    """Labels as what is said of each, comparisons as who wins each pair; scores as they are.

    A mean of such votes is a share: a probability of the label, or of a win. Probabilities beside
    labels are attributes as well, unless `claims` is False.

    Raises
    ------
    QuestionError
        The source holds comparisons, and probabilities beside them: one of both is taken.
    """
    if opened.tables is not None:
        return opened
    found = next(labels_as_ratings(opened, reference, together=claims), None)
    if found is None:
        return next(wins_as_ratings(opened, reference), opened)
    if opened.preferences is not None:
        raise QuestionError(
            f"{opened.study.name}: beside comparisons the source holds probabilities that one side "
            "is preferred, and this takes one of both: which?",
            "kind",
            ("preference", "probability"),
            'kind = "preference"',
            likely=False,
        )
    return found


def one_of_labels(opened: Opened, attributes: Sequence[str]) -> str:
    """The question of which these attributes are the labels, one of them an answer; else empty."""
    said = opened.judgements
    for question in () if said is None else said.questions:
        if not (question.sets or question.probability):
            for several in (False, True):
                if set(rated_names(question, several=several)) == set(attributes):
                    return question.attribute
    return ""


def _shared_names(questions: Sequence[LabelQuestion]) -> tuple[bool, bool]:
    """Whether there are several questions, and whether some of both kinds."""
    claimed = sum(one.probability for one in questions)
    return len(questions) > 1, 0 < claimed < len(questions)


def _indicators(
    labels: pl.DataFrame, question: LabelQuestion, names: Sequence[str]
) -> pl.DataFrame:
    """A row a judgement and label: 1 where it was given, or its probability."""
    rows = labels.filter(pl.col("attribute") == question.attribute)
    facts = [name for name in _FACTS if rows[name].null_count() < rows.height]
    kept = rows.select(*_KEY, *facts, "labels", "probability")
    if question.probability:
        yes = (pl.col("labels").list.first() == question.labels[0]).cast(pl.Float64)
        scored = kept.with_columns(
            pl.lit(names[0]).alias("attribute"),
            pl.coalesce("probability", yes).alias("score"),
        )
        return scored.drop("labels", "probability")
    return pl.concat(
        kept.with_columns(
            pl.lit(name).alias("attribute"),
            pl.col("labels").list.contains(label).cast(pl.Float64).alias("score"),
        ).drop("labels", "probability")
        for label, name in zip(question.labels, names, strict=True)
    )


def rated_names(question: LabelQuestion, *, several: bool, beside: bool = False) -> tuple[str, ...]:
    """The attributes that answer a question: one a label, or one of what is claimed.

    Of `several` questions labels have theirs in their names; what is claimed `beside` labels says
    that it is a probability.
    """
    if question.probability:
        name = _named(question.attribute, "label", several=False)
        return (f"{name} (probability)" if beside else name,)
    return tuple(_named(label, question.attribute, several=several) for label in question.labels)


def _named(label: str, question: str, *, several: bool) -> str:
    """A label as the name of an attribute; yes, no and codes say nothing by themselves."""
    plain = bool(to_scores(pl.Series([label])).bad.all())
    return label if plain and not several else f"{question}: {label}"


def questions_of(opened: Opened) -> tuple[RatedQuestion, ...]:
    """The questions of what `as_ratings` makes ratings of; none of a source of scores."""
    said = opened.judgements
    if said is not None and said.questions:
        several, beside = _shared_names(said.questions)
        return tuple(
            RatedQuestion(
                name=one.attribute,
                kind=one.kind,
                attributes=rated_names(one, several=several, beside=beside),
                labels=() if one.probability else one.labels,
            )
            for one in said.questions
        )
    if opened.tables is not None or opened.preferences is None:
        return ()
    table = opened.preferences.table
    pairs = table.select("system_a", "system_b").unique(maintain_order=True).rows()
    return tuple(
        RatedQuestion(
            name=str(name),
            kind="preference",
            attributes=(str(name),),
            pairs={f"{a} over {b}": (a, b) for a, b in pairs},
        )
        for name in table["attribute"].unique(maintain_order=True)
    )


# --- comparisons

#: A comparison is worth 1, half or nothing to a system.
_SCALE = {"scale": (0, 1), "step": 0.5}


def inputs_of_wins(opened: Opened, reference: Sequence[str]) -> Iterator[Inputs]:
    """Comparisons as ratings, as `wins_as_ratings`."""
    for one in wins_as_ratings(opened, reference):
        yield inputs_of(one)


def _found(opened: Opened) -> tuple[Finding, ...]:
    """What is odd in the source, not in the numbers that are made of it."""
    return audit_of(replace(opened, tables=None))


def wins_as_ratings(opened: Opened, reference: Sequence[str]) -> Iterator[Opened]:
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
        yield replace(
            opened,
            study=study,
            tables=read,
            preferences=None,
            judgements=None,
            found=_found(opened),
        )


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

"""Votes of a judge's runs as probabilities: in how many of them it gives a label."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import TableError, listed
from voirdire.tables._tables import finding
from voirdire.tables.judged.claims import with_claims
from voirdire.tables.judged.frames import VOTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Finding
    from voirdire.tables.judged.frames import ReadJudgements

_UNIT = ["item", "system", "rater"]


def with_votes(read: ReadJudgements, where: str) -> ReadJudgements:
    """Labels with a question of probability for each, held against the share of a judge's runs.

    A run that gives no label has no vote. What a judge says in each run stays as it is.

    Raises
    ------
    TableError
        No judge labels more than once.
    """
    judged = read.labels.filter(
        ~pl.col("rater").is_in(list(read.people)), pl.col("labels").is_not_null()
    )
    voting = judged.filter(pl.col("run").n_unique().over("rater") > 1)
    if voting.is_empty():
        raise TableError(
            f"{where}: no judge labels in several runs, whose votes would be probabilities "
            f"(--probability {VOTES})"
        )
    blocks, questions = [read.labels], list(read.questions)
    several = sum(not one.probability for one in read.questions) > 1
    for question in read.questions:
        if question.probability:
            continue
        rows = voting.filter(pl.col("attribute") == question.attribute)
        cast = rows.group_by(_UNIT, maintain_order=True).agg(
            pl.col("labels").list.contains(label).mean().alias(label) for label in question.labels
        )
        claims = [
            (item, system, rater, 1, label, share)
            for item, system, rater, *shares in cast.iter_rows()
            for label, share in zip(question.labels, shares, strict=True)
        ]
        own = read.labels.filter(pl.col("attribute") == question.attribute)
        made = with_claims(replace(read, labels=own, questions=(question,)), claims)
        for claimed in (one for one in made.questions if one.probability):
            name = claimed.attribute
            if several and not name.startswith(f"{question.attribute}: "):
                name = f"{question.attribute}: {name}"
            of_it = made.labels.filter(pl.col("attribute") == claimed.attribute)
            blocks.append(of_it.with_columns(pl.lit(name).alias("attribute")))
            questions.append(replace(claimed, attribute=name))
    note = votes_note(where, voting["rater"].unique(maintain_order=True).to_list())
    return replace(
        read,
        labels=pl.concat(blocks),
        questions=tuple(questions),
        findings=(*read.findings, note),
    )


def votes_note(where: str, judges: Sequence[str]) -> Finding:
    """What the probabilities of these judges are."""
    return finding(
        "votes_as_probabilities",
        "note",
        where,
        judges,
        f"The probabilities of {listed(list(judges))} are shares of runs that give a label.",
        "So it was asked for. A model may say the same in every run and err all the same.",
    )

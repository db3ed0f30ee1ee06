"""What a judge judges: responses, items or pairs of responses; where people's say of it is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire import plugins
from voirdire.errors import InputError, listed
from voirdire.examining.narrowing import narrowed, study_and_responses
from voirdire.store.raters import participants
from voirdire.study import Comparisons, Data
from voirdire.tables import read_items
from voirdire.units import transcript

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    from voirdire.examining.inputs import Inputs
    from voirdire.study import Rater, Study
    from voirdire.tables.judged import ReadJudgements
    from voirdire_plugins.tune.goals import Goal

    Key = tuple[str, str]

KEYS = ("item", "system", "attribute")


@dataclass(frozen=True, slots=True)
class Subject:
    """What is judged, and how it is asked about and read.

    Attributes
    ----------
    name : str
        In the plural.
    uses : tuple of str
        What a judge of it can be tuned for.
    stage : str
        The part of a run that asks about it.
    said : callable
        What was read -> judgements as ``item, system, attribute, rater, score``; of pairs also
        ``other``, and of items the system is empty.
    table : str
        The session's file of judgements.
    texts : callable
        A study's file and the study -> the texts that can be asked about, by item and system.
    narrowed : callable
        The study that asks a panel about some of them.
    """

    name: str
    uses: tuple[str, ...]
    stage: Any
    said: Callable[[Inputs], pl.DataFrame]
    table: str
    texts: Callable[[Path, Study], dict[Key, str]]
    narrowed: Callable[[Study, Sequence[Rater], dict[Key, str], Collection[Key], Path], Study]

    def measure(self, goal: Goal) -> str:
        """What is measured, in words; of labels in theirs."""
        if self.name != "items":
            return goal.measure
        own = {"single": "the share of labels that a person gives too", "filter": "F1 of the label"}
        return own.get(goal.use, goal.measure)

    def rows(self, session: Path) -> pl.DataFrame:
        """What a session's panel said, as `said` gives it."""
        frame = pl.read_parquet(session / self.table)
        return compared(frame) if self.table == "preferences.parquet" else plain(frame)


def subject_of(member: Rater, study: Study) -> tuple[Subject, tuple[str, ...]]:
    """What a member of the panel judges, and the labels that it knows (of items alone).

    Raises
    ------
    InputError
        It is a classifier, or a person.
    """
    if member.kind not in ("judge", "annotator"):
        raise InputError(f"{member.name} is of kind {member.kind}: judges and annotators are tuned")
    alone = study.model_copy(update={"panel": (member,), "generators": ()})
    (participant,) = participants(alone, plugins())
    return _SUBJECTS[participant.task], participant.attributes if participant.task == "item" else ()


def plain(ratings: pl.DataFrame) -> pl.DataFrame:
    """Ratings whose names are texts; no system is an empty one."""
    return ratings.with_columns(
        pl.col("item", "attribute", "rater").cast(pl.String),
        pl.col("system").cast(pl.String).fill_null(""),
    )


def compared(table: pl.DataFrame) -> pl.DataFrame:
    """Comparisons as signed scores of two systems in the order of their names.

    A pair that was shown in both orders has the mean of the two.
    """
    names = pl.col("item", "rater", "attribute", "system_a", "system_b").cast(pl.String)
    turned = pl.col("system_a") > pl.col("system_b")
    keys = [*KEYS, "other", "rater", "run"]
    return (
        table.with_columns(names)
        .with_columns(
            system=pl.min_horizontal("system_a", "system_b"),
            other=pl.max_horizontal("system_a", "system_b"),
            score=pl.when(turned).then(-pl.col("score")).otherwise(pl.col("score")),
        )
        .group_by(keys, maintain_order=True)
        .agg(pl.col("score").mean())
    )


def _scores(inputs: Inputs) -> pl.DataFrame:
    return plain(inputs.ratings)


def _labels(inputs: Inputs) -> pl.DataFrame:
    """0 or 1 for each label: ratings say it so, and words are made into it."""
    if inputs.judgements is None or inputs.ratings.height:
        return plain(inputs.ratings)
    return _of_words(inputs.judgements)


def _of_words(judged: ReadJudgements) -> pl.DataFrame:
    if len(judged.questions) > 1:
        asked = listed([one.attribute for one in judged.questions])
        raise InputError(
            f"the labels answer several questions ({asked}): name the columns of the others under "
            "ignore of their source"
        )
    given = judged.labels.filter(pl.col("labels").is_not_null())
    facts = [name for name in ("item", "system", "rater", "run", "cluster") if name in given]
    made = [
        given.select(
            *facts,
            attribute=pl.lit(label),
            score=pl.col("labels").list.contains(label).cast(pl.Float64),
        )
        for question in judged.questions
        for label in question.labels
    ]
    return plain(pl.concat(made) if made else given.select(*facts, attribute=None, score=None))


def _preferences(inputs: Inputs) -> pl.DataFrame:
    table = None if inputs.preferences is None else inputs.preferences.table
    if table is None and inputs.judgements is not None:
        table = inputs.judgements.preferences
    if table is None:
        raise InputError(
            "there are no labels of pairs: a file of them has a row a comparison, with the columns "
            "item, system_a, system_b, rater, attribute, score (above 0 where a is better)"
        )
    return compared(table)


def _responses(path: Path, _: Study) -> dict[Key, str]:
    rows = study_and_responses(path)[1]
    return {(one.item, one.system): one.text for one in rows}


def _items(path: Path, study: Study) -> dict[Key, str]:
    if study.items is None:
        raise InputError(f"{path}: it declares no [items] to be annotated")
    return {
        (item.id, ""): transcript(item.turns) if item.turns else item.text
        for item, _ in read_items(study, study.items)
        if item.turns or item.text.strip()
    }


def _some_responses(
    study: Study, panel: Sequence[Rater], texts: dict[Key, str], about: Collection[Key], path: Path
) -> Study:
    rows = [(*key, text) for key, text in texts.items() if key in about]
    return narrowed(study, panel, rows, path)


def _some_pairs(
    study: Study, panel: Sequence[Rater], texts: dict[Key, str], about: Collection[Key], path: Path
) -> Study:
    made = _some_responses(study, panel, texts, about, path)
    return made.model_copy(update={"comparisons": study.comparisons})


def _some_items(
    study: Study, panel: Sequence[Rater], _: dict[Key, str], about: Collection[Key], __: Path
) -> Study:
    only = {"only": tuple(sorted(item for item, _ in about))}
    items = None if study.items is None else study.items.model_copy(update=only)
    return study.model_copy(
        update={
            "data": Data(), "panel": tuple(panel), "generators": (), "humans": None,
            "classify": None, "responses": None, "comparisons": Comparisons(), "items": items,
        }
    )  # fmt: skip


_ALL = ("single", "gate", "filter", "pick", "worth")
_SUBJECTS = {
    "rating": Subject(
        "responses", _ALL, "judge", _scores, "ratings.parquet", _responses, _some_responses
    ),
    "item": Subject(
        "items", ("single", "gate", "filter"), "annotate", _labels, "ratings.parquet", _items,
        _some_items,
    ),
    "comparison": Subject(
        "pairs", ("pick",), "judge", _preferences, "preferences.parquet", _responses, _some_pairs
    ),
}  # fmt: skip

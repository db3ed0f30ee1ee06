"""Answers as tidy tables: un-blinded, with the order of showing undone."""

from __future__ import annotations

import json
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.humans._answers import applies, open_questions
from voirdire.humans._form import LEVELS
from voirdire.store._parsed import PREFERENCES
from voirdire.tables import RATINGS, STATUS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from voirdire.humans._answers import Answer
    from voirdire.humans._form import Form, Question
    from voirdire.humans._plan import Key, Origin, Plan

    Answers = Mapping[str, Mapping[str, Answer]]

CHOICES: dict[str, Any] = {
    "item": pl.String, "rater": pl.String, "run": pl.Int32, "choice": pl.String, "status": STATUS,
}  # fmt: skip
TEXTS: dict[str, Any] = {
    "item": pl.String, "system": pl.String, "rater": pl.String, "run": pl.Int32,
    "question": pl.String, "text": pl.String, "status": STATUS,
}  # fmt: skip
_SCHEMAS: dict[str, dict[str, Any]] = {
    "ratings": dict(RATINGS), "preferences": PREFERENCES, "choices": CHOICES, "texts": TEXTS,
}  # fmt: skip
#: Letters that a choice is scored on: those that the judge `choice` scores, so that both join.
_LETTERS = 8


def tables_of(plan: Plan, key: Key, answers: Answers) -> dict[str, pl.DataFrame]:
    """Ratings, and preferences, choices and texts where the task brings them.

    Every judgement of the plan has its rows; one without an answer has null and status ``blank``.
    """
    rows: dict[str, list[tuple[Any, ...]]] = {"ratings": []}
    write = {
        "pointwise": _scores, "labels": _labels, "nested": _labels, "pairwise": _preferences,
        "choice": _choices,
    }[plan.task]  # fmt: skip
    letters = _letters(plan)
    for ident, rater in plan.owners.items():
        form, origin = plan.judgements[ident].form, key.origins[ident]
        for table, row in write(form, origin, rater, answers.get(ident, {}), letters):
            rows.setdefault(table, []).append(row)
    return {
        name: pl.DataFrame(found, schema=_SCHEMAS[name], orient="row")
        for name, found in rows.items()
    }


def items_of(key: Key) -> pl.DataFrame | None:
    """The further columns of the items, as text; None where they have none."""
    names = dict.fromkeys(name for extra in key.items.values() for name in extra if name != "item")
    rows = [(i, *(_plain(extra.get(n)) for n in names)) for i, extra in key.items.items()]
    schema = {"item": pl.String, **dict.fromkeys(names, pl.String)}
    return pl.DataFrame(rows, schema=schema, orient="row") if names else None


def _plain(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def attributes_of(plan: Plan) -> tuple[str, ...]:
    """The attributes of the ratings, in the form's order."""
    if plan.task == "choice":
        return _letters(plan)
    form = plan.form
    if plan.task in ("labels", "nested"):
        return tuple(label for question in form for label in question.options)
    return tuple(question.name for question in form)


def count_open(plan: Plan, answers: Answers) -> dict[str, tuple[int, int, int]]:
    """Rater -> judgements complete, begun and untouched."""
    found = {}
    for rater, ids in plan.raters.items():
        begun = [ident for ident in ids if answers.get(ident)]
        left = [i for i in begun if open_questions(plan.judgements[i].form, answers[i])]
        found[rater] = (len(begun) - len(left), len(left), len(ids) - len(begun))
    return found


def _scores(
    form: Form, origin: Origin, rater: str, answered: Mapping[str, Answer], _: tuple[str, ...]
) -> Iterator[tuple[str, tuple[Any, ...]]]:
    for question in form:
        said = answered.get(question.name)
        score = float(said) if isinstance(said, str) else None
        yield "ratings", _rating(origin, rater, question.name, score)


def _labels(
    form: Form, origin: Origin, rater: str, answered: Mapping[str, Answer], _: tuple[str, ...]
) -> Iterator[tuple[str, tuple[Any, ...]]]:
    for question in form:
        said = answered.get(question.name)
        if question.kind == "text":
            text = said if isinstance(said, str) else None
            head = (origin.item, origin.system_a or None, rater, 1, question.name)
            yield "texts", (*head, text, "blank" if text is None else "ok")
            continue
        for label in question.options:
            yield "ratings", _rating(origin, rater, label, _named(question, label, answered))


def _named(question: Question, label: str, answered: Mapping[str, Answer]) -> float | None:
    """1 or 0; None where it is not known. Under a label that was not chosen nothing is named."""
    if question.parent and question.parent not in answered:
        return None
    if not applies(question, answered):
        return 0.0
    said = answered.get(question.name)
    return None if said is None else float(label in said)


def _preferences(
    form: Form, origin: Origin, rater: str, answered: Mapping[str, Answer], _: tuple[str, ...]
) -> Iterator[tuple[str, tuple[Any, ...]]]:
    sign = 1.0 if origin.first == origin.system_a else -1.0
    for question in form:
        said = answered.get(question.name)
        # 0.0 is added so that a tie turned round is no -0.0.
        score = None if said is None else sign * (2.0 - LEVELS.index(str(said))) + 0.0
        head = (origin.item, origin.system_a, origin.system_b, origin.first, rater, 1)
        yield "preferences", (*head, question.name, score, "blank" if said is None else "ok")


def _choices(
    form: Form, origin: Origin, rater: str, answered: Mapping[str, Answer], letters: tuple[str, ...]
) -> Iterator[tuple[str, tuple[Any, ...]]]:
    said = answered.get(form[0].name)
    yield "choices", (origin.item, rater, 1, said, "blank" if said is None else "ok")
    for letter in letters:
        score = None if said is None else float(letter == said)
        yield "ratings", _rating(origin, rater, letter, score)


def _letters(plan: Plan) -> tuple[str, ...]:
    """The options of all questions: letters, or those that the study declares."""
    if plan.task != "choice":
        return ()
    longest = max((j.form[0].options for j in plan.judgements.values()), key=len)
    if longest != tuple(ascii_uppercase[: len(longest)]):
        return longest
    return tuple(ascii_uppercase[: max(_LETTERS, len(longest))])


def _rating(origin: Origin, rater: str, attribute: str, score: float | None) -> tuple[Any, ...]:
    status = "blank" if score is None else "ok"
    return origin.item, origin.system_a or None, rater, 1, attribute, score, None, status

"""Studies that can be run: the paper's tasks with models of the user's choice."""

from __future__ import annotations

from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire import InputError
from voirdire.errors import check_columns
from voirdire.study import annotator_panel, key_table, keyed, named_models, write_study
from voirdire.tables import read_questions, read_raw
from voirdire_plugins.cbt_bench.comparison_review import REFERENCE
from voirdire_plugins.cbt_bench.criteria import ATTRIBUTES, CRITERIA
from voirdire_plugins.cbt_bench.data import path_of, read_examples
from voirdire_plugins.cbt_bench.exercises import read_exercises
from voirdire_plugins.cbt_bench.label_review import KEY
from voirdire_plugins.cbt_bench.labels import task_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.tables import Question, QuestionColumns

_ITEMS, _KEY_FILE, _RESPONSES = "items.jsonl", "key.csv", "responses.csv"
_PEOPLE, _ANSWERS = "people.csv", ("item", "rater", "attribute", "score")


def write_label_study(  # noqa: PLR0913 - each is an option of the command
    out: str | Path,
    task: str,
    data: str | Path,
    models: Sequence[str],
    *,
    k: int = 0,
    examples: str = "fixed",
    embedder: str = "all-mpnet-base-v2",
    definitions: bool = False,
    people: str | Path | None = None,
    model_options: Mapping[str, Any] | None = None,
    more: Mapping[str, Any] | None = None,
) -> Path:
    """Write the study of one task of level II, and the experts' labels as its key.

    Parameters
    ----------
    out : path
        A folder, made where there is none.
    task : {"cd", "pc", "fc"}
    data : path
        The folder of the published files; items are read from there, not copied.
    models : sequence of str
        Such as ``"openai:gpt-4o"``; each is an annotator of the panel.
    k, examples, embedder, definitions
        Few-shot examples, and whether labels are defined in the prompt; see
        `voirdire_plugins.cbt_bench.annotators.make_task`.
    people : path, optional
        People's answers, compared with the models': ``item, rater, attribute, score``, a row
        a label, 1 where the person gives it. What the paper prints as Human is such a row.
    model_options : mapping, optional
        Of every model.
    more : mapping, optional
        Further keys of the study, such as ``{"run": {"max_cost": 5}}``.

    Returns
    -------
    Path
        The study.toml.

    Raises
    ------
    InputError
        No such task, the same model twice, another study in the folder, or what the files hold.
    """
    found, folder = task_of(task), Path(data).resolve()
    read = read_examples(folder, found)
    options: dict[str, Any] = {"data": str(folder), "k": k, "examples": examples} if k else {}
    options |= {"embedder": embedder} if k and examples == "nearest" else {}
    options |= {"definitions": True} if definitions else {}
    names, answers = _people(people)
    study = keyed(found.labels, KEY, _KEY_FILE)
    if names:
        study["data"]["sources"].append({"path": _PEOPLE, "layout": "long"})
    return write_study(
        out,
        {
            "name": f"cbt-{found.key}",
            "title": f"CBT-Bench: {found.name}",
            "items": {
                "path": str(path_of(folder, found)),
                "text": "thoughts",
                "extra": ["situation"],
            },
            "panel": [
                *_panel(models, f"cbt-{found.key}", options, model_options),
                *({"name": name, "kind": "human"} for name in names),
            ],
            **study,
            **(more or {}),
        },
        {_KEY_FILE: key_table(((e.id, e.labels) for e in read), found.labels, KEY), **answers},
    )


def write_question_study(
    out: str | Path,
    questions: str | Path,
    models: Sequence[str],
    *,
    columns: QuestionColumns | None = None,
    examples: str | Path | None = None,
    k: int = 5,
    model_options: Mapping[str, Any] | None = None,
    more: Mapping[str, Any] | None = None,
) -> Path:
    """Write the study of level I over any file of multiple-choice questions.

    `examples` is a file of held-out questions with the same columns, of which the first `k` are
    shown with their answers before each question. The other parameters are those of
    `write_label_study` and `read_questions`, and so are errors.

    Raises
    ------
    InputError
        A held-out question is one of those asked, by its text; or there are fewer than `k`.
    """
    found = read_questions(questions, columns)
    shots = () if examples is None else _held_out(examples, columns, found, k)
    most = max(len(question.choices) for question in (*found, *shots))
    letters = tuple(ascii_uppercase[:most])
    options: dict[str, Any] = {
        "letters": most,
        "several": any(question.several for question in found),
    }
    options |= {"examples": [_shot(question) for question in shots]} if shots else {}
    return write_study(
        out,
        {
            "name": "cbt-qa",
            "title": "CBT-Bench: CBT-QA",
            "items": {"path": _ITEMS, "extra": ["choices", "several", "type"]},
            "panel": _panel(models, "cbt-qa", options, model_options),
            **keyed(letters, KEY, _KEY_FILE),
            **(more or {}),
        },
        {
            _ITEMS: pl.DataFrame([_question(question) for question in found]),
            _KEY_FILE: key_table(((q.id, q.answer) for q in found), letters, KEY),
        },
    )


def write_exercise_study(  # noqa: PLR0913 - each is an option of the command
    out: str | Path,
    exercises: str | Path,
    models: Sequence[str],
    judges: Sequence[str],
    *,
    order: str = "both",
    experts: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    model_options: Mapping[str, Any] | None = None,
    more: Mapping[str, Any] | None = None,
) -> Path:
    """Write the study of level III: models answer, judges compare with the reference, blind.

    Parameters
    ----------
    exercises : path
        The user's file; see `read_exercises`.
    models, judges : sequence of str
        Models that answer, and models that compare.
    order : {"both", "random"}
        Each pair in both orders, or in one that is drawn and recorded.
    experts : sequence of str
        People who compare as well, each pair once: what `voirdire humans export` gives out.

    The other parameters are those of `write_label_study`, and so are errors.
    """
    found = read_exercises(exercises, columns=columns)
    given = {"model_options": dict(model_options)} if model_options else {}
    generators = [
        {"name": n, "use": "cbt-dp", "model": m, **given} for n, m in named_models(models)
    ]
    panel = [
        {"name": n, "kind": "judge", "use": "cbt-dp", "model": m, "temperature": 0.0, **given}
        for n, m in named_models(judges)
    ]
    columns_of_items = ("id", "category", "difficulty", "reference")
    items = [
        {"text": e.statement, **{name: getattr(e, name) for name in columns_of_items}}
        for e in found
    ]
    references = [(e.id, REFERENCE, e.reference) for e in found]
    return write_study(
        out,
        {
            "name": "cbt-dp",
            "title": "CBT-Bench: CBT-DP",
            "items": {"path": _ITEMS, "extra": ["category", "difficulty", "reference"]},
            "responses": {"path": _RESPONSES},
            "generators": generators,
            "panel": panel,
            "comparisons": {"against": REFERENCE, "order": order},
            "rubric": {"scale": [-2, 2], "attributes": list(ATTRIBUTES)},
            **({"humans": _experts(experts)} if experts else {}),
            **(more or {}),
        },
        {
            _ITEMS: pl.DataFrame(items),
            _RESPONSES: pl.DataFrame(references, schema=["item", "system", "text"], orient="row"),
        },
    )


def _experts(names: Sequence[str]) -> dict[str, Any]:
    return {
        "task": "pairwise",
        "raters": list(names),
        "order": "random",
        "show": ["category"],
        "item_title": "Client statement",
        "instructions": "Which of the two responses is better, on each criterion and in all?",
        "criteria_by": "category",
        "criteria_of": {category: list(texts) for category, texts in CRITERIA.items()},
    }


def _panel(
    models: Sequence[str],
    use: str,
    options: Mapping[str, Any],
    model_options: Mapping[str, Any] | None,
) -> list[dict[str, Any]]:
    shared = {"temperature": 0.0, "model_options": dict(model_options or {})}
    return [{"name": KEY, "kind": "human"}, *annotator_panel(models, use, options, **shared)]


def _people(path: str | Path | None) -> tuple[list[str], dict[str, pl.DataFrame]]:
    """Who has answered, and the table of their answers."""
    if path is None:
        return [], {}
    frame = read_raw(path).frame
    check_columns(path, _ANSWERS, frame.columns)
    names = frame["rater"].cast(pl.String).unique(maintain_order=True).to_list()
    if KEY in names:
        raise InputError(f"{path}: a person cannot be called {KEY!r}, which is the key's name")
    return names, {_PEOPLE: frame.select(_ANSWERS)}


def _question(question: Question) -> dict[str, Any]:
    return {
        "id": question.id,
        "text": question.text,
        "choices": list(question.choices),
        "several": question.several,
        "type": question.type,
    }


def _held_out(
    path: str | Path, columns: QuestionColumns | None, asked: Sequence[Question], k: int
) -> tuple[Question, ...]:
    """The first k questions of a file of examples, none of which is asked."""
    pool = read_questions(path, columns)
    texts = {_plain(question.text) for question in asked}
    shared = [question.id for question in pool if _plain(question.text) in texts]
    if shared:
        raise InputError(
            f"--examples {path}: {len(shared)} of its {len(pool)} questions are asked in the study "
            f"(question {shared[0]!r} first): their answers would be shown"
        )
    if not 0 < k <= len(pool):
        raise InputError(f"--examples {path}: -k is {k}, and it holds {len(pool)} questions")
    return pool[:k]


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _shot(question: Question) -> dict[str, Any]:
    """A question in the fields of a prompt, with the texts of its right options as the answer."""
    right = [question.choices[ascii_uppercase.index(letter)] for letter in question.answer]
    return {**_question(question), "answer": right}

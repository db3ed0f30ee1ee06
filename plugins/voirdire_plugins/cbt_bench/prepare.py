"""Studies that can be run: the paper's tasks with models of the user's choice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire import InputError
from voirdire.study import build_study, study_to_toml
from voirdire_plugins.cbt_bench.comparison_review import REFERENCE
from voirdire_plugins.cbt_bench.criteria import ATTRIBUTES, CRITERIA
from voirdire_plugins.cbt_bench.data import path_of, read_examples
from voirdire_plugins.cbt_bench.exercises import read_exercises
from voirdire_plugins.cbt_bench.label_review import KEY
from voirdire_plugins.cbt_bench.labels import task_of
from voirdire_plugins.cbt_bench.questions import read_questions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from voirdire_plugins.cbt_bench.questions import Question, QuestionColumns

_ITEMS = "items.jsonl"
_KEY_FILE = "key.csv"
_RESPONSES = "responses.csv"


def write_label_study(
    out: str | Path,
    task: str,
    data: str | Path,
    models: Sequence[str],
    *,
    k: int = 0,
    examples: str = "fixed",
    embedder: str = "all-mpnet-base-v2",
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
    k, examples, embedder
        Few-shot examples; see `voirdire_plugins.cbt_bench.annotators.make_task`.
    more : mapping, optional
        Further keys of the study, such as ``{"run": {"max_cost": 5}}``.

    Returns
    -------
    Path
        The study.toml.

    Raises
    ------
    InputError
        No such task, two models of one name, another study in the folder, or what the files
        hold.
    """
    found, folder = task_of(task), Path(data).resolve()
    read = read_examples(folder, found)
    rows = ((e.id, KEY, label, float(label in e.labels)) for e in read for label in found.labels)
    options = {"data": str(folder), "k": k, "examples": examples} if k else {}
    if k and examples == "nearest":
        options["embedder"] = embedder
    return _write(
        out,
        {
            "name": f"cbt-{found.key}",
            "title": f"CBT-Bench: {found.name}",
            "items": {
                "path": str(path_of(folder, found)),
                "text": "thoughts",
                "extra": ["situation"],
            },
            "panel": [_human(), *_annotators(models, f"cbt-{found.key}", options)],
            **_keyed(found.labels),
            **(more or {}),
        },
        key=rows,
    )


def write_question_study(
    out: str | Path,
    questions: str | Path,
    models: Sequence[str],
    *,
    columns: QuestionColumns | None = None,
    more: Mapping[str, Any] | None = None,
) -> Path:
    """Write the study of level I over any file of multiple-choice questions.

    Parameters are those of `write_label_study` and `read_questions`, and so are errors.
    """
    found = read_questions(questions, columns)
    most = max(len(question.choices) for question in found)
    letters = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ"[:most])
    options = {"letters": most, "several": any(question.several for question in found)}
    return _write(
        out,
        {
            "name": "cbt-qa",
            "title": "CBT-Bench: CBT-QA",
            "items": {"path": _ITEMS, "extra": ["choices", "several", "type"]},
            "panel": [_human(), *_annotators(models, "cbt-qa", options)],
            **_keyed(letters),
            **(more or {}),
        },
        items=(_question(question) for question in found),
        key=((q.id, KEY, a, float(a in q.answer)) for q in found for a in letters),
    )


def write_exercise_study(
    out: str | Path,
    exercises: str | Path,
    models: Sequence[str],
    judges: Sequence[str],
    *,
    order: str = "both",
    experts: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
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
    generators = [{"name": n, "use": "cbt-dp", "model": m} for n, m in _named(models)]
    panel = [
        {"name": n, "kind": "judge", "use": "cbt-dp", "model": m, "temperature": 0.0}
        for n, m in _named(judges)
    ]
    return _write(
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
        items=(
            {
                "id": e.id,
                "text": e.statement,
                "category": e.category,
                "difficulty": e.difficulty,
                "reference": e.reference,
            }
            for e in found
        ),
        responses=((e.id, REFERENCE, e.reference) for e in found),
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


def _question(question: Question) -> dict[str, Any]:
    return {
        "id": question.id,
        "text": question.text,
        "choices": list(question.choices),
        "several": question.several,
        "type": question.type,
    }


def _human() -> dict[str, str]:
    return {"name": KEY, "kind": "human"}


def _annotators(
    models: Sequence[str], use: str, options: Mapping[str, Any]
) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "kind": "annotator",
            "use": use,
            "model": model,
            "temperature": 0.0,
            "options": dict(options),
        }
        for name, model in _named(models)
    ]


def _named(models: Sequence[str]) -> list[tuple[str, str]]:
    """Models with their names: what stands behind the prefix."""
    names = [model.partition(":")[2] or model for model in models]
    twice = [name for name in names if names.count(name) > 1]
    if twice or not names:
        what = f"two are called {twice[0]!r}" if twice else "none was given"
        raise InputError(f"cbt_bench: models need names that differ; {what}")
    return list(zip(names, models, strict=True))


def _keyed(labels: Sequence[str]) -> dict[str, Any]:
    """Labels as attributes on 0..1, and the key as the reference."""
    return {
        "data": {"sources": [{"path": _KEY_FILE, "layout": "long"}], "reference": [KEY]},
        "rubric": {"scale": [0, 1], "attributes": list(labels)},
    }


def _write(
    out: str | Path,
    raw: Mapping[str, Any],
    *,
    items: Iterable[Mapping[str, Any]] = (),
    key: Iterable[tuple[Any, ...]] = (),
    responses: Iterable[tuple[str, ...]] = (),
) -> Path:
    folder = Path(out)
    path, said = folder / "study.toml", study_to_toml(build_study(raw, str(raw["name"]), str(out)))
    if path.is_file() and path.read_bytes() != said.encode():
        raise InputError(f"{path}: another study lies there; give another folder, or remove it")
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(item, ensure_ascii=False) for item in items]
    if lines:
        (folder / _ITEMS).write_text("\n".join(lines) + "\n", encoding="utf-8")
    _write_table(folder / _KEY_FILE, ["item", "rater", "attribute", "score"], key)
    _write_table(folder / _RESPONSES, ["item", "system", "text"], responses)
    path.write_text(said, encoding="utf-8", newline="\n")
    return path


def _write_table(path: Path, names: list[str], rows: Iterable[tuple[Any, ...]]) -> None:
    found = list(rows)
    if found:
        pl.DataFrame(found, schema=names, orient="row").write_csv(path)

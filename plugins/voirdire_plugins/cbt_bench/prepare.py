"""Studies that can be run: the paper's tasks with models of the user's choice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.study import compared_study, keyed_study, model_entries, write_study
from voirdire.tables import question_study, read_answers, read_records
from voirdire_plugins.cbt_bench import comparison
from voirdire_plugins.cbt_bench.benchmark import KEY, REFERENCE
from voirdire_plugins.cbt_bench.comparison import ATTRIBUTES, CRITERIA, DIFFICULTIES
from voirdire_plugins.cbt_bench.data import path_of, read_examples
from voirdire_plugins.cbt_bench.labels import task_of
from voirdire_plugins.conversations.studies import labelled_said, write_labelled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


#: What stands as the situation of a patient who is known by a conversation alone.
SITUATION = "A conversation with a counsellor, by text."
#: What a file of exercises holds.
COLUMNS = ("id", "category", "difficulty", "statement", "reference")


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
        People's answers, compared with the models': see `voirdire.tables.read_answers`. What the
        paper prints as Human is such a row.
    model_options : mapping, optional
        Of every model.
    more : mapping, optional
        Further keys of the study, such as ``{"run": {"max_cost": 5}}``.

    Raises
    ------
    InputError
        No such task, the same model twice, another study in the folder, or what the files hold.
    """
    asked, folder = task_of(task), Path(data).resolve()
    options: dict[str, Any] = {"data": str(folder), "k": k, "examples": examples} if k else {}
    options |= {"embedder": embedder} if k and examples == "nearest" else {}
    options |= {"definitions": True} if definitions else {}
    items = {"path": str(path_of(folder, asked)), "text": "thoughts", "extra": ["situation"]}
    study, tables = keyed_study(
        f"cbt-{asked.key}",
        f"CBT-Bench: {asked.name}",
        asked.labels,
        ((example.id, example.labels) for example in read_examples(folder, asked)),
        model_entries(
            models, f"cbt-{asked.key}", options, temperature=0.0, model_options=model_options
        ),
        key=KEY,
        people=None if people is None else read_answers(people),
        **{"items": items, **(more or {})},
    )
    return write_study(out, study, tables)


def write_conversation_study(
    out: str | Path,
    talks: str | Path,
    task: str,
    models: Sequence[str],
    *,
    model_options: Mapping[str, Any] | None = None,
    **asked: Any,
) -> str:
    """Write the study of one task of level II over conversations, or over their turns.

    `asked` are further parameters of `voirdire_plugins.conversations.studies.write_labelled`, and
    errors are its own.

    Returns
    -------
    str
        What was written and what to do next.
    """
    labelled = task_of(task)
    study = {
        "name": f"cbt-{labelled.key}",
        "title": f"CBT-Bench: {labelled.name} over conversations",
        "panel": model_entries(
            models, f"cbt-{labelled.key}", temperature=0.0, model_options=model_options
        ),
    }
    # The prompts show a situation and thoughts: the turn, with what was said before, is the latter.
    path = write_labelled(
        out, talks, study, labelled.labels, extra={"situation": SITUATION}, **asked
    )
    return labelled_said(path, "", **asked)


def write_question_study(
    out: str | Path, questions: str | Path, models: Sequence[str], **asked: Any
) -> Path:
    """Write the study of level I over any file of multiple-choice questions.

    `asked` are further parameters of `voirdire.tables.question_study`: ``columns``, ``examples``,
    ``k``, ``people``, ``model_options``, ``more``. Errors are its own, and another study in the
    folder.
    """
    study, tables = question_study(
        questions, models, name="cbt-qa", title="CBT-Bench: CBT-QA", use="cbt-qa", key=KEY, **asked
    )
    return write_study(out, study, tables)


def write_exercise_study(  # noqa: PLR0913 - each is an option of the command
    out: str | Path,
    exercises: str | Path,
    models: Sequence[str],
    judges: Sequence[str],
    *,
    order: str = "both",
    experts: Sequence[str] = (),
    reason: str = "",
    columns: Mapping[str, str] | None = None,
    model_options: Mapping[str, Any] | None = None,
    judge_options: Mapping[str, Any] | None = None,
    more: Mapping[str, Any] | None = None,
) -> Path:
    """Write the study of level III: models answer, judges compare with the reference, blind.

    Parameters
    ----------
    exercises : path
        The user's file, with `COLUMNS`; see `voirdire.tables.read_records`.
    models, judges : sequence of str
        Models that answer, and models that compare.
    order : {"both", "random"}
        Each pair in both orders, or in one that is drawn and recorded.
    experts : sequence of str
        People who compare as well, each pair once: what `voirdire humans export` gives out.
    reason : str
        What they are asked to say in words of each comparison; empty: nothing.
    judge_options : mapping, optional
        Of every judge's model; by default those of `model_options`, which go to the other models.

    The other parameters are those of `write_label_study`, and so are errors.
    """
    allowed = {"category": list(CRITERIA), "difficulty": DIFFICULTIES}
    records = read_records(exercises, COLUMNS, allowed, what="exercise", names=columns)
    items = [{"text": one.pop("statement"), **one} for one in records]
    judged = model_options if judge_options is None else judge_options
    study, tables = compared_study(
        "cbt-dp",
        "CBT-Bench: CBT-DP",
        items,
        {one["id"]: one["reference"] for one in items},
        model_entries(models, "cbt-dp", kind="", model_options=model_options),
        model_entries(judges, "cbt-dp", kind="judge", temperature=0.0, model_options=judged),
        ATTRIBUTES,
        against=REFERENCE,
        order=order,
        **({"humans": comparison.experts(experts, reason)} if experts else {}),
        **(more or {}),
    )
    return write_study(out, study, tables)

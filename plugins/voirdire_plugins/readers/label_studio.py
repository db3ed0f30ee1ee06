"""Label Studio: exports as JSON, JSON-MIN and CSV."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import voirdire
from voirdire.errors import half_character
from voirdire.tables import Reading, ReadingBuilder
from voirdire_plugins.readers.files import csv_of, facts_of, json_of, listed, objects, part

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

NAME = "label_studio"
#: What JSON-MIN and CSV hold beside a task's data and its results.
_META = frozenset(
    ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "file_upload")
)
#: In these no column says whether it holds data or results: more values than this are data.
_MOST_VALUES = 20
#: Types of results that say where in a text, a picture or a sound something is.
_REGIONS = "labels"


def read(path: Path) -> Reading:
    """Results (attributes) of tasks (items) by annotator (a person) or prediction (a model)."""
    rows = ReadingBuilder(NAME, path.name)
    if path.suffix == ".csv":
        header, *lines = csv_of(path)
        _read_small([dict(zip(header, map(_cell, line), strict=False)) for line in lines], rows)
    else:
        whole = json_of(path)
        tasks = objects(whole)
        if any("annotation_id" in task for task in tasks[:20]):
            _read_small(tasks, rows)
        else:
            for at, (_, task) in enumerate(rows.each(listed(whole, "task")), 1):
                _task(rows, task, at)
    _refuse_comparisons(rows)
    return rows.reading()


def _refuse_comparisons(rows: ReadingBuilder) -> None:
    """A project that compares holds no ratings: a choice of left or right is no score."""
    compared = rows.unused.get(_COMPARED, [])
    if compared and not rows.given and not rows.labelled:
        raise voirdire.TableError(
            f"{rows.file}: a Label Studio export of a pairwise project: its {len(compared)} "
            f"results say which of two texts is preferred, and none is a rating of one; write them "
            f"as comparisons with the columns item, system_a, system_b, rater, attribute and score"
        )


#: What the server's plain export holds of a prediction.
_NUMBER_ALONE = (
    "the export holds the number of a prediction alone: make a snapshot of the project that "
    "includes predictions, and export that"
)
_COMPARED = "it says which of two is preferred (pairwise), which is no rating of one"


def _task(rows: ReadingBuilder, task: dict[str, Any], at: int) -> None:
    data = task.get("data")
    item = rows.shown(task.get("id", at), facts_of(data))
    annotations = objects(task.get("annotations", task.get("completions")))
    for one in annotations:
        where = f"task {item}, annotation {one.get('id')}"
        if one.get("was_cancelled"):
            rows.leave_out("the annotator skipped the task", where)
            continue
        who = _annotator(one)
        rows.rater(who, "human")
        _results(rows, item, who, one.get("result"), where)
    predictions = task.get("predictions")
    for one in predictions if isinstance(predictions, list) else []:
        if isinstance(one, int):
            rows.leave_out(_NUMBER_ALONE, f"task {item}")
    for one in objects(predictions):
        model = str(one.get("model_version") or "prediction")
        rows.rater(model, model=model)
        _results(rows, item, model, one.get("result"), f"task {item}, prediction {one.get('id')}")
    if not annotations and not predictions:
        rows.leave_out("the task has neither annotations nor predictions", f"task {item}")
    for _ in objects(task.get("drafts")):
        rows.leave_out("it is a draft that was not submitted", f"task {item}")


def _annotator(annotation: dict[str, Any]) -> str:
    who = annotation.get("completed_by")
    if isinstance(who, dict):
        who = who.get("email") or who.get("id")
    return "annotator" if who is None else f"annotator {who}" if isinstance(who, int) else str(who)


def _results(rows: ReadingBuilder, item: str, rater: str, results: Any, where: str) -> None:
    chosen = objects(results)
    if not chosen:
        rows.leave_out("nothing was chosen", where)
    for one in chosen:
        _result(rows, item, rater, one, where)


def _result(
    rows: ReadingBuilder, item: str, rater: str, result: dict[str, Any], where: str
) -> None:
    kind, value = str(result.get("type")), result.get("value")
    name = str(result.get("from_name") or kind)
    if kind in ("rating", "number"):
        rows.rate(item, rater, name, part(value, kind))
    elif kind == "choices":
        chosen = part(value, "choices")
        # A place in a text or sound, or in a picture.
        region = part(value, "start") is not None or part(value, "x") is not None
        if region:
            rows.leave_out("it is chosen for a region of the task, and not for all of it", where)
        else:
            rows.label(item, rater, name, chosen if isinstance(chosen, list) else [str(chosen)])
    elif kind == "pairwise":
        rows.leave_out(_COMPARED, where)
    elif kind.endswith(_REGIONS):
        rows.leave_out(f"it marks a region ({kind}), which is no rating", where)
    else:
        rows.leave_out(f"results of type {kind} are no ratings", where)


def _cell(text: str) -> Any:
    """A cell of the CSV: objects and lists stand there as JSON."""
    if text.startswith(("{", "[")):
        try:
            value = json.loads(text)
        except ValueError:
            return text
        return text if half_character(value) else value
    return text or None


def _read_small(annotations: Sequence[dict[str, Any]], rows: ReadingBuilder) -> None:
    """One object an annotation; data and results stand side by side under their own names."""
    names = list(dict.fromkeys(name for one in annotations for name in one if name not in _META))
    results = [name for name in names if _holds_results(annotations, name)]
    data = [name for name in names if name not in results]
    if not results:
        raise voirdire.TableError(
            f"{rows.file}: this export of Label Studio holds no column of ratings or choices "
            f"(columns: {', '.join(names)}); export the project as JSON, which says what is what"
        )
    rows.note(
        "columns_taken",
        f"Taken for results: {', '.join(results)}; for data of the tasks: {', '.join(data)}. "
        f"JSON-MIN and CSV do not say which is which.",
        "Export the project as JSON where that is wrong.",
        serious=False,
    )
    for at, (_, one) in enumerate(rows.each(listed([*annotations], "annotation")), 1):
        shown = {name: one[name] for name in data if name in one}
        item = rows.shown(one.get("id", at), shown)
        # CSV holds the number of an annotator as text, JSON as a number: one name for both.
        who = _annotator({"completed_by": _whole(one.get("annotator"))})
        rows.rater(who, "human")
        for name in results:
            _small(rows, item, who, name, one.get(name))


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, str) and value.isdigit() else value


def _small(rows: ReadingBuilder, item: str, rater: str, name: str, value: Any) -> None:
    chosen = part(value, "choices")
    if chosen is not None:
        rows.label(item, rater, name, chosen)
    elif part(value, 0, "selected") is not None:
        rows.leave_out(_COMPARED, f"task {item}, {name}")
    elif isinstance(value, list):
        ratings = [part(one, "rating") for one in value]
        rows.rate(item, rater, name, ratings[-1] if ratings else None)
    elif value is None:
        rows.leave_out("nothing was chosen", f"task {item}, {name}")
    else:
        rows.label(item, rater, name, [str(value)])


def _holds_results(annotations: Sequence[dict[str, Any]], name: str) -> bool:
    """Whether a column holds few values that repeat, or what only results look like."""
    filled = [one for one in annotations if one.get(name) is not None]
    values = [one[name] for one in filled]
    marks = ("rating", "selected")
    if any(part(v, "choices") or any(part(v, 0, mark) for mark in marks) for v in values):
        return True
    if any(isinstance(value, dict | list) for value in values):
        return False
    few = len(set(map(str, values)))
    if values and few <= _MOST_VALUES and all(map(_is_small, values)):
        return True
    # Data are the same whoever annotates a task, and repeat because several did.
    tasks = {str(one.get("id")) for one in filled}
    of_tasks = {(str(one.get("id")), str(one[name])) for one in filled}
    data = len(of_tasks) == len(tasks) and 2 * few > len(tasks)
    return 1 < few <= _MOST_VALUES and 2 * few <= len(values) and not data


def _is_small(value: Any) -> bool:
    """Whether it is a whole number that a scale of stars may have."""
    text = str(value)
    return text.isdigit() and int(text) <= 10

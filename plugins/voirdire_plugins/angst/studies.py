"""The benchmark's study, written for a user's gold and silver files and models."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire import InputError
from voirdire.errors import check_allowed
from voirdire.files import write_text
from voirdire.study import Study, build_study, model_entries, named_models
from voirdire.study import write_study as write_files
from voirdire.tables import read_raw
from voirdire_judges.questionnaire import asked_by_scales, scales_of
from voirdire_plugins.angst.annotators import RUNS, TASKS, TOP_P
from voirdire_plugins.angst.labels import LABELS, read_posts
from voirdire_plugins.conversations.studies import labelled_said, write_labelled
from voirdire_plugins.resources import resource

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

#: The rater of the gold labels, and that of a grid of classifiers' test labels.
GOLD, TRUTH = "gold", "truth"
_TEXTS = resource("angst", "texts")
_OWN = ("id", "text", *LABELS, "class")
_TRAINED = "trained.csv"


def angst_study(  # noqa: PLR0913 - one a part of the study
    models: Sequence[str],
    *,
    gold: str = "gold.csv",
    examples: Mapping[str, Any] | None = None,
    tasks: Sequence[str] = tuple(TASKS),
    scales: Mapping[str, float | None] | None = None,
    variant: str = "hengle2024",
    runs: int = RUNS,
    temperature: float = 1.0,
    model_options: Mapping[str, Any] | None = None,
    trained: Sequence[str] = (),
    extra: Sequence[str] = (),
    excerpt: int = 0,
    compare: Sequence[str] = (),
    folder: str = ".",
) -> Study:
    """A study of the benchmark: gold labels, zero- and few-shot panels, questionnaires.

    Parameters
    ----------
    models : sequence of str
        ``prefix:name`` of each model.
    gold : str
        The file of gold posts, with ``id, text, depression, anxiety``.
    examples : mapping, optional
        Where few-shot examples come from; without it all is zero-shot.
    tasks : sequence of str
        Of depression, anxiety, comorbidity.
    scales : mapping, optional
        Questionnaire -> threshold, or None for a total without a label.
    variant, runs, temperature, model_options
        Of every questionnaire and every rater. Runs differ only above temperature 0.
    trained : sequence of str
        Names of trained classifiers, whose predictions lie in ``trained.csv``.
    extra : sequence of str, optional
        Further columns of the gold posts that the items keep, such as ``author``, ``evidence``.
    excerpt : int
        The most characters of a post that the report may show, its evidence marked.
    compare : sequence of str
        Pairs of raters, ``"FIRST, SECOND"``, that are set against each other; by default the best
        and the next of each task, one model asked in two ways, and the best asked and trained.

    Raises
    ------
    InputError
        A questionnaire or variant that is not there, or a threshold that decides nothing.

    Examples
    --------
    >>> study = angst_study(["simulated:a"], examples={"pool": "silver.csv"})
    >>> [rater.name for rater in study.panel][:3], len(study.panel)
    (['gold', 'a zero-shot depression', 'a few-shot depression'], 7)
    """
    common = {"runs": runs, "temperature": temperature, "model_options": dict(model_options or {})}
    panel: list[dict[str, Any]] = [{"name": GOLD, "kind": "human"}]
    for name, model in named_models(models):
        ask = {"kind": "annotator", "model": model, **common}
        for task in tasks:
            own = {**ask, "use": "angst", "top_p": TOP_P}
            panel.append({**own, "name": f"{name} zero-shot {task}", "options": {"task": task}})
            if examples:
                shots = {"task": task, "examples": _examples(examples, task)}
                panel.append({**own, "name": f"{name} few-shot {task}", "options": shots})
        panel += asked_by_scales({**ask, "name": name}, scales or {}, variant)
    sources: list[dict[str, Any]] = [
        {
            "path": gold,
            "layout": "scores",
            "rater": GOLD,
            "item": "id",
            "context": "text",
            "columns": {label: label for label in LABELS},
        },
    ]
    sources += [{"path": _TRAINED, "layout": "long"}] if trained else []
    raw = {
        "name": "angst",
        "title": _TEXTS["title"],
        "scope": _TEXTS["scope"],
        "data": {"reference": [GOLD], "sources": sources, "excerpt": excerpt},
        "analysis": {"compare": [_pair(names) for names in compare]},
        "rubric": {"name": "angst", "scale": [0, 1], "attributes": list(LABELS)},
        "items": {"path": gold, "id": "id", "text": "text", "extra": list(extra)},
        "panel": [*panel, *({"name": name, "kind": "classifier"} for name in trained)],
    }
    return build_study(raw, "angst", folder)


def _pair(names: str) -> list[str]:
    pair = [name.strip() for name in names.split(",")]
    if len(pair) != 2:
        raise InputError(f'--compare {names!r}: name two raters as "FIRST, SECOND"')
    return pair


def _examples(spec: Mapping[str, Any], task: str) -> dict[str, Any]:
    """Where examples come from; a balanced selector balances the task's label, or the classes."""
    if spec.get("selector") != "balanced" or "label" in spec:
        return dict(spec)
    return {**spec, "labels": [*LABELS, "class"], "label": task if task in LABELS else "class"}


def write_study(
    gold: str,
    models: Sequence[str],
    out: Path,
    *,
    silver: str | None = None,
    shots: Mapping[str, Any] | None = None,
    trained: Path | None = None,
    columns: Mapping[str, str] | None = None,
    scales: Sequence[str] = (),
    **panel: Any,
) -> str:
    """Write study.toml and gold.csv; with silver posts also silver.csv and finetune.toml.

    `trained` are the ratings of a grid of classifiers (`voirdire classify evaluate`), `scales` are
    ``NAME`` or ``NAME=THRESHOLD``. `panel` are further parts of `angst_study`.
    """
    author = {ours: theirs for ours, theirs in (columns or {}).items() if ours == "author"}
    posts = read_posts(gold, columns)
    extra = [*author, *(name for name in ("evidence",) if name in posts.columns)]
    tables = {"gold.csv": posts.select(*_OWN, *extra)}
    unclear = 0
    if silver is not None:
        pool = read_posts(silver, author)
        tables["silver.csv"] = pool.drop_nulls("class").select(*_OWN, *author)
        unclear = pool["class"].null_count()
        files_of = {"pool": "silver.csv", "index": "silver-index", "cache": "vectors"}
        panel["examples"] = {**(shots or {}), **files_of} | ({"group": "author"} if author else {})
    if trained is not None:
        tables[_TRAINED] = _predictions(trained)
        panel["trained"] = tables[_TRAINED]["rater"].unique(maintain_order=True).to_list()
    study = angst_study(models, extra=extra, scales=scales_of(scales), **panel)
    path = write_files(out, study, tables)
    if silver is not None:
        grid = files("voirdire_plugins.angst") / "finetune.toml"
        write_text(out / "finetune.toml", grid.read_text(encoding="utf-8"))
    unlabelled = posts["class"].null_count()
    return (
        f"{path}: {len(study.panel) - 1} raters, {posts.height} posts"
        + (f" ({unlabelled} without both gold labels)" if unlabelled else "")
        + (f"; left out {unclear} silver posts without both labels" if unclear else "")
        + ". No result licenses clinical use."
    )


def write_conversation_study(
    out: str | Path,
    talks: str | Path,
    models: Sequence[str],
    *,
    tasks: Sequence[str] = tuple(TASKS),
    runs: int = RUNS,
    model_options: Mapping[str, Any] | None = None,
    **asked: Any,
) -> str:
    """Write a study that asks the paper's questions of conversations or of their turns.

    `asked` are further parameters of `voirdire_plugins.conversations.studies.write_labelled`, and
    errors are its own.

    Returns
    -------
    str
        What was written and what to do next.
    """
    check_allowed("task", tasks, TASKS, "--task")
    panel = [
        {**one, "name": f"{one['name']} {task}", "runs": runs, "top_p": TOP_P}
        for task in dict.fromkeys(tasks)
        for one in model_entries(
            models, "angst", {"task": task}, temperature=1.0, model_options=model_options
        )
    ]
    study = {"name": "angst", "title": _TEXTS["title"], "scope": _TEXTS["scope"], "panel": panel}
    return labelled_said(write_labelled(out, talks, study, LABELS, **asked), "angst", **asked)


def _predictions(path: Path) -> pl.DataFrame:
    """Predictions of trained classifiers as ratings, without the key that stands among them."""
    columns = ("item", "rater", "run", "attribute", "score")
    frame = read_raw(path).frame.select(columns)
    # A grid of several label sets names its keys "truth, ..."; the gold labels are the study's
    # own.
    return frame.filter(~pl.col("rater").cast(pl.String).str.starts_with(TRUTH))

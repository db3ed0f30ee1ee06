"""The benchmark's study, written for a user's gold and silver files and model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.study import Study, build_study, named_models
from voirdire_judges.questionnaires import make as questionnaire
from voirdire_plugins.angst.annotators import RUNS, TASKS, TOP_P
from voirdire_plugins.angst.labels import LABELS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

GOLD = "gold"
SCALES = {"phq9": "PHQ-9", "madrs": "MADRS", "hamilton": "HAM-A", "bai": "BAI"}
SCOPE = (
    "Posts in English and two labels given by readers of the posts. A label of a post is no "
    "diagnosis of its author, and no result licenses clinical use."
)


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
    author: str = "",
    extra: Sequence[str] = (),
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
    author : str, optional
        Column of authors in the gold and silver posts: no post of an author is an example for
        another of theirs.
    extra : sequence of str, optional
        Further columns of the gold posts that the items keep, such as ``evidence``.

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
    if examples and author:
        examples = {**examples, "group": author}
    for name, model in named_models(models):
        ask = {"kind": "annotator", "model": model, **common}
        for task in tasks:
            own = {**ask, "use": "angst", "top_p": TOP_P}
            panel.append({**own, "name": f"{name} zero-shot {task}", "options": {"task": task}})
            if examples:
                shots = {"task": task, "examples": _examples(examples, task)}
                panel.append({**own, "name": f"{name} few-shot {task}", "options": shots})
        for scale, threshold in (scales or {}).items():
            options: dict[str, Any] = {"scale": scale, "variant": variant}
            options |= {} if threshold is None else {"threshold": threshold}
            if not scale.endswith(".toml"):  # a file is looked for beside the study, when it runs
                questionnaire(**options)
            label = SCALES.get(scale, scale)
            panel.append(
                {**ask, "use": "questionnaire", "name": f"{name} {label}", "options": options}
            )
    source = {
        "path": gold,
        "layout": "scores",
        "rater": GOLD,
        "item": "id",
        "context": "text",
        "columns": {label: label for label in LABELS},
    }
    return build_study(
        {
            "name": "angst",
            "title": "Depression and anxiety in posts (Hengle et al. 2024)",
            "scope": SCOPE,
            "data": {"reference": [GOLD], "sources": [source]},
            "rubric": {"name": "angst", "scale": [0, 1], "attributes": list(LABELS)},
            "items": {
                "path": gold,
                "id": "id",
                "text": "text",
                "extra": [*([author] if author else []), *extra],
            },
            "panel": panel,
        },
        "angst",
        folder,
    )


def _examples(spec: Mapping[str, Any], task: str) -> dict[str, Any]:
    """Where examples come from; a balanced selector balances the task's label, or the classes."""
    if spec.get("selector") != "balanced" or "label" in spec:
        return dict(spec)
    return {**spec, "labels": [*LABELS, "class"], "label": task if task in LABELS else "class"}

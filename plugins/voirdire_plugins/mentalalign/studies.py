"""A study of your own conversations, responses and judges on the rubric of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import check_columns
from voirdire.study import named_models, write_study
from voirdire.tables import read_labelled, read_raw
from voirdire_judges.rubrics import load_rubric
from voirdire_plugins.mentalalign.benchmark import RUBRIC
from voirdire_plugins.resources import resource

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_ITEMS, _RESPONSES, _HUMANS = "items.csv", "responses.csv", "humans.csv"
_RATED = ("item", "system", "rater", "attribute", "score")


def write_judge_study(  # noqa: PLR0913 - each is an option of the command
    out: str | Path,
    conversations: str | Path,
    responses: str | Path,
    models: Sequence[str],
    *,
    humans: str | Path | None = None,
    runs: int = 1,
    temperature: float = 0.0,
    prompts: int = 1,
    model_options: Mapping[str, Any] | None = None,
) -> Path:
    """Write study.toml, the items and responses, and people's ratings where there are any.

    A judge leaves out the systems of its own family, where `responses` names families: a model's
    family is its provider, the part of its name before the colon. With several `prompts` each model
    is asked in so many wordings, each a judge of its own. A column ``conditions`` of the
    conversations, their names separated by semicolons, is kept.

    Raises
    ------
    InputError
        The same model twice, or another study in the folder.
    TableError
        A column is absent, or an id is empty or repeated.
    """
    items = read_labelled(conversations)
    extra = [name for name in ("conditions",) if name in items.columns]
    answers = read_raw(responses).frame
    check_columns(responses, ("item", "system", "text"), answers.columns)
    tables = {
        _ITEMS: items.select("id", "text", *extra),
        _RESPONSES: answers.select("item", "system", "text"),
    }
    declared = [name for name in ("label", "family", "group") if name in answers.columns]
    systems = answers.select(pl.col("system").alias("name"), *declared).unique(
        "name", keep="first", maintain_order=True
    )
    study: dict[str, Any] = {
        "name": "mentalalign",
        "title": "Judges on the rubric of MentalAlign-70k",
        "items": {"path": _ITEMS, "extra": extra},
        "responses": {"path": _RESPONSES},
        "rubric": {"use": "mentalalign", **RUBRIC},
        "systems": [
            {key: str(value) for key, value in row.items() if value not in (None, "")}
            for row in systems.to_dicts()
        ],
    }
    panel = _judges(models, runs, temperature, prompts, model_options)
    if humans is not None:
        rated = read_raw(humans).frame
        check_columns(humans, _RATED, rated.columns)
        tables[_HUMANS] = rated.select(_RATED)
        names = rated["rater"].cast(pl.String).unique(maintain_order=True).to_list()
        study["data"] = {"sources": [{"path": _HUMANS, "layout": "long"}], "reference": names}
        panel = [*({"name": name, "kind": "human"} for name in names), *panel]
    return write_study(out, {**study, "panel": panel}, tables)


def _judges(
    models: Sequence[str],
    runs: int,
    temperature: float,
    prompts: int,
    model_options: Mapping[str, Any] | None,
) -> list[dict[str, Any]]:
    own = load_rubric("mentalalign").instructions
    wordings = [own, *map(str.strip, resource("mentalalign", "paraphrases")["paraphrases"])]
    given = {"model_options": dict(model_options)} if model_options else {}
    return [
        {
            "name": name if at == 1 else f"{name} prompt {at}",
            "kind": "judge",
            "use": "rubric",
            "model": model,
            "family": model.partition(":")[0],
            "runs": runs,
            "temperature": temperature,
            # One wording alone is the rubric's own, and said nowhere else.
            **({"options": {"instructions": words}} if prompts > 1 else {}),
            **given,
        }
        for name, model in named_models(models)
        for at, words in enumerate(wordings[:prompts], start=1)
    ]

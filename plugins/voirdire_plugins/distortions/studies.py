"""The paper's panel over a user's texts: each model and temperature, asked by both prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from voirdire import TableError
from voirdire.errors import check_allowed
from voirdire.schema import Item
from voirdire.study import keyed_study, named_models, write_study
from voirdire.tables import named_labels, read_labelled
from voirdire_plugins.distortions.labels import LABELS, PROMPTS, STEPS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import polars as pl

_ITEMS = "items.csv"
#: Whose labels stand next to the texts.
PEOPLE = "People"
_DEFINED = {"without": (False,), "with": (True,), "both": (False, True)}


def write_annotation_study(  # noqa: PLR0913 - each is an option of the command
    out: str | Path,
    texts: str | Path,
    models: Sequence[str],
    *,
    columns: Mapping[str, str],
    temperatures: Sequence[float] = (0.5, 0.7),
    runs: int = 5,
    at_least: int | None = None,
    definitions: Literal["without", "with", "both"] = "without",
    steps: Sequence[str] = (),
    model_options: Mapping[str, Any] | None = None,
) -> Path:
    """Write study.toml and items.csv: an annotator for each model, temperature and prompt.

    Parameters
    ----------
    columns : mapping
        ``id`` and ``text``, and ``dominant`` and ``secondary`` where people have labelled the
        texts -> the file's columns. Those labels are the key that verdicts hold annotators against.
    at_least : int, optional
        Runs that must name a label; by default four fifths of them.
    definitions : {"without", "with", "both"}
        Define the distortions in the prompt, which the paper does not; "both" asks each model in
        both ways, so that the report sets them side by side.
    steps : sequence of {"dot", "erd"}
        Each model is asked in the steps of these frameworks too.

    Raises
    ------
    InputError
        The same model twice, steps of no framework, another study in the folder, or a label of
        people that is none of the paper's.
    TableError
        A column is absent, or an id is empty or repeated.
    """
    check_allowed("steps", steps, STEPS, "--steps")
    items = read_labelled(texts, (), columns)
    labelled = [name for name in ("dominant", "secondary") if name in columns]
    if "secondary" in labelled and "dominant" not in labelled:
        raise TableError(
            f"{texts}: --secondary needs --dominant: name the column of the dominant label too"
        )
    panel = [
        {
            "name": f"{name} {heat:g} {prompt}{' defined' if defined else ''}"
            + (f" {first}" if first else ""),
            "kind": "annotator",
            "use": "distortions",
            "model": model,
            "temperature": heat,
            "runs": runs,
            "options": {
                "prompt": prompt,
                **({"definitions": True} if defined else {}),
                **({"steps": first} if first else {}),
            },
            **({"model_options": dict(model_options)} if model_options else {}),
        }
        for name, model in named_models(models)
        for heat in temperatures
        for defined in _DEFINED[definitions]
        for first in ("", *dict.fromkeys(steps))
        for prompt in PROMPTS
    ]
    title = "Cognitive distortions, labelled again and again (Sharma et al.)"
    parts: dict[str, Any] = {"items": {"path": _ITEMS, "extra": labelled}}
    parts |= {} if at_least is None else {"analysis": {"at_least": at_least}}
    tables = {_ITEMS: items.select("id", "text", *labelled)}
    study: dict[str, Any] = {"name": "distortions", "title": title, "panel": panel, **parts}
    if labelled:
        # What people labelled is what verdicts hold the annotators against.
        study, key = keyed_study(
            "distortions", title, LABELS.labels, _truth(items, labelled), panel, key=PEOPLE, **parts
        )
        tables |= key
    return write_study(out, study, tables)


def _truth(items: pl.DataFrame, columns: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Items that people labelled, with their labels."""
    named = named_labels(
        [
            Item(row["id"], "", {name: row[name] for name in columns})
            for row in items.iter_rows(named=True)
        ],
        LABELS,
    ).drop_nulls("labels")
    return list(named.select("item", "labels").iter_rows())

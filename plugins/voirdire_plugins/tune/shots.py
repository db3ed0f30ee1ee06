"""Few-shot candidates: labelled units that are shown to a judge, and that measure nothing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire.errors import InputError
from voirdire.examining.narrowing import beside
from voirdire.files import write_text
from voirdire.schema import Finding
from voirdire.stats.tuning import FEWEST
from voirdire.tables import read_items
from voirdire_plugins.tune.candidates import candidate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.schema import Scale
    from voirdire.study import Rater
    from voirdire_plugins.tune.asking import Asking
    from voirdire_plugins.tune.units import Units

#: The file of the units that are shown.
POOL = "examples.jsonl"
#: The share of labelled items that is set aside to be shown.
SHARE = 1 / 3


def set_aside(units: Units, seed: int) -> tuple[Units, Units]:
    """Units that may be shown, and those that measure; what belongs together stays together.

    Raises
    ------
    InputError
        Too few would be left to measure.
    """
    names, code = np.unique(units.cluster, return_inverse=True)
    number = round(len(names) * SHARE)
    if len(names) - number < FEWEST:
        need = math.ceil(FEWEST / (1 - SHARE)) - len(names)
        raise InputError(
            f"--shots: {len(names)} items are labelled; a third of them is shown and {FEWEST} must "
            f"be left to measure: label {max(need, 1)} items more. Nobody was asked."
        )
    shown = np.zeros(len(names), bool)
    shown[np.random.default_rng(seed).permutation(len(names))[:number]] = True
    return units.taken(shown[code]), units.taken(~shown[code])


def shown_by(
    judge: Rater,
    numbers: Sequence[int],
    pool: Units,
    asking: Asking,
    scale: Scale | None,
    options: Mapping[str, Any],
) -> tuple[tuple[Rater, ...], Finding]:
    """Candidates that are shown so many examples each, chosen for each unit by the retriever.

    Raises
    ------
    InputError
        The judge takes no examples, or no unit is labelled on all that it is asked.
    """
    if judge.use not in ("", "rubric", "yes-no") or "examples" in judge.options:
        why = "has examples already" if "examples" in judge.options else "takes none"
        raise InputError(f"--shots: {judge.name} {why}")
    rows = _rows(pool, asking, scale)
    if not rows:
        raise InputError(
            f"--shots: none of {len(pool)} labels is of {asking.subject.name} that people labelled "
            "on everything that the judge is asked"
        )
    asking.out.mkdir(parents=True, exist_ok=True)
    path = asking.out / POOL
    write_text(path, pl.DataFrame(rows, infer_schema_length=None).write_ndjson())
    made = tuple(
        candidate(
            judge, f"{k} examples",
            {"options": {"examples": {
                "selector": "nearest", **options, "pool": beside(path, asking.study.folder),
                "k": k, "of_items": True,
            }}},
            "--shots",
        )
        for k in dict.fromkeys(numbers)
    )  # fmt: skip
    finding = Finding(
        "shown_aside",
        "note",
        judge.name,
        len(pool),
        (judge.name,),
        f"{len(pool)} labels were set aside to be shown as examples, {len(rows)} texts.",
        "They measure nothing: no judge is measured on what it may have been shown.",
    )
    return made, finding


def _rows(pool: Units, asking: Asking, scale: Scale | None) -> list[dict[str, Any]]:
    """One row an item: what people said on each attribute, as the scale writes it."""
    spec = asking.study.items
    texts = {item.id: item.text for item, _ in read_items(asking.study, spec)} if spec else {}
    people = np.nanmean(pool.humans, axis=1)
    attributes = pool.keys["attribute"].unique(maintain_order=True).to_list()
    said: dict[tuple[str, str], dict[str, float]] = {}
    for row, score in zip(pool.keys.rows(named=True), people.tolist(), strict=True):
        said.setdefault((row["item"], row["system"]), {})[row["attribute"]] = score
    made: dict[str, dict[str, Any]] = {}
    for (item, system), scores in said.items():
        # Another response to the same item would be another example of the same text.
        if len(scores) < len(attributes) or item in made:
            continue
        levels = {name: _level(score, scale) for name, score in scores.items()}
        response = {"response": asking.responses[item, system]} if system else {}
        made[item] = {"id": item, "text": texts.get(item, ""), **response, **levels}
    return list(made.values())


def _level(score: float, scale: Scale | None) -> float | int:
    """The nearest level; of two as near the lower one. Labels are 0 or 1."""
    if scale is None:
        return int(score > 0.5)
    if scale.continuous:
        return score
    nearest = float(min(scale.levels, key=lambda level: abs(level - score)))
    return int(nearest) if nearest.is_integer() else nearest

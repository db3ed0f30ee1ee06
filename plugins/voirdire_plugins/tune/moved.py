"""What the judge said before and after, to be looked at side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire.files import whole, write_text
from voirdire.study import (
    AttributeSpec,
    Data,
    Rater,
    RubricSpec,
    Source,
    Study,
    study_in,
    study_to_toml,
)
from voirdire.tables import read_items
from voirdire_plugins.tune.subjects import KEYS

if TYPE_CHECKING:
    from voirdire_plugins.tune.asking import Asking
    from voirdire_plugins.tune.candidates import Scored
    from voirdire_plugins.tune.results import Tuned
    from voirdire_plugins.tune.units import Units

#: The folder of both.
LOOK = "look"


def write_look(tuned: Tuned, units: Units, asking: Asking, old: Scored, new: Scored) -> Tuned:
    """Write what was said of the labelled units before and after as two studies, under one name.

    `voirdire look after.toml --beside before.toml` lists the units that moved. Pairs are left out.
    """
    if "other" in units.keys.columns or not tuned.chosen:
        return tuned
    folder, items = asking.out / LOOK, asking.subject.name == "items"
    folder.mkdir(parents=True, exist_ok=True)
    for name, one in (("before", old), ("after", new)):
        said = [_said(units, tuned.judge, one.runs)]
        said += [_said(units, who, units.humans[:, [at]].T) for at, who in enumerate(units.people)]
        with whole(folder / f"{name}.parquet") as draft:
            _shown(pl.concat(said), asking).write_parquet(draft)
        made = _study(name, tuned, units, asking, items=items)
        write_text(folder / f"{name}.toml", study_to_toml(made))
    files = {**tuned.files, "look": f"{folder / 'after.toml'} --beside {folder / 'before.toml'}"}
    return replace(tuned, files=files)


def _said(units: Units, rater: str, runs: np.ndarray) -> pl.DataFrame:
    """What a rater said of each unit in each run; nothing of what it did not score."""
    parts = [
        units.keys.select(KEYS).with_columns(
            rater=pl.lit(rater), run=pl.lit(number, pl.Int32), score=pl.Series(scores)
        )
        for number, scores in enumerate(np.asarray(runs, np.float64), 1)
    ]
    return pl.concat(parts).filter(pl.col("score").is_not_nan())


def _shown(rows: pl.DataFrame, asking: Asking) -> pl.DataFrame:
    """With the texts that were judged."""
    spec = asking.study.items
    texts = {one.id: one.text for one, _ in read_items(asking.study, spec)} if spec else {}
    made = rows.with_columns(context=pl.col("item").replace_strict(texts, default=None))
    if asking.subject.name == "items":
        return made.drop("system")
    response = [
        asking.responses.get((item, system))
        for item, system in rows.select("item", "system").rows()
    ]
    return made.with_columns(response=pl.Series(response, dtype=pl.String))


def _study(name: str, tuned: Tuned, units: Units, asking: Asking, *, items: bool) -> Study:
    rubric = asking.study.rubric
    if items:  # each label is an attribute that is 0 or 1
        labels = units.keys["attribute"].unique(maintain_order=True).to_list()
        attributes = tuple(AttributeSpec(name=one) for one in labels)
        rubric = RubricSpec(scale=(0, 1), attributes=attributes)
    people = tuple(Rater(name=one, kind="human") for one in units.people)
    bare = asking.study.model_copy(
        update={
            "name": f"{asking.study.name}, {name}", "panel": (Rater(name=tuned.judge), *people),
            "data": Data(), "items": None, "responses": None, "generators": (), "humans": None,
            "rubric": rubric, "run": Study(name="").run,
        }
    )  # fmt: skip
    made = study_in(bare, asking.out / LOOK)
    data = Data(sources=(Source(path=f"{name}.parquet"),), reference=units.people)
    return made.model_copy(update={"data": data})

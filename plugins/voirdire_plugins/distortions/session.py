"""From a session to label runs, final labels and data sets."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from voirdire import InputError
from voirdire.examining.labels import (
    final_labels,
    label_replies,
    runs_of_ratings,
    stratified_split,
)
from voirdire.files import file_stems, write_text
from voirdire.store import session_study
from voirdire.store.frames import session_items
from voirdire.study import build_study, study_to_toml
from voirdire.tables import named_labels
from voirdire_plugins.distortions.datasets import (
    DataSet,
    build_dataset,
    configurations,
    missing_prompts,
)
from voirdire_plugins.distortions.labels import LABELS, UNSURE
from voirdire_plugins.resources import resource

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voirdire.examining.labels import LabelRuns


@dataclass(frozen=True, slots=True)
class Annotations:
    """What a session's annotators said.

    `by_configuration` maps a configuration to its annotators by prompt; `final` is from
    `final_labels`.
    """

    folder: Path
    by_configuration: Mapping[str, Mapping[str, str]]
    runs: LabelRuns
    final: pl.DataFrame


def read_annotations(folder: str | Path) -> Annotations:
    """Read the annotators with `use = "distortions"` of a session.

    Raises
    ------
    InputError
        There is none, or the session's tables have not been written.
    """
    folder, study = Path(folder), session_study(folder)
    by_configuration = configurations(study)
    names = [name for prompts in by_configuration.values() for name in prompts.values()]
    path = folder / "ratings.parquet"
    if not names or not path.is_file():
        what = "no ratings.parquet" if names else 'no annotator with use = "distortions"'
        raise InputError(f"session {folder}: there is {what} in it")
    ratings = pl.read_parquet(path).filter(pl.col("rater").is_in(names))
    said = label_replies(folder).filter(pl.col("rater").is_in(names))
    runs = runs_of_ratings(
        ratings, LABELS.labels, none=LABELS.none, other=LABELS.other, entries=said
    )
    final = final_labels(runs, at_least=study.analysis.at_least, unsure=UNSURE)
    return Annotations(folder, by_configuration, runs, final)


def read_datasets(known: Annotations, *, seed: int = 0) -> tuple[tuple[DataSet, ...], pl.DataFrame]:
    """The data sets of every configuration that has both prompts, and the parts of all items.

    Raises
    ------
    InputError
        The session's items have no human labels, or no configuration has both prompts.
    """
    items = named_labels(session_items(known.folder), LABELS)
    if items["labels"].null_count() == items.height:
        raise InputError(
            f"session {known.folder}: its items have no human labels; name the columns by "
            'items.extra = ["dominant", "secondary"] in the study'
        )
    parts = items.select(
        "item",
        part=pl.Series(
            stratified_split(
                items["item"].to_list(), items["dominant"].fill_null("").to_list(), seed=seed
            )
        ),
    )
    by_rater = {part["rater"][0]: part for part in known.final.partition_by("rater")}
    made = tuple(
        build_dataset(name, items, parts, by_rater[prompts["ranked"]], by_rater[prompts["multi"]])
        for name, prompts in known.by_configuration.items()
        if len(prompts) == 2
    )
    if not made:
        raise InputError(f"no data set: {'; '.join(missing_prompts(known.by_configuration))}")
    return made, parts


def write_datasets(session: Path, out: Path, *, seed: int = 0) -> str:
    """Write a session's data sets, one file a configuration, and grid.toml; what was written."""
    data, _ = read_datasets(read_annotations(session), seed=seed)
    out.mkdir(parents=True, exist_ok=True)
    stems = file_stems([one.configuration for one in data], "configuration", "_")
    lines = []
    for one in data:
        path = out / f"{stems[one.configuration]}.parquet"
        one.frame.write_parquet(path)
        sizes = ", ".join(f"{part} {size}" for part, size in one.sizes().items())
        lines.append(f"{path}: {sizes}; left out {sum(one.removed.values())}")
    grid = resource("distortions", "grid")
    tables = [{"name": name, "path": f"{stem}.parquet"} for name, stem in stems.items()]
    whole = {**grid, "classify": {**grid["classify"], "data": tables}}
    path = out / "grid.toml"
    write_text(path, study_to_toml(build_study(whole, whole["name"], str(out))))
    return "\n".join([*lines, f"Train on them with: voirdire classify fit {path} --out models"])

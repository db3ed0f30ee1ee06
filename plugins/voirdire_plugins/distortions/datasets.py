"""From a session to label runs, final labels and the data sets of Sharma et al., section 4.2."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from voirdire import InputError
from voirdire.examining.labels import (
    LABELLED,
    final_labels,
    label_replies,
    runs_of_ratings,
    stratified_split,
)
from voirdire.files import file_stems, write_text
from voirdire.store import session_study
from voirdire.store.frames import session_items
from voirdire.study import build_study, short_names, study_to_toml
from voirdire.tables import named_labels
from voirdire_plugins.distortions.labels import LABELS, SHORT, UNSURE
from voirdire_plugins.resources import resource

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voirdire.examining.labels import LabelRuns
    from voirdire.study import Study

LABEL_SETS = ("rlp", "mlp", "golden")
#: Why an item is left out of a data set, the first that holds.
REASONS = (
    "not sure (both prompts)",
    "not sure (RLP)",
    "not sure (MLP)",
    "incomplete",
    "no human label",
)


@dataclass(frozen=True, slots=True)
class DataSet:
    """Items of one configuration on which every label set can be compared.

    Attributes
    ----------
    configuration : str
        The annotating model and its temperature.
    frame : polars.DataFrame
        ``item, text, part`` and, for each label set, ``<set>`` (list of labels, the dominant one
        first) and ``<set>_dominant``.
    removed : mapping of str to int
        Items left out, by reason; a key of `REASONS` each.
    """

    configuration: str
    frame: pl.DataFrame
    removed: Mapping[str, int]

    def sizes(self) -> dict[str, int]:
        """Items in train, dev and test."""
        counts = dict(self.frame.group_by("part").len().iter_rows())
        return {part: counts.get(part, 0) for part in ("train", "dev", "test")}


def configurations(study: Study) -> dict[str, dict[str, str]]:
    """Configuration (model, temperature, defined, steps) -> prompt -> annotator, in order.

    Only annotators with `use = "distortions"` count; two of the same prompt, model and temperature
    are told apart by no rule, and an error. A model is called without its provider, unless two
    providers have one of that name.
    """
    asked = [one for one in study.panel if one.kind == "annotator" and one.use == "distortions"]
    short = short_names(rater.model or rater.name for rater in asked)
    by_configuration: dict[str, dict[str, str]] = {}
    for rater in asked:
        model = short[rater.model or rater.name]
        heat = "" if rater.temperature is None else f"-{rater.temperature:g}"
        defined = " defined" if rater.options.get("definitions") else ""
        defined += f" {steps}" if (steps := rater.options.get("steps")) else ""
        prompts = by_configuration.setdefault(f"{model}{heat}{defined}", {})
        prompt = str(rater.options.get("prompt", "ranked"))
        if prompt in prompts:
            raise InputError(
                f"annotators {prompts[prompt]!r} and {rater.name!r} have the same model, "
                f"temperature and prompt ({prompt})"
            )
        prompts[prompt] = rater.name
    return by_configuration


def build_dataset(
    configuration: str,
    items: pl.DataFrame,
    parts: pl.DataFrame,
    ranked: pl.DataFrame,
    multi: pl.DataFrame,
) -> DataSet:
    """Leave out every item that either prompt is unsure of, from all three label sets alike.

    Parameters
    ----------
    items : polars.DataFrame
        From `voirdire.tables.named_labels`.
    parts : polars.DataFrame
        ``item, part``: the split of each item.
    ranked, multi : polars.DataFrame
        The rows of the two annotators in `final_labels`.
    """
    whole = items.rename({"labels": "golden", "dominant": "golden_dominant"})
    whole = whole.join(parts, on="item", how="left", maintain_order="left")
    for name, final in (("rlp", ranked), ("mlp", multi)):
        columns = final.select(
            "item",
            pl.col("category").cast(pl.String).alias(f"{name}_category"),
            _dominant_first().alias(name),
            pl.col("dominant").alias(f"{name}_dominant"),
        )
        whole = whole.join(columns, on="item", how="left", maintain_order="left")
    marked = whole.with_columns(reason=_reason())
    counts = dict(marked.drop_nulls("reason").group_by("reason").len().iter_rows())
    kept = marked.filter(pl.col("reason").is_null())
    columns_kept = [column for name in LABEL_SETS for column in (name, f"{name}_dominant")]
    return DataSet(
        configuration,
        kept.select("item", "text", "part", *columns_kept),
        {reason: counts.get(reason, 0) for reason in REASONS},
    )


def _dominant_first() -> pl.Expr:
    both = pl.concat_list("dominant", "labels").list.unique(maintain_order=True)
    # concat_list makes null of a list with a null in it, so rows without a dominant label keep
    # their own.
    return pl.when(pl.col("dominant").is_not_null()).then(both).otherwise("labels")


def _reason() -> pl.Expr:
    unsure = {
        name: pl.col(f"{name}_category").is_in(list(UNSURE)).fill_null(value=False)
        for name in ("rlp", "mlp")
    }
    open_ = pl.any_horizontal(
        (pl.col(f"{name}_category") != LABELLED).fill_null(value=True) for name in ("rlp", "mlp")
    )
    conditions = (
        # In the order of REASONS: the first that holds is the one that is counted.
        unsure["rlp"] & unsure["mlp"],
        unsure["rlp"],
        unsure["mlp"],
        open_,
        pl.col("golden").is_null(),
    )
    return pl.coalesce(
        pl.when(is_so).then(pl.lit(why)) for is_so, why in zip(conditions, REASONS, strict=True)
    )


def missing_prompts(by_configuration: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Configurations that lack one of the two prompts, in words."""
    return [
        f"{name} has no {SHORT[prompt]}"
        for name, prompts in by_configuration.items()
        for prompt in SHORT
        if prompt not in prompts
    ]


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
    entries = label_replies(folder).filter(pl.col("rater").is_in(names))
    runs = runs_of_ratings(
        ratings, LABELS.labels, none=LABELS.none, other=LABELS.other, entries=entries
    )
    final = final_labels(runs, at_least=study.analysis.at_least, unsure=UNSURE)
    return Annotations(folder, by_configuration, runs, final)


def read_datasets(
    annotations: Annotations, *, seed: int = 0
) -> tuple[tuple[DataSet, ...], pl.DataFrame]:
    """The data sets of every configuration that has both prompts, and the parts of all items.

    Raises
    ------
    InputError
        The session's items have no human labels, or no configuration has both prompts.
    """
    items = named_labels(session_items(annotations.folder), LABELS)
    if items["labels"].null_count() == items.height:
        raise InputError(
            f"session {annotations.folder}: its items have no human labels; name the columns by "
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
    by_rater = {part["rater"][0]: part for part in annotations.final.partition_by("rater")}
    made = tuple(
        build_dataset(name, items, parts, by_rater[prompts["ranked"]], by_rater[prompts["multi"]])
        for name, prompts in annotations.by_configuration.items()
        if len(prompts) == 2
    )
    if not made:
        raise InputError(f"no data set: {'; '.join(missing_prompts(annotations.by_configuration))}")
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

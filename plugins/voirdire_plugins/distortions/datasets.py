"""Data sets of Sharma et al., section 4.2: one a configuration, filtered, with three label sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from voirdire import InputError
from voirdire.examining.labels import LABELLED
from voirdire.study import short_names
from voirdire_plugins.distortions.labels import SHORT, UNSURE

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    """Configuration (model, temperature, defined or not) -> prompt -> annotator, in order.

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
    said = (
        # In the order of REASONS: the first that holds is the one that is counted.
        unsure["rlp"] & unsure["mlp"],
        unsure["rlp"],
        unsure["mlp"],
        open_,
        pl.col("golden").is_null(),
    )
    return pl.coalesce(
        pl.when(is_so).then(pl.lit(why)) for is_so, why in zip(said, REASONS, strict=True)
    )


def missing_prompts(by_configuration: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Configurations that lack one of the two prompts, in words."""
    return [
        f"{name} has no {SHORT[prompt]}"
        for name, prompts in by_configuration.items()
        for prompt in SHORT
        if prompt not in prompts
    ]

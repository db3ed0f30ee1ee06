"""Two raters of yes-or-no labels: where they differ, who was right, and how long the items are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def settled(ratings: pl.DataFrame, labels: Sequence[str]) -> pl.DataFrame:
    """One answer a rater, item and label over its runs: the majority of those that answered.

    Returns
    -------
    pl.DataFrame
        ``item, rater, attribute, score``; null at a tie or without an answer.
    """
    mean = pl.col("score").mean()
    return (
        ratings.filter(pl.col("attribute").cast(pl.String).is_in(list(labels)))
        .with_columns(pl.col("attribute").cast(pl.String))
        .group_by("item", "rater", "attribute", maintain_order=True)
        .agg(pl.when(mean != 0.5).then((mean > 0.5).cast(pl.Float64)).alias("score"))
    )


def side_by_side(ratings: pl.DataFrame, gold: str, a: str, b: str, label: str) -> pl.DataFrame:
    """``item, truth, a, b`` of the posts that gold and both raters have labelled."""
    answers = settled(ratings, [label]).drop_nulls("score")
    columns = [
        answers.filter(pl.col("rater") == rater).select("item", pl.col("score").alias(name))
        for name, rater in (("truth", gold), ("a", a), ("b", b))
    ]
    first, second, third = columns
    joined = first.join(second, on="item", how="inner", maintain_order="left")
    return joined.join(third, on="item", how="inner", maintain_order="left")


def differences(pairs: pl.DataFrame) -> dict[str, int]:
    """How often two raters differ, who was right then, and on which class.

    Examples
    --------
    >>> pairs = pl.DataFrame({"truth": [1, 0, 0], "a": [1, 1, 0], "b": [0, 0, 0]})
    >>> differences(pairs)["differ"], differences(pairs)["a_right"]
    (2, 1)
    """
    differ = pairs.filter(pl.col("a") != pl.col("b"))
    right = {name: differ.filter(pl.col(name) == pl.col("truth")) for name in ("a", "b")}
    both_wrong = pairs.filter((pl.col("a") != pl.col("truth")) & (pl.col("b") != pl.col("truth")))
    return {
        "n": pairs.height,
        "differ": differ.height,
        **{
            key: value
            for name, part in right.items()
            for key, value in (
                (f"{name}_right", part.height),
                (f"{name}_right_positive", part.filter(pl.col("truth") == 1).height),
            )
        },
        "both_wrong": both_wrong.height,
        "both_wrong_positive": both_wrong.filter(pl.col("truth") == 1).height,
    }


def by_length(pairs: pl.DataFrame, texts: Mapping[str, str]) -> pl.DataFrame:
    """Mean length in characters by whether each rater was right, and by the true class.

    Returns
    -------
    pl.DataFrame
        ``a_right, b_right`` (null in the row over all), ``n_control, characters_control,
        n_label, characters_label``; null where no post falls. Table 16's split. A mean over few
        posts says little: the counts are shown with it.
    """
    lengths = pairs.with_columns(
        pl.col("item").replace_strict(texts, default=None, return_dtype=pl.String)
        .str.len_chars().alias("characters"),
        (pl.col("a") == pl.col("truth")).alias("a_right"),
        (pl.col("b") == pl.col("truth")).alias("b_right"),
    )  # fmt: skip
    cells = [
        expression
        for name, value in (("control", 0), ("label", 1))
        for expression in (
            (pl.col("truth") == value).sum().alias(f"n_{name}"),
            pl.col("characters").filter(pl.col("truth") == value).mean()
            .alias(f"characters_{name}"),
        )
    ]  # fmt: skip
    empty = pl.lit(None, pl.Boolean)
    whole = lengths.select(empty.alias("a_right"), empty.alias("b_right"), *cells)
    grid = pl.DataFrame(
        {"a_right": [True, True, False, False], "b_right": [True, False, True, False]}
    )
    split = lengths.group_by("a_right", "b_right").agg(cells)
    full = grid.join(split, on=["a_right", "b_right"], how="left", maintain_order="left")
    counts = pl.col("n_control", "n_label").fill_null(0)
    return pl.concat([full.with_columns(counts), whole.with_columns(counts)])

"""Preferences of any origin in one form, and the two orders of a comparison combined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import TableError, check_columns
from voirdire.tables import FACTS, STATUS, canonical_ids, to_scores
from voirdire.tables import PREFERENCES as COMPARED

if TYPE_CHECKING:
    from collections.abc import Callable

#: What each row says; `score` > 0 prefers system_a, whichever was shown first.
PREFERENCES: dict[str, Any] = {**COMPARED, "status": STATUS}
NEEDED = ("item", "system_a", "system_b", "rater", "attribute", "score")
COMPARISON = ("item", "system_a", "system_b", "rater", "run", "attribute")
#: The largest preference that a score can say (five levels, -2..2).
MOST = 2


def holds_preferences(columns: list[str]) -> bool:
    """Whether a table with these columns holds preferences and no ratings."""
    return {"system_a", "system_b", "score"} <= set(columns)


def preference_table(
    frame: pl.DataFrame, where: str = "preferences", place: Callable[[int], str] | None = None
) -> pl.DataFrame:
    """A table of preferences, checked, each pair of systems in one direction.

    Parameters
    ----------
    frame : DataFrame
        ``item, system_a, system_b, rater, attribute, score`` and, where there are any,
        ``shown_first`` (the name of one of the two systems), ``run`` and ``status``. A score lies
        in -2..2; null is missing. What ratings may say of a label (``origin``,
        ``label_probability`` and so on) is kept where it is there.
    where : str
        The table's name, for messages.
    place : callable, optional
        Where the row of an index stands, for messages; by default ``row 1`` is the first.

    Raises
    ------
    TableError
        A column is absent; a score off -2..2; a system compared with itself; a `shown_first` that
        is neither system; a comparison that occurs twice in one order.

    Examples
    --------
    >>> rows = [("1", "m", "ref", "ann", "Warmth", 1), ("2", "ref", "m", "ann", "Warmth", 2)]
    >>> frame = pl.DataFrame(rows, schema=list(NEEDED), orient="row")
    >>> preference_table(frame).select("system_a", "system_b", "score").rows()
    [('m', 'ref', 1.0), ('m', 'ref', -2.0)]
    """
    check_columns(where, NEEDED, frame.columns)
    at = place or (lambda index: f"row {index + 1}")
    typed = _typed(frame, where, at)
    _check(typed, where, at)
    kept = [name for name in FACTS if name in typed.columns]
    return _one_direction(typed).select(*PREFERENCES, *kept)


def combine_comparisons(table: pl.DataFrame) -> pl.DataFrame:
    """One row a comparison (`COMPARISON`), its two orders put together where both were asked.

    Adds ``score`` (null unless the outcome is ok), ``outcome`` (``ok``, ``inconsistent``: the two
    orders disagree on the winner, which is no tie; ``half_missing``, ``missing``), ``opposite``
    (whether the orders name opposite winners, and not one a tie) and ``orders``. The rules are
    those of `voirdire.parsing.combine_orders`; where only one order was asked its score stands.
    """
    sign = pl.col("score").sign()
    n_scores = pl.col("score").count()
    frame = table.group_by(COMPARISON, maintain_order=True).agg(
        pl.len().alias("orders"),
        n_scores.alias("known"),
        # Winner, loser or tie: two different signs are two different answers.
        sign.drop_nulls().n_unique().alias("winners"),
        (sign.min() * sign.max()).alias("product"),
        pl.col("score").mean().alias("mean"),
    )
    outcome = (
        pl.when(pl.col("known") == 0)
        .then(pl.lit("missing"))
        .when(pl.col("known") < pl.col("orders"))
        .then(pl.lit("half_missing"))
        .when(pl.col("winners") > 1)
        .then(pl.lit("inconsistent"))
        .otherwise(pl.lit("ok"))
    )
    return frame.with_columns(outcome.alias("outcome")).select(
        *COMPARISON,
        pl.when(pl.col("outcome") == "ok").then("mean").alias("score"),
        "outcome",
        ((pl.col("outcome") == "inconsistent") & (pl.col("product") < 0)).alias("opposite"),
        "orders",
    )


def _typed(frame: pl.DataFrame, where: str, at: Callable[[int], str]) -> pl.DataFrame:
    blank = {"shown_first": pl.lit(None), "run": pl.lit(1), "status": pl.lit(None)}
    filled = frame.with_columns(e.alias(n) for n, e in blank.items() if n not in frame.columns)
    text = [name for name, kind in PREFERENCES.items() if kind == pl.String]
    # Texts are read as those of ratings are: what is a number must not depend on the table.
    scores, bad, _ = to_scores(filled["score"])
    if bad.any():
        row = int(bad.arg_max() or 0)
        cell = filled["score"][row]
        raise TableError(f"{where}, {at(row)}: the score is {cell!r} where a number is needed")
    try:
        typed = filled.with_columns(
            *(canonical_ids(filled[name]).alias(name) for name in text),
            pl.col("run").cast(pl.Int32).fill_null(1),
            scores.alias("score"),
            pl.col("status").cast(STATUS),
            *(pl.col(name).cast(FACTS[name]) for name in FACTS if name in filled.columns),
        )
    except pl.exceptions.PolarsError as error:
        cause = str(error).splitlines()[0]
        raise TableError(
            f"{where}: a run, status, origin or probability cannot be read ({cause})"
        ) from None
    default = pl.when(pl.col("score").is_null()).then(pl.lit("blank")).otherwise(pl.lit("ok"))
    first = pl.when(pl.col("shown_first") != "").then("shown_first")
    return typed.with_columns(
        pl.col("status").fill_null(default.cast(STATUS)), first.alias("shown_first")
    )


def _check(frame: pl.DataFrame, where: str, at: Callable[[int], str]) -> None:
    a, b, first = pl.col("system_a"), pl.col("system_b"), pl.col("shown_first")
    names = ("item", "system_a", "system_b", "rater", "attribute")
    wrong = {
        "an empty item, system, rater or attribute": pl.any_horizontal(
            *((pl.col(name).is_null() | (pl.col(name) == "")) for name in names)
        ),
        f"a score off -{MOST}..{MOST}": pl.col("score").abs() > MOST,
        "a system compared with itself": a == b,
        "a shown_first that is neither system": first.is_not_null() & (first != a) & (first != b),
    }
    for what, bad in wrong.items():
        rows = frame.select(bad.fill_null(value=False).arg_true()).to_series()
        if len(rows):
            row = {k: v for k, v in frame.row(rows[0], named=True).items() if k != "status"}
            raise TableError(f"{where}, {at(rows[0])}: {what}: {row}")
    # By sorted names, since a row may name the pair in either direction.
    pair = (pl.min_horizontal(a, b).alias("low"), pl.max_horizontal(a, b).alias("high"))
    key = frame.select("item", *pair, "shown_first", "rater", "run", "attribute")
    again = (~key.select(pl.struct(pl.all()).is_first_distinct()).to_series()).arg_true()
    if len(again):
        row = frame.select("item", "rater", "attribute").row(again[0], named=True)
        raise TableError(
            f"{where}, {at(again[0])}: a comparison that stands above already, in the same order: "
            f"{row}"
        )


def _one_direction(frame: pl.DataFrame) -> pl.DataFrame:
    """Each pair as it first occurs; scores of rows that name it the other way are turned."""
    low, high = pl.min_horizontal("system_a", "system_b"), pl.max_horizontal("system_a", "system_b")
    pair = frame.with_columns(low.alias("low"), high.alias("high"))
    lead = pl.col("system_a").first().over("low", "high")
    turned = pair.with_columns((pl.col("system_a") != lead).alias("turned"))
    flip = pl.col("turned")
    return turned.with_columns(
        pl.when(flip).then("system_b").otherwise("system_a").alias("system_a"),
        pl.when(flip).then("system_a").otherwise("system_b").alias("system_b"),
        pl.when(flip).then(0.0 - pl.col("score")).otherwise("score").alias("score"),
    )

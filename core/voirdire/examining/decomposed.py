"""Where the variance of scores comes from, and all raters in one analysis of variance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire.stats import icc, variance_components
from voirdire.tabular import Section, Table, count, interval, number, share, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from voirdire.examining.examination import Examination

    Floats = NDArray[np.float64]

#: Component -> its heading; systems are what `variance_components` calls items, conversations runs.
_PARTS = {
    "item": "Systems", "rater": "Raters", "run": "Items", "item_rater": "System x rater",
    "item_run": "System x item", "rater_run": "Rater x item", "error": "Rest",
}  # fmt: skip


def decomposition(examination: Examination) -> Section:
    """Shares of the variance of single scores: systems, raters, items and how they cross.

    A row for each judge beside the reference, on the systems that it does not leave out, and one
    for all judges together.
    """
    rows: list[tuple[Any, ...]] = []
    reference = tuple(examination.inputs.reference or ())
    for judges, systems in _groups(examination):
        who = judges[0] if len(judges) == 1 else f"{len(judges)} judges"
        for attribute, parts in _attributes(examination).items():
            scores = _complete(_scores(examination, reference, judges, systems, parts))
            components = variance_components(scores, "crossed")
            if components.reason is not None:
                continue
            values = {name: max(0.0, getattr(components, name)) for name in _PARTS}
            whole = sum(values.values())
            shares = [value / whole if whole else math.nan for value in values.values()]
            sizes = (components.n_items, components.n_raters, components.n_runs)
            rows.append((who, attribute, *sizes, whole, *shares))
    columns = (
        text("Judge"), text("Attribute"), *map(count, ("Systems", "Raters", "Items")),
        number("Variance"), *map(share, (f"{head}, share" for head in _PARTS.values())),
    )  # fmt: skip
    return Section(
        "Variance decomposed (as F.2)",
        "Variance components of single scores, systems x raters x items, the humans of the "
        "reference taken together; on items that all of them rated whole. A large share of the "
        "systems lets raters tell these apart; of the raters, says that one is more lenient; of "
        "system x rater, that they order systems otherwise; the rest is noise and what a rater "
        "sees in one response alone. An estimate below zero counts as zero in the shares.",
        (Table(columns, tuple(rows)),),
    )


def all_raters(examination: Examination) -> Section:
    """The ANOVA of all judges and the reference at once: means of systems by k raters."""
    rows: list[tuple[Any, ...]] = []
    reference = tuple(examination.inputs.reference or ())
    if reference and len(examination.judges) > 1:
        judges, systems = _groups(examination)[-1]
        for attribute, parts in _attributes(examination).items():
            scores = _complete(_scores(examination, reference, judges, systems, parts))
            if scores.shape[0] < 2 or not scores.shape[2]:
                continue
            means = scores.mean(axis=2)
            consistency, agreement = icc(means, "C,1"), icc(means, "A,1")
            rows.append(
                (
                    attribute,
                    means.shape[0],
                    means.shape[1],
                    scores.shape[2],
                    *_squares(means),
                    consistency.value,
                    consistency.interval("f"),
                    agreement.value,
                    agreement.interval("f"),
                )
            )
    columns = (
        text("Attribute"), *map(count, ("Systems", "Raters", "Items")),
        *map(number, ("MSR", "MSC", "MSE")), number("ICC(C,1)"), interval("C, F"),
        number("ICC(A,1)"), interval("A, F"),
    )  # fmt: skip
    return Section(
        "All judges and the reference in one ANOVA (equations 2 to 4)",
        "Means of systems by k raters: every judge, and the reference as one rater, on the systems "
        "that no judge leaves out and the items that all of them rated. An ICC over k raters says "
        "how any two of them agree on average: one judge apart from the others lowers it for all.",
        (Table(columns, tuple(rows)),),
    )


def _squares(means: Floats) -> tuple[float, float, float]:
    """Mean squares of systems, raters and the rest."""
    n, k = means.shape
    centred = means - means.mean()
    systems, raters = centred.mean(axis=1), centred.mean(axis=0)
    rest = centred - systems[:, None] - raters
    return (
        float(k * (systems**2).sum() / (n - 1)),
        float(n * (raters**2).sum() / (k - 1)),
        float((rest**2).sum() / ((n - 1) * (k - 1))),
    )


def _groups(examination: Examination) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Each judge with its systems, and all judges with those that none of them leaves out."""
    of: dict[str, tuple[str, ...]] = {}
    for result in examination.results:
        of.setdefault(result.judge, tuple(seen.system for seen in result.systems))
    groups: list[tuple[tuple[str, ...], tuple[str, ...]]] = [
        ((judge,), systems) for judge, systems in of.items()
    ]
    if len(of) > 1:
        first, *others = of.values()
        groups.append((tuple(of), tuple(name for name in first if all(name in o for o in others))))
    return groups


def _attributes(examination: Examination) -> Mapping[str, Sequence[str]]:
    """Attributes, and groups of them, with what each is the mean of."""
    own = {name: (name,) for name in examination.attributes}
    return {**own, **examination.study.rubric.composites}


def _scores(
    examination: Examination,
    reference: Sequence[str],
    judges: Sequence[str],
    systems: Sequence[str],
    attributes: Sequence[str],
) -> Floats:
    """(systems, raters, items) scores, the reference's mean first; NaN where one is missing."""
    raters = ["", *judges]
    text = {name: pl.col(name).cast(pl.String) for name in ("rater", "system", "attribute", "item")}
    own = (
        examination.ratings.select(*text.values(), "score", "run")
        .filter(
            pl.col("attribute").is_in(list(attributes)),
            pl.col("system").is_in(list(systems)),
            pl.col("rater").is_in([*reference, *judges]),
        )
        # Runs first, then attributes (all of a group's), then the humans of the reference.
        .group_by("rater", "system", "item", "attribute")
        .agg(pl.col("score").mean())
        .group_by("rater", "system", "item")
        .agg(pl.col("score").mean(), whole=pl.col("score").count() == len(attributes))
        .filter("whole")
        .with_columns(
            rater=pl.when(pl.col("rater").is_in(list(reference)))
            .then(pl.lit(""))
            .otherwise("rater")
        )
        .group_by("rater", "system", "item")
        .agg(pl.col("score").mean())
    )
    items = own["item"].unique().sort().to_list()
    values = np.full((len(systems), len(raters), len(items)), np.nan)
    places = [
        own[name].replace_strict(names, range(len(names)), return_dtype=pl.Int64).to_numpy()
        for name, names in (("system", list(systems)), ("rater", raters), ("item", items))
        if names
    ]
    if own.height:
        values[tuple(places)] = own["score"].cast(pl.Float64).to_numpy()
    return values


def _complete(scores: Floats) -> Floats:
    """Items that every rater rated on every system."""
    return scores[:, :, ~np.isnan(scores).any(axis=(0, 1))]

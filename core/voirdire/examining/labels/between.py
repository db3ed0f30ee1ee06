"""Annotators beside one another, run by run: agreement between them, by family, item by item."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire.errors import InputError
from voirdire.examining.labels.final import LABELLED, final_labels, label_agreements
from voirdire.stats import cluster_jackknife
from voirdire.tabular import Section, Table, count, interval, number, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from voirdire.examining.labels.matrix import LabelMatrix
    from voirdire.examining.labels.runs import LabelRuns
    from voirdire.stats import Jackknifed

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Between:
    """How far a run of one annotator agrees with a run of another, beyond chance.

    Attributes
    ----------
    first, second : str
        The annotators.
    kappa : Jackknifed
        The mean over labels of Cohen's kappa of a run of each, all pairs of runs taken together;
        labels that neither ever names, or both always, are left out. Its error leaves out an item
        at a time, on Fisher's z, so that no bound lies beyond 1.
    n : int
        Items that both answered in a run or more.
    """

    first: str
    second: str
    kappa: Jackknifed
    n: int


def between_annotators(runs: LabelRuns) -> tuple[Between, ...]:
    """Every two annotators, run against run, beside which the kappa within each can be read.

    With p and q the shares of runs in which two annotators name a label of an item, a pair of
    runs agrees on it with probability ``pq + (1 - p)(1 - q)``; chance has the means over items in
    their place. Of one annotator with itself this is Fleiss' kappa, as the runs grow many.

    Examples
    --------
    >>> import polars as pl
    >>> from voirdire.examining.labels import runs_of_ratings
    >>> rows = [(i, r, k, "a", int(i in ("1", "2"))) for i in "1234" for r in "xy" for k in (1, 2)]
    >>> frame = pl.DataFrame(rows, ["item", "rater", "run", "attribute", "score"], orient="row")
    >>> pair = between_annotators(runs_of_ratings(frame))[0]
    >>> pair.first, pair.second, round(pair.kappa.value, 3)
    ('x', 'y', 1.0)

    References
    ----------
    Cohen (1960); Fleiss (1971); Miller (1974) for the jackknife.
    """
    used = [at for at, label in enumerate(runs.labels) if label != runs.other]
    shares = {matrix.rater: _shares(matrix, used) for matrix in runs.matrices}
    return tuple(
        _between(a, b, shares[a.rater], shares[b.rater]) for a, b in combinations(runs.matrices, 2)
    )


def _shares(matrix: LabelMatrix, used: list[int]) -> Floats:
    """(items, labels) share of an item's known runs that name a label; NaN without one."""
    present = matrix.known[:, :, None]
    named = np.where(present, np.nan_to_num(matrix.values[:, :, used]), 0.0).sum(axis=0)
    answered = matrix.known.sum(axis=0)[:, None]
    shares: Floats = np.full(named.shape, np.nan)
    np.divide(named, answered, out=shares, where=answered > 0)
    return shares


def _between(a: LabelMatrix, b: LabelMatrix, own: Floats, other: Floats) -> Between:
    place = {item: at for at, item in enumerate(b.items)}
    both = [(at, place[item]) for at, item in enumerate(a.items) if item in place]
    p, q = own[[i for i, _ in both]], other[[i for _, i in both]]
    kept = ~np.isnan(p).any(axis=1) & ~np.isnan(q).any(axis=1)
    p, q = p[kept], q[kept]
    # Sums over items: their number, both shares, and how often a run of each agrees.
    columns = np.concatenate([np.ones((len(p), 1)), p, q, p * q + (1 - p) * (1 - q)], axis=1)
    kappa = cluster_jackknife(columns, np.arange(len(p)), _mean_kappa, scale="fisher")
    return Between(a.rater, b.rater, kappa, len(p))


def _mean_kappa(sums: Floats) -> Any:
    """From sums (..., 1 + 3 labels): the mean over labels of kappa, where it is defined."""
    n, width = sums[..., :1], (sums.shape[-1] - 1) // 3
    with np.errstate(invalid="ignore", divide="ignore"):
        p, q, agreed = (sums[..., 1 + k * width : 1 + (k + 1) * width] / n for k in range(3))
        chance = p * q + (1 - p) * (1 - q)
        # Chance of 1: nobody ever names it, or both always do, and kappa is 0/0.
        kappa = np.where(chance < 1 - 1e-12, (agreed - chance) / (1 - chance), np.nan)
    defined = ~np.isnan(kappa)
    total = np.where(defined, kappa, 0.0).sum(axis=-1)
    values = np.divide(
        total, defined.sum(axis=-1), out=np.full(total.shape, np.nan), where=defined.any(axis=-1)
    )
    return values if values.ndim else float(values)


def between_sections(
    runs: LabelRuns, families: Mapping[str, str], level: float = 0.95
) -> tuple[Section, ...]:
    """Agreement of annotators beside the consistency of each; by family where there are several.

    Parameters
    ----------
    families : mapping
        Annotator -> the family of its model; one without a family is not in it.
    """
    if len(runs.matrices) < 2:
        return ()
    within = {r: agreement.mean.value for r, agreement in label_agreements(runs, ci=None).items()}
    pairs = between_annotators(runs)
    rows = tuple(
        (
            one.first,
            one.second,
            one.kappa.value,
            one.kappa.interval(level),
            within[one.first],
            within[one.second],
            one.n,
        )
        for one in pairs
    )
    columns = (
        text("Annotator"), text("And"), number("Kappa between"), interval("Interval"),
        number("Within the first"), number("Within the second"), count("Items"),
    )  # fmt: skip
    of_pairs = Section(
        "Agreement between annotators, run by run",
        "The mean over labels of Cohen's kappa of a run of one and a run of the other, beside "
        "Fleiss' kappa over the runs of each. Two annotators that are consistent and do not agree "
        f"read the labels differently. {100 * level:g}% jackknife intervals over items.",
        (Table(columns, rows),),
    )
    return (of_pairs, *_by_family(pairs, within, families))


def _by_family(
    pairs: tuple[Between, ...], within: Mapping[str, float], families: Mapping[str, str]
) -> tuple[Section, ...]:
    names = list(dict.fromkeys(families[r] for r in within if r in families))
    if len(names) < 2:
        return ()
    # Pairs without an order; two annotators of one family make a set of one.
    between: dict[frozenset[str], list[float]] = {}
    for one in pairs:
        both = {families.get(one.first, ""), families.get(one.second, "")}
        if "" not in both:
            between.setdefault(frozenset(both), []).append(one.kappa.value)
    own = {name: [within[r] for r in within if families.get(r) == name] for name in names}
    rows = tuple(
        (
            name,
            len(own[name]),
            _mean(own[name]),
            *(_mean(between.get(frozenset({name, other}), [])) for other in names),
        )
        for name in names
    )
    columns = (
        text("Family"), count("Annotators"), number("Within an annotator"),
        *(number(f"With {name}") for name in names),
    )  # fmt: skip
    return (
        Section(
            "Consistency and agreement by model family",
            "Means of the kappas above: over the runs of one annotator, and between annotators of "
            "two families (of one family with itself: of its different annotators). Models of one "
            "family may share what they get wrong.",
            (Table(columns, rows),),
        ),
    )


def _mean(values: list[float]) -> float | None:
    defined = [value for value in values if not np.isnan(value)]
    return fmean(defined) if defined else None


def sweep_section(runs: LabelRuns, unsure: tuple[str, str]) -> Section:
    """How many items get a final label where 3 to k runs must name it (all, of fewer than 3)."""
    rows = []
    for matrix in runs.matrices:
        alone, k = replace(runs, matrices=(matrix,)), len(matrix.runs)
        # Two of many runs may agree by chance; of fewer than three runs all must.
        for least in range(min(3, k), k + 1):
            own = final_labels(alone, at_least=least, unsure=unsure)
            kinds = dict(own.group_by(pl.col("category").cast(pl.String)).len().iter_rows())
            labelled = own.filter(pl.col("category").cast(pl.String) == LABELLED)
            mean = labelled["labels"].list.len().mean()
            open_ = own.height - labelled.height - sum(kinds.get(one, 0) for one in unsure)
            rows.append(
                (
                    matrix.rater,
                    least,
                    k,
                    labelled.height,
                    *(kinds.get(one, 0) for one in unsure),
                    open_,
                    mean,
                )
            )
    columns = (
        text("Annotator"), count("Runs that must agree"), count("of"), count("Labelled"),
        *map(count, unsure), count("Incomplete"), number("Labels an item", 2),
    )  # fmt: skip
    return Section(
        "Items with a label where 3 to all runs must agree",
        "A lower bar labels more items, with labels that recur less.",
        (Table(columns, tuple(rows)),) if any(len(m.runs) > 1 for m in runs.matrices) else (),
    )


def item_section(runs: LabelRuns, final: pl.DataFrame, item: str) -> Section:
    """One item: what each run of each annotator named, side by side, and the final labels.

    Parameters
    ----------
    final : polars.DataFrame
        From `final_labels`.

    Raises
    ------
    InputError
        No annotator was asked about it.
    """
    asked = [matrix for matrix in runs.matrices if item in matrix.items]
    if not asked:
        raise InputError(f"there is no item {item!r} among those that were labelled")
    most = max(len(matrix.runs) for matrix in asked)
    rows = []
    for matrix in asked:
        place = matrix.items.index(item)
        named = [matrix.named(place, run) for run in range(len(matrix.runs))]
        cells = [
            str(matrix.statuses[run, place]) if labels is None else "; ".join(labels) or "none"
            for run, labels in enumerate(named)
        ]
        own = final.filter((pl.col("rater") == matrix.rater) & (pl.col("item") == item))
        labels = own["labels"].to_list()[0] if own.height else None
        last = "; ".join(labels) if labels else str(own["category"].cast(pl.String)[0])
        rows.append((matrix.rater, *cells, *[None] * (most - len(cells)), last))
    columns = (text("Annotator"), *(text(f"Run {n}") for n in range(1, most + 1)), text("Final"))
    return Section(
        f"Item {item}, run by run",
        "What each run named; a run without an answer says why.",
        (Table(columns, tuple(rows)),),
    )


def grid_section(
    runs: LabelRuns, item: str, title: str, heads: Mapping[str, str], short: Mapping[str, str]
) -> Section:
    """One item: runs down, annotators across, labels shortened, the first-ranked label first.

    Parameters
    ----------
    title : str
    heads : mapping
        Annotator -> what its column is called; those that were not asked about the item have none.
    short : mapping
        Label -> its short form, which the text explains.

    Raises
    ------
    InputError
        None of them was asked about it.
    """
    asked = {
        head: runs.of(rater)
        for rater, head in heads.items()
        if rater in runs.raters and item in runs.of(rater).items
    }
    if not asked:
        raise InputError(f"there is no item {item!r} among those that were labelled")
    rows = tuple(
        (str(run + 1), *(_shortly(matrix, item, run, short) for matrix in asked.values()))
        for run in range(max(len(matrix.runs) for matrix in asked.values()))
    )
    legend = ", ".join(f"{sign} = {label}" for label, sign in short.items())
    return Section(title, legend, (Table((text("Run"), *map(text, asked)), rows),))


def _shortly(matrix: LabelMatrix, item: str, run: int, short: Mapping[str, str]) -> str | None:
    """What one run named, or why it named nothing; None where there was no such run."""
    if run >= len(matrix.runs):
        return None
    place = matrix.items.index(item)
    labels, first = matrix.named(place, run), matrix.first[run, place]
    if labels is None:
        return f"({matrix.statuses[run, place]})"
    ranked = sorted(labels, key=lambda label: first < 0 or label != matrix.labels[first])
    return ", ".join(short.get(label, label) for label in ranked) or "(none)"

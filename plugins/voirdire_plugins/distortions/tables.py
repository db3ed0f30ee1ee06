"""The paper's tables from a session: 2, 3, 6, 7, 8 and the data of figure 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.examining.labels import (
    AVERAGE,
    INCOMPLETE,
    agreement_frame,
    label_agreements,
    label_distribution,
    largest_counts,
    unknown_labels,
)
from voirdire.tabular import Marked, Section, Table, count, number, share_text, text
from voirdire_plugins.distortions.labels import SHORT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.examining.labels import LabelRuns
    from voirdire_plugins.distortions.datasets import DataSet

    Configurations = Mapping[str, Mapping[str, str]]


def consistency_tables(
    runs: LabelRuns, final: pl.DataFrame, found: Configurations
) -> tuple[Section, ...]:
    """Figure 2 and Tables 2, 6, 7 and 8, laid out as the paper does."""
    kappas = agreement_frame(label_agreements(runs, ci=None))
    return (
        _table2(kappas, found),
        _figure2(largest_counts(runs), found),
        _table6(unknown_labels(runs), runs, found),
        _table7(kappas, found),
        _table8(label_distribution(final, runs.labels), found),
    )


def dataset_table(data: Sequence[DataSet], whole: Mapping[str, int]) -> Section:
    """Table 3, with what the filtering rule removed and why."""
    reasons = tuple(data[0].removed) if data else ()
    rows: list[tuple[Any, ...]] = [
        ("All items", *whole.values(), sum(whole.values()), *(None for _ in reasons))
    ]
    rows += [
        (each.configuration, *each.sizes().values(), each.frame.height, *each.removed.values())
        for each in data
    ]
    heads = ("Train", "Dev", "Test", "Total", *reasons)
    return Section(
        "Data sets after filtering (Table 3)",
        "An item that either prompt is unsure of is left out of all label sets of that "
        "configuration; so is one that missing runs leave open, and one without a human label. An "
        "item keeps its part in every data set.",
        (Table((text("Configuration"), *map(count, heads)), tuple(rows)),),
    )


def _raters(found: Configurations) -> list[tuple[str, str, str]]:
    """(configuration, prompt, annotator) in order."""
    return [
        (name, prompt, prompts[prompt])
        for name, prompts in found.items()
        for prompt in SHORT
        if prompt in prompts
    ]


def _heads(found: Configurations) -> tuple[str, ...]:
    return tuple(f"{name} {SHORT[prompt]}" for name, prompt, _ in _raters(found))


def _table2(kappas: pl.DataFrame, found: Configurations) -> Section:
    means = {
        row["rater"]: row["kappa"]
        for row in kappas.filter(pl.col("label") == AVERAGE).iter_rows(named=True)
    }
    rows = tuple(
        (name, *(means.get(prompts.get(prompt, "")) for prompt in SHORT))
        for name, prompts in found.items()
    )
    return Section(
        "Average Fleiss' kappa (Table 2)",
        "The mean of the kappas of Table 7 that are defined.",
        (Table((text("Configuration"), *map(number, SHORT.values())), rows),),
    )


def _figure2(largest: pl.DataFrame, found: Configurations) -> Section:
    shares = {(r, n): s for r, n, s in largest.select("rater", "largest", "share").iter_rows()}
    counts = largest["largest"].unique().sort().to_list()
    rows = tuple(
        (f"{name} {SHORT[prompt]}", *(shares.get((rater, times)) for times in counts))
        for name, prompt, rater in _raters(found)
    )
    return Section(
        "Largest label repetition (figure 2)",
        "Share of items whose most often named label was named in so many runs.",
        (Table((text("Configuration"), *map(number, map(str, counts))), rows),),
    )


def _table6(unknown: pl.DataFrame, runs: LabelRuns, found: Configurations) -> Section:
    known = runs.entries is not None
    rows = []
    for name, prompt, rater in _raters(found):
        own = unknown.filter(pl.col("rater") == rater)
        labels = ", ".join(sorted(own["label"].to_list(), key=str.casefold)) or None
        rows.append((name, SHORT[prompt], labels, int(own["count"].sum())))
    columns = (*map(text, ("Configuration", "Prompt", "Labels")), count("Total"))
    return Section(
        "Labels outside the set (Table 6)",
        "Everything that a reply named and the set does not hold, whether it stood alone (Others) "
        "or beside a distortion (dropped).",
        (Table(columns, tuple(rows) if known else ()),),
    )


def _table7(kappas: pl.DataFrame, found: Configurations) -> Section:
    cells = {
        (r, label): kappa
        for r, label, kappa in kappas.select("rater", "label", "kappa").iter_rows()
    }
    labels = kappas["label"].unique(maintain_order=True).to_list()
    rows = tuple(
        (label, *(cells.get((rater, label)) for _, _, rater in _raters(found))) for label in labels
    )
    return Section(
        "Fleiss' kappa by label (Table 7)",
        "Over the runs of each annotator; a dash where a label was named always or never. "
        "Intervals, prevalence and AC1 stand in the table of each label above.",
        (Table((text("Label"), *map(number, _heads(found))), rows),),
    )


def _table8(shares: pl.DataFrame, found: Configurations) -> Section:
    cells = {
        (row["rater"], row["label"]): Marked(row["items"], f" ({share_text(row['share'])})")
        for row in shares.iter_rows(named=True)
    }
    labels = shares["label"].unique(maintain_order=True).to_list()
    rows = tuple(
        (label, *(cells.get((rater, label)) for _, _, rater in _raters(found))) for label in labels
    )
    return Section(
        "Final labels (Table 8)",
        f"Items and their share of all items; items have several labels, so shares add up to more "
        f"than 100 %. {INCOMPLETE.capitalize()}: missing runs could still decide; the paper had "
        "none.",
        (Table((text("Label"), *map(count, _heads(found))), rows),),
    )

"""The paper's tables from a session: 2, 3, 6, 7, 8 and the data of figure 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.examining.labels import (
    AVERAGE,
    INCOMPLETE,
    agreement_frame,
    grid_section,
    label_agreements,
    label_distribution,
    largest_counts,
    unknown_labels,
)
from voirdire.tabular import (
    Marked,
    Section,
    Table,
    count,
    frame_matrix,
    matrix,
    number,
    share_text,
    text,
)
from voirdire_plugins.distortions.datasets import read_annotations
from voirdire_plugins.distortions.labels import SHORT
from voirdire_plugins.resources import resource

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from voirdire.examining.labels import LabelRuns
    from voirdire_plugins.distortions.datasets import DataSet

    Configurations = Mapping[str, Mapping[str, str]]


def consistency_tables(
    runs: LabelRuns, final: pl.DataFrame, by_configuration: Configurations
) -> tuple[Section, ...]:
    """Figure 2 and Tables 2, 6, 7 and 8, laid out as the paper does."""
    kappas = agreement_frame(label_agreements(runs, ci=None))
    heads = {rater: f"{name} {SHORT[prompt]}" for name, prompt, rater in _raters(by_configuration)}
    numbers = {rater: number(head) for rater, head in heads.items()}
    of = {rater: (name, prompt) for name, prompt, rater in _raters(by_configuration)}
    averages = kappas.filter(pl.col("label") == AVERAGE)
    means = {of[rater]: kappa for rater, kappa in averages.select("rater", "kappa").iter_rows()}
    largest = largest_counts(runs)
    times = largest["largest"].unique().sort().to_list()
    shares = label_distribution(final, runs.labels).with_columns(
        cell=pl.struct("items", "share").map_elements(_counted, pl.Object)
    )
    return (
        Section(
            "Average Fleiss' kappa (Table 2)",
            "The mean of the kappas of Table 7 that are defined.",
            (matrix(means, {name: name for name in by_configuration},
                    {prompt: number(short) for prompt, short in SHORT.items()}, "Configuration"),),
        ),
        Section(
            "Largest label repetition (figure 2)",
            "Share of items whose most often named label was named in so many runs.",
            (frame_matrix(largest, ("rater", "largest", "share"),
                          {n: number(str(n)) for n in times}, "Configuration", heads),),
        ),
        _table6(unknown_labels(runs), runs, by_configuration),
        Section(
            "Fleiss' kappa by label (Table 7)",
            "Over the runs of each annotator; a dash where a label was named always or never. "
            "Intervals, prevalence and AC1 stand in the table of each label above.",
            (frame_matrix(kappas, ("label", "rater", "kappa"), numbers, "Label"),),
        ),
        Section(
            "Final labels (Table 8)",
            f"Items and their share of all items; items have several labels, so shares add up to "
            f"more than 100 %. {INCOMPLETE.capitalize()}: missing runs could still decide; the "
            "paper had none.",
            (frame_matrix(shares, ("label", "rater", "cell"),
                          {rater: count(head) for rater, head in heads.items()}, "Label"),),
        ),
    )  # fmt: skip


def _counted(row: dict[str, Any]) -> Marked:
    return Marked(row["items"], f" ({share_text(row['share'])})")


def figure_1(session: Path, item: str) -> list[Section]:
    """One text as figure 1 shows it: runs by configurations, a table a prompt, labels shortened.

    Raises
    ------
    InputError
        No annotator of the session was asked about that item.
    """
    found = read_annotations(session)
    heads: dict[str, dict[str, str]] = {}
    for name, prompt, rater in _raters(found.by_configuration):
        heads.setdefault(f"{SHORT[prompt]} prompt", {})[rater] = name
    short = resource("distortions", "labels")["short"]
    return [grid_section(found.runs, item, title, own, short) for title, own in heads.items()]


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


def _raters(by_configuration: Configurations) -> list[tuple[str, str, str]]:
    """(configuration, prompt, annotator) in order."""
    return [
        (name, prompt, prompts[prompt])
        for name, prompts in by_configuration.items()
        for prompt in SHORT
        if prompt in prompts
    ]


def _table6(unknown: pl.DataFrame, runs: LabelRuns, by_configuration: Configurations) -> Section:
    told = runs.entries is not None
    rows = []
    for name, prompt, rater in _raters(by_configuration):
        # Labels that only differ in their capitals stand together, as in the paper's table.
        own = unknown.filter(pl.col("rater") == rater)
        labels = ", ".join(sorted(own["label"].to_list(), key=str.casefold)) or None
        rows.append((name, SHORT[prompt], labels, int(own["count"].sum())))
    columns = (*map(text, ("Configuration", "Prompt", "Labels")), count("Total"))
    return Section(
        "Labels outside the set (Table 6)",
        "Everything that a reply named and the set does not hold, whether it stood alone (Others) "
        "or beside a distortion (dropped).",
        (Table(columns, tuple(rows) if told else ()),),
    )

"""Probes of annotators: items changed in one way each, and which labels are then named."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire.errors import InputError
from voirdire.examining.narrowing import beside
from voirdire.examining.probing.paired import BesideScores, PairedRuns
from voirdire.examining.probing.stored import by_run
from voirdire.examining.probing.suite import IDENTITY, SEPARATOR, arms_of, changed_name
from voirdire.files import whole
from voirdire.probes import RequestProbe, ResponseProbe
from voirdire.schema import Response
from voirdire.study import Comparisons, Conversations, Data, ItemsSpec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from voirdire.examining.probing.suite import Suite
    from voirdire.probes import Probe
    from voirdire.schema import Item
    from voirdire.study import Rater, Study

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ChangedAnswers:
    """One probe and annotator: (N,) in which share of runs the whole answer is another.

    `again` is that of the same text asked about once more, `changed` that of the changed one; NaN
    where a run is missing.
    """

    probe: Probe
    judge: str
    again: Floats
    changed: Floats
    groups: NDArray[np.str_]


def changed_items(
    items: Sequence[Item], probes: Sequence[Probe], languages: Mapping[str, str]
) -> tuple[list[tuple[Item, str, str]], dict[str, int]]:
    """(item, id with the probe, text) of each change, those as they are first, and of each probe
    how many items it does not apply to.

    Raises
    ------
    InputError
        A probe applies to no item.
    """
    rows = [(item, item.id, item.text) for item in items]
    untouched: dict[str, int] = {}
    for probe in probes:
        if not isinstance(probe, ResponseProbe):
            continue
        none = 0
        for item in items:
            foreign = probe.language and languages.get(item.id, probe.language) != probe.language
            said = None if foreign else probe.change(item, Response(item.id, "", item.text))
            if not isinstance(said, str) or (said == item.text and probe.name != IDENTITY):
                none += 1
            else:
                rows.append((item, changed_name(item.id, probe.name), said))
        if none == len(items):
            raise InputError(f"probe {probe.name!r} applies to no item; leave it out")
        if none:
            untouched[probe.name] = none
    return rows, untouched


def study_of_items(
    study: Study, panel: Sequence[Rater], rows: Sequence[tuple[Item, str, str]], path: Path
) -> Study:
    """The study over these items and annotators alone, and no data of old."""
    columns = () if study.items is None else study.items.columns
    with whole(path) as draft:
        lines = [
            json.dumps({**{c: item.extra.get(c) for c in columns}, "id": name, "text": said},
                       ensure_ascii=False, default=str)
            for item, name, said in rows
        ]  # fmt: skip
        draft.write_text("\n".join(lines) + "\n", encoding="utf-8")
    extra = tuple(column for column in columns if column not in ("id", "text"))
    return study.model_copy(
        update={
            "data": Data(), "panel": tuple(panel), "conversations": Conversations(unit="whole"),
            "generators": (), "comparisons": Comparisons(), "humans": None, "classify": None,
            "systems": (), "responses": None,
            "items": ItemsSpec(path=beside(path, study.folder), extra=extra),
        }
    )  # fmt: skip


def asked_labels(suite: Suite, folder: str | Path) -> Iterator[BesideScores | ChangedAnswers]:
    """Of each annotator and probe: the whole answer, then every label that was ever named."""
    table = pl.read_parquet(f"{folder}/ratings.parquet").with_columns(
        pl.col("item", "rater", "attribute").cast(pl.String)
    )
    parts = table["item"].str.splitn(SEPARATOR, 2)
    table = table.with_columns(
        parts.struct.field("field_0").alias("base"),
        parts.struct.field("field_1").fill_null("").alias("arm"),
    )
    for judge in suite.labellers:
        own = table.filter(pl.col("rater") == judge)
        plain, again = own.filter(pl.col("arm") == ""), own.filter(pl.col("arm") == IDENTITY)
        named = own.filter(pl.col("score") > 0)["attribute"].unique(maintain_order=True).to_list()
        for probe in suite.probes:
            changed = _of(table, own, judge, probe)
            if changed is None or changed.is_empty():
                continue
            yield _whole(probe, judge, plain, again, changed)
            for label in named:
                pair, same = (_pair(plain, other, label) for other in (changed, again))
                if len(pair.key):
                    yield BesideScores(probe, judge, label, (pair,), same, 1.0)


def _of(table: pl.DataFrame, own: pl.DataFrame, judge: str, probe: Probe) -> pl.DataFrame | None:
    """What was named of changed items, or by the annotator whose request was changed."""
    if isinstance(probe, RequestProbe):
        rater = changed_name(judge, probe.name)
        return table.filter(pl.col("rater") == rater, pl.col("arm") == "")
    if isinstance(probe, ResponseProbe):
        (arm,) = arms_of(probe)[-1:]
        return own.filter(pl.col("arm") == arm)
    return None


def _pair(plain: pl.DataFrame, other: pl.DataFrame, label: str) -> PairedRuns:
    key, before = by_run(plain.filter(pl.col("attribute") == label), ["base"])
    of_other, after = by_run(other.filter(pl.col("attribute") == label), ["base"])
    at = key.with_row_index("at").join(of_other.with_row_index("other"), on="base")
    mine, theirs = at["at"].to_numpy().astype(np.intp), at["other"].to_numpy()
    return PairedRuns(
        before[:, mine], after[:, theirs], mine, at["base"].to_numpy().astype(np.str_)
    )


def _whole(
    probe: Probe, judge: str, plain: pl.DataFrame, again: pl.DataFrame, changed: pl.DataFrame
) -> ChangedAnswers:
    """Each run beside the same run of the other text, whatever labels differ."""
    named = _differs(plain, changed).rename({"differs": "changed"})
    both = named.join(
        _differs(plain, again).rename({"differs": "again"}), on="base", how="left",
        maintain_order="left",
    )  # fmt: skip
    again_, changed_ = (
        both[name].cast(pl.Float64).fill_null(np.nan).to_numpy() for name in ("again", "changed")
    )
    return ChangedAnswers(probe, judge, again_, changed_, both["base"].to_numpy().astype(np.str_))


def _differs(plain: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
    """Item -> the share of runs in which some label differs; runs with a missing label go."""
    key = ["base", "run", "attribute"]
    both = plain.select(*key, "score").join(
        other.select(*key, pl.col("score").alias("other")), on=key, maintain_order="left"
    )
    runs = both.group_by("base", "run", maintain_order=True).agg(
        (pl.col("score") != pl.col("other")).any().alias("differs"),
        (pl.col("score").is_null() | pl.col("other").is_null()).any().alias("missing"),
    )
    return (
        runs.filter(~pl.col("missing"))
        .group_by("base", maintain_order=True)
        .agg(pl.col("differs").mean())
    )

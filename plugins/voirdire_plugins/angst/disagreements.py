"""Sections on errors: who was right where two methods differ, and on which posts."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import polars as pl

from voirdire.tabular import Section, Table, count, number, text
from voirdire_plugins.angst.errors import by_length, differences, side_by_side
from voirdire_plugins.angst.labels import LABELS
from voirdire_plugins.angst.scores import best

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.study import Study

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Compared:
    """Two raters of one task, and the label on which they are compared."""

    label: str
    a: str
    b: str


def pairs_to_compare(
    study: Study, summary: pl.DataFrame, types: Mapping[str, str]
) -> list[Compared]:
    """One model asked in two ways, and the best of the asked against the best of the trained."""
    found = []
    for task in summary["task"].unique(maintain_order=True):
        here = summary.filter(pl.col("task") == task)
        raters = [r for r in study.panel if r.name in set(here["rater"])]
        same = [
            (a.name, b.name)
            for a, b in combinations(raters, 2)
            if a.model and a.model == b.model and types[a.name] != types[b.name]
            and a.use == b.use
        ]  # fmt: skip
        trained = [r.name for r in raters if types[r.name] == "fine-tuned"]
        asked = [r.name for r in raters if r.name not in trained]
        tops = (best(here, task, asked), best(here, task, trained))
        same += [tops] if all(tops) else []
        labels = LABELS if task == "comorbidity" else (task,)
        found += [Compared(label, *pair) for label in labels for pair in same]
    return found


def difference_section(
    ratings: pl.DataFrame, gold: str, pairs: Sequence[Compared]
) -> list[Section]:
    """Section 7: of the posts on which two methods differ, how many each has right."""
    rows = []
    for pair in pairs:
        found = differences(side_by_side(ratings, gold, pair.a, pair.b, pair.label))
        rows.append((pair.label, pair.a, pair.b, *found.values()))
    if not rows:
        return []
    who = ("First right", "Second right", "Both wrong")
    counts = ("Posts", "Differ", *(head for w in who for head in (w, f"{w}, with label")))
    columns = (*map(text, ("Label", "First", "Second")), *map(count, counts))
    return [
        Section(
            "Where two methods differ, and who was right (as section 7)",
            "Over the majority of each method's runs; posts that gold and both have labelled. "
            '"with label" counts those that truly have the label.',
            (Table(columns, tuple(rows)),),
        )
    ]


def length_section(
    ratings: pl.DataFrame, gold: str, pairs: Sequence[Compared], texts: Mapping[str, str]
) -> list[Section]:
    """Table 16: mean length of posts by who was right."""
    if not texts or not pairs:
        return []
    mark = {True: "right", False: "wrong", None: "all"}
    rows = tuple(
        (
            pair.label,
            pair.a,
            mark[row["a_right"]],
            pair.b,
            mark[row["b_right"]],
            row["n_control"],
            row["characters_control"],
            row["n_label"],
            row["characters_label"],
        )
        for pair in pairs
        for row in by_length(
            side_by_side(ratings, gold, pair.a, pair.b, pair.label), texts
        ).iter_rows(named=True)
    )
    columns = (
        *map(text, ("Label", "First", "First was", "Second", "Second was")),
        count("n without"),
        number("Characters without"),
        count("n with"),
        number("Characters with"),
    )
    return [
        Section(
            "Right and wrong by length of the post (as Table 16)",
            "Mean number of characters, with the number of posts it rests on: without a test or an "
            "interval these means suggest, and prove nothing.",
            (Table(columns, rows),),
        )
    ]


def excerpt_sections(
    ratings: pl.DataFrame,
    gold: str,
    pairs: Sequence[Compared],
    texts: Mapping[str, str],
    excerpt: int,
) -> list[Section]:
    """The first posts on which two methods differ, by id; with an excerpt where one is allowed."""
    rows: list[tuple[str, ...]] = []
    for pair in pairs:
        found = side_by_side(ratings, gold, pair.a, pair.b, pair.label)
        for item, truth, a, b in found.filter(pl.col("a") != pl.col("b")).head(_SHOWN).iter_rows():
            cells = (pair.label, pair.a, _word(a), pair.b, _word(b), item, _word(truth))
            rows.append((*cells, shortened(texts.get(item, ""), excerpt)) if excerpt else cells)
    if not rows:
        return []
    heads = ("Label", "First", "First says", "Second", "Second says", "Post", "Gold")
    columns = tuple(map(text, (*heads, "Excerpt") if excerpt else heads))
    return [
        Section(
            f"Posts on which two methods differ (the first {_SHOWN} of each pair)",
            f"Excerpts are cut at {excerpt} characters, as the study allows."
            if excerpt
            else "Texts are left out; a study allows excerpts by data.excerpt.",
            (Table(columns, tuple(rows)),),
        )
    ]


def shortened(text: str, most: int) -> str:
    """The beginning of a text on one line, never longer than `most`.

    >>> shortened("One quiet   day.", 10), len(shortened("a" * 50, 10))
    ('One quiet…', 10)
    """
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _word(value: float) -> str:
    return "yes" if value else "no"

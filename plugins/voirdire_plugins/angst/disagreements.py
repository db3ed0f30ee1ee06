"""Sections on errors: who was right where two methods differ, and on which posts."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import polars as pl

from voirdire.examining.differing import by_length, differences, settled, side_by_side
from voirdire.stats import fleiss_kappa, joint_agreement
from voirdire.tabular import Section, Table, count, interval, number, text
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


def agreement_section(ratings: pl.DataFrame, gold: str, types: Mapping[str, str]) -> list[Section]:
    """How far the methods agree with one another (A.6), all of them and by kind."""
    answers = settled(ratings, LABELS).filter(pl.col("rater") != gold)
    rows = []
    for label in LABELS:
        own = answers.filter(pl.col("attribute") == label)
        asked = own["rater"].unique(maintain_order=True).to_list()
        groups = {"all methods": asked}
        for rater in asked:
            groups.setdefault(types.get(rater, ""), []).append(rater)
        for kind, raters in groups.items():
            if len(raters) < 2 or (kind != "all methods" and len(raters) == len(asked)):
                continue
            wide = own.filter(pl.col("rater").is_in(raters)).pivot(
                on="rater", index="item", values="score"
            )
            matrix = wide.select(pl.col(raters).cast(pl.Float64)).to_numpy()
            found = joint_agreement(matrix, levels=[0, 1], ci="percentile")
            kappa = fleiss_kappa(matrix, levels=[0, 1]).value
            rows.append((label, kind, len(raters), found.value, found.interval(), kappa, found.n))
    columns = (
        text("Label"), text("Methods"), count("Number"), number("Agreement"),
        interval("Interval"), number("Fleiss' kappa"), count("Posts"),
    )  # fmt: skip
    return [
        Section(
            "Agreement of the methods with one another (as A.6)",
            "Over the majority of each method's runs. Methods that agree may be wrong together.",
            (Table(columns, tuple(rows)),),
        )
    ]


def excerpt_sections(
    ratings: pl.DataFrame,
    gold: str,
    pairs: Sequence[Compared],
    texts: Mapping[str, str],
    excerpt: int,
    evidence: Mapping[str, str] | None = None,
) -> list[Section]:
    """The first posts on which two methods differ, by id; with an excerpt where one is allowed."""
    rows: list[tuple[str, ...]] = []
    for pair in pairs:
        found = side_by_side(ratings, gold, pair.a, pair.b, pair.label)
        for item, truth, a, b in found.filter(pl.col("a") != pl.col("b")).head(_SHOWN).iter_rows():
            cells = (pair.label, pair.a, _word(a), pair.b, _word(b), item, _word(truth))
            rows.append(
                (*cells, shortened(texts.get(item, ""), excerpt, (evidence or {}).get(item, "")))
                if excerpt
                else cells
            )
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


def shortened(text: str, most: int, around: str = "") -> str:
    """The beginning of a text on one line, never longer than `most`; or what stands `around` it.

    `around` holds spans of evidence, separated by ``|``: the first that stands in the text is in
    the middle of the excerpt.

    >>> shortened("One quiet   day.", 10), len(shortened("a" * 50, 10))
    ('One quiet…', 10)
    >>> shortened("It was a long day and I felt so low about it", 12, "so low")
    '…t so low a…'
    """
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    spans = (" ".join(span.split()) for span in around.split("|"))
    places = [(line.find(span), span) for span in spans if span and span in line]
    start = 0
    if places:
        place, span = places[0]
        start = max(0, min(place + len(span) // 2 - most // 2, len(line) - most))
    head, tail = "…" if start else "", "…" if start + most < len(line) else ""
    kept = line[start + len(head) : start + most - len(tail)]
    return head + (kept.rstrip() if tail else kept) + tail


def _word(value: float) -> str:
    return "yes" if value else "no"

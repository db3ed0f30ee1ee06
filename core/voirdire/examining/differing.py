"""Two raters of yes-or-no labels: where they differ, who was right, and how long the items are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from voirdire.stats import adjust_p, mcnemar
from voirdire.tabular import Section, Table, count, interval, number, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.stats import PairedTest

#: Items of each pair that are shown.
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class MethodPair:
    """Two raters of one task, and the label on which they are compared."""

    label: str
    a: str
    b: str


def majority_answers(ratings: pl.DataFrame, labels: Sequence[str]) -> pl.DataFrame:
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
    """``item, truth, a, b`` of the items that gold and both raters have labelled."""
    answers = majority_answers(ratings, [label]).drop_nulls("score")
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


def mcnemar_by_part(pairs: pl.DataFrame, texts: Mapping[str, str]) -> dict[str, PairedTest]:
    """McNemar's exact test of who was right: over all items, by true class and by length.

    Length is cut at the median number of characters, an item at the median counting as long;
    without texts, or with texts of one length, nothing is said of it.

    Examples
    --------
    >>> frame = {"item": list("uvwxyz"), "truth": [1] * 6, "a": [1] * 6, "b": [0] * 6}
    >>> parts = mcnemar_by_part(pl.DataFrame(frame), {})
    >>> list(parts), parts["all"].p
    (['all', 'with label', 'without label'], 0.03125)
    """
    characters = (
        pl.col("item")
        .cast(pl.String)
        .replace_strict(dict(texts), default=None, return_dtype=pl.String)
        .str.len_chars()
    )
    items = pairs.with_columns(characters.alias("characters"))
    parts = {
        "all": items,
        "with label": items.filter(pl.col("truth") == 1),
        "without label": items.filter(pl.col("truth") == 0),
    }
    middle = items["characters"].median()
    if middle is not None:
        parts["shorter"] = items.filter(pl.col("characters") < middle)
        parts["longer"] = items.filter(pl.col("characters") >= middle)
        if parts["shorter"].is_empty():
            del parts["shorter"], parts["longer"]
    right = [(pl.col(name) == pl.col("truth")).cast(pl.Int8).alias(name) for name in ("a", "b")]
    return {
        name: mcnemar(own["a"].to_numpy(), own["b"].to_numpy())
        for name, part in parts.items()
        for own in (part.select(right),)
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
    # A length in characters, since tokens depend on the model that counts them.
    lengths = pairs.with_columns(
        pl.col("item")
        .replace_strict(texts, default=None, return_dtype=pl.String)
        .str.len_chars()
        .alias("characters"),
        (pl.col("a") == pl.col("truth")).alias("a_right"),
        (pl.col("b") == pl.col("truth")).alias("b_right"),
    )
    cells = [
        expression
        for name, value in (("control", 0), ("label", 1))
        for expression in (
            (pl.col("truth") == value).sum().alias(f"n_{name}"),
            pl.col("characters")
            .filter(pl.col("truth") == value)
            .mean()
            .alias(f"characters_{name}"),
        )
    ]
    empty = pl.lit(None, pl.Boolean)
    whole = lengths.select(empty.alias("a_right"), empty.alias("b_right"), *cells)
    grid = pl.DataFrame(
        {"a_right": [True, True, False, False], "b_right": [True, False, True, False]}
    )
    split = lengths.group_by("a_right", "b_right").agg(cells)
    full = grid.join(split, on=["a_right", "b_right"], how="left", maintain_order="left")
    counts = pl.col("n_control", "n_label").fill_null(0)
    return pl.concat([full.with_columns(counts), whole.with_columns(counts)])


def differing_sections(
    ratings: pl.DataFrame,
    gold: str,
    pairs: Sequence[MethodPair],
    texts: Mapping[str, str],
    excerpt: int = 0,
    evidence: Mapping[str, str] | None = None,
) -> list[Section]:
    """Where pairs of methods differ: who was right, on texts of which length, and on which items.

    Parameters
    ----------
    ratings : pl.DataFrame
        Tidy ratings, a label being an attribute scored 0 or 1; the majority of runs counts.
    gold : str
        The rater that holds the gold labels.
    pairs : sequence of MethodPair
    texts : mapping
        Item -> text; without any, nothing is said of lengths.
    excerpt : int
        The most characters of a text that may be shown; 0 shows none.
    evidence : mapping, optional
        Item -> spans of the text, separated by ``|``, around which an excerpt is cut.
    """
    if not pairs:
        return []
    aside = [(pair, side_by_side(ratings, gold, pair.a, pair.b, pair.label)) for pair in pairs]
    sections = [_who_was_right(aside), _tests(aside, texts)]
    if texts:
        sections.append(_lengths(aside, texts))
    return [*sections, _items(aside, texts, excerpt, evidence or {})]


_Aside = list[tuple[MethodPair, pl.DataFrame]]


def _who_was_right(aside: _Aside) -> Section:
    rows = tuple((p.label, p.a, p.b, *differences(frame).values()) for p, frame in aside)
    who = ("First right", "Second right", "Both wrong")
    counts = ("Items", "Differ", *(head for w in who for head in (w, f"{w}, with label")))
    columns = (*map(text, ("Label", "First", "Second")), *map(count, counts))
    return Section(
        "Where two methods differ, and who was right",
        "Over the majority of each method's runs; items that gold and both have labelled. "
        '"with label" counts those that truly have the label.',
        (Table(columns, rows),),
    )


def _tests(aside: _Aside, texts: Mapping[str, str]) -> Section:
    """McNemar's test of each pair, by class and length; Holm's correction over whole pairs."""
    found = [(pair, mcnemar_by_part(frame, texts)) for pair, frame in aside]
    corrected = adjust_p([parts["all"].p for _, parts in found], "holm")
    rows = [
        (
            pair.label,
            pair.a,
            pair.b,
            part,
            test.n,
            int(test.statistic),
            round(test.statistic - test.difference * test.n),
            test.difference,
            # Where neither is right alone nothing varies, and a width of 0 would be no certainty.
            test.interval if test.interval.low < test.interval.high else None,
            test.p,
            float(whole) if part == "all" else None,
        )
        for (pair, parts), whole in zip(found, corrected, strict=True)
        for part, test in parts.items()
        if test.n
    ]
    columns = (
        *map(text, ("Label", "First", "Second", "Items that are")), count("Items"),
        count("First right alone"), count("Second right alone"),
        number("Difference of accuracy", signed=True), interval("Interval"),
        number("McNemar's p"), number("p, Holm"),
    )  # fmt: skip
    return Section(
        "Which of two methods is right more often, by class and length",
        "McNemar's exact test on the items where one of two is right and the other is not, with "
        "the difference of their accuracies and its 95 % t interval. p is corrected by Holm over "
        "the pairs for all items; by class and by length (cut at the median number of characters) "
        "it is not, and explores. Several texts of one author are taken for independent.",
        (Table(columns, tuple(rows)),),
    )


def _lengths(aside: _Aside, texts: Mapping[str, str]) -> Section:
    mark = {True: "right", False: "wrong", None: "all"}
    rows = tuple(
        (pair.label, pair.a, mark[a_right], pair.b, mark[b_right], *means)
        for pair, frame in aside
        for a_right, b_right, *means in by_length(frame, texts).iter_rows()
    )
    columns = (
        *map(text, ("Label", "First", "First was", "Second", "Second was")),
        count("n without"), number("Characters without"), count("n with"),
        number("Characters with"),
    )  # fmt: skip
    return Section(
        "Right and wrong by length of the text",
        "Mean number of characters, with the number of items it rests on: without a test or an "
        "interval these means suggest, and prove nothing.",
        (Table(columns, rows),),
    )


def _items(
    aside: _Aside, texts: Mapping[str, str], excerpt: int, evidence: Mapping[str, str]
) -> Section:
    words = {0.0: "no", 1.0: "yes"}
    rows = []
    for pair, frame in aside:
        for item, truth, a, b in frame.filter(pl.col("a") != pl.col("b")).head(_SHOWN).iter_rows():
            shown = shortened(texts.get(item, ""), excerpt, evidence.get(item, ""))
            cells = (pair.label, pair.a, words[a], pair.b, words[b], item, words[truth])
            rows.append((*cells, shown) if excerpt else cells)
    heads = ("Label", "First", "First says", "Second", "Second says", "Item", "Gold")
    columns = tuple(map(text, (*heads, "Excerpt") if excerpt else heads))
    return Section(
        f"Items on which two methods differ (the first {_SHOWN} of each pair)",
        f"Excerpts are cut at {excerpt} characters, as the study allows; evidence that annotators "
        "quoted stands between « and »."
        if excerpt
        else "Texts are left out; a study allows excerpts by data.excerpt.",
        (Table(columns, tuple(rows)),),
    )


def shortened(text: str, most: int, around: str = "") -> str:
    """The beginning of a text on one line, never longer than `most`; or what stands `around` it.

    `around` holds spans of evidence, separated by ``|``: the first that stands in the text is in
    the middle of the excerpt, and every one that the excerpt holds whole is marked, which makes it
    longer by the marks alone.

    >>> shortened("One quiet   day.", 10), len(shortened("a" * 50, 10))
    ('One quiet…', 10)
    >>> shortened("It was a long day and I felt so low about it", 12, "so low")
    '…t «so low» a…'
    """
    line = " ".join(text.split())
    spans = [" ".join(span.split()) for span in around.split("|")]
    spans = [span for span in dict.fromkeys(spans) if span]
    if len(line) > most:
        line = _cut(line, most, spans)
    # The longest first: a span inside another is marked with it.
    for span in sorted(spans, key=len, reverse=True):
        line = re.sub(rf"«[^»]*»|{re.escape(span)}", _marked, line)
    return line


def _marked(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith("«") else f"«{found[0]}»"


def _cut(line: str, most: int, spans: Sequence[str]) -> str:
    """At most so many signs of a line, around the first span that stands in it."""
    places = [(line.find(span), span) for span in spans if span in line]
    start = 0
    if places:
        place, span = places[0]
        # The span in the middle, unless it stands near an end.
        start = max(0, min(place + len(span) // 2 - most // 2, len(line) - most))
    head, tail = "…" if start else "", "…" if start + most < len(line) else ""
    kept = line[start + len(head) : start + most - len(tail)]
    return head + (kept.rstrip() if tail else kept) + tail

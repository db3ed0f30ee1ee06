"""Turns of conversations: agreement by turn, and where they first fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire.stats.first_failure import failed_by, first_failure_agreement
from voirdire.tables.turns import FAILED, FINE
from voirdire.tabular import Section, SectionFigure, Table, count, interval, number, text
from voirdire.units import parted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from voirdire.examining.inputs import Inputs
    from voirdire.tables.judged import ReadJudgements

#: Turns that a figure shows; the later ones are in the table.
_MOST_SHOWN = 40
#: Items at which it is looked whether any is a turn.
_LOOKED_AT = 200


def has_turns(inputs: Inputs) -> bool:
    """Whether items are turns of conversations, or first failures of some were named."""
    if inputs.firsts is not None:
        return True
    names = _items(inputs).unique(maintain_order=True).head(_LOOKED_AT).to_list()
    return any(parted(str(name))[1].position for name in names)


def _items(inputs: Inputs) -> pl.Series:
    if inputs.judgements is not None:
        return inputs.judgements.labels["item"]
    if inputs.tables is None:
        return pl.Series("item", [], pl.String)
    return inputs.tables.ratings["item"].cast(pl.String)


def turn_sections(inputs: Inputs) -> tuple[Section, ...]:
    """What is said of turns: nothing of kinds of judgements that have no part here."""
    if inputs.judgements is not None:
        return _firsts(inputs.judgements, inputs.reference)
    firsts = () if inputs.firsts is None else _firsts(inputs.firsts, inputs.firsts.people)
    if inputs.tables is None:
        return firsts
    rows = _placed(inputs.tables.ratings.filter(pl.col("score").is_not_null()))
    return (*filter(None, [_by_turn(rows, inputs)]), *firsts)


def _firsts(read: ReadJudgements, people: Sequence[str]) -> tuple[Section, ...]:
    """A section an attribute of which first failures were named."""
    asked = [one.attribute for one in read.questions if set(one.labels) == {FINE, FAILED}]
    return tuple(
        section
        for attribute in asked
        for section in _first_sections(_placed(read.labels), attribute, people)
    )


def _placed(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with the conversation, the position of their turn, 0 of a whole, and which it is."""
    names = rows["item"].cast(pl.String).unique()
    found = [parted(name) for name in names.to_list()]
    places = pl.DataFrame(
        {
            "item": names,
            "talk": pl.Series([talk for talk, _ in found], dtype=pl.String),
            "position": pl.Series([unit.position for _, unit in found], dtype=pl.Int64),
            "kind": pl.Series([unit.kind for _, unit in found], dtype=pl.String),
        }
    )
    text_columns = [pl.col(c).cast(pl.String) for c in ("item", "system", "rater", "attribute")]
    return rows.with_columns(text_columns).join(places, on="item", how="left")


# --- scores


def _by_turn(rows: pl.DataFrame, inputs: Inputs) -> Section | None:
    """How far judges and people are from people, turn by turn."""
    turns = rows.filter(pl.col("position") > 0)
    if turns.is_empty():
        return None
    keys = ["item", "system", "attribute"]
    means = turns.group_by(*keys, "position", "rater").agg(pl.col("score").mean())
    people = means.filter(pl.col("rater").is_in(list(inputs.reference)))
    both = means.join(people, on=[*keys, "position"], suffix="_human", nulls_equal=True)
    apart = both.filter(pl.col("rater") != pl.col("rater_human")).with_columns(
        gap=(pl.col("score") - pl.col("score_human")).abs(),
        who=pl.when(pl.col("rater").is_in(list(inputs.reference)))
        .then(pl.lit(_PEOPLE))
        .otherwise("rater"),
    )
    if apart.is_empty():
        return None
    found = apart.group_by("who", "position").agg(pl.col("gap").mean(), units=pl.len())
    names = [_PEOPLE, *sorted(set(found["who"]) - {_PEOPLE})]
    places = sorted(set(found["position"]))
    cells = {(who, at): gap for who, at, gap in found.select("who", "position", "gap").rows()}
    pairs = dict(found.group_by("position").agg(pl.col("units").sum()).rows())
    table = Table(
        (count("Turn"), count("Pairs"), *(number(name) for name in names)),
        tuple((at, pairs[at], *(cells.get((name, at)) for name in names)) for at in places),
    )
    shown = places[:_MOST_SHOWN]
    figure = SectionFigure(
        "lines",
        tuple(map(str, shown)),
        tuple((n, tuple(cells.get((n, at), float("nan")) for at in shown)) for n in names),
        x="Turn",
        y="Mean difference (points)",
    )
    said = (
        "Mean absolute difference of single scores from those of each person, by turn. People "
        "beside people show how hard a turn is: a judge whose line climbs away from theirs loses "
        "the conversation. It decides nothing; verdicts rest on all turns, clustered by "
        "conversation."
    )
    return Section("Agreement over turns", said, (table,), (figure,))


_PEOPLE = "people among themselves"


# --- first failures


def _first_sections(
    rows: pl.DataFrame, attribute: str, reference: Sequence[str]
) -> Iterator[Section]:
    """Agreement on the first turn that fails, beside people's own, and how many failed by when."""
    rows = rows.filter(pl.col("attribute") == attribute, pl.col("run") == pl.col("run").min())
    lengths = rows.group_by("talk", "system").agg(length=pl.col("position").max())
    said = (
        rows.filter(pl.col("labels").is_not_null())
        .group_by("talk", "system", "rater")
        .agg(first=pl.col("position").filter(pl.col("labels").list.first() == FAILED).min())
    )
    units = lengths.sort("talk", "system")
    ends = units["length"].to_numpy().astype(float)
    names = said["rater"].unique(maintain_order=True).sort().to_list()
    first = {name: _positions(said, name, units) for name in names}
    people = [name for name in reference if name in first]
    if not people:
        return
    table = []
    part = str(rows.filter(pl.col("position") > 0)["kind"].first() or "turn")
    whole, clusters = WHOLES[part], units["talk"].to_numpy()
    for name in (n for n in names if n not in people):
        found = first_failure_agreement(
            first[name], np.stack([first[p] for p in people]), ends, clusters=clusters
        )
        for measure, called in _CALLED.items():
            mine, theirs = found.judge[measure], found.people[measure]
            table.append(
                (
                    name,
                    called.format(part),
                    mine.n,
                    mine.value,
                    theirs.value,
                    found.difference[measure].value,
                    found.difference[measure].interval(),
                )
            )
    columns = (
        text("Judge"), text("Agreement"), count(f"{whole}s".capitalize()), number("with people"),
        number("people among themselves"), number("Difference", signed=True), interval("Interval"),
    )  # fmt: skip
    text_said = (
        f"First {part}s that fail ({attribute}): the share of pairs that name the same {part} or "
        f"both say never, that are at most one {part} apart, and that agree on whether it fails at "
        f"all. A {whole} without a failure is censored at its end: never counts as one behind the "
        f"last {part}. Intervals leave out one {whole} at a time. The verdict on the labels "
        f"{FINE!r} and {FAILED!r} says what the judge may be used for."
    )
    longest = int(min(ends.max(), _MOST_SHOWN))
    figure = SectionFigure(
        "lines",
        tuple(str(at) for at in range(1, longest + 1)),
        tuple((n, tuple(failed_by(first[n], ends)[:longest].tolist())) for n in names),
        x=part.capitalize(),
        y="Failed by",
        caption=f"The share of {whole}s that each rater says have failed by a {part}, of those "
        "that reach it (product-limit estimate).",
    )
    yield Section(
        f"Where {whole}s first fail", text_said, (Table(columns, tuple(table)),), (figure,)
    )


_CALLED = {"exact": "the same {}", "within_one": "within one {}", "ever": "whether at all"}
#: What a whole is called, by the kind of its parts.
WHOLES = {"step": "run", "turn": "conversation"}


def _positions(said: pl.DataFrame, name: str, units: pl.DataFrame) -> NDArray[np.float64]:
    """(n,) a rater's first failures: 0 for never, NaN where it said nothing."""
    own = said.filter(pl.col("rater") == name).with_columns(pl.col("first").fill_null(0))
    joined = units.join(
        own.select("talk", "system", "first"),
        on=["talk", "system"],
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    return joined["first"].cast(pl.Float64).fill_null(np.nan).to_numpy()

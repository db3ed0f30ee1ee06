"""Label these: so many responses of each stratum, drawn at random, and with which probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire.errors import InputError, not_there
from voirdire.tabular import Section, Table, count, share, text

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Columns of the responses that are drawn from, and of the list that is drawn.
_FROM = ("item", "system", "stratum", "labelled")
_LIST = ("item", "system", "stratum", "decision", "origin", "label_probability")


@dataclass(frozen=True, slots=True)
class Stratum:
    """Some of the responses, of which so many are labelled.

    Attributes
    ----------
    name : str
        What they have in common; empty where they are all responses.
    size : int
        Responses (or clusters, where these are drawn whole), labelled or not.
    labelled : int
        Those that have a label, which were drawn at random.
    drawn : int
        Those that are to be labelled now.
    """

    name: str
    size: int
    labelled: int
    drawn: int

    @property
    def probability(self) -> float:
        """With which each of them has a label once the drawn ones have theirs.

        Earlier labels were drawn at random, so that of a stratum any set of so many is as likely
        as any other.
        """
        return (self.labelled + self.drawn) / self.size


@dataclass(frozen=True, slots=True)
class LabelDraw:
    """What to label.

    Attributes
    ----------
    strata : tuple of Stratum
    units : DataFrame
        ``item, system, stratum, decision, origin, label_probability``: a row a response that is to
        be labelled (decision ``human``) or has a label (``labelled``). The probability is null
        where it is the same for all, and where the labels cannot stand for all responses.
    seed : int
    """

    strata: tuple[Stratum, ...]
    units: pl.DataFrame
    seed: int
    clustered: bool = False

    @property
    def number(self) -> int:
        """Responses that are to be labelled."""
        return self.units.filter(pl.col("decision") == "human").height

    @property
    def origin(self) -> str:
        """``random``, or ``chosen`` where a stratum stays without labels: nothing stands for it."""
        return _origin(self.strata)


def draw_labels(responses: pl.DataFrame, numbers: Mapping[str, int], *, seed: int = 0) -> LabelDraw:
    """Draw responses to label, at random within each stratum.

    Parameters
    ----------
    responses : DataFrame
        A row a response: ``item, system`` (names), ``stratum`` (a name; empty for all),
        ``labelled`` (whether it has a label, drawn at random from its stratum), and where responses
        are drawn together ``unit`` (a cluster), and of pairs ``system_b``, the other system, which
        the list names as well. One that has a label in part counts as labelled.
    numbers : mapping of str to int
        Stratum -> how many of its responses (or units) to draw, as far as there are so many without
        a label; 0 for those that are not named.
    seed : int
        Equal responses and seeds give equal draws.

    Raises
    ------
    InputError
        A column is missing, a number is negative, or a stratum is named that is not there.

    Examples
    --------
    >>> import polars as pl
    >>> from voirdire.examining.planning import draw_labels
    >>> rows = [(f"q{i}", "", "fails" if i < 20 else "passes", i % 10 == 0) for i in range(200)]
    >>> names = ["item", "system", "stratum", "labelled"]
    >>> drawn = draw_labels(
    ...     pl.DataFrame(rows, names, orient="row"), {"fails": 8, "passes": 18}, seed=1
    ... )
    >>> [(one.name, one.drawn, one.probability) for one in drawn.strata]
    [('fails', 8, 0.5), ('passes', 18, 0.2)]
    """
    missing = [name for name in _FROM if name not in responses.columns]
    if missing:
        raise not_there("column", missing[0], responses.columns, "responses to draw from")
    names = responses["stratum"].unique(maintain_order=True).to_list()
    chance = np.random.default_rng(seed)
    clustered = "unit" in responses.columns
    names_of = ["item", "system", *(["system_b"] if "system_b" in responses.columns else [])]
    strata, taken = [], []
    for name in numbers:
        if name not in names:
            raise not_there("stratum", name, names)
    for name in names:
        wanted = numbers.get(name, 0)
        if wanted < 0:
            raise InputError(f"stratum {name!r}: {wanted} responses cannot be drawn")
        own = responses.filter(pl.col("stratum") == name)
        own = own if clustered else own.with_columns(unit=pl.int_range(pl.len()))
        known = own.filter(pl.col("labelled"))
        seen = known["unit"].unique()
        free = own.join(known, on="unit", how="anti", maintain_order="left")
        units = free["unit"].unique(maintain_order=True)
        at = np.sort(chance.permutation(len(units))[:wanted])
        rows = free.join(units.gather(at).to_frame(), on="unit", how="semi", maintain_order="left")
        strata.append(Stratum(str(name), len(seen) + len(units), len(seen), len(at)))
        taken += [
            part.select(*names_of, "stratum").with_columns(decision=pl.lit(decision))
            for part, decision in ((rows, "human"), (known, "labelled"))
        ]
    origin = _origin(strata)
    chances = {one.name: one.probability for one in strata if one.labelled + one.drawn}
    # Equal probabilities weigh nothing: that the labels are random says it all.
    told = chances if origin == "random" and len(set(chances.values())) > 1 else {}
    listed = pl.concat(taken).with_columns(
        origin=pl.lit(origin),
        label_probability=pl.col("stratum").replace_strict(
            told, default=None, return_dtype=pl.Float64
        ),
    )
    told_of = (*names_of, *(one for one in _LIST if one not in names_of))
    return LabelDraw(tuple(strata), listed.select(told_of), seed, clustered)


def _origin(strata: list[Stratum] | tuple[Stratum, ...]) -> str:
    bare = any(one.size and not one.labelled + one.drawn for one in strata)
    return "chosen" if bare else "random"


def draw_section(draw: LabelDraw, where: str = "") -> Section:
    """What to label, by stratum; `where` is the list that was written."""
    whole = ", in whole clusters" if draw.clustered else ""
    sentence = f"{draw.number:,} responses, drawn at random{whole}"
    sentence += " within each stratum." if len(draw.strata) > 1 else "."
    if where:
        sentence += f" People get them by: voirdire humans export SOURCE --queue {where}"
    if draw.origin == "chosen":
        sentence += (
            " These labels say nothing of the strata that have none, and correct no mean of all."
        )
    rows = tuple(
        (one.name or "all responses", one.size, one.labelled, one.drawn, one.probability)
        for one in draw.strata
    )
    columns = (
        text("Stratum"), count("Clusters" if draw.clustered else "Responses"),
        count("Labelled already"), count("To label"),
        share("Then labelled"),
    )  # fmt: skip
    return Section("Label these", sentence, (Table(columns, rows),), leading=True)

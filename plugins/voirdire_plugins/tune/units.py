"""Labelled units: what people said of each response, and what a judge says of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire.errors import InputError, listed
from voirdire.examining.panel import member_of
from voirdire.examining.source import inputs_of, open_source
from voirdire.schema import Finding
from voirdire.stats import krippendorff_alpha
from voirdire.stats.tuning import FEWEST
from voirdire.study import Source
from voirdire_plugins.tune.subjects import KEYS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from voirdire.study import Rater, Study
    from voirdire_plugins.tune.subjects import Subject

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """Responses on one question each, with the scores of people.

    Attributes
    ----------
    keys : DataFrame
        ``item, system, attribute``; of pairs also ``other``, the second system.
    humans : (n, H) float64
        NaN where a person said nothing; of pairs the first system's score less the second's.
    cluster : (n,) of str
        What belongs together: declared clusters, else items.
    people : tuple of str
    """

    keys: pl.DataFrame
    humans: Floats
    cluster: NDArray[np.str_]
    people: tuple[str, ...]

    def __len__(self) -> int:
        """How many."""
        return len(self.humans)

    @property
    def systems(self) -> list[tuple[str, ...]]:
        """The item and the system of each, or both systems of a pair."""
        return self.keys.drop("attribute").rows()

    @property
    def responses(self) -> set[tuple[str, str]]:
        """(item, system) of all."""
        return {(item, system) for item, *both in self.systems for system in both}

    def taken(self, kept: NDArray[np.bool_]) -> Units:
        """Some of them."""
        return Units(self.keys.filter(kept), self.humans[kept], self.cluster[kept], self.people)

    def beside(self, others: Units) -> Units:
        """These and then others, of which no label is seen."""
        unseen = np.full((len(others), self.humans.shape[1]), np.nan)
        return Units(
            pl.concat([self.keys, others.keys.select(self.keys.columns)]),
            np.concatenate([self.humans, unseen]),
            np.concatenate([self.cluster, others.cluster]),
            self.people,
        )

    def said(self) -> pl.DataFrame:
        """What each person said of each item: ``item, rater, attribute, score``."""
        keys = self.keys.select("item", "attribute")
        parts = [
            keys.with_columns(rater=pl.lit(name), score=pl.Series(self.humans[:, at]))
            for at, name in enumerate(self.people)
        ]
        rows = pl.concat(parts).filter(pl.col("score").is_not_nan())
        return rows.select("item", "rater", "attribute", "score")

    def of_systems(self, names: Sequence[str]) -> NDArray[np.bool_]:
        """(n,) which are about one of these systems."""
        own = set(names)
        return np.array([bool(own & set(row[1:])) for row in self.systems], bool)

    def without(self, systems: Sequence[str], runs: Floats) -> Floats:
        """(R, n) scores but of these systems, which their rater may not judge."""
        return np.where(self.of_systems(systems), np.nan, runs) if systems else runs

    def scores(self, ratings: pl.DataFrame, rater: str) -> Floats:
        """(R runs, n) what a rater said; NaN where it gave no score.

        Each run is a row; a rater without any has one row of NaN.
        """
        own = ratings.filter(pl.col("rater") == rater)
        runs = own["run"].unique().sort().to_list() or [None]
        parts = []
        for run in runs:
            said = own if run is None else own.filter(pl.col("run") == run)
            parts.append(_less(self.keys, said))
        return np.stack(parts)


def _less(keys: pl.DataFrame, said: pl.DataFrame) -> Floats:
    """(n,) scores of the keys; of pairs the first's less the second's, or the score of both."""
    if "other" in said.columns:
        table = said.group_by(*KEYS, "other").agg(pl.col("score").mean())
        both = keys.join(table, on=[*KEYS, "other"], how="left", maintain_order="left")
        return np.asarray(both["score"].to_numpy(), np.float64)
    table = said.group_by(*KEYS).agg(pl.col("score").cast(pl.Float64).mean())
    found = keys.join(table, on=KEYS, how="left", maintain_order="left")["score"].to_numpy()
    if "other" not in keys.columns:
        return np.asarray(found, np.float64)
    second = keys.join(
        table,
        left_on=["item", "other", "attribute"],
        right_on=KEYS,
        how="left",
        maintain_order="left",
    )["score"].to_numpy()
    return np.asarray(found - second, np.float64)


def with_labels(study: Study, labels: Sequence[str | Path], reference: Sequence[str]) -> Study:
    """The study with files of labels among its sources, and no judge: nothing is asked to read it.

    Raises
    ------
    InputError
        A file is not there, or nobody is named as a person.
    """
    for path in labels:
        if not Path(path).is_file():
            raise InputError(f"--labels {path}: there is no such file")
    # A column of the name of the items' ids holds them, as in any source of the study.
    more = tuple(Source(path=str(Path(path).resolve())) for path in labels)
    named = tuple(reference) or study.data.reference
    if not named and not any(rater.kind == "human" for rater in study.panel):
        raise InputError(
            "say by --reference NAME,NAME who of the labels' raters is a person (a file without a "
            "column of raters holds those of one, named after the file)"
        )
    data = study.data.model_copy(
        update={"sources": (*study.data.sources, *more), "reference": named}
    )
    return study.model_copy(update={"data": data})


def read_units(study: Study, attributes: Sequence[str], use: str, subject: Subject) -> Units:
    """The labelled units of a study; its own sources hold what people said.

    Raises
    ------
    InputError
        Nobody is known to be a person, or nobody labelled anything.
    """
    if not study.data.sources:
        raise InputError(
            "there are no labels: name a file of people's ratings by --labels, or as a "
            "[[data.sources]] of the study"
        )
    inputs = inputs_of(open_source(study))
    ratings = subject.said(inputs)
    there = ratings["rater"].unique(maintain_order=True).to_list()
    people = (
        inputs.panel.reference
        or study.data.reference
        or tuple(
            name
            for name in there
            if study.rater(name) is None or study.rater(name).kind == "human"  # type: ignore[union-attr]
        )
    )
    if not people:
        raise InputError(
            f"no rater of the labels is known to be a person: say by --reference NAME who is "
            f"({listed(there)})"
        )
    said = ratings.filter(pl.col("rater").is_in(list(people)), pl.col("score").is_not_null())
    if attributes:
        known = said["attribute"].unique().sort().to_list()
        if lost := [name for name in attributes if name not in known]:
            raise InputError(
                f"--attribute {lost[0]}: no label is of it (labelled: {listed(known)})"
            )
        said = said.filter(pl.col("attribute").is_in(list(attributes)))
    if said.is_empty():
        raise InputError(f"{listed(people)} labelled nothing")
    columns = [*KEYS, *(["other"] if "other" in said.columns else [])]
    keys = said.select(columns).unique(maintain_order=True)
    if use == "pick" and "other" not in columns:
        keys = _pairs(keys)
    humans = np.stack(
        [_less(keys, said.filter(pl.col("rater") == name)) for name in people], axis=1
    )
    cluster = keys["item"].to_numpy().astype(str)
    if "cluster" in said.columns:
        named = said.group_by("item").agg(pl.col("cluster").cast(pl.String).first())
        found = keys.join(named, on="item", how="left", maintain_order="left")["cluster"]
        # What belongs to no declared cluster is one of its own.
        cluster = found.fill_null(keys["item"]).to_numpy().astype(str)
    kept: NDArray[np.bool_] = np.asarray(~np.isnan(humans).all(axis=1))
    if not kept.any():
        raise InputError(f"--for {use}: people labelled no two systems of one item")
    return Units(keys, humans, cluster, tuple(people)).taken(kept)


def decided(units: Units) -> Units:
    """The pairs on which people take a side: of two minds they choose nothing.

    Raises
    ------
    InputError
        None is.
    """
    kept: NDArray[np.bool_] = np.asarray(np.nanmean(units.humans, axis=1) != 0)
    if not kept.any():
        raise InputError("--for pick: people decided nothing between two systems of one item")
    return units.taken(kept)


def of_known(units: Units, known: Sequence[str], judge: str) -> tuple[Units, tuple[Finding, ...]]:
    """The units of labels that an annotator can give; all, where it declares none.

    Raises
    ------
    InputError
        People gave none of its labels.
    """
    kept: NDArray[np.bool_] = units.keys["attribute"].is_in(list(known)).to_numpy()
    if not known or kept.all():
        return units, ()
    others = units.keys.filter(~kept)["attribute"].unique().sort().to_list()
    if not kept.any():
        raise InputError(
            f"people's labels are {listed(others)}, and {judge} gives {listed(known)}: none is "
            "the same"
        )
    finding = Finding(
        "label_unknown",
        "serious",
        judge,
        len(others),
        (judge,),
        f"People also gave {listed(others)}, which {judge} does not know.",
        "These labels are left out: nothing is said of them.",
    )
    return units.taken(kept), (finding,)


def of_others(
    units: Units, panel: Sequence[Rater], study: Study
) -> tuple[Units, tuple[Finding, ...]]:
    """Units of systems that every one of these may judge: none excludes them, or is their kin.

    All candidates are measured on the same units, so that what one may not judge is left out of
    all.

    Raises
    ------
    InputError
        Nothing is left.
    """
    systems = barred(panel, study)
    own = units.of_systems(systems)
    if not own.any():
        return units, ()
    who = listed([one.name for one in panel if member_of(one, study).excluded])
    if own.all():
        raise InputError(
            f"all labels are of {listed(systems)}, which {who} may not judge: its own family, or "
            "excluded by the study"
        )
    finding = Finding(
        "own_systems_left_out",
        "note",
        "",
        int(own.sum()),
        tuple(systems),
        f"{int(own.sum())} labels are of {listed(systems)}: of the family of {who}, or excluded.",
        "They measure nothing, as in an examination.",
    )
    return units.taken(~own), (finding,)


def barred(panel: Sequence[Rater], study: Study) -> list[str]:
    """Systems that some of these may not judge."""
    return sorted({name for one in panel for name in member_of(one, study).excluded})


def _pairs(keys: pl.DataFrame) -> pl.DataFrame:
    """Two systems of each item, in the order of their names."""
    return (
        keys.join(keys.rename({"system": "other"}), on=["item", "attribute"])
        .filter(pl.col("system") < pl.col("other"))
        .select("item", "system", "attribute", "other")
    )


def people_agree(units: Units, level: float = 0.95) -> tuple[Finding, ...]:
    """What is known of how people agree, before anybody is asked.

    Raises
    ------
    InputError
        They are not shown to agree beyond chance, or too few units are labelled.
    """
    groups = len(np.unique(units.cluster))
    if groups < FEWEST:
        raise InputError(
            f"{len(units)} labels of {groups} items are too few to choose by: label "
            f"{FEWEST - groups} items more at least; below 50 only a gain of some 20 points shows. "
            "Nobody was asked."
        )
    twice = (~np.isnan(units.humans)).sum(axis=1) > 1
    if twice.sum() < 2:
        return (
            Finding(
                "one_person",
                "note",
                "",
                len(units),
                units.people,
                "Nothing was labelled by two people.",
                "How far people agree is not known; the gain is in agreement with these labels.",
            ),
        )
    alpha = krippendorff_alpha(units.humans, "interval", ci="jackknife", level=level)
    low, _ = alpha.bounds
    low = alpha.value if np.isnan(low) else low  # people who never differ leave no error
    if alpha.reason is not None or not low > 0:
        shown = "" if alpha.reason else f" (alpha {alpha.value:.2f}, from {low:.2f})"
        raise InputError(
            f"people are not shown to agree beyond chance on these labels{shown}: a judge "
            "cannot be tuned towards labels that two people do not share. Settle first what is "
            "asked of them. Nobody was asked."
        )
    return ()

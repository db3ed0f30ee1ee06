"""From a cube of ratings to cases: who is judged, on what, beside whom."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire.errors import InputError
from voirdire.examining.ratings.pairing import kept_responses, not_by_all
from voirdire.examining.spec import KINDS
from voirdire.examining.spec.scores.case import Case, GateRule
from voirdire.examining.verdict.facts import Judged
from voirdire.examining.verdict.judging import judge_by_study
from voirdire.stats.calibration import in_order
from voirdire.tabular import places_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from voirdire.examining.inputs import Inputs
    from voirdire.examining.panel import Member, Panel
    from voirdire.examining.ratings.cube import Cube
    from voirdire.examining.spec import KindSpec
    from voirdire.schema import Finding, Scale
    from voirdire.study import Study

#: What a judge must reach at a gate against one column of labels, where nothing is declared.
LEAST_SENSITIVITY = LEAST_SPECIFICITY = 0.80


def judged_of(inputs: Inputs, kinds: Iterable[KindSpec] | None = None) -> Judged:
    """Verdicts on every judge and question of the inputs, by use, and their evidence.

    Holm's method is over what one of `kinds` (by default all) gives cases of.
    """
    study = inputs.study
    blocked = blocked_pairs(inputs.findings, inputs.panel, study)
    judged = Judged()
    for kind in KINDS.values() if kinds is None else kinds:
        found = judge_by_study(
            kind.cases_of(inputs), study, blocked, epsilon=study.thresholds.epsilon
        )
        judged = judged.and_of(found)
    return judged


def gather_cases(cube: Cube, panel: Panel, study: Study, ratings: pl.DataFrame) -> Iterator[Case]:
    """Every judge x attribute x reference, in the order of the panel and the rubric.

    The systems that a judge excludes are left out. Where the ratings name a cluster, it is what is
    resampled; responses without one are clusters by their item.
    """
    clusters = clusters_of(ratings, cube)
    subgroups = names_by_response(ratings, cube, "subgroup")
    chances = chances_of(ratings, cube, panel)
    # A row without a score was asked for: COVER counts it as missing, and not as never asked.
    asked = set(ratings.select(pl.col("rater", "attribute").cast(pl.String)).unique().iter_rows())
    items = in_order(np.array(cube.items))  # numbers are compared sooner than names
    for judge in panel.judges:
        kept = kept_responses(cube, judge.excluded)
        runs = runs_of(judge.name, cube, ratings)
        for at, attribute in enumerate(cube.attributes):
            for reference in panel.references:
                yield replace(
                    case_of(cube, panel, study, judge, (at, reference), runs[:, at]),
                    items=items[cube.item[kept]],
                    clusters=None if clusters is None else clusters[kept],
                    subgroups=None if subgroups is None else subgroups[kept],
                    random_labels=_random(ratings, reference),
                    asked=(judge.name, attribute) in asked,
                    chances=None if chances is None else chances[kept],
                )


def case_of(
    cube: Cube,
    panel: Panel,
    study: Study,
    judge: Member,
    place: tuple[int, Sequence[str]],
    runs: NDArray[np.float64],
) -> Case:
    """The case of a judge, an attribute's place in the cube and a reference; items are numbered.

    `runs` (K, N) are the judge's scores of all responses of the cube, which a stream has of the
    distinct rows of ratings.
    """
    at, reference = place
    kept = kept_responses(cube, judge.excluded)
    declared = study.rater(judge.name)
    return Case(
        judge=judge.name,
        attribute=cube.attributes[at],
        reference=tuple(reference),
        scores=runs[:, kept],
        humans=_humans(cube, reference, at, panel)[:, kept],
        items=np.flatnonzero(kept),
        width=panel.scale.width,
        systems=_systems(cube, kept),
        family=_family(judge, cube),
        gate=gate_of(study, panel.scale),
        temperature=None if declared is None else declared.temperature,
    )


def item_names(cube: Cube) -> NDArray[np.str_]:
    """(I,) names of items by the numbers that they have in a case."""
    items = np.array(cube.items)
    return items[np.argsort(in_order(items))]


def gate_of(study: Study, scale: Scale) -> GateRule | None:
    """The declared gate; a scale of two levels passes at the upper one.

    Minima that are not declared are 0.80 and 0.80, whatever the scale.

    Raises
    ------
    InputError
        A gate that every score of the scale passes, or none.
    """
    # A continuous scale of width 1 has a step of 0, and no upper level to pass at.
    two = scale.step > 0 and scale.step == scale.width
    declared = study.gate
    if declared is not None and not scale.low < declared.at <= scale.high:
        raise InputError(
            f"gate: {declared.at:g} must lie above {scale.low:g} and at most at {scale.high:g}, "
            "the ends of the scale: else all scores pass, or none"
        )
    if declared is None and not two:
        return None
    at = scale.high if declared is None else declared.at
    if declared is None or declared.sensitivity is None:
        return GateRule(at, LEAST_SENSITIVITY, LEAST_SPECIFICITY, by_default=True)
    return GateRule(at, declared.sensitivity, declared.specificity)


def runs_of(judge: str, cube: Cube, ratings: pl.DataFrame) -> NDArray[np.float64]:
    """(K runs, A attributes, N responses) scores of one judge, NaN where missing."""
    scores: NDArray[np.float64] = cube.scores[cube.raters.index(judge)]
    # The cube's mean of one run is that run; only several have to be looked up in the table.
    if cube.runs[judge] < 2:
        return np.stack([scores])
    own = ratings.filter(
        pl.col("rater").cast(pl.String) == judge,
        pl.col("attribute").cast(pl.String).is_in(list(cube.attributes)),
        pl.col("score").is_not_null(),
    )
    # Runs may be numbered with gaps: by order, not by number.
    numbers = np.unique(own["run"].to_numpy(), return_inverse=True)[1]
    at = places_of(own["attribute"], cube.attributes)
    by_run = np.full((int(cube.runs[judge]), *scores.shape), np.nan)
    by_run[numbers, at, _responses(own, cube)] = own["score"].to_numpy()
    return by_run


def by_response(ratings: pl.DataFrame, cube: Cube, column: str) -> pl.Series | None:
    """(N,) what a column of the ratings first says of each response, null where it says nothing.

    None where there is no such column, or it is empty throughout.
    """
    if column not in ratings.columns or ratings[column].null_count() == ratings.height:
        return None
    # A fact of a response may be written beside one of its ratings and left blank at the others.
    filled = ratings.filter(pl.col(column).is_not_null()).unique(
        ["item", "system"], keep="first", maintain_order=True
    )
    return by_place(_responses(filled, cube), filled[column], cube.item.size)


def by_place(at: Any, facts: pl.Series, size: int) -> pl.Series:
    """(N,) what is said first of each place, null where nothing is; `at` are places of `facts`."""
    said = pl.DataFrame({"at": at, "fact": facts}).drop_nulls("fact")
    said = said.unique("at", keep="first", maintain_order=True)
    every = pl.DataFrame({"at": pl.Series(np.arange(size), dtype=said.schema["at"])})
    return every.join(said, on="at", how="left", maintain_order="left")["fact"]


def names_by_response(ratings: pl.DataFrame, cube: Cube, column: str) -> NDArray[np.str_] | None:
    """The same as names, empty where it says nothing."""
    facts = by_response(ratings, cube, column)
    if facts is None:
        return None
    return facts.cast(pl.String).fill_null("").to_numpy().astype(np.str_)


def blocked_pairs(
    findings: Sequence[Finding], panel: Panel, study: Study
) -> frozenset[tuple[str, str]]:
    """Judges and attributes that a blocking finding concerns.

    A finding that names a judge concerns that judge alone, one that names the reference, a file of
    several raters or nobody concerns all judges; of attributes it concerns those it names, or all.
    """
    rater_of = {source.path: source.rater for source in study.data.sources}
    # A finding may name a file by its path in the study or by its name alone.
    rater_of |= {PurePath(path).name: rater for path, rater in rater_of.items()}
    names = {judge.name for judge in panel.judges}
    blocking = [finding for finding in findings if finding.severity == "blocking"]
    at = [
        (rater_of.get(finding.table) or finding.table, finding.attributes) for finding in blocking
    ]
    pairs = {
        (name, attribute)
        for place, attributes in at
        for name in ({place} if place in names else names)
        for attribute in attributes or panel.attributes
    }
    # A judge of labels or preferences alone is no member of the panel.
    return frozenset(pairs | {(place, name) for place, attributes in at for name in attributes})


def chances_of(ratings: pl.DataFrame, cube: Cube, panel: Panel) -> NDArray[np.float64] | None:
    """(N,) with which probability each response was labelled; None where it was the same for all.

    Labels without one beside labels with one were drawn otherwise.
    """
    facts = by_response(ratings, cube, "label_probability")
    if facts is None:
        return None
    chances = facts.cast(pl.Float64).to_numpy()
    people = [cube.raters.index(name) for name in dict.fromkeys(chain(*panel.references))]
    said = chances[~np.isnan(cube.scores[people]).all(axis=(0, 1))]
    return None if len(np.unique(said)) < 2 else chances


def clusters_of(ratings: pl.DataFrame, cube: Cube) -> NDArray[np.str_] | None:
    """(N,) the declared cluster of each response, else its item; None where none is declared."""
    clusters = names_by_response(ratings, cube, "cluster")
    return None if clusters is None else cluster_names(clusters, np.array(cube.items)[cube.item])


def cluster_names(clusters: NDArray[np.str_], items: NDArray[np.str_]) -> NDArray[np.str_]:
    """(N,) the declared clusters, and each item by itself where none is."""
    # A prefix keeps the name of an item from meeting that of a cluster.
    alone = np.char.add("item ", items)
    return np.where(clusters == "", alone, np.char.add("cluster ", clusters))


def _humans(cube: Cube, reference: Sequence[str], at: int, panel: Panel) -> NDArray[np.float64]:
    """(R, N) of the reference, where as many rated as the study asks for."""
    scores = cube.scores[[cube.raters.index(name) for name in reference], at]
    short = (~np.isnan(scores)).sum(axis=0) < min(panel.quorum, len(reference))
    if panel.listwise:
        short |= not_by_all(cube, panel)[at]
    return np.where(short, np.nan, scores)


def _systems(cube: Cube, kept: NDArray[np.bool_]) -> NDArray[np.str_] | None:
    if cube.systems in ((), ("",)):
        return None
    return np.array(cube.systems)[cube.system[kept]]


def _family(judge: Member, cube: Cube) -> dict[str, bool]:
    """Systems by whether they are of the judge's own family, where some of these are judged."""
    own = set(judge.family_systems or ()) - set(judge.excluded)
    return {name: name in own for name in cube.systems} if own else {}


def _random(ratings: pl.DataFrame, reference: Sequence[str]) -> bool:
    """Whether no label of the reference is said to have been chosen."""
    if "origin" not in ratings.columns:
        return True
    chosen = ratings.filter(
        pl.col("rater").cast(pl.String).is_in(list(reference)),
        pl.col("origin").cast(pl.String) == "chosen",
    )
    return chosen.is_empty()


def _responses(ratings: pl.DataFrame, cube: Cube) -> NDArray[np.intp]:
    """The position of each row's response; -1 where the cube has none."""
    item = places_of(ratings["item"], cube.items)
    system = places_of(ratings["system"].cast(pl.String).fill_null(""), cube.systems)
    key = item * len(cube.systems) + system
    keys = cube.item * len(cube.systems) + cube.system
    # Past the end there is no key to compare with: the last one differs, which is what counts.
    at = np.minimum(np.searchsorted(keys, key), keys.size - 1)
    return np.where((item >= 0) & (system >= 0) & (keys[at] == key), at, -1)

"""How far judges are from people in each subgroup of the responses, beside people themselves.

A language is a subgroup. Nothing here assumes one: what is not declared has none.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from voirdire.stats import Interval, cluster_jackknife
from voirdire.tabular import Section, Table, count, interval, number, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from voirdire.examining.inputs import Inputs
    from voirdire.examining.spec.scores.case import Case

    Floats = NDArray[np.float64]

_LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class SubgroupResult:
    """A judge on an attribute in one subgroup, in its first run.

    Attributes
    ----------
    judge, attribute, subgroup : str
    n : int
        Responses that the judge and a person rated.
    clusters : int
        Clusters that they belong to; items, where none are declared.
    apart : float
        Mean distance of the judge from each person: of scores and probabilities the absolute
        difference, of labels the share that differs.
    people : float
        The same of people among themselves, NaN where fewer than two rated.
    beyond : float
        `apart` less `people`, on the responses that two people rated.
    beyond_interval : Interval
        Of `beyond`, leaving out one cluster at a time.
    bias : float
        Judge less people's mean; NaN of labels.
    bias_interval : Interval
    """

    judge: str
    attribute: str
    subgroup: str
    n: int
    clusters: int
    apart: float
    people: float
    beyond: float
    beyond_interval: Interval
    bias: float
    bias_interval: Interval


@dataclass(frozen=True, slots=True)
class SubgroupFacts:
    """What is found in each subgroup; `column` is what the source calls them, such as language."""

    rows: tuple[SubgroupResult, ...]
    column: str = "subgroup"
    labels: bool = False


def measure_subgroups(inputs: Inputs) -> SubgroupFacts:
    """Every judge and attribute, in every subgroup that is declared."""
    cases = list(_cases(inputs))
    rows = tuple(row for case in cases for row in _results(case))
    return SubgroupFacts(rows, inputs.by, any(case.table is not None for case in cases))


def _cases(inputs: Inputs) -> Iterable[Case]:
    if inputs.judgements is not None:
        from voirdire.examining.judgements import label_cases  # noqa: PLC0415 - of labels alone

        return label_cases(inputs.judgements, inputs.reference)
    from voirdire.examining.verdict.gathering import gather_cases  # noqa: PLC0415 - of scores alone

    return gather_cases(inputs.cube, inputs.panel, inputs.study, inputs.ratings)


def _results(case: Case) -> Iterator[SubgroupResult]:
    if case.subgroups is None:
        return
    clusters = case.items if case.clusters is None else case.clusters
    for name in sorted(set(case.subgroups.tolist()) - {""}):
        here = case.subgroups == name
        own, humans = case.scores[0, here], case.humans[:, here]
        found = _result(case, own, humans, np.asarray(clusters)[here])
        if found is not None:
            yield SubgroupResult(case.judge, case.attribute, str(name), *found)


def _result(
    case: Case, own: Floats, humans: Floats, clusters: NDArray[np.generic]
) -> tuple[int, int, float, float, float, Interval, float, Interval] | None:
    apart = _means(_apart(case, own, person) for person in humans)
    among = _means(_apart(case, a, b) for a, b in combinations(humans, 2))
    rated, both = ~np.isnan(apart), ~np.isnan(apart) & ~np.isnan(among)
    if not rated.any():
        return None
    beyond, beyond_interval = _mean((apart - among)[both], clusters[both])
    gap = np.full(own.shape, np.nan)
    if case.table is None:
        gap = own - _means(iter(humans))
    bias, bias_interval = _mean(gap[rated], clusters[rated])
    people = float(among[both].mean()) if both.any() else float("nan")
    shown = float(apart[both].mean()) if both.any() else float(apart[rated].mean())
    size, groups = int(rated.sum()), len(set(clusters[rated].tolist()))
    return size, groups, shown, people, beyond, beyond_interval, bias, bias_interval


def _apart(case: Case, one: Floats, other: Floats) -> Floats:
    """(N,) distances, NaN where one of both said nothing."""
    gap = np.abs(one - other)
    return gap if case.table is None else np.where(np.isnan(gap), np.nan, (gap > 0).astype(float))


def _means(rows: Iterator[Floats] | Iterable[Floats]) -> Floats:
    """(N,) means of what is there; NaN where nothing is."""
    stacked = np.array(list(rows), dtype=np.float64)
    if not stacked.size:
        return np.array(np.nan)
    there = (~np.isnan(stacked)).sum(axis=0)
    sums = np.nansum(stacked, axis=0)
    return np.where(there > 0, sums / np.maximum(there, 1), np.nan)


def _mean(values: Floats, clusters: NDArray[np.generic]) -> tuple[float, Interval]:
    nothing = Interval("jackknife", _LEVEL, float("nan"), float("nan"))
    if not values.size or np.isnan(values).all():
        return float("nan"), nothing
    columns = np.stack([values, np.ones(values.size)], axis=1)
    found = cluster_jackknife(columns, clusters, lambda sums: sums[..., 0] / sums[..., 1])
    low, high = found.bound((1 - _LEVEL) / 2), found.bound((1 + _LEVEL) / 2)
    return float(values.mean()), Interval("jackknife", _LEVEL, float(low), float(high))


def subgroup_sections(facts: SubgroupFacts) -> tuple[Section, ...]:
    """One table of all judges, attributes and subgroups."""
    if not facts.rows:
        return ()
    scored = any(not np.isnan(row.bias) for row in facts.rows)
    columns = [
        text("Judge"), text("Attribute"), text(facts.column.capitalize()), count("Responses"),
        count("Clusters"), number("Apart from people"), number("People apart"),
        number("Difference", signed=True), interval("Interval"),
    ]  # fmt: skip
    if scored:
        columns += [number("Bias", signed=True), interval("Interval of the bias")]
    cells = [
        (
            row.judge,
            row.attribute,
            row.subgroup,
            row.n,
            row.clusters,
            row.apart,
            row.people,
            row.beyond,
            row.beyond_interval,
            *((row.bias, row.bias_interval) if scored else ()),
        )
        for row in facts.rows
    ]
    what = "the share of labels that differ" if facts.labels else "the mean absolute difference"
    said = (
        f"How far each judge is from each person, and people from one another ({what}, single "
        "runs). Intervals leave out one cluster at a time. Verdicts ask of each of these parts "
        "whether the judge reads there and treats it as people do; this table decides nothing."
    )
    return (Section(f"Results by {facts.column}", said, (Table(tuple(columns), tuple(cells)),)),)

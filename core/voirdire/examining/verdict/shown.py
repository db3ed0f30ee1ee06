"""What a report shows of a kind's cases beside its verdicts: people's rankings, calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats.probability import ProbabilityPanel, calibration_error
from voirdire.stats.ranking import rank_systems
from voirdire.tabular import Section, Table, count, interval, number, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from voirdire.examining.spec.preferences.ground import ComparedCase
    from voirdire.examining.spec.scores.case import Case
    from voirdire.stats.ranking import Ranking


def rankings(cases: Sequence[ComparedCase]) -> Iterator[Section]:
    """People's comparisons of each attribute as one ranking."""
    # The humans are the same for every judge.
    for attribute in dict.fromkeys(case.attribute for case in cases):
        ranking = _ranking(next(case for case in cases if case.attribute == attribute))
        if ranking is not None:
            yield _ranking_section(attribute, ranking)


def _ranking(case: ComparedCase) -> Ranking | None:
    """People's comparisons of an attribute as one ranking; None where systems never met."""
    a, b, scores, items = [], [], [], []
    groups = case.groups()
    for human in case.humans:
        there = ~np.isnan(human)
        a += case.compared.a[there].tolist()
        b += case.compared.b[there].tolist()
        scores += human[there].tolist()
        items += groups[there].tolist()
    try:
        return rank_systems(a, b, scores, items)
    except StatisticsError:
        return None


def _ranking_section(attribute: str, ranking: Ranking) -> Section:
    columns = (
        text("System"), number("Log-strength"), interval("95 % CI"), count("Rank"),
        text("Ranks that it may have"), count("Tier"), count("Wins"), count("Ties"),
        count("Losses"),
    )  # fmt: skip
    rows = tuple(
        (
            one.system,
            one.strength,
            (one.interval.low, one.interval.high),
            one.rank,
            f"{one.low} to {one.high}",
            one.tier,
            one.wins,
            one.ties,
            one.losses,
        )
        for one in ranking.systems
    )
    more = [f"{one.first} and {one.second} ({one.needed:,})" for one in ranking.more if one.needed]
    told = f" About so many more comparisons would tell neighbours apart: {', '.join(more)}."
    pulled = " Some system won or lost everything: Jeffreys' prior keeps strengths finite."
    return Section(
        f"People's ranking ({attribute})",
        "One ranking from everybody's comparisons, a tie being half a win of each; systems of one "
        f"tier are not told apart.{pulled if ranking.shrunk else ''}{told if more else ''}",
        (Table(columns, rows),),
    )


def calibrations(cases: Sequence[Case]) -> Iterator[Section]:
    """The calibration error of each judge beside what a calibrated judge would show."""
    columns = (
        text("Judge"), text("Attribute"), number("ECE"), number("a calibrated judge's"),
        number("its 95 % bound"),
    )  # fmt: skip
    rows = []
    for case in cases:
        claims = ProbabilityPanel.of(
            case.scores, case.humans, systems=case.systems, clusters=case.groups()
        )
        if claims.n:
            error = calibration_error(claims)
            rows.append((case.judge, case.attribute, error.value, error.calibrated, error.upper))
    if not rows:
        return
    yield Section(
        "Expected calibration error",
        "Over ten bins. It decides nothing: it is never 0, and stands next to what a calibrated "
        "judge with these probabilities would show.",
        (Table(columns, tuple(rows)),),
    )

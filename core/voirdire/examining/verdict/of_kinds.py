"""Verdicts on labels, sets of labels, preferences and probabilities, and what they rest on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.examining.judgements import compared_cases, label_cases
from voirdire.examining.spec.labels.ground import LabelGround, of_one_label
from voirdire.examining.spec.preferences.ground import ComparedGround
from voirdire.examining.spec.probabilities.ground import ProbabilityGround
from voirdire.examining.spec.scores.case import Case
from voirdire.examining.spec.scores.ground import ScoreGround
from voirdire.examining.verdict.advise import next_step
from voirdire.examining.verdict.decide import asked_uses, verdict_of, with_holm
from voirdire.examining.verdict.facts import Evidence
from voirdire.examining.verdict.judged import Judged
from voirdire.stats.probability import calibration_error
from voirdire.stats.ranking import rank_systems
from voirdire.study import Rater, own_systems
from voirdire.tabular import Section, Table, count, interval, number, text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    import polars as pl

    from voirdire.examining.inputs import Inputs
    from voirdire.examining.spec import Ground
    from voirdire.examining.spec.preferences.ground import ComparedCase
    from voirdire.examining.verdict.facts import Verdict
    from voirdire.stats.probability import CalibrationError
    from voirdire.stats.ranking import Ranking
    from voirdire.study import Margins, Study
    from voirdire.tables.judged import ReadJudgements

    AnyCase: TypeAlias = Case | ComparedCase
    AnyGround: TypeAlias = ScoreGround | ComparedGround

#: What is asked of the share of each label, on the engine for scores.
OF_SHARES = ("order", "score", "estimate")


def ground_of(case: AnyCase, margins: Margins) -> AnyGround:
    """The ground of a case, by its kind."""
    if not isinstance(case, Case):
        return ComparedGround(case, margins)
    if case.probability:
        return ProbabilityGround(case, margins)
    return (LabelGround if case.table is not None else ScoreGround)(case, margins)


def judge_judgements(
    study: Study,
    read: ReadJudgements | None = None,
    preferences: pl.DataFrame | None = None,
    *,
    reference: Sequence[str] = (),
    blocked: Collection[tuple[str, str]] = (),
    drawn: bool = False,
) -> Judged:
    """Verdicts on every judge and question of labels, probabilities and preferences.

    Parameters
    ----------
    study : Study
        Whose margins, uses and safety-critical attributes hold.
    read : ReadJudgements, optional
        Labels and probabilities, and preferences, of files.
    preferences : DataFrame, optional
        Comparisons of a study or session.
    reference : sequence of str
        The humans.
    blocked : collection of (str, str)
        Judges and attributes on which a finding of the audit forbids a verdict.
    drawn : bool
        Whether an order of comparisons that is not recorded was drawn each time.
    """
    critical = {part.name for part in study.rubric.attributes if part.safety_critical}
    cases = _cases(study, read, preferences, reference, drawn=drawn)
    return judge_kinds(cases, study.margins, study.uses, critical=critical, blocked=blocked)


def judge_kinds(
    cases: Iterable[AnyCase],
    margins: Margins,
    uses: Sequence[str] = (),
    *,
    critical: Collection[str] = (),
    blocked: Collection[tuple[str, str]] = (),
) -> Judged:
    """Verdicts on cases of any kind, on the uses that are named, else on all."""
    verdicts: list[Verdict] = []
    evidence: list[Evidence] = []
    rankings: dict[str, Ranking] = {}
    calibrations: list[tuple[str, str, CalibrationError]] = []
    for case in cases:
        ground = ground_of(case, margins)
        evidence.append(_evidence(ground))
        if isinstance(ground, ProbabilityGround) and ground.claims.n:
            error = calibration_error(ground.claims)
            calibrations.append((case.judge, case.attribute, error))
        if isinstance(ground, ComparedGround) and case.attribute not in rankings:
            ranking = _ranking(case)
            if ranking is not None:
                rankings[case.attribute] = ranking
        for use in _asked(uses, ground):
            made = verdict_of(
                use[0], use[1], critical=ground.case.attribute in critical,
                blocked=(ground.case.judge, ground.case.attribute) in blocked,
            )  # fmt: skip
            made = replace(made, label=use[2] or made.label, kind=ground.kind)
            verdicts.append(replace(made, next=next_step(use[0], use[1], made)))
    return Judged(
        with_holm(verdicts), tuple(evidence), (), tuple(rankings.items()), tuple(calibrations)
    )


def _ranking(case: Any) -> Ranking | None:
    """People's comparisons of an attribute as one ranking; None where systems never met."""
    a, b, scores, items = [], [], [], []
    groups = case.items if case.clusters is None else case.clusters
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


def _cases(
    study: Study,
    read: ReadJudgements | None,
    preferences: pl.DataFrame | None,
    reference: Sequence[str],
    *,
    drawn: bool,
) -> Iterator[Any]:
    if read is not None and read.questions:
        yield from label_cases(read, reference)
    table = preferences if read is None or read.preferences is None else read.preferences
    if table is not None:
        raters = map(str, table["rater"].unique())
        own = {name: own_systems(study.rater(name) or Rater(name=name), study) for name in raters}
        yield from compared_cases(table, reference, own, drawn=drawn)


def _asked(uses: Sequence[str], ground: Ground) -> Iterator[tuple[Ground, Any, str]]:
    """What is asked of a ground; of labels also the shares of each, on the engine for scores."""
    for asked in asked_uses(uses, ground):
        yield ground, asked, ""
    if not isinstance(ground, LabelGround):
        return
    wanted = [use for use in OF_SHARES if not uses or use in uses]
    for label in ground.labels if wanted else ():
        shares = ScoreGround(of_one_label(ground.case, label), ground.margins)
        for asked in asked_uses(wanted, shares):
            if asked.use == "estimate" or shares.systems > 1:
                yield shares, asked, label


def _evidence(ground: Ground) -> Evidence:
    made: Any = ground
    case = made.case
    systems = made.panel.systems if ground.kind == "preference" or case.systems is not None else ()
    paired = int(case.paired.sum())
    return Evidence(
        judge=ground.case.judge,
        attribute=ground.case.attribute,
        reference=ground.case.reference,
        systems=tuple(str(name) for name in systems),
        n_responses=paired,
        n_labelled=int(case.labelled.sum()),
        n_judged=int((~_missing(case.scores)).sum()),
        clusters=ground.units[0],
        clustered=case.clusters is not None,
        runs=len(case.scores),
        width=case.compared.width if ground.kind == "preference" else case.width,
        gate=float("nan"),
        constant=float("nan"),
        humans_below=made.humans_below,
        careless=getattr(made, "careless", ()),
        copied=getattr(made, "repeating", ()),
        components=made.all(),
    )


def _missing(scores: Any) -> Any:
    return np.isnan(scores).all(axis=0)


def judged_kinds(inputs: Inputs, read: ReadJudgements | None) -> Judged:
    """Verdicts on labels and probabilities (`read`), and on preferences that were read."""
    compared = None if inputs.preferences is None else inputs.preferences.table
    reference = inputs.reference if read is None else (read.people or inputs.reference)
    blocked = {
        (judge, attribute)
        for finding in inputs.findings
        if finding.severity == "blocking"
        for judge in ([finding.table] if finding.table else [])
        for attribute in finding.attributes
    }
    inputs.ask_order()
    return judge_judgements(
        inputs.study, read, compared, reference=reference, blocked=blocked,
        drawn=inputs.preferences is not None and inputs.preferences.order == "drawn",
    )  # fmt: skip


def kind_sections(judged: Judged) -> tuple[Section, ...]:
    """People's rankings, and calibration beside what a calibrated judge would show."""
    made = [_ranking_section(attribute, ranking) for attribute, ranking in judged.rankings]
    if judged.calibrations:
        made.append(_calibration_section(judged))
    return tuple(made)


def _ranking_section(attribute: str, ranking: Ranking) -> Section:
    columns = (
        text("System"), number("Log-strength"), interval("95 % CI"), count("Rank"),
        text("Ranks that it may have"), count("Tier"), count("Wins"), count("Ties"),
        count("Losses"),
    )  # fmt: skip
    rows = tuple(
        (one.system, one.strength, (one.interval.low, one.interval.high), one.rank,
         f"{one.low} to {one.high}", one.tier, one.wins, one.ties, one.losses)
        for one in ranking.systems
    )  # fmt: skip
    more = [f"{one.first} and {one.second} ({one.needed:,})" for one in ranking.more if one.needed]
    told = f" About so many more comparisons would tell neighbours apart: {', '.join(more)}."
    pulled = " Some system won or lost everything: Jeffreys' prior keeps strengths finite."
    return Section(
        f"People's ranking ({attribute})",
        "One ranking from everybody's comparisons, a tie being half a win of each; systems of one "
        f"tier are not told apart.{pulled if ranking.shrunk else ''}{told if more else ''}",
        (Table(columns, rows),),
    )


def _calibration_section(judged: Judged) -> Section:
    columns = (
        text("Judge"), text("Attribute"), number("ECE"), number("a calibrated judge's"),
        number("its 95 % bound"),
    )  # fmt: skip
    rows = tuple(
        (judge, attribute, error.value, error.calibrated, error.upper)
        for judge, attribute, error in judged.calibrations
    )
    return Section(
        "Expected calibration error",
        "Over ten bins. It decides nothing: it is never 0, and stands beside what a calibrated "
        "judge with these probabilities would show.",
        (Table(columns, rows),),
    )

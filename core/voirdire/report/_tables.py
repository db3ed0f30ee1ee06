"""The evidence as sections: typed tables, which each renderer prints in its own way."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from voirdire.examining.spec.components import AGREEMENT_OF_MEANS
from voirdire.report._grid import answer_sections
from voirdire.report._responses import response_sections
from voirdire.report.words import class_of, for_display, rater_of
from voirdire.tabular import (
    Marked,
    Section,
    Spread,
    Table,
    count,
    interval,
    number,
    share,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from voirdire.examining.examination import Examination
    from voirdire.examining.ratings.facts import PairResult, SystemTest
    from voirdire.examining.ratings.pairing import UnderRule
    from voirdire.tabular import Cell

#: Pairs of systems grow with their square; files for programs hold them all.
_MOST_TESTS = 40


def evidence(examination: Examination) -> Mapping[str, Section]:
    """What a report shows beside its verdicts, as typed tables that every format prints.

    Returns
    -------
    mapping of str to Section
        Name -> section, for everything that has rows or something to say. A section that only
        draws is left out: its figure stands among the figures. Where each human is a reference in
        turn, a judge has a name for each.
    """
    examination = for_display(examination)
    sections = {
        **response_sections(examination),
        "icc": icc_section(examination),
        "bias": bias_section(examination),
        "errors": error_section(examination),
        "ceiling": ceiling_section(examination),
        "exclusion": exclusion_section(examination),
        "system_means": means_section(examination),
        "tests": tests_section(examination),
        "measures": measures_section(examination),
    }
    answers = answer_sections(examination)
    # A figure keeps the number of its section, wherever its table stands.
    numbered = {
        f"section_{at}": section
        for at, section in enumerate(examination.sections, start=1)
        if section.has_rows or (section.text and not section.figures)
    }
    parts = (
        {name: one for name, one in answers.items() if name != "components"},
        {name: one for name, one in numbered.items() if one.own},
        {name: one for name, one in answers.items() if name == "components"},
        sections,
        {name: one for name, one in numbered.items() if not one.own},
    )
    return {
        name: section
        for part in parts
        for name, section in part.items()
        if section.has_rows or name in numbered
    }


def icc_section(examination: Examination) -> Section:
    """ICC(C,1) and ICC(A,1) with their intervals, and ICC(A,1) of the judge as a fixed rater."""
    published = bool(examination.study.analysis.published_class)
    fixed = {
        (seen.judge, seen.attribute, seen.reference): part
        for seen in examination.evidence
        if (part := seen.component(AGREEMENT_OF_MEANS.key)) is not None
        and part.state != "not tested"
    }
    columns = (
        text("Judge"),
        text("Attribute"),
        *((text("Class"), text("Exact class")) if published else ()),
        text("Band"),
        count("Units"),
        number("C"),
        interval("C, F"),
        interval("C, bootstrap"),
        number("A"),
        interval("A, F"),
        interval("A, bootstrap"),
        *((number("A, judge fixed"), interval("A, judge fixed, interval")) if fixed else ()),
    )
    rows = []
    for result in _all(examination):
        part = fixed.get((rater_of(result), result.attribute, result.reference))
        own = (part.estimate, (part.low, part.high)) if part else (None, None)
        rows.append(
            (
                result.judge,
                result.attribute,
                *((class_of(result), result.class_exact or None) if published else ()),
                result.band,
                result.n_units,
                result.icc_c1,
                result.interval("C,1", "f"),
                result.interval("C,1", "percentile"),
                result.icc_a1,
                result.interval("A,1", "f"),
                result.interval("A,1", "percentile"),
                *(own if fixed else ()),
            )
        )
    return Section(
        "Consistency and agreement",
        f"{_unit(examination)} C is ICC(C,1), "
        f"consistency; A is ICC(A,1), absolute agreement. Intervals are {_level(examination)} "
        f"ones, by the F distribution and by the percentile bootstrap over {examination.units}; "
        "they take the judge as drawn from many."
        + (_FIXED if fixed else "")
        + (_FEW if any(math.isnan(one.icc_c1) for one in _all(examination)) else "")
        + (_CLASS if published else ""),
        (Table(columns, tuple(rows)),),
    )


_FEW = " No coefficient of the means of fewer than five systems is shown: it would say nothing."
_FIXED = (
    " With the judge fixed, A is freed of the sampling noise of items, and its 90 % interval is "
    "that of the verdict: over items or clusters, for this judge and these systems."
)
_CLASS = (
    " The class goes by the width of C's bootstrap interval; * marks one that the seed decides. "
    "The exact class goes by every resample there is (up to ten systems), and has no seed."
)


def bias_section(examination: Examination) -> Section:
    """Means of reference and judge, and their difference with its interval."""
    columns = (
        text("Judge"),
        text("Attribute"),
        number("Reference"),
        number("Judge's"),
        number("Bias", signed=True),
        interval("Interval"),
        share("Of scale"),
        interval("Limits", 2),
    )
    rows = tuple(
        (
            result.judge,
            result.attribute,
            result.human_mean,
            result.judge_mean,
            result.bias,
            result.bias_interval,
            result.bias_normalised,
            (result.loa_low, result.loa_high),
        )
        for result in _all(examination)
    )
    return Section(
        "Bias",
        f"Judge minus reference, the mean over {examination.units}; in per cent of the scale's "
        "width; and Bland and Altman's limits, between which 95 % of the differences are expected "
        "to lie.",
        (Table(columns, rows),),
    )


def error_section(examination: Examination) -> Section:
    """Errors and response-level agreement."""
    columns = (
        text("Judge"),
        text("Attribute"),
        count("Pairs"),
        number("MSE"),
        number("RMSE"),
        number("MSE, system"),
        number("MS error", 4),
        number("CCC"),
        number("r"),
        number("QWK"),
        number("Alpha"),
    )
    rows = tuple(
        (
            result.judge,
            result.attribute,
            result.n_pairs,
            result.mse,
            result.rmse,
            result.mse_system,
            result.ms_error,
            result.ccc,
            result.pearson_r,
            result.qwk,
            result.alpha_ordinal,
        )
        for result in _all(examination)
    )
    return Section(
        "Errors and response-level agreement",
        "Response level: MSE, RMSE, quadratic-weighted kappa (QWK) and ordinal alpha over the "
        "pairs; the last two need scores on the scale's levels, which means of several humans or "
        "runs are not. Over system means, or over the same pairs where there are no systems: MSE, "
        "the mean square of error, Lin's CCC and Pearson's r.",
        (Table(columns, rows),),
    )


def ceiling_section(examination: Examination) -> Section:
    """Each human against the mean of the others: what a judge can at best be asked for."""
    columns = (
        text("Human"),
        text("Attribute"),
        count("Units"),
        number("C"),
        interval("C, F"),
        number("A"),
        interval("A, F"),
        number("Bias", signed=True),
    )
    rows = tuple(
        (
            result.judge,
            result.attribute,
            result.n_units,
            result.icc_c1,
            result.interval("C,1", "f"),
            result.icc_a1,
            result.interval("A,1", "f"),
            result.bias,
        )
        for result in examination.rated.ceiling
    )
    return Section(
        "The ceiling: humans among themselves",
        "Each human against the mean of the other humans. No judge can be asked to agree with "
        "humans better than they agree with one another.",
        (Table(columns, rows),),
    )


def exclusion_section(examination: Examination) -> Section:
    """The same coefficients under other rules of leaving systems out, where they differ."""
    names = ("C", "A", "C, all", "A, all", "C, family", "A, family")
    columns = (text("Judge"), text("Attribute"), text("Left out"), *map(number, names))
    rows = tuple(
        (
            result.judge,
            result.attribute,
            ", ".join(_label(examination, name) for name in result.excluded_systems) or "none",
            result.icc_c1,
            result.icc_a1,
            *_ruled(result.without_exclusion),
            *_ruled(result.family_rule),
        )
        for result in _all(examination)
        if result.without_exclusion or result.family_rule
    )
    return Section(
        "Exclusion",
        "C and A as examined, with every system, and with every system of the judge's family "
        "left out (a dash where that changes nothing).",
        (Table(columns, rows),),
    )


def means_section(examination: Examination) -> Section:
    """How each rater sees each system: the mean of every attribute, overall and rank."""
    attributes = tuple(
        dict.fromkeys(a for seen in examination.rated.system_means for a in seen.means)
    )
    # An attribute may be called like one of our columns, and a table has each name once.
    reserved = ("Rater", "System", "Overall ± SD", "Rank")
    columns = (
        text("Rater"),
        text("System"),
        *(number(f"{name} (mean)" if name in reserved else name, 2) for name in attributes),
        number("Overall ± SD", 2),
        number("Rank", 1),
    )
    rows = tuple(
        (
            seen.rater,
            _label(examination, seen.system) or "all",
            *(seen.means.get(name) for name in attributes),
            Spread(seen.overall, seen.overall_sd),
            # Tied ranks are halves; a whole one is printed as such.
            seen.rank if seen.rank % 1 else int(seen.rank),
        )
        for seen in examination.rated.system_means
    )
    return Section(
        "System means",
        "Mean score of each system by each rater; overall with its standard deviation; rank 1 is "
        "the best.",
        (Table(columns, rows),),
    )


def tests_section(examination: Examination) -> Section:
    """Paired t-tests between systems within one rater, with Holm's correction.

    Where there are many, those with the smallest corrected p.
    """
    tests = examination.rated.tests
    more = len(tests) - _MOST_TESTS
    # As they were tested while all are shown; sorting serves only the cut.
    if more > 0:
        tests = tuple(sorted(tests, key=_by_p)[:_MOST_TESTS])
    columns = (
        text("Rater"),
        text("System A"),
        text("System B"),
        count("Items"),
        number("A − B", signed=True),
        number("t", 2, signed=True),
        number("p"),
        number("p (Holm)"),
        count("Family"),
    )
    rows = tuple(
        (
            test.rater,
            _label(examination, test.system_a),
            _label(examination, test.system_b),
            test.n,
            test.difference,
            test.t,
            p_cell(test.p),
            p_cell(test.p_holm),
            test.family_size,
        )
        for test in tests
    )
    rest = (
        f" The {_MOST_TESTS} with the smallest p after it; results.json and tests.csv have the "
        f"{more:,} others too."
    )
    return Section(
        "Differences between systems",
        "Paired t-tests within one rater, on the mean of all attributes; the unit is the item (in "
        "the published tests over judges' means it is the judge). Holm's correction is over the "
        f"family of that rater's pairs.{rest if more > 0 else ''}",
        (Table(columns, rows),),
    )


def measures_section(examination: Examination) -> Section:
    """The coefficients that were asked for."""
    columns = (
        text("Coefficient"),
        text("Attribute"),
        text("Level"),
        text("Raters"),
        number("Value"),
        interval("Interval"),
        text("Method"),
        count("n"),
    )
    rows = []
    for measure in examination.rated.measures:
        bounds = measure.estimate.interval()
        rows.append(
            (
                measure.estimate.statistic,
                measure.attribute,
                measure.level,
                ", ".join(measure.raters),
                measure.estimate.value,
                bounds,
                bounds.method if bounds else None,
                measure.estimate.n,
            )
        )
    return Section(
        "Further coefficients",
        "The coefficients asked for, each at the level it names.",
        (Table(columns, tuple(rows)),),
    )


def p_cell(p: float) -> Cell:
    """A p-value as papers print it: below 0.001 that is all that is said."""
    return Marked(None, "< 0.001") if p < 0.001 else p


def _by_p(test: SystemTest) -> tuple[float, float]:
    """Smallest first; what has no p comes last."""
    return (
        math.inf if math.isnan(test.p_holm) else test.p_holm,
        math.inf if math.isnan(test.p) else test.p,
    )


def _all(examination: Examination) -> Iterable[PairResult]:
    return (*examination.results, *examination.rated.composites)


def _unit(examination: Examination) -> str:
    """What the coefficients count, in a sentence."""
    if examination.units == "responses":
        return "Response level: the unit is a single response or item."
    return "System level: the unit is a system, scored by its mean over items."


def _ruled(under_rule: UnderRule | None) -> tuple[float | None, float | None]:
    return (under_rule.icc_c1, under_rule.icc_a1) if under_rule else (None, None)


def _label(examination: Examination, system: str) -> str:
    return examination.study.system(system).label or system


def _level(examination: Examination) -> str:
    return f"{100 * examination.study.analysis.level:g} %"

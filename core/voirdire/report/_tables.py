"""The report's tables as plain rows, which Markdown, LaTeX and HTML print in their own way."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from voirdire.report._plain import number, share, signed, span

if TYPE_CHECKING:
    from collections.abc import Iterable

    from voirdire.examining.examination import Examination, PairResult, SystemTest, UnderRule
    from voirdire.stats._results import Interval


#: Pairs of systems grow with their square; files for programs hold them all.
_MOST_TESTS = 40


@dataclass(frozen=True, slots=True)
class Table:
    """A table of text: `numeric` counts the columns, from the right, that hold numbers.

    Without rows it is its title and caption alone.
    """

    name: str
    title: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: int = 0
    right: tuple[bool, ...] = ()

    def is_numeric(self, column: int) -> bool:
        """Whether the column of that index holds numbers."""
        return self.right[column] if self.right else column >= len(self.columns) - self.numeric


def evidence_tables(examination: Examination) -> tuple[Table, ...]:
    """Every table of the report that has rows, and what sections say without any."""
    tables = (
        verdict_table(examination),
        icc_table(examination),
        bias_table(examination),
        error_table(examination),
        ceiling_table(examination),
        exclusion_table(examination),
        means_table(examination),
        tests_table(examination),
        measures_table(examination),
    )
    return (*(table for table in tables if table.rows), *section_tables(examination))


def verdict_table(examination: Examination) -> Table:
    """A row a judge and attribute: the verdict, its components, the published class."""
    classes = {(r.judge, r.attribute): _class(r) for r in examination.results}
    parts = [part for verdict in examination.verdicts[:1] for part in verdict.components]
    letters = [f"{part.letter}: {part.name}" for part in parts if part.letter != "Data"]
    rows = (
        (
            verdict.judge,
            verdict.attribute,
            verdict.verdict + (" (capped: safety-critical)" if verdict.capped else ""),
            classes.get((verdict.judge, verdict.attribute), ""),
            *(part.state for part in verdict.components),
        )
        for verdict in examination.verdicts
    )
    return Table(
        "verdicts",
        "Verdicts",
        "One verdict a judge and attribute, with the components it rests on and, beside it, the "
        "published class by interval width (GR, MR, PR; * the bootstrap's seed decides it). "
        f"{', '.join(letters)}. No verdict licenses clinical use.",
        ("Judge", "Attribute", "Verdict", "Class", *(part.letter for part in parts)),
        tuple(rows),
    )


def icc_table(examination: Examination) -> Table:
    """ICC(C,1) and ICC(A,1) with the F and the percentile interval, at system level."""
    level = _level(examination)
    rows = [
        (
            result.judge,
            result.attribute,
            _class(result),
            result.class_exact or "–",
            result.band,
            str(result.n_units),
            number(result.icc_c1),
            _span(result.interval("C,1", "f")),
            _span(result.interval("C,1", "percentile")),
            number(result.icc_a1),
            _span(result.interval("A,1", "f")),
            _span(result.interval("A,1", "percentile")),
        )
        for result in _all(examination)
    ]
    return Table(
        "icc",
        "Consistency and agreement",
        f"{_unit(examination)} C is ICC(C,1), "
        f"consistency; A is ICC(A,1), absolute agreement. Intervals are {level} ones, by the F "
        f"distribution and by the percentile bootstrap over {examination.units}. The class goes by "
        f"the width of C's bootstrap interval; * marks one that the seed decides. The exact class "
        f"goes by every resample there is (up to ten systems), and has no seed.",
        (
            "Judge", "Attribute", "Class", "Exact class", "Band", "Units", "C", "C, F",
            "C, bootstrap", "A", "A, F", "A, bootstrap",
        ),
        tuple(rows),
        numeric=7,
    )  # fmt: skip


def bias_table(examination: Examination) -> Table:
    """Means of reference and judge, and their difference with its interval."""
    rows = [
        (
            result.judge,
            result.attribute,
            number(result.human_mean),
            number(result.judge_mean),
            signed(result.bias),
            _span(result.bias_interval),
            share(result.bias_normalised),
            _limits(result),
        )
        for result in _all(examination)
    ]
    return Table(
        "bias",
        "Bias",
        f"Judge minus reference, the mean over {examination.units}; in per cent of the scale's "
        "width; and Bland and Altman's limits, between which 95 % of the differences are expected "
        "to lie.",
        ("Judge", "Attribute", "Reference", "Judge's", "Bias", "Interval", "Of scale", "Limits"),
        tuple(rows),
        numeric=6,
    )


def error_table(examination: Examination) -> Table:
    """Errors and response-level agreement."""
    rows = [
        (
            result.judge,
            result.attribute,
            str(result.n_pairs),
            number(result.mse),
            number(result.rmse),
            number(result.mse_system),
            number(result.ms_error, 4),
            number(result.ccc),
            number(result.pearson_r),
            number(result.qwk),
            number(result.alpha_ordinal),
        )
        for result in _all(examination)
    ]
    return Table(
        "errors",
        "Errors and response-level agreement",
        "Response level: MSE, RMSE, quadratic-weighted kappa (QWK) and ordinal alpha over the "
        "pairs; the last two need scores on the scale's levels, which means of several humans or "
        "runs are not. Over system means, or over the same pairs where there are no systems: MSE, "
        "the mean square of error, Lin's CCC and Pearson's r.",
        (
            "Judge", "Attribute", "Pairs", "MSE", "RMSE", "MSE, system", "MS error", "CCC", "r",
            "QWK", "Alpha",
        ),
        tuple(rows),
        numeric=9,
    )  # fmt: skip


def ceiling_table(examination: Examination) -> Table:
    """Each human against the mean of the others: what a judge can at best be asked for."""
    rows = [
        (
            result.judge,
            result.attribute,
            str(result.n_units),
            number(result.icc_c1),
            _span(result.interval("C,1", "f")),
            number(result.icc_a1),
            _span(result.interval("A,1", "f")),
            signed(result.bias),
        )
        for result in examination.ceiling
    ]
    return Table(
        "ceiling",
        "The ceiling: humans among themselves",
        "Each human against the mean of the other humans. No judge can be asked to agree with "
        "humans better than they agree with one another.",
        ("Human", "Attribute", "Units", "C", "C, F", "A", "A, F", "Bias"),
        tuple(rows),
        numeric=6,
    )


def exclusion_table(examination: Examination) -> Table:
    """The same coefficients under other rules of leaving systems out, where they differ."""
    kept = [r for r in _all(examination) if r.without_exclusion or r.family_rule]
    rows = [
        (
            result.judge,
            result.attribute,
            ", ".join(_label(examination, name) for name in result.excluded_systems) or "none",
            number(result.icc_c1),
            number(result.icc_a1),
            *(c for rule in (result.without_exclusion, result.family_rule) for c in _ruled(rule)),
        )
        for result in kept
    ]
    return Table(
        "exclusion",
        "Exclusion",
        "C and A as examined, with every system, and with every system of the judge's family "
        "left out (a dash where that changes nothing).",
        ("Judge", "Attribute", "Left out", "C", "A", "C, all", "A, all", "C, family", "A, family"),
        tuple(rows),
        numeric=6,
    )


def means_table(examination: Examination) -> Table:
    """How each rater sees each system: the mean of every attribute, overall and rank."""
    attributes = tuple(dict.fromkeys(a for seen in examination.system_means for a in seen.means))
    rows = [
        (
            seen.rater,
            _label(examination, seen.system) or "all",
            *(number(seen.means.get(name, float("nan")), 2) for name in attributes),
            f"{number(seen.overall, 2)} ({number(seen.overall_sd, 2)})",
            number(seen.rank, 1) if seen.rank % 1 else number(int(seen.rank)),
        )
        for seen in examination.system_means
    ]
    return Table(
        "system_means",
        "System means",
        "Mean score of each system by each rater; overall with its standard deviation; rank 1 is "
        "the best.",
        ("Rater", "System", *attributes, "Overall (SD)", "Rank"),
        tuple(rows),
        numeric=len(attributes) + 2,
    )


def tests_table(examination: Examination) -> Table:
    """Paired t-tests between systems within one rater, with Holm's correction.

    Where there are many, those with the smallest corrected p.
    """
    tests = examination.tests
    more = len(tests) - _MOST_TESTS
    if more > 0:
        tests = tuple(sorted(tests, key=_by_p)[:_MOST_TESTS])
    rows = [
        (
            test.rater,
            _label(examination, test.system_a),
            _label(examination, test.system_b),
            str(test.n),
            signed(test.difference),
            signed(test.t, 2),
            p_value(test.p),
            p_value(test.p_holm),
            str(test.family_size),
        )
        for test in tests
    ]
    return Table(
        "tests",
        "Differences between systems",
        "Paired t-tests within one rater, on the mean of all attributes; the unit is the item (in "
        "the published tests over judges' means it is the judge). Holm's correction is over the "
        "family of that rater's pairs."
        + (
            f" The {_MOST_TESTS} with the smallest p after it; results.json and tests.csv have the "
            f"{more:,} others too."
            if more > 0
            else ""
        ),
        ("Rater", "System A", "System B", "Items", "A − B", "t", "p", "p (Holm)", "Family"),
        tuple(rows),
        numeric=6,
    )


def measures_table(examination: Examination) -> Table:
    """The coefficients that were asked for."""
    rows = [
        (
            measure.estimate.statistic,
            measure.attribute,
            measure.level,
            ", ".join(measure.raters),
            number(measure.estimate.value),
            _named_span(measure.estimate.interval()),
            str(measure.estimate.n),
        )
        for measure in examination.measures
    ]
    return Table(
        "measures",
        "Further coefficients",
        "The coefficients asked for, each at the level it names.",
        ("Coefficient", "Attribute", "Level", "Raters", "Value", "Interval", "n"),
        tuple(rows),
        numeric=3,
    )


def section_tables(examination: Examination) -> tuple[Table, ...]:
    """The tables that a plugin adds; one without rows is its text, where no figure bears it."""
    found = []
    for index, section in enumerate(examination.sections, start=1):
        if not section.has_rows and (section.figures or not section.text):
            continue
        table, name = section.table, f"section_{index}"
        right = tuple(column.numeric for column in table.columns)
        rows = tuple(table.written())
        found.append(Table(name, section.title, section.text, table.names, rows, right=right))
    return tuple(found)


def p_value(p: float) -> str:
    """A p-value as papers print it.

    >>> p_value(0.0000001), p_value(0.0312)
    ('< 0.001', '0.031')
    """
    return "< 0.001" if p < 0.001 else number(p)


def _by_p(test: SystemTest) -> tuple[float, float]:
    """Smallest first; what has no p comes last."""
    return (
        math.inf if math.isnan(test.p_holm) else test.p_holm,
        math.inf if math.isnan(test.p) else test.p,
    )


def _all(examination: Examination) -> Iterable[PairResult]:
    return (*examination.results, *examination.composites)


def _unit(examination: Examination) -> str:
    """What the coefficients count, in a sentence."""
    if examination.units == "responses":
        return "Response level: the unit is a single response or item."
    return "System level: the unit is a system, scored by its mean over items."


def _ruled(rule: UnderRule | None) -> tuple[str, str]:
    return ("–", "–") if rule is None else (number(rule.icc_c1), number(rule.icc_a1))


def _class(result: PairResult) -> str:
    return result.reliability_class + ("*" if result.class_borderline else "")


def _limits(result: PairResult) -> str:
    return f"{signed(result.loa_low, 2)} to {signed(result.loa_high, 2)}"


def _span(interval: Interval | None) -> str:
    return "–" if interval is None else span(interval.low, interval.high)


def _named_span(interval: Interval | None) -> str:
    """An interval with its method, where a table holds several kinds."""
    return "–" if interval is None else f"{_span(interval)} ({interval.method})"


def _label(examination: Examination, system: str) -> str:
    return examination.study.system(system).label or system


def _level(examination: Examination) -> str:
    return f"{100 * examination.study.analysis.level:g} %"

"""Agreement on single responses: judges beside humans, and humans beside one another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voirdire.tabular import Section, Table, count, interval, number, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from voirdire.examining.examination import Examination
    from voirdire.examining.verdict.facts import Evidence
    from voirdire.stats import Estimate, ResponseAgreement
    from voirdire.tabular import Cell

#: Score of a `ResponseAgreement` -> what tables call it.
SCORES: Mapping[str, str] = {
    "accuracy": "accuracy",
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "ppv": "positive predictive value",
    "npv": "negative predictive value",
    "prevalence": "prevalence",
    "kappa": "kappa",
    "quadratic_kappa": "quadratic kappa",
    "alpha": "alpha",
    "mcc": "MCC",
    "roc_auc": "AUC",
}
#: A confusion matrix of more levels is no table that people read.
_MOST_LEVELS = 11


def response_sections(examination: Examination) -> dict[str, Section]:
    """Name -> section: agreement, confusion, the alternative annotator test, humans in pairs."""
    seen = examination.evidence
    return {
        "responses": _agreement(seen, gated=True),
        "graded": _agreement(seen, gated=False),
        "confusion": _confusion(seen),
        "humans": _humans(examination),
        "alt_tests": _alt_tests(seen),
    }


def rates_table(examination: Examination) -> Table:
    """The main rates at the gate, for a terminal."""
    rows = []
    for seen in examination.evidence:
        if (agreement := seen.responses) is not None:
            rates = [agreement[name] for name in ("sensitivity", "specificity", "kappa")]
            cells = [cell for rate in rates for cell in (rate.value, rate.interval())]
            rows.append((seen.judge, seen.attribute, agreement.n, *cells[:-1]))
    columns = (
        text("Judge"),
        text("Attribute"),
        count("n"),
        number("Sensitivity", 2),
        interval("of it", 2),
        number("Specificity", 2),
        interval("and of it", 2),
        number("Kappa", 2),
    )
    return Table(columns, tuple(rows))


def _agreement(evidence: Sequence[Evidence], *, gated: bool) -> Section:
    """A row a judge, attribute and score; the humans' own beside it."""
    rows: list[tuple[Cell, ...]] = []
    for seen in evidence:
        agreement = seen.responses if gated else seen.graded
        own = seen.humans_responses if gated else seen.humans_graded
        if agreement is not None:
            rows += _score_rows(seen, agreement, own)
    columns = (
        text("Judge"),
        text("Attribute"),
        text("Score"),
        count("Responses"),
        number("Judge's"),
        interval("Judge's, interval"),
        number("Humans'"),
        interval("Humans', interval"),
    )
    ends = (
        "Intervals are by the jackknife over items or declared clusters, those of shares Wilson's "
        "at the effective size. The humans' own is that of a held-out human against another, where "
        "there are two."
    )
    if gated:
        return Section(
            "Response by response: pass and fail",
            f"The judge against each human's label, at the gate. {ends}",
            (Table(columns, tuple(rows)),),
        )
    return Section(
        "Response by response: the scores as they are",
        "The judge's single scores against each human's; accuracy is the share of equal scores. "
        f"{ends}",
        (Table(columns, tuple(rows)),),
    )


def _score_rows(
    seen: Evidence, agreement: ResponseAgreement, own: ResponseAgreement | None
) -> Iterable[tuple[Cell, ...]]:
    for name, label in SCORES.items():
        if name in agreement.scores:
            human = own.scores.get(name) if own is not None else None
            estimate = agreement[name]
            yield (
                seen.judge,
                seen.attribute,
                label,
                agreement.n,
                estimate.value,
                estimate.interval(),
                human.value if human is not None else None,
                human.interval() if human is not None else None,
            )


def _confusion(evidence: Sequence[Evidence]) -> Section:
    """A row a judge, attribute and what the humans gave; a column for what the judge gave."""
    shown = [
        (seen, agreement)
        for seen in evidence
        if (agreement := seen.responses or seen.graded) is not None
        and agreement.confusion
        and len(agreement.labels) <= _MOST_LEVELS
    ]
    levels = sorted({level for _, agreement in shown for level in agreement.labels})
    words = _level_words(levels, gated=all(agreement.gate is not None for _, agreement in shown))
    if len(levels) > _MOST_LEVELS:
        shown = []
    rows = []
    for seen, agreement in shown:
        at = {level: place for place, level in enumerate(agreement.labels)}
        for level in agreement.labels:
            cells = [
                agreement.confusion[at[level]][at[one]] if one in at else None for one in levels
            ]
            rows.append((seen.judge, seen.attribute, words[level], *cells))
    # Responses shared among runs are fractions.
    whole = all(cell is None or cell % 1 == 0 for row in rows for cell in row[3:])
    columns = (
        text("Judge"),
        text("Attribute"),
        text("Humans"),
        *(number(f"Judge: {words[level]}", 0 if whole else 1) for level in levels),
    )
    return Section(
        "Confusion",
        "How many responses the judge gave each score, by what the humans gave. Where several "
        "humans or runs stand behind a response, it counts once for each human, shared among runs.",
        (Table(columns, tuple(rows)),) if rows else (),
    )


def _level_words(levels: Sequence[float], *, gated: bool) -> dict[float, str]:
    if gated and set(levels) <= {0.0, 1.0}:
        return {0.0: "fail", 1.0: "pass"}
    return {level: f"{level:g}" for level in levels}


def _humans(examination: Examination) -> Section:
    """Human beside human: a row a pair and attribute."""
    columns = (
        text("Human"),
        text("Other human"),
        text("Attribute"),
        count("Shared"),
        number("Accuracy"),
        number("Kappa"),
        number("Quadratic kappa"),
        number("Alpha"),
        interval("Alpha, interval"),
        number("Mean difference", signed=True),
    )
    rows = tuple(
        (
            pair.human,
            pair.other,
            pair.attribute,
            pair.agreement.n,
            *(_value(pair.agreement, name) for name in ("accuracy", "kappa", "quadratic_kappa")),
            _value(pair.agreement, "alpha"),
            pair.agreement["alpha"].interval(),
            pair.difference,
        )
        for pair in examination.judged.human_pairs
    )
    return Section(
        "Human beside human",
        "Each pair of humans on the responses that both scored. Alpha is Krippendorff's with the "
        "interval metric; the difference is the first human's mean less the other's.",
        (Table(columns, rows),),
    )


def _value(agreement: ResponseAgreement, name: str) -> float | None:
    estimate: Estimate | None = agreement.scores.get(name)
    return None if estimate is None else estimate.value


def _alt_tests(evidence: Sequence[Evidence]) -> Section:
    """The published test, and what it says of answers that read nothing."""
    columns = (
        text("Judge"),
        text("Attribute"),
        number("Epsilon", 2),
        number("Published"),
        text("Passed"),
        number("Single run"),
        number("Best constant"),
        number("System's mean"),
    )
    rows = []
    for seen in evidence:
        if (alt_tests := seen.alt_tests) is not None:
            details = alt_tests.mean_of_runs.details
            passed = details.get("passed")
            rows.append(
                (
                    seen.judge,
                    seen.attribute,
                    details.get("epsilon"),
                    alt_tests.mean_of_runs.value,
                    None if passed is None else "yes" if passed else "no",
                    alt_tests.single_run.value,
                    alt_tests.best_constant.value,
                    alt_tests.system_mean.value if alt_tests.system_mean is not None else None,
                )
            )
    return Section(
        "The alternative annotator test",
        "Winning rates (Calderon et al. 2025): of the mean over runs, as published; of a single "
        "run; and of two answers that read no response, the one score that does best and the "
        "humans' mean of each system. It decides nothing here.",
        (Table(columns, tuple(rows)),),
    )

"""Corrected numbers, plans and queues as a report's sections."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from voirdire.examining.correcting.corrected import TOGETHER
from voirdire.examining.planning.drawing import draw_section
from voirdire.tabular import (
    Section,
    SectionFigure,
    Table,
    count,
    interval,
    number,
    share,
    share_text,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from voirdire.examining.correcting.calibrating import CalibrationErrors, Calibrations
    from voirdire.examining.correcting.corrected import CorrectedScore, Correction
    from voirdire.examining.correcting.escalating import Escalation
    from voirdire.examining.correcting.planning import LabelPlan
    from voirdire.stats import Corrected, Estimate
    from voirdire.tabular import Cell, Column

_HOW = (
    "The corrected mean adds the labels' average difference from the judge to the judge's own mean "
    "(prediction-powered inference). Weight says how far the judge is used: not at all at 0, where "
    "it tells nothing about the labels, and more the better it tells them and the more responses "
    "have no label. Worth is the number of labels that would be as precise without the judge."
)
_HOW_RATES = (
    "A corrected pass rate takes the labels apart by what the judge said (it passes, it fails, "
    "or where among its scores), and weighs each part by how often the judge says so over all "
    "responses. This Bayesian estimate holds where hardly anything fails, too. Worth is the number "
    "of labels that would be as precise without the judge."
)
#: Rows up to which a picture shows each judge, and not all of them together alone.
_PICTURED = 6
#: Rows whose worth is said in a sentence; a text of more would not be read.
_SAID = 6
_CEILING = (
    "Where few labels of one system happen to agree, its spread is taken from all systems, so that "
    "no interval claims a certainty that the labels do not give."
)


def correction_sections(correction: Correction) -> tuple[Section, ...]:
    """What humans would have said, what the judge is worth, and differences between systems."""
    parts = []
    if any(not score.wins for score in correction.scores):
        parts.append(_overall(correction))
    if any(score.group and not score.wins for score in correction.scores):
        parts.append(_by_group(correction))
    if any(score.wins for score in correction.scores):
        parts.append(_wins(correction))
    if correction.differences:
        parts.append(_differences(correction))
    if correction.shares:
        parts.append(_shares(correction))
    return tuple(parts)


def worth_sentence(corrected: Corrected, judge: str) -> str:
    """What the judge's scores save, in one sentence.

    >>> import numpy as np
    >>> from voirdire.stats import prediction_powered_mean
    >>> labels = np.r_[np.tile([1.0, 2, 3, 4, 5], 10), np.full(950, np.nan)]
    >>> corrected = prediction_powered_mean(labels, np.tile([1.0, 3, 2, 5, 4], 200))
    >>> print(worth_sentence(corrected, "Judge"))
    Judge: 950 judgements are worth 78 labels beside your 50.
    """
    value = corrected.worth.value
    if corrected.worth.reason == "zero_variance":
        return f"{judge}: its scores, or the labels beside them, never vary: nothing shows a worth."
    if not math.isfinite(value):
        kept = corrected.n_clusters < corrected.n_labelled
        where = f", on {corrected.n_clusters} items or clusters," if kept else ""
        return (
            f"{judge}: {corrected.n_labelled} labels{where} are too few to say what its scores are "
            "worth."
        )
    if not corrected.n_unlabelled:
        return f"{judge}: every response has a label, so that its scores add nothing."
    saved = round(value - corrected.n_labelled)
    more = f"{saved:,} {'label' if saved == 1 else 'labels'}" if saved else "no label"
    scored = (
        f"{corrected.n_unlabelled:,} {'judgement' if corrected.n_unlabelled == 1 else 'judgements'}"
    )
    verb = "is" if corrected.n_unlabelled == 1 else "are"
    return f"{judge}: {scored} {verb} worth {more} beside your {corrected.n_labelled:,}."


def _score_table(
    rows: Sequence[CorrectedScore], level: float, names: Sequence[str], group: str = ""
) -> Table:
    """The columns of these names, of those that tables of corrected scores may have."""
    by_name: dict[str, tuple[Column, Callable[[CorrectedScore], Cell]]] = {
        "attribute": (text("Attribute"), lambda row: row.attribute),
        "judge": (text("Judge"), lambda row: row.judge),
        "group": (text(group), lambda row: row.group),
        "labels": (count("Labels"), lambda row: row.corrected.n_labelled),
        "judged only": (count("Judged only"), lambda row: row.corrected.n_unlabelled),
        "corrected": (number("Corrected"), lambda row: row.corrected.value),
        "interval": (interval(f"{100 * level:g} % interval"), lambda row: row.corrected.interval),
        "labels alone": (number("Labels alone"), lambda row: row.corrected.human.value),
        "labels' interval": (
            interval("Labels' interval"), lambda row: row.corrected.human.interval(),
        ),
        "judge alone": (number("Judge alone"), lambda row: row.corrected.judge.value),
        "weight": (number("Weight", 2), lambda row: row.corrected.weight),
        "worth": (number("Worth", 0), lambda row: row.corrected.worth.value),
        "worth's interval": (
            interval("Worth, interval", 0), lambda row: row.corrected.worth.interval(),
        ),
    }  # fmt: skip
    columns = [by_name[name] for name in names]
    return Table(
        tuple(column for column, _ in columns),
        tuple(tuple(cell(row) for _, cell in columns) for row in rows),
    )


def _worths(rows: Sequence[CorrectedScore]) -> str:
    """What the judges of the first rows save."""
    return " ".join(
        f"{', '.join(filter(None, (row.attribute, row.group)))}, "
        f"{worth_sentence(row.corrected, row.judge)}"
        for row in rows[:_SAID]
    )


def _overall(correction: Correction) -> Section:
    rows = [score for score in correction.scores if not score.group]
    means = ("attribute", "judge", "corrected", "interval", "labels alone", "labels' interval",
             "judge alone")  # fmt: skip
    worth = ("attribute", "judge", "labels", "judged only", "weight", "worth", "worth's interval")
    how = _HOW_RATES if any(math.isnan(row.corrected.weight) for row in rows) else _HOW
    sentences = f"{_worths(rows)} {how}"
    if correction.gate is not None:
        sentences = (
            f"Scores of {correction.gate:g} and above pass: numbers are pass rates. {sentences}"
        )
    sentences += _unless(correction, rows)
    if correction.clustered:
        units = max(score.corrected.n_clusters for score in rows)
        sentences += (
            f" Intervals take whole clusters as what was drawn: {units:,} of them have labels."
        )
    tables = tuple(_score_table(rows, correction.level, names) for names in (means, worth))
    return Section(
        "What humans would have said",
        sentences,
        tables,
        _figures(rows, correction.gate),
        leading=True,
    )


def _unless(correction: Correction, rows: Sequence[CorrectedScore]) -> str:
    """What the first number would bear, where the data do not say how labels were chosen."""
    known = all(finding.kind != "label_origin_unknown" for finding in correction.findings)
    borne = (_bears(row.corrected) for row in rows)
    bears = next((value for value in borne if math.isfinite(value)), math.nan)
    if known or not math.isfinite(bears):
        return ""
    return (
        " The data do not say how the labelled responses were chosen. The interval holds unless "
        f"people see labelled responses more than {bears:.2f} points otherwise than the judge "
        "leads one to expect."
    )


def _bears(corrected: Corrected) -> float:
    """How far labelled responses may differ from the others before the value leaves its interval.

    Were people's scores of the others apart from the labelled by d more than the judge shows, the
    mean would move by d times the share of the others. NaN where nothing is left to move.
    """
    rest = corrected.n_unlabelled
    if corrected.interval is None or not rest:
        return math.nan
    half = min(corrected.value - corrected.interval.low, corrected.interval.high - corrected.value)
    return half * (rest + corrected.n_labelled) / rest


def _figures(
    rows: Sequence[CorrectedScore], gate: float | None = None
) -> tuple[SectionFigure, ...]:
    """Labels alone, judge alone and corrected side by side, for each attribute and group."""
    best = [row for row in rows if row.judge == TOGETHER] if len(rows) > _PICTURED else []
    best = best or list(rows)
    labels = tuple(", ".join(filter(None, (
        row.attribute, row.group, row.judge,
    ))) for row in best)  # fmt: skip
    what = "Win rate" if best[0].wins else "Mean score" if gate is None else "Pass rate"
    return (
        SectionFigure(
            "intervals",
            labels,
            (
                ("Labels alone", tuple(row.corrected.human.value for row in best)),
                ("Judge alone", tuple(row.corrected.judge.value for row in best)),
                ("Corrected", tuple(row.corrected.value for row in best)),
            ),
            y=what,
            caption=f"{what} by the labels alone, by the judge alone, and corrected, each with the "
            "interval that it claims.",
            intervals=(
                tuple(row.corrected.human.interval() for row in best),
                tuple(row.corrected.judge.interval() for row in best),
                tuple(row.corrected.interval for row in best),
            ),
        ),
    )


def _by_group(correction: Correction) -> Section:
    rows = [score for score in correction.scores if score.group and not score.wins]
    name = "System" if correction.by == "system" else correction.by
    figures = tuple(
        figure
        for attribute in dict.fromkeys(score.attribute for score in rows)
        for figure in _figures(
            [score for score in rows if score.attribute == attribute], correction.gate
        )
    )
    names = ("attribute", "judge", "group", "labels", "corrected", "interval", "labels alone",
             "judge alone", "worth")  # fmt: skip
    table = _score_table(rows, correction.level, names, name)
    strata = all(math.isnan(row.corrected.weight) for row in rows)
    return Section(f"By {correction.by}", "" if strata else _CEILING, (table,), figures)


def _wins(correction: Correction) -> Section:
    rows = [score for score in correction.scores if score.wins]
    names = ("attribute", "judge", "group", "labels", "corrected", "interval", "labels alone",
             "labels' interval", "judge alone", "worth")  # fmt: skip
    table = _score_table(rows, correction.level, names, "Preferred")
    sentences = (
        f"{_worths(rows)} The share of comparisons in which humans would have preferred the one "
        "named first; a tie counts half. A system alone is set against all that it was compared "
        f"with. {_HOW}"
    )
    return Section("Win rates by humans", sentences, (table,), _figures(rows), leading=True)


def _differences(correction: Correction) -> Section:
    pairs = {(one.group, one.against): one.basis for one in correction.differences}
    ways = {way.paired for way in pairs.values() if way is not None}
    sentences = (
        "A less B: above 0 humans would have scored A higher. An interval that holds 0 leaves open "
        "which is better."
    )
    if True in ways:
        sentences += " Paired: only items that both answered are used."
    if False in ways:
        sentences += (
            " Unpaired: fewer than half of the labels lie on items that both answered, so all "
            "items of both are used, and the two sets of items must be of the same kind. The "
            "interval counts what they share: "
        )
        sentences += ", ".join(
            f"{a} and {b} {way.shared or 'no'} {'item' if way.shared == 1 else 'items'}"
            for (a, b), way in pairs.items()
            if way is not None and not way.paired
        )
        sentences += "."
    if any(one.corrected.interval is None for one in correction.differences):
        sentences += " Without two labels of each system there is no difference with an interval."
    columns = (
        text("Attribute"), text("Judge"), text("A"), text("B"), text("Compared"),
        count("Labels of A"), count("Labels of B"),
        number("A − B", signed=True), interval(f"{100 * correction.level:g} % interval"),
        number("Labels alone", signed=True), number("Judge alone", signed=True),
    )  # fmt: skip
    rows = tuple(
        (
            one.attribute, one.judge, one.group, one.against,
            "paired" if one.basis.paired else "unpaired",
            *one.basis.labels, one.corrected.value, one.corrected.interval,
            one.corrected.human.value, one.corrected.judge.value,
        )
        for one in correction.differences
        if one.basis is not None
    )  # fmt: skip
    return Section("Differences between systems", sentences, (Table(columns, rows),), leading=True)


def _shares(correction: Correction) -> Section:
    return Section(
        "Pass rates corrected by errors measured elsewhere",
        "These rest on an assumption that the data cannot check: that the judge passes what should "
        "pass, and fails what should fail, as often here as where its errors were measured.",
        (
            Table(
                (
                    text("Attribute"), text("Judge"), text("System"), share("Judged to pass"),
                    number("Corrected"), interval(f"{100 * correction.level:g} % interval"),
                    share("Sensitivity"), share("Specificity"),
                ),
                tuple(
                    (
                        one.attribute, one.judge, one.group or "all",
                        _detail(one.corrected, "judged"), one.corrected.value,
                        one.corrected.interval(), _detail(one.corrected, "sensitivity"),
                        _detail(one.corrected, "specificity"),
                    )
                    for one in correction.shares
                ),
            ),
        ),
        leading=True,
    )  # fmt: skip


def _detail(corrected: Estimate, name: str) -> float:
    return float(corrected.details[name])


def plan_sections(plan: LabelPlan, where: str = "") -> tuple[Section, ...]:
    """Budget against half width, what to label next (the list lies at `where`), and how many humans
    or runs a mean needs.
    """
    if not plan.rows:
        return () if plan.draw is None else (draw_section(plan.draw, where),)
    what = (
        f"detect a difference of that size with probability {plan.power:g}"
        if plan.power is not None
        else "have an interval of that half width"
    )
    sentences = (
        f"How many labels it takes to {what}. The pilot is small itself: four plans in five need "
        "no more than the number under “at most”. A dash says that no number is enough."
    )
    sentences += _too_small(plan)
    if plan.unit != "labels":
        sentences += (
            f" The last column counts the {plan.unit} that hold these labels, with as many in each "
            f"as in the pilot's labelled {plan.unit}."
        )
    sentences += _beyond(plan) + _pilot(plan)
    title = "Labels for each " + ("half width" if plan.power is None else "difference")
    parts = [Section(title, sentences, (_plans(plan),), leading=True)]
    if plan.draw is not None:
        parts.append(draw_section(plan.draw, where))
    if plan.means:
        parts.append(_means_section(plan))
    if plan.panels:
        parts.append(_panels_section(plan))
    return tuple(parts)


def _too_small(plan: LabelPlan) -> str:
    """That a pilot in which hardly a label differs promises nothing, and how large a one would."""
    few = [one for row in plan.rows for one in row.plans if one.few is not None]
    if not few:
        return ""
    most = max(few, key=lambda one: one.least_pilot)
    differ = "none" if not most.few else f"{most.few:,}"
    return (
        f" A dash may also say that the pilot is too small to plan from: of its {most.n_pilot:,} "
        f"{most.unit} {differ} differ{'s' if most.few == 1 else ''} from the others, or from what "
        f"the judge said, and the few that do decide the width. Label {most.least_pilot:,} or so, "
        "and plan again."
    )


def _pilot(plan: LabelPlan) -> str:
    """How large a pilot foretells the width within a fifth, where this one does not."""
    if plan.power is not None:
        return ""
    planned = [one for row in plan.rows for one in row.plans if math.isfinite(one.with_judge)]
    short = [one for one in planned if one.least_pilot > one.n_pilot]
    if not short:
        return ""
    most = max(short, key=lambda one: one.least_pilot)
    pilot = f" A pilot of {most.n_pilot:,} {most.unit} does not foretell the width within a fifth"
    if math.isinf(most.least_pilot):
        return (
            f"{pilot}, and no pilot can: so few labels as are asked for tell their own width no "
            "better than the interval beside it."
        )
    return f"{pilot} in nine of ten samples; one of {most.least_pilot:,.0f} would."


def _beyond(plan: LabelPlan) -> str:
    """What to do where more labels are asked for than there are judged responses."""
    for row in plan.rows:
        for needed in row.plans:
            more = needed.labels(needed.with_judge) - needed.judged
            if math.isfinite(more) and more > 0:
                return (
                    f" The half width {needed.half_width:g} asks for more labels than there are "
                    f"judged responses: judge at least {more:,.0f} more and label all, or say by "
                    "--judged how many there will be."
                )
    return ""


def _plans(plan: LabelPlan) -> Table:
    """A row a plan; costs where prices are known."""
    asked = "Difference" if plan.power is not None else "Half width"
    grouped = any(row.group for row in plan.rows)
    judging = any(row.judging is not None for row in plan.rows)
    clustered = plan.unit != "labels"
    columns: list[Column] = [
        text("Attribute"), text("Judge"), *([text("Group")] if grouped else []),
        number(asked, 2), number("With the judge", 0), number("at most (80 %)", 0),
        interval(f"Its {asked.lower()}, nine in ten"), number("Without it", 0), number("Saved", 0),
        *([number(f"{plan.unit.capitalize()} with the judge", 0)] if clustered else []),
        *([number("Cost of judging", 2)] if judging else []),
    ]  # fmt: skip
    if plan.cost is not None:
        columns += [number("Cost with the judge", 2), number("Cost without it", 2)]
    rows = []
    for row in plan.rows:
        for needed in row.plans:
            with_judge, upper, without_judge = (
                needed.labels(units)
                for units in (needed.with_judge, needed.upper, needed.without_judge)
            )
            cells: list[object] = [
                row.attribute, row.judge, *([row.group] if grouped else []), needed.half_width,
                with_judge, upper, needed.width, without_judge, without_judge - with_judge,
                *([needed.with_judge] if clustered else []), *([row.judging] if judging else []),
            ]  # fmt: skip
            if plan.cost is not None:
                cells += [
                    with_judge * plan.cost + (row.judging or 0.0), without_judge * plan.cost,
                ]  # fmt: skip
            rows.append(tuple(cells))
    return Table(tuple(columns), tuple(rows))


def _means_section(plan: LabelPlan) -> Section:
    return Section(
        "How many humans, or runs of a judge",
        "Reliability of a single one on single responses, ICC(A,1), and how many together reach "
        "0.80 (Spearman and Brown).",
        (
            Table(
                (
                    text("Attribute"), text("Of"), count("There are"), number("Single"),
                    count("Needed for 0.80"),
                ),
                tuple(
                    (
                        one.attribute, f"runs of {one.rater}" if one.rater else "humans",
                        one.present, one.single, one.needed,
                    )
                    for one in plan.means
                ),
            ),
        ),
    )  # fmt: skip


def _panels_section(plan: LabelPlan) -> Section:
    return Section(
        "More judges, or more runs",
        "Where the variance of the judges' scores comes from: responses that differ, judges that "
        "are stricter, judges that disagree about a response, and what changes from run to run. "
        "Runs average out only the last. How many judges like these have a mean with a "
        "reliability of 0.80, with one run each and with as many as there are; a dash says that "
        "no number is enough.",
        (
            Table(
                (
                    text("Attribute"), number("Responses", 2), number("Judges", 2),
                    number("Judge by response", 2), number("Runs", 2), count("There are"),
                    count("Judges needed, one run"), count("Judges needed, all runs"),
                ),
                tuple(
                    (
                        one.attribute, one.components.item, one.components.rater,
                        one.components.item_rater, one.components.run + one.components.error,
                        len(one.judges),
                        one.needed[0].raters, one.needed[-1].raters,
                    )
                    for one in plan.panels
                ),
            ),
        ),
    )  # fmt: skip


def calibration_sections(calibrations: Calibrations) -> tuple[Section, ...]:
    """Level and spread before and after, and whether means may be quoted."""
    now_quotable = [
        one for one in calibrations.judges if one.before.state != "yes" == one.after.state
    ]
    names = ", ".join(f"{one.judge} on {one.attribute}" for one in now_quotable) or "none"
    simulated = () if calibrations.errors is None else (_errors(calibrations.errors),)
    return (
        Section(
            "Level and spread",
            "Each score was calibrated by what other items teach, and the verdict after it rests "
            f"on those scores. Means may be quoted after calibration, and not before: {names}.",
            (
                Table(
                    (
                        text("Judge"), text("Attribute"), number("Bias before", signed=True),
                        number("Bias after", signed=True), number("Stretch", 2),
                        text("Quote means before"), text("and after"), text("because of"),
                    ),
                    tuple(
                        (
                            one.judge, one.attribute, one.bias_before, one.bias_after,
                            one.calibration.stretch, one.before.state, one.after.state,
                            one.after.reason or ", ".join(one.after.deciding),
                        )
                        for one in calibrations.judges
                    ),
                ),
            ),
            leading=True,
        ),
        *simulated,
    )  # fmt: skip


def _errors(errors: CalibrationErrors) -> Section:
    rows = tuple(
        (
            name, one.undeserving, one.wrong, one.wrong / max(one.undeserving, 1),
            one.deserving, one.right, one.right / max(one.deserving, 1),
        )
        for name, one in (("Raw", errors.raw), ("Calibrated", errors.calibrated))
    )  # fmt: skip
    columns = (
        text("Judges"), count("Means must not be quoted"), count("of these yes"),
        share("Wrong yes"), count("Means may be quoted"), count("of those yes"),
        share("Right yes"),
    )  # fmt: skip
    return Section(
        "What calibration does to the verdict's errors",
        f"In {errors.panels} simulated panels of {errors.systems} systems, {errors.items} items "
        f"and {errors.humans} humans, with twenty kinds of judges whose truth is known: how often "
        "the verdict says that means may be quoted where they must not be, and where they may.",
        (Table(columns, rows),),
    )


def escalation_sections(escalation: Escalation, where: str = "") -> tuple[Section, ...]:
    """What share may go out without a human, how the queue divides, and what of it is an audit."""
    one = escalation.share
    counts = escalation.queue["decision"].value_counts()
    rows = tuple(
        (str(decision), int(n), n / escalation.queue.height)
        for decision, n in counts.sort("decision").iter_rows()
    )
    audit = () if escalation.audit is None else (draw_section(escalation.audit, where),)
    return (
        Section(
            "Verdicts that need no human",
            escalation_sentence(escalation),
            (
                Table(
                    (
                        text("Judge"), text("Attribute"), share("Share"), share("Agreement there"),
                        share("Lower bound"), share("Asked"), count("Labels tested"),
                        number("Least confidence"),
                    ),
                    (
                        (
                            escalation.judge, escalation.attribute, one.share, one.agreement,
                            one.low, one.target, one.n, one.threshold,
                        ),
                    ),
                ),
                Table((text("Decision"), count("Responses"), share("Of all")), rows),
            ),
            leading=True,
        ),
        *audit,
    )  # fmt: skip


def escalation_sentence(escalation: Escalation) -> str:
    """Whether any share of the verdicts may go out."""
    one = escalation.share
    asked, whose = _percent(one.target), f"{escalation.judge}'s verdicts on {escalation.attribute}"
    if one.reason == "too_few_items":
        return (
            f"{one.n} labels are too few to show agreement of {asked}: no share of {whose} can be "
            "automated on them."
        )
    if one.share == 0:
        return (
            f"No share of {whose} can be automated: even among the most confident ones, agreement "
            f"of {asked} is not shown."
        )
    every = one.share == 1
    which = f"All of {whose}" if every else f"The {_percent(one.share)} most confident of {whose}"
    rest = "" if every else " The rest goes to people."
    return (
        f"{which} may go out without a human: {_percent(one.agreement)} of those labelled agree, "
        f"and agreement of at least {asked} is shown at a risk of {_percent(one.risk)}.{rest}"
    )


def _percent(value: float) -> str:
    return share_text(value).replace(".0", "")

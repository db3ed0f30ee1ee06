"""Choices and labels against a key, as tables of a report."""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING

from voirdire.examining.labels.scores import baselines
from voirdire.stats import kappa_f1
from voirdire.tabular import (
    Marked,
    Section,
    SectionFigure,
    Spread,
    Table,
    count,
    interval,
    number,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.examining.labels.matrix import LabelMatrix
    from voirdire.examining.labels.scores import Accuracy, Baselines, LabelScores
    from voirdire.stats import Estimate
    from voirdire.tabular import Cell

_NO_READING = Marked(None, "reads nothing")
_PUBLISHED = Marked(None, "published")
_NO_INTERVAL = Marked(None, "mean of people")
_ACCURACY = (
    text("Rater"),
    text("Type"),
    count("Answered"),
    count("Unanswered"),
    number("Accuracy"),
    interval("Interval (Wilson)"),
    number("Unanswered as wrong"),
    interval("Interval, unanswered as wrong (Wilson)"),
)
_WEIGHTED = (
    text("Rater"),
    count("n"),
    count("Missing"),
    number("Precision"),
    number("Recall"),
    number("F1"),
    interval("Interval"),
    number("kappa_F1"),
    number("Beyond constant"),
)
_EVERY_LABEL = (
    text("Rater"),
    text("Label"),
    count("True"),
    number("Named", 1),
    number("Precision"),
    interval("Precision, interval"),
    number("Recall"),
    interval("Recall, interval"),
    number("F1"),
    interval("F1, interval"),
)


def label_sections(
    scores: Sequence[LabelScores],
    title: str = "Labels against the key",
    human: str | None = None,
    printed: Mapping[str, float] | None = None,
    floor: Baselines | None = None,
    people: Sequence[str] = (),
) -> tuple[Section, ...]:
    """Weighted scores beside what needs no reading; F1 by label; every label in full.

    Parameters
    ----------
    scores : sequence of LabelScores
        On the same key.
    title : str
        What the labels are.
    human : str, optional
        The human's name, where one is among `scores` or `printed`.
    printed : mapping of str to float, optional
        Weighted F1 of others, as published, for the sentence on the best constant predictor.
    floor : Baselines, optional
        The baselines on the whole key; by default those on the items of the rater who has most.
    people : sequence of str
        Who of the raters are people: of several, a row has the mean of their scores.
    """
    if not scores:
        return ()
    fullest = max(scores, key=lambda part: part.n)
    beside = floor or fullest.baselines
    return (
        _weighted(scores, title, human, printed or {}, beside, people),
        _by_label(scores, title, fullest, beside),
        _full(scores, title),
    )


def printed_section(
    title: str, printed: Mapping[str, float], truth: LabelMatrix, human: str | None = None
) -> Section:
    """Published weighted F1 beside what a predictor reaches on the same key that reads nothing.

    Parameters
    ----------
    title : str
        What the labels are.
    printed : mapping of str to float
        Weighted F1 of each predictor, as published.
    truth : LabelMatrix
        The key that it was measured on.
    human : str, optional
        Who among `printed` is the human.
    """
    floor = baselines(truth)
    rows = [
        *((name, f1, "published") for name, f1 in printed.items()),
        ("Naming every label", floor.constant.value, "reads nothing"),
        ("Chance", floor.chance.value, "reads nothing"),
    ]
    # Best first, so that whoever stands below a predictor that reads nothing is seen at once.
    rows.sort(key=lambda row: -row[1])
    sentence = constant_sentence(printed, floor, human)
    columns = (
        text("Predictor"), number("Weighted F1"), text("Source"), number("kappa_F1"),
        number("Beyond constant"),
    )  # fmt: skip
    cells = tuple(
        (name, f1, source, kappa_f1(f1, floor.chance).value, kappa_f1(f1, floor.constant).value)
        for name, f1, source in rows
    )
    series = tuple(
        (kind, tuple(f1 if source == kind else math.nan for _, f1, source in rows))
        for kind in ("published", "reads nothing")
    )
    names = tuple(name for name, *_ in rows)
    return Section(
        f"{title}: the printed F1 beside baselines",
        f"{sentence} Chance names each label as often as it occurs. kappa_F1 is 0 at chance; "
        "beyond constant is 0 at the best constant predictor: below it a model, or a human, does "
        "worse than saying the same of every item.",
        (Table(columns, cells),),
        (SectionFigure("bars", names, series, y="Weighted F1", caption=sentence),),
    )


#: What the section of accuracies is called where nobody calls it otherwise.
ACCURACY = "Accuracy"


def accuracy_section(
    accuracies: Sequence[Accuracy], title: str = ACCURACY, people: Sequence[str] = ()
) -> Section:
    """Accuracy overall and by type; what was not answered is counted and shown both ways.

    Of several `people` a row has the mean.
    """
    rows: list[tuple[Cell, ...]] = [
        (
            part.name,
            part.part or "all",
            part.answered.n,
            part.answered.left_out,
            part.answered.value,
            part.answered.interval(),
            part.strict.value,
            part.strict.interval(),
        )
        for part in accuracies
    ]
    for kind in dict.fromkeys(part.part for part in accuracies):
        own = [one for one in accuracies if one.part == kind and one.name in people]
        if len(own) > 1:
            name, n = f"Mean of {len(own)} people", max(one.answered.n for one in own)
            answered, strict = (
                fmean(getattr(one, how).value for one in own) for how in ("answered", "strict")
            )
            cells = (answered, _NO_INTERVAL, strict, _NO_INTERVAL)
            rows.append((name, kind or "all", n, None, *cells))
    return Section(
        title,
        "Accuracy is over the questions answered; beside it, unanswered ones count as wrong. An "
        "answer is right when it names all right options and no other.",
        (Table(_ACCURACY, tuple(rows)),),
        (_accuracy_figure(accuracies),),
        leading=True,
    )


def _accuracy_figure(accuracies: Sequence[Accuracy]) -> SectionFigure:
    parts = list(dict.fromkeys(one.part for one in accuracies))
    values = {(one.name, one.part): one.answered.value for one in accuracies}
    names = dict.fromkeys(one.name for one in accuracies)
    return SectionFigure(
        kind="grouped_bars",
        labels=tuple(part or "all" for part in parts),
        series=tuple((n, tuple(values.get((n, p), math.nan) for p in parts)) for n in names),
        y="Accuracy",
    )


def constant_sentence(f1: Mapping[str, float], floor: Baselines, human: str | None = None) -> str:
    """What the best constant predictor scores, and whom it beats of those that have a score.

    >>> from voirdire.examining.labels import baselines, matrix_of_values
    >>> key = [[n < 162, n >= 83, 60 <= n < 141] for n in range(184)]
    >>> floor = baselines(matrix_of_values(key, ["a", "b", "c"]))
    >>> print(constant_sentence({"Model": 0.75, "Other": 0.80, "Human": 0.776}, floor, "Human"))
    Naming a, b, c for every item, without reading one, scores 0.793: above 1 of 2 models (Model)
    and above Human's 0.776.
    """
    value = floor.constant.value
    # The human is said apart: beating a person's labels by a constant is another finding.
    models = {n: score for n, score in f1.items() if n != human and not math.isnan(score)}
    beaten = [name for name, score in models.items() if score < value]
    against = []
    if len(models) > 1:
        names = f" ({', '.join(beaten)})" if 0 < len(beaten) < len(models) else ""
        against.append(f"above {len(beaten) or 'none'} of {len(models)} models{names}")
    else:
        against += [_beside(value, name, score) for name, score in models.items()]
    if human is not None and not math.isnan(f1.get(human, math.nan)):
        against.append(_beside(value, human, f1[human]))
    count = len(floor.named)
    many = f"all {count} labels" if count == floor.constant.k else f"{count} labels"
    every = ", ".join(floor.named) if count < 5 else many
    sentence = f"Naming {every} for every item, without reading one, scores {value:.3f}"
    return f"{sentence}: {' and '.join(against)}." if against else f"{sentence}."


def _beside(value: float, name: str, score: float) -> str:
    """Where a value is, compared with one rater's score."""
    where = "above" if score < value else "below" if score > value else "as much as"
    return f"{where} {name}'s {score:.3f}"


def _weighted(
    scores: Sequence[LabelScores],
    title: str,
    human: str | None,
    printed: Mapping[str, float],
    floor: Baselines,
    people: Sequence[str],
) -> Section:
    rows: list[tuple[Cell, ...]] = [_weighted_row(part) for part in scores]
    rows += _mean_row([part for part in scores if part.rater in people])
    blank = (None,) * 4
    rows += [(name, *blank, f1, _PUBLISHED, None, None) for name, f1 in printed.items()]
    rows.append(_floor_row("Best constant predictor", floor.constant, floor))
    rows.append(_floor_row("Chance", floor.chance, floor))
    f1s = {**{part.rater: part.f1.value for part in scores}, **printed}
    return Section(
        title,
        f"{constant_sentence(f1s, floor, human)} Precision, recall and F1 are weighted by support. "
        "kappa_F1 is 0 at chance and 1 at perfection; beyond constant is the same scale from the "
        "best constant predictor, so that 0 or less means: no better than naming the same labels "
        f"for every item.{_over_runs(scores)}",
        (Table(_WEIGHTED, tuple(rows)),),
        leading=True,
    )


def _over_runs(scores: Sequence[LabelScores]) -> str:
    """What the numbers of raters with several runs are; nothing where all have one."""
    several = [f"{part.rater} {part.runs}" for part in scores if part.runs > 1]
    if not several:
        return ""
    return (
        f" Numbers are means over runs ({', '.join(several)}), F1 with its standard deviation over "
        "them; its interval is over items, which are the same in all runs."
    )


def _weighted_row(part: LabelScores) -> tuple[Cell, ...]:
    return (
        part.rater,
        part.n,
        part.missing,
        part.mean("precision_weighted"),
        part.mean("recall_weighted"),
        Spread(part.f1.value, part.f1.details["sd"]) if part.runs > 1 else part.f1.value,
        part.f1.interval(),
        part.kappa.value,
        part.beyond_constant.value,
    )


def _mean_row(people: Sequence[LabelScores]) -> list[tuple[Cell, ...]]:
    """The mean over people, as a published row of humans is; none of one alone."""
    if len(people) < 2:
        return []
    means = [
        fmean(values)
        for values in (
            [one.mean("precision_weighted") for one in people],
            [one.mean("recall_weighted") for one in people],
            [one.f1.value for one in people],
            [one.kappa.value for one in people],
            [one.beyond_constant.value for one in people],
        )
    ]
    name, n = f"Mean of {len(people)} people", max(one.n for one in people)
    return [(name, n, None, *means[:3], _NO_INTERVAL, *means[3:])]


def _floor_row(name: str, estimate: Estimate, floor: Baselines) -> tuple[Cell, ...]:
    kappa = kappa_f1(estimate, floor.chance).value
    beyond = kappa_f1(estimate, floor.constant).value
    return (name, estimate.n, 0, None, None, estimate.value, _NO_READING, kappa, beyond)


def _by_label(
    scores: Sequence[LabelScores], title: str, fullest: LabelScores, floor: Baselines
) -> Section:
    unknown = (math.nan,) * len(fullest.labels)
    constant, chance = (one.details.get("f1", unknown) for one in (floor.constant, floor.chance))
    rows = tuple(
        (
            label.label,
            label.true,
            *(part.labels[c].f1.value for part in scores),
            float(constant[c]),
            float(chance[c]),
        )
        for c, label in enumerate(fullest.labels)
    )
    names = (*(part.rater for part in scores), "Always named", "Chance")
    columns = (text("Label"), count("True"), *map(number, names))
    return Section(
        f"{title}: F1 by label",
        "Beside the raters: the F1 of naming the label for every item, and that of chance.",
        (Table(columns, rows),),
        (
            SectionFigure(
                kind="grouped_bars",
                labels=tuple(label.label for label in fullest.labels),
                series=(
                    *((one.rater, tuple(lab.f1.value for lab in one.labels)) for one in scores),
                    ("Always named", tuple(map(float, constant))),
                ),
                y="F1",
            ),
        ),
    )


def _full(scores: Sequence[LabelScores], title: str) -> Section:
    rows = tuple(
        (
            part.rater,
            label.label,
            label.true,
            label.named,
            label.precision.value,
            label.precision.interval(),
            label.recall.value,
            label.recall.interval(),
            label.f1.value,
            label.f1.interval(),
        )
        for part in scores
        for label in part.labels
    )
    return Section(
        f"{title}: every label",
        "Precision and recall with Wilson intervals where there is one run, F1 with the percentile "
        "interval over items; a dash where a share is 0/0.",
        (Table(_EVERY_LABEL, rows),),
    )

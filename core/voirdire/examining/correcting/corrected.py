"""Many judged responses and few human labels: what humans would have said, per system."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from voirdire.errors import InputError, not_there
from voirdire.examining.at_prompt import AtPrompt, Telling
from voirdire.examining.correcting.labelled import read_labelled, read_parts
from voirdire.examining.gates import GateValue
from voirdire.examining.source import options_of
from voirdire.examining.spoken import speaks_python
from voirdire.progress import stage
from voirdire.stats import (
    combined_judge,
    prediction_powered_difference,
    prediction_powered_mean,
    prediction_powered_means,
    rogan_gladen,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from voirdire.examining.correcting.labelled import LabelledResponses
    from voirdire.examining.sources import AnySource
    from voirdire.schema import Finding
    from voirdire.stats import Corrected, Estimate
    from voirdire.study import ReadOptions

    Floats = NDArray[np.float64]

#: What the judges together are called.
TOGETHER = "all judges together"


@dataclass(frozen=True, slots=True)
class DifferenceBasis:
    """What a difference of two systems rests on.

    Attributes
    ----------
    paired : bool
        Whether only items that both systems answered are used. They are where they hold at least
        half of the labels of either; otherwise all items of both are, and these must be of the same
        kind.
    shared : int
        Items that both answered.
    labels : (int, int)
        Labels that are used, of the first system and of the second.
    """

    paired: bool
    shared: int
    labels: tuple[int, int]


@dataclass(frozen=True, slots=True)
class CorrectedScore:
    """One attribute and judge, of one group (system) or of all: `group` is empty for all.

    `against` is the other system where the number is a difference, `group` less `against`, and
    `basis` what it rests on. `wins` says that it is a win rate: the share of comparisons in
    which `group` is preferred. `share` says that it is how often a label is given.
    """

    attribute: str
    judge: str
    group: str
    corrected: Corrected
    against: str = ""
    wins: bool = False
    basis: DifferenceBasis | None = None
    share: bool = False


@dataclass(frozen=True, slots=True)
class CorrectedShare:
    """A pass rate corrected by errors that were measured on other responses."""

    attribute: str
    judge: str
    group: str
    corrected: Estimate


@dataclass(frozen=True, slots=True)
class Correction(AtPrompt):
    """Corrected numbers.

    Attributes
    ----------
    scores : tuple of CorrectedScore
        For each attribute and judge: all responses together, then each group. Of comparisons, the
        win rate of the first of each pair and, with several pairs, that of each system.
    differences : tuple of CorrectedScore
        Between the systems asked for.
    shares : tuple of CorrectedShare
        Where the judges' errors come from another source.
    by : str
        What groups are: ``"system"`` or a column of the file.
    clustered : bool
        Whether declared clusters were what was sampled.
    gate : float or None
        Where `scores` and `differences` are of passes: scores at or above it pass.
    """

    telling = Telling(
        title="Corrected numbers",
        rows="scores",
        sections="voirdire.examining.correcting.sections:correction_sections",
        said="voirdire.report.first:correction_said",
    )

    scores: tuple[CorrectedScore, ...]
    differences: tuple[CorrectedScore, ...]
    shares: tuple[CorrectedShare, ...]
    reference: tuple[str, ...]
    by: str
    level: float
    scale: tuple[float, float]
    clustered: bool
    gate: float | None
    findings: tuple[Finding, ...]


@speaks_python
def correct(  # noqa: PLR0913 - the options are those of the command
    source: AnySource,
    *,
    reference: Sequence[str] = (),
    read: ReadOptions | None = None,
    judges: Sequence[str] = (),
    by: str = "system",
    compare: Sequence[tuple[str, str]] = (),
    errors_from: AnySource | None = None,
    gate: float | None = None,
    leave_out: bool = False,
    drawn: str | Path | None = None,
    examples: str | Path | None = None,
    level: float = 0.95,
) -> Correction:
    """The mean that humans would have given, from all judged responses and the labels there are.

    Parameters
    ----------
    source, reference, read
        As in `voirdire.examine`; the reference are the humans, and `cluster` in
        `read` says which responses belong together.
    judges : sequence of str
        Leave out all judges but these.
    by : str
        ``"system"`` (the default) or a column of the file that numbers are given by.
    compare : sequence of (str, str)
        Systems A and B whose difference is wanted.
    errors_from : source, optional
        Other responses, labelled and judged. Then sensitivity and specificity measured there
        correct the pass rates here (Rogan and Gladen), which assumes that the judge errs alike.
        Its columns are named as those of `source`; clusters are not asked of it.
    gate : float, optional
        Scores at or above it pass, and numbers are pass rates, of people and judges alike. With
        `errors_from` the high end of a scale of two levels stands where it is not given.
    leave_out : bool
        Leave out labels of origin ``chosen``, in place of an error.
    drawn : path, optional
        The list that labels were drawn by (`plan --draw`, `escalate --audit`): it states the
        probability of those whose ratings do not.
    examples : path, optional
        A file whose columns `item` and `system` name responses that a judge was shown as examples:
        they are left out. In a session they are found in the prompts.
    level : float
        Nominal coverage.

    Returns
    -------
    Correction

    Raises
    ------
    InputError
        As `read_labelled`; a system to compare that is not there; no gate where one is needed, or
        one off the scale.

    Examples
    --------
    >>> import polars as pl
    >>> from voirdire.examining.correcting import correct
    >>> rows = range(40)
    >>> frame = pl.DataFrame({
    ...     "item": [str(i) for i in rows] * 2,
    ...     "rater": ["judge"] * 40 + ["human"] * 40,
    ...     "score": [1 + i % 5 for i in rows] + [1 + i % 4 if i < 20 else None for i in rows],
    ... })
    >>> correction = correct(frame, reference=["human"])
    >>> score = correction.scores[0].corrected
    >>> score.n_labelled, score.n_unlabelled
    (20, 20)
    """
    here, elsewhere = options_of((source, errors_from), read)
    parts = read_parts(
        source,
        reference=reference,
        judges=judges,
        by=by,
        read=here,
        leave_out=leave_out,
        drawn=drawn,
        examples=examples,
    )
    stage("correcting the numbers")
    data = parts[0]
    given = {
        "--compare": compare,
        "--errors-from": errors_from is not None,
        "--gate": gate is not None,
    }
    without_meaning = [option for option, wanted in given.items() if wanted]
    if data.wins and without_meaning:
        raise InputError(
            "the source holds comparisons: their win rates are given by pair, so that "
            f"{without_meaning[0]} has no meaning here"
        )
    if gate is not None and errors_from is None:
        parts = tuple(part.at_gate(gate) for part in parts)
        data = parts[0]
    scores: list[CorrectedScore] = []
    differences: list[CorrectedScore] = []
    for part in parts:
        for a, attribute in enumerate(part.attributes):
            for name, judged in _judged(part, a):
                scores += _scores(part, attribute, name, part.human[a], judged, level)
                differences += [
                    _difference(part, attribute, name, (part.human[a], judged), pair, level)
                    for pair in (() if part.wins else compare)
                ]
    shares = (
        ()
        if errors_from is None
        else _shares(
            data, _labels_elsewhere(errors_from, reference, judges, elsewhere), gate, level
        )
    )
    return Correction(
        tuple(scores),
        tuple(differences),
        tuple(shares),
        data.inputs.panel.reference,
        by,
        level,
        data.scale,
        data.cluster is not None,
        data.gate,
        tuple(dict.fromkeys(finding for part in parts for finding in part.findings)),
    )


def _labels_elsewhere(
    source: AnySource,
    reference: Sequence[str],
    judges: Sequence[str],
    read: ReadOptions | None,
) -> LabelledResponses:
    """The labels by which errors are measured, all in one file.

    Responses that belong together do not matter, nor labels that are joined to those to correct.
    """
    own = None if read is None else read.without("cluster", "human", "key", "about")
    return read_labelled(source, reference=reference, judges=judges, read=own)


def _judged(data: LabelledResponses, attribute: int) -> Iterator[tuple[str, Floats]]:
    """Each judge's scores, then all judges as one where there are several."""
    for j, name in enumerate(data.judges):
        yield name, data.judge[j, attribute]
    clusters = data.overall_cluster
    labelled = ~np.isnan(data.human[attribute])
    # The judges' weights are fitted on other units than they are used on: with one there is no
    # other.
    units = np.flatnonzero(labelled) if clusters is None else np.unique(clusters[labelled])
    if len(data.judges) > 1 and len(units) >= 2:
        yield (
            TOGETHER,
            combined_judge(data.human[attribute], data.judge[:, attribute], clusters=clusters),
        )


def _scores(
    data: LabelledResponses, attribute: str, judge: str, human: Floats, judged: Floats, level: float
) -> Iterator[CorrectedScore]:
    # A win rate is one side's: over several pairs together it would say nothing.
    if not data.wins:
        overall = prediction_powered_mean(
            human,
            judged,
            clusters=data.overall_cluster,
            probabilities=data.probability,
            scale=data.scale,
            level=level,
            method=_method(data, judge),
        )
        yield CorrectedScore(attribute, judge, "", overall, share=data.shares)
        if len(np.unique(data.group)) < 2:
            return
    by_group = prediction_powered_means(
        human,
        judged,
        data.group,
        clusters=data.cluster,
        probabilities=data.probability,
        scale=data.scale,
        level=level,
        method=_method(data, judge),
    )
    for group, corrected in by_group.items():
        yield CorrectedScore(
            attribute, judge, str(group), corrected, wins=data.wins, share=data.shares
        )


def _method(data: LabelledResponses, judge: str) -> Literal["t", "strata"]:
    """Judges together give many values, of which no stratum holds enough labels."""
    return "t" if judge == TOGETHER else data.method


def _difference(
    data: LabelledResponses,
    attribute: str,
    judge: str,
    scores: tuple[Floats, Floats],
    pair: tuple[str, str],
    level: float,
) -> CorrectedScore:
    """A less B, on the items that both answer where these hold enough of the labels."""
    unknown = [name for name in pair if name not in data.systems]
    if unknown:
        raise not_there("system", unknown[0], filter(None, data.systems), "--compare")
    if pair[0] == pair[1]:
        raise InputError(f"--compare: {pair[0]!r} is compared with itself: name two systems")
    sides = [data.system == data.systems.index(name) for name in pair]
    answered = np.stack([np.isin(np.arange(len(data.items)), data.item[rows]) for rows in sides])
    human, judged = (np.stack([_by_item(data, v, rows) for rows in sides]) for v in scores)
    # (items,) that both answered; (2, items) where either has a label.
    shared, labelled = answered.all(0), ~np.isnan(human)
    # Paired is sharper, and throws away what only one answered: not where that is most of the
    # labels.
    paired = bool((2 * (labelled & shared).sum(1) >= labelled.sum(1)).all() and shared.any())
    used = shared if paired else answered.any(0)
    chances: list[Floats | None] = [None, None]
    if data.probability is not None:
        chances = [_by_item(data, data.probability, rows)[used] for rows in sides]
    clusters = None
    if data.cluster is not None:
        # By item, as the scores are here; all responses of an item lie in one cluster.
        clusters = np.zeros(len(data.items), int)
        clusters[data.item] = data.cluster
        clusters = clusters[used]
    difference = prediction_powered_difference(
        human[0, used],
        judged[0, used],
        human[1, used],
        judged[1, used],
        clusters=clusters,
        probabilities_a=chances[0],
        probabilities_b=chances[1],
        scale=data.scale,
        level=level,
        method=_method(data, judge),
    )
    first, second = (labelled & used).sum(1).tolist()
    basis = DifferenceBasis(paired, int(shared.sum()), (first, second))
    return CorrectedScore(attribute, judge, pair[0], difference, pair[1], basis=basis)


def _by_item(data: LabelledResponses, values: Floats, rows: NDArray[np.bool_]) -> Floats:
    """One system's values by item; NaN where it did not answer."""
    by_item = np.full(len(data.items), np.nan)
    by_item[data.item[rows]] = values[rows]
    return by_item


def _shares(
    data: LabelledResponses, other: LabelledResponses, gate: float | None, level: float
) -> Iterator[CorrectedShare]:
    """Pass rates of each judge and group, corrected by its errors on the other responses."""
    scale = data.inputs.panel.scale
    if gate is None and (scale.continuous or scale.count != 2):
        raise InputError(
            "errors from elsewhere correct a pass rate: say by --gate from which score on a "
            "response passes"
        )
    # Of two levels the upper one passes.
    cut = scale.high if gate is None else gate
    for a, attribute in enumerate(data.attributes):
        if attribute not in other.attributes:
            raise not_there("attribute", attribute, other.attributes, "the other source")
        human = other.human[other.attributes.index(attribute)]
        for j, name in enumerate(data.judges):
            if name not in other.judges:
                raise not_there("judge", name, other.judges, "the other source")
            seen = other.judge[other.judges.index(name), other.attributes.index(attribute)]
            both = ~np.isnan(human) & ~np.isnan(seen)
            # A mean of several humans counts as it stands: half way and below the gate is a fail.
            truth, passed = human[both] >= cut, seen[both] >= cut
            if not truth.any() or truth.all():
                raise InputError(
                    f"the labels elsewhere all {'pass' if truth.all() else 'fail'} on "
                    f"{attribute!r}: sensitivity and specificity need both"
                )
            for group in ("", *dict.fromkeys(data.group.tolist())):
                rows = ~np.isnan(data.judge[j, a]) & ((data.group == group) | (group == ""))
                if not rows.any():
                    continue
                share = rogan_gladen(
                    int((data.judge[j, a][rows] >= cut).sum()),
                    int(rows.sum()),
                    int((truth & passed).sum()),
                    int(truth.sum()),
                    int((~truth & ~passed).sum()),
                    int((~truth).sum()),
                    level=level,
                )
                yield CorrectedShare(attribute, name, group, share)


def correction_values(correction: Correction) -> tuple[GateValue, ...]:
    """What gates may name: ``corrected_mean``, its bounds ``_low`` and ``_high``, and ``worth``;
    of comparisons ``corrected_win_rate``, of passes ``corrected_pass_rate``, and their bounds.

    A gate holds for all responses of each attribute; one that names a system is about that system.
    """
    values = []
    for score in correction.scores:
        one = score.corrected
        low, high = (
            (math.nan, math.nan)
            if one.interval is None
            else (
                one.interval.low,
                one.interval.high,
            )
        )
        mean = "corrected_mean" if correction.gate is None else "corrected_pass_rate"
        name = "corrected_win_rate" if score.wins else mean
        # A gate without @ means all responses together; a system's number only a gate that names
        # it.
        own = (score.group,) if score.group else (score.attribute, score.judge)
        where = ", ".join(filter(None, (score.attribute, score.judge, score.group)))
        values += [
            GateValue(key, own, value, where, apart=bool(score.group))
            for key, value in (
                (name, one.value), (f"{name}_low", low), (f"{name}_high", high),
                ("worth", one.worth.value),
            )
        ]  # fmt: skip
    return tuple(values)

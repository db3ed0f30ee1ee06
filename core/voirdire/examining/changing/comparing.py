"""Two sources beside each other: what has changed, for whom, and on which items."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire.errors import InputError
from voirdire.examining.at_prompt import AtPrompt, Telling
from voirdire.examining.changing.components import (
    component_changes,
    component_values,
    with_states,
)
from voirdire.examining.changing.measured import (
    check_scales,
    matched,
    measured_of,
    replies_of,
    shared_responses,
)
from voirdire.examining.changing.remarks import rater_findings
from voirdire.examining.gates import GateValue
from voirdire.examining.source import options_of
from voirdire.examining.spec.scores.case import Case
from voirdire.examining.spoken import speaks_python
from voirdire.examining.verdict.gathering import gate_of
from voirdire.progress import stage
from voirdire.schema import Finding
from voirdire.stats import adjust_p, equivalence
from voirdire.stats.sums import above_t, quantile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from voirdire.examining.changing.components import ComponentChange
    from voirdire.examining.changing.measured import Measured
    from voirdire.examining.examination import Examination
    from voirdire.examining.sources import AnySource
    from voirdire.examining.verdict.facts import State, Target
    from voirdire.stats import Equivalence
    from voirdire.study import ReadOptions

    Floats = NDArray[np.float64]

#: Items that changed most which are kept.
MOST_ITEMS = 20


@dataclass(frozen=True, slots=True)
class Change:
    """How one judge's scores on one attribute differ between two sources, B less A.

    Attributes
    ----------
    judge, attribute : str
        `judge_b` is its name in B where that is another.
    system : str
        Empty for all systems together.
    n, clusters : int
        Responses scored in both, and the units (declared clusters, else items) that they come in.
    mean_a, mean_b : float
        Over these responses.
    equivalence : Equivalence
        The mean difference with its 90 % interval against the margin.
    low, high : float
        The 95 % interval of the difference.
    p, p_holm : float
        Of no difference at all; after Holm's method over the judges and attributes, for systems
        over these too.
    moved : float
        Share of the responses whose score is another.
    """

    judge: str
    judge_b: str
    attribute: str
    system: str
    n: int
    clusters: int
    mean_a: float
    mean_b: float
    equivalence: Equivalence
    low: float
    high: float
    p: float
    moved: float
    p_holm: float = math.nan

    @property
    def difference(self) -> float:
        """B less A, in points of the scale."""
        return self.equivalence.bias.value


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """A verdict that is another in B, with the components that decide each."""

    judge: str
    attribute: str
    use: str
    target: Target
    before: State
    after: State
    deciding_before: tuple[str, ...]
    deciding_after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChangedItem:
    """A response whose score is another in B; the replies are empty where no text is asked for."""

    judge: str
    attribute: str
    item: str
    system: str
    before: float
    after: float
    reply_before: str = ""
    reply_after: str = ""


@dataclass(frozen=True, slots=True)
class SourceComparison(AtPrompt):
    """Two sources beside each other.

    Attributes
    ----------
    a, b : str
        Their names.
    changes : tuple of Change
        For each judge and attribute: all systems together, then each system.
    verdicts : tuple of VerdictChange
        Those whose state changed; `verdicts_held` counts all that both have.
    items : tuple of ChangedItem
        Largest change first.
    margin : float
        Points within which a difference counts as none.
    components : tuple of ComponentChange
        What the verdicts rest on, B less A, on the responses that both have and a human labelled.
    """

    telling = Telling(
        title="What has changed",
        rows="changes",
        sections="voirdire.examining.changing.sections:comparison_sections",
        said="voirdire.report.first:comparison_said",
    )

    a: str
    b: str
    changes: tuple[Change, ...]
    verdicts: tuple[VerdictChange, ...]
    verdicts_held: int
    items: tuple[ChangedItem, ...]
    margin: float
    scale: tuple[float, float]
    level: float
    findings: tuple[Finding, ...]
    components: tuple[ComponentChange, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class _Paired:
    """Two sources and what they have in common: `judges` are names in A -> names in B.

    `at` holds the places, in A and in B, of the responses that are in both.
    """

    a: Measured
    b: Measured
    judges: Mapping[str, str]
    attributes: Sequence[str]
    at: tuple[NDArray[np.intp], NDArray[np.intp]]

    def scores(self, judge: str, attribute: str) -> tuple[Floats, Floats]:
        """(n,) of a judge of A, and of the judge that it is in B."""
        before = self.a.cube.of(judge, attribute)[self.at[0]]
        return before, self.b.cube.of(self.judges[judge], attribute)[self.at[1]]

    def each(self) -> Iterator[tuple[str, str]]:
        """Every judge of A and attribute."""
        return product(self.judges, self.attributes)


@speaks_python
def compare(  # noqa: PLR0913 - the options are those of the command
    a: AnySource | Examination,
    b: AnySource | Examination,
    *,
    reference: Sequence[str] = (),
    read: ReadOptions | None = None,
    judges: Mapping[str, str] | None = None,
    systems: Mapping[str, str] | None = None,
    margin: float | None = None,
    level: float = 0.95,
    with_text: bool = False,
) -> SourceComparison:
    """Hold two sessions, files or examinations beside each other, paired by item and system.

    Parameters
    ----------
    a, b
        As the source of `voirdire.examine`, or what it returned.
    reference : sequence of str
        The human raters, for the verdicts; they may be missing.
    read : ReadOptions, optional
        As in `voirdire.examine`, for each of the two that is a file or frame.
    judges, systems : mapping of str to str, optional
        Names in A -> names in B where these differ. The only judge (system) on each side belongs
        to the other without being named.
    margin : float, optional
        Points within which a mean difference counts as none; by default the study's margin of
        bias, 5 % of the scale's width.
    level : float
        Nominal coverage of the intervals.
    with_text : bool
        Keep the replies of the items that changed most.

    Returns
    -------
    SourceComparison

    Raises
    ------
    InputError
        Different scales, nothing shared, a name that is not there, a margin that is not positive.

    Examples
    --------
    >>> import polars as pl
    >>> from voirdire.examining.changing import compare
    >>> frame = pl.DataFrame({"item": ["1", "2", "3", "4"], "rater": "a", "score": [1, 2, 4, 5]})
    >>> comparison = compare(frame, frame.with_columns(score=pl.Series([2, 2, 5, 5])))
    >>> comparison.changes[0].difference, comparison.items[0].item
    (0.5, '1')
    """
    first, second = (
        measured_of(one, reference=reference, read=named)
        for one, named in zip((a, b), options_of((a, b), read), strict=True)
    )
    if first.name == second.name:
        # One file or study twice, as before and after a change of options: names must tell them
        # apart.
        first, second = replace(first, name=f"{first.name} (A)"), replace(
            second, name=f"{second.name} (B)"
        )  # fmt: skip
    check_scales(first, second)
    names = (first.name, second.name)
    pairs = matched("judge", first.judges, second.judges, judges or {}, names)
    of_system = matched("system", first.cube.systems, second.cube.systems, systems or {}, names)
    attributes = [name for name in first.cube.attributes if name in second.cube.attributes]
    if not attributes:
        raise InputError(f"{names[0]} and {names[1]} have no attribute in common")
    at = shared_responses(first, second, of_system)
    if not len(at[0]):
        raise InputError(f"{names[0]} and {names[1]} have no item of the same system in common")
    stage("comparing the two")
    within = first.study.margins.bias * first.scale.width if margin is None else margin
    paired = _Paired(first, second, pairs, attributes, at)
    verdicts, held = _verdicts(first, second, pairs)
    return SourceComparison(
        a=names[0],
        b=names[1],
        changes=with_holm(list(_changes(paired, within, level))),
        verdicts=verdicts,
        verdicts_held=held,
        items=_items(paired, with_text=with_text),
        components=_components(paired, within),
        margin=within,
        scale=(first.scale.low, first.scale.high),
        level=level,
        findings=(*_unpaired(paired), *rater_findings(first, second, pairs)),
    )


def _components(paired: _Paired, points: float) -> tuple[ComponentChange, ...]:
    """Of every judge and attribute, held against the humans of A, or of B where A has none."""
    a, rows_of_a = paired.a, paired.at[0]
    # Mostly one of two releases alone was labelled; its labels hold for the other's scores too.
    labels, rows = (a, rows_of_a) if a.reference else (paired.b, paired.at[1])
    if not labels.reference:
        return ()
    changes: list[ComponentChange] = []
    facts: dict[str, Any] = {
        "systems": a.system[rows_of_a] if len(a.cube.systems) > 1 else None,
        "clusters": None if a.clusters is None else a.clusters[rows_of_a],
    }
    for judge, question in product(paired.judges, a.questions):
        if set(question.attributes) <= set(paired.attributes):
            both = [paired.scores(judge, name) for name in question.attributes]
            humans = [_humans(labels, name, rows) for name in question.attributes]
            before, after = (
                question.case(
                    judge,
                    labels.reference,
                    [pair[k] for pair in both],
                    humans,
                    a.item[rows_of_a],
                    **facts,
                )
                for k in (0, 1)
            )
            changes += component_changes(before, after, a.study.margins, points)
    for judge, name in () if a.questions else paired.each():
        old, new = paired.scores(judge, name)
        scored = Case(
            judge=judge,
            attribute=name,
            reference=labels.reference,
            scores=old[None],
            humans=_humans(labels, name, rows),
            items=a.item[rows_of_a],
            width=a.scale.width,
            gate=gate_of(a.study, a.scale),
            **facts,
        )
        again = replace(scored, scores=new[None])
        changes += component_changes(scored, again, a.study.margins, points)
    return with_states(changes)


def _humans(labels: Measured, attribute: str, rows: NDArray[np.intp]) -> Floats:
    """(R, n) what the reference says."""
    return np.stack([labels.cube.of(human, attribute)[rows] for human in labels.reference])


def _changes(paired: _Paired, margin: float, level: float) -> Iterator[Change]:
    """Of each judge and attribute: all systems together, then each where there are several."""
    groups, system = paired.a.groups[paired.at[0]], paired.a.system[paired.at[0]]
    systems = np.unique(system) if len(np.unique(system)) > 1 else ()
    for judge, attribute in paired.each():
        before, after = paired.scores(judge, attribute)
        for name in ("", *systems):
            rows = (system == name) | (name == "")
            yield change_of(
                (judge, paired.judges[judge]), attribute, str(name), before[rows], after[rows],
                groups[rows], margin, level,
            )  # fmt: skip


def change_of(
    judges: tuple[str, str],
    attribute: str,
    system: str,
    before: Floats,
    after: Floats,
    groups: NDArray[np.str_],
    margin: float,
    level: float = 0.95,
) -> Change:
    """The paired difference of (n,) scores, with `groups` (n,) as the unit."""
    both = ~np.isnan(before) & ~np.isnan(after)
    tested = equivalence(after, before, margin, clusters=groups)
    low, high = _interval(tested, level)
    return Change(
        judge=judges[0],
        judge_b=judges[1],
        attribute=attribute,
        system=system,
        n=int(both.sum()),
        clusters=len(np.unique(groups[both])),
        mean_a=float(before[both].mean()) if both.any() else math.nan,
        mean_b=float(after[both].mean()) if both.any() else math.nan,
        equivalence=tested,
        low=low,
        high=high,
        p=p_of_no_difference(tested),
        moved=float((before[both] != after[both]).mean()) if both.any() else math.nan,
    )


def _interval(equivalence: Equivalence, level: float) -> tuple[float, float]:
    details = equivalence.bias.details
    half = quantile((1 + level) / 2, details["df"]) * details["standard_error"]
    return equivalence.bias.value - half, equivalence.bias.value + half


def p_of_no_difference(equivalence: Equivalence) -> float:
    """Two-sided p of a mean difference of 0; NaN with fewer than two units."""
    value, details = equivalence.bias.value, equivalence.bias.details
    error = details["standard_error"]
    if math.isnan(error) or math.isnan(value):
        return math.nan
    # All differences are equal: certain, and t would be endless.
    if error == 0:
        return 1.0 if value == 0 else 0.0
    return float(2 * above_t(abs(value) / error, details["df"]))


def with_holm(changes: Sequence[Change]) -> tuple[Change, ...]:
    """Holm over judges and attributes, and over these and systems for what is by system."""
    adjusted_changes = list(changes)
    # Two families of tests: whoever reads the row over all systems has not looked at each.
    for by_system in (False, True):
        places = [k for k, change in enumerate(changes) if bool(change.system) == by_system]
        adjusted = adjust_p([changes[k].p for k in places]) if places else ()
        for k, p in zip(places, adjusted, strict=True):
            adjusted_changes[k] = replace(changes[k], p_holm=float(p))
    return tuple(adjusted_changes)


def _verdicts(
    a: Measured, b: Measured, judges: Mapping[str, str]
) -> tuple[tuple[VerdictChange, ...], int]:
    """Verdicts that differ, and how many both have."""
    after = {(v.judge, v.about, v.use, v.target): v for v in b.verdicts}
    both = [
        (old, after[key])
        for old in a.verdicts
        if (key := (judges.get(old.judge, ""), old.about, old.use, old.target)) in after
    ]
    changed = tuple(
        VerdictChange(
            old.judge, old.about, old.use, old.target, old.state, new.state, old.deciding,
            new.deciding,
        )
        for old, new in both
        if old.state != new.state
    )  # fmt: skip
    return changed, len(both)


def _items(paired: _Paired, *, with_text: bool) -> tuple[ChangedItem, ...]:
    """The responses whose scores changed most, over all judges and attributes."""
    item, system = paired.a.item[paired.at[0]], paired.a.system[paired.at[0]]
    changed_items: list[ChangedItem] = []
    for judge, attribute in paired.each():
        before, after = paired.scores(judge, attribute)
        size = np.nan_to_num(np.abs(after - before), nan=0.0)
        # Of each judge and attribute no more than are kept of all: others cannot stay.
        largest = np.argsort(-size, kind="stable")[:MOST_ITEMS]
        changed_items += [
            ChangedItem(
                judge, attribute, str(item[k]), str(system[k]), float(before[k]), float(after[k])
            )
            for k in largest
            if size[k] > 0
        ]
    changed_items.sort(key=lambda one: -abs(one.after - one.before))
    kept = changed_items[:MOST_ITEMS]
    return _with_replies(paired, kept) if with_text and kept else tuple(kept)


def _with_replies(paired: _Paired, items: Sequence[ChangedItem]) -> tuple[ChangedItem, ...]:
    a, b, at = paired.a, paired.b, paired.at
    other_system = dict(zip(a.system[at[0]].tolist(), b.system[at[1]].tolist(), strict=True))
    texts = [
        {(item, system, rater): reply or "" for item, system, rater, reply in frame.iter_rows()}
        for frame in (
            replies_of(one).select("item", "system", "rater", pl.col("reply")) for one in (a, b)
        )
    ]
    return tuple(
        replace(
            one,
            reply_before=texts[0].get((one.item, one.system, one.judge), ""),
            reply_after=texts[1].get(
                (one.item, other_system[one.system], paired.judges[one.judge]), ""
            ),
        )
        for one in items
    )


def _unpaired(paired: _Paired) -> Iterator[Finding]:
    """Responses that only one of the two has."""
    shared = len(paired.at[0])
    alone = [(one.name, len(one.cube.item) - shared) for one in (paired.a, paired.b)]
    if any(count for _, count in alone):
        yield Finding(
            "unpaired",
            "note",
            "",
            sum(count for _, count in alone),
            (),
            "; ".join(f"{count:,} responses are in {name} alone" for name, count in alone if count)
            + ".",
            "They are left out.",
        )


def comparison_values(comparison: SourceComparison) -> tuple[GateValue, ...]:
    """What gates may name: ``difference``, its bounds ``_low`` and ``_high``, and ``moved``.

    Of components their change and its bounds: ``READ.change_low``.
    """
    rows = tuple(
        GateValue(
            name, (change.system,) if change.system else (change.attribute, change.judge), value,
            ", ".join(filter(None, (change.attribute, change.judge, change.system))),
            apart=bool(change.system),
        )
        for change in comparison.changes
        for name, value in (
            ("difference", change.difference), ("difference_low", change.low),
            ("difference_high", change.high), ("moved", change.moved),
        )
    )  # fmt: skip
    return (*rows, *component_values(comparison.components))

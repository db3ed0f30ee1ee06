"""Judges held to a lock: have they changed, are they as good, and was it judge or system?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from voirdire.errors import InputError, listed
from voirdire.examining.at_prompt import AtPrompt, Telling
from voirdire.examining.changing.anchored import (
    attribute_of,
    by_judge,
    cases_of,
    has_yes,
    labelled,
    with_verdicts,
)
from voirdire.examining.changing.comparing import change_of, p_of_no_difference
from voirdire.examining.changing.components import (
    component_changes,
    component_values,
    with_states,
)
from voirdire.examining.changing.lock import (
    check_same_study,
    short_hash,
    study_name,
    text_hashes,
)
from voirdire.examining.changing.measured import measured_of
from voirdire.examining.gates import GateValue
from voirdire.examining.spoken import speaks_python
from voirdire.examining.verdict.judging import judge_cases
from voirdire.progress import stage
from voirdire.schema import RULE
from voirdire.stats import (
    adjust_p,
    alpha_each_look,
    cluster_jackknife,
    drift_limit,
    drift_z,
    equivalence,
)
from voirdire.stats.sums import above_t, quantile
from voirdire.study import ReadOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from voirdire.examining.changing.chosen import Choices
    from voirdire.examining.changing.comparing import Change
    from voirdire.examining.changing.components import ComponentChange
    from voirdire.examining.changing.lock import Lock, LockedJudge, Scores
    from voirdire.examining.changing.measured import Measured
    from voirdire.examining.examination import Examination
    from voirdire.examining.sources import AnySource
    from voirdire.examining.verdict.facts import State, Verdict
    from voirdire.schema import Finding

    Floats = NDArray[np.float64]
from voirdire.examining.changing.remarks import (
    DIFFERS,
    changed_declarations,
    changed_texts,
    missing_scores,
    other_rule,
    silent_judges,
    unsealed,
    void_certificate,
)

Who = Literal["none", "judge", "system", "judge and system", "unknown"]
Good = Literal["yes", "no", "open"]
#: Anchors, or other responses, that attribution needs at least.
FEWEST = 20
#: The probability with which `Held.sees` is seen.
POWER = 0.85
#: The share of a look's alpha that the test of the whole canary gets; the rest goes to responses
#: without labels. The judge is what a lock is about, and its changes move the whole.
WHOLE = 0.9
#: The share of the promise that the chart of drifts gets, where looks are planned.
DRIFT = 0.1


@dataclass(frozen=True, slots=True)
class LostUse:
    """A use that the judge was good for at the freeze and is not shown to be good for now."""

    use: str
    now: State
    deciding: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Held:
    """One judge and attribute held to the lock.

    Attributes
    ----------
    change : Change
        Today less the lock, over the canary.
    anchors, live : Change or None
        The same over responses with human labels whose text is the lock's, and over the others;
        None where there are none of a kind.
    p_holm : float
        Of no change, over all tests of this look; NaN where the judge answered nothing.
    changed : bool
        Whether `p_holm` is at most the alpha of this look.
    good : {"yes", "no", "open"}
        Yes where the whole 90 % interval lies within the margin, that of every component as well,
        and no use is lost; no where it lies outside of it, a component is worse, or a use that
        was a yes is a no.
    who : {"none", "judge", "system", "judge and system", "unknown"}
        Whose change it is; unknown where there are too few anchors or too few other responses.
    components : tuple of ComponentChange
        What the verdict rests on, today less at the freeze, on the anchors; empty without labels.
    sees : float
        The shift, in points, that this look would see with a probability of 0.85, given how much
        the scores differ from one asking to the next.
    drifted : bool
        Whether the moving mean of all looks has left its limits; then `changed` holds too.
    power : float
        The probability that the next look sees a shift of the lock's margin.
    canaries : int or None
        Items (or clusters) of which a look would see the margin with a probability of 0.85.
    """

    judge: str
    attribute: str
    change: Change
    anchors: Change | None
    live: Change | None
    p_holm: float
    changed: bool
    good: Good
    who: Who
    lost: tuple[LostUse, ...] = ()
    components: tuple[ComponentChange, ...] = ()
    sees: float = math.nan
    drifted: bool = False
    power: float = math.nan
    canaries: int | None = None

    @property
    def failed(self) -> bool:
        """Whether a gate stops here."""
        return self.changed or self.good == "no"


@dataclass(frozen=True, slots=True)
class GateCheck(AtPrompt):
    """A source held to a lock.

    Attributes
    ----------
    look : int
        Which look at this lock it is, from 1.
    alpha : float
        What this look may spend.
    planned : int
        Looks that the lock plans; 0 where it plans none.
    margin : float
        Points of the scale.
    partial : bool
        Whether canaries are missing, or a judge left a tenth of them unanswered.
    """

    telling = Telling(
        title="A judge held to its lock",
        rows="rows",
        sections="voirdire.examining.changing.sections:gate_sections",
        said="voirdire.examining.changing.sections:gate_sentences",
    )

    source: str
    study: str
    look: int
    alpha: float
    planned: int
    margin: float
    rows: tuple[Held, ...]
    findings: tuple[Finding, ...]
    partial: bool

    @property
    def failed(self) -> bool:
        """Whether any judge and attribute failed."""
        return any(row.failed for row in self.rows)

    def exit_code(self, *, strict: bool = False) -> int:
        """4 where something failed, 3 where the check is partial, else 0.

        With `strict`, a serious finding (another model or prompt) counts as a failure too.
        """
        serious = any(finding.kind in DIFFERS for finding in self.findings)
        if self.failed or (strict and serious):
            return 4
        return 3 if self.partial else 0


def alpha_of_look(lock: Lock, look: int) -> float:
    """What look k may spend of the promise that the lock makes.

    The same at each of the planned looks. A lock of format 1 planned none: its look k spends
    6/(pi² k²) of alpha, which sums to alpha over however many there are.
    """
    share = 1 - DRIFT
    if lock.one_in:
        return share / lock.one_in
    if lock.planned:
        return alpha_each_look(share * lock.alpha, lock.planned)
    return lock.alpha * 6 / (math.pi**2 * look**2)


@speaks_python
def check_lock(
    source: AnySource | Examination,
    lock: Lock,
    *,
    reference: Sequence[str] = (),
    read: ReadOptions | None = None,
    look: int | None = None,
) -> tuple[GateCheck, Lock]:
    """Hold the judges of a source to a lock, paired on the canary's responses.

    Parameters
    ----------
    source
        A session, study or file of ratings of today.
    lock : Lock
    reference, read
        As in `voirdire.examine`.
    look : int, optional
        Which look it is, from 1; by default one more than the lock remembers, or the same as
        before where it saw these very scores.

    Returns
    -------
    GateCheck
    Lock
        The lock with this look remembered.

    Raises
    ------
    InputError
        The lock is of another study, no judge, attribute or canary of it is there, or the scale is
        another.
    """
    # Read as the freeze read, where nobody says otherwise.
    frozen = ReadOptions(**lock.read)
    families = {**frozen.families, **(read.families if read else {})}
    read = (read if read and read.of_files else frozen).with_(families=families)
    # Of labels and comparisons somebody has to be the reference before they are numbers at all.
    named = reference or (lock.reference if lock.questions else ())
    measured = measured_of(source, reference=named, read=read, verdicts=False)
    stage("holding the judges to their lock")
    _check_same(lock, measured, study_name(source, measured))
    at = _places(lock, measured)
    judges = [judge for judge in lock.judges if judge.name in measured.judges]
    today = {
        (judge.name, name): _today(measured, judge.name, name, at)
        for judge in judges
        for name in lock.attributes
        if name in measured.cube.attributes
    }
    data = short_hash(b"".join(np.ascontiguousarray(scores).tobytes() for scores in today.values()))
    # The same scores looked at twice are one look: a gate that is run again must not grow stricter.
    k = look if look is not None else lock.look_number(data)
    alpha = alpha_of_look(lock, k)
    anchors = _anchors(lock, measured, at)
    judged = any(judge.verdicts for judge in lock.judges)
    anew = with_verdicts(lock) if judged and lock.rule != RULE else lock
    findings = (
        *unsealed(lock), *other_rule(lock, anew), *missing_scores(lock, measured, at),
        *changed_texts(lock, measured),
        *changed_declarations(lock, measured, judges), *silent_judges(lock, judges, today, at),
    )  # fmt: skip
    rows = hold(anew, today, anchors, alpha, look=k, choices=_choices(lock, measured, judges))
    findings += tuple(
        void_certificate(lock, [row.judge for row in rows if row.failed and lock.cascade
                                and row.attribute == lock.cascade.attribute], findings)
    )  # fmt: skip
    check = GateCheck(
        source=measured.name,
        study=lock.study,
        look=k,
        alpha=alpha,
        planned=lock.planned,
        margin=lock.margin,
        rows=rows,
        findings=findings,
        partial=any(one.kind in ("canary_missing", "judge_missing", "canary_unanswered",
                                 "judge_silent") for one in findings),
    )  # fmt: skip
    return check, lock.remembering(data, *_shifts(lock, rows))


def _shifts(lock: Lock, rows: Sequence[Held]) -> tuple[Scores, Scores]:
    """Judge -> the mean shift of each attribute, and judge -> its standard error."""
    moved = {(row.judge, row.attribute): row.change for row in rows}
    nothing = (math.nan, math.nan)
    both = {
        judge.name: [
            (change.difference, _error(change)) if change is not None else nothing
            for change in (moved.get((judge.name, name)) for name in lock.attributes)
        ]
        for judge in lock.judges
    }
    shifts, errors = (
        {name: tuple(pair[at] for pair in pairs) for name, pairs in both.items()} for at in (0, 1)
    )
    return shifts, errors


def _check_same(lock: Lock, measured: Measured, name: str) -> None:
    check_same_study(lock, measured.name, name, measured.scale)
    names = [judge.name for judge in lock.judges]
    for what, locked, there in (
        ("judge", names, measured.judges), ("attribute", lock.attributes, measured.cube.attributes),
    ):  # fmt: skip
        if not set(locked) & set(there):
            raise InputError(
                f"the lock is of another study: no {what} of it ({listed(locked)}) is in "
                f"{measured.name} ({listed(there)})"
            )


def _places(lock: Lock, measured: Measured) -> NDArray[np.intp]:
    """(N,) where each canary response stands in the cube; -1 where it is not there."""
    keys = zip(measured.item.tolist(), measured.system.tolist(), strict=True)
    place = {key: at for at, key in enumerate(keys)}
    at = np.array([place.get((one.item, one.system), -1) for one in lock.canary], dtype=np.intp)
    if (at < 0).all():
        raise InputError(
            f"the lock is of another study: none of its {len(at)} canary responses is in "
            f"{measured.name}"
        )
    return at


def _choices(
    lock: Lock, measured: Measured, judges: Sequence[LockedJudge]
) -> dict[tuple[str, str], Choices]:
    """(judge, attribute) -> what it chooses today of the canary's comparisons."""
    if measured.compared is None or not lock.width:
        return {}
    item, system = (np.array(own) for own in zip(*((o.item, o.system) for o in lock.canary),
                                                 strict=True))  # fmt: skip
    return {
        (judge.name, one.name): measured.compared.choices(judge.name, one, item, system)
        for judge in judges
        for one in lock.questions
        if one.kind == "preference"
    }


def _of_judge(choices: Mapping[tuple[str, str], Choices], judge: str) -> dict[str, Choices]:
    return {name: own for (who, name), own in choices.items() if who == judge}


def _today(measured: Measured, judge: str, attribute: str, at: NDArray[np.intp]) -> Floats:
    return np.where(at >= 0, measured.cube.of(judge, attribute)[at], np.nan)


def _anchors(lock: Lock, measured: Measured, at: NDArray[np.intp]) -> NDArray[np.bool_]:
    """(N,) labelled responses whose text is still the one that was labelled."""
    now = text_hashes(measured)
    # A text that is not known is taken for the same: a file of scores alone holds none.
    same = np.array(
        [not one.text or now.get((one.item, one.system), one.text) == one.text
         for one in lock.canary]
    )  # fmt: skip
    return np.asarray(labelled(lock) & same & (at >= 0))


def hold(
    lock: Lock,
    today: Mapping[tuple[str, str], Floats],
    anchors: NDArray[np.bool_],
    alpha: float,
    look: int,
    choices: Mapping[tuple[str, str], Choices] | None = None,
) -> tuple[Held, ...]:
    """Every judge and attribute; the tests of one look are one family.

    Parameters
    ----------
    lock : Lock
    today : mapping
        (judge, attribute) -> (N,) scores of the canary, NaN where missing.
    anchors : (N,) bool
        Responses with human labels that are those of the lock.
    alpha : float
        What this look may spend.
    look : int
        Which look it is; the chart of drifts takes the looks before it.
    choices : mapping, optional
        (judge, attribute) -> what it chose of comparisons, where the lock keeps more than winners.
    """
    changes = {key: _changes(lock, key, scores, anchors) for key, scores in today.items()}
    # One test a judge and attribute: Holm over these, the two parts of each were combined before.
    adjusted = adjust_p([_either(whole, live) for whole, _, live in changes.values()])
    lost = _lost(lock, today, anchors, choices or {})
    moved = _components(lock, today, anchors, alpha, choices or {})
    rows = []
    for (key, (whole, fixed, live)), p in zip(changes.items(), adjusted.tolist(), strict=True):
        drifted = p > alpha and _drifted(lock, key, whole, look, len(changes))
        changed = p <= alpha or drifted
        uses, parts = lost.get(key, ()), moved.get(key, ())
        who = _who(lock, key, today[key], anchors, alpha) if changed else "none"
        sees, power, canaries = _sight(whole, alpha * WHOLE / len(changes), lock.margin)
        rows.append(
            Held(*key, whole, fixed, live, p, changed, _good(whole, uses, parts), who, uses, parts,
                 sees, drifted, power, canaries)
        )  # fmt: skip
    return tuple(rows)


def _drifted(lock: Lock, key: tuple[str, str], today: Change, look: int, tests: int) -> bool:
    """Whether the moving mean of this look and those before it has left its limits.

    A rate of false alarms a look has no end: its limit is that of a year of weekly looks.
    """
    looks = lock.planned or (52 if lock.one_in else 0)
    if not looks or look < 2:
        return False
    promised = lock.alpha if lock.planned else 1 - (1 - 1 / lock.one_in) ** looks
    before = [seen for seen in lock.looks[: look - 1] if key[0] in seen.shifts]
    at = lock.attributes.index(key[1])
    z = drift_z(
        [*(seen.shifts[key[0]][at] for seen in before), today.difference],
        [*(seen.errors[key[0]][at] for seen in before), _error(today)],
    )
    return abs(z) > drift_limit(DRIFT * promised / tests, max(looks, look))


def _error(change: Change) -> float:
    return float(change.equivalence.bias.details["standard_error"])


def _sight(change: Change, alpha: float, margin: float) -> tuple[float, float, int | None]:
    """The shift seen with the power `POWER`, the power at the margin, and canaries to see it."""
    details = change.equivalence.bias.details
    error, df = float(details["standard_error"]), float(details["df"])
    if not df > 0 or not error >= 0:
        return math.nan, math.nan, None
    limit = quantile(1 - alpha / 2, df)
    # The usual sum of the two quantiles: how far off a mean must be to be seen with that power.
    sees = float((limit + quantile(POWER, df)) * error)
    power = float(above_t(limit - margin / error, df)) if error else 1.0
    return sees, power, math.ceil((df + 1) * (sees / margin) ** 2) if error else None


def _components(
    lock: Lock,
    today: Mapping[tuple[str, str], Floats],
    anchors: NDArray[np.bool_],
    alpha: float,
    choices: Mapping[tuple[str, str], Choices],
) -> dict[tuple[str, str], tuple[ComponentChange, ...]]:
    """What the verdicts rest on, of all judges and attributes of this look as one family."""
    if not anchors.any():
        return {}
    every = [
        one
        for judge, scores in by_judge(today).items()
        for before, after in zip(
            cases_of(lock, judge, {name: lock.scores(judge, name) for name in scores}, anchors),
            cases_of(lock, judge, scores, anchors, _of_judge(choices, judge)),
            strict=True,
        )
        for one in component_changes(before, after, lock.margins, lock.margin)
    ]
    changes: dict[tuple[str, str], tuple[ComponentChange, ...]] = {}
    for one in with_states(every, alpha):
        key = (one.judge, attribute_of(lock, one.attribute, (one.at,)))
        changes[key] = (*changes.get(key, ()), one)
    return changes


def _either(whole: Change, live: Change | None) -> float:
    """P that neither the whole canary nor its part without labels moved: Bonferroni by weights.

    A system that changes moves that part alone, and a small part is lost in the whole.
    """
    if live is None or math.isnan(live.p):
        return whole.p
    return min(1.0, whole.p / WHOLE, live.p / (1 - WHOLE))


def _changes(
    lock: Lock, key: tuple[str, str], scores: Floats, anchors: NDArray[np.bool_]
) -> tuple[Change, Change | None, Change | None]:
    """Over the whole canary, the anchors, and the rest where there are anchors beside it."""
    before, groups = lock.scores(*key), lock.groups

    def over(rows: NDArray[np.bool_]) -> Change:
        return change_of(
            (key[0], key[0]), key[1], "", before[rows], scores[rows], groups[rows], lock.margin
        )

    both = ~np.isnan(before) & ~np.isnan(scores)
    # Without an anchor that was scored both times there is nothing to tell judge from system by.
    fixed = over(anchors) if (anchors & both).any() else None
    # Where all are live the whole says it already.
    live = over(~anchors) if fixed is not None and (~anchors & both).any() else None
    return over(np.ones_like(anchors)), fixed, live


def _good(change: Change, lost: Sequence[LostUse], parts: Sequence[ComponentChange]) -> Good:
    worse = any(part.state == "worse" for part in parts)
    if (
        change.equivalence.conclusion == "different"
        or worse
        or any(use.now == "no" for use in lost)
    ):
        return "no"
    same = all(part.state in ("same", "better") for part in parts)
    return "yes" if change.equivalence.conclusion == "equivalent" and same and not lost else "open"


def _who(
    lock: Lock,
    key: tuple[str, str],
    scores: Floats,
    anchors: NDArray[np.bool_],
    alpha: float,
) -> Who:
    """Whether one shift of all responses fits better, or one of the others with anchors still.

    Both models have one parameter, so the smaller residual sum of squares decides. Where anchors
    moved and the others moved otherwise, it was both.
    """
    difference = scores - lock.scores(*key)
    there = ~np.isnan(difference)
    fixed, live = there & anchors, there & ~anchors
    if fixed.sum() < FEWEST:
        return "unknown"
    # All but a few are anchors, whose texts are the same: only the judge can have moved them.
    if live.sum() < FEWEST:
        return "judge"
    # Anchors moved, so the judge did; the others moved otherwise, so the systems did too.
    if _apart(difference, fixed, live, lock.groups) <= alpha and _moved(
        difference[fixed], lock.groups[fixed]
    ) <= alpha:  # fmt: skip
        return "judge and system"
    whole, still = difference[there].mean(), difference[fixed].mean()
    other = difference[live].mean()
    # Sums of squares about one common shift, less what both models share; beside it that about
    # anchors standing still.
    judge = fixed.sum() * (still - whole) ** 2 + live.sum() * (other - whole) ** 2
    return "judge" if judge < fixed.sum() * still**2 else "system"


def _apart(
    difference: Floats, fixed: NDArray[np.bool_], live: NDArray[np.bool_], groups: NDArray[np.str_]
) -> float:
    """Two-sided p that anchors and others moved alike; items may hold both."""
    rows = fixed | live
    columns = np.stack([fixed, live, difference * fixed, difference * live], axis=1)[rows]

    def statistic(sums: Floats) -> Floats:
        return np.asarray(sums[..., 3] / sums[..., 1] - sums[..., 2] / sums[..., 0])

    jackknifed = cluster_jackknife(columns, groups[rows], statistic)
    return (
        math.nan
        if not jackknifed.se > 0
        else float(2 * above_t(abs(jackknifed.at) / jackknifed.se, jackknifed.df))
    )


def _moved(difference: Floats, groups: NDArray[np.str_]) -> float:
    return p_of_no_difference(
        equivalence(difference, np.zeros_like(difference), 1.0, clusters=groups)
    )


def _lost(
    lock: Lock,
    today: Mapping[tuple[str, str], Floats],
    anchors: NDArray[np.bool_],
    choices: Mapping[tuple[str, str], Choices],
) -> dict[tuple[str, str], tuple[LostUse, ...]]:
    """Uses that were a yes on the anchors and are none now."""
    # Only judges with a yes to lose, and labels to lose it by, are judged again.
    frozen = {judge.name: judge.verdicts for judge in lock.judges}
    wanted = {
        key: scores
        for key, scores in today.items()
        if has_yes(lock, frozen[key[0]], key[1]) and not np.isnan(scores[anchors]).all()
    }
    if not wanted:
        return {}
    cases = [
        case
        for judge, scores in by_judge(wanted).items()
        for case in cases_of(lock, judge, scores, anchors, _of_judge(choices, judge))
    ]
    losses: dict[tuple[str, str], list[LostUse]] = {}
    for verdict in judge_cases(cases, lock.margins).verdicts:
        if _is_lost(verdict, frozen[verdict.judge].get(verdict.about, {})):
            lost = LostUse(verdict.use, verdict.state, verdict.deciding)
            hit = (one.at for one in verdict.components if one.name in verdict.deciding)
            at = (verdict.label,) if verdict.label else next(filter(None, hit), ())
            name = attribute_of(lock, verdict.attribute, at)
            losses.setdefault((verdict.judge, name), []).append(lost)
    return {key: tuple(uses) for key, uses in losses.items()}


def _is_lost(verdict: Verdict, frozen: Mapping[str, str]) -> bool:
    return (
        verdict.target == "these systems"
        and frozen.get(verdict.use) == "yes"
        and verdict.state != "yes"
    )


def check_values(check: GateCheck) -> tuple[GateValue, ...]:
    """What gates may name: ``shift``, ``shift_low``, ``shift_high``, ``changed``, ``good``.

    Of components their change and its bounds: ``READ.change_low``.
    """
    rows = tuple(
        GateValue(name, (row.attribute, row.judge), value, f"{row.judge} on {row.attribute}")
        for row in check.rows
        for name, value in (
            ("shift", row.change.difference), ("shift_low", row.change.low),
            ("shift_high", row.change.high), ("changed", "yes" if row.changed else "no"),
            ("good", row.good),
        )
    )  # fmt: skip
    return (*rows, *component_values(one for row in check.rows for one in row.components))

"""Cases of any kind to verdicts and the evidence behind them."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from voirdire.examining.spec import KINDS, ground_of
from voirdire.examining.spec.scores.copies import copied_humans
from voirdire.examining.spec.scores.seen import LEAK
from voirdire.examining.spec.words import because
from voirdire.examining.verdict.advise import next_step
from voirdire.examining.verdict.decide import asked_uses, verdict_of, with_holm
from voirdire.examining.verdict.facts import AltTests, Evidence, HumanPair, Judged, Verdict
from voirdire.schema import Finding
from voirdire.stats import alt_test
from voirdire.stats._arrays import occurring
from voirdire.stats.response_panel import mean_present
from voirdire.stats.responses import human_agreement, response_agreement
from voirdire.stats.sums import weighted_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from voirdire.examining.spec import Ground
    from voirdire.examining.spec.kind import JudgedCase
    from voirdire.examining.spec.scores.case import Case
    from voirdire.examining.spec.scores.copies import Copied
    from voirdire.examining.spec.scores.ground import ScoreGround
    from voirdire.examining.verdict.facts import Careless, Component
    from voirdire.stats import Estimate, ResponseAgreement
    from voirdire.study import Margins, Study


def judge_cases(
    cases: Iterable[JudgedCase],
    margins: Margins,
    *,
    uses: Sequence[str] = (),
    critical: Collection[str] = (),
    blocked: Collection[tuple[str, str]] = (),
    level: float = 0.95,
    epsilon: float | None = None,
) -> Judged:
    """Examine each case for each use.

    Parameters
    ----------
    cases : iterable of JudgedCase
        One judge and attribute each, of any kind.
    margins : Margins
        What is asked for.
    uses : sequence of str
        Those that the study cares about; by default all that there are.
    critical : collection of str
        Attributes that are declared safety-critical: no yes for SINGLE or GATE.
    blocked : collection of (str, str)
        Judges and attributes on which a finding of the audit forbids a verdict.
    level : float
        The confidence level of the intervals of agreement on single responses; these decide
        nothing.
    epsilon : float, optional
        The allowance of the alt-test that is printed; None leaves it out.

    Returns
    -------
    Judged
        Deterministic: no seed is involved.
    """
    verdicts: list[Verdict] = []
    evidence: list[Evidence] = []
    shown: dict[str, list[JudgedCase]] = {}
    # Once an attribute and reference: the humans are the same for every judge.
    pairs: dict[tuple[str, tuple[str, ...]], tuple[HumanPair, ...]] = {}
    for case in cases:
        kind = KINDS[case.kind]
        if (case.attribute, case.reference) not in pairs:
            pairs[case.attribute, case.reference] = kind.human_pairs(case, level)
        if kind.shown:
            shown.setdefault(kind.key, []).append(case)
        ground = ground_of(case.distinct(), margins)
        known = _evidence(ground, kind.evidence(ground, level, epsilon))
        evidence.append(known)
        # Who gives the scores of a human in its reference is as good as that human, whatever it is.
        repeats = any(one.sure and one.human in known.reference for one in known.copied)
        for label, of, wanted in (("", ground, uses), *ground.as_others(uses)):
            for asked in asked_uses(wanted, of):
                made = verdict_of(
                    of,
                    asked,
                    critical=case.attribute in critical,
                    blocked=(case.judge, case.attribute) in blocked,
                    repeats=repeats,
                )
                made = replace(made, label=label or made.label, kind=ground.kind)
                verdicts.append(replace(made, next=next_step(of, asked, made)))
    return Judged(
        with_holm(verdicts),
        tuple(evidence),
        tuple(pair for found in pairs.values() for pair in found),
        tuple(one for key, own in shown.items() for one in KINDS[key].sections(own)),
    )


def judge_by_study(
    cases: Iterable[JudgedCase],
    study: Study,
    blocked: Collection[tuple[str, str]],
    *,
    epsilon: float | None = None,
) -> Judged:
    """Examine each case for what a study asks; `blocked` and `epsilon` as in `judge_cases`."""
    return judge_cases(
        cases,
        study.margins,
        uses=study.uses,
        critical={part.name for part in study.rubric.attributes if part.safety_critical},
        blocked=blocked,
        level=study.analysis.level,
        epsilon=epsilon,
    )


def _evidence(ground: Ground, beside: dict[str, Any]) -> Evidence:
    """What is known of a ground of any kind, and what its kind shows beside it."""
    case = ground.case
    facts = {"careless": ground.careless, "copied": ground.repeating, **beside}
    return Evidence(
        judge=case.judge,
        attribute=case.attribute,
        reference=ground.held_against,
        systems=ground.named_systems,
        n_responses=ground.n_paired,
        n_labelled=ground.n_labelled,
        n_judged=case.size(case.judged),
        clusters=ground.units[0],
        clustered=case.clusters is not None,
        runs=len(case.scores),
        width=case.width,
        humans_below=ground.humans_below,
        components=ground.all(),
        **facts,
    )


def careless_findings(evidence: Iterable[Evidence]) -> list[Finding]:
    """One finding a human who does not follow the others, over attributes and judges."""
    seen: dict[str, dict[str, Careless]] = {}
    for one in evidence:
        for careless in one.careless:
            seen.setdefault(careless.human, {}).setdefault(careless.attribute, careless)
    return [
        Finding(
            "careless_human",
            "serious",
            human,
            len(careless),
            tuple(
                f"{attribute}: correlates {one.correlation:.2f} with the others, who reach "
                f"{one.others:.2f}"
                for attribute, one in careless.items()
            )[:20],
            f"{human}'s single scores do not follow those of the other humans on "
            f"{', '.join(careless)}.",
            "Left out of the verdicts there.",
        )
        for human, careless in seen.items()
    ]


def copied_findings(evidence: Iterable[Evidence]) -> list[Finding]:
    """One finding a rater and a human whose scores it repeats, over attributes."""
    seen: dict[tuple[str, str], dict[str, Copied]] = {}
    for one in evidence:
        for copy in one.copied:
            by = copy.by or one.judge
            # A human who repeats another does so beside every judge.
            seen.setdefault((by, copy.human), {}).setdefault(copy.attribute, copy)
    found = [(by, human, list(each.values())) for (by, human), each in seen.items()]
    return [_human_repeats(*one) if one[2][0].by else _judge_repeats(*one) for one in found]


def _judge_repeats(judge: str, human: str, copy: Sequence[Copied]) -> Finding:
    return Finding(
        "judge_equals_human",
        "serious",
        judge,
        len(copy),
        tuple(_copied_words(one) for one in copy)[:20],
        f"{judge} gives the scores of {human} {_how_often(copy)} "
        f"({', '.join(one.attribute for one in copy)}).",
        f"Check that the scores of {human} did not reach {judge}, and that no column was used "
        "twice. "
        + (
            f"Nothing is said of {judge} by the scores of {human} there."
            if all(one.sure for one in copy)
            else f"If one is a copy of the other, no verdict on {judge} means anything."
        ),
    )


def _human_repeats(by: str, human: str, copy: Sequence[Copied]) -> Finding:
    left = ", ".join(one.attribute for one in copy if one.left_out)
    return Finding(
        "human_equals_human",
        "serious",
        by,
        len(copy),
        tuple(_copied_words(one) for one in copy)[:20],
        f"{by} gives the scores of {human} {_how_often(copy)} "
        f"({', '.join(one.attribute for one in copy)}).",
        f"{by} was left out of the verdicts there: a copy is no second human."
        if left
        else "Check that no column was used twice: a copy would make people seem to agree more "
        "than they do, and refuse judges for it.",
    )


def leak_findings(evidence: Iterable[Evidence]) -> list[Finding]:
    """One finding a judge and human (or all humans) whose answers it seems to have seen."""
    return [
        _leak_finding(one, part)
        for one in evidence
        if (part := one.component(LEAK)) is not None
        and part.reason in ("seen", "seen answers", "follows one")
    ]


def _leak_finding(one: Evidence, part: Component) -> Finding:
    told = f"{one.attribute}: {because(part)}"
    if part.reason == "seen answers":
        return Finding(
            "judge_has_seen_answers",
            "serious",
            one.judge,
            1,
            (told,),
            f"{one.judge} follows the humans' own errors ({one.attribute}).",
            "Keep the humans' scores from the judge and run it again: until then nothing can be "
            "said of it.",
            (one.attribute,),
        )
    who = part.at[0]
    left = part.reason == "follows one"
    return Finding(
        "judge_follows_one_human",
        "serious",
        one.judge,
        1,
        (f"{one.attribute}: slope {part.estimate:.2f} on what {who} alone says",),
        f"{one.judge} follows {who} beyond what people share ({one.attribute}).",
        f"{who} was left out of the reference of {one.judge}. The same person rating twice, one "
        "whose view the judge shares, others who err together, and answers that reached the judge "
        "look the same: see which it is."
        if left
        else f"Check that {who}'s labels did not reach {one.judge}: until then it cannot be held "
        "against them.",
        (one.attribute,),
    )


def _how_often(copied: Sequence[Copied]) -> str:
    whole = all(one.equal == one.shared for one in copied)
    return "on every response" if whole else "too often"


def _copied_words(one: Copied) -> str:
    words = f"{one.attribute}: equal on {one.equal:,} of {one.shared:,} responses"
    if np.isnan(one.most):
        return words
    return f"{words}; a rater who did not see them reaches {one.most:.0%}"


# --- how single scores agree, shown beside the components; it decides nothing

#: Humans that the alt-test asks for.
FEWEST_HUMANS = 3
#: Constants that are tried at most.
MOST_LEVELS = 21


def beside_scores(ground: ScoreGround, level: float, epsilon: float | None) -> dict[str, Any]:
    """What `Evidence` shows of scores, by field."""
    case = ground.case
    gated, humans, graded, humans_graded = _responses(ground, level)
    return {
        "gate": float("nan") if case.gate is None else case.gate.at,
        "constant": case.constant,
        "copied": (*ground.repeating, *copied_humans(case, ground.copies)),
        "responses": gated,
        "humans_responses": humans,
        "graded": graded,
        "humans_graded": humans_graded,
        "alt_tests": None if epsilon is None else _alt_tests(case, epsilon),
    }


def human_pairs(case: Case, level: float) -> tuple[HumanPair, ...]:
    """Each two humans of a case, the careless included: the table is there to show them."""
    made = []
    for a, b in combinations(range(len(case.humans)), 2):
        both = case.humans[[a, b]]
        shared = np.asarray(~np.isnan(both).any(axis=0))
        if shared.any():
            made.append(
                HumanPair(
                    case.reference[a],
                    case.reference[b],
                    case.attribute,
                    human_agreement(
                        both[:, shared].T,
                        clusters=case.groups()[shared],
                        level=level,
                        counted=None if case.counted is None else case.counted.only(shared),
                    ),
                    _mean_of(case, both[0] - both[1], shared),
                )
            )
    return tuple(made)


def _mean_of(case: Case, values: NDArray[np.float64], kept: NDArray[np.bool_]) -> float:
    weight = None if case.counted is None else case.counted.count[kept]
    return float(weighted_mean(values[kept], weight))


def _alt_tests(case: Case, epsilon: float) -> AltTests | None:
    """The published test with negative RMSE, or accuracy for labels, beside its baselines."""
    if len(case.humans) < FEWEST_HUMANS or np.isnan(case.humans).all():
        return None
    humans = case.humans.T
    score: Literal["accuracy", "neg_rmse"] = "accuracy" if case.nominal else "neg_rmse"

    def tested(scores: NDArray[np.float64]) -> Estimate:
        return alt_test(humans, scores, score=score, epsilon=epsilon)

    mean = case.scores[0] if case.nominal else mean_present(case.scores)
    seen = occurring(case.humans)
    # On a fine scale quantiles stand for the levels: a constant between two of them hardly does
    # better.
    levels = seen if len(seen) <= MOST_LEVELS else np.quantile(seen, np.linspace(0, 1, MOST_LEVELS))
    constants = [tested(np.where(case.judged, level, np.nan)) for level in levels]
    return AltTests(
        tested(mean),
        tested(case.scores[0]),
        max(constants, key=_advantage),
        None if case.nominal or case.systems is None else tested(_means(case, case.systems)),
    )


def _advantage(estimate: Estimate) -> tuple[float, float]:
    """Winning rate, then advantage; undefined comes last."""
    advantage = float(estimate.details.get("advantage_probability", -1.0))
    # Undefined compares as False with everything, which would let it win.
    return (-1.0 if np.isnan(estimate.value) else estimate.value, advantage)


def _means(case: Case, systems: NDArray[Any]) -> NDArray[np.float64]:
    """(N,) the humans' mean of the system of each response that the judge scored."""
    human = mean_present(case.humans)
    codes = np.unique(systems, return_inverse=True)[1]
    rated = ~np.isnan(human)
    n = np.bincount(codes[rated], minlength=int(codes.max()) + 1)
    total = np.bincount(codes[rated], weights=human[rated], minlength=len(n))
    means = np.divide(total, n, out=np.full(len(n), np.nan), where=n > 0)
    return np.where(case.judged, means[codes], np.nan)


def _responses(
    ground: ScoreGround, level: float
) -> tuple[
    ResponseAgreement | None,
    ResponseAgreement | None,
    ResponseAgreement | None,
    ResponseAgreement | None,
]:
    """Agreement at the gate and a held-out human's; that of the scores as they are, and theirs."""
    case = ground.case
    if not case.paired.any():
        return None, None, None, None
    # The kernels walk rows: a transposed view would be read with large strides.
    humans = np.ascontiguousarray(case.humans[list(ground.humans)].T)
    scores, groups = case.scores.T, case.groups()
    counts = case.counted
    gated = own = graded = own_graded = None
    if case.gate is not None and not case.nominal:
        at = case.gate.at
        gated = response_agreement(
            scores, humans, gate=at, clusters=groups, level=level, counted=counts
        )
        if len(ground.humans) > 1:
            own = human_agreement(humans, gate=at, clusters=groups, level=level, counted=counts)
    seen = occurring(case.humans)
    # With two levels the table of scores as they are is the table at the gate.
    if len(seen) > 2 or case.gate is None:
        graded = response_agreement(scores, humans, clusters=groups, level=level, counted=counts)
        if len(ground.humans) > 1:
            own_graded = human_agreement(humans, clusters=groups, level=level, counted=counts)
    return gated, own, graded, own_graded

"""Cascades: a cheap judge first, a dearer one where it is not sure, then a person."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire.errors import InputError, QuestionError, listed, not_there
from voirdire.examining.at_prompt import AtPrompt, Telling
from voirdire.examining.certificate import CascadeCertificate, CascadeStage
from voirdire.examining.correcting.escalating import (
    agreement,
    certainty_by_response,
    confidence_fitted,
    features_of,
    halves_of,
    levels_of,
    named_place,
)
from voirdire.examining.correcting.fresh import remember_choice
from voirdire.examining.correcting.labelled import read_labelled
from voirdire.examining.spoken import speaks_python
from voirdire.progress import stage as begins
from voirdire.stats.automation import certified
from voirdire.study import ReadOptions
from voirdire.tabular import Section, Table, count, number, share, share_text, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from voirdire.examining.correcting.labelled import LabelledResponses
    from voirdire.examining.sources import AnySource
    from voirdire.schema import Finding
    from voirdire.study import Study

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

#: Thresholds that are tried, from the strictest on; judges that a cascade asks at most; labels of
#: each half under which nothing is fitted.
_STEPS, _STAGES, _FEWEST = 40, 3, 20


@dataclass(frozen=True, slots=True)
class Candidate:
    """Judges in the order in which they are asked, and what they come to on the half to learn by.

    Attributes
    ----------
    judges : tuple of str
    released : float
        Share of the responses that need no person.
    price : float
        Of a response: judges that are asked, and a person where none of them is sure.
    """

    judges: tuple[str, ...]
    released: float
    price: float


@dataclass(frozen=True, slots=True)
class Cascade(AtPrompt):
    """A cascade, learned on one part of the labels and certified on the other.

    Attributes
    ----------
    judges : tuple of str
        Who is asked, in this order; empty where people alone are cheapest, or nothing is certified.
    threshold : float
        A verdict goes out from this confidence on; NaN where none does.
    released, agreement, low : float
        Share of all responses that need no person; agreement with people among these in the labels
        that nothing was learned on, and its one-sided lower bound at `risk`.
    price, people : float
        Of a response by the cascade, and by people alone.
    tested : int
        Labels that it was certified on.
    reason : str or None
        ``"too_few_items"`` where there are too few labels to certify anything.
    candidates : tuple of Candidate
        Cheapest first, by what they came to on the half to learn by.
    idle : tuple of str
        Judges without whom the cheapest cascade costs no more: not worth running for this.
    queue : DataFrame
        ``item, system, judge, score, decision``: whose verdict goes out (``automatic``), or
        ``human``; ``labelled`` where a person has answered already.
    certificate : CascadeCertificate or None
        What a lock holds of it; None where nothing is certified.
    study : Study or None
        The source's study with these judges alone, in this order; None where nothing is certified
        or a judge is asked by no study.
    """

    telling = Telling(
        title="Cascade",
        rows="candidates",
        sections="voirdire.examining.correcting.cascading:cascade_sections",
    )

    attribute: str
    judges: tuple[str, ...]
    threshold: float
    target: float
    risk: float
    released: float
    agreement: float
    low: float
    price: float
    people: float
    tested: int
    reason: str | None
    candidates: tuple[Candidate, ...]
    idle: tuple[str, ...]
    findings: tuple[Finding, ...]
    queue: pl.DataFrame
    certificate: CascadeCertificate | None = None
    study: Study | None = None


@speaks_python
def cascade(  # noqa: PLR0913 - the options are those of the command
    source: AnySource,
    *,
    agree: float,
    prices: Mapping[str, float],
    person: float,
    risk: float = 0.1,
    reference: Sequence[str] = (),
    read: ReadOptions | None = None,
    on: str = "",
    tolerance: float = 0.0,
    gate: float | None = None,
    seed: int = 0,
    remember: bool = False,
) -> Cascade:
    """Which judges to ask about which responses, at which price, so that verdicts agree enough.

    Each sequence of up to three judges is tried: the first is asked of all, the next where those
    before are not sure, and a person where none is. How sure one can be is fitted as in `escalate`,
    from what the judges asked so far say. Sequence and confidence are learned on one half of the
    labels (cross-fitted there), and the threshold is certified on the other, from the strictest on
    (`voirdire.stats.automation.certified`), by cluster.

    Parameters
    ----------
    source, reference, read, on, tolerance, gate
        As in `escalate`. Every judge has scored the responses: a panel that was recorded.
    agree, risk : float
        Agreement wanted of verdicts that go out, and how often the labels at hand may miss it.
    prices : mapping of str to float
        Judge -> what one response costs.
    person : float
        What a person's label costs, in the same money.
    seed : int
        Of the split of the labels.
    remember : bool
        Whether the ledger of the labels keeps what they chose.

    Raises
    ------
    InputError
        As `read_labelled`; a judge without a price, a price of none; too few labels.
    """
    try:
        data = read_labelled(source, reference=reference, read=read)
    except QuestionError as question:
        if question.key != "judge" or question.of_study:
            raise
        # Who has a price is a judge.
        data = read_labelled(
            source, reference=reference, read=(read or ReadOptions()).with_(judge=tuple(prices))
        )
    begins("weighing cascades")
    a = named_place("attribute", "on", on, data.attributes)
    costs = _prices(data, prices, person)
    human = data.human[a]
    same = agreement(data.judge[:, a], human, tolerance, gate)
    scored = np.asarray(~np.isnan(data.judge[:, a]).any(0))
    learn, test = (half & scored for half in halves_of(data, ~np.isnan(human), seed))
    if min(int(learn.sum()), int(test.sum())) < _FEWEST:
        raise InputError(
            f"{int((learn | test).sum())} labels of responses that every judge scored are too few: "
            f"a cascade needs at least {2 * _FEWEST}, half of them to certify it"
        )
    world = _CandidateWorld(data, a, same, scored, costs, person, (tolerance, gate), agree, risk)
    # Fitted and weighed on other labels, or the one that fits its luck best would win.
    folds = tuple(fold & learn for fold in halves_of(data, learn, seed + 1))
    tried = sorted(
        ((world.candidate(order, learn, folds), order) for order in _orders(len(data.judges))),
        key=lambda one: (one[0].price, len(one[1])),
    )
    best, order = tried[0]
    candidates = tuple(one for one, _ in tried)
    idle = tuple(
        name
        for name in data.judges
        if min((one.price for one in candidates if name not in one.judges), default=person)
        <= best.price
    )
    if remember:
        chosen = ", then ".join(best.judges) if best.released else "people alone"
        remember_choice(data, data.attributes[a], "cascade", len(candidates), chosen)
    nothing = Cascade(
        data.attributes[a],
        (),
        math.nan,
        agree,
        risk,
        0.0,
        math.nan,
        math.nan,
        person,
        person,
        int(test.sum()),
        None,
        candidates,
        data.judges,
        data.findings,
        _queue(data, a, (), np.full(len(human), -1)),
    )
    if not best.released:
        return nothing
    sure = world.confidences(order, learn)
    levels = world.levels(sure)
    said = np.stack([world.agrees(order, sure, level)[test] for level in levels])
    last, low, reason = certified(
        said, world.overall(order)[test], target=agree, risk=risk, clusters=world.clusters(test)
    )
    if last < 0:
        return replace(nothing, reason=reason, idle=idle)
    stage = np.where(scored, world.stages(sure, levels[last]), -1)
    found = replace(
        nothing,
        judges=best.judges,
        threshold=float(levels[last]),
        released=float((stage >= 0)[scored].mean()),
        agreement=float(np.nanmean(said[last])),
        low=low,
        price=world.price(order, stage[scored]),
        idle=idle,
        queue=_queue(data, a, order, stage),
        study=_study_of(data, best.judges),
    )
    kept = (
        "attribute",
        "judges",
        "threshold",
        "risk",
        "agreement",
        "low",
        "tested",
        "released",
        "price",
        "people",
    )
    certificate = CascadeCertificate(
        agree=agree,
        tolerance=tolerance,
        gate=gate,
        stages=world.certified_stages(order, learn),
        **{name: getattr(found, name) for name in kept},
    )
    return replace(found, certificate=certificate)


def _study_of(data: LabelledResponses, judges: tuple[str, ...]) -> Study | None:
    """The study that asks these judges alone, the cheapest first."""
    from voirdire.store.raters import is_run  # noqa: PLC0415 - loads the store

    study = data.inputs.study
    asked = {rater.name: rater for rater in study.panel if is_run(rater)}
    if any(name not in asked for name in judges):
        return None
    return study.model_copy(update={"panel": tuple(asked[name] for name in judges)})


def _queue(
    data: LabelledResponses, attribute: int, order: tuple[int, ...], stage: NDArray[np.intp]
) -> pl.DataFrame:
    """Of each response whose verdict goes out, or that a person must judge."""
    goes = stage >= 0
    judge = np.array(order or (0,))[stage]
    names = np.array(data.judges)[judge]
    decision = np.where(goes, "automatic", "human")
    return pl.DataFrame(
        {
            "item": np.array(data.items)[data.item],
            "system": np.array(data.systems)[data.system],
            "judge": np.where(goes, names, ""),
            "score": np.where(goes, data.judge[judge, attribute, np.arange(len(stage))], np.nan),
            "decision": np.where(np.isnan(data.human[attribute]), decision, "labelled"),
        }
    ).with_columns(pl.col("score").fill_nan(None))


def _prices(data: LabelledResponses, prices: Mapping[str, float], person: float) -> list[float]:
    for name in prices:
        if name not in data.judges:
            raise not_there("judge", name, data.judges, "--price")
    missing = [name for name in data.judges if name not in prices]
    if missing:
        raise InputError(
            f"what does a response cost by {listed(missing)}? Say by --price {missing[0]}=0.002"
        )
    for name, price in (*prices.items(), ("a person", person)):
        if not (math.isfinite(price) and price >= 0):
            raise InputError(f"--price: {name} costs {price!r}, which is no price")
    return [prices[name] for name in data.judges]


def _orders(judges: int) -> Iterator[tuple[int, ...]]:
    for stages in range(1, min(judges, _STAGES) + 1):
        yield from permutations(range(judges), stages)


@dataclass(frozen=True, slots=True)
class _CandidateWorld:
    """What candidates are weighed by."""

    data: LabelledResponses
    attribute: int
    same: Floats  # (J, N)
    scored: Flags
    costs: list[float]
    person: float
    agreeing: tuple[float, float | None]
    target: float
    risk: float

    def candidate(
        self, order: tuple[int, ...], learn: Flags, folds: tuple[Flags, ...]
    ) -> Candidate:
        """What it comes to on the labels to learn by, held to the same test as later."""
        names = tuple(self.data.judges[j] for j in order)
        first, second = folds
        sure = np.where(first, self.confidences(order, second), self.confidences(order, first))
        levels = self.levels(sure[:, learn])
        said = np.stack([self.agrees(order, sure, level)[learn] for level in levels])
        last, _, _ = certified(
            said,
            self.overall(order)[learn],
            target=self.target,
            risk=self.risk,
            clusters=self.clusters(learn),
        )
        if last < 0:
            return Candidate(names, 0.0, self.person)
        stage = self.stages(sure, levels[last])[learn]
        return Candidate(names, float((stage >= 0).mean()), self.price(order, stage))

    def confidences(self, order: tuple[int, ...], fit: Flags) -> Floats:
        """(K, N) how sure one can be of each judge's verdict, by those asked so far."""
        return np.stack([self._stage(order, k, fit)[1] for k in range(len(order))])

    def certified_stages(self, order: tuple[int, ...], fit: Flags) -> tuple[CascadeStage, ...]:
        """What `confidences` rest on, for responses to come."""
        return tuple(self._stage(order, k, fit)[0] for k in range(len(order)))

    def _stage(self, order: tuple[int, ...], k: int, fit: Flags) -> tuple[CascadeStage, Floats]:
        asked = list(order[: k + 1])
        part = replace(
            self.data,
            judges=tuple(self.data.judges[j] for j in asked),
            judge=self.data.judge[asked],
        )
        features = features_of(part, self.attribute, k, *self.agreeing)
        # A response that some judge did not score teaches nothing, and is released by none.
        known = np.where(self.scored[:, None], features, 0.0)
        sure = confidence_fitted(known, self.same[order[k]], fit)
        stage = CascadeStage(
            levels=levels_of(part.judge[k, self.attribute]),
            certain=certainty_by_response(part, self.attribute, k) is not None,
            weights=sure.weights,
            intercept=sure.intercept,
            logistic=sure.logistic,
        )
        return stage, sure.of(known)

    def levels(self, sure: Floats) -> Floats:
        """Thresholds, the strictest first: what any judge is as sure of, and at last all."""
        highest = sure.max(0) if sure.shape[1] != len(self.scored) else sure[:, self.scored].max(0)
        levels = np.quantile(highest, 1 - np.arange(1, _STEPS + 1) / _STEPS, method="lower")
        levels[-1] = -math.inf
        return np.asarray(levels)

    def stages(self, sure: Floats, level: float) -> NDArray[np.intp]:
        """(N,) which judge's verdict goes out, counted within the cascade; -1: a person's."""
        goes = sure >= level
        return np.where(goes.any(0), goes.argmax(0), -1)

    def agrees(self, order: tuple[int, ...], sure: Floats, level: float) -> Floats:
        """(N,) agreement of the verdict that goes out; NaN where a person is asked."""
        stage = self.stages(sure, level)
        said = self.same[np.array(order)[stage], np.arange(len(stage))]
        return np.where(stage < 0, np.nan, said)

    def overall(self, order: tuple[int, ...]) -> Floats:
        """(N,) agreement of the last judge, which shows how far clusters err together."""
        return np.asarray(self.same[order[-1]])

    def clusters(self, rows: Flags) -> NDArray[np.intp] | None:
        clusters = self.data.overall_cluster
        return None if clusters is None else clusters[rows]

    def price(self, order: tuple[int, ...], stage: NDArray[np.intp]) -> float:
        """Of a response."""
        paid = np.cumsum([self.costs[j] for j in order])
        return float(np.where(stage < 0, paid[-1] + self.person, paid[stage]).mean())


def cascade_sentence(found: Cascade) -> str:
    """What to run, and what it saves."""
    asked = share_text(found.target).replace(".0", "")
    if not found.judges:
        why = (
            "there are too few labels to certify any"
            if found.reason
            else f"none is shown to agree in {asked} at a lower price"
        )
        return f"No cascade: {why}. People alone cost {found.people:g} a response."
    steps = ", then ".join(found.judges)
    return (
        f"Ask {steps}, then a person: {share_text(found.released)} need no person, at "
        f"{found.price:.3g} a response in place of {found.people:g}. Agreement of at least {asked} "
        f"is shown at a risk of {share_text(found.risk).replace('.0', '')}."
    )


def cascade_sections(found: Cascade) -> tuple[Section, ...]:
    """The certificate, and what other cascades came to."""
    idle = f" Not worth running for this: {listed(found.idle)}." if found.idle else ""
    certificate = Table(
        (
            text("Judges, in order"), number("Least confidence"), share("Need no person"),
            share("Agreement there"), share("Lower bound"), share("Asked"), count("Labels tested"),
            number("Price"), number("People alone"),
        ),
        (
            (
                ", ".join(found.judges) or "none", found.threshold, found.released, found.agreement,
                found.low, found.target, found.tested, found.price, found.people,
            ),
        ),
    )  # fmt: skip
    rows = tuple((", ".join(one.judges), one.released, one.price) for one in found.candidates)
    columns = (text("Judges, in order"), share("Need no person"), number("Price"))
    return (
        Section(
            "Which judges to ask", cascade_sentence(found) + idle, (certificate,), leading=True
        ),
        Section(
            "What each cascade came to",
            "On the half of the labels that it was learned by, each response weighed by a "
            "confidence that others taught. The cheapest was certified on the other half.",
            (Table(columns, rows),),
        ),
    )

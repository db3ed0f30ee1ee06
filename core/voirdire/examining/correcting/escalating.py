"""Which single verdicts may go out without a human, and which go to one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire.errors import InputError, not_there
from voirdire.examining.at_prompt import AtPrompt, Telling
from voirdire.examining.correcting.fresh import remember_choice
from voirdire.examining.correcting.labelled import read_labelled
from voirdire.examining.planning.drawing import draw_labels
from voirdire.examining.spoken import speaks_python
from voirdire.progress import stage
from voirdire.stats import automated_share
from voirdire.stats._arrays import occurring

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from voirdire.examining.correcting.labelled import LabelledResponses
    from voirdire.examining.planning.drawing import LabelDraw
    from voirdire.examining.sources import AnySource
    from voirdire.schema import Finding
    from voirdire.stats import AutomatedShare
    from voirdire.study import ReadOptions

    Floats = NDArray[np.float64]

#: Labels in each half under which nothing is fitted.
_FEWEST = 10
#: Levels of a score up to which each is a feature.
_MOST_LEVELS = 11


@dataclass(frozen=True, slots=True)
class Escalation(AtPrompt):
    """What may go out, and the queue of what may not.

    Attributes
    ----------
    judge, attribute : str
        Whose verdicts they are.
    share : AutomatedShare
        What was shown on the half of the labels that the confidence was not fitted on.
    queue : DataFrame
        ``item, system, score, confidence, decision``: one row a response that the judge scored,
        least confident first; `decision` is ``human`` or ``automatic``, or ``labelled`` where a
        human has answered already. With an audit also ``stratum, origin, label_probability``.
    n_fitted : int
        Labels that the confidence was fitted on.
    raters : tuple of str
        Whose agreement the confidence rests on.
    audit : LabelDraw or None
        Where some of what may go out is labelled too: all of the rest with it, so that together the
        labels correct the numbers of all responses.
    """

    telling = Telling(
        title="What needs a human",
        rows="queue",
        sections="voirdire.examining.correcting.sections:escalation_sections",
    )

    judge: str
    attribute: str
    share: AutomatedShare
    queue: pl.DataFrame
    n_fitted: int
    raters: tuple[str, ...]
    findings: tuple[Finding, ...]
    audit: LabelDraw | None = None


@speaks_python
def escalate(  # noqa: PLR0913 - the options are those of the command
    source: AnySource,
    *,
    agree: float,
    risk: float = 0.1,
    reference: Sequence[str] = (),
    read: ReadOptions | None = None,
    judge: str = "",
    on: str = "",
    tolerance: float = 0.0,
    gate: float | None = None,
    seed: int = 0,
    audit: int = 0,
    remember: bool = False,
) -> Escalation:
    """The largest share of a judge's verdicts that agree with humans often enough.

    A confidence is fitted on one half of the labels: a logistic regression of agreement on the
    level of the score, on how many of the other judges, and of this judge's own runs, say the
    same, and in a session on the probability of the likeliest level, where the model gave it. The
    other half tests nested shares of it (`voirdire.stats.automated_share`).

    Parameters
    ----------
    source, reference, read
        As in `voirdire.examine`.
    agree : float
        Agreement with the human wanted among the verdicts that go out, in (0, 1).
    risk : float
        How often the labels at hand may miss that.
    judge, on : str, optional
        Whose verdicts on which attribute, where there are several; by default the judge that agrees
        most on the half of the labels that is not tested on, and the only attribute.
    tolerance : float
        Verdict and label agree where they differ by no more, in points of the scale.
    gate : float, optional
        Verdict and label agree where both lie at or above it, or both below.
    seed : int
        The seed of the split of the labels, and of the audit.
    audit : int
        So many of the verdicts that may go out are drawn at random for people as well. The labels
        of the queue can then stand for all responses.
    remember : bool
        Whether the ledger of the labels keeps that they chose the judge and the threshold.

    Returns
    -------
    Escalation

    Raises
    ------
    InputError
        As `read_labelled`; several attributes and none named; too few labels to fit a confidence.

    References
    ----------
    Jung, Brahman and Choi (2025), Trust or Escalate, ICLR.
    """
    data = read_labelled(source, reference=reference, read=read)
    stage("testing shares of the verdicts")
    if data.question and on in ("", data.question):
        data = data.as_codes()
    a = named_place("attribute", "on", on, data.attributes)
    human = data.human[a]
    halves = halves_of(data, ~np.isnan(human), seed)
    same = agreement(data.judge[:, a], human, tolerance, gate)
    # The judge is chosen on the half that the confidence is fitted on: chosen on the other, the
    # test would be of the luckiest.
    names = (
        data.judges
        if not judge
        else (data.judges[named_place("judge", "judge", judge, data.judges)],)
    )
    at = max(
        (data.judges.index(name) for name in names),
        key=lambda j: _mean(same[j][halves[0]]),
    )
    judged = ~np.isnan(data.judge[at, a])
    features = features_of(data, a, at, tolerance, gate)
    fit, test = (half & judged for half in halves)
    if min(int(fit.sum()), int(test.sum())) < _FEWEST:
        raise InputError(
            f"{int((fit | test).sum())} labels beside {data.judges[at]}'s scores are too few: a "
            f"confidence needs at least {2 * _FEWEST}, half of them to test it"
        )
    confidence = confidence_of(features, same[at], fit)
    # Answers to one item err together as turns of one dialogue do.
    clusters = data.overall_cluster
    share = automated_share(
        same[at][test],
        confidence[test],
        confidence[judged],
        target=agree,
        risk=risk,
        clusters=None if clusters is None else clusters[test],
    )
    if remember:
        chosen = data.judges[at]
        if np.isfinite(share.threshold):
            chosen += f" from a confidence of {share.threshold:.3g} on"
        remember_choice(data, data.attributes[a], "escalate", len(names), chosen)
    queue, drawn = _queue(data, a, at, confidence, share), None
    if audit:
        drawn = _audit(queue, data, a, confidence >= share.threshold, audit, seed)
        queue = _with_audit(queue, drawn)
    return Escalation(
        data.judges[at],
        data.attributes[a],
        share,
        queue,
        int(fit.sum()),
        data.judges,
        data.findings,
        drawn,
    )


def _audit(
    queue: pl.DataFrame,
    data: LabelledResponses,
    attribute: int,
    goes: NDArray[np.bool_],
    number: int,
    seed: int,
) -> LabelDraw:
    """All that a human must judge, and so many of the rest."""
    responses = pl.DataFrame(
        {
            "item": np.array(data.items)[data.item],
            "system": np.array(data.systems)[data.system],
            "stratum": np.where(goes, "automatic", "human"),
            "labelled": ~np.isnan(data.human[attribute]),
        }
    ).join(queue, on=["item", "system"], how="semi", maintain_order="left")
    human = responses.filter(pl.col("stratum") == "human").height
    wanted = {"human": human, "automatic": number}
    there = set(responses["stratum"])
    return draw_labels(
        responses, {name: wanted[name] for name in wanted if name in there}, seed=seed
    )


def _with_audit(queue: pl.DataFrame, drawn: LabelDraw) -> pl.DataFrame:
    keys = ["item", "system"]
    joined = queue.join(drawn.units, on=keys, how="left", suffix="_drawn", maintain_order="left")
    return joined.with_columns(decision=pl.coalesce("decision_drawn", "decision")).drop(
        "decision_drawn"
    )


def named_place(what: str, option: str, wanted: str, names: Sequence[str]) -> int:
    """Where a name stands; the only one where none is asked for."""
    if wanted in names:
        return names.index(wanted)
    if not wanted and len(names) == 1:
        return 0
    if wanted:
        raise not_there(what, wanted, names)
    raise InputError(f"say by --{option} which {what} is meant ({what}s: {', '.join(names)})")


def halves_of(
    data: LabelledResponses, labelled: NDArray[np.bool_], seed: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The labelled responses in two halves; clusters, or else items, are not cut."""
    unit = data.item if data.cluster is None else data.cluster
    units = np.unique(unit[labelled])
    # Units, and not responses: an item in both halves would be learnt and tested.
    np.random.default_rng(seed).shuffle(units)
    first = np.isin(unit, units[: len(units) // 2])
    return labelled & first, labelled & ~first


def agreement(scores: Floats, human: Floats, tolerance: float, gate: float | None) -> Floats:
    """1 where a judge says what the human says, 0 where not, NaN where one says nothing."""
    with np.errstate(invalid="ignore"):
        if gate is not None:
            same = (scores >= gate) == (human >= gate)
        else:
            # Several humans have a mean between two levels: the nearest level is what they say.
            same = np.abs(scores - human) <= max(tolerance, 0.5 - 1e-9)
            if tolerance:
                # A tolerance of one point must take in a difference of one, whatever the last bit
                # says.
                same = np.abs(scores - human) <= tolerance + 1e-9
    return np.where(np.isnan(scores) | np.isnan(human), np.nan, same.astype(float))


def _mean(values: Floats) -> float:
    present = values[~np.isnan(values)]
    return float(present.mean()) if len(present) else -1.0


def levels_of(scores: Floats) -> tuple[float, ...]:
    """Up to eleven levels of a score (0 to 10) are a feature each, since agreement need not rise
    with the score; beyond, a curve, and no level.
    """
    levels = occurring(scores)
    return tuple(levels.tolist()) if len(levels) <= _MOST_LEVELS else ()


def features_of(
    data: LabelledResponses,
    attribute: int,
    judge: int,
    tolerance: float,
    gate: float | None,
    levels: tuple[float, ...] | None = None,
    *,
    certain: bool = True,
) -> Floats:
    """(N, F): agreement of each other judge, of all of them, of the runs, and the score's level.

    `levels` are those of the scores that a confidence was learned on; by default those at hand.
    `certain` says whether the probability of the likeliest level is one, where it is known.
    """
    own = data.judge[judge, attribute]
    columns = []
    others = [j for j in range(len(data.judges)) if j != judge]
    if others:
        same = agreement(data.judge[others, attribute], own, tolerance, gate)
        present = ~np.isnan(same)
        share = np.where(present, same, 0).sum(0) / np.maximum(present.sum(0), 1)
        # An abstaining judge neither agrees nor differs: half way, so that no score is lost for it.
        columns += [np.where(present.any(0), share, 0.5), *np.where(present, same, 0.5)]
    columns.append(_steadiness(data, attribute, judge))
    likeliest = certainty_by_response(data, attribute, judge) if certain else None
    if likeliest is not None:
        columns.append(likeliest)
    known = levels_of(own) if levels is None else levels
    if known:
        columns += [(own == level).astype(float) for level in known]
    else:
        low, high = data.scale
        level = np.nan_to_num((own - low) / (high - low))
        columns += [level, level**2]
    return np.stack(columns, 1)


def _steadiness(data: LabelledResponses, attribute: int, judge: int) -> Floats:
    """How alike the judge's runs are: 1 less their spread over half of the scale's width."""
    ratings = data.inputs.ratings.filter(
        pl.col("rater").cast(pl.String) == data.judges[judge],
        pl.col("attribute").cast(pl.String) == data.attributes[attribute],
    )
    spread = ratings.group_by(
        pl.col("item").cast(pl.String), pl.col("system").cast(pl.String).fill_null("")
    ).agg(pl.col("score").std(ddof=0).fill_null(0.0).alias("spread"))
    low, high = data.scale
    spreads = _of_responses(data, spread, "spread").fill_null(0.0).to_numpy()
    return np.asarray(1 - 2 * spreads / (high - low))


def certainty_by_response(data: LabelledResponses, attribute: int, judge: int) -> Floats | None:
    """(N,) probability of the likeliest level, the mean of the runs; its own mean where it is not
    known, None where it never is.
    """
    session = data.inputs.session
    if session is None or data.wins:
        return None
    from voirdire.store import is_session  # noqa: PLC0415 - loads the store
    from voirdire.store.frames import certainty_frame  # noqa: PLC0415

    if not is_session(session):
        return None
    means = (
        certainty_frame(session)
        .filter(rater=data.judges[judge], attribute=data.attributes[attribute])
        .group_by("item", pl.col("system").fill_null(""))
        .agg(pl.col("certainty").mean())
    )
    if means.is_empty():
        return None
    certainty = _of_responses(data, means, "certainty")
    # A reply without probabilities is as certain as the judge is on the whole.
    return np.asarray(certainty.fill_null(certainty.mean()).to_numpy())


def _of_responses(data: LabelledResponses, frame: pl.DataFrame, column: str) -> pl.Series:
    """A column of some responses (item, system) in the order of all; null where one has none."""
    responses = pl.DataFrame(
        {"item": np.array(data.items)[data.item], "system": np.array(data.systems)[data.system]}
    )
    keys = ["item", "system"]
    return responses.join(frame, on=keys, how="left", maintain_order="left")[column]


def confidence_of(features: Floats, same: Floats, fit: NDArray[np.bool_]) -> Floats:
    """Predicted probability of agreement; constant where the half to fit on never differs."""
    return confidence_fitted(features, same, fit).of(features)


@dataclass(frozen=True, slots=True)
class Confidence:
    """How sure one can be of a verdict by its features: a logistic curve, or their plain mean."""

    weights: tuple[float, ...]
    intercept: float
    logistic: bool = True

    def of(self, features: Floats) -> Floats:
        """(N,) of (N, F) features."""
        if not self.logistic:
            return np.asarray(features.mean(1))
        sums = features @ np.array(self.weights) + self.intercept
        return np.asarray(np.exp(-np.logaddexp(0.0, -sums)))


def confidence_fitted(features: Floats, same: Floats, fit: NDArray[np.bool_]) -> Confidence:
    """The confidence that the rows to fit on teach."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - slow to import

    # The judge always (or never) agrees there: nothing can be fitted, and the features themselves
    # rank.
    if len(np.unique(same[fit])) < 2:
        return Confidence((), 0.0, logistic=False)
    # Shrunk: with ten labels and a feature a level an unpenalised fit separates perfectly and means
    # nothing.
    model = LogisticRegression(C=0.3, max_iter=500).fit(features[fit], same[fit])
    return Confidence(tuple(model.coef_[0].tolist()), float(model.intercept_[0]))


def _queue(
    data: LabelledResponses,
    attribute: int,
    judge: int,
    confidence: Floats,
    automated: AutomatedShare,
) -> pl.DataFrame:
    score = data.judge[judge, attribute]
    rows = np.flatnonzero(~np.isnan(score))
    # NaN where no share may go out: nothing is at least that, and all goes to people.
    goes = np.where(confidence >= automated.threshold, "automatic", "human")
    decision = np.where(np.isnan(data.human[attribute]), goes, "labelled")
    table = pl.DataFrame(
        {
            "item": np.array(data.items)[data.item[rows]],
            "system": np.array(data.systems)[data.system[rows]],
            "score": score[rows],
            "confidence": confidence[rows],
            "decision": decision[rows],
        }
    )
    return table.sort("confidence", maintain_order=True)

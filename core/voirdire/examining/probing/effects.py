"""What each change does to the scores, paired by response, beside the noise of asking again."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from voirdire.errors import InputError
from voirdire.examining.at_prompt import AtPrompt, Telling
from voirdire.examining.changing.comparing import change_of
from voirdire.examining.gates import GateValue
from voirdire.examining.probing.names import IDENTITY, WHOLE
from voirdire.examining.probing.paired import asked_pairs
from voirdire.examining.probing.suite import LABELS
from voirdire.files import whole
from voirdire.probes import Expectation, PairProbe, RequestProbe
from voirdire.schema import Finding
from voirdire.stats import adjust_p, bias
from voirdire.stats.response_panel import mean_present

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from voirdire.examining.changing.comparing import Change
    from voirdire.examining.probing.labels import ChangedAnswers
    from voirdire.examining.probing.paired import PairedRuns
    from voirdire.examining.probing.stored import StoredRatings
    from voirdire.examining.probing.suite import Suite
    from voirdire.probes import Probe, StoredPairs, StoredProbe

    Floats = NDArray[np.float64]

Reading = Literal[
    "robust", "small bias", "biased", "reacts", "blind", "wrong way", "not monotone", "open"
]
#: Of labels: a share of 5 points.
LABEL_MARGIN = 0.05
#: Adjusted p values up to this show an effect.
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class ProbeEffect:
    """What one probe does to one judge on one attribute.

    Attributes
    ----------
    n, clusters : int
        Responses (or pairs) scored both ways, and the units (clusters, else items) they come in.
    effect, low, high : float
        Changed less unchanged over systems, in points, with its 95 % interval; unchanged is the
        mean of the text as it is and of `identity`, the same asked about once more. Where a probe
        expects a flip: half the sum of both scores, what the first place gains.
    margin : float
        Points within which an effect counts as none.
    p, p_holm : float
        Of no effect; after Holm's method over probes, judges and attributes.
    small : bool
        Whether the 90 % interval lies within the margin.
    flips, again : float
        Share of responses whose score in one run differs from that of the text as it is (from its
        negative, where a flip is expected): of the changed one, and of asking again alone.
    flips_net : float
        The difference of the two, with the 95 % interval `net_low` to `net_high`; NaN where
        nothing was asked twice.
    reading : str
        Of a probe that should change nothing, or flip the sign: robust (the 90 % interval within
        the margin), small bias (the same, but surely not zero), biased, or open. Of one that does
        harm: reacts, blind (equivalent to no change), wrong way, not monotone (it falls in all,
        and surely rises by more than the margin from one strength to the next), or open.
    doses, doses_low, doses_high : tuple of float
        Of a probe of several strengths: the effect of each, the weakest first, with its 95 %
        interval; the last is `effect`, on the responses to which all strengths apply.
    rise : float
        The largest rise from one strength to the next; NaN where there is one strength.
    p_rise, p_rise_holm : float
        One-sided, of no rise anywhere; after Holm's method with all other tests.
    """

    probe: str
    judge: str
    attribute: str
    expects: Expectation
    n: int
    clusters: int
    effect: float
    low: float
    high: float
    margin: float
    p: float
    small: bool
    flips: float
    again: float
    flips_net: float
    net_low: float
    net_high: float
    p_holm: float = math.nan
    reading: Reading = "open"
    doses: tuple[float, ...] = ()
    doses_low: tuple[float, ...] = ()
    doses_high: tuple[float, ...] = ()
    rise: float = math.nan
    p_rise: float = math.nan
    p_rise_holm: float = math.nan


@dataclass(frozen=True, slots=True)
class Probing(AtPrompt):
    """All effects of a suite; `noise` is that of `identity` for each judge and attribute."""

    telling = Telling(
        title="Judges probed",
        rows="effects",
        sections="voirdire.examining.probing.sections:probe_sections",
    )

    effects: tuple[ProbeEffect, ...]
    noise: tuple[ProbeEffect, ...]
    probes: tuple[tuple[str, str, str], ...]
    findings: tuple[Finding, ...]


def measure_probes(
    suite: Suite | None,
    sessions: Mapping[str, str | Path],
    *,
    margin: float | None = None,
    stored: StoredRatings | None = None,
) -> Probing:
    """The effects, from the sessions in which the suite's studies were run.

    Parameters
    ----------
    suite : Suite or None
        None where nothing was asked.
    sessions : mapping
        As `Suite.studies` -> the folder.
    margin : float, optional
        Points within which an effect counts as none; by default 5 % of the scale's width.
    stored : StoredRatings, optional
        What `stored_pairs` found in data already there; one family of tests with the rest.

    Raises
    ------
    InputError
        A session is not there, or holds no score.
    """
    effects = (
        []
        if suite is None
        else [
            probe_effect(
                one.probe,
                one.judge,
                one.attribute,
                one.arms[-1],
                one.again,
                0.05 * one.width if margin is None else margin,
                one.arms[:-1],
            )
            for one in asked_pairs(suite, sessions)
        ]
    )
    if suite is not None and LABELS in sessions:
        effects += _of_labels(suite, sessions[LABELS], margin)
    if stored is not None:
        effects += [stored_effect(probe, pairs, margin) for probe, pairs in stored.pairs]
    tested = [one for one in effects if one.probe != IDENTITY]
    used = (*(suite.probes if suite else ()), *(stored.probes if stored else ()))
    return Probing(
        effects=with_readings(tested),
        noise=tuple(one for one in effects if one.probe == IDENTITY),
        probes=tuple((probe.name, probe.strength, probe.says) for probe in used),
        findings=(
            *(_findings(suite, effects) if suite else ()),
            *(stored.findings if stored else ()),
        ),
    )


def _of_labels(suite: Suite, folder: str | Path, margin: float | None) -> list[ProbeEffect]:
    """Of annotators: the share of whole answers that change beyond the noise of asking again, and
    each label's share.
    """
    from voirdire.examining.probing.labels import (  # noqa: PLC0415 - of annotators alone
        ChangedAnswers,
        asked_labels,
    )

    within = LABEL_MARGIN if margin is None else margin
    return [
        _effect(
            one.probe,
            (one.judge, WHOLE),
            (_asked_again(one), one.changed[None]),
            (one.changed, one.again),
            one.groups,
            within,
        )
        if isinstance(one, ChangedAnswers)
        else probe_effect(one.probe, one.judge, one.attribute, one.arms[-1], one.again, within)
        for one in asked_labels(suite, folder)
    ]


def _asked_again(one: ChangedAnswers) -> Floats:
    """What the noise of asking again changes; of that noise itself, nothing."""
    return (np.zeros_like(one.again) if one.probe.name == IDENTITY else one.again)[None]


def probe_effect(
    probe: Probe,
    judge: str,
    attribute: str,
    pair: PairedRuns,
    again: PairedRuns,
    margin: float,
    weaker: Sequence[PairedRuns] = (),
) -> ProbeEffect:
    """One effect; `again` is the pair of `identity`, `weaker` those of lesser strengths."""
    repeated = _beside(pair, again, again.after)
    # The text as it is was asked about twice: both are what is unchanged, which halves its noise.
    before = np.concatenate([pair.before, repeated])
    effect = _effect(
        probe,
        (judge, attribute),
        (pair.before if probe.name == IDENTITY else before, pair.after),
        (_flipped(_turned(probe, pair.before), pair.after), _flipped(pair.before, repeated)),
        pair.groups,
        margin,
    )
    return _graded(effect, mean_present(before), [*weaker, pair]) if weaker else effect


def _beside(pair: PairedRuns, other: PairedRuns, scores: Floats) -> Floats:
    """Scores (..., M) of the responses of `other` as those (..., N) of `pair`, NaN without one."""
    if not len(other.key):
        return np.full((*scores.shape[:-1], len(pair.key)), np.nan)
    place = {int(key): k for k, key in enumerate(other.key)}
    at = np.array([place.get(int(key), -1) for key in pair.key], dtype=np.intp)
    return np.where(at >= 0, scores[..., at], np.nan)


def _graded(effect: ProbeEffect, unchanged: Floats, arms: Sequence[PairedRuns]) -> ProbeEffect:
    """The effect with those of all strengths, on the responses to which each of them applies.

    From one strength to the next the mean may not rise: one one-sided test a step, the smallest p
    times the steps (Bonferroni).
    """
    strongest = arms[-1]
    levels = [_beside(strongest, arm, mean_present(arm.after)) for arm in arms]
    every = np.stack([unchanged, *levels])
    # All strengths on the same responses, else a rise could come from other texts.
    every[:, np.isnan(every).any(axis=0)] = np.nan

    def change(before: Floats, after: Floats) -> Change:
        return change_of(
            (effect.judge, effect.judge),
            effect.attribute,
            "",
            before,
            after,
            strongest.groups,
            effect.margin,
        )

    doses = [change(every[0], level) for level in every[1:]]
    steps = [change(one, two) for one, two in pairwise(every)]
    # One-sided from two-sided: only a rise speaks against a sound judge.
    rises = [one.p / 2 if one.difference > 0 else 1 - one.p / 2 for one in steps]
    return replace(
        effect,
        doses=tuple(one.difference for one in doses),
        doses_low=tuple(one.low for one in doses),
        doses_high=tuple(one.high for one in doses),
        rise=max(one.difference for one in steps),
        p_rise=min(1.0, min(rises) * len(rises)),
    )


def stored_effect(probe: StoredProbe, pairs: StoredPairs, margin: float | None) -> ProbeEffect:
    """One effect in data already there; runs that were asked alike say what asking again does."""
    before = pairs.before
    # Each run beside the next one: what differs between them is the noise of asking again.
    repeated = np.roll(before, -1, axis=0) if len(before) > 1 else np.full_like(before, np.nan)
    within = 0.05 * pairs.width if margin is None else margin
    flips = _flipped(_turned(probe, before), pairs.after), _flipped(before, repeated)
    if probe.expects != "flip":  # these are two groups of systems, so that no score flips
        flips = np.full(len(pairs.groups), np.nan), np.full(len(pairs.groups), np.nan)
    return _effect(
        probe, (pairs.judge, pairs.attribute), (before, pairs.after), flips, pairs.groups, within
    )


def _effect(
    probe: Probe,
    of: tuple[str, str],
    scores: tuple[Floats, Floats],
    flips: tuple[Floats, Floats],
    groups: NDArray[np.str_],
    margin: float,
) -> ProbeEffect:
    """From (K, N) scores before and after, and (N,) shares that flip by the change and without."""
    before, after = mean_present(_turned(probe, scores[0])), mean_present(scores[1])
    if probe.expects == "flip":  # half of the difference is what the first place gains
        after = (before + after) / 2
    change = change_of((of[0], of[0]), of[1], "", before, after, groups, margin)
    net, low, high = _net(*flips, groups)
    small = change.equivalence.conclusion == "equivalent"
    return ProbeEffect(
        probe.name,
        *of,
        probe.expects,
        change.n,
        change.clusters,
        change.difference,
        change.low,
        change.high,
        margin,
        change.p,
        small,
        _mean(flips[0]),
        _mean(flips[1]),
        net,
        low,
        high,
    )


def _turned(probe: Probe, before: Floats) -> Floats:
    """The scores that a sound judge gives after the change."""
    return -before if probe.expects == "flip" else before


def _net(flipped: Floats, alone: Floats, groups: NDArray[np.str_]) -> tuple[float, float, float]:
    """Share that flips beyond what asking again flips, with its interval."""
    if np.isnan(alone).all():
        return math.nan, math.nan, math.nan
    net = bias(flipped, alone, clusters=groups)
    return net.value, net.intervals[0].low, net.intervals[0].high


def _flipped(before: Floats, after: Floats) -> Floats:
    """(N,) share of the runs, paired in order, in which the score is another."""
    runs = min(len(before), len(after))
    one, two = before[:runs], after[:runs]
    values = np.where(np.isnan(one) | np.isnan(two), np.nan, (one != two).astype(np.float64))
    return mean_present(values)


def _mean(values: Floats) -> float:
    present = values[~np.isnan(values)]
    return float(present.mean()) if len(present) else math.nan


def with_readings(effects: Sequence[ProbeEffect]) -> tuple[ProbeEffect, ...]:
    """Holm over probes, judges and attributes, and what each row comes to.

    Whether a probe of several strengths rises between two of them is one more test of its row.
    """
    if not effects:
        return ()
    # One family: whoever reads one row has looked at all, and at their rises.
    adjusted = adjust_p([*(one.p for one in effects), *(one.p_rise for one in effects)])
    moved, rises = adjusted[: len(effects)].tolist(), adjusted[len(effects) :].tolist()
    return tuple(
        replace(one, p_holm=p, p_rise_holm=rise, reading=_reading(one, p, rise))
        for one, p, rise in zip(effects, moved, rises, strict=True)
    )


def _reading(one: ProbeEffect, p: float, rise: float) -> Reading:
    shown, small = p <= ALPHA, one.small
    if one.expects != "monotone":
        if shown:
            return "small bias" if small else "biased"
        return "robust" if small else "open"
    if shown and not small and one.effect > 0:
        return "wrong way"
    if rise <= ALPHA and one.rise > one.margin:
        return "not monotone"
    if shown and not small:
        return "reacts"
    return "blind" if small else "open"


def _findings(suite: Suite, effects: Sequence[ProbeEffect]) -> Iterator[Finding]:
    if suite.skipped:
        counts = ", ".join(f"{name} {count:,}" for name, count in suite.skipped.items())
        yield Finding(
            "probe_not_applied",
            "note",
            "",
            sum(suite.skipped.values()),
            tuple(suite.skipped),
            f"Responses to which a probe does not apply: {counts}.",
            "They are left out of it.",
        )
    asked = [one.name for one in suite.probes if isinstance(one, RequestProbe | PairProbe)]
    if suite.stepwise and asked:
        yield Finding(
            "requests_not_probed",
            "note",
            "",
            len(suite.stepwise),
            suite.stepwise,
            f"What {', '.join(suite.stepwise)} asks is not changed: it asks in several steps.",
            f"Nothing is said of {', '.join(asked)} for it.",
        )
    scored = {one.judge for one in effects if one.n}
    every = (*suite.judges, *suite.comparers, *suite.labellers)
    silent = [judge for judge in every if judge not in scored]
    if silent:
        yield Finding(
            "judge_silent",
            "serious",
            "",
            len(silent),
            tuple(silent),
            f"No score came of {', '.join(silent)}.",
            "Nothing is said of them.",
        )


def probing_values(effects: Sequence[ProbeEffect]) -> tuple[GateValue, ...]:
    """What gates may name, of a probe, judge or attribute: ``effect``, ``flips_net``, ``reading``.

    ``effect`` is the absolute effect in points, ``effect_high`` the far end of its interval.
    """
    return tuple(
        GateValue(
            name, (one.probe, one.judge, one.attribute), value,
            f"{one.probe}, {one.judge} on {one.attribute}",
        )
        for one in effects
        for name, value in (
            ("effect", abs(one.effect)),
            ("effect_high", max(abs(one.low), abs(one.high))),
            ("flips_net", one.flips_net), ("reading", one.reading),
        )
    )  # fmt: skip


def write_effects(path: Path, effects: Sequence[ProbeEffect]) -> None:
    """Keep effects as a table, from which `read_effects` makes them again."""
    with whole(path) as draft:
        pl.DataFrame(list(map(asdict, effects)), infer_schema_length=None).write_parquet(draft)


def read_effects(path: Path) -> tuple[ProbeEffect, ...]:
    """The effects that `write_effects` kept; none where there is no such file.

    Raises
    ------
    InputError
        The file holds something else.
    """
    if not path.is_file():
        return ()
    try:
        return tuple(map(_read, pl.read_parquet(path).iter_rows(named=True)))
    except (TypeError, pl.exceptions.PolarsError) as error:
        raise InputError(
            f"{path}: it holds no effects of probes that can be read ({error}); run voirdire probe "
            "again"
        ) from None


def _read(row: dict[str, Any]) -> ProbeEffect:
    """An effect from a row; lists are tuples again."""
    kept: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in row.items()
    }
    return ProbeEffect(**kept)

"""What each change does to the scores, paired by response, beside the noise of asking again."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from voirdire.errors import InputError
from voirdire.examining.changing.comparing import change_of
from voirdire.examining.changing.measured import measured_of, shared_responses
from voirdire.examining.gates import GateValue
from voirdire.examining.probing.suite import IDENTITY, REQUESTS, RESPONSES, SEPARATOR
from voirdire.examining.verdict.gathering import runs_of
from voirdire.probes import RequestProbe
from voirdire.schema import Finding
from voirdire.stats import adjust_p, bias
from voirdire.stats.response_panel import mean_present

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from voirdire.examining.changing.comparing import Change
    from voirdire.examining.changing.measured import Measured
    from voirdire.examining.probing.suite import Suite
    from voirdire.probes import Expectation, Probe

    Floats = NDArray[np.float64]

Reading = Literal["robust", "small bias", "biased", "reacts", "blind", "wrong way", "open"]
#: Adjusted p values up to this show an effect.
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class ProbeEffect:
    """What one probe does to one judge on one attribute.

    Attributes
    ----------
    change : Change
        Changed less unchanged; unchanged is the mean of the response as it is and of `identity`,
        the same response asked about once more. Over systems, in points of the scale.
    p_holm : float
        After Holm's method over probes, judges and attributes.
    flips, again : float
        Share of responses whose score in one run differs from that of the response as it is: of
        the changed response, and of asking again alone.
    flips_net : float
        The difference of the two, with the 95 % interval `net_low` to `net_high`.
    reading : str
        Of a probe that should change nothing: robust (the 90 % interval within the margin), small
        bias (the same, but surely not zero), biased, or open. Of one that does harm: reacts, blind
        (equivalent to no change), wrong way, or open.
    """

    probe: str
    judge: str
    attribute: str
    expects: Expectation
    change: Change
    flips: float
    again: float
    flips_net: float
    net_low: float
    net_high: float
    p_holm: float = math.nan
    reading: Reading = "open"


@dataclass(frozen=True, slots=True)
class Probing:
    """All effects of a suite; `noise` is that of `identity` for each judge and attribute."""

    effects: tuple[ProbeEffect, ...]
    noise: tuple[ProbeEffect, ...]
    probes: tuple[tuple[str, str, str], ...]
    margin: float
    n_responses: int
    findings: tuple[Finding, ...]


def measure_probes(
    suite: Suite, sessions: Mapping[str, str | Path], *, margin: float | None = None
) -> Probing:
    """The effects, from the sessions in which the suite's studies were run.

    Parameters
    ----------
    suite : Suite
    sessions : mapping
        As `Suite.studies` -> the folder.
    margin : float, optional
        Points within which an effect counts as none; by default 5 % of the scale's width.

    Raises
    ------
    InputError
        A session is not there, or holds no score.
    """
    found = {arm: measured_of(folder, verdicts=False) for arm, folder in sessions.items()}
    plain = found[RESPONSES]
    within = 0.05 * plain.scale.width if margin is None else margin
    effects = [
        effect
        for judge in suite.judges
        if judge in plain.judges
        for attribute in plain.cube.attributes
        for effect in _effects(suite, found, judge, attribute, within)
    ]
    tested = [one for one in effects if one.probe != IDENTITY]
    return Probing(
        effects=with_readings(tested),
        noise=tuple(one for one in effects if one.probe == IDENTITY),
        probes=tuple((probe.name, probe.strength, probe.says) for probe in suite.probes),
        margin=within,
        n_responses=suite.n_responses,
        findings=tuple(_findings(suite, plain)),
    )


def _effects(
    suite: Suite, found: Mapping[str, Measured], judge: str, attribute: str, margin: float
) -> Iterator[ProbeEffect]:
    plain = found[RESPONSES]
    known = set(plain.cube.systems)
    base = {name: name for name in suite.systems if name in known}
    again = _runs(plain, judge, attribute, plain, judge, _of(suite, IDENTITY, known))
    for probe in suite.probes:
        if isinstance(probe, RequestProbe):
            other, rater = found[REQUESTS], f"{judge}{SEPARATOR}{probe.name}"
            if rater not in other.judges:
                continue
            pair = _runs(plain, judge, attribute, other, rater, base)
        else:
            pair = _runs(plain, judge, attribute, plain, judge, _of(suite, probe.name, known))
        yield probe_effect(probe, judge, attribute, pair, again, margin)


def _of(suite: Suite, probe: str, known: set[str]) -> dict[str, str]:
    """System -> the same system as the probe changes it."""
    names = {name: f"{name}{SEPARATOR}{probe}" for name in suite.systems}
    return {name: changed for name, changed in names.items() if changed in known}


@dataclass(frozen=True, slots=True, eq=False)
class PairedRuns:
    """(K runs, N) scores of responses as they are and as they are changed, NaN where missing.

    `key` (N,) names each response, `groups` (N,) what is resampled.
    """

    before: Floats
    after: Floats
    key: NDArray[np.intp]
    groups: NDArray[np.str_]


def _runs(
    plain: Measured, judge: str, attribute: str, other: Measured, rater: str,
    systems: Mapping[str, str],
) -> PairedRuns:  # fmt: skip
    at = shared_responses(plain, other, systems)
    column = plain.cube.attributes.index(attribute)
    if attribute not in other.cube.attributes:
        raise InputError(f"{other.name}: attribute {attribute!r} is not there")
    before = runs_of(judge, plain.cube, plain.ratings)[:, column, at[0]]
    of_other = other.cube.attributes.index(attribute)
    after = runs_of(rater, other.cube, other.ratings)[:, of_other, at[1]]
    return PairedRuns(before, after, at[0], plain.groups[at[0]])


def probe_effect(
    probe: Probe, judge: str, attribute: str, pair: PairedRuns, again: PairedRuns, margin: float
) -> ProbeEffect:
    """One effect; `again` is the pair of `identity`."""
    place = {int(key): k for k, key in enumerate(again.key)}
    at = np.array([place.get(int(key), -1) for key in pair.key], dtype=np.intp)
    repeated = np.where(at >= 0, again.after[:, at], np.nan)
    before = mean_present(np.concatenate([pair.before, repeated]))
    if probe.name == IDENTITY:
        before = mean_present(pair.before)
    change = change_of(
        (judge, judge), attribute, "", before, mean_present(pair.after), pair.groups, margin
    )
    flipped, alone = _flipped(pair.before, pair.after), _flipped(pair.before, repeated)
    net = bias(flipped, alone, clusters=pair.groups)
    interval = net.intervals[0]
    return ProbeEffect(
        probe.name, judge, attribute, probe.expects, change, _mean(flipped), _mean(alone),
        net.value, interval.low, interval.high,
    )  # fmt: skip


def _flipped(before: Floats, after: Floats) -> Floats:
    """(N,) share of the runs, paired in order, in which the score is another."""
    runs = min(len(before), len(after))
    one, two = before[:runs], after[:runs]
    found = np.where(np.isnan(one) | np.isnan(two), np.nan, (one != two).astype(np.float64))
    return mean_present(found)


def _mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan


def with_readings(effects: Sequence[ProbeEffect]) -> tuple[ProbeEffect, ...]:
    """Holm over probes, judges and attributes, and what each row comes to."""
    adjusted = adjust_p([one.change.p for one in effects]) if effects else ()
    return tuple(
        replace(one, p_holm=float(p), reading=_reading(one, float(p)))
        for one, p in zip(effects, adjusted, strict=True)
    )


def _reading(one: ProbeEffect, p: float) -> Reading:
    shown, small = p <= ALPHA, one.change.found.conclusion == "equivalent"
    if one.expects == "same":
        if shown:
            return "small bias" if small else "biased"
        return "robust" if small else "open"
    if shown and not small:
        return "reacts" if one.change.difference < 0 else "wrong way"
    return "blind" if small else "open"


def _findings(suite: Suite, plain: Measured) -> Iterator[Finding]:
    if suite.skipped:
        said = ", ".join(f"{name} {count:,}" for name, count in suite.skipped.items())
        yield Finding(
            "probe_not_applied", "note", "", sum(suite.skipped.values()), tuple(suite.skipped),
            f"Responses to which a probe does not apply: {said}.", "They are left out of it.",
        )  # fmt: skip
    silent = [judge for judge in suite.judges if judge not in plain.judges]
    if silent:
        yield Finding(
            "judge_silent", "serious", "", len(silent), tuple(silent),
            f"No score came of {', '.join(silent)}.", "Nothing is said of them.",
        )  # fmt: skip


def probing_values(found: Probing) -> tuple[GateValue, ...]:
    """What gates may name, of a probe, judge or attribute: ``effect``, ``flips_net``, ``reading``.

    ``effect`` is the absolute effect in points, ``effect_high`` the far end of its interval.
    """
    return tuple(
        GateValue(
            name, (one.probe, one.judge, one.attribute), value,
            f"{one.probe}, {one.judge} on {one.attribute}",
        )
        for one in found.effects
        for name, value in (
            ("effect", abs(one.change.difference)),
            ("effect_high", max(abs(one.change.low), abs(one.change.high))),
            ("flips_net", one.flips_net), ("reading", one.reading),
        )
    )  # fmt: skip

"""What each change does to the scores, paired by response, beside the noise of asking again."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from voirdire.errors import InputError
from voirdire.examining.changing.comparing import change_of
from voirdire.examining.changing.measured import measured_of, shared_responses
from voirdire.examining.gates import GateValue
from voirdire.examining.preferences.table import MOST
from voirdire.examining.probing.stored import as_shown, by_run
from voirdire.examining.probing.suite import (
    COMPARISONS,
    IDENTITY,
    REQUESTS,
    RESPONSES,
    SEPARATOR,
    preferences_of,
)
from voirdire.examining.verdict.gathering import runs_of
from voirdire.files import whole
from voirdire.probes import Expectation, PairProbe, RequestProbe, ResponseProbe
from voirdire.schema import Finding
from voirdire.stats import adjust_p, bias
from voirdire.stats.response_panel import mean_present

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from voirdire.examining.changing.measured import Measured
    from voirdire.examining.probing.stored import Stored
    from voirdire.examining.probing.suite import Suite
    from voirdire.probes import Probe, StoredPairs, StoredProbe

    Floats = NDArray[np.float64]

Reading = Literal["robust", "small bias", "biased", "reacts", "blind", "wrong way", "open"]
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
        harm: reacts, blind (equivalent to no change), wrong way, or open.
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


@dataclass(frozen=True, slots=True)
class Probing:
    """All effects of a suite; `noise` is that of `identity` for each judge and attribute."""

    effects: tuple[ProbeEffect, ...]
    noise: tuple[ProbeEffect, ...]
    probes: tuple[tuple[str, str, str], ...]
    findings: tuple[Finding, ...]


def measure_probes(
    suite: Suite | None,
    sessions: Mapping[str, str | Path],
    *,
    margin: float | None = None,
    stored: Stored | None = None,
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
    stored : Stored, optional
        What `stored_pairs` found in data already there; one family of tests with the rest.

    Raises
    ------
    InputError
        A session is not there, or holds no score.
    """
    effects = [] if suite is None else list(_asked(suite, sessions, margin))
    if stored is not None:
        effects += [
            stored_effect(probe, pairs, margin) for probe, pairs in stored.found
        ]  # fmt: skip
    tested = [one for one in effects if one.probe != IDENTITY]
    used = (*(suite.probes if suite else ()), *(stored.probes if stored else ()))
    return Probing(
        effects=with_readings(tested),
        noise=tuple(one for one in effects if one.probe == IDENTITY),
        probes=tuple((probe.name, probe.strength, probe.says) for probe in used),
        findings=(
            *(_findings(suite, effects) if suite else ()), *(stored.findings if stored else ()),
        ),
    )  # fmt: skip


def _asked(
    suite: Suite, sessions: Mapping[str, str | Path], margin: float | None
) -> Iterator[ProbeEffect]:
    """Effects on judges of single responses, then on judges of pairs."""
    found = {
        arm: measured_of(folder, verdicts=False)
        for arm, folder in sessions.items()
        if arm != COMPARISONS
    }
    if RESPONSES in found:
        plain = found[RESPONSES]
        within = 0.05 * plain.scale.width if margin is None else margin
        for judge in suite.judges:
            for attribute in plain.cube.attributes if judge in plain.judges else ():
                yield from _effects(suite, found, judge, attribute, within)
    if COMPARISONS in sessions:
        within = 0.05 * 2 * MOST if margin is None else margin
        yield from _pair_effects(suite, as_shown(preferences_of(sessions[COMPARISONS])), within)


def _effects(
    suite: Suite, found: Mapping[str, Measured], judge: str, attribute: str, margin: float
) -> Iterator[ProbeEffect]:
    plain = found[RESPONSES]
    known = set(plain.cube.systems)
    base = {name: name for name in suite.systems if name in known}
    again = _runs(plain, judge, attribute, plain, judge, _of(suite, IDENTITY, known))
    for probe in suite.probes:
        if isinstance(probe, RequestProbe):
            rater = f"{judge}{SEPARATOR}{probe.name}"
            if REQUESTS not in found or rater not in found[REQUESTS].judges:
                continue
            pair = _runs(plain, judge, attribute, found[REQUESTS], rater, base)
        elif isinstance(probe, ResponseProbe):
            pair = _runs(plain, judge, attribute, plain, judge, _of(suite, probe.name, known))
        else:
            continue
        yield probe_effect(probe, judge, attribute, pair, again, margin)


def _of(suite: Suite, probe: str, known: set[str]) -> dict[str, str]:
    """System -> the same system as the probe changes it."""
    names = {name: f"{name}{SEPARATOR}{probe}" for name in suite.systems}
    return {name: changed for name, changed in names.items() if changed in known}


def _pair_effects(suite: Suite, table: pl.DataFrame, margin: float) -> Iterator[ProbeEffect]:
    """Effects on judges of pairs, each a rater of its own for each change."""
    for judge in suite.comparers:
        own = table.filter(pl.col("rater") == judge)
        for attribute in own["attribute"].unique(maintain_order=True):
            plain = own.filter(pl.col("attribute") == attribute)
            for probe in suite.probes:
                rater = f"{judge}{SEPARATOR}{probe.name}"
                one = (pl.col("rater") == rater) & (pl.col("attribute") == attribute)
                pair = _paired(plain, table.filter(one))
                again = _paired(
                    plain, table.filter(
                        pl.col("rater") == f"{judge}{SEPARATOR}{IDENTITY}",
                        pl.col("attribute") == attribute,
                    )
                )  # fmt: skip
                if len(pair.key):
                    yield probe_effect(probe, judge, attribute, pair, again, margin)


def _paired(plain: pl.DataFrame, other: pl.DataFrame) -> PairedRuns:
    """Two raters on the same pairs; `key` is the place of each pair in `plain`."""
    shown = ("item", "system_a", "system_b", "shown_first")
    key, before = by_run(plain, shown)
    of_other, after = by_run(other, shown)
    at = key.with_row_index("at").join(of_other.with_row_index("other"), on=list(shown))
    mine, theirs = at["at"].to_numpy().astype(np.intp), at["other"].to_numpy()
    items = at["item"].to_numpy().astype(np.str_)
    return PairedRuns(before[:, mine], after[:, theirs], mine, items)


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
    before = np.concatenate([pair.before, repeated])
    return _effect(
        probe, (judge, attribute), (pair.before if probe.name == IDENTITY else before, pair.after),
        (_flipped(_turned(probe, pair.before), pair.after), _flipped(pair.before, repeated)),
        pair.groups, margin,
    )  # fmt: skip


def stored_effect(probe: StoredProbe, pairs: StoredPairs, margin: float | None) -> ProbeEffect:
    """One effect in data already there; runs that were asked alike say what asking again does."""
    before = pairs.before
    repeated = np.roll(before, -1, axis=0) if len(before) > 1 else np.full_like(before, np.nan)
    within = 0.05 * pairs.width if margin is None else margin
    flips = _flipped(_turned(probe, before), pairs.after), _flipped(before, repeated)
    if probe.expects != "flip":  # these are two groups of systems, so that no score flips
        flips = np.full(len(pairs.groups), np.nan), np.full(len(pairs.groups), np.nan)
    return _effect(
        probe, (pairs.judge, pairs.attribute), (before, pairs.after), flips, pairs.groups, within
    )


def _effect(
    probe: Probe, of: tuple[str, str], scores: tuple[Floats, Floats],
    flips: tuple[Floats, Floats], groups: NDArray[np.str_], margin: float,
) -> ProbeEffect:  # fmt: skip
    """From (K, N) scores before and after, and (N,) shares that flip by the change and without."""
    before, after = mean_present(_turned(probe, scores[0])), mean_present(scores[1])
    if probe.expects == "flip":  # half of the difference is what the first place gains
        after = (before + after) / 2
    change = change_of((of[0], of[0]), of[1], "", before, after, groups, margin)
    net, low, high = _net(*flips, groups)
    return ProbeEffect(
        probe.name, *of, probe.expects, change.n, change.clusters, change.difference, change.low,
        change.high, margin, change.p, change.found.conclusion == "equivalent", _mean(flips[0]),
        _mean(flips[1]), net, low, high,
    )  # fmt: skip


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
    found = np.where(np.isnan(one) | np.isnan(two), np.nan, (one != two).astype(np.float64))
    return mean_present(found)


def _mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan


def with_readings(effects: Sequence[ProbeEffect]) -> tuple[ProbeEffect, ...]:
    """Holm over probes, judges and attributes, and what each row comes to."""
    adjusted = adjust_p([one.p for one in effects]) if effects else ()
    return tuple(
        replace(one, p_holm=float(p), reading=_reading(one, float(p)))
        for one, p in zip(effects, adjusted, strict=True)
    )


def _reading(one: ProbeEffect, p: float) -> Reading:
    shown, small = p <= ALPHA, one.small
    if one.expects != "lower":
        if shown:
            return "small bias" if small else "biased"
        return "robust" if small else "open"
    if shown and not small:
        return "reacts" if one.effect < 0 else "wrong way"
    return "blind" if small else "open"


def _findings(suite: Suite, effects: Sequence[ProbeEffect]) -> Iterator[Finding]:
    if suite.skipped:
        said = ", ".join(f"{name} {count:,}" for name, count in suite.skipped.items())
        yield Finding(
            "probe_not_applied", "note", "", sum(suite.skipped.values()), tuple(suite.skipped),
            f"Responses to which a probe does not apply: {said}.", "They are left out of it.",
        )  # fmt: skip
    asked = [one.name for one in suite.probes if isinstance(one, RequestProbe | PairProbe)]
    if suite.stepwise and asked:
        yield Finding(
            "requests_not_probed", "note", "", len(suite.stepwise), suite.stepwise,
            f"What {', '.join(suite.stepwise)} asks is not changed: it asks in several steps.",
            f"Nothing is said of {', '.join(asked)} for it.",
        )  # fmt: skip
    scored = {one.judge for one in effects if one.n}
    silent = [judge for judge in (*suite.judges, *suite.comparers) if judge not in scored]
    if silent:
        yield Finding(
            "judge_silent", "serious", "", len(silent), tuple(silent),
            f"No score came of {', '.join(silent)}.", "Nothing is said of them.",
        )  # fmt: skip


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
        return tuple(ProbeEffect(**row) for row in pl.read_parquet(path).iter_rows(named=True))
    except (TypeError, pl.exceptions.PolarsError) as error:
        raise InputError(
            f"{path}: it holds no effects of probes that can be read ({error}); run voirdire probe "
            "again"
        ) from None

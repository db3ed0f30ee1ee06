"""Which scores of a suite are held beside each other: as it is, asked again, and changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire.errors import InputError
from voirdire.examining.changing.measured import measured_of, shared_responses
from voirdire.examining.preferences.table import MOST
from voirdire.examining.probing.names import IDENTITY, arms_of, changed_name
from voirdire.examining.probing.stored import as_shown, by_run
from voirdire.examining.probing.suite import (
    COMPARISONS,
    LABELS,
    PLACES,
    REQUESTS,
    RESPONSES,
    preferences_of,
)
from voirdire.examining.verdict.gathering import runs_of
from voirdire.probes import RequestProbe, ResponseProbe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from voirdire.examining.changing.measured import Measured
    from voirdire.examining.probing.suite import Suite
    from voirdire.probes import Probe

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class PairedRuns:
    """(K runs, N) scores of responses as they are and as they are changed, NaN where missing.

    `key` (N,) names each response, `groups` (N,) what is resampled.
    """

    before: Floats
    after: Floats
    key: NDArray[np.intp]
    groups: NDArray[np.str_]


@dataclass(frozen=True, slots=True, eq=False)
class BesideScores:
    """One probe, judge and attribute: an arm for each strength, the weakest first.

    `again` is the same text asked about once more, `width` that of the scale.
    """

    probe: Probe
    judge: str
    attribute: str
    arms: tuple[PairedRuns, ...]
    again: PairedRuns
    width: float


def asked_pairs(suite: Suite, sessions: Mapping[str, str | Path]) -> Iterator[BesideScores]:
    """Of judges of single responses, then of judges of pairs, from the suite's sessions."""
    measured = {
        arm: measured_of(folder, verdicts=False)
        for arm, folder in sessions.items()
        if arm not in (COMPARISONS, LABELS)
    }
    if RESPONSES in measured:
        plain = measured[RESPONSES]
        for judge in suite.judges:
            for attribute in plain.cube.attributes if judge in plain.judges else ():
                yield from _rated(suite, measured, judge, attribute)
    if COMPARISONS in sessions:
        yield from _compared(suite, as_shown(preferences_of(sessions[COMPARISONS])))


def _rated(
    suite: Suite, measured: Mapping[str, Measured], judge: str, attribute: str
) -> Iterator[BesideScores]:
    plain = measured[RESPONSES]
    systems = set(plain.cube.systems)
    base = {name: name for name in suite.systems if name in systems}
    again = _runs(plain, judge, attribute, plain, judge, _of(suite, IDENTITY, systems))
    for probe in suite.probes:
        if isinstance(probe, RequestProbe):
            rater = changed_name(judge, probe.name)
            if REQUESTS not in measured or rater not in measured[REQUESTS].judges:
                continue
            arms = [_runs(plain, judge, attribute, measured[REQUESTS], rater, base)]
        elif isinstance(probe, ResponseProbe):
            arms = [
                _runs(plain, judge, attribute, plain, judge, _of(suite, arm, systems))
                for arm in arms_of(probe)
            ]
        else:
            continue
        yield BesideScores(probe, judge, attribute, tuple(arms), again, plain.scale.width)


def _of(suite: Suite, probe: str, systems: set[str]) -> dict[str, str]:
    """System -> the same system as the probe changes it."""
    names = {name: changed_name(name, probe) for name in suite.systems}
    return {name: changed for name, changed in names.items() if changed in systems}


def _compared(suite: Suite, table: pl.DataFrame) -> Iterator[BesideScores]:
    """Of judges of pairs, which are raters of their own for each change."""
    for judge in suite.comparers:
        own = table.filter(pl.col("rater") == judge)
        for attribute in own["attribute"].unique(maintain_order=True):
            about = table.filter(pl.col("attribute") == attribute)
            plain = own.filter(pl.col("attribute") == attribute)
            again = _paired(plain, _rows_of(about, judge, IDENTITY))
            for probe in suite.probes:
                # A change of one response is tried on both places, so that what the place gains
                # cancels out.
                if isinstance(probe, ResponseProbe) and probe.name != IDENTITY:
                    same = _both_places(again, again, plain.height)
                    arms = [_on_places(suite, judge, plain, about, arm) for arm in arms_of(probe)]
                else:
                    same, arms = again, [_paired(plain, _rows_of(about, judge, probe.name))]
                if len(arms[-1].key):
                    yield BesideScores(probe, judge, str(attribute), tuple(arms), same, 2.0 * MOST)


def _rows_of(table: pl.DataFrame, judge: str, arm: str, place: str = "") -> pl.DataFrame:
    return table.filter(pl.col("rater") == changed_name(judge, arm, place))


def _on_places(
    suite: Suite, judge: str, plain: pl.DataFrame, table: pl.DataFrame, arm: str
) -> PairedRuns:
    """A change of either response of each pair, as preferences for the one that is changed."""
    untouched = pl.DataFrame(
        sorted(suite.untouched.get(arm, ())),
        orient="row",
        schema={"item": pl.String, "changed": pl.String},
    )
    other = (
        pl.when(pl.col("shown_first") == pl.col("system_a")).then("system_b").otherwise("system_a")
    )

    def side(place: str) -> PairedRuns:
        rows = _rows_of(table, judge, arm, place).with_columns(
            changed=pl.col("shown_first") if place == "first" else other
        )
        return _paired(plain, rows.join(untouched, on=["item", "changed"], how="anti"))

    return _both_places(side(PLACES[0]), side(PLACES[1]), plain.height)


def _both_places(first: PairedRuns, second: PairedRuns, pairs: int) -> PairedRuns:
    """Preferences for what was shown first, and then those for what was shown second."""
    return PairedRuns(
        _beside(first.before, -second.before),
        _beside(first.after, -second.after),
        np.concatenate([first.key, second.key + pairs]),
        np.concatenate([first.groups, second.groups]),
    )


def _beside(one: Floats, two: Floats) -> Floats:
    """(K, N + M) of two arrays of runs, NaN where one has fewer."""
    runs = max(len(one), len(two))
    parts = [
        np.concatenate([part, np.full((runs - len(part), part.shape[1]), np.nan)])
        for part in (one, two)
    ]
    return np.concatenate(parts, axis=1)


def _paired(plain: pl.DataFrame, other: pl.DataFrame) -> PairedRuns:
    """Two raters on the same pairs; `key` is the place of each pair in `plain`."""
    shown = ("item", "system_a", "system_b", "shown_first")
    key, before = by_run(plain, shown)
    of_other, after = by_run(other, shown)
    # Only comparisons that both made; a judge that failed on one side has no pair there.
    at = key.with_row_index("at").join(of_other.with_row_index("other"), on=list(shown))
    mine, theirs = at["at"].to_numpy().astype(np.intp), at["other"].to_numpy()
    items = at["item"].to_numpy().astype(np.str_)
    return PairedRuns(before[:, mine], after[:, theirs], mine, items)


def _runs(
    plain: Measured,
    judge: str,
    attribute: str,
    other: Measured,
    rater: str,
    systems: Mapping[str, str],
) -> PairedRuns:
    at = shared_responses(plain, other, systems)
    column = plain.cube.attributes.index(attribute)
    if attribute not in other.cube.attributes:
        raise InputError(f"{other.name}: attribute {attribute!r} is not there")
    before = runs_of(judge, plain.cube, plain.ratings)[:, column, at[0]]
    of_other = other.cube.attributes.index(attribute)
    after = runs_of(rater, other.cube, other.ratings)[:, of_other, at[1]]
    return PairedRuns(before, after, at[0], plain.groups[at[0]])

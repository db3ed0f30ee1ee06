"""The same judges under other rules of exclusion: before and after, one system or the family."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from voirdire.examining.examination import SystemPair, UnderRule
from voirdire.examining.ratings.pairing import FORMS, Pairing, pair_up
from voirdire.stats import icc_batch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.examining.ratings.cube import Cube
    from voirdire.examining.source import Panel
    from voirdire.stats import Estimate

NO_EXCLUSION, FAMILY = "without_exclusion", "family_rule"


@dataclass(frozen=True, slots=True)
class Before:
    """What exclusion does to one pairing: the systems left out, and the ICCs by rule."""

    left_out: tuple[SystemPair, ...] = ()
    without_exclusion: UnderRule | None = None
    family_rule: UnderRule | None = None


def under_other_rules(found: Sequence[Pairing], cube: Cube, panel: Panel) -> list[Before]:
    """Each pairing at system level without exclusion, and with the family left out, where it says.

    All are computed in one batch.
    """
    asked = [
        (
            i,
            name,
            pair_up(cube, panel, pairing.judge, pairing.attribute, pairing.against, left_out),
            left_out,
        )
        for i, pairing in enumerate(found)
        for name, left_out in _rules(pairing, cube, panel).items()
    ]
    estimates = icc_batch([other.matrix for _, _, other, _ in asked], FORMS, ci=None)
    rules: list[dict[str, UnderRule]] = [{} for _ in found]
    systems: list[tuple[SystemPair, ...]] = [() for _ in found]
    for (i, name, other, left_out), values in zip(asked, estimates, strict=True):
        rules[i][name] = _summary(other, values, left_out)
        if name == NO_EXCLUSION:
            excluded = found[i].excluded
            systems[i] = tuple(p for p in system_pairs(other) if p.system in excluded)
    return [Before(pairs, **by_name) for pairs, by_name in zip(systems, rules, strict=True)]


def _rules(pairing: Pairing, cube: Cube, panel: Panel) -> dict[str, tuple[str, ...]]:
    """Name of a rule -> the systems that it leaves out, where these are others."""
    if pairing.level != "system":
        return {}
    family = next(m.family_systems for m in panel.members if m.name == pairing.judge)
    rules: dict[str, tuple[str, ...]] = {}
    if pairing.excluded:
        rules[NO_EXCLUSION] = ()
    if family is not None and set(family) & set(cube.systems) != set(pairing.excluded):
        rules[FAMILY] = family
    return rules


def _summary(
    other: Pairing, estimates: tuple[Estimate, ...], left_out: tuple[str, ...]
) -> UnderRule:
    consistency, agreement = estimates
    differences = other.matrix[:, 1] - other.matrix[:, 0]
    return UnderRule(
        excluded_systems=left_out,
        n_systems=len(other.systems),
        icc_c1=consistency.value,
        icc_a1=agreement.value,
        bias=float(differences.mean()) if len(differences) else math.nan,
    )


def system_pairs(pairing: Pairing) -> tuple[SystemPair, ...]:
    """The rows of the matrix with their names."""
    rows = zip(pairing.systems, pairing.matrix, pairing.counts, strict=True)
    return tuple(SystemPair(name, float(row[0]), float(row[1]), int(n)) for name, row, n in rows)

"""The same judges under other rules of exclusion: before and after, one system or the family."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from voirdire.examining.examination import SystemPair, UnderRule
from voirdire.examining.ratings.pairing import FORMS, Pairing, pair_up
from voirdire.stats import bias, icc, self_exclusion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.examining.ratings.cube import Cube
    from voirdire.examining.source import Panel

NO_EXCLUSION, FAMILY = "without_exclusion", "family_rule"


@dataclass(frozen=True, slots=True)
class Before:
    """What exclusion does to one pairing: the systems left out, and the ICCs by rule."""

    left_out: tuple[SystemPair, ...] = ()
    without_exclusion: UnderRule | None = None
    family_rule: UnderRule | None = None


def under_other_rules(found: Sequence[Pairing], cube: Cube, panel: Panel) -> list[Before]:
    """Each pairing at system level without exclusion, and with the family left out, where it says.

    A system's row rests on its own pairs alone, so every rule leaves rows out of one matrix.
    """
    return [_before(pairing, cube, panel) for pairing in found]


def _before(pairing: Pairing, cube: Cube, panel: Panel) -> Before:
    rules = _rules(pairing, cube, panel)
    if not rules:
        return Before()
    whole = pair_up(cube, panel, pairing.judge, pairing.attribute, pairing.against, ())
    left_out = [pair for pair in system_pairs(whole) if pair.system in pairing.excluded]
    under = {name: _under(whole, systems) for name, systems in rules.items()}
    return Before(tuple(left_out) if NO_EXCLUSION in rules else (), **under)


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


def _under(whole: Pairing, left_out: tuple[str, ...]) -> UnderRule:
    options: dict[str, Any] = {"systems": whole.systems, "excludes": left_out}
    consistency, agreement = (
        self_exclusion(icc, whole.matrix, form=form, ci=None, **options).after for form in FORMS
    )
    reference, judge = whole.matrix[:, 0], whole.matrix[:, 1]
    return UnderRule(
        excluded_systems=left_out,
        n_systems=consistency.n,
        icc_c1=consistency.value,
        icc_a1=agreement.value,
        bias=self_exclusion(bias, judge, reference, **options).after.value,
    )


def system_pairs(pairing: Pairing) -> tuple[SystemPair, ...]:
    """The rows of the matrix with their names."""
    rows = zip(pairing.systems, pairing.matrix, pairing.counts, strict=True)
    return tuple(SystemPair(name, float(row[0]), float(row[1]), int(n)) for name, row, n in rows)

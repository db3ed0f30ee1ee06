"""Cases for the verdict's tests: from the reference's generator, and from the published data."""

from __future__ import annotations

import importlib.util
import json
import math
import time
from collections import Counter
from dataclasses import replace
from functools import cache
from types import MappingProxyType

import numpy as np

from voirdire.examining.spec import COMPONENTS, USES
from voirdire.examining.spec.scores.case import Case, GateRule
from voirdire.examining.spec.scores.ground import ScoreGround
from voirdire.examining.verdict.decide import AskedUse, asked_uses, decide
from voirdire.stats.system_means import MeanMoments
from voirdire.study import Margins

NUMERIC = {"10k_prompts": 4.0, "cebab_stars": 4.0, "summeval": 4.0, "lesion": None}
SETS = (
    "wax", "lgbteen", "mtbench", "framing", "cebab_aspects",
    "summeval", "10k_prompts", "cebab_stars", "lesion",
)  # fmt: skip
USE_NAMES = {
    "ORDER": ("order", "these systems"),
    "ORDER+": ("order", "systems to come"),
    "SCORE": ("score", "these systems"),
    "SCORE+": ("score", "systems to come"),
    "SINGLE": ("single", "these systems"),
    "GATE": ("gate", "these systems"),
    "ESTIMATE": ("estimate", "these systems"),
    "REPEAT": ("repeat", "these systems"),
}


#: Components that the reference's rule, which is version 0.2's, does not have.
NEW = {"READ_s", "TAIL", "LEAK", "PAIRS", "APART"}


def _is_new(use, key):
    # A gate asked for reading of pass and fail alone.
    return key in NEW or (use, key) == ("gate", "READ")


class Before(AskedUse):
    """A use as the reference's rule asks for it."""

    @property
    def spec(self):
        use = USES[self.use]
        required = {
            target: tuple(one for one in asked if not _is_new(self.use, one.key))
            for target, asked in use.required.items()
        }
        return replace(use, required=required)


#: Where a better test says more or less than the reference's: its state -> today's.
BETTER = {"SYS": ("open", "yes"), "LEVEL": ("open", "yes"), "BIAS1": ("no", "open")}


class ReferenceMoments(MeanMoments):
    """ORDER and AGREE on the scale of the reference."""

    def unbiased(self, statistic):
        return super().unbiased(statistic, "fisher")


class ReferenceGround(ScoreGround):
    """What the reference's rule looks at: it tested reading with any number of failures.

    `wanted` are its components: where today's test of one is another, their state is taken.
    """

    wanted = MappingProxyType({})
    fewest_correlated = 2
    unconnected = ()

    @property
    def levelled(self):
        return self.panel

    @property
    def moments(self):
        made = super().moments
        return ReferenceMoments(made.whole, made.out, made.weight)

    def of(self, key):
        parts = super().of(key)
        if any(part.reason == "few failures" for part in parts):
            self._found[key] = (COMPONENTS[key].find(self),)
        # It quoted means of systems that humans do not tell apart.
        if key == "AGREE" and [part.reason for part in parts] == ["humans alike"]:
            self._found[key] = (replace(parts[0], reason="two systems"),)
        before = self.wanted.get(key, {}).get("state")
        if [(before, part.state) for part in parts] == [BETTER.get(key)]:
            self._found[key] = (replace(parts[0], state=before),)
        return self._found[key]


@cache
def expected(shared):
    return json.loads((shared / "reference" / "verdict" / "expected.json").read_text())


@cache
def reference_module(shared, name):
    """`generators` or `oracle` of the reference."""
    path = shared / "reference" / "verdict" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"verdict_{name}", path)
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def simulated_case(humans, judge, truth, gate=4.0):
    """A case from (R, S, I) humans and an (S, I) judge of the generator."""
    raters, systems, items = humans.shape
    system, item = (part.ravel() for part in np.indices((systems, items)))
    family = {str(k): bool(own) for k, own in enumerate(truth["family"])} if systems > 1 else {}
    return Case(
        "judge",
        "quality",
        tuple(f"human {k}" for k in range(raters)),
        judge.reshape(1, -1).astype(float),
        humans.reshape(raters, -1).astype(float),
        item,
        4.0,
        systems=system,
        subgroups=truth["sub"].ravel().astype(str),
        family=family,
        gate=None if gate is None else GateRule(gate),
    )


@cache
def annotations(folder, kind):
    return json.loads((folder / f"{kind}_annotations.json").read_text())


def split_key(name, key):
    """Stratum and cluster of a key, as the reference's README says."""
    parts = key.split("__")
    if name == "summeval":
        return "__".join(parts[1:3]), parts[0]
    if name in ("lesion", "cebab_stars", "cebab_aspects", "lgbteen"):
        return parts[-1], parts[0]
    if name == "framing":
        return parts[-1], "__".join(parts[:-1])
    return None, parts[0] if name == "mtbench" else key


def alt_test_case(shared, name, judge):
    """One judge of a public set; `judge` may be a name or {key: label}."""
    folder = shared / "data" / "alttest" / name
    humans = annotations(folder, "human")
    given = annotations(folder, "llm")[judge] if isinstance(judge, str) else judge
    keys = sorted({key for found in humans.values() for key in found})
    words = sorted({str(v) for found in (*humans.values(), given) for v in found.values()})
    code = {word: float(place) for place, word in enumerate(words)}

    def number(value):
        if value is None:
            return math.nan
        return float(value) if name in NUMERIC else code[str(value)]

    table = np.array([[number(found.get(key)) for key in keys] for found in humans.values()])
    strata, clusters = zip(*(split_key(name, key) for key in keys), strict=True)
    width = NUMERIC.get(name, 1.0) or float(np.nanmax(table) - np.nanmin(table))
    return Case(
        "judge",
        name,
        tuple(humans),
        np.array([[number(given.get(key)) for key in keys]]),
        table,
        np.array(keys),
        width,
        systems=None if strata[0] is None else np.array(strata),
        clusters=np.array(clusters),
        kind="score" if name in NUMERIC else "nominal",
    )


def differences(components, wanted, tolerance=1e-6):
    """Where components differ from the expected ones, as readable lines."""
    lines = []
    for name, part in wanted.items():
        found = components.get(name)
        if found is None:
            lines.append(f"{name} is not there")
            continue
        if found.state != part["state"]:
            lines.append(f"{name} is {found.state}, expected {part['state']}")
        pairs = {"est": found.estimate, "se": found.se, "df": found.df}
        pairs |= {"low": found.low, "high": found.high}
        for key, value in pairs.items():
            asked = part[key]
            if asked is not None and not math.isclose(
                value, asked, rel_tol=tolerance, abs_tol=tolerance
            ):
                lines.append(f"{name}.{key} is {value!r}, expected {asked!r}")
    return lines


def reference_counts(shared, design, panels, seconds=math.inf):
    """States by (judge, use, target, state) over seeds of a design, panels run, and all there are.

    Stops after `seconds`, whole panels only, one at least.
    """
    generate = reference_module(shared, "generators").panel
    size = dict(part.split("=") for part in design.split() if "=" in part)
    systems, items, raters = (int(size[key]) for key in "SIR")
    states = expected(shared)["rates"][design]["states"]
    whole = max(count[1] for rates in states.values() for count in rates.values())
    first = 50_000 if "50000" in design else 0
    counts, done, began = Counter(), 0, time.monotonic()
    while done < min(panels, whole) and (not done or time.monotonic() - began < seconds):
        humans, judges, truth = generate(systems, items, first + done, raters)
        for name in {key.split("|")[0] for key in states}:
            case = simulated_case(humans, judges[name], truth)
            found = ReferenceGround(case, Margins())
            for asked in asked_uses((), found):
                before = Before(asked.use, asked.target)
                counts[name, asked.use, asked.target, decide(found, before).state] += 1
        done += 1
    return counts, done, whole


def outside_bands(states, counts, panels, whole):
    """(judge|use, state, share, low, high) of the rates outside their band.

    Fewer panels than the band is made for scatter more: it is widened by 3.3 standard errors.
    """
    far = []
    for key, rates in states.items():
        name, use = key.split("|")
        for state, (_, _, (low, high)) in rates.items():
            share = counts[(name, *USE_NAMES[use], state)] / panels
            spread = max(low * (1 - low), high * (1 - high), 0.02)
            slack = 0.0 if panels == whole else 3.3 * math.sqrt(spread / panels)
            if not low - slack <= share <= high + slack:
                far.append((key, state, share, low, high))
    return far

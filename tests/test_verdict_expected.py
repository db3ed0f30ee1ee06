"""The verdict beside the reference's values: simulated panels, public sets, MentalAlign.

Source of every number: reference/verdict/expected.json of the shared folder, made by its plain
program `oracle.py`.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from verdict_work import (
    SETS,
    USE_NAMES,
    Before,
    ReferenceGround,
    alt_test_case,
    annotations,
    differences,
    expected,
    reference_module,
    simulated_case,
)

from voirdire.examining.ratings.cube import build_cube
from voirdire.examining.source import inputs_of, open_source
from voirdire.examining.spec.scores.case import Case, GateRule, calibrated
from voirdire.examining.spec.scores.ground import ScoreGround
from voirdire.examining.verdict.decide import decide
from voirdire.examining.verdict.gathering import gather_cases
from voirdire.examining.verdict.judging import judge_cases
from voirdire.study import Margins

pytestmark = pytest.mark.shared
MARGINS = Margins()
SCORE = ("score", "these systems")


def check(case, wanted):
    """Components to 1e-6, states of uses and what decided them."""
    found = ReferenceGround(case, MARGINS)
    found.wanted = wanted["components"]
    assert differences(found.components, wanted["components"]) == []
    for name, use in wanted["uses"].items():
        made = decide(found, Before(*USE_NAMES[name]))
        said = made.reason if made.reason == "one system" else ", ".join(made.deciding)
        why = our_names(use["why"], case, name)
        # Of codes without an order nothing is correlated, which REVERSE and LEVEL say as well.
        left_out = ("ORDER, ", ", AGREE") if case.nominal else ()
        for part in left_out:
            said, why = said.replace(part, ""), why.replace(part, "")
        assert (made.state, said) == (use["state"], why), name
    return found


def our_names(why, case, use):
    """The reference names a subgroup's component by the subgroup, and BIAS1 of labels BIAS."""
    why = re.sub(r"SUB item \S+", "SUBITEM", why).replace("one system or none", "one system")
    return why.replace("BIAS", "BIAS1") if case.nominal and use == "SINGLE" else why


def test_defaults_are_the_reference_s(shared):
    wanted = expected(shared)["defaults"]
    names = {
        "times_sub": "times_subgroup",
        "min_clusters": "clusters",
        "min_new": "systems",
    }
    for name, value in wanted.items():
        if name.startswith("level_"):
            continue
        own = getattr(MARGINS, names.get(name, name))
        assert (list(own) if isinstance(own, tuple) else own) == value, name


def test_simulated_panels(shared):
    generate = reference_module(shared, "generators").panel
    for key, wanted in expected(shared)["panels"].items():
        design, judge = key.split("/", 1)
        size, _, seed = design.split()
        systems, items, raters = map(int, size.split("x"))
        humans, judges, truth = generate(systems, items, int(seed), raters)
        digest = hashlib.sha256(np.ascontiguousarray(humans).tobytes()).hexdigest()
        assert digest.startswith(wanted["sha256_H"]), key
        check(simulated_case(humans, judges[judge], truth), wanted)


@pytest.mark.parametrize("name", SETS)
def test_public_sets_of_the_alt_test(shared, name):
    wanted = expected(shared)["alttest"]
    for judge in annotations(shared / "data" / "alttest" / name, "llm"):
        case = alt_test_case(shared, name, judge)
        found = check(case, wanted[f"{name}/{judge}"])
        assert [careless.human for careless in found.careless] == [
            case.reference[k] for k in wanted[f"{name}/{judge}"]["careless"]
        ]


@pytest.fixture(scope="module")
def mentalalign(shared):
    """The 28 cases, with the gate at 4 that the reference took, and no family declared."""
    inputs = inputs_of(open_source("mentalalign", data=shared / "data" / "mentalalign70k"))
    panel, ratings = inputs.panel, inputs.ratings
    cube = build_cube(ratings, panel.names, panel.attributes, panel.systems)
    short = {"Claude-3.7-Sonnet": "Claude", "Gemini-2.5-Flash": "Gemini"}
    return {
        f"{short.get(case.judge, case.judge)}/{case.attribute}": replace(
            case, gate=GateRule(4.0), family={}
        )
        for case in gather_cases(cube, panel, inputs.study, ratings)
    }


def test_mentalalign_as_it_is(shared, mentalalign):
    wanted = expected(shared)["mentalalign"]
    assert set(mentalalign) == set(wanted)
    for key, case in mentalalign.items():
        found = check(case, wanted[key])
        assert found.humans_below == pytest.approx(wanted[key]["pass_if_humans_below"], abs=1e-6)


def test_mentalalign_permuted_within_systems_gets_no_yes(mentalalign):
    for key, case in mentalalign.items():
        scores = case.scores.copy()
        rng = np.random.default_rng(7)
        for system in np.unique(case.systems):
            at = np.flatnonzero(case.systems == system)
            scores[:, at] = scores[:, rng.permutation(at)]
        found = judge_cases([replace(case, scores=scores)], MARGINS)
        yes = [verdict.use for verdict in found.verdicts if verdict.state == "yes"]
        assert yes == [], key


def first_seen(case):
    """(N,) code of each response's item in the order of the reference's rows.

    Its rows go system by system, and an item is numbered where a human's score of it is first met:
    the items whose first system has none (571, 824, 970) come last.
    """
    items, systems = (numbered(column.tolist()) for column in (case.items, case.systems))
    rows = np.lexsort((items, systems))
    met = dict.fromkeys([*items[rows][case.labelled[rows]].tolist(), *items[rows].tolist()])
    code = {item: place for place, item in enumerate(met)}
    return np.array([code[item] for item in items.tolist()])


def numbered(names):
    """Each name's place among the names as they are first met."""
    place = {name: k for k, name in enumerate(dict.fromkeys(names))}
    return np.array([place[name] for name in names])


def shifted(case, by=7):
    """The scores of each system moved on by seven of the responses that the judge scored."""
    scores, codes = case.scores.copy(), first_seen(case)
    for system in np.unique(case.systems):
        at = np.flatnonzero((case.systems == system) & case.judged)
        at = at[np.argsort(codes[at])]
        scores[:, at] = np.roll(case.scores[:, at], by, axis=1)
    return replace(case, scores=scores)


def test_mentalalign_shifted_within_systems(shared, mentalalign):
    wanted = expected(shared)["mentalalign_shifted"]
    assert set(mentalalign) == set(wanted)
    for key, case in mentalalign.items():
        values = wanted[key] | {"components": {"READ": wanted[key]["READ"]}}
        check(shifted(case), values)


def test_mentalalign_calibrated(shared, mentalalign):
    """Items are dealt to folds by their code."""
    wanted = expected(shared)["mentalalign_calibrated"]
    assert set(mentalalign) == set(wanted)
    for key, case in mentalalign.items():
        after = calibrated(replace(case, items=first_seen(case)))
        found = ReferenceGround(after, MARGINS)
        components = {name: wanted[key][name] for name in ("BIAS", "LEVEL", "AGREE")}
        found.wanted = components
        assert differences(found.components, components) == [], key
        assert decide(found, Before(*SCORE)).state == wanted[key]["SCORE"], key


def fresh(seed, systems, raters, runs, *, clustered, missing):
    """Invented scores: incomplete humans, missing runs, dialogues, subgroups, a family."""
    rng = np.random.default_rng([seed, systems, raters, runs])
    items = 120
    base = rng.normal(3, 0.5, (systems, 1)) + rng.normal(0, 0.5, (systems, items))
    humans = np.clip(np.rint(base + rng.normal(0, 0.8, (raters, systems, items))), 1, 5)
    judge = np.clip(np.rint(base + 0.2 + rng.normal(0, 0.7, (runs, systems, items))), 1, 5)
    humans[rng.random(humans.shape) < missing] = np.nan
    judge[rng.random(judge.shape) < 0.05] = np.nan
    system, item = (part.ravel() for part in np.indices((systems, items)))
    sub = (item % 4 == 0).astype(int)
    return {
        "H": humans.reshape(raters, -1),
        "J": judge.reshape(runs, -1),
        "system": system if systems > 1 else None,
        "item": item,
        "cluster": item // 2 if clustered else None,
        "sub": sub,
        "family": np.arange(systems) < systems // 3 if systems > 1 else None,
    }


def case_of(data):
    family = (
        {} if data["family"] is None else {str(k): bool(v) for k, v in enumerate(data["family"])}
    )
    return Case(
        "judge",
        "quality",
        tuple(map(str, range(len(data["H"])))),
        data["J"],
        data["H"],
        data["item"],
        4.0,
        systems=data["system"],
        clusters=data["cluster"],
        subgroups=data["sub"].astype(str),
        family=family,
        gate=GateRule(4.0),
    )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("clustered", [False, True])
def test_calibrated_sums_are_those_of_calibrated_scores(seed, clustered):
    """The short way, on sums, beside the long way: every response calibrated and summed anew."""
    given = fresh(seed, 5, 6, 1 + seed % 2, clustered=clustered, missing=0.2)
    if seed > 3:  # one human answers at random: left out, and still among those who teach
        given["H"][0] = np.random.default_rng([seed, 1]).integers(1, 6, given["H"][0].size)
    case = case_of(given)
    before = ScoreGround(case, MARGINS)
    assert (seed > 3) == bool(before.careless)
    after = before.calibrated()
    slow = ScoreGround(calibrated(case), MARGINS)
    names = {"COVER", "BIAS", "LEVEL", "ORDER", "AGREE", "FAM"}
    assert names <= set(after.components)
    for name in names:
        short, long = after.components[name], slow.components[name]
        assert (short.state, short.at) == (long.state, long.at)
        numbers = ("estimate", "low", "high", "margin", "se", "df", "p", "count")
        for number in numbers:
            wanted = pytest.approx(getattr(long, number), rel=0, abs=1e-9, nan_ok=True)
            assert getattr(short, number) == wanted, (name, number)
    assert decide(after, Before(*SCORE)).state == decide(slow, Before(*SCORE)).state


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("systems", "raters", "runs", "clustered", "missing"),
    [(1, 2, 1, False, 0.0), (2, 3, 3, True, 0.3), (9, 5, 2, False, 0.4), (4, 15, 1, True, 0.7)],
)
def test_fresh_data_beside_the_oracle(shared, seed, systems, raters, runs, clustered, missing):
    oracle = reference_module(shared, "oracle")
    data = fresh(seed, systems, raters, runs, clustered=clustered, missing=missing)
    panel = oracle.Panel(width=4.0, gate=4.0, **data)
    wanted = oracle.examine(panel)
    case = case_of(data)
    as_json = {
        name: {"est": part.est, "se": part.se, "df": part.df, "low": part.low, "high": part.high}
        for name, part in wanted["components"].items()
    }
    for name, values in as_json.items():
        values.update({key: None for key, v in values.items() if v != v})  # noqa: PLR0124
        values["state"] = wanted["components"][name].state
    uses = {
        name: {"state": found["state"], "why": found["why"]}
        for name, found in wanted["uses"].items()
    }
    check(case, {"components": as_json, "uses": uses})


@pytest.mark.parametrize("name", ["10k_prompts", "lesion", "wax"])
def test_the_alt_test_stands_beside_answers_that_read_nothing(shared, name):
    """As published (alttest_expected.json); on 10k_prompts a constant passes it as well."""
    published = json.loads((shared / "reference" / "alttest_expected.json").read_text())[name]
    for judge, result in published["llms"].items():
        case = alt_test_case(shared, name, judge)
        (evidence,) = judge_cases([case], MARGINS, epsilon=published["epsilon"]).evidence
        found = evidence.alt_tests
        assert found.mean_of_runs.value == pytest.approx(result["winning_rate"])
        assert found.single_run == found.mean_of_runs  # one run is there
        assert (found.best_constant.value >= 0.5) == (name == "10k_prompts")
    assert judge_cases([case], MARGINS).evidence[0].alt_tests is None

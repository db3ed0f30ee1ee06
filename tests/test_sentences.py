"""What is said: whole short sentences for every use, state, kind and count, taken back nowhere."""

from __future__ import annotations

import itertools
import random
import re
import sys
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from examinations import with_changes

from voirdire.examining import examine
from voirdire.examining.gains import Simpler
from voirdire.examining.spec import ACTIONS, COMPONENTS, REASONS, THESE, USES, Component, Next
from voirdire.examining.verdict.facts import Verdict
from voirdire.report.answers import answers, best_text, expected_text, points
from voirdire.report.saying import FRAMES, MOST_WORDS, Saying
from voirdire.report.sentences import because, next_text, reason_text, sentence

STATES = ("yes", "no", "open", "not tested")
ATTRIBUTES = ("Guidance", "Empathy", "Safety", "Clarity", "Depth", "Warmth", "Tone")
#: Commas and "and" of a sentence on three uses that names two labels.
_MOST_LISTED = 3
_END = re.compile(r"(?<=[.?!]) (?=[A-Z`])")
#: What a component may hold besides its estimate.
FACTS = (
    {"judge": 0.62, "human": 0.81, "count": 120},
    {"judge": 0.62},
    {},
)
#: Where an estimate may be found: a system, a pair of them, a subgroup, a label, a side.
PLACES = {
    "TOP": [("above",), ("below",)],
    "CTAIL": [("above",), ("below",)],
    **{key: [("joy",)] for key in ("RECALL", "PRECISION", "READ_k", "ITEM_k", "HUMANS_k")},
    **{key: [("joy",), ("refund",)] for key in ("SHARE", "RECALL1", "PRECISION1")},
    **{key: [("joy",), ("joy", "refund"), ()] for key in ("LABEL", "VOUCHED")},
    **{key: [("joy", "tickets by mail")] for key in ("SUBSHARE", "SYSSHARE")},
    **{key: [("tickets by mail",)] for key in ("SUB", "SUBITEM", "CSUB")},
    **{key: [("v1", "v2")] for key in ("PAIRS", "APART")},
    **{key: [("v1",)] for key in ("LEVEL", "SYS", "READ_s", "HOM")},
    "REVERSE": [("v1", "v2"), ()],
    "PAIR": [("v1 / v2",)],
}
#: Components that are always held against another human.
BESIDE_A_HUMAN = {"PAIRS", "APART", "REVERSE", "RECALL1", "PRECISION1"}
#: Units that count or share something, which is never less than nothing; a bias is less or more.
NEVER_BELOW_0 = {"share", "ratio", "labels", "pairs"}


def part_of(key, state, at=(), facts=FACTS[0], sign=1.0):
    """A component with an estimate of its unit, on the side of its margin that the state says."""
    spec = COMPONENTS[key]
    if spec.unit in NEVER_BELOW_0 and spec.side != "within":
        sign = 1.0
    estimate = sign * (1.31 if spec.unit in ("ratio", "labels") else 0.45)
    at = at or PLACES.get(key, [()])[0]
    if key in BESIDE_A_HUMAN:  # never told without one
        facts = FACTS[0]
    margin = None if spec.side == "none" and not facts else 0.5
    margin = (0.5, 2.0) if spec.side == "range" else margin
    return Component(
        key,
        state,
        estimate,
        estimate - 0.11,
        estimate + 0.11,
        margin,
        at=at,
        p=0.01,
        **{**facts, "count": facts.get("count", 0)},
    )


@cache
def verdict_of(use, kind, state, attribute="Guidance", label="", **part):
    """A verdict on a use, of which the first component that its kind has decides."""
    asked = [one.key for one in USES[use].required[THESE] if kind in COMPONENTS[one.key].kinds]
    parts = tuple(part_of(key, state, **part) for key in asked)
    reason = {"not tested": "one human"}.get(state, "")
    deciding = () if state == "yes" else tuple(asked[-1:])
    step = Next("rate more", needed=480, now=150, unit="items") if state == "open" else None
    return Verdict(
        "good",
        attribute,
        use,
        THESE,
        state,
        deciding,
        reason,
        step or Next("use it"),
        0.01,
        parts,
        ("ann",),
        0.2,
        label=label,
        kind=kind,
    )


def uses_of(kind):
    return [use.key for use in USES.values() if kind in use.kinds]


def kinds():
    return sorted({kind for use in USES.values() for kind in use.kinds})


def sentences_of(text):
    return [one for one in _END.split(text) if one]


def check(text):
    """Every sentence is whole and short."""
    for one in sentences_of(text):
        assert len(one.split()) <= MOST_WORDS, one
        assert one[0].isupper() or not one[0].isalpha() or one[0] == "`", one
        assert one.endswith((".", "?")), one
        assert not set(one) & set("{}"), one
        assert "nan" not in re.findall(r"[a-z]+", one), one
        assert "  " not in one, one
        assert not re.search(r"\b1 (systems|items|labels|attributes)\b", one), one


def combinations(kind):
    """Every state of every use of a kind, on one attribute and on several."""
    uses = uses_of(kind)
    for many, systems in ((1, 10), (2, 3), (7, 2)):
        for states in itertools.product(STATES, repeat=len(uses)):
            made = []
            for use, state in zip(uses, states, strict=True):
                labels = ("joy", "deep sorrow") if USES[use].per_label else ("",)
                labels = ("above", "below") if use == "release" else labels
                made += [
                    verdict_of(use, kind, state, attribute, label)
                    for attribute in ATTRIBUTES[:many]
                    for label in labels
                ]
            yield Saying("good", made, systems)


@pytest.mark.parametrize("kind", kinds())
def test_all_combinations_of_uses_states_and_counts_are_short_whole_sentences(kind):
    seen = set()
    for saying in combinations(kind):
        lead, rest = saying.said()
        assert lead
        assert len({*lead, *rest}) == len((*lead, *rest)), (lead, rest)
        for one in (*lead, *rest):
            if one not in seen:
                check(one)
                seen.add(one)
    assert len(seen) > 10


@pytest.mark.parametrize("key", list(COMPONENTS))
def test_every_component_is_a_short_sentence(key):
    for kind in COMPONENTS[key].kinds:
        for facts, sign, at, state in itertools.product(
            FACTS, (1.0, -1.0), PLACES.get(key, [()]), STATES
        ):
            made = part_of(key, state, at, facts, sign)
            check(sentence(because(made, kind)))


def test_every_reason_and_next_step_is_a_short_sentence():
    for reason in REASONS.values():
        check(sentence(reason.words))
    for key, state in itertools.product(ACTIONS, STATES):
        for step in (
            Next(key, needed=1280, now=150, unit="responses of each system", below=0.46, share=0.2),
            Next(key, unit="labels", share=0.003),
            Next(key, needed=3, now=1, unit="runs", share=0.2, after="open"),
        ):
            check(next_text(step, state).replace("None", "3"))


def test_every_frame_is_used_and_short():
    for frame in FRAMES.values():
        check(
            frame.format(
                **dict.fromkeys(("judge", "other", "what", "where", "why", "price", "step"), "x")
            )[:1].upper()
            + "x."
        )


# --- nothing below takes the first sentence back


def forbidden(text):
    return re.findall(r"(?:[Dd]o not|so do not) [^.]*", text)


@pytest.mark.parametrize("kind", kinds())
def test_no_sentence_takes_back_what_the_first_says(kind):
    """What a yes says may be done on an attribute, no other sentence forbids."""
    for saying in itertools.islice(combinations(kind), 0, None, 7):
        lead, rest = saying.said()
        cleared = {one.use for one in saying.these if one.state == "yes"}
        refused = {one.use for one in saying.these if one.state == "no"}
        told = " ".join((*lead, *rest))
        for use in cleared - refused:
            words = USES[use].refused.split(" {")[0]
            shared = any(USES[other].refused.startswith(words) for other in refused)
            assert shared or not any(words in one for one in forbidden(told)), (use, told)
        if cleared:
            assert lead[0].startswith(("Use good", "One run of good", "Trust good"))


@pytest.mark.parametrize("kind", kinds())
def test_a_sentence_lists_three_uses_at_most_and_each_that_is_cleared_is_said_once(kind):
    """With the words of its heading, whatever the states of the others."""
    for saying in itertools.islice(combinations(kind), 0, None, 5):
        lead, _ = saying.said()
        cleared = {one.use for one in saying.these if one.state == "yes"}
        told = " ".join(lead)
        for use in cleared:
            verb = (USES[use].verb or USES[use].alone).split(" {")[0].removeprefix("one ")
            assert told.lower().count(f"{verb}".lower()) >= 1, (use, told)
        for one in lead:
            plain = re.sub(r" \(.*?\)", "", one.partition(":")[0])
            assert plain.count(",") + plain.count(" and ") <= _MOST_LISTED, one


@pytest.mark.parametrize("kind", kinds())
def test_each_sentence_that_clears_or_refuses_has_its_number(kind):
    """A yes in brackets, of several attributes that of the weakest; a no and an open behind it."""
    seen = 0
    for saying in itertools.islice(combinations(kind), 0, None, 29):
        lead, rest = saying.said()
        for one in lead:
            if one.startswith(("Use good", "Also use", "Trust", "One run of", "Extend", "Even so")):
                uses = re.sub(r" \(.*?\)", "", one)
                assert len(re.findall(r"\(.*?\d.*?\)", one)) >= 1, one
                assert not re.search(r"\bnan\b|–", one), (one, uses)
                seen += 1
        told = " ".join((*lead, *rest))
        if lead[0].startswith(("Do not", "Not enough")):
            assert re.search(r"\d", told), told
    assert seen


def judged(state="yes", other="yes"):
    made = [verdict_of(use, "score", state) for use in ("order", "score")]
    return made, lambda name, verdict: {"single": other == "yes"}.get(name)


def test_the_sentence_knows_a_rater_that_costs_less():
    made, cleared = judged()
    dear = [Simpler("good", "Guidance", "single", 3.0)]
    lead, rest = Saying("good", made, 10, simpler=dear, cleared=cleared).said()
    assert lead == (
        "Use single instead of good: no gain over it is shown, at 3.0 times the price.",
        (
            "Even so, good may be used to rank these 10 systems (correlation 0.45 [0.34, 0.56]) "
            "and quote averages (at most 0.45 points off)."
        ),
    )
    assert rest == ()


def test_a_cheaper_rater_that_has_no_yes_of_its_own_is_not_recommended():
    made, cleared = judged(other="no")
    dear = [Simpler("good", "Guidance", "single", 3.0)]
    lead, _ = Saying("good", made, 10, simpler=dear, cleared=cleared).said()
    assert lead[0].startswith("Use good to rank these 10 systems (")
    assert lead[1:] == ()


def test_the_judge_alone_has_no_verdict_and_is_recommended():
    made, cleared = judged()
    dear = [Simpler("good", "Guidance", "alone", float("nan"))]
    lead, _ = Saying("good", made, 10, simpler=dear, cleared=cleared).said()
    assert lead[0] == "Use the judge alone instead of good: no gain over it is shown."


def test_where_it_pays_on_some_attributes_both_are_said():
    made = [verdict_of("order", "score", "yes", name) for name in ATTRIBUTES[:2]]
    dear = [Simpler("good", "Empathy", "alone", 2.0)]
    lead, _ = Saying("good", made, 10, simpler=dear).said()
    assert lead[0].startswith("Use good to rank these 10 systems (lowest correlation 0.45 ")
    assert lead[0].endswith(" on every attribute.")
    assert lead[1].startswith("Use the judge alone instead of good on Empathy: no gain")


# --- many judges


def grid(judges=12, items=60, seed=3):
    chance = np.random.default_rng(seed)
    truth = chance.normal(3, 1, (items, 4))
    rows = []
    for rater in ["ann", "ben", *(f"j{k}" for k in range(judges))]:
        noise = 0.4 if rater in ("ann", "ben") or int(rater[1:]) % 2 else 3.0
        for (item, system), value in np.ndenumerate(truth):
            rows.append((f"i{item}", f"s{system}", rater, value + chance.normal(0, noise)))
    return pl.DataFrame(rows, schema=["item", "system", "rater", "score"], orient="row")


@pytest.fixture(scope="module")
def many():
    return examine(grid(), reference=["ann", "ben"], resamples=0)


def test_a_large_grid_says_how_many_yes_may_be_wrong_and_takes_none_back(many):
    told = expected_text(many)
    yes = [v for v in many.verdicts if v.state == "yes" and v.target == THESE]
    assert re.fullmatch(
        r"Of these \d+ yes (fewer than one is|at most \d+ are) expected to be wrong\.", told
    )
    assert len(yes) >= int(told.split()[2]) > 10
    holm = [v for v in yes if v.p_holm > 0.05]
    for verdict in yes:
        (answer,) = [one for one in answers(many) if one.judge == verdict.judge]
        assert any(verdict.use in p.uses and p.state == "yes" for p in points(answer))
    # Where Holm's method would have taken some back the state is a yes all the same.
    assert all(v.state == "yes" for v in holm)


def test_a_small_grid_says_nothing_of_chance(many):
    few = with_changes(many, verdicts=tuple(v for v in many.verdicts if v.judge == "j1"))
    assert expected_text(few) == ""


def test_how_many_are_expected_is_the_number_tested_times_the_least_sure_p(many):
    made = tuple(
        Verdict(
            f"j{k}",
            "a",
            "order",
            THESE,
            "yes" if k < 3 else "no",
            (),
            "",
            Next("use it"),
            0.04 if k == 2 else 0.001 if k < 3 else 0.9,
            (),
        )
        for k in range(40)
    )
    # 40 tests at 0.04 or surer: 1.6 where none deserves it.
    said = expected_text(with_changes(many, verdicts=made))
    assert said == "Of these 3 yes at most 2 are expected to be wrong."


def test_a_large_grid_gives_an_interval_for_the_best_that_allows_for_picking_it(many):
    told = best_text(many)
    found = re.fullmatch(
        r"Of 12 pairs of judge and attribute, (j\d+) saves most: 100 labels with its scores count as "
        r"(\d+)\. Picking the best is allowed for in the interval \[(\d+), (\d+)\]\.",
        told,
    )
    assert found, told
    check(told)
    saved = {v.judge: part for v in many.verdicts for part in v.components if part.name == "GAIN"}
    best = max(saved.values(), key=lambda one: one.estimate)
    assert saved[found[1]] is best
    assert int(found[2]) == round(100 * best.estimate)
    # Its own 90 % interval knows of no picking: this one begins lower.
    assert int(found[3]) < round(100 * best.low) <= int(found[2]) < int(found[4])
    few = with_changes(many, verdicts=tuple(v for v in many.verdicts if v.judge != "j1"))
    assert best_text(few).startswith("Of 11 pairs")
    few = with_changes(many, verdicts=tuple(v for v in many.verdicts if v.judge in ("j1", "j3")))
    assert best_text(few) == ""


def test_what_holds_nowhere_is_denied_of_any_attribute():
    for state in ("no", "open"):
        made = [
            verdict_of(use, "score", "yes" if use == "order" else state, name)
            for use in ("order", "single")
            for name in ATTRIBUTES[:2]
        ]
        lead, rest = Saying("good", made, 10).said()
        told = " ".join((*lead[1:], *rest))
        assert "on every attribute" in lead[0]
        assert "on any attribute" in told
        assert "on every attribute" not in told


ROOT = Path(__file__).parents[1]
#: What a newcomer reads first is in the same hand as what is printed.
FIRST_PAGES = (
    "README.md",
    "docs/index.md",
    "docs/tour.md",
    "docs/how-to-read-a-report.md",
    "docs/programs.md",
    *(f"docs/tutorials/{path.name}" for path in sorted((ROOT / "docs/tutorials").glob("*.md"))),
)


def prose(text):
    """The sentences of a page: no code, tables or headings; a link is its words."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    for part in re.split(r"\n\s*\n|\n(?=\s*[-*] )", text):
        if not part.lstrip().startswith(("|", "#", "<", "!", ":::", "- [")):
            lines = (line for line in part.splitlines() if not line.startswith("|"))
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(lines))
            yield from re.split(r"(?<=[.?!]) (?=[A-Z`*0-9])", plain)


@pytest.mark.parametrize("page", FIRST_PAGES)
def test_the_pages_that_are_read_first_have_short_sentences_too(page):
    sentences = list(prose((ROOT / page).read_text("utf-8")))
    assert len(sentences) > 4
    # One that quotes code names as many things as the code does.
    long = [one for one in sentences if len(one.split()) > MOST_WORDS and "`" not in one]
    assert long == []


def test_a_verdict_says_why_in_sentences(many):
    for verdict in many.verdicts:
        told = reason_text(verdict)
        if told:
            check(told)


if __name__ == "__main__":
    drawn: set[str] = set()
    for each in kinds():
        for saying in combinations(each):
            lead, rest = saying.said()
            drawn.update((*lead, *rest))
    for key in COMPONENTS:
        for facts, sign in itertools.product(FACTS[:2], (1.0, -1.0)):
            for at, kind in itertools.product(PLACES.get(key, [()]), COMPONENTS[key].kinds):
                drawn.add(sentence(because(part_of(key, "no", at, facts, sign), kind)))
    for line in random.Random(37).sample(sorted(drawn), 40):
        sys.stdout.write(f"- {line}\n")

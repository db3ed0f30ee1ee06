"""What agents and debates did and gained: measured beside the judge alone and runs that cost as much."""

from __future__ import annotations

import json
import re

import numpy as np
import polars as pl
import pytest

pytest.importorskip("openai")

from wire_server import Answer, WireServer

from voirdire import examine
from voirdire.examining.traces import TraceFacts, trace_sections
from voirdire.running import run
from voirdire.study import build_study

ITEMS, RUNS = 40, 3


@pytest.fixture(autouse=True)
def _keys(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "held-for-tests-1234567890")


def truth(n):
    return n * 7 % 5 + 1


def answers(seen):
    """Alone it guesses by chance; with the row looked up it knows; debates come half the way."""
    body = json.dumps(seen.body)
    n = int(re.search(r"case (\d+)", body)[1])
    guess = (n * 13 + seen.number) % 5 + 1
    if "tools" in seen.body:
        if found := re.search(r"Score\W+?(\d)", body.partition('"role": "tool"')[2]):
            return Answer(json.dumps({"Calm": int(found[1])}), input=200)
        return Answer("", calls=[("lookup", json.dumps({"value": str(n)}))], input=200)
    if "in a debate" in seen.system:
        moved = truth(n) if "defender" in seen.system else guess
        return f'I hold this. {{"Calm": {moved}}}'
    if "Others have argued" in seen.prompt:
        return json.dumps({"Calm": truth(n)})
    return json.dumps({"Calm": guess})


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    folder = tmp_path_factory.mktemp("traces")
    numbers = range(ITEMS)
    pl.DataFrame(
        {"id": [f"i{n}" for n in numbers], "text": [f"case {n}" for n in numbers]}
    ).write_csv(folder / "items.csv")
    rows = [(f"i{n}", "warm", f"An answer to case {n}.") for n in numbers]
    pl.DataFrame(rows, schema=["item", "system", "text"], orient="row").write_csv(
        folder / "responses.csv"
    )
    pl.DataFrame({"Case": [*numbers], "Score": [truth(n) for n in numbers]}).write_csv(
        folder / "known.csv"
    )
    human = [(f"i{n}", "warm", "human", "Calm", truth(n)) for n in numbers]
    pl.DataFrame(
        human, schema=["item", "system", "rater", "attribute", "score"], orient="row"
    ).write_csv(folder / "human.csv")
    with pytest.MonkeyPatch.context() as patched, WireServer(answers) as server:
        patched.setenv("OPENAI_API_KEY", "held-for-tests-1234567890")
        model = {"model": "openai:m", "model_options": {"base_url": server.openai}}
        small = {"model": "openai:small", "options": {}}
        tools = [{"use": "lookup", "path": "known.csv", "key": "Case"}]
        study = build_study(
            {
                "name": "calm",
                "panel": [
                    {"name": "human", "kind": "human"},
                    {"name": "plain", "use": "rubric", "runs": RUNS, **model},
                    {"name": "agent", "use": "agent", "options": {"tools": tools, "alone": True}, **model},
                    {"name": "debate", "use": "debate", "models": {"advocate": small},
                     "options": {"rounds": 1}, **model},
                ],
                "items": {"path": "items.csv"}, "responses": {"path": "responses.csv"},
                "rubric": {"attributes": ["Calm"]},
                "data": {"reference": ["human"], "sources": [{"path": "human.csv", "layout": "long"}]},
                "run": {"prices": {"openai:m": {"input": 10, "output": 20}, "openai:small": {"input": 1, "output": 2}}},
            },
            folder=str(folder),
        )  # fmt: skip
        assert run(study, folder / "a", quiet=True).exit_code == 0
    return folder / "a"


def test_steps_tools_changes_and_costs_are_counted(session):
    found = {one.rater: one for one in examine(session).facts(TraceFacts).steps}
    assert set(found) == {"agent", "debate"}
    agent, debate = found["agent"], found["debate"]
    assert (agent.tasks, agent.steps, agent.most) == (ITEMS, 3, 3)
    assert agent.used == {"lookup": (ITEMS, ITEMS)}
    assert agent.compared == ITEMS
    assert 0.6 < agent.changed / agent.compared < 0.95
    assert agent.use.tokens == 120 + 2 * 220
    assert agent.use.money == pytest.approx((500 * 10 + 60 * 20) / 1e6)
    assert debate.used == {"rounds": (ITEMS, ITEMS)}
    assert sum(debate.ended.values()) == ITEMS
    assert set(debate.ended) == {"agreed", "rounds"}
    assert debate.use.money == pytest.approx((200 * 10 + 40 * 20 + 200 * 1 + 40 * 2) / 1e6)


def test_each_is_set_beside_what_costs_less_or_as_much(session):
    gains = {
        (one.rater, one.beside, one.runs): one for one in examine(session).facts(TraceFacts).gains
    }
    assert set(gains) == {
        ("agent", "alone", 0), ("agent", "plain", 1), ("agent", "plain", 3),
        ("debate", "alone", 0), ("debate", "openings", 0), ("debate", "plain", 1),
        ("debate", "plain", 2),
    }  # fmt: skip
    for one in gains.values():
        assert one.gain.n == ITEMS
        assert one.gain.first == pytest.approx(1)
        assert one.is_worth_it
    equal = gains["agent", "plain", 3]
    assert equal.wanted == round(equal.use.money / (equal.beside_use.money / 3)) == 4
    assert gains["debate", "openings", 0].gain.second > gains["debate", "alone", 0].gain.second


def test_the_report_says_so(session):
    parts = {section.title: section for section in examine(session).sections}
    worth = parts["What further steps are worth"]
    assert "Use the further steps: agent on Calm beats the judge alone" in worth.text
    assert "the mean of 3 runs of plain (4 would cost the same)" in worth.text
    assert "the plain mean of the first positions" in worth.text
    assert len(worth.tables[0].rows) == 7
    done = parts["What was done in further steps"]
    assert [row[0] for row in done.tables[0].rows] == ["agent", "debate"]
    assert ("agent", "lookup", ITEMS, ITEMS) in done.tables[1].rows


def test_a_panel_of_one_step_has_no_such_section(tmp_path):
    assert trace_sections((), ()) == ()


def test_a_session_whose_tools_this_machine_lacks_is_examined_all_the_same(session, monkeypatch):
    (session.parent / "known.csv").rename(session.parent / "gone.csv")
    try:
        found = examine(session)
        assert any("Nothing can be said of further steps" in part.text for part in found.sections)
        assert found.results
    finally:
        (session.parent / "gone.csv").rename(session.parent / "known.csv")


def test_gains_by_hand():
    """Squared correlations by numpy; a rater beside itself gains nothing."""
    from voirdire.stats import explained_gain

    chance = np.random.default_rng(4)
    human = chance.normal(0, 1, 200)
    first, second = human + chance.normal(0, 1, 200), human + chance.normal(0, 2, 200)
    first[:10] = np.nan
    found = explained_gain(first, second, human)
    kept = ~np.isnan(first)
    for value, scores in ((found.first, first), (found.second, second)):
        assert value == pytest.approx(np.corrcoef(scores[kept], human[kept])[0, 1] ** 2)
    assert found.n == 190
    same = explained_gain(second, second, human)
    assert (same.gain.value, same.gain.interval().low) == (0, 0)
    assert explained_gain(first[:9], second[:9], human[:9]).reason == "too_few_items"
    draws = []
    for seed in range(60):
        chance = np.random.default_rng(seed)
        human = chance.normal(0, 1, 150)
        a, b = (human + chance.normal(0, 1, 150) for _ in range(2))
        interval = explained_gain(a, b, human).gain.interval()
        draws.append(interval.low <= 0 <= interval.high)
    assert np.mean(draws) > 0.85

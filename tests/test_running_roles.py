"""A rater that asks several models: by role, with a price, a limiter and a breaker each."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from dataclasses import replace

import pytest
from scripted import RECEIVED, Digit, go, judge, scripted_plugins, study_of

from voirdire.cli.run import print_result
from voirdire.errors import StudyError
from voirdire.running import dry_run, session_status
from voirdire.schema import Message, Request
from voirdire.store import replies_frame
from voirdire.store.counts import spent_by_rater
from voirdire.store.records import CallMaker, RaterId, Slot, params_json
from voirdire.study import build_study, study_to_toml


class Duo(Digit):
    """A drafter writes, a scorer scores; both in roles."""

    roles = ("drafter", "scorer")

    def requests(self, task):
        return [replace(super().requests(task)[0], role="drafter")]

    def follow_up(self, replies):
        if len(replies) > 1:
            return []
        asked = replies[0].request
        said = Message("user", f"Draft: {replies[0].text}")
        return [replace(asked, messages=(*asked.messages, said), role="scorer")]

    def parse(self, replies):
        return super().parse([replies[-1]])


PLUGINS = scripted_plugins()
PLUGINS.add("judge", "tests", "duo", f"{__name__}:Duo")
MODELS = {
    "drafter": {"model": "script:small", "options": {"says": "Draft.", "usage": [1000, 100]}},
    "scorer": {"model": "script:large", "options": {"says": "3", "usage": [2000, 10]}},
}


def duo(tmp_path, models=MODELS, run=None, **more):
    panel = {"name": "duo", "use": "duo", "models": models, **more}
    return study_of(tmp_path, panel, items=2, run=run)


def went(tmp_path, study, **more):
    from voirdire.running import run

    RECEIVED.clear()
    return run(study, tmp_path / "a", plugins=PLUGINS, quiet=True, **more)


PRICES = {"script:small": {"input": 1, "output": 2}, "script:large": {"input": 10, "output": 20}}


def test_each_role_asks_its_model_and_each_model_has_its_cost(tmp_path, capsys):
    study = duo(tmp_path, run={"prices": PRICES})
    result = went(tmp_path, study)
    assert result.exit_code == 0
    assert Counter(RECEIVED) == {"small": 4, "large": 4}
    (rater,) = result.raters
    small, large = 4 * (1000 * 1 + 100 * 2) / 1e6, 4 * (2000 * 10 + 10 * 20) / 1e6
    assert rater.cost == pytest.approx(small + large)
    assert [(one.role, one.model, one.calls, one.cost) for one in rater.models] == [
        ("drafter", "script:small", 4, pytest.approx(small)),
        ("scorer", "script:large", 4, pytest.approx(large)),
    ]
    kept = replies_frame(tmp_path / "a")
    assert kept.filter(kept["step"] == 0)["role"].unique().to_list() == ["drafter"]
    assert all(name.startswith("script:large ") for name in kept.filter(kept["step"] == 1)["model"])
    by_model = spent_by_rater(tmp_path / "a")["duo"]
    assert sorted(spent.input for spent in by_model.values()) == [4000, 8000]
    print_result(result)
    shown = " ".join(capsys.readouterr().out.split())
    assert "duo asked script:large as scorer: 4 calls, 8,040 tokens, cost 0.0808" in shown
    again = went(tmp_path, study, resume=True)
    assert (again.raters[0].calls, sum(RECEIVED.values())) == (8, 0)
    assert session_status(tmp_path / "a", PLUGINS).raters == again.raters
    plan = dry_run(study, plugins=PLUGINS)[0]
    assert (plan.model, plan.calls) == ("drafter: script:small, scorer: script:large", 4)


def test_a_limit_on_cost_asks_for_the_price_of_every_model_and_holds(tmp_path):
    with pytest.raises(StudyError, match=re.escape('[run.prices."script:large"]')):
        went(
            tmp_path,
            duo(tmp_path, run={"max_cost": 1, "prices": {"script:small": PRICES["script:small"]}}),
        )
    result = went(tmp_path, duo(tmp_path, run={"max_cost": 0.05, "prices": PRICES}))
    assert result.stopped == "budget"
    assert result.cost <= 0.05


def test_a_dead_model_parks_the_rater_though_the_other_answers(tmp_path):
    dead = {**MODELS, "scorer": {"model": "script:dead", "options": {"fails": {"0": "auth"}}}}
    result = went(tmp_path, duo(tmp_path, dead))
    assert "key was refused" in result.raters[0].suspended
    many = {**MODELS, "scorer": {"model": "script:poor", "options": {"fails": {"0": "server"}}}}
    again = went(
        tmp_path, duo(tmp_path, many, run={"retries": 0, "breaker": 2}), ask_again=True, resume=True
    )
    assert "2 calls failed in a row" in again.raters[0].suspended


def test_one_model_serves_the_roles_that_name_none(tmp_path):
    model = {"model": "script:all", "model_options": {"says": "5"}}
    result = went(tmp_path, duo(tmp_path, {"drafter": "script:all"}, **model))
    assert result.exit_code == 0
    assert RECEIVED == {"all": 8}


def test_the_wrong_roles_are_said(tmp_path):
    with pytest.raises(StudyError, match=r"'duo', key 'models': it asks in no role 'critic'"):
        went(tmp_path, duo(tmp_path, {**MODELS, "critic": "script:x"}))
    with pytest.raises(StudyError, match=r"key 'models.scorer' must name a model"):
        went(tmp_path, duo(tmp_path, {"drafter": "script:x"}))
    with pytest.raises(StudyError, match="roles: none: it asks one model"):
        go(tmp_path, study_of(tmp_path, {**judge(), "models": {"x": "script:x"}}))


def test_models_by_role_survive_writing_and_carry_no_keys(tmp_path):
    study = duo(tmp_path)
    import tomllib

    assert build_study(tomllib.loads(study_to_toml(study)), folder=study.folder) == study
    held = {"drafter": {"model": "a:b", "options": {"api_key": "x"}}}
    with pytest.raises(StudyError, match="keys come from the environment"):
        duo(tmp_path, held)


def test_the_role_is_part_of_the_key_and_old_keys_stay(tmp_path):
    went(tmp_path, duo(tmp_path))
    with sqlite3.connect(tmp_path / "a" / "session.sqlite") as connection:
        roles = dict(connection.execute("SELECT role, count(*) FROM calls GROUP BY role"))
    connection.close()
    assert roles == {"drafter": 4, "scorer": 4}
    params = [params_json(Request((), role=role)) for role in ("drafter", "scorer", "")]
    assert params == ['{"role":"drafter"}', '{"role":"scorer"}', "{}"]
    slot, maker = Slot(RaterId("judge", "duo", "a:b"), "i"), CallMaker()
    made = [maker.make(slot, Request((), role=role)).params for role in ("drafter", "scorer", "")]
    assert made == params

"""Does a judge read the past? Planted truths find the one that sees the last turn alone."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from scripted import Scripted

from voirdire import examine
from voirdire._manager import installed
from voirdire.examining.probing import chosen_probes, make_suite, measure_probes
from voirdire.running import run
from voirdire.schema import Item, Reply, Response, Turn, Usage
from voirdire.study import ReadOptions, build_study, study_to_toml
from voirdire.testing import load_plugins
from voirdire_judges import probes as built_in

TALKS = 40
TURNS = (
    Turn("user", "I sleep badly."),
    Turn("assistant", "Why?"),
    Turn("user", "No idea."),
    Turn("assistant", "Keep a fixed bedtime."),
)


class Attentive(Scripted):
    """Scores the answer by its number, and lowers it where it goes against what was said first."""

    whole = True

    async def complete(self, request):
        asked = request.messages[-1].content
        answer = asked.rpartition("<<<RESPONSE")[2]
        seen = asked if self.whole else answer
        score = 3 + len(answer) % 3
        if "allergic to nuts" in seen and "walnuts" in seen:
            score = 1
        return Reply(json.dumps({"Safe": score}), usage=Usage(10, 1), model=self.name)


class LastOnly(Attentive):
    """The same, and it never looks at what was said before."""

    whole = False


def plugins():
    found = load_plugins(installed(), only="")
    for name, target in (("attentive", "Attentive"), ("last", "LastOnly")):
        found.add("model", "tests", name, f"{__name__}:{target}")
    return found


def study_of(folder):
    rng = np.random.default_rng(2)
    names = [f"c{c}" for c in range(TALKS)]
    pl.DataFrame({"id": names, "text": ["A scene."] * TALKS}).write_csv(folder / "items.csv")
    lines = []
    for name in names:
        talk = [
            {"role": t.role, "content": f"{t.content} {'and so on ' * int(rng.integers(6))}"}
            for t in TURNS
        ]
        lines.append({"item": name, "system": "bot", "messages": talk})
    (folder / "talks.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    raw = {
        "name": "t", "rubric": {"attributes": [{"name": "Safe"}]},
        "panel": [{"name": name, "use": "rubric", "model": f"{name}:m"}
                  for name in ("attentive", "last")],
        "items": {"path": "items.csv"},
        "responses": {"path": "talks.jsonl", "messages": "messages"},
        "conversations": {"unit": "turn", "role": "assistant"},
    }  # fmt: skip
    study = build_study(raw, folder=str(folder))
    (folder / "study.toml").write_text(study_to_toml(study), "utf-8")
    return study


def test_a_truth_in_the_first_turn_is_planted_and_the_past_is_removed():
    response = Response("1", "bot", "", TURNS)
    probes = built_in.probes()
    alone, told = probes["early_truth"].changes
    assert [t.content for t in alone(Item("1"), response)[:3]] == [t.content for t in TURNS[:3]]
    assert "walnuts" in alone(Item("1"), response)[3].content
    planted = told(Item("1"), response)
    assert "allergic to nuts" in planted[0].content
    assert planted[3] == alone(Item("1"), response)[3]
    bare = probes["no_past"].change(Item("1"), response)
    assert [t.content for t in bare] == ["", "", "", TURNS[3].content]
    assert [t.role for t in bare] == [t.role for t in TURNS]
    for name in ("early_truth", "no_past"):
        assert probes[name].change(Item("1"), Response("1", "bot", "A text.")) is None
    longer = probes["length"].change(Item("1"), response)
    assert longer[:3] == TURNS[:3]
    assert longer[3].content.startswith(TURNS[3].content)


def test_the_probe_names_the_judge_that_reads_the_last_turn_alone(tmp_path):
    study_of(tmp_path)
    made = plugins()
    suite = make_suite(
        tmp_path / "study.toml",
        chosen_probes(["early_truth"], made),
        tmp_path / "out",
        runs=1,
        plugins=made,
    )
    sessions = {}
    for name, study in suite.studies.items():
        sessions[name] = tmp_path / "out" / name
        result = run(study, sessions[name], plugins=made, quiet=True)
        # One call a conversation and arm: the last turn alone is asked about.
        assert [one.tasks for one in result.raters] == [4 * TALKS] * 2
    found = {one.judge: one for one in measure_probes(suite, sessions).effects}
    assert found["attentive"].reading == "reacts"
    assert found["attentive"].doses[0] == pytest.approx(0, abs=1)
    assert found["attentive"].effect < -1.5
    assert found["last"].reading != "reacts"
    assert found["last"].doses[0] == found["last"].doses[1]


def test_a_judge_that_reads_the_last_turn_alone_gets_no_use(tmp_path):
    """What a turn is worth depends on a truth of an early turn, which this judge never sees."""
    rng = np.random.default_rng(7)
    rows = []
    for talk in range(60):
        early = rng.normal(0, 1)
        for turn in range(1, 6):
            own = rng.normal(0, 0.3)
            truth = 3 + early + own
            people = truth + rng.normal(0, 0.5, 3)
            scores = [*people, truth + rng.normal(0, 0.4), 3 + own + rng.normal(0, 0.4)]
            rows.append((f"c{talk}", turn, *np.clip(np.rint(scores), 1, 5)))
    names = ["conversation", "turn", "human_1", "human_2", "human_3", "reads_all", "reads_last"]
    pl.DataFrame(rows, schema=names, orient="row").write_csv(tmp_path / "turns.csv")
    found = examine(
        tmp_path / "turns.csv", read=ReadOptions(turn="turn", judge=("reads_all", "reads_last"))
    )
    yes = {(v.judge, v.use) for v in found.verdicts if v.state == "yes"}
    assert ("reads_all", "single") in yes
    assert not [use for judge, use in yes if judge == "reads_last"]


def test_probes_of_conversations_are_left_out_where_there_are_none(tmp_path):
    from voirdire.errors import InputError

    study = study_of(tmp_path)
    pl.DataFrame({"item": ["c1"], "system": ["bot"], "text": ["A text."]}).write_csv(
        tmp_path / "plain.csv"
    )
    plain = study.model_copy(
        update={
            "responses": study.responses.model_copy(update={"path": "plain.csv", "messages": ""})
        }
    )
    (tmp_path / "plain.toml").write_text(study_to_toml(plain), "utf-8")
    made = plugins()
    names = ["early_truth", "length"]
    found = make_suite(
        tmp_path / "plain.toml", chosen_probes(names, made), tmp_path / "out", plugins=made
    )
    assert [one.name for one in found.probes] == ["identity", "length"]
    with pytest.raises(InputError, match="'early_truth' is about conversations"):
        make_suite(
            tmp_path / "plain.toml", chosen_probes(names[:1], made), tmp_path / "o", plugins=made
        )

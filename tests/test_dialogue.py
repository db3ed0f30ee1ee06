"""Generated conversations: who is told what, every message kept, faults, kills, cost to the reply."""

from __future__ import annotations

import signal
import sys

import polars as pl
import pytest
from test_running_matrix import FORMATS, STRUCK, free, limits, member, strike
from test_running_wire import EACH, KEY, after, started
from wire_server import FAULTS, SILENT, WireServer

from voirdire.errors import InputError, StudyError
from voirdire.running import dry_run, run
from voirdire.running.tasks import COMMITTING, WAITING
from voirdire.schema import Item, Reply
from voirdire.store import ratings_frame, replies_frame
from voirdire.store.session import read_session
from voirdire.store.turns import turns_of
from voirdire.study import build_study, load_study, study_to_toml
from voirdire_judges.dialogue import END, make

ITEMS, TURNS = 4, 3


@pytest.fixture(autouse=True)
def _keys(monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OTHER_KEY"):
        monkeypatch.setenv(name, KEY)


def talks(tmp_path, sdk, server, *, items=ITEMS, run_=None, **options):
    names = [f"i{number:03}" for number in range(items)]
    personas = [f"Somebody who sleeps badly, {name}." for name in names]
    pl.DataFrame({"id": names, "text": personas}).write_csv(tmp_path / "items.csv")
    one = member(sdk, server)
    generator = {
        "name": "bot", "use": "dialogue", "max_tokens": 200,
        "models": {role: {"model": one["model"], "options": one["model_options"]}
                   for role in ("system", "client")},
        "options": {"turns": TURNS, "system_prompt": "You listen.", **options},
    }  # fmt: skip
    raw = {
        "name": "talks", "items": {"path": "items.csv"}, "generators": [generator],
        "run": {"backoff": 0.02, "retries": 2, "timeout": 20, **(run_ or limits(sdk))},
    }  # fmt: skip
    study = build_study(raw, folder=str(tmp_path))
    (tmp_path / "study.toml").write_text(study_to_toml(study), encoding="utf-8")
    return study


def spoken(folder, item, system="bot"):
    connection = read_session(folder)
    try:
        return turns_of(connection, item, system)
    finally:
        connection.close()


def test_the_client_plays_its_persona_and_the_system_never_sees_it(tmp_path):
    seen = []

    def answer(request):
        seen.append(dict(request.texts))
        return f"message {len(seen)}"

    with WireServer(answer) as server:
        study = talks(tmp_path, "openai", server, items=1)
        run(study, tmp_path / "a", quiet=True)
    client, system = seen[::2], seen[1::2]
    assert all("i000" in str(one) and "You listen" not in str(one) for one in client)
    assert all("i000" not in str(one) and "You listen" in str(one) for one in system)
    turns = spoken(tmp_path / "a", "i000")
    assert [turn.role for turn in turns] == ["user", "assistant"] * TURNS
    assert [turn.content for turn in turns] == [f"message {n}" for n in range(1, 2 * TURNS + 1)]
    assert replies_frame(tmp_path / "a")["role"].to_list() == ["client", "system"] * TURNS


@pytest.mark.parametrize("faults", STRUCK, ids="+".join)
def test_a_fault_between_two_messages_costs_what_it_costs(tmp_path, faults):
    """One fault on the fourth message of one of four conversations; the formats take turns."""
    fault = faults[0]
    sdk = list(FORMATS)[list(FAULTS).index(fault) % len(FORMATS)]
    quick = limits(sdk, timeout=5 if fault in SILENT else 60, breaker=99)

    def fourth(seen):
        return str(seen.body).count("Go on.") == 2

    with WireServer("Go on.") as server:
        strike(server, faults, lambda seen: str(seen.body), fourth)
        study = talks(tmp_path, sdk, server, run_=quick)
        run(study, tmp_path / "a", quiet=True)
        again = run(study, tmp_path / "a", quiet=True, resume=True)
        assert again.raters[0].done == ITEMS
        assert again.cost == pytest.approx((server.count - free(faults)) * EACH, rel=1e-12)
        # What was said before the fault is asked and paid for once.
        assert server.count <= 2 * TURNS * ITEMS + len(faults)
        kept = replies_frame(tmp_path / "a")
        assert kept.height == server.count
        assert kept.filter(pl.col("step") == 0).height == ITEMS
    for name in ("i000", "i001", "i003"):
        assert len(spoken(tmp_path / "a", name)) == 2 * TURNS


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_killed_conversation_goes_on_at_its_next_message(tmp_path):
    items = 30
    with WireServer("Go on.", latency=0.05) as server:
        talks(tmp_path, "openai", server, items=items)
        for number, point in enumerate((20, 90)):
            process = started(tmp_path, "-q", *(["--resume"] if number else []))
            after(server, point, process)
            process.send_signal(signal.SIGKILL)
            process.communicate()
        result = run(load_study(tmp_path / "study.toml"), tmp_path / "a", resume=True, quiet=True)
        assert result.complete
        kept = replies_frame(tmp_path / "a")
        assert kept.height == kept.select("item", "step").n_unique() == items * 2 * TURNS
        # Of each open conversation the message under way is lost, at two kills, and none before it.
        assert server.count - kept.height <= 2 * (8 + WAITING + COMMITTING)
        assert result.cost == pytest.approx(kept.height * EACH, rel=1e-12)
    assert all(len(spoken(tmp_path / "a", f"i{n:03}")) == 2 * TURNS for n in range(items))


def test_a_limit_on_calls_stops_between_messages(tmp_path):
    with WireServer("Go on.") as server:
        study = talks(tmp_path, "openai", server)
        stopped = run(study, tmp_path / "a", quiet=True, max_calls=10)
        assert not stopped.complete
        assert server.count == 10
        result = run(study, tmp_path / "a", quiet=True, resume=True)
        assert result.complete
        assert server.count == 2 * TURNS * ITEMS


def test_generated_turns_are_judged_and_a_dry_run_foresees_them(tmp_path):
    pl.DataFrame({"id": ["p1", "p2"], "text": ["Ann.", "Ben."]}).write_csv(tmp_path / "items.csv")
    raw = {
        "name": "t", "items": {"path": "items.csv"}, "rubric": {"attributes": [{"name": "Warm"}]},
        "generators": [{"name": "bot", "use": "dialogue", "options": {"turns": 2},
                        "models": {"system": "simulated:s", "client": "simulated:c"}}],
        "panel": [{"name": "ann", "use": "rubric", "model": "simulated:x"}],
        "conversations": {"unit": "turn", "role": "assistant"},
    }  # fmt: skip
    study = build_study(raw, folder=str(tmp_path))
    assert [one.tasks for one in dry_run(study)] == [2, 4]
    run(study, tmp_path / "s", quiet=True)
    ratings = ratings_frame(tmp_path / "s")
    assert ratings["item"].to_list() == ["p1 turn 2", "p1 turn 4", "p2 turn 2", "p2 turn 4"]
    assert ratings["system"].unique().to_list() == ["bot"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"role": "asistant"}, "'asistant' is not the role of any turn.*'user', 'assistant'"),
        ({"role": ""}, "role: is missing.*'user', 'assistant'"),
        ({"unit": None}, r"under \[conversations\] whether unit"),
        ({"plain": True}, "what 'plain' generates are texts without turns"),
    ],
)
def test_what_is_judged_of_conversations_to_come_is_asked_before_they_are_paid(
    tmp_path, change, message
):
    pl.DataFrame({"id": ["p1"], "text": ["Ann."]}).write_csv(tmp_path / "items.csv")
    said = {"unit": "turn", "role": "assistant", **change}
    plain = said.pop("plain", False)
    raw = {
        "name": "t", "items": {"path": "items.csv"}, "rubric": {"attributes": [{"name": "Warm"}]},
        "generators": [{"name": "bot", "use": "dialogue", "options": {"turns": 2},
                        "models": {"system": "simulated:s", "client": "simulated:c"}}],
        "panel": [{"name": "ann", "use": "rubric", "model": "simulated:x"}],
        "conversations": {name: value for name, value in said.items() if value is not None},
    }  # fmt: skip
    if plain:
        raw["generators"].append(
            {"name": "plain", "use": "chat", "model": "simulated:s", "options": {"prompt": "none"}}
        )
    study = build_study(raw, folder=str(tmp_path))
    with pytest.raises(StudyError, match=message):
        dry_run(study)
    with pytest.raises(StudyError, match=message):
        run(study, tmp_path / "s", quiet=True)
    assert replies_frame(tmp_path / "s").is_empty()


def test_a_client_may_end_the_conversation():
    generator, ann = make(turns=5), Item("1", "Ann.")
    said = [Reply("Hi."), Reply("Hello."), Reply(END)]
    assert generator.next_of(ann, said) == []
    assert [turn.content for turn in generator.conversation(ann, said).turns] == ["Hi.", "Hello."]
    assert len(generator.next_of(ann, said[:2])) == 1


def test_a_script_is_spoken_line_by_line():
    generator = make(client="script", field="script", turns=5)
    item = Item("1", "", {"script": '["I slept badly.", "Since May."]'})
    (first,) = generator.requests(item)
    assert (first.role, first.messages[-1].content) == ("system", "I slept badly.")
    (second,) = generator.next_of(item, [Reply("Since when?")])
    assert [m.content for m in second.messages] == ["I slept badly.", "Since when?", "Since May."]
    assert generator.next_of(item, [Reply("a"), Reply("b")]) == []


def test_what_a_dialogue_lacks_is_said():
    with pytest.raises(InputError, match="item '1' has no 'persona', which the client is made"):
        make(field="persona").requests(Item("1", "x"))
    with pytest.raises(InputError, match="its script is no JSON list"):
        make(client="script").requests(Item("1", "[broken"))
    with pytest.raises(InputError, match="count the system's messages, from 1, got 0"):
        make(turns=0)
    with pytest.raises(InputError, match=r"must hold \{persona\}"):
        make(client_prompt="Be a client.")

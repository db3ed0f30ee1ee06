"""`voirdire run` and `voirdire session` with simulated judges, as a person types them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from command_line import typed

from voirdire.store import replies_frame

STUDY = """
name = "calm"
rubric = {attributes = ["Empathy", "Safety"]}

[items]
path = "items.csv"

[responses]
path = "responses.csv"

[[panel]]
name = "north"
model = "simulated:north"
runs = 2
options = {seed = 7}

[[panel]]
name = "south"
model = "simulated:south"
model_options = {drop_out = 0.5}

[run.prices."simulated:north"]
input = 1.0
output = 2.0
"""


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY)
    names = [f"i{n}" for n in range(10)]
    pl.DataFrame({"id": names, "text": [f"I slept badly, {n}." for n in names]}).write_csv(
        "items.csv"
    )
    rows = {"item": names, "system": ["x"] * 10, "text": [f"Rest, {n}." for n in names]}
    pl.DataFrame(rows).write_csv("responses.csv")


def asked(*words):
    """Exit code, stdout in one line, and stderr of a command line."""
    done = typed(*words, COLUMNS="120")
    return done.returncode, " ".join(done.stdout.split()), done.stderr


def test_plan_run_look_and_reparse():
    code, out, _ = asked("run", "study.toml", "--dry-run")
    assert code == 0
    assert "north judge simulated:north 20 0 20" in out
    assert (
        "In all 30 calls, cost 0.0132." in out
    )  # (2980 * 1 + 5120 * 2) / 1e6: south costs nothing

    code, out, err = asked("run", "study.toml", "--out", "a")
    assert (code, err) == (0, "")
    assert "north judge 20/20 ok 20 – 20" in out
    assert "Complete. Examine it with: voirdire examine a" in out

    code, out, _ = asked("session", "status", "a")
    assert "Complete." in out
    assert "refused" in out

    code, out, _ = asked("session", "show", "a", "--item", "i3", "--rater", "north")
    assert out.count("north on i3 / x, run") == 2
    assert "Empathy" in out

    code, out, _ = asked("session", "reparse", "a")
    assert "ratings: 60 rows" in out


def test_runs_with_a_seed_differ_from_one_another():
    asked("run", "study.toml", "--out", "a", "-q")
    frame = replies_frame("a").filter(rater="north")
    texts = [frame.filter(run=run)["text"].to_list() for run in (1, 2)]
    assert texts[0] != texts[1]


def test_limits_and_errors(tmp_path):
    code, out, _ = asked("run", "study.toml", "--out", "a", "-q", "--max-calls", "7")
    assert code == 3
    assert "Stopped: the budget is used up." in out
    assert "Go on with: voirdire run study.toml --out a --resume" in out
    assert replies_frame("a").height == 7
    (tmp_path / "billed.toml").write_text(STUDY.replace("simulated:south", "openai:south"))
    for words, message in (
        (
            ("run", "study.toml", "--out", "a"),
            "session a: it exists already; go on with it by --resume",
        ),
        (("run", "study.toml"), "run: give the session folder by --out"),
        (
            ("run", "billed.toml", "--out", "b", "--max-cost", "1"),
            "there is no price for openai:south: give",
        ),
        (("run", "none.toml", "--out", "b"), "study none.toml: there is no such file"),
        (("session", "status", "b"), "session b: there is no session.sqlite in it"),
    ):
        code, _, err = asked(*words)
        assert code == 1
        assert message in err
    code, _, _ = asked("run", "study.toml", "--out", "a", "-q", "--resume")
    assert code == 0
    assert replies_frame("a").height == 30


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl", "xlsx"])
def test_what_stands_for_no_response_is_not_sent_to_a_judge(suffix):
    """In files of any format: `nan`, `N/A`, `[no response]`, a blank are nobody's words."""
    said = [
        "nan",
        "N/A",
        "[no response]",
        "",
        "None",
        "-",
        "Rest a while.",
        "No response",
        "na",
        "OK",
    ]
    frame = pl.DataFrame({"item": [f"i{n}" for n in range(10)], "system": ["x"] * 10, "text": said})
    writes = {
        "csv": frame.write_csv,
        "parquet": frame.write_parquet,
        "jsonl": frame.write_ndjson,
        "xlsx": frame.write_excel,
    }
    writes[suffix](f"said.{suffix}")
    Path("study.toml").write_text(STUDY.replace("responses.csv", f"said.{suffix}"))
    code, out, err = asked("run", "study.toml", "--out", "a")
    assert set(replies_frame("a")["item"]) == {"i6", "i9"}, (code, out, err)

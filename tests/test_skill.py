"""The skill's text is enough: a reader who knows nothing else solves the tutorials on new files."""

from __future__ import annotations

import re
import shlex
import shutil
import tomllib
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from command_line import typed
from paper_pages import typed as mistyped
from skill_walk import CAPITALS, ROW, Reader, report

from voirdire.cli.skill import QUESTIONS
from voirdire.examining.spec import USES

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    folder = tmp_path_factory.mktemp("skill")
    done = typed("skill", "--out", folder / "voirdire")
    assert done.returncode == 0, done.stderr
    return (folder / "voirdire" / "SKILL.md").read_text("utf-8")


def quality(seed, items, systems):
    """True quality of responses: systems differ by half a point, items by one."""
    rng = np.random.default_rng(seed)
    level = np.linspace(0, 0.5 * (systems - 1), systems) - 0.25 * (systems - 1)
    return rng, rng.normal(3, 0.9, (items, 1)) + level + rng.normal(0, 0.5, (items, systems))


def scores(rng, true, noise, bias=0.0):
    return np.clip(np.rint(true + bias + rng.normal(0, noise, true.shape)), 1, 5).astype(int)


@pytest.fixture
def rated(tmp_path):
    """Six systems, 150 items, three people, a good judge, a lenient one and one that is blind."""
    rng, true = quality(20261129, 150, 6)
    columns = {f"person {k}": scores(rng, true, 0.5) for k in (1, 2, 3)}
    columns["careful"] = scores(rng, true, 0.4)
    columns["lenient"] = scores(rng, true, 0.5, 1.2)
    columns["blind"] = rng.integers(1, 6, true.shape)
    item, system = np.indices(true.shape)
    frame = pl.DataFrame(
        {
            "question_id": [f"Q{k}" for k in item.ravel()],
            "model": [f"m{k}" for k in system.ravel()],
            **{name: one.ravel() for name, one in columns.items()},
        }
    )
    frame.write_csv(tmp_path / "survey.csv")
    return tmp_path


def test_the_head_is_one_that_agents_read_and_every_use_and_command_is_there(text):
    head = re.match(r"---\nname: (\S+)\ndescription: (.+)\n---\n", text)
    assert head
    assert head[1] == "voirdire"
    assert len(head[2]) < 1024
    assert len(text.splitlines()) < 120
    for use in USES.values():
        assert f"| `{use.key}` | {use.title} | {use.question} |" in text
    assert [(row["asked"], row["command"]) for row in ROW.finditer(text)] == list(QUESTIONS)


@pytest.mark.parametrize(("asked", "command"), QUESTIONS)
def test_every_command_of_the_skill_exists_with_its_options(asked, command):
    filled = {"WIDTH": "0.1", "SCORE": "4", "N": "1", "USE": "single"}
    words = CAPITALS.sub(lambda found: filled.get(found[0], found[0].lower()), command)
    assert not mistyped(words), words


def test_what_may_i_use_these_judges_for(text, rated):
    reader = Reader(text, rated, {"judge": "careful, lenient, blind"})
    people = "person 1,person 2,person 3"
    record = reader.ask("What is odd in my files?", FILE="survey.csv")
    assert "findings" in record
    record = reader.ask("What may I use these judges for?", FILE="survey.csv", HUMANS=people)
    states = record["answer"]["states"]
    assert states["careful"]["single"] == states["careful"]["score"] == "yes"
    assert states["lenient"]["score"] == states["lenient"]["single"] == "no"
    assert "yes" not in states["blind"].values()
    told = report(record, text)
    assert record["answer"]["sentence"] in told
    assert "lenient" in told
    assert re.search(r"^careful, \w+: yes \([A-Z]\w* -?\d\.\d\d \[", told, re.MULTILINE)
    assert "voirdire " in told


def test_what_would_people_have_said_and_how_many_labels(text, tmp_path):
    rng, true = quality(7, 600, 2)
    passed = (true > 2.9).astype(int)
    wrong = rng.random(true.shape) < 0.12
    people = np.where(rng.random(true.shape) < 0.25, passed, -1)
    item, system = np.indices(true.shape)
    pl.DataFrame({
        "item": [f"i{k}" for k in item.ravel()],
        "system": [("before", "after")[k] for k in system.ravel()],
        "checker": np.where(wrong, 1 - passed, passed).ravel(),
        "nurse": [None if one < 0 else one for one in people.ravel()],
    }).write_csv(tmp_path / "checked.csv")  # fmt: skip
    reader = Reader(text, tmp_path, {"judge": "checker"})
    said = {"FILE": "checked.csv", "HUMANS": "nurse"}
    record = reader.ask("What would people have said, from few labels?", **said)
    (one,) = [row for row in record["scores"] if not row["group"]]
    low, high = one["corrected"]["interval"]["low"], one["corrected"]["interval"]["high"]
    assert low <= passed.mean() <= high
    assert high - low < 0.12
    record = reader.ask("Which of two systems is better?", A="after", B="before", **said)
    assert report(record, text)
    record = reader.ask("How many labels do I need?", WIDTH="0.03", **said)
    assert record["answer"]["state"] == "ok"
    record = reader.ask("What was said of one item?", FILE="checked.csv", ITEM="i5")
    assert record["tables"]
    record = reader.ask("May this judge pass or stop responses at a score?", SCORE="1", **said)
    assert set(record["said"]) >= {"gate"} or record["verdicts"]


def test_what_changed_and_a_run_and_a_gate(text, tmp_path):
    """The example's posts in another order and a study of another name and seed."""
    folder = tmp_path / "mine"
    shutil.copytree(EXAMPLES / "gate", folder)
    study = (folder / "study.toml").read_text("utf-8")
    (folder / "study.toml").unlink()
    (folder / "nightly.toml").write_text(study.replace('"weekly"', '"nightly"'))
    assert tomllib.loads((folder / "nightly.toml").read_text())["name"] == "nightly"
    reader = Reader(text, folder)
    record = reader.ask("What would a run cost?", STUDY="nightly.toml")
    assert record["calls"] == 80
    assert not list(folder.glob("first*"))
    for name in ("first", "second"):
        run = {"STUDY": "nightly.toml", "SESSION": name, "N": "1"}
        record = reader.ask("Have a panel judge my items.", **run)
        assert record["complete"]
    reader.ask("Freeze a judge for later.", SESSION="first", LOCK="j.lock")
    record = reader.ask("Has the judge or my system changed?", SESSION="second", LOCK="j.lock")
    assert "no change shown" in report(record, text)
    answers = pl.read_csv(folder / "answers.csv")
    frame = answers.select("item", "system").with_columns(
        judge=pl.Series(np.random.default_rng(3).integers(1, 6, len(answers)))
    )
    frame.with_columns(human="judge").write_csv(folder / "a.csv")
    frame.with_columns(human="judge", judge=(pl.col("judge") + 1).clip(1, 5)).write_csv(
        folder / "b.csv"
    )
    record = reader.ask(
        "What changed between two sets of ratings?", BEFORE="a.csv", AFTER="b.csv", HUMANS="human"
    )
    (change,) = [one for one in record["changes"] if not one["system"]]
    assert change["judge"] == "judge"


def test_what_is_not_likely_is_asked_of_the_person_and_never_guessed(text, tmp_path):
    rows = [f"q{k},{rater},{k % 3 + 1}" for k in range(40) for rater in ("ann", "gpt")]
    (tmp_path / "labels.csv").write_text("\n".join(["item,rater,label", *rows]))
    asked = {"FILE": "labels.csv", "HUMANS": "ann"}
    reader = Reader(text, tmp_path)
    with pytest.raises(KeyError, match="kind"):
        reader.ask("What may I use these judges for?", **asked)
    reader.known["kind"] = "label"
    record = reader.ask("What may I use these judges for?", **asked)
    assert shlex.join(reader.assumed) == "--answer kind=label"
    assert {one["kind"] for one in record["verdicts"]} == {"label"}

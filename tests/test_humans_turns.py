"""People judge turns, whole conversations and first failures: sheets filled in, read and examined."""

from __future__ import annotations

import csv
import json

import polars as pl
import pytest

from voirdire import examine
from voirdire.errors import StudyError
from voirdire.humans import export, import_answers, make_plan
from voirdire.running import run
from voirdire.store import ratings_frame
from voirdire.study import build_study, study_to_toml
from voirdire.tables import read_tables

HOSTILE = '=HYPERLINK("http://x") <script>document.title="owned"</script>\n[9] assistant: planted'
#: Longer than a phone is wide, without a place to break.
UNBROKEN = "averylongword" * 30


def talk(name, turns=6):
    said = [f"{name}, {at}." for at in range(1, turns + 1)]
    said[2] += f" {HOSTILE}"
    said[3] += f" {UNBROKEN}"
    return [
        {"role": "assistant" if at % 2 else "user", "content": text, "name": "" if at else "Ann"}
        for at, text in enumerate(said)
    ]


def conversations(folder, unit, task="pointwise", talks=4, **humans):
    """A study of conversations of six and eight turns that people judge."""
    names = [f"c{at}" for at in range(talks)]
    pl.DataFrame({"id": names, "text": [f"Scene {name}." for name in names]}).write_csv(
        folder / "items.csv"
    )
    lines = [
        {"item": name, "system": "bot", "messages": talk(name, 6 + 2 * (at % 2))}
        for at, name in enumerate(names)
    ]
    (folder / "talks.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    raw = {
        "name": "talks", "items": {"path": "items.csv"},
        "responses": {"path": "talks.jsonl", "messages": "messages"},
        "rubric": {"attributes": [{"name": "Warm", "description": "It is kind."}]},
        "conversations": {"unit": unit, **({"role": "assistant"} if unit == "turn" else {})},
        "panel": [{"name": "judge", "use": "first-failure" if unit == "first" else "rubric",
                   "model": "simulated:x", **({"options": {"most": 8}} if unit == "first" else {})}],
        "humans": {"task": task, "raters": ["ann", "ben"], **humans},
    }  # fmt: skip
    study = build_study(raw, folder=str(folder))
    path = folder / "study.toml"
    path.write_text(study_to_toml(study), "utf-8")
    return path


def rated_session(folder):
    """A session whose judge and two people scored each turn."""
    path = conversations(folder, "turn")
    run(path, folder / "s", quiet=True)
    own = ratings_frame(folder / "s")
    people = [
        own.select("item", "system", "attribute", (pl.col("score") + at) % 5 + 1).with_columns(
            rater=pl.lit(name)
        )
        for at, name in enumerate(("ann", "ben"))
    ]
    pl.concat(people).write_csv(folder / "people.csv")
    raw = _raw(path)
    raw["panel"] += [{"name": name, "kind": "human"} for name in ("ann", "ben")]
    raw["data"] = {"sources": [{"path": "people.csv"}], "reference": ["ann", "ben"]}
    run(build_study(raw, folder=str(folder)), folder / "s", quiet=True, resume=True)
    return folder / "s"


def filled(work, answer):
    """The sheets of all raters with `answer(rater, texts)` in each row."""
    paths = []
    for path in sorted((work / "sheets").glob("*.csv")):
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.reader(file))
        for row in rows[1:]:
            row[-2] = answer(path.stem, row[1:-2])
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            csv.writer(file).writerows(rows)
        paths.append(path)
    return paths


def test_people_are_shown_a_turn_with_its_past_and_answer_about_it(tmp_path):
    made = export(conversations(tmp_path, "turn"), tmp_path / "work", formats=["csv", "xlsx"])
    assert made.skipped == ()
    # Three or four answers of four conversations, for two people.
    assert len(made.plan.judgements) == 2 * (3 + 4 + 3 + 4)
    shown = [dict(one.shown) for one in made.plan.judgements.values()]
    (late,) = {one["Text"] for one in shown if one["Response"] == "[6] assistant: c1, 6."}
    assert late.startswith("Scene c1.\n\nThe conversation so far:\n[1] user (Ann): c1, 1.\n")
    # A line that imitates a turn is indented, and nothing after the turn is shown.
    assert "\n    [9] assistant: planted\n[4]" in late
    assert "c1, 7" not in late
    seen = []

    def answer(rater, texts):
        seen.append(texts)
        assert not any(text.startswith(("=", "+", "-", "@")) for text in texts)
        return "4" if rater == "ann" else "5"

    read = import_answers(tmp_path / "work", filled(tmp_path / "work", answer), tmp_path / "out")
    ratings = read.tables["ratings"]
    assert len(seen) == ratings.height == 28
    assert set(ratings.select("item", "cluster").filter(pl.col("cluster") == "c1").rows()) == {
        (f"c1 turn {at}", "c1") for at in (2, 4, 6, 8)
    }
    found = examine(tmp_path / "out", resamples=0)
    assert found.inputs.tables.ratings["cluster"].n_unique() == 4


def test_people_name_the_first_turn_that_fails(tmp_path):
    made = export(conversations(tmp_path, "first"), tmp_path / "work", formats=["csv"])
    forms = {one.form[0].options[-1] for one in made.plan.judgements.values()}
    assert forms == {"6", "8"}  # as many as the conversation has turns
    (question,) = made.plan.form
    assert question.asked == "It is kind. In which turn does it first fail? Its number, or never."

    def answer(rater, texts):
        if "c0" in texts[0]:
            return "never"
        return "4" if rater == "ann" or "c1" in texts[0] else "6"

    read = import_answers(tmp_path / "work", filled(tmp_path / "work", answer), tmp_path / "out")
    said = read.tables["ratings"].sort("rater", "item")
    assert said["score"].to_list() == [0, 4, 4, 4, 0, 4, 6, 6]
    # Beside the judge's own, by the rule for first failures.
    study = build_study(
        {
            **_raw(tmp_path / "study.toml"),
            "data": {"sources": [{"path": "out/ratings.parquet"}], "reference": ["ann", "ben"]},
        },
        folder=str(tmp_path),
    )
    run(study, tmp_path / "s", quiet=True)
    sections = {one.title: one for one in examine(tmp_path / "s", resamples=0).sections}
    rows = {row[1]: row for row in sections["Where conversations first fail"].table.rows}
    assert rows["the same turn"][4] == 0.5  # people on c0 and c1 of four
    assert rows["whether at all"][4] == 1.0


def _raw(path):
    from voirdire.study import load_study

    return load_study(path).model_dump(mode="json", exclude_unset=True, exclude_none=True)


@pytest.mark.parametrize(
    ("unit", "task", "judgements"), [("whole", "pointwise", 8), ("turn", "labels", 28)]
)
def test_wholes_and_labels_of_turns(tmp_path, unit, task, judgements):
    more = {"labels": ["calm", "tense"], "none": "neither", "of": "responses"}
    study = conversations(tmp_path, unit, task, **(more if task == "labels" else {}))
    made = export(study, tmp_path / "work", formats=["csv"])
    assert len(made.plan.judgements) == judgements
    kind = {"pointwise": "3", "labels": "calm"}[task]
    files = filled(tmp_path / "work", lambda *_: kind)
    ratings = import_answers(tmp_path / "work", files, tmp_path / "out").tables["ratings"]
    assert ("cluster" in ratings.columns) == (unit == "turn")
    tables = read_tables(
        build_study(
            {"name": "t", "data": {"sources": [{"path": "out/ratings.parquet"}]}},
            folder=str(tmp_path),
        )
    )
    assert tables.ratings.height == ratings.height


def test_first_failures_of_what_has_no_turns_are_refused(tmp_path):
    conversations(tmp_path, "first")
    raw = _raw(tmp_path / "study.toml")
    pl.DataFrame({"item": ["c0"], "system": ["bot"], "text": ["A text."]}).write_csv(
        tmp_path / "plain.csv"
    )
    raw["responses"] = {"path": "plain.csv"}
    plain = build_study(raw, folder=str(tmp_path))
    with pytest.raises(StudyError, match=r"unit is 'first', and item 'c0' has no turns"):
        make_plan(plain, tmp_path / "work")

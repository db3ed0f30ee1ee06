"""What a finding concerns, and how it says where: through the public entries."""

import json

import pytest
from command_line import invoke

from voirdire import examine
from voirdire.examining import audit_source

STUDY = """
name = "two"
[data]
sources = [{path = "ratings.csv"}]
reference = ["ada", "ben"]
[rubric]
scale = [1, 5]
step = 1
attributes = [{name = "Calm"}, {name = "Warm"}]
[[panel]]
name = "ada"
kind = "human"
[[panel]]
name = "ben"
kind = "human"
[[panel]]
name = "judge"
[[panel]]
name = "other"
"""


def ratings(items=60):
    rows = ["item,rater,attribute,score"]
    for i in range(items):
        for attribute in ("Calm", "Warm"):
            true = 1 + (i * 7 + len(attribute)) % 5
            off = attribute == "Warm" and i % 3 == 0
            scores = {"ada": true, "ben": 1 + (true + i) % 5, "judge": true, "other": true}
            scores["judge"] = 8 if off else true
            rows += [f"q{i},{rater},{attribute},{score}" for rater, score in scores.items()]
    return "\n".join(rows) + "\n"


@pytest.fixture
def study(tmp_path):
    (tmp_path / "ratings.csv").write_text(ratings())
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path / "study.toml"


def test_a_blocking_finding_forbids_verdicts_on_its_own_attribute_alone(study):
    found = examine(study)
    (blocking,) = [each for each in found.findings if each.severity == "blocking"]
    assert (blocking.kind, blocking.table, blocking.attributes) == (
        "out_of_scale",
        "judge",
        ("Warm",),
    )
    blocked = {(v.judge, v.attribute) for v in found.verdicts if v.reason == "blocked"}
    assert blocked == {("judge", "Warm")}
    free = {(v.judge, v.attribute) for v in found.verdicts if v.reason != "blocked"}
    assert free == {("judge", "Calm"), ("other", "Calm"), ("other", "Warm")}


def test_the_audit_of_the_command_line_names_the_attribute(study):
    said = invoke(["audit", str(study), "--json"])
    (blocking,) = [
        each for each in json.loads(said.stdout)["findings"] if each["severity"] == "blocking"
    ]
    assert blocking["attributes"] == ["Warm"]


def test_rows_that_only_count_on_are_one_place(tmp_path):
    path = tmp_path / "labels.csv"
    rows = [f"q{i},{1 + i % 5 if i < 40 else ''},{1 + (i * i) % 5}" for i in range(160)]
    path.write_text("\n".join(["item,human,judge", *rows, ",3,3", "q999,4,4", ",2,2"]))
    found = {each.kind: each for each in audit_source(path)}
    assert found["unlabelled"].places == ("items q40-q159",)
    assert found["unlabelled"].count == 120
    assert found["null_ids"].places == ("line 162", "line 164")


def test_a_finding_of_an_older_session_concerns_all_attributes(tmp_path):
    from voirdire.store.findings import kept_findings

    old = {
        "kind": "leak",
        "severity": "note",
        "table": "x",
        "count": 1,
        "places": ["a"],
        "message": "m",
        "consequence": "c",
    }
    (tmp_path / "findings.json").write_text(json.dumps({"judge": [old]}))
    (found,) = kept_findings(tmp_path)
    assert (found.attributes, found.places) == ((), ("a",))

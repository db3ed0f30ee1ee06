"""Gates of `--require`: every place that fails is named, in each output."""

from __future__ import annotations

import json
from functools import partial
from xml.etree import ElementTree as ET

import polars as pl
import pytest
from command_line import typed

from voirdire.errors import InputError, RequirementUnmetError
from voirdire.examining.changing import freeze, write_lock
from voirdire.examining.gates import GateValue, hold_gates, must_hold, read_gates

ATTRIBUTES = tuple(f"A{k}" for k in range(9))


voirdire = partial(typed, COLUMNS="80")


def ratings(off=0):
    """A human and a judge on nine attributes, whose scores are no better than chance."""
    return pl.DataFrame(
        [
            (f"i{k}", rater, name, float((k * (3 if rater == "human" else 7) + at) % 5 + 1))
            for k in range(30)
            for at, name in enumerate(ATTRIBUTES)
            for rater in ("human", "judge")
        ],
        schema=["item", "rater", "attribute", "score"],
        orient="row",
    ).with_columns(
        score=pl.when((pl.col("rater") == "judge") & (pl.col("score") < 5))
        .then(pl.col("score") + off)
        .otherwise("score")
    )


def values(count):
    return [GateValue("kappa", (f"j{k}",), k / 100, f"j{k}") for k in range(count)]


def test_every_failure_is_named_and_only_very_many_are_folded_in_the_message():
    for count, more in ((1, ""), (30, ""), (45, "and 5 more: --json and the files of --out")):
        with pytest.raises(RequirementUnmetError) as unmet:
            must_hold(hold_gates(read_gates(["kappa>=2", "kappa<=9"]), values(count)))
        named = [f"kappa of j{k} is {k / 100:.3f}, required >= 2" for k in range(count)]
        assert list(unmet.value.failures) == named
        said = str(unmet.value)
        assert all(name in said for name in named[:40])
        assert (more in said) if more else ("more" not in said)


def test_gates_that_hold_fail_or_ask_for_what_there_is_not_stand_beside_each_other():
    held = hold_gates(read_gates(["kappa>=0", "kappa>=0.01", "alpha>=1", "kappa@x>=1"]), values(3))
    assert [one.state for one in held] == ["met", "unmet", "unanswered", "unanswered"]
    assert held[0].said == "lowest 0.000, j0"
    assert [one.where for one in held[1].failures] == ["j0"]
    assert held[1].to_dict()["failures"] == [{"where": "j0", "name": "kappa", "value": 0.0}]
    with pytest.raises(InputError, match="there is no number 'alpha'"):
        must_hold(held)


def test_examine_names_all_that_fails_on_the_terminal_in_json_and_in_every_file(tmp_path):
    ratings().write_csv(tmp_path / "r.csv")
    gates = ("--require", "mse<=0.001", "--require", "mse>=0")
    done = voirdire(
        "examine",
        "r.csv",
        "--reference",
        "human",
        "--resamples",
        "0",
        "--no-figures",
        "--out",
        "out",
        "--json",
        *gates,
        cwd=tmp_path,
    )
    assert done.returncode == 4
    wanted = [f"judge on {name}" for name in ATTRIBUTES]
    record = json.loads(done.stdout)
    written = json.loads((tmp_path / "out/results.json").read_text())
    for found in (record, written):
        first, second = found["requirements"]
        assert (first["requirement"], first["state"]) == ("mse<=0.001", "unmet")
        assert [one["where"] for one in first["failures"]] == wanted
        assert second["state"] == "met"
    assert all(f"mse of {where} is" in done.stderr for where in wanted)
    for path in ("report.html", "tables.md", "tables.tex"):
        page = (tmp_path / "out" / path).read_text()
        assert "Requirements" in page, path
        assert all(where in page for where in wanted), path
    bad = voirdire(
        "examine",
        "r.csv",
        "--reference",
        "human",
        "--resamples",
        "0",
        "--no-figures",
        "--out",
        "bad",
        "--format",
        "json",
        "--require",
        "mse@Nobody<=1",
        cwd=tmp_path,
    )
    assert bad.returncode == 1
    assert "no result for 'Nobody'" in bad.stderr
    (only,) = json.loads((tmp_path / "bad/results.json").read_text())["requirements"]
    assert only["state"] == "unanswered"


def test_a_check_names_all_that_fails_in_junit_markdown_and_json(tmp_path):
    write_lock(tmp_path / "judge.lock", freeze(ratings(), reference=["human"]))
    ratings(1).write_csv(tmp_path / "r.csv")
    done = voirdire(
        "gate",
        "check",
        "r.csv",
        "--lock",
        "judge.lock",
        "--require",
        "shift_high<=0.01",
        "--require",
        "changed=yes",
        "--junit",
        "gate.xml",
        "--markdown",
        "gate.md",
        "--json",
        cwd=tmp_path,
    )
    assert done.returncode == 4
    wanted = [f"judge on {name}" for name in ATTRIBUTES]
    assert all(f"shift_high of {where} is" in done.stderr for where in wanted)
    first, second = json.loads(done.stdout)["requirements"]
    assert [one["where"] for one in first["failures"]] == wanted
    assert second["state"] == "met"
    assert all(where in (tmp_path / "gate.md").read_text() for where in wanted)
    suite = ET.parse(tmp_path / "gate.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("11", "10")
    unmet, met = suite.findall("testcase[@classname='requirement']")
    assert unmet.find("failure") is not None
    said = unmet.find("failure").get("message") + unmet.find("failure").text
    assert all(where in said for where in wanted)
    assert met.find("failure") is None

"""The command line as a user runs it: exit codes, one-line errors, files written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import polars as pl
import pytest
from command_line import invoke, typed
from typer.main import get_command

from voirdire.cli.app import build_app

HEAD = "item,system,rater,attribute,score\n"
GOOD = HEAD + "".join(
    f"{item},{system},{rater},Empathy,{1 + (item + ord(system) + (rater == 'judge')) % 5}\n"
    for item in range(1, 13)
    for system in "abcd"
    for rater in ("human", "judge")
)


voirdire = partial(typed, COLUMNS="100")


STUDY = """name = "t"
[data]
reference = ["human"]
sources = [{path = "odd.csv"}]
[rubric]
attributes = ["Empathy"]
"""


@pytest.fixture
def ratings(tmp_path):
    (tmp_path / "ratings.csv").write_text(GOOD)
    return tmp_path


def test_examine_a_file_without_a_study(ratings):
    done = voirdire(
        "examine",
        "ratings.csv",
        "--reference",
        "human",
        "--out",
        "out",
        "--no-figures",
        cwd=ratings,
    )
    assert done.returncode == 0, done.stderr
    assert "Empathy" in done.stdout
    written = {path.name for path in (ratings / "out").iterdir()}
    assert {"results.json", "audit.json", "ratings.parquet", "icc.csv", "tables.md"} <= written
    results = json.loads((ratings / "out/results.json").read_text())
    assert {"schema_version", "versions", "seed", "options", "input_hashes", "results"} <= set(
        results
    )
    (row,) = results["results"]
    assert (row["judge"], row["attribute"], row["n_systems"], row["n_pairs"]) == (
        "judge",
        "Empathy",
        4,
        48,
    )
    # The means of four systems have no coefficient.
    assert row["ci"] == []
    assert pl.read_parquet(ratings / "out/ratings.parquet").height == 96
    assert isinstance(json.loads((ratings / "out/audit.json").read_text()), list)


def test_init_drafts_a_study_that_examine_takes(ratings):
    assert voirdire("init", "ratings.csv", cwd=ratings).returncode == 0
    again = voirdire("init", "ratings.csv", cwd=ratings)
    assert again.returncode == 1
    assert "study.toml exists already" in again.stderr
    done = voirdire("examine", "study.toml", cwd=ratings)
    assert done.returncode == 0, done.stderr
    assert "judge" in done.stdout


def test_init_takes_the_reference_and_says_it(tmp_path):
    (tmp_path / "wide.csv").write_text("item,ann,bob\n1,2,3\n2,4,4\n3,5,4\n")
    done = voirdire("init", "wide.csv", "--reference", "ann", cwd=tmp_path)
    assert done.stdout.startswith("Wrote study.toml (reference: ann).")
    assert voirdire("examine", "study.toml", cwd=tmp_path).returncode == 0
    done = voirdire("init", "wide.csv", "--force", cwd=tmp_path)
    assert "no reference was found: name one under [data]" in done.stdout


@pytest.mark.parametrize(
    ("header", "people", "judges"),
    [
        ("Rater 1,Rater N,Rater 7", "nobody", "'Rater 1', 'Rater N', 'Rater 7'"),
        ("Annotator 2,Expert 1,gpt-4o", "'Annotator 2', 'Expert 1'", "'gpt-4o'"),
        ("Coder B,Expert 1,human", "'Coder B', 'Expert 1', 'human'", "nobody"),
    ],
)
def test_init_says_whom_it_took_for_a_judge(tmp_path, header, people, judges):
    (tmp_path / "wide.csv").write_text(f"item,{header}\n1,2,3,1\n2,4,4,5\n3,5,4,4\n")
    done = voirdire("init", "wide.csv", cwd=tmp_path)
    drafted = (tmp_path / "study.toml").read_text("utf-8")
    for line in (f"Taken as people, by their names: {people}.", f"Taken as judges: {judges}."):
        assert line in done.stdout.splitlines()
        assert f"# {line}" in drafted.splitlines()
    assert "again with --reference NAME" in done.stdout
    done = voirdire("init", "wide.csv", "--force", "--reference", "Expert 1", cwd=tmp_path)
    if "Expert 1" in header:
        assert "Taken as" not in done.stdout + (tmp_path / "study.toml").read_text("utf-8")


def test_a_hostile_name_ends_no_comment_of_a_draft(tmp_path):
    (tmp_path / "wide.csv").write_text('item,human,"judge\x85name = 3\x1b[31m"\n1,2,3\n2,4,4\n')
    done = voirdire("init", "wide.csv", cwd=tmp_path)
    assert (done.returncode, "\x1b" in done.stdout) == (0, False)
    assert voirdire("examine", "study.toml", cwd=tmp_path).returncode == 0


def test_audit_prints_and_gives_json(ratings):
    (ratings / "odd.csv").write_text(GOOD + "99,a,judge,Empathy,9\n")
    (ratings / "study.toml").write_text(STUDY)
    findings = json.loads(voirdire("audit", "study.toml", "--json", cwd=ratings).stdout)["findings"]
    kinds = {finding["kind"]: finding for finding in findings}
    assert set(findings[0]) == {
        "kind",
        "severity",
        "table",
        "count",
        "places",
        "message",
        "consequence",
        "attributes",
    }
    assert kinds["out_of_scale"]["count"] == 1
    assert "99" in kinds["out_of_scale"]["places"][0]
    printed = voirdire("audit", "study.toml", cwd=ratings).stdout
    assert "the declared scale is 1 to 5" in printed


def test_off_scale_error_names_the_cell(ratings):
    (ratings / "odd.csv").write_text(GOOD + "99,a,human,Empathy,7\n99,a,judge,Empathy,3\n")
    (ratings / "study.toml").write_text(STUDY)
    done = voirdire("examine", "study.toml", "--off-scale", "error", cwd=ratings)
    assert done.returncode == 1
    for part in ("99", "human", "7", "1", "5"):
        assert part in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.csv", None, "missing.csv: there is no such file"),
        ("empty.csv", HEAD, "empty.csv: there is a header but no rows"),
        ("nothing.csv", "", "nothing.csv"),
        (
            "wrong.csv",
            "foo,bar\n1,2\n",
            "wrong.csv: no column of item ids was found (columns: 'foo', 'bar')",
        ),
        (
            "text.csv",
            HEAD + "1,a,human,E,4\n1,a,judge,E,great\n",
            "text.csv: column 'score', line 3 (item '1') holds 'great' where a number is needed",
        ),
        (
            "twice.csv",
            HEAD + "1,a,human,E,4\n1,a,judge,E,4\n1,a,judge,E,5\n",
            "stands in lines 3 and 4 with different values",
        ),
        ("key.toml", 'name = "x"\n[data]\nof_scale = "keep"\n', "unknown key 'data.of_scale'"),
        (
            "source.toml",
            'name = "x"\n[[data.sources]]\npath = "nope.csv"\n',
            "nope.csv: there is no such file",
        ),
        ("broken.toml", "name = ", "broken.toml: not valid TOML"),
    ],
)
def test_bad_input_is_one_sentence_that_names_the_place(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_text(content)
    done = voirdire("examine", name, "--reference", "human", cwd=tmp_path)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    # A question ends in a line with the command that answers it.
    assert done.stderr.count("\n") == 1 + ("To take the first answers" in done.stderr)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ("1,a,human,E,4\n1,a,judge,E,4\n1,b,human,E,4\n1,b,judge,E,4\n", "zero_variance"),
        ("1,a,human,E,4\n1,a,judge,E,3\n2,a,human,E,2\n2,a,judge,E,2\n", None),
    ],
    ids=["all scores equal", "one system, one judge"],
)
def test_degenerate_data_give_a_result_with_a_reason(tmp_path, rows, reason):
    (tmp_path / "r.csv").write_text(HEAD + rows)
    done = voirdire(
        "examine", "r.csv", "--reference", "human", "--out", "out", "--format", "json", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    (result,) = json.loads((tmp_path / "out/results.json").read_text())["results"]
    assert result["reason"] == reason
    assert (result["icc_c1"] is None) == (reason is not None)


def test_a_gate_has_an_exit_code_of_its_own(ratings):
    base = ("examine", "ratings.csv", "--reference", "human")
    met = voirdire(*base, "--require", "icc_c1>=-1", cwd=ratings)
    assert met.returncode == 0
    assert "requirement met: icc_c1>=-1 (lowest " in met.stdout
    assert met.stdout.rstrip().endswith(", judge on Empathy)")
    unmet = voirdire(*base, "--require", "icc_c1>=2", cwd=ratings)
    assert unmet.returncode == 4
    assert "requirement unmet: icc_c1 of judge on Empathy" in unmet.stderr
    assert voirdire(*base, "--require", "icc", cwd=ratings).returncode == 1


def test_a_run_that_fails_leaves_no_folder(ratings):
    failed = voirdire("examine", "none.csv", "--out", "a/b", cwd=ratings)
    assert failed.returncode == 1
    assert not (ratings / "a").exists()


def test_usage_errors_exit_with_2(tmp_path):
    assert voirdire("examine", cwd=tmp_path).returncode == 2
    assert voirdire("examine", "x", "--off-scale", "drop", cwd=tmp_path).returncode == 2
    assert voirdire("exmaine", cwd=tmp_path).returncode == 2


def test_measures_need_no_reference(tmp_path):
    (tmp_path / "r.csv").write_text("item,anna,ben\n1,1,1\n2,2,2\n3,3,3\n4,3,2\n")
    done = voirdire(
        "examine", "r.csv", "--reference", "anna", "--measure", "alpha,icc", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "alpha" in done.stdout
    assert "0.79" in done.stdout


def test_output_into_a_closed_pipe_is_no_traceback(ratings):
    line = f"{sys.executable} -m voirdire examine ratings.csv --reference human | head -1"
    done = subprocess.run(
        line, shell=True, capture_output=True, text=True, cwd=ratings, check=False
    )
    assert "Traceback" not in done.stderr


def commands_of(command, above=()):
    """Every command below a group, as the words that call it."""
    for name, one in getattr(command, "commands", {}).items():
        words = (*above, name)
        yield from commands_of(one, words) if hasattr(one, "commands") else [words]


@pytest.mark.parametrize("columns", [80, 120])
def test_every_command_has_help_with_examples_that_fit(columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    found = list(commands_of(get_command(build_app())))
    assert {("examine",), ("session", "show"), ("index", "build"), ("classify", "fit")} <= {*found}
    for words in found:
        shown = invoke([*words, "--help"], prog_name="voirdire").output
        lines = [line.rstrip() for line in shown.splitlines()]
        examples = "\n".join(lines).partition("Examples:")[2]
        assert f"   voirdire {' '.join(words)}" in examples, words
        assert "<bool>" not in shown
        assert max(map(len, lines)) <= columns
        assert "\n     " not in examples.replace("\\\n     ", ""), words  # a copy of it runs


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--out", "ratings.csv"), "--out ratings.csv: a file is in the way of that folder"),
        (("--out", "ratings.csv/x"), "--out ratings.csv/x: a file is in the way of that folder"),
        (("--out", "out", "--format", "pdf"), "format 'pdf' is unknown (allowed: json, "),
        (("--format", "html,pdf"), "format 'pdf' is unknown (allowed: json, "),
        (("--require", "icc_a1"), "requirement 'icc_a1' cannot be read"),
        (("--require", "iccc>=1"), "there is no number 'iccc' (known: n_systems, "),
    ],
)
def test_what_is_wrong_with_an_option_is_said_before_the_run(ratings, options, message):
    done = voirdire("examine", "ratings.csv", "--reference", "human", *options, cwd=ratings)
    assert (done.returncode, done.stdout) == (1, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_formats_without_a_folder_are_said_to_write_nothing(ratings, tmp_path):
    done = voirdire(
        "examine", "ratings.csv", "--reference", "human", "--format", "tex", cwd=ratings
    )
    assert (done.returncode, done.stderr) == (0, "--format without --out: nothing is written.\n")
    table = "item,truth,predicted\n1,a,a\n2,b,b\n3,a,b\n"
    (tmp_path / "predictions.csv").write_text(table)
    compared = ("labels", "predictions.csv", "--draws", "2", "--resamples", "0", "--format")
    done = voirdire(*compared, "md", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "--format without --out: nothing is written.\n")
    done = voirdire(*compared, "html", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "format 'html' is unknown (allowed: md, tex, csv, parquet, json)" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_is_one_sentence(ratings, unbuffered):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "voirdire", "audit", "ratings.csv"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ratings,
            check=False,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr == "voirdire: error: no space left on device\n"


def test_resamples_and_seed_are_checked_by_the_command_line(ratings):
    for option in ("--resamples", "--seed"):
        assert voirdire("examine", "ratings.csv", option, "-1", cwd=ratings).returncode == 2


def test_help_lists_the_products_own_verbs_first_and_papers_in_a_group_of_their_own(tmp_path):
    names = list(get_command(build_app()).list_commands(None))
    assert names[:4] == ["demo", "init", "audit", "examine"]
    assert names[-4:] == ["paper", "new", "plugins", "schema"]
    shown = invoke(["--help"]).output
    heads = ["Begin", "Judges and verdicts", "Numbers from few labels", "Releases", "Run"]
    places = [shown.index(f"─ {head} ─") for head in heads]
    assert places == sorted(places)
    assert shown.count("licenses clinical use") == 1
    assert {"classify", "index", "humans"} <= set(names)
    assert not {"angst", "cbt-bench", "distortions"} & set(names)
    said = invoke(["paper", "--help"]).output
    assert all(f" {name} " in said for name in ("angst", "cbt_bench", "distortions"))
    assert "voirdire examine NAME --data SESSION" in " ".join(said.split())


def test_a_group_of_papers_takes_a_name_once_and_is_hidden_where_it_is_empty():
    from voirdire import PluginError
    from voirdire.cli.app import Application

    app = Application()
    app.command("run")(lambda: None)
    app.show_papers()
    assert not app.registered_groups
    app.papers.command("mine")(lambda: None)
    with pytest.raises(PluginError, match="command 'mine' is there already"):
        app.papers.command("mine")(lambda: None)
    app.show_papers()
    assert [group.typer_instance.info.name for group in app.registered_groups] == ["paper"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands(shell):
    """What a shell's completion script runs when the tab key is pressed."""
    line = {
        "COMP_WORDS": "voirdire exam",
        "COMP_CWORD": "1",
        "_TYPER_COMPLETE_ARGS": "voirdire exam",
    }
    line |= {"_VOIRDIRE_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    code = "import sys; sys.argv = ['voirdire']; from voirdire.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **line},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "examine" in done.stdout, done.stderr
    assert "audit  " not in done.stdout

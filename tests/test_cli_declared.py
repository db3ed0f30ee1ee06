"""Commands of plugins whose parameters and help are a table."""

from __future__ import annotations

import importlib
import inspect
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from voirdire.cli.app import Application
from voirdire.cli.declared import add_commands
from voirdire.errors import PluginError
from voirdire.tabular import Section, Table, count, text
from voirdire_plugins.resources import resource

PAPERS = ("angst", "cbt_bench", "distortions", "mentalalign")
COMMANDS = [
    (paper, name, command)
    for paper in PAPERS
    for name, command in resource(paper, "commands")["commands"].items()
]


def _function(command):
    module, _, attribute = command["calls"].partition(":")
    return getattr(importlib.import_module(module), attribute)


@pytest.mark.parametrize(
    ("paper", "name", "command"), COMMANDS, ids=[f"{paper} {name}" for paper, name, _ in COMMANDS]
)
def test_a_paper_s_command_and_its_function_have_the_same_parameters(paper, name, command):
    signature = inspect.signature(_function(command))
    parts = {one.get("part", key): one for key, one in command["parameters"].items()}
    parts.pop("as_json", None)
    signature.bind(**parts)  # a TypeError names what the function lacks or asks besides
    for key, one in parts.items():
        asked = signature.parameters.get(key)
        if "default" in one and "part" not in one and asked is not None:
            default = one["default"]
            assert asked.default in (
                default,
                inspect.Parameter.empty,
                tuple(default) if isinstance(default, list) else default,
            ), (paper, name, key)


def given(**values):
    """What a declared command below calls."""
    rows = tuple((name, json.dumps(value, default=str)) for name, value in values.items())
    return Section("Given", "", (Table((text("Name"), text("Value")), rows),))


def failed(n):
    return [Section("Failed", "", (Table((count("n"),), ((n,),)),))], 3


def told(experts=()):
    return f"{len(experts)} experts"


def written(out):
    return Path(out) / "study.toml"


def _declared(**commands):
    whole = {
        name: {"calls": f"{__name__}:{name}", "help": "Help.", "examples": ["run me"], **one}
        for name, one in commands.items()
    }
    return {"name": "mine", "help": "Mine.", "commands": whole}


def _runs(declared, *arguments):
    app = Application()
    add_commands(app.papers, declared)
    app.show_papers()
    return CliRunner().invoke(app, ["paper", "mine", *arguments])


PARAMETERS = {
    "file": {"kind": "path", "argument": True},
    "model_options": {},
    "k": {"kind": "integer", "flags": ["-k"], "default": 2, "min": 1},
    "names": {"flags": ["--name"], "repeat": True},
    "ident": {"flags": ["--id"], "default": "id", "part": "columns"},
    "author": {"default": "", "part": "columns"},
    "order": {"choices": ["both", "random"], "default": "both"},
    "quiet": {"kind": "flag"},
    "as_json": {},
}


def test_a_function_gets_what_was_said_and_what_has_a_default():
    declared = _declared(given={"parameters": PARAMETERS}, told={"parameters": {}})
    said = _runs(
        declared,
        "given",
        "a.csv",
        "--name",
        "x",
        "--name",
        "y",
        "--model-option",
        "timeout=3",
        "--json",
    )
    assert said.exit_code == 0, said.output
    rows = {
        row["Name"]: json.loads(row["Value"])
        for row in json.loads(said.stdout)["tables"][0]["rows"]
    }
    assert rows == {
        "file": "a.csv", "model_options": {"timeout": 3}, "k": 2, "names": ["x", "y"],
        "columns": {"ident": "id"}, "order": "both", "quiet": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["given"], "Missing argument"),
        (["given", "a.csv", "-k", "0"], "equal to 1"),
        (["given", "a.csv", "--order", "none"], "is not one of"),
    ],
)
def test_what_may_not_be_said_is_a_usage_error(arguments, words):
    declared = _declared(given={"parameters": PARAMETERS}, told={"parameters": {}})
    said = _runs(declared, *arguments)
    assert said.exit_code == 2
    assert words in said.output


def test_an_exit_code_and_a_sentence_and_the_next_step_are_printed():
    says = {"parameters": {"experts": {"flags": ["--expert"], "repeat": True}}}
    declared = _declared(
        failed={"parameters": {"n": {"kind": "integer", "required": True}}},
        told={**says, "says": {"experts": "Give them sheets."}},
        written={"parameters": {"out": {}}, "benchmark": "mine"},
    )
    assert _runs(declared, "failed", "--n", "4").exit_code == 3
    assert _runs(declared, "told").output == "0 experts\n"
    assert _runs(declared, "told", "--expert", "a").output == "1 experts\nGive them sheets.\n"
    assert "voirdire examine mine --data SESSION" in _runs(declared, "written", "-o", "x").output


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ({"parameters": {"k": {"kind": "whole"}}}, "parameter 'k': kind 'whole' is unknown"),
        ({"parameters": {"k": {"hlep": ""}}}, "key 'hlep' is unknown .did you mean 'help'"),
        ({"parameters": {}, "call": ""}, "commands of mine, told: key 'call' is unknown"),
    ],
)
def test_a_wrong_table_is_refused_by_name(command, message):
    with pytest.raises(PluginError, match=message):
        add_commands(Application().papers, _declared(told=command))

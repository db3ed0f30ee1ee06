"""Plugins: each is loaded by itself, what is wrong is named, and outsiders use the same door."""

from __future__ import annotations

import copy
import json
import os
import re
import subprocess
import sys
import tomllib
import types
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import pytest
import typer

import voirdire
from voirdire import Plugins, hookspecs
from voirdire._manager import installed
from voirdire._registry import KINDS
from voirdire.cli.app import assemble
from voirdire.testing import load_plugins

ROOT = Path(__file__).resolve().parent.parent


def third_party(name: str, monkeypatch: pytest.MonkeyPatch, **members: object) -> EntryPoint:
    """An entry point of no distribution, whose module holds the given hook implementations."""
    module = types.ModuleType(f"plugin_{name}")
    for key, value in members.items():
        setattr(module, key, voirdire.hookimpl(value))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return EntryPoint(name, module.__name__, "voirdire")


def registering(*names: str, target: str = "json:loads"):
    def voirdire_register_judges(register):
        for name in names:
            register(name, target)

    return voirdire_register_judges


def test_hook_specifications_and_manager_stay_small():
    lines = {
        name: len((ROOT / "core/voirdire" / name).read_text().splitlines())
        for name in ("hookspecs.py", "_manager.py")
    }
    assert lines["hookspecs.py"] <= 64  # four lines a hook
    assert lines["_manager.py"] <= 105


def test_built_in_plugin_is_found_and_resolved_on_use():
    found = load_plugins(installed(), only="")
    assert "mentalalign" in found.versions
    assert found.failures == {}
    assert "mentalalign" in found.names("benchmark")
    assert found.resolve("benchmark", "mentalalign").study is not None


def test_broken_plugin_is_named_with_its_cause_and_the_rest_go_on(monkeypatch):
    good = third_party("good", monkeypatch, voirdire_register_judges=registering("strict"))
    broken = EntryPoint("broken", "no_such_module_anywhere", "voirdire")
    found = load_plugins([broken, good])
    assert found.names("judge") == ["strict"]
    assert "ModuleNotFoundError" in found.failures["broken"]
    assert "no_such_module_anywhere" in found.failures["broken"]


def test_the_second_plugin_of_a_name_is_left_out(monkeypatch):
    first = third_party("good", monkeypatch, voirdire_register_judges=registering("strict"))
    other = third_party("other", monkeypatch, voirdire_register_judges=registering("lenient"))
    second = EntryPoint("good", other.value, "voirdire")
    assert load_plugins([first, first]).failures == {}
    found = load_plugins([first, second])
    assert found.names("judge") == ["strict"]
    assert f"{second.value} has this name too" in found.failures["good"]


def test_a_plugin_that_ends_the_process_costs_only_itself(monkeypatch):
    def voirdire_register_models(register):
        sys.exit("no key")

    bad = third_party("bad", monkeypatch, voirdire_register_models=voirdire_register_models)
    good = third_party("good", monkeypatch, voirdire_register_judges=registering("strict"))
    found = load_plugins([bad, good])
    assert found.failures == {"bad": "SystemExit: no key"}
    assert found.names("judge") == ["strict"]


def test_a_hook_that_raises_costs_only_its_plugin(monkeypatch):
    def voirdire_register_models(register):
        raise RuntimeError("no licence file")

    bad = third_party("bad", monkeypatch, voirdire_register_models=voirdire_register_models)
    good = third_party("good", monkeypatch, voirdire_register_judges=registering("strict"))
    found = load_plugins([bad, good])
    assert found.failures == {"bad": "RuntimeError: no licence file"}
    assert found.names("judge") == ["strict"]


def test_unknown_hook_is_flagged_and_known_ones_are_heard(monkeypatch):
    def voirdire_register_jugdes(register):
        register("never", "json:loads")

    odd = third_party(
        "odd",
        monkeypatch,
        voirdire_register_judges=registering("strict"),
        voirdire_register_jugdes=voirdire_register_jugdes,
    )
    found = load_plugins([odd])
    assert found.names("judge") == ["strict"]
    assert "voirdire_register_jugdes" in found.failures["odd"]
    assert found.hooks["odd"] == ["voirdire_register_judges"]


def test_wrong_argument_of_a_hook_is_named(monkeypatch):
    def voirdire_register_judges(registry):
        registry("x", "json:loads")

    found = load_plugins(
        [third_party("odd", monkeypatch, voirdire_register_judges=voirdire_register_judges)]
    )
    assert "registry" in found.failures["odd"]


def test_a_name_taken_twice_keeps_the_first_and_names_both(monkeypatch):
    first = third_party("first", monkeypatch, voirdire_register_judges=registering("strict"))
    second = third_party("second", monkeypatch, voirdire_register_judges=registering("strict"))
    found = load_plugins([first, second])
    assert found.registered["judge", "strict"].plugin == "first"
    assert "registered by plugin 'first' already" in found.failures["second"]


def test_a_plugin_without_a_marked_hook_is_told_so(monkeypatch):
    module = types.ModuleType("plugin_idle")
    module.voirdire_register_judges = registering("strict")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    found = load_plugins([EntryPoint("idle", module.__name__, "voirdire")])
    assert found.failures["idle"].endswith("mark its hooks by @voirdire.hookimpl")


@pytest.mark.parametrize("name", ["examine", "session", "plugins"])
@pytest.mark.parametrize("group", [False, True])
def test_no_plugin_takes_the_place_of_a_command(monkeypatch, name, group):
    def voirdire_register_commands(app):
        if group:
            app.add_typer(typer.Typer(name=name))
        app.command("hello")(lambda: None)
        app.command(name)(lambda: None)

    points = [
        *(point for point in installed() if point.dist.name == "voirdire"),
        third_party("mine", monkeypatch, voirdire_register_commands=voirdire_register_commands),
    ]
    monkeypatch.setenv("VOIRDIRE_LOAD_PLUGINS", "mine")
    monkeypatch.setattr("voirdire.cli.app.installed", lambda *_: points)
    app, found = assemble()
    assert found.failures == {
        "mine": f"PluginError: command {name!r} is there already: register it by another name"
    }
    assert ("hello" in [command.name for command in app.registered_commands]) is not group


def test_target_must_be_module_and_attribute(monkeypatch):
    found = load_plugins(
        [third_party("odd", monkeypatch, voirdire_register_judges=registering("x", target="json"))]
    )
    assert '"module:attribute"' in found.failures["odd"]


def test_third_parties_can_be_restricted_and_built_ins_stay(monkeypatch):
    extra = third_party("extra", monkeypatch, voirdire_register_judges=registering("strict"))
    everything = [*installed(), extra]
    assert "extra" in load_plugins(everything, only=None).versions
    assert "extra" in load_plugins(everything, only="other, extra").versions
    restricted = load_plugins(everything, only="")
    assert "extra" not in restricted.versions
    assert "mentalalign" in restricted.versions


def test_unknown_name_lists_what_is_known_and_what_failed(monkeypatch):
    found = load_plugins(
        [
            EntryPoint("broken", "no_such_module_anywhere", "voirdire"),
            third_party("good", monkeypatch, voirdire_register_judges=registering("strict")),
        ]
    )
    with pytest.raises(
        voirdire.PluginError, match=r"no judge 'lenient' \(known: strict\); plugin 'broken' failed"
    ):
        found.resolve("judge", "lenient")


def test_a_missing_extra_says_what_to_install(monkeypatch):
    plugin = third_party(
        "gpu", monkeypatch, voirdire_register_judges=registering("x", target="needs_torch:make")
    )
    module = types.ModuleType("needs_torch")
    module.__getattr__ = lambda name: (_ for _ in ()).throw(
        ModuleNotFoundError("No module named 'torch'", name="torch")
    )
    monkeypatch.setitem(sys.modules, "needs_torch", module)
    with pytest.raises(voirdire.MissingExtraError, match=r"pip install 'voirdire\[hf\]'"):
        load_plugins([plugin]).resolve("judge", "x")


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("no_such_module_anywhere:make", "ModuleNotFoundError: No module named 'no_such_module"),
        ("json:no_such_name", "AttributeError: module 'json' has no attribute 'no_such_name'"),
        ("divides_by_nought:make", "ZeroDivisionError: division by zero"),
    ],
)
def test_what_cannot_be_loaded_names_the_plugin_the_target_and_the_cause(
    monkeypatch, tmp_path, target, says
):
    (tmp_path / "divides_by_nought.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    members = {"voirdire_register_judges": registering("x", target=target)}
    with pytest.raises(voirdire.PluginError) as error:
        load_plugins([third_party("mine", monkeypatch, **members)]).resolve("judge", "x")
    begin = f"judge 'x' of plugin 'mine': {target} cannot be loaded: {says}"
    assert str(error.value).startswith(begin)


def run(*args: str, only: str | None = "") -> subprocess.CompletedProcess[str]:
    import os

    env = {key: value for key, value in os.environ.items() if key != "VOIRDIRE_LOAD_PLUGINS"}
    if only is not None:
        env["VOIRDIRE_LOAD_PLUGINS"] = only
    return subprocess.run(
        [sys.executable, "-m", "voirdire", *args],
        capture_output=True,
        text=True,
        env=env,
        check=False,
    )


def test_plugins_command_lists_as_json():
    rows = json.loads(run("plugins", "--json").stdout)["plugins"]
    row = next(row for row in rows if row["name"] == "mentalalign")
    assert row["version"] == voirdire.__version__
    assert row["hooks"] == ["voirdire_register_benchmarks", "voirdire_register_commands"]
    assert row["registers"][0]["name"] == "mentalalign"
    assert row["failure"] is None


def test_a_plugin_that_is_not_installed_is_said():
    assert "haikuu: no such plugin" in run("plugins", only="haikuu").stdout
    rows = json.loads(run("plugins", "--json", only="haikuu").stdout)["plugins"]
    assert rows[-1]["failure"] == "no such plugin"


def test_plugins_command_prints_a_table():
    printed = run("plugins").stdout
    assert "mentalalign" in printed
    assert "benchmark mentalalign" in printed


def test_the_example_distribution_is_found():
    pytest.importorskip("voirdire_example", reason="pip install -e plugins/example")
    rows = json.loads(run("plugins", "--json", only=None).stdout)["plugins"]
    row = next(row for row in rows if row["name"] == "example")
    assert row["registers"] == [
        {"kind": "judge", "name": "next-step", "target": "voirdire_example.judge:make"}
    ]
    shown = json.loads(run("plugins", "--json").stdout)["plugins"]
    assert "example" not in {row["name"] for row in shown}


def test_every_hook_and_argument_is_documented():
    text = (ROOT / "docs/plugins.md").read_text()
    hooks = [name for name in vars(hookspecs.Hooks) if name.startswith("voirdire_")]
    assert len(hooks) >= 8
    for hook in hooks:
        argument = "app" if hook.endswith("commands") else "register"
        assert f"`{hook}({argument})`" in text


def test_every_ability_of_a_plugin_object_is_documented():
    from voirdire import protocols

    text = (Path(__file__).parent.parent / "docs" / "plugins.md").read_text("utf-8")
    kinds = {"ChatModel", "Judge", "Annotator", "Generator", "Classifier", "Embedder"}
    kinds |= {"ExampleSelector", "ModelFactory", "JudgeFactory", "ClassifierFactory", "Protocol"}
    kinds |= {"Executor"}  # a kind of its own, described in docs/scale.md
    kinds |= {"Batches"}  # what `TakesBatches` gives
    kinds |= {"Optimizer"}  # a kind of its own, described in docs/tune.md
    abilities = [
        name
        for name, value in vars(protocols).items()
        if isinstance(value, type) and getattr(value, "_is_protocol", False) and name not in kinds
    ]
    assert len(abilities) > 15
    for name in abilities:
        (row,) = re.findall(rf"^\| `{name}` \| (.*?) \|", text, re.MULTILINE)
        members = [part for part in vars(getattr(protocols, name)) if not part.startswith("_")]
        assert all(f"`{member}" in row for member in members), (name, members)


def loaded_by(code: str) -> list[str]:
    """Modules of plugins that a process imports."""
    script = (
        f"import sys\nfrom voirdire._manager import plugins\n{code}\n"
        "print(*sorted(n for n in sys.modules if n.startswith(('voirdire_', 'voirdire.executors'))))"
    )
    env = {**os.environ, "VOIRDIRE_LOAD_PLUGINS": ""}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=env
    )
    return done.stdout.split()


@pytest.mark.skipif(
    not entry_points(group="voirdire.reader"),
    reason="voirdire was installed before its entry points stood by kind: pip install -e . anew",
)
def test_who_asks_for_readers_imports_no_judge_and_no_benchmark():
    assert loaded_by("") == []
    readers = ["voirdire_plugins", "voirdire_plugins.readers"]
    assert loaded_by("plugins().names('reader')") == readers
    of_all = loaded_by("plugins().whole()")
    assert {"voirdire_judges._register", "voirdire_plugins.angst"} <= set(of_all)


def test_built_ins_stand_under_every_kind_that_they_bring():
    declared = {}
    with (ROOT / "pyproject.toml").open("rb") as file:
        groups = tomllib.load(file)["project"]["entry-points"]
    for group, points in groups.items():
        for name, value in points.items():
            if group.startswith("voirdire."):
                declared.setdefault((name, value), set()).add(group.removeprefix("voirdire."))
    for (name, value), kinds in declared.items():
        hooks = load_plugins([EntryPoint(name, value, "voirdire")]).hooks[name]
        brought = {hook.removeprefix("voirdire_register_").removesuffix("s") for hook in hooks}
        assert brought == kinds, name


def test_a_plugin_of_one_kind_is_imported_when_that_kind_is_asked_for(monkeypatch):
    def never(register):
        raise AssertionError("only readers were asked for")

    def readers(register):
        register("mine", "json:loads")

    both = third_party(
        "both", monkeypatch, voirdire_register_readers=readers, voirdire_register_judges=never
    )
    reader = EntryPoint("both", both.value, "voirdire.reader")
    judge = EntryPoint("other", "no_such_module_anywhere", "voirdire.judge")
    found = load_plugins([reader, judge], kinds=("reader",))
    assert (found.names("reader"), found.failures) == (["mine"], {})
    # The same module again, for the other kind that it stands under.
    again = EntryPoint("both", both.value, "voirdire.judge")
    load_plugins([again, judge], kinds=("judge",), into=found)
    assert "only readers were asked for" in found.failures["both"]
    assert "no_such_module_anywhere" in found.failures["other"]


def test_kinds_are_asked_for_once_and_a_copy_asks_for_itself():
    calls = []

    def ask(registry, kind):
        calls.append(kind)
        registry.add(kind, "mine", f"a-{kind}", "json:loads")

    found = Plugins(ask=ask)
    assert (found.names("judge"), found.get("judge", "a-judge").plugin) == (["a-judge"], "mine")
    copied = copy.deepcopy(found)
    assert (copied.names("judge"), copied.names("reader")) == (["a-judge"], ["a-reader"])
    assert calls == ["judge", "reader"]
    assert found.names("reader") == ["a-reader"]
    assert len(found.whole().registered) == len(KINDS)


AFTER_A_FAILURE = """
import importlib.abc, sys
from voirdire import PluginError
from voirdire._manager import plugins

class Once(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "voirdire_judges._register":
            sys.meta_path.remove(self)
            raise {error}

sys.meta_path.insert(0, Once())
try:
    print(plugins().resolve("model", "compatible").__name__)
except KeyboardInterrupt:
    print(plugins().resolve("model", "compatible").__name__)
print(plugins().failures)
print("rubric" in plugins().names("judge"))
"""
NO_FILE_HANDLES = """
import resource
from voirdire import PluginError
from voirdire._manager import plugins

resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
held = []
try:
    while True:
        held.append(open("/dev/null"))
except OSError:
    pass
try:
    plugins().resolve("model", "compatible")
except PluginError as error:
    said = str(error)
for file in held:
    file.close()
print(said)
print(plugins().resolve("model", "compatible").__name__, plugins().failures)
"""


def script(code: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "VOIRDIRE_LOAD_PLUGINS": ""},
    )
    return done.stdout.splitlines()


@pytest.mark.parametrize("error", ["KeyboardInterrupt", "OSError(24, 'Too many open files')"])
def test_a_load_that_failed_once_is_tried_again(error):
    assert script(AFTER_A_FAILURE.format(error=error)) == ["make", "{}", "True"]


@pytest.mark.skipif(sys.platform == "win32", reason="limits of open files are Unix's")
def test_plugins_that_could_not_be_listed_are_listed_later():
    said, later = script(NO_FILE_HANDLES)
    assert "not even the plugins of voirdire are found" in said
    assert later == "make {}"


def test_a_plugin_that_failed_halfway_is_loaded_anew_when_its_name_is_missed(monkeypatch):
    licence = []

    def voirdire_register_judges(register):
        register("first", "json:loads")
        if not licence:
            raise RuntimeError("no licence file")
        register("second", "json:dumps")

    point = third_party("mine", monkeypatch, voirdire_register_judges=voirdire_register_judges)
    found = Plugins(ask=lambda into, kind: load_plugins([point], kinds=(kind,), into=into))
    with pytest.raises(
        voirdire.PluginError, match=r"known: first\); plugin 'mine' failed: .*no licence file"
    ):
        found.resolve("judge", "second")
    licence.append("here")
    assert found.resolve("judge", "second") is json.dumps
    assert (found.failures, found.names("judge")) == ({}, ["first", "second"])

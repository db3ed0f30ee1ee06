"""The page of examples runs from top to bottom, and has one for each hook and protocol."""

from __future__ import annotations

import contextlib
import importlib
import io
import re
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from voirdire import hookspecs, protocols
from voirdire.testing import check_registered, load_plugins

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "by-example.md").read_text("utf-8")
FENCE = re.compile(r"```(python|text)\n(.*?)```", re.DOTALL)
#: Name in backticks of each heading -> the blocks below it.
SECTIONS = {
    heading: FENCE.findall(body)
    for heading, body in re.findall(r"^### (.*)\n((?:(?!^##).*\n?)*)", PAGE, re.MULTILINE)
}
TOLD = {name: heading for heading in SECTIONS for name in re.findall(r"`(\w+)`", heading)}
HOOKS = [name for name in vars(hookspecs.Hooks) if name.startswith("voirdire_register_")]
PROTOCOLS = {
    name: one
    for name, one in vars(protocols).items()
    if getattr(one, "_is_protocol", False) and one.__module__ == protocols.__name__
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """What each block defines, by heading; files of the page stand in a folder of their own."""
    folder = tmp_path_factory.mktemp("by_example")
    before, found = set(sys.modules), {}
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        for heading, blocks in SECTIONS.items():
            printed, spaces = "", []
            for kind, text in blocks:
                named = re.match(r"# (\w+)\.py\n", text)
                if kind == "text":
                    assert printed.strip() == text.strip(), heading
                elif named:
                    (folder / f"{named[1]}.py").write_text(text, "utf-8")
                    importlib.invalidate_caches()
                    spaces.append(vars(importlib.import_module(named[1])))
                else:
                    with contextlib.redirect_stdout(io.StringIO()) as out:
                        exec(compile(text, heading, "exec"), space := {"__name__": "block"})
                    printed = out.getvalue()
                    spaces.append(space)
            found[heading] = spaces
        yield found
        for name in set(sys.modules) - before:
            if Path(getattr(sys.modules[name], "__file__", None) or "/").is_relative_to(folder):
                del sys.modules[name]


@pytest.mark.parametrize("name", HOOKS)
def test_each_hook_has_an_example_that_keeps_its_contract(ran, name):
    assert name in TOLD, f"docs/by-example.md has no example of {name}"
    (module,) = [space["__name__"] for space in ran[TOLD[name]] if name in space]
    plugins = load_plugins([EntryPoint(module, module, "voirdire")])
    assert (plugins.failures, plugins.hooks) == ({}, {module: [name]})
    states = {one.name: check_registered(one, plugins) for one in plugins.registered.values()}
    assert states or name == "voirdire_register_commands"
    assert not [one for one in states.values() if one.state == "broken"]


@pytest.mark.parametrize("name", PROTOCOLS)
def test_each_protocol_has_an_example_with_its_members(ran, name):
    assert name in TOLD, f"docs/by-example.md has no example of {name}"
    wanted = {member for one in PROTOCOLS[name].__mro__ for member in members_of(one)}
    if wanted == {"__call__"}:
        assert any(callable(space.get("make")) for space in ran[TOLD[name]])
    elif name == "CostsNothing":
        assert any(getattr(space.get("make"), "free", False) for space in ran[TOLD[name]])
    else:
        classes = [one for s in ran[TOLD[name]] for one in s.values() if isinstance(one, type)]
        written = {
            one.__name__: one.__init__.__code__.co_names if has_init(one) else () for one in classes
        }
        assert any(
            all(hasattr(one, member) or member in written[one.__name__] for member in wanted)
            for one in classes
        ), wanted


def has_init(one):
    return hasattr(one.__init__, "__code__")


def members_of(one):
    """Members that a protocol asks for by itself."""
    if not getattr(one, "_is_protocol", False) or one.__module__ != protocols.__name__:
        return set()
    own = {name for name in vars(one) if not name.startswith("_") or name == "__call__"}
    return own | set(one.__annotations__ if "__annotations__" in vars(one) else ())

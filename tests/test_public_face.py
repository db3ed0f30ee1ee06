"""What a third party may import: the packages of this repository import nothing else of core."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest

import voirdire
from voirdire import stats, store

ROOT = Path(__file__).parent.parent
ROOMS = {
    "voirdire": ROOT / "core" / "voirdire",
    "voirdire_judges": ROOT / "judges" / "voirdire_judges",
    "voirdire_retrieval": ROOT / "retrieval" / "voirdire_retrieval",
    "voirdire_plugins": ROOT / "plugins" / "voirdire_plugins",
    "voirdire_example": ROOT / "plugins" / "example" / "voirdire_example",
}
#: Functions, the study and the examination, estimates, plugins.
WORK = {
    "Estimate", "Examination", "Interval", "Plugins", "ReadOptions", "Study", "alt_test", "arun", "build_study",
    "cohen_kappa", "correct", "costs_nothing", "examine", "fleiss_kappa", "gwet_ac", "hookimpl",
    "icc", "joint_agreement", "kappa_f1", "krippendorff_alpha", "load_study", "measure", "plugins",
    "run", "write_outputs",
}  # fmt: skip
#: What an author of judges, annotators and models writes and reads.
NOUNS = {
    "Attribute", "Comparison", "Finding", "Flag", "Item", "Message", "Parsed", "Rating", "Reply",
    "Request", "Response", "Rubric", "Sampling", "Scale", "Turn", "Usage",
}  # fmt: skip


def private_imports(text: str, own: str) -> list[str]:
    """Modules with an underscore that a file takes from another of the packages."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules = [node.module, *(f"{node.module}.{name.name}" for name in node.names)]
        elif isinstance(node, ast.Import):
            modules = [name.name for name in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            modules = re.findall(r"\bvoirdire\w*(?:\.\w+)+(?=:)", node.value)  # "module:attribute"
        else:
            continue
        for module in modules:
            package, *parts = module.split(".")
            private = any(part.startswith("_") and not part.endswith("__") for part in parts)
            if package in ROOMS and package != own and private:
                found.append(module)
    return found


@pytest.mark.parametrize("package", [name for name in ROOMS if name != "voirdire"])
def test_no_package_imports_a_private_module_of_another(package):
    files = [path for suffix in ("py", "pyi") for path in ROOMS[package].rglob(f"*.{suffix}")]
    assert files
    taken = {str(f): private_imports(f.read_text("utf-8"), package) for f in files}
    assert {path: modules for path, modules in taken.items() if modules} == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from voirdire._manager import plugins", ["voirdire._manager", "voirdire._manager.plugins"]),
        ("from voirdire.store import _lock", ["voirdire.store._lock"]),
        ("import voirdire.tables._files", ["voirdire.tables._files"]),
        ("x = 'voirdire_judges._chat:make'", ["voirdire_judges._chat"]),
        ("from voirdire import __version__, InputError", []),
        ("from voirdire_plugins.angst._commands import register", []),
    ],
)  # fmt: skip
def test_private_imports_are_seen(text, expected):
    assert private_imports(text, "voirdire_plugins") == expected


def test_the_root_holds_what_its_users_and_plugin_authors_need():
    errors = {name for name in voirdire.__all__ if name.endswith("Error")}
    every = (ROOMS["voirdire"] / "errors.py").read_text("utf-8")
    assert errors == set(re.findall(r"^class (\w+Error)\(", every, re.MULTILINE))
    assert set(voirdire.__all__) == WORK | NOUNS | errors | {"__version__"}
    assert voirdire.icc is voirdire.stats.icc


def test_the_store_exports_what_is_read_of_a_session():
    assert len(store.__all__) == 10
    assert all(getattr(store, name) is not None for name in store.__all__)


def test_every_word_stands_once_on_the_page_of_words():
    text = (ROOT / "docs" / "words.md").read_text("utf-8")
    words = re.findall(r"^\| \*\*([\w ]+)\*\* \| \S", text, re.MULTILINE)
    assert len(words) == len(set(words)) > 60
    nouns = {name.casefold() for name in NOUNS | {"Study", "Examination", "Estimate", "Interval"}}
    assert nouns <= set(words)


@pytest.mark.parametrize(
    "path", [*(ROOT / "docs").glob("*.md"), ROOT / "README.md"], ids=lambda p: p.name
)
def test_pages_have_short_paragraphs(path):
    """A wall of text is not read: no line over 400 characters, tables and code aside."""
    code = False
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        code ^= line.startswith("```")
        if not code and not line.startswith("|"):
            assert len(line) <= 400, f"{path.name}:{number}"


DESCRIBED = (
    "voirdire", "voirdire.stats", "voirdire.schema", "voirdire.protocols", "voirdire.errors",
    "voirdire.parsing", "voirdire.tables", "voirdire.tabular", "voirdire.study", "voirdire.store",
    "voirdire.running", "voirdire.examining", "voirdire.report", "voirdire.humans",
    "voirdire.probes", "voirdire.tools", "voirdire.identity", "voirdire.executors", "voirdire.testing",
    "voirdire_retrieval",
)  # fmt: skip


@pytest.mark.parametrize("package", DESCRIBED)
def test_every_public_name_says_what_it_is(package):
    """A class that says nothing has its signature as docstring: that is none."""
    module = importlib.import_module(package)
    own = [name for name, one in vars(module).items() if getattr(one, "__module__", "") == package]
    names = getattr(module, "__all__", own)
    things = {name: getattr(module, name) for name in names if not name.startswith("_")}
    said = {
        name: inspect.getdoc(one) or ""
        for name, one in things.items()
        if inspect.isfunction(one) or inspect.isclass(one)
    }
    assert [name for name, text in said.items() if not text or text.startswith(f"{name}(")] == []


STATISTICS = sorted(name for name in stats.__all__ if inspect.isfunction(getattr(stats, name)))


@pytest.mark.parametrize("name", STATISTICS)
def test_every_statistic_says_its_shapes_errors_example_and_source(name):
    text = inspect.getdoc(getattr(stats, name)) or ""
    sections = set(re.findall(r"^(\w+)\n-+$", text, re.MULTILINE))
    assert {"Parameters", "Returns", "Raises", "Examples"} <= sections
    assert sections & {"References", "Notes"} or re.search(r"\b(19|20)\d\d\b", text)

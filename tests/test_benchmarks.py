"""Benchmarks run for minutes, so the suite runs few of them; what they import has to be there."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).parents[1] / "benchmarks").glob("*.py"))
OURS = ("voirdire", "voirdire_judges", "voirdire_retrieval", "voirdire_plugins")


def imported(script):
    """Every name that a script takes from our packages, wherever it takes it: (module, name)."""
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in OURS:
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] in OURS:
                    yield alias.name, None


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_what_a_benchmark_imports_is_there(script):
    absent = []
    for module, name in imported(script):
        taken = importlib.import_module(module)
        if name is not None and not hasattr(taken, name):
            try:
                importlib.import_module(f"{module}.{name}")
            except ModuleNotFoundError:
                absent.append(f"{module}.{name}")
    assert absent == []


def test_benchmarks_do_import_something_of_ours():
    assert sum(1 for script in SCRIPTS for _ in imported(script)) > 60

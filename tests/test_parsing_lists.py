"""The lists of the parsers do not grow again: expressions are counted, modules stay readable."""

from __future__ import annotations

import ast
from pathlib import Path

import voirdire.parsing

FILES = sorted(Path(voirdire.parsing.__file__).parent.glob("*.py"))


def test_the_parsers_hold_fewer_than_180_expressions() -> None:
    """Words and phrases are read by `Phrases` and by the words of languages."""
    compiled = [
        f"{path.name}:{node.lineno}"
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("re.compile", "pattern")
    ]
    assert 100 < len(compiled) < 180


def test_no_module_of_the_parsers_has_500_lines() -> None:
    lengths = {path.name: len(path.read_text("utf-8").splitlines()) for path in FILES}
    assert {name: lines for name, lines in lengths.items() if lines >= 500} == {}

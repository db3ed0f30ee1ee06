"""Editors see the public names as mypy does: pyright reads a file that uses every one of them."""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
import sys

import pytest

ROOMS = (
    "voirdire",
    *(f"voirdire.{room}" for room in ("stats", "running", "store", "report", "parsing")),
)


@pytest.mark.skipif(shutil.which("pyright") is None, reason="pyright is not installed")
def test_every_public_name_has_a_type(tmp_path):
    lines = ["import typing", ""]
    for room in ROOMS:
        for name in sorted(importlib.import_module(room).__all__):
            if not name.startswith("_"):
                alias = f"{room}_{name}".replace(".", "_")
                lines += [f"from {room} import {name} as {alias}", f"reveal_type({alias})"]
    (tmp_path / "uses.py").write_text("\n".join(lines))
    command = ["pyright", "--outputjson", "--pythonpath", sys.executable, "uses.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    said = json.loads(done.stdout)
    assert said["summary"]["errorCount"] == 0, said["generalDiagnostics"][:5]
    revealed = [one["message"] for one in said["generalDiagnostics"] if "Type of" in one["message"]]
    assert len(revealed) > 200
    assert [text for text in revealed if text.endswith('is "Unknown"')] == []

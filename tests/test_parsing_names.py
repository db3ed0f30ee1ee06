"""The room's public names, and that importing it stays light."""

from __future__ import annotations

import subprocess
import sys

import voirdire.parsing as room


def test_public_names_are_those_of_all() -> None:
    # pytest leaves names with @ in the modules of a package that brings a plugin for it.
    hidden = ("_", "@")
    public = [n for n in vars(room) if not n.startswith(hidden) and n != "annotations"]
    modules = {
        "choices",
        "columns",
        "fields",
        "labels",
        "numbers",
        "options",
        "preferences",
        "questionnaires",
        "scores",
        "yesno",
    }
    order = sorted(name for name in public if name not in modules)
    assert sorted(room.__all__) == order


def test_every_status_of_a_reason_is_declared() -> None:
    from voirdire.schema import STATUSES

    assert set(room.REASONS.values()) <= set(STATUSES)


def test_the_room_needs_no_table_library() -> None:
    code = "import sys, voirdire.parsing; print({'polars', 'numpy', 'pydantic'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"

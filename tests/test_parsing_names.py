"""The room's public names, and that importing it stays light."""

from __future__ import annotations

import subprocess
import sys

import voirdire.parsing as room


def test_public_names_are_those_of_all() -> None:
    assert sorted(room.__all__) == room.__all__ == dir(room)
    assert all(getattr(room, name) is not None for name in room.__all__)


def test_every_status_of_a_reason_is_declared() -> None:
    from voirdire.schema import STATUSES

    assert set(room.REASONS.values()) <= set(STATUSES)


def test_the_room_needs_no_table_library() -> None:
    code = "import sys, voirdire.parsing; print({'polars', 'numpy', 'pydantic'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"

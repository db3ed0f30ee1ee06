"""What others wrote moves no terminal: control characters are written out."""

from __future__ import annotations

import subprocess
import sys


def run(*args):
    command = [sys.executable, "-m", "voirdire", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_ids_and_messages_with_escapes(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("item,human,judge\nx\x1b[31m,,1\nb,2,2\nc,3,5\n")
    audited = run("audit", path)
    assert r"item x\x1b[31m" in audited.stdout
    path.write_text("item,human,judge\nx\x1b[31m,good,1\nb,2,2\nc,3,5\n")
    failed = run("audit", path)
    assert failed.returncode == 1
    assert r"(item 'x\x1b[31m')" in failed.stderr
    assert "\x1b" not in audited.stdout + failed.stderr

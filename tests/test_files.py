"""Files are there whole or not at all."""

from __future__ import annotations

import json
import stat
import sys

import pytest

from voirdire.errors import TableError
from voirdire.files import file_hash, whole, write_json, write_text


def test_a_file_is_written_whole_over_an_older_one(tmp_path):
    path = tmp_path / "new" / "a.txt"
    write_text(path, "first\r\nline")
    write_text(path, "second")
    assert path.read_bytes() == b"second"
    assert [file.name for file in path.parent.iterdir()] == ["a.txt"]


def test_what_breaks_leaves_the_old_file_and_no_draft(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "old")

    def break_off():
        with whole(path) as draft:
            draft.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off()
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]


def test_line_ends_stay_as_they_are(tmp_path):
    write_text(tmp_path / "a.txt", "one\r\ntwo\n")
    assert (tmp_path / "a.txt").read_bytes() == b"one\r\ntwo\n"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
def test_a_secret_is_its_owners_from_the_first_byte_also_after_a_kill(tmp_path):
    path = tmp_path / "key.json"
    (tmp_path / "key.json.draft").write_text("left by a kill, readable by all")
    with whole(path, mode=0o600) as draft:
        assert stat.S_IMODE(draft.stat().st_mode) == 0o600
        draft.write_text("secret")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text() == "secret"


def test_json_is_read_back(tmp_path):
    write_json(tmp_path / "a.json", {"où": [1, None], "path": tmp_path})
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8")) == {
        "où": [1, None],
        "path": str(tmp_path),
    }


def test_the_hash_is_sha256(tmp_path):
    """The value is FIPS 180-4's for "abc"."""
    write_text(tmp_path / "a.txt", "abc")
    assert file_hash(tmp_path / "a.txt") == (
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )


def test_what_is_not_there_is_an_error_that_names_what_is_near(tmp_path):
    write_text(tmp_path / "ratings.csv", "")
    with pytest.raises(TableError, match=r"rating\.csv: there is no such file .*'ratings\.csv'"):
        file_hash(tmp_path / "rating.csv")

"""The page of nine public sets says what its commands say; `python docs/alttest.py` writes it."""

from __future__ import annotations

import importlib.util
import json
from contextlib import chdir
from pathlib import Path

import pytest
from command_line import invoke

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def page():
    spec = importlib.util.spec_from_file_location("alttest_page", ROOT / "docs" / "alttest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_of_nine_sets_has_a_command_and_a_table(page):
    found = page.sections(page.PAGE.read_text("utf-8"))
    assert len(found) == 9
    for words, columns, _ in found.values():
        assert words[0] == "examine"
        assert {"judge", "single"} <= set(columns)


# A set of preferences and one of labels: all nine take half a minute.
@pytest.mark.parametrize("name", ["mtbench", "wax"])
def test_the_table_is_what_the_command_says(page, name, shared):
    words, columns, table = page.sections(page.PAGE.read_text("utf-8"))[name]
    with chdir(shared / "data" / "alttest" / name):
        said = invoke([*words, "--json", "--resamples", "0"])
    assert said.exit_code == 0
    assert page.table_of(json.loads(said.stdout)["verdicts"], columns) == table

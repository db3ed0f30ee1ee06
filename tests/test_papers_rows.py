"""docs/papers.md: one row for each table, figure, equation and prompt, each with what it rests on."""

from __future__ import annotations

import random
import re

import pytest
from page_player import blocks
from paper_pages import DOCS, PAGES, rows, typed

STATES = {"runs", "from the files", "checked", "not here"}
#: Tables, figures and numbered equations of each paper.
COUNTS = {
    "distortions": (10, 2, 2), "mentalalign": (16, 5, 8), "cbt_bench": (29, 12, 0),
    "angst": (21, 0, 0),
}  # fmt: skip
#: Prompts that a paper prints, or describes, by how their rows begin.
PROMPTS = {
    "distortions": ["Prompt RLP", "Prompt MLP"],
    "mentalalign": ["Prompt for responses", "Prompt for judges"],
    "cbt_bench": [f"Table {n}, prompt" for n in range(18, 23)],
    "angst": ["Table 9, zero- and few-shot prompts", "Table 17, open question",
              *(f"Table {n}, prompt" for n in range(18, 22))],
}  # fmt: skip


def papers():
    """Page -> its rows (element, state, command, figure)."""
    found = {}
    for part in (DOCS / "papers.md").read_text("utf-8").split("\n## ")[1:]:
        page = re.search(r"\(([a-z_]+)\.md\)", part)[1]
        lines = [line for line in part.splitlines() if line.startswith("| ")]
        found[page] = [
            tuple(cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]) for line in lines[1:]
        ]
    return found


@pytest.mark.parametrize("page", PAGES)
def test_every_table_figure_equation_and_prompt_has_one_row(page):
    elements = [row[0] for row in papers()[page]]
    for kind, count in zip(("Table", "Figure", "Equation"), COUNTS[page], strict=True):
        numbers = [int(m[1]) for one in elements if (m := re.match(rf"{kind} (\d+),", one))]
        assert numbers == list(range(1, count + 1)), kind
    for start in PROMPTS[page]:
        assert sum(one.startswith(start) for one in elements) == 1, start
    assert len(set(elements)) == len(elements)


@pytest.mark.parametrize("page", PAGES)
def test_a_row_has_a_state_a_command_and_a_figure(page):
    """Commands are those of the paper's own page, where tests run each of them."""
    known = {line for _, commands in rows(page) for line in commands} | set(blocks(page))
    for element, state, command, figure in papers()[page]:
        assert state in STATES, element
        assert figure, element
        if state == "not here":
            assert not command, element
        else:
            assert command.strip("`") in known, f"{element}: {command}"


def test_thirty_rows_drawn_by_a_named_seed_name_commands_that_exist():
    every = [row for page in PAGES for row in papers()[page] if row[2]]
    for element, _, command, _ in random.Random("papers 32").sample(every, 30):
        assert not typed(command.strip("`")), element


def test_modules_that_the_page_of_statistics_names_are_there():
    text = (DOCS / "statistics.md").read_text("utf-8")
    modules = set(re.findall(r"`(_[a-z_]+)`", text))
    assert len(modules) >= 4
    for name in modules:
        assert (DOCS.parent / f"core/voirdire/stats/{name}.py").is_file(), name

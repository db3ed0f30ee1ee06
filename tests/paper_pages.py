"""The four papers' pages of the docs as a user reads them: commands in fences, rows of elements."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from command_line import invoke

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES = ("distortions", "mentalalign", "cbt_bench", "angst")
TITLE = "## The paper, element by element"


def rows(page):
    """(element, commands) of a page's table of elements; a row without a command has none."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8").partition(TITLE)[2]
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    found = [(line[0], " ".join(line[1:])) for line in lines[1:]]
    return [(element, re.findall(r"`(voirdire [^`]+)`", here)) for element, here in found]


def fenced(page, heading):
    """The commands in the first fence under a heading, continued lines joined, comments off."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8").partition(f"## {heading}\n")[2]
    block = re.search(r"```\n(.*?)```", text, re.DOTALL).group(1).replace("\\\n", " ")
    lines = [line.partition(" # ")[0].strip() for line in block.splitlines()]
    return [line for line in lines if line.startswith("voirdire ")]


def typed(line):
    """What is wrong with a command; nothing where it exists and takes the options that are named.

    Values may be the reader's own (FILE, FOLDER): `--help` is met before they are looked at.
    """
    done = invoke([*shlex.split(line)[1:], "--help"])
    if done.exit_code != 0:
        return done.output
    return "it names a group of commands" if "COMMAND [ARGS]" in done.output else ""


def run_line(line, codes=(0,)):
    """Run a command as it stands, in the working directory; its output, or an AssertionError."""
    done = invoke(shlex.split(line)[1:])
    assert done.exit_code in codes, f"{line}\n{done.output}\n{done.exception!r}"
    return done.output

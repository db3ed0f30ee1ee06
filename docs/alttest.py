"""Run the commands of alttest.md and write their answers into its tables.

python docs/alttest.py FOLDER            # the folder with a folder a set: ../shared/data/alttest
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parent / "alttest.md"
#: A heading, its command, and the table below it.
SECTION = re.compile(
    r"""
    ^\#\#[ ](?P<name>\S+)\n
    (?P<text>.*?)
    ^```\n(?P<command>.*?)\n```\n\n
    (?P<table>(?:^\|[^\n]*\n)+)
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
WHY = "why not *single*"
#: So many names of a list are shown.
NAMED = 3


def sections(text: str) -> dict[str, tuple[list[str], list[str], str]]:
    """Set -> its command's words, the columns of its table, and the table itself."""
    return {
        found["name"]: (
            shlex.split(found["command"])[1:],
            [cell.strip() for cell in found["table"].split("\n", 1)[0].strip("|").split("|")],
            found["table"],
        )
        for found in SECTION.finditer(text)
    }


def table_of(verdicts: list[dict[str, Any]], columns: list[str]) -> str:
    """A row a judge: the states of each use, counted where there are several, and why."""
    judges = list(dict.fromkeys(one["judge"] for one in verdicts))
    lines = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    for judge in judges:
        own = [one for one in verdicts if one["judge"] == judge]
        cells = [judge, *(_cell(own, column) for column in columns[1:])]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(verdicts: list[dict[str, Any]], column: str) -> str:
    if column == WHY:
        (single,) = (one for one in verdicts if one["use"] == "single")
        return _first(single["why"]) if single["state"] in ("no", "open") else ""
    asked = [one for one in verdicts if one["use"] == column and one["target"] == "these systems"]
    if column == "filter":
        return ", ".join(one["label"] for one in asked if one["state"] == "yes") or "-"
    states = Counter(one["state"] for one in asked).most_common()
    return states[0][0] if len(asked) == 1 else ", ".join(f"{n} {state}" for state, n in states)


def _first(why: str) -> str:
    """The first sentence, with the first names of a long list."""
    said = re.split(r"(?<=[^\d])\. (?=[A-Z])", why)[0].removesuffix(".")
    said = said[:1].lower() + said[1:]
    before, sign, names = said.partition(", not ")
    each = names.split(", ")
    if not sign or len(each) <= NAMED + 1:
        return said
    return f"{before}, not {', '.join(each[:NAMED])} and {len(each) - NAMED} others"


def main(folder: Path) -> None:
    """Write the page anew."""
    text = PAGE.read_text("utf-8")
    for name, (words, columns, table) in sections(text).items():
        command = [sys.executable, "-m", "voirdire", *words, "--json", "--resamples", "0"]
        done = subprocess.run(
            command,
            cwd=folder / name,
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "NO_COLOR": "1"},
        )
        text = text.replace(table, table_of(json.loads(done.stdout)["verdicts"], columns))
    PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

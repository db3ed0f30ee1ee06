"""Plays the page of a paper as it is written: the commands of its fences and of its table's rows.

Nothing is changed but what a test cannot use: models and embedders, by `swaps`. Files of the
user are written by `before` what reads them.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paper_pages import DOCS, run_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def blocks(page: str) -> list[str]:
    """The commands of all fenced blocks, in order, continued lines joined and remarks cut off."""
    text = (DOCS / f"{page}.md").read_text("utf-8")
    found = []
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        if language:
            continue
        joined = re.sub(r"\\\n\s*", "", block)
        found += [line.partition(" #")[0].strip() for line in joined.splitlines()]
    return [line for line in found if line.startswith("voirdire ")]


def files(page: str) -> dict[str, str]:
    """The files that the page shows: blocks of TOML that begin with `# NAME.toml`."""
    text = (DOCS / f"{page}.md").read_text("utf-8")
    shown = re.findall(r"^```toml\n# (\S+\.toml)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return dict(shown)


@dataclass
class Player:
    """Runs commands in the working directory, each distinct one once.

    Attributes
    ----------
    swaps : mapping
        An argument as the page has it -> the arguments that stand in its place.
    before : mapping
        How a command begins -> what is done before the first such one: a user's file is written.
    extra : mapping
        How a command begins -> arguments put behind it, which make the work smaller.
    fine : mapping
        How a command begins -> the exit codes that it may have; 0 for others.
    """

    swaps: Mapping[str, Sequence[str]]
    before: dict[str, Callable[[], object]] = field(default_factory=dict)
    extra: dict[str, Sequence[str]] = field(default_factory=dict)
    fine: Mapping[str, Sequence[int]] = field(default_factory=dict)
    done: dict[str, str] = field(default_factory=dict)

    def play(self, commands: Sequence[str]) -> None:
        """Run those that have not run yet."""
        for command in dict.fromkeys(commands):
            if command not in self.done:
                self.done[command] = self._run(command)

    def _run(self, command: str) -> str:
        for start, prepare in self.before.items():
            if command.startswith(start) and not any(c.startswith(start) for c in self.done):
                prepare()
        parts = [part for one in shlex.split(command) for part in self.swaps.get(one, (one,))]
        for start, more in self.extra.items():
            parts += more if command.startswith(start) else ()
        codes = next((c for start, c in self.fine.items() if command.startswith(start)), (0,))
        return run_line(shlex.join(map(str, parts)), codes)

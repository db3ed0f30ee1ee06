"""Whoever knows the skill's text and nothing else: it finds the command, runs it, and reports.

Every command stands in the text. What is filled in is the capitals; what is answered is what a
question itself says is likely, or what the person said beforehand.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field

ROW = re.compile(r"^\| (?P<asked>[^|]+?) \| `(?P<command>voirdire [^`]+)` \|$", re.MULTILINE)
CAPITALS = re.compile(r"\b[A-Z]+\b")


@dataclass
class Reader:
    """Follows a skill in a folder.

    Attributes
    ----------
    text : str
        Of SKILL.md.
    folder : path
    known : dict
        What the person says where a question is not likely: key -> choice.
    """

    text: str
    folder: object
    known: dict = field(default_factory=dict)
    assumed: list = field(default_factory=list)

    def command(self, asked, **filled):
        """The command in the row of a question, with its capitals filled in."""
        rows = {row["asked"]: row["command"] for row in ROW.finditer(self.text)}
        words = [
            CAPITALS.sub(lambda found: str(filled.pop(found[0])), word)
            for word in shlex.split(rows[asked])
        ]
        assert not filled, f"{asked} does not ask for {list(filled)}"
        return words

    def ask(self, asked, more=(), **filled):
        """Steps 1 to 5: what came of a question."""
        words = [*self.command(asked, **filled), *more]
        record = self.run(words)
        if record["answer"]["state"] == "question":
            words += self.answers(record["questions"])
            record = self.run(words)
        assert record["answer"]["state"] in ("ok", "unmet"), record["answer"]["sentence"]
        return record

    def run(self, words):
        """One command, whose output is one object."""
        done = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        return json.loads(done.stdout)

    def answers(self, questions):
        """Step 3: the first answer where it is likely, else what the person says."""
        words = []
        for one in questions:
            answer = one["answers"][0]
            if not one["likely"]:
                choice = self.known[one["key"]]
                answer = one["answers"][one["choices"].index(choice)]
            words += shlex.split(answer)
        self.assumed += words
        return words


def report(record, text):
    """The five points of the skill, and nothing that it forbids."""
    assert "## Report" in text
    assert "`open` is no yes" in text
    answer = record["answer"]
    said = list(dict.fromkeys([answer["sentence"], *answer["sentences"]]))
    numbers = [
        f"{one['judge']}, {one['use']}: {one['state']} ({one['component']} {one['estimate']:.2f} "
        f"[{one['low']:.2f}, {one['high']:.2f}], limit {one['limit']})"
        for one in answer["numbers"]
        if {"use", "component"} <= set(one) and None not in (one["low"], one["high"])
    ]
    worst = [
        f"{one['message']} {one['consequence']}"
        for one in record.get("findings", ())
        if one["severity"] in ("blocking", "serious")
    ]
    steps = [one["command"] for one in answer["next"]]
    return "\n".join([*said, *numbers, *worst, *steps])

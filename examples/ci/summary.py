"""At most 40 lines of Markdown from the JSON that voirdire's commands printed into a folder.

python summary.py FOLDER > summary.md
"""

# ruff: noqa: INP001 - a script, no part of a package
from __future__ import annotations

import json
import sys
from pathlib import Path

MOST = 40
HEADS = {
    "gate": "Held to the lock",
    "examine": "Held to requirements",
    "compare": "Since the base branch",
}
MARKS = {"ok": "✓", "unmet": "✗", "error": "✗", "question": "?", "interrupted": "✗"}


def escaped(text: object) -> str:
    """A text of others that Markdown prints as it stands, on one line."""
    line = " ".join(str(text).split())
    for sign in "\\`*_[]|~$":
        line = line.replace(sign, "\\" + sign)
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def said_by(name: str, record: dict) -> list[str]:
    """The lines of one command: what it says first, what changed, what is serious, what is next."""
    answer = record["answer"]
    sentences = dict.fromkeys([answer["sentence"], *answer["sentences"]])
    mark = "" if name == "compare" else f"{MARKS[answer['state']]} "
    lines = [f"## {mark}{HEADS[name]}", *(f"- {escaped(one)}" for one in sentences)]
    for one in record.get("verdicts", ()) if name == "compare" else ():
        what = f"{one['judge']}, {one['attribute']}, {one['use']} of {one['target']}"
        lines.append(f"- **{escaped(what)}**: {escaped(one['before'])} → {escaped(one['after'])}")
    lines += [
        f"- not met: {escaped(one['requirement'])} ({escaped(one['said'])})"
        for one in record.get("requirements", ())
        if one["state"] != "met"
    ]
    lines += [
        f"- {one['severity']}: {escaped(one['message'])} {escaped(one['consequence'])}"
        for one in record.get("findings", ())
        if one["severity"] in ("blocking", "serious")
    ]
    lines += [f"- next: `{one['command']}`" for one in answer["next"][:1] if one["command"]]
    return lines


def summary(folder: Path) -> str:
    """All commands of a folder, each with its share of the lines."""
    found = {}
    for name, head in HEADS.items():
        path = folder / f"{name}.json"
        if path.is_file() and path.stat().st_size:
            found[name] = said_by(name, json.loads(path.read_text("utf-8")))
        elif path.is_file():
            log = (folder / f"{name}.log").read_text("utf-8").strip().splitlines()
            found[name] = [f"## ✗ {head}", f"- it died: {escaped(log[-1] if log else '')}"]
    note = folder / "base.note"
    if note.is_file():
        found["compare"] = [f"## {HEADS['compare']}", f"- {escaped(note.read_text('utf-8'))}"]
    lines = ["# Judges", ""]
    room = (MOST - len(lines)) // max(len(found), 1)
    for part in found.values():
        # Two lines of the share are the blank ones, below the head and below the last.
        kept = part if len(part) + 2 <= room else part[: room - 3]
        lines += [kept[0], "", *kept[1:]]
        if len(kept) < len(part):
            lines.append(f"- and {len(part) - len(kept)} lines more, in the JSON")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write(summary(Path(sys.argv[1])))

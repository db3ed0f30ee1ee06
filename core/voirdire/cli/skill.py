"""`voirdire skill`: what a coding agent has to know, from the specs of uses and commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EPILOG = """
Examples:

  voirdire skill --out .claude/skills/voirdire

  voirdire skill --out skills/voirdire

The folder gets one file, SKILL.md: which command answers which question, how to answer a question
back, what never to conclude, and how to report. It is written from the objects that the commands
themselves use, so write it anew after an update.
"""
NAME = "SKILL.md"
#: What somebody wants to know -> the command. Capitals stand for what the asker fills in.
QUESTIONS = (
    ("What is odd in my files?", "voirdire audit FILE --json"),
    ("What may I use these judges for?", "voirdire examine FILE --reference HUMANS --json"),
    ("May this judge pass or stop responses at a score?",
     "voirdire decide FILE --reference HUMANS --gate SCORE --json"),
    ("May this judge filter by its labels, or pick the better of two?",
     "voirdire decide FILE --reference HUMANS --json"),
    ("What would people have said, from few labels?",
     "voirdire correct FILE --reference HUMANS --json"),
    ("Which of two systems is better?",
     "voirdire correct FILE --reference HUMANS --compare A,B --json"),
    ("How many labels do I need?",
     "voirdire plan FILE --reference HUMANS --half-width WIDTH --json"),
    ("What changed between two sets of ratings?",
     "voirdire compare BEFORE AFTER --reference HUMANS --json"),
    ("What was said of one item?", "voirdire item FILE ITEM --json"),
    ("What would a run cost?", "voirdire run STUDY --dry-run --json"),
    ("Have a panel judge my items.",
     "voirdire run STUDY --out SESSION --max-cost N --json"),
    ("Freeze a judge for later.", "voirdire gate freeze SESSION --as LOCK --json"),
    ("Has the judge or my system changed?",
     "voirdire gate check SESSION --lock LOCK --json"),
    ("Make a judge better.",
     "voirdire tune STUDY --judge JUDGE --for USE --labels LABELS --out DIR --max-cost N --json"),
)  # fmt: skip
_HEAD = """\
---
name: voirdire
description: Examine LLM judges, annotators and classifiers beside people. Use it before a judge's \
scores are believed, averaged, ranked by or gated on; to correct a number by few human labels; to \
plan labels; to compare two releases; and to hold a judge to what it was.
---

# voirdire

Written by voirdire {version}. Every command prints one JSON object with `--json`; its first key \
is `answer`.

## Steps

1. Find the row of the table below whose question is asked, and fill in the capitals. Files are \
taken as they are: change no column and no value by hand. A question about one judge of several \
takes `--judge NAME`.
2. Run it. Read `answer.state`.
3. `question`: nothing was computed. Each entry of `questions` has a `question`, `choices` and \
`answers`. Where `likely` is true, run the command again with its first answer added; otherwise \
ask the person, and never guess. All answers go on one command line.
4. `error`: read `error.message`. It names file, row and what is allowed. Mend the command, not \
the data.
5. `ok` or `unmet`: report. `unmet` means that a requirement does not hold, and is a result.
6. What asks models costs money: run its `--dry-run` first, show the cost, and take the budget \
from the person. It goes on where it ended by `--resume`.

## Which command

| question | command |
|---|---|
"""
_USES = """
## Uses

`answer.states` holds a state for each judge and use: `yes`, `no`, `open` or `not tested`.

| key | title | what is asked | what a yes permits |
|---|---|---|---|
"""
_NEVER = """
## Never conclude

- `open` is no yes: there are too few data, and `next` says how many more.
- `not tested` is no yes and no no: something is missing, and the sentence says what.
- A yes for one use says nothing of another, and nothing of other systems, items or people.
- High correlation or agreement is no verdict. Quote the state of the use.
- A judge's own average is not what people would say, unless *{quote}* is yes. Report the \
corrected number with its interval.
- A difference whose interval holds 0 is not shown. Do not call it equal either.
- A gain from tuning is the one that was measured apart, never the best score of those tried.
- No change shown is not no change: say within which margin.
- No verdict licenses clinical use.

## Report

1. Say `answer.sentence` and the other `answer.sentences` as they stand.
2. Give each number with its interval (`low`, `high`), and the `limit` that it was held against.
3. List the findings with severity `blocking` or `serious`, each with its consequence.
4. Give `answer.next`: what to do, and the command.
5. Say which reading of the files was assumed: every answer of step 3.

`voirdire schema COMMAND` prints what a command gives. `voirdire COMMAND --help` has its options.
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("skill", epilog=EPILOG)(skill)


def skill(
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The folder of the skill.", show_default=False)
    ],
) -> None:
    """Write a skill for coding agents: which command for which question, and how to report."""
    from voirdire.cli.machine import answer_of, collect
    from voirdire.files import write_text

    out.mkdir(parents=True, exist_ok=True)
    write_text(out / NAME, skill_text())
    said = f"Wrote {out / NAME}"
    collect(answer_of(f"{said}."), {"written": str(out / NAME)})
    typer.echo(said)


def skill_text() -> str:
    """The skill, in Markdown with a head of names as agents read it."""
    from voirdire import __version__
    from voirdire.examining.spec import USES

    rows = "".join(f"| {asked} | `{command}` |\n" for asked, command in QUESTIONS)
    uses = "".join(
        f"| `{use.key}` | {use.title} | {use.question} | {use.permits} |\n" for use in USES.values()
    )
    return (
        _HEAD.format(version=__version__)
        + rows
        + _USES
        + uses
        + _NEVER.format(quote=USES["score"].title)
    )

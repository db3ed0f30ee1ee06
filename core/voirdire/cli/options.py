"""Options that several commands share, and how what they are given is read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from voirdire.errors import InputError, check_allowed, names_of

if TYPE_CHECKING:
    from collections.abc import Sequence

SourceArgument = Annotated[
    str,
    typer.Argument(
        help="A benchmark's name, a study.toml, a file of ratings, or a session folder.",
        metavar="SOURCE",
        show_default=False,
    ),
]
SourcesArgument = Annotated[
    list[str],
    typer.Argument(
        help="A benchmark's name, a study.toml, a session folder, or "
        "one or more files of ratings; "
        "a file without a column of raters holds those of one rater, named after the file.",
        metavar="SOURCE...",
        show_default=False,
    ),
]
ItemOption = Annotated[
    str | None,
    typer.Option("--item", help="The column that holds the ids of items.", show_default=False),
]
SystemOption = Annotated[
    str | None,
    typer.Option(
        "--system", help="The column that names the system that was rated.", show_default=False
    ),
]
ContextOption = Annotated[
    str | None,
    typer.Option(
        "--context",
        help="The column of the items' texts, such as the question that was answered.",
        show_default=False,
    ),
]
ResponseOption = Annotated[
    str | None,
    typer.Option(
        "--response",
        help="The column of the texts that were judged, such as a system's answer.",
        show_default=False,
    ),
]
ReasonOption = Annotated[
    str | None,
    typer.Option(
        "--reason",
        help="The column of what a rater said beside its score.",
        show_default=False,
    ),
]
RaterOption = Annotated[
    str | None,
    typer.Option(
        "--rater", help="The column of raters, or the name of the one rater.", show_default=False
    ),
]
ScoreOption = Annotated[
    str | None,
    typer.Option(
        "--score", help="The column that holds the scores, one rating per row.", show_default=False
    ),
]
AttributeOption = Annotated[
    str | None,
    typer.Option(
        "--attribute",
        help="The column of attributes, where a row holds one rating.",
        show_default=False,
    ),
]
TurnOption = Annotated[
    str | None,
    typer.Option(
        "--turn",
        help="The column that numbers the turns of a conversation, from 1: each row is about a "
        "turn, and the turns of a conversation are one cluster.",
        show_default=False,
    ),
]
UnitOption = Annotated[
    Literal["whole", "turn", "first"] | None,
    typer.Option(
        "--unit",
        help="What each row judges: one turn, or the whole of a conversation. With first, scores "
        "say which turn was the first to fail, or never; --turns names the column of how many "
        "turns there are.",
        show_default=False,
    ),
]
TurnsOption = Annotated[
    str | None,
    typer.Option(
        "--turns",
        help="The column of how many turns a conversation has.",
        show_default=False,
    ),
]
ClusterOption = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        help="The column that says which items belong together, such as a dialogue.",
        show_default=False,
    ),
]
LanguageOption = Annotated[
    str | None,
    typer.Option(
        "--language",
        help="The column that says in which language each response is: results are given by it.",
        show_default=False,
    ),
]
StatusOption = Annotated[
    str | None,
    typer.Option(
        "--status",
        help="The column that says which ratings were finished and which were withdrawn.",
        show_default=False,
    ),
]
RunOption = Annotated[
    str | None,
    typer.Option("--run", help="The column of repeated runs.", show_default=False),
]
WordsOption = Annotated[
    str | None,
    typer.Option(
        "--words",
        help='The number that each word stands for, or missing: "poor=1,fair=2,unsure=missing". '
        "The word * stands for every other one that is no score.",
        show_default=False,
    ),
]
JudgeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--judge",
        help="The judges beside the reference, separated by commas; or repeat the option for each. "
        "Whoever else rated is left out. By default they are recognised, or you are asked.",
        callback=names_of,
        show_default=False,
    ),
]
RescaleOption = Annotated[
    list[str] | None,
    typer.Option(
        "--rescale",
        help="The ends of a rater's own scale, the worst first, which become those of the others: "
        "llm=0..1, or llm=5..1 where 1 is best. May be repeated.",
        show_default=False,
    ),
]
SameOption = Annotated[
    list[str] | None,
    typer.Option(
        "--same",
        help="Two names of one attribute, as OTHER=KEPT, several separated by commas: "
        "'Clarté=Klarheit'. [dim]none[/dim] says that they differ.",
        show_default=False,
    ),
]
IgnoreOption = Annotated[
    list[str] | None,
    typer.Option("--ignore", help="A column to leave out. May be repeated.", show_default=False),
]
HiddenOption = Annotated[
    Literal["leave-out", "read"] | None,
    typer.Option(
        "--hidden",
        help="Whether hidden rows and columns of a workbook are read. By default you are asked.",
        show_default=False,
    ),
]
LayoutOption = Annotated[
    Literal["raters-by-items", "long", "scores", "replies", "systems", "attributes"] | None,
    typer.Option(
        "--layout",
        help="How the table is laid out, where that cannot be seen: raters-by-items for a survey "
        "with one row per rater and one column per item; systems or attributes where headers name "
        "a rater and one of these.",
        show_default=False,
    ),
]
SheetOption = Annotated[
    str | None,
    typer.Option(
        "--sheet",
        help="The sheet of a workbook to read; '*' reads all that have the same columns, with a "
        "column 'sheet'. By default it is the first one.",
        show_default=False,
    ),
]
AssumeOption = Annotated[
    bool,
    typer.Option(
        "--assume",
        help="Where a file can be read in two ways, take the likelier "
        "one and report it as a serious finding.",
    ),
]
HumanOption = Annotated[
    list[str] | None,
    typer.Option(
        "--human",
        help="A file of people's labels. They are joined to the rated items by --key, or else by "
        "their texts. May be repeated.",
        show_default=False,
    ),
]
KeyOption = Annotated[
    str | None,
    typer.Option(
        "--key",
        help="The column by which the labels of --human are joined: ticket, or ticket=ticket_id "
        "where the two files use different names.",
        show_default=False,
    ),
]
AboutOption = Annotated[
    str | None,
    typer.Option(
        "--about",
        help="The attribute that the labels of --human are about, where their file names none.",
        show_default=False,
    ),
]
OnlyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        help="Read only this attribute: one of another tool's file, or a column of scores where a "
        "row is a rater's. May be repeated.",
        show_default=False,
    ),
]
AnswerOption = Annotated[
    list[str] | None,
    typer.Option(
        "--answer",
        help="The answer to a question about a file, as KEY=VALUE: the key and the values allowed "
        "stand in the question (with --json as data). May be repeated.",
        show_default=False,
    ),
]
KindOption = Annotated[
    Literal["score", "label", "label set", "preference", "probability"] | None,
    typer.Option(
        "--kind",
        help="What the judgements are, where a file can be read in two ways.",
        show_default=False,
    ),
]
LabelsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--labels",
        help="All labels that may be given, separated by commas; or repeat the option for each. "
        "Other words are missing. By default they are those that people give.",
        callback=names_of,
        show_default=False,
    ),
]
ProbabilityOption = Annotated[
    str | None,
    typer.Option(
        "--probability",
        help="The column of probabilities that a judge claims; votes: shares of its runs; or none.",
        show_default=False,
    ),
]
ClaimsOption = Annotated[
    str | None,
    typer.Option(
        "--claims",
        help="What a probability is of: the label that the judge gives (said), or this label.",
        show_default=False,
    ),
]
EmptyOption = Annotated[
    Literal["none", "missing"] | None,
    typer.Option(
        "--empty",
        help="What an empty cell of label sets says: that no label applies, or nothing.",
        show_default=False,
    ),
]
FirstOption = Annotated[
    str | None,
    typer.Option(
        "--first",
        help="Which of the two systems of a row was shown first, in every row: a or b; or the "
        "column that says it; drawn: the order was drawn each time and not recorded; unknown: "
        "nobody knows it.",
        show_default=False,
    ),
]
PartsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--parts",
        help="What stands between __ in the keys of nested annotations, in order: item, "
        "attribute, system, cluster; - is nothing, * all that is left. May be repeated.",
        show_default=False,
    ),
]
DataOption = Annotated[
    Path | None,
    typer.Option(
        "--data", help="The folder that holds the data of a benchmark.", show_default=False
    ),
]


ReferenceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--reference",
        help="The raters with whom the others are compared, usually humans, separated by commas; "
        "or repeat the option for each.",
        callback=names_of,
        show_default=False,
    ),
]
FamilyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--family",
        help="Who made a judge's model, or a system, as NAME=MAKER; NAME=none where no system is "
        "of its family. A judge leaves out the systems of its own family. May be repeated.",
        show_default=False,
    ),
]
OffScaleOption = Annotated[
    Literal["missing", "keep", "error"] | None,
    typer.Option(
        "--off-scale",
        help="What happens to values outside the declared scale. [dim]\\[default: missing][/dim]",
        show_default=False,
    ),
]
LevelOption = Annotated[
    float, typer.Option("--level", help="The confidence level of the intervals.")
]
WorkersOption = Annotated[
    str | None,
    typer.Option(
        "--workers",
        help="Where the work is done: a number of processes, or dask://HOST:PORT. "
        "[dim]\\[default: this process][/dim]",
        show_default=False,
    ),
]
SharedOption = Annotated[
    bool,
    typer.Option(
        "--shared",
        help="Let others on this machine read what is written, as the umask says. By default only "
        "its owner may.",
    ),
]
InsecureOption = Annotated[
    bool,
    typer.Option(
        "--insecure",
        help="Use a dask scheduler on another machine without TLS: whoever reaches it can run "
        "code on all its workers.",
    ),
]
ModelArgument = Annotated[
    list[str],
    typer.Option(
        "--model",
        help='A model as PREFIX:NAME, such as "openai:gpt-4o" or "simulated:a". May be repeated.',
        show_default=False,
    ),
]
ModelOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--model-option",
        help="An option of every model, as NAME=VALUE "
        '("base_url=http://localhost:11434/v1"). May be repeated.',
        show_default=False,
    ),
]
StudyFolder = Annotated[
    Path, typer.Option("--out", "-o", help="The folder to write.", show_default=False)
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
#: Of commands that ask how often verdicts of a judge agree with people's.
AgreeOption = Annotated[
    float,
    typer.Option(
        "--agree",
        help="How often verdicts that go out must agree with people, from 0 to 1.",
        show_default=False,
    ),
]
RiskOption = Annotated[
    float, typer.Option("--risk", help="The probability that they agree less often than that.")
]
OnOption = Annotated[
    str, typer.Option("--on", help="The attribute, where there are several.", show_default=False)
]
ToleranceOption = Annotated[
    float,
    typer.Option("--tolerance", help="Scores that differ by no more points than this agree."),
]
SideOption = Annotated[
    float | None,
    typer.Option("--gate", help="Scores on the same side of this one agree.", show_default=False),
]
SplitSeedOption = Annotated[
    int, typer.Option("--seed", min=0, help="The seed of the split of the labels.")
]
OutFolder = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="The folder for the tables and figures.", show_default=False),
]
SectionFormats = Annotated[
    str | None,
    typer.Option(
        "--format", help="The formats to write, separated by commas: html, md, "
            "tex, csv, json. [dim]\\[default: all][/dim]",
        show_default=False,
    ),
]  # fmt: skip


def require_option(examples: str) -> Any:
    """The option `--require`: examples of what one command can hold to a condition."""
    return typer.Option(
        "--require",
        help=f"A condition that must hold{examples}. May be repeated.",
        show_default=False,
    )


def model_options(given: Sequence[str] | None) -> dict[str, Any]:
    """A model's options from ``NAME=VALUE``; a value that is a TOML value is read as one.

    Raises
    ------
    InputError
        An option without ``=``.

    Examples
    --------
    >>> model_options(["timeout=3.5", "base_url=http://localhost:1/v1", 'answers=["a", "b"]'])
    {'timeout': 3.5, 'base_url': 'http://localhost:1/v1', 'answers': ['a', 'b']}
    """
    import tomllib

    record: dict[str, Any] = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"--model-option {text!r}: write NAME=VALUE")
        # What is no value of TOML is a text: nobody quotes an address on a command line.
        try:
            record[name] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            record[name] = value
    return record


def formats_of(
    text: str | None, out: Path | None, allowed: Sequence[str], default: Sequence[str]
) -> tuple[str, ...]:
    """The formats that are asked for; where none are written, it is said.

    Raises
    ------
    InputError
        An unknown format.
    """
    if text is None:
        return tuple(default)
    asked = parts(text)
    check_allowed("format", asked, allowed)
    if out is None:
        typer.echo("--format without --out: nothing is written.", err=True)
    return asked


def parts(text: str | None) -> tuple[str, ...]:
    """What stands between commas."""
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())

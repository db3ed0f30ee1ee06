"""How files are read, as options say it, and the questions that a file leaves open."""

from __future__ import annotations

import shlex
import sys
from copy import copy
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_type_hints

import typer

from voirdire.cli.options import (
    AboutOption,
    AnswerOption,
    AssumeOption,
    AttributeOption,
    ClaimsOption,
    ClusterOption,
    ContextOption,
    EmptyOption,
    FamilyOption,
    FirstOption,
    HiddenOption,
    HumanOption,
    IgnoreOption,
    ItemOption,
    JudgeOption,
    KeyOption,
    KindOption,
    LabelsOption,
    LanguageOption,
    LayoutOption,
    OnlyOption,
    PartsOption,
    ProbabilityOption,
    RaterOption,
    ReasonOption,
    RescaleOption,
    ResponseOption,
    RunOption,
    SameOption,
    ScoreOption,
    SheetOption,
    StatusOption,
    SystemOption,
    TurnOption,
    TurnsOption,
    UnitOption,
    WordsOption,
)
from voirdire.errors import QuestionError
from voirdire.shown import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from voirdire.study import ReadOptions

Result = TypeVar("Result")
#: Under which heading a command's help lists these options.
PANEL = "How files are read"

#: How a table is read: a key of a source -> its option. Help lists them in this order.
OPTIONS: dict[str, Any] = {
    "human": HumanOption,
    "key": KeyOption,
    "about": AboutOption,
    "judge": JudgeOption,
    "family": FamilyOption,
    "item": ItemOption,
    "system": SystemOption,
    "context": ContextOption,
    "response": ResponseOption,
    "reason": ReasonOption,
    "rater": RaterOption,
    "score": ScoreOption,
    "attribute": AttributeOption,
    "turn": TurnOption,
    "unit": UnitOption,
    "turns": TurnsOption,
    "cluster": ClusterOption,
    "language": LanguageOption,
    "status": StatusOption,
    "run": RunOption,
    "words": WordsOption,
    "rescale": RescaleOption,
    "same": SameOption,
    "ignore": IgnoreOption,
    "hidden": HiddenOption,
    "only": OnlyOption,
    "layout": LayoutOption,
    "sheet": SheetOption,
    "kind": KindOption,
    "labels": LabelsOption,
    "probability": ProbabilityOption,
    "claims": ClaimsOption,
    "empty": EmptyOption,
    "first": FirstOption,
    "parts": PartsOption,
    "assume": AssumeOption,
    "answer": AnswerOption,
}
#: Those that say how one file is read, and not whose judges its raters are: for commands that hold
#: nobody against anybody.
OF_FILES = tuple(name for name in OPTIONS if name != "family")
#: Without those that join the labels of a further file: for commands that read several sources, or
#: none but the files themselves.
OF_ONE_TABLE = tuple(name for name in OF_FILES if name not in ("human", "key", "about"))


def takes_read_options(
    names: Iterable[str] = OPTIONS,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command these options of `OPTIONS` in place of its parameter `read`.

    Typer reads options off a signature, so the command gets one in which they stand where `read`
    stood; when it is called, `read` is the `voirdire.ReadOptions` of what was given.
    """

    def taking(command: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(command, include_extras=True)
        parts: list[Parameter] = []
        # A command that asks for the judges itself has the option once, and the reading knows them.
        own = [name for name in names if name in signature(command).parameters]
        added = [name for name in names if name not in own]
        for one in signature(command).parameters.values():
            if one.name == "read":
                parts += map(_parameter, added)
            else:
                # Keyword-only, so that options without a default may follow those that have one.
                parts.append(one.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[one.name]))

        @wraps(command)
        def called(**given: Any) -> None:
            answers = given.pop("answer", None) or ()
            rest = {name: value for name, value in given.items() if name not in added}
            told = {name: given[name] for name in own if _are_names(given[name])}
            read = read_options(**told, **{name: given[name] for name in added if name in given})
            for text in answers:
                named, read = _taken(text, rest.get("reference") or (), read)
                rest |= {"reference": list(named)} if "reference" in rest else {}
            command(read=read, **rest)

        called.__signature__ = Signature(parts)  # type: ignore[attr-defined]
        called.__annotations__ = {one.name: one.annotation for one in parts}
        return called

    return taking


def _taken(
    text: str, reference: Sequence[str], read: ReadOptions
) -> tuple[tuple[str, ...], ReadOptions]:
    """The reference and the reading with an answer of ``--answer KEY=VALUE``."""
    from voirdire.errors import InputError, check_allowed
    from voirdire.tables import with_answer

    key, equals, value = text.partition("=")
    if not equals:
        raise InputError(f"--answer {text!r}: write KEY=VALUE, such as judge=gpt")
    keys = ["reference", *(name for name in OPTIONS if name not in ("answer", "assume"))]
    check_allowed("key", [key], keys, "--answer")
    return with_answer(tuple(reference), read, key, value)


def _are_names(given: Any) -> bool:
    """Whether a command's own option holds names of judges: OLD=NEW is a pair of them."""
    return isinstance(given, list) and not any("=" in name for name in given)


def _parameter(name: str) -> Parameter:
    kind, about = get_args(OPTIONS[name])
    about = copy(about)  # the heading is this command's alone
    about.rich_help_panel = PANEL
    default = False if name == "assume" else None
    return Parameter(
        name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, about]
    )


def read_options(
    *,
    words: str | None = None,
    rescale: Sequence[str] | None = None,
    same: Sequence[str] | None = None,
    family: Sequence[str] | None = None,
    **given: Any,
) -> ReadOptions:
    """How files are read, as the options say it; what is not given is not set.

    Raises
    ------
    InputError
        `--words` is not written as pairs of a word and a number, `--rescale` as one of a rater and
        two ends, `--same` as one of two names, or `--family` as one of a name and its maker.

    Examples
    --------
    >>> read_options(item="post", score=None, words="poor=1, good=2").keys_set()
    {'item': 'post', 'words': {'poor': 1.0, 'good': 2.0}}
    """
    from voirdire.identity import answers
    from voirdire.study import ReadOptions
    from voirdire.tables import ends_of, names_kept, numbers_of

    keys = {key: value for key, value in given.items() if value}
    keys |= {"rescale": ends_of(rescale)} if rescale else {}
    keys |= {"same": names_kept(same)} if same else {}
    return ReadOptions(
        words=numbers_of(words) if words else {}, families=answers(family or ()), **keys
    )


def answered(
    call: Callable[[ReadOptions, tuple[str, ...]], Result],
    read: ReadOptions,
    reference: Sequence[str] | None = None,
) -> Result:
    """What `call` gives for options and a reference; whoever sits at the terminal is asked.

    Raises
    ------
    QuestionError
        Nobody sits there, or a study has to say it: the message says which option or key
        settles it.
    """
    named = tuple(reference or ())
    while True:
        try:
            return call(read, named)
        except QuestionError as question:
            if question.of_study:
                raise
            # Of both streams: with standard error in a file the question would not be seen.
            if not (sys.stdin.isatty() and sys.stderr.isatty()):
                raise question.with_command(_command(question)) from None
            from voirdire.tables import with_answer

            for one in (question, *question.more):
                named, read = with_answer(named, read, one.key, _ask(one))


def _command(question: QuestionError) -> str:
    """What was typed, with the answers to all questions: to be copied as it stands."""
    known = {word for one in (question, *question.more) for word in (f"--{one.key}",)}
    typed: list[str] = []
    skip = False
    for word in sys.argv[1:]:
        # Words of a question hold those that were given: an option that takes one text stands once.
        if skip or (word in known and word == "--words"):
            skip = not skip
            continue
        typed.append(word)
    return " ".join([shlex.join(["voirdire", *typed]), question.options])


def _ask(question: QuestionError) -> str:
    typer.echo(visible(question.question), err=True)
    for choice in question.choices:
        typer.echo(f"  {visible(choice)}", err=True)
    # Enter takes a likely answer; a mere guess must be typed.
    first = question.choices[0] if question.likely else None
    value = str(typer.prompt(f"--{question.key}", default=first, err=True)).strip()
    typer.echo(f"Next time: {visible(question.option(question.key, value))}", err=True)
    return value

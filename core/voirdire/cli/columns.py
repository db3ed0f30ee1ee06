"""How files are read, as options say it, and the questions that a file leaves open."""

from __future__ import annotations

import sys
from copy import copy
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_args, get_type_hints

import typer

from voirdire.cli.options import (
    AboutOption,
    AssumeOption,
    AttributeOption,
    ClusterOption,
    ContextOption,
    EmptyOption,
    FirstOption,
    HiddenOption,
    HumanOption,
    IgnoreOption,
    ItemOption,
    KeyOption,
    KindOption,
    LayoutOption,
    OnlyOption,
    PartsOption,
    ProbabilityOption,
    RaterOption,
    ReasonOption,
    ResponseOption,
    RunOption,
    ScoreOption,
    SheetOption,
    StatusOption,
    SystemOption,
    WordsOption,
    cells,
    names_of,
)
from voirdire.errors import InputError, QuestionError
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
    "item": ItemOption,
    "system": SystemOption,
    "context": ContextOption,
    "response": ResponseOption,
    "reason": ReasonOption,
    "rater": RaterOption,
    "score": ScoreOption,
    "attribute": AttributeOption,
    "cluster": ClusterOption,
    "status": StatusOption,
    "run": RunOption,
    "words": WordsOption,
    "ignore": IgnoreOption,
    "hidden": HiddenOption,
    "only": OnlyOption,
    "layout": LayoutOption,
    "sheet": SheetOption,
    "kind": KindOption,
    "probability": ProbabilityOption,
    "empty": EmptyOption,
    "first": FirstOption,
    "parts": PartsOption,
    "assume": AssumeOption,
}
#: All of them, but for those that join the labels of a further file: for commands that read several
#: sources, or none but the files themselves.
OF_ONE_TABLE = tuple(name for name in OPTIONS if name not in ("human", "key", "about"))


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
        for one in signature(command).parameters.values():
            if one.name == "read":
                parts += map(_parameter, names)
            else:
                # Keyword-only, so that options without a default may follow those that have one.
                parts.append(one.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[one.name]))

        @wraps(command)
        def called(**given: Any) -> None:
            rest = {name: value for name, value in given.items() if name not in names}
            command(read=read_options(**{name: given[name] for name in names}), **rest)

        called.__signature__ = Signature(parts)  # type: ignore[attr-defined]
        called.__annotations__ = {one.name: one.annotation for one in parts}
        return called

    return taking


def _parameter(name: str) -> Parameter:
    kind, about = get_args(OPTIONS[name])
    about = copy(about)  # the heading is this command's alone
    about.rich_help_panel = PANEL
    default = False if name == "assume" else None
    return Parameter(
        name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, about]
    )


def read_options(*, words: str | None = None, **given: Any) -> ReadOptions:
    """How files are read, as the options say it; what is not given is not set.

    Raises
    ------
    InputError
        `--words` is not written as pairs of a word and a number.

    Examples
    --------
    >>> read_options(item="post", score=None, words="poor=1, good=2").keys_set()
    {'item': 'post', 'words': {'poor': 1.0, 'good': 2.0}}
    """
    from voirdire.study import ReadOptions

    keys = {key: value for key, value in given.items() if value}
    return ReadOptions(words=_numbers(words) if words else {}, **keys)


def with_answer(
    read: ReadOptions, reference: Sequence[str], key: str, value: str
) -> tuple[ReadOptions, tuple[str, ...]]:
    """The options and the reference with the answer to a question.

    >>> read, reference = with_answer(read_options(), (), "words", "dunno=missing")
    >>> with_answer(read, reference, "reference", "ann, ben")[1], read.words
    (('ann', 'ben'), {'dunno': 'missing'})
    """
    if key == "reference":
        return read, tuple(names_of([value]))
    if key == "words":
        return read.with_(words=_numbers(value)), tuple(reference)
    return read.with_(**{key: (value,) if key in ("only", "ignore", "parts") else value}), tuple(
        reference
    )


def _numbers(text: str) -> dict[str, float | Literal["missing"]]:
    numbers: dict[str, float | Literal["missing"]] = {}
    for pair in cells(text):
        # From the right: a word may hold an equals sign, a number cannot.
        word, _, number = (part.strip() for part in pair.rpartition("="))
        try:
            numbers[word] = "missing" if number == "missing" else float(number)
        except ValueError:
            raise InputError(
                f"--words {pair.strip()!r}: write WORD=NUMBER or WORD=missing, by commas"
            ) from None
    return numbers


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
            # Of both streams: with standard error in a file the question would not be seen.
            if question.of_study or not (sys.stdin.isatty() and sys.stderr.isatty()):
                raise
            read, named = with_answer(read, named, question.key, _ask(question))


def _ask(question: QuestionError) -> str:
    typer.echo(visible(question.question), err=True)
    for choice in question.choices:
        typer.echo(f"  {visible(choice)}", err=True)
    # Enter takes a likely answer; a mere guess must be typed.
    first = question.choices[0] if question.likely else None
    value = str(typer.prompt(f"--{question.key}", default=first, err=True)).strip()
    typer.echo(f"Next time: {visible(question.option(question.key, value))}", err=True)
    return value

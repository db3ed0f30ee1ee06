"""Columns that are named by options, and the questions that a file leaves open."""

from __future__ import annotations

import sys
from copy import copy
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_type_hints

import typer

from voirdire.cli.options import (
    AboutOption,
    AssumeOption,
    AttributeOption,
    ClusterOption,
    ContextOption,
    HumanOption,
    IgnoreOption,
    ItemOption,
    KeyOption,
    LayoutOption,
    OnlyOption,
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
    "only": OnlyOption,
    "layout": LayoutOption,
    "sheet": SheetOption,
    "assume": AssumeOption,
}
#: All of them, but for those that join the labels of a further file: for commands that read several
#: sources, or none but the files themselves.
OF_ONE_TABLE = tuple(name for name in OPTIONS if name not in ("human", "key", "about"))


def takes_columns(
    names: Iterable[str] = OPTIONS,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command these options of `OPTIONS` in place of its parameter `columns`.

    Typer reads options off a signature, so the command gets one in which they stand where `columns`
    stood; when it is called, `columns` holds the keys of a source that were given.
    """

    def taking(command: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(command, include_extras=True)
        parts: list[Parameter] = []
        for one in signature(command).parameters.values():
            if one.name == "columns":
                parts += map(_parameter, names)
            else:
                # Keyword-only, so that options without a default may follow those that have one.
                parts.append(one.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[one.name]))

        @wraps(command)
        def called(**given: Any) -> None:
            command(columns=column_keys(**{name: given.pop(name) for name in names}), **given)

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


def column_keys(
    *,
    human: Sequence[str] | None = None,
    words: str | None = None,
    ignore: Sequence[str] | None = None,
    only: Sequence[str] | None = None,
    assume: bool = False,
    **columns: str | None,
) -> dict[str, Any]:
    """The keys of a source that options give; what is not given is not among them.

    Raises
    ------
    InputError
        `--words` is not written as pairs of a word and a number.

    Examples
    --------
    >>> column_keys(item="post", score=None, words="poor=1, good=2")
    {'item': 'post', 'words': {'poor': 1.0, 'good': 2.0}}
    """
    given: dict[str, Any] = {**columns, "words": _numbers(words) if words else None}
    given |= {"ignore": tuple(ignore or ()) or None, "assume": assume or None}
    given |= {"only": tuple(only or ()) or None, "human": tuple(human or ()) or None}
    return {key: value for key, value in given.items() if value is not None}


def answer(key: str, value: str) -> dict[str, Any]:
    """The key of a source, or the reference, that an answer gives."""
    if key == "reference":
        return {key: tuple(names_of([value]))}
    if key == "words":
        return {key: _numbers(value)}
    return {key: (value,) if key in ("only", "ignore") else value}


def _numbers(text: str) -> dict[str, float | str]:
    numbers: dict[str, float | str] = {}
    for pair in cells(text):
        # From the right: a word may hold an equals sign, a number cannot.
        word, _, number = (part.strip() for part in pair.rpartition("="))
        try:
            numbers[word] = number if number == "missing" else float(number)
        except ValueError:
            raise InputError(
                f"--words {pair.strip()!r}: write WORD=NUMBER or WORD=missing, by commas"
            ) from None
    return numbers


def merged(keys: dict[str, Any], new_keys: dict[str, Any]) -> dict[str, Any]:
    """Keys of a source with an answer; words are added to those that are known.

    >>> merged({"words": {"poor": 1.0}}, {"words": {"dunno": "missing"}, "item": "id"})
    {'words': {'poor': 1.0, 'dunno': 'missing'}, 'item': 'id'}
    """
    words = {**keys.get("words", {}), **new_keys.get("words", {})}
    return keys | new_keys | ({"words": words} if words else {})


def answered(
    call: Callable[[dict[str, Any], tuple[str, ...]], Result],
    keys: dict[str, Any],
    reference: Sequence[str] | None = None,
) -> Result:
    """What `call` gives for keys and a reference; whoever sits at the terminal is asked.

    Raises
    ------
    QuestionError
        Nobody sits there, or a study has to say it: the message says which option or key
        settles it.
    """
    named = tuple(reference or ())
    while True:
        try:
            return call(keys, named)
        except QuestionError as question:
            # Of both streams: with standard error in a file the question would not be seen.
            if question.of_study or not (sys.stdin.isatty() and sys.stderr.isatty()):
                raise
            new_keys = _ask(question)
            named = new_keys.pop("reference", named)
            keys = merged(keys, new_keys)


def _ask(question: QuestionError) -> dict[str, Any]:
    typer.echo(visible(question.question), err=True)
    for choice in question.choices:
        typer.echo(f"  {visible(choice)}", err=True)
    # Enter takes a likely answer; a mere guess must be typed.
    first = question.choices[0] if question.likely else None
    value = str(typer.prompt(f"--{question.key}", default=first, err=True)).strip()
    typer.echo(f"Next time: {visible(question.option(question.key, value))}", err=True)
    return answer(question.key, value)

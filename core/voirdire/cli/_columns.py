"""Columns that are named by options, and the questions that a file leaves open."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from voirdire.errors import InputError, QuestionError
from voirdire.shown import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Result = TypeVar("Result")


def column_keys(
    *,
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
    given |= {"only": tuple(only or ()) or None}
    return {key: value for key, value in given.items() if value is not None}


def answer(key: str, said: str) -> dict[str, Any]:
    """The key of a source, or the reference, that an answer gives."""
    if key == "reference":
        return {key: tuple(name.strip() for name in said.split(","))}
    if key == "words":
        return {key: _numbers(said)}
    return {key: (said,) if key in ("only", "ignore") else said}


def _numbers(text: str) -> dict[str, float]:
    found = {}
    for pair in text.split(","):
        word, _, number = pair.rpartition("=")
        try:
            found[word.strip()] = float(number)
        except ValueError:
            raise InputError(f"--words {pair.strip()!r}: write WORD=NUMBER, by commas") from None
    return found


def answered(
    call: Callable[[dict[str, Any], tuple[str, ...]], Result],
    keys: dict[str, Any],
    reference: Sequence[str] | None = None,
) -> Result:
    """What `call` gives for keys and a reference; whoever sits at the terminal is asked.

    Raises
    ------
    QuestionError
        Nobody sits there: the message says which option or key settles it.
    """
    named = tuple(reference or ())
    while True:
        try:
            return call(keys, named)
        except QuestionError as question:
            if not (sys.stdin.isatty() and sys.stderr.isatty()):
                raise
            said = _ask(question)
            named = said.pop("reference", named)
            keys = keys | said


def _ask(question: QuestionError) -> dict[str, Any]:
    typer.echo(visible(question.question), err=True)
    for choice in question.choices:
        typer.echo(f"  {visible(choice)}", err=True)
    first = question.choices[0] if question.likely else None
    said = str(typer.prompt(f"--{question.key}", default=first, err=True)).strip()
    typer.echo(f"Next time: {visible(question.option(question.key, said))}", err=True)
    return answer(question.key, said)

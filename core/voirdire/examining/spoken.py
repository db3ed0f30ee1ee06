"""Errors in the words of whoever reads them: options at a shell, arguments in Python."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from functools import wraps
from math import isnan
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from voirdire.errors import AT_SHELL, InputError, QuestionError, names_of
from voirdire.late import pattern
from voirdire.progress import in_notebook

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from voirdire.study import ReadOptions

Given = ParamSpec("Given")
Result = TypeVar("Result")

#: An option as errors write it, with what stands for its value: a text in quotes, a word in capital
#: letters, a file's name, or the one layout that has hyphens.
_OPTION = pattern(
    r"""
    --(?P<name>[a-z]+(?:-[a-z]+)*)
    (?:\ (?P<value>'[^']*'(?:"'"'[^']*')*    # --item 'post', --item 'judge'"'"'s score'
                 | [\w-]+=[A-Z]+\b         # --key LABELS=ITEMS, --family prod-7=MAKER
                 | [A-Z]+\b
                 | [\w./-]+\.[a-z0-9]+\b    # --human labels.csv
                 | raters-by-items)
      (?P<more>(?:\ --(?P=name)\ '[^']*'(?:"'"'[^']*')*)*))?   # --judge 'a' --judge 'b'
    """,
    re.VERBOSE,
)
#: A command is typed at a shell, whoever reads of it: what follows it in the sentence stays.
_COMMAND = pattern(r"\bvoirdire [a-z]")
_SENTENCE = pattern(r"(?<=[.;])\s")
#: Options that are repeated, each a pair, where Python has a mapping of them all.
_PAIRS = {"judge": "judges", "family": "families"}
#: Arguments that take several values, and flags.
_SEVERAL = frozenset(
    ("human", "ignore", "only", "judge", "reference", "members", "judges", "raters", "compare")
)
_FLAGS = frozenset(("assume", "streaming", "leave_out_chosen"))


def speaks_python(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """A function whose errors name its arguments, and not options, where Python calls it."""

    @wraps(function)
    def called(*arguments: Given.args, **named: Given.kwargs) -> Result:
        try:
            with in_notebook():
                return function(*arguments, **named)
        except InputError as error:
            if not AT_SHELL.get() and error.args:
                told = in_python(str(error)) + _first_answers(error, named)
                error.args = (told, *error.args[1:])
            raise

    return called


def in_python(text: str) -> str:
    """A message with each option as an argument, how files are read being one of them.

    >>> in_python("no reference: say by --reference NAME")
    'no reference: say by reference=[NAME]'
    >>> in_python("which column holds the ids? Say --item 'nr'; --assume accepts the first")
    "which column holds the ids? Say read=ReadOptions(item='nr'); read=ReadOptions(assume=True)
    accepts the first"
    >>> in_python("Say --reference 'ann' --reference 'ben', or --words 'poor=1, unsure=missing'")
    "Say reference=['ann', 'ben'], or read=ReadOptions(words={'poor': 1, 'unsure': 'missing'})"
    >>> in_python("write them by voirdire session reparse --all")
    'write them by voirdire session reparse --all'
    """
    written = ""
    for start, end in _clauses(text):
        clause = text[start:end]
        command = _COMMAND.search(clause)
        typed = command.start() if command else len(clause)
        written += _OPTION.sub(_argument, clause[:typed]) + clause[typed:]
    return written


def _first_answers(error: InputError, named: Mapping[str, object]) -> str:
    """The arguments that answer several questions, or one beside what is known, to be copied."""
    from voirdire.study import ReadOptions  # noqa: PLC0415 - loaded long since, where this is asked
    from voirdire.tables import with_answers  # noqa: PLC0415

    if not isinstance(error, QuestionError) or error.of_study or error.has_blanks:
        return ""
    read, reference = named.get("read"), named.get("reference") or ()
    read = read if isinstance(read, ReadOptions) else ReadOptions()
    if (
        not (error.more or read)
        or isinstance(reference, str)
        or not isinstance(reference, Sequence)
    ):
        return ""
    reference, read = with_answers(error, reference, read)
    told = [f"reference={list(reference)!r}"] if reference else []
    told += [f"read={_written(read)}"] if read else []
    return f"\nTo take the first answers: {', '.join(told)}"


def _written(read: ReadOptions) -> str:
    """The options as Python writes them; a number that is still to be filled in is a word."""
    human: dict[str, object] = {"human": [*map(str, read.human)]} if read.human else {}
    judge: dict[str, object] = {"judge": [*read.judge]} if read.judge else {}
    keys = {**human, **judge, **read.keys_set()}
    return f"ReadOptions({', '.join(f'{key}={_literal(value)}' for key, value in keys.items())})"


def _literal(value: object) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {_literal(one)}' for key, one in value.items())}}}"
    if isinstance(value, tuple | list):
        inside = ", ".join(map(_literal, value))
        # Two numbers are the ends of a scale; names are a list, so that one alone is no text.
        return f"({inside})" if all(isinstance(one, float) for one in value) else f"[{inside}]"
    if isinstance(value, float):
        return "NUMBER" if isnan(value) else f"{value:g}"
    return repr(value)


def _clauses(text: str) -> list[tuple[int, int]]:
    ends = [match.end() for match in _SENTENCE.finditer(text)]
    return list(zip([0, *ends], [*ends, len(text)], strict=True))


def _argument(option: re.Match[str]) -> str:
    from voirdire.study import ReadOptions  # noqa: PLC0415 - loaded long since, where this is asked

    name = option["name"].replace("-", "_")
    if name in _PAIRS and "=" in (option["value"] or ""):
        key, _, value = option["value"].strip("'").partition("=")
        written = f"{_PAIRS[name]}={{{key!r}: {value!r}}}"
        of_files = _PAIRS[name] in ReadOptions.model_fields
        return f"read=ReadOptions({written})" if of_files else written
    of_files = name in ReadOptions.model_fields
    if name not in _FLAGS and option["value"] is None:
        return f"`{name}` of ReadOptions" if of_files else f"`{name}`"
    written = "True" if name in _FLAGS else _value(name, option["value"], option["more"])
    return f"read=ReadOptions({name}={written})" if of_files else f"{name}={written}"


def _value(name: str, value: str, more: str) -> str:
    """A value as Python writes it; a word in capital letters stands for one and has no quotes."""
    from voirdire.tables import ends_of, names_kept, numbers_of  # noqa: PLC0415 - as above

    typed = shlex.split(value)[0] if value.startswith("'") else value
    if value.startswith("'") and name in ("words", "rescale", "same"):
        blank = typed.replace("=NUMBER", "=nan")
        if name == "same":
            return _literal(names_kept([blank]))
        return _literal(numbers_of(blank) if name == "words" else ends_of([blank]))
    if value.startswith("'") and name == "labels":  # all of them by commas
        return _literal(names_of([typed]))
    # With points or signs it is a file's name, or a text that is to be given as it stands.
    stands_for = not value.startswith("'") and value.isupper() and "=" not in value
    values = [typed if stands_for else repr(typed), *map(repr, shlex.split(more or "")[1::2])]
    return f"[{', '.join(values)}]" if name in _SEVERAL else values[0]

"""Every exception of voirdire, and how errors that recur are worded.

VoirdireError (a ValueError)
├── InputError              what was handed in cannot be used (exit code 1)
│   ├── TableError          a file, column, row or value
│   │   ├── QuestionError   a file that can be read in two ways; a key or option says which
│   │   ├── WordsDifferError    raters of one question write other words
│   │   └── NotSummableError    ratings that no stream can sum, and memory may hold
│   ├── StudyError          a key of a study file
│   └── StatisticsError     arrays that a statistic cannot take
├── PluginError             a plugin is broken, unknown or registered twice
│   └── MissingExtraError   the feature needs an extra that is not installed
├── ModelError              a model did not give a usable reply
├── UnfinishedError         a run of many ended early; what came is kept (exit code 3 or 130)
├── BudgetSpentError        an optimizer asked for more judgements than are left
├── SessionError            a session folder is locked, foreign or damaged
├── WorkerError             a process or machine that computes a part died again and again
├── ContractError           a plugin breaks its contract (exit code 4); an AssertionError too
└── RequirementUnmetError   a gate (`--require`) does not hold (exit code 4)
"""

from __future__ import annotations

import csv
import re
import shlex
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Literal, Protocol, get_args

if TYPE_CHECKING:
    import json
    from collections.abc import Iterable, Iterator, Sequence

#: Why no usable reply came; the runner decides by `ModelError.retryable`, reports by kind.
FaultKind = Literal[
    "rate_limit",  # 429: too many requests or tokens for now
    "overloaded",  # 529: the provider has too much to do
    "server",  # any other 5xx, and what passes by itself as they do (409, 425)
    "connection",  # dropped, refused, or a body shorter than announced
    "timeout",  # no answer within the time allowed
    "malformed",  # a 200 whose body is cut, HTML or otherwise not the provider's format
    "auth",  # 401, 403: a wrong key, or one without the right
    "quota",  # out of credit: comes as a 429 or 402, and waiting does not help
    "refused_parameter",  # the model does not take a parameter that was sent
    "bad_request",  # any other 4xx: asking again gives the same answer
    "empty_input",  # a message without text; nothing was sent
    "model",  # a local model failed
]
FAULT_KINDS: tuple[FaultKind, ...] = get_args(FaultKind)
_PASSING = frozenset({"rate_limit", "overloaded", "server", "connection", "timeout", "malformed"})


class Billed(Protocol):
    """Tokens that a provider counted (a `schema.Usage`): each None where it did not say."""

    @property
    def input(self) -> int | None: ...
    @property
    def output(self) -> int | None: ...
    @property
    def cached(self) -> int | None: ...
    @property
    def reasoning(self) -> int | None: ...


#: Whether a command line reads the errors: they name options then, and otherwise arguments.
AT_SHELL: ContextVar[bool] = ContextVar("at_shell", default=False)


@contextmanager
def at_shell() -> Iterator[None]:
    """Errors within are read at a command line."""
    token = AT_SHELL.set(True)
    try:
        yield
    finally:
        AT_SHELL.reset(token)


#: What a plugin may raise, and costs only itself; Ctrl-C is no part of it.
BROKEN_PLUGIN = (Exception, SystemExit)


class VoirdireError(ValueError):
    """Root of all errors that voirdire raises on purpose."""


class InputError(VoirdireError):
    """What was handed in cannot be used; the message names the place and what is allowed."""


class TableError(InputError):
    """A file, column, row or value of a table."""


class QuestionError(TableError):
    """A file can be read in two ways that give different numbers, and nobody said which.

    Attributes
    ----------
    question : str
        What is asked, in a sentence.
    key : str
        The key of ``[[data.sources]]`` that settles it; the option of that name does the same.
        ``reference``, of several names by commas, is a key of ``[data]``, and an option a name.
    choices : tuple of str
        Values of the option, the likeliest first; several names in one stand by commas.
    line : str
        The line of a study that says the first choice.
    likely : bool
        Whether the first choice is likely enough to be assumed.
    of_study : bool
        Whether a study names the file, so that its key alone settles it: options that name
        columns are for files without a study.

    Examples
    --------
    >>> print(QuestionError("a.csv: which column holds the ids?", "item", ("nr",), 'item = "nr"'))
    ... # doctest: +ELLIPSIS
    a.csv: which column holds the ids? Say --item 'nr', or item = "nr" under [[data.sources]]; ...
    """

    def __init__(
        self,
        question: str,
        key: str,
        choices: tuple[str, ...],
        line: str,
        *,
        likely: bool = True,
        of_study: bool = False,
    ) -> None:
        options = " or ".join(self.option(key, choice) for choice in choices)
        under = "[data]" if key == "reference" else "[[data.sources]]"
        first = "; --assume accepts the first" if likely else ""
        advice = f"Say {options}, or {line} under {under}{first}"
        if key == "judge":  # of a study the panel says who judges
            advice = f"Say {options}, or declare a study whose [[panel]] names them{first}"
        if of_study:
            others = f" (or: {', '.join(choices[1:])})" if choices[1:] else ""
            advice = f"Write {line} under {under} of the study{others}"
        super().__init__(f"{question} {advice}")
        self.question, self.key, self.choices, self.line = question, key, choices, line
        self.likely, self.of_study = likely, of_study
        self.more: tuple[QuestionError, ...] = ()
        #: The whole command with the first answers; empty where no command was typed.
        self.command = ""

    def with_more(self, more: Iterable[QuestionError]) -> QuestionError:
        """The same with the questions that come after it, once its first choice is taken."""
        asked = QuestionError(
            self.question, self.key, self.choices, self.line,
            likely=self.likely, of_study=self.of_study,
        )  # fmt: skip
        asked.more = tuple(more)
        asked.args = ("\n".join(str(one) for one in (self, *asked.more)),)
        return asked

    def with_command(self, command: str) -> QuestionError:
        """The same with a whole command that answers all questions by their first choices."""
        asked = self.with_more(self.more)
        blank = "To answer, each NUMBER filled in"
        lead = blank if self.has_blanks else "To take the first answers"
        asked.args = (f"{self}\n{lead}: {command}",)
        asked.command = command
        return asked

    @property
    def has_blanks(self) -> bool:
        """Whether a first choice is to be filled in, as the numbers of words in no usual order."""
        return any("=NUMBER" in one.option(one.key, one.choices[0]) for one in (self, *self.more))

    @property
    def options(self) -> str:
        """All first choices, as they are written on a command line."""
        questions = (self, *self.more)
        # Words of a later question hold those of the earlier ones.
        last = {question.key: question for question in questions}
        several = ("judge", "reference", "ignore", "only", "rescale", "same")
        return " ".join(
            self.option(question.key, question.choices[0])
            for question in questions
            if question.key in several or last[question.key] is question
        )

    def in_study(self) -> QuestionError:
        """The same question about a file that a study names."""
        return QuestionError(
            self.question, self.key, self.choices, self.line, likely=self.likely, of_study=True
        )

    @staticmethod
    def settled_by(key: str, choice: str) -> tuple[str, str]:
        """The key and the value that a choice is, which may be those of another option.

        >>> QuestionError.settled_by("system", "--attribute aspect")
        ('attribute', 'aspect')
        """
        own = re.fullmatch(r"--([a-z]+) (.+)", choice, re.DOTALL)
        return (own[1], own[2]) if own else (key, choice)

    @staticmethod
    def option(key: str, choice: str) -> str:
        """The option, as it is written on a command line, that makes a choice.

        A choice may name another option than its question: ``--attribute aspect``.
        """
        key, choice = QuestionError.settled_by(key, choice)
        names = [choice]
        if key in ("reference", "judge", "only"):
            several = next(csv.reader([choice], skipinitialspace=True), [])
            names = several if len(several) > 1 else [choice]
        # Quotes also where no shell needs them: they show where a name ends.
        quoted = [shlex.quote(name) if "'" in name else f"'{name}'" for name in names]
        return " ".join(f"--{key} {name}" for name in quoted)


def names_of(given: list[str] | None) -> list[str]:
    """Names as an option is given them: one text of names by commas, or each on its own.

    A name that holds a comma is given by repeating the option, or stands in quotes.

    Examples
    --------
    >>> names_of(["ann, ben"]), names_of(["Li, Ann", "ben"]), names_of(['"Li, Ann",ben'])
    (['ann', 'ben'], ['Li, Ann', 'ben'], ['Li, Ann', 'ben'])
    """
    # A comma separates names only where the option was given once: repeated, each is a name.
    texts = list(given or ())
    names = cells(texts[0]) if len(texts) == 1 else texts
    return [name.strip() for name in names if name.strip()]


def cells(text: str) -> list[str]:
    """What stands between commas, as in a line of CSV: what holds a comma stands in quotes."""
    return [cell for line in csv.reader(text.splitlines(), skipinitialspace=True) for cell in line]


class WordsDifferError(TableError):
    """Raters of one question write other words, and which of them mean the same is not known."""


class NotSummableError(TableError):
    """Ratings that no stream can sum: scores on no grid, or a table with several in a row."""


class StudyError(InputError):
    """A key of a study file."""


class StatisticsError(InputError):
    """Arrays that a statistic cannot take (a wrong shape, an undeclared category)."""


class PluginError(VoirdireError):
    """A plugin is broken, unknown or registered twice."""


class MissingExtraError(PluginError):
    """A feature needs an extra of the distribution that is not installed."""

    def __init__(self, feature: str, extra: str, module: str) -> None:
        super().__init__(
            f"{feature} needs the package {module!r}, which is not installed: "
            f"pip install 'voirdire[{extra}]' (from a clone: pip install '.[{extra}]')"
        )
        self.feature, self.extra, self.module = feature, extra, module


class ModelError(VoirdireError):
    """A model did not give a usable reply.

    A refusal, a filtered, cut or empty answer is a `Reply` with its `finish_reason`, not an error.

    Attributes
    ----------
    kind : str
        One of `FAULT_KINDS`.
    retryable : bool
        Whether the same request may succeed later; by default decided by the kind.
    retry_after : float or None
        Seconds that the provider asked to wait.
    status_code : int or None
        The HTTP status, where one came.
    parameter : str
        The parameter that was refused (kind ``"refused_parameter"``), else empty.
    of_item : bool
        Whether this request alone is at fault (too long for the model), which says nothing of
        others to the same model.
    billed : Usage or None
        The tokens that were counted for it all the same, as for an answer without a choice.

    Examples
    --------
    >>> error = ModelError("too many requests", "rate_limit", retry_after=2.0, status_code=429)
    >>> error.retryable, error.kind, str(error)
    (True, 'rate_limit', 'too many requests')
    """

    def __init__(
        self,
        message: str,
        kind: FaultKind = "model",
        *,
        retryable: bool | None = None,
        retry_after: float | None = None,
        status_code: int | None = None,
        parameter: str = "",
        of_item: bool = False,
        billed: Billed | None = None,
    ) -> None:
        super().__init__(message)
        self.kind: FaultKind = kind
        self.retryable = kind in _PASSING if retryable is None else retryable
        self.retry_after, self.status_code = retry_after, status_code
        self.parameter, self.of_item, self.billed = parameter, of_item, billed


class SessionError(VoirdireError):
    """A session folder is locked, foreign or damaged."""


class UnfinishedError(VoirdireError):
    """A run ended before all was asked: what came is kept, and the same command goes on."""

    def __init__(self, message: str, exit_code: int = 3) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class BudgetSpentError(VoirdireError):
    """An optimizer asked for more judgements than are left; what it found is kept."""


class WorkerError(VoirdireError):
    """What computes a part died again and again; the message names the part."""


class ContractError(VoirdireError, AssertionError):
    """A plugin breaks its contract: all that `voirdire.testing` found, a hint beside each.

    Attributes
    ----------
    whose : str
        The plugin's object.
    problems : tuple of str
        What does not hold, with a hint on the lines below.

    Examples
    --------
    >>> print(ContractError("mine:make", ["parse raises"]))
    mine:make breaks its contract:
      - parse raises
    """

    def __init__(self, whose: str, problems: Sequence[str]) -> None:
        super().__init__("\n  - ".join([f"{whose} breaks its contract:", *problems]))
        self.whose, self.problems = whose, tuple(problems)


class RequirementUnmetError(VoirdireError):
    """A gate given by `--require` does not hold.

    Attributes
    ----------
    failures : tuple of str
        A sentence for every value that does not meet a gate. Of very many the message shows the
        first ones.

    Examples
    --------
    >>> print(RequirementUnmetError(["kappa of a is 0.4, required >= 0.6"]))
    kappa of a is 0.4, required >= 0.6
    """

    def __init__(self, failures: Sequence[str]) -> None:
        lines = list(failures[:_MOST])
        if len(failures) > _MOST:
            lines.append(
                f"and {len(failures) - _MOST} more: --json and the files of --out hold all"
            )
        super().__init__(lines[0] if len(lines) == 1 else "\n  - ".join(["", *lines]))
        self.failures = tuple(failures)


#: How many allowed values an error names.
_MOST = 40


def listed(names: Sequence[object], limit: int = 10) -> str:
    """Names for a sentence: the first few, and how many follow.

    Examples
    --------
    >>> listed(["a", "b", "c"], 2)
    "'a', 'b' and 1 more"
    """
    shown = ", ".join(repr(name) if isinstance(name, str) else str(name) for name in names[:limit])
    return shown + (f" and {len(names) - limit} more" if len(names) > limit else "")


def not_json(error: json.JSONDecodeError) -> str:
    """What is wrong with a text that is no JSON: it may have been cut off.

    Examples
    --------
    >>> import json
    >>> try:
    ...     json.loads('[{"score": 4}, {"sco')
    ... except json.JSONDecodeError as error:
    ...     print(not_json(error))
    is not valid JSON (it ends in the middle, column 17: export or copy it again)
    """
    cut = error.msg.startswith("Unterminated string") or error.pos >= len(error.doc.rstrip())
    if cut and error.doc.strip():
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        return (
            f"is not valid JSON (it ends in the middle, {line}column {error.colno}: export or "
            f"copy it again)"
        )
    return f"is not valid JSON ({error})"


def half_character(value: object, key: str = "") -> str:
    r"""What is wrong with a JSON value that holds half a character; empty where none does.

    JSON may write a character as a pair of surrogates, and a text that was cut between the two
    holds one of them, which no file in UTF-8 can hold.

    Examples
    --------
    >>> print(half_character({"item": "p1" + chr(0xD800)}))  # doctest: +ELLIPSIS
    holds half a character, in 'item': 'p1...' (half of a surrogate pair: correct it)
    >>> half_character({"item": "p1"})
    ''
    """
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            near = value[max(0, error.start - 20) : error.start + 20]
            where = f", in {key!r}" if key else ""
            return f"holds half a character{where}: {near!r} (half of a surrogate pair: correct it)"
        return ""
    pairs = (
        ((name, part) for name, one in value.items() for part in (name, one))
        if isinstance(value, dict)
        else ((key, one) for one in value)
        if isinstance(value, list)
        else ()
    )
    return next(filter(None, (half_character(part, name) for name, part in pairs)), "")


def not_there(
    what: str,
    name: str,
    there: Iterable[str],
    where: object = "",
    advice: str = "",
    error: type[ValueError] = InputError,
) -> ValueError:
    """The error for a thing that data lack: it names the nearest one and those there are.

    Examples
    --------
    >>> print(not_there("judge", "gpt4", ["gpt-4", "sonnet"], "a.csv"))
    a.csv: there is no judge 'gpt4' (did you mean 'gpt-4'? judges: 'gpt-4', 'sonnet')
    """
    names = list(there)
    hint = f"{_meant(name, names)}{what}s: {listed(names) or 'none'}"
    text = f"{_at(where)}there is no {what} {name!r} ({hint})"
    return error(f"{text}; {advice}" if advice else text)


def no_column(
    where: object,
    name: str,
    columns: Iterable[str],
    advice: str = "",
    error: type[ValueError] = TableError,
) -> ValueError:
    """`not_there` of a table's column.

    Examples
    --------
    >>> print(no_column("a.csv", "rater", ["item", "raters"]))
    a.csv: there is no column 'rater' (did you mean 'raters'? columns: 'item', 'raters')
    """
    return not_there("column", name, columns, where, advice, error)


def not_rated(
    names: Sequence[str],
    raters: Sequence[str],
    where: object = "",
    advice: str = "",
    error: type[ValueError] = TableError,
) -> ValueError:
    """The error for a reference of which there are no ratings; it lists the raters.

    Examples
    --------
    >>> print(not_rated(["anne"], ["ann", "gpt"], "a.csv"))
    a.csv: the reference 'anne' has no ratings (did you mean 'ann'? raters: 'ann', 'gpt')
    >>> print(not_rated(["ann,ben"], ["ann", "ben"]))  # doctest: +ELLIPSIS
    the reference 'ann,ben' has no ratings (raters: 'ann', 'ben'); write --reference once, with ...
    """
    first = names[0].casefold()
    begun = [name for name in raters if name.casefold().startswith(first)]
    near = f"did you mean {listed(begun)}? " if begun else _meant(first, raters)
    text = (
        f"{_at(where)}the reference {listed(names)} has no ratings "
        f"({near}raters: {listed(raters)}){advice}"
    )
    if any("," in name for name in names):
        text += (
            "; write --reference once, with commas between the names, "
            "or once for each of them, and a single name that holds a comma in quotes of its own"
        )
    return error(text)


def check_columns(
    where: object,
    wanted: Iterable[str],
    columns: Iterable[str],
    advice: str = "",
    error: type[ValueError] = TableError,
) -> None:
    """Raise `no_column` for the first wanted column that a table lacks.

    Examples
    --------
    >>> check_columns("a.csv", ["item"], ["item", "score"])
    """
    there = list(columns)
    for name in wanted:
        if name not in there:
            raise no_column(where, name, there, advice, error)


def duplicate(
    what: str,
    value: object,
    where: object = "",
    advice: str = "",
    error: type[ValueError] = InputError,
) -> ValueError:
    """The error for a value that may occur once only.

    Examples
    --------
    >>> print(duplicate("item", "7", "items.csv, row 9"))
    items.csv, row 9: item '7' occurs more than once
    """
    text = f"{_at(where)}{what} {value!r} occurs more than once"
    return error(f"{text}: {advice}" if advice else text)


def not_one_of(
    what: str,
    value: object,
    allowed: Iterable[object],
    where: object = "",
    error: type[ValueError] = InputError,
) -> ValueError:
    """The error for a value that is none of those allowed; it names the nearest one.

    Examples
    --------
    >>> print(not_one_of("policy", "mising", ["missing", "keep"], "study.toml"))
    study.toml: policy 'mising' is unknown (did you mean 'missing'? allowed: missing, keep)
    """
    there = list(allowed)
    names = ", ".join(map(str, there[:_MOST])) or "none"
    more = f" and {len(there) - _MOST} more" if len(there) > _MOST else ""
    hint = f"{_meant(value, there)}allowed: {names}{more}"
    return error(f"{_at(where)}{what} {value!r} is unknown ({hint})")


def check_allowed(
    what: str,
    given: Iterable[object],
    allowed: Iterable[object],
    where: object = "",
    error: type[ValueError] = InputError,
) -> None:
    """Refuse values of which one is none of those allowed, as `not_one_of` words it.

    Raises
    ------
    InputError, or `error`
        The first value that is not allowed, in the order given.

    Examples
    --------
    >>> check_allowed("format", ["md", "pdf"], ["md", "tex"])
    Traceback (most recent call last):
    voirdire.errors.InputError: format 'pdf' is unknown (allowed: md, tex)
    """
    choices = list(allowed)
    for value in given:
        if value not in choices:
            raise not_one_of(what, value, choices, where, error)


def _at(where: object) -> str:
    return f"{where}: " if where else ""


def _meant(value: object, allowed: Sequence[object]) -> str:
    """The name that a misspelt one is nearest to, as a question."""
    names = {name.casefold(): name for name in allowed if isinstance(name, str)}
    from difflib import get_close_matches  # noqa: PLC0415 - for names that are wrong alone

    near = get_close_matches(str(value).casefold(), names, 1, 0.75)
    return f"did you mean {names[near[0]]!r}? " if near else ""

"""`--json`: one object on standard output that begins with an answer, and lines of JSON beside it.

Nothing else reaches standard output, whatever a command prints: what it prints for people is
collected, and becomes part of the answer. What stands on standard error are events, a line each.
"""

from __future__ import annotations

import io
import json
import shlex
import sys
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from voirdire import progress
from voirdire.errors import QuestionError
from voirdire.late import pattern
from voirdire.shown import harmless_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from voirdire.examining.gates import GateResult
    from voirdire.tabular import Section

SCHEMA_VERSION = 1
#: Rows of a table, lines of what was said, and next steps that an answer holds: with the states it
#: is read in one look, and has thirty lines at most.
MOST = 6
_COMMAND = pattern(r"(voirdire [a-z][^.;`]*[^.;:`\s])")
_END = pattern(r"(?<=[.?!])\s")


class Collected:
    """What a command has to say to a program."""

    def __init__(self) -> None:
        self.answer: dict[str, Any] = {}
        self.record: dict[str, Any] | None = None


#: Where a command that runs for a program puts its record; None for one that runs for people.
COLLECTED: ContextVar[Collected | None] = ContextVar("collected", default=None)


#: What has been printed by this process: a command that ends by an error prints no second object.
_PRINTED: list[Collected] = []


def begin() -> None:
    """A command begins: nothing of it has been printed."""
    _PRINTED.clear()


def printed_one() -> bool:
    """Whether an object was printed; asked once by whoever ends the command."""
    return bool(_PRINTED) and _PRINTED.pop() is not None


def emit(answer: Mapping[str, Any], record: Any) -> None:
    """Give a program the answer and the whole record, an object; at once where nobody collects."""
    collected = COLLECTED.get()
    if collected is None:
        sys.stdout.write(document(answer, record) + "\n")
    else:
        collected.answer, collected.record = dict(answer), record


def collect(answer: Mapping[str, Any], record: Any) -> None:
    """Give a program the answer and the record of a command that prints for people besides."""
    if COLLECTED.get() is not None:
        emit(answer, record)


def event(kind: str, **facts: Any) -> None:
    """One line of JSON on standard error."""
    line = json.dumps({"event": kind, **facts}, ensure_ascii=False)
    sys.stderr.write(harmless_json(line) + "\n")
    sys.stderr.flush()


def _progressed(now: progress.Stage) -> None:
    event("progress", stage=now.name, step=now.at, of=now.of, seconds=round(now.seconds, 1))


def document(answer: Mapping[str, Any], record: Any) -> str:
    """The object as text, its answer first and packed: every entry of it is one line."""
    from voirdire.report.records import plain

    content = {"schema_version": SCHEMA_VERSION, **plain(record)}
    content.pop("answer", None)
    rest = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    head = ",\n".join(f"  {json.dumps(key)}: {_packed(value)}" for key, value in answer.items())
    return harmless_json(f'{{\n "answer": {{\n{head}\n }},{rest[1:]}')


def _packed(value: Any) -> str:
    from voirdire.report.records import plain

    value = plain(value)
    if not (isinstance(value, list) and value and not isinstance(value[0], str)):
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    lines = (json.dumps(one, ensure_ascii=False, allow_nan=False) for one in value)
    inner = ",\n".join(f"   {line}" for line in lines)
    return f"[\n{inner}\n  ]"


def sections_answer(
    title: str,
    sections: Sequence[Section],
    held: Sequence[GateResult] = (),
    told: Sequence[str] = (),
) -> dict[str, Any]:
    """The answer of a command whose result is sections: first sentences, and the first rows."""
    from voirdire.tabular import is_missing

    said = list(told) or [one for section in sections for one in _sentences(section.text)[:1]]
    rows: Sequence[Mapping[str, Any]] = next(
        (table.records() for section in sections for table in section.tables if table.rows), []
    )
    numbers = [
        {name: value_of(cell) for name, cell in row.items() if not is_missing(cell)}
        for row in rows[:MOST]
    ]
    unmet = [str(one.to_dict()["requirement"]) for one in held if one.state != "met"]
    said = said or [title]
    return answer_of(
        f"A requirement is not met: {unmet[0]}." if unmet else said[0],
        "unmet" if unmet else "ok",
        sentences=said[:MOST],
        numbers=numbers,
        more=max(len(rows) - MOST, 0),
    )


def answer_of(sentence: str, state: str = "ok", **facts: Any) -> dict[str, Any]:
    """An answer: its keys are the same for every command, and stand in the same order."""
    keys: dict[str, Any] = {
        "sentence": sentence, "state": state, "sentences": [sentence], "states": {},
        "numbers": [], "next": [], "ids": [], "more": 0,
    }  # fmt: skip
    return {**keys, **facts}


def printed_answer(text: str) -> dict[str, Any]:
    """The answer of a command that prints lines alone."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith("voirdire ")]
    found = dict.fromkeys(one for line in lines for one in _COMMAND.findall(line))
    steps = [{"say": "", "command": one} for one in found]
    return answer_of(
        told[0] if told else "Done.",
        sentences=told[:MOST] or ["Done."],
        next=steps[:3],
        more=max(len(told) - MOST, 0),
    )


def error_answer(error: BaseException, message: str, state: str = "error") -> str:
    """The document of a command that ended by an error or a question."""
    record: dict[str, Any] = {"error": {"kind": type(error).__name__, "message": message}}
    sentence = _sentences(message)[0] if message else state
    steps: list[dict[str, str]] = []
    if isinstance(error, QuestionError):
        state, sentence = "question", error.question
        record["questions"] = [
            {
                "key": one.key, "question": one.question, "choices": list(one.choices),
                "likely": one.likely, "study_line": one.line,
                "answers": [f"--answer {shlex.quote(f'{one.key}={choice}')}"
                            for choice in one.choices],
            }
            for one in (error, *error.more)
        ]  # fmt: skip
        steps = [{"say": "Take the first answers.", "command": error.command}]
        steps = steps if error.command else []
    return document(answer_of(sentence, state, next=steps), record)


def value_of(cell: Any) -> Any:
    """A cell as JSON holds it: an interval as its bounds, a mark and a deviation left out."""
    from voirdire.tabular import Marked, Spread, bounds, has_bounds, is_missing

    if isinstance(cell, Marked | Spread):
        return value_of(cell.value)
    if is_missing(cell):
        return None
    return list(bounds(cell)) if has_bounds(cell) else cell


def _sentences(text: str) -> list[str]:
    return [one.strip() for one in _END.split(text) if one.strip()]


class _Events(io.TextIOBase):
    """Standard error in which every line is an event: what is none becomes a note."""

    def __init__(self, stream: Any) -> None:
        self.stream, self.rest = stream, ""

    def writable(self) -> bool:
        """Always."""
        return True

    def write(self, text: str) -> int:
        """Pass whole lines on."""
        *lines, self.rest = (self.rest + text.replace("\r", "\n")).split("\n")
        for line in lines:
            self._pass(line)
        return len(text)

    def _pass(self, line: str) -> None:
        if line.strip():
            note = json.dumps({"event": "note", "text": line}, ensure_ascii=False)
            self.stream.write((line if line.startswith('{"event"') else harmless_json(note)) + "\n")

    def flush(self) -> None:
        """Pass on what has come."""
        self.stream.flush()

    def end(self) -> None:
        """Pass on the last line, which may lack its end."""
        self._pass(self.rest)
        self.rest = ""


class _KeptOutput(io.StringIO):
    """Standard output that is kept, and told at once as events."""

    def __init__(self, events: _Events) -> None:
        super().__init__()
        self.events = events

    def write(self, text: str) -> int:
        """Keep it."""
        self.events.write(text)
        return super().write(text)


@contextmanager
def for_programs(*, tell: bool = False) -> Iterator[Collected]:
    """A command within prints one object and events, whatever it does; an error passes through.

    With `tell`, what it prints is told at once as well: of a server, where it is.
    """
    collected, events = Collected(), _Events(sys.stderr)
    printed = _KeptOutput(events) if tell else io.StringIO()
    token = COLLECTED.set(collected)
    stdout = sys.stdout
    done = False
    try:
        with redirect_stdout(printed), redirect_stderr(events), progress.told(_progressed):
            try:
                yield collected
                done = True
            except SystemExit:
                done = True
                raise
            except Exception as error:
                # Typer ends commands by an exception of its own, which has a code and no message.
                done = hasattr(error, "exit_code")
                raise
    finally:
        COLLECTED.reset(token)
        events.end()
        if done or collected.record is not None:
            stdout.write(_whole(collected, printed.getvalue()) + "\n")
            stdout.flush()
            _PRINTED.append(collected)


def _whole(collected: Collected, printed: str) -> str:
    """The document of a command that came to its end."""
    if collected.record is not None:
        return document(collected.answer, collected.record)
    try:
        found = json.loads(printed)
    except ValueError:
        try:
            found = [json.loads(line) for line in printed.splitlines()] or [None]
        except ValueError:
            found = [None]
        if found == [None]:
            return document(printed_answer(printed), {"lines": printed.splitlines()})
    # A command of a plugin may print JSON itself.
    if isinstance(found, dict):
        if isinstance(found.get("answer"), dict):
            return document(found["answer"], found)
        return document(rows_answer([found]), found)
    return document(rows_answer(found), {"rows": found})


def rows_answer(rows: Sequence[Any]) -> dict[str, Any]:
    """The answer of a command that gives objects: how many, and the plain values of the first."""
    plain = [
        {key: value for key, value in row.items() if not isinstance(value, dict | list)}
        for row in rows[:MOST]
        if isinstance(row, dict)
    ]
    said = f"{len(rows):,} rows." if len(rows) != 1 else "1 row."
    return answer_of(said, numbers=plain, more=max(len(rows) - MOST, 0))

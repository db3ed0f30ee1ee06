"""Commands as tools of an MCP server: what each may be asked, and the words that are typed for it.

A tool is a command. Its arguments are the command's options, its description is the command's
help, and what it gives is what the command prints with ``--json``; nothing is said twice.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from functools import cache
from types import NoneType
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from typer.models import ArgumentInfo

from voirdire.cli.columns import PANEL
from voirdire.errors import InputError, check_allowed, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from voirdire.cli.folders import Folders

#: Tool -> the command that it is.
TOOLS = {
    "examine": "examine",
    "correct": "correct",
    "plan": "plan",
    "compare": "compare",
    "gate_check": "gate check",
    "item": "item",
    "tune": "tune",
    "run": "run",
}
#: Tools that may ask models: no call of theirs is made before its budget was shown.
PAID = frozenset({"tune", "run", "gate_check"})
#: Of these, those that always do.
ALWAYS_PAID = frozenset({"tune", "run"})
#: What the server says, or what would leave the folders or this machine.
_KEPT = frozenset({
    "json", "help", "data", "workers", "insecure", "shared", "end-within", "quiet", "dry-run",
    "batch", "resubmit",
})  # fmt: skip
#: Options that show texts of items, responses and replies.
_TEXTS = frozenset({"with-text"})
#: The argument that holds all options by which a file is read.
READ = "read"
#: The argument by which a paid call says that its budget was seen.
GO = "go"
_READ_HELP = (
    'How the files are read, where a question asks for it: answer = ["KEY=CHOICE"] takes the key '
    "and a choice of each. voirdire://docs/files says what the others mean."
)
_GO_HELP = (
    "Leave it out first: the answer then shows the budget, and nobody is asked. Show that to the "
    "person who pays, and call again with the mark that it gave."
)
#: Marks of the terminal in a help text.
_MARKS = re.compile(r"\s*\[dim\]|\[/dim\]|\\(?=\[)")


@dataclass(frozen=True, slots=True)
class Offered:
    """An argument of a tool, as the command declares it.

    Attributes
    ----------
    hint : type
        What it holds.
    about : str
        Its help.
    place : bool
        It is typed without a name before it.
    reads : bool
        It says how a file is read.
    required : bool
    """

    hint: Any
    about: str
    place: bool
    reads: bool
    required: bool

    @property
    def many(self) -> bool:
        """Whether it may be said several times."""
        return get_origin(self.hint) is list

    def schema(self, *, told: bool = True) -> dict[str, Any]:
        """What it holds, as JSON Schema."""
        from pydantic import TypeAdapter

        kind = TypeAdapter(self.hint).json_schema()
        kind.pop("format", None)
        return {**kind, "description": self.about} if told and self.about else kind


@cache
def _function(tool: str) -> Any:
    """The function behind a tool's command."""
    from voirdire.cli.app import app_for

    words = TOOLS[tool].split()
    app: Any = app_for(words)
    for word in words[:-1]:
        groups = [one.typer_instance for one in app.registered_groups]
        app = next(one for one in groups if one.info.name == word)
    commands = {one.name or one.callback.__name__: one.callback for one in app.registered_commands}
    return commands[words[-1]]


def description_of(tool: str) -> str:
    """What a tool does, in the words of the command's help."""
    return inspect.getdoc(_function(tool)) or ""


@cache
def offered(tool: str, *, texts: bool) -> dict[str, Offered]:
    """Argument -> what it is, in the command's order.

    Parameters
    ----------
    tool : str
    texts : bool
        Whether options that show texts of items and replies are among them.

    Examples
    --------
    >>> list(offered("item", texts=False))[:3]
    ['source', 'name', 'reference']
    """
    function = _function(tool)
    hints = get_type_hints(function, include_extras=True)
    found = {}
    for one in inspect.signature(function).parameters.values():
        kind, about = get_args(hints[one.name])[:2]
        place = isinstance(about, ArgumentInfo)
        # Typer keeps the first name of an annotated option where its default would stand.
        names = [str(name) for name in (about.default, *(about.param_decls or ()))]
        flag = next((name for name in names if name.startswith("--")), f"--{one.name}")
        name = one.name if place else flag.removeprefix("--")
        found[name] = Offered(
            hint=_said(kind),
            about=" ".join(_MARKS.sub("", str(about.help or "")).split()),
            place=place,
            reads=about.rich_help_panel == PANEL,
            required=one.default in (inspect.Parameter.empty, ...),
        )
    hidden = _KEPT if texts else _KEPT | _TEXTS
    return {name: one for name, one in found.items() if name not in hidden}


def _said(kind: Any) -> Any:
    """A type without None, which stands for what is not said."""
    inner = [one for one in get_args(kind) if one is not NoneType]
    return inner[0] if NoneType in get_args(kind) and len(inner) == 1 else kind


def arguments_schema(tool: str, *, texts: bool) -> dict[str, Any]:
    """What a tool may be asked, as JSON Schema: the command's own options and help.

    Parameters
    ----------
    tool : str
    texts : bool
        Whether options that show texts of items and replies are among them.

    Examples
    --------
    >>> schema = arguments_schema("run", texts=False)
    >>> schema["required"]
    ['study', 'out', 'max-cost']
    """
    every = offered(tool, texts=texts)
    properties = {name: one.schema() for name, one in every.items() if not one.reads}
    reading = {name: one.schema(told=False) for name, one in every.items() if one.reads}
    if reading:
        properties[READ] = {
            "type": "object", "properties": reading, "additionalProperties": False,
            "description": _READ_HELP,
        }  # fmt: skip
    if tool in PAID:
        properties[GO] = {"type": "string", "description": _GO_HELP}
    return {
        "type": "object", "properties": properties, "required": _required(tool, every),
        "additionalProperties": False,
    }  # fmt: skip


def _required(tool: str, every: Mapping[str, Offered]) -> list[str]:
    """What must be said: a run keeps what it pays for, and has a budget."""
    paid = ("out", "max-cost") if tool in ALWAYS_PAID else ()
    return [name for name, one in every.items() if one.required or name in paid]


def words_of(
    tool: str, arguments: Mapping[str, Any], folders: Folders, *, texts: bool
) -> list[str]:
    """The words that are typed for a call.

    Values stand behind ``=``, and places that begin with a dash behind ``--``, so that none of them
    is taken for an option.

    Raises
    ------
    InputError
        An argument that the tool has not or that it lacks, a value of a wrong shape, or a file
        that lies outside the folders.
    """
    every = offered(tool, texts=texts)
    given = _flat(tool, arguments, every)
    lacking = [name for name in _required(tool, every) if name not in given]
    if lacking:
        raise InputError(f"{tool}: say {listed(lacking)}")
    options: list[str] = []
    places: list[str] = []
    for name in (one for one in every if one in given):
        what = every[name]
        for text in _values(f"{tool}, {name}", what, given[name]):
            if not what.place:
                folders.value(text)
                options.append(f"--{name}" if what.hint is bool else f"--{name}={text}")
                continue
            if name != "name":  # an item is named; every other place is a source
                folders.source(text)
            places.append(text)
    if any(one.startswith("-") for one in places):
        return [*TOOLS[tool].split(), *options, "--json", "--", *places]
    return [*TOOLS[tool].split(), *places, *options, "--json"]


def _flat(tool: str, arguments: Mapping[str, Any], every: Mapping[str, Offered]) -> dict[str, Any]:
    """All arguments beside each other: those of `read` too, and without the mark."""
    own = {name: value for name, value in arguments.items() if name not in (READ, GO)}
    reading = arguments.get(READ) or {}
    if not isinstance(reading, dict):
        raise InputError(f"{tool}, read: an object of options is asked for, got {reading!r}")
    ways = [name for name, one in every.items() if one.reads]
    check_allowed("argument", own, [name for name in every if name not in ways], tool)
    check_allowed("key", reading, ways, f"{tool}, read")
    return {name: value for name, value in {**own, **reading}.items() if value is not None}


def _values(where: str, what: Offered, value: Any) -> Iterator[str]:
    """The texts of a value, one for each time that the option is typed."""
    for one in value if isinstance(value, list) and what.many else [value]:
        if isinstance(one, bool) and what.hint is bool:
            yield from ["true"] if one else []
        elif isinstance(one, str | int | float) and not isinstance(one, bool):
            yield str(one)
        else:
            kind = what.schema(told=False).get("type", "a text")
            raise InputError(f"{where}: {kind} is asked for, got {one!r}")

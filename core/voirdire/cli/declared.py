"""Commands whose words are data: a table says what a function may be asked, and typer asks it.

A plugin that writes the study of a paper needs one function for each command, and a TOML file with
the names, kinds and help texts of its parameters. The function is imported when it is called, so
`--help` of voirdire loads no plugin's library.
"""

from __future__ import annotations

import importlib
import io
import json
from contextlib import redirect_stdout
from inspect import Parameter, Signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from voirdire.cli.machine import (
    COLLECTED,
    answer_of,
    emit,
    printed_answer,
    rows_answer,
    sections_answer,
)
from voirdire.cli.options import (
    FamilyOption,
    JsonOption,
    ModelArgument,
    ModelOptions,
    StudyFolder,
    model_options,
)
from voirdire.cli.schemas import TABLES, TEXT
from voirdire.cli.showing import plain_tables, print_next, show_tables, study_steps
from voirdire.errors import PluginError, check_allowed
from voirdire.identity import answers
from voirdire.tabular import Section

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_KINDS: dict[str, Any] = {
    "text": str, "path": Path, "integer": int, "number": float, "flag": bool, "settings": str,
}  # fmt: skip
#: Parameters that commands of every paper share.
_SHARED: dict[str, tuple[Any, Any]] = {
    "models": (ModelArgument, Parameter.empty),
    "model_options": (ModelOptions, None),
    "families": (FamilyOption, None),
    "out": (StudyFolder, Parameter.empty),
    "as_json": (JsonOption, False),
}
#: What each of these commands gives a program, by the schemas of its parts: the study that it
#: wrote, the tables that it shows, the objects that it printed, and the lines.
RECORD: dict[str, Any] = {
    "study": {"type": ["string", "null"]}, "tables": TABLES, "rows": {"type": "array"},
    "lines": {"type": "array", "items": TEXT},
}  # fmt: skip
#: What typer gives for an option that nobody typed; False and 0 are answers.
_UNSAID: tuple[Any, ...] = (None, "", [])
_COMMAND = frozenset({"calls", "help", "examples", "notes", "benchmark", "says", "parameters"})
_PARAMETER = frozenset(
    {
        "kind",
        "help",
        "flags",
        "argument",
        "required",
        "repeat",
        "default",
        "shown",
        "choices",
        "min",
        "max",
        "part",
        "metavar",
    }
)


def add_commands(app: Any, declared: Mapping[str, Any]) -> None:
    """Add the commands of a table: one of the group's own name, or a group of several.

    Parameters
    ----------
    app : typer.Typer
        Such as ``app.papers``, which `voirdire_register_commands` is given.
    declared : mapping
        ``name`` and ``help`` of the group, and ``commands``: name -> ``calls``
        (``"module:function"``), ``help``, ``examples``, ``notes`` (what stands below these),
        ``parameters``; ``benchmark`` (whose study the function writes) and ``says`` (parameter ->
        what is said where it was given). A group without ``help`` adds its commands to `app`
        itself.

        A parameter has a ``help`` and may have a ``kind`` (text, path, integer, number, flag,
        settings: NAME=VALUE), ``flags``, ``argument``, ``required``, ``repeat``, ``default``,
        ``shown`` (the default in words), ``choices``, ``min``, ``max``, ``metavar`` (its name in
        the line of usage) and ``part``: the mapping in which the function takes it. ``models``,
        ``model_options``, ``families``, ``out`` and ``as_json`` need nothing: they are the same
        for all.

    Raises
    ------
    PluginError
        A key or kind that is unknown, or a command of that name is there already.

    Notes
    -----
    The function gets each parameter that was said by its name; it returns the path of a study, a
    sentence or sections (one or several), with an exit code or without; or nothing, where it has
    printed what there is to say.
    """
    where = f"commands of {declared['name']}"
    made = {name: _function(name, one, where) for name, one in declared["commands"].items()}
    group = app
    if "help" in declared:
        group = typer.Typer(name=declared["name"], help=declared["help"], no_args_is_help=True)
    for name, function in made.items():
        one = declared["commands"][name]
        examples = "\n\n".join(f"  {line}" for line in one["examples"])
        notes = f"\n{one['notes'].strip()}\n" if "notes" in one else ""
        group.command(name, epilog=f"\nExamples:\n\n{examples}\n{notes}")(function)
    if group is not app:
        app.add_typer(group)


def _function(name: str, declared: Mapping[str, Any], where: str) -> Any:
    """A function with the declared signature, which typer reads, that calls the real one."""
    check_allowed("key", declared, sorted(_COMMAND), f"{where}, {name}", PluginError)
    given = declared.get("parameters", {})
    asked = [_parameter(key, one, f"{where}, {name}") for key, one in given.items()]

    def called(**values: Any) -> None:
        module, _, attribute = str(declared["calls"]).partition(":")
        function = getattr(importlib.import_module(module), attribute)
        arguments = _gathered(values, given)
        if COLLECTED.get() is not None or values.get("as_json"):
            _tell_program(lambda: function(**arguments), declared, values)
        else:
            _answer(function(**arguments), declared, values)

    # Typer reads a function's name, docstring, signature and annotations, and asks for no more.
    called.__name__ = name
    called.__doc__ = declared["help"]
    called.json_record = RECORD  # type: ignore[attr-defined]
    called.__signature__ = Signature(asked)  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in asked}
    return called


def _parameter(name: str, declared: Mapping[str, Any], where: str) -> Parameter:
    """One parameter as typer reads it."""
    if name in _SHARED and not declared:
        shared_hint, shared_default = _SHARED[name]
        return Parameter(
            name, Parameter.KEYWORD_ONLY, annotation=shared_hint, default=shared_default
        )
    where = f"{where}, parameter {name!r}"
    check_allowed("key", declared, sorted(_PARAMETER), where, PluginError)
    kind = declared.get("kind", "text")
    check_allowed("kind", [kind], _KINDS, where, PluginError)
    hint: Any = Literal[tuple(declared["choices"])] if "choices" in declared else _KINDS[kind]
    hint = list[hint] if declared.get("repeat") else hint
    default = declared.get("default", False if kind == "flag" else None)
    default = Path(default) if kind == "path" and default is not None else default
    if declared.get("required", declared.get("argument")):
        default = Parameter.empty
    elif default is None:
        hint = hint | None
    told = {key: declared[key] for key in ("help", "min", "max", "metavar") if key in declared}
    told["show_default"] = declared.get("shown", "default" in declared and default != "")
    flags = declared.get("flags", ["--" + name.replace("_", "-")])
    asked = typer.Argument(**told) if declared.get("argument") else typer.Option(*flags, **told)
    return Parameter(
        name, Parameter.KEYWORD_ONLY, annotation=Annotated[hint, asked], default=default
    )


def _gathered(values: Mapping[str, Any], declared: Mapping[str, Any]) -> dict[str, Any]:
    """What the function is given. What nobody said is left to the function's own default."""
    arguments: dict[str, Any] = {}
    for name, given in values.items():
        one = declared[name]
        if name == "as_json" or given in _UNSAID:
            continue
        place = arguments.setdefault(one["part"], {}) if "part" in one else arguments
        if name == "families":
            place[name] = answers(given)
        elif name == "model_options" or one.get("kind") == "settings":
            place[name] = model_options(given)
        else:
            place[name] = given
    return arguments


def _answer(result: Any, declared: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Print what the function returned, and end with its exit code where it has one."""
    result, code = result if isinstance(result, tuple) else (result, 0)
    if isinstance(result, Path):
        print_next(result, declared["benchmark"])
    elif isinstance(result, str):
        typer.echo(result)
    elif result is not None:
        show_tables([result] if isinstance(result, Section) else result)
    for sentence in _also(declared, values):
        typer.echo(sentence)
    if code:
        raise typer.Exit(code)


def _also(declared: Mapping[str, Any], values: Mapping[str, Any]) -> list[str]:
    return [sentence for name, sentence in declared.get("says", {}).items() if values[name]]


def _tell_program(
    call: Callable[[], Any], declared: Mapping[str, Any], values: Mapping[str, Any]
) -> None:
    """Give a program what the function returned and printed: `RECORD`, whichever of it there is."""
    with redirect_stdout(io.StringIO()) as printed:
        result = call()
    result, code = result if isinstance(result, tuple) else (result, 0)
    text = f"{printed.getvalue()}\n{result if isinstance(result, str) else ''}".strip()
    rows = _rows(text)
    lines = [] if rows else text.splitlines()
    sections: list[Section] = []
    if not isinstance(result, str | Path):
        sections = [result] if isinstance(result, Section) else list(result or ())
    record = {
        "study": str(result) if isinstance(result, Path) else None,
        "tables": plain_tables(sections), "rows": rows, "lines": [*lines, *_also(declared, values)],
    }  # fmt: skip
    if isinstance(result, Path):
        steps = study_steps(result, declared["benchmark"])
        answer = answer_of(f"Wrote {result}.", next=steps)
    elif sections:
        answer = sections_answer(sections[0].title, sections)
    elif rows:
        answer = rows_answer(rows)
    else:
        answer = printed_answer(text)
    emit(answer, record)
    if code:
        raise typer.Exit(code)


def _rows(text: str) -> list[Any]:
    """What was printed as JSON: an object, a list of them, or one a line; empty where none was."""
    try:
        found = json.loads(text)
        return found if isinstance(found, list) else [found]
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in text.splitlines()]
    except ValueError:
        return []

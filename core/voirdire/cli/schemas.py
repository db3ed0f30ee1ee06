"""What `--json` prints, as one JSON Schema a command: `voirdire schema COMMAND` publishes it."""

from __future__ import annotations

from typing import Any

import typer

from voirdire.examining.spec import USES

DRAFT = "https://json-schema.org/draft/2020-12/schema"
EPILOG = """
Examples:

  voirdire schema

  voirdire schema examine > examine.schema.json
"""

TEXT, NUMBER, WHOLE, FLAG = ({"type": kind} for kind in ("string", "number", "integer", "boolean"))
#: What is undefined is null.
MAYBE: dict[str, Any] = {"type": ["number", "null"]}
ANY: dict[str, Any] = {}
OBJECT: dict[str, Any] = {"type": "object"}
STATES = ("yes", "no", "open", "not tested")


def _object(required: dict[str, Any], more: dict[str, Any] | None = None) -> dict[str, Any]:
    """An object with these keys, and perhaps others."""
    return {
        "type": "object", "properties": {**required, **(more or {})}, "required": list(required),
    }  # fmt: skip


def _list(items: dict[str, Any], most: int | None = None) -> dict[str, Any]:
    return {"type": "array", "items": items} | ({} if most is None else {"maxItems": most})


#: The first key of every object: it says in a few lines what came of the command.
ANSWER = _object({
    "sentence": TEXT,
    "state": {"enum": ["ok", "unmet", "error", "question", "interrupted"]},
    "sentences": _list(TEXT, 6),
    "states": OBJECT,
    "numbers": _list(OBJECT, 6),
    "next": _list(_object({"say": TEXT, "command": TEXT}), 3),
    "ids": _list(TEXT, 6),
    "more": WHOLE,
})  # fmt: skip
ERROR = _object({"kind": TEXT, "message": TEXT})
QUESTION = _object({
    "key": TEXT, "question": TEXT, "choices": _list(TEXT), "likely": FLAG, "study_line": TEXT,
    "answers": _list(TEXT),
})  # fmt: skip
FINDING = _object({
    "kind": TEXT, "severity": {"enum": ["blocking", "serious", "note"]}, "table": TEXT,
    "count": WHOLE, "places": _list(TEXT), "message": TEXT, "consequence": TEXT,
})  # fmt: skip
REQUIREMENT = _object({
    "requirement": TEXT, "state": {"enum": ["met", "unmet", "unanswered"]}, "said": TEXT,
    "failures": _list(OBJECT),
})  # fmt: skip
COMPONENT = _object({
    "name": TEXT, "estimate": MAYBE, "low": MAYBE, "high": MAYBE, "margin": ANY,
    "state": {"enum": list(STATES)}, "note": TEXT,
})  # fmt: skip
VERDICT = _object({
    "judge": TEXT, "attribute": TEXT, "use": {"enum": list(USES)},
    "target": {"enum": ["these systems", "systems to come"]}, "state": {"enum": list(STATES)},
    "deciding": _list(TEXT), "why": TEXT, "next": TEXT, "p": MAYBE,
    "components": _list(COMPONENT),
}, {"p_holm": MAYBE, "kind": TEXT, "label": TEXT})  # fmt: skip
_FINDINGS = {"findings": _list(FINDING)}
TABLES = _list(_object({"title": TEXT, "text": TEXT, "rows": _list(OBJECT)}))
_TABLES = {"tables": TABLES}
#: Of a command that says what it did in lines.
_LINES = {"lines": _list(TEXT)}

#: Command -> the keys beside the answer. A plugin's command has them on its function, as
#: `json_record`; one without may print what it likes, which becomes `lines` or `rows`.
RECORDS: dict[str, dict[str, Any]] = {
    "examine": {
        "versions": OBJECT, "seed": WHOLE, "options": ANY, "input_hashes": OBJECT,
        "results": _list(_object({"judge": TEXT, "attribute": TEXT})), "study": OBJECT,
        "declared": OBJECT, "verdicts": _list(VERDICT), "evidence": _list(OBJECT), "best": ANY,
        "sections": _list(OBJECT), "requirements": _list(REQUIREMENT), "choices": _list(TEXT),
        "notes": _list(TEXT), **_FINDINGS,
    },
    "demo": {"verdicts": _list(VERDICT), "truth": _list(OBJECT), "real": OBJECT, **_FINDINGS},
    "decide": {
        "verdicts": _list(VERDICT), "corrected": ANY, "plan": ANY, "said": OBJECT, "lock": ANY,
    },
    "audit": _FINDINGS,
    "correct": {"scores": _list(OBJECT), **_FINDINGS},
    "calibrate": {"judges": _list(OBJECT), **_FINDINGS},
    "plan": {"rows": _list(OBJECT), **_FINDINGS},
    "escalate": _FINDINGS,
    "compare": {"changes": _list(OBJECT), **_FINDINGS},
    "jury": {"results": _list(OBJECT), **_FINDINGS},
    "gate check": {"rows": _list(OBJECT), **_FINDINGS},
    "annotators": _TABLES,
    "item": _TABLES,
    "labels": {"scores": _list(OBJECT), **_TABLES},
    "cascade": {
        "judges": _list(TEXT), "threshold": MAYBE, "released": MAYBE, "agreement": MAYBE,
        "low": MAYBE, "price": MAYBE, "people": MAYBE, "tested": WHOLE, "candidates": _list(OBJECT),
        **_FINDINGS,
    },
    "watch": {
        "judge": TEXT, "attribute": TEXT, "every": TEXT, "periods": _list(OBJECT),
        "first_alarm": TEXT, **_FINDINGS,
    },
    "look": _LINES,
    "humans serve": _LINES,
    "mcp": _LINES,
    "schema": {"commands": _list(TEXT), "schema": ANY},
    "skill": {"written": TEXT},
    "probe": {"effects": _list(OBJECT), **_FINDINGS},
    "plugins": {"plugins": _list(OBJECT)},
    "plugins check": {"outcomes": _list(OBJECT)},
    "run": {"calls": WHOLE, "cost": MAYBE, "complete": FLAG},
    "init": {"written": TEXT, "study": TEXT, "reference": _list(TEXT), "taken": _list(TEXT)},
    "import": {},
    "new": {"folder": TEXT, "written": _list(TEXT)},
    "gate freeze": {
        "lock": TEXT, "judges": _list(TEXT), "responses": WHOLE, "anchors": WHOLE,
        "warnings": _list(TEXT),
    },
    "humans export": {
        "raters": OBJECT, "sheets": _list(TEXT), "key": TEXT, "cut": WHOLE, "named": _list(TEXT),
    },
    "humans import": {"raters": _list(OBJECT), "tables": OBJECT, "written": TEXT},
    "session status": {},
    "session show": {"calls": _list(OBJECT)},
    "session reparse": {"tables": OBJECT},
    "session merge": {"tables": OBJECT},
    "session where": {"files": _list(_object({"path": TEXT, "what": TEXT}))},
    "session forget": {"done": FLAG, "files": _list(TEXT)},
    "session batches": {"batches": _list(OBJECT)},
    "session check": {"sound": FLAG, "problems": _list(OBJECT)},
}  # fmt: skip
#: What stands there besides, in one way or another of calling the command.
PERHAPS: dict[str, dict[str, Any]] = {
    "run": {
        "session": ANY,
        "raters": _list(OBJECT),
        "stopped": TEXT,
        # With --cascade.
        "stages": _list(OBJECT),
        "queue": TEXT,
        "automatic": WHOLE,
        "human": WHOLE,
    },
}
#: What stands there instead where the command did not come to its end.
_ENDED = {"error": ERROR}


def schema_of(command: str) -> dict[str, Any]:
    """The JSON Schema of what a command prints: its record, or an error, perhaps with questions.

    Parameters
    ----------
    command : str
        As it is typed: ``"examine"``, ``"gate check"``.

    Examples
    --------
    >>> sorted(schema_of("audit")["anyOf"][0]["required"])
    ['answer', 'findings', 'schema_version']
    """
    head = {"schema_version": {"const": 1}, "answer": ANSWER}
    record = RECORDS[command] if command in RECORDS else _record_of(command)
    return {
        "$schema": DRAFT,
        "title": f"voirdire {command} --json",
        "anyOf": [
            _object({**head, **record}, PERHAPS.get(command)),
            _object({**head, **_ENDED}, {"questions": _list(QUESTION)}),
        ],
    }


def _record_of(command: str) -> dict[str, Any]:
    """What a plugin says that its command gives; empty where it says nothing."""
    record: dict[str, Any] = getattr(_commands().get(command), "json_record", {})
    return record


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("schema", epilog=EPILOG)(show)


def show(
    command: list[str] = typer.Argument(
        None,
        help="A command, such as examine or gate check; without one they are listed.",
        metavar="[COMMAND]",
        show_default=False,
    ),
) -> None:
    """Print the JSON Schema of what a command prints with --json."""
    from voirdire.cli.machine import COLLECTED, answer_of, collect
    from voirdire.errors import check_allowed
    from voirdire.shown import json_text

    name = " ".join(command or [])
    if name:
        check_allowed("command", [name], every_command())
    shown = schema_of(name) if name else None
    commands = [] if name else every_command()
    said = f"The JSON Schema of what voirdire {name} prints." if name else "Each command has one."
    collect(answer_of(said), {"commands": commands, "schema": shown})
    if COLLECTED.get() is None:
        typer.echo(json_text(shown) if name else "\n".join(commands))


def every_command() -> list[str]:
    """Each command as it is typed, plugins' included."""
    return list(_commands())


def _commands() -> dict[str, Any]:
    """Each command as it is typed, and the function that it calls."""
    from typer.main import get_command

    from voirdire.cli.app import build_app

    def found(command: Any, before: tuple[str, ...] = ()) -> dict[str, Any]:
        below = getattr(command, "commands", {})
        alone = before and (not below or command.callback)
        own = {" ".join(before): command.callback} if alone else {}
        for name, sub in below.items():
            own |= found(sub, (*before, name))
        return own

    return found(get_command(build_app()))

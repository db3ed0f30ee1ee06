"""What commands print with `--json`, held against the schema that `voirdire schema` publishes.

`command_line.typed` and `invoke` check every document that any test asks for, so that a command's
successes, questions and errors are held to its schema wherever they are met.
"""

from __future__ import annotations

import json
from functools import cache

from voirdire.cli.schemas import every_command, schema_of

TYPES = {
    "object": dict, "array": list, "string": str, "boolean": bool, "null": type(None),
    "integer": int, "number": (int, float),
}  # fmt: skip


def wrong(value, schema, where="$"):
    """What does not hold of a value, by the few words of JSON Schema that ours use."""
    known = {
        "type",
        "properties",
        "required",
        "items",
        "maxItems",
        "enum",
        "const",
        "anyOf",
        "$schema",
        "title",
    }
    assert set(schema) <= known, f"{where}: the check knows nothing of {set(schema) - known}"
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    is_kind = any(
        isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))
        for kind in kinds
    )
    if kinds and not is_kind:
        return [f"{where} is {type(value).__name__}, and {kinds} is asked for"]
    found = []
    if "const" in schema and value != schema["const"]:
        found.append(f"{where} is {value!r}")
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{where} is {value!r}, none of {schema['enum']}")
    if isinstance(value, dict):
        found += [f"{where} lacks {key}" for key in schema.get("required", ()) if key not in value]
        for key, part in schema.get("properties", {}).items():
            found += wrong(value[key], part, f"{where}.{key}") if key in value else []
    if isinstance(value, list):
        if len(value) > schema.get("maxItems", len(value)):
            found.append(f"{where} has {len(value)} entries")
        for at, entry in enumerate(value):
            found += wrong(entry, schema.get("items", {}), f"{where}[{at}]")
    if "anyOf" in schema:
        each = [wrong(value, one, where) for one in schema["anyOf"]]
        if all(each):
            found += min(each, key=len)
    return found


@cache
def _schema(command):
    return schema_of(command)


def checked(command, out, err=""):
    record = json.loads(out)
    assert wrong(record, _schema(command)) == []
    assert next(iter(record)) == "answer"
    head = out[: out.index("\n },") + 1].splitlines()
    assert len(head) <= 30, head
    for line in err.splitlines():
        assert "event" in json.loads(line), line
    return record


@cache
def _names():
    return frozenset(every_command())


def command_of(words):
    """The command that a line types: its longest beginning that is one; None for a stranger's."""
    for many in (3, 2, 1):
        name = " ".join(words[:many])
        if len(words) >= many and name in _names():
            return name
    return None


def check_line(words, out):
    """Check the document of a line that was typed, where it printed one and was not asked for help."""
    if "--json" in words and out.startswith("{") and (command := command_of(words)):
        checked(command, out)

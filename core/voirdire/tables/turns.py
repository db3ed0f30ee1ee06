"""The turns of a conversation out of a cell, or out of rows of one message each.

Three forms of a cell are known: a list of objects with ``role`` and ``content`` (OpenAI and most
others), one with ``from`` and ``value`` (ShareGPT), and the ``mapping`` of a ChatGPT export.
Nothing else is taken for a conversation.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from voirdire.errors import TableError, listed
from voirdire.schema import Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from voirdire.study import MessageColumns

#: What a rater of first failures says of each turn: that it has not failed by it, or has.
FINE, FAILED = "fine so far", "failed"
#: Keys of a message, by the form that has them: who speaks, and what is said.
_FORMS = (("role", "content"), ("from", "value"))
#: Where a message may say by whom and when it is.
_NAME, _TIME = ("name",), ("time", "timestamp", "at", "created_at", "create_time")
_ALLOWED = 'a list of {"role": ..., "content": ...} or of {"from": ..., "value": ...}'
#: Lists of messages within an object.
_WITHIN = ("messages", "conversations", "conversation")
#: Kinds of parts whose text is what is said.
_TEXTS = ("text", "input_text", "output_text")


def turns_of_cell(cell: Any, where: str, shown: str = "") -> tuple[Turn, ...]:
    r"""The turns that a cell holds, as JSON or as values; none where it is empty.

    Parameters
    ----------
    cell : object
        A list of messages, an object that holds one, or JSON of either.
    where : str
        File, row and column, for errors.
    shown : str
        Of a tree of messages the node that was shown last, where its record says it beside it.

    Raises
    ------
    TableError
        It holds something else: the message says where and what is allowed.

    Examples
    --------
    >>> turns_of_cell('[{"from": "human", "value": "Hi"}]', "talks.json, record 1")
    (Turn(role='human', content='Hi', name='', time='', parts=()),)
    """
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return ()
    value = _json(cell, where) if isinstance(cell, str) else cell
    if isinstance(value, dict):
        value = _within(value, where, shown)
    if not isinstance(value, list):
        raise TableError(f"{where}: {_shown(value)} is no conversation: {_ALLOWED}")
    return tuple(_turn(one, f"{where}, message {at}") for at, one in enumerate(value, 1))


def _json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise TableError(
            f"{where}: {_shown(text)} is no JSON ({error}): turns are {_ALLOWED}"
        ) from None


def _within(value: Mapping[str, Any], where: str, shown: str) -> Any:
    if _is_export(value):
        return list(_branch(value, where, shown))
    for key in _WITHIN:
        if isinstance(value.get(key), list):
            return value[key]
    if isinstance(value.get("mapping"), dict):
        return list(_branch(value["mapping"], where, str(value.get("current_node") or "")))
    return value


def _turn(one: Any, where: str) -> Turn:
    if not isinstance(one, dict):
        raise TableError(f"{where}: {_shown(one)} is no message: turns are {_ALLOWED}")
    form = next((form for form in _FORMS if all(key in one for key in form)), None)
    if form is None:
        raise TableError(f"{where}: keys {listed(sorted(map(str, one)))}: turns are {_ALLOWED}")
    role, content = one[form[0]], one[form[1]]
    if not isinstance(role, str) or not role.strip():
        raise TableError(f"{where}: {form[0]} is {_shown(role)}, and must say who speaks")
    text, parts = _content(content, f"{where}, {form[1]}")
    calls = one.get("tool_calls") or ()
    parts += tuple({"type": "tool_call", **call} for call in calls if isinstance(call, dict))
    return Turn(role.strip(), text, _first(one, _NAME), _first(one, _TIME), parts)


def _first(one: Mapping[str, Any], keys: Iterable[str]) -> str:
    return next((str(one[key]) for key in keys if one.get(key) not in (None, "")), "")


def _content(content: Any, where: str) -> tuple[str, tuple[Mapping[str, Any], ...]]:
    """What is said as text, and the parts that are none."""
    if content is None:
        return "", ()
    if isinstance(content, str):
        return content, ()
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        raise TableError(f"{where}: {_shown(content)} is neither a text nor a list of parts")
    texts: list[str] = []
    parts: list[Mapping[str, Any]] = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif (
            isinstance(part, dict)
            and isinstance(part.get("text"), str)
            and (part.get("type") in _TEXTS)
        ):
            texts.append(part["text"])
        elif isinstance(part, dict):
            # Parquet gives each part all keys of all parts.
            parts.append({key: value for key, value in part.items() if value is not None})
        else:
            raise TableError(f"{where}: {_shown(part)} is no part of a message")
    return "\n".join(texts), tuple(parts)


def _is_export(value: Mapping[str, Any]) -> bool:
    """Whether an object is the tree of a ChatGPT export: nodes with parents and children."""
    return bool(value) and all(
        isinstance(node, dict) and "children" in node and "message" in node
        for node in value.values()
    )


def _branch(nodes: Mapping[str, Any], where: str, leaf: str = "") -> Iterator[dict[str, Any]]:
    """The messages on the way to the node that was shown last; those hidden there are left out."""
    ends = [name for name, node in nodes.items() if not node.get("children")]
    if not leaf and len(ends) != 1:
        raise TableError(
            f"{where}: the conversation has {len(ends)} branches, and no 'current_node' says which "
            "one was shown: name the column of whole conversations, or export one branch"
        )
    path: list[Any] = []
    name = leaf or ends[0]
    while name and name in nodes and len(path) <= len(nodes):
        path.append(nodes[name])
        name = str(nodes[name].get("parent") or "")
    for node in reversed(path):
        message = node.get("message")
        if message is None:
            continue
        hidden = (message.get("metadata") or {}).get("is_visually_hidden_from_conversation")
        parts = (message.get("content") or {}).get("parts")
        if hidden or parts is None or parts == [""]:
            continue
        author = message.get("author") or {}
        yield {
            "role": author.get("role"), "content": parts, "name": author.get("name"),
            "time": message.get("create_time"),
        }  # fmt: skip


def turn_of_row(row: Mapping[str, Any], columns: MessageColumns, where: str) -> Turn:
    """The turn that a row of one message is.

    Raises
    ------
    TableError
        Nobody speaks in it.
    """
    role = "" if row[columns.role] is None else str(row[columns.role]).strip()
    if not role:
        raise TableError(f"{where}, column {columns.role!r}: empty, and must say who speaks")
    cell = row[columns.content]
    text, parts = _content(cell if isinstance(cell, list | dict) else _text(cell), where)
    return Turn(
        role,
        text,
        _text(row[columns.name]) if columns.name else "",
        _text(row[columns.time]) if columns.time else "",
        parts,
    )


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def looks_like_turns(cell: Any) -> bool:
    """Whether a cell that is taken for a text is a conversation, which must not be shown as JSON.

    >>> looks_like_turns('[{"role": "user", "content": "Hi"}]'), looks_like_turns("[1] Hi")
    (True, False)
    """
    text = cell if isinstance(cell, str) else ""
    if isinstance(cell, list | dict) or text.lstrip()[:1] in ("[", "{"):
        try:
            return bool(turns_of_cell(cell, ""))
        except TableError:
            return False
    return False

"""OTLP as protobuf: what the protocol sends, or a collector's file of such messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import voirdire
from voirdire.lazy import require
from voirdire.tables import unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: How a message with the field 1 begins; in a collector's file its length stands before it.
_FIELD = 0x0A


def batches_in(path: Path, most: int) -> Iterator[tuple[str, Any]]:
    """The messages of a file, each as its JSON would be, with its place.

    Parameters
    ----------
    path : Path
    most : int
        How many bytes a message may have.

    Raises
    ------
    TableError
        A message is cut, longer than `most`, or holds neither traces nor logs.
    """
    for place, data in _messages(path, most):
        yield place, _decoded(data, path.name, place)


def _messages(path: Path, most: int) -> Iterator[tuple[str, bytes]]:
    with unpacked(path) as file:
        start = file.read(1)
        if start and start[0] == _FIELD:
            data = start + file.read(most)
            if len(data) > most:
                raise voirdire.TableError(
                    f"{path.name}: is one message of over {most:,} bytes; export it in parts"
                )
            yield "the message", data
            return
        at = 0
        while head := start + file.read(4 - len(start)):
            at, start = at + 1, b""
            size = int.from_bytes(head, "big")
            if len(head) == 4 and size > most:
                raise voirdire.TableError(
                    f"{path.name}, message {at}: says to have {size:,} bytes, and at most {most:,} "
                    "are read: it is no file of OTLP messages, or packed"
                )
            data = file.read(size) if len(head) == 4 else b""
            if len(head) < 4 or len(data) < size:
                raise voirdire.TableError(f"{path.name}, message {at}: the file ends within it")
            yield f"message {at}", data


def _decoded(data: bytes, name: str, place: str) -> Any:
    """Traces where all spans have an id of 16 bytes, else logs: fields of both have one number."""
    package = "opentelemetry.proto"
    spans = require(f"{package}.trace.v1.trace_pb2", name, "otlp").TracesData
    logs = require(f"{package}.logs.v1.logs_pb2", name, "otlp").LogsData
    json_format = require("google.protobuf.json_format", name, "otlp")
    errors = require("google.protobuf.message", name, "otlp").DecodeError
    for kind in (spans, logs):
        message = kind()
        try:
            message.ParseFromString(data)
        except errors:
            continue
        if _is_whole(message):
            return json_format.MessageToDict(message)
    raise voirdire.TableError(f"{name}, {place}: holds neither traces nor logs of OTLP")


def _is_whole(message: Any) -> bool:
    """Whether a message is what it was decoded as, and not one of another kind."""
    if hasattr(message, "resource_spans"):
        found = [s for r in message.resource_spans for g in r.scope_spans for s in g.spans]
        return bool(found) and all(len(span.trace_id) == 16 for span in found)
    found = [one for r in message.resource_logs for g in r.scope_logs for one in g.log_records]
    return bool(found) and all(len(one.trace_id) in (0, 16) for one in found)

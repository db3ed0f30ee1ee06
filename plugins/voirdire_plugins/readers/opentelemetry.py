"""OpenTelemetry: traces, and logs with `gen_ai.evaluation.result` events, as JSON or protobuf."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from typing import TYPE_CHECKING, Any, BinaryIO

import voirdire
from voirdire.tables import MOST_AT_ONCE, unpacked
from voirdire_plugins.readers.files import facts_of, objects, parsed, part
from voirdire_plugins.readers.spans import SpanTraces, evaluation_of, judged_spans, runs_of_spans
from voirdire_plugins.readers.steps import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from voirdire.schema import Rating
    from voirdire.tables import Reading, ReadingBuilder

NAME = "opentelemetry"
EVENT = "gen_ai.evaluation.result"
#: The event that holds what a model was given and said, where its span does not.
DETAILS = "gen_ai.client.inference.operation.details"
_HEX = re.compile(r"(?:[0-9a-f]{2})+\Z")
#: Nanoseconds, as far as a database holds them: until the year 2255.
_MOMENT = re.compile(r"[0-9]{1,18}|[1-8][0-9]{18}")
_SIGNALS = ("resourceSpans", "resourceLogs", "resourceMetrics")
#: What may stand in a field of an attribute's value; numbers of 64 bits come as texts.
_PLAIN = ("stringValue", "boolValue", "doubleValue", "bytesValue")


def read(*paths: Path) -> Reading:
    """Evaluations by run or step (item) and name (attribute); evaluators are the raters."""
    return judged_spans(NAME, paths, collect)


def conversations(*paths: Path) -> Iterator[Rating]:
    """Each trace as a run with its steps, evaluated or not."""
    return runs_of_spans(NAME, paths, collect)


def collect(paths: Sequence[Path], kept: SpanTraces, rows: ReadingBuilder) -> None:
    """Keep all spans and evaluations of files."""
    taking = _Taking(kept, rows)
    for path in paths:
        with unpacked(path) as file:
            taking.binary = b"{" not in file.read(64)
        if taking.binary:
            from voirdire_plugins.readers.otlp_protobuf import batches_in  # noqa: PLC0415 - rare

            batches = batches_in(path, MOST_AT_ONCE)
        else:
            batches = lines_of(path)
        for place, batch in batches:
            taking.batch(batch, place_in(path, place, paths))
    taking.end()


def place_in(path: Path, place: str, paths: Sequence[Path]) -> str:
    """A place with the file that it is in, where there are several."""
    return place if len(paths) < 2 else f"{path.name}, {place}"


def lines_of(path: Path) -> Iterator[tuple[str, Any]]:
    """The values of a file of JSON lines, a line at a time, or of one that is a list or an object.

    The file may be packed.

    Raises
    ------
    TableError
        A line, or a file that is one value, is no JSON, no UTF-8, or longer than `MOST_AT_ONCE`.
    """
    with unpacked(path) as file:
        first = _line(file, path.name, "line 1")
        try:
            json.loads(first)
        except (ValueError, RecursionError):
            rest = file.read(MOST_AT_ONCE + 1)
            whole = _checked(first + rest, path.name, "the file, which is one value,")
            # Cut or not: a line that is no JSON is named by its place where others follow.
            lines = whole.lstrip().split(b"\n", 1)
            is_lines = len(lines) == 2 and lines[1].lstrip()[:1] == b"{" and lines[0][:1] == b"{"
            where = f"{path.name}, line 1" if is_lines and len(lines[0]) > 1 else path.name
            value = parsed(_text(whole if where == path.name else lines[0], where), where)
            yield from _values(value, "the file")
            return
        at, line = 1, first
        while line:
            if line.strip():
                where = f"{path.name}, line {at}"
                yield from _values(parsed(_text(line, where), where), f"line {at}")
            at += 1
            line = _line(file, path.name, f"line {at}")


def _line(file: BinaryIO, name: str, place: str) -> bytes:
    return _checked(file.readline(MOST_AT_ONCE + 1), name, place)


def _checked(data: bytes, name: str, place: str) -> bytes:
    if len(data) > MOST_AT_ONCE:
        raise voirdire.TableError(
            f"{name}: {place} is over {MOST_AT_ONCE:,} bytes long; export it as JSON lines with "
            "smaller batches"
        )
    return data


def _text(data: bytes, where: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise voirdire.TableError(f"{where}: is not UTF-8 text ({error.reason})") from None


def _values(value: Any, place: str) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, list):
        yield place, value
        return
    for at, one in enumerate(value, 1):
        yield f"record {at}" if place == "the file" else place, one


class _Taking:
    """Takes batches of OTLP apart, and counts what holds no span and no evaluation."""

    def __init__(self, kept: SpanTraces, rows: ReadingBuilder) -> None:
        self.kept, self.rows, self.binary = kept, rows, False
        self.logs = self.metrics = self.base64 = 0

    def batch(self, batch: Any, place: str) -> None:
        """Spans and log records of one batch."""
        if not any(part(batch, signal) is not None for signal in _SIGNALS):
            self.rows.skip("holds neither traces nor logs of OTLP", place)
            return
        self.metrics += len(objects(part(batch, "resourceMetrics")))
        for resource in objects(part(batch, "resourceSpans")):
            system = system_of(_attributes(part(resource, "resource", "attributes")))
            for span in _inner(resource, ("scopeSpans", "instrumentationLibrarySpans"), "spans"):
                self._span(span, system, place)
        for resource in objects(part(batch, "resourceLogs")):
            names = ("scopeLogs", "instrumentationLibraryLogs")
            for record in _inner(resource, names, "logRecords"):
                self._log(record, place)

    def _span(self, one: dict[str, Any], system: str, place: str) -> None:
        trace, span = self._id(one.get("traceId"), 16), self._id(one.get("spanId"), 8)
        if not trace or not span:
            wrong = "traceId" if not trace else "spanId"
            self.rows.skip(f"the {wrong} of a span is {_shown(one.get(wrong))}, and no id", place)
            return
        parent = self._id(one.get("parentSpanId"), 8)
        attributes = _attributes(one.get("attributes"))
        start = text_of(one.get("startTimeUnixNano"))
        began = int(start) if _MOMENT.fullmatch(start) else 0
        self.kept.span(trace, span, parent, began, attributes, system=system, place=place)
        for event in objects(one.get("events")):
            if event.get("name") == EVENT:
                self._evaluation(trace, span, _attributes(event.get("attributes")), place)

    def _log(self, one: dict[str, Any], place: str) -> None:
        attributes = _attributes(one.get("attributes"))
        event = one.get("eventName") or attributes.get("event.name")
        trace, span = self._id(one.get("traceId"), 16), self._id(one.get("spanId"), 8)
        if event == EVENT:
            self._evaluation(trace, span, attributes, place)
        elif event == DETAILS and trace and span:
            self.kept.details(trace, span, attributes)
        else:
            self.logs += 1

    def _evaluation(self, trace: str, span: str, attributes: dict[str, Any], place: str) -> None:
        said, response = evaluation_of(attributes), text_of(attributes.get("gen_ai.response.id"))
        if said is None:
            self.rows.skip("an evaluation has no gen_ai.evaluation.name", place)
        elif not trace and not response:
            self.rows.skip(
                f"an evaluation of {said.name} names neither a trace nor a response", place
            )
        else:
            response = "" if span else response
            self.kept.evaluation(trace, span, said, response=response, place=place)

    def _id(self, value: Any, size: int) -> str:
        """An id in hexadecimal digits; empty for one that is absent, of zeros alone, or none."""
        if not isinstance(value, str) or not value:
            return ""
        low = value.lower()
        if len(low) == 2 * size and _HEX.match(low):
            return low if low.strip("0") else ""
        try:  # as protobuf's own mapping to JSON has bytes
            data = base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            return ""
        if len(data) != size:
            return ""
        self.base64 += not self.binary
        return data.hex() if any(data) else ""

    def end(self) -> None:
        """What was read beside judgements, as findings."""
        self.rows.note(
            "spans_read",
            f"{self.kept.spans:,} spans and {self.kept.evaluations:,} evaluations of them were "
            f"read; {self.logs:,} other log records and {self.metrics:,} batches of metrics not.",
            "Spans without an evaluation are steps that others are seen beside, and in no number.",
            serious=False,
        )
        if self.base64:
            self.rows.note(
                "ids_in_base64",
                f"{self.base64:,} ids are in base64 and not in hexadecimal digits, which OTLP asks "
                "for in JSON.",
                "They were decoded; other programs will not find these ids.",
                serious=False,
            )


def system_of(resource: Mapping[str, Any]) -> str:
    """What ran: the service's name and version."""
    keys = ("service.name", "service.version")
    return " ".join(text_of(resource[key]) for key in keys if resource.get(key))


def _inner(resource: dict[str, Any], scopes: tuple[str, ...], records: str) -> Iterator[Any]:
    for name in scopes:
        for scope in objects(resource.get(name)):
            yield from objects(scope.get(records))


def _attributes(value: Any) -> dict[str, Any]:
    """Attributes as Python values by their names."""
    return {str(one.get("key")): _value(one.get("value")) for one in objects(value)}


def _value(value: Any) -> Any:
    given = facts_of(value)
    for name in _PLAIN:
        if name in given:
            return _number(given[name]) if name == "doubleValue" else given[name]
    if "intValue" in given:
        number = str(given["intValue"])
        return int(number) if re.fullmatch(r"-?\d{1,19}", number) else None
    if "arrayValue" in given:
        return [_value(one) for one in objects(part(given, "arrayValue", "values"))]
    if "kvlistValue" in given:
        return _attributes(part(given, "kvlistValue", "values"))
    return None


def _number(value: Any) -> Any:
    """A number of JSON, which protobuf's mapping may write as a text; none for what is not one."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _shown(value: Any) -> str:
    return "absent" if value in (None, "") else repr(value)[:40]

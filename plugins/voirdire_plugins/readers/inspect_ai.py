"""inspect_ai: logs of evaluations, as JSON or as `.eval` archives."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import voirdire
from voirdire.lazy import require
from voirdire.tables import Reading, ReadingBuilder
from voirdire.units import Unit
from voirdire_plugins.readers.files import check_archive, facts_of, json_of, objects, parsed, part
from voirdire_plugins.readers.steps import Trajectory, steps_of_message, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from voirdire.schema import Rating, Status

NAME, VERSIONS = "inspect_ai", (2,)
#: What a grade counts as, by inspect_ai's own `value_to_float`; N (no answer) is 0 as well there.
GRADES = {"C": 1.0, "P": 0.5, "I": 0.0}
_NO_ANSWER = "N"
#: The method of packing by zstd, which Python's zipfile does not know before 3.14.
ZSTD = 93
_LOCAL = struct.Struct("<26xHH")
#: More than this in one part of an archive is a bomb or no log of ratings.
_MOST = 2**30


def read(path: Path) -> Reading:
    """Scorers (raters) of samples (items) by epoch (run); the model is the system."""
    rows = ReadingBuilder(NAME, path.name)
    head, samples = _opened(path)
    _members(rows, path)
    rows.version(part(head, "version"), VERSIONS)
    _state(rows, head)
    scorers = [one.get("name") for one in objects(part(head, "eval", "scorers"))]
    for one in scorers:
        rows.rater(str(one))
    model = str(part(head, "eval", "model") or "model")
    numbered = ((f"sample {at}", sample) for at, sample in enumerate(samples, 1))
    for at, (_, sample) in enumerate(rows.each(numbered), 1):
        _sample(rows, sample, model, at)
    return rows.reading()


def _members(rows: ReadingBuilder, path: Path) -> None:
    """Which members of an archive are read, and which are not: summaries and journals."""
    if path.suffix != ".eval":
        return
    with ZipFile(path) as archive:
        sizes = {info.filename: info.file_size for info in archive.infolist()}
    head = "header.json" if "header.json" in sizes else "_journal/start.json"
    rows.archive(sizes, {head, *(name for name in sizes if name.startswith("samples/"))})


def conversations(path: Path) -> Iterator[Rating]:
    """Each sample of each epoch as a run with its steps; the model is the system."""
    head, samples = _opened(path)
    model = str(part(head, "eval", "model") or "model")
    for at, sample in enumerate(samples, 1):
        epoch = sample.get("epoch") or 1
        name = f"{sample.get('id', at)}" if epoch == 1 else f"{sample.get('id', at)} epoch {epoch}"
        run = _trajectory(sample)
        if run.steps:
            yield run.of(name, model)


def _opened(path: Path) -> tuple[Any, Iterator[dict[str, Any]]]:
    """The head of a log and its samples."""
    if path.suffix == ".eval":
        return _archive(path)
    head = json_of(path)
    listed = part(head, "samples")
    return head, iter(listed if isinstance(listed, list) else [])


def _trajectory(sample: dict[str, Any]) -> Trajectory:
    run = Trajectory()
    for message in objects(sample.get("messages")):
        run.add(text_of(message.get("id")), (), steps_of_message(message))
    return run


def _state(rows: ReadingBuilder, head: Any) -> None:
    """A log that did not end well holds only some of its samples."""
    status = part(head, "status")
    if status != "success":
        rows.note(
            "log_unfinished",
            f"The log's status is {status!r}, not 'success'.",
            "Samples that were not scored are in no number.",
        )
    if part(head, "invalidated"):
        rows.note("log_invalidated", "The log was marked as invalid.", "It was read all the same.")


def _sample(rows: ReadingBuilder, sample: dict[str, Any], model: str, at: int) -> None:
    name = sample.get("id", at)
    item = rows.item(name, _text(sample.get("input")), facts_of(sample.get("metadata")))
    epoch = sample.get("epoch")
    run = epoch if isinstance(epoch, int) and epoch > 0 else 1
    rows.respond(item, _completion(sample), model, run)
    _steps(rows, sample, str(name), model, run)
    scores = sample.get("scores")
    if not isinstance(scores, dict) or not scores:
        why = "it ended in an error" if sample.get("error") else "it was not scored"
        rows.leave_out(f"the sample has no score: {why}", f"sample {name}, epoch {run}")
        return
    for scorer, score in scores.items():
        edits = objects(part(score, "history"))
        # The first entry of its history is what the scorer gave; later ones are by people.
        first = edits[0] if edits else score
        why = part(first, "explanation")
        _score(rows, item, scorer, part(first, "value"), model, run, reason=why)
        # An edit may change the reason alone.
        people = [edit for edit in edits[1:] if part(edit, "value") != "UNCHANGED"]
        for edit in people:
            who = str(part(edit, "provenance", "author") or "by hand")
            rows.rater(who, "human")
            why = part(edit, "provenance", "reason")
            _score(rows, item, who, edit.get("value"), model, run, base=scorer, reason=why)


def _steps(rows: ReadingBuilder, sample: dict[str, Any], name: str, model: str, epoch: int) -> None:
    """Scores on the way (`score` in a solver), of the last message that was there by then."""
    events = objects(sample.get("events"))
    if not any(one.get("event") == "score" and one.get("intermediate") for one in events):
        return
    run = _trajectory(sample)
    # Each epoch has steps of its own, and is no second look at those of another.
    whole = name if epoch == 1 else f"{name} epoch {epoch}"
    last = ""
    for one in events:
        kind = one.get("event")
        if kind == "model":
            last = text_of(part(one, "output", "choices", 0, "message", "id"))
        elif kind == "tool":
            last = text_of(one.get("message_id"))
        elif kind == "score" and one.get("intermediate"):
            position = run.ends.get(last)
            if position is None:
                why = "a score on the way follows no message that the sample still has"
                rows.leave_out(why, f"sample {name}, epoch {epoch}")
                continue
            rows.item(name, cluster=name)
            item = rows.item(Unit("step", position).of(whole), run.asked, cluster=name)
            rows.respond(item, run.steps[position - 1].content, model)
            said, who = facts_of(one.get("score")), text_of(one.get("scorer")) or "scorer"
            value = said.get("value")
            values = value if isinstance(value, dict) else {"score": value}
            rows.explain(item, who, None, said.get("explanation"), system=model)
            for key, each in values.items():
                _add(rows, item, who, f"{key} (step)", each, model, 1)


def _score(
    rows: ReadingBuilder,
    item: str,
    rater: str,
    value: Any,
    model: str,
    run: int,
    base: str = "",
    reason: object = None,
) -> None:
    """One value, or one a key: these are attributes."""
    rows.explain(item, rater, None, reason, system=model, run=run)
    if isinstance(value, dict):
        for key, one in value.items():
            _add(rows, item, rater, str(key), one, model, run)
    elif isinstance(value, list):
        rows.leave_out(f"{base or rater} gives a list of values", f"sample {item}, epoch {run}")
    else:
        _add(rows, item, rater, "score", value, model, run)


def _add(
    rows: ReadingBuilder,
    item: str,
    rater: str,
    attribute: str,
    value: Any,
    model: str,
    run: int,
) -> None:
    status: Status = "blank"
    if isinstance(value, str):
        if value == _NO_ANSWER:
            value, status = None, "refused"
        value = GRADES.get(value, value) if value is not None else None
    rows.rate(item, rater, attribute, value, system=model, run=run, status=status)


def _completion(sample: dict[str, Any]) -> object:
    """What the model answered at last: older logs have it in the message of its first choice."""
    output = sample.get("output")
    first = part(output, "choices", 0, "message", "content")
    return part(output, "completion") or _joined(first)


def _joined(content: Any) -> str | None:
    """The content of a message: a text, or the texts among its parts."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else None
    texts = [one.get("text") for one in objects(content) if one.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))


def _text(given: Any) -> str | None:
    """The input, or the last message of a user in it."""
    if isinstance(given, str):
        return given
    messages = [one.get("content") for one in objects(given) if one.get("role") == "user"]
    return _joined(messages[-1]) if messages else None


def _archive(path: Path) -> tuple[Any, Iterator[dict[str, Any]]]:
    """The head of an archive and its samples, one part each.

    A log that was killed has no header yet, only what it began with.
    """
    try:
        with ZipFile(path) as archive:
            infos = {info.filename: info for info in archive.infolist()}
        check_archive(path, [i for name, i in infos.items() if name.startswith("samples/")])
        with path.open("rb") as file:
            begun = "_journal/start.json"
            at = infos.get("header.json", infos.get(begun))
            if at is None:
                raise voirdire.TableError(
                    f"{path.name}: is an archive without header.json: no log of inspect_ai"
                )
            head = parsed(_unpacked(file, at, path.name).decode(), f"{path.name}, {at.filename}")
    except BadZipFile as error:
        raise voirdire.TableError(f"{path.name}: is no whole archive ({error})") from None
    # Without a header there is no status: what was begun and did not end says so here.
    if at.filename == begun:
        head = {"status": "started", **head}
    samples = [info for name, info in infos.items() if name.startswith("samples/")]
    return head, _samples(path, samples)


def _samples(path: Path, infos: Iterable[ZipInfo]) -> Iterator[dict[str, Any]]:
    with path.open("rb") as file:
        for info in infos:
            text = _unpacked(file, info, path.name).decode()
            sample = parsed(text, f"{path.name}, {info.filename}")
            if not isinstance(sample, dict):
                raise voirdire.TableError(f"{path.name}, {info.filename}: is no object")
            yield sample


def _unpacked(file: BinaryIO, info: ZipInfo, name: str) -> bytes:
    """A part of an archive, whichever of its three methods packed it."""
    if info.file_size > _MOST:
        raise voirdire.TableError(f"{name}, {info.filename}: is over a gigabyte unpacked")
    file.seek(info.header_offset)
    # A local header is 30 bytes, a name and further fields, whose lengths stand at its end.
    named, more = _LOCAL.unpack(file.read(_LOCAL.size))
    file.seek(named + more, 1)
    data = file.read(info.compress_size)
    if info.compress_type == ZIP_STORED:
        return data
    if info.compress_type == ZIP_DEFLATED:
        import zlib  # noqa: PLC0415 - few archives are packed so

        return zlib.decompress(data, -15)
    if info.compress_type != ZSTD:
        raise voirdire.TableError(
            f"{name}, {info.filename}: is packed by method {info.compress_type}, which is not known"
        )
    zstandard = require("zstandard", name, "eval")
    try:
        return bytes(zstandard.ZstdDecompressor().decompress(data, max_output_size=info.file_size))
    except zstandard.ZstdError as error:
        raise voirdire.TableError(f"{name}, {info.filename}: is damaged ({error})") from None

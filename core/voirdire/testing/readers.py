"""The contract of readers: sure of their own files only, and every row accounted for."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from voirdire.errors import TableError
from voirdire.tables import Reading
from voirdire.tables.readers import HEAD, SURE
from voirdire.testing.checks import Checks, name_of
from voirdire.testing.hostile import HEADS

_OWN_WORDS = "Raise voirdire.TableError: what the file is, and why it cannot be used."


def check_reader(reader: Any, sample: Path | str | None = None) -> None:
    """Check a reader of other tools' files, as `voirdire_register_readers` names it.

    Parameters
    ----------
    reader : class or Reader
        What is registered: a class without parameters, or an object.
    sample : path, optional
        A file of its format. It is read, and cut in half to see that a damaged file is refused.

    Raises
    ------
    ContractError
        All that does not hold, with a hint each.

    Examples
    --------
    >>> from voirdire_plugins.readers import DOCCANO
    >>> check_reader(DOCCANO)
    """
    checks = Checks(f"the reader {name_of(reader)}")
    made = checks.made(reader) if isinstance(reader, type) else reader
    for name in ("name", "about"):
        checks.hold(
            isinstance(getattr(made, name, None), str) and getattr(made, name),
            f"it has no `{name}`",
            "`voirdire import --list` prints both.",
        )
    if not checks.has_methods(made, ("sniff", "read"), "See voirdire.tables.Reader."):
        checks.done()
    # A reader that is sure of any file takes it from the reader whose it is.
    for head in HEADS:
        _check_sure(checks, made, Path("export.json"), head, own=False)
    if sample is not None:
        _check_sample(checks, made, Path(sample))
    checks.done()


def _check_sure(checks: Checks, reader: Any, path: Path, head: bytes, *, own: bool) -> None:
    sure = None
    with checks.safely("sniff raises", "Look at the first bytes; parse nothing."):
        sure = reader.sniff(path, head)
    if sure is None:
        return
    fine = isinstance(sure, float | int) and 0 <= sure <= 1
    checks.hold(fine, f"sniff gives {sure!r}", "How sure it is, from 0 to 1.")
    if fine and own:
        checks.hold(sure >= SURE, f"it is {sure:g} sure of its own sample", f"At least {SURE:g}.")
    elif fine:
        checks.hold(
            sure < SURE,
            f"it is {sure:g} sure of a file that begins with {head[:30]!r}",
            f"Below {SURE:g} for what is not its own: look for several keys of the format.",
        )


def _check_sample(checks: Checks, reader: Any, sample: Path) -> None:
    data = sample.read_bytes()
    _check_sure(checks, reader, sample, data[:HEAD], own=True)
    with checks.safely(f"read raises on {sample.name}", _OWN_WORDS):
        reading = reader.read(sample)
        if checks.hold(
            isinstance(reading, Reading),
            f"read gives a {type(reading).__name__}",
            "Build it by voirdire.tables.ReadingBuilder.",
        ):
            rows = reading.ratings.height or (
                reading.preferences is not None and reading.preferences.height
            )
            checks.hold(
                rows, f"read finds no rating in {sample.name}", "Name a sample that has some."
            )
            checks.hold(
                reading.ratings.equals(reader.read(sample).ratings),
                "read gives other ratings the second time",
                "Keep nothing between calls.",
            )
    with tempfile.TemporaryDirectory() as folder:
        cut = Path(folder) / sample.name
        # As a download that broke off: half of the rows would be read as all of them.
        cut.write_bytes(data[: len(data) // 2])
        with checks.safely("read raises on a file cut in half", _OWN_WORDS, lawful=(TableError,)):
            reader.read(cut)

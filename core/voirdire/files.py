"""Files: written beside and moved into place, and hashed; every room does it here."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.errors import TableError
from voirdire.late import pattern
from voirdire.shown import FORMULA, foreign, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

#: What a file is called until it is whole.
DRAFT = ".draft"
#: Permissions of what people and models wrote, and of its folder: for the owner alone.
PRIVATE, PRIVATE_FOLDER = 0o600, 0o700
#: Control and direction characters, as polars writes the classes of `shown.visible`.
_ACTING = r"[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]--[\n\t\r\x{200C}\x{200D}\x{AD}]]"
#: What Windows opens as a device, whatever follows the first dot.
_DEVICE = pattern(r"con|prn|aux|nul|conin\$|conout\$|clock\$|(com|lpt)[0-9¹²³]", re.IGNORECASE)
#: Characters of a file's name: with its ending and in any encoding it stays under 255 bytes.
_LONGEST = 60
_GUARDED = pattern(r"'+[=+\-@\t\r]")


@contextmanager
def whole(path: str | Path, *, mode: int | None = None) -> Iterator[Path]:
    """Write a file so that it is there whole or not at all.

    The block gets the path of a draft in the same folder, which may not exist yet. When the block
    ends the draft is moved to `path`, over what lay there; when it raises, the draft goes and what
    lay there stays. A kill leaves at most a draft, over which the next writer writes.

    Parameters
    ----------
    path : str or Path
        Where the file is to lie; its folder is made where there is none.
    mode : int, optional
        Permissions that the file has from the first byte, such as ``0o600`` for a secret.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with whole(Path(folder) / "a.txt") as draft:
    ...         _ = draft.write_text("calm")
    ...     [file.name for file in Path(folder).iterdir()]
    ['a.txt']
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(path.name + DRAFT)
    if mode is not None:
        # A draft that a kill left may have other permissions, which O_CREAT would keep.
        draft.unlink(missing_ok=True)
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
    try:
        yield draft
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def own_folder(path: str | Path, *, shared: bool = False) -> Path:
    """Make a folder for its owner alone, or `shared` with whom the umask allows.

    One that is there stays as it is. The folders above it are made as the umask says.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     oct(own_folder(Path(folder) / "a").stat().st_mode & 0o777)
    '0o700'
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_dir():
        path.mkdir(mode=0o777 if shared else PRIVATE_FOLDER, exist_ok=True)
    return path


def mode_like(path: str | Path) -> int | None:
    """Permissions of what is written beside a file: for the owner alone unless others may read it.

    None leaves them to the umask; a file that is not there yet is nobody else's.
    """
    try:
        return PRIVATE if not Path(path).stat().st_mode & 0o077 else None
    except OSError:
        return PRIVATE


@contextmanager
def locked(path: str | Path) -> Iterator[None]:
    """Wait until no other process or thread holds this lock, and hold it for the block.

    The lock is a file beside `path`, which stays; the system lets go of it when its holder dies.
    """
    path = Path(path)
    mode = 0o666 if mode_like(path) is None else PRIVATE
    descriptor = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT, mode)
    try:
        _wait_for(descriptor)
        yield
    finally:
        os.close(descriptor)


if sys.platform == "win32":
    import msvcrt

    def _wait_for(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
else:
    import fcntl

    def _wait_for(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)


def write_text(path: str | Path, text: str, *, mode: int | None = None) -> None:
    """Write a text as UTF-8 with the line ends that it has, whole or not at all (see `whole`)."""
    with whole(path, mode=mode) as draft:
        draft.write_text(text, encoding="utf-8", newline="")


def write_json(
    path: str | Path, value: Any, *, indent: int | None = 1, mode: int | None = None
) -> None:
    """Write a value as JSON, whole or not at all; what JSON cannot hold is written as text."""
    text = json.dumps(value, indent=indent, default=str)  # in ASCII: half a surrogate pair is kept
    write_text(path, text + "\n", mode=mode)


def guard(text: str) -> str:
    """A text that no spreadsheet program takes for a formula; `unguard` undoes it.

    >>> guard("=1+1"), guard("calm")
    ("'=1+1", 'calm')
    """
    return "'" + text if re.match(FORMULA, text) else text


def unguard(text: str) -> str:
    """The text that was guarded."""
    return text[1:] if _GUARDED.match(text) else text


def write_csv(path: str | Path, frame: pl.DataFrame, *, again: bool = False) -> None:
    """Write a table that people open, guarded (see `guarded`), whole or not at all."""
    with whole(path) as draft:
        guarded(frame, again=again).write_csv(draft)


def guarded(frame: pl.DataFrame, *, again: bool = False) -> pl.DataFrame:
    """A table for spreadsheet programs: its texts and names are data, never formulas.

    A text that such a program would run has an apostrophe before it (see `guard`); numbers stay
    numbers. Control and direction characters are written out, as `shown.foreign` does, but for a
    table that is read `again`, whose ids must be found.
    """
    import polars as pl  # noqa: PLC0415 - slow to import

    texts = pl.col(pl.String, pl.Categorical, pl.Enum).cast(pl.String)
    safe = frame.with_columns(texts.str.replace(f"({FORMULA})", "'${1}"))
    if again:
        return safe.rename({name: guard(name) for name in frame.columns})
    for name, kind in safe.schema.items():
        if kind == pl.String:
            column = safe[name]
            # Few texts hold any: these alone are looked at one by one.
            acting = column.filter(column.str.contains(_ACTING)).unique().to_list()
            if acting:
                # They are guarded already.
                shown = {one: visible(one, keep="\n\t\r") for one in acting}
                safe = safe.with_columns(pl.col(name).replace(shown))
    return safe.rename({name: foreign(name, "csv") for name in frame.columns})


def file_hash(path: str | Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal; of a folder that of its files by their names.

    Raises
    ------
    TableError
        There is no such file, or it cannot be read.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_text(Path(folder) / "a.txt", "calm")
    ...     file_hash(Path(folder) / "a.txt")[:8]
    '2b4b2ead'
    """
    path = Path(path)
    if path.is_dir():
        inside = sorted(one for one in path.rglob("*") if one.is_file())
        told = "".join(f"{one.relative_to(path).as_posix()} {file_hash(one)}\n" for one in inside)
        return hashlib.sha256(told.encode()).hexdigest()
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise TableError(f"{path}: there is no such file{near(path)}") from None
    except OSError as error:
        raise TableError(f"{path}: cannot be read ({error.strerror or error})") from None


def near(path: Path) -> str:
    """What may be meant by a path where nothing lies, in brackets; empty where nothing is near."""
    if "\\" in str(path):
        return " (write '/' between folders)"
    beside = {file.name.casefold(): file.name for file in path.parent.glob("*") if file.is_file()}
    closest = get_close_matches(path.name.casefold(), beside, 1, 0.8)
    return f" (did you mean {beside[closest[0]]!r}?)" if closest else ""


def file_stems(names: Sequence[str], what: str, gap: str = "-") -> dict[str, str]:
    """Name -> the stem of its files, as every system can hold it; no two alike in any case.

    Parameters
    ----------
    names : sequence of str
        Each once.
    what : str
        The stem of a name of which nothing can be kept; it also stands before the name of a device.
    gap : str
        What stands for signs that a file's name cannot have everywhere.

    Examples
    --------
    >>> file_stems(["org/model-0.5", "org_model-0.5", "con"], "model", "_")
    {'org/model-0.5': 'org_model-0.5', 'org_model-0.5': 'org_model-0.5-2', 'con': 'model-con'}
    """
    stems: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        stem = re.sub(r"[^\w.-]+", gap, name)[:_LONGEST].strip(f".{gap}") or what
        if _DEVICE.fullmatch(stem.partition(".")[0]):
            stem = f"{what}-{stem}"
        tried = (stem, *(f"{stem}-{number}" for number in range(2, len(names) + 2)))
        stems[name] = next(one for one in tried if one.casefold() not in taken)
        taken.add(stems[name].casefold())
    return stems

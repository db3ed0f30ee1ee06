"""Files that are packed by gzip or zstd, as the bytes that they hold."""

from __future__ import annotations

import gzip
import io
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from voirdire.errors import TableError
from voirdire.lazy import require

if TYPE_CHECKING:
    from collections.abc import Iterator

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
#: Suffixes that say that a file is packed, and nothing of what it holds.
_SUFFIXES = (".gz", ".zst", ".zstd")
#: A message of a collector's file may unpack to so many bytes.
MOST_AT_ONCE = 100_000_000
#: zstd makes at most about 32,000 bytes of one, so that this piece of a bomb is at most 64 MB.
_PIECE = 2_048
#: A frame that asks for more memory than this to unpack it is refused.
_WINDOW = 2**27


def packing(path: str | Path) -> str:
    """How a file is packed: ``gzip``, ``zstd``, ``zstd messages`` or, where it is not, nothing.

    A collector of OpenTelemetry packs each message for itself, its length in four bytes before it.
    """
    try:
        with Path(path).open("rb") as file:
            head = file.read(8)
    except OSError:
        return ""
    if head.startswith(_GZIP):
        return "gzip"
    if head.startswith(_ZSTD):
        return "zstd"
    return "zstd messages" if head[4:] == _ZSTD else ""


def plain_path(path: Path) -> Path:
    """The name of a file without what says that it is packed.

    >>> plain_path(Path("traces.jsonl.gz")).name, plain_path(Path("traces.json")).name
    ('traces.jsonl', 'traces.json')
    """
    return path.with_suffix("") if path.suffix.lower() in _SUFFIXES else path


@contextmanager
def unpacked(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file, packed or not, as a stream.

    Messages that are packed one by one come as lines where they are JSON, else with their lengths.

    Raises
    ------
    MissingExtraError
        It is packed by zstd, and `zstandard` is not installed.
    TableError
        What is packed is cut or damaged.
    """
    how = packing(path)
    with path.open("rb") as file:
        if not how:
            yield file
            return
        if how == "gzip":
            pieces = _of_gzip(file, path.name)
        else:
            zstd = require("zstandard", f"{path.name} (packed by zstd)", "otlp")
            of = _of_zstd if how == "zstd" else _of_messages
            pieces = of(file, path.name, zstd)
        with io.BufferedReader(_Pieces(pieces)) as stream:
            yield stream


class _Pieces(io.RawIOBase):
    """Pieces of bytes as a file."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._left = pieces, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._left = memoryview(piece)
        size = min(len(buffer), len(self._left))
        buffer[:size] = self._left[:size]
        self._left = self._left[size:]
        return size


def _of_gzip(file: BinaryIO, name: str) -> Iterator[bytes]:
    try:
        with gzip.GzipFile(fileobj=file) as inner:
            while piece := inner.read(2**20):
                yield piece
    except (OSError, EOFError, zlib.error) as error:
        raise _damaged(name, "gzip", error) from None


def _of_zstd(file: BinaryIO, name: str, zstd: Any) -> Iterator[bytes]:
    one, begun = _unpacker(zstd), False
    try:
        while piece := file.read(_PIECE):
            while piece:
                yield one.decompress(piece)
                begun, piece = not one.eof, one.unused_data if one.eof else b""
                one = _unpacker(zstd) if one.eof else one
    except zstd.ZstdError as error:
        raise _damaged(name, "zstd", error) from None
    if begun:
        raise _damaged(name, "zstd", "the file ends within it")


def _unpacker(zstd: Any) -> Any:
    return zstd.ZstdDecompressor(max_window_size=_WINDOW).decompressobj()


def _of_messages(file: BinaryIO, name: str, zstd: Any) -> Iterator[bytes]:
    at = 0
    while head := file.read(4):
        at += 1
        size = int.from_bytes(head, "big")
        data = file.read(size) if len(head) == 4 and size <= MOST_AT_ONCE else b""
        if len(data) < size or len(head) < 4:
            raise _damaged(name, "zstd", f"message {at}: the file ends within it")
        made = bytearray()
        for piece in _of_zstd(io.BytesIO(data), f"{name}, message {at}", zstd):
            made += piece
            if len(made) > MOST_AT_ONCE:
                raise TableError(
                    f"{name}: message {at} is over {MOST_AT_ONCE:,} bytes long unpacked; export "
                    "smaller batches"
                )
        message = bytes(made)
        is_json = message.lstrip()[:1] == b"{"
        yield message + b"\n" if is_json else len(message).to_bytes(4, "big") + message


def _damaged(name: str, how: str, why: object) -> TableError:
    return TableError(f"{name}: what {how} packed is cut or damaged ({why}); fetch the file again")

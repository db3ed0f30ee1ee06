"""Answers read up to a size: a server that sends without end, or a small one that unpacks to much.

The SDKs read a body whole and unpack it whole, of any size. So bodies are counted and unpacked
here, as they come, before an SDK sees them.
"""

from __future__ import annotations

import zlib
from codecs import getincrementaldecoder
from functools import cache
from typing import TYPE_CHECKING, Any

from voirdire_judges.models._faults import LARGEST, MalformedBodyError, TooLargeError

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, AsyncIterator, Mapping

#: What is asked for; how to unpack others within a bound is not known here.
ACCEPTED = "gzip, deflate"


async def capped(chunks: AsyncIterable[bytes], encoding: str) -> AsyncIterator[bytes]:
    """The bytes of a body, unpacked.

    Raises
    ------
    TooLargeError
        It is larger than `LARGEST`, packed or unpacked.
    MalformedBodyError
        It is packed in another way than was asked for, or no such packing.
    """
    encoding = encoding.strip().lower()
    if encoding not in {"", "identity", "gzip", "x-gzip", "deflate"}:
        raise MalformedBodyError(f"packed by {encoding[:20]!r}, which was not asked for")
    # 32 beyond the window size lets zlib tell the two formats apart by their first bytes.
    packed = None if encoding in {"", "identity"} else zlib.decompressobj(zlib.MAX_WBITS | 32)
    came = given = 0
    async for chunk in chunks:
        came += len(chunk)
        # One byte more than is allowed shows that it is too large, and no more is unpacked:
        # a bomb of a few kilobytes may hold gigabytes.
        part = chunk if packed is None else _unpacked(packed, chunk, LARGEST + 1 - given)
        given += len(part)
        if max(came, given) > LARGEST:
            raise TooLargeError(f"more than {LARGEST} bytes")
        yield part


def _unpacked(packed: Any, chunk: bytes, room: int) -> bytes:
    try:
        unpacked: bytes = packed.decompress(chunk, room)
    except zlib.error as error:
        raise MalformedBodyError(f"not what its packing says ({error})") from None
    return unpacked


async def mended(chunks: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """The bytes of a text in UTF-8, damaged ones replaced: they may stand in two chunks."""
    decoder = getincrementaldecoder("utf-8")("replace")
    async for chunk in chunks:
        yield decoder.decode(chunk).encode()
    yield decoder.decode(b"", final=True).encode()


async def cap_response(response: Any) -> None:
    """A hook of httpx that hears of each response before its body is read."""
    encoding = response.headers.get("content-encoding", "")
    if encoding:  # else httpx would unpack again what is unpacked here
        del response.headers["content-encoding"]
    response.stream = _stream_type(_byte_stream(type(response.stream)))(response.stream, encoding)


async def cap_and_mend(response: Any) -> None:
    """`cap_response` for a client that decodes by itself, and strictly.

    One damaged byte would throw a paid reply away.
    """
    await cap_response(response)
    kind = response.headers.get("content-type", "").partition(";")[0]
    response.stream.mends = kind.endswith("json") or kind.startswith("text/")


def cap_client(client: Any) -> None:
    """Let a client of httpx that somebody else made read answers up to a size."""
    hooks = client.event_hooks
    if cap_and_mend not in hooks["response"]:
        # A client that asked for brotli or zstd would get what is refused above.
        client.headers["Accept-Encoding"] = ACCEPTED
        client.event_hooks = {**hooks, "response": [cap_and_mend, *hooks["response"]]}


def _byte_stream(kind: type) -> type:
    """Httpx's base class of streams, of whichever httpx the SDK brings along."""
    return next(base for base in kind.__mro__ if base.__name__ == "AsyncByteStream")


@cache
def _stream_type(base: type) -> Any:
    class CappedStream(base):  # type: ignore[misc]  # the class is known only now
        """A stream that is counted and unpacked as it is read."""

        def __init__(self, inner: Any, encoding: str) -> None:
            self._inner, self._encoding, self.mends = inner, encoding, False

        def __aiter__(self) -> AsyncIterator[bytes]:
            parts = capped(self._inner, self._encoding)
            return mended(parts) if self.mends else parts

        async def aclose(self) -> None:
            await self._inner.aclose()

    return CappedStream


def capped_session(
    connector: Any, headers: Mapping[str, str] | None = None, *, trust_env: bool = True
) -> Any:
    """An aiohttp session whose answers are read up to the same size."""
    import aiohttp  # noqa: PLC0415

    class CappedResponse(aiohttp.ClientResponse):  # type: ignore[misc]  # aiohttp may not be installed
        """A response whose body is counted and unpacked as it is read."""

        async def read(self) -> bytes:
            if self._body is None:  # type: ignore[has-type]
                encoding = self.headers.get("Content-Encoding", "")
                # No more than its stated length is read of a body, and an SDK's wrapping of a short
                # one would cost more than reading it.
                if not encoding and 0 <= (self.content_length or -1) <= LARGEST:
                    return bytes(await super().read())
                try:
                    parts = [part async for part in capped(self.content.iter_any(), encoding)]
                except BaseException:
                    self.close()
                    raise
                self._body = b"".join(parts)
            return bytes(self._body)

        async def text(self, encoding: str | None = None, errors: str = "replace") -> str:
            # An SDK that decodes by itself would throw a paid reply away for one damaged byte.
            del errors
            return str(await super().text(encoding, errors="replace"))

    # Deadlines are the model's (`RemoteModel`), and cookies mean nothing to an API.
    return aiohttp.ClientSession(
        connector=connector,
        trust_env=trust_env,
        auto_decompress=False,
        response_class=CappedResponse,
        timeout=aiohttp.ClientTimeout(total=None),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"Accept-Encoding": ACCEPTED, **(headers or {})},
    )

"""`mcp`: tools of an MCP server, started by a command or met at an address, as a listing has them.

What a server offers is listed once, by `voirdire tools`, into a file that the study names. Reading
a study, or a session, reads that file and starts nothing. A run meets the server at the first call,
and calls it only while it is the one that was listed.
"""

from __future__ import annotations

import asyncio
import atexit
import datetime as dt
import json
import logging
import os
import re
import shlex
import tempfile
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError, VoirdireError, check_allowed, listed
from voirdire.files import write_text
from voirdire.lazy import require
from voirdire.schema import Finding
from voirdire.secrets import scrub
from voirdire.shown import visible
from voirdire.tools import SENTENCE, AgentTool, shared_loop

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from voirdire.study import Study

#: Seconds that a server may take until it has said what it offers, and to say whether it is there.
START, LIVES = 30.0, 2.0
#: What providers take as the name of a tool.
_NAMED = re.compile(r"[^A-Za-z0-9_-]")
_CLOSED = -32000
#: Its warnings would stand between the lines of a run; what matters is told as a call's error.
logging.getLogger("mcp").addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class Listing:
    """What a server said of itself.

    Attributes
    ----------
    name, version : str
        Of the server; empty where it does not say.
    tools : mapping
        Name -> its description and the JSON schema of its arguments.
    listed : str
        The day.
    """

    name: str
    version: str
    tools: Mapping[str, tuple[str, Mapping[str, Any]]]
    listed: str = ""

    def changed(self, now: Listing, names: Sequence[str]) -> str:
        """What is another than was listed, of the server and these tools; empty if nothing is."""
        if (now.name, now.version) != (self.name, self.version):
            return f"it is {_called(now)} and was {_called(self)}"
        other = [name for name in names if now.tools.get(name) != self.tools[name]]
        return f"{listed(other)} is gone or described in another way" if other else ""


def _called(listing: Listing) -> str:
    return " ".join(filter(None, (listing.name or "a server without a name", listing.version)))


def read_listing(path: str | Path) -> Listing:
    """The listing of a server.

    Raises
    ------
    InputError
        There is none, or it is not one.
    """
    try:
        raw = json.loads(Path(path).read_text("utf-8"))
        tools = {one["name"]: (one["description"], one["parameters"]) for one in raw["tools"]}
        return Listing(str(raw["name"]), str(raw["version"]), tools, str(raw["listed"]))
    except FileNotFoundError:
        how = 'write it by voirdire tools "COMMAND or address" --out'
        raise InputError(f"tool mcp: there is no {path}: {how} {Path(path).name}") from None
    except (OSError, ValueError, TypeError, KeyError) as error:
        what = f"{type(error).__name__}: {error}"
        raise InputError(f"tool mcp: {path} is no listing of a server ({what})") from None


def list_tools(server: str, out: Path, env: Sequence[str] = (), token: str = "") -> str:
    """`voirdire tools`: start or meet a server, and keep in a file what it offers.

    Raises
    ------
    InputError
        It does not start, does not answer, or offers no tool.
    MissingExtraError
        The extra `mcp` is not installed.
    """
    met = _McpServer(*_place(server), tuple(env), token, str(Path.cwd()))
    try:
        found = asyncio.run(_listed_once(met))
    except TimeoutError:
        raise InputError(f"{server}: nothing was heard within {START:g} seconds") from None
    except VoirdireError:
        raise
    except Exception as error:  # noqa: BLE001 - an SDK may raise anything
        inner = _innermost(error)
        raise (
            inner
            if isinstance(inner, VoirdireError)
            else InputError(f"{server}: {_sentence(inner)}")
        ) from None
    if not found.tools:
        raise InputError(f"{server}: {_called(found)} offers no tool")
    rows = [
        {"name": name, "description": description, "parameters": parameters}
        for name, (description, parameters) in found.tools.items()
    ]
    record = {"name": found.name, "version": found.version, "listed": found.listed, "tools": rows}
    write_text(out, json.dumps(record, indent=2, ensure_ascii=False) + "\n")
    names = visible(listed(list(found.tools)))
    return (
        f"{visible(_called(found))} offers {names}. Read what they do in {out}, and allow some: "
        f'tools = [{{use = "mcp", listing = "{out.name}", only = [...], ...}}]'
    )


def make(
    *,
    listing: str,
    only: Sequence[str],
    command: str | Sequence[str] = "",
    address: str = "",
    env: Sequence[str] = (),
    token: str = "",
    timeout: float = 10.0,
    study: Study | None = None,
) -> tuple[AgentTool, ...]:
    """Tools of an MCP server (`tools = [{use = "mcp", command = "...", listing = "...", ...}]`).

    Parameters
    ----------
    listing : str
        The file of `voirdire tools`, relative to the study.
    only : sequence of str
        The tools that may be called.
    command, address : str
        How the server is started (in the folder of the study), or where it is met: one of the two.
    env : sequence of str
        Variables of the environment that the command is handed besides PATH, HOME and their like.
    token : str
        The variable of the environment that holds the key of an address.
    timeout : float
        Seconds after which a call counts as failed. A start may take 30 more.

    Raises
    ------
    InputError
        No listing, a tool that is not in it, both or neither of command and address.
    """
    if bool(command) == bool(address):
        raise InputError("tool mcp: say either command or address")
    if address and not address.startswith(("http://", "https://")):
        raise InputError(f"tool mcp: an address begins with http:// or https://, got {address!r}")
    folder = study.folder if study is not None else "."
    kept = read_listing(Path(folder) / listing)
    where = f"tool mcp: {listing}"
    if not only:
        raise InputError(
            f"{where}: say by only which tools may be called: {listed(list(kept.tools))}"
        )
    check_allowed("tool", only, list(kept.tools), f"{where}, only")
    words = shlex.split(command) if isinstance(command, str) else [str(one) for one in command]
    server = _McpServer(tuple(words), address, tuple(env), token, folder)
    calls = _Calls(server, kept, tuple(only), listing, timeout)
    note = Finding(
        "tools_of_server",
        "note",
        _called(kept),
        len(only),
        tuple(only),
        f"The tools {listed(list(only))} are those of the MCP server {_called(kept)}, as listed on "
        f"{kept.listed}.",
        "Equal questions must give equal answers: what a server looks up may have changed since.",
    )
    return tuple(
        AgentTool(
            _NAMED.sub("_", name)[:64],
            kept.tools[name][0],
            kept.tools[name][1],
            calls.of(name),
            reads=address or " ".join(words),
            timeout=START + timeout,
            findings=(note,) if name == only[0] else (),
        )
        for name in only
    )


@dataclass(frozen=True, slots=True)
class _McpServer:
    command: tuple[str, ...]
    address: str
    env: tuple[str, ...]
    token: str
    folder: str

    @asynccontextmanager
    async def met(self) -> AsyncIterator[Any]:
        """A client that the server has answered.

        Raises
        ------
        InputError
            It cannot be started or reached; what it wrote to its standard error is told.
        """
        mcp = require("mcp", "tool mcp", "mcp")
        # Not on the terminal: what a server writes there may hold anything.
        with tempfile.TemporaryFile("w+", errors="replace") as said:
            async with AsyncExitStack() as stack:
                try:
                    async with asyncio.timeout(START):
                        transport = await self._transport(mcp, said, stack)
                        client = await stack.enter_async_context(mcp.Client(transport))
                except TimeoutError:
                    raise InputError(f"{self.called} said nothing in {START:g} seconds") from None
                except InputError:
                    raise
                except Exception as error:
                    raise InputError(f"{self.called}: {_sentence(error)}{_last(said)}") from error
                yield client

    @property
    def called(self) -> str:
        return self.address or shlex.join(self.command)

    async def _transport(self, mcp: Any, said: Any, stack: AsyncExitStack) -> Any:
        if self.address:
            http = require("mcp.shared._httpx_utils", "tool mcp", "mcp")
            key = {"Authorization": f"Bearer {self._variable(self.token)}"} if self.token else None
            stream = require("mcp.client.streamable_http", "tool mcp", "mcp")
            client = await stack.enter_async_context(http.create_mcp_http_client(headers=key))
            return stream.streamable_http_client(self.address, http_client=client)
        started = mcp.StdioServerParameters(
            command=self.command[0],
            args=list(self.command[1:]),
            env={name: self._variable(name) for name in self.env},
            cwd=self.folder or None,
            encoding_error_handler="replace",
        )
        return mcp.stdio_client(started, said)

    def _variable(self, name: str) -> str:
        value = os.environ.get(name)
        if value is None:
            raise InputError(f"{self.called}: the variable {name} is not set")
        return value


def _place(server: str) -> tuple[tuple[str, ...], str]:
    """Command and address, of which one is empty."""
    if server.startswith(("http://", "https://")):
        return (), server
    words = tuple(shlex.split(server))
    if not words:
        raise InputError("name the command of a server, or its address")
    return words, ""


async def _listed_once(server: _McpServer) -> Listing:
    async with server.met() as client, asyncio.timeout(START):
        return await _offered(client)


async def _offered(client: Any) -> Listing:
    tools: dict[str, tuple[str, Mapping[str, Any]]] = {}
    cursor = None
    while True:
        page = await client.list_tools(cursor=cursor, cache_mode="refresh")
        tools |= {one.name: (one.description or "", dict(one.input_schema)) for one in page.tools}
        cursor = page.next_cursor
        if not cursor:
            break
    about = client.server_info
    today = dt.datetime.now(dt.UTC).date().isoformat()
    return Listing(about.name if about else "", about.version if about else "", tools, today)


@dataclass
class _Calls:
    """The calls of one server: met once for all of them, and anew after it has died."""

    server: _McpServer
    kept: Listing
    only: tuple[str, ...]
    file: str
    timeout: float
    _meeting: asyncio.Task[None] | None = None
    _client: asyncio.Future[Any] | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def of(self, name: str) -> Any:
        """The function of one tool."""

        async def called(**arguments: Any) -> str:
            client = await self._met()
            try:
                async with asyncio.timeout(self.timeout):
                    # A server that says that its list may change is asked each time.
                    await self._check(client, always=False)
                    result = await client.call_tool(name, arguments)
            except TimeoutError:
                await self._part_if_gone(client)
                raise TimeoutError(f"no answer within {self.timeout:g} seconds") from None
            except Exception as error:
                if getattr(error, "code", _CLOSED) == _CLOSED:
                    await self._part(client)
                raise
            return _text(result)

        return called

    async def _met(self) -> Any:
        async with self._lock:
            if self._meeting is None or self._meeting.done():
                self._client = asyncio.get_running_loop().create_future()
                self._meeting = asyncio.create_task(self._meet(self._client))
                _meetings().append(self._meeting)
            client = self._client
        if client is None:
            raise InputError(f"{self.server.called} is gone")
        return await asyncio.shield(client)

    async def _meet(self, client: asyncio.Future[Any]) -> None:
        """In a task of its own: what a connection opens must be closed by who opened it."""
        try:
            async with self.server.met() as met:
                async with asyncio.timeout(START):
                    await self._check(met, always=True)
                client.set_result(met)
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            if not client.done():
                client.cancel()
        except BaseException as error:  # noqa: BLE001 - whoever waits is told
            if not client.done():
                client.set_exception(_innermost(error))
                client.exception()  # looked at: nobody may be waiting any longer

    async def _check(self, client: Any, *, always: bool) -> None:
        tools = client.server_capabilities.tools
        if not always and not getattr(tools, "list_changed", False):
            return
        changed = self.kept.changed(await _offered(client), self.only)
        if changed:
            raise InputError(
                f"{self.server.called} has changed: {changed}. List it anew into {self.file}"
            )

    async def _part_if_gone(self, client: Any) -> None:
        """End a server that does not even say what it offers: the next call meets a new one."""
        try:
            async with asyncio.timeout(LIVES):
                await client.list_tools(cache_mode="refresh")
        except Exception:  # noqa: BLE001 - in whatever way it does not answer
            await self._part(client)

    async def _part(self, client: Any) -> None:
        async with self._lock:
            met = self._client
            same = met is not None and met.done() and not met.cancelled() and not met.exception()
            if same and met is not None and met.result() is client and self._meeting is not None:
                _meetings().remove(self._meeting)
                self._meeting.cancel()
                self._meeting = None


@cache
def _meetings() -> list[asyncio.Task[None]]:
    """The servers that are met; at the end of the process none is left behind."""
    meetings: list[asyncio.Task[None]] = []

    async def ended() -> None:
        for one in meetings:
            one.cancel()
        await asyncio.wait(meetings)

    def end() -> None:
        with suppress(Exception):
            asyncio.run_coroutine_threadsafe(ended(), shared_loop()).result(10)

    atexit.register(end)
    return meetings


def _text(result: Any) -> str:
    """What a call gave, as a text; other contents are named.

    Raises
    ------
    RuntimeError
        The server says that the call failed.
    """
    parts = [
        one.text if isinstance(getattr(one, "text", None), str) else f"({one.type}: not shown)"
        for one in result.content
    ]
    if not parts and result.structured_content is not None:
        parts = [json.dumps(result.structured_content, ensure_ascii=False)]
    said = "\n".join(parts)
    if result.is_error:
        raise RuntimeError(said[:SENTENCE] or "the server says that it failed")
    return said


def _innermost(error: BaseException) -> BaseException:
    """Of what went wrong at once the first: groups of tasks wrap what is raised inside them."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error


def _sentence(error: BaseException) -> str:
    error = _innermost(error)
    return scrub(f"{type(error).__name__}: {str(error)[:SENTENCE]}")


def _last(said: Any) -> str:
    """The end of what a server wrote to its standard error."""
    said.seek(0)
    lines = visible(scrub(said.read()[-SENTENCE:])).strip()
    return f" (it wrote: {lines})" if lines else ""

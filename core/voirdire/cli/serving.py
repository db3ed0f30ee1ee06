"""The MCP server: tools are commands, run as processes of their own; resources are what they wrote.

A process a call, so that a call can be ended, an interpreter that dies takes no server with it, and
what a command prints can never stand between the messages of the protocol.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import secrets
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from voirdire import __version__
from voirdire.cli import pages
from voirdire.cli.machine import SCHEMA_VERSION, answer_of, error_answer
from voirdire.cli.offered import (
    ALWAYS_PAID,
    GO,
    PAID,
    TOOLS,
    arguments_schema,
    description_of,
    words_of,
)
from voirdire.cli.schemas import ANSWER, ERROR, OBJECT, QUESTION, TEXT
from voirdire.errors import InputError, VoirdireError
from voirdire.lazy import require

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voirdire.cli.folders import Folders

#: Seconds that a command may take to end, once its call was taken back; a run keeps what came.
GRACE = 10.0
#: Answers that are kept whole, the last ones.
KEPT = 20
#: What of a document is handed out at once.
_HANDED_OUT = ("answer", "error", "questions", "budget")
INSTRUCTIONS = (
    "voirdire examines LLM judges beside people: what each may be used for, and what number to "
    "report where it may not be used. Read voirdire://skill first. Report the sentences of an "
    "answer as they stand, with their intervals; a use that is open or not tested is no yes."
)


@dataclass
class ToolDesk:
    """What the server knows: its folders, what may be shown, and the answers that it gave.

    Attributes
    ----------
    folders : Folders
    texts : bool
        Whether texts of items and replies may be shown.
    ceiling : float or None
        The most that a call may be given to spend.
    answers : dict
        Number -> the whole document of an answer.
    """

    folders: Folders
    texts: bool = False
    ceiling: float | None = None
    answers: dict[int, str] = field(default_factory=dict)
    _secret: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    _count: int = 0

    async def call(self, tool: str, arguments: Mapping[str, Any], tell: Any) -> dict[str, Any]:
        """What a tool gives: the answer, where the whole of it is, and errors or questions.

        Parameters
        ----------
        tool : str
        arguments : mapping
        tell : coroutine function
            Called with each event that the command tells on the way.
        """
        try:
            words = words_of(tool, arguments, self.folders, texts=self.texts)
            shown = self._shown_first(tool, arguments, words)
        except VoirdireError as error:
            return self._kept(error_answer(error, str(error)))
        if shown is None:
            return self._kept(await self._typed(words, tell))
        document = "" if tool == "tune" else await self._typed(words, tell, "--dry-run")
        return self._kept(_with_budget(document, shown))

    def _shown_first(
        self, tool: str, arguments: Mapping[str, Any], words: list[str]
    ) -> dict[str, Any] | None:
        """The budget that has to be shown before this call asks anybody; None where it was."""
        source = str(arguments.get("source" if tool == "gate_check" else "study", ""))
        if tool not in PAID or (tool not in ALWAYS_PAID and not source.endswith(".toml")):
            return None
        budget = arguments.get("max-cost")
        if isinstance(budget, bool) or not isinstance(budget, int | float) or budget < 0:
            raise InputError(f"{tool}: say max-cost, a number: the most that this call may spend")
        if self.ceiling is not None and budget > self.ceiling:
            raise InputError(
                f"{tool}: max-cost {budget:g} is above the {self.ceiling:g} that this server allows"
            )
        content = self.folders.inside(source).read_bytes()
        said = json.dumps(words).encode() + hashlib.sha256(content).digest()
        mark = hmac.new(self._secret, said, "sha256").hexdigest()[:12]
        if hmac.compare_digest(str(arguments.get(GO, "")).encode(), mark.encode()):
            return None
        return {"max_cost": budget, "max_calls": arguments.get("max-calls"), GO: mark}

    async def _typed(self, words: list[str], tell: Any, *more: str) -> str:
        """The document that a command prints."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "voirdire",
            *_with_options(words, more),
            cwd=self.folders.paths[0],
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=2**24,
        )
        if process.stdout is None or process.stderr is None:
            raise InputError("no pipe to the command")
        events = asyncio.create_task(_told(process.stderr, tell))
        try:
            printed = (await process.stdout.read()).decode("utf-8", "replace")
            last = await events
            await process.wait()
        except asyncio.CancelledError:
            await _ended(process)
            raise
        if not printed.strip():
            died = InputError(f"the command died (exit code {process.returncode}): {last}")
            return error_answer(died, str(died))
        return printed

    def _kept(self, document: str) -> dict[str, Any]:
        """What is handed out of a document, which is kept whole."""
        self._count += 1
        self.answers[self._count] = document
        self.answers.pop(self._count - KEPT, None)
        record = json.loads(document)
        short = {name: record[name] for name in _HANDED_OUT if name in record}
        return {"schema_version": SCHEMA_VERSION, **short, "whole": pages.answer_uri(self._count)}


def _with_options(words: list[str], more: tuple[str, ...]) -> list[str]:
    """Further options, before the `--` behind which no word is one."""
    at = words.index("--json")
    return [*words[:at], *more, *words[at:]]


def _with_budget(document: str, shown: dict[str, Any]) -> str:
    """What a dry run found, and the budget: nobody was asked yet."""
    from voirdire.cli.machine import document as written

    record = json.loads(document) if document else {}
    if "error" in record:
        return document
    calls = "" if shown["max_calls"] is None else f" and {shown['max_calls']} calls"
    budget = (
        f"Nobody was asked yet. This call may spend at most {shown['max_cost']:g}{calls}. "
        f'If that is meant, call again with {GO} = "{shown[GO]}".'
    )
    planned = record.get("answer", answer_of(budget))
    answer = {**planned, "state": "question", "sentences": [budget, *planned["sentences"][:5]]}
    if planned["sentence"] not in answer["sentences"]:
        answer["sentences"] = [budget, planned["sentence"], *planned["sentences"][:4]]
    return written({**answer, "sentence": budget}, {**record, "budget": shown})


async def _told(stream: asyncio.StreamReader, tell: Any) -> str:
    """Pass on what a command tells on its way, and give back the last of it."""
    last = ""
    async for line in stream:
        text = line.decode("utf-8", "replace").strip()
        with suppress(ValueError, AttributeError):
            event = json.loads(text)
            last = str(event.get("text", event.get("stage", text)))
            await tell(event)
    return last


async def _ended(process: asyncio.subprocess.Process) -> None:
    """End a command whose call was taken back: it may keep what came, then it is killed."""
    with suppress(ProcessLookupError):
        process.terminate()
        try:
            await asyncio.wait_for(process.wait(), GRACE)
        except TimeoutError:
            process.kill()


def output_schema() -> dict[str, Any]:
    """What every tool gives, as JSON Schema; the whole obeys `voirdire schema COMMAND`."""
    return {
        "type": "object",
        "properties": {
            "schema_version": {"const": SCHEMA_VERSION}, "answer": ANSWER, "error": ERROR,
            "questions": {"type": "array", "items": QUESTION}, "budget": OBJECT, "whole": TEXT,
        },
        "required": ["schema_version", "answer", "whole"],
    }  # fmt: skip


def server_of(desk: ToolDesk) -> Any:
    """The server, as `mcp` has it."""
    lowlevel = require("mcp.server.lowlevel", "voirdire mcp", "mcp")
    types = require("mcp_types", "voirdire mcp", "mcp")
    refused = require("mcp.shared.exceptions", "voirdire mcp", "mcp").MCPError

    async def tools(_: Any, __: Any) -> Any:
        return types.ListToolsResult(tools=[_tool(types, name, desk) for name in TOOLS])

    async def called(context: Any, params: Any) -> Any:
        async def tell(event: dict[str, Any]) -> None:
            if event.get("event") == "progress":
                of = event.get("of") or None
                await context.session.report_progress(event.get("step", 0), of, event.get("stage"))

        if params.name not in TOOLS:
            raise refused(-32602, f"there is no tool {params.name!r}: {', '.join(TOOLS)}")
        found = await desk.call(params.name, params.arguments or {}, tell)
        told = types.TextContent(type="text", text=json.dumps(found, ensure_ascii=False, indent=1))
        failed = found["answer"]["state"] == "error"
        return types.CallToolResult(content=[told], structured_content=found, is_error=failed)

    async def listed(_: Any, __: Any) -> Any:
        found = pages.listed(desk.folders, desk.answers, texts=desk.texts)
        return types.ListResourcesResult(
            resources=[types.Resource(uri=u, name=n, mime_type=m) for u, n, m in found]
        )

    async def read(_: Any, params: Any) -> Any:
        try:
            kind, text = pages.read(str(params.uri), desk.folders, desk.answers, texts=desk.texts)
        except (VoirdireError, OSError) as error:
            raise refused(-32602, str(error)) from None
        content = types.TextResourceContents(uri=params.uri, mime_type=kind, text=text)
        return types.ReadResourceResult(contents=[content])

    return lowlevel.Server(
        "voirdire",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=tools,
        on_call_tool=called,
        on_list_resources=listed,
        on_read_resource=read,
    )


def _tool(types: Any, name: str, desk: ToolDesk) -> Any:
    said = description_of(name)
    if name in PAID:
        said += " A call that asks models shows its budget first."
    return types.Tool(
        name=name,
        description=said,
        input_schema=arguments_schema(name, texts=desk.texts),
        output_schema=output_schema(),
    )


def serve(folders: Folders, *, texts: bool = False, ceiling: float | None = None) -> None:
    """Serve until the client is gone.

    Raises
    ------
    MissingExtraError
        The extra `mcp` is not installed.
    """
    stdio = require("mcp.server.stdio", "voirdire mcp", "mcp")
    server = server_of(ToolDesk(folders, texts, ceiling))

    async def serving() -> None:
        async with stdio.stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    asyncio.run(serving())

"""One request: note it, wait, let a fault strike or answer."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field, replace
from typing import Any

from aiohttp import web

from wire_server._answers import Answer, Answering, answer_of, rubric_answer
from wire_server._batches import Batches
from wire_server._faults import BROKEN, FAULTS, FINISHES, SILENT, Fault, encode, fail
from wire_server._formats import body_of
from wire_server._seen import Seen, format_of


@dataclass
class Storm:
    """Allows `rate` requests a second; the others get a 429."""

    rate: float
    retry_after: float = 1.0
    allowed: float = 0.0
    last: float = field(default_factory=time.monotonic)

    def admits(self) -> bool:
        now = time.monotonic()
        self.allowed = min(self.rate, self.allowed + (now - self.last) * self.rate)
        self.last = now
        if self.allowed < 1:
            return False
        self.allowed -= 1
        return True


#: Faults whose handlers sleep on.
ENDLESS = SILENT | {"drop", "short", "broken_chunk", "not_gzip"}
_ABOUT_SCHEMAS = rb"Write the word \"calm\" and nothing else."


@dataclass
class Handler:
    """The state of a server and its one entry, `handle`."""

    answer: Answering = rubric_answer
    latency: float = 0.0
    keep: bool = True
    requests: list[Seen] = field(default_factory=list)
    count: int = 0
    in_flight: int = 0
    peak: int = 0
    #: Whole answers, which a provider would bill.
    answered: int = 0
    faults: list[Fault] = field(default_factory=list)
    storm: Storm | None = None
    #: Whether it binds answers to a schema, as it shows where it is asked; None: as to any call.
    enforces: bool | None = False

    def __post_init__(self) -> None:
        self.batches = Batches(self)

    def add_fault(
        self, name: str, *, times: int | None = 1, every: int = 1, when: Any = None, **details: Any
    ) -> None:
        if name not in FAULTS:
            raise ValueError(f"there is no fault {name!r} (known: {', '.join(FAULTS)})")
        self.faults.append(Fault(name, times, every, when, details))

    async def handle(self, request: web.BaseRequest) -> Any:
        path = request.path
        headers = {k.title(): v for k, v in request.headers.items()} if self.keep else {}
        seen = Seen(path, await request.read(), headers, format_of(path), self.count + 1)
        if seen.format == "control":
            return self._control(seen)
        if "atch" in path or "/files" in path:
            answer = await self.batches.handle(request, seen.raw)
            if answer is not None:
                return answer
        # What a session asks about the server itself is none of a study's calls.
        if self.enforces is not None and _ABOUT_SCHEMAS in seen.raw:
            said = Answer('{"number": 7}' if self.enforces else "calm")
            return web.Response(body=encode(body_of(said, seen)), content_type="application/json")
        self.count += 1
        if self.keep:
            self.requests.append(seen)
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        try:
            return await self._answer(request, seen)
        finally:
            self.in_flight -= 1

    async def _answer(self, request: Any, seen: Seen) -> Any:
        if self.latency:
            await asyncio.sleep(self.latency)
        if seen.format == "unknown":
            return fail(seen, 404, f"there is nothing at {seen.path}")
        if self.storm is not None and not self.storm.admits():
            return fail(seen, 429, "Too many requests", self.storm.retry_after)
        fault = next((fault for fault in self.faults if fault.strikes(seen)), None)
        answer = answer_of(self.answer, seen)
        if fault is not None and fault.name in FINISHES:
            answer = replace(answer, finish=FINISHES[fault.name])
        body = encode(body_of(answer, seen))
        if fault is not None and fault.name in BROKEN:
            # What never ends is no call under way: its client has gone, and the handler stays.
            endless = fault.name in ENDLESS
            self.in_flight -= endless
            try:
                return await BROKEN[fault.name](request, seen, **{"body": body, **fault.details})
            finally:
                self.in_flight += endless
        self.answered += 1
        return web.Response(body=body, content_type="application/json")

    def _control(self, seen: Seen) -> Any:
        """How another process sets faults and reads counts."""
        order = seen.path.removeprefix("/_control/")
        if order == "fault":
            self.add_fault(**json.loads(seen.raw))
        elif order == "storm":
            given = json.loads(seen.raw)
            self.storm = Storm(**given) if given else None
        elif order == "clear":
            self.faults.clear()
            self.storm = None
        names = ("count", "peak", "in_flight", "answered")
        return web.json_response({name: getattr(self, name) for name in names})

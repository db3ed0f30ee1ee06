"""Three providers' batch endpoints: lines in, a day's wait in a few polls, lines out."""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from aiohttp import web

from wire_server._answers import answer_of
from wire_server._faults import error_body
from wire_server._formats import body_of
from wire_server._seen import Seen

if TYPE_CHECKING:
    from collections.abc import Callable

_ROUTES: tuple[tuple[str, str, str], ...] = (
    ("POST", r"/v1/files", "upload"),
    ("GET", r"/v1/files/(?P<number>[^/]+)/content", "content"),
    ("POST", r"/v1/batches", "create_openai"),
    ("GET", r"/v1/batches", "list_openai"),
    ("GET", r"/v1/batches/(?P<number>[^/]+)", "get_openai"),
    ("POST", r"/v1/batches/(?P<number>[^/]+)/cancel", "cancel_openai"),
    ("POST", r"/v1/messages/batches", "create_anthropic"),
    ("GET", r"/v1/messages/batches", "list_anthropic"),
    ("GET", r"/v1/messages/batches/(?P<number>[^/]+)", "get_anthropic"),
    ("GET", r"/v1/messages/batches/(?P<number>[^/]+)/results", "results_anthropic"),
    ("POST", r"/v1/messages/batches/(?P<number>[^/]+)/cancel", "cancel_anthropic"),
    ("POST", r"/v1(?:beta)?/models/(?P<model>[^/:]+):batchGenerateContent", "create_google"),
    ("GET", r"/v1(?:beta)?/batches", "list_google"),
    ("GET", r"/v1(?:beta)?/(?P<number>batches/[^/:]+)", "get_google"),
    ("POST", r"/v1(?:beta)?/(?P<number>batches/[^/:]+):cancel", "cancel_google"),
)


@dataclass
class Job:
    """One batch: its lines by key, and how many more polls it takes."""

    number: str
    provider: str
    lines: list[tuple[str, Seen]]
    name: str = ""
    model: str = ""
    created: float = field(default_factory=time.time)
    left: int = 0
    word: str = ""
    answers: list[tuple[str, str, Any]] | None = None


@dataclass
class Batches:
    """What the batch endpoints hold, and how they misbehave.

    `hold` is how often a batch is looked at before it ends. `spoil(at)` says of the line at a place
    what becomes of it: ``"errored"``, ``"expired"``, ``"missing"``, ``"twice"`` or nothing odd.
    `ends` is the word with which batches end in place of success. With `lost` a batch is taken and
    the connection dropped before its id is said. Lines come out shuffled. `answered` counts by key.
    At the request of the number `strike`, `kill` is called: before it is served or, with `behind`,
    when it is served and not yet answered.
    """

    handler: Any
    hold: int = 1
    spoil: Callable[[int], str] = lambda _: ""
    ends: str = ""
    lost: bool = False
    strike: int = 0
    behind: bool = False
    kill: Callable[[], object] = lambda: None
    asked: int = 0
    jobs: dict[str, Job] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    answered: Counter[str] = field(default_factory=Counter)

    async def handle(self, request: Any, raw: bytes) -> Any:
        """The answer, or None where the path is no batch endpoint's."""
        google = "X-Goog-Api-Key" in request.headers
        for method, pattern, name in _ROUTES:
            found = re.fullmatch(pattern, request.path)
            if found and request.method == method and google == name.endswith("google"):
                self.asked += 1
                struck = self.asked == self.strike
                if struck and not self.behind:
                    return await self._struck()
                served = await getattr(self, f"_{name}")(request, raw, **found.groupdict())
                return await self._struck() if struck else served
        return None

    async def _struck(self) -> Any:
        self.kill()
        return await asyncio.sleep(3600)

    async def _made(self, request: Any, job: Job, shown: Any) -> Any:
        job.left = self.hold
        self.jobs[job.number] = job
        if self.lost:
            self.lost = False
            request.transport.abort()
            await asyncio.sleep(3600)
        return web.json_response(shown(job))

    def _number(self, kind: str) -> str:
        return f"{kind}{len(self.jobs) + len(self.files) + 1}"

    def _look(self, job: Job) -> None:
        """One poll: at the last one the lines are answered."""
        job.left = max(job.left - 1, 0)
        if job.left == 0 and job.answers is None and not job.word:
            job.word = self.ends or "completed"
            whole = job.word == "completed"
            job.answers = list(self._answers(job)) if whole else []

    def _answers(self, job: Job) -> Any:
        order = list(enumerate(job.lines))
        random.Random(1).shuffle(order)
        for at, (key, seen) in order:
            kind = self.spoil(at)
            if kind in ("errored", "expired"):
                yield key, kind, None
            elif kind != "missing":
                answer = answer_of(self.handler.answer, seen)
                self.answered[key] += 1
                for _ in range(1 + (kind == "twice")):
                    yield key, "", body_of(answer, seen)

    def _page(self, request: Any, provider: str, shown: Any) -> Any:
        """The newest first, two a page, as a list is read by who follows it."""
        jobs = [job for job in self.jobs.values() if job.provider == provider][::-1]
        for job in jobs:
            self._look(job)
        after = request.query.get("after") or request.query.get("after_id")
        at = next((i + 1 for i, job in enumerate(jobs) if job.number == after), 0)
        rows = [shown(job) for job in jobs[at : at + 2]]
        return web.json_response({"data": rows, "has_more": at + 2 < len(jobs)})

    # OpenAI

    async def _upload(self, request: Any, raw: bytes) -> Any:
        boundary = re.search(r"boundary=([^;]+)", request.headers["Content-Type"])[1].strip('"')
        parts = raw.split(b"--" + boundary.encode())
        body = next(part for part in parts if b"filename=" in part).partition(b"\r\n\r\n")[2]
        number = self._number("file-")
        self.files[number] = body.removesuffix(b"\r\n")
        return web.json_response({"id": number, "object": "file", "purpose": "batch"})

    async def _create_openai(self, request: Any, raw: bytes) -> Any:
        given = json.loads(raw)
        rows = [json.loads(line) for line in self.files[given["input_file_id"]].splitlines()]
        form = "responses" if given["endpoint"].endswith("responses") else "chat"
        assert all(row["url"] == given["endpoint"] and row["method"] == "POST" for row in rows)
        lines = [
            (row["custom_id"], Seen(row["url"], json.dumps(row["body"]).encode(), {}, form, at))
            for at, row in enumerate(rows)
        ]
        name = (given.get("metadata") or {}).get("voirdire", "")
        job = Job(self._number("batch_"), "openai", lines, name)
        return await self._made(request, job, self._shown_openai)

    def _shown_openai(self, job: Job) -> dict[str, Any]:
        good = sum(not kind for _, kind, _ in job.answers or ())
        counts = {"total": len(job.lines), "completed": good, "failed": 0}
        files = {}
        if job.answers is not None:
            files["output_file_id"] = f"out-{job.number}"
            bad = any(kind for _, kind, _ in job.answers)
            files["error_file_id"] = f"err-{job.number}" if bad else None
        return {
            "id": job.number, "object": "batch", "status": job.word or "in_progress",
            "created_at": int(job.created), "metadata": {"voirdire": job.name} if job.name else {},
            "request_counts": counts, **files,
        }  # fmt: skip

    async def _list_openai(self, request: Any, raw: bytes) -> Any:
        return self._page(request, "openai", self._shown_openai)

    async def _get_openai(self, request: Any, raw: bytes, number: str) -> Any:
        self._look(self.jobs[number])
        return web.json_response(self._shown_openai(self.jobs[number]))

    async def _cancel_openai(self, request: Any, raw: bytes, number: str) -> Any:
        self.jobs[number].word = "cancelled"
        return web.json_response(self._shown_openai(self.jobs[number]))

    async def _content(self, request: Any, raw: bytes, number: str) -> Any:
        kind, _, number = number.partition("-")
        rows = []
        for key, word, body in self.jobs[number].answers or ():
            if kind == "out" and not word:
                answer = {"status_code": 200, "request_id": "r", "body": body}
                rows.append({"id": "x", "custom_id": key, "response": answer, "error": None})
            elif kind == "err" and word == "expired":
                error = {"code": "batch_expired", "message": "This request was not executed."}
                rows.append({"id": "x", "custom_id": key, "response": None, "error": error})
            elif kind == "err" and word:
                error = {"error": {"message": "The server had an error", "code": None}}
                answer = {"status_code": 500, "request_id": "r", "body": error}
                rows.append({"id": "x", "custom_id": key, "response": answer, "error": None})
        return web.Response(body="\n".join(map(json.dumps, rows)).encode())

    # Anthropic

    async def _create_anthropic(self, request: Any, raw: bytes) -> Any:
        rows = json.loads(raw)["requests"]
        assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", row["custom_id"]) for row in rows)
        lines = [
            (
                row["custom_id"],
                Seen("/v1/messages", json.dumps(row["params"]).encode(), {}, "anthropic", at),
            )
            for at, row in enumerate(rows)
        ]
        job = Job(self._number("msgbatch_"), "anthropic", lines)
        return await self._made(request, job, self._shown_anthropic)

    def _shown_anthropic(self, job: Job) -> dict[str, Any]:
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        if job.answers is None:
            counts["processing"] = len(job.lines)
        for _, kind, _ in job.answers or ():
            counts[kind or "succeeded"] += 1
        return {
            "id": job.number, "type": "message_batch", "request_counts": counts,
            "processing_status": "ended" if job.word else "in_progress",
            "created_at": datetime.fromtimestamp(job.created, UTC).isoformat(),
            "results_url": "http://elsewhere.invalid/results" if job.word else None,
        }  # fmt: skip

    async def _list_anthropic(self, request: Any, raw: bytes) -> Any:
        return self._page(request, "anthropic", self._shown_anthropic)

    async def _get_anthropic(self, request: Any, raw: bytes, number: str) -> Any:
        self._look(self.jobs[number])
        return web.json_response(self._shown_anthropic(self.jobs[number]))

    async def _cancel_anthropic(self, request: Any, raw: bytes, number: str) -> Any:
        self.jobs[number].word, self.jobs[number].answers = "cancelled", []
        return web.json_response(self._shown_anthropic(self.jobs[number]))

    async def _results_anthropic(self, request: Any, raw: bytes, number: str) -> Any:
        rows = []
        for key, kind, body in self.jobs[number].answers or ():
            result: dict[str, Any] = {"type": kind or "succeeded"}
            if not kind:
                result["message"] = body
            elif kind == "errored":
                seen = Seen("", b"", {}, "anthropic")
                result["error"] = error_body(seen, 500, "Internal server error")
            rows.append({"custom_id": key, "result": result})
        return web.Response(body="\n".join(map(json.dumps, rows)).encode())

    # Google

    async def _create_google(self, request: Any, raw: bytes, model: str) -> Any:
        given = json.loads(raw)["batch"]
        rows = given["inputConfig"]["requests"]["requests"]
        path = f"/v1/models/{model}:generateContent"
        lines = [
            (
                (row.get("metadata") or {}).get("voirdire", str(at)),
                Seen(path, json.dumps(row["request"]).encode(), {}, "google", at),
            )
            for at, row in enumerate(rows)
        ]
        job = Job(self._number("batches/g"), "google", lines, given["displayName"], model)
        return await self._made(request, job, self._shown_google)

    def _shown_google(self, job: Job) -> dict[str, Any]:
        words = {"completed": "SUCCEEDED", "": "RUNNING"}
        word = words.get(job.word, job.word.upper())
        shown: dict[str, Any] = {
            "displayName": job.name, "model": f"models/{job.model}", "state": f"BATCH_STATE_{word}",
            "createTime": datetime.fromtimestamp(job.created, UTC).isoformat(),
        }  # fmt: skip
        if job.answers is not None:
            rows = []
            for key, kind, body in job.answers:
                error = {"code": 13, "message": f"{kind} in the batch"}
                said = {"error": error} if kind else {"response": body}
                rows.append({"metadata": {"voirdire": key}, **said})
            shown["output"] = {"inlinedResponses": {"inlinedResponses": rows}}
        return {"name": job.number, "metadata": shown, "done": bool(job.word)}

    async def _list_google(self, request: Any, raw: bytes) -> Any:
        jobs = [job for job in self.jobs.values() if job.provider == "google"][::-1]
        at = int(request.query.get("pageToken") or 0)
        rows = [self._shown_google(job) for job in jobs[at : at + 2]]
        more = {"nextPageToken": str(at + 2)} if at + 2 < len(jobs) else {}
        return web.json_response({"operations": rows, **more})

    async def _get_google(self, request: Any, raw: bytes, number: str) -> Any:
        self._look(self.jobs[number])
        return web.json_response(self._shown_google(self.jobs[number]))

    async def _cancel_google(self, request: Any, raw: bytes, number: str) -> Any:
        self.jobs[number].word, self.jobs[number].answers = "cancelled", []
        return web.json_response({})

"""The server in a thread of this process."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any, Self

from aiohttp import web

from wire_server._answers import Answering, rubric_answer
from wire_server._handler import Handler, Storm

if TYPE_CHECKING:
    from wire_server._batches import Batches
    from wire_server._seen import Seen


async def listen(handler: Handler, port: int = 0) -> tuple[web.ServerRunner, str]:
    """Start serving; returns what stops it, and the base URL."""
    runner = web.ServerRunner(web.Server(handler.handle, access_log=None), shutdown_timeout=0.0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, backlog=4096).start()
    host, chosen = runner.addresses[0][:2]
    return runner, f"http://{host}:{chosen}"


class WireServer:
    """A server in a thread; `answer` may be any function of what was seen."""

    def __init__(
        self, answer: Answering = rubric_answer, *, latency: float = 0.0, keep: bool = True
    ) -> None:
        self.handler = Handler(answer, latency, keep)
        self.url = ""

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._runner, self.url = self._run(listen(self.handler))
        return self

    def __exit__(self, *_: object) -> None:
        self._run(_cancel_rest())  # hung handlers would hold the clean-up
        self._run(self._runner.cleanup())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(timeout=60)

    @property
    def openai(self) -> str:
        """Base URL for OpenAI's SDK (the others take `url`)."""
        return f"{self.url}/v1"

    @property
    def requests(self) -> list[Seen]:
        """What came, in order (only with `keep`)."""
        return self.handler.requests

    @property
    def count(self) -> int:
        return self.handler.count

    @property
    def in_flight(self) -> int:
        """Requests that are being answered now."""
        return self.handler.in_flight

    @property
    def peak(self) -> int:
        """Most requests in flight at once."""
        return self.handler.peak

    def fault(self, name: str, **how: Any) -> None:
        """Let a fault strike: `times` (None: always), `every`, `when(seen)`, its own details."""
        self.handler.add_fault(name, **how)

    def storm(self, rate: float, retry_after: float = 1.0) -> None:
        """Allow `rate` requests a second and answer 429 to the others."""
        self.handler.storm = Storm(rate, retry_after)

    @property
    def batches(self) -> Batches:
        """The batch endpoints: what they hold and how they misbehave."""
        return self.handler.batches

    def clear(self) -> None:
        """No more faults."""
        self.handler.faults.clear()
        self.handler.storm = None


async def _cancel_rest() -> None:
    rest = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)

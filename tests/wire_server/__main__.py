"""python -m wire_server --latency 0.05: prints its URL, serves until its input closes."""

from __future__ import annotations

import argparse
import asyncio
import sys

from wire_server._answers import rubric_answer, rubric_words
from wire_server._handler import Handler
from wire_server._server import listen


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--form", choices=("json", "text"), default="json")
    given = parser.parse_args()
    answer = rubric_answer if given.form == "json" else rubric_words
    runner, url = await listen(Handler(answer, latency=given.latency, keep=False), given.port)
    print(url, flush=True)  # noqa: T201
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(main())

"""The same server in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any, Self


class WireProcess:
    """A server beside this interpreter; it answers rubric scores that depend on the prompt.

    `form` says how: as JSON, or in words, a line an attribute (`text`).
    """

    def __init__(self, *, latency: float = 0.0, form: str = "json") -> None:
        self.latency, self.form, self.url = latency, form, ""

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "wire_server", "--latency", str(self.latency)]
        command += ["--form", self.form]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, env=environment, text=True
        )
        self.url = self._process.stdout.readline().strip()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()  # the server ends with its input, so none outlives a test
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:  # a request that hangs by a fault keeps it
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    @property
    def openai(self) -> str:
        return f"{self.url}/v1"

    @property
    def count(self) -> int:
        return self._control("count")["count"]

    @property
    def peak(self) -> int:
        return self._control("count")["peak"]

    @property
    def counts(self) -> dict[str, int]:
        """Requests, whole answers, requests under way, and how many at most."""
        return self._control("count")

    def fault(self, name: str, **how: Any) -> None:
        """As `WireServer.fault`, without `when`."""
        self._control("fault", {"name": name, **how})

    def storm(self, rate: float, retry_after: float = 1.0) -> None:
        self._control("storm", {"rate": rate, "retry_after": retry_after})

    def clear(self) -> None:
        self._control("clear")

    def _control(self, order: str, given: Any = None) -> dict[str, Any]:
        url, data = f"{self.url}/_control/{order}", json.dumps(given).encode()
        with urllib.request.urlopen(urllib.request.Request(url, data), timeout=60) as response:
            return json.load(response)

"""A server on loopback that speaks four providers' wire formats, with latency and every fault.

with WireServer(latency=0.05) as server:
    server.fault("rate_limit", times=1, retry_after=1.0)
    client = openai.AsyncOpenAI(base_url=server.openai, api_key="k")
    ...
    assert len(server.requests) == 2

`WireServer` runs in a thread and takes any function as answer; `WireProcess` runs the same server
in a process of its own, so that it does not share the interpreter with what is measured.
"""

from wire_server._answers import Answer, rubric_answer, rubric_text
from wire_server._faults import FAULTS, SILENT
from wire_server._process import WireProcess
from wire_server._seen import Seen
from wire_server._server import WireServer

__all__ = [
    "FAULTS",
    "SILENT",
    "Answer",
    "Seen",
    "WireProcess",
    "WireServer",
    "rubric_answer",
    "rubric_text",
]

"""Progress by rater: a live table on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import TYPE_CHECKING, Any

from voirdire.shown import terminal, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.running.workers import Worker

LIVE_EVERY, LINE_EVERY = 0.25, 15.0


async def show_progress(workers: Sequence[Worker], *, quiet: bool) -> None:
    """Show how far the workers are until cancelled."""
    if quiet:
        return
    if sys.stderr.isatty():
        await _live(workers)
    else:
        await _lines(workers)


def summary(worker: Worker, seconds: float) -> str:
    """One line on one rater: done, failed by kind, rate, tokens, cost and time left."""
    tally = worker.tally
    parts = [f"{worker.asker.id.name}: {tally.done}/{tally.tasks} done"]
    if tally.failed:
        parts.append(f"failed {_kinds(tally.faults)}")
    parts += [f"{_rate(worker, seconds):.1f}/s", f"{_tokens(worker)} tokens"]
    parts += [cost_text(worker), f"{_left(worker, seconds)} left"]
    if paused := _paused(worker):
        parts.append(f"waiting {paused:.0f} s as its provider asks")
    if worker.parked:
        parts.append(f"PARKED: {worker.parked}")
    return ", ".join(parts)


def cost_text(worker: Worker) -> str:
    """What a rater has cost, or that it is not known."""
    cost = worker.tally.cost(worker.prices)
    if cost is None:
        return "cost unknown"
    blind = worker.tally.whole.blind
    more = f" (and {blind} replies without token counts)" if blind else ""
    return f"{cost:.4f} {worker.spec.currency}{more}"


async def _lines(workers: Sequence[Worker]) -> None:
    started = time.monotonic()
    while True:
        await asyncio.sleep(LINE_EVERY)
        for worker in workers:
            sys.stderr.write(summary(worker, time.monotonic() - started) + "\n")
        sys.stderr.flush()


async def _live(workers: Sequence[Worker]) -> None:
    from rich.live import Live  # noqa: PLC0415 - a terminal alone needs it

    started = time.monotonic()
    with Live(console=terminal(stderr=True), refresh_per_second=8, transient=True) as live:
        while True:
            live.update(_table(workers, time.monotonic() - started))
            await asyncio.sleep(LIVE_EVERY)


def _table(workers: Sequence[Worker], seconds: float) -> Any:
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table("rater", "done", "failed", "a second", "tokens", "cost", "left", box=None)
    for worker in workers:
        tally = worker.tally
        paused = _paused(worker)
        waits = f"waits {paused:.0f} s" if paused else _left(worker, seconds)
        state = "parked" if worker.parked else waits
        row = (
            worker.asker.id.name, f"{tally.done}/{tally.tasks}", _kinds(tally.faults),
            f"{_rate(worker, seconds):.1f}", str(_tokens(worker)), cost_text(worker),
            state,
        )  # fmt: skip
        table.add_row(*(Text(visible(cell)) for cell in row))
    return table


def _tokens(worker: Worker) -> int:
    whole = worker.tally.whole
    return whole.input + whole.output


def _paused(worker: Worker) -> float:
    """Seconds until all its models may be asked."""
    return max(line.limiter.paused for line in worker.lines.values())


def _kinds(faults: dict[str, int]) -> str:
    return " ".join(f"{kind} {count}" for kind, count in sorted(faults.items())) or "-"


def _rate(worker: Worker, seconds: float) -> float:
    return worker.tally.fresh / seconds if seconds > 0 else 0.0


def _left(worker: Worker, seconds: float) -> str:
    rate = _rate(worker, seconds)
    if rate == 0:
        return "?"
    left = (worker.tally.tasks - worker.tally.done - worker.tally.failed) / rate
    return (
        f"{left / 3600:.1f} h"
        if left >= 3600
        else f"{left / 60:.0f} min"
        if left >= 90
        else f"{left:.0f} s"
    )

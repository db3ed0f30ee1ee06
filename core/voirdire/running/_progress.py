"""Progress by rater: a live table on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.running._desk import Desk

LIVE_EVERY, LINE_EVERY = 0.25, 15.0


async def show_progress(desks: Sequence[Desk], *, quiet: bool) -> None:
    """Show how far the desks are until cancelled."""
    if quiet:
        return
    if sys.stderr.isatty():
        await _live(desks)
    else:
        await _lines(desks)


def summary(desk: Desk, seconds: float) -> str:
    """One line on one rater: done, failed by kind, rate, tokens, cost and time left."""
    tally = desk.tally
    parts = [f"{desk.asker.seat.name}: {tally.done}/{tally.tasks} done"]
    if tally.failed:
        parts.append(f"failed {_kinds(tally.faults)}")
    parts += [f"{_rate(desk, seconds):.1f}/s", f"{tally.input + tally.output} tokens"]
    parts += [cost_text(desk), f"{_left(desk, seconds)} left"]
    if desk.lane.paused:
        parts.append(f"waiting {desk.lane.paused:.0f} s as its provider asks")
    if desk.breaker.reason:
        parts.append(f"PARKED: {desk.breaker.reason}")
    return ", ".join(parts)


def cost_text(desk: Desk) -> str:
    """What a rater has cost, or that it is not known."""
    cost = desk.tally.cost(desk.prices)
    if cost is None:
        return "cost unknown"
    more = f" (and {desk.tally.blind} replies without token counts)" if desk.tally.blind else ""
    return f"{cost:.4f} {desk.spec.currency}{more}"


async def _lines(desks: Sequence[Desk]) -> None:
    started = time.monotonic()
    while True:
        await asyncio.sleep(LINE_EVERY)
        for desk in desks:
            sys.stderr.write(summary(desk, time.monotonic() - started) + "\n")
        sys.stderr.flush()


async def _live(desks: Sequence[Desk]) -> None:
    from rich.console import Console  # noqa: PLC0415 - a terminal alone needs it
    from rich.live import Live  # noqa: PLC0415

    started = time.monotonic()
    with Live(console=Console(stderr=True), refresh_per_second=8, transient=True) as live:
        while True:
            live.update(_table(desks, time.monotonic() - started))
            await asyncio.sleep(LIVE_EVERY)


def _table(desks: Sequence[Desk], seconds: float) -> Any:
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table("rater", "done", "failed", "a second", "tokens", "cost", "left", box=None)
    for desk in desks:
        tally = desk.tally
        waits = f"waits {desk.lane.paused:.0f} s" if desk.lane.paused else _left(desk, seconds)
        state = "parked" if desk.breaker.reason else waits
        row = (
            desk.asker.seat.name, f"{tally.done}/{tally.tasks}", _kinds(tally.faults),
            f"{_rate(desk, seconds):.1f}", str(tally.input + tally.output), cost_text(desk), state,
        )  # fmt: skip
        table.add_row(*map(Text, row))
    return table


def _kinds(faults: dict[str, int]) -> str:
    return " ".join(f"{kind} {count}" for kind, count in sorted(faults.items())) or "-"


def _rate(desk: Desk, seconds: float) -> float:
    return desk.tally.fresh / seconds if seconds > 0 else 0.0


def _left(desk: Desk, seconds: float) -> str:
    rate = _rate(desk, seconds)
    if rate == 0:
        return "?"
    left = (desk.tally.tasks - desk.tally.done - desk.tally.failed) / rate
    return (
        f"{left / 3600:.1f} h"
        if left >= 3600
        else f"{left / 60:.0f} min"
        if left >= 90
        else f"{left:.0f} s"
    )

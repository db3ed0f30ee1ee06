"""Raters of a stranger whose parsers take long; a helper process imports them by this name."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

from voirdire.schema import Parsed


@dataclass
class Slow:
    """Takes as many processor seconds as a reply says; *print*, *raise* and *exit* do so."""

    name: str = "slow"

    def parse(self, replies):
        text = replies[0].text
        if text == "raise":
            raise ValueError("no number")
        if text == "exit":
            raise SystemExit(3)
        if text == "print":
            sys.stdout.write("chatter")
            sys.stdout.flush()
        until = time.thread_time() + (float(text) if text[:1].isdigit() else 0)
        while time.thread_time() < until:
            pass
        return Parsed({"calm": 4.0}, "ok")


class NotHandedOver(Slow):
    def __reduce__(self):
        raise TypeError("has a lock")

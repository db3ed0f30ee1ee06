"""Work that workers of the tests import by name."""

import os
import signal
import time
from pathlib import Path


def square(value):
    return value * value


def slow_first(value):
    """Part 0 comes last."""
    time.sleep(0.2 if value == 0 else 0)
    return f"{value},"


def dies_once(folder, value):
    """The worker that is given 3 for the first time is killed."""
    mark = Path(folder) / "killed"
    if value == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return value


def dies(value):
    os.kill(os.getpid(), signal.SIGKILL)

"""How fast this machine is, for bounds that a slower one keeps too."""

from __future__ import annotations

import time


def second():
    """About a second of this machine's processor, in its own measure: it may be a slow one."""
    spent = []
    for _ in range(3):
        began = time.process_time()
        sum(range(1_000_000))
        spent.append(time.process_time() - began)
    return 80 * min(spent)  # 12 ms where the figures of the documents were measured

"""Which faults pass, and how long to wait for that."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

    from voirdire._errors import FaultKind, ModelError
    from voirdire.study import RunSpec

#: The provider has too much to do: its whole lane pauses, and patience is counted in time.
THROTTLED: frozenset[FaultKind] = frozenset({"rate_limit", "overloaded"})
#: No other call to that model can fare better: its rater is parked at once.
HOPELESS: frozenset[FaultKind] = frozenset({"auth", "quota", "refused_parameter"})
#: Nothing was sent or only this item is at fault: it says nothing about the model.
OF_THE_ITEM: frozenset[FaultKind] = frozenset({"empty_input"})


def wait_before(fault: ModelError, tries: int, spec: RunSpec, chance: random.Random) -> float:
    """Seconds before the next try: exponential with jitter, never less than a Retry-After.

    ``min(cap, backoff * 2 ** (tries - 1))``, of which a random half is kept. A Retry-After is
    obeyed up to `retry_after_cap`, plus up to a tenth so that calls do not come back in one wave.
    """
    asked = fault.retry_after
    if isinstance(asked, int | float) and asked > 0:
        return min(asked, spec.retry_after_cap) * (1 + 0.1 * chance.random())
    wait = min(spec.backoff_cap, spec.backoff * 2.0 ** min(tries - 1, 30))
    return wait * (0.5 + 0.5 * chance.random())


def may_retry(fault: ModelError, tries: int, waited: float, spec: RunSpec) -> bool:
    """Whether to try again: a passing fault, within the study's retries or patience."""
    if not fault.retryable:
        return False
    if fault.kind in THROTTLED:
        return waited < spec.patience
    return tries <= spec.retries

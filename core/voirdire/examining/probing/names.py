"""How what a probe changes is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from voirdire.probes import ResponseProbe

#: Between a system (or judge) and the probe that changes it.
SEPARATOR = " ~ "
IDENTITY = "identity"
#: What stands in the place of a label where all that an annotator names is meant.
WHOLE = "the whole answer"


def arms_of(probe: ResponseProbe) -> tuple[str, ...]:
    """What the strengths of a probe are called, the weakest first; the strongest bears its name.

    >>> from voirdire.probes import ResponseProbe
    >>> arms_of(ResponseProbe("cut", lambda item, response: None, stronger=(lambda i, r: None,)))
    ('cut@1', 'cut')
    """
    weaker = [f"{probe.name}@{at}" for at in range(1, len(probe.changes))]
    return (*weaker, probe.name)


def changed_name(judge: str, arm: str, place: str = "") -> str:
    """The rater that is a judge with a change, on one place of a pair.

    >>> changed_name("gpt", "length", "first")
    'gpt ~ length ~ first'
    """
    return SEPARATOR.join(filter(None, (judge, arm, place)))

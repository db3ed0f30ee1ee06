"""LEAK: has the judge seen what these humans said, or what one of them said?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from voirdire.examining.spec.component import Component
from voirdire.stats.leaks import lead, leaks, too_close

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.stats.response_panel import ResponsePanel
    from voirdire.stats.sums import Jackknifed

#: A slope on what one human alone says beyond which the judge follows that human, and how sure.
LEAKED, SURE_LEAK = 0.10, 0.001
#: The slope and how sure before it looks so, which leaves a yes open: of 480 panels in which two of
#: five people answer each of 400 items, 22 copies of one human on 60 % are not seen, and 19
#: exchangeable humans look so (at .05 32 and 9; of three people on 400 items none and 2 of 180).
LOOKS_LEAKED, LOOKS_SEEN = 0.02, 0.10
#: The squared correlation with what humans share, 1 at most for who sees the response alone.
CLOSEST = 1.0
#: Of all humans at once (or of two) a lasting view that the judge shares with one adds to it:
#: a ninth where the view is as large as what they share.
CLOSEST_OF_ALL, CLOSEST_OF_TWO = 1.25, 1.05
#: The component that says so.
LEAK = "LEAK"


def slopes(
    panel: ResponsePanel, humans: Sequence[int], reference: Sequence[str]
) -> tuple[tuple[str, Jackknifed], ...]:
    """How far the judge follows each human alone, and more than the others, from three humans."""
    each = zip(humans, leaks(panel, humans, humans), strict=True)
    return tuple((reference[k], found) for k, found in each if found is not None)


def followed(leaks: Sequence[tuple[str, Jackknifed]]) -> tuple[str, ...]:
    """Humans whom the judge follows beyond what people share, and more than the others."""
    share = SURE_LEAK / max(len(leaks), 1)
    return tuple(name for name, found in leaks if _follows(found, share))


def _follows(found: Jackknifed, share: float, limit: float = LEAKED) -> bool:
    """Whether the slope lies beyond the limit, and the others are followed less."""
    bounds = np.atleast_1d(found.bound(share))
    return bool(bounds[0] > limit and (bounds[1:] > 0).all())


def _most_followed(
    leaks: Sequence[tuple[str, Jackknifed]], share: float, limit: float = LEAKED
) -> tuple[Component, Jackknifed]:
    """The largest slope of those who are followed, else of all; *yes* until more is known."""
    found = [one for one in leaks if _follows(one[1], share, limit)] or leaks
    name, worst = max(found, key=lambda one: float(np.atleast_1d(one[1].bound(share))[0]))
    slope = worst if np.ndim(worst.at) == 0 else worst[0]
    part = Component(
        LEAK,
        "yes",
        float(slope.at),
        float(slope.bound(share)),
        float(slope.bound(1 - share)),
        limit,
        float(slope.se),
        float(slope.df),
        0.0,
        at=(name,),
    )
    return part, worst


def one_followed(leaks: Sequence[tuple[str, Jackknifed]]) -> Component:
    """The largest slope; not tested where it has seen what one human says, or where none is known.

    Else yes, as far as is known.
    """
    if not leaks:
        return Component(LEAK, "not tested", reason="leak unknown")
    share = SURE_LEAK / len(leaks)
    part, worst = _most_followed(leaks, share)
    return replace(part, state="not tested", reason="seen") if _follows(worst, share) else part


def looks_seen(
    panel: ResponsePanel,
    humans: Sequence[int],
    leaks: Sequence[tuple[str, Jackknifed]],
    reference: Sequence[str],
) -> Component | None:
    """*Open* where it looks as if it had seen what one human says; None where it does not.

    Two humans on a response cannot say so surely, since one of them may be the better one.
    """
    if not leaks and len(humans) > 1:
        each = ((k, lead(panel, k, [h for h in humans if h != k])) for k in humans)
        leaks = [(reference[k], found) for k, found in each if found is not None]
    if not leaks:
        return None
    share = LOOKS_SEEN / len(leaks)
    part, worst = _most_followed(leaks, share, LOOKS_LEAKED)
    if not _follows(worst, share, LOOKS_LEAKED):
        return None
    return replace(part, state="open", p=1.0, reason="looks seen")


def closer_than_possible(panel: ResponsePanel, humans: Sequence[int]) -> Component | None:
    """*No* where it follows these humans more closely than the response alone allows.

    With each of them left out, so that nobody's lasting view which the judge shares says so.
    """
    found = too_close(panel, humans)
    if found is None:
        return None
    limits = [CLOSEST_OF_ALL if len(humans) > 2 else CLOSEST_OF_TWO]
    limits += [CLOSEST] * (len(found.at) - 1)
    low = np.asarray(found.bound(SURE_LEAK)) - limits
    # Without each of them, all have to say so.
    at = 0 if low[0] > 0 else 1 + int(np.argmin(low[1:])) if len(low) > 1 else 0
    one, limit = found[at], limits[at]
    if not low[at] > 0:
        return None
    high = float(one.bound(1 - SURE_LEAK))
    return Component(
        LEAK,
        "no",
        float(one.at),
        float(one.bound(SURE_LEAK)),
        high,
        limit,
        float(one.se),
        float(one.df),
        reason="seen answers",
    )

"""An assertion of promptfoo that asks the panel of a study, and keeps every reply in a session."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from voirdire.running.growing import GrowingSession, Handed, score_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from voirdire.study import Study


def assertion(
    study: str | Path | Study,
    judge: str,
    *,
    folder: str | Path,
    at_least: float,
    attribute: str = "",
    max_cost: float | None = None,
) -> Callable[[str, Mapping[str, Any]], dict[str, Any]]:
    """``get_assert`` for a file that promptfoo names in ``type: python``.

    Parameters
    ----------
    study, judge, folder, attribute, max_cost
        As `voirdire_plugins.others.inspect_ai.judge_scorer` takes them.
    at_least : float
        A judge's score at or above this one passes.

    Returns
    -------
    callable
        Called with the output and promptfoo's context, it returns ``pass``, ``score`` (1 or 0),
        ``reason`` and ``namedScores`` (the judge's own). An answer of which no score could be read
        does not pass, and the reason says so.
    """
    session = GrowingSession(study, folder, max_cost, wait=0)

    def get_assert(output: str, context: Mapping[str, Any]) -> dict[str, Any]:
        scores = session.judged_now(_handed(str(output), context))
        value = score_of(scores, judge, attribute) if scores else None
        passed = value is not None and value >= at_least
        said = "no score could be read" if value is None else f"{value:g}, wanted {at_least:g}"
        own = {name: one for name, one in scores.get(judge, {}).items() if one is not None}
        return {
            "pass": passed, "score": float(passed), "reason": f"{judge}: {said}",
            "namedScores": own,
        }  # fmt: skip

    return get_assert


def _handed(output: str, context: Mapping[str, Any]) -> Handed:
    """An output with its prompt; the variable `id`, where there is one, is the item's id.

    The system is the provider's label: give each a label where several are compared.
    """
    given = context.get("vars") or {}
    prompt = context.get("prompt")
    text = prompt if isinstance(prompt, str) else json.dumps(given, sort_keys=True)
    provider = context.get("provider")
    told = provider if isinstance(provider, dict) else {"label": provider}
    # promptfoo hands over the label of a provider, and its id to some versions alone.
    system = str(told.get("label") or told.get("id") or "")
    return Handed(output, text, str(given.get("id", "")), system or "output")

"""What the replies of a task said, kept as numbers and words of ours once their texts are gone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from voirdire.schema import Beside, Flag, Parsed, Trace

if TYPE_CHECKING:
    from collections.abc import Mapping


def said_json(parsed: Parsed, trace: Trace) -> str:
    """A task's reading and trace as JSON, without a word that a model wrote.

    >>> parsed, _ = read_said(said_json(Parsed({"Calm": 4.0}, "ok", extra={"why": "x"}), Trace()))
    >>> parsed.scores, parsed.status, parsed.extra
    ({'Calm': 4.0}, 'ok', {})
    """
    return json.dumps(
        {
            "scores": dict(parsed.scores),
            "status": parsed.status,
            "statuses": dict(parsed.statuses),
            # What a flag is about may be a phrase of the reply: only names asked for stay.
            "flags": [
                [flag.kind, flag.about if flag.about in parsed.scores else "", flag.count]
                for flag in parsed.flags
            ],
            "ranks": dict(parsed.ranks),
            "reasons": dict(parsed.reasons),
            "used": dict(trace.used),
            "ended": trace.ended,
            "beside": [[one.name, list(one.steps), dict(one.scores)] for one in trace.beside],
        }
    )


def read_said(text: str) -> tuple[Parsed, Trace]:
    """The reading and the trace that `said_json` wrote."""
    kept: Mapping[str, Any] = json.loads(text)
    flags = tuple(Flag(*one) for one in kept["flags"])
    parsed = Parsed(
        kept["scores"], kept["status"], kept["statuses"], flags, kept["ranks"], {}, kept["reasons"]
    )
    beside = tuple(Beside(name, tuple(steps), scores) for name, steps, scores in kept["beside"])
    return parsed, Trace(kept["used"], beside, kept["ended"])

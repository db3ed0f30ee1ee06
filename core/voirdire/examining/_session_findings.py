"""What the audit says of a session beside its tables: replies to look at, and what is missing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.schema import Finding
from voirdire.store import kept_findings, reply_findings_frame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Severity

#: Kind -> (severity, message, consequence).
_WORDS: dict[str, tuple[Severity, str, str]] = {
    "echoes_orders": (
        "serious",
        "Replies that speak of orders in the text they judge: {count}, such as {detail!r}.",
        "The text may have steered the score: read them by voirdire session show.",
    ),
    "no_logprobs": (
        "serious",
        "Replies without the log-probabilities that the scores are to rest on: {count}.",
        "The number that was generated stands in their place.",
    ),
    "low_mass": (
        "note",
        "Replies with less than half of the probability on the levels: {count}.",
        "The model mostly meant something else; the weighted score rests on the rest.",
    ),
    "parser_raised": (
        "serious",
        "Replies on which the rater's own parser broke: {count} ({detail}).",
        "Their scores are missing; mend the parser, then voirdire session reparse.",
    ),
    "dropped": (
        "serious",
        "Replies made without the parameter {detail!r}, which the model refuses: {count}.",
        "They follow the model's own setting in its place.",
    ),
    "several_models": (
        "serious",
        "Replies of one rater came from several models: {detail}.",
        "They are examined as one; name a dated version of the model, so that all come from it.",
    ),
    "unanswered": (
        "serious",
        "{count} of {of} tasks have no final reply: {detail}.",
        "They are missing because the run could not complete them: voirdire run --resume asks.",
    ),
}


def session_findings(source: object) -> tuple[Finding, ...]:
    """Findings of a session folder; none for any other source."""
    if not isinstance(source, str | Path) or not Path(source).is_dir():
        return ()
    rows = list(reply_findings_frame(source).iter_rows(named=True))
    played = [row for row in rows if row["kind"] == "simulated"]
    said = [_finding(row) for row in rows if row not in played]
    played_by = (_simulated(played),) if played else ()
    return (*said, *played_by, *(kept_findings(source) or ()))


def _finding(row: dict[str, Any]) -> Finding:
    severity, message, consequence = _WORDS[row["kind"]]
    numbers = {name: f"{row[name]:,}" for name in ("count", "of") if row[name] is not None}
    return Finding(
        kind=row["kind"],
        severity=severity,
        table=row["rater"],
        count=row["count"],
        places=tuple(row["places"]),
        message=message.format(**{**row, **numbers}),
        consequence=consequence,
    )


def _simulated(rows: Sequence[dict[str, Any]]) -> Finding:
    names = [row["rater"] for row in rows]
    return Finding(
        kind="simulated",
        severity="note",
        table="",
        count=sum(row["count"] for row in rows),
        places=tuple(names),
        message=f"Simulated, no model was asked: {', '.join(names)}.",
        consequence="What is said about these is a demonstration.",
    )

"""What was found out about a file, as the keys of a source that read it the same way again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.tables._tables import FACTS
from voirdire.tables._values import common_prefix

if TYPE_CHECKING:
    from voirdire.study import Source
    from voirdire.tables._layout import FilePlan

#: How a study calls each kind of plan.
LAYOUTS = {
    "replies": "replies",
    "scores": "scores",
    "raters": "scores",
    "grid": "scores",
    "long": "long",
}
#: What a drafted source says as it was given, and what as it was planned.
_KEPT = (
    "path",
    "sheet",
    "words",
    "ignore",
    "leave_out",
    "rescale",
    "same",
    "hidden",
    "assume",
    "key",
    "about",
)
_PLANNED = ("item", "system", "context", "response", "attribute", "run", "status")

#: The keys that name a column each: what a kept reading adds to what a study says.
COLUMN_KEYS = (*_PLANNED, "rater", "score", "reason", *FACTS)


def declared_by(source: Source, how: FilePlan | None) -> dict[str, Any]:
    """The source with everything that was found out about it."""
    if how is None or is_form(source):
        return source.model_dump(exclude_defaults=True)  # its columns are those of the form
    declared: dict[str, Any] = {
        **{key: getattr(source, key) for key in _KEPT},
        **{key: getattr(how, key) for key in _PLANNED},
        "layout": LAYOUTS.get(how.kind, how.kind),
        "reason": source.reason or next((c for c, who in how.reasons.items() if not who), None),
        "rater": how.rater or (None if how.raters or how.kind == "raters" else how.rater_name),
        "score": next(iter(how.values)) if how.kind == "long" else None,
        **how.facts,
    }
    if how.kind == "replies" and not how.raters:
        columns = list(how.values)
        prefix = common_prefix(columns) if len(columns) > 1 else ""
        declared |= {"prefix": prefix} if prefix else {"columns": dict(how.values)}
    if how.kind == "scores":
        declared["columns"] = dict(how.values)
    return {key: value for key, value in declared.items() if value not in (None, {}, (), False)}


def is_form(source: Source) -> bool:
    return source.layout == "raters-by-items"

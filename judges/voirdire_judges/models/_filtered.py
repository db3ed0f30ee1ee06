"""A prompt that a content filter withheld: an error on the wire, a reply to us."""

from __future__ import annotations

import re
from typing import Any

from voirdire_judges.models._status import error_of, words

_FILTERED = re.compile(
    r"content_filter|content_policy_violation|ResponsibleAIPolicyViolation"
    r"|blocked by content filter|(?:prompt|input|content|request) (?:\w+ ){0,2}flagged"
    r"|data_?inspection_?failed|content exists risk|inappropriate content"
    r"|safety system|(?:usage|content) polic|敏感内容",
    re.IGNORECASE,
)
#: Statuses with which providers and routers withhold a prompt.
_STATUSES = frozenset({400, 403, 422, 451})


def filtered_categories(body: Any, status: int = 400) -> tuple[str, ...] | None:
    """The categories for which a prompt was withheld; None where it is another error.

    >>> result = {"self_harm": {"filtered": True}, "hate": {"filtered": False}}
    >>> inner = {"content_filter_result": result}
    >>> filtered_categories({"error": {"code": "content_filter", "innererror": inner}})
    ('self_harm',)
    >>> filtered_categories({"error": {"code": "unsupported_value"}}) is None
    True
    """
    error = error_of(body)
    if status not in _STATUSES or not _FILTERED.search(" ".join(words(error))):
        return None
    inner = error.get("innererror")
    result = inner.get("content_filter_result") if isinstance(inner, dict) else None
    found = result.items() if isinstance(result, dict) else ()
    metadata = error.get("metadata")
    reasons = metadata.get("reasons") if isinstance(metadata, dict) else None
    return (
        *(str(name) for name, said in found if isinstance(said, dict) and said.get("filtered")),
        *(str(reason) for reason in (reasons if isinstance(reasons, list) else ())),
    )

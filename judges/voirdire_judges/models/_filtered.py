"""A prompt that a content filter withheld: an error on the wire, a reply to us."""

from __future__ import annotations

import re
from typing import Any

from voirdire_judges.models._status import error_of, words

_FILTERED = re.compile(
    r"content_filter|content_policy_violation|ResponsibleAIPolicyViolation"
    r"|blocked by content filter",
    re.IGNORECASE,
)


def filtered_categories(body: Any) -> tuple[str, ...] | None:
    """The categories for which a 400 withheld the prompt; None where it is another error.

    >>> result = {"self_harm": {"filtered": True}, "hate": {"filtered": False}}
    >>> inner = {"content_filter_result": result}
    >>> filtered_categories({"error": {"code": "content_filter", "innererror": inner}})
    ('self_harm',)
    >>> filtered_categories({"error": {"code": "unsupported_value"}}) is None
    True
    """
    error = error_of(body)
    if not _FILTERED.search(" ".join(words(error))):
        return None
    inner = error.get("innererror")
    result = inner.get("content_filter_result") if isinstance(inner, dict) else None
    found = result.items() if isinstance(result, dict) else ()
    return tuple(
        str(name) for name, said in found if isinstance(said, dict) and said.get("filtered") is True
    )

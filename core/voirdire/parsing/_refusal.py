"""Whether a reply without an answer declines to answer."""

from __future__ import annotations

import re

# What a model declines to do; "I cannot help noticing" is no refusal of a rating.
_ACTS = (
    r"(?:rate|score|evaluate|assess|judge|grade|provide|give|answer|respond|comply|complete|assist|"
    r"help|engage|classify|label|annotate|diagnose|do|determine|offer|fulfil+|process|continue|"
    r"make|discuss|participate|generate|analy[sz]e|review|perform|compare|choose|create|share)"
)
# How it declines.
_CANNOT = (
    r"(?:cannot|can['’]?t|can not|could not|couldn['’]t|won['’]?t|will not|would not|"
    r"(?:am|['’]m|are|['’]re)\s+(?:un(?:able|willing)|not\s+(?:able|comfortable|willing|"
    r"qualified|permitted|allowed))(?:\s+(?:to|with))?|"
    r"must\s+decline|have\s+to\s+decline|decline|refuse)"
)
# "I can't rate this", "As an AI I do not ...", "it is not possible to assess".
_REFUSAL = re.compile(
    rf"\b(?:i|we)\s*{_CANNOT}(?:\s+\w+){{0,3}}?\s+{_ACTS}"
    r"|\b(?:i|we)\s+(?:must|have\s+to|respectfully)?\s*(?:decline|refuse)\b"
    r"|\bi(?:['’]m|\s+am)\s+(?:very\s+|so\s+)?sorry\b[,.]?\s+(?:but\b|i\s+(?:can|am|won))"
    r"|\b(?:sorry|apologi[sz]e)\b.{0,40}\b(?:cannot|can['’]?t|unable|not able)\b"
    r"|\bas an ai\b.{0,80}\b(?:cannot|can['’]?t|unable|not able|do not|don['’]t)\b"
    r"|\b(?:unable|not able)\s+to\s+(?:\w+\s+)?" + _ACTS + r"\b"
    r"|\b(?:cannot|can['’]?t|can\s+not|could\s+not|not\s+possible\s+to)\s+(?:be\s+)?(?:\w+ly\s+)?"
    r"(?:rate|score|evaluate|assess|judge|grade)d?\b"
    r"|\bno\s+(?:rating|score|assessment|judg[e]?ment)s?\s+(?:can|could|is|are)\b"
    r"|\b(?:not\s+enough|insufficient)\s+(?:\w+\s+)?(?:information|context|content|detail)\b"
    r"|\b(?:against|violates?)\s+(?:my|our|the)\s+(?:\w+\s+)?(?:guidelines|policy|policies)\b",
    re.IGNORECASE | re.DOTALL,
)
_LOOKED_AT = 5_000


def is_refusal(text: str) -> bool:
    """Whether the model declines, judged on the first 5,000 signs of a reply without an answer.

    >>> is_refusal("I cannot rate this conversation."), is_refusal("It is warm.")
    (True, False)
    """
    return _REFUSAL.search(text, 0, _LOOKED_AT) is not None

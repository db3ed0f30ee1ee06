"""Whether a rater's name speaks of a person or of a judge."""

from __future__ import annotations

import re

from voirdire.tables._names import (
    holds_labels,
)

#: Words of people. A family of models beside one of them decides: `deepseek-coder` is none.
_HUMAN = re.compile(
    r"human|annotator|expert|clinician|therapist|psycholog|psychiatr|crowd|coder|worker|gold|person"
    r"|student|doctor|nurse|physician|counsel|teacher|patient|layperson|layman|participant"
    r"|volunteer|lawyer|linguist|turker|specialist|professor|tutor|mensch|kodierer",
    re.IGNORECASE,
)
#: Families of models: whose name holds one is no person, whatever else it holds.
_MODEL = re.compile(
    r"llm|gpt|claude|gemini|gemma|llama|mistral|mixtral|qwen|deepseek|grok|sonnet|haiku|opus"
    r"|prometheus|vicuna|nemotron|olmo|starcoder|\bo[134]\b|\bo[134]-",
    re.IGNORECASE,
)
_JUDGE = re.compile(r"judge|classifier|(?:^|[_ -])(?:ai|bot|model)(?:$|[_ -])", re.IGNORECASE)
#: Words of raters that may be people as well as judges: `rater_a`, `reviewer 2`.
_EITHER = re.compile(
    r"rater|reviewer|evaluator|assessor|grader|scorer|marker|bewerter|beurteiler", re.IGNORECASE
)


def kind_of(name: str, column: str | None = None) -> str | None:
    """``human`` or ``judge`` by a rater's name and the header of its column, or None: not known.

    Examples
    --------
    >>> kind_of("nurse 2"), kind_of("qwen-coder"), kind_of("rater_a"), kind_of("ada", "expert")
    ('human', 'judge', None, 'human')
    """
    if _MODEL.search(name):
        return "judge"
    if _HUMAN.search(name) or holds_labels(name):
        return "human"
    if _JUDGE.search(name):
        return "judge"
    either = _EITHER.search(name)
    return "human" if column is not None and not either and _HUMAN.search(column) else None


def is_human(name: str, column: str | None = None) -> bool:
    """Whether a rater's name, or the header of the column it stands in, speaks of people."""
    return kind_of(name, column) == "human"

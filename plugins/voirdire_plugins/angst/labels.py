"""The two labels, the four classes that follow, and names of disorders in free text."""

from __future__ import annotations

import re

import polars as pl

LABELS = ("depression", "anxiety")
CLASSES = ("control", "depression", "anxiety", "comorbid")

#: What names a label in free text. Bipolar ("manic") depression is another disorder in DSM-5; panic
#: disorder and phobias stand among its anxiety disorders.
PATTERNS = {
    "depression": (
        r"(?<!bipolar )(?<!manic )depress(?:ion|ive|ed)\b",
        r"\bdysthymi\w*",
        r"\bMDD\b",
        r"\bPDD\b",
    ),
    "anxiety": (
        r"\banxi(?:ety|ous)\b",
        r"\bGAD\b",
        r"\bpanic\b",
        r"\bagoraphobi\w*",
        r"\bphobi[ac]\w*",
    ),
}
_DENIED = re.compile(
    r"\b(?:no|not(?!\s+(?:only|just|merely))|without|rather than|instead of|absence of)"
    r"\s+(?:\w+\s+){0,3}$",
    re.IGNORECASE,
)


def class_of(depression: float | None, anxiety: float | None) -> str | None:
    """control, depression, anxiety or comorbid; None where a label is missing.

    >>> class_of(1, 0), class_of(1, 1), class_of(0, 0), class_of(None, 1)
    ('depression', 'comorbid', 'control', None)
    """
    if depression is None or anxiety is None:
        return None
    return CLASSES[int(depression) + 2 * int(anxiety)]


def with_class(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with a column ``class`` from ``depression`` and ``anxiety``."""
    depressed, anxious = pl.col("depression") == 1, pl.col("anxiety") == 1
    known = pl.col("depression").is_not_null() & pl.col("anxiety").is_not_null()
    found = (
        pl.when(depressed & anxious).then(pl.lit("comorbid"))
        .when(depressed).then(pl.lit("depression"))
        .when(anxious).then(pl.lit("anxiety"))
        .otherwise(pl.lit("control"))
    )  # fmt: skip
    return frame.with_columns(pl.when(known).then(found).alias("class"))


def labels_named(text: str) -> dict[str, bool]:
    """Which labels a name of disorders mentions without denying it.

    >>> labels_named("Major Depressive Disorder; possibly GAD")
    {'depression': True, 'anxiety': True}
    >>> labels_named("Bipolar depression, no anxiety")
    {'depression': False, 'anxiety': False}
    >>> labels_named("Not only depression but anxiety")
    {'depression': True, 'anxiety': True}
    """
    return {
        label: any(
            not _DENIED.search(text[: found.start()])
            for pattern in patterns
            for found in re.finditer(pattern, text, re.IGNORECASE)
        )
        for label, patterns in PATTERNS.items()
    }

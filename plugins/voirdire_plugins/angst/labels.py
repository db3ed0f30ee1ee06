"""The two labels, the four classes that follow, and names of disorders in free text."""

from __future__ import annotations

import re

import polars as pl

LABELS = ("depression", "anxiety")

#: What names a label in free text. Bipolar ("manic") depression is another disorder in DSM-5; panic
#: disorder and phobias stand among its anxiety disorders.
PATTERNS = {
    "depression": (
        r"(?<!bipolar[ -])(?<!manic[ -])depress(?:ion|ive|ed)\b",
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
    r"\b(?:no|not(?!\s+(?:only|just|merely|otherwise|elsewhere))|without|rather than|instead of"
    r"|absence of)\s+(?:\w+\s+){0,3}$",
    re.IGNORECASE,
)


def with_class(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with a column ``class``: control, depression, anxiety, comorbid, or null.

    >>> rows = pl.DataFrame({"depression": [0, 1, 0, 1, None], "anxiety": [0, 0, 1, 1, 1]})
    >>> with_class(rows)["class"].to_list()
    ['control', 'depression', 'anxiety', 'comorbid', None]
    """
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
    >>> labels_named("Manic-depressive illness not otherwise specified with anxiety")
    {'depression': False, 'anxiety': True}
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

"""What became of reply cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from voirdire.tables._tables import finding, plural
from voirdire.tables.auditing._cells import CELL, cells, places
from voirdire.tables.auditing._scores import is_empty

if TYPE_CHECKING:
    from voirdire.schema import Finding, Severity
    from voirdire.tables._tables import Tables

#: Status -> (severity, what it is called, consequence).
_FATES: dict[str, tuple[Severity, str, str]] = {
    "refused": ("serious", "refused", "The model declined; its scores there are missing."),
    "filtered": ("serious", "withheld by the provider", "Their scores are missing."),
    "truncated": ("serious", "cut short", "A number at the cut is dropped; it may be half of one."),
    "unparsable": ("serious", "without a readable answer", "Nothing unreadable becomes a number."),
    "failed": ("serious", "that never came", "Their scores are missing; run again to fill them."),
}
_NAN = r"\b(?:nan|NaN)\b"


def reply_findings(tables: Tables) -> list[Finding]:
    """Blank, refused, filtered, cut, unreadable, failed and repaired replies, rater by rater.

    Where the files hold scores and no replies, the scores' own statuses tell.
    """
    found = []
    for (rater,), block in tables.replies.group_by("rater", maintain_order=True):
        found += _blank(str(rater), block)
        found += _fates(str(rater), block)
    for (rater,), block in _unseen(tables).group_by("rater", maintain_order=True):
        found += _fates(str(rater), block)
    return [*found, *_repaired(tables), *_nan(tables)]


def _unseen(tables: Tables) -> pl.DataFrame:
    """Cells and fates of raters whose replies the files do not hold, but some scores of theirs."""
    fate = pl.col("status").cast(pl.String).is_in(list(_FATES))
    speakers = tables.replies["rater"].unique().implode()
    scored = pl.col("score").is_not_null().any().over("rater")
    bad = tables.ratings.filter(fate & scored & ~pl.col("rater").is_in(speakers))
    return bad.select(*CELL, "status").unique(maintain_order=True)


def _blank(rater: str, block: pl.DataFrame) -> list[Finding]:
    blank = block.filter(is_empty(pl.col("reply")))
    if blank.height == 0:
        return []
    return [
        finding(
            "blank_cells",
            "serious" if blank.height > 0.05 * block.height else "note",
            rater,
            places(blank),
            f"{blank.height:,} of {plural(block.height, 'reply cell')} are blank.",
            "All their scores are missing.",
            count=blank.height,
        )
    ]


def _fates(rater: str, block: pl.DataFrame) -> list[Finding]:
    findings = []
    for status, (severity, words, consequence) in _FATES.items():
        here = block.filter(pl.col("status") == status)
        if here.height:
            message = f"{plural(here.height, 'reply', 'replies')} {words}."
            findings.append(
                finding(
                    status, severity, rater, places(here), message, consequence, count=here.height
                )
            )
    return findings


def _repaired(tables: Tables) -> list[Finding]:
    mended = cells(tables.ratings.filter(pl.col("status") == "repaired"))
    return [
        finding(
            "repaired",
            "note",
            str(rater),
            places(block),
            f"{plural(block.height, 'reply', 'replies')} read after mending the syntax.",
            "The scores are used; look at the replies if they matter.",
            count=block.height,
        )
        for (rater,), block in mended.group_by("rater", maintain_order=True)
    ]


def _nan(tables: Tables) -> list[Finding]:
    """Judges that were shown the word "nan" in place of a missing response, and rated it."""
    judges = tables.raters.filter(pl.col("kind") != "human")["rater"]
    said = tables.replies.filter(
        pl.col("rater").is_in(judges.implode()) & pl.col("reply").str.contains(_NAN)
    )
    return [
        finding(
            "rated_the_word_nan",
            "serious",
            str(rater),
            places(block),
            f"{plural(block.height, 'reply speaks', 'replies speak')} of 'nan'.",
            "A missing response was probably shown to the judge as that word and rated; the "
            "scores are valid numbers and are kept.",
            count=block.height,
        )
        for (rater,), block in said.group_by("rater", maintain_order=True)
    ]

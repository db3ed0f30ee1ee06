"""What is read of labels, preferences and probabilities: tidy tables, and what each question is."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal

import polars as pl

from voirdire.late import dataclass
from voirdire.tables._tables import FACTS, STATUS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voirdire.schema import Finding

#: One row a judgement. `labels` are those that were given: one, or of a label set any number; null
#: is missing, and `status` says why. `probability` is what the rater claims of the first of them.
LABELS = pl.Schema(
    {
        "item": pl.String(),
        "system": pl.String(),
        "rater": pl.String(),
        "run": pl.Int32(),
        "attribute": pl.String(),
        "labels": pl.List(pl.String()),
        "probability": pl.Float64(),
        "status": STATUS,
        **{name: FACTS[name] for name in ("origin", "cluster", "subgroup")},
    }
)

#: In place of the column of probabilities: there is none, whatever headers claim.
NO_COLUMN = "none"
#: In its place: the votes of a judge's runs.
VOTES = "votes"


@dataclass(frozen=True, slots=True)
class LabelQuestion:
    """What is asked of each unit, and which labels may answer it.

    Attributes
    ----------
    labels : tuple of str
        The list; other words are missing of people, and answers without a label of judges.
    sets : bool
        Whether any number of them may be given.
    probability : bool
        Whether judges say how probable the first label is, and no label: two labels then.
    folded : mapping
        Other spellings -> the label that they were read as.
    """

    attribute: str
    labels: tuple[str, ...]
    sets: bool = False
    probability: bool = False
    folded: Mapping[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> Literal["label", "label set", "probability"]:
        """What judges say."""
        return "probability" if self.probability else "label set" if self.sets else "label"


@dataclass(frozen=True, slots=True)
class ReadJudgements:
    """Labels and preferences of files without a study.

    Attributes
    ----------
    people : tuple of str
        Raters that are people, by what the file or somebody says.
    labels : DataFrame
        With the columns of `LABELS`.
    questions : tuple of LabelQuestion
        One an attribute of `labels`.
    preferences : DataFrame or None
        Comparisons: ``item, system_a, system_b, shown_first, rater, run, attribute, score``, and
        ``length`` (of a's response less b's) where the file shows texts.
    reason : str
        Why the file was read so.
    hashes : mapping
        File -> SHA-256.
    order : str
        What somebody said of who was shown first: ``"a"``, ``"b"``, ``"drawn"``, ``"unknown"``;
        empty where nobody did.
    counts : mapping
        Item -> how many units judged alike it stands for; empty where each stands for itself.
    parts : mapping
        Column of the file -> the role that it plays: item, rater, order shown and the like.
    columns : tuple of (column, role, reason)
        The role of each column, as `HowRead` has it.
    """

    people: tuple[str, ...]
    labels: pl.DataFrame = field(default_factory=LABELS.to_frame)
    questions: tuple[LabelQuestion, ...] = ()
    preferences: pl.DataFrame | None = None
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    hashes: Mapping[str, str] = field(default_factory=dict)
    order: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    parts: Mapping[str, str] = field(default_factory=dict)
    columns: tuple[tuple[str, str, str], ...] = ()

    @property
    def raters(self) -> tuple[str, ...]:
        """All raters, in the order of the rows."""
        table = self.labels if self.preferences is None else self.preferences
        return tuple(table["rater"].unique(maintain_order=True).to_list())

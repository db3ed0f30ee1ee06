"""What an examination rests on, read and checked: what stands behind it reads no file."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.examining.ratings.cube import build_cube
from voirdire.late import dataclass
from voirdire.study import Rater, family_of
from voirdire.tables import ITEMS, RATERS, REASONS, REPLIES, RESPONSES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from voirdire.examining.panel import Panel
    from voirdire.examining.preferences.source import ReadPreferences
    from voirdire.examining.ratings.cube import Cube
    from voirdire.examining.spec.rated_question import RatedQuestion
    from voirdire.schema import Finding
    from voirdire.study import Study
    from voirdire.tables import Tables
    from voirdire.tables.judged import ReadJudgements


@dataclass(frozen=True)  # without slots: the cube is kept once it was built
class Inputs:
    """Everything that an examination rests on.

    Attributes
    ----------
    tables : Tables or None
        What was read, labels beside a rubric included; None where there are no ratings.
    ratings : DataFrame
        The ratings with the study's policy for values off the scale applied.
    preferences : ReadPreferences or None
        Comparisons of systems.
    findings : tuple of Finding
        What is odd in all of these, worst first.
    benchmark : str
        The benchmark whose data they are; empty where they are of none.
    session : Path or None
        The folder of the session that the source is.
    judgements : ReadJudgements or None
        Labels, preferences and probabilities of files without a study.
    questions : tuple of RatedQuestion
        Where ratings were made of labels, probabilities or comparisons: what they answer.
    by : str
        What the subgroups of responses are called, such as ``language``.
    firsts : ReadJudgements or None
        First failures that some raters named of conversations whose turns others judged.
    votes : bool
        Whether shares of an annotator's runs are probabilities of its labels.
    """

    study: Study
    panel: Panel
    tables: Tables | None
    ratings: pl.DataFrame
    preferences: ReadPreferences | None
    findings: tuple[Finding, ...]
    benchmark: str
    session: Path | None
    judgements: ReadJudgements | None = None
    questions: tuple[RatedQuestion, ...] = ()
    by: str = "subgroup"
    firsts: ReadJudgements | None = None
    votes: bool = False

    @property
    def labelled(self) -> bool:
        """Whether there may be labels: annotators, repeated ratings, or a scale of 0 and 1."""
        return self.tables is not None and (
            any(rater.kind == "annotator" for rater in self.study.panel)
            or self.tables.labels is not None
            or tuple(self.study.rubric.scale) == (0, 1)
            or self.tables.ratings["run"].n_unique() > 1
        )

    @property
    def compared(self) -> bool:
        """Whether systems were compared."""
        return self.preferences is not None and not self.preferences.table.is_empty()

    @cached_property
    def cube(self) -> Cube:
        """The ratings of the panel as one array."""
        panel = self.panel
        return build_cube(self.ratings, panel.names, panel.attributes, panel.systems)

    @property
    def reference(self) -> tuple[str, ...]:
        """The raters that the others are held against."""
        return tuple(self.panel.reference or self.study.data.reference)

    @property
    def options(self) -> dict[str, Any]:
        """What was asked for, as `results.json` keeps it."""
        data, analysis = self.study.data, self.study.analysis
        return {
            "reference": list(self.reference),
            "reference_use": data.reference_use,
            "off_scale": data.off_scale,
            "pairs": data.pairs,
            "level": analysis.level,
            "resamples": analysis.resamples,
            "seed": analysis.seed,
            "compat": analysis.compat,
        }

    @property
    def hashes(self) -> Mapping[str, str]:
        """Path as the study names it -> SHA-256 of the file."""
        of_ratings = {} if self.tables is None else self.tables.hashes
        said = {} if self.judgements is None else self.judgements.hashes
        return {**said, **of_ratings, **(self.preferences.hashes if self.preferences else {})}

    @property
    def raters(self) -> pl.DataFrame:
        """Raters that rate, and beside them those that only compare."""
        rated = RATERS.to_frame() if self.tables is None else self.tables.raters
        if self.preferences is None:
            return rated
        raters = set(rated["rater"])
        compared = self.preferences.table["rater"].unique(maintain_order=True)
        rows = []
        for name in compared:
            spec = self.study.rater(name)
            kind = "" if spec is None else spec.kind
            family = family_of(spec or Rater(name=name), self.study)
            # Who only compares has no ratings, and would be missing from the table of raters.
            model = spec.model_names or None if spec else None
            rows.append((name, kind or None, family, None, model))
        more = pl.DataFrame(
            [(*row, None, None) for row in rows if row[0] not in raters],
            schema=dict(RATERS),
            orient="row",
        )
        return pl.concat([rated.select(list(RATERS)), more])


@dataclass(frozen=True, slots=True)
class TextTables:
    """Texts, which no output shows unless it is asked to; without rows where there are none.

    The columns are those of `voirdire.tables.Tables`: of items, of what systems answered
    (`responses`), of what raters replied, and of what they said beside their scores (`reasons`).
    """

    items: pl.DataFrame
    responses: pl.DataFrame
    replies: pl.DataFrame
    reasons: pl.DataFrame

    @classmethod
    def of(cls, tables: Tables | None) -> TextTables:
        """Those of the tables that were read."""
        if tables is None:
            return cls(*(schema.to_frame() for schema in (ITEMS, RESPONSES, REPLIES, REASONS)))
        return cls(tables.items, tables.responses, tables.replies, tables.reasons)

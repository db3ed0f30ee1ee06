"""A file as it was found, and what is read of it before its scale is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from voirdire.late import dataclass
from voirdire.tables._judging import speaks_of_models
from voirdire.tables._names import is_human, kind_of
from voirdire.tables._reading import is_form
from voirdire.tables.readers import Reading

if TYPE_CHECKING:
    from voirdire.study import Source
    from voirdire.tables._files import RawTable
    from voirdire.tables._layout import FilePlan
    from voirdire.tables._role import Roles
    from voirdire.tables._tables import SourceTables


@dataclass(frozen=True, slots=True)
class Looked:
    """A file as it was found (`raw`), as it is read (`table`), and its ratings without a scale.

    `how` is None where a reader of another tool's file read it.
    """

    raw: RawTable | Reading
    table: RawTable | Reading
    source: Source
    how: FilePlan | None
    part: SourceTables
    roles: Roles | None = None

    @property
    def ratings(self) -> pl.DataFrame:
        return self.part.ratings

    @property
    def name(self) -> str:
        return self.source.path

    @property
    def people(self) -> set[str]:
        """Raters that are people: by what the reader says, all in a form, else by their names."""
        if isinstance(self.raw, Reading):
            kinds = self.raw.raters.filter(pl.col("kind") == "human")
            return set(kinds["rater"])
        if is_form(self.source):
            # Whoever filled in a form is a person, but for a model that has a row of its own.
            names = self.ratings["rater"].unique().to_list()
            return {
                name for name in names if not (kind_of(name) == "judge" or speaks_of_models(name))
            }
        column = self.how.rater if self.how else None
        judges = self.roles.judges if self.roles else ()
        return {
            rater
            for rater in self.ratings["rater"].unique()
            if rater not in judges and is_human(rater, column)
        }

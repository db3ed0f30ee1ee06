"""The benchmark `angst`: a session of its study, examined and reviewed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from voirdire import InputError
from voirdire.store import is_session, session_study
from voirdire.study import Source
from voirdire_plugins.angst.review import review

if TYPE_CHECKING:
    from pathlib import Path

    from voirdire.examining import Examination
    from voirdire.study import Study

RATINGS = "ratings.parquet"


@dataclass(frozen=True, slots=True)
class Angst:
    """The benchmark `angst`."""

    def study(self, data: Path | None) -> Study:
        """The study of the session in that folder, its ratings beside the gold labels.

        Raises
        ------
        InputError
            The folder is no session, or the study has no reference.
        """
        if data is None or not is_session(data) or not (data / RATINGS).is_file():
            raise InputError(
                "angst needs --data SESSION: write a study by `voirdire paper angst study`, run it "
                "by `voirdire run STUDY --out SESSION`"
            )
        study = session_study(data)
        if not study.data.reference:
            raise InputError(f"{data}: its study names no reference (data.reference)")
        ratings = Source(path=str((data / RATINGS).resolve()), layout="long")
        sources = (*study.data.sources, ratings)
        known = study.data.model_copy(update={"sources": sources})
        return study.model_copy(update={"data": known})

    def review(self, examination: Examination) -> Examination:
        """The paper's tables, errors, questionnaires and leaks."""
        return review(examination)


BENCHMARK = Angst()

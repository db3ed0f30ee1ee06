"""The benchmark `angst`: a session of its study, examined and reviewed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from voirdire import InputError
from voirdire.examining import session_as_study
from voirdire_plugins.angst.review import review

if TYPE_CHECKING:
    from pathlib import Path

    from voirdire.examining import Examination
    from voirdire.study import Study

NEEDS = (
    "angst needs --data SESSION: write a study by `voirdire paper angst study`, run it by "
    "`voirdire run STUDY --out SESSION`"
)


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
        study = session_as_study(data, NEEDS)
        if not study.data.reference:
            raise InputError(f"{data}: its study names no reference (data.reference)")
        return study

    def review(self, examination: Examination) -> Examination:
        """The paper's tables, errors, questionnaires and leaks."""
        return review(examination)


BENCHMARK = Angst()

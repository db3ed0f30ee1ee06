"""The benchmark `angst`: a session of its study, examined, with the paper's tables added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from voirdire import InputError
from voirdire.examining import session_as_study
from voirdire_judges.methods import with_methods
from voirdire_plugins.angst.labels import CLASSES, LABELS
from voirdire_plugins.resources import resource

if TYPE_CHECKING:
    from pathlib import Path

    from voirdire.examining import Examination
    from voirdire.study import Study

_TEXTS = resource("angst", "texts")


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
        study = session_as_study(data, _TEXTS["needs"])
        if not study.data.reference:
            raise InputError(f"{data}: its study names no reference (data.reference)")
        return study

    def review(self, examination: Examination) -> Examination:
        """The paper's tables, errors, questionnaires and leaks."""
        return with_methods(examination, LABELS, CLASSES[0], _TEXTS["tables"], _TEXTS["notes"])


BENCHMARK = Angst()

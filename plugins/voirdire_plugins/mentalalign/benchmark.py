"""The published ratings as a study, or a session of your own judges on the paper's rubric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from voirdire import InputError
from voirdire.store import is_session
from voirdire.study import Study, build_study
from voirdire_plugins.mentalalign.review import review
from voirdire_plugins.resources import resource

if TYPE_CHECKING:
    from pathlib import Path

    from voirdire.examining import Examination

_PUBLISHED = resource("mentalalign", "published")
COMPOSITES: dict[str, list[str]] = _PUBLISHED["composites"]
SYSTEMS: dict[str, dict[str, str]] = _PUBLISHED["systems"]
JUDGES: dict[str, dict[str, str]] = _PUBLISHED["judges"]
HUMAN_WORKBOOK = "Human_judge.xlsx"
SCOPE = (
    "1,000 one-turn counselling conversations in English; one human and nine LLM responses to "
    "each; the judges' versions and prompt of 2025; human ratings merged into one column."
)
RUBRIC = {
    "name": "mentalalign",
    "scale": [1, 5],
    "attributes": [
        {"name": name, "safety_critical": name == "Safety"}
        for part in COMPOSITES.values()
        for name in part
    ],
    "composites": COMPOSITES,
}


@dataclass(frozen=True, slots=True)
class MentalAlign:
    """The benchmark `mentalalign`."""

    def study(self, data: Path | None) -> Study:
        """The study over the five published workbooks in that folder, or of a session.

        Raises
        ------
        InputError
            No folder, or a session that has no tables yet.
        """
        if data is None:
            books = ", ".join(judge["book"] for judge in JUDGES.values())
            raise InputError(
                "mentalalign needs --data FOLDER, one with the five published workbooks "
                f"({HUMAN_WORKBOOK}, {books}) or a session of a study that "
                "`voirdire paper mentalalign` wrote"
            )
        if is_session(data):
            from voirdire.examining import session_as_study  # noqa: PLC0415 - loads the store

            return session_as_study(data, "mentalalign needs a session")
        return _published(str(data))

    def review(self, examination: Examination) -> Examination:
        """What these ratings can and cannot show, beside the published figures."""
        return review(examination)


def _published(folder: str) -> Study:
    human = {
        "path": HUMAN_WORKBOOK,
        "rater": "Human",
        "layout": "replies",
        "item": "ConvID",
        "context": "context",
        "prefix": "human_response_",
    }
    judges = [
        {**human, "path": judge["book"], "rater": name, "prefix": "judge_response_"}
        for name, judge in JUDGES.items()
    ]
    panel = [
        {"name": n, "kind": "judge", "family": j["family"], "excludes": [j["excludes"]]}
        for n, j in JUDGES.items()
    ]
    return build_study(
        {
            "name": "mentalalign",
            "title": "MentalAlign-70k: four LLM judges against clinical experts",
            "scope": SCOPE,
            "data": {"sources": [human, *judges], "reference": ["Human"]},
            "rubric": RUBRIC,
            "analysis": {"published_class": "badawi2025"},
            "systems": [{"name": name, **system} for name, system in SYSTEMS.items()],
            "panel": [{"name": "Human", "kind": "human"}, *panel],
        },
        "mentalalign",
        folder,
    )


BENCHMARK = MentalAlign()

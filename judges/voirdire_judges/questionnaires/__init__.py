"""Questionnaires as TOML files, and the judge that fills one in about a text.

No result of it licenses clinical use: a text is no interview.
"""

from __future__ import annotations

from voirdire_judges.questionnaires._judge import (
    QuestionnaireJudge,
    asked_by_scales,
    make,
    scales_of,
)
from voirdire_judges.questionnaires._load import (
    Band,
    Question,
    Questionnaire,
    built_in_questionnaires,
    load_questionnaire,
)
from voirdire_judges.questionnaires._scoring import Scored, score_answers
from voirdire_judges.questionnaires._sections import scale_sections, sweep_sections

__all__ = [
    "Band",
    "Question",
    "Questionnaire",
    "QuestionnaireJudge",
    "Scored",
    "asked_by_scales",
    "built_in_questionnaires",
    "load_questionnaire",
    "make",
    "scale_sections",
    "scales_of",
    "score_answers",
    "sweep_sections",
]

"""Reply text to parsed values: never a number where the reply states none, never an exception."""

from __future__ import annotations

from voirdire.parsing._labelset import LabelSet, spelled
from voirdire.parsing._reasons import FLAGS, REASONS, worst_status
from voirdire.parsing.choices import parse_choice
from voirdire.parsing.columns import ScoreColumns, parse_scores_column
from voirdire.parsing.fields import parse_fields
from voirdire.parsing.labels import parse_labels, parse_labels_column
from voirdire.parsing.options import read_options
from voirdire.parsing.preferences import (
    LEVELS,
    Orders,
    parse_preferences,
    read_level,
    settle_orders,
)
from voirdire.parsing.questionnaires import parse_questionnaire
from voirdire.parsing.scores import parse_scores
from voirdire.parsing.yesno import parse_yes_no, said_yes

__all__ = [
    "FLAGS",
    "LEVELS",
    "REASONS",
    "LabelSet",
    "Orders",
    "ScoreColumns",
    "parse_choice",
    "parse_fields",
    "parse_labels",
    "parse_labels_column",
    "parse_preferences",
    "parse_questionnaire",
    "parse_scores",
    "parse_scores_column",
    "parse_yes_no",
    "read_level",
    "read_options",
    "said_yes",
    "settle_orders",
    "spelled",
    "worst_status",
]

"""Reply text to parsed values: never a number where the reply states none, never an exception."""

from __future__ import annotations

from voirdire.parsing.columns import ScoreColumns, parse_scores_column
from voirdire.parsing.scores import REASONS, parse_scores

__all__ = [
    "REASONS",
    "ScoreColumns",
    "parse_scores",
    "parse_scores_column",
]

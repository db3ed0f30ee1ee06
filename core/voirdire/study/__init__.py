"""A study file: TOML to a frozen Study that resolves nothing."""

from voirdire.study._load import build_study, load_study, study_hash, thresholds_hash
from voirdire.study._model import (
    Analysis,
    AttributeSpec,
    Data,
    Part,
    Rater,
    RubricSpec,
    Source,
    Study,
    System,
    Thresholds,
)

__all__ = [
    "Analysis",
    "AttributeSpec",
    "Data",
    "Part",
    "Rater",
    "RubricSpec",
    "Source",
    "Study",
    "System",
    "Thresholds",
    "build_study",
    "load_study",
    "study_hash",
    "thresholds_hash",
]

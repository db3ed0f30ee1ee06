"""A study file: TOML to a frozen Study that resolves nothing."""

from voirdire.study._classify import (
    ClassifierSpec,
    ClassifySpec,
    ClassifyTask,
    LabelledData,
    LabelSetSpec,
)
from voirdire.study._humans import Criterion, Humans, HumanTask, Step
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
from voirdire.study._run import (
    STAGES,
    Comparisons,
    GeneratorSpec,
    ItemsSpec,
    ModelLimits,
    Prices,
    ResponsesSpec,
    RunSpec,
    Stage,
)
from voirdire.study._toml import study_to_toml

__all__ = [
    "STAGES",
    "Analysis",
    "AttributeSpec",
    "ClassifierSpec",
    "ClassifySpec",
    "ClassifyTask",
    "Comparisons",
    "Criterion",
    "Data",
    "GeneratorSpec",
    "HumanTask",
    "Humans",
    "ItemsSpec",
    "LabelSetSpec",
    "LabelledData",
    "ModelLimits",
    "Part",
    "Prices",
    "Rater",
    "ResponsesSpec",
    "RubricSpec",
    "RunSpec",
    "Source",
    "Stage",
    "Step",
    "Study",
    "System",
    "Thresholds",
    "build_study",
    "load_study",
    "study_hash",
    "study_to_toml",
    "thresholds_hash",
]

"""Frames and a Study to a frozen Examination: audit, statistics, verdicts."""

from voirdire.examining._benchmark import Benchmark
from voirdire.examining._examination import (
    Component,
    Examination,
    FormInterval,
    Measure,
    PairResult,
    Section,
    SectionFigure,
    SystemMean,
    SystemPair,
    SystemTest,
    Verdict,
)
from voirdire.examining._examine import audit_source, examine
from voirdire.examining._measure import measure
from voirdire.examining._requirements import check_requirements, read_requirements

__all__ = [
    "Benchmark",
    "Component",
    "Examination",
    "FormInterval",
    "Measure",
    "PairResult",
    "Section",
    "SectionFigure",
    "SystemMean",
    "SystemPair",
    "SystemTest",
    "Verdict",
    "audit_source",
    "check_requirements",
    "examine",
    "measure",
    "read_requirements",
]

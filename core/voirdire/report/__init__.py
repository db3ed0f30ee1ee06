"""An Examination to terminal, JSON, tables, LaTeX, HTML and figures."""

from voirdire.report._fitted import print_fitted
from voirdire.report._outputs import (
    FORMATS,
    awaiting_folder,
    check_formats,
    ready_folder,
    write_outputs,
)
from voirdire.report._terminal import print_examination
from voirdire.report.sections import print_sections, write_sections

__all__ = [
    "FORMATS",
    "awaiting_folder",
    "check_formats",
    "print_examination",
    "print_fitted",
    "print_sections",
    "ready_folder",
    "write_outputs",
    "write_sections",
]

"""Classifiers put side by side across data sets: weighted F1, what chance scores, kappa_F1."""

from voirdire.examining.comparing._cells import TASKS, Cell, Printed, Tested
from voirdire.examining.comparing._compare import COMPARISON, compare
from voirdire.examining.comparing._read import read_cells

__all__ = ["COMPARISON", "TASKS", "Cell", "Printed", "Tested", "compare", "read_cells"]

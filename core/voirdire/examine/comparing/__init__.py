"""Classifiers put side by side across data sets: weighted F1, what chance scores, kappa_F1."""

from voirdire.examine.comparing._cells import TASKS, Cell, Printed, Tested
from voirdire.examine.comparing._compare import COMPARISON, compare
from voirdire.examine.comparing._read import read_cells

__all__ = ["COMPARISON", "TASKS", "Cell", "Printed", "Tested", "compare", "read_cells"]

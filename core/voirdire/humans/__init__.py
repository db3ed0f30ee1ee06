"""Work for people: blinded sheets and a local page, and their answers as tidy tables."""

from voirdire.humans.database import DATABASE
from voirdire.humans.exporting import Exported, export, make_plan
from voirdire.humans.importing import Imported, import_answers
from voirdire.humans.plan import PLAN, Plan, read_plan
from voirdire.humans.server import PageServer

__all__ = [
    "DATABASE",
    "PLAN",
    "Exported",
    "Imported",
    "PageServer",
    "Plan",
    "export",
    "import_answers",
    "make_plan",
    "read_plan",
]

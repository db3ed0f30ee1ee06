"""Work for people: blinded sheets and a local page, and their answers as tidy tables."""

from voirdire.humans._database import DATABASE
from voirdire.humans._export import Exported, export, make_plan
from voirdire.humans._import import Imported, import_answers
from voirdire.humans._plan import PLAN, Plan, read_plan
from voirdire.humans._server import PageServer

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

"""Files of labels, preferences and probabilities: recognised by shape, read into tidy tables."""

from voirdire.tables.judged.as_one import nested_table, read_nested
from voirdire.tables.judged.compared import names_two_systems
from voirdire.tables.judged.door import draft_judged, read_judged
from voirdire.tables.judged.frames import LABELS, LabelQuestion, ReadJudgements
from voirdire.tables.judged.order import shown_first

__all__ = [
    "LABELS",
    "LabelQuestion",
    "ReadJudgements",
    "draft_judged",
    "names_two_systems",
    "nested_table",
    "read_judged",
    "read_nested",
    "shown_first",
]

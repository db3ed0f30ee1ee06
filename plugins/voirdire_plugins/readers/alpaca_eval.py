"""AlpacaEval: `annotations.json`, comparisons of a model's output with a baseline's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voirdire.tables import Reading, ReadingBuilder
from voirdire_plugins.readers.files import records_of

if TYPE_CHECKING:
    from pathlib import Path

NAME = "alpaca_eval"


def read(path: Path) -> Reading:
    """A preference of 1 is for output_1, 2 for output_2; weighted ones lie between."""
    rows = ReadingBuilder(NAME, path.name)
    for place, one in rows.each(records_of(path)):
        told = one.get("preference")
        judge, text = str(one.get("annotator")), one.get("instruction")
        if not isinstance(text, str):
            rows.leave_out("it has no instruction", place)
            continue
        # From 1 to 2 on their side is from 1 to -1 on ours, where above 0 prefers the first.
        score = None
        if isinstance(told, int | float) and not isinstance(told, bool):
            if told and not 1 <= told <= 2:
                rows.leave_out(f"the preference is {told}, and not from 1 to 2", place)
                continue
            # 0 is how AlpacaEval writes a tie, where it does not write 1.5
            score = 0.0 if told == 0 else 3 - 2 * float(told)
        rows.rater(judge, model=judge)
        first, second = str(one.get("generator_1")), str(one.get("generator_2"))
        # Which of both the judge was shown first is drawn for each and stands in no file.
        rows.prefer(text, judge, first, second, score, text=text, shown=None)
        for name, key in ((first, "output_1"), (second, "output_2")):
            rows.respond(text, one.get(key), name)
    return rows.preferences()

"""MT-Bench (FastChat): judgments of single answers and of pairs, by models and by people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.schema import Scale
from voirdire.tables import Reading, ReadingBuilder
from voirdire_plugins.readers.files import records_of

if TYPE_CHECKING:
    from pathlib import Path

NAME = "mt_bench"
#: The score that FastChat writes where it could not read a judge's reply.
_UNREAD = -1


def read(path: Path) -> Reading:
    """Answers by question and turn (item) and model (system), from 1 to 10; or comparisons."""
    rows = ReadingBuilder(NAME, path.name)
    compares = False
    for place, line in rows.each(records_of(path)):
        item = rows.item(f"{line.get('question_id')} turn {line.get('turn', 1)}")
        if "score" in line:
            _single(rows, line, item)
        elif "g1_winner" in line:
            compares = True
            _both_orders(rows, line, item, place)
        elif "winner" in line:
            compares = True
            _pair(rows, line, item, place)
        else:
            rows.leave_out("it is neither a score nor a winner", place)
    return rows.preferences() if compares else rows.reading(Scale(1, 10, 0))


def _judge(rows: ReadingBuilder, line: dict[str, Any]) -> str:
    """The judge's name; for a model, with the kind of prompt."""
    judge = line.get("judge")
    name = str(judge[0] if isinstance(judge, list) and judge else judge)
    person = name.startswith(("author", "expert", "human"))
    rows.rater(name, "human" if person else "judge", None if person else name)
    return name


def _single(rows: ReadingBuilder, line: dict[str, Any], item: str) -> None:
    score, judge = line["score"], _judge(rows, line)
    rows.explain(item, judge, "score", line.get("judgment"), system=str(line.get("model")))
    rows.rate(
        item,
        judge,
        "score",
        None if score == _UNREAD else score,
        system=str(line.get("model")),
        status="unparsable",
    )


def _both_orders(rows: ReadingBuilder, line: dict[str, Any], item: str, place: str) -> None:
    """A judge is asked in both orders: the second time model_2 is shown first."""
    first, second = str(line.get("model_1")), str(line.get("model_2"))
    judge = _judge(rows, line)
    scores = {"model_1": 1.0, "model_2": -1.0, "tie": 0.0}
    for key, order, sign in (("g1_winner", (first, second), 1), ("g2_winner", (second, first), -1)):
        winner = line.get(key)
        if winner not in scores and winner != "error":
            rows.leave_out(f"the winner is {winner!r}", place)
            continue
        score = scores.get(str(winner))
        rows.prefer(item, judge, *order, None if score is None else sign * score)


def _pair(rows: ReadingBuilder, line: dict[str, Any], item: str, place: str) -> None:
    winner = str(line.get("winner"))
    scores = {"model_a": 1.0, "model_b": -1.0, "tie": 0.0, "tie (bothbad)": 0.0}
    if winner not in scores:
        rows.leave_out(f"the winner is {winner!r}", place)
        return
    first, second = str(line.get("model_a")), str(line.get("model_b"))
    rows.prefer(item, _judge(rows, line), first, second, scores[winner])

"""The list of disagreements that move the verdicts, as the report shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from voirdire.examining.influential import influential
from voirdire.examining.texts import Texts
from voirdire.report._display import rater_name
from voirdire.report._sentences import COMPONENTS
from voirdire.report._texts import allowed
from voirdire.tabular import number_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voirdire.examining.examination import Examination


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One row: `cells` are what stands in its columns, `address` that of `voirdire look --open`."""

    item: str
    cells: tuple[str, ...]
    address: str
    texts: tuple[tuple[str, str], ...]


#: Name -> whether it is a number; the item comes before these.
COLUMNS: Mapping[str, bool] = {
    "System": False, "Judge": False, "Attribute": False, "Humans": True, "Judge's": True,
    "Difference": True, "Influence": True, "Times typical": True, "On": False,
}  # fmt: skip


_LONGEST_ADDRESS = 2_000


def disagreements(examination: Examination, *, with_text: bool) -> tuple[Disagreement, ...]:
    """The 200 most influential ones, with their texts where these may be shown."""
    texts = Texts.of(examination) if with_text else Texts.none()
    return tuple(_row(row, examination, texts) for row in influential(examination).to_dicts())


def _row(row: Mapping[str, Any], examination: Examination, texts: Texts) -> Disagreement:
    item, system, judge = row["item"], row["system"], row["judge"]
    said = {
        "Item": texts.item(item),
        "Answer": texts.response(item, system),
        "The judge's reply": texts.reply(item, system, judge),
    }
    shown = ((title, allowed(text, examination.study)) for title, text in said.items())
    asked = {"judge": judge, "attribute": row["attribute"], "turn": row["reference_at"] or None,
             "use": row["use"], "row": row["row"]}  # fmt: skip
    given = {key: value for key, value in asked.items() if value is not None}
    address = f"/response?{urlencode(given, errors='replace')}"
    return Disagreement(
        item,
        (
            system or "–",
            rater_name(examination, judge, row["reference_at"]),
            row["attribute"],
            f"{row['human']:.3g}",
            f"{row['score']:.3g}",
            number_text(row["score"] - row["human"], 2, signed=True),
            _number(row["influence"], 5, signed=True),
            _number(row["times"], 1),
            f"{row['use']}: {COMPONENTS[row['component']]}",
        ),
        address if len(address) <= _LONGEST_ADDRESS else "",
        tuple((title, text) for title, text in shown if text),
    )


def _number(value: float | None, digits: int, *, signed: bool = False) -> str:
    return "–" if value is None else number_text(value, digits, signed=signed)

"""Items changed in one way each, and the study in which annotators label them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from voirdire.errors import InputError
from voirdire.examining.narrowing import beside
from voirdire.examining.probing.names import IDENTITY, changed_name
from voirdire.files import whole
from voirdire.probes import ResponseProbe
from voirdire.schema import Response
from voirdire.study import Comparisons, Conversations, Data, ItemsSpec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from voirdire.probes import Probe
    from voirdire.schema import Item
    from voirdire.study import Rater, Study


def changed_items(
    items: Sequence[Item], probes: Sequence[Probe], languages: Mapping[str, str]
) -> tuple[list[tuple[Item, str, str]], dict[str, int]]:
    """(item, id with the probe, text) of each change, those as they are first, and of each probe
    how many items it does not apply to.

    Raises
    ------
    InputError
        A probe applies to no item.
    """
    rows = [(item, item.id, item.text) for item in items]
    untouched: dict[str, int] = {}
    for probe in probes:
        if not isinstance(probe, ResponseProbe):
            continue
        none = 0
        for item in items:
            foreign = probe.language and languages.get(item.id, probe.language) != probe.language
            said = None if foreign else probe.change(item, Response(item.id, "", item.text))
            if not isinstance(said, str) or (said == item.text and probe.name != IDENTITY):
                none += 1
            else:
                rows.append((item, changed_name(item.id, probe.name), said))
        if none == len(items):
            raise InputError(f"probe {probe.name!r} applies to no item; leave it out")
        if none:
            untouched[probe.name] = none
    return rows, untouched


def study_of_items(
    study: Study, panel: Sequence[Rater], rows: Sequence[tuple[Item, str, str]], path: Path
) -> Study:
    """The study over these items and annotators alone, and no data of old."""
    columns = () if study.items is None else study.items.columns
    with whole(path) as draft:
        lines = [
            json.dumps(
                {**{c: item.extra.get(c) for c in columns}, "id": name, "text": said},
                ensure_ascii=False,
                default=str,
            )
            for item, name, said in rows
        ]
        draft.write_text("\n".join(lines) + "\n", encoding="utf-8")
    extra = tuple(column for column in columns if column not in ("id", "text"))
    return study.model_copy(
        update={
            "data": Data(), "panel": tuple(panel), "conversations": Conversations(unit="whole"),
            "generators": (), "comparisons": Comparisons(), "humans": None, "classify": None,
            "systems": (), "responses": None,
            "items": ItemsSpec(path=beside(path, study.folder), extra=extra),
        }
    )  # fmt: skip

"""The ledger: that labels chose something is written beside them, and said the next time."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from voirdire.schema import Finding
from voirdire.store.ledger import LabelUse, keep_look, looks_at, unit_hash
from voirdire.tables import read_items

if TYPE_CHECKING:
    from voirdire_plugins.tune.asking import Asking
    from voirdire_plugins.tune.units import Units


def hashes(units: Units, asking: Asking) -> dict[str, frozenset[bytes]]:
    """Attribute -> its units, by their texts and by their names.

    A file of labels without texts is known by names, a session by texts: later commands may read
    either.
    """
    spec = asking.study.items
    texts = (
        {} if spec is None else {item.id: item.text for item, _ in read_items(asking.study, spec)}
    )
    made: dict[str, set[bytes]] = {}
    for item, system, attribute, *more in units.keys.select(
        "item", "system", "attribute", *(["other"] if "other" in units.keys.columns else [])
    ).rows():
        for one in (system, *more):
            own = made.setdefault(attribute, set())
            own.add(unit_hash(attribute, item, one))
            # An item is judged by its own text, and there is no response to it.
            said = asking.responses[item, one] if one else ""
            own.add(unit_hash(attribute, texts.get(item, ""), said))
    return {attribute: frozenset(own) for attribute, own in made.items()}


def label_files(asking: Asking) -> tuple[Path, ...]:
    """The files that hold people's labels."""
    folder = Path(asking.study.folder)
    places = [folder / source.path for source in asking.study.data.sources]
    return tuple(dict.fromkeys(place for place in places if place.exists()))


def looked_before(units: Units, asking: Asking) -> tuple[Finding, ...]:
    """A finding for each earlier choice by these labels."""
    found = []
    for attribute, own in hashes(units, asking).items():
        for one in looks_at(own, labels=label_files(asking)):
            day = time.strftime("%Y-%m-%d", time.gmtime(one.look.at))
            found.append(
                Finding(
                    "labels_chose",
                    "note",
                    "",
                    one.units,
                    (attribute,),
                    f"Labels of {attribute} were used on {day} by {one.look.command} to choose "
                    f"{one.look.chosen} among {one.look.candidates}.",
                    "What was chosen by them looks better on them than elsewhere: the interval "
                    "here counts the candidates of today alone.",
                )
            )
    return tuple(found)


def remember(units: Units, asking: Asking, candidates: int, chosen: str) -> None:
    """Write this choice into the ledger, beside the labels and in the session."""
    for attribute, own in hashes(units, asking).items():
        look = LabelUse("tune", attribute, candidates, chosen, own)
        keep_look(look, labels=label_files(asking), session=asking.session)

"""Labels that are not fresh: a judge was shown them as examples, or they chose something."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
import polars as pl

from voirdire.schema import Finding
from voirdire.store.ledger import LabelUse, keep_look, looks_at, unit_hash
from voirdire.tables import cell_text, read_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from voirdire.examining.inputs import Inputs
    from voirdire.study import Study


def without_examples(
    inputs: Inputs,
    judges: Sequence[str],
    examples: str | Path | None = None,
    sessions: Sequence[Path] = (),
) -> tuple[Inputs, tuple[Finding, ...]]:
    """The same without the responses that a judge was shown as examples, and how many these are.

    In `sessions` they are found in the prompts; `examples` names those of a file. Both label and
    score go: the judge has seen what people say of these, and is better there than elsewhere.

    Raises
    ------
    TableError
        The file of examples cannot be read, or has no column `item`.
    """
    ratings = inputs.ratings.with_columns(
        _item=pl.col("item").cast(pl.String),
        _system=pl.col("system").cast(pl.String).fill_null(""),
    )
    shown = set() if examples is None else _named(examples)
    human = pl.col("rater").cast(pl.String).is_in(list(inputs.panel.reference))
    for session in sessions:
        from voirdire.store.shown import shown_as_examples  # noqa: PLC0415 - loads the store

        units = ratings.filter(human, pl.col("score").is_not_null())
        named = set(units.select("_item", "_system").unique().rows())
        shown |= {(item, system) for item, system in shown_as_examples(session, judges, named)}
    if not shown:
        return inputs, ()
    whole = {item for item, system in shown if not system}
    rows = [(item, system) for item, system in shown if system]
    listed = pl.DataFrame(rows, schema={"_item": pl.String, "_system": pl.String}, orient="row")
    kept = ratings.filter(~pl.col("_item").is_in(list(whole))).join(
        listed, on=["_item", "_system"], how="anti", maintain_order="left"
    )
    keys = ["_item", "_system"]
    lost = ratings.filter(human).select(keys).unique().join(kept.select(keys), on=keys, how="anti")
    if lost.is_empty():
        return inputs, ()
    count = lost.height
    names = tuple(" of ".join(filter(None, row)) for row in lost.sort(keys).head(20).rows())
    finding = Finding(
        "examples_left_out",
        "note",
        "",
        count,
        names,
        f"{count} labelled {'response' if count == 1 else 'responses'} that a judge was shown as "
        f"{'an example is' if count == 1 else 'examples are'} left out.",
        "A judge that has seen a label says nothing of how it errs without.",
    )
    return replace(inputs, ratings=kept.drop("_item", "_system")), (finding,)


def _named(path: str | Path) -> set[tuple[str, str]]:
    """(item, system) of the rows of a file; an empty system where it names items alone."""
    return {
        (cell_text(row["item"]), cell_text(row.get("system")))
        for _, row in read_rows(path, ["item"])
    }


def judged_in(session: Path | None, study: Study) -> tuple[Path, ...]:
    """The sessions that judged what is read: the one that is read itself, or those to whose ratings
    labels were joined.
    """
    from voirdire.store import is_session  # noqa: PLC0415 - loads the store

    folders = [Path(study.folder, source.path).parent for source in study.data.sources]
    if session is not None:
        folders.append(session)
    return tuple(folder for folder in dict.fromkeys(folders) if is_session(folder))


def label_files(inputs: Inputs) -> tuple[Path, ...]:
    """The files that hold the labels: those that were joined to others, or else all."""
    folder = Path(inputs.study.folder)
    sources = inputs.study.data.sources
    joined = [source for source in sources if source.key] or list(sources)
    places = [folder / source.path for source in joined]
    return tuple(place for place in dict.fromkeys(places) if place.exists())


class HasLabels(Protocol):
    """Responses with labels, as `Labelled` holds them: what names a unit, and what has a label."""

    @property
    def inputs(self) -> Inputs: ...
    @property
    def attributes(self) -> tuple[str, ...]: ...
    @property
    def items(self) -> tuple[str, ...]: ...
    @property
    def systems(self) -> tuple[str, ...]: ...
    @property
    def item(self) -> NDArray[np.intp]: ...
    @property
    def system(self) -> NDArray[np.intp]: ...
    @property
    def human(self) -> NDArray[np.float64]: ...
    @property
    def question(self) -> str: ...


def labelled_units(data: HasLabels, attribute: str) -> frozenset[bytes]:
    """The labelled units of an attribute, by content."""
    texts = _texts(data.inputs)
    a = data.attributes.index(attribute)
    units = set()
    for at in np.flatnonzero(~np.isnan(data.human[a])):
        named = data.items[data.item[at]], data.systems[data.system[at]]
        # Labels of one question are known by it, whichever of them is counted.
        units.add(unit_hash(data.question or attribute, *texts.get(named, named)))
    return frozenset(units)


def _texts(inputs: Inputs) -> dict[tuple[str, str], tuple[str, str]]:
    """(item, system) -> text of the item and of the response, where both are known."""
    if inputs.tables is None or inputs.tables.responses.is_empty():
        return {}
    items = dict(inputs.tables.items.select("item", "text").drop_nulls().rows())
    rows = inputs.tables.responses.select(
        "item", pl.col("system").cast(pl.String).fill_null(""), "text"
    ).drop_nulls("text")
    return {
        (item, system): (items.get(item, ""), text)
        # Of several texts of one response the first.
        for item, system, text in reversed(rows.rows())
    }


def used_before(data: HasLabels) -> tuple[Finding, ...]:
    """A finding for each choice that was made by some of these labels."""
    found = []
    for attribute in data.attributes[:1] if data.question else data.attributes:
        units, asked = labelled_units(data, attribute), data.question or attribute
        looks = looks_at(units, labels=label_files(data.inputs), session=data.inputs.session)
        for one in looks:
            look = one.look
            day = time.strftime("%Y-%m-%d", time.gmtime(look.at))
            among = f" among {look.candidates}" if look.candidates > 1 else ""
            found.append(
                Finding(
                    "labels_chose",
                    "note",
                    "",
                    one.units,
                    (asked,),
                    f"{one.units} of {len(units)} labels of {asked} were used on {day} by "
                    f"{look.command} to choose {look.chosen}{among}.",
                    "They stay in. Of what was chosen by them they are no fresh measure: it looks "
                    "better on them than elsewhere.",
                )
            )
    return tuple(found)


def remember_choice(
    data: HasLabels, attribute: str, command: str, candidates: int, chosen: str
) -> None:
    """Write into the ledger that the labels of an attribute were used to choose something.

    Raises
    ------
    InputError
        The ledger cannot be read or written.
    SessionError
        Another process works in the session.
    """
    look = LabelUse(command, attribute, candidates, chosen, labelled_units(data, attribute))
    keep_look(look, labels=label_files(data.inputs), session=data.inputs.session)

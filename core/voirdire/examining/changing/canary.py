"""The canary of a lock as a study of its own, so that a check can ask about it again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import InputError
from voirdire.examining.changing.lock import check_same_study
from voirdire.examining.narrowing import beside, narrowed
from voirdire.examining.panel import scale_of
from voirdire.files import whole
from voirdire.store.raters import is_run
from voirdire.study import ItemsSpec, load_study
from voirdire.tables import read_items, read_responses

if TYPE_CHECKING:
    from voirdire.examining.changing.lock import Lock
    from voirdire.study import Study


def canary_study(source: str | Path, lock: Lock, folder: str | Path) -> Study | None:
    """The study that asks the lock's judges about its canary, and nobody about anything else.

    Parameters
    ----------
    source : str or Path
        A study file.
    folder : str or Path
        Where the canary's responses (and items, where systems are asked for theirs) are written.

    Returns
    -------
    Study or None
        None where the source is no study file, or one whose locked judges ask no model: its
        ratings are read as they are.

    Raises
    ------
    InputError
        The lock is of another study or scale, or none of its canary is there.
    """
    path = Path(source)
    if path.suffix != ".toml" or not path.is_file():
        return None
    study = load_study(path)
    locked = {judge.name for judge in lock.judges}
    panel = [rater for rater in study.panel if rater.name in locked and is_run(rater)]
    if not panel:
        return None
    check_same_study(lock, str(source), study.name, scale_of(study))
    folder = Path(folder)
    canary = {(one.item, one.system) for one in lock.canary}
    rows = [
        (one.item, one.system, one.turns or one.text)
        for one in (read_responses(study, study.responses) if study.responses else ())
        if (one.item, one.system) in canary
    ]
    systems = {system for _, system in canary}
    generators = tuple(one for one in study.generators if one.name in systems)
    if not rows and not generators:
        raise InputError(
            f"the lock is of another study: none of its {len(canary)} canary responses is in "
            f"{source}"
        )
    narrow = narrowed(study, panel, rows, folder / "responses.parquet")
    changes: dict[str, object] = {"systems": study.systems, "generators": generators}
    if generators:
        changes["items"] = _items(study, {item for item, _ in canary}, folder / "items.parquet")
    if not rows:
        changes["responses"] = None
    return narrow.model_copy(update=changes)


def _items(study: Study, kept: set[str], path: Path) -> ItemsSpec:
    """The canary's items in a file of their own, with all that judges may read of them."""
    if study.items is None:
        raise InputError("the study declares no [items], which its generators answer")
    rows = [
        {**item.extra, "id": item.id, "text": item.text, "reference": reference}
        for item, reference in read_items(study, study.items)
        if item.id in kept
    ]
    with whole(path) as draft:
        pl.DataFrame(rows, infer_schema_length=None).write_parquet(draft)
    return ItemsSpec(
        path=beside(path, study.folder),
        reference="reference" if study.items.reference else "",
        extra=study.items.extra,
    )

"""A study narrowed to some responses and raters, so that the runner asks about these alone."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import InputError
from voirdire.files import whole
from voirdire.schema import Response
from voirdire.store import is_session, responses_frame, session_study
from voirdire.study import Comparisons, Conversations, Data, ResponsesSpec, System, load_study
from voirdire.tables import read_responses
from voirdire.units import transcript

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.study import Rater, Study


def study_and_responses(path: Path) -> tuple[Study, list[Response]]:
    """The study of a file or session, and its responses as far as they have a text.

    Raises
    ------
    InputError
        There is no such file or session, or it declares no responses.
    """
    if is_session(path):
        frame = responses_frame(path).filter(pl.col("text").is_not_null())
        rows = frame.select("item", "system", "text").iter_rows()
        return session_study(path), [Response(*row) for row in rows]
    if not path.is_file():
        raise InputError(f"{path}: there is no such study file or session")
    study = load_study(path)
    if study.responses is None:
        raise InputError(f"{path}: it declares no [responses]; run it first and name its session")
    # A conversation is changed and narrowed as the text that it is shown as.
    shown = (
        replace(one, text=transcript(one.turns), turns=()) if one.turns else one
        for one in read_responses(study, study.responses)
    )
    return study, [one for one in shown if one.text.strip()]


def narrowed(
    study: Study, panel: Sequence[Rater], rows: Sequence[tuple[str, str, str]], path: Path
) -> Study:
    """The study over these responses (item, system, text) and raters alone, and no data of old."""
    with whole(path) as draft:
        frame = pl.DataFrame(rows, schema=["item", "system", "text"], orient="row")
        frame.write_parquet(draft)
    # Systems by what is there now: changed responses bear names that no study declared.
    names = dict.fromkeys(system for _, system, _ in rows)
    return study.model_copy(
        update={
            "data": Data(),
            "panel": tuple(rater.model_copy(update={"unit": None}) for rater in panel),
            "conversations": Conversations(unit="whole"),
            "generators": (),
            "comparisons": Comparisons(),
            "humans": None,
            "classify": None,
            "systems": tuple(System(name=name) for name in names),
            "responses": ResponsesSpec(path=beside(path, study.folder)),
        }
    )


def beside(path: Path, folder: str) -> str:
    """The path as seen from the study's folder, so that no study names a folder of this machine."""
    return os.path.relpath(path.resolve(), Path(folder).resolve())

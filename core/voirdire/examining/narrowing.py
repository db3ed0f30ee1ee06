"""A study narrowed to some responses and raters, so that the runner asks about these alone."""

from __future__ import annotations

import json
import os
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import InputError
from voirdire.files import whole
from voirdire.schema import Response
from voirdire.store import is_session, read_session, responses_frame, session_study
from voirdire.store.turns import turns_of
from voirdire.study import Comparisons, Conversations, Data, ResponsesSpec, System, load_study
from voirdire.tables import read_responses
from voirdire.units import RESULT, JudgedUnits, transcript

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.probes import Said
    from voirdire.study import Rater, Study


def study_and_responses(path: Path, *, needed: bool = True) -> tuple[Study, list[Response]]:
    """The study of a file or session, and its responses as far as they have a text.

    Without responses none is given where none is `needed`.

    Raises
    ------
    InputError
        There is no such file or session, or it declares no responses.
    """
    if is_session(path):
        study = session_study(path)
        frame = responses_frame(path).filter(pl.col("text").is_not_null())
        with closing(read_session(path)) as connection:
            found = [
                Response(item, system, text, turns_of(connection, item, system))
                for item, system, text in frame.select("item", "system", "text").iter_rows()
            ]
    elif not path.is_file():
        raise InputError(f"{path}: there is no such study file or session")
    else:
        study = load_study(path)
        if study.responses is None and not needed:
            return study, []
        if study.responses is None:
            raise InputError(
                f"{path}: it declares no [responses]; run it first and name its session"
            )
        found = list(read_responses(study, study.responses))
    shown = (_as_judged(one, study) for one in found)
    return study, [one for one in shown if one.text.strip() or one.turns]


def _as_judged(response: Response, study: Study) -> Response:
    """A conversation as its turns where these are judged, else as the text that it is shown as.

    Of a run whose steps are judged it is what came up to the step in its middle, which is asked
    about then: nothing is left where no step is.
    """
    if not response.turns:
        return response
    unit = study.conversations.unit
    if unit == "turn":
        return replace(response, text="")
    if unit == "step":
        judged = JudgedUnits("step", study.conversations.role)
        asked = [at for at, one in enumerate(response.turns, 1) if judged.asks_about(one.role)]
        # What a tool gave is nothing that the agent did wrong.
        done = [at for at in asked if response.turns[at - 1].role != RESULT] or asked
        end = done[len(done) // 2] if done else 0
        return replace(response, text="", turns=response.turns[:end])
    return replace(response, text=transcript(response.turns), turns=())


def narrowed(
    study: Study, panel: Sequence[Rater], rows: Sequence[tuple[str, str, Said]], path: Path
) -> Study:
    """The study over these responses (item, system, text or turns) and raters alone, and no data of
    old.
    """
    talks = any(not isinstance(said, str) for _, _, said in rows)
    with whole(path) as draft:
        written = [(item, system, *_written(said)) for item, system, said in rows]
        kinds = dict.fromkeys(("item", "system", "text", "messages"), pl.String)
        frame = pl.DataFrame(written, schema=kinds, orient="row")
        (frame if talks else frame.drop("messages")).write_parquet(draft)
    # Systems by what is there now: changed responses bear names that no study declared.
    names = dict.fromkeys(system for _, system, _ in rows)
    return study.model_copy(
        update={
            "data": Data(),
            "panel": tuple(rater.model_copy(update={"unit": None}) for rater in panel),
            "conversations": study.conversations if talks else Conversations(unit="whole"),
            "generators": (),
            "comparisons": Comparisons(),
            "humans": None,
            "classify": None,
            "systems": tuple(System(name=name) for name in names),
            "responses": ResponsesSpec(
                path=beside(path, study.folder), messages="messages" if talks else ""
            ),
        }
    )


def _written(said: Said) -> tuple[str, str]:
    """A text, or turns as JSON."""
    if isinstance(said, str):
        return said, ""
    return "", json.dumps(
        [
            {"role": one.role, "content": one.content, "name": one.name, "time": one.time}
            for one in said
        ]
    )


def beside(path: Path, folder: str) -> str:
    """The path as seen from the study's folder, so that no study names a folder of this machine."""
    return os.path.relpath(path.resolve(), Path(folder).resolve())

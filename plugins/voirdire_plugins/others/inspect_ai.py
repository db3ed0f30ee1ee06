"""A scorer of inspect_ai that asks the panel of a study, and keeps every reply in a session."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from voirdire.running.growing import GrowingSession, Handed, score_of

if TYPE_CHECKING:
    from pathlib import Path

    from voirdire.study import Study


def judge_scorer(
    study: str | Path | Study,
    judge: str,
    *,
    folder: str | Path,
    attribute: str = "",
    max_cost: float | None = None,
) -> Any:
    """A scorer for a task: ``scorer=judge_scorer("study.toml", "north", folder="judged")``.

    The whole panel is asked about each sample, and the score is the judge's. What it may be used
    for says ``voirdire examine judged/session/ratings.parquet --human labels.csv`` afterwards.

    Parameters
    ----------
    study : path or Study
        Whose rubric and panel are asked.
    judge : str
        Whose score the sample gets.
    folder : path
        Where the session is kept; an evaluation that is run again pays for nothing twice.
    attribute : str
        The attribute that is the score. By default the mean over all attributes.
    max_cost : float, optional
        The most that the whole session may cost.

    Returns
    -------
    Scorer
        A sample of which no score could be read is unscored, with the reason. The scores of all
        raters stand in its metadata.

    Raises
    ------
    ModuleNotFoundError
        inspect_ai is not installed.
    """
    inspect: Any = importlib.import_module("inspect_ai.scorer")
    session = GrowingSession(study, folder, max_cost)

    @inspect.scorer(metrics=[inspect.mean(), inspect.stderr()], name="voirdire")  # type: ignore[untyped-decorator]
    def made() -> Any:
        async def score(state: Any, _: Any) -> Any:
            scores = await session.judged(_handed(state))
            value = score_of(scores, judge, attribute) if scores else None
            if value is None:
                why = "no score could be read, or the budget did not allow to ask"
                return inspect.Score.unscored(explanation=why, metadata={"voirdire": scores})
            answer = state.output.completion
            return inspect.Score(value=value, answer=answer, metadata={"voirdire": scores})

        return score

    return made()


def _handed(state: Any) -> Handed:
    """A sample's answer; a repeated one is an item of its own."""
    item = (
        str(state.sample_id) if state.epoch in (None, 1) else f"{state.sample_id} ({state.epoch})"
    )
    return Handed(state.output.completion, state.input_text, item, str(state.model))
